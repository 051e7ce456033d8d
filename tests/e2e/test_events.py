"""Routing events as they come: GET /weir/events, and the event log, which must tell the same."""
import json
import os
import re
import signal
import socket
import time

import pytest

from kit import answers, client
from kit.configs import config
from kit.events import Listener, logged
from kit.wait import until
from kit.weir import SANITIZED

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


@pytest.fixture
def listen():
    opened = []

    def make(weir, query="", **more):
        opened.append(Listener(weir.port, query, **more))
        return opened[-1]
    yield make
    for listener in opened:
        listener.leave()


def get(weir, path="/weir/events", method="GET", **more):
    return client.ask(weir.port, path=path, method=method, **more)


# ---- the stream

def test_events_come_as_they_happen(serve, up, listen):
    weir = serve({"g": ["d1"]}, router={"num_retries": 1})
    up.says("d1", answers.error("internal"), answers.text("good"))
    listener = listen(weir)
    assert listener.status == 200
    assert listener.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert listener.headers["cache-control"] == "no-cache"
    call_id = weir.ask("g").header("x-litellm-call-id")
    listener.wait(lambda l: "Succeeded" in l.kinds)
    assert [kind for kind in listener.kinds if kind != "Picked"] == [
        "AttemptStarted", "AttemptFailed", "Retry", "AttemptStarted", "Succeeded"]
    ids = [number for number, _, _ in listener.events]
    assert ids == list(range(ids[0], ids[0] + len(ids)))
    for _, kind, data in listener.events:
        assert data["kind"] == kind and data["call_id"] == call_id and TIME.fullmatch(data["time"])
    failed = listener.of("AttemptFailed")[0]
    assert failed["deployment"] == "d1" and failed["group"] == "g" and failed["attempt"] == 1
    assert failed["failure"]["kind"] == "internal" and failed["failure"]["status"] == 500 and failed["will_retry"] is True


def test_the_filter_leaves_some_kinds(serve, up, listen):
    weir = serve({"g": ["d1"], "h": ["d2"]}, router={"fallbacks": [{"g": ["h"]}]})
    up.says("d1", answers.error("internal"))
    up.says("d2", "good")
    some, all_of_them = listen(weir, "?kind=Fallback,Failed"), listen(weir)
    encoded = listen(weir, "?kind=Fallback%2CFailed")
    assert weir.ask("g").status == 200
    all_of_them.wait(lambda l: "Succeeded" in l.kinds)
    some.wait(lambda l: l.events)
    encoded.wait(lambda l: l.events)
    assert some.kinds == encoded.kinds == ["Fallback"]
    assert some.of("Fallback")[0]["target"] == "h"


@pytest.mark.parametrize("query", ["?kind=Nothing", "?kind=fallback", "?kind=", "?kind=Fallback,", "?kind=Retry,%00", "?kind=%zz"])
def test_an_unknown_kind_is_refused(serve, query):
    reply = get(serve({"g": ["d1"]}), f"/weir/events{query}")
    assert reply.status == 400 and reply.json["error"]["code"] == "400" and reply.json["error"]["type"] == "invalid_request_error"


def test_the_key_is_wanted(serve, listen):
    weir = serve({"g": ["d1"]}, general={"master_key": "sk-e2e"})
    assert get(weir, headers={"authorization": None}).status == 401
    assert get(weir, headers={"authorization": "Bearer sk-other"}).status == 401
    assert listen(weir).status == 200


def test_head_and_other_methods(serve):
    weir = serve({"g": ["d1"]})
    reply = get(weir, method="HEAD")
    assert reply.status == 200 and reply.header("content-type").startswith("text/event-stream") and not reply.body
    reply = get(weir, method="POST", body={})
    assert reply.status == 405 and reply.header("allow") == "GET, HEAD, OPTIONS"


def test_only_so_many_may_listen(serve, listen):
    weir = serve({"g": ["d1"]})
    listeners = [listen(weir) for _ in range(64)]
    reply = get(weir)
    assert reply.status == 503 and reply.header("retry-after") == "1"
    listeners[0].leave()
    until(lambda: listen(weir).status == 200)


def test_a_client_that_leaves_is_forgotten(serve, up, listen):
    weir = serve({"g": ["d1"]})
    up.says("d1", "good")
    for _ in range(100):
        listen(weir).leave()
    stays = listen(weir)
    weir.ask("g")
    stays.wait(lambda l: "Succeeded" in l.kinds)


def resident_kb(weir):
    with open(f"/proc/{weir.process.pid}/status") as status:
        return int(re.search(r"VmRSS:\s+(\d+)", status.read())[1])


def slow_socket(weir):
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.settimeout(30)
    sock.connect(("127.0.0.1", weir.port))
    sock.sendall(client.request_bytes(None, "/weir/events", "GET"))
    return sock


@pytest.mark.skipif(SANITIZED, reason="a sanitizer keeps what was freed")
def test_a_slow_reader_loses_events_is_told_and_costs_little(serve, up):
    group = "g" * 4000
    weir = serve({group: ["d1"]})
    up.says("d1", "good")
    slow = [slow_socket(weir) for _ in range(4)]
    text = slow[0].recv(4096)
    weir.ask(group)
    before = resident_kb(weir)
    with weir.connect() as connection:
        for _ in range(1500):
            connection.send(client.request_bytes({"model": group, "messages": [{"role": "user", "content": "x"}]}))
            connection.reply()
    assert resident_kb(weir) - before < 12 * 1024
    dropped = None
    while not dropped:
        data = slow[0].recv(1 << 20)
        assert data
        text += data
        dropped = re.search(rb'data: \{"events":(\d+)\}\nevent: Dropped\n\n(?s:.*)\nid: \d+\n', text)
    # What came before and what is lost come together up to the next that came.
    came = [int(n) for n in re.findall(rb"\nid: (\d+)\n", text[:dropped.start()])]
    after = int(re.search(rb"\nid: (\d+)\n", text[dropped.start():])[1])
    assert came == list(range(1, len(came) + 1)) and after == len(came) + int(dropped[1]) + 1
    for sock in slow:
        sock.close()


def test_comments_keep_a_silent_stream_open(serve, listen):
    weir = serve({"g": ["d1"]})
    listener = listen(weir)
    began = time.monotonic()
    listener.wait(lambda l: l.comments[1:], 20)
    assert listener.comments[1] == ": ping" and 14 < time.monotonic() - began < 17


def test_a_drain_ends_the_streams(serve, up, listen):
    weir = serve({"g": ["d1"]})
    up.says("d1", answers.late(answers.text("good"), 1))
    listener = listen(weir)
    weir.signal(signal.SIGTERM)
    listener.wait(lambda l: l.ended, 2)
    assert not listener.cut
    assert weir.wait() == 0


def test_a_reload_keeps_the_streams(serve, up, listen):
    weir = serve({"g": ["d1"]})
    up.says("d1", "good")
    up.says("d2", "good")
    listener = listen(weir)
    assert weir.reload(config(up, {"h": ["d2"]})).status == 200
    assert weir.ask("h").status == 200
    listener.wait(lambda l: "Succeeded" in l.kinds)
    assert listener.of("Succeeded")[0]["group"] == "h"


def test_another_key_ends_the_streams_of_the_one_before(serve, up, listen):
    weir = serve({"g": ["d1"]}, general={"master_key": "sk-e2e"})
    listener = listen(weir)
    assert weir.reload(config(up, {"g": ["d1"]}, general={"master_key": "sk-e2e"})).status == 200
    assert weir.reload(config(up, {"g": ["d1"]}, general={"master_key": "sk-new"})).status == 200
    listener.wait(lambda l: l.ended)
    assert listen(weir, headers={"authorization": "Bearer sk-new"}).status == 200


def test_listeners_of_all_workers_hear_all(weirs, up, listen):
    weir = weirs(config(up, {"g": ["d1"]}), arguments=["--workers", "2"])
    up.says("d1", "good")
    listeners = [listen(weir) for _ in range(8)]
    ids = sorted(weir.ask("g").header("x-litellm-call-id") for _ in range(20))
    for listener in listeners:
        listener.wait(lambda l: len(l.of("Succeeded")) == 20)
        assert sorted(data["call_id"] for data in listener.of("Succeeded")) == ids


# ---- the event log

def test_off_is_the_default(serve, up):
    weir = serve({"g": ["d1"]})
    up.says("d1", "good")
    weir.ask("g")
    weir.log_line('"route":"chat"')
    assert "AttemptStarted" not in weir.log


def test_the_log_tells_what_the_stream_tells(serve, up, listen, tmp_path):
    path = tmp_path / "events.log"
    weir = serve({"g": ["d1", "d2"], "h": ["d3"]}, router={"num_retries": 1, "fallbacks": [{"g": ["h"]}], "allowed_fails": 0},
                 weir={"event_log": str(path), "event_log_routine": True})
    for name in ("d1", "d2"):
        up.says(name, answers.error("rate_limit"))
    up.says("d3", "good")
    listener = listen(weir)
    for _ in range(3):
        assert weir.ask("g").status == 200
    listener.wait(lambda l: len(l.of("Succeeded")) == 3)
    until(lambda: sum(line["kind"] == "Succeeded" for line in logged(path)) == 3)
    told, lines = [data for _, _, data in listener.events], logged(path)
    for call_id in {data["call_id"] for data in told}:  # workers write apart from each other: a call's lines are in its order
        assert [line for line in lines if line["call_id"] == call_id] == [data for data in told if data["call_id"] == call_id]
    assert len(lines) == len(told)
    assert {"CooldownSet", "Fallback", "Retry"} <= {line["kind"] for line in logged(path)}


def test_a_call_that_nothing_happens_to_has_no_line_in_the_event_log(serve, up, listen, tmp_path):
    path = tmp_path / "events.log"
    weir = serve({"g": ["d1"], "h": ["d2"]}, router={"num_retries": 0, "fallbacks": [{"g": ["h"]}]}, weir={"event_log": str(path)})
    listener = listen(weir)
    up.says("d1", "good", answers.error("internal"))
    up.says("d2", "good")
    quiet, other = (weir.ask("g").header("x-litellm-call-id") for _ in range(2))
    listener.wait(lambda l: len(l.of("Succeeded")) == 2)    # who listens hears all of them
    until(lambda: path.exists() and "Fallback" in path.read_text())
    assert [(line["call_id"], line["kind"]) for line in logged(path)] == [(other, "AttemptFailed"), (other, "Fallback")]
    assert quiet != other


def test_each_call_has_its_events(weirs, up, tmp_path):
    path = tmp_path / "events.log"
    weir = weirs(config(up, {"g": ["d1"]}, weir={"event_log": str(path), "event_log_routine": True}), arguments=["--workers", "2"])
    up.says("d1", "good")
    ids = [weir.ask("g").header("x-litellm-call-id") for _ in range(50)]
    until(lambda: sum(line["kind"] == "Succeeded" for line in logged(path)) == 50)
    for kind in ("AttemptStarted", "Succeeded"):
        assert sorted(line["call_id"] for line in logged(path) if line["kind"] == kind) == sorted(ids)


def test_on_standard_output_both_logs_stand_line_by_line(serve, up):
    weir = serve({"g": ["d1"]}, weir={"event_log": "stdout", "event_log_routine": True})
    up.says("d1", "good")
    weir.ask("g")
    weir.log_line('"kind":"Succeeded"')
    weir.log_line('"route":"chat"')
    for line in weir.log.splitlines():
        if line.startswith("{"):
            json.loads(line)


def test_a_file_that_cannot_be_opened_is_told(weirs, up):
    weir = weirs(config(up, {"g": ["d1"]}, weir={"event_log": "/no-such-folder/events"}), start=False)
    weir.launch()
    assert weir.wait() == 1
    assert "the event log /no-such-folder/events: No such file or directory" in weir.log


@pytest.mark.parametrize("how", ["signal", "request", "a file that is refused"])
def test_a_reload_writes_to_a_fresh_file_where_the_log_was_moved_away(serve, up, tmp_path, how):
    paths = {"event_log": tmp_path / "events", "access_log": tmp_path / "calls"}
    weir = serve({"g": ["d1"]}, weir={"event_log_routine": True, **{key: str(path) for key, path in paths.items()}})
    up.says("d1", "good")
    first = weir.ask("g").header("x-litellm-call-id")
    for path in paths.values():
        until(lambda path=path: path.exists() and first in path.read_text())
        os.rename(path, f"{path}.1")
    if how == "signal":
        weir.signal(signal.SIGHUP)
    else:
        assert weir.reload(*(["model_list: ["] if "refused" in how else [])).status == (400 if "refused" in how else 200)
    for path in paths.values():
        until(path.exists)
    second = weir.ask("g").header("x-litellm-call-id")
    for path in paths.values():
        until(lambda path=path: second in path.read_text())
        assert first not in path.read_text() and second not in open(f"{path}.1").read()


def test_neither_keys_nor_words_are_told(serve, up, listen, tmp_path):
    path = tmp_path / "events.log"
    weir = serve({"g": {"d1": {"api_key": "planted-provider-key"}}}, general={"master_key": "sk-e2e"},
                 weir={"event_log": str(path), "event_log_routine": True})
    up.says("d1", answers.error("internal", message="planted-error"), answers.text("planted-answer"))
    listener = listen(weir)
    for _ in range(2):
        weir.ask({"model": "g", "messages": [{"role": "user", "content": "planted-prompt"}]})
    listener.wait(lambda l: "Succeeded" in l.kinds)
    until(lambda: "Succeeded" in path.read_text())
    told = path.read_text() + json.dumps(listener.events)
    for planted in ("planted-", "sk-e2e"):
        assert planted not in told
