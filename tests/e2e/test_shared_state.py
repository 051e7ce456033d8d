"""Several processes that act as one router by a Redis (RS 22, decisions 5, 33 to 35), with a real redis-server."""
import ast
import contextlib
import json
import socket
import statistics
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from kit import answers
from kit.configs import config
from kit.redis import Redis
from kit.wait import until

# Favours d1: who does not go there knows why.
PAIR = {"g": {"d1": {"weight": 1000000}, "d2": {"weight": 1}}}
KEY = "deployment:d1:cooldown"


@pytest.fixture
def redises(tmp_path):
    with contextlib.ExitStack() as stack:
        def make(*arguments):
            redis = Redis(tmp_path, *arguments).start()
            stack.callback(redis.stop)
            return redis
        yield make


@pytest.fixture
def redis(redises):
    return redises()


@pytest.fixture
def fleet(weirs, up):
    """fleet(redis, count, groups, ...) -> processes with one configuration."""
    def make(redis, count, groups=PAIR, router=None, env=None, **sections):
        router = {"num_retries": 1, "cooldown_time": 30, "redis_host": "127.0.0.1", "redis_port": redis.port, **(router or {})}
        made = config(up, groups, router=router, **sections)
        return [weirs(made, env=env) for _ in range(count)]
    return make


@pytest.fixture
def minute():
    """The test has at least 20 seconds of the minute before it."""
    second = time.time() % 60
    if second > 40:
        time.sleep(60.2 - second)
    return time.strftime("%H-%M", time.gmtime())


def cooldown(seconds=30, error="litellm.RateLimitError: Rate*******", status="429", clock=0.0):
    """As LiteLLM writes it."""
    return str({"exception_received": error, "status_code": status, "timestamp": time.time() + clock, "cooldown_time": seconds})


def ask_all(fleet, times=3):
    return [weir.ask("g").text for weir in fleet for _ in range(times)]


# ---- counts

def test_what_two_count_in_the_same_moment_both_know_soon(redis, fleet, up, minute):
    """The one whose count is first in the store hears nothing of the other's with its answer."""
    groups = {f"g{n}": {f"d{n}": {"rpm": 3}} for n in range(6)}
    one, other = fleet(redis, 2, groups, router={"num_retries": 0, "optional_pre_call_checks": ["enforce_model_rate_limits"]})
    for n in range(6):
        up.says(f"d{n}", "fine")
        assert [weir.ask(f"g{n}").status for weir in (one, one, other)] == [200] * 3
        time.sleep(0.4)     # a regular reading would come within a second
        assert other.ask(f"g{n}").status == 429


# ---- cooldowns

def test_a_429_seen_by_one_empties_the_deployment_for_all(redis, fleet, up):
    """Decisions 36: under 50 ms is the bar, and ten times that is a failure."""
    processes = fleet(redis, 3)
    took = []
    for _ in range(3):
        up.says("d1", answers.error("rate_limit"), "one")
        up.says("d2", "two")
        assert processes[0].ask("g").text == "two"
        begun = time.monotonic()
        for weir in processes[1:]:
            took.append(until(lambda weir=weir: weir.ask("g").text == "two", 2) - begun)
        assert ask_all(processes) == ["two"] * 9
        time.sleep(1.2)     # who has not seen the key does not miss it
        redis.ask("DEL", KEY)
        until(lambda: ask_all(processes, 1) == ["one"] * 3)
    assert statistics.median(took) < 0.5, took


def test_what_is_written_is_what_litellm_writes(redis, fleet, up):
    weir, = fleet(redis, 1, router={"cooldown_time": 20})
    up.says("d1", answers.error("rate_limit"))
    up.says("d2", "two")
    assert weir.ask("g").status == 200
    until(lambda: redis.get(KEY))
    value = ast.literal_eval(redis.get(KEY))
    assert list(value) == ["exception_received", "status_code", "timestamp", "cooldown_time"]
    assert value["exception_received"].startswith("litellm.RateLimitError") and len(value["exception_received"]) <= 50
    assert value["status_code"] == "429" and value["cooldown_time"] == 20 and abs(value["timestamp"] - time.time()) < 5
    assert 18 < redis.life(KEY) <= 20


@pytest.mark.parametrize("value", [
    "{'exception_received': 'litellm.RateLimitError: Rate*******', 'status_code': '429', 'timestamp': 1728345600.25, 'cooldown_time': 5}",
    '{"exception_received": "litellm.Timeout: Requ****", "status_code": "408", "timestamp": 1728345600.25, "cooldown_time": 5.0}',
    '{"exception_received": "it\'s", "status_code": "500", "timestamp": 4102444800, "cooldown_time": 1}',
])
def test_what_litellm_has_written_holds_while_its_key_lives(redis, fleet, up, value):
    weir, = fleet(redis, 1)
    up.says("d1", "one")
    up.says("d2", "two")
    assert weir.ask("g").text == "one"
    redis.set(KEY, value, 3)
    until(lambda: weir.ask("g").text == "two", 1.5)
    until(lambda: weir.ask("g").text == "one", 5)


@pytest.mark.parametrize("clock", [-30, 30])
def test_clocks_that_differ_change_nothing(redis, fleet, up, clock):
    weir, = fleet(redis, 1)
    up.says("d1", "one")
    up.says("d2", "two")
    redis.set(KEY, cooldown(4, clock=clock), 4)
    begun = until(lambda: weir.ask("g").text == "two", 1.5)
    assert 1 < until(lambda: weir.ask("g").text == "one", 6) - begun < 4.5


def test_a_value_that_cannot_be_read_hides_no_other(redis, fleet, up):
    weir, = fleet(redis, 1, groups={"g": {"d1": {"weight": 1000000}, "d2": {"weight": 1}}, "h": {"d3": {"weight": 1000000}, "d4": {"weight": 1}}})
    for name in ("d1", "d3"):
        up.says(name, "first")
    for name in ("d2", "d4"):
        up.says(name, "second")
    redis.set(KEY, "{'timestamp': oops", 30)
    redis.ask("LPUSH", "deployment:d2:cooldown", "x")
    redis.set("deployment:d3:cooldown", cooldown(), 30)
    until(lambda: weir.ask("h").text == "second", 2)
    assert weir.ask("g").text == "first"


def test_before_the_first_request_it_knows_what_others_know(redis, fleet, up):
    redis.set(KEY, cooldown(), 30)
    up.says("d2", "two")
    weir, = fleet(redis, 1)
    assert weir.ask("g").text == "two"
    assert up.hits("d1") == 0


def test_a_cooldown_taken_back_in_redis_is_over(redis, fleet, up):
    processes = fleet(redis, 2)
    up.says("d1", answers.error("rate_limit"), "one")
    up.says("d2", "two")
    assert processes[0].ask("g").text == "two"
    until(lambda: processes[1].ask("g").text == "two", 2)
    time.sleep(1.2)
    redis.ask("DEL", KEY)
    until(lambda: ask_all(processes, 1) == ["one"] * 2, 3)


def test_a_namespace_goes_before_every_key(redis, weirs, up):
    params = {"type": "redis", "host": "127.0.0.1", "port": redis.port, "namespace": "team-a", "mode": "default_off"}
    weir = weirs(config(up, PAIR, router={"num_retries": 1, "cooldown_time": 20}, litellm={"cache": True, "cache_params": params}))
    up.says("d1", answers.error("rate_limit"), "one")
    up.says("d2", "two")
    assert weir.ask("g").text == "two"
    until(lambda: redis.get("team-a:" + KEY))
    assert redis.get(KEY) is None
    redis.set("deployment:d2:cooldown", cooldown(), 30)
    time.sleep(1.3)
    assert weir.ask("g").text == "two"


def test_a_reload_keeps_what_is_shared(redis, fleet, up):
    processes = fleet(redis, 2)
    up.says("d1", answers.error("rate_limit"))
    for name in ("d2", "d3"):
        up.says(name, name)
    made = config(up, {"g": {"d3": {"weight": 1}, "d1": {"weight": 1000000}}},
                  router={"num_retries": 1, "cooldown_time": 30, "redis_host": "127.0.0.1", "redis_port": redis.port})
    assert processes[1].reload(made).status == 200
    assert processes[0].ask("g").text == "d2"
    until(lambda: processes[1].ask("g").text == "d3", 2)


# ---- counters

def test_allowed_fails_are_counted_by_all_together(redis, fleet, up):
    processes = fleet(redis, 3, router={"num_retries": 0, "allowed_fails": 2, "cooldown_time": 20})
    up.says("d1", answers.error("internal"))
    up.says("d2", "two")
    for number, weir in enumerate(processes, 1):
        assert weir.ask("g").status == 500
        until(lambda number=number: redis.get("deployment:d1:allowed_fails") == str(number), 2)
    assert 10 < redis.life("deployment:d1:allowed_fails") <= 20
    until(lambda: ask_all(processes, 1) == ["two"] * 3, 2)


def test_an_enforced_limit_holds_for_all_under_a_hammer(redis, fleet, up, minute):
    limit, at_once = 60, 12
    processes = fleet(redis, 3, groups={"g": {"d1": {"rpm": limit}}}, router={"num_retries": 0, "optional_pre_call_checks": ["enforce_model_rate_limits"]})
    up.says("d1", answers.late(answers.text("one"), 0.01))
    with ThreadPoolExecutor(at_once) as pool:
        statuses = list(pool.map(lambda i: processes[i % 3].ask("g").status, range(4 * limit)))
    served = statuses.count(200)
    assert limit <= served <= limit + at_once, served
    assert statuses.count(429) == len(statuses) - served
    assert up.hits("d1") == served
    assert int(float(redis.get(f"d1:openai/model-d1:rpm:{minute}"))) >= limit
    assert 0 < redis.life(f"d1:openai/model-d1:rpm:{minute}") <= 60


def test_usage_routing_knows_what_others_used(redis, fleet, up, minute):
    groups = {"g": ["d1", "d2", "d3"]}
    processes = fleet(redis, 2, groups=groups, router={"num_retries": 0, "routing_strategy": "usage-based-routing-v2"})
    usage = {"prompt_tokens": 10, "completion_tokens": 20, "total_tokens": 30}
    for name in ("d1", "d2", "d3"):
        up.says(name, answers.text(name, usage=usage))
    redis.set(f"d1:openai/model-d1:tpm:{minute}", "5000", 60)
    redis.set(f"d3:openai/model-d3:tpm:{minute}", "9000", 60)
    time.sleep(1.3)
    assert {weir.ask("g").text for weir in processes} == {"d2"}
    until(lambda: redis.get(f"d2:openai/model-d2:tpm:{minute}") == "60", 2)
    assert redis.get(f"d2:openai/model-d2:rpm:{minute}") == "2"


def test_least_busy_knows_what_runs_elsewhere(redis, fleet, up):
    processes = fleet(redis, 2, groups={"g": ["d1", "d2"]}, router={"num_retries": 0, "routing_strategy": "least-busy"})
    for name in ("d1", "d2"):
        up.says(name, answers.late(answers.text(name), 1.5), name)
    with ThreadPoolExecutor(1) as pool:
        busy = pool.submit(processes[0].ask, "g")
        until(lambda: up.calls, 2)
        taken = up.calls[0].deployment
        until(lambda: redis.get(f"g_request_count:{taken}") == "1", 2)
        time.sleep(1.1)
        other = {"d1": "d2", "d2": "d1"}[taken]
        up.says(other, other)
        assert [processes[1].ask("g").text for _ in range(4)] == [other] * 4
        busy.result()
    until(lambda: redis.get(f"g_request_count:{taken}") == "0", 2)
    assert redis.life(f"g_request_count:{taken}") > 500


def test_latencies_are_learned_from_the_groups_map(redis, fleet, up):
    processes = fleet(redis, 2, groups={"g": ["d1", "d2"]}, router={"num_retries": 0, "routing_strategy": "latency-based-routing"})
    entry = {"latency": [9.0], "2026-01-01-00-00": {"tpm": 1, "rpm": 1}}
    redis.set("g_map", json.dumps({"d1": entry, "of-another": {"latency": [1]}}), 3600)
    up.says("d1", "d1")
    up.says("d2", "d2")
    time.sleep(1.3)
    assert processes[0].ask("g").text == "d2"
    until(lambda: "d2" in json.loads(redis.get("g_map")), 3)
    kept = json.loads(redis.get("g_map"))
    assert kept["d1"] == entry and kept["of-another"] == {"latency": [1]} and len(kept["d2"]["latency"]) == 1
    time.sleep(1.2)
    assert processes[1].ask("g").text == "d2"


# ---- one of them dies

def test_the_death_of_one_leaves_the_others_as_they_were(redis, fleet, weirs, up):
    """What it had told holds on, its connection's end disturbs nobody, and others go on telling."""
    others = fleet(redis, 2)
    first = weirs(config(up, PAIR, router={"num_retries": 1, "cooldown_time": 30, "redis_host": "127.0.0.1",
                                           "redis_port": redis.port}), start=False)
    first.start()
    up.says("d1", answers.error("rate_limit"), "one")
    up.says("d2", "two")
    assert first.ask("g").text == "two"
    until(lambda: redis.get(KEY))
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(weir.ask, "g") for weir in others for _ in range(50)]
        first.kill()
        assert [answer.result().text for answer in asked] == ["two"] * 100
    time.sleep(1.2)     # who has not seen the key does not miss it
    redis.ask("DEL", KEY)
    until(lambda: ask_all(others, 1) == ["one"] * 2)
    up.says("d1", answers.error("rate_limit"), "one")
    assert others[0].ask("g").text == "two"
    until(lambda: others[1].ask("g").text == "two", 2)


# ---- Redis in trouble

def elapsed(weir, times=40):
    return [weir.ask("h").elapsed for _ in range(times)]


def test_losing_redis_loses_no_request(redis, fleet, up):
    weir, = fleet(redis, 1, groups={**PAIR, "h": ["d3"]})
    up.says("d1", answers.error("rate_limit"), "never")
    up.says("d2", "two")
    before = statistics.median(elapsed(weir))
    redis.kill()
    assert weir.ask("g").text == "two"
    assert [weir.ask("g").text for _ in range(3)] == ["two"] * 3
    assert statistics.median(elapsed(weir)) < before * 10
    weir.log_line("Redis .*(away|closed|reached)")
    redis.start()
    until(lambda: redis.get(KEY), 8)    # still in force: it is written
    assert 1 < redis.life(KEY) <= 30


def test_a_hung_redis_delays_nobody(redis, fleet, up):
    weir, = fleet(redis, 1, groups={**PAIR, "h": ["d3"]}, env={"REDIS_CIRCUIT_BREAKER_RECOVERY_TIMEOUT": "1"})
    up.says("d1", answers.error("rate_limit"), "never")
    up.says("d2", "two")
    before = statistics.median(elapsed(weir))
    redis.hang()
    assert weir.ask("g").elapsed < 0.5
    assert statistics.median(elapsed(weir, 200)) < before * 10
    time.sleep(1)
    assert weir.ask("g").text == "two"
    weir.log_line("did not answer in time")
    redis.go_on()
    until(lambda: redis.get(KEY), 10)


@pytest.mark.parametrize("told", ["absent", "hung", "garbage", "closing"])
def test_it_starts_without_redis_and_says_so(weirs, up, told):
    with socket.create_server(("127.0.0.1", 0)) as server:
        def answer():
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    with contextlib.suppress(OSError):
                        if told == "garbage":
                            connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                        if told != "hung":
                            connection.close()
                        else:
                            kept.append(connection)
        kept = []
        if told != "absent":
            threading.Thread(target=answer, daemon=True).start()
        port = server.getsockname()[1] if told != "absent" else 9
        begun = time.monotonic()
        weir = weirs(config(up, PAIR, router={"num_retries": 1, "redis_host": "127.0.0.1", "redis_port": port}))
        assert time.monotonic() - begun < 5
        up.says("d1", answers.error("rate_limit"), "one")
        up.says("d2", "two")
        assert weir.ask("g").text == "two"
        weir.log_line("Redis")


def test_a_wrong_password_is_told_and_not_its_text(redises, weirs, up):
    redis = redises("--requirepass", "right-one")
    router = {"num_retries": 1, "redis_host": "127.0.0.1", "redis_port": redis.port, "redis_password": "wrong-one"}
    weir = weirs(config(up, PAIR, router=router))
    up.says("d2", "two")
    up.says("d1", answers.error("rate_limit"))
    assert weir.ask("g").text == "two"
    weir.log_line("password")
    assert "wrong-one" not in weir.log
    right = weirs(config(up, PAIR, router={**router, "redis_url": f"redis://:right-one@127.0.0.1:{redis.port}/3"}))
    assert right.ask("g").text == "two"
    login = ("right-one",)
    until(lambda: "db3:keys=" in redis.ask("INFO", "keyspace", login=login), 2)


def test_keys_of_others_with_our_names_harm_nobody(redis, fleet, up, minute):
    for key in ("deployment:d1:allowed_fails", f"d1:openai/model-d1:rpm:{minute}", f"d1:openai/model-d1:tpm:{minute}", "g_map"):
        redis.ask("LPUSH", key, "x")
    redis.set("deployment:d2:cooldown", "x" * 100000, 60)
    redis.set("litellm:health_check:deployment_health_state", "y" * 3000000, 60)
    processes = fleet(redis, 2, groups={"g": {"d1": {"rpm": 5}}},
                      router={"num_retries": 0, "optional_pre_call_checks": ["enforce_model_rate_limits"], "allowed_fails": 3})
    up.says("d1", *["one"] * 3, answers.error("internal"), "one")
    assert [weir.ask("g").status for weir in processes for _ in range(3)] == [200, 200, 200, 500, 200, 200]
    processes[0].log_line("refused a command: WRONGTYPE")
    time.sleep(1.2)
    assert processes[0].log.count("refused a command") == 1


def test_forgetting_everything_breaks_nothing(redis, fleet, up):
    processes = fleet(redis, 3, router={"routing_strategy": "least-busy"}, groups={"g": ["d1", "d2"]})
    up.says("d1", "one")
    up.says("d2", "two")
    stop = threading.Event()
    statuses = []

    def hammer(weir):
        with contextlib.suppress(OSError):  # one of them is killed
            while not stop.is_set() and weir.process.poll() is None:
                statuses.append((weir, weir.ask("g").status))
    threads = [threading.Thread(target=hammer, args=(weir,)) for weir in processes]
    for thread in threads:
        thread.start()
    for _ in range(10):
        redis.ask("FLUSHALL")
        time.sleep(0.1)
    killed = processes.pop()
    killed.process.kill()
    killed.process.wait()
    time.sleep(0.2)
    stop.set()
    for thread in threads:
        thread.join()
    assert {status for weir, status in statuses if weir is not killed} == {200}
    until(lambda: all(int(redis.get(f"g_request_count:{name}") or 0) <= 1 for name in ("d1", "d2")), 3)
    killed.launch(killed.port)      # so that there is something to stop
    assert killed.is_ready()


@pytest.mark.parametrize("section, words", [
    ({"litellm": {"cache": True, "cache_params": {"type": "redis", "redis_startup_nodes": [{"host": "a", "port": 1}]}}}, "Redis Cluster is not supported"),
    ({"router": {"redis_host": "os.environ/NOWHERE"}}, "NOWHERE is not set"),
])
def test_what_refuses_the_start(weirs, up, section, words):
    weir = weirs(config(up, PAIR, **section), start=False).launch()
    assert weir.wait() == 1
    assert words in weir.log
