"""A stream that breaks or falls silent after any number of its chunks: exactly what the caller sees (RS 14; decisions 28 to 32).

The cases are all combinations of where it happens, what happens, how much is held back, and whether there is a chain; they
run at the same time against one weir, told apart by the field `user`. Each test is one client and one rule for continuing.
"""
import asyncio
import itertools
import json
import subprocess
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import openai
import pytest

from kit import sdk
from kit.answers import CLOSE, END, HANG, RESET, Error, pieces
from kit.client import Reply, read_events
from kit.model import Fault, Model, by_user, prefill_of
from kit.sdk import HELLO, text_of
from kit.weir import SANITIZED

TEXT = "one two three four five six"
WORDS = pieces(TEXT)
CHUNKS = 1 + len(WORDS) + 1
HELD = 3
LIMIT = 2.0 if SANITIZED else 1.0    # of silence; ten times what the machine may take for the chunks before it

HOW = {"close": CLOSE, "reset": RESET, "end": END, "error": Error("unavailable"), "garbage": b"data: {oops\n\n", "stall": HANG}
HOLDS = {"nothing": None, "some": {"tokens": HELD}, "all": "all"}
CONTINUED = ("never", "elsewhere", "anywhere")
AT_ONCE = 32
PATIENCE = 10   # seconds until a client gives up, which is wrong in every case


@dataclass(frozen=True)
class Case:
    at: int             # chunks before it breaks
    how: str
    hold: str
    chain: bool
    continued: str

    @property
    def name(self):
        return f"{self.how}-{self.at}-{self.hold}-{'chain' if self.chain else 'alone'}"

    @property
    def group(self):
        return f"{self.hold}-{'chain' if self.chain else 'alone'}-{'limited' if self.how == 'stall' else 'free'}"

    @property
    def expected(self):
        sent = max(0, min(self.at - 1, len(WORDS)))
        shown = {"nothing": sent > 0, "some": sent >= HELD, "all": False}[self.hold]
        if self.at == CHUNKS:
            return Seen.whole("a", a=1)
        if not shown:
            return Seen.whole("b", a=1, b=1) if self.chain else Seen("", "status", roles=0, finishes=0, ids=(), calls={"a": 1})
        if self.continued != "never" and self.chain:
            return Seen.whole("a", a=1, b=1)
        if self.continued == "anywhere":
            return Seen.whole("a", a=2)
        return Seen("".join(WORDS[:sent]), "stream", roles=1, finishes=0, ids=("chatcmpl-a",), calls={"a": 1})


@dataclass
class Seen:
    """What a caller saw: `raised` is "" (nothing), "status" (an HTTP error) or "stream" (an error after chunks)."""
    text: str
    raised: str
    roles: int
    finishes: int
    ids: tuple
    calls: dict

    @classmethod
    def whole(cls, first, **calls):
        return cls(TEXT, "", roles=1, finishes=1, ids=(f"chatcmpl-{first}",), calls=calls)

    @classmethod
    def of(cls, chunks, raised):
        choices = [choice for chunk in chunks for choice in chunk.choices]
        return cls(text_of(chunks), raised, sum(choice.delta.role is not None for choice in choices),
                   sum(choice.finish_reason is not None for choice in choices), tuple(sorted({chunk.id for chunk in chunks})), {})


def cases(continued):
    """All of them; that of a complete stream whose connection falls silent takes five seconds, and has a test of its own."""
    return [case for case in itertools.starmap(Case, itertools.product(range(CHUNKS + 1), HOW, HOLDS, (True, False), (continued,)))
            if case.how != "stall" or case.at < CHUNKS]


# ---- weir and its upstream

@pytest.fixture
def weir_for(serve, up):
    def make(continued):
        groups, chains = {}, []
        for hold, chain, limited in itertools.product(HOLDS, ("chain", "alone"), ("limited", "free")):
            name = f"{hold}-{chain}-{limited}"
            limits = {"ttft_timeout": LIMIT, "stream_idle_timeout": LIMIT} if limited == "limited" else {}
            groups[name] = {f"a-{name}": {"at": "a", "info": {"supports_assistant_prefill": True}, **limits}}
            if chain == "chain":
                chains.append({name: ["spare"]})
        groups["spare"] = {"b": {"info": {"supports_assistant_prefill": True}}}
        own = {name: {"stream_hold": HOLDS[name.split("-")[0]]} for name in groups if HOLDS.get(name.split("-")[0])}
        targets = {"continuation_targets": ["fallback", "group"]} if continued == "anywhere" else {}
        up.says("a", by_user(lambda user, call: Model(TEXT) if prefill_of(call) else Model(TEXT, fault_of(user))))
        up.says("b", by_user(lambda user, call: Model(TEXT)))
        return serve(groups, weir={"groups": own, **targets},
                     router={"fallbacks": chains, "disable_cooldowns": True, "enable_mid_stream_fallback_continuation": continued != "never"})
    return make


def fault_of(name):
    how, at = name.split("-")[:2]
    return Fault(int(at), HOW[how])


# ---- clients

def request_of(case):
    return {"model": case.group, "messages": HELLO, "stream": True, "user": case.name}


def kind_of(error):
    if isinstance(error, openai.APIStatusError):
        return "status"
    return "stream" if type(error) is openai.APIError else repr(error)


def ask_blocking(weir, wanted):
    def one(case):
        chunks = []
        try:
            for chunk in client.chat.completions.create(**request_of(case)):
                chunks.append(chunk)
        except Exception as error:  # whatever the package raises is what is judged
            return Seen.of(chunks, kind_of(error))
        return Seen.of(chunks, "")
    with sdk.client(weir, timeout=PATIENCE) as client, ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(one, wanted))


def ask_asynchronous(weir, wanted):
    async def one(client, turn, case):
        chunks = []
        async with turn:
            try:
                async for chunk in await client.chat.completions.create(**request_of(case)):
                    chunks.append(chunk)
            except Exception as error:  # whatever the package raises is what is judged
                return Seen.of(chunks, kind_of(error))
            return Seen.of(chunks, "")

    async def main():
        turn = asyncio.Semaphore(AT_ONCE)
        async with sdk.async_client(weir, timeout=PATIENCE) as client:
            return await asyncio.gather(*(one(client, turn, case) for case in wanted))
    return asyncio.run(main())


def ask_curl(weir, wanted):
    """curl must see a complete HTTP message: when a stream fails, its last event is the error, and no end marker follows."""
    def one(case):
        done = subprocess.run(["curl", "-sN", "--max-time", str(PATIENCE), "-w", "%{stderr}%{http_code}", weir.url + "/v1/chat/completions", "-d", "@-"],
                              input=json.dumps(request_of(case)).encode(), capture_output=True, timeout=2 * PATIENCE)
        assert done.returncode == 0, f"curl ended with {done.returncode}: {done.stdout[-200:]}"
        if done.stderr != b"200":
            return Seen.of([], "status")
        reply = Reply()
        reply.body = done.stdout
        read_events(reply)
        assert bool(reply.error) != reply.done, done.stdout
        chunks = [openai.types.chat.ChatCompletionChunk.model_validate(event) for event in reply.events if "error" not in event]
        assert not reply.error or "error" in reply.events[-1], "something came after the error"
        return Seen.of(chunks, "stream" if reply.error else "")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(one, wanted))


CLIENTS = {"blocking": ask_blocking, "asynchronous": ask_asynchronous, "curl": ask_curl}


@pytest.mark.parametrize("continued", CONTINUED)
@pytest.mark.parametrize("client", CLIENTS)
def test_what_the_caller_sees(client, continued, weir_for, up):
    wanted = cases(continued)
    seen = CLIENTS[client](weir_for(continued), wanted)
    assert up.wait_for(lambda u: not any(u.in_flight.values())), f"upstream connections stay open: {up.in_flight}"
    calls = Counter((call.json["user"], call.deployment) for call in up.calls)
    wrong = []
    for case, found in zip(wanted, seen):
        found.calls = {name: calls[case.name, name] for name in "ab" if calls[case.name, name]}
        if found != case.expected:
            wrong.append(f"{case.name}:\n    expected {case.expected}\n    but was  {found}")
    assert not wrong, f"{len(wrong)} of {len(wanted)} are wrong\n" + "\n".join(wrong[:40])


def test_a_complete_stream_that_does_not_end_is_ended(weir_for):
    """The rest after a finish reason, usage and the end marker, may take five seconds; then the marker is supplied."""
    wanted = [Case(CHUNKS, "stall", hold, True, "never") for hold in HOLDS]
    began = time.monotonic()
    seen = ask_blocking(weir_for("never"), wanted)
    assert 4.9 < time.monotonic() - began < PATIENCE
    assert [(one.text, one.raised, one.finishes) for one in seen] == [(TEXT, "", 1)] * len(wanted)


@pytest.mark.parametrize("again, begin", [("everything", 24), ("its last words", 20)])
def test_what_another_deployment_repeats_is_dropped(serve, up, again, begin):
    """The whole text so far from 24 characters on, a part of it from three distinct words on; wherever the stream was cut."""
    text = "Each of these words is another one so that nothing can be taken for a repeat by mistake"
    words = pieces(text)
    counts = [count for count in range(3, len(words)) if len("".join(words[:count])) >= begin]

    def carried_on(_, call):
        return Model(text, again=len(prefill_of(call)) if again == "everything" else len("".join(pieces(prefill_of(call))[-4:])))
    up.says("a", by_user(lambda user, call: Model(text, Fault(1 + int(user), CLOSE))))
    up.says("b", by_user(carried_on))
    weir = serve({"g": ["a"], "spare": {"b": {"info": {"supports_assistant_prefill": True}}}},
                 router={"fallbacks": [{"g": ["spare"]}], "disable_cooldowns": True, "enable_mid_stream_fallback_continuation": True})
    with sdk.client(weir, timeout=PATIENCE) as client:
        for count in counts:
            seen = text_of(client.chat.completions.create(model="g", messages=HELLO, stream=True, user=str(count)))
            assert seen == text, f"cut after {count} words"
    assert up.hits("b") == len(counts) > 8


def test_a_continuation_is_sent_what_was_shown(weir_for, up):
    """The text so far is one trailing assistant message, and nothing else is added to what the caller asked."""
    wanted = [case for case in cases("elsewhere") if case.expected.calls == {"a": 1, "b": 1} and case.expected.ids == ("chatcmpl-a",)]
    ask_blocking(weir_for("elsewhere"), wanted)
    by_name = {case.name: case for case in wanted}
    continued = [call for call in up.calls if call.deployment == "b"]
    assert len(continued) == len(wanted) > 40
    for call in continued:
        shown = "".join(WORDS[:by_name[call.json["user"]].at - 1])
        assert call.json["messages"] == [*HELLO, {"role": "assistant", "content": shown}]
