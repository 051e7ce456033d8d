"""The header x-weir-trace: what a call did until its answer began."""
import re

from kit import answers
from kit.answers import CLOSE, Wait, error
from kit.configs import config

EXPLAIN = {"x-weir-explain": "1"}
PAIR = {"gpt-4o": {"azure-eu": {"weight": 1000000}, "azure-us": {"weight": 1}}}


def test_the_trace_tells_each_attempt_and_wait_oldest_first(serve, up):
    weir = serve(PAIR, router={"num_retries": 1, "cooldown_time": 5})
    up.says("azure-eu", error("rate_limit")).says("azure-us", "fine")
    reply = weir.ask("gpt-4o", headers=EXPLAIN)
    assert reply.header("x-weir-attempts") == "2"
    assert re.fullmatch(r"gpt-4o/azure-eu 429 rate_limit \d+ms cooldown=5; wait 0; gpt-4o/azure-us 200 \d+ms", reply.header("x-weir-trace"))


def test_nobody_gets_a_trace_who_has_not_asked(serve, up):
    weir = serve({"g": ["d1"]})
    up.says("d1", "fine")
    assert weir.ask("g").header("x-weir-trace") is None
    assert weir.ask("g", headers={"x-weir-explain": "0"}).header("x-weir-trace") is None
    assert weir.ask("g", headers={"X-Weir-Explain": "1"}).header("x-weir-trace").startswith("g/d1 200 ")


def test_the_trace_stands_on_failures_too(serve, up):
    weir = serve({"a": ["a1"], "b": ["b1"]}, router={"fallbacks": [{"a": ["b"]}]})
    up.says("a1", error("auth")).says("b1", error("internal"))
    reply = weir.ask("a", headers=EXPLAIN)
    assert reply.status == 401 and reply.header("x-weir-attempts") == "2"
    assert re.fullmatch(r"a/a1 401 auth \d+ms cooldown=5; fallback b; b/b1 500 internal \d+ms", reply.header("x-weir-trace"))


def test_the_trace_of_a_call_that_nobody_could_serve_says_so(serve, up):
    weir = serve({"a": ["a1"]}, router={"cooldown_time": 60})
    up.says("a1", error("auth"))
    weir.ask("a")
    reply = weir.ask("a", headers=EXPLAIN)
    assert (reply.status, reply.header("x-weir-attempts"), reply.header("x-weir-trace")) == (429, "0", "a 429 rate_limit")


def test_a_refused_request_says_that_nothing_was_tried(serve):
    weir = serve({"g": ["d1"]})
    reply = weir.ask({"model": "g", "stream": "yes"}, headers=EXPLAIN)
    assert (reply.status, reply.header("x-weir-attempts"), reply.header("x-weir-trace")) == (400, "0", None)


def test_the_trace_of_a_stream_tells_what_was_before_its_head(serve, up):
    weir = serve(PAIR, router={"num_retries": 1})
    up.says("azure-eu", answers.stream(CLOSE)).says("azure-us", answers.stream("a", Wait(0.3), "b"))
    reply = weir.ask({"model": "gpt-4o", "stream": True}, headers=EXPLAIN)
    assert reply.text == "ab"
    found = re.fullmatch(r"gpt-4o/azure-eu 500 \w+ \d+ms( cooldown=5)?; wait [\d.]+; gpt-4o/azure-us 200 (\d+)ms", reply.header("x-weir-trace"))
    assert found and int(found[2]) < 300, reply.header("x-weir-trace")


def test_a_head_that_goes_before_the_answer_names_the_attempt_that_runs(serve, up):
    weir = serve({"g": ["d1"]}, litellm={"sse_keepalive_ping_interval_seconds": 0.2})
    up.says("d1", answers.late(answers.stream("a"), 0.7))
    reply = weir.ask({"model": "g", "stream": True}, headers=EXPLAIN)
    assert reply.header("x-weir-attempts") == "1"
    assert re.fullmatch(r"g/d1 running \d+ms", reply.header("x-weir-trace"))


def test_names_cannot_break_the_trace(weirs, up):
    made = config(up, {"g": ["d1"]})
    made["model_list"][0]["model_name"] = "a; b\r\nx-evil: 1 \u00e9"
    made["model_list"][0]["model_info"]["id"] = "d;1 \t\x7f"
    weir = weirs(made)
    up.says("d1", "fine")
    reply = weir.ask(made["model_list"][0]["model_name"], headers=EXPLAIN)
    assert reply.status == 200 and reply.header("x-evil") is None
    assert re.fullmatch(r"a__b__x-evil:_1___/d_1___ 200 \d+ms", reply.header("x-weir-trace"))


def test_the_trace_is_bounded(serve, up):
    weir = serve({"g": {"d" * 200: {}}}, router={"num_retries": 60, "disable_cooldowns": True},
                 env={"INITIAL_RETRY_DELAY": 0, "MAX_RETRY_DELAY": 0, "JITTER": 0})
    up.says("d" * 200, error("internal", {"retry-after": "0"}))
    reply = weir.ask("g", headers=EXPLAIN)
    trace = reply.header("x-weir-trace")
    assert len(trace) <= 4096 and trace.endswith("; ...") and trace.count(" 500 internal ") > 10


def test_a_trace_needs_no_memory_of_calls(serve, up):
    weir = serve({"g": ["d1"]}, weir={"trace_calls": 0})
    up.says("d1", "fine")
    reply = weir.ask("g", headers=EXPLAIN)
    assert reply.header("x-weir-trace").startswith("g/d1 200 ")


def test_a_hedge_tells_who_lost(serve, up):
    weir = serve(PAIR, weir={"hedge": {"after": 0.1}})
    up.says("azure-eu", answers.late(answers.text("slow"), 5)).says("azure-us", "quick")
    reply = weir.ask("gpt-4o", headers=EXPLAIN)
    assert reply.text == "quick"
    assert re.fullmatch(r"hedge; gpt-4o/azure-eu lost 1\d\dms; gpt-4o/azure-us 200 \d+ms", reply.header("x-weir-trace"))


def test_who_asks_gets_the_parts_of_a_continued_answers_usage(serve, up):
    weir = serve({"a": ["a1"], "b": {"b1": {"info": {"supports_assistant_prefill": True}}}},
                 router={"fallbacks": [{"a": ["b"]}], "enable_mid_stream_fallback_continuation": True})
    told = {"choices": [{"index": 0, "delta": {"content": "one "}}], "usage": {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11}}
    up.says("a1", answers.stream(answers.event(told), CLOSE)).says("b1", answers.stream("two", usage={"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}))
    asked = {"model": "a", "stream": True, "stream_options": {"include_usage": True}}
    last = weir.ask(asked, headers=EXPLAIN).events[-1]
    assert last["usage"] == {"prompt_tokens": 22, "completion_tokens": 4, "total_tokens": 26}
    assert last["weir"] == {"attempts": [
        {"attempt": 1, "deployment": "a1", "usage": {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11}},
        {"attempt": 2, "deployment": "b1", "usage": {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}}]}
    assert "weir" not in weir.ask(asked).events[-1]
