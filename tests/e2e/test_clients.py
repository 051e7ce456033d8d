"""Clients that leave a plain call: it runs on, unless it is to be cancelled, and is nobody's failure. Of streams test_leaving.py tells."""
import socket
import struct
import time

import pytest

from kit import answers
from kit.client import request_bytes


def leave(weir, body, how, after=0.3):
    """Asks, waits a little and goes away: with a FIN, a RST, or a FIN of the sending half only."""
    connection = weir.connect()
    connection.send(request_bytes({"messages": [], **body}))
    time.sleep(after)
    if how == "reset":
        connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    if how == "half":
        connection.socket.shutdown(socket.SHUT_WR)
    else:
        connection.close()
    return time.monotonic(), connection


@pytest.mark.parametrize("how", ["close", "reset"])
def test_a_plain_call_runs_on(serve, up, how):
    weir = serve({"g": ["d1"]})
    up.says("d1", answers.late(answers.text("late"), 0.8), "next")
    leave(weir, {"model": "g"}, how, 0.2)
    assert up.wait_for(lambda u: u.hits() and u.last("d1").ended_at, 5)
    assert up.last("d1").left_at is None
    assert weir.ask("g").text == "next"


def test_a_plain_call_runs_on_through_its_retries(serve, up):
    weir = serve({"g": ["d1"]}, router={"num_retries": 1})
    up.says("d1", answers.late(answers.error("internal"), 0.5), "second")
    leave(weir, {"model": "g"}, "close", 0.1)
    assert up.wait_for(lambda u: u.hits() == 2, 5)


def test_a_plain_answer_that_had_begun_is_read_to_its_end(serve, up):
    weir = serve({"g": ["d1"]}, weir={"max_response_bytes": "64KiB"})
    up.says("d1", answers.text("a" * 40_000_000))
    leave(weir, {"model": "g"}, "close", 1)
    assert up.last("d1").ended_at is None, "the client took so much that nothing was held back"
    assert up.wait_for(lambda u: u.last("d1").ended_at, 10)
    assert up.last("d1").left_at is None


def test_a_plain_call_that_runs_on_counts(serve, up):
    weir = serve({"g": ["d1"]}, router={"allowed_fails": 0, "cooldown_time": 20})
    up.says("d1", answers.late(answers.error("internal"), 0.4))
    leave(weir, {"model": "g"}, "close", 0.1)
    assert up.wait_for(lambda u: u.hits() and u.last().ended_at, 5)
    time.sleep(0.1)
    assert weir.ask("g").status == 429


@pytest.mark.parametrize("how", ["close", "reset", "half"])
def test_a_plain_call_is_cancelled_where_that_is_set(serve, up, how):
    weir = serve({"g": ["d1"]}, router={"allowed_fails": 0}, general={"cancel_on_disconnect": True})
    up.says("d1", answers.SILENT, "next")
    left, _ = leave(weir, {"model": "g"}, how)
    assert up.wait_for(lambda u: u.hits() and u.last("d1").left_at, 5)
    assert up.last("d1").left_at - left < 1
    assert weir.ask("g").text == "next"


def test_a_client_that_leaves_in_the_middle_of_its_body_asks_nothing(serve, up):
    weir = serve({"g": ["d1"]})
    up.says("d1", "fine")
    with weir.connect() as connection:
        connection.send(request_bytes({"model": "g", "messages": []})[:-5])
    time.sleep(0.1)
    assert weir.ask("g").text == "fine" and up.hits() == 1


def test_many_that_leave_at_any_time_harm_nobody(serve, up):
    weir = serve({"g": ["d1"]}, router={"num_retries": 1})
    up.says("d1", answers.in_pieces(answers.text("some words of an answer"), 40, 0.005))
    for number in range(60):
        leave(weir, {"model": "g", "stream": number % 2 == 0}, ("close", "reset", "half")[number % 3], number * 0.002)
    assert weir.ask("g").text == "some words of an answer"
