"""Everything has a maximum: heads, bodies, connections, time. What is over it is told so, and harms nobody else."""
import json
import threading
import time

import pytest

from kit import answers
from kit.client import request_bytes
from kit.weir import SANITIZED

CHAT = {"model": "g", "messages": [{"role": "user", "content": "hello"}]}


@pytest.fixture
def make(serve, up):
    up.says("d1", "fine")
    return lambda **weir: serve({"g": ["d1"]}, weir=weir)


def test_a_long_head_is_refused(make):
    weir = make(max_head_bytes=4096)
    assert weir.ask("g", headers={"x-long": "a" * 3000}).text == "fine"
    reply = weir.ask("g", headers={"x-long": "a" * 5000})
    assert reply.status == 431 and reply.json["error"]["code"] == "431"
    assert weir.ask("g", path="/v1/chat/completions?" + "a" * 5000).status in (414, 431)
    assert weir.ask("g").text == "fine"


def test_a_head_without_end_is_cut_off(make):
    weir = make()
    with weir.connect(10) as connection:
        connection.send(b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n")
        connection.send_slowly(b"x-a: " + b"a" * 1_000_000, 65536, 0)
        assert connection.reply().status in (None, 431)
    assert weir.ask("g").text == "fine"


def test_too_many_header_fields_are_refused(make):
    weir = make(max_header_count=32)
    assert weir.ask("g", headers={f"x-{n}": "v" for n in range(20)}).text == "fine"
    reply = weir.ask("g", headers={f"x-{n}": "v" for n in range(100)})
    assert reply.status == 431 and reply.json["error"]["message"]


def test_a_large_body_is_refused_before_it_is_sent(make, up):
    weir = make(max_body_bytes=100_000)
    exact = json.dumps({**CHAT, "x": ""})
    fits = json.dumps({**CHAT, "x": "a" * (100_000 - len(exact))}).encode()
    assert len(fits) == 100_000 and weir.ask(fits).text == "fine"
    with weir.connect() as connection:
        connection.send(request_bytes(None, headers={"content-length": "100001", "content-type": "application/json"}))
        reply = connection.reply()
    assert reply.status == 413 and reply.json["error"]["code"] == "413"


def test_a_large_body_in_chunks_is_refused_as_soon_as_it_is_over(make, up):
    weir = make(max_body_bytes=100_000)
    chunk = b"%x\r\n%s\r\n" % (30_000, b"a" * 30_000)
    with weir.connect() as connection:
        connection.send(request_bytes(None, headers={"transfer-encoding": "chunked"}) + chunk * 3)
        connection.send_slowly(chunk * 3, 30_000, 0.01)
        assert connection.reply().status == 413
    assert up.hits() == 0


def test_a_client_that_goes_on_sending_can_read_its_413(make):
    weir = make(max_body_bytes=100_000)
    with weir.connect() as connection:
        connection.send(request_bytes(None, headers={"content-length": "20000000"}))
        connection.send_slowly(b"a" * 20_000_000, 1_000_000, 0)
        assert connection.reply().status == 413


@pytest.mark.parametrize("size", [60_000_000, 70_000_000])
def test_the_limit_of_a_body_is_64_mib_where_none_is_set(make, up, size):
    weir = make()
    body = b'{"model": "g", "messages": [], "x": "' + b"a" * size + b'"}'
    reply = weir.ask(body, timeout=50)
    if size < 64 << 20:
        assert reply.text == "fine" and len(up.last().body) > size
    else:
        assert reply.status == 413
    assert weir.ask("g").text == "fine"


def test_expect_100_continue(make, up):
    weir = make(max_body_bytes=2000)
    data = json.dumps(CHAT).encode()
    with weir.connect(5) as connection:
        connection.send(request_bytes(None, headers={"content-length": str(len(data)), "content-type": "application/json", "expect": "100-continue"}))
        assert connection._until(b"\r\n\r\n").startswith(b"HTTP/1.1 100")
        connection.send(data)
        assert connection.reply().text == "fine"
    with weir.connect(5) as connection:
        connection.send(request_bytes(None, headers={"content-length": "2001", "expect": "100-continue"}))
        assert connection.reply().status == 413


def test_a_stranger_is_refused_before_the_body(serve, up):
    weir = serve({"g": ["d1"]}, general={"master_key": "sk-e2e-master"})
    with weir.connect(5) as connection:
        connection.send(request_bytes(None, headers={"content-length": "1000000", "expect": "100-continue"}))
        assert connection.reply().status == 401


def test_slow_heads_are_cut_off(make):
    weir = make(header_timeout=0.6)
    with weir.connect(10) as slow, weir.connect(10) as silent:
        began = time.monotonic()
        assert slow.send_slowly(request_bytes(CHAT)[:60], 1, 0.05) <= 60
        assert slow.reply().status in (None, 408) and slow.is_closed()
        assert silent.reply().status in (None, 408)
        assert time.monotonic() - began < 6
    assert weir.ask("g").text == "fine"


def test_slow_bodies_are_cut_off(make, up):
    weir = make(body_timeout=0.5)
    data = request_bytes({**CHAT, "x": "a" * 500})
    with weir.connect(10) as connection:
        connection.send(data[:-100])
        began = time.monotonic()
        assert connection.reply().status in (None, 408)
        assert 0.4 < time.monotonic() - began < 5
    with weir.connect(10) as connection:   # slow, but never silent for so long
        connection.send(data[:-20])
        assert connection.send_slowly(data[-20:], 4, 0.2) == 20
        assert connection.reply().text == "fine"
    assert up.hits() == 1


def test_a_chunk_that_promises_more_than_comes_is_cut_off(make, up):
    weir = make(body_timeout=0.5)
    with weir.connect(10) as connection:
        connection.send(request_bytes(None, headers={"transfer-encoding": "chunked"}) + b"ffffffffffffffff\r\n" + json.dumps(CHAT).encode())
        assert connection.reply().status in (408, 413) and connection.is_closed(8)
    assert up.hits() == 0


def test_idle_connections_are_closed(make):
    weir = make(idle_timeout=0.5)
    with weir.connect(10) as connection:
        connection.send(request_bytes(CHAT))
        assert connection.reply().text == "fine"
        assert connection.is_closed(5)


def test_many_slow_clients_do_not_keep_others_out(make):
    weir = make()
    crowd = [weir.connect() for _ in range(200)]
    for connection in crowd:
        connection.send(b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-le")
    assert weir.ask("g", timeout=5).text == "fine"
    for connection in crowd:
        connection.close()


def test_the_number_of_connections_is_bounded(make):
    weir = make(max_connections=10)
    crowd = [weir.connect(3) for _ in range(60)]
    refused = 0
    for connection in crowd:
        connection.send(request_bytes(CHAT))
        try:
            reply = connection.reply()
            refused += reply.status in (None, 503)
        except TimeoutError:
            refused += 1
        if refused > 2:
            break
    assert refused > 2
    for connection in crowd:
        connection.close()
    time.sleep(0.2)
    assert weir.ask("g").text == "fine"


def test_the_memory_of_all_bodies_is_bounded(make, up):
    weir = make(memory_budget_bytes="8MiB")
    up.says("d1", answers.late(answers.text("fine"), 1.5))
    body = b'{"model": "g", "messages": [], "x": "' + b"a" * 3_000_000 + b'"}'
    replies = []
    threads = [threading.Thread(target=lambda: replies.append(weir.ask(body))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    statuses = [reply.status for reply in replies]
    assert set(statuses) == {200, 503} and statuses.count(200) >= 1, statuses
    refused = next(reply for reply in replies if reply.status == 503)
    assert refused.header("retry-after") and refused.json["error"]["code"] == "503"
    assert weir.ask(body).text == "fine", "the memory is given back"


def test_a_slow_reader_holds_the_upstream_back(make, up):
    """The upstream must not be read faster than the client reads; memory stays bounded."""
    weir = make(stream_buffer_bytes="64KiB")
    piece = "a" * 60_000
    up.says("d1", answers.stream(*[piece] * 1000))
    with weir.connect(30) as connection:
        connection.send(request_bytes({**CHAT, "stream": True}))
        time.sleep(1.0)
        assert up.in_flight["d1"] == 1, "60 MB are still on their way"
        with open(f"/proc/{weir.process.pid}/statm") as file:
            resident = int(file.read().split()[1]) * 4096
        assert SANITIZED or resident < 60_000_000, resident
        reply = connection.reply()
    assert not reply.failed and reply.text == piece * 1000


def test_a_client_that_never_reads_is_cut_off_in_the_end(make, up):
    weir = make(client_write_timeout=1)
    up.says("d1", answers.stream(*["a" * 60_000] * 1000))
    with weir.connect(30) as connection:
        connection.send(request_bytes({**CHAT, "stream": True}))
        assert up.wait_for(lambda u: u.hits() == 1 and u.last().left_at, 15)
