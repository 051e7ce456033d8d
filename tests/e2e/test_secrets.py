"""Keys and prompts are planted wherever weir gets any, and looked for in all that it tells of itself: they are in none of it."""
import json
import re

import pytest

from kit import answers, wait
from kit.client import ask
from kit.collector import Collector
from kit.commands import run
from kit.configs import config
from kit.events import Listener
from kit.hook import Hook
from kit.prometheus import scrape_when
from kit.redis import Redis
from kit.terminal import Terminal
from kit.weir import BINARY

MASTER = "sk-PLANTED-master"
KEY = {"authorization": f"Bearer {MASTER}"}
ERROR = {"status": 429, "message": "PLANTED-error for key-PLANTED-provider", "type": "PLANTED-type", "code": "PLANTED-code", "param": "PLANTED-param"}
PROMPT = {"messages": [{"role": "system", "content": "PLANTED-system"}, {"role": "user", "content": "PLANTED-prompt"}], "user": "PLANTED-user",
          "metadata": {"note": "PLANTED-metadata"}, "stop": ["PLANTED-stop"]}


@pytest.fixture
def hook(weirs):
    made = Hook()
    yield made
    made.stop()


@pytest.fixture
def redis(tmp_path):
    made = Redis(tmp_path, "--requirepass", "PLANTED-redis").start()
    yield made
    made.stop()


def configured(up, hook, redis):
    params = {"api_key": "key-PLANTED-provider", "extra_headers": {"x-team-token": "PLANTED-header"}}
    groups = {"g": {"a": {**params, "api_base": up.url("a") + "?token=PLANTED-query", "weight": 1000000}, "b": {**params, "weight": 1}},
              "h": {"c": params}, "away": {"d": {**params, "api_base": "http://127.0.0.1:9/v1?token=PLANTED-query"}}}
    return config(up, groups, general={"master_key": MASTER, "alerting": ["slack", "webhook"]},
                  router={"num_retries": 1, "cooldown_time": 1, "fallbacks": [{"g": ["h"]}], "set_verbose": True, "redis_host": "127.0.0.1",
                          "redis_port": redis.port, "redis_password": "PLANTED-redis"},
                  weir={"access_log": "access.log", "event_log": "events.log", "event_log_routine": True, "alert_webhook": hook.url("/PLANTED-own?key=PLANTED-own"),
                        "otlp": {"endpoint": up.url("otel") + "/PLANTED-path", "interval": 0.05, "headers": {"x-api-key": "PLANTED-otlp"}}})


def calls(weir, up):
    """Calls of every kind of end; the replies."""
    script = [answers.text("PLANTED-answer"), answers.error(ERROR), answers.raw(500, "<html>PLANTED-page"), answers.error({**ERROR, "status": 401}),
              answers.stream("PLANTED-", "answer", answers.Error(ERROR)), answers.raw(200, "PLANTED-nonsense")]
    for name in "abc":
        up.says(name, *script, answers.text("PLANTED-answer", headers={"x-request-id": "PLANTED-provider-header"}))
    replies = []
    for number in range(12):
        body = {"model": "g" if number % 4 else "h", **PROMPT, **({"stream": True} if number % 3 == 0 else {})}
        replies.append(weir.ask(body, path="/v1/chat/completions?key=PLANTED-request-query",
                                headers={**KEY, "x-weir-explain": "1", "x-own": "PLANTED-request-header", "cookie": "PLANTED-cookie"}))
    replies.append(weir.ask({"model": "away", **PROMPT}, headers=KEY))
    replies.append(weir.ask({"model": "nobody", **PROMPT}, headers=KEY))
    replies.append(weir.ask({"model": "g", "api_key": "PLANTED-caller-key", **PROMPT}, headers=KEY))
    replies.append(weir.ask(b'{"model": "g", "messages": [{"content": "PLANTED-half', headers=KEY))
    replies.append(weir.ask({"model": "g", **PROMPT}, headers={"authorization": "Bearer sk-PLANTED-wrong"}))
    return replies


def pages(weir, ids):
    """Every page about weir itself, by its path."""
    def get(path, method="GET", body=None):
        reply = ask(weir.port, body, path=path, method=method, headers=KEY)
        assert reply.status == 200, (path, reply)
        return reply.body.decode() + str(reply.headers)
    paths = ["/metrics", "/weir/calls?limit=1000", "/weir/state", "/v1/models", "/v1/model/info", "/health/readiness",
             *(f"/weir/explain?model={name}" for name in ("g", "h", "away", "nobody")), *(f"/weir/calls/{call_id}" for call_id in ids)]
    told = {path: get(path) for path in paths}
    told["cool"] = get("/weir/cooldowns/a", "POST", {"seconds": 5, "by": "someone"})
    told["lift"] = get("/weir/cooldowns/a", "DELETE")
    return told


def top(weir):
    """All that `weir top` has drawn, of a screen that is wide and of what it tells of one deployment."""
    with Terminal([BINARY, "top", "--url", weir.url, "--key", MASTER], lines=50, columns=200) as terminal:
        terminal.until("away")
        terminal.press("\r")
        terminal.read(0.5)
        return terminal.raw.decode(errors="replace") + terminal.text


def test_no_key_and_no_prompt_is_told(weirs, up, hook, redis):
    collector = Collector(up)
    weir = weirs(configured(up, hook, redis), env={"SLACK_WEBHOOK_URL": hook.url("/PLANTED-slack"), "WEBHOOK_URL": hook.url("/PLANTED-web")})
    listener = Listener(weir.port, headers=KEY)
    replies = calls(weir, up)
    ids = [reply.header("x-litellm-call-id") for reply in replies[:-1]]
    wait.until(lambda: weir.ask(None, path=f"/weir/calls/{ids[-1]}", method="GET", headers=KEY).status == 200)
    collector.wait(len(ids) - 1)
    wait.until(lambda: len(hook.messages) >= 3)
    told = pages(weir, ids)
    told["listener"] = json.dumps(listener.events)
    told["top"] = top(weir)
    for call_id in ids[:4] + ids[-4:]:
        for more in ((), ("--json",)):
            done = run("explain", weir, *more, call_id, key=MASTER)
            told[f"explain {call_id} {more}"] = done.stdout + done.stderr
    told["reload"] = str(weir.reload(headers=KEY))
    told["spans"] = "".join(str(post.body) for post in collector.posts)
    told["alerts"] = "".join(str(message.body) for message in hook.messages)
    told["traces"] = "".join(reply.header("x-weir-trace") or "" for reply in replies)
    told["failures"] = "".join(reply.body.decode() for reply in replies[-4:])
    listener.leave()
    for name in ("access.log", "events.log", "weir.log"):
        told[name] = (weir.folder / name).read_text()
        assert told[name] or name == "weir.log"
    for name, text in told.items():
        found = re.search(r".{0,200}PLANTED.{0,40}", text)
        assert not found, f"{name}: {found[0]}"


def test_what_is_planted_is_used(weirs, up, hook, redis):
    """Or there would be nothing to find."""
    collector = Collector(up)
    weir = weirs(configured(up, hook, redis), env={"SLACK_WEBHOOK_URL": hook.url("/PLANTED-slack"), "WEBHOOK_URL": hook.url("/PLANTED-web")})
    replies = calls(weir, up)
    assert any("PLANTED-answer" in (reply.text or "") for reply in replies)
    asked = up.last("a")
    assert asked.header("authorization") == "Bearer key-PLANTED-provider" and asked.header("x-team-token") == "PLANTED-header"
    assert "PLANTED-query" in asked.path and b"PLANTED-prompt" in asked.body and b"PLANTED-system" in asked.body
    collector.wait(3)
    assert collector.posts[0].header("x-api-key") == "PLANTED-otlp" and "PLANTED-path" in collector.posts[0].path
    wait.until(lambda: {"/PLANTED-slack", "/PLANTED-web", "/PLANTED-own?key=PLANTED-own"} <= {message.path for message in hook.messages})
    scrape_when(weir, lambda page: page.sum("weir_redis_up") == 1)
    assert replies[-1].status == 401 and replies[-2].status == 400
