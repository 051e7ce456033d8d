"""traceparent and tracestate: which trace a call is a part of, and what providers are told of it, where weir sends no traces itself."""
import json

import pytest

from kit import answers
from kit.client import Connection

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE}-00f067aa0ba902b7-01"
STATE = "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"


def told(call):
    """The fields of the trace that an upstream got, as a list: none may come twice."""
    return [(name, value) for name, value in call.headers if name in ("traceparent", "tracestate")]


def logged(weir, count=1):
    weir.log_line('"route":"chat"')
    lines = [json.loads(line) for line in weir.log.splitlines() if line.startswith("{")]
    assert len(lines) >= count
    return [line.get("trace_id") for line in lines]


def raw(weir, *fields):
    """A request with exactly these fields of the trace, in their order."""
    body = json.dumps({"model": "g", "messages": []}).encode()
    lines = ["POST /v1/chat/completions HTTP/1.1", "Host: x", f"Content-Length: {len(body)}", *fields]
    with Connection(weir.port) as connection:
        connection.send(("\r\n".join(lines) + "\r\n\r\n").encode() + body)
        return connection.reply()


def test_what_the_caller_sent_goes_on_as_it_came(serve, up):
    weir = serve({"g": ["d1"]})
    up.says("d1", "hello")
    assert weir.ask("g", headers={"traceparent": PARENT, "tracestate": STATE}).status == 200
    assert told(up.last()) == [("traceparent", PARENT), ("tracestate", STATE)]
    assert logged(weir) == [TRACE]


def test_each_attempt_is_told(serve, up):
    weir = serve({"g": ["d1"], "h": ["d2"]}, router={"num_retries": 1, "fallbacks": [{"g": ["h"]}]})
    up.says("d1", answers.error("internal"))
    up.says("d2", "hello")
    assert weir.ask("g", headers={"traceparent": PARENT}).status == 200
    assert [told(call) for call in up.calls] == [[("traceparent", PARENT)]] * 3


def test_a_stream_is_told_as_well(serve, up):
    weir = serve({"g": ["d1"]})
    up.says("d1", "hello there")
    assert weir.ask({"model": "g", "stream": True}, headers={"traceparent": PARENT}).text == "hello there"
    assert told(up.last()) == [("traceparent", PARENT)]


def test_nothing_comes_of_nothing(serve, up):
    weir = serve({"g": ["d1"]})
    up.says("d1", "hello")
    assert weir.ask("g").status == 200
    assert weir.ask("g", headers={"tracestate": STATE}).status == 200
    assert [told(call) for call in up.calls] == [[], []]
    assert logged(weir) == [None, None]


def test_providers_are_told_nothing_where_that_is_not_wanted(serve, up):
    weir = serve({"g": ["d1"]}, litellm={"forward_traceparent_to_llm_provider": False})
    up.says("d1", "hello")
    assert weir.ask("g", headers={"traceparent": PARENT, "tracestate": STATE}).status == 200
    assert told(up.last()) == []
    assert logged(weir) == [TRACE], "the log tells the caller's trace all the same"


@pytest.mark.parametrize("bad", [
    "00-1-2-00", PARENT.upper(), f"ff{PARENT[2:]}", f"00-{'0' * 32}-00f067aa0ba902b7-01", f"00-{TRACE}-{'0' * 16}-01", f"{PARENT}-more", "nonsense"])
def test_what_is_no_traceparent_counts_for_nothing(serve, up, bad):
    weir = serve({"g": ["d1"]})
    up.says("d1", "hello")
    assert weir.ask("g", headers={"traceparent": bad, "tracestate": STATE}).status == 200
    assert told(up.last()) == []
    assert logged(weir) == [None]


def test_of_two_traceparents_none_counts(serve, up):
    weir = serve({"g": ["d1"]})
    up.says("d1", "hello")
    assert raw(weir, f"traceparent: {PARENT}", f"traceparent: {PARENT}").status == 200
    assert told(up.last()) == []


def test_tracestates_are_one_list_in_their_order(serve, up):
    weir = serve({"g": ["d1"]})
    up.says("d1", "hello")
    assert raw(weir, "tracestate: a=1", f"TraceParent: {PARENT}", "Tracestate: b=2, c=3").status == 200
    assert told(up.last()) == [("traceparent", PARENT), ("tracestate", "a=1,b=2, c=3")]


@pytest.mark.parametrize("length, carried", [(512, True), (8192, True), (8193, False)])
def test_a_long_tracestate_is_carried_up_to_its_maximum(serve, up, length, carried):
    weir = serve({"g": ["d1"]})
    up.says("d1", "hello")
    state = "a=" + "x" * (length - 2)
    assert weir.ask("g", headers={"traceparent": PARENT, "tracestate": state}).status == 200
    assert told(up.last()) == [("traceparent", PARENT)] + ([("tracestate", state)] if carried else [])


def test_what_the_configuration_sends_stands_alone(serve, up):
    own = PARENT.replace("4bf9", "1111")
    weir = serve({"g": {"d1": {"extra_headers": {"traceparent": own}}}})
    up.says("d1", "hello")
    assert weir.ask("g", headers={"traceparent": PARENT, "tracestate": STATE}).status == 200
    assert told(up.last()) == [("traceparent", own)]


def test_a_call_that_is_turned_away_has_its_trace_in_the_log(serve, up):
    weir = serve({"g": ["d1"]})
    assert weir.ask("no-such-group", headers={"traceparent": PARENT}).status == 400
    assert logged(weir) == [TRACE]
