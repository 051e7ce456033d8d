"""How weir is and what it would do: GET /weir/state and GET /weir/explain."""
import json
import re
import socket
import time
from datetime import datetime, timezone

import pytest

from kit import answers, client
from kit.configs import config
from kit.wait import in_background, until
from kit.weir import SANITIZED


def get(weir, path="/weir/state", method="GET", **more):
    return client.ask(weir.port, path=path, method=method, **more)


def state(weir):
    reply = get(weir)
    assert reply.status == 200 and reply.header("content-type") == "application/json" and not reply.cut
    return reply.json


def deployments(weir):
    return {row["id"]: row for group in state(weir)["groups"] for row in group["deployments"]}


def explain(weir, model):
    reply = get(weir, f"/weir/explain?model={model}")
    assert reply.status == 200
    return reply.json


def age_s(text):
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", text)
    return time.time() - datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc).timestamp()


# ---- state

def test_each_group_has_its_deployments(serve):
    weir = serve({"g": {"d1": {"rpm": 10, "tpm": 5000}, "d2": {"order": 2}}, "h": ["d3"], "w/*": {"d4": {"model": "openai/*"}}})
    page = state(weir)
    assert 0 <= age_s(page["now"]) < 5 and 0 <= age_s(page["since"]) < 30 and 0 <= page["uptime_s"] < 30
    assert page["version"] and re.fullmatch(r".+:\d+", page["process"]) and page["in_flight"] == 0
    assert [(g["group"], g["strategy"], [d["id"] for d in g["deployments"]], g["omitted"]) for g in page["groups"]] == [
        ("g", "simple-shuffle", ["d1", "d2"], 0), ("h", "simple-shuffle", ["d3"], 0), ("w/*", "simple-shuffle", ["d4"], 0)]
    d2 = page["groups"][0]["deployments"][1]
    assert d2["model"] == "openai/model-d2" and d2["provider"] == "openai" and d2["api_base"].startswith("http://127.0.0.1:")
    assert d2["order"] == 2 and d2["eligible"] is True and "why" not in d2 and d2["odds"] == 1
    d1 = page["groups"][0]["deployments"][0]
    assert d1["usage"] == {"requests": 0, "tokens": 0, "rpm": 10, "tpm": 5000}
    assert (d1["eligible"], d1["why"]) == (False, "later_order")  # those without an order come last
    assert not {"cooldown", "allowed_fails", "latency_s", "last_failure", "health"} & set(d2)


def test_a_cooldown_is_shown_with_its_cause(serve, up):
    weir = serve({"g": ["d1", "d2"]}, router={"cooldown_time": 60, "num_retries": 1})
    up.says("d1", answers.error("rate_limit"))
    up.says("d2", "good")
    until(lambda: weir.ask("g").status == 200 and not deployments(weir)["d1"]["eligible"])
    page = state(weir)
    group, = page["groups"]
    d1, d2 = group["deployments"]
    assert d1["why"] == "cooling_down" and d1["odds"] == 0 and d2["eligible"] and d2["odds"] == 1 and group["eligible"] == 1
    cooldown = d1["cooldown"]
    assert 50 < cooldown["remaining_s"] <= 60 and -61 < age_s(cooldown["until"]) < -50 and 0 <= age_s(cooldown["set_at"]) < 10
    assert {key: cooldown[key] for key in ("length_s", "kind", "status", "rule", "elsewhere", "number")} == {
        "length_s": 60, "kind": "rate_limit", "status": 429, "rule": "rate_limited", "elsewhere": False, "number": 1}
    assert d1["window"] == {"seconds": 60, "successes": 0, "failures": 1, "failure_share": 1}
    assert d1["last_failure"]["kind"] == "rate_limit" and d1["last_failure"]["status"] == 429 and 0 <= age_s(d1["last_failure"]["time"]) < 10
    assert d2["window"]["successes"] >= 1 and d2["window"]["failure_share"] == 0
    assert d2["usage"]["requests"] >= 1 and d2["usage"]["tokens"] >= 13 and d2["latency_s"] > 0


def test_a_cooldown_by_hand_says_by_whom_and_no_failure(serve):
    weir = serve({"g": ["d1"]})
    client.ask(weir.port, {"seconds": 60, "by": "anna"}, path="/weir/cooldowns/d1")
    d1 = deployments(weir)["d1"]
    assert d1["why"] == "cooling_down" and d1["cooldown"]["by"] == "anna" and d1["cooldown"]["rule"] == "by_hand"
    assert not {"kind", "status"} & set(d1["cooldown"])
    client.ask(weir.port, path="/weir/cooldowns/d1", method="DELETE")
    assert deployments(weir)["d1"]["eligible"] is True


def test_allowed_fails_are_counted_beside_their_limit(serve, up):
    weir = serve({"g": ["d1"]}, router={"allowed_fails": 3, "cooldown_time": 60})
    up.says("d1", answers.error("internal"))
    for _ in range(2):
        weir.ask("g")
    counter, = deployments(weir)["d1"]["allowed_fails"]
    assert counter["rule"] == "router_fails" and counter["count"] == 2 and counter["limit"] == 3 and 0 < counter["ends_in_s"] <= 60


def test_attempts_that_run_are_counted(serve, up):
    weir = serve({"g": ["d1"]})
    up.says("d1", answers.late(answers.text("good"), 2))
    wait = in_background(lambda: weir.ask("g"))
    until(lambda: deployments(weir)["d1"]["in_flight"] == 1)
    assert state(weir)["in_flight"] == 1
    assert wait().status == 200
    until(lambda: state(weir)["in_flight"] == 0)


def test_a_paused_deployment_and_one_that_failed_its_probe(serve, up):
    up.says("d2", answers.error("internal"))
    up.says("d3", "good")
    weir = serve({"g": {"d1": {"info": {"blocked": True}}, "d2": {}, "d3": {}}},
                 general={"background_health_checks": True, "health_check_interval": 60}, router={"enable_health_check_routing": True})
    until(lambda: "health" in deployments(weir)["d2"] and "health" in deployments(weir)["d3"])
    rows = deployments(weir)
    assert rows["d2"]["why"] == "unhealthy" and rows["d2"]["health"]["healthy"] is False and rows["d2"]["health"]["status"] == 500
    assert rows["d3"]["eligible"] and rows["d3"]["health"]["healthy"] is True and 0 <= age_s(rows["d3"]["health"]["time"]) < 10
    assert rows["d1"]["why"] == "blocked"


def test_a_group_whose_name_means_something_else_is_shown(serve):
    weir = serve({"g": ["d1"], "h": ["d2"]}, router={"model_group_alias": {"h": "g"}})
    assert (deployments(weir)["d2"]["eligible"], deployments(weir)["d2"]["why"]) == (False, "shadowed")


def test_an_empty_configuration_has_a_state(serve):
    page = state(serve({}))
    assert page["groups"] == [] and page["in_flight"] == 0


def test_after_a_restart_it_says_since_when_it_knows(serve):
    weir = serve({"g": ["d1"]})
    before = state(weir)["since"]
    assert state(weir)["since"] == before
    weir.reload()
    assert state(weir)["since"] == before
    weir.stop()
    weir.start()
    assert state(weir)["since"] > before


def test_no_odds_are_told_where_no_prompt_has_room(serve, up):
    """A prompt is not known beforehand, but none is so short that it has no tokens."""
    weir = serve({"g": {"d1": {"tpm": 13, "order": 1}, "d2": {"order": 2}}}, router={"routing_strategy": "usage-based-routing-v2"})
    up.says("d1", "good").says("d2", "good")
    assert explain(weir, "g")["candidates"][0]["odds"] == 1
    assert weir.ask("g").header("x-litellm-model-id") == "d1"
    until(lambda: deployments(weir)["d1"]["usage"]["tokens"] == 13)
    first, second = explain(weir, "g")["candidates"]
    assert (first["fate"], first["odds"], second["odds"]) == ("no_room", 0, 1)
    assert deployments(weir)["d1"]["why"] == "no_room"
    assert weir.ask("g").header("x-litellm-model-id") == "d2"


@pytest.mark.parametrize("path", ["/weir/state", "/weir/explain?model=g"])
def test_keys_and_methods(serve, path):
    weir = serve({"g": ["d1"]}, general={"master_key": "sk-e2e"})
    assert get(weir, path, headers={"authorization": None}).status == 401
    assert get(weir, path, headers={"authorization": "Bearer sk-other"}).status == 401
    head = get(weir, path, method="HEAD")
    assert head.status == 200 and head.header("content-type") == "application/json" and not head.body
    with weir.connect() as connection:  # which stays usable
        for _ in range(2):
            connection.send(client.request_bytes(None, path, "HEAD"))
            assert connection.reply("HEAD").status == 200
            connection.send(client.request_bytes(None, path, "GET"))
            assert connection.reply().status == 200
    reply = get(weir, path, method="POST", body={})
    assert reply.status == 405 and reply.header("allow") == "GET, HEAD, OPTIONS"


def test_neither_keys_nor_words_are_told(serve, up):
    weir = serve({"g": {"d1": {"api_key": "planted-provider-key"}}}, general={"master_key": "sk-e2e"}, router={"allowed_fails": 9})
    up.says("d1", answers.error("internal", message="planted-error"))
    weir.ask({"model": "g", "messages": [{"role": "user", "content": "planted-prompt"}]})
    told = get(weir).body + get(weir, "/weir/explain?model=g").body
    assert b"planted-" not in told and b"sk-e2e" not in told


# ---- a state of many

MANY = 3000 if SANITIZED else 10000


@pytest.fixture
def many(weirs, up):
    groups = {f"g{n}": {f"d{n}-{i}": {"at": "d1", "api_key": "key"} for i in range(10)} for n in range(MANY // 20)}
    groups["large"] = {f"large-{i}": {"at": "d1", "api_key": "key"} for i in range(MANY // 2)}
    up.says("d1", "good")
    return weirs(json.dumps(config(up, groups)), arguments=["--workers", "1"])  # JSON is YAML, and quick to write


def test_ten_thousand_deployments_come_whole(many):
    page = state(many)
    assert sum(len(group["deployments"]) for group in page["groups"]) == MANY
    assert all(row["eligible"] for group in page["groups"] for row in group["deployments"])


def test_a_large_state_is_made_piece_by_piece(many):
    """A piece is a chunk, and made in a turn of its own."""
    with many.connect() as connection:
        connection.send(client.request_bytes(None, "/weir/state", "GET"))
        assert connection._until(b"\r\n\r\n")
        sizes = []
        while size := int(connection._until(b"\r\n"), 16):
            sizes.append(size)
            connection._take(size + 2)
    assert sum(sizes) > 200 * MANY and max(sizes) < 70 * 1024


@pytest.mark.skipif(SANITIZED, reason="a sanitizer keeps what was freed")
def test_a_client_that_takes_nothing_costs_little(many):
    state(many)

    def resident_kb():
        with open(f"/proc/{many.process.pid}/status") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read())[1])
    before = resident_kb()
    slow = []
    for _ in range(20):
        sock = socket.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.connect(("127.0.0.1", many.port))
        sock.sendall(client.request_bytes(None, "/weir/state", "GET"))
        slow.append(sock)
    time.sleep(1)
    assert many.ask("g1").status == 200
    assert resident_kb() - before < 20 * 1024
    for sock in slow:
        sock.close()
    assert len(state(many)["groups"]) == MANY // 20 + 1


# ---- explain

def test_a_group_has_candidates_with_odds_and_a_chain(serve):
    weir = serve({"g": {"d1": {"weight": 3}, "d2": {"weight": 1}}, "h": ["d3"], "i": ["d4"]},
                 router={"num_retries": 4, "fallbacks": [{"g": ["h", "i"]}], "context_window_fallbacks": [{"g": ["i"]}]})
    told = explain(weir, "g")
    assert 0 <= age_s(told.pop("now")) < 5
    assert told.pop("retries")["rate_limit"] == 4
    assert told == {
        "asked": "g", "resolution": {"how": "group", "group": "g"}, "strategy": "simple-shuffle",
        "candidates": [{"deployment": "d1", "model": "openai/model-d1", "fate": "eligible", "odds": 0.75},
                       {"deployment": "d2", "model": "openai/model-d2", "fate": "eligible", "odds": 0.25}],
        "omitted": 0, "chains": {"fallbacks": ["h", "i"], "context_window_fallbacks": ["i"]}, "max_fallbacks": 5,
        "sentence": "It would be served by one of 2 of 2 deployments, as simple-shuffle chooses."}


def test_what_cools_down_says_until_when_and_the_rest_is_certain(serve):
    weir = serve({"g": ["d1", "d2"]})
    client.ask(weir.port, {"seconds": 60}, path="/weir/cooldowns/d1")
    told = explain(weir, "g")
    d1, d2 = told["candidates"]
    assert d1["fate"] == "cooling_down" and d1["odds"] == 0 and -61 < age_s(d1["until"]) < -55
    assert d2["fate"] == "eligible" and d2["odds"] == 1 and told["sentence"] == "It would be served by d2."


@pytest.mark.parametrize("fallbacks, sentence", [
    ([], "Nobody may be chosen now, and there is no fallback: it would fail."), ([{"g": ["h"]}], "Nobody may be chosen now: it would go on to h.")])
def test_where_nobody_may_be_chosen_it_says_what_comes(serve, fallbacks, sentence):
    weir = serve({"g": ["d1"], "h": ["d2"]}, router={"fallbacks": fallbacks})
    client.ask(weir.port, {"seconds": 60}, path="/weir/cooldowns/d1")
    assert explain(weir, "g")["sentence"] == sentence


def test_names_that_stand_for_something(serve):
    weir = serve({"g": ["d1"], "h": ["d2"], "openai/*": {"d3": {"model": "openai/*"}}},
                 router={"model_group_alias": {"a": "g"}})
    assert explain(weir, "a")["resolution"] == {"how": "alias", "group": "g"}
    assert explain(weir, "d2")["resolution"]["how"] == "id" and explain(weir, "d2")["candidates"][0]["odds"] == 1
    assert explain(weir, "openai%2Fgpt-x")["resolution"]["pattern"] == "openai/*"
    assert explain(weir, "gpt-4o")["resolution"]["pattern"] == "openai/*"  # its provider is known
    unknown = explain(weir, "nix%20%22%0a")
    assert unknown["asked"] == 'nix "\n' and unknown["resolution"] == {"how": "unknown"} and unknown["candidates"] == []
    assert unknown["sentence"] == "Nothing is called so: it would be refused. GET /v1/models has the names."


@pytest.mark.parametrize("query", ["", "?model=", "?name=g", "?model=%zz", "?model=%"])
def test_a_query_without_a_name_is_refused(serve, query):
    reply = get(serve({"g": ["d1"]}), f"/weir/explain{query}")
    assert reply.status == 400 and reply.json["error"]["code"] == "400"


def test_it_tells_what_then_happens(serve, up):
    """The odds are those of calls."""
    weir = serve({"g": {"d1": {"weight": 9}, "d2": {"weight": 1}, "d3": {"weight": 0}}})
    for name in ("d1", "d2", "d3"):
        up.says(name, f"of {name}")
    odds = {row["deployment"]: row["odds"] for row in explain(weir, "g")["candidates"]}
    assert odds == {"d1": 0.9, "d2": 0.1, "d3": 0}
    seen = [weir.ask("g").text for _ in range(100)]
    assert 75 < seen.count("of d1") < 100 and "of d3" not in seen


def test_explaining_changes_nothing(serve, up):
    weir = serve({"g": {"d1": {"rpm": 1}, "d2": {"rpm": 1}}}, router={"routing_strategy": "usage-based-routing-v2"})
    for _ in range(5):
        first = explain(weir, "g")["candidates"]
    assert first == explain(weir, "g")["candidates"] and state(weir)["groups"][0]["deployments"][0]["usage"]["requests"] == 0
    assert up.calls == []


def test_a_thousand_candidates_are_told_and_the_rest_counted(many):
    told = explain(many, "large")
    assert len(told["candidates"]) == 1000 and told["omitted"] == MANY // 2 - 1000
    assert json.dumps(told)  # no number that is none
