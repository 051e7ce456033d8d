"""Many clients, upstreams that do anything, all at once and at random: each call ends, none looks better than it was, and nothing is left over."""
import os
import random
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from kit import answers
from kit.answers import CLOSE, END, HANG, RESET, Answer, Error, Wait
from kit.model import Fault, Model, prefill_of

SEED = int(os.environ.get("CHAOS_SEED", random.SystemRandom().randrange(10000)))
CLIENTS, CALLS = 12, 25
WORDS = "the whole answer in a handful of words"


def anything(rand):
    """An answer that is good, late, broken or nonsense; chosen anew for each request."""
    good = answers.text(WORDS)
    broken_stream = answers.stream(*answers.pieces(WORDS)[:rand.randrange(6)], rand.choice([CLOSE, RESET, END, Error("internal"), b"data: {\n\n"]))
    return rand.choice([
        good, good, good, answers.in_pieces(good, rand.randrange(1, 200)), answers.late(good, rand.random() * 0.1), answers.close_idle(good),
        answers.error(rand.choice(["rate_limit", "internal", "unavailable", "auth", "bad_request", "context_window"]), {"retry-after": "1"}),
        answers.cut(good, rand.randrange(400), rand.choice([CLOSE, RESET])), broken_stream, answers.zipped(good), answers.lying_length(good, 3),
        answers.raw(200, answers.HTML), answers.steps(b"\x00garbage\r\n\r\n", CLOSE), answers.BROKEN, answers.late(answers.cut(good, 30, HANG), 0.05),
        answers.stream("slow ", Wait(0.1), *answers.pieces(WORDS))])


def one_call(weir, rand):
    """What a client may say of one call, which is nothing if it left."""
    body = {"model": rand.choice(["A", "A", "B", "nobody"]), "stream": rand.random() < 0.5, "timeout": 0.5, "num_retries": rand.randrange(3)}
    try:
        reply = weir.ask(body, timeout=rand.choice([30, 30, 30, 0.05]))
    except TimeoutError:
        return
    assert reply.status is not None and not (reply.cut and not body["stream"]), reply
    if reply.status != 200:
        assert reply.json["error"]["code"] == str(reply.status)
    elif not reply.failed or not body["stream"]:
        assert reply.text in (WORDS, "slow " + WORDS), reply
    else:
        assert (WORDS + " slow " + WORDS).find(reply.text) >= 0, reply


def all_at_once(client, rand):
    with ThreadPoolExecutor(CLIENTS) as pool:
        try:
            list(pool.map(client, [rand.random() for _ in range(CLIENTS)]))
        except AssertionError as error:
            raise AssertionError(f"CHAOS_SEED={SEED}: {error}") from error


@pytest.mark.parametrize("round", range(2))
def test_anything_at_once(serve, up, round):
    rand = random.Random(SEED + round)
    weir = serve({"A": {"a1": {"order": 1}, "a2": {"order": 1}, "a3": {"order": 2}}, "B": ["b1", "b2"]},
                 router={"num_retries": 1, "cooldown_time": 0.2, "enable_weighted_failover": True, "fallbacks": [{"A": ["B"]}, {"B": ["A"]}]})
    for name in ("a1", "a2", "a3", "b1", "b2"):
        up.says(name, *(anything(rand) for _ in range(200)))

    def client(seed):
        mine = random.Random(seed)
        for _ in range(CALLS):
            one_call(weir, mine)
    all_at_once(client, rand)
    for name in ("a1", "a2", "a3", "b1", "b2"):
        up.says(name, "calm again")
    time.sleep(0.6)     # cooldowns, and the limits of calls whose clients have left, are over
    assert weir.ask("A").text == "calm again"
    assert up.wait_for(lambda u: not any(u.in_flight.values()), 5), up.in_flight


# ---- streams alone, with all that keeps them alive

RECITED = "Whoever reads this to its end has seen that no word of it is missing and that none has come twice."


def recitation(rand):
    """What a deployment does with each request, chosen when it is there: the text, or a part of it and some fault."""
    def steps(call):
        faults = [CLOSE, RESET, END, HANG, Error("internal"), Error("rate_limit"), b"data: {\n\n", Wait(0.15)]
        fault = Fault(rand.randrange(22), rand.choice(faults)) if rand.random() < 0.7 else None
        again = len(RECITED) if len(prefill_of(call)) >= 24 and rand.random() < 0.3 else 0
        return Model(RECITED, fault, pause=rand.choice([0, 0, 0.002]), again=again, prefill=rand.random() < 0.9).steps(call)
    return Answer(steps)


# What may not be continued says so to the upstream, too.
ASKED = [{}, {}, {"stream_options": {"include_usage": True}}, {"response_format": {"type": "json_object"}, "user": "alone"}, {"disable_fallbacks": True, "user": "alone"}]


def one_stream(weir, rand):
    """The text is a beginning of the right one, and whole exactly if the stream ended well; everything else is there once."""
    asked = {"model": rand.choice(["flowing", "held", "hoarded"]), "stream": True, **rand.choice(ASKED)}
    try:
        reply = weir.ask(asked, timeout=rand.choice([30, 30, 30, 0.1]))
    except TimeoutError:
        return
    assert reply.status is not None and not reply.cut, reply
    if reply.status != 200:
        assert reply.json["error"]["code"] == str(reply.status)
        return
    assert RECITED.startswith(reply.text) and (reply.text == RECITED) >= reply.done and reply.done != bool(reply.error), reply
    chunks = [event for event in reply.events if "error" not in event]
    choices = [choice for chunk in chunks for choice in chunk["choices"]]
    assert len({chunk["id"] for chunk in chunks}) == 1 and sum("role" in choice["delta"] for choice in choices) == 1, reply
    assert sum(bool(choice["finish_reason"]) for choice in choices) == reply.done, reply
    assert [bool(chunk.get("usage")) for chunk in chunks].count(True) <= ("stream_options" in asked), reply


@pytest.mark.parametrize("round", range(2))
def test_streams_that_break_at_random(serve, up, round):
    rand = random.Random(SEED + round)
    takes = {"info": {"supports_assistant_prefill": True}, "stream_idle_timeout": 0.1, "ttft_timeout": 0.3}
    groups = {group: {f"{group}-{number}": takes for number in range(2)} for group in ("flowing", "held", "hoarded", "spare")}
    weir = serve(groups, router={"num_retries": 2, "cooldown_time": 0.1, "default_fallbacks": ["spare"], "enable_mid_stream_fallback_continuation": True},
                 weir={"continuation_targets": ["group", "fallback"], "groups": {"held": {"stream_hold": {"tokens": 6, "seconds": 0.02}}, "hoarded": {"stream_hold": "all"}}})
    for members in groups.values():
        for name in members:
            up.says(name, recitation(random.Random(rand.random())))

    def client(seed):
        mine = random.Random(seed)
        for _ in range(CALLS):
            one_stream(weir, mine)
    all_at_once(client, rand)
    assert up.wait_for(lambda u: not any(u.in_flight.values()), 5), up.in_flight
    continued = [call for call in up.calls if prefill_of(call)]
    assert len(continued) > 10 and not [call for call in continued if call.json.get("user") == "alone"]
