"""Requests whose end two servers could see at different places are refused, the connection is closed, and the next client is served."""
import pytest

from kit.client import request_bytes

BODY = b'{"model": "g", "messages": []}'
LENGTH = b"content-length: %d\r\n" % len(BODY)
CHUNKED = b"transfer-encoding: chunked\r\n"
IN_CHUNKS = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)
POST = b"POST /v1/chat/completions HTTP/1.1\r\n"
HOST = b"host: x\r\n"
JSON = b"content-type: application/json\r\n"
SMUGGLED = b"GET /smuggled HTTP/1.1\r\nhost: x\r\n\r\n"

REFUSED = {
    "both lengths": POST + HOST + JSON + LENGTH + CHUNKED + b"\r\n" + IN_CHUNKS,
    "both lengths, the other way round": POST + HOST + JSON + CHUNKED + LENGTH + b"\r\n" + IN_CHUNKS,
    "two different lengths": POST + HOST + JSON + LENGTH + b"content-length: 5\r\n\r\n" + BODY,
    "two lengths in one field": POST + HOST + JSON + b"content-length: %d, 5\r\n\r\n" % len(BODY) + BODY,
    "a length with a sign": POST + HOST + JSON + b"content-length: +%d\r\n\r\n" % len(BODY) + BODY,
    "a negative length": POST + HOST + JSON + b"content-length: -1\r\n\r\n" + BODY,
    "a length in hex": POST + HOST + JSON + b"content-length: 0x1e\r\n\r\n" + BODY,
    "a length with blanks inside": POST + HOST + JSON + b"content-length: 3 0\r\n\r\n" + BODY,
    "an endless length": POST + HOST + JSON + b"content-length: 99999999999999999999999\r\n\r\n" + BODY,
    "an empty length": POST + HOST + JSON + b"content-length: \r\n\r\n" + BODY,
    "a blank before the colon": POST + HOST + JSON + b"content-length : %d\r\n\r\n" % len(BODY) + BODY,
    "a blank before the colon of transfer-encoding": POST + HOST + JSON + b"transfer-encoding : chunked\r\n\r\n" + IN_CHUNKS,
    "an encoding that is not chunked": POST + HOST + JSON + b"transfer-encoding: identity\r\n\r\n" + BODY,
    "an encoding nobody knows": POST + HOST + JSON + b"transfer-encoding: xchunked\r\n\r\n" + IN_CHUNKS,
    "chunked is not last": POST + HOST + JSON + b"transfer-encoding: chunked, identity\r\n\r\n" + IN_CHUNKS,
    "chunked twice": POST + HOST + JSON + b"transfer-encoding: chunked, chunked\r\n\r\n" + IN_CHUNKS,
    "gzip before chunked": POST + HOST + JSON + b"transfer-encoding: gzip, chunked\r\n\r\n" + IN_CHUNKS,
    "a folded field": POST + HOST + JSON + b"x-folded: a\r\n b\r\n" + LENGTH + b"\r\n" + BODY,
    "a folded transfer-encoding": POST + HOST + JSON + b"transfer-encoding:\r\n chunked\r\n\r\n" + IN_CHUNKS,
    "bare LF in the head": (POST + HOST + JSON + LENGTH + b"\r\n").replace(b"\r\n", b"\n") + BODY,
    "one bare LF": POST + HOST + b"x-a: b\n" + JSON + LENGTH + b"\r\n" + BODY,
    "a bare CR in a value": POST + HOST + b"x-a: b\rcontent-length: 3\r\n" + JSON + LENGTH + b"\r\n" + BODY,
    "NUL in a value": POST + HOST + b"x-a: b\0c\r\n" + JSON + LENGTH + b"\r\n" + BODY,
    "NUL in a name": POST + HOST + b"x\0a: b\r\n" + JSON + LENGTH + b"\r\n" + BODY,
    "a control character in the target": b"POST /v1/chat\x01/completions HTTP/1.1\r\n" + HOST + JSON + LENGTH + b"\r\n" + BODY,
    "no target": b"POST HTTP/1.1\r\n" + HOST + JSON + LENGTH + b"\r\n" + BODY,
    "a field without a name": POST + HOST + b": v\r\n" + JSON + LENGTH + b"\r\n" + BODY,
    "a line without a colon": POST + HOST + b"nonsense\r\n" + JSON + LENGTH + b"\r\n" + BODY,
    "chunk size that is no number": POST + HOST + JSON + CHUNKED + b"\r\nzz\r\n" + BODY + b"\r\n0\r\n\r\n",
    "chunk size with a sign": POST + HOST + JSON + CHUNKED + b"\r\n-1\r\n" + BODY,
    "chunk size with 0x": POST + HOST + JSON + CHUNKED + b"\r\n0x1e\r\n" + BODY + b"\r\n0\r\n\r\n",
    "chunk size beyond 64 bits": POST + HOST + JSON + CHUNKED + b"\r\nfffffffffffffffff\r\n" + BODY,
    "a chunk longer than its size": POST + HOST + JSON + CHUNKED + b"\r\n3\r\n" + BODY + b"\r\n0\r\n\r\n",
    "a chunk that ends with LF": POST + HOST + JSON + CHUNKED + b"\r\n%x\n%s\n0\n\n" % (len(BODY), BODY),
    "no HTTP at all": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\xff" * 64,
    "a greeting of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "a version nobody has": b"POST /v1/chat/completions HTTP/3.7\r\n" + HOST + JSON + LENGTH + b"\r\n" + BODY,
}


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """One weir for all cases: what one of them leaves behind shows in the next."""
    from kit.configs import config
    from kit.upstream import Upstream
    from kit.weir import Weir
    upstream = Upstream().start().says("d1", "fine")
    weir = Weir(config(upstream, {"g": ["d1"]}), tmp_path_factory.mktemp("weir")).start()
    yield weir, upstream
    upstream.stop()
    weir.stop()


@pytest.mark.parametrize("name", REFUSED)
def test_ambiguous_requests_are_refused(shared, name):
    weir, upstream = shared
    before = upstream.hits()
    with weir.connect(5) as connection:
        connection.send(REFUSED[name] + SMUGGLED)
        reply = connection.reply()
        assert reply.status in (None, 400, 413, 414, 431, 501, 505), reply
        if reply.status:
            assert reply.json["error"]["message"], reply
        assert connection.is_closed()
    assert upstream.hits() == before
    assert weir.ask("g").text == "fine"


def test_the_same_length_twice_is_read_once_or_refused(shared):
    weir, _ = shared
    with weir.connect(5) as connection:
        connection.send(POST + HOST + JSON + LENGTH + LENGTH + b"\r\n" + BODY + SMUGGLED)
        first = connection.reply()
        assert first.status in (200, 400)
        if first.status == 400:
            assert connection.is_closed()
    assert weir.ask("g").text == "fine"


def test_a_chunked_request_is_read_whole(shared):
    weir, upstream = shared
    with weir.connect() as connection:
        parts = b"".join(b"%x;ext=1\r\n%c\r\n" % (1, byte) for byte in BODY)
        connection.send(POST + HOST + JSON + CHUNKED + b"\r\n" + parts + b"0\r\nx-trailer: 1\r\n\r\n")
        assert connection.reply().text == "fine"
        assert upstream.last().json["messages"] == []
        connection.send(request_bytes({"model": "g", "messages": []}))
        assert connection.reply().text == "fine"


def test_what_goes_upstream_has_one_length_and_one_host(shared):
    weir, upstream = shared
    weir.ask("g", headers={"connection": "keep-alive, x-odd", "x-odd": "1", "te": "trailers", "upgrade": "h2c", "keep-alive": "5"})
    names = [name for name, _ in upstream.last().headers]
    assert names.count("content-length") == 1 and "transfer-encoding" not in names and names.count("host") == 1
    assert not {"x-odd", "te", "upgrade", "keep-alive"} & set(names)


def test_requests_that_follow_each_other_without_waiting_are_answered_in_order(shared):
    weir, upstream = shared
    requests = [request_bytes({"model": "g", "messages": [], "seed": number}) for number in range(8)]
    before = len(upstream.calls)
    with weir.connect() as connection:
        connection.send(b"".join(requests))
        assert [connection.reply().text for _ in requests] == ["fine"] * 8
    assert [call.json["seed"] for call in upstream.calls[before:]] == list(range(8))


def test_a_request_may_come_byte_by_byte(shared):
    weir, _ = shared
    data = request_bytes({"model": "g", "messages": []})
    with weir.connect() as connection:
        assert connection.send_slowly(data, 1, 0.0005) == len(data)
        assert connection.reply().text == "fine"


def test_an_old_client_gets_an_answer_that_ends_with_the_connection(shared):
    weir, _ = shared
    for stream in (b"false", b"true"):
        body = b'{"model": "g", "messages": [], "stream": %s}' % stream
        with weir.connect() as connection:
            connection.send(b"POST /v1/chat/completions HTTP/1.0\r\n" + JSON + b"content-length: %d\r\n\r\n" % len(body) + body)
            reply = connection.reply()
            assert reply.status == 200 and reply.text == "fine" and not reply.header("transfer-encoding")
            assert connection.is_closed()


def test_a_request_without_a_host_is_refused(shared):
    weir, _ = shared
    with weir.connect(5) as connection:
        connection.send(POST + JSON + LENGTH + b"\r\n" + BODY)
        assert connection.reply().status == 400


def test_a_client_that_asks_to_close_is_closed(shared):
    weir, _ = shared
    with weir.connect(5) as connection:
        connection.send(request_bytes({"model": "g", "messages": []}, headers={"connection": "close"}))
        assert connection.reply().text == "fine"
        assert connection.is_closed()
