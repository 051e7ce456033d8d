"""Sixteen faults, one configuration: examples/chat.yaml as it stands, but for addresses and keys.

Each fault has a weir and an upstream of its own, all run at the same time and in real time: nothing is scaled, neither the
settings nor the faults nor the waits between retries. A fault hits every deployment of the group that is asked. It is recovered
when the caller's one call, made with the official package and never tried again by it, gives the whole text in time.
"""
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest
import yaml

from kit import answers, sdk
from kit.answers import BROKEN, CLOSE, GONE, SILENT, Wait
from kit.model import Fault, Model
from kit.sdk import HELLO, text_of
from kit.weir import ROOT, SANITIZED

CONFIG = ROOT / "examples" / "chat.yaml"
TEXT = " ".join(f"token{number}" for number in range(60))
CUT_AT = 1 + 40     # the role, and forty of sixty tokens
GARBAGE = b'data: {"choices": [{"delta": {"conte\n\n'
OUTAGE = 60
REST = 15           # cooldown_time of the file
LONG = 110          # seconds for all of them together

# How long a caller waits, at most, beside what the settings of the file cost: 8 seconds for each silence, ten for a crawl.
SLACK = 10 if SANITIZED else 4


@dataclass(frozen=True)
class Case:
    name: str
    chat: list                  # what both deployments of `chat` answer, in their order
    seconds: float = 0          # what the settings allow for noticing it, twice where the second deployment does the same
    others: dict = field(default_factory=dict)
    served: str = "spare-mistral"
    calls: int = 3


def failing(what, **headers):
    return [answers.error(what, headers={name.replace("_", "-"): value for name, value in headers.items()})]


CASES = [
    Case("429 with Retry-After", [*failing("rate_limit", retry_after="20"), Model(TEXT)]),
    Case("endless 429", failing("rate_limit")),
    Case("500", failing("internal")),
    Case("503", failing("unavailable")),
    Case("reset", [BROKEN]),
    Case("silence", [SILENT], seconds=16),
    Case("first token after 20 s", [Model(TEXT, Fault(1, Wait(20)))], seconds=16),
    Case("cut at 40 of 60 tokens", [Model(TEXT, Fault(CUT_AT, CLOSE))], calls=2),
    Case("stall of 30 s", [Model(TEXT, Fault(CUT_AT, Wait(30)))], seconds=8, calls=2),
    Case("malformed chunk", [Model(TEXT, Fault(CUT_AT, GARBAGE))], calls=2),
    Case("finish without marker", [Model(TEXT, marker=False)], served="chat-*", calls=1),
    Case("context length", failing("context_window"), served="long-openai", calls=2),
    Case("content filter", failing("content_policy"), calls=2),
    Case("fallback that refuses prefill", [Model(TEXT, Fault(CUT_AT, CLOSE))], others={"spare-mistral": Model(TEXT, prefill=False)},
         served="last-deepseek", calls=3),
    Case("slow tokens", [Model(TEXT, pause=1.0)], seconds=11, calls=2),
]


def placed(upstream):
    """The configuration with every deployment at this upstream: its address, and a key."""
    config = yaml.safe_load(CONFIG.read_text())
    for entry in config["model_list"]:
        entry["litellm_params"].update(api_base=upstream.url(entry["model_info"]["id"]), api_key="k")
    return config


@pytest.fixture
def start(upstreams, weirs):
    """start() -> an upstream where every deployment knows TEXT, and a weir in front of it, with the waits that it has by default."""
    def make():
        up = upstreams()
        weir = weirs(placed(up), env={"INITIAL_RETRY_DELAY": 0.5, "JITTER": 0.75})
        for name in ("chat-openai", "chat-azure", "spare-mistral", "last-deepseek", "long-openai"):
            up.says(name, Model(TEXT).answer())
        return up, weir
    return make


def script(up, name, models):
    up.says(name, *(model.answer() if isinstance(model, Model) else model for model in models))


def stream(weir):
    """One call: its chunks, and the seconds that it took."""
    began = time.monotonic()
    with sdk.client(weir, timeout=60) as client:
        chunks = list(client.chat.completions.create(model="chat", messages=HELLO, stream=True))
    return chunks, time.monotonic() - began


def judge(chunks, whose):
    assert text_of(chunks) == TEXT, f"{whose}: not the whole text"
    choices = [choice for chunk in chunks for choice in chunk.choices]
    assert [choice.finish_reason for choice in choices if choice.finish_reason] == ["stop"], whose
    assert len([choice for choice in choices if choice.delta.role]) == 1 and len({chunk.id for chunk in chunks}) == 1, whose


def play(case, up, weir):
    chunks, seconds = stream(weir)
    judge(chunks, case.name)
    assert case.seconds * 0.9 <= seconds <= case.seconds + SLACK, f"took {seconds:.1f} s"
    last = up.calls[-1].deployment
    assert last == case.served or case.served.endswith("*") and last.startswith(case.served[:-1]), f"served by {last}"
    assert len(up.calls) == case.calls, up.calls
    return seconds


def play_outage(up, weir):
    """A call each half second, from the outage's begin until the group serves again: each one is whole, and soon."""
    began, slowest, served = time.monotonic(), 0.0, None
    while served not in ("chat-openai", "chat-azure"):
        passed = time.monotonic() - began
        assert passed < OUTAGE + REST + SLACK, "the group does not serve again"
        if passed >= OUTAGE:
            for name in ("chat-openai", "chat-azure"):
                up.answers[name] = [Model(TEXT).answer()]
        chunks, seconds = stream(weir)
        judge(chunks, f"after {passed:.0f} s")
        slowest = max(slowest, seconds)
        served = up.calls[-1].deployment
        time.sleep(0.5)
    assert slowest < SLACK, f"one call took {slowest:.1f} s"
    assert time.monotonic() - began > OUTAGE
    asked = sum(1 for call in up.calls if call.deployment.startswith("chat-"))
    assert asked < len(up.calls) / 2, "deployments that are down are left alone"
    return slowest


@pytest.mark.timeout(LONG)
def test_each_fault_is_recovered(start, subtests, record_property):
    playing = {}
    with ThreadPoolExecutor(len(CASES) + 1) as pool:
        up, weir = start()
        script(up, "chat-openai", [GONE]), script(up, "chat-azure", [GONE])
        playing["outage of 60 s"] = pool.submit(play_outage, up, weir)
        for case in CASES:
            up, weir = start()
            for name, models in {"chat-openai": case.chat, "chat-azure": case.chat, **{n: [m] for n, m in case.others.items()}}.items():
                script(up, name, models)
            playing[case.name] = pool.submit(play, case, up, weir)
        assert len(playing) == 16
        for name, future in playing.items():
            with subtests.test(name):
                record_property(name, f"{future.result():.2f} s")
