"""Limits of a minute and of calls at once (RS 6.3, 19), with real processes. Who counts by the minute starts early in one."""
import json
import threading
import time

import pytest

from kit import answers
from kit.answers import Wait
from kit.configs import config

USAGE = {"prompt_tokens": 50, "completion_tokens": 10, "total_tokens": 60}
ENFORCED = {"optional_pre_call_checks": ["enforce_model_rate_limits"]}


@pytest.fixture
def minute():
    """The test has at least 20 seconds of the minute before it."""
    second = time.time() % 60
    if second > 40:
        time.sleep(60.2 - second)


def error(reply):
    return json.loads(reply.body)["error"]


def test_requests_of_the_minute_are_counted_to_the_last(minute, weirs, up):
    weir = weirs(config(up, {"g": {"d1": {"rpm": 3}}, "late": {"d2": {"rpm": 1}}, "B": ["b"]}, router={**ENFORCED, "num_retries": 2, "fallbacks": [{"late": ["B"]}]}))
    up.says("d1", "one")
    up.says("d2", "two")
    up.says("b", "from b")
    assert [weir.ask("g").status for _ in range(3)] == [200, 200, 200]
    refused = weir.ask("g")
    assert refused.status == 429 and refused.elapsed < 1  # no retry: nothing is healthy until the minute turns
    assert error(refused)["type"] == "throttling_error"
    assert "Model rate limit exceeded. RPM limit=3, current usage=3" in error(refused)["message"]
    assert refused.header("retry-after") is None
    assert [weir.ask("late").text for _ in range(2)][1] == "from b"
    assert sum(call.deployment == "d1" for call in up.calls) == 3


@pytest.mark.parametrize("limit, what", [({"tpm": 100}, "TPM limit=100"), ({"itpm": 100}, "ITPM limit=100"), ({"otpm": 20}, "OTPM limit=20")])
def test_tokens_of_the_minute_refuse_once_they_are_used_up(minute, weirs, up, limit, what):
    weir = weirs(config(up, {"g": {"d1": limit}}, router=ENFORCED))
    up.says("d1", answers.text("x", usage=USAGE))
    assert [weir.ask("g").status for _ in range(2)] == [200, 200]
    refused = weir.ask("g")
    assert refused.status == 429 and what in error(refused)["message"]


def test_limits_may_stand_beside_the_params_or_in_the_info(minute, weirs, up):
    made = config(up, {"g": {"d1": {}}, "h": {"d2": {"info": {"rpm": 1}}}}, router=ENFORCED)
    made["model_list"][0]["rpm"] = 1
    weir = weirs(made)
    up.says("d1", "one")
    up.says("d2", "two")
    assert [weir.ask("g").status for _ in range(2)] == [200, 429]
    assert [weir.ask("h").status for _ in range(2)] == [200, 429]


def test_a_sibling_takes_over_at_once(minute, weirs, up):
    weir = weirs(config(up, {"g": {"d1": {"rpm": 1, "weight": 1000000}, "d2": {"weight": 1}}}, router={**ENFORCED, "num_retries": 1}))
    up.says("d1", "one")
    up.says("d2", "two")
    assert [weir.ask("g").text for _ in range(3)] == ["one", "two", "two"]


def test_usage_based_routing_goes_where_the_fewest_tokens_went(minute, weirs, up):
    weir = weirs(config(up, {"g": ["d1", "d2"]}, router={"routing_strategy": "usage-based-routing-v2"}))
    up.says("d1", answers.text("x", usage={"prompt_tokens": 900, "completion_tokens": 100, "total_tokens": 1000}))
    up.says("d2", answers.text("x", usage={"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}))
    for _ in range(8):
        assert weir.ask("g").status == 200
    assert sum(call.deployment == "d1" for call in up.calls) == 1


def test_usage_based_routing_names_the_usage_of_all(minute, weirs, up):
    weir = weirs(config(up, {"g": {"d1": {"tpm": 50}}}, router={"routing_strategy": "usage-based-routing-v2"}))
    up.says("d1", answers.text("x", usage=USAGE))
    assert weir.ask("g").status == 200
    refused = weir.ask("g")
    assert refused.status == 429 and int(refused.header("retry-after")) >= 1
    assert "Passed model=g. Deployments={'d1': {current_tpm=60, tpm_limit=50, current_rpm=1, rpm_limit=None}}" in error(refused)["message"]


def test_a_full_deployment_refuses_at_once_and_is_not_cooled(weirs, up):
    weir = weirs(config(up, {"g": {"d1": {"max_parallel_requests": 1}}}, router={"allowed_fails_policy": {"RateLimitErrorAllowedFails": 0}}))
    up.says("d1", answers.late(answers.text("x"), 0.6))
    first = threading.Thread(target=weir.ask, args=("g",))
    first.start()
    up.wait_for(lambda up: up.calls)
    refused = weir.ask("g")
    assert refused.status == 429 and refused.elapsed < 0.5
    assert "all max_parallel_requests slots in use" in error(refused)["message"]
    first.join()
    assert weir.ask("g").status == 200


@pytest.mark.parametrize("leave", ["client", "deadline", "break"])
def test_a_stream_gives_its_slot_back_however_it_ends(weirs, up, leave):
    weir = weirs(config(up, {"g": {"d1": {"max_parallel_requests": 1}}}, router={"disable_cooldowns": True, "num_retries": 0},
                        weir={"call_deadline": 0.7} if leave == "deadline" else None))
    up.says("d1", answers.stream("a", answers.CLOSE) if leave == "break" else answers.stream("a", Wait(20), "b"), "back")
    if leave == "client":
        with pytest.raises(TimeoutError):
            weir.ask({"model": "g", "stream": True}, timeout=0.5)
        time.sleep(1.2)
    else:
        weir.ask({"model": "g", "stream": True})
    assert weir.ask("g").text == "back"


def test_usage_based_routing_and_enforced_limits_count_a_request_once(minute, weirs, up):
    weir = weirs(config(up, {"g": {"d1": {"rpm": 2}}}, router={**ENFORCED, "routing_strategy": "usage-based-routing-v2"}))
    up.says("d1", "one")
    assert [weir.ask("g").status for _ in range(3)] == [200, 200, 429]


def test_tags_whose_deployments_only_cool_down_ask_to_come_again(weirs, up):
    weir = weirs(config(up, {"g": {"d1": {"tags": ["a"]}, "d2": {"tags": ["b"]}}}, router={"enable_tag_filtering": True, "cooldown_time": 20, "num_retries": 0}))
    up.says("d1", answers.error("rate_limit"))
    assert weir.ask({"model": "g", "tags": ["a"]}).status == 429
    again = weir.ask({"model": "g", "tags": ["a"]})
    assert again.status == 429 and error(again)["type"] == "all_deployments_in_cooldown" and int(again.header("retry-after")) > 10
