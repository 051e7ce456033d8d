"""weir as a process: starting, refusing to start, signals, draining, what it prints."""
import json
import os
import re
import signal
import socket
import subprocess
import time

import pytest

from kit import answers
from kit.answers import HANG, Wait
from kit.client import request_bytes
from kit.configs import config
from kit.wait import in_background
from kit.weir import BINARY, SANITIZED, WORKERS


# ---- starting

def test_it_says_where_it_serves(serve):
    weir = serve({"g": ["d1"]})
    assert weir.log_line(rf"ready.*127\.0\.0\.1:{weir.port}\b")


def test_a_port_in_use_is_refused_with_its_owner(serve, weirs, up):
    first = serve({"g": ["d1"]})
    second = weirs(config(up, {"g": ["d1"]}), start=False).launch(first.port)
    assert second.wait() not in (None, 0)
    assert str(first.port) in second.log and "in use" in second.log
    assert str(first.process.pid) in second.log and "weir" in second.log
    assert first.is_ready()


def test_a_port_that_another_program_has_is_refused_too(weirs, up):
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = holder.getsockname()[1]
        weir = weirs(config(up, {"g": ["d1"]}), start=False).launch(port)
        assert weir.wait() not in (None, 0)
        assert "in use" in weir.log and str(os.getpid()) in weir.log


def test_other_addresses_than_loopback_want_a_key(weirs, up):
    weir = weirs(config(up, {"g": ["d1"]}), start=False, host="0.0.0.0").launch()
    assert weir.wait() not in (None, 0) and "master_key" in weir.log


@pytest.mark.parametrize("general, env", [
    ({"master_key": "sk-e2e"}, {}), ({"dangerously_permit_weak_or_unset_master_key": True}, {}),
    ({}, {"LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true"}), ({}, {"LITELLM_MASTER_KEY": "sk-e2e"})])
def test_other_addresses_with_a_key_or_the_dangerous_word(weirs, up, general, env):
    up.says("d1", "fine")
    weir = weirs(config(up, {"g": ["d1"]}, general=general), host="0.0.0.0", env=env)
    assert weir.ask("g").text == "fine"
    if "master_key" in general or "LITELLM_MASTER_KEY" in env:
        assert weir.ask("g", headers={"authorization": "Bearer sk-other"}).status == 401


def test_a_host_by_name(weirs, up):
    weir = weirs(config(up, {"g": ["d1"]}), host="localhost")
    assert weir.is_ready()


@pytest.mark.parametrize("arguments, word", [
    (["serve"], "--config"), (["serve", "--config"], "--config"), (["serve", "--no-such-option"], "no-such-option"),
    (["serve", "--config", "/nowhere.yaml", "--port", "70000"], "70000"), (["serve", "--config", "/x", "--port", "abc"], "abc"),
    (["no-such-command"], "no-such-command")])
def test_wrong_usage_ends_with_2(arguments, word):
    done = subprocess.run([BINARY, *arguments], capture_output=True, text=True, timeout=30)
    assert done.returncode == 2 and word in done.stderr and done.stdout == ""


def test_help_and_version():
    for arguments in (["--help"], ["serve", "--help"], ["serve", "-h"], ["check", "--help"], ["version"], ["--version"]):
        done = subprocess.run([BINARY, *arguments], capture_output=True, text=True, timeout=30)
        assert done.returncode == 0 and done.stdout and done.stderr == "", arguments


def test_the_version_names_what_weir_is_made_of():
    done = subprocess.run([BINARY, "version"], capture_output=True, text=True, timeout=30)
    words = [line.split()[0] for line in done.stdout.splitlines()]
    assert words[0] == "weir" and {"hiredis", "libuv", "openssl", "libyaml", "llhttp", "pcre2", "yyjson", "zlib"} <= set(words)


def test_a_configuration_that_is_not_there(weirs):
    done = subprocess.run([BINARY, "serve", "--config", "/nowhere.yaml", "--port", "0"], capture_output=True, text=True, timeout=30)
    assert done.returncode == 1 and "/nowhere.yaml" in done.stderr


@pytest.mark.parametrize("text, place", [("model_list: [\n", r"config\.yaml:\d+:\d+: "), ("model_list:\n\t- a\n", r"config\.yaml:2:\d+: "),
                                         ("a: b: c\n", r"config\.yaml:1:\d+: ")])
def test_malformed_yaml_is_refused_with_its_place(weirs, text, place):
    weir = weirs(text, start=False).launch()
    assert weir.wait() == 1 and re.search(place, weir.log), weir.log


def test_what_is_odd_is_told_at_the_start(serve):
    weir = serve({"g": ["d1"]}, router={"num_retrys": 3, "set_verbose": True})
    assert re.search(r"config\.yaml:\d+:\d+: router_settings\.num_retrys: .*num_retries", weir.log), weir.log


# ---- ending

def test_a_call_in_flight_is_finished_before_the_end(serve, up):
    weir = serve({"g": ["d1"]})
    up.says("d1", answers.late(answers.text("finished"), 1))
    waiting = in_background(lambda: weir.ask("g"))
    assert up.wait_for(lambda u: u.hits() == 1)
    weir.signal(signal.SIGTERM)
    time.sleep(0.3)
    with pytest.raises(OSError):
        weir.connect(1).close()
    assert waiting().text == "finished"
    assert weir.wait(5) == 0


def test_a_stream_in_flight_is_finished_before_the_end(serve, up):
    weir = serve({"g": ["d1"]})
    up.says("d1", answers.stream("a", Wait(0.5), "b", Wait(0.5), "c"))
    waiting = in_background(lambda: weir.ask({"model": "g", "stream": True}))
    assert up.wait_for(lambda u: u.hits() == 1)
    weir.signal(signal.SIGTERM)
    reply = waiting()
    assert reply.text == "abc" and not reply.failed
    assert weir.wait(5) == 0


def test_idle_connections_do_not_hold_the_end_up(serve, up):
    weir = serve({"g": ["d1"]}, weir={"drain_timeout": 20})
    up.says("d1", "fine")
    with weir.connect() as idle:
        weir.ask("g")
        began = time.monotonic()
        weir.signal(signal.SIGTERM)
        assert weir.wait(10) == 0 and time.monotonic() - began < 3
        assert idle.is_closed()


def test_the_end_comes_though_a_call_does_not(serve, up):
    weir = serve({"g": ["d1"]}, weir={"drain_timeout": 0.7})
    up.says("d1", answers.SILENT)
    waiting = in_background(lambda: weir.ask("g"))
    assert up.wait_for(lambda u: u.hits() == 1)
    began = time.monotonic()
    weir.signal(signal.SIGTERM)
    assert weir.wait(10) == 0 and 0.6 < time.monotonic() - began < 5
    assert waiting().status != 200


def test_a_second_signal_ends_it_at_once(serve, up):
    weir = serve({"g": ["d1"]}, weir={"drain_timeout": 30})
    up.says("d1", answers.stream("a", HANG))
    waiting = in_background(lambda: weir.ask({"model": "g", "stream": True}))
    assert up.wait_for(lambda u: u.hits() == 1)
    weir.signal(signal.SIGTERM)
    time.sleep(0.5)
    assert weir.process.poll() is None
    weir.signal(signal.SIGTERM)
    began = time.monotonic()
    assert weir.wait(5) is not None and time.monotonic() - began < 3
    assert waiting().failed


def test_a_second_signal_leaves_nothing_behind_of_a_call_whose_client_left(serve, up):
    weir = serve({"g": ["d1"]})
    up.says("d1", answers.error(500))
    with weir.connect() as connection:
        connection.send(request_bytes({"model": "g", "messages": [], "num_retries": 100}))
        assert up.wait_for(lambda u: u.hits() == 2)
    time.sleep(0.2)
    weir.signal(signal.SIGTERM)
    time.sleep(0.2)
    assert weir.process.poll() is None
    weir.signal(signal.SIGTERM)
    assert weir.wait(5) == 0  # a leak would be told by the status


def test_ctrl_c_drains_as_well(serve, up):
    weir = serve({"g": ["d1"]})
    up.says("d1", answers.late(answers.text("finished"), 0.6))
    waiting = in_background(lambda: weir.ask("g"))
    assert up.wait_for(lambda u: u.hits() == 1)
    weir.signal(signal.SIGINT)
    assert waiting().text == "finished" and weir.wait(5) == 0


def test_readiness_ends_with_the_drain(serve, up):
    weir = serve({"g": ["d1"]})
    up.says("d1", answers.late(answers.text("finished"), 1))
    with weir.connect() as kept:
        waiting = in_background(lambda: weir.ask("g"))
        assert up.wait_for(lambda u: u.hits() == 1)
        weir.signal(signal.SIGTERM)
        time.sleep(0.2)
        assert kept.is_closed(2)
        assert waiting().text == "finished"


# ---- what it prints

SECRETS = {"master": "sk-e2e-master-SECRET", "upstream": "key-upstream-SECRET", "header": "header-value-SECRET", "prompt": "prompt-SECRET",
           "answer": "answer-SECRET", "query": "query-SECRET"}


def test_no_secret_and_no_prompt_is_printed_or_shown(serve, up):
    params = {"api_key": SECRETS["upstream"], "extra_headers": {"x-team-token": SECRETS["header"]}}
    weir = serve({"g": {"d1": params}, "w": {"d2": {**params, "api_base": "http://127.0.0.1:9"}}}, general={"master_key": SECRETS["master"]},
                 router={"set_verbose": True, "disable_cooldowns": True})
    up.says("d1", SECRETS["answer"], answers.error("auth", message=f"Incorrect API key provided: {SECRETS['upstream']}"),
            answers.error("bad_request", message="no"), answers.raw(200, "<html>"), answers.stream("x", answers.Error("internal")), SECRETS["answer"])
    key = {"authorization": f"Bearer {SECRETS['master']}"}
    seen = []
    for body in [{"model": "g"}, {"model": "g"}, {"model": "g"}, {"model": "g"}, {"model": "g", "stream": True}, {"model": "w"}, {"model": "nobody"}]:
        body["messages"] = [{"role": "user", "content": SECRETS["prompt"]}]
        seen.append(weir.ask(body, headers=key, path=f"/v1/chat/completions?key={SECRETS['query']}"))
    seen += [weir.ask(None, path=path, method="GET", headers=key) for path in ("/v1/models", "/v1/model/info", "/health", "/health/readiness", "/nowhere")]
    seen.append(weir.ask({"model": "g", "messages": [{"content": SECRETS["prompt"]}]}, headers={"authorization": "Bearer sk-other-SECRET"}))
    time.sleep(0.3)
    for secret in SECRETS.values():
        assert secret not in weir.log
    assert "SECRET" not in weir.log
    for reply in seen[1:]:
        told = (reply.body.decode(errors="replace") + str(reply.headers)).replace(SECRETS["answer"], "")
        assert "SECRET" not in told, told


def log_entries(weir, count):
    """The access log's lines, as soon as there are so many."""
    end = time.monotonic() + 5
    while True:
        lines = [json.loads(line) for line in weir.log.splitlines() if line.startswith("{")]
        if len(lines) >= count or time.monotonic() > end:
            return lines
        time.sleep(0.02)


def test_each_call_has_its_line_in_the_log(serve, up):
    weir = serve({"A": ["a"], "B": ["b"]}, router={"num_retries": 1, "fallbacks": [{"A": ["B"]}]})
    up.says("a", answers.error("unavailable"))
    up.says("b", "from b")
    bodies = ["A", {"model": "B", "stream": True, "stream_options": {"include_usage": True}}, {"model": "A", "fallbacks": []}, "nobody"]
    replies = [weir.ask(body) for body in bodies]
    entries = {entry["call_id"]: entry for entry in log_entries(weir, 4) if "call_id" in entry}
    fell_back, streamed, failed, unknown = (entries[reply.header("x-litellm-call-id")] for reply in replies)
    assert fell_back["status"] == 200 and fell_back["group"] == "B" and fell_back["deployment"] == "b" and fell_back["attempts"] == 3
    assert streamed["status"] == 200 and streamed["deployment"] == "b" and streamed["attempts"] == 1
    assert failed["status"] == 503 and failed["kind"] == "service_unavailable" and failed["attempts"] == 2
    assert unknown["status"] == 400
    for entry in (fell_back, streamed):
        tokens = [value for key, value in entry.items() if "tokens" in key]
        assert 9 in tokens and 4 in tokens, entry
    for entry in entries.values():
        assert re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$", entry["time"]) and entry["route"] == "chat"
        assert re.match(r"127\.0\.0\.1:\d+$", entry["peer"])
        assert entry["attempts"] == 0 or entry["duration_ms"] > 0
    assert all(word not in weir.log for word in ("hello", "from b", "key-of-"))


def test_the_log_tells_what_kept_a_call_from_an_answer(serve, up):
    weir = serve({"nobody": {"d1": {"api_base": "http://127.0.0.1:9"}}, "saved": {"d2": {"api_base": "http://127.0.0.1:9"}}, "B": ["b"]},
                 router={"num_retries": 0, "fallbacks": [{"saved": ["B"]}]})
    up.says("b", "from b")
    replies = [weir.ask("nobody"), weir.ask("saved")]
    entries = {entry["call_id"]: entry for entry in log_entries(weir, 2) if "call_id" in entry}
    failed, saved = (entries[reply.header("x-litellm-call-id")] for reply in replies)
    assert failed["kind"] == "connection" and failed["cause"] == "refused"
    assert saved["status"] == 200 and "cause" not in saved


def test_the_log_can_be_logfmt_or_off_or_a_file(serve, up, tmp_path):
    up.says("d1", "fine")
    logfmt = serve({"g": ["d1"]}, weir={"access_log_format": "logfmt"})
    id = logfmt.ask("g").header("x-litellm-call-id")
    assert re.search(r"\bstatus=200\b", logfmt.log_line(id))
    off = serve({"g": ["d1"]}, weir={"access_log": "off"})
    id = off.ask("g").header("x-litellm-call-id")
    path = tmp_path / "access.log"
    filed = serve({"g": ["d1"]}, weir={"access_log": str(path)})
    filed_id = filed.ask("g").header("x-litellm-call-id")
    time.sleep(0.3)
    assert id not in off.log and filed_id not in filed.log and filed_id in path.read_text()


def test_names_cannot_forge_lines_of_the_log(serve, up):
    weir = serve({"g": ["d1"]})
    name = 'x"}\n{"status": 200, "forged": true'
    assert weir.ask({"model": name}).status == 400
    weir.ask("nobody")
    log_entries(weir, 2)
    assert not any("forged" in entry for entry in log_entries(weir, 2))


def test_a_log_that_nobody_reads_stops_nobody(weirs, up, tmp_path):
    """Standard output is a pipe that is full: calls go on, lines are dropped and counted."""
    up.says("d1", "fine")
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    keeper = os.open(fifo, os.O_RDWR | os.O_NONBLOCK)
    try:
        weir = weirs(config(up, {"g": ["d1"]}, weir={"access_log": str(fifo)}))
        for _ in range(400):
            assert weir.ask({"model": "g", "user": "x" * 200}, timeout=5).text == "fine"
    finally:
        while True:
            try:
                if not os.read(keeper, 65536):
                    break
            except BlockingIOError:
                break
        time.sleep(0.2)
        os.close(keeper)


def test_a_log_that_nobody_reads_does_not_hold_up_the_end(weirs, up, tmp_path):
    up.says("d1", "fine")
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    weir = weirs(config(up, {"g": ["d1"]}, weir={"access_log": str(fifo)}))
    for _ in range(300):
        assert weir.ask({"model": "g", "user": "x" * 200}, timeout=5).text == "fine"
    began = time.monotonic()
    weir.stop()
    assert time.monotonic() - began < 8
    os.close(reader)


@pytest.mark.parametrize("limit", ["a full disk", "a limit of files"])
def test_a_log_that_cannot_be_written_is_told_and_stops_nobody(weirs, up, limit):
    up.says("d1", "fine")
    full = limit == "a full disk"
    weir = weirs(config(up, {"g": ["d1"]}, weir={"access_log": "off", "event_log": "/dev/full" if full else "events", "event_log_routine": True}),
                 prefix=[] if full else ["prlimit", "--fsize=1024:"])
    for _ in range(20):
        assert weir.ask("g", timeout=5).text == "fine"
    weir.log_line(f"the event log {'/dev/full' if full else 'events'} takes no lines: {'No space left' if full else 'File too large'}")
    page = weir.ask(None, path="/metrics", method="GET").body.decode()
    assert int(re.search(r"^weir_event_log_dropped_lines_total (\d+)$", page, re.M)[1]) > 0


# ---- workers

def test_workers_are_one_process_and_share_what_they_know(weirs, up):
    """A cooldown that one worker set holds for all; ids of connections spread over the workers."""
    up.says("d1", answers.error("rate_limit"), "never")
    up.says("d2", "two")
    made = config(up, {"g": {"d1": {"weight": 1000000}, "d2": {"weight": 1}}}, router={"cooldown_time": 30})
    weir = weirs(made, arguments=["--workers", WORKERS or "3"])
    assert weir.ask("g").status == 429
    for _ in range(24):
        assert weir.ask("g").text == "two"
    assert up.hits("d1") == 1


def test_allowed_fails_are_counted_over_all_workers(weirs, up):
    up.says("d1", answers.error("internal"))
    weir = weirs(config(up, {"g": ["d1"]}, router={"allowed_fails": 5, "cooldown_time": 30}), arguments=["--workers", WORKERS or "3"])
    assert [weir.ask("g").status for _ in range(8)] == [500] * 6 + [429] * 2


# ---- what it holds

def open_files(weir):
    return len(os.listdir(f"/proc/{weir.process.pid}/fd"))


def resident_kib(weir):
    with open(f"/proc/{weir.process.pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))


def test_what_is_opened_is_closed_again(serve, up):
    """Two rounds of every sort of call: the second one leaves no more descriptors than the first."""
    weir = serve({"g": ["d1"]}, weir={"upstream_idle_timeout": 0.3})
    trouble = ["fine", answers.error("internal"), answers.cut(answers.text("fine"), 40), answers.stream("x", answers.CLOSE), answers.BROKEN,
               answers.steps(b"garbage\r\n\r\n", answers.CLOSE)]

    def round():
        up.says("d1", *trouble)
        for number in range(60):
            weir.ask({"model": "g", "stream": number % 2 == 0})
        time.sleep(1.0)
        return open_files(weir)
    first = round()
    assert round() <= first + 2


def test_memory_does_not_grow_with_the_number_of_calls(serve, up):
    weir = serve({"g": ["d1"]}, router={"disable_cooldowns": True})
    up.says("d1", "fine", answers.error("internal"), answers.stream("a", "b"), answers.text("x" * 100_000))

    def round():
        for number in range(300):
            weir.ask({"model": "g", "stream": number % 3 == 0})
        return resident_kib(weir)
    round()
    second = round()
    assert SANITIZED or round() < second + 3000


def test_an_idle_weir_is_small(serve):
    weir = serve({"g": ["d1"]}, arguments=["--workers", "1"])
    assert SANITIZED or resident_kib(weir) < 8 * 1024
