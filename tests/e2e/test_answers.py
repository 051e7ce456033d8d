"""Upstreams that misbehave in every way: the caller gets the whole answer, an answer from elsewhere, or an honest error; never a part."""
import contextlib
import json
import re
import socket
import struct
import threading
import time

import pytest

from kit import answers
from kit.answers import CLOSE, HANG, RESET, Wait
from kit.client import request_bytes
from kit.configs import config
from kit.upstream import Call
from kit.weir import SANITIZED

GOOD = answers.text("the whole answer")
PROBE = Call("POST", "/d1/chat/completions", [], b'{"model": "model-d1", "messages": [{"role": "user", "content": "hello"}]}', 0)
STREAM_PROBE = Call("POST", "/d1/chat/completions", [], b'{"model": "model-d1", "messages": [], "stream": true}', 0)


@pytest.fixture
def pair(serve, up):
    """Group g always asks d1 first and d2 only after a failure; nobody cools down."""
    up.says("d2", "the other")
    return serve({"g": {"d1": {"weight": 1000000}, "d2": {"weight": 1}}, "alone": {"d3": {"at": "d1"}}},
                 router={"num_retries": 1, "disable_cooldowns": True})


def points(length, count=24):
    """Every early byte and a spread of the rest."""
    return sorted({*range(0, 4), *range(4, length, max(1, length // count)), length - 2, length - 1})


@pytest.mark.parametrize("how", [CLOSE, RESET], ids=lambda stop: stop.name)
def test_a_plain_answer_cut_at_any_byte_is_a_failed_attempt(pair, up, how):
    for at in points(answers.length(GOOD, PROBE)):
        up.says("d1", answers.cut(GOOD, at, how))
        reply = pair.ask("g")
        assert (reply.status, reply.text) == (200, "the other"), f"cut at {at}"
        failed = pair.ask({"model": "alone", "num_retries": 0})
        assert failed.status == 500 and failed.json["error"]["type"] == "internal_server_error", f"cut at {at}"


@pytest.mark.parametrize("how", [CLOSE, RESET], ids=lambda stop: stop.name)
def test_a_stream_cut_at_any_byte_is_whole_or_failed(pair, up, how):
    """Up to the first content another deployment takes over; from there on the stream must not look complete."""
    stream = answers.stream("the ", "whole ", "answer")
    for at in points(answers.length(stream, STREAM_PROBE), 30):
        up.says("d1", answers.cut(stream, at, how))
        reply = pair.ask({"model": "g", "stream": True})
        assert reply.status == 200
        if reply.text != "the other":
            assert "the whole answer".startswith(reply.text)
            complete = b'"finish_reason": "stop"' in reply.body
            assert complete or (reply.failed and not reply.done), f"cut at {at}: {reply}"
            assert not complete or reply.text == "the whole answer"


@pytest.mark.parametrize("how", ["before the head", "in the head", "in the body"])
def test_silence_at_any_point_ends_with_the_limit(pair, up, how):
    at = {"before the head": 0, "in the head": 20, "in the body": answers.length(GOOD, PROBE) - 10}[how]
    up.says("d1", answers.cut(GOOD, at, HANG))
    began = time.monotonic()
    assert pair.ask({"model": "g", "timeout": 0.4}).text == "the other"
    assert 0.35 < time.monotonic() - began < 3
    reply = pair.ask({"model": "alone", "timeout": 0.4, "num_retries": 0})
    assert reply.status == 408
    assert up.wait_for(lambda u: u.last("d1").left_at), "the upstream call is ended too"


def test_a_slow_drip_within_the_limit_is_an_answer(pair, up):
    up.says("d1", answers.in_pieces(GOOD, 20, 0.02))
    assert pair.ask("g").text == "the whole answer"


def test_a_slow_drip_beyond_the_limit_is_a_timeout(pair, up):
    up.says("d1", answers.in_pieces(GOOD, 5, 0.1))
    assert pair.ask({"model": "g", "timeout": 0.5}).text == "the other"


def test_byte_by_byte_is_the_same_answer(pair, up):
    up.says("d1", answers.in_pieces(GOOD, 1))
    assert pair.ask("g").text == "the whole answer"
    reply = pair.ask({"model": "g", "stream": True})
    assert reply.text == "the whole answer" and not reply.failed


@pytest.mark.parametrize("by", [1, 1000, 10**12])
def test_a_length_that_promises_more_is_a_failed_attempt(pair, up, by):
    up.says("d1", answers.lying_length(GOOD, by))
    assert pair.ask("g").text == "the other"
    assert pair.ask({"model": "alone", "num_retries": 0}).status == 500


def test_a_length_that_promises_less_is_a_failed_attempt(pair, up):
    up.says("d1", answers.lying_length(GOOD, -10))
    assert pair.ask("g").text == "the other"


def test_bytes_after_an_answer_do_not_become_the_next_answer(pair, up):
    extra = b'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-type: application/json\r\n\r\n{}'
    up.says("d1", answers.then(GOOD, extra), answers.then(GOOD, Wait(0.05), extra), GOOD)
    for _ in range(4):
        reply = pair.ask({"model": "alone", "num_retries": 0})
        assert reply.text in ("the whole answer", None) and reply.status in (200, 500)
        time.sleep(0.1)
    assert pair.ask({"model": "alone", "num_retries": 0}).text == "the whole answer"


BAD_HEADS = {
    "both lengths": b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "two lengths": b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}\n",
    "an encoding nobody knows": b"HTTP/1.1 200 OK\r\ntransfer-encoding: xyz\r\n\r\n{}",
    "no status": b"HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}",
    "a status of letters": b"HTTP/1.1 abc OK\r\ncontent-length: 2\r\n\r\n{}",
    "garbage": bytes(range(256)) * 8,
    "SSH": b"SSH-2.0-OpenSSH_9.2\r\n",
    "a folded field": b"HTTP/1.1 200 OK\r\nx: a\r\n b\r\ncontent-length: 2\r\n\r\n{}",
    "an endless head": b"HTTP/1.1 200 OK\r\n" + b"x-a: " + b"a" * 300_000,
    "too many fields": b"HTTP/1.1 200 OK\r\n" + b"".join(b"x-%d: y\r\n" % n for n in range(2000)) + b"content-length: 2\r\n\r\n{}",
    "chunk size of letters": b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
    "a chunk without its end": b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}garbage\r\n0\r\n\r\n",
    "an endless chunk size": b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + b"0" * 100_000,
    "a promise to switch": b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
    "a redirect": b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:9/\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
    "no content": b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n",
    "not modified": b"HTTP/1.1 304 Not Modified\r\nconnection: close\r\n\r\n",
}


@pytest.mark.parametrize("name", BAD_HEADS)
@pytest.mark.parametrize("streamed", [False, True], ids=["plain", "streamed"])
def test_answers_that_break_the_protocol_are_failed_attempts(pair, up, name, streamed):
    up.says("d1", answers.steps(BAD_HEADS[name], Wait(0.05), CLOSE))
    reply = pair.ask({"model": "g", "stream": streamed})
    if name in ("a redirect", "not modified") and reply.status != 200:
        assert reply.json["error"]["message"]   # by its status, which is not one that is tried again
    else:
        assert reply.text == "the other", reply
    assert pair.ask({"model": "alone", "num_retries": 0, "stream": streamed}).json["error"]["message"]


@pytest.mark.parametrize("status, body, kind", [
    (200, "", "application/json"), (200, " \n", "application/json"), (200, answers.HTML, "text/html"), (200, answers.HTML, "application/json"),
    (200, '{"choices": [', "application/json"), (200, "[]", "application/json"), (200, "null", "application/json"), (200, '"ok"', "application/json"),
    (200, "{}", "application/json"), (200, '{"object": "chat.completion"}', "application/json"),
    (200, '{"error": {"message": "busy", "code": 503}}', "application/json"), (200, b"\xff\xfe\x00", "application/json"),
    (200, "data: {}\n\n", "text/event-stream"), (502, answers.HTML, "text/html"), (520, answers.HTML, "text/html"), (500, "", "text/plain"),
    (503, "{", "application/json"), (500, b"\xff\xfe", "text/plain"), (504, "a" * 100_000, "text/plain")])
@pytest.mark.parametrize("streamed", [False, True], ids=["plain", "streamed"])
def test_what_is_no_answer_is_a_failed_attempt(pair, up, status, body, kind, streamed):
    up.says("d1", answers.raw(status, body, kind=kind))
    assert pair.ask({"model": "g", "stream": streamed}).text == "the other"
    failed = pair.ask({"model": "alone", "num_retries": 0, "stream": streamed})
    assert failed.status >= 500 and failed.header("content-type").startswith("application/json")
    assert set(failed.json["error"]) >= {"message", "type", "param", "code"} and len(failed.body) < 20_000


def test_a_body_that_ends_with_the_connection_is_an_answer(pair, up):
    body = json.dumps(answers.chat_answer({"content": "until the end"}, "model-d1")).encode()
    up.says("d1", answers.steps(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n" + body, CLOSE))
    assert pair.ask("g").text == "until the end"


def test_interim_answers_are_passed_over(pair, up):
    up.says("d1", answers.Answer(lambda call: [b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n", *GOOD.steps(call)]))
    assert pair.ask("g").text == "the whole answer"


@pytest.mark.parametrize("how", ["gzip", "deflate"])
def test_compressed_answers_are_read(pair, up, how):
    up.says("d1", answers.zipped(GOOD, how))
    reply = pair.ask("g", headers={"accept-encoding": "gzip, deflate"})
    assert reply.text == "the whole answer" and not reply.header("content-encoding")


SPOILT = {"cut at the end": lambda data: data[:-12], "cut early": lambda data: data[:20], "no gzip": lambda data: b"no gzip " + data,
          "damaged": lambda data: data[:30] + b"\xff\xff\xff" + data[33:]}


@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT.keys())
def test_damaged_compressed_answers_are_failed_attempts(pair, up, spoil):
    up.says("d1", answers.zipped(answers.text("the whole answer " * 20), spoil=spoil))
    assert pair.ask("g").text == "the other"


def test_a_bomb_does_not_go_off(serve, up):
    up.says("d1", answers.bomb(150_000_000))
    up.says("d2", "the other")
    weir = serve({"g": {"d1": {"weight": 1000000}, "d2": {"weight": 1}}}, router={"num_retries": 1}, weir={"max_response_bytes": "1MiB"})
    assert weir.ask("g").text in ("the other", None)
    with open(f"/proc/{weir.process.pid}/status") as file:
        peak = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
    assert peak < 150_000 or SANITIZED, f"{peak} KiB"
    up.says("d1", "fine")
    assert weir.ask("g").status == 200


def test_big_answers_pass(pair, up):
    text = "ü" * 10_000_000
    up.says("d1", text)
    assert pair.ask("g", timeout=50).text == text


def test_a_64_mb_answer_passes(pair, up):
    up.says("d1", answers.raw(200, answers.chat_answer({"content": "a" * 64_000_000}, "model-d1")))
    reply = pair.ask("g", timeout=50)
    assert reply.status == 200 and len(reply.text) == 64_000_000


def test_an_answer_over_the_limit_is_passed_on_as_it_comes(serve, up):
    weir = serve({"g": ["d1"]}, weir={"max_response_bytes": "64KiB"})
    up.says("d1", answers.text("a" * 3_000_000))
    reply = weir.ask("g")
    assert reply.status == 200 and reply.text == "a" * 3_000_000
    up.says("d1", answers.cut(answers.text("a" * 3_000_000), -100))
    reply = weir.ask("g")
    assert reply.cut, "what was committed and then broke must not look complete"


def test_a_large_answer_over_the_limit_gets_past_the_queue_of_its_client(serve, up):
    weir = serve({"g": ["d1"]}, weir={"max_response_bytes": "8MiB", "max_event_bytes": "64KiB", "stream_buffer_bytes": "4KiB"})
    up.says("d1", answers.text("a" * 20_000_000))
    reply = weir.ask("g", timeout=50)
    assert reply.status == 200 and reply.text == "a" * 20_000_000


def test_a_big_event_passes_and_a_too_big_one_breaks_the_stream(serve, up):
    weir = serve({"g": ["d1"]}, weir={"max_event_bytes": "1MiB"})
    up.says("d1", answers.stream("a" * 900_000, "b"))
    assert weir.ask({"model": "g", "stream": True}).text == "a" * 900_000 + "b"
    up.says("d1", answers.stream("a", "b" * 1_200_000))
    reply = weir.ask({"model": "g", "stream": True})
    assert reply.text == "a" and reply.failed


def test_a_stream_of_events_without_content_is_bounded(serve, up):
    weir = serve({"g": {"d1": {"weight": 1000000}, "d2": {"weight": 1}}}, router={"num_retries": 1}, weir={"stream_hold_max_bytes": "64KiB"})
    up.says("d1", answers.stream(*[{"role": "assistant"}] * 5000, "late"))
    up.says("d2", "the other")
    reply = weir.ask({"model": "g", "stream": True})
    assert reply.status == 200 and reply.text in ("late", "the other") and not reply.failed


def test_streams_in_pieces_of_every_size(pair, up):
    stream = answers.stream("ä", "🦙🦙", "end", b": comment\r\n\r\n")
    for size in (1, 2, 3, 7, 64, 1000):
        up.says("d1", answers.in_pieces(stream, size))
        reply = pair.ask({"model": "g", "stream": True})
        assert reply.text == "ä🦙🦙end" and not reply.failed, size


def test_many_events_in_one_chunk(pair, up):
    events = b"".join(answers.event({"choices": [{"index": 0, "delta": {"content": f"{n} "}}]}) for n in range(500))
    up.says("d1", answers.stream(events))
    assert pair.ask({"model": "g", "stream": True}).text == "".join(f"{n} " for n in range(500))


# ---- connections that are used again

def test_one_connection_is_used_again(pair, up):
    up.says("d1", "fine")
    for _ in range(10):
        assert pair.ask("alone").text == "fine"
    assert len({call.connection for call in up.calls}) <= 4     # one for each worker that took part


def settled(up):
    """The upstream has done what it does after its last answer, and the news of it has arrived."""
    assert up.wait_for(lambda u: u.last().ended_at)
    time.sleep(0.05)


@pytest.mark.parametrize("after", [0.0, 0.02])
def test_a_connection_that_was_closed_while_idle_harms_nobody(pair, up, after):
    up.says("d1", answers.close_idle(GOOD, after))
    for _ in range(8):
        reply = pair.ask({"model": "alone", "num_retries": 0})
        assert reply.text == "the whole answer"
        settled(up)


def test_a_connection_that_was_reset_while_idle_harms_nobody(pair, up):
    up.says("d1", answers.then(GOOD, Wait(0.02), RESET))
    for _ in range(8):
        assert pair.ask({"model": "alone", "num_retries": 0}).text == "the whole answer"
        settled(up)


def test_a_wish_to_close_is_heeded(pair, up):
    up.says("d1", answers.text("fine", headers={"connection": "close"}))
    for _ in range(4):
        assert pair.ask({"model": "alone", "num_retries": 0}).text == "fine"
    assert len({call.connection for call in up.calls}) == 4


def test_the_idle_time_that_an_upstream_tells_is_heeded(pair, up):
    up.says("d1", answers.text("fine", headers={"keep-alive": "timeout=1"}))
    assert pair.ask("alone").text == "fine"
    time.sleep(1.3)
    assert pair.ask("alone").text == "fine"
    assert len({call.connection for call in up.calls}) == 2


def test_a_connection_is_not_used_again_after_a_cut_answer(pair, up):
    up.says("d1", answers.cut(GOOD, -3, HANG), GOOD)
    assert pair.ask({"model": "alone", "timeout": 0.3, "num_retries": 0}).status == 408
    assert pair.ask("alone").text == "the whole answer"
    first, second = up.calls
    assert first.connection != second.connection


class Grumpy:
    """Serves one request of each connection; the second one is reset after its first bytes. Counts what began."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.begun = []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self.serve, args=self.listener.accept()[:1], daemon=True).start()

    def serve(self, connection):
        with connection, contextlib.suppress(OSError):
            data = b""
            while b"\r\n\r\n" not in data:
                data += connection.recv(65536)
            head, body = data.split(b"\r\n\r\n", 1)
            left = int(re.search(rb"(?i)content-length: (\d+)", head).group(1)) - len(body)
            self.begun.append("first")
            while left > 0:
                left -= len(connection.recv(1 << 20))
            connection.sendall(GOOD.steps(PROBE)[0])
            if connection.recv(1000):
                self.begun.append("second")
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


@pytest.mark.parametrize("size, begun, status", [(30_000_000, ["first", "second", "first"], 200), (10, ["first", "second"], 500)],
                         ids=["not wholly written", "wholly written"])
def test_a_used_connection_that_breaks_is_replaced_only_if_nothing_was_asked_yet(weirs, size, begun, status):
    """A request of which only a part went out on a used connection was not asked; one that went out whole may have been."""
    grumpy = Grumpy()
    address = f"http://127.0.0.1:{grumpy.listener.getsockname()[1]}/v1"
    weir = weirs(config(None, {"g": {"d1": {"api_base": address}}}), arguments=["--workers", "1"])
    assert weir.ask("g").text == "the whole answer"
    assert weir.ask({"model": "g", "user": "x" * size}).status == status
    assert grumpy.begun == begun
    grumpy.listener.close()


def test_hundred_requests_at_once(pair, up):
    up.says("d1", answers.late(answers.text("fine"), 0.2))
    connections = [pair.connect() for _ in range(100)]
    began = time.monotonic()
    for connection in connections:
        connection.send(request_bytes({"model": "alone", "messages": []}))
    assert [connection.reply().text for connection in connections] == ["fine"] * 100
    assert time.monotonic() - began < 5
    for connection in connections:
        connection.close()


def test_good_and_bad_answers_mixed(pair, up):
    """A long run over every kind of trouble: each call ends well, and the next one is not harmed."""
    trouble = [GOOD, answers.cut(GOOD, 50), answers.BROKEN, answers.error("rate_limit"), answers.zipped(GOOD), answers.lying_length(GOOD, 4),
               answers.raw(200, answers.HTML, kind="text/html"), answers.steps(b"garbage\r\n\r\n", CLOSE), answers.close_idle(GOOD)]
    up.says("d1", *(trouble * 12))
    for number in range(len(trouble) * 12):
        reply = pair.ask({"model": "g", "stream": number % 3 == 0})
        assert reply.status == 200 and reply.text in ("the whole answer", "the other"), (number, reply)
    assert up.hits("d1") >= len(trouble) * 12 - 5
