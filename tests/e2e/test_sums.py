"""What weir tells of itself adds up: over thousands of calls at random, with faults, reloads and two workers, each call is in exactly one
final state, and metrics, event log, access log, stories and spans say the same as each other, as the clients, and as the providers.

Each call has a trace of its own, by which its line of the log and its spans are known even where its client has left, and each attempt a
span that its provider was told, by which requests at the upstream and attempts are the same one by one.
"""
import json
import os
import random
import time
from collections import Counter, defaultdict

import pytest

from kit import answers
from kit.answers import CLOSE, END, HANG, RESET, Answer, Error, Wait
from kit.collector import spans_of, taken
from kit.configs import config
from kit.crowd import Crowd
from kit.events import logged
from kit.failures import KINDS
from kit.model import Fault, Model
from kit.prometheus import scrape
from kit.wait import until
from kit.weir import SANITIZED

SEED = int(os.environ.get("SUMS_SEED", random.SystemRandom().randrange(10000)))
CALLS = int(os.environ.get("SUMS_CALLS", 800 if SANITIZED else 10000))
CLIENTS = 16
TEXT = "Whoever adds this up at the end of the day has to find the same sum in every book."
KEY = "sk-e2e"
pytestmark = pytest.mark.timeout(240)


# ---- what happens

def anything(rand):
    """What a deployment does with one request."""
    good = answers.text(TEXT)
    if rand.random() < 0.85:
        return good
    return rand.choice([
        answers.late(good, rand.random() * 0.15), answers.in_pieces(good, rand.randrange(40, 200)), answers.zipped(good),
        *(answers.error(kind) for kind in KINDS), answers.error("unavailable", {"retry-after": "0"}),
        answers.cut(good, rand.randrange(200), rand.choice([CLOSE, RESET])), answers.raw(200, answers.HTML), answers.lying_length(good, 3),
        answers.steps(b"\x00garbage\r\n\r\n", CLOSE), answers.BROKEN, answers.GONE, answers.late(answers.SILENT, 0.05),
        answers.stream(*answers.pieces(TEXT)[:rand.randrange(6)], rand.choice([CLOSE, RESET, END, Error("internal"), b"data: {\n\n"])),
        answers.stream("slowly ", Wait(0.1), *answers.pieces(TEXT))])


def recitation(rand):
    """A stream that is whole or breaks somewhere."""
    what = [CLOSE, RESET, END, HANG, Error("internal"), Error("rate_limit"), b"data: {\n\n", Wait(0.15)]
    return Model(TEXT, Fault(rand.randrange(18), rand.choice(what)) if rand.random() < 0.3 else None, prefill=rand.random() < 0.9)


def at_random(make, seed):
    rand = random.Random(seed)
    return Answer(lambda call: make(rand).steps(call))


GROUPS = {"A": {"a1": {"order": 1}, "a2": {"order": 1}, "a3": {"order": 2}}, "B": ["b1", "b2"], "C": ["c1"], "hedged": ["h1", "h2"]}
STREAMS = {name: {"info": {"supports_assistant_prefill": True}, "stream_idle_timeout": 0.1} for name in ("s1", "s2")}
PRICED = {"c1": {"input_cost_per_token": 0.000002, "output_cost_per_token": 0.000004}}


def one_ask(number, rand):
    """What one client asks. Most are good; some name nothing, have another key or no sense, and some leave."""
    body = {"model": rand.choice(["A", "A", "A", "B", "B", "C", "hedged", "flowing", "flowing", "alias", "nobody"]), "timeout": 0.4,
            "messages": [{"role": "user", "content": "hello"}], "num_retries": rand.randrange(3)}
    if body["model"] == "flowing" or rand.random() < 0.4:
        body.update(stream=True, **({"stream_options": {"include_usage": True}} if rand.random() < 0.5 else {}))
    asked = {"body": body, "path": "/v1/chat/completions", "headers": {"traceparent": f"00-{number + 1:032x}-00000000000000aa-01"},
             "timeout": rand.choice([0.01, 0.03, 0.08]) if rand.random() < 0.04 else 60}
    chance = rand.random()
    if chance < 0.02:
        asked["headers"]["authorization"] = "Bearer sk-of-somebody-else"
    elif chance < 0.03:
        asked["body"] = '{"model": "A", "messages": '
    elif chance < 0.05 and not body.get("stream"):
        body.update(prompt=body.pop("messages")[0]["content"])
        asked["path"] = "/v1/completions"
    elif chance < 0.07 and not body.get("stream"):
        body.update(input=body.pop("messages")[0]["content"])
        asked["path"] = "/v1/embeddings"
    return asked


class Run:
    """A run, and what each side says of it."""

    def __init__(self, weirs, up):
        self.up, self.rand = up, random.Random(SEED)
        up.says("otel", taken())
        for name in ("a1", "a2", "a3", "b1", "b2", "b3", "c1", "h1", "h2"):
            up.says(name, at_random(anything, self.rand.random()))
        for name in STREAMS:
            up.says(name, at_random(recitation, self.rand.random()))
        self.weir = weirs(self.config(0), arguments=["--workers", "2"])
        self.events_path, self.access_path = self.weir.folder / "events.jsonl", self.weir.folder / "access.jsonl"

    def config(self, turn):
        """The configuration, which is another one after each reload: a deployment comes and goes, a time changes."""
        groups = {**GROUPS, "B": ["b1", "b2", "b3"] if turn % 2 else ["b1", "b2"], "C": PRICED, "flowing": STREAMS}
        return config(self.up, groups, general={"master_key": KEY},
                      router={"num_retries": 1, "cooldown_time": 0.05 + turn % 3 / 50, "enable_weighted_failover": True, "retry_after": 0,
                              "fallbacks": [{"A": ["B"]}, {"B": ["C"]}, {"flowing": ["C"]}], "model_group_alias": {"alias": "B"},
                              "enable_mid_stream_fallback_continuation": True},
                      weir={"access_log": "access.jsonl", "event_log": "events.jsonl", "event_log_routine": True, "trace_calls": 2 * CALLS, "trace_max_bytes": "256MiB",
                            "continuation_targets": ["group", "fallback"], "groups": {"hedged": {"hedge": {"after": 0.06}}},
                            "otlp": {"endpoint": self.up.url("otel"), "interval": 0.2}})

    def play(self):
        crowd = Crowd(self.weir.port, [one_ask(n, self.rand) for n in range(CALLS)], CLIENTS)
        self.reloads = 0
        while not crowd.is_over:
            self.reloads += 1
            assert self.weir.reload(self.config(self.reloads)).status == 200
            time.sleep(0.7)
        self.asks, self.seen = crowd.asks, crowd.seen()
        assert self.up.wait_for(lambda u: not any(u.in_flight.values()), 10), self.up.in_flight
        self.settle()
        return self

    def settle(self):
        """Until the last call has been told by all, and nothing more comes."""
        until(lambda: len(self.access_path.read_text().splitlines()) >= CALLS, 30)
        self.lines = [json.loads(line) for line in self.access_path.read_text().splitlines()]
        calls = sum("route" in line for line in self.lines)
        self.spans, taken_posts = [], 0
        end = time.monotonic() + 20
        while sum(span.kind == "server" for span in self.spans) < calls and time.monotonic() < end:
            posts = [call for call in list(self.up.calls) if call.deployment == "otel"]
            for post in posts[taken_posts:]:
                self.spans += spans_of(post)
            taken_posts = len(posts)
            time.sleep(0.05)
        self.metrics = scrape(self.weir)
        until(lambda: self.logged_all(), 10)
        self.stories = self.weir.ask(None, path="/weir/calls?limit=1000", method="GET").json

    def logged_all(self):
        self.events = logged(self.events_path)
        return len(self.events) >= self.metrics.sum("weir_events_total")

    def of(self, *kinds):
        return [event for event in self.events if event["kind"] in kinds]

    def count(self, kind, *fields):
        """How many events of a kind there are for each value of these fields."""
        def value(event, field):
            found = event.get(field, "")
            return str(found).lower() if isinstance(found, bool) else found
        return Counter(value(e, fields[0]) if len(fields) == 1 else tuple(value(e, f) for f in fields) for e in self.of(kind))


CHECKS = []


def check(function):
    """One of the sums; all are of one run, which takes a while."""
    CHECKS.append(function)
    return function


def test_all_that_is_told_adds_up(weirs, up):
    run, wrong = Run(weirs, up).play(), []
    for one in CHECKS:
        try:
            one(run)
        except AssertionError as error:
            wrong.append(AssertionError(f"{one.__name__}: {error}").with_traceback(error.__traceback__))
    if wrong:
        raise ExceptionGroup(f"SUMS_SEED={SEED}", wrong)


def state_of(line):
    """By what docs/routes.md says of the access log."""
    if line["status"] == 499 or (line.get("end") == "gone" and line["status"] < 400 and "kind" not in line):
        return "client_gone"
    return "failed" if "kind" in line or line["status"] >= 400 or "end" in line else "succeeded"


def of_event(event):
    """What two tellings of an event have in common: all but the id of its call, which a story has once, and times, which are rounded."""
    if isinstance(event, list):
        return [of_event(one) for one in event]
    if isinstance(event, dict):
        return {key: of_event(value) for key, value in event.items() if key not in ("call_id", "time", "until", "ms")}
    return event


def trace_of(number):
    return f"{number + 1:032x}"


# ---- that it adds up

@check
def something_of_everything_happened(run):
    """Or the sums below would be sums of nothing."""
    happened = {event["kind"] for event in run.events}
    often = {"Picked", "AttemptStarted", "AttemptFailed", "Retry", "Fallback", "CooldownSet", "StreamBroken", "Succeeded", "Failed"}
    seldom = {"Hedged", "HedgeLost", "StreamRecovered", "StreamContinued"}
    assert (often | seldom if CALLS >= 5000 else often) <= happened
    assert {state_of(line) for line in run.lines} == {"succeeded", "failed", "client_gone"}
    assert run.reloads > 1 and run.metrics.sum("weir_reloads_total") == run.reloads


@check
def nothing_was_dropped(run):
    for name in ("weir_log_dropped_lines_total", "weir_event_log_dropped_lines_total", "weir_metrics_dropped_series_total", "weir_spans_rejected_total",
                 "weir_spans_refused_total", "weir_spans_dropped_total"):
        assert run.metrics.sum(name) == 0, name
    assert run.metrics.sum("weir_spans_sent_total") == len(run.spans)
    assert run.stories["kept"] == calls_of(run)


def calls_of(run):
    """All but those that were refused before they were a call, for a wrong key."""
    return sum("route" in line for line in run.lines)


@check
def each_request_has_one_line(run):
    """A request whose key was refused is not read, so that its trace is not known."""
    by_trace = Counter(line["trace_id"] for line in run.lines if "trace_id" in line)
    refused = {n for n, ask in enumerate(run.asks) if "authorization" in ask["headers"]}
    assert len(run.lines) == CALLS
    assert set(by_trace.values()) == {1}
    assert {trace_of(n) for n in range(CALLS)} - set(by_trace) <= {trace_of(n) for n in refused}
    ids = Counter(line["call_id"] for line in run.lines)
    assert set(ids.values()) == {1}


@check
def the_log_says_what_clients_saw(run):
    by_trace = {line["trace_id"]: line for line in run.lines if "trace_id" in line}
    for number, (ask, sight) in enumerate(zip(run.asks, run.seen)):
        line = by_trace.get(trace_of(number))
        if line is None or sight is None:
            continue
        assert line["status"] == sight["status"], (ask, sight, line)
        assert line["call_id"] == sight["id"], (ask, sight, line)
        if sight["stream"]:
            assert (state_of(line) == "succeeded") == (sight["done"] and not sight["error"] and not sight["cut"]), (ask, sight, line)
        else:
            assert state_of(line) == ("succeeded" if sight["status"] == 200 else "failed"), (ask, sight, line)
    left = [n for n, sight in enumerate(run.seen) if sight is None and "authorization" not in run.asks[n]["headers"]]
    assert left and all(trace_of(n) in by_trace for n in left)


@check
def each_call_is_in_one_final_state(run):
    refused = {line["call_id"] for line in run.lines if "route" not in line or "model" not in line}  # the key, or a body without sense
    finals = defaultdict(list)
    for event in run.of("Succeeded", "Failed"):
        finals[event["call_id"]].append(event["kind"])
    for line in run.lines:
        ended = finals.pop(line["call_id"], [])
        if line["call_id"] in refused:
            assert ended == [] and state_of(line) == "failed", line
            continue
        assert len(ended) == 1, (line, ended)
        if state_of(line) == "succeeded":
            assert ended == ["Succeeded"], line
        if state_of(line) == "failed":
            assert ended == ["Failed"], line
    assert not finals
    states = Counter(state_of(line) for line in run.lines)
    assert run.metrics.by("weir_requests_total", "state") == states
    assert run.metrics.by("weir_requests_total", "state", "status", "kind", "route") == Counter(
        (state_of(line), str(line["status"]), line.get("kind", ""), line.get("route", "")) for line in run.lines)


@check
def attempts_are_what_providers_saw(run):
    asked = defaultdict(set)
    for call in run.up.calls:
        if call.deployment != "otel":
            asked[call.deployment].add(call.header("traceparent").split("-")[2])
    attempts = defaultdict(dict)
    for span in run.spans:
        if span.kind == "client":
            attempts[span["weir.deployment"]][span.id] = span
    for deployment in set(asked) | set(attempts):
        assert asked[deployment] <= set(attempts[deployment]), deployment
        for unseen in set(attempts[deployment]) - asked[deployment]:
            assert attempts[deployment][unseen]["weir.outcome"] in ("stopped", "lost"), attempts[deployment][unseen]
    counted = run.count("AttemptStarted", "deployment")
    assert {name: len(found) for name, found in attempts.items()} == counted
    assert run.metrics.by("weir_attempts_total", "deployment") == counted
    assert sum(line.get("attempts", 0) for line in run.lines) == counted.total()


@check
def failures_agree(run):
    failed = run.of("AttemptFailed")
    counted = Counter((e["deployment"], e["failure"]["kind"], str(e["failure"]["status"])) for e in failed)
    assert run.metrics.by("weir_attempt_failures_total", "deployment", "kind", "status") == counted
    of_spans = Counter((s["weir.deployment"], s["error.type"]) for s in run.spans if s.kind == "client" and s["weir.outcome"] == "failed")
    assert of_spans == Counter((e["deployment"], e["failure"]["kind"]) for e in failed)


@check
def retries_hops_and_hedges_agree(run):
    assert run.metrics.by("weir_retries_total", "group") == run.count("Retry", "group")
    assert run.metrics.by("weir_fallbacks_total", "source", "target", "hop") == run.count("Fallback", "source", "target", "hop")
    assert sum(line.get("fallbacks", 0) for line in run.lines) == run.count("Fallback", "hop")["group"]
    assert run.metrics.by("weir_hedges_total", "deployment") == run.count("Hedged", "deployment")
    assert run.metrics.by("weir_hedges_lost_total", "deployment") == run.count("HedgeLost", "deployment")


@check
def cooldowns_agree(run):
    counted = Counter((e["deployment"], e["rule"], (e.get("failure") or {}).get("kind", "")) for e in run.of("CooldownSet"))
    assert run.metrics.by("weir_cooldowns_total", "deployment", "rule", "kind") == counted


@check
def streams_agree(run):
    assert run.metrics.by("weir_streams_broken_total", "deployment", "committed") == run.count("StreamBroken", "deployment", "committed")
    assert run.metrics.by("weir_streams_recovered_total", "group") == run.count("StreamRecovered", "group")
    assert run.metrics.by("weir_streams_continued_total", "group") == run.count("StreamContinued", "group")


@check
def nothing_is_left_in_hand(run):
    for name in ("weir_deployment_in_flight", "weir_calls_in_hand", "weir_calls_waiting"):
        assert run.metrics.sum(name) == 0, name


@check
def events_are_counted_by_their_names(run):
    assert run.metrics.by("weir_events_total", "event") == Counter(event["kind"] for event in run.events)


@check
def tokens_and_costs_agree(run):
    for metric, field, attribute in (("weir_prompt_tokens_total", "prompt_tokens", "gen_ai.usage.input_tokens"),
                                     ("weir_completion_tokens_total", "completion_tokens", "gen_ai.usage.output_tokens")):
        counted = Counter()
        for line in run.lines:
            if line.get(field):
                counted[line.get("deployment", "")] += line[field]
        assert run.metrics.by(metric, "deployment") == counted
        assert sum(s[attribute] or 0 for s in run.spans if s.kind == "server") == counted.total()
    cost = sum(line.get("cost", 0) for line in run.lines)
    assert cost > 0 and run.metrics.sum("weir_cost_dollars_total") == pytest.approx(cost, rel=1e-9)


@check
def spans_are_the_calls(run):
    calls = {s["weir.call_id"]: s for s in run.spans if s.kind == "server"}
    lines = {line["call_id"]: line for line in run.lines}
    assert len(calls) == sum(s.kind == "server" for s in run.spans)
    assert set(calls) == {line["call_id"] for line in run.lines if "route" in line}
    for call_id, span in calls.items():
        line = lines[call_id]
        assert span.trace == line["trace_id"]
        assert (span["weir.state"], span["http.response.status_code"], span["weir.attempts"]) == (state_of(line), line["status"], line["attempts"])


@check
def stories_are_the_calls(run):
    lines = {line["call_id"]: line for line in run.lines}
    events = defaultdict(list)
    for event in run.events:
        events[event.get("call_id")].append(event)
    assert len(run.stories["calls"]) == min(1000, calls_of(run))
    for told in run.stories["calls"]:
        line = lines[told["call_id"]]
        for field in ("status", "kind", "model", "group", "deployment", "route", "end", "recovery", "attempts", "retries", "fallbacks", "prompt_tokens",
                      "completion_tokens"):
            assert (told.get(field) or None) == (line.get(field) or None), (field, told, line)
        assert told["state"] == state_of(line)
    for told in run.rand.sample(run.stories["calls"], 100):
        story = run.weir.ask(None, path=f"/weir/calls/{told['call_id']}", method="GET").json
        mine = events[told["call_id"]]
        assert [e["kind"] for e in story["events"]] == [e["kind"] for e in mine]
        for one, other in zip(story["events"], mine):
            assert of_event(one) == of_event(other)


@check
def the_names_that_litellm_has_agree(run):
    assert run.metrics.by("litellm_deployment_failure_responses_total", "model_id") == run.count("AttemptFailed", "deployment")
    assert run.metrics.by("litellm_deployment_cooled_down_total", "model_id") == run.count("CooldownSet", "deployment")
    assert run.metrics.by("litellm_proxy_total_requests_metric_total", "status_code") == Counter(str(line["status"]) for line in run.lines)
    failed = Counter(str(line["status"]) for line in run.lines if state_of(line) == "failed")
    assert run.metrics.by("litellm_proxy_failed_requests_metric_total", "exception_status").total() == failed.total()
