"""The odd forms that streams have, each read wherever it is cut: line ends, marks, compression, ends without a marker, things that are no stream."""
import json
import zlib

import pytest

from kit import answers
from kit.answers import CLOSE, Answer, Wait

TEXT = "Grüße 日本 🎈 done"


@pytest.fixture
def pair(serve, up):
    """Deployment a is asked first, b after it; both may be in doubt only together."""
    up.says("b", "from b")
    return serve({"g": {"a": {"weight": 1000000}, "b": {"weight": 1}}}, router={"num_retries": 1, "disable_cooldowns": True})


def ask(weir, **more):
    return weir.ask({"model": "g", "stream": True, **more})


def event(text=None, finish=None, delta=None, **more):
    delta = delta if delta is not None else {} if text is None else {"content": text}
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}
    return "data: " + json.dumps(chunk, ensure_ascii=False) + "\n\n"


def whole(text=TEXT, end="data: [DONE]\n\n"):
    words = text.split(" ")
    said = [event(word if word is words[-1] else word + " ") for word in words]
    return event(delta={"role": "assistant", "content": ""}) + "".join(said) + event(finish="stop") + end


def served(body, pieces=None, kind="text/event-stream", headers=None, last=None):
    """The bytes as a body, in these pieces."""
    body = body.encode() if isinstance(body, str) else body
    head = answers.head(200, {"content-type": kind, "transfer-encoding": "chunked", **(headers or {})})
    steps = [head]
    for piece in pieces or [body]:
        steps += [answers.framed(piece), Wait(0)]
    return Answer(lambda call: steps + [last or b"0\r\n\r\n"])


FORMS = {
    "plain": whole(),
    "CR LF": whole().replace("\n", "\r\n"),
    "CR": whole().replace("\n", "\r"),
    "a byte-order mark": "\ufeff" + whole(),
    "comments": whole().replace("data:", ": PROCESSING\n\ndata:"),
    "fields": whole().replace("data:", "event: chunk\nid: 7\nretry: 100\ndata:"),
    "no blank after the colon": whole().replace("data: ", "data:"),
    "data in several lines": whole().replace('"choices"', '\ndata: "choices"'),
    "escapes": whole().replace("ü", "\\u00fc").replace("🎈", "\\ud83c\\udf88"),
    "no marker": whole(end=""),
    "no marker, no last line end": whole(end="").rstrip("\n"),
    "no finish reason": whole().replace(event(finish="stop"), ""),
    "the reason with the last words": whole().replace(event("done") + event(finish="stop"), event("done", finish="stop")),
    "usage after the reason": whole().replace("data: [DONE]", event(usage={"prompt_tokens": 1, "completion_tokens": 2}).rstrip("\n") + "\n\ndata: [DONE]"),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", [1, 3, 64, None])
def test_every_form_is_read_in_pieces_of_every_size(pair, up, form, size):
    body = FORMS[form].encode()
    up.says("a", served(body, [body[i:i + size] for i in range(0, len(body), size)] if size else [body]))
    reply = ask(pair)
    assert (reply.status, reply.text, reply.failed) == (200, TEXT, False), reply
    assert up.hits() == 1


@pytest.mark.parametrize("size", [1, 3, 64, None])
def test_lines_that_end_in_a_cr_alone_reach_the_client_with_line_feeds(pair, up, size):
    body = whole().replace("data:", ": PROCESSING\n\ndata:").replace("\n", "\r").encode()
    up.says("a", served(body, [body[i:i + size] for i in range(0, len(body), size)] if size else [body]))
    reply = ask(pair)
    assert b"\r" not in reply.body
    events = [block for block in reply.body.split(b"\n\n") if block.startswith(b"data: ")]
    assert events[-1] == b"data: [DONE]" and len(events) == whole().count("data: ")


@pytest.mark.parametrize("how", ["gzip", "deflate"])
def test_compressed_events_come_as_they_are_flushed(pair, up, how):
    packer = zlib.compressobj(wbits=31 if how == "gzip" else 15)
    events = whole().split("\n\n")[:-1]
    pieces = [packer.compress((one + "\n\n").encode()) + packer.flush(zlib.Z_SYNC_FLUSH) for one in events]
    slow = served(b"", [*pieces[:3], *pieces[3:], packer.flush()], headers={"content-encoding": how})

    def paused(call):
        steps = slow.steps(call)
        return steps[:6] + [Wait(0.4)] + steps[6:]
    up.says("a", Answer(paused))
    reply = ask(pair)
    assert (reply.text, reply.failed) == (TEXT, False)
    assert reply.first_text < 0.3, "the first words waited for the last ones"


# What breaks a stream: recovered before content, told after it.
BREAKS = {
    "no JSON": "data: {oops\n\n",
    "half an object": event("x")[:-8] + "\n\n",
    "two objects in one event": event("x").rstrip("\n") + event("y")[6:],
    "two objects in two lines": event("x").rstrip("\n") + "\n" + event("y"),
    "a list": "data: [1, 2]\n\n",
    "a NUL": event("x").replace('"x"', '"x\0"'),
    "an error": 'data: {"error": {"message": "no", "code": 500}}\n\n',
    "an error by name": 'event: error\ndata: {"message": "no"}\n\n',
    "an error line": 'error: {"message": "no"}\n\n',
    "an error in a choice": event(finish="error"),
    "an error and its reason": event(finish="error", error={"message": "no", "code": 502}),
    "bare JSON": json.dumps({"error": {"message": "no"}}) + "\n\n",
    "HTML": "<html><body>502</body></html>\n\n",
    "the end": "",
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_break_before_content_is_recovered(pair, up, name):
    up.says("a", served(event(delta={"role": "assistant"}) + BREAKS[name]))
    reply = ask(pair)
    assert (reply.status, reply.text, reply.failed) == (200, "from b", False), reply
    assert reply.header("x-litellm-model-id") == "b" and (up.hits("a"), up.hits("b")) == (1, 1)


@pytest.mark.parametrize("hold", ["all", {"tokens": 3}])
def test_a_break_inside_the_window_is_recovered(serve, up, hold):
    weir = serve({"g": {"a": {"weight": 1000000}, "b": {"weight": 1}}}, router={"num_retries": 1, "disable_cooldowns": True}, weir={"stream_hold": hold})
    up.says("b", "from b")
    for name, broken in BREAKS.items():
        up.says("a", served(event("some ") + event("text") + broken))
        reply = ask(weir)
        assert (reply.text, reply.failed, reply.body.count(b"some")) == ("from b", False, 0), (name, reply)


@pytest.mark.parametrize("name", BREAKS)
def test_a_break_after_content_is_told(pair, up, name):
    up.says("a", served(event("some ") + event("text") + BREAKS[name] + event("ghost")[:0 if name == "the end" else None]))
    reply = ask(pair)
    assert (reply.status, reply.text) == (200, "some text"), reply
    assert reply.error["message"] and not reply.done and not reply.cut
    assert up.hits() == 1


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream", "text/html"])
@pytest.mark.parametrize("body", [json.dumps(answers.chat_answer({"content": "plain"}, "m")), json.dumps({"error": {"message": "no", "code": 503}}),
                                  answers.HTML, "", "\n\n\n", ": only a comment\n\n"])
def test_what_is_no_stream_is_a_failed_attempt(pair, up, kind, body):
    up.says("a", served(body, kind=kind))
    reply = ask(pair)
    assert (reply.status, reply.text, reply.failed) == (200, "from b", False), reply


@pytest.mark.parametrize("finish", ["stop", "length", "tool_calls", "content_filter"])
def test_a_finish_reason_completes_whatever_happens_to_the_connection(pair, up, finish):
    for last in (CLOSE, answers.RESET, b"0\r\n\r\n"):
        up.says("a", served(event("all of it") + event(finish=finish), last=last))
        reply = ask(pair)
        assert (reply.text, reply.failed) == ("all of it", False), (last, reply)
        assert reply.body.count(b'"finish_reason": "%s"' % finish.encode()) == 1


def test_a_complete_stream_whose_rest_does_not_come_ends_after_a_while(serve, up):
    weir = serve({"g": ["a"]}, weir={"stream_hold": "all"})
    up.says("a", served(event("all of it") + event(finish="stop"), last=answers.HANG))
    reply = ask(weir)
    assert (reply.text, reply.failed) == ("all of it", False)
    assert 4.9 < reply.elapsed < 10
    assert up.wait_for(lambda up: up.last("a").left_at is not None)


def test_what_follows_the_marker_is_dropped(pair, up):
    up.says("a", served(whole("text") + event("ghost") + "data: [DONE]\n\n" + 'data: {"error": {"message": "late"}}\n\n'))
    reply = ask(pair)
    assert (reply.text, reply.failed) == ("text", False) and reply.body.count(b"[DONE]") == 1


def choice(index, text=None, finish=None):
    return event(text, finish).replace('"index": 0', f'"index": {index}')


def test_a_choice_that_was_cut_is_told_though_the_other_is_complete(pair, up):
    up.says("a", served(choice(0, "a") + choice(1, "b") + choice(0, finish="stop"), last=CLOSE))
    reply = ask(pair, n=2)
    assert reply.error["message"] and not reply.done
    up.says("a", served(choice(0, "a") + choice(1, "b") + choice(0, finish="stop") + choice(1, finish="length"), last=CLOSE))
    assert not ask(pair, n=2).failed


def test_one_of_two_choices_may_end_long_before_the_other(serve, up):
    weir = serve({"g": ["a"]})
    early = [choice(0, "a"), choice(1, "b"), choice(0, finish="stop")]
    pieces = [one.encode() for one in [*early, choice(1, "c"), choice(1, finish="stop"), "data: [DONE]\n\n"]]
    slow = served(b"", pieces)

    def paused(call):
        steps = slow.steps(call)
        return steps[:7] + [Wait(6)] + steps[7:]
    up.says("a", Answer(paused))
    reply = ask(weir, n=2)
    assert (reply.text, reply.failed) == ("abc", False)
