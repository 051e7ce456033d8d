"""Clients of a stream that leave, or that read slowly.

Who leaves, wherever the call stands, ends its upstream call within 100 ms; the tests allow ten times that and print what they
measure. It is nobody's failure: nothing is tried again, nothing is counted. Who reads slowly holds the upstream back,
costs a bounded buffer, and loses nothing.
"""
import socket
import struct
import threading
import time

import pytest

from kit import answers
from kit.answers import CLOSE, HANG, Wait
from kit.client import request_bytes
from kit.model import Fault, Model
from kit.weir import SANITIZED

TEXT = "some words that take a while to say"
ALLOWED = 3.0 if SANITIZED else 1.0
PIECE = "a" * 60_000


def streamed(group="g"):
    return request_bytes({"model": group, "stream": True, "messages": [{"role": "user", "content": "hello"}]})


def leave(connection, how):
    """With a FIN, a RST, or a FIN of the sending half while it could still read; returns when."""
    if how == "reset":
        connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    if how == "half":
        connection.socket.shutdown(socket.SHUT_WR)
    else:
        connection.close()
    return time.monotonic()


# Where the call stands: what the deployment that is left answers, and how long the client stays.
PLACES = {
    "before the head": (answers.SILENT, 0.2),
    "before content": (answers.stream(HANG), 0.2),
    "while content is held": (Model(TEXT, Fault(4, HANG)).answer(), 0.2),
    "while it flows": (answers.stream("first ", *[Wait(0.02), "more "] * 400), 0.2),
    "in a pause": (answers.stream("first ", HANG), 0.2),
    "while comments go out": (answers.stream("first ", HANG), 1.3),
    "while it is held back": (answers.stream(*[PIECE] * 1000), 1.5),     # the upstream is busy making it for a while
    "while another carries on": (answers.SILENT, 0.3),
}


@pytest.mark.parametrize("how", ["close", "reset", "half"])
@pytest.mark.parametrize("place", PLACES)
def test_the_upstream_of_who_leaves_is_left(serve, up, place, how, capsys):
    script, stay = PLACES[place]
    cut = place == "while another carries on"
    weir = serve({"g": {"d1": {"keepalive_seconds": 1}}, "other": {"d2": {"info": {"supports_assistant_prefill": True}}}},
                 weir={"stream_hold": "all"} if place == "while content is held" else None,
                 router={"allowed_fails": 0, "num_retries": 2, "fallbacks": [{"g": ["other"]}], "enable_mid_stream_fallback_continuation": True})
    asked = "d2" if cut else "d1"
    up.says("d1", Model(TEXT, Fault(3, CLOSE)).answer() if cut else script, "next")
    up.says("d2", script if cut else answers.text("never"), "next")
    connection = weir.connect()
    connection.send(streamed())
    assert up.wait_for(lambda u: u.hits(asked))
    time.sleep(stay)
    hits = up.hits()
    left = leave(connection, how)
    assert up.wait_for(lambda u: u.last(asked).left_at), "the upstream call goes on"
    seconds = up.last(asked).left_at - left
    assert seconds < ALLOWED
    with capsys.disabled():
        print(f" left {1000 * seconds:.0f} ms later ", end="")
    weir.log_line("499")
    assert weir.ask(asked.replace("d2", "other").replace("d1", "g")).text == "next", "a client that left is no failure of the deployment"
    assert up.hits() == hits + 1, "nothing was tried again for a client that left"


@pytest.mark.parametrize("how", ["close", "reset", "half"])
def test_who_leaves_while_a_retry_waits_is_not_served(serve, up, how):
    weir = serve({"g": ["d1"]}, router={"num_retries": 2})
    up.says("d1", answers.error("rate_limit", headers={"retry-after": "1"}), "next")
    connection = weir.connect()
    connection.send(streamed())
    assert up.wait_for(lambda u: u.hits() == 1)
    time.sleep(0.1)
    leave(connection, how)
    weir.log_line("499", seconds=0.8)
    time.sleep(1.2)
    assert up.hits() == 1


def test_many_leave_at_once(serve, up, capsys):
    """Three hundred streams: each upstream call ends soon after its client, and memory is given back."""
    weir = serve({"g": ["d1"]})
    up.says("d1", "fine", answers.stream("first ", HANG))
    assert weir.ask("g").text == "fine"
    idle = resident(weir)
    crowd = [weir.connect() for _ in range(300)]
    for connection in crowd:
        connection.send(streamed())
    assert up.wait_for(lambda u: u.in_flight["d1"] == 300, 20)
    left = [leave(connection, "close") for connection in crowd]
    assert up.wait_for(lambda u: u.in_flight["d1"] == 0)
    slowest = max(call.left_at for call in up.calls if call.left_at) - left[-1]
    assert slowest < ALLOWED
    with capsys.disabled():
        print(f" the last one {1000 * slowest:.0f} ms after its client ", end="")
    assert SANITIZED or resident(weir) < idle + 16_000_000


# ---- slow readers

def resident(weir):
    with open(f"/proc/{weir.process.pid}/statm") as file:
        return int(file.read().split()[1]) * 4096


class Watch:
    """The most memory that weir had while this was open."""

    def __init__(self, weir):
        self.weir, self.most, self.over = weir, 0, threading.Event()
        self.thread = threading.Thread(target=self._look)

    def _look(self):
        while not self.over.wait(0.05):
            self.most = max(self.most, resident(self.weir))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


def read_slowly(connection, rests):
    """Reads the reply in parts, with a rest before each of the first ones."""
    for seconds in rests:
        time.sleep(seconds)
        connection.buffer += connection.socket.recv(200_000)
    return connection.reply()


LIMITS = {"stream_idle_timeout": 0.4, "ttft_timeout": 5}


def test_who_reads_slowly_loses_nothing_and_is_not_punished(serve, up):
    """Rests longer than the limits on silence, and a rate far below the least one: those bound the provider, not the client."""
    weir = serve({"g": {"d1": LIMITS}}, weir={"stream_buffer_bytes": "64KiB", "min_stream_rate": {"tokens_per_s": 50, "window": 1, "grace": 0}})
    up.says("d1", answers.stream(*[PIECE] * 500))
    with weir.connect(30) as connection, Watch(weir) as watch:
        idle = resident(weir)
        connection.send(streamed())
        reply = read_slowly(connection, [1.2, 0.6, 0.6, *[0.05] * 20])
    assert not reply.failed and reply.text == PIECE * 500 and up.hits() == 1
    assert SANITIZED or watch.most < idle + 16_000_000


def test_a_silence_of_the_upstream_counts_again_after_the_client_has_caught_up(serve, up):
    weir = serve({"g": {"d1": LIMITS}}, weir={"stream_buffer_bytes": "64KiB"})
    up.says("d1", answers.stream(*[PIECE] * 300, HANG))
    with weir.connect(30) as connection:
        connection.send(streamed())
        reply = read_slowly(connection, [1.0])
    assert reply.error["code"] == "408" and reply.text == PIECE * 300


def test_many_slow_readers_share_a_bounded_memory(serve, up):
    weir = serve({"g": ["d1"]}, weir={"stream_buffer_bytes": "64KiB"})
    up.says("d1", answers.stream(*[PIECE] * 100))
    idle, crowd = resident(weir), [weir.connect(30) for _ in range(40)]
    with Watch(weir) as watch:
        for connection in crowd:
            connection.send(streamed())
        assert up.wait_for(lambda u: u.hits() == 40, 20)
        time.sleep(1.0)
        replies = [connection.reply() for connection in crowd]
    assert all(not reply.failed and reply.text == PIECE * 100 for reply in replies)
    for connection in crowd:
        connection.close()
    assert SANITIZED or watch.most < idle + 40 * 600_000, f"{(watch.most - idle) // 40} bytes a stream"
