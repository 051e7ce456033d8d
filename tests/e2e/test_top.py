"""`weir top` in a terminal of 80 and of 200 columns, and as plain text: what a person sees and what keys do."""
import json
import os
import re
import signal
import time

import pytest
from wcwidth import wcswidth

from kit.answers import error
from kit.commands import run
from kit.pages import Pages
from kit.terminal import Terminal
from kit.weir import BINARY, SANITIZED

NARROW = ["GROUP", "DEPLOYMENT", "STATE", "FLYING", "LATENCY", "FAILED", "REQ/MIN"]
WIDE = NARROW + ["FIRST", "TOK/MIN", "LAST FAILURE", "MODEL", "PROVIDER"]
NOW = "2026-11-30T09:01:00.000Z"


def deployment(number, name=None):
    cools = number % 10 == 0
    return {"id": name or f"d{number}", "model": f"openai/model-{number}", "provider": "openai", "api_base": "https://api.openai.com/v1",
            "eligible": not cools, "why": "cooling_down" if cools else None,
            "cooldown": {"until": NOW, "remaining_s": number + 1, "length_s": 600, "kind": "rate_limit", "status": 429, "rule": "rate_limited",
                         "number": 1} if cools else None,
            "window": {"successes": 90, "failures": number % 11}, "in_flight": number % 7, "in_flight_elsewhere": 0,
            "usage": {"requests": number, "tokens": number * 100, "rpm": 600}, "latency_s": number / 100, "ttft_s": number / 1000,
            "last_failure": {"kind": "timeout", "status": 408, "time": "2026-11-30T09:00:48.000Z"} if number % 11 else None}


def state(count, names=None, since="2026-11-30T08:00:00.000Z"):
    groups = [{"group": f"g{first // 3}", "strategy": "simple-shuffle",
               "deployments": [deployment(n, (names or {}).get(n)) for n in range(first, min(first + 3, count))]} for first in range(0, count, 3)]
    return {"now": NOW, "since": since, "uptime_s": 3660, "version": "0.1.0", "in_flight": 4, "groups": groups}


CALLS = {"since": "2026-11-30T08:00:00.000Z", "kept": 9, "max": 10000, "calls": [
    {"call_id": f"0b0e7f3c-21c9-4b6a-9d5e-8a1b2c3d4e5{n}", "time": f"2026-11-30T09:00:{30 - n:02}.000Z", "model": "g1", "group": "g1",
     "deployment": "d4", "status": 200 if n else 429, "kind": None if n else "rate_limit", "attempts": 3, "fallbacks": n, "recovery": "retry",
     "duration_ms": 831, "state": "succeeded" if n else "failed"} for n in range(3)]}


@pytest.fixture
def pages():
    """A server that answers as weir does, with forty deployments."""
    with Pages() as made:
        made.says("/weir/state", json.dumps(state(40)))
        made.says("/weir/calls", json.dumps(CALLS))
        yield made


def top(pages, lines=24, columns=80, *arguments, **more):
    return Terminal([BINARY, "top", "--url", pages.url, "--interval", "0.1", *arguments], lines, columns, **more)


def column(lines, title, row):
    """What stands right below the title in the row."""
    at = next(line.index(title) for line in lines if title in line)
    return row[at:at + len(title)].strip()


def rows(lines):
    """The lines of the table below its titles."""
    first = next((i for i, line in enumerate(lines) if "DEPLOYMENT" in line), len(lines)) + 1
    return [line for line in lines[first:] if re.match(r"g\d* +", line)]


# ---- what is shown

@pytest.mark.parametrize("columns, titles", [(80, NARROW), (200, WIDE)])
def test_the_columns_of_a_terminal(pages, columns, titles):
    with top(pages, 24, columns) as terminal:
        lines = terminal.until("FLYING")
        assert [title for title in WIDE if title in lines[2]] == titles
        assert lines[0].startswith(f"weir 0.1.0 {pages.url}  09:01:00 UTC  since 08:00:00 (1 h 1 min)")
        assert lines[1] == "14 groups, 40 deployments: 36 eligible, 4 cooling down; 4 in flight"
        assert lines[3].split() == ["g10", "d30", "cools", "31", "s", "rate_limit"] + lines[3].split()[6:]
        assert "q quit" in lines[-1] and "s by STATE" in lines[-1]
        pane = next(i for i, line in enumerate(lines) if line.startswith("TIME"))
        assert lines[pane + 1].startswith("09:00:30  g1") and "429 rate_limit" in lines[pane + 1]
        assert ("CALL" in lines[pane]) == (columns == 200)
        if columns == 200:
            assert "timeout 408, 12 s ago" in lines[4] and "openai/model-20" in lines[4]


@pytest.mark.parametrize("lines, columns", [(24, 80), (50, 200), (10, 40), (5, 20), (3, 10), (1, 1)])
def test_nothing_goes_over_the_edge(pages, lines, columns):
    """An emulator of 40 columns and lines more sees the same, and nothing beyond."""
    pages.says("/weir/state", json.dumps(state(40, {n: "模型-ö" * 30 for n in range(0, 40, 2)})))
    with top(pages, lines, columns) as terminal:
        terminal.screen.resize(lines + 40, columns + 40)
        terminal.until(lambda shown: any(line for line in shown))
        terminal.read(0.5)
        assert not any(line for line in terminal.lines[lines:])
        assert max(wcswidth(line) for line in terminal.lines) <= columns


def test_wide_characters_keep_the_columns_in_line(pages):
    pages.says("/weir/state", json.dumps(state(9, {3: "模型", 4: "größe", 5: "e\u0301le\u0300ve"})))
    with top(pages) as terminal:
        lines = terminal.until("模型")
        at = lines[2].index("STATE")
        for name in ("模型", "größe"):
            row = next(line for line in lines if name in line)
            assert wcswidth(row[:row.index(" ok")]) + 1 == at, row


@pytest.mark.parametrize("locale", [{"LANG": ""}, {"LANG": "C"}, {"LC_ALL": "C.UTF-8"}])
def test_names_are_readable_where_no_language_is_set(pages, locale):
    pages.says("/weir/state", json.dumps(state(3, {1: "größe 模型"})))
    with top(pages, env=locale) as terminal:
        terminal.until("größe 模型")


def test_names_cannot_steer_the_terminal(pages):
    pages.says("/weir/state", json.dumps(state(3, {1: "x\x1b[2J\x1b]0;owned\x07\x9b31m\u202ey"})))
    with top(pages, 24, 200) as terminal:
        terminal.until("x?[2J?]0;owned??31m?y")
        assert b"\x1b]0;" not in terminal.raw and b"\xc2\x9b" not in terminal.raw and "\u202e".encode() not in terminal.raw


def test_without_colour_where_nobody_wants_it(pages):
    def sequences(terminal):
        terminal.until("FLYING")
        return re.findall(rb"\x1b\[[0-9;]*3[0-7][0-9;]*m", terminal.raw)
    with top(pages) as terminal:
        assert sequences(terminal)
    with top(pages, env={"NO_COLOR": "1"}) as terminal:
        assert not sequences(terminal)
    with top(pages, env={"TERM": "vt100"}) as terminal:
        assert not sequences(terminal)


# ---- keys

def test_sorting(pages):
    with top(pages) as terminal:
        terminal.until("s by STATE")
        terminal.press("s")
        lines = terminal.until("s by FLYING")
        flying = [int(column(lines, "FLYING", row)) for row in rows(lines)]
        assert flying == sorted(flying, reverse=True) and flying[0] == 6
        terminal.press("r")
        terminal.until(lambda lines: rows(lines) and column(lines, "FLYING", rows(lines)[0]) == "0")
        terminal.press("SS")
        terminal.until("s by DEPLOYMENT")
        lines = terminal.until(lambda lines: rows(lines)[1].split()[1] == "d1")
        assert [row.split()[1] for row in rows(lines)][:4] == ["d0", "d1", "d10", "d11"]


def test_filtering(pages):
    with top(pages) as terminal:
        terminal.until("FLYING")
        terminal.press("/D27")
        lines = terminal.until(lambda lines: "/D27_" in lines[1] and len(rows(lines)) == 1)
        assert rows(lines)[0].split()[1] == "d27"
        terminal.press("\x7f\x7f\x7frate_limit\r")
        lines = terminal.until(lambda lines: "/rate_limit  " in lines[1] and len(rows(lines)) == 4)
        terminal.press("\x1b")
        terminal.until(lambda lines: len(rows(lines)) > 8 and "/" not in lines[1])


def test_views(pages):
    with top(pages) as terminal:
        terminal.until("FLYING")
        terminal.press("g")
        terminal.until(lambda lines: any(re.match(r"g0 +2/3  1 cools, back in 1 s", line) for line in lines))
        terminal.until(lambda lines: "ELIGIBLE" in lines[2] and "weir explain --model " in lines[-3])
        terminal.press("f")
        terminal.until("weir explain 0b0e7f3c-21c9-4b6a-9d5e-8a1b2c3d4e50  tells its story")
        terminal.press("?")
        terminal.until("the other way round")
        terminal.press("xd")
        terminal.until(lambda lines: len(rows(lines)) > 5)


def test_scrolling_through_thousands(pages):
    pages.says("/weir/state", json.dumps(state(5000)))
    with top(pages, 24, 80, env={}) as terminal:
        terminal.until("5000 deployments", 30)
        terminal.press("S")
        terminal.until("s by DEPLOYMENT")
        terminal.press("\x1bOF")
        terminal.until("d999 of g333")
        terminal.press("\x1bOA\x1bOA")
        terminal.until("d997 of g332")
        terminal.press("\x1b[5~")
        terminal.until("d985 of ")
        terminal.press("\x1bOH\x1b[6~\x1bOB")
        terminal.until("d101 of ")


def test_pausing(pages):
    with top(pages) as terminal:
        terminal.until("FLYING")
        terminal.press("p")
        terminal.until("PAUSED")
        terminal.read(0.3)
        asked = len(pages.asked)
        pages.says("/weir/state", json.dumps(state(50)))
        terminal.read(0.5)
        assert len(pages.asked) == asked and "40 deployments" in terminal.text
        terminal.press("p")
        terminal.until("50 deployments")


def test_quitting_leaves_the_terminal_as_it_was(pages):
    for leave in (lambda terminal: terminal.press("q"), lambda terminal: terminal.press("\x03"), lambda terminal: os.kill(terminal.pid, signal.SIGTERM)):
        with top(pages) as terminal:
            terminal.until("FLYING")
            leave(terminal)
            assert terminal.wait() == 0
            assert b"\x1b[?1049h" in terminal.raw and b"\x1b[?1049l" in terminal.raw.rpartition(b"\x1b[?1049h")[2]


def test_another_size(pages):
    with top(pages) as terminal:
        terminal.until("FLYING")
        terminal.resize(30, 200)
        lines = terminal.until(lambda lines: "PROVIDER" in lines[2] and "q quit" in lines[-1])
        assert len(lines) == 30
        terminal.resize(12, 60)
        terminal.until(lambda lines: "q quit" in lines[-1] and "PROVIDER" not in lines[2] and not any(line.startswith("TIME") for line in lines))


# ---- weir comes and goes

def test_it_refreshes_and_outlives_restarts(serve, weirs, up):
    up.says("a", "fine")
    weir = serve({"g": ["a", "b"]})
    with Terminal([BINARY, "top", "--url", weir.url, "--interval", "0.1"]) as terminal:
        since = re.search(r"since (\S+)", "\n".join(terminal.until("2 deployments: 2 eligible")))[1]
        weir.signal(signal.SIGTERM)
        assert weir.wait() == 0
        lines = terminal.until("LOST: cannot ask")
        assert since in lines[0] and len(rows(lines)) == 2
        time.sleep(1.1)
        weir.start()
        lines = terminal.until("RESTARTED")
        assert "LOST" not in "\n".join(lines) and since not in lines[0]
        terminal.press("q")
        assert terminal.wait() == 0


def test_what_happens_is_seen(serve, up):
    weir = serve({"g": {"a": {"weight": 1000000}, "b": {"weight": 1}}}, router={"num_retries": 1, "cooldown_time": 60})
    up.says("a", error("rate_limit")).says("b", "fine")
    with Terminal([BINARY, "top", "--url", weir.url, "--interval", "0.1"], 24, 200) as terminal:
        terminal.until("2 deployments: 2 eligible")
        weir.ask("g")
        lines = terminal.until("1 cooling down")
        assert re.match(r"g +a +cools (?:1 min|\d\d s) rate_limit", lines[3]), lines[3]
        lines = terminal.until(lambda lines: any("2, retry" in line for line in lines))
        assert any(re.match(r"\d\d:\d\d:\d\d  g +b +200 +2, retry", line) for line in lines)


# ---- as plain text

def test_printed_once_everything_is_there(pages):
    for arguments in (["--once"], []):  # no terminal: once
        done = run("top", None, *arguments, url=pages.url)
        assert done.returncode == 0 and not done.stderr
        assert all(title in done.stdout for title in WIDE + ["STRATEGY", "ELIGIBLE", "CALL"])
        assert len(re.findall(r"^g\d+ +d\d+ ", done.stdout, re.M)) == 40 and "\x1b" not in done.stdout


def test_a_weir_that_keeps_no_calls_is_shown_without_any(pages):
    pages.says("/weir/calls", json.dumps({"error": {"message": "none"}}), 404)
    done = run("top", None, "--once", url=pages.url)
    assert done.returncode == 0 and "d39" in done.stdout and "ASKED FOR" not in done.stdout


def test_what_goes_wrong_at_the_start_is_told_and_ends_it(serve, pages):
    done = run("top", url="http://127.0.0.1:1")
    assert done.returncode == 1 and "is weir running there" in done.stderr and not done.stdout
    weir = serve({"g": ["a"]}, general={"master_key": "sk-e2e-1234"})
    assert "WEIR_KEY" in run("top", weir).stderr
    assert run("top", weir, key="sk-e2e-1234").returncode == 0
    pages.says("/weir/state", "{}")
    assert "weir that listens there" in run("top", url=pages.url).stderr
    with Terminal([BINARY, "top", "--url", "http://127.0.0.1:1"], 24, 200) as terminal:
        terminal.until("is weir running there")
        assert terminal.wait() == 1
    pages.says("/weir/state", json.dumps(state(3)))
    with top(pages, 24, 200, env={"TERM": "no-such-terminal"}) as terminal:
        assert "--once" in "".join(terminal.until("TERM=no-such-terminal"))
        assert terminal.wait() == 1


def test_a_dumb_terminal_gets_plain_text_once(pages):
    with top(pages, 80, 200, env={"TERM": "dumb"}) as terminal:
        terminal.until("ASKED FOR")
        assert terminal.wait() == 0 and b"\x1b" not in terminal.raw


def test_the_help_fits_into_eighty_columns(pages):
    with top(pages, 30, 200) as terminal:
        terminal.until("FLYING")
        terminal.press("?")
        assert max(map(len, terminal.until("What weir knows"))) <= 80


def test_a_cooldown_by_hand_names_who_set_it(pages):
    one = state(3)
    one["groups"][0]["deployments"][0]["cooldown"] = {"until": NOW, "remaining_s": 500, "length_s": 600, "rule": "by_hand", "by": "anna", "number": 0}
    pages.says("/weir/state", json.dumps(one))
    with top(pages) as terminal:
        lines = terminal.until("by anna")
        assert any(line.startswith("d0 of g0 cools 8 min 20 s of 10 min, set by anna:") for line in lines)


def test_a_timeout_s_latency_is_shown_in_seconds(pages):
    one = state(3)
    one["groups"][0]["deployments"][0]["latency_s"] = 1000
    pages.says("/weir/state", json.dumps(one))
    with top(pages) as terminal:
        assert column(terminal.until("FLYING"), "LATENCY", rows(terminal.lines)[0]).strip() == "1000 s"


@pytest.mark.parametrize("arguments, text", [(["--interval", "0"], "from 0.1 to 3600"), (["--interval", "x"], "from 0.1 to 3600"), (["x"], "unexpected argument"),
                                             (["--nix"], "--nix")])
def test_wrong_usage(arguments, text):
    done = run("top", None, *arguments)
    assert done.returncode == 2 and text in done.stderr and "--help" in done.stderr


def test_help():
    done = run("top", None, "--help")
    assert done.returncode == 0 and "NO_COLOR" in done.stdout and not done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 100


@pytest.mark.skipif(SANITIZED, reason="a sanitizer's memory is not weir's")
def test_serving_does_not_load_the_terminal(serve):
    weir = serve({"g": ["a"]})
    maps = open(f"/proc/{weir.process.pid}/maps").read()
    assert "libssl" in maps and "ncurses" not in maps and "tinfo" not in maps
