"""`weir explain` on real calls: what it says is what happened, and what goes wrong says how to mend it."""
import json
import re

import pytest

from kit import answers
from kit.answers import RESET, Wait, error
from kit.commands import explain, run, sentences
from kit.pages import Pages
from kit.terminal import Terminal
from kit.wait import until
from kit.weir import BINARY

FIRST = {"g": {"a": {"weight": 1000000}, "b": {"weight": 1}}}  # a is asked, but for retries


def story(weir, reply, **more):
    """The story of this reply's call, in sentences."""
    call = reply.header("x-litellm-call-id")
    until(lambda: run("explain", weir, call, **more).returncode == 0)
    return explain(weir, call, **more)


def told(weir, reply):
    return sentences(story(weir, reply))


def matches(have, *wanted):
    """Each sentence is as the pattern of its place says; `...` there stands for any number of them."""
    assert re.fullmatch("".join(r"(?:.*\n)*?" if w == "..." else w + r"\n" for w in wanted), "".join(s + "\n" for s in have)), "\n".join(have)


# ---- stories

def test_a_call_that_went_well(serve, up):
    weir = serve({"g": ["a"]})
    up.says("a", "fine")
    reply = weir.ask("g")
    text = story(weir, reply)
    assert re.match(rf"call {reply.header('x-litellm-call-id')} asked for g \(chat\) at \d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{{3}} UTC\n"
                    r"succeeded with 200 by a of g after [\d.]+ ms, 1 attempt, 0 retries, 0 fallbacks, 9 tokens in, 4 tokens out\n\n", text), text
    matches(sentences(text), r"a is chosen in g, by simple-shuffle", "attempt 1 on a begins", "the answer is complete, by a")


def test_a_retry_and_a_cooldown(serve, up):
    weir = serve(FIRST, router={"num_retries": 1, "cooldown_time": 5})
    up.says("a", error("rate_limit", {"retry-after": "7"})).says("b", "fine")
    matches(told(weir, weir.ask("g")),
            r"a is chosen in g, by simple-shuffle \| b was passed over: the strategy took another one",
            "attempt 1 on a begins",
            r"attempt 1 on a failed after [\d.]+ ms: rate_limit \(429, retry after 7 s\); a retry follows at once",
            r"a is taken out of every pick for 7 s, until \d\d:\d\d:\d\d: a 429 in a group with siblings",
            "retry 1 of at most 1 in g",
            r"b is chosen in g, by simple-shuffle \| a is cooling down until \d\d:\d\d:\d\d \((?:6\.\d+|7) s more\)",
            "attempt 2 on b begins",
            "the answer is complete, by b")


def test_a_fallback_and_the_failure_of_all(serve, up):
    weir = serve({"g": ["a"], "h": ["b"]}, router={"fallbacks": [{"g": ["h"]}], "num_retries": 0})
    up.says("a", error("internal"), error("auth")).says("b", "fine", error("internal"))
    matches(told(weir, weir.ask("g")), "a is chosen.*", "attempt 1 on a begins", r"attempt 1 on a failed .*internal \(500\); no retry follows",
            r"g is given up after internal \(500\): fallback to h", "b is chosen in h, by simple-shuffle", "attempt 2 on b begins", "the answer is complete, by b")
    text = story(weir, weir.ask("g"))
    assert "\nfailed with 401 auth by " in text or "\nfailed with 401 auth after " in text
    matches(sentences(text), "...", r"attempt 1 on a failed .*auth \(401\); no retry follows", "...", r"g is given up after auth \(401\): fallback to h", "...",
            r"the call fails: auth \(401\)")


def test_a_wait_before_a_retry(serve, up):
    weir = serve({"g": ["a"]}, router={"num_retries": 1, "disable_cooldowns": True}, env={"INITIAL_RETRY_DELAY": "0.2", "JITTER": "0"})
    up.says("a", error("internal"), "fine")
    matches(told(weir, weir.ask("g")), "...", r"attempt 1 on a failed .*; a retry follows after a wait of 2\d\d ms",
            r"retry 1 of at most 1 in g, after a wait of 2\d\d ms", "...")


def test_a_stream_that_is_cut_and_continued(serve, up):
    prefill = {"info": {"supports_assistant_prefill": True}}
    weir = serve({"g": {"a": prefill}, "h": {"b": prefill}}, router={"enable_mid_stream_fallback_continuation": True, "fallbacks": [{"g": ["h"]}]})
    up.says("a", answers.stream("One two three", RESET)).says("b", answers.stream(" four."))
    reply = weir.ask({"model": "g", "stream": True})
    assert reply.text == "One two three four."
    matches(told(weir, reply), "...", r"the stream of attempt 1 on a broke: \w+ \(\d+\); the caller has a part of it", "...",
            "b is chosen in h to carry on a stream that broke after content.*", "...",
            "attempt 2 on b carries on the text of attempt 1, of which the caller has 13 bytes", "...", "the answer is complete, by b")


def test_a_second_attempt_beside_a_slow_one(serve, up):
    weir = serve(FIRST, weir={"hedge": {"after": 0.2}})
    up.says("a", answers.late(answers.text("slow"), 3)).says("b", "fast")
    matches(told(weir, weir.ask("g")), "...", "attempt 1 on a begins", "b is chosen in g as a second attempt beside one that has given nothing for too long.*",
            r"attempt 1 on a has given nothing for 2\d\d ms: another one begins beside it", "attempt 2 on b begins",
            "attempt 1 on a is stopped: attempt 2 has answered first", "...", "the answer is complete, by b")


def test_everyone_cools_down(serve, up):
    weir = serve({"g": ["a", "b"]}, router={"num_retries": 0, "cooldown_time": 30, "allowed_fails": 0})
    up.says("a", error("internal")).says("b", error("internal"))
    weir.ask("g"), weir.ask("g")
    reply = weir.ask("g")
    assert reply.status == 429
    matches(told(weir, reply), r"nobody can be chosen in g(?: \| [ab] is cooling down until \d\d:\d\d:\d\d \(\d\d(?:\.\d)? s more\)){2}", "...",
            r"the call fails: rate_limit \(429, retry after 30 s\) by weir itself")


def test_tags_leave_others(serve, up):
    weir = serve({"g": {"a": {"tags": ["paid"]}, "b": {"tags": ["free"]}}}, router={"enable_tag_filtering": True})
    up.says("a", "fine").says("b", "fine")
    matches(told(weir, weir.ask({"model": "g", "tags": ["free"]})), r"b is chosen in g, by simple-shuffle \| a is not among those that the tags leave", "...")


def test_a_name_that_is_unknown(serve):
    weir = serve({"g": ["a"]})
    assert "\nfailed with 400 bad_request after " in story(weir, weir.ask("nix"))


def test_colours_are_for_terminals(serve, up):
    weir = serve({"g": ["a"]})
    up.says("a", "fine")
    call = weir.ask("g").header("x-litellm-call-id")
    assert "\x1b" not in story(weir, weir.ask("g"))
    for env, coloured in (({}, True), ({"NO_COLOR": "1"}, False)):
        with Terminal([BINARY, "explain", "--url", weir.url, call], 24, 120, env=env) as terminal:
            terminal.until("the answer is complete, by a")
            assert (b"\x1b[32msucceeded\x1b[0m with 200" in terminal.raw) == coloured and terminal.wait() == 0


# ---- the list and the newest

def test_the_newest_calls_are_listed(serve, up):
    weir = serve({"g": ["a"]}, router={"disable_cooldowns": True})
    up.says("a", "fine", error("auth"), "fine")
    ids = [weir.ask("g").header("x-litellm-call-id") for _ in range(3)]
    until(lambda: explain(weir).count("\n") == 4)
    lines = explain(weir).splitlines()
    assert [line.split()[1] for line in lines[:3]] == ids[::-1]
    assert re.fullmatch(r"\d\d:\d\d:\d\d  \S{36}  g {19}  401  auth +a +[\d.]+ ms +1 attempt", lines[1]), lines[1]
    assert re.match(r"weir remembers 3 calls \(at most 10000\), since 20", lines[3])
    assert [line.split()[1] for line in explain(weir, "--failed").splitlines()[:-1]] == [ids[1]]
    assert [line.split()[1] for line in explain(weir, "--kind", "Failed,Retry").splitlines()[:-1]] == [ids[1]]
    assert len(explain(weir, "--limit", "2").splitlines()) == 3
    assert explain(weir, "--kind", "Hedged").startswith("There is no such call.\n")


def test_the_newest_call_needs_no_id(serve, up):
    weir = serve({"g": ["a"]}, router={"disable_cooldowns": True})
    assert "no such call yet" in run("explain", weir, "--last").stderr
    up.says("a", error("auth"), "fine")
    failed, good = weir.ask("g").header("x-litellm-call-id"), weir.ask("g").header("x-litellm-call-id")
    until(lambda: explain(weir).count("\n") == 3)
    assert explain(weir, "--last").startswith(f"call {good} ")
    assert explain(weir, "--last", "--failed").startswith(f"call {failed} ")


def test_json_is_what_weir_answers(serve, up):
    weir = serve({"g": ["a"]})
    up.says("a", "fine")
    reply = weir.ask("g")
    story(weir, reply)
    call = reply.header("x-litellm-call-id")
    assert json.loads(explain(weir, "--json", call)) == weir.ask(None, path=f"/weir/calls/{call}", method="GET").json


def test_a_name_that_nothing_has_is_told_as_the_reason(serve):
    weir = serve({"g": ["a"]})
    assert "nothing is called so; GET /v1/models has the names" in story(weir, weir.ask("nope"))
    assert "nowhere to go" not in explain(weir, "--model", "nope")


# ---- what goes wrong

def fails(done, *texts):
    assert done.returncode == 1 and not done.stdout
    assert done.stderr.startswith("weir ") and done.stderr.count("\n") == 1
    assert all(text in done.stderr for text in texts), done.stderr


def test_nobody_listens_there():
    fails(run("explain", url="http://127.0.0.1:1"), "connection refused", "is weir running there", "--url")


def test_a_name_that_has_no_address():
    fails(run("explain", url="http://nowhere.invalid"), "nowhere.invalid", "--url")


def test_a_key_is_wanted(serve):
    weir = serve({"g": ["a"]}, general={"master_key": "sk-e2e-1234"})
    fails(run("explain", weir), "WEIR_KEY", "--key")
    fails(run("explain", weir, key="sk-other"), "does not take this key", "WEIR_KEY", "--key")
    for more in ({"key": "sk-e2e-1234"}, {"env": {"WEIR_KEY": "sk-e2e-1234"}}, {"env": {"LITELLM_MASTER_KEY": "sk-e2e-1234"}},
                 {"env": {"WEIR_KEY": "sk-e2e-1234", "LITELLM_MASTER_KEY": "sk-other"}}):
        assert "There is no such call." in explain(weir, **more)


def test_a_key_that_no_header_may_hold():
    fails(run("explain", url="http://127.0.0.1:1", key="a\nb"), "key")


def test_an_unknown_call_says_since_when_weir_remembers(serve):
    fails(run("explain", serve({"g": ["a"]}), "no-such-call/../x"), "since 20", "trace_calls")


@pytest.mark.parametrize("status, body", [(200, "<html>"), (404, "{}"), (200, '{"calls": 3'), (200, '{"status": "ok"}'), (502, ""), (200, "[]")])
def test_it_is_not_weir_that_listens_there(status, body):
    with Pages() as pages:
        pages.says("/weir/calls", body, status)
        fails(run("explain", url=pages.url), "weir that listens there")


def test_it_does_not_speak_http(certificates, upstreams):
    secure = upstreams(certificates.server("good"))
    fails(run("explain", url=secure.url().replace("https", "http")), "--url https://")
    with Pages() as pages:
        fails(run("explain", url=pages.url.replace("http", "https")), "--url http://")


def test_an_answer_has_a_maximum():
    with Pages() as pages:
        pages.says("/weir/calls", b"x" * (65 << 20))
        fails(run("explain", url=pages.url), "more than 64 MiB")


def test_a_proxy_in_front_may_have_a_path_of_its_own():
    with Pages() as pages:
        pages.says("/gateway/weir/calls", '{"calls": [], "since": "2026-11-30T09:12:03.120Z", "kept": 0, "max": 7}')
        assert "at most 7" in explain(None, url=pages.url + "/gateway/")


def test_what_is_no_url():
    for url in ("ftp://x", "localhost:4000", "http://", "http://a:b@c", "http://a/?b"):
        fails(run("explain", url=url), "--url wants http://HOST:PORT")


@pytest.mark.parametrize("arguments, text", [(["a", "b"], "one call at a time"), (["a", "--last"], "either a call"), (["--limit", "0"], "from 1 to 1000"),
                                             (["a", "--failed"], "choose among calls"), (["--last", "--limit", "3"], "--limit is for the list"),
                                             (["--nix"], "--nix"), ([""], "id is empty"), (["--model"], "--model")])
def test_wrong_usage(arguments, text):
    done = run("explain", None, *arguments)
    assert done.returncode == 2 and text in done.stderr and "--help" in done.stderr, done.stderr


def test_a_weir_that_keeps_no_calls_says_so(serve):
    assert explain(serve({"g": ["a"]}, weir={"trace_calls": 0})) == "weir keeps no calls: its weir_settings.trace_calls is 0.\n"


def test_a_kind_that_is_none_is_told_with_those_that_are(serve):
    fails(run("explain", serve({"g": ["a"]}), "--kind", "Retry,fallback"), "'fallback'", " Fallback ", " Retry ")


def test_help():
    done = run("explain", None, "--help")
    assert done.returncode == 0 and "WEIR_KEY" in done.stdout and not done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_over_tls(certificates):
    with Pages((certificates.folder / "good.pem", certificates.folder / "good.key")) as pages:
        pages.says("/weir/calls", '{"calls": [], "since": "2026-11-30T09:12:03.120Z", "kept": 0, "max": 7}')
        assert "since 2026-11-30T09:12:03.120Z" in explain(None, url=pages.url, env={"SSL_CERT_FILE": certificates.authority})
        fails(run("explain", url=pages.url), "SSL_CERT_FILE")


def test_names_cannot_steer_the_terminal(serve, up):
    weir = serve({"g\x1b[2J": {"a": {"info": {"id": "d\u202e\x9b31m"}}}})
    up.says("a", "fine")
    text = story(weir, weir.ask("g\x1b[2J"))
    assert "g?[2J" in text and "d??31m" in text
    assert not [c for c in text if (ord(c) < 32 and c != "\n") or 0x7f <= ord(c) < 0xa0 or c == "\u202e"]


def test_neither_keys_nor_prompts_are_told(serve, up):
    weir = serve({"g": {"a": {"api_key": "sk-planted-upstream"}}}, general={"master_key": "sk-planted-master"})
    up.says("a", error("internal"), "fine")
    for _ in range(2):
        reply = weir.ask({"model": "g", "messages": [{"role": "user", "content": "planted prompt"}]}, headers={"authorization": "Bearer sk-planted-master"})
        text = story(weir, reply, key="sk-planted-master") + explain(weir, "--json", reply.header("x-litellm-call-id"), key="sk-planted-master")
        assert "planted" not in text
