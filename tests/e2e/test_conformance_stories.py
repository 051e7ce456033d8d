"""The stories of the conformance scenarios, which stand beside the repository, held against what happened; left out where they are not there."""
import asyncio
import contextvars
import importlib.util
import os
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from kit import story
from kit.weir import BINARY, ROOT

FOLDER = Path(os.environ.get("WEIR_SHARED", ROOT.parent / "shared")) / "conformance"
GATEWAY = BINARY + " serve --config {config} --host 127.0.0.1 --port {port}"
playing = contextvars.ContextVar("the scenario that is played")

pytestmark = pytest.mark.skipif(not (FOLDER / "run.py").exists(), reason=f"there are no conformance scenarios in {FOLDER}")


def load():
    spec = importlib.util.spec_from_file_location("conformance_run", FOLDER / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Playing:
    """One scenario: its upstream, and a watch for each of its gateways."""

    def __init__(self, module, scenario):
        self.module, self.ask, self.scenario = module, module.call, scenario
        self.up, self.watches = None, {}

    def calls(self):
        return [story.Asked(call[0], call[1]) for call in self.up.calls]

    def watch(self, port):
        if port not in self.watches:
            self.watches[port] = story.Watch(None, [self.scenario.get("config"), self.scenario.get("steps")])
        return self.watches[port]

    async def call(self, port, step):
        if step.get("method") == "GET":
            return await self.ask(port, step)
        explained = {**step, "headers": {"x-weir-explain": "1", **(step.get("headers") or {})}}
        with self.watch(port).call(self.calls) as note:
            reply = await self.ask(port, explained)
            if reply.status:
                stream = reply.headers.get("content-type", "").startswith("text/event-stream")
                note(story.Seen(reply.status, reply.headers, stream, stream and (reply.broken or bool(reply.stream_error) or not reply.done)))
        return reply

    def judge(self, port):
        """The faults of one gateway's stories; asked while it runs, from a thread of its own."""
        def get(path):
            reply = asyncio.run(self.ask(port, {"method": "GET", "path": path}))
            return SimpleNamespace(status=reply.status, json=reply.json)
        watch = self.watches[port]
        watch.get = get
        # Of several gateways none knows what the others asked the upstream for, or whom they let cool down.
        watch.probes |= len(self.watches) > 1 or self.scenario.get("gateways", 1) > 1 or bool(self.scenario.get("redis"))
        return watch.end(self.calls())


def patched(module):
    """The runner's module, with stories looked at before the gateways of a scenario are stopped."""
    upstream, stop = module.Upstream, module.stop

    def make_upstream(scripts):
        now = playing.get()
        now.up = upstream(scripts)
        return now.up

    async def call(port, step):
        now = playing.get()
        return await (now.call if now.up is not None and step.get("path") != "/health/liveliness" else now.ask)(port, step)

    async def judge_and_stop(process):
        now = playing.get()
        for port in list(now.watches):
            if process.returncode is None:
                now.faults += await asyncio.to_thread(now.judge, port)
                del now.watches[port]
        await stop(process)
    module.Upstream, module.call, module.stop = make_upstream, call, judge_and_stop
    return module


def scenarios():
    if not (FOLDER / "scenarios").is_dir():
        return []
    found = [scenario for path in sorted((FOLDER / "scenarios").glob("*.yaml")) for scenario in yaml.safe_load_all(path.read_text()) if scenario]
    return [pytest.param(scenario, id=scenario["name"]) for scenario in found if not scenario.get("refused")]


@pytest.mark.parametrize("scenario", scenarios())
def test_the_stories_of_a_conformance_scenario(scenario):
    module = load()
    now = Playing(module, scenario)
    now.faults = []
    playing.set(now)
    asyncio.run(patched(module).play(scenario, GATEWAY, 30, None, []))
    assert now.up is not None and not now.faults, "\n".join(now.faults)
