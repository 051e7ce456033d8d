"""A checker of stories: is what weir tells of a call, in /weir/calls/ID and in the header x-weir-trace, what happened?

It knows no scenario. It holds a story against the answer that the client had, against what the upstreams were asked, and against the
other stories of the same weir, by rules that are to hold for every call. `check` is for one call, `check_all` for what they say together.
"""
import contextlib
import re
import threading
import time
from dataclasses import dataclass, field
from datetime import datetime
from typing import Optional
from urllib.parse import urlsplit

ENDS = ("AttemptFailed", "HedgeLost", "Succeeded")
LATE = 2.0      # seconds that a busy machine may lose
EDGE = 0.05     # around the end of a cooldown nobody knows which side a pick saw


@dataclass
class Asked:
    """A request that an upstream got."""
    place: str                      # first segment of the path: stands for a deployment
    at: float                       # monotonic
    status: Optional[int] = None    # that it answered with


@dataclass
class Seen:
    """A call as its client saw it; left: the client went away."""
    status: Optional[int]
    headers: dict
    stream: bool = False
    failed: bool = False            # the stream did not come to its proper end
    left: bool = False
    asked: Optional[list] = None    # what the upstreams got for it; None: calls ran side by side, nobody knows


def when(text):
    return datetime.fromisoformat(text).timestamp()


def of(told, *kinds):
    return [event for event in told["events"] if event["kind"] in kinds]


# ---- the story by itself

def faults_of_order(told):
    times = [event["ms"] for event in told["events"] if event["kind"] != "CooldownSet"]  # which is as old as the failure
    if times != sorted(times):
        yield f"events are not in the order of their times: {times}"
    if told["events_lost"]:
        yield f"{told['events_lost']} events are lost"
    if told["state"] != "client_gone" and told["end"] is None and times and times[-1] > told["duration_ms"] + 1:
        yield f"the last event at {times[-1]} ms, after the call's end at {told['duration_ms']} ms"
    for event in told["events"]:
        if abs(when(event["time"]) - when(told["time"]) - event["ms"] / 1000) > 0.003:
            yield f"{event['kind']}: {event['time']} is not {event['ms']} ms after {told['time']}"


def faults_of_end(told):
    last = told["events"][-1]["kind"] if told["events"] else None
    finals = of(told, "Succeeded", "Failed")
    if told["events"] and (len(finals) != 1 or last not in ("Succeeded", "Failed")):
        yield f"ends with {last}, and has {[e['kind'] for e in finals]}"
    if told["state"] == "succeeded" and (last != "Succeeded" or told["status"] != 200 or told["kind"]):
        yield f"succeeded with {last}, {told['status']}, {told['kind']}"
    if told["state"] == "failed" and last == "Failed":
        failure = finals[0]["failure"]
        if told["kind"] != failure["kind"] or (told["status"] != 200 and told["status"] != failure["status"]):
            yield f"is told as {told['kind']} {told['status']}, and failed with {failure}"
    if told["state"] == "failed" and not told["events"] and told["status"] < 400:
        yield f"failed without an event, with {told['status']}"


def faults_of_attempts(told):
    started = of(told, "AttemptStarted")
    if [event["attempt"] for event in started] != list(range(1, told["attempts"] + 1)):
        yield f"{told['attempts']} attempts, and started are {[e['attempt'] for e in started]}"
    for event in started:
        ends = [e for e in of(told, *ENDS) if e["attempt"] == event["attempt"]]
        if len(ends) > 1 or (not ends and told["state"] == "succeeded"):
            yield f"attempt {event['attempt']} has the ends {[e['kind'] for e in ends]}"
        for end in ends:
            if (end["group"], end["deployment"]) != (event["group"], event["deployment"]):
                yield f"attempt {event['attempt']} of {event['deployment']} ends at {end['deployment']}"
            if end["kind"] == "AttemptFailed" and abs(end["ms"] - event["ms"] - end["duration_ms"]) > 1000 * LATE:
                yield f"attempt {event['attempt']} took {end['duration_ms']} ms between {event['ms']} and {end['ms']}"
    for event in of(told, "Succeeded"):
        if told["deployment"] != event["deployment"]:
            yield f"served by {event['deployment']}, told is {told['deployment']}"


def faults_of_picks(told):
    """Who was chosen was begun, and whoever is begun was chosen."""
    picked = None
    for event in told["events"]:
        if event["kind"] == "Picked":
            picked = event
            chosen = [c["deployment"] for c in event["candidates"] if c["fate"] == "chosen"]
            if chosen != ([event["deployment"]] if event["deployment"] else []):
                yield f"a pick of {event['deployment']} has chosen {chosen}"
            if any(c["fate"] == "cooling_down" and "until" not in c for c in event["candidates"]):
                yield f"a candidate cools down, and nobody knows until when: {event['candidates']}"
        if event["kind"] in ("AttemptStarted", "AttemptRefused"):
            if picked is None or picked["deployment"] != event["deployment"]:
                yield f"{event['kind']} of {event['deployment']}, picked was {picked and picked['deployment']}"
            picked = None
    purposes = {e["for"] for e in of(told, "Picked") if e["deployment"]}
    if "retry" in purposes and not of(told, "Retry", "CoolingWait"):
        yield "picked for a retry that there was not"


def faults_of_waits(told):
    promised = None
    for event in told["events"]:
        if event["kind"] in ("AttemptFailed", "AttemptRefused"):
            promised = event if event["will_retry"] else None
        elif event["kind"] == "CoolingWait":
            promised = None
        elif event["kind"] == "Retry":
            if promised and event["waited_ms"] != promised["wait_ms"]:
                yield f"waited {event['waited_ms']} ms for a retry after {promised['wait_ms']} ms"
            since = event["ms"] - promised["ms"] if promised else event["waited_ms"]
            if not -2 <= since - event["waited_ms"] < 1000 * LATE:
                yield f"waited {event['waited_ms']} ms, and retries {since} ms after the failure"
            promised = None


def faults_of_hops(told):
    hops = [event for event in of(told, "Fallback") if event["hop"] == "group"]
    if told["fallbacks"] != len(hops):
        yield f"{told['fallbacks']} fallbacks are told, and {len(hops)} events"
    if [event["depth"] for event in hops] != list(range(1, len(hops) + 1)):
        yield f"depths are {[event['depth'] for event in hops]}"
    for at, event in enumerate(told["events"]):
        if event["kind"] != "Fallback":
            continue
        then = next((e for e in told["events"][at + 1:] if e["kind"] in ("Picked", "AttemptStarted", "AttemptRefused", "Fallback", "Failed")), None)
        if event["hop"] == "group" and then and then["kind"] in ("Picked", "AttemptStarted") and then["group"] != event["target"]:
            yield f"a hop to {event['target']} is followed by {then['kind']} in {then['group']}"
        if event["hop"] != "group" and (not then or then["deployment"] != event["deployment"]):
            yield f"{event['hop']} to {event['deployment']} is followed by {then}"
    retries = len(of(told, "Retry"))
    if told["retries"] > retries:
        yield f"{told['retries']} retries are told, and {retries} events"


def faults_of_cooldowns(told):
    for event in of(told, "CooldownSet"):
        cause = [e for e in of(told, "AttemptFailed", "AttemptRefused") if e["deployment"] == event["deployment"] and e["failure"] == event["failure"]]
        if not cause:
            yield f"a cooldown of {event['deployment']} by {event['failure']}, which did not happen"
        if abs(when(event["until"]) - when(event["time"]) - event["length_s"]) > 0.003:
            yield f"a cooldown of {event['length_s']} s from {event['time']} until {event['until']}"


# ---- the story and the client

def faults_of_reply(told, seen):
    if seen.left:
        return
    if told["status"] != seen.status:
        yield f"status {told['status']}, and the client had {seen.status}"
    if told["state"] != ("failed" if seen.status >= 400 or seen.failed else "succeeded"):
        yield f"{told['state']}, and the client had {seen.status}{' and a broken stream' if seen.failed else ''}"
    attempts = int(seen.headers["x-weir-attempts"])
    if attempts > told["attempts"] or (attempts < told["attempts"] and not seen.stream):
        yield f"{told['attempts']} attempts, and the client was told {attempts}"
    for name, key in (("x-litellm-attempted-retries", "retries"), ("x-litellm-attempted-fallbacks", "fallbacks")):
        have = seen.headers.get(name)
        if have is not None and not seen.stream and int(have) != told[key]:
            yield f"{told[key]} {key}, and the client was told {have}"
    if seen.headers.get("x-litellm-model-id") not in (None, told["deployment"]) and not seen.stream and seen.status == 200:
        yield f"served by {told['deployment']}, and the client was told {seen.headers['x-litellm-model-id']}"


# ---- the trace

def name_of(text):
    return re.sub(rb"[^!-:<-~]", b"_", text.encode()).decode()


def seconds(number):
    text = f"{int(number * 1000) / 1000:.3f}".rstrip("0").rstrip(".")
    return text or "0"


def at(event):
    return name_of(event["group"] or "") + ("/" + name_of(event["deployment"]) if event["deployment"] else "")


def step_of(told, event):
    """The step of the trace that the event is; times stand as `N`. None: it is none."""
    kind, failure = event["kind"], event.get("failure")
    if kind == "AttemptFailed":
        return f"{at(event)} {failure['status']} {failure['kind']} N"
    if kind == "AttemptRefused":
        return f"{at(event)} {failure['status']} {failure['kind']} refused"
    if kind in ("Succeeded", "HedgeLost"):
        return f"{at(event)} {'200' if kind == 'Succeeded' else 'lost'} N"
    if kind in ("Retry", "CoolingWait"):
        return f"wait {seconds((event['waited_ms'] if kind == 'Retry' else event['wait_ms']) / 1000)}"
    if kind == "Hedged":
        return "hedge"
    if kind == "RetryRefused":
        return f"no-{event['what']}-budget"
    if kind == "Fallback":
        where = {"group": lambda: name_of(event["target"]), "order": lambda: event.get("order", "last"), "sibling": lambda: name_of(event["deployment"])}
        return f"{'fallback' if event['hop'] == 'group' else event['hop']} {where[event['hop']]()}"
    if kind == "Failed" and not event.get("attempt"):
        return f"{at(event)} {failure['status']} {failure['kind']}"
    return None


def open_steps(told):
    ended = {event["attempt"] for event in of(told, *ENDS)}
    return [f"{at(event)} stopped N" for event in of(told, "AttemptStarted") if event["attempt"] not in ended]


def trace_of(told):
    steps = []
    for event in told["events"]:
        if event["kind"] == "Failed":
            steps += open_steps(told)
        if event["kind"] == "CooldownSet":
            steps[-1:] = [(steps or [""])[-1] + f" cooldown={seconds(event['length_s'])}"]
        else:
            step = step_of(told, event)
            steps += [step] if step else []
    return steps


def faults_of_trace(told, seen):
    trace = seen.headers.get("x-weir-trace")
    if trace is None:
        if told["events"] and not seen.left:
            yield "no trace"
        return
    whole = trace_of(told)
    have = [re.sub(r"\b\d+ms\b", "N", step) for step in trace.split("; ")]
    if have[-1] == "...":
        have, whole = have[:-1], whole[:len(have) - 1]
    elif seen.stream:
        running = [step for step in have if re.search(r" (200|running) N$", step)]
        have = [step for step in have if step not in running]
        if seen.status == 200 and len(running) < 1:
            yield f"nobody serves in the trace {trace!r}"
        whole = whole[:len(have)]
    if have != whole:
        yield f"the trace {trace!r}, and the story {'; '.join(whole)!r}"
    for step in trace.split("; "):
        took = re.search(r" (\d+)ms\b", step)
        if took and int(took[1]) > told["duration_ms"] + 1 and not seen.left:
            yield f"{step!r} in a call of {told['duration_ms']} ms"


# ---- the story and the upstreams

def is_unreached(failure):
    """Whether the upstream may not have had the request: it was not reached in time, or weir could not make the request."""
    return failure["kind"] in ("connection", "timeout") or failure["origin"] == "router"


def faults_of_asked(told, seen, places):
    """Places: what is asked for a deployment, {id: place}; None for those that nobody is asked for, and without a key where it is not known."""
    started = [event for event in of(told, "AttemptStarted") if places.get(event["deployment"], "?") is not None]
    if seen.asked is None or any(event["deployment"] not in places for event in started):
        return
    unreached = {e["attempt"] for e in of(told, "AttemptFailed") if is_unreached(e["failure"])}
    unreached |= {e["attempt"] for e in of(told, "HedgeLost")} | ({e["attempt"] for e in started} - {e["attempt"] for e in of(told, *ENDS)})
    asked = list(seen.asked)
    for event in started:
        place = places[event["deployment"]]
        found = next((a for a in asked if a.place == place), None)
        if found is None:
            if event["attempt"] not in unreached:
                yield f"attempt {event['attempt']} asked {place}, which was not asked: {[a.place for a in seen.asked]}"
            continue
        asked.remove(found)
        yield from faults_of_status(told, event, found)
    # One that fails on a connection that was kept is asked again on a fresh one, within one attempt.
    if asked and not unreached:
        yield f"the upstreams were asked more than the story tells: {[a.place for a in asked]} beside {len(started)} attempts"
    yield from faults_of_gaps(told, seen.asked)


def faults_of_status(told, started, asked):
    end = next((e for e in of(told, *ENDS) if e["attempt"] == started["attempt"]), None)
    if end is None or asked.status is None:
        return
    if end["kind"] == "Succeeded" and asked.status >= 300:
        yield f"attempt {started['attempt']} succeeded, and {asked.place} answered {asked.status}"
    if end["kind"] == "AttemptFailed" and asked.status >= 400 and end["failure"]["kind"] not in ("timeout", "connection"):
        known = (400, 401, 403, 404, 408, 413, 422, 429, 500, 502, 503)
        of_words = end["failure"]["kind"] in ("context_window", "content_policy")  # whatever the status
        if asked.status in known and end["failure"]["status"] // 100 != asked.status // 100 and not of_words:
            yield f"attempt {started['attempt']} failed with {end['failure']}, and {asked.place} answered {asked.status}"


def faults_of_gaps(told, asked):
    waits = [event["wait_ms"] / 1000 for event in of(told, "AttemptFailed") if event["will_retry"]]
    if len(of(told, "AttemptStarted")) != len(asked) or of(told, "Hedged") or len(waits) != len(asked) - 1:
        return
    for wait, before, after in zip(waits, asked, asked[1:]):
        if after.at - before.at < wait - 0.05:
            yield f"asked again after {after.at - before.at:.3f} s, and a wait of {wait} s is told"


# ---- all of them

EMPTY = dict.fromkeys(("kind", "end", "group", "deployment", "model"))


def filled(told):
    """With None for what is left out."""
    events = [{"deployment": None, "group": None, **event} for event in told["events"]]
    return {**EMPTY, **told, "events": events}


def check(told, seen, places):
    """What is wrong with one story, as lines."""
    told = filled(told)
    found = []
    for rule in (faults_of_order, faults_of_end, faults_of_attempts, faults_of_picks, faults_of_waits, faults_of_hops, faults_of_cooldowns):
        found += rule(told)
    found += faults_of_reply(told, seen)
    found += faults_of_trace(told, seen)
    found += faults_of_asked(told, seen, places)
    return [f"{told['call_id']} ({told['model']}): {fault}" for fault in found]


@dataclass
class Cooldowns:
    """What all stories of one weir say together of who cooled down when."""
    known: dict = field(default_factory=dict)  # deployment: [(from, until), ...]

    def add(self, told):
        for event in of(told, "CooldownSet"):
            self.known.setdefault(event["deployment"], []).append((when(event["time"]), when(event["until"])))

    def until(self, deployment, moment):
        """The ends of the cooldowns that may hold at the moment, and whether one does for sure."""
        around = [(a, b) for a, b in self.known.get(deployment, []) if a - EDGE <= moment <= b + EDGE]
        return [b for _, b in around], any(a + EDGE < moment < b - EDGE for a, b in around)

    def faults(self, told):
        for event in of(told, "Picked"):
            moment = when(event["time"])
            for candidate in event["candidates"]:
                ends, sure = self.until(candidate["deployment"], moment)
                if sure and "until" not in candidate:
                    yield f"{told['call_id']}: {candidate} is not told to cool down, though it does"
                if "until" in candidate and not any(abs(when(candidate["until"]) - end) < 0.003 for end in ends):
                    yield f"{told['call_id']}: {candidate} cools down, and nobody has set that: {self.known.get(candidate['deployment'])}"


def check_all(stories):
    """What is wrong with them together, as lines: every cooldown that a pick saw was set, and every one that was set is seen."""
    cooldowns = Cooldowns()
    for told in stories:
        cooldowns.add(told)
    return [fault for told in stories for fault in cooldowns.faults(told)]


def faults_of_totals(stories, calls, places):
    """All upstreams together were asked as often as all stories tell."""
    started, sure = {}, {}
    for told in stories:
        ended = {e["attempt"] for e in of(told, "Succeeded")} | {e["attempt"] for e in of(told, "AttemptFailed") if not is_unreached(e["failure"])}
        for event in of(told, "AttemptStarted"):
            place = places.get(event["deployment"])
            started[place] = started.get(place, 0) + 1
            sure[place] = sure.get(place, 0) + (event["attempt"] in ended)
    for place in {call.place for call in calls} | set(started) - {None}:
        count = sum(call.place == place for call in calls)
        if not sure.get(place, 0) <= count <= started.get(place, 0):
            yield f"{place} was asked {count} times, and the stories tell {sure.get(place, 0)} to {started.get(place, 0)}"


# ---- beside a run

def asked(calls):
    return [Asked(call.deployment, call.at, call.status) for call in list(calls)]


def is_probing(config):
    text = str(config)
    return "background_health_checks" in text or "'/health'" in text


class Watch:
    """Follows the calls of one weir and judges their stories at the end. get(path) asks that weir, and returns a reply with status and json."""

    def __init__(self, get, config):
        self.get, self.probes = get, is_probing(config)
        self.seen, self.lock, self.running, self.mixed = [], threading.Lock(), 0, False

    @contextlib.contextmanager
    def call(self, calls):
        """Around one call; what it gives takes what the client has seen. calls() is what the upstreams were asked so far."""
        kept = []
        with self.lock:
            self.running += 1
            self.mixed = self.running > 1 or self.mixed
            before = len(calls())
        try:
            yield kept.append
        finally:
            with self.lock:
                alone, self.running = not self.mixed, self.running - 1
                self.mixed = self.running > 0
                for seen in kept:
                    seen.asked = calls()[before:] if alone and not self.probes else None
                    self.seen.append(seen)

    def places(self):
        found = {}
        for entry in self.get("/v1/model/info").json["data"]:
            params = entry["litellm_params"]
            nobody = params["model"].startswith("sim/") or "mock_response" in params
            found[entry["model_info"]["id"]] = None if nobody else urlsplit(params.get("api_base") or "").path.strip("/").split("/")[0]
        return found

    def story(self, call_id, seconds=2.0):
        """It is there a moment after the answer."""
        end = time.monotonic() + seconds
        while True:
            reply = self.get(f"/weir/calls/{call_id}")
            if reply.status == 200 or time.monotonic() > end:
                return filled(reply.json) if reply.status == 200 else None
            time.sleep(0.01)

    def end(self, calls):
        """The faults of all stories, when the last call is over."""
        faults, ids = [], set()
        places = self.places()
        for seen in self.seen:
            if "x-weir-attempts" not in seen.headers:
                continue  # no call to a model
            told = self.story(seen.headers["x-litellm-call-id"])
            if told is None:
                faults += [] if seen.status == 503 else [f"no story of {seen.headers['x-litellm-call-id']}, which was answered {seen.status}"]
                continue
            ids.add(told["call_id"])
            faults += check(told, seen, places)
        stories = [self.story(call["call_id"]) for call in self.get("/weir/calls?limit=1000").json["calls"]]
        for told in stories:
            if told["call_id"] not in ids:
                faults += check(told, Seen(None, {}, left=True), places)
        if not self.probes:
            faults += check_all(stories)
            faults += faults_of_totals(stories, calls, places)
        return faults
