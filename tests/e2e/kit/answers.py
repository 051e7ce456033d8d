"""What an upstream does with a request: a list of steps, made when the request is there.

A step is bytes to write, a Wait, or one of the three ways to stop: CLOSE (FIN), RESET (RST), HANG (silence until the other
side leaves). After the last step the connection waits for its next request. Answers are combined: `cut(text("x"), at=40,
how=RESET)` sends the first forty bytes of a good answer and resets the connection.
"""
import gzip
import json
import zlib
from dataclasses import dataclass
from typing import Callable

from .failures import failure

CREATED = 1700000000
USAGE = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}


@dataclass(frozen=True)
class Wait:
    seconds: float


@dataclass(frozen=True)
class Stop:
    name: str


CLOSE, RESET, HANG = Stop("close"), Stop("reset"), Stop("hang")


@dataclass(frozen=True)
class Answer:
    """`steps` gets the call (kit.upstream.Call) and returns its list of steps."""
    steps: Callable


# ---- bodies of the three routes

def route_of(call):
    path = call.path.split("?")[0]
    if path.endswith("/embeddings"):
        return "embeddings"
    return "chat" if path.endswith("/chat/completions") else "completions"


def _model(call):
    return (call.json or {}).get("model") or "provider-model"


def chat_answer(message, model, finish="stop", usage=None):
    return {"id": "chatcmpl-e2e", "object": "chat.completion", "created": CREATED, "model": model, "system_fingerprint": "fp_e2e",
            "choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish, "logprobs": None}],
            "usage": usage or USAGE}


def completion_answer(text, model, finish="stop", usage=None):
    return {"id": "cmpl-e2e", "object": "text_completion", "created": CREATED, "model": model,
            "choices": [{"index": 0, "text": text, "finish_reason": finish, "logprobs": None}], "usage": usage or USAGE}


def embedding_answer(inputs, model, usage=None):
    count = len(inputs) if isinstance(inputs, list) else 1
    return {"object": "list", "model": model, "usage": usage or {"prompt_tokens": 4 * count, "total_tokens": 4 * count},
            "data": [{"object": "embedding", "index": i, "embedding": [0.25, -0.5, float(i)]} for i in range(count)]}


def chunk(call, delta, finish=None, **extra):
    """One chunk of a stream: `delta` is text, or the delta object of a chat chunk."""
    if route_of(call) == "completions":
        choice = {"index": 0, "text": delta if isinstance(delta, str) else delta.get("content", ""), "logprobs": None}
        shape = {"id": "cmpl-e2e", "object": "text_completion"}
    else:
        choice = {"index": 0, "delta": {"content": delta} if isinstance(delta, str) else delta}
        shape = {"id": "chatcmpl-e2e", "object": "chat.completion.chunk"}
    return {**shape, "created": CREATED, "model": _model(call), "choices": [{**choice, "finish_reason": finish}], **extra}


def event(data):
    return b"data: " + json.dumps(data).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"


# ---- frames of HTTP

REASONS = {200: "OK", 204: "No Content", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests",
           500: "Internal Server Error", 502: "Bad Gateway", 503: "Service Unavailable"}


def head(status, headers):
    lines = [f"HTTP/1.1 {status} {REASONS.get(status, 'Because')}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def framed(data):
    return b"%x\r\n%s\r\n" % (len(data), data) if data else b""


def whole(status, body, headers=None):
    """A complete answer with a length, in one write."""
    fields = {"content-type": "application/json", **(headers or {})}
    fields.setdefault("content-length", str(len(body)))
    return head(status, fields) + body


# ---- answers

def text(content, finish="stop", headers=None, usage=None):
    """A good answer for whatever was asked: chat, completion or embedding, plain or streamed."""
    def steps(call):
        if (call.json or {}).get("stream"):
            return stream(*pieces(content), finish=finish, headers=headers, usage=usage).steps(call)
        if route_of(call) == "embeddings":
            body = embedding_answer(call.json.get("input"), _model(call))
        elif route_of(call) == "completions":
            body = completion_answer(content, _model(call), finish, usage)
        else:
            body = chat_answer({"content": content}, _model(call), finish, usage)
        return [whole(200, json.dumps(body).encode(), headers)]
    return Answer(steps)


def pieces(content):
    """Text as a model would stream it: word by word."""
    words = content.split(" ")
    return [word + " " for word in words[:-1]] + words[-1:]


def message(body, finish="stop"):
    """A plain chat answer with this message (tool calls, refusals ...)."""
    return Answer(lambda call: [whole(200, json.dumps(chat_answer(body, _model(call), finish)).encode())])


def error(what, headers=None, **override):
    status, body = failure(what)
    status = override.pop("status", status)
    body = {**body, **override}
    return Answer(lambda call: [whole(status, json.dumps({"error": body}).encode(), headers)])


def raw(status, body, headers=None, kind="application/json"):
    data = body if isinstance(body, bytes) else body.encode() if isinstance(body, str) else json.dumps(body).encode()
    return Answer(lambda call: [whole(status, data, {"content-type": kind, **(headers or {})})])


def steps(*listed):
    """Exactly these steps, whatever was asked."""
    return Answer(lambda call: list(listed))


def stream(*items, finish="stop", role=True, headers=None, usage=None, done=True, frame=framed):
    """A stream. Items: text or a delta (dict), bytes as they are, Wait, a Stop, Error(what).

    After the last item come the finish reason, usage if it was asked for, and [DONE]; a Stop or an Error ends it early.
    """
    def steps(call):
        out = [head(200, {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache",
                          "transfer-encoding": "chunked", **(headers or {})})]
        if role and route_of(call) == "chat":
            out.append(frame(event(chunk(call, {"role": "assistant", "content": ""}))))
        for item in items:
            if isinstance(item, (str, dict)):
                out.append(frame(event(chunk(call, item))))
            elif isinstance(item, bytes):
                out.append(frame(item))
            elif isinstance(item, Error):
                return out + [frame(event({"error": failure(item.what)[1]})), b"0\r\n\r\n"]
            elif item is END:
                return out + [b"0\r\n\r\n"]
            else:
                out.append(item)
                if isinstance(item, Stop):
                    return out
        if finish:
            out.append(frame(event(chunk(call, {} if route_of(call) == "chat" else "", finish))))
        if (call.json.get("stream_options") or {}).get("include_usage"):
            out.append(frame(event({**chunk(call, ""), "choices": [], "usage": usage or USAGE})))
        return out + ([frame(DONE)] if done else []) + [b"0\r\n\r\n"]
    return Answer(steps)


@dataclass(frozen=True)
class Error:
    """An error object as an event of a stream, and the end of it."""
    what: object


END = Stop("end")  # in a stream: the body ends cleanly, without finish reason and marker


# ---- what can be done to any answer

def _bytes_of(listed):
    return b"".join(step for step in listed if isinstance(step, bytes))


def length(answer, call):
    """How many bytes the answer has to this call."""
    return len(_bytes_of(answer.steps(call)))


def late(answer, seconds):
    return Answer(lambda call: [Wait(seconds)] + answer.steps(call))


def cut(answer, at, how=CLOSE):
    """Only the first `at` bytes of it, then the stop. Negative: counted from the end."""
    def steps(call):
        data = _bytes_of(answer.steps(call))
        return [data[:at], Wait(0.02), how]
    return Answer(steps)


def in_pieces(answer, size, pause=0.0):
    """The same bytes in many small writes."""
    def steps(call):
        out = []
        for step in answer.steps(call):
            if isinstance(step, bytes):
                for start in range(0, len(step), size):
                    out += [step[start:start + size], Wait(pause)]
            else:
                out.append(step)
        return out
    return Answer(steps)


def then(answer, *more):
    """The answer, and afterwards on the same connection these steps."""
    return Answer(lambda call: answer.steps(call) + list(more))


def close_idle(answer, after=0.0):
    """Says nothing of closing, and closes the connection a moment after the answer."""
    return then(answer, Wait(after), CLOSE)


def lying_length(answer, by):
    """Content-Length is wrong by so much: too long (the rest never comes) or too short (the rest is more than announced)."""
    def steps(call):
        status_line, rest = _bytes_of(answer.steps(call)).split(b"\r\n", 1)
        fields, body = rest.split(b"\r\n\r\n", 1)
        kept = [line for line in fields.split(b"\r\n") if not line.lower().startswith(b"content-length")]
        kept.append(b"content-length: %d" % (len(body) + by))
        return [b"\r\n".join([status_line, *kept]) + b"\r\n\r\n" + body, CLOSE]
    return Answer(steps)


def zipped(answer, how="gzip", spoil=None):
    """The body compressed; `spoil` may damage the compressed bytes."""
    def steps(call):
        _, body = _bytes_of(answer.steps(call)).split(b"\r\n\r\n", 1)
        data = gzip.compress(body) if how == "gzip" else zlib.compress(body)
        return [whole(200, spoil(data) if spoil else data, {"content-encoding": how})]
    return Answer(steps)


def bomb(size):
    """A gzip answer that is `size` bytes when it is unpacked, and about a thousandth on the wire."""
    data = gzip.compress(b'{"choices": [{"message": {"content": "' + b"a" * size + b'"}}]}', compresslevel=1)
    return Answer(lambda call: [whole(200, data, {"content-encoding": "gzip"})])


HTML = "<html><head><title>502 Bad Gateway</title></head><body><center>nginx</center></body></html>"
SILENT = steps(HANG)
GONE = steps(CLOSE)
BROKEN = steps(RESET)
