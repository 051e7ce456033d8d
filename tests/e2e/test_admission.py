"""A process has so many calls in hand, so many wait for a turn, and the rest is told at once to come again."""
import concurrent.futures
import json
import time

import pytest

from kit import answers
from kit.answers import HANG
from kit.client import request_bytes
from test_leaving import leave, streamed

PLAIN = request_bytes({"model": "g", "messages": [{"role": "user", "content": "hello"}]})


@pytest.fixture(params=["1", "2"], ids=["one worker", "two workers"])
def make(serve, request):
    """The limits are of the process, however many workers it has."""
    def make(running, waiting=0, seconds=None, **more):
        general = {"max_in_flight_requests_per_worker": running, "max_queued_requests_per_worker": waiting}
        if seconds is not None:
            general["admission_queue_timeout_seconds"] = seconds
        return serve({"g": ["d1"]}, general=general, arguments=["--workers", request.param], **more)
    return make


def refused(reply):
    return reply.status == 503 and reply.header("retry-after") == "1" and reply.json["error"]["code"] == "503"


def ask_soon(weir):
    """A turn is free a moment after its client has the last byte; another worker may have the next request before that."""
    end = time.monotonic() + 2
    while refused(reply := weir.ask("g")) and time.monotonic() < end:
        time.sleep(0.02)
    return reply


def log_lines(weir, status, count):
    end = time.monotonic() + 5
    while True:
        lines = [json.loads(line) for line in weir.log.splitlines() if f'"status":{status}' in line]
        if len(lines) >= count or time.monotonic() > end:
            return lines
        time.sleep(0.02)


def test_what_is_beyond_the_limit_is_turned_away_at_once(make, up):
    weir = make(2)
    up.says("d1", answers.late(answers.text("fine"), 1), answers.late(answers.text("fine"), 1), "next")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        first = [pool.submit(weir.ask, "g") for _ in range(2)]
        assert up.wait_for(lambda u: u.hits() == 2)
        begun = time.monotonic()
        assert refused(weir.ask("g")) and time.monotonic() - begun < 0.5
        assert weir.ask(path="/health/readiness", method="GET").status == 200, "pages take no turns"
        assert [reply.result().text for reply in first] == ["fine", "fine"]
    assert ask_soon(weir).text == "next", "the turns are given back"
    assert up.hits() == 3


def test_who_waits_is_served_in_order(make, up):
    weir = make(1, waiting=3, seconds=20)
    up.says("d1", answers.late(answers.text("slow"), 0.5), "fine")
    connections = []
    for n in range(4):
        connections.append(weir.connect())
        body = {"model": "g", "user": str(n), "messages": [{"role": "user", "content": "hello"}]}
        connections[n].send(request_bytes(body))
        time.sleep(0.05)
    assert refused(weir.ask("g")), "the queue is full"
    assert [connection.reply().text for connection in connections] == ["slow", "fine", "fine", "fine"]
    assert [call.json["user"] for call in up.calls] == ["0", "1", "2", "3"]
    waited = sorted(line.get("queued_ms", 0) for line in log_lines(weir, 200, 4))  # each worker has its lines in the log
    assert waited[0] == 0 and min(waited[1:]) > 200, waited


def test_a_crowd_is_served_turn_by_turn_and_nobody_is_forgotten(make, up):
    """Its connections spread over the workers, whose turns are one another's."""
    weir = make(3, waiting=60, seconds=30)
    up.says("d1", answers.late(answers.text("fine"), 0.03))
    crowd = [weir.connect() for _ in range(60)]
    for _ in range(3):
        for connection in crowd:
            connection.send(PLAIN)
        assert [connection.reply().status for connection in crowd] == [200] * 60
    assert up.peak["d1"] == 3 and up.hits() == 180


def test_a_wait_ends(make, up):
    weir = make(1, waiting=5, seconds=0.3)
    up.says("d1", answers.late(answers.text("slow"), 1.5), "next")
    with weir.connect() as first:
        first.send(PLAIN)
        assert up.wait_for(lambda u: u.hits() == 1)
        begun = time.monotonic()
        assert refused(weir.ask("g"))
        assert 0.3 <= time.monotonic() - begun < 1.2
        assert first.reply().text == "slow"
    assert weir.ask("g").text == "next" and up.hits() == 2


def test_a_wait_lasts_a_second_where_nothing_is_said(make, up):
    weir = make(1, waiting=5)
    up.says("d1", answers.late(answers.text("slow"), 2.5))
    with weir.connect() as first:
        first.send(PLAIN)
        assert up.wait_for(lambda u: u.hits() == 1)
        begun = time.monotonic()
        assert refused(weir.ask("g"))
        assert 1 <= time.monotonic() - begun < 2.4
        assert first.reply().text == "slow"


@pytest.mark.parametrize("how", ["close", "reset", "half"])
def test_who_leaves_the_queue_is_not_served_and_takes_no_place(make, up, how):
    weir = make(1, waiting=1, seconds=20)
    up.says("d1", answers.late(answers.text("slow"), 1), "next")
    with weir.connect() as first:
        first.send(PLAIN)
        assert up.wait_for(lambda u: u.hits() == 1)
        second = weir.connect()
        second.send(PLAIN)
        time.sleep(0.2)
        leave(second, how)
        weir.log_line("499", seconds=0.7)
        assert weir.ask("g").text == "next", "its place was free"
        assert first.reply().text == "slow"
    assert up.hits() == 2


def test_a_stream_keeps_its_turn_until_its_end(make, up):
    weir = make(1)
    up.says("d1", answers.stream("first ", HANG), "next")
    connection = weir.connect()
    connection.send(streamed())
    assert up.wait_for(lambda u: u.hits() == 1)
    time.sleep(0.2)
    assert refused(weir.ask("g"))
    leave(connection, "close")
    weir.log_line("499|gone")
    assert ask_soon(weir).text == "next"


def test_bad_requests_give_their_turn_back(make, up):
    weir = make(1, waiting=1)  # where a turn that was kept is waited for in vain
    up.says("d1", "fine")
    for _ in range(3):
        assert weir.ask(b'{"model": 7}').status == 400
    assert weir.ask("g").status == 200


def test_a_long_queue_that_fails_at_once_is_cleared(make, up):
    """Turns are given on one by one, however many calls end as soon as they begin."""
    weir = make(1, waiting=2000, seconds=30)
    up.says("d1", answers.late(answers.text("slow"), 2), "next")
    bad = request_bytes({"model": "nobody", "messages": []})
    with weir.connect() as first:
        first.send(PLAIN)
        assert up.wait_for(lambda u: u.hits() == 1)
        crowd = [weir.connect() for _ in range(400)]
        for connection in crowd:
            connection.send(bad)
        assert first.reply().text == "slow"
        statuses = {connection.reply().status for connection in crowd}
    assert statuses == {400}, statuses
    assert weir.ask("g").text == "next"


def test_a_queue_is_served_before_the_end(make, up):
    """SIGTERM: who waits for a turn is inside already."""
    weir = make(1, waiting=2, seconds=20)
    up.says("d1", answers.late(answers.text("slow"), 0.5), "fine")
    crowd = [weir.connect() for _ in range(3)]
    for connection in crowd:
        connection.send(PLAIN)
        time.sleep(0.1)
    weir.signal(15)
    assert sorted(connection.reply().text for connection in crowd) == ["fine", "fine", "slow"]
    assert weir.wait() == 0
