"""Traces by OTLP: what spans a call makes, and what a collector that is slow, away or full does to weir, which is nothing."""
import json
import re
import time

import pytest

from kit import answers
from kit.answers import CLOSE, HANG, Wait
from kit.client import request_bytes
from kit.collector import Collector, spans_of, taken
from kit.configs import config
from kit.wait import in_background, until

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = "00f067aa0ba902b7"
TRACEPARENT = f"00-{TRACE}-{PARENT}-01"
FAST = 0.05


@pytest.fixture
def collector(up):
    return Collector(up)


@pytest.fixture
def traced(serve, collector, up):
    """traced(groups, ...) -> a weir that sends its traces to `collector`."""
    def make(groups, otlp=None, weir=None, **sections):
        return serve(groups, weir={"otlp": {"endpoint": collector.url, "interval": FAST, **(otlp or {})}, **(weir or {})}, **sections)
    return make


def sent_to(up, name):
    return [call for call in up.calls if call.deployment == name]


def assert_sound(trace):
    """What holds for the spans of any call."""
    call = trace.call
    for span in [call, *trace.attempts]:
        assert re.fullmatch("[0-9a-f]{32}", span.trace) and span.trace == call.trace
        assert re.fullmatch("[0-9a-f]{16}", span.id) and int(span.id, 16) != 0
        assert span.begun <= span.ended
        assert call.begun <= span.begun
        assert span.resource["service.name"] == "weir" and span.scope.name == "weir"
        assert span["gen_ai.operation.name"] in ("chat", "text_completion", "embeddings")
        assert span.failed == ("error.type" in span.attributes)
    assert len({call.id, *(a.id for a in trace.attempts)}) == 1 + len(trace.attempts)
    assert [a["weir.attempt"] for a in trace.attempts] == list(range(1, len(trace.attempts) + 1))
    assert call["weir.attempts"] == len(trace.attempts)
    assert abs(call.begun / 1e9 - time.time()) < 60
    return trace


def counts(weir):
    page = weir.ask(None, path="/metrics", method="GET").body.decode()
    return {name: int(value) for name, value in re.findall(r"^weir_spans_(\w+)_total (\d+)$", page, re.M)}


# ---- what a call makes

def test_a_plain_call(traced, collector, up):
    weir = traced({"g": ["d1"]})
    up.says("d1", "hello there")
    reply = weir.ask("g")
    trace = assert_sound(collector.one())
    call, (attempt,) = trace.call, trace.attempts
    assert call.name == "chat g" and call.parent == "" and not call.failed
    expected = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "g", "gen_ai.response.finish_reasons": ["stop"],
                "gen_ai.usage.input_tokens": 9, "gen_ai.usage.output_tokens": 4, "http.response.status_code": 200,
                "weir.call_id": reply.header("x-litellm-call-id"), "weir.state": "succeeded", "weir.group": "g", "weir.deployment": "d1",
                "weir.attempts": 1}
    assert call.attributes == expected and call.events == []
    assert attempt.name == "chat model-d1" and attempt.kind == "client" and attempt.parent == call.id
    assert attempt.attributes == {
        "gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "model-d1", "server.address": "127.0.0.1",
        "server.port": up.port, "weir.group": "g", "weir.deployment": "d1", "weir.attempt": 1, "weir.outcome": "succeeded",
        "http.response.status_code": 200, "gen_ai.usage.input_tokens": 9, "gen_ai.usage.output_tokens": 4}
    assert json.loads(weir.log_line('"route"'))["trace_id"] == call.trace


def test_the_provider_is_told_the_span_of_its_attempt(traced, collector, up):
    weir = traced({"g": ["d1"]})
    up.says("d1", "hello there")
    weir.ask("g", headers={"traceparent": TRACEPARENT, "tracestate": "a=b"})
    trace = assert_sound(collector.one())
    assert (trace.call.trace, trace.call.parent) == (TRACE, PARENT)
    assert trace.call.proto.flags == 0x301 and trace.attempts[0].proto.flags == 0x101
    assert trace.call.proto.trace_state == "a=b"
    assert up.last("d1").header("traceparent") == f"00-{TRACE}-{trace.attempts[0].id}-01"
    assert up.last("d1").header("tracestate") == "a=b"


def test_providers_are_told_nothing_where_that_is_not_wanted(traced, collector, up):
    weir = traced({"g": ["d1"]}, litellm={"forward_traceparent_to_llm_provider": False})
    up.says("d1", "hello there")
    weir.ask("g", headers={"traceparent": TRACEPARENT})
    assert assert_sound(collector.one()).call.trace == TRACE
    assert up.last("d1").header("traceparent") is None


def test_a_retry_and_a_fallback(traced, collector, up):
    weir = traced({"g": ["d1"], "h": ["d2"]}, router={"num_retries": 1, "fallbacks": [{"g": ["h"]}]})
    up.says("d1", answers.error("internal"))
    up.says("d2", "hello")
    assert weir.ask("g").status == 200
    trace = assert_sound(collector.one())
    assert [(a["weir.deployment"], a["weir.outcome"], a["error.type"], a["http.response.status_code"]) for a in trace.attempts] == [
        ("d1", "failed", "internal", 500), ("d1", "failed", "internal", 500), ("d2", "succeeded", None, 200)]
    assert [call.header("traceparent") for call in up.calls if call.deployment != "otel"] == [
        f"00-{trace.call.trace}-{a.id}-01" for a in trace.attempts]
    events = {event.name: event for event in trace.call.events}
    assert list(events) == ["Retry", "Fallback"]
    assert events["Retry"].attributes["weir.number"] == 1 and events["Retry"].attributes["weir.waited_ms"] > 0
    assert events["Fallback"].attributes | {"weir.hop": "group", "weir.source": "g", "weir.target": "h", "weir.depth": 1} == events["Fallback"].attributes
    assert trace.attempts[0].ended <= events["Retry"].at <= trace.attempts[1].begun <= events["Fallback"].at <= trace.attempts[2].begun
    assert (trace.call["weir.fallbacks"], trace.call["weir.recovery"], trace.call["weir.group"]) == (1, "fallback", "h")
    assert not trace.call.failed and trace.attempts[0].failed


def test_a_cooldown(traced, collector, up):
    weir = traced({"g": ["d1", "d2"]})
    for name in ("d1", "d2"):
        up.says(name, answers.error("rate_limit", headers={"retry-after": "7"}))
    assert weir.ask("g").status == 429
    trace = assert_sound(collector.one())
    assert trace.call.failed and trace.call.message == "rate_limit" and trace.call["weir.state"] == "failed"
    assert (trace.call["error.type"], trace.call["http.response.status_code"]) == ("rate_limit", 429)
    (event,) = [event for event in trace.call.events if event.name == "CooldownSet"]
    assert event.attributes["weir.deployment"] == trace.attempts[0]["weir.deployment"]
    assert (event.attributes["weir.rule"], event.attributes["weir.length_s"], event.attributes["error.type"]) == ("rate_limited", 7, "rate_limit")


def test_a_call_that_nobody_could_serve(traced, collector, up):
    weir = traced({"g": ["d1", "d2"]}, router={"cooldown_time": 60})
    for name in ("d1", "d2"):
        up.says(name, answers.error("rate_limit"))
    for _ in range(3):
        assert weir.ask("g").status == 429
    last = assert_sound(max(collector.wait(3), key=lambda trace: trace.call.begun))
    assert last.attempts == [] and last.call.failed and last.call["weir.attempts"] == 0


def test_a_connection_that_fails(traced, collector, up):
    weir = traced({"g": ["d1"]})
    up.says("d1", answers.steps(CLOSE))
    assert weir.ask("g").status == 500
    (attempt,) = assert_sound(collector.one()).attempts
    assert attempt["error.type"] == "connection" and attempt["http.response.status_code"] is None


def test_a_stream(traced, collector, up):
    weir = traced({"g": ["d1"]})
    up.says("d1", answers.stream("one ", Wait(0.2), "two"))
    assert weir.ask({"model": "g", "stream": True}).text == "one two"
    trace = assert_sound(collector.one())
    assert trace.call["gen_ai.request.stream"] is True
    assert 0 < trace.call["gen_ai.response.time_to_first_chunk"] < 0.2
    assert 0 < trace.attempts[0]["gen_ai.response.time_to_first_chunk"] < 0.2
    assert trace.attempts[0]["weir.longest_silence_s"] > 0.15  # what is read late was silent for less than the pause
    assert trace.attempts[0].ended - trace.attempts[0].begun >= 0.2e9


def test_a_stream_that_breaks(traced, collector, up):
    weir = traced({"g": ["d1"]})
    up.says("d1", answers.stream("one ", Wait(0.05), CLOSE))
    reply = weir.ask({"model": "g", "stream": True})
    assert reply.status == 200 and reply.failed
    trace = assert_sound(collector.one())
    assert trace.call.failed and trace.call["weir.state"] == "failed"
    assert [event.name for event in trace.call.events if event.name == "StreamBroken"]
    assert trace.attempts[0]["weir.outcome"] == "failed"


def test_a_second_attempt_beside_a_slow_one(traced, collector, up):
    weir = traced({"g": ["d1", "d2"]}, weir={"hedge": {"after": 0.1}})
    up.says("d1", answers.steps(HANG))
    up.says("d2", answers.steps(HANG))
    asked = in_background(lambda: weir.ask("g"))
    until(lambda: len(sent_to(up, "d1")) + len(sent_to(up, "d2")) == 1)
    slow, quick = ("d1", "d2") if sent_to(up, "d1") else ("d2", "d1")
    up.says(quick, "quick")
    assert asked().text == "quick"
    trace = assert_sound(collector.one())
    assert [(a["weir.deployment"], a["weir.outcome"]) for a in trace.attempts] == [(slow, "lost"), (quick, "succeeded")]
    assert [event.name for event in trace.call.events] == ["Hedged", "HedgeLost"]
    assert trace.attempts[1].begun < trace.attempts[0].ended and not trace.attempts[0].failed


def test_a_client_that_leaves(traced, collector, up):
    weir = traced({"g": ["d1"]})
    up.says("d1", answers.stream("one ", HANG))
    with weir.connect() as connection:
        connection.send(request_bytes({"model": "g", "stream": True, "messages": []}))
        until(lambda: sent_to(up, "d1"))
        time.sleep(0.1)
    trace = assert_sound(collector.one())
    assert trace.call["weir.state"] == "client_gone" and trace.call["weir.end"] == "gone" and not trace.call.failed
    assert trace.attempts[0]["weir.outcome"] == "stopped"


@pytest.mark.parametrize("path, body, operation", [("/v1/completions", {"prompt": "x"}, "text_completion"), ("/v1/embeddings", {"input": "x"}, "embeddings")])
def test_other_routes_have_their_names(traced, collector, up, path, body, operation):
    weir = traced({"g": ["d1"]})
    up.says("d1", "hello")
    assert weir.ask({"model": "g", **body}, path=path).status == 200
    trace = assert_sound(collector.one())
    assert trace.call.name == f"{operation} g" and trace.attempts[0].name == f"{operation} model-d1"


def test_azure_has_the_name_that_the_conventions_give_it(traced, collector, up):
    weir = traced({"g": {"d1": {"model": "azure/dep", "api_version": "2024-06-01"}}})
    up.says("d1", "hello")
    assert weir.ask("g").status == 200
    assert assert_sound(collector.one()).attempts[0]["gen_ai.provider.name"] == "azure.ai.openai"


def test_pages_and_refusals_make_no_spans(traced, collector, up):
    weir = traced({"g": ["d1"]}, general={"master_key": "sk-e2e"})
    up.says("d1", "hello")
    weir.ask(path="/v1/models", method="GET")
    assert weir.ask("g", headers={"authorization": "Bearer sk-wrong"}).status == 401
    assert weir.ask("g").status == 200
    assert len(collector.wait(1)) == 1


def test_spans_and_stories_tell_the_same(traced, collector, up):
    """Calls of every kind side by side; each trace is held against the call's story by rules that hold for all."""
    weir = traced({"a": ["a1", "a2"], "b": ["b1"], "c": {"c1": {"order": 1}, "c2": {"order": 2}}, "s": ["s1"]},
                  router={"num_retries": 1, "cooldown_time": 0.3, "fallbacks": [{"a": ["b"]}, {"s": ["b"]}]}, weir={"hedge": {"after": 0.1}})
    slow = answers.late(answers.text("slow"), 0.25)
    up.says("a1", answers.error("internal"), "one", answers.error("rate_limit"), slow, answers.steps(CLOSE))
    up.says("a2", slow, answers.error("auth"), "two", answers.error("bad_request"))
    up.says("b1", "three", answers.error("internal"), "four", answers.error("rate_limit", headers={"retry-after": "1"}))
    up.says("c1", answers.error("internal"), "five", answers.steps(CLOSE))
    up.says("c2", "six", answers.error("internal"))
    up.says("s1", answers.stream("x ", CLOSE), answers.stream(CLOSE), answers.stream("x ", "y"), answers.stream(answers.Error("internal")))
    asked = [in_background(lambda name=name, turn=turn: weir.ask({"model": name, "stream": name == "s" or turn % 3 == 0}))
             for turn in range(12) for name in ("a", "b", "c", "s", "unknown")]
    replies = [wait() for wait in asked]
    assert len({reply.status for reply in replies}) > 2
    traces = {trace.call["weir.call_id"]: assert_sound(trace) for trace in collector.wait(len(replies))}
    for reply in replies:
        call_id = reply.header("x-litellm-call-id")
        told = weir.ask(None, path=f"/weir/calls/{call_id}", method="GET").json
        assert faults(traces[call_id], told) == [], (traces[call_id].call, traces[call_id].attempts, told)


def faults(trace, told):
    """In what a trace and a story differ."""
    call, events = trace.call, told["events"]
    begun = call.begun / 1e6
    facts = {"weir.state": "state", "weir.group": "group", "weir.deployment": "deployment", "weir.retries": "retries", "weir.fallbacks": "fallbacks",
             "weir.recovery": "recovery", "weir.end": "end", "http.response.status_code": "status", "gen_ai.request.model": "model"}
    found = [f"{name}: {call[name]!r}, {told.get(field)!r}" for name, field in facts.items() if (call[name] or None) != (told.get(field) or None)]
    found += ["the length"] if abs((call.ended - call.begun) / 1e6 - told["duration_ms"]) > 0.01 else []
    between = [e for e in events if e["kind"] not in ("Picked", "AttemptStarted", "AttemptFailed", "Succeeded", "Failed")]
    found += ["the events"] if [e.name for e in call.events] != [e["kind"] for e in between] else []
    found += [e.name for e, t in zip(call.events, between) if abs(e.at / 1e6 - begun - t["ms"]) > 0.01 or e.attributes.get("weir.deployment") != t.get("deployment")]
    starts = [e for e in events if e["kind"] == "AttemptStarted"]
    found += ["the attempts"] if [a["weir.deployment"] for a in trace.attempts] != [e["deployment"] for e in starts] else []
    for span, start in zip(trace.attempts, starts):
        own = [e for e in events if e.get("attempt") == start["attempt"]]
        broken = [e for e in own if e["kind"] in ("AttemptFailed", "StreamBroken")]
        kind = broken[0]["failure"]["kind"] if broken else None
        ended = [e for e in own if e["kind"] in ("AttemptFailed", "StreamBroken", "HedgeLost", "Succeeded")] or [events[-1]]
        found += [f"attempt {start['attempt']}: {span['error.type']}, {kind}"] if span["error.type"] != kind else []
        if abs(span.begun / 1e6 - begun - start["ms"]) > 0.01 or abs(span.ended / 1e6 - begun - ended[0]["ms"]) > 0.01:
            found.append(f"the times of attempt {start['attempt']}")
    return found


# ---- which calls

def test_the_caller_says_whether_its_trace_is_kept(traced, collector, up):
    weir = traced({"g": ["d1"]})
    up.says("d1", "hello")
    assert weir.ask("g", headers={"traceparent": TRACEPARENT[:-1] + "0"}).status == 200
    assert re.fullmatch(f"00-{TRACE}-[0-9a-f]{{16}}-00", up.last("d1").header("traceparent"))
    assert PARENT not in up.last("d1").header("traceparent")
    assert weir.ask("g").status == 200
    assert collector.one().call.trace != TRACE


def test_a_part_of_the_calls(traced, collector, up):
    weir = traced({"g": ["d1"]}, otlp={"sample": 0.5})
    up.says("d1", "hello")
    for _ in range(64):
        weir.ask("g")
    weir.ask("g", headers={"traceparent": TRACEPARENT})
    until(lambda: any(trace.call.trace == TRACE for trace in collector.traces()))
    kept = {trace.call.trace for trace in collector.traces()} - {TRACE}
    told = {call.header("traceparent") for call in sent_to(up, "d1")}
    assert 8 < len(kept) < 56
    assert kept == {value.split("-")[1] for value in told if value.endswith("-01")} - {TRACE}


def test_none_of_them(traced, collector, up):
    weir = traced({"g": ["d1"]}, otlp={"sample": 0})
    up.says("d1", "hello")
    for _ in range(5):
        weir.ask("g")
    weir.ask("g", headers={"traceparent": TRACEPARENT})
    assert collector.one().call.trace == TRACE


# ---- how they are sent

def test_the_request_is_as_otlp_has_it(traced, collector, up):
    weir = traced({"g": ["d1"]}, otlp={"headers": {"x-api-key": "os.environ/COLLECTOR_KEY"}, "service_name": "gate",
                                      "resource_attributes": {"deployment.environment.name": "prod"}}, env={"COLLECTOR_KEY": "sk-collector"})
    up.says("d1", "hello")
    weir.ask("g")
    span = collector.one().call
    (post,) = collector.posts
    assert post.path == "/otel/v1/traces" and post.header("content-type") == "application/x-protobuf"
    assert post.header("x-api-key") == "sk-collector"
    assert span.resource["service.name"] == "gate" and span.resource["deployment.environment.name"] == "prod"
    assert re.fullmatch(r"\d+\.\d+\.\d+", span.resource["service.version"])


def test_many_calls_go_in_few_posts(traced, collector, up):
    weir = traced({"g": ["d1"]}, otlp={"interval": 30})
    up.says("d1", "hello")
    for _ in range(300):
        weir.ask("g")
    weir.stop()
    assert [len(spans_of(post)) for post in collector.posts] == [512, 88]
    assert len({trace.call.id for trace in collector.traces()}) == 300


def test_what_is_left_is_sent_at_the_end(traced, collector, up):
    weir = traced({"g": ["d1"]}, otlp={"interval": 3600})
    up.says("d1", "hello")
    weir.ask("g")
    assert collector.posts == []
    weir.stop()
    assert len(collector.traces()) == 1


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_collector_that_is_busy_is_asked_again(traced, collector, up, status):
    collector.answers(answers.raw(status, "", {"retry-after": "1"}), taken())
    weir = traced({"g": ["d1"]})
    up.says("d1", "hello")
    weir.ask("g")
    until(lambda: len(collector.posts) == 2)
    first, second = collector.posts
    assert second.at - first.at >= 0.95 and first.body == second.body
    weir.log_line(f"does not take them: it answers {status}")
    weir.log_line("takes them again")


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 500, 307])
def test_what_a_collector_refuses_is_dropped(traced, collector, up, status):
    collector.answers(answers.raw(status, "", {"location": "http://127.0.0.1:9/"}), taken())
    weir = traced({"g": ["d1"]})
    up.says("d1", "hello")
    weir.ask("g")
    weir.log_line(f"does not take them: it answers {status}")
    assert weir.ask("g").status == 200
    until(lambda: len(collector.posts) == 2)
    first, second = ({span.trace for span in spans_of(post)} for post in collector.posts)
    assert not first & second


@pytest.mark.parametrize("behaviour", ["hangs", "is away", "is cut", "trickles"])
def test_a_collector_that_is_no_good_harms_no_request(traced, collector, up, behaviour):
    collector.answers({"hangs": answers.steps(HANG), "is away": answers.steps(CLOSE),
                       "is cut": answers.steps(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nxx", CLOSE),
                       "trickles": answers.steps(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n", *[b"x", Wait(0.3)] * 100)}[behaviour])
    weir = traced({"g": ["d1"]}, otlp={"timeout": 0.3})
    up.says("d1", "hello")
    for _ in range(50):
        reply = weir.ask("g")
        assert reply.status == 200 and reply.elapsed < 1
    weir.log_line("does not take them: (timed_out|reset|truncated)")
    began = time.monotonic()
    weir.stop()
    assert time.monotonic() - began < 5


def test_memory_for_spans_has_a_maximum(traced, collector, up):
    collector.answers(answers.steps(HANG))
    weir = traced({"g": ["d1"]}, otlp={"timeout": 60, "queue_bytes": "64KiB"})
    up.says("d1", "hello")
    weir.ask("g")
    until(lambda: collector.posts)
    for _ in range(300):
        assert weir.ask("g").status == 200
    collector.answers(taken())
    weir.stop()
    kept = sum(len(post.body) for post in collector.posts)
    assert kept < 80 * 1024 and len(collector.traces()) < 200


def test_a_collector_that_takes_a_part(traced, collector, up):
    collector.answers(taken(rejected=1, message="no room"))
    weir = traced({"g": ["d1"]})
    up.says("d1", "hello")
    for count in (1, 2):
        weir.ask("g")
        until(lambda: len(collector.posts) == count)
    until(lambda: counts(weir) == {"sent": 2, "rejected": 2, "refused": 0, "dropped": 0})
    assert weir.log.count("does not take them") == 0


def test_each_span_is_counted_once(traced, collector, up):
    collector.answers(taken(), answers.raw(400, ""), taken(rejected=1), answers.raw(503, "", {"retry-after": "1"}), taken())
    weir = traced({"g": ["d1"], "h": ["d2"]}, router={"num_retries": 1, "fallbacks": [{"g": ["h"]}]})
    up.says("d1", answers.error("internal"))
    up.says("d2", "hello")
    for _ in range(40):
        weir.ask("g")
        time.sleep(0.02)
    until(lambda: sum(counts(weir).values()) == 40 * 4)
    told = counts(weir)
    assert told["rejected"] == 1 and told["refused"] > 0 and told["dropped"] == 0


# ---- reload

def test_a_reload_turns_traces_on_and_off_and_moves_them(serve, collector, up):
    other = Collector(up, "other")
    weir = serve({"g": ["d1"]})
    up.says("d1", "hello")
    weir.ask("g")

    def adopt(otlp):
        made = config(up, {"g": ["d1"]}, weir={"otlp": otlp} if otlp else None)
        assert weir.reload(made).json["needs_restart"] == []
    adopt({"endpoint": collector.url, "interval": FAST})
    weir.ask("g")
    collector.wait(1)
    adopt({"endpoint": other.url, "interval": FAST})
    weir.ask("g")
    other.wait(1)
    adopt(None)
    weir.ask("g")
    time.sleep(0.5)
    assert (len(collector.traces()), len(other.traces())) == (1, 1)


def test_calls_of_two_configurations_keep_their_places(traced, collector, up):
    """A call that began before a reload is told of by what it went by."""
    weir = traced({"g": ["d1"]})
    up.says("d1", answers.late(answers.text("late"), 0.5))
    asked = in_background(lambda: weir.ask("g"))
    until(lambda: sent_to(up, "d1"))
    weir.reload(config(up, {"g": {"d1": {"model": "openai/another"}}}, weir={"otlp": {"endpoint": collector.url, "interval": FAST}}))
    assert asked().text == "late"
    assert collector.one().attempts[0]["gen_ai.request.model"] == "model-d1"


# ---- what must not be in them

def test_no_prompt_no_answer_and_no_key(traced, collector, up):
    weir = traced({"g": {"d1": {"api_key": "sk-PLANTED-provider"}}, "h": ["d2"]}, router={"num_retries": 1, "fallbacks": [{"g": ["h"]}]},
                  general={"master_key": "sk-PLANTED-master"}, otlp={"headers": {"x-key": "PLANTED-collector"}})
    up.says("d1", answers.error("bad_request", message="PLANTED words of the provider"), answers.error("internal", message="PLANTED sk-PLANTED-provider"))
    up.says("d2", "PLANTED answer")
    for _ in range(2):
        reply = weir.ask({"model": "g", "messages": [{"role": "user", "content": "PLANTED prompt"}], "user": "PLANTED user", "metadata": {"x": "PLANTED"}},
                         headers={"authorization": "Bearer sk-PLANTED-master"})
        assert reply.status in (200, 400)
    collector.wait(2)
    assert all(b"PLANTED" not in post.body for post in collector.posts)
    assert "PLANTED-collector" not in weir.log


def test_odd_names_spoil_no_batch(traced, collector, up):
    weir = traced({"g": ["d1"]})
    up.says("d1", "hello")
    names = ["x" * 5000, "gr\u00fc\u00dfe" * 100, "\U0001f600" * 200, "line\nbreak", "nul\u0000"]
    for name in names:
        weir.ask(name)
    weir.ask("g")
    found = collector.wait(1)
    until(lambda: any(trace.call["gen_ai.request.model"] == "g" for trace in collector.traces()))
    for trace in found:
        assert len(trace.call["gen_ai.request.model"].encode()) <= 256
