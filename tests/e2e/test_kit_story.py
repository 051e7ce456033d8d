"""The checker of stories must see what is wrong with one: a true story with one thing changed."""
import copy
import re

import pytest

from kit import answers, story
from kit.answers import error
from kit.configs import config


@pytest.fixture
def told(weirs, up):
    """A call with a failure, a cooldown, a retry, a hop and an answer; and what its client and the upstreams saw."""
    weir = weirs(config(up, {"a": {"a1": {"weight": 1000000}, "a2": {"weight": 1}}, "b": ["b1"]}, router={"num_retries": 1, "fallbacks": [{"a": ["b"]}]}))
    up.says("a1", error("rate_limit")).says("a2", error("internal")).says("b1", "fine")
    watch = story.Watch(lambda path: weir.ask(None, path=path, method="GET"), {})
    with watch.call(lambda: story.asked(up.calls)) as note:
        reply = weir.ask("a", headers={"x-weir-explain": "1"})
        note(story.Seen(reply.status, dict(reply.headers)))
    assert watch.end(story.asked(up.calls)) == []
    return watch.story(reply.header("x-litellm-call-id")), watch.seen[0], watch.places(), story.asked(up.calls)


def event(told, kind, number=0):
    return [e for e in told["events"] if e["kind"] == kind][number]


CHANGES = {
    "an attempt more": lambda t, s: t.update(attempts=4),
    "an attempt less at the upstreams": lambda t, s: s.asked.pop(),
    "an attempt more at the upstreams": lambda t, s: s.asked.append(story.Asked("b1", s.asked[-1].at + 1, 200)),
    "another upstream": lambda t, s: setattr(s.asked[1], "place", "b1"),
    "another status of an upstream": lambda t, s: setattr(s.asked[0], "status", 503),
    "an upstream that succeeded with an error": lambda t, s: setattr(s.asked[2], "status", 500),
    "upstreams asked too soon": lambda t, s: event(t, "AttemptFailed").update(wait_ms=event(t, "AttemptFailed")["wait_ms"] + 5000),
    "another status": lambda t, s: t.update(status=500),
    "another state": lambda t, s: t.update(state="failed"),
    "a client that was told another number of attempts": lambda t, s: s.headers.update({"x-weir-attempts": "2"}),
    "another deployment": lambda t, s: t.update(deployment="a1"),
    "a client that was told another deployment": lambda t, s: s.headers.update({"x-litellm-model-id": "a1"}),
    "no hop": lambda t, s: t.update(fallbacks=0),
    "a hop that is not told": lambda t, s: t["events"].remove(event(t, "Fallback")),
    "a hop elsewhere": lambda t, s: event(t, "Fallback").update(target="c"),
    "a wait that was shorter": lambda t, s: event(t, "Retry").update(waited_ms=event(t, "Retry")["waited_ms"] + 50),
    "an attempt without an end": lambda t, s: t["events"].remove(event(t, "AttemptFailed")),
    "an attempt with two ends": lambda t, s: t["events"].insert(3, event(t, "AttemptFailed")),
    "an attempt that nobody picked": lambda t, s: t["events"].remove(event(t, "Picked")),
    "another one chosen": lambda t, s: event(t, "Picked")["candidates"][0].update(fate="not_chosen"),
    "two chosen": lambda t, s: event(t, "Picked")["candidates"][1].update(fate="chosen"),
    "events in another order": lambda t, s: t["events"].reverse(),
    "an event at another time": lambda t, s: event(t, "Retry").update(time="2020-01-01T00:00:00.000Z"),
    "no last word": lambda t, s: t["events"].pop(),
    "a lost event": lambda t, s: t.update(events_lost=1),
    "a cooldown without a cause": lambda t, s: event(t, "CooldownSet").update(deployment="b1"),
    "a cooldown of another length": lambda t, s: event(t, "CooldownSet").update(length_s=60),
    "no trace": lambda t, s: s.headers.pop("x-weir-trace"),
    "a trace without the wait": lambda t, s: s.headers.update({"x-weir-trace": "; ".join(p for p in s.headers["x-weir-trace"].split("; ") if "wait" not in p)}),
    "a trace with another kind": lambda t, s: s.headers.update({"x-weir-trace": s.headers["x-weir-trace"].replace("rate_limit", "timeout")}),
    "a trace with a longer attempt": lambda t, s: s.headers.update({"x-weir-trace": re.sub(r"\d+ms", "999999ms", s.headers["x-weir-trace"], count=1)}),
}


def test_each_thing_that_is_wrong_is_seen(told):
    whole, seen, places, _ = told
    for what, change in CHANGES.items():
        wrong, client = copy.deepcopy(whole), copy.deepcopy(seen)
        assert story.check(wrong, client, places) == [], what
        change(wrong, client)
        assert story.check(wrong, client, places), f"nobody has seen: {what}"


def test_cooldowns_that_do_not_fit_are_seen(told):
    whole, _, _, _ = told
    assert story.check_all([whole]) == []
    wrong = copy.deepcopy(whole)
    wrong["events"].remove(event(wrong, "CooldownSet"))
    assert "nobody has set that" in story.check_all([wrong])[0]
    later = copy.deepcopy(whole)
    for pick in (e for e in later["events"] if e["kind"] == "Picked"):
        pick["time"] = event(whole, "CooldownSet")["until"][:-4] + "000Z"  # the second in which it ends, so while it lasts
        for candidate in pick["candidates"]:
            candidate.pop("until", None)
    assert any("though it does" in fault for fault in story.check_all([later]))


def test_totals_that_do_not_fit_are_seen(told):
    whole, _, places, calls = told
    assert list(story.faults_of_totals([whole], calls, places)) == []
    assert list(story.faults_of_totals([whole], calls[:-1], places))
    assert list(story.faults_of_totals([whole], calls + calls[:1], places))
    assert list(story.faults_of_totals([], calls, places))


def test_a_call_without_a_story_is_seen(serve, up):
    weir = serve({"g": ["d1"]}, weir={"trace_calls": 0})
    up.says("d1", answers.text("fine"))
    watch = story.Watch(lambda path: weir.ask(None, path=path, method="GET"), {})
    with watch.call(lambda: story.asked(up.calls)) as note:
        reply = weir.ask("g", headers={"x-weir-explain": "1"})
        note(story.Seen(reply.status, dict(reply.headers)))
    assert any("no story" in fault for fault in watch.end(story.asked(up.calls)))
