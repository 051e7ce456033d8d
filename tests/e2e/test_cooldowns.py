"""Cooldowns by hand: POST and DELETE /weir/cooldowns/ID."""
import json
import time

import pytest

from kit import answers, client
from kit.configs import config
from kit.events import Listener
from kit.redis import Redis
from kit.wait import until

# Favours d1: who does not go there knows why.
PAIR = {"g": {"d1": {"weight": 1000000}, "d2": {"weight": 1}}}


@pytest.fixture
def pair(up):
    up.says("d1", "of d1")
    up.says("d2", "of d2")
    return PAIR


def cool(weir, name="d1", body=None, **more):
    return client.ask(weir.port, {"seconds": 60} if body is None else body, path=f"/weir/cooldowns/{name}", **more)


def lift(weir, name="d1", body=None, **more):
    return client.ask(weir.port, body, path=f"/weir/cooldowns/{name}", method="DELETE", **more)


def test_a_cooldown_by_hand_holds_from_the_next_pick_on(serve, pair):
    weir = serve(pair)
    assert weir.ask("g").text == "of d1"
    before = time.time()
    reply = cool(weir, body={"seconds": 60, "by": "anna"})
    assert reply.status == 200
    told = reply.json
    until_s = time.mktime(time.strptime(told.pop("until")[:19], "%Y-%m-%dT%H:%M:%S")) - time.timezone
    assert before + 58 < until_s < time.time() + 61
    assert told == {"deployment": "d1", "seconds": 60, "by": "anna"}
    for _ in range(5):
        assert weir.ask("g").text == "of d2"
    assert lift(weir).json == {"deployment": "d1", "lifted": True}
    assert weir.ask("g").text == "of d1"
    assert lift(weir).json == {"deployment": "d1", "lifted": False}


def test_it_holds_in_all_workers(weirs, up, pair):
    weir = weirs(config(up, pair), arguments=["--workers", "2"])
    assert cool(weir).status == 200
    assert {weir.ask("g").text for _ in range(40)} == {"of d2"}
    assert lift(weir).status == 200
    assert {weir.ask("g").text for _ in range(40)} == {"of d1"}


def test_a_short_one_ends_by_itself(serve, pair):
    weir = serve(pair)
    assert cool(weir, body={"seconds": 0.4}).json["seconds"] == 0.4
    assert weir.ask("g").text == "of d2"
    until(lambda: weir.ask("g").text == "of d1", 3)


def test_a_hand_may_shorten_what_a_failure_has_set(serve, up):
    weir = serve(PAIR, router={"cooldown_time": 300, "num_retries": 1})
    up.says("d1", answers.error("rate_limit"), answers.text("of d1"))
    up.says("d2", "of d2")
    assert weir.ask("g").text == weir.ask("g").text == "of d2"
    assert cool(weir, body={"seconds": 0.3}).status == 200
    until(lambda: weir.ask("g").text == "of d1", 3)


def test_it_is_told_as_an_event_and_by_whom(serve, pair):
    weir = serve(pair)
    listener = Listener(weir.port)
    cool(weir, body={"seconds": 60, "by": 'anna "the" ✓'})
    lift(weir, body={"by": "bert"})
    cool(weir)
    listener.wait(lambda l: len(l.events) == 3)
    assert listener.kinds == ["CooldownSet", "CooldownLifted", "CooldownSet"]
    first, lifted, anonymous = (data for _, _, data in listener.events)
    assert first["by"] == 'anna "the" ✓' and first["deployment"] == "d1" and first["group"] == "g" and first["length_s"] == 60
    assert first["rule"] == "by_hand" and "failure" not in first
    assert lifted["by"] == "bert" and lifted["deployment"] == "d1"
    assert anonymous["by"].startswith("127.0.0.1:")
    assert "call_id" not in first
    listener.leave()


def test_ids_with_slashes_and_other_bytes(serve, up):
    weir = serve({"g": {"a/b c?ü": {"at": "d1", "api_key": "key"}}})
    assert cool(weir, "a/b%20c%3F%C3%BC").json["deployment"] == "a/b c?ü"
    assert lift(weir, "a%2Fb%20c%3F%C3%BC").json["lifted"] is True


def test_the_key_is_wanted(serve):
    weir = serve({"g": ["d1"]}, general={"master_key": "sk-e2e"})
    for ask in (cool, lift):
        assert ask(weir, headers={"authorization": None}).status == 401
        assert ask(weir, headers={"authorization": "Bearer sk-other"}).status == 401
    assert weir.ask("g").status != 429
    assert cool(weir).status == lift(weir).status == 200


def refused(reply, status):
    error = reply.json["error"]
    assert reply.status == status and error["code"] == str(status) and error["type"] == "invalid_request_error" and error["message"]
    return error


def test_an_unknown_deployment_is_404(serve):
    weir = serve({"g": ["d1"]})
    assert "'d9'" in refused(cool(weir, "d9"), 404)["message"]
    assert "'d9'" in refused(lift(weir, "d9"), 404)["message"]
    refused(cool(weir, "g"), 404)
    refused(cool(weir, ""), 404)
    refused(cool(weir, "d%zz"), 400)


@pytest.mark.parametrize("body", [
    b"", b"{", b"[]", b"[1]", b"60", b'"60"', b"null", b'{"seconds":60', b'{"seconds":60}x', b'{"seconds": 60, "for": 1}', b'{"by":"anna"}', b"{}",
    b'{"seconds":"60"}', b'{"seconds":null}', b'{"seconds":true}', b'{"seconds":[60]}', b'{"seconds":NaN}', b'{"seconds":"NaN"}',
    b'{"seconds":0}', b'{"seconds":-1}', b'{"seconds":1e-12}', b'{"seconds":2592000.1}', b'{"seconds":1e300}', b'{"seconds":1e999}',
    b'{"seconds":60,"by":7}', b'{"seconds":60,"by":null}', b'{"seconds":60,"by":"' + b"x" * 48 + b'"}', b"\xff"])
def test_what_is_malformed_or_out_of_range_is_refused_and_does_nothing(serve, pair, body):
    weir = serve(pair)
    refused(cool(weir, body=body), 400)
    assert weir.ask("g").text == "of d1"


def test_the_ends_of_the_range(serve):
    weir = serve({"g": ["d1"]})
    assert cool(weir, body={"seconds": 2592000}).status == 200
    assert cool(weir, body={"seconds": 0.001}).status == 200
    assert cool(weir, body={"seconds": 1, "by": "x" * 47}).json["by"] == "x" * 47


def test_other_methods_are_told_which_there_are(serve):
    weir = serve({"g": ["d1"]})
    for method in ("GET", "HEAD", "PUT"):
        reply = client.ask(weir.port, path="/weir/cooldowns/d1", method=method)
        assert reply.status == 405 and reply.header("allow") == "POST, DELETE, OPTIONS"
    reply = client.ask(weir.port, path="/weir/cooldowns/d1", method="OPTIONS", headers={"origin": "http://page"})
    assert reply.status == 204 and "DELETE" in reply.header("access-control-allow-methods")


def test_processes_that_share_a_redis_hear_of_it(weirs, up, pair, tmp_path):
    redis = Redis(tmp_path).start()
    try:
        made = config(up, pair, router={"redis_host": "127.0.0.1", "redis_port": redis.port})
        here, there = weirs(made), weirs(made)
        listener = Listener(there.port)
        assert cool(here, body={"seconds": 60, "by": "anna"}).status == 200
        until(lambda: there.ask("g").text == "of d2")
        listener.wait(lambda l: l.of("CooldownLearned"))
        assert listener.of("CooldownLearned")[0]["deployment"] == "d1"
        assert lift(there).json["lifted"] is True
        until(lambda: here.ask("g").text == "of d1")
        assert there.ask("g").text == "of d1"
        listener.leave()
    finally:
        redis.stop()


def test_a_reload_keeps_it(serve, up, pair):
    weir = serve(pair)
    assert cool(weir).status == 200
    assert weir.reload(config(up, {**pair, "h": ["d3"]})).status == 200
    assert weir.ask("g").text == "of d2"
    assert json.loads(lift(weir).body)["lifted"] is True
