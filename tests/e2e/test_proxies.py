"""The proxies of the environment, as every other program understands them."""
import base64

import pytest

from kit.configs import config


@pytest.fixture
def plain(upstreams):
    return upstreams().says("d1", "plain")


@pytest.fixture
def secure(upstreams, certificates):
    return upstreams(certificates.server("good")).says("d1", "secure")


@pytest.fixture
def behind(weirs, certificates):
    """A weir that knows these variables, for an upstream that it reaches by the name `localhost`."""
    def make(upstream, **variables):
        params = {"api_base": upstream.url("d1", "localhost")}
        return weirs(config(upstream, {"g": {"d1": params}}), env={"SSL_CERT_FILE": certificates.authority, **variables})
    return make


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_plain_upstreams_are_asked_through_the_proxy(plain, proxies, behind, variable):
    proxy = proxies()
    weir = behind(plain, **{variable: f"http://127.0.0.1:{proxy.port}"})
    assert weir.ask("g").text == "plain" and weir.ask({"model": "g", "stream": True}).text == "plain"
    assert proxy.seen[0] == ("POST", plain.url("d1", "localhost") + "/chat/completions", None)


@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "https_proxy", "all_proxy"])
def test_secure_upstreams_are_reached_through_a_tunnel(secure, proxies, behind, variable):
    proxy = proxies()
    weir = behind(secure, **{variable: f"http://127.0.0.1:{proxy.port}"})
    assert weir.ask("g").text == "secure" and weir.ask({"model": "g", "stream": True}).text == "secure"
    assert proxy.seen[0] == ("CONNECT", f"localhost:{secure.port}", None)
    assert all(method == "CONNECT" for method, _, _ in proxy.seen)


def test_each_scheme_has_its_own_proxy(plain, proxies, behind):
    proxy = proxies()
    assert behind(plain, HTTPS_PROXY=f"http://127.0.0.1:{proxy.port}").ask("g").text == "plain"
    assert proxy.seen == []


@pytest.mark.parametrize("exempt", ["localhost", "127.0.0.1,localhost", "example.org, localhost", "*", ".localhost", "LOCALHOST"])
def test_exempt_hosts_are_reached_directly(plain, proxies, behind, exempt):
    proxy = proxies()
    assert behind(plain, HTTP_PROXY=f"http://127.0.0.1:{proxy.port}", NO_PROXY=exempt).ask("g").text == "plain"
    assert proxy.seen == []


@pytest.mark.parametrize("exempt", ["", "example.org", "host", "localhost.example.org"])
def test_other_hosts_are_not_exempt(plain, proxies, behind, exempt):
    proxy = proxies()
    assert behind(plain, HTTP_PROXY=f"http://127.0.0.1:{proxy.port}", NO_PROXY=exempt).ask("g").text == "plain"
    assert len(proxy.seen) == 1


@pytest.mark.parametrize("kind", ["plain", "secure"])
def test_a_proxy_may_want_a_password(plain, secure, proxies, behind, kind):
    upstream = {"plain": plain, "secure": secure}[kind]
    proxy = proxies("me@home", "p:ss/word")
    address = f"http://me%40home:p%3Ass%2Fword@127.0.0.1:{proxy.port}"
    weir = behind(upstream, HTTP_PROXY=address, HTTPS_PROXY=address)
    assert weir.ask("g").text == kind
    assert proxy.seen[0][2] == "Basic " + base64.b64encode(b"me@home:p:ss/word").decode()
    assert not upstream.last().header("proxy-authorization")
    assert "p:ss" not in weir.log and "p%3Ass" not in weir.log


@pytest.mark.parametrize("kind", ["plain", "secure"])
def test_a_proxy_that_refuses_is_a_failure(plain, secure, proxies, behind, kind):
    upstream = {"plain": plain, "secure": secure}[kind]
    proxy = proxies("me", "right")
    address = f"http://me:wrong-word@127.0.0.1:{proxy.port}"
    weir = behind(upstream, HTTP_PROXY=address, HTTPS_PROXY=address)
    reply = weir.ask("g")
    assert reply.status >= 400 and upstream.hits() == 0
    assert "wrong-word" not in reply.body.decode() + weir.log


def test_a_proxy_that_is_not_there_is_a_failure(plain, behind):
    reply = behind(plain, HTTP_PROXY="http://127.0.0.1:9").ask("g")
    assert reply.status == 500 and plain.hits() == 0


def test_a_proxy_that_is_no_address_refuses_to_start_or_is_told(weirs, plain):
    weir = weirs(config(plain, {"g": ["d1"]}), start=False, env={"HTTP_PROXY": "ftp://:::"}).launch()
    ready = weir.is_ready()
    assert "HTTP_PROXY" in weir.log or "http_proxy" in weir.log.lower()
    assert ready or weir.process.returncode not in (None, 0)
