"""What weir remembers of calls that are over: /weir/calls, /weir/calls/ID."""
import re
import time
from datetime import datetime

import pytest

from kit import answers
from kit.answers import HANG, Wait, error
from kit.client import request_bytes
from kit.configs import config
from kit.wait import until


def get(weir, path, **more):
    return weir.ask(None, path=path, method="GET", **more)


def story(weir, reply):
    """The story of the call that this reply belongs to."""
    path = f"/weir/calls/{reply.header('x-litellm-call-id')}"
    until(lambda: get(weir, path).status == 200)
    return get(weir, path).json


def kinds(told):
    return [event["kind"] for event in told["events"]]


def when(text):
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", text)
    return datetime.fromisoformat(text).timestamp()


PAIR = {"gpt-4o": {"azure-eu": {"weight": 1000000}, "azure-us": {"weight": 1}}}


# ---- one call

def test_a_story_has_every_step_with_its_time(serve, up):
    before = time.time()
    weir = serve(PAIR, router={"num_retries": 1, "cooldown_time": 5})
    up.says("azure-eu", error("rate_limit", {"retry-after": "7"})).says("azure-us", "fine")
    told = story(weir, weir.ask("gpt-4o"))
    assert kinds(told) == ["Picked", "AttemptStarted", "AttemptFailed", "CooldownSet", "Retry", "Picked", "AttemptStarted", "Succeeded"]
    assert (told["model"], told["group"], told["deployment"], told["state"], told["status"]) == ("gpt-4o", "gpt-4o", "azure-us", "succeeded", 200)
    assert (told["attempts"], told["retries"], told["fallbacks"], told["route"], told["stream"]) == (2, 1, 0, "chat", False)
    assert (told["prompt_tokens"], told["completion_tokens"], told["events_lost"]) == (9, 4, 0)
    assert before - 1 < when(told["since"]) <= when(told["time"]) < time.time() + 1
    failed, cooldown = told["events"][2:4]
    assert failed["failure"] == {"kind": "rate_limit", "status": 429, "retry_after_s": 7, "origin": "provider"}
    assert failed["will_retry"] and (failed["attempt"], failed["group"], failed["deployment"]) == (1, "gpt-4o", "azure-eu")
    assert (cooldown["rule"], cooldown["length_s"]) == ("rate_limited", 7)
    assert abs(when(cooldown["until"]) - when(cooldown["time"]) - 7) < 0.01
    times = [event["ms"] for event in told["events"]]
    assert times == sorted(times) and times[-1] <= told["duration_ms"] + 0.01
    assert all(abs(when(e["time"]) - when(told["time"]) - e["ms"] / 1000) < 0.002 for e in told["events"])


def test_a_story_says_why_each_candidate_was_not_picked(serve, up):
    weir = serve({"g": {"d1": {"order": 1}, "d2": {"order": 1}, "d3": {"order": 2}}}, router={"num_retries": 1, "cooldown_time": 30})
    up.says("d1", error("auth")).says("d2", "fine").says("d3", "fine")
    until(lambda: weir.ask("g") and up.hits("d1"))
    last = story(weir, weir.ask("g"))
    picked, = [event for event in last["events"] if event["kind"] == "Picked"]
    fates = {candidate["deployment"]: candidate["fate"] for candidate in picked["candidates"]}
    assert fates == {"d1": "cooling_down", "d2": "chosen", "d3": "later_order"}
    assert picked["omitted"] == 0 and picked["for"] == "attempt" and picked["strategy"] == "simple-shuffle"
    until_text, = [candidate["until"] for candidate in picked["candidates"] if "until" in candidate]
    assert 0 < when(until_text) - time.time() <= 30


def test_a_story_of_a_failure(serve, up):
    weir = serve({"a": ["a1"], "b": ["b1"]}, router={"fallbacks": [{"a": ["b"]}]})
    up.says("a1", error("auth")).says("b1", error("internal"))
    told = story(weir, weir.ask("a"))
    assert (told["state"], told["status"], told["kind"], told["group"], told["fallbacks"]) == ("failed", 401, "auth", "a", 1)
    hop, = [event for event in told["events"] if event["kind"] == "Fallback"]
    assert (hop["hop"], hop["source"], hop["target"], hop["depth"], hop["level"]) == ("group", "a", "b", 1, 0)
    assert kinds(told)[-1] == "Failed" and told["events"][-1]["failure"]["kind"] == "auth"


def test_a_refused_request_is_remembered_without_events(serve):
    weir = serve({"g": ["d1"]})
    told = story(weir, weir.ask({"model": "g", "stream": "yes"}))
    assert (told["state"], told["status"], told["events"], told["attempts"]) == ("failed", 400, [], 0)


def test_a_client_that_left(serve, up):
    weir = serve({"g": ["d1"]})
    up.says("d1", answers.stream("a", HANG))
    with pytest.raises(TimeoutError):
        weir.ask({"model": "g", "stream": True}, timeout=0.3)
    until(lambda: get(weir, "/weir/calls").json["calls"])
    call, = get(weir, "/weir/calls?status=client_gone").json["calls"]
    assert (call["state"], call["end"]) == ("client_gone", "gone")


def test_an_unknown_call_says_since_when_weir_remembers(serve):
    weir = serve({"g": ["d1"]})
    reply = get(weir, "/weir/calls/00000000-0000-4000-8000-000000000000")
    assert reply.status == 404
    assert re.search(r"since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z, the newest 10000 at most", reply.json["error"]["message"])


def test_a_call_that_runs_is_told_when_it_is_over(serve, up):
    weir = serve({"g": ["d1"]})
    up.says("d1", answers.stream("a", Wait(0.5), "b"))
    with weir.connect() as connection:
        connection.send(request_bytes({"model": "g", "stream": True, "messages": []}))
        assert up.wait_for(lambda up: up.calls)
        assert get(weir, "/weir/calls").json["calls"] == []
        assert story(weir, connection.reply())["state"] == "succeeded"


# ---- the list

def test_the_list_is_newest_first_and_filtered(serve, up):
    weir = serve({"a": ["a1"], "b": ["b1"], "c": ["c1"]}, router={"fallbacks": [{"a": ["b"]}]})
    up.says("a1", error("internal")).says("b1", "fine").says("c1", error("auth"))
    ids = [story(weir, weir.ask(model))["call_id"] for model in ("a", "b", "c", "b")]
    assert get(weir, "/weir/calls").json["kept"] == 4

    def listed(query):
        return [ids.index(call["call_id"]) for call in get(weir, "/weir/calls" + query).json["calls"]]
    assert listed("") == [3, 2, 1, 0]
    assert listed("?limit=2") == [3, 2]
    assert listed("?model=b") == [3, 1, 0]
    assert listed("?model=c") == [2]
    assert listed("?kind=Fallback") == [0]
    assert listed("?kind=Fallback,Failed") == [2, 0]
    assert listed("?status=failed") == [2]
    assert listed("?status=succeeded&kind=AttemptFailed") == [0]
    assert listed("?model=nobody") == []
    assert get(weir, "/weir/calls").json["max"] == 10000


@pytest.mark.parametrize("query", ["limit=0", "limit=1001", "limit=x", "kind=Nothing", "kind=Retry,", "status=running", "model=%zz"])
def test_a_wrong_query_is_refused(serve, query):
    assert get(serve({"g": ["d1"]}), "/weir/calls?" + query).status == 400


def test_without_memory_of_calls_none_is_told(serve, up):
    weir = serve({"g": ["d1"]}, weir={"trace_calls": 0})
    up.says("d1", "fine")
    reply = get(weir, f"/weir/calls/{weir.ask('g').header('x-litellm-call-id')}")
    assert reply.status == 404 and "newest 0 at most" in reply.json["error"]["message"]
    assert get(weir, "/weir/calls").json["calls"] == []


def test_the_newest_calls_are_kept(serve, up):
    weir = serve({"g": ["d1"]}, weir={"trace_calls": 3})
    up.says("d1", "fine")
    ids = [story(weir, weir.ask("g"))["call_id"] for _ in range(5)]
    assert [call["call_id"] for call in get(weir, "/weir/calls").json["calls"]] == ids[:1:-1]
    assert get(weir, f"/weir/calls/{ids[1]}").status == 404


def test_stories_outlast_a_reload_that_takes_their_deployment_away(weirs, up):
    weir = weirs(config(up, {"g": ["d1"]}))
    up.says("d1", "fine").says("d2", "fine")
    first = weir.ask("g")
    assert weir.reload(config(up, {"h": ["d2"]}, weir={"trace_calls": 1})).status == 200
    assert story(weir, first)["deployment"] == "d1"
    second = weir.ask("h")
    assert story(weir, second)["deployment"] == "d2"
    assert get(weir, f"/weir/calls/{first.header('x-litellm-call-id')}").status == 404


def test_stories_want_the_master_key(serve, up):
    weir = serve({"g": ["d1"]}, general={"master_key": "sk-e2e"})
    up.says("d1", "fine")
    reply = weir.ask("g")
    for path in ("/weir/calls", f"/weir/calls/{reply.header('x-litellm-call-id')}"):
        assert get(weir, path, headers={"authorization": None}).status == 401
        assert get(weir, path).status == 200


def test_a_story_holds_neither_prompt_nor_answer_nor_key(serve, up):
    weir = serve({"a": ["a1"], "b": ["b1"]}, router={"fallbacks": [{"a": ["b"]}]}, general={"master_key": "sk-e2e"})
    up.says("a1", error({"message": "planted-error-text", "status": 500})).says("b1", "planted-answer")
    reply = weir.ask({"model": "a", "messages": [{"role": "user", "content": "planted-prompt"}]})
    told = get(weir, f"/weir/calls/{story(weir, reply)['call_id']}").body + get(weir, "/weir/calls").body
    for secret in (b"planted", b"sk-e2e", b"key-of"):
        assert secret not in told
