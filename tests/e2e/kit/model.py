"""A model that knows one text: it streams it in words, and after a prefill it says what is left of it.

What goes wrong with a call is a Fault. Chunks are counted as they go out: the role is the first, then come the words, and
the finish reason is the last; `[DONE]` and usage are not counted. So `Fault(1, CLOSE)` closes after the role, and
`Fault(0, CLOSE)` after the response head.
"""
from dataclasses import dataclass, field

from . import answers
from .answers import DONE, END, Answer, Error, Stop, Wait, chunk, event, framed, head, pieces

LATE_ENOUGH = Wait(0.03)    # so that what was sent is read before the connection goes


@dataclass(frozen=True)
class Fault:
    """After `after` chunks comes `what`: CLOSE, RESET, END, HANG, Error(what), a Wait, or bytes in place of a chunk."""
    after: int
    what: object

    @property
    def is_the_end(self):
        return isinstance(self.what, (Stop, Error))

    def steps(self):
        yield LATE_ENOUGH
        if isinstance(self.what, bytes):
            yield framed(self.what)
        elif isinstance(self.what, Error):
            yield from (framed(event({"error": answers.failure(self.what.what)[1]})), b"0\r\n\r\n")
        else:
            yield b"0\r\n\r\n" if self.what is END else self.what


@dataclass(frozen=True)
class Model:
    text: str
    fault: Fault = None
    pause: float = 0.0          # before each word
    again: int = 0              # so many characters of the prefill are said once more
    prefill: bool = True        # False: a trailing assistant message is a bad request
    marker: bool = True         # False: no [DONE]
    headers: dict = field(default_factory=dict)

    def answer(self):
        return Answer(self.steps)

    def steps(self, call):
        said = prefill_of(call)
        if said and not self.prefill:
            return answers.error("bad_request", message="the last message must be a user message").steps(call)
        assert self.text.startswith(said), f"{call.deployment} knows another text than {said!r}"
        words = pieces(self.text[max(0, len(said) - self.again):])
        if not call.json.get("stream"):
            return answers.text("".join(words)).steps(call)
        return [head(200, {"content-type": "text/event-stream", "transfer-encoding": "chunked", **self.headers}), *self._stream(call, words)]

    def _stream(self, call, words):
        identity = {"id": f"chatcmpl-{call.deployment}"}
        chunks = [chunk(call, {"role": "assistant", "content": ""}, **identity)]
        chunks += [chunk(call, word, **identity) for word in words]
        chunks.append(chunk(call, {}, "stop", **identity))
        for number, data in enumerate([*chunks, None]):
            if self.fault and self.fault.after == number:
                yield from self.fault.steps()
                if self.fault.is_the_end:
                    return
            if self.pause and 0 < number <= len(words):
                yield Wait(self.pause)
            if data:
                yield framed(event(data))
        if (call.json.get("stream_options") or {}).get("include_usage"):
            usage = {"prompt_tokens": 10, "completion_tokens": len(words), "total_tokens": 10 + len(words)}
            yield framed(event({**chunk(call, "", **identity), "choices": [], "usage": usage}))
        if self.marker:
            yield framed(DONE)
        yield b"0\r\n\r\n"


def prefill_of(call):
    """The text of a trailing assistant message, "" where the last message is another's."""
    last = call.json["messages"][-1]
    return last["content"] if last["role"] == "assistant" else ""



def by_user(choose):
    """One answer for calls that are told apart by their field `user`: choose(user, call) gives a Model."""
    return Answer(lambda call: choose(call.json["user"], call).steps(call))
