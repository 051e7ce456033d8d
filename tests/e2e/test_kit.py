"""The kit itself: upstreams do what their answers say, the client sees what was sent."""
import socket
import ssl
import time

import pytest

from kit import answers, client
from kit.answers import CLOSE, DONE, END, HANG, RESET, Error, Wait
from kit.model import Fault, Model

CHAT = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
STREAM = {**CHAT, "stream": True}


@pytest.fixture
def plain(upstreams):
    return upstreams()


def ask(upstream, body=None, path="/d/chat/completions"):
    return client.ask(upstream.port, body or CHAT, path=path)


def test_answers_follow_the_script_and_the_last_one_repeats(plain):
    plain.says("d", "one", answers.error("unavailable"), "two")
    assert [ask(plain).text for _ in range(4)] == ["one", None, "two", "two"]
    assert plain.hits("d") == 4
    assert plain.last("d").json["messages"][0]["content"] == "hello"


def test_a_text_is_streamed_when_a_stream_was_asked_for(plain):
    plain.says("d", "to be or not")
    reply = ask(plain, {**STREAM, "stream_options": {"include_usage": True}})
    assert reply.text == "to be or not" and reply.done and not reply.failed
    assert reply.events[-1]["usage"] == answers.USAGE


def test_each_route_has_its_shape(plain):
    plain.says("d", "short")
    assert ask(plain, {"model": "m", "prompt": "p"}, "/d/completions").json["choices"][0]["text"] == "short"
    assert ask(plain, {"model": "m", "prompt": "p", "stream": True}, "/d/completions").text == "short"
    assert len(ask(plain, {"model": "m", "input": ["a", "b"]}, "/d/embeddings").json["data"]) == 2


@pytest.mark.parametrize("how", [CLOSE, RESET])
def test_a_cut_answer_is_seen_as_cut(plain, how):
    whole = answers.text("a long enough answer")
    plain.says("d", answers.cut(whole, 0, how), answers.cut(whole, 60, how), answers.cut(whole, -1, how), whole)
    assert ask(plain).status is None
    assert [ask(plain).cut for _ in range(3)] == [True, True, False]


def test_streams_break_where_they_are_told_to(plain):
    plain.says("d", answers.stream("a", "b", CLOSE), answers.stream("a", END), answers.stream("a", Error("internal")), answers.stream("a", b"data: {no\n\n"))
    cut, ended, erred, garbled = (ask(plain, STREAM) for _ in range(4))
    assert cut.cut and cut.text == "ab"
    assert not ended.cut and not ended.done
    assert erred.error["message"] == "Something broke inside"
    assert garbled.error and garbled.text == "a"


def test_waits_and_first_text_are_measured(plain):
    plain.says("d", answers.stream("a", Wait(0.3), "b"))
    reply = ask(plain, STREAM)
    assert reply.first_text < 0.25 <= reply.elapsed


def test_an_upstream_notices_that_its_client_has_left(plain):
    plain.says("d", answers.steps(HANG))
    with client.Connection(plain.port) as connection:
        connection.send(client.request_bytes(CHAT, "/d/chat/completions"))
        assert plain.wait_for(lambda u: u.hits("d") == 1)
    assert plain.wait_for(lambda u: u.last("d").left_at)


def test_lies_about_the_length(plain):
    whole = answers.text("x")
    plain.says("d", answers.lying_length(whole, 5), answers.lying_length(whole, -5))
    assert ask(plain).cut
    assert ask(plain).text is None


def test_compressed_answers(plain):
    plain.says("d", answers.zipped(answers.text("small")), answers.bomb(10_000_000))
    assert ask(plain).header("content-encoding") == "gzip"
    assert len(ask(plain).body) < 100_000


def test_an_idle_connection_is_closed_after_the_answer(plain):
    plain.says("d", answers.close_idle(answers.text("x"), 0.05))
    with client.Connection(plain.port) as connection:
        connection.send(client.request_bytes(CHAT, "/d/chat/completions"))
        assert connection.reply().text == "x"
        assert connection.is_closed(2)


def test_small_pieces_make_the_same_answer(plain):
    plain.says("d", answers.in_pieces(answers.text("same bytes"), 1))
    assert ask(plain).text == "same bytes"
    assert DONE in ask(plain, STREAM).body


@pytest.mark.parametrize("name, problem", [("good", None), ("wrong-host", "mismatch|not valid for"), ("expired", "expired"),
                                           ("self-signed", "self.signed")])
def test_certificates_have_the_fault_they_are_named_after(upstreams, certificates, name, problem):
    upstream = upstreams(certificates.server(name))
    context = ssl.create_default_context(cafile=certificates.authority)
    with socket.create_connection(("127.0.0.1", upstream.port), 5) as sock:
        if problem is None:
            context.wrap_socket(sock, server_hostname="localhost").close()
        else:
            with pytest.raises(ssl.SSLCertVerificationError, match=f"(?i){problem}"):
                context.wrap_socket(sock, server_hostname="localhost")


def test_a_proxy_tells_what_it_was_asked_and_wants_its_password(plain, proxies):
    plain.says("d", "x")
    proxy = proxies("u", "p")
    target = plain.url("d") + "/chat/completions"
    assert client.ask(proxy.port, CHAT, path=target).status == 407
    assert client.ask(proxy.port, CHAT, path=target, headers={"proxy-authorization": "Basic dTpw"}).text == "x"
    assert [seen[:2] for seen in proxy.seen] == [("POST", target)] * 2


def test_a_client_takes_its_time(plain):
    plain.says("d", "x")
    began = time.monotonic()
    with client.Connection(plain.port) as connection:
        data = client.request_bytes(CHAT, "/d/chat/completions")
        assert connection.send_slowly(data, len(data) // 4, 0.05) == len(data)
        assert connection.reply().text == "x"
    assert time.monotonic() - began > 0.15


def test_a_model_breaks_where_it_is_told_to(plain):
    plain.says("d", *(Model("one two three", fault).answer() for fault in (Fault(0, CLOSE), Fault(1, CLOSE), Fault(3, END), Fault(4, Error("internal")), None)))
    replies = [ask(plain, STREAM) for _ in range(5)]
    assert [reply.text for reply in replies] == ["", "", "one two ", "one two three", "one two three"]
    assert [len(reply.events) for reply in replies] == [0, 1, 3, 5, 5]
    assert [reply.cut for reply in replies] == [True, True, False, False, False] and replies[4].done


def test_a_model_goes_on_from_a_prefill(plain):
    began = {**STREAM, "messages": [*CHAT["messages"], {"role": "assistant", "content": "one two "}]}
    plain.says("d", *(model.answer() for model in (Model("one two three"), Model("one two three", again=4), Model("one two three", prefill=False))))
    replies = [ask(plain, began) for _ in range(3)]
    assert [reply.text for reply in replies[:2]] == ["three", "two three"] and replies[2].status == 400
