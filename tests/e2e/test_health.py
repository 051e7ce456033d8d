"""Health checks: who is asked whether it answers, with what, and what requests and pages then see of it."""
import json
import threading
import time

import pytest

from kit import answers, wait
from kit.configs import config
from kit.redis import Redis

CHECKS = {"background_health_checks": True, "health_check_interval": 60}
ROUTED = {**CHECKS, "enable_health_check_routing": True}
FIRST = {"weight": 1000000}     # picked whenever it may be
KEY = {"authorization": "Bearer sk-e2e"}


@pytest.fixture(autouse=True)
def fine(up):
    """Whoever is not told otherwise answers well."""
    for number in range(12):
        up.says(f"d{number}", "fine")


def until(predicate, seconds=10):
    wait.until(predicate, seconds)


def page(weir, query="", **more):
    return weir.ask(path="/health" + query, method="GET", **more)


def ids(listed):
    return sorted(entry["model_id"] for entry in listed)


def well(weir, query=""):
    return ids(page(weir, query).json["healthy_endpoints"])


def ill(weir, query=""):
    return {entry["model_id"]: entry.get("error") for entry in page(weir, query).json["unhealthy_endpoints"]}


# ---- what is asked

def test_each_deployment_is_asked_at_the_start_as_a_request_would_ask_it(serve, up):
    weir = serve({"g": {"d1": {"extra_headers": {"x-own": "yes"}, "temperature": 0.5}, "d2": {"info": {"mode": "embedding"}},
                        "d3": {"model": "openai/*", "info": {"health_check_model": "openai/small", "health_check_max_tokens": 9}},
                        "d4": {"info": {"mode": "completion"}}}}, general=CHECKS)
    assert up.wait_for(lambda u: u.hits() == 4)
    one = up.last("d1")
    assert one.json == {"model": "model-d1", "messages": [{"role": "user", "content": "test from litellm"}], "max_tokens": 5, "temperature": 0.5}
    assert one.header("authorization") == "Bearer key-of-d1" and one.header("x-own") == "yes"
    assert up.last("d2").path == "/d2/embeddings" and up.last("d2").json == {"model": "model-d2", "input": ["test from litellm"]}
    assert up.last("d3").json["model"] == "small" and up.last("d3").json["max_tokens"] == 9
    assert up.last("d4").path == "/d4/completions"
    until(lambda: well(weir) == ["d1", "d2", "d3", "d4"])


def test_they_are_asked_again_each_interval(serve, up):
    serve({"g": ["d1", "d2"]}, general={**CHECKS, "health_check_interval": 0.3})
    assert up.wait_for(lambda u: u.hits("d1") >= 4 and u.hits("d2") >= 4)
    times = [call.at for call in up.calls if call.deployment == "d1"]
    assert all(later - earlier > 0.25 for earlier, later in zip(times, times[1:]))


def test_who_has_no_call_to_be_asked_with_is_not_asked(serve, up):
    weir = serve({"g": {"d1": None, "d2": {"model": "openai/*"}, "d3": {"info": {"mode": "image_generation"}},
                        "d4": {"info": {"disable_background_health_check": True}}, "d5": {"info": {"blocked": True}}}}, general=CHECKS)
    assert up.wait_for(lambda u: u.hits("d1") == 1)
    time.sleep(0.3)
    assert up.hits() == 1
    assert well(weir) == ["d1", "d2", "d3", "d4"] and ill(weir) == {"d5": "it is paused"}


def test_only_so_many_are_asked_at_once(serve, up):
    for number in range(12):
        up.says(f"d{number}", answers.late(answers.text("here"), 0.1))
    serve({"g": [f"d{number}" for number in range(12)]}, general={**CHECKS, "health_check_concurrency": 3})
    assert up.wait_for(lambda u: u.hits() == 12)
    calls = sorted(up.calls, key=lambda call: call.at)
    for number, call in enumerate(calls):
        assert sum(1 for other in calls[:number] if other.ended_at is None or other.ended_at > call.at) <= 3


# ---- what comes of it

@pytest.mark.parametrize("answer, error", [
    (answers.error("internal"), "InternalServerError (500)"), (answers.error("rate_limit"), "RateLimitError (429)"),
    (answers.error("auth"), "AuthenticationError (401)"), (answers.GONE, "InternalServerError (500)"),
    (answers.raw(200, "<html>", kind="text/html"), None), (answers.raw(200, {"error": {"message": "no", "type": "server_error"}}), None)])
def test_whatever_would_fail_a_request_takes_the_deployment_out(serve, up, answer, error):
    up.says("d1", answer, "one")
    up.says("d2", "two")
    weir = serve({"g": {"d1": FIRST, "d2": {"weight": 1}}}, general=ROUTED, router={"disable_cooldowns": True})
    until(lambda: up.hits() == 2 and list(ill(weir)) == ["d1"])
    if error:
        assert ill(weir) == {"d1": error}
    assert [weir.ask("g").text for _ in range(3)] == ["two"] * 3


def test_an_answer_that_does_not_come_in_time_is_a_failure(serve, up):
    up.says("d1", answers.SILENT)
    up.says("d2", "two")
    weir = serve({"g": {"d1": {**FIRST, "info": {"health_check_timeout": 0.2}}, "d2": {"weight": 1}}}, general=ROUTED)
    until(lambda: ill(weir) == {"d1": "Timeout (408)"})
    assert weir.ask("g").text == "two"
    assert up.wait_for(lambda u: u.last("d1").left_at is not None), "the connection is given up"


def test_who_answers_again_is_back(serve, up):
    up.says("d1", answers.error("internal"), "one")
    up.says("d2", "two")
    weir = serve({"g": {"d1": FIRST, "d2": {"weight": 1}}}, general={**ROUTED, "health_check_interval": 0.5})
    until(lambda: list(ill(weir)) == ["d1"])
    until(lambda: well(weir) == ["d1", "d2"])
    assert weir.ask("g").text == "one"
    assert weir.log.count("deployment d1 of g fails its health check: InternalServerError (500)") == 1
    assert weir.log.count("deployment d1 of g answers again") == 1 and "deployment d2" not in weir.log


def test_transient_failures_change_nothing_where_they_are_to_be_ignored(serve, up):
    up.says("d1", answers.error("rate_limit"), "one")
    up.says("d2", answers.error("internal"), "two")
    up.says("d3", "three")
    weir = serve({"g": {"d1": FIRST, "d2": {"weight": 1}, "d3": {"weight": 1}}}, general={**ROUTED, "health_check_ignore_transient_errors": True})
    until(lambda: list(ill(weir)) == ["d2"])
    assert weir.ask("g").text == "one"


def test_with_a_policy_failed_checks_are_counted_as_failed_requests_are(serve, up):
    up.says("d1", *[answers.error("auth")] * 3, "one")
    up.says("d2", "two")
    weir = serve({"g": {"d1": FIRST, "d2": {"weight": 1}}}, general={**ROUTED, "health_check_interval": 0.4},
                 router={"allowed_fails_policy": {"AuthenticationErrorAllowedFails": 1}, "cooldown_time": 30})
    assert up.wait_for(lambda u: u.hits("d1") == 1)
    assert weir.ask("g").status == 401, "one failure is allowed, and the check's was the first"
    until(lambda: "cools down" in (ill(weir).get("d1") or ""))
    assert weir.ask("g").text == "two"
    assert up.wait_for(lambda u: u.hits("d1") >= 6)
    assert weir.ask("g").text == "two", "a good check does not end a cooldown"


# ---- another configuration

def test_a_reload_asks_who_is_new_and_leaves_out_who_is_gone(serve, up):
    weir = serve({"g": ["d1", "d2"]}, general={**CHECKS, "health_check_interval": 0.4})
    assert up.wait_for(lambda u: u.hits("d1") == 1 and u.hits("d2") == 1)
    assert weir.reload(config(up, {"g": ["d1", "d3"]}, general={**CHECKS, "health_check_interval": 60})).status == 200
    assert up.wait_for(lambda u: u.hits("d3") == 1)
    time.sleep(0.8)
    assert up.hits("d2") <= 2 and up.hits("d1") <= 2 and up.hits("d3") == 1
    assert well(weir) == ["d1", "d3"]


def test_a_reload_does_not_ask_again_who_was_asked_of_late(serve, up):
    weir = serve({"g": ["d1"]}, general=CHECKS)
    assert up.wait_for(lambda u: u.hits("d1") == 1)
    for number in range(5):
        assert weir.reload(config(up, {"g": ["d1"]}, general=CHECKS, router={"num_retries": number})).status == 200
    time.sleep(0.3)
    assert up.hits("d1") == 1


def test_a_deployment_may_go_while_it_is_asked(serve, up):
    up.says("d1", answers.late(answers.error("internal"), 0.5))
    weir = serve({"g": ["d1", "d2"]}, general=ROUTED)
    assert up.wait_for(lambda u: u.hits("d1") == 1)
    assert weir.reload(config(up, {"g": ["d2"]}, general=ROUTED)).status == 200
    assert up.wait_for(lambda u: u.last("d1").ended_at is not None)
    assert weir.ask("g").status == 200 and well(weir) == ["d2"]


def test_checks_may_be_turned_on_and_off_by_a_reload(serve, up):
    weir = serve({"g": ["d1"]})
    assert weir.reload(config(up, {"g": ["d1"]}, general={**CHECKS, "health_check_interval": 0.2})).status == 200
    assert up.wait_for(lambda u: u.hits("d1") >= 2)
    assert weir.reload(config(up, {"g": ["d1"]})).status == 200
    time.sleep(0.3)
    before = up.hits("d1")
    time.sleep(0.6)
    assert up.hits("d1") == before


def test_weir_ends_at_once_though_somebody_is_being_asked(serve, up):
    up.says("d1", answers.SILENT)
    weir = serve({"g": ["d1"]}, general=CHECKS)
    assert up.wait_for(lambda u: u.hits("d1") == 1)
    before = time.monotonic()
    weir.stop()
    assert time.monotonic() - before < 10


# ---- the page

def test_without_background_checks_the_page_asks_everybody(serve, up):
    up.says("d1", "one")
    up.says("d2", answers.error("internal"))
    weir = serve({"g": ["d1"], "h": {"d2": None, "d3": {"model": "sim/m"}, "d4": {"info": {"disable_background_health_check": True}}}})
    assert up.hits() == 0
    reply = page(weir)
    assert reply.status == 200 and ids(reply.json["healthy_endpoints"]) == ["d1", "d3", "d4"]
    assert reply.json["healthy_count"] == 3 and reply.json["unhealthy_count"] == 1
    assert up.hits() == 3
    broken, = reply.json["unhealthy_endpoints"]
    assert broken["model_name"] == "h" and broken["model"] == "openai/model-d2" and broken["api_base"] == up.url("d2") and broken["error"]


def test_the_page_of_one_group_or_one_deployment(serve, up):
    weir = serve({"g": ["d1", "d2"], "h h": ["d3"]})
    assert well(weir, "?model=g") == ["d1", "d2"] and up.hits("d3") == 0
    assert well(weir, "?model=d2") == ["d2"]
    assert well(weir, "?model=h%20h") == ["d3"]
    assert page(weir, "?model=nobody").status == 404
    assert page(weir, "?model=%zz").status == 400


def test_what_a_page_finds_changes_no_routing(serve, up):
    up.says("d1", answers.error("internal"), "one")
    up.says("d2", "two")
    weir = serve({"g": {"d1": FIRST, "d2": {"weight": 1}}}, general={"enable_health_check_routing": True})
    assert list(ill(weir)) == ["d1"]
    assert weir.ask("g").text == "one"


def test_who_is_left_out_of_the_page(serve, up):
    weir = serve({"g": {"d1": None, "d2": {"info": {"disable_background_health_check": True}}}},
                 general={"health_check_skip_disabled_background_models": True})
    assert well(weir) == ["d1"] and up.hits("d2") == 0


@pytest.mark.parametrize("background", [True, False])
def test_without_details_the_page_tells_names_alone(serve, up, background):
    up.says("d1", answers.error("auth"))
    weir = serve({"g": ["d1"]}, general={"background_health_checks": background, "health_check_details": False})
    until(lambda: page(weir).json["unhealthy_endpoints"] == [{"model_name": "g", "model": "openai/model-d1", "model_id": "d1"}])


def test_the_page_needs_the_key_and_tells_no_secret(serve, up):
    up.says("d1", answers.error("auth", message="the key key-of-d1 is wrong"))
    weir = serve({"g": {"d1": {"extra_headers": {"x-own": "very-secret"}}}}, general={"master_key": "sk-e2e"})
    assert page(weir, headers={"authorization": None}).status == 401 and up.hits() == 0
    reply = page(weir, headers=KEY)
    assert reply.json["unhealthy_count"] == 1
    assert b"key-of-d1" not in reply.body and b"very-secret" not in reply.body and b"sk-e2e" not in reply.body


def test_who_leaves_the_page_ends_its_questions(serve, up):
    up.says("d1", answers.SILENT)
    weir = serve({"g": ["d1"]})
    with weir.connect() as connection:
        connection.send(b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n")
        assert up.wait_for(lambda u: u.hits("d1") == 1)
    assert up.wait_for(lambda u: u.last("d1").left_at is not None)
    up.says("d1", "one")
    assert well(weir) == ["d1"]


def test_one_worker_makes_only_so_many_pages_at_once(serve, up):
    up.says("d1", answers.late(answers.text("one"), 1))
    weir = serve({"g": ["d1"]}, arguments=["--workers", "1"])
    replies = []
    threads = [threading.Thread(target=lambda: replies.append(page(weir))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(reply.status for reply in replies) == [200] * 4 + [503] * 2


def test_a_group_that_is_no_list_refuses_the_start(weirs, up):
    weir = weirs(config(up, {"g": ["d1"]}, general={**CHECKS, "background_health_check_model_groups": "g"}), start=False).launch()
    assert weir.wait() not in (None, 0) and "background_health_check_model_groups" in weir.log


# ---- several processes

SHARED = {**ROUTED, "health_check_interval": 1, "use_shared_health_check": True}


@pytest.fixture
def redis(tmp_path):
    redis = Redis(tmp_path).start()
    yield redis
    redis.stop()


@pytest.fixture
def fleet(weirs, up, redis):
    """fleet(count, groups) -> processes that share a Redis and who asks; mortal ones are not judged at their end."""
    def make(count, groups, mortal=False):
        router = {"disable_cooldowns": True, "redis_host": "127.0.0.1", "redis_port": redis.port}
        made = config(up, groups, router=router, general=SHARED)
        listed = [weirs(made, start=not mortal) for _ in range(count)]
        assert all(weir.launch().is_ready() for weir in listed if mortal)
        return listed
    return make


def status(weir):
    return weir.ask(path="/health/shared-status", method="GET").json


def owners(fleet):
    return {status(weir)["status"]["lock_owner"] for weir in fleet}


def test_of_several_processes_one_asks_and_all_know(fleet, up, redis):
    up.says("d1", answers.error("internal"))
    three = fleet(3, {"g": {"d1": FIRST, "d2": {"weight": 1}}})
    until(lambda: all(list(ill(weir)) == ["d1"] for weir in three))
    assert [weir.ask("g").text for weir in three] == ["fine"] * 3
    until(lambda: len(owners(three)) == 1)
    owner, = owners(three)
    assert redis.get("health_check_lock") == owner and 35 < redis.life("health_check_lock") <= 60
    assert sum(status(weir)["status"]["pod_id"] == owner for weir in three) == 1
    before, began = up.hits("d1"), time.monotonic()
    time.sleep(4)
    assert up.hits("d1") - before <= time.monotonic() - began + 1, "one process asks, once a second"
    seen = json.loads(redis.get("litellm:health_check:deployment_health_state"))
    assert seen["d1"]["is_healthy"] is False and seen["d2"]["is_healthy"] is True and abs(seen["d1"]["timestamp"] - time.time()) < 5
    assert 800 < redis.life("litellm:health_check:deployment_health_state") <= 900


@pytest.mark.parametrize("dies", [True, False])
def test_the_duty_passes_on(fleet, up, redis, dies):
    one, two = fleet(2, {"g": ["d1"]}, mortal=True)
    until(lambda: len(owners([one, two])) == 1)
    held = status(one)["status"]["pod_id"] in owners([one, two])
    first, second = (one, two) if held else (two, one)
    if dies:
        first.kill()
        redis.ask("PEXPIRE", "health_check_lock", 200)
    else:
        first.stop()
    until(lambda: status(second)["status"]["pod_id"] in owners([second]), 15)
    assert "made by this process" in second.log_line("health checks")
    before = up.hits("d1")
    assert up.wait_for(lambda u: u.hits("d1") >= before + 2)


def test_what_litellm_has_found_and_its_lock_are_honoured(weirs, up, redis):
    redis.set("team:health_check_lock", "litellm-pod:1796024605", 60)
    redis.set("team:litellm:health_check:deployment_health_state",
              str({"d1": {"is_healthy": False, "timestamp": time.time(), "reason": "RateLimitError"}, "other": {"is_healthy": "?"}}), 900)
    cache = {"cache": True, "cache_params": {"type": "redis", "host": "127.0.0.1", "port": redis.port, "namespace": "team"}}
    weir = weirs(config(up, {"g": {"d1": FIRST, "d2": {"weight": 1}}}, router={"disable_cooldowns": True}, general=SHARED, litellm=cache))
    assert weir.ask("g").text == "fine" and up.last().deployment == "d2"
    until(lambda: status(weir)["status"]["lock_owner"] == "litellm-pod:1796024605")
    time.sleep(1.5)
    assert up.hits() == 1, "nobody was asked from here"
    assert ill(weir) == {"d1": "RateLimitError"}


def test_without_redis_each_process_asks_for_itself(serve, up, redis):
    redis.kill()
    weir = serve({"g": ["d1"]}, general=SHARED, router={"redis_host": "127.0.0.1", "redis_port": redis.port},
                 env={"REDIS_CIRCUIT_BREAKER_RECOVERY_TIMEOUT": 1})
    assert up.wait_for(lambda u: u.hits("d1") >= 2, 15)
    assert status(weir)["status"]["redis_available"] is False and status(weir)["status"]["lock_owner"] is None
    redis.start()
    until(lambda: status(weir)["status"]["lock_owner"] == status(weir)["status"]["pod_id"], 20)


def test_the_page_of_sharing_where_nothing_is_shared(serve):
    assert status(serve({"g": ["d1"]})) == {"shared_health_check_enabled": False, "message": "Health checks are not shared"}
    assert "Redis is not configured" in status(serve({"g": ["d1"]}, general=SHARED))["message"]


def test_readiness_tells_more_to_who_has_the_key(serve):
    weir = serve({"g": ["d1"]}, general={**CHECKS, "master_key": "sk-e2e"})
    ask = {"path": "/health/readiness", "method": "GET"}
    assert weir.ask(**ask, headers={"authorization": None}).json == {"status": "healthy"}
    assert weir.ask(**ask, headers={"authorization": "Bearer sk-other"}).json == {"status": "healthy"}
    assert weir.ask(**ask, headers=KEY).json == {"status": "healthy", "db": "Not connected", "redis": "not configured",
                                                 "health_checks": "by this process"}
    assert weir.ask(path="/health/shared-status", method="GET", headers={"authorization": None}).status == 401
