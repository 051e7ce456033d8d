"""Scenarios: a configuration, what the deployments answer, and what a client then sees. Each is an entry of scenarios/*.yaml.

An entry has these keys; an unknown one is an error, as is a deployment that is called without being mentioned in `hits`.

    it          what is shown; unique
    each        [{NAME: value, ...}, ...]: played once for each, with $NAME replaced in all that follows
    groups      {GROUP: {DEPLOYMENT: its litellm_params (`info`: its model_info, `at`: another deployment's path)}}, or a list of deployments
    router, litellm, general, weir, other    the sections of the configuration (`other`: {SECTION: content})
    env         variables; waits between retries are short unless they are set here
    says        {DEPLOYMENT: [answers, one a request; the last repeats]}
    refused     weir must refuse to start and its output match this pattern; there is no `play`
    play        steps, in order

An answer is a text, or {text, finish, usage, headers, late}, {fail: kind or status or error object, retry_after, headers, late},
{stream: [items], role, finish, usage, done, late}, {body, status, headers, kind, late}, or {silent|gone|broken: true, late}. An item of a
stream is text, {delta}, {raw}, {wait: seconds}, {fail: kind}, or {then: close|reset|end|hang}.

A step: `rest` (seconds to wait first), `ask` (a model, or a request), `route` (its path), `method`, `with` (headers), `raw` (a body as it
is), `times`, `at_once` (so many at a time), `leave_after` (seconds), `behind` (do not wait for the answer; `join` in a later step does),
`get` (what each answer must be: `200 text`, or {status, text, like, unlike, headers, seconds: [least, most], first: [least, most],
json: {path: value}, failed}), `hits` (how many requests each deployment got in this step, a number or [least, most]), `sent` ({DEPLOYMENT: what
its last request was: {path of the JSON, or `header NAME`, or `path`: value or /pattern/ or absent}}), `peak` (most at once so far), `then` (new
answers from now on).
"""
import copy
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import yaml

from . import answers, story, words
from .answers import CLOSE, END, HANG, RESET, Error, Wait
from .commands import explain
from .configs import config as make_config

FOLDER = Path(__file__).resolve().parents[1] / "scenarios"
STOPS = {"close": CLOSE, "reset": RESET, "end": END, "hang": HANG}
KEYS = {
    "scenario": {"it", "each", "groups", "router", "litellm", "general", "weir", "other", "env", "says", "refused", "play"},
    "step": {"rest", "ask", "route", "method", "with", "raw", "times", "at_once", "leave_after", "behind", "join", "get", "hits", "sent",
             "peak", "then"},
    "get": {"status", "text", "like", "unlike", "headers", "seconds", "first", "json", "failed"},
    "answer": {"text", "fail", "retry_after", "stream", "body", "status", "kind", "finish", "usage", "headers", "late", "role", "done",
               "silent", "gone", "broken"},
}


class Wrong(ValueError):
    """The scenario itself is wrong."""


def known(what, node):
    if not isinstance(node, dict) or set(node) - KEYS[what]:
        raise Wrong(f"not a {what}: {node!r}")
    return node


# ---- reading

def replaced(node, values):
    """The node with $NAME replaced: a text that is one name takes the value as it is."""
    if isinstance(node, dict):
        return {replaced(k, values): replaced(v, values) for k, v in node.items()}
    if isinstance(node, list):
        return [replaced(item, values) for item in node]
    if not isinstance(node, str) or "$" not in node:
        return node
    if node[1:] in values and node[0] == "$":
        return copy.deepcopy(values[node[1:]])
    return re.sub(r"\$([a-z_]+)", lambda m: str(values[m.group(1)]) if m.group(1) in values else m.group(0), node)


def load(path):
    """The scenarios of a file, one for each variant: (name, scenario)."""
    for entry in yaml.safe_load(path.read_text()):
        known("scenario", entry)
        if bool(entry.get("play")) == bool(entry.get("refused")):
            raise Wrong(f"{entry['it']}: wants either `play` or `refused`")
        variants = entry.pop("each", [{}])
        for number, values in enumerate(variants, 1):
            told = ", ".join(f"{k}={v}" for k, v in values.items())
            yield entry["it"] + (f" [{number}: {told[:60]}]" if told else ""), replaced(entry, values)


def load_all():
    found = [(f"{path.stem}: {name}", scenario) for path in sorted(FOLDER.glob("*.yaml")) for name, scenario in load(path)]
    names = [name for name, _ in found]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise Wrong(f"not unique: {twice}")
    return found


def read_item(item):
    if isinstance(item, str):
        return item
    (key, value), = item.items()
    return {"delta": lambda: value, "raw": lambda: value.encode(), "wait": lambda: Wait(value), "fail": lambda: Error(value),
            "then": lambda: STOPS[value]}[key]()


def read_answer(node):
    if isinstance(node, str):
        return answers.text(node)
    node = dict(known("answer", node))
    late, headers = node.pop("late", None), {k: str(v) for k, v in (node.pop("headers", None) or {}).items()}
    if "retry_after" in node:
        headers["retry-after"] = str(node.pop("retry_after"))
    if "stream" in node:
        made = answers.stream(*(read_item(item) for item in node.pop("stream")), headers=headers, **node)
    elif "fail" in node:
        made = answers.error(node.pop("fail"), headers)
    elif "body" in node:
        made = answers.raw(node.get("status", 200), node["body"], headers, node.get("kind", "application/json"))
    elif "text" in node:
        made = answers.text(node.pop("text"), headers=headers, **node)
    else:
        made = answers.SILENT if "silent" in node else answers.GONE if "gone" in node else answers.BROKEN
    return answers.late(made, late) if late else made


# ---- judging

def within(value, wanted):
    if isinstance(wanted, list):
        return wanted[0] <= value <= wanted[1]
    return value == wanted


def dig(node, path):
    """`choices.0.text` of a document; absent things are None."""
    for part in path.split("."):
        if isinstance(node, list):
            node = node[int(part)] if part.isdigit() and int(part) < len(node) else None
        else:
            node = node.get(part) if isinstance(node, dict) else None
    return node


def matches(have, want):
    """`want` is a value, or text `/pattern/`, or `absent`."""
    if want == "absent":
        return have is None
    if isinstance(want, str) and len(want) > 1 and want[0] == want[-1] == "/":
        return have is not None and re.search(want[1:-1], str(have)) is not None
    return have == want


def read_get(node):
    if isinstance(node, int):
        return {"status": node}
    if isinstance(node, str):
        status, _, text = node.partition(" ")
        return {"status": int(status), **({"text": text} if text else {})}
    return known("get", node)


def faults_of_reply(reply, want):
    body = reply.body.decode("utf-8", "replace")
    if "status" in want and reply.status not in (want["status"] if isinstance(want["status"], list) else [want["status"]]):
        yield f"status {reply.status}, not {want['status']}: {body[:400]}"
    if "text" in want and reply.text != want["text"]:
        yield f"text {reply.text!r}, not {want['text']!r}: {body[:400]}"
    if "like" in want and not re.search(want["like"], body):
        yield f"no {want['like']!r} in {body[:600]!r}"
    if "unlike" in want and re.search(want["unlike"], body):
        yield f"{want['unlike']!r} in {body[:600]!r}"
    for name, wanted in (want.get("headers") or {}).items():
        if not matches(reply.header(name), wanted):
            yield f"header {name}: {reply.header(name)!r}, not {wanted!r}"
    for key, value in (("seconds", reply.elapsed), ("first", reply.first_text)):
        if key in want and (value is None or not within(value, want[key])):
            yield f"{key}: {value}, not in {want[key]}"
    for path, wanted in (want.get("json") or {}).items():
        if not matches(dig(reply.json, path), wanted):
            yield f"{path} is {dig(reply.json, path)!r}, not {wanted!r}: {body[:400]}"
    if "failed" in want and reply.failed != want["failed"]:
        yield f"the stream {'failed' if reply.failed else 'came to its end'}: {body[-400:]!r}"


def faults_of_sent(call, wanted):
    for path, value in wanted.items():
        if path.startswith("header "):
            have = call.header(path[7:])
        else:
            have = call.path if path == "path" else dig(call.json, path)
        if not matches(have, value):
            yield f"{call.deployment} was sent {path} = {have!r}, not {value!r}"


# ---- playing

class Play:
    def __init__(self, scenario, up, weir):
        self.scenario, self.up, self.weir = scenario, up, weir
        self.faults, self.behind = [], []
        self.watch = story.Watch(self.look_up, scenario)

    def look_up(self, path):
        key = (self.scenario.get("general") or {}).get("master_key", "none")
        return self.weir.ask(None, path=path, method="GET", headers={"authorization": f"Bearer {key}"})

    def run(self):
        for number, step in enumerate(self.scenario["play"], 1):
            self.step(f"step {number}: ", known("step", step))
        for thread in self.behind:
            thread.join(60)
        self.faults += self.watch.end(story.asked(self.up.calls))
        self.faults += self.faults_of_words()
        assert not self.faults, "\n".join(self.faults)

    def faults_of_words(self):
        """What `weir explain` says of the last call."""
        last = self.look_up("/weir/calls?limit=1").json.get("calls")
        if not last:
            return []
        told = self.look_up(f"/weir/calls/{last[0]['call_id']}").json
        return list(words.faults(explain(self.weir, told["call_id"], key=(self.scenario.get("general") or {}).get("master_key")), told))

    def step(self, where, step):
        time.sleep(step.get("rest", 0))
        before = len(self.up.calls)
        if "ask" in step or "raw" in step or "method" in step:
            if step.get("behind"):
                self.begin(where, step, before)
            else:
                self.ask(where, step)
        if step.get("join"):
            for thread in self.behind:
                thread.join(60)
        self.look(where, step, before)
        for name, script in (step.get("then") or {}).items():
            self.up.says(name, *map(read_answer, script))

    def begin(self, where, step, before):
        thread = threading.Thread(target=self.ask, args=(where, step))
        self.behind.append(thread)
        thread.start()
        self.up.wait_for(lambda up: len(up.calls) > before)

    def ask(self, where, step):
        want, width = read_get(step.get("get", {})), step.get("at_once", 1)
        for _ in range(step.get("times", 1)):
            with ThreadPoolExecutor(width) as pool:
                for reply in pool.map(lambda _: self.one(step), range(width)):
                    self.faults += [where + fault for fault in faults_of_reply(reply, want)] if reply else []

    def one(self, step):
        body = step["raw"].encode() if "raw" in step else step.get("ask")
        options = {"path": step.get("route", "/v1/chat/completions"), "method": step.get("method", "POST"), "headers": {"x-weir-explain": "1", **(step.get("with") or {})}}
        with self.watch.call(lambda: story.asked(self.up.calls)) as note:
            if "leave_after" in step:
                return self.leave(body, step["leave_after"])
            reply = self.weir.ask(body, **options)
            note(story.Seen(reply.status, dict(reply.headers), reply.is_stream, reply.is_stream and reply.failed))
        return reply

    def leave(self, body, seconds):
        try:
            self.weir.ask(body, timeout=seconds)
        except TimeoutError:
            return None
        raise Wrong("the answer came before the client left")

    def look(self, where, step, before):
        if "hits" in step:
            have = {}
            for call in self.up.calls[before:]:
                have[call.deployment] = have.get(call.deployment, 0) + 1
            wanted = step["hits"] or {}
            for name in sorted(set(have) | set(wanted)):
                if not within(have.get(name, 0), wanted.get(name, 0)):
                    self.faults.append(f"{where}{name} was asked {have.get(name, 0)} times, not {wanted.get(name, 0)}")
        for name, wanted in (step.get("sent") or {}).items():
            self.faults += [where + fault for fault in faults_of_sent(self.up.last(name), wanted)]
        for name, wanted in (step.get("peak") or {}).items():
            if not within(self.up.peak.get(name, 0), wanted):
                self.faults.append(f"{where}{name} had {self.up.peak.get(name, 0)} at once, not {wanted}")


def configuration(scenario, up):
    sections = {name: scenario.get(name) for name in ("router", "litellm", "general", "weir")}
    return make_config(up, scenario["groups"], **sections, **(scenario.get("other") or {}))


def play(scenario, up, weirs):
    """Plays one scenario with the fixtures `up` and `weirs`."""
    for name, script in (scenario.get("says") or {}).items():
        up.says(name, *map(read_answer, script))
    options = {"env": scenario.get("env")}
    made = configuration(scenario, up)
    if scenario.get("refused"):
        weir = weirs(made, start=False, **options).launch()
        status = weir.wait(15)
        assert status not in (None, 0), f"weir was to refuse this: status {status}\n{weir.log[-2000:]}"
        assert re.search(scenario["refused"], weir.log), weir.log[-2000:]
    else:
        Play(scenario, up, weirs(made, **options)).run()
