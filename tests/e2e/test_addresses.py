"""Where upstreams live: names, addresses of both families, places where nobody is."""
import datetime
import socket
import time
from email.utils import format_datetime

import pytest

from kit import answers
from kit.client import Connection, request_bytes
from kit.configs import config


def has_ipv6():
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


only_with_ipv6 = pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")


def test_a_name_with_several_addresses_is_tried_at_each(weirs, up):
    """`localhost` is ::1 too on most machines, where this upstream is not."""
    up.says("d1", "fine")
    weir = weirs(config(up, {"g": {"d1": {"api_base": up.url("d1", "localhost")}}}))
    assert [weir.ask("g").text for _ in range(3)] == ["fine"] * 3


@only_with_ipv6
def test_an_upstream_with_an_ipv6_address(weirs, upstreams):
    upstream = upstreams(host="::1").says("d1", "fine")
    weir = weirs(config(upstream, {"g": {"d1": {"api_base": upstream.url("d1", "[::1]")}}}))
    assert weir.ask("g").text == "fine"
    assert upstream.last().header("host") == f"[::1]:{upstream.port}"


@only_with_ipv6
def test_weir_on_an_ipv6_address(weirs, up):
    up.says("d1", "fine")
    weir = weirs(config(up, {"g": ["d1"]}), host="::1", start=False).launch()
    assert weir.log_line("ready")
    with Connection(weir.port, host="::1") as connection:
        connection.send(request_bytes({"model": "g", "messages": []}))
        assert connection.reply().text == "fine"


def test_a_name_that_does_not_exist_is_a_failed_attempt(weirs, up):
    up.says("d2", "fine")
    nowhere = {"api_base": "http://no-such-host.invalid/v1"}
    made = config(up, {"g": {"d1": {**nowhere, "weight": 1000000}, "d2": {"weight": 1}}, "alone": {"d3": nowhere}},
                  router={"num_retries": 1, "disable_cooldowns": True}, weir={"connect_timeout": 5})
    weir = weirs(made)
    assert weir.ask("g").text == "fine"
    assert weir.ask({"model": "alone", "num_retries": 0}).status in (408, 500)


def test_a_host_that_takes_no_connections_is_left_at_the_limit(weirs, up):
    """The backlog of this listener is full, so that a connection is neither made nor refused."""
    up.says("d2", "fine")
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        crowd = [socket.socket() for _ in range(4)]
        for each in crowd:
            each.setblocking(False)
            each.connect_ex(listener.getsockname())
        dead = {"api_base": f"http://127.0.0.1:{listener.getsockname()[1]}/v1"}
        made = config(up, {"g": {"d1": {**dead, "weight": 1000000}, "d2": {"weight": 1}}}, router={"num_retries": 1},
                      weir={"connect_timeout": 0.5})
        began = time.monotonic()
        assert weirs(made).ask("g").text == "fine"
        assert time.monotonic() - began < 8
        for each in crowd:
            each.close()


@pytest.mark.parametrize("base, path", [("{}", "/d1/chat/completions"), ("{}/", "/d1/chat/completions"), ("{}/v1", "/d1/v1/chat/completions"),
                                        ("{}/v1/", "/d1/v1/chat/completions")])
def test_an_address_may_end_as_it_likes(weirs, up, base, path):
    up.says("d1", "fine")
    assert weirs(config(up, {"g": {"d1": {"api_base": base.format(up.url("d1"))}}})).ask("g").text == "fine"
    assert up.last().path == path


def test_a_date_tells_how_long_to_wait(serve, up):
    weir = serve({"g": ["d1"]}, router={"num_retries": 1})
    soon = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=3)
    up.says("d1", answers.error("rate_limit", headers={"retry-after": format_datetime(soon, usegmt=True)}), "later")
    reply = weir.ask("g")
    assert reply.text == "later" and 1.5 < reply.elapsed < 5


def test_a_date_tells_how_long_to_cool_down(serve, up):
    weir = serve({"g": ["d1"]})
    later = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=100)
    up.says("d1", answers.error("auth", headers={"retry-after": format_datetime(later, usegmt=True)}))
    assert weir.ask("g").status == 401
    assert 95 <= int(weir.ask("g").header("retry-after")) <= 100
