"""Many clients, upstreams that do anything, all at once and at random: each call ends, none looks better than it was, and nothing is left over."""
import os
import random
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from kit import answers
from kit.answers import CLOSE, END, HANG, RESET, Error, Wait

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
    with ThreadPoolExecutor(CLIENTS) as pool:
        try:
            list(pool.map(client, [rand.random() for _ in range(CLIENTS)]))
        except AssertionError as error:
            raise AssertionError(f"CHAOS_SEED={SEED}: {error}") from error
    for name in ("a1", "a2", "a3", "b1", "b2"):
        up.says(name, "calm again")
    time.sleep(0.6)     # cooldowns, and the limits of calls whose clients have left, are over
    assert weir.ask("A").text == "calm again"
    assert up.wait_for(lambda u: not any(u.in_flight.values()), 5), up.in_flight
