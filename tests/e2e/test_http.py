"""Manners of HTTP that are no routing: browsers, HEAD, methods, identifiers."""
import json
import re

import pytest

from kit.client import request_bytes


@pytest.fixture
def weir(serve, up):
    up.says("d1", "fine")
    return serve({"g": ["d1"]}, general={"master_key": "sk-e2e"})


def test_browsers_may_ask_first(weir):
    for path in ("/v1/chat/completions", "/v1/models", "/v1/embeddings"):
        reply = weir.ask(None, path=path, method="OPTIONS", headers={
            "authorization": None, "origin": "https://app.example", "access-control-request-method": "POST",
            "access-control-request-headers": "authorization, content-type, x-stainless-os"})
        assert reply.status in (200, 204), reply
        assert reply.header("access-control-allow-origin") in ("*", "https://app.example")
        assert re.search(r"POST|\*", reply.header("access-control-allow-methods"))
        allowed = reply.header("access-control-allow-headers").lower()
        assert "authorization" in allowed and ("x-stainless-os" in allowed or "*" in allowed)


def test_browsers_may_read_answers_and_errors(weir):
    for model in ("g", "nobody"):
        reply = weir.ask(model, headers={"origin": "https://app.example"})
        assert reply.header("access-control-allow-origin") in ("*", "https://app.example"), reply


@pytest.mark.parametrize("path", ["/v1/models", "/health/liveliness", "/health/readiness"])
def test_head_is_get_without_the_body(weir, path):
    got = weir.ask(None, path=path, method="GET")
    with weir.connect() as connection:
        connection.send(request_bytes(None, path, "HEAD") + request_bytes(None, path, "GET"))
        headed = connection.reply("HEAD")
        assert headed.status == got.status == 200 and headed.header("content-length") == got.header("content-length")
        assert connection.reply().body == got.body


def test_every_answer_has_an_id_of_its_own(weir):
    replies = [weir.ask("g"), weir.ask({"model": "g", "stream": True}), weir.ask("nobody"), weir.ask(b"{"), weir.ask("g")]
    replies += [weir.ask(path=path, method=method) for path, method in (("/v1/models", "GET"), ("/health", "GET"), ("/nowhere", "GET"), ("/v1/models", "DELETE"))]
    ids = [reply.header("x-litellm-call-id") for reply in replies]
    assert all(id and len(id) >= 16 for id in ids) and len(set(ids)) == len(ids)


@pytest.mark.parametrize("sent, status", [
    (b"nonsense\r\n\r\n", 400), (b"GET / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n", 400),
    (b"GET / HTTP/1.1\r\nhost: x\r\nx-a: " + b"a" * 70000 + b"\r\n\r\n", 431), (b"GET / HTTP/1.1\r\nhost", 408),
    (request_bytes(None, headers={"content-length": "2001"}), 413), (request_bytes(None, headers={"content-length": "20"}) + b"{", 408),
    (request_bytes(None, headers={"transfer-encoding": "chunked"}) + b"ffff\r\n" + b"a" * 0xffff, 413)])
def test_what_is_refused_before_it_is_a_request_has_an_id_and_a_line_in_the_log(serve, up, sent, status):
    weir = serve({"g": ["d1"]}, general={"include_call_id_in_error_body": True},
                 weir={"max_body_bytes": 2000, "header_timeout": 0.3, "body_timeout": 0.3}, env={"LITELLM_MASTER_KEY": "sk-e2e"})
    with weir.connect(10) as connection:
        connection.send(sent)
        reply = connection.reply()
    id = reply.header("x-litellm-call-id")
    assert reply.status == status and len(id) >= 16 and reply.json["error"]["litellm_call_id"] == id
    line = json.loads(weir.log_line(id))
    assert line["status"] == status and line["attempts"] == 0 and "end" not in line and line["peer"].startswith("127.0.0.1:")


def test_pages_of_other_origins_may_read_that_a_body_is_too_large(serve, up):
    weir = serve({"g": ["d1"]}, weir={"max_body_bytes": 2000})
    with weir.connect(10) as connection:
        connection.send(request_bytes(None, headers={"content-length": "2001", "origin": "https://app.example"}))
        reply = connection.reply()
    assert reply.status == 413 and reply.header("access-control-allow-origin") == "*"


def test_a_query_does_not_disturb_a_route(weir):
    assert weir.ask("g", path="/v1/chat/completions?api-version=1&x=%41").text == "fine"
    assert weir.ask(None, path="/v1/models?limit=3", method="GET").status == 200


def test_a_target_in_absolute_form_is_served(weir):
    assert weir.ask("g", path=f"http://127.0.0.1:{weir.port}/v1/chat/completions").text == "fine"


def test_errors_never_echo_markup_unquoted(weir):
    reply = weir.ask(None, path="/<script>alert(1)</script>", method="GET")
    assert reply.status in (400, 404) and reply.header("content-type").startswith("application/json")


@pytest.mark.parametrize("headers", [{"authorization": "bearer sk-e2e"}, {"authorization": "Bearer  sk-e2e"},
                                     {"authorization": None, "x-api-key": "sk-e2e"}])
def test_the_key_is_found_however_it_is_sent(weir, headers):
    assert weir.ask("g", headers=headers).text == "fine"


def test_one_connection_serves_many_requests_of_all_sorts(weir):
    with weir.connect() as connection:
        for number in range(30):
            body = {"model": "nobody" if number % 3 == 0 else "g", "messages": [], "stream": number % 2 == 0}
            connection.send(request_bytes(body))
            reply = connection.reply()
            assert reply.status == (400 if number % 3 == 0 else 200)
            assert number % 3 == 0 or reply.text == "fine"
