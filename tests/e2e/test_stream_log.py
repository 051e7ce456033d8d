"""What the log tells of a stream."""
import json

import pytest

from kit import answers
from kit.answers import CLOSE, HANG, Wait
from kit.configs import config

USAGE = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}


@pytest.fixture
def weir(weirs, up):
    groups = {"g": {"d1": {}}, "late": {"l1": {"weight": 1000000}, "l2": {"weight": 1}}, "held": {"h1": {}}, "cut": {"c1": {}},
              "next": {"n1": {"info": {"supports_assistant_prefill": True}}}}
    return weirs(config(up, groups, router={"num_retries": 1, "enable_mid_stream_fallback_continuation": True, "fallbacks": [{"cut": ["next"]}]},
                        weir={"groups": {"held": {"stream_hold": {"tokens": 3}}}}))


def line(weir, model):
    return json.loads(weir.log_line(f'"model":"{model}"'))


def ask(weir, model, **more):
    return weir.ask({"model": model, "stream": True, **more})


def test_times_and_counts_of_a_good_stream(weir, up):
    up.says("d1", answers.stream("a", Wait(0.3), "b", "c", usage=USAGE))
    assert ask(weir, "g", stream_options={"include_usage": True}).text == "abc"
    told = line(weir, "g")
    assert (told["finish"], told["prompt_tokens"], told["completion_tokens"], told["chunks"]) == ("stop", 9, 4, 6)
    assert 250 < told["silence_ms"] < 2000 and told["first_ms"] < 250 < told["duration_ms"]
    assert not {"tokens_counted", "recovery", "end"} & set(told)


def test_tokens_that_nobody_told_are_counted(weir, up):
    up.says("d1", answers.stream("a", "b", "c", finish="length"))
    ask(weir, "g")
    told = line(weir, "g")
    assert (told["completion_tokens"], told["tokens_counted"], told["finish"]) == (3, True, "length")


def test_the_way_of_recovery(weir, up):
    up.says("l1", answers.stream(CLOSE))
    up.says("l2", "served")
    assert ask(weir, "late").text == "served"
    assert (line(weir, "late")["recovery"], line(weir, "late")["attempts"]) == ("retry", 2)
    up.says("c1", answers.stream("one ", "two ", CLOSE))
    up.says("n1", answers.stream("three"))
    assert ask(weir, "cut").text == "one two three"
    told = line(weir, "cut")
    assert (told["recovery"], told["completion_tokens"], told["finish"], told["deployment"]) == ("continuation", 3, "stop", "n1")


def test_what_was_held(weir, up):
    up.says("h1", answers.stream("a", "b", "c", "d"))
    assert ask(weir, "held").text == "abcd"
    assert line(weir, "held")["held_bytes"] > 300
    up.says("d1", answers.stream("a"))
    ask(weir, "g")
    assert line(weir, "g")["held_bytes"] < 300     # what came before the content


def test_a_stream_that_was_cut(weir, up):
    up.says("d1", answers.stream("a", "b", CLOSE))
    assert ask(weir, "g").failed
    told = line(weir, "g")
    assert (told["status"], told["end"], told["kind"], told["completion_tokens"], told["chunks"]) == (200, "cut", "connection", 2, 3)
    assert "finish" not in told


def test_a_client_that_left(weir, up):
    up.says("d1", answers.stream("a", "b", HANG))
    with pytest.raises(TimeoutError):
        weir.ask({"model": "g", "stream": True}, timeout=0.5)
    told = line(weir, "g")
    assert (told["status"], told["end"], told["completion_tokens"], told["chunks"]) == (499, "gone", 2, 3)
    assert told["silence_ms"] > 200 and "kind" not in told
