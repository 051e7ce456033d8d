"""How long a prompt is, before the call: what is too long is not sent, and estimates follow what providers count."""
import json

import pytest

from kit import answers

WORDS = "the cat sat on the mat and looked at the rain "      # eleven tokens
UNCOUNTED = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}


def ask(weir, times):
    return weir.ask({"model": "g", "messages": [{"role": "user", "content": WORDS * times}]})


@pytest.fixture
def weir(serve, up):
    up.says("short", answers.text("short", usage=UNCOUNTED))
    up.says("long", answers.text("long", usage=UNCOUNTED))
    router = {"enable_pre_call_checks": True, "num_retries": 0}
    return serve({"g": {"short": {"info": {"max_input_tokens": 1000}}, "long": {"info": {"max_input_tokens": 100000}}}}, router=router)


def test_a_long_prompt_goes_where_it_fits(weir):
    assert {ask(weir, 1).text for _ in range(30)} == {"short", "long"}
    assert {ask(weir, 200).text for _ in range(20)} == {"long"}


def test_nobody_is_dropped_for_what_may_be_the_error(weir):
    assert {ask(weir, 105).text for _ in range(30)} == {"short", "long"}, "1155 tokens of an estimate may be 1000"


def test_what_fits_nowhere_is_a_failure_by_the_context_window(weir, up):
    reply = ask(weir, 20000)
    assert reply.status == 400 and "ContextWindowExceededError" in reply.json["error"]["message"]
    assert up.hits() == 0


def test_the_estimate_follows_what_is_counted(serve, up):
    counted = {"prompt_tokens": 2200, "completion_tokens": 1, "total_tokens": 2201}
    up.says("d1", answers.text("fine", usage=counted))
    weir = serve({"g": {"d1": {"info": {"max_input_tokens": 1000000}}}}, router={"enable_pre_call_checks": True},
                 arguments=["--workers", "1"])
    for _ in range(50):
        assert ask(weir, 100).text == "fine"
    weir.stop()
    lines = [json.loads(line) for line in weir.log.splitlines() if '"prompt_estimate"' in line]
    assert len(lines) == 50
    assert 1000 < lines[0]["prompt_estimate"] < 1200 and 2100 < lines[-1]["prompt_estimate"] < 2300


def test_the_margin_can_be_set(serve, up):
    up.says("d1", "fine")
    limits = {"g": {"d1": {"info": {"max_input_tokens": 1000}}}}
    weir = serve(limits, router={"enable_pre_call_checks": True}, weir={"prompt_token_margin": 0})
    assert ask(weir, 105).status == 400 and ask(weir, 80).text == "fine"
