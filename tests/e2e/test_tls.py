"""Upstreams over TLS: certificates are verified, names are told and checked, and all the trouble of plain ones happens here too."""
import socket
import time

import pytest

from kit import answers
from kit.answers import CLOSE, RESET
from kit.configs import config, deployment


@pytest.fixture
def secure(upstreams, certificates):
    return lambda name="good": upstreams(certificates.server(name)).says("d1", "over TLS")


@pytest.fixture
def trusting(weirs, certificates):
    """A weir that trusts the authority of the tests, in front of an upstream."""
    def make(upstream, params=None, env=True, **sections):
        made = config(upstream, {"g": {"d1": params or {}}}, **sections)
        return weirs(made, env={"SSL_CERT_FILE": certificates.authority} if env else None)
    return make


def test_a_good_certificate(secure, trusting):
    upstream = secure()
    weir = trusting(upstream)
    assert weir.ask("g").text == "over TLS"
    assert weir.ask({"model": "g", "stream": True}).text == "over TLS"


def test_a_name_and_an_address_are_both_checked(secure, trusting):
    upstream = secure()
    for host in ("localhost", "127.0.0.1"):
        assert trusting(upstream, {"api_base": upstream.url("d1", host)}).ask("g").text == "over TLS"


@pytest.mark.parametrize("name", ["wrong-host", "expired", "self-signed"])
def test_a_bad_certificate_is_an_error_that_says_so(secure, trusting, name):
    upstream = secure(name)
    weir = trusting(upstream)
    reply = weir.ask("g")
    assert reply.status == 500 and reply.json["error"]["type"] == "internal_server_error"
    assert upstream.hits() == 0, "nothing was asked of a stranger"
    assert "key-of-d1" not in reply.body.decode() + weir.log


def test_an_authority_nobody_told_of_is_not_trusted(secure, trusting):
    upstream = secure()
    assert trusting(upstream, env=False).ask("g").status == 500
    assert upstream.hits() == 0


@pytest.mark.parametrize("name", ["wrong-host", "expired", "self-signed"])
def test_verification_can_be_switched_off_for_one_deployment(secure, weirs, certificates, name):
    upstream = secure(name).says("d2", "never")
    made = config(upstream, {"g": {"d1": {"ssl_verify": False}}, "strict": ["d2"]})
    weir = weirs(made, env={"SSL_CERT_FILE": certificates.authority})
    assert weir.ask("g").text == "over TLS"
    assert weir.ask("strict").status == 500 and upstream.hits("d2") == 0


@pytest.mark.parametrize("sections", [{"weir": {"ssl_verify": False}}, {"litellm": {"ssl_verify": False}}], ids=["weir", "litellm"])
def test_verification_can_be_switched_off_for_all(secure, trusting, sections):
    assert trusting(secure("self-signed"), env=False, **sections).ask("g").text == "over TLS"


def test_an_authority_in_the_configuration(secure, trusting, certificates):
    assert trusting(secure(), env=False, weir={"ca_file": str(certificates.authority)}).ask("g").text == "over TLS"


def test_an_authority_that_is_not_there_refuses_to_start(weirs, secure):
    weir = weirs(config(secure(), {"g": ["d1"]}, weir={"ca_file": "/nowhere/authority.pem"}), start=False).launch()
    assert weir.wait() not in (None, 0) and "/nowhere/authority.pem" in weir.log


def test_a_bad_certificate_falls_back(secure, weirs, up, certificates):
    upstream = secure("expired")
    up.says("d2", "plain")
    made = config(up, {"other": ["d2"]}, router={"fallbacks": [{"g": ["other"]}]})
    made["model_list"].append(deployment("g", "d1", upstream))
    assert weirs(made, env={"SSL_CERT_FILE": certificates.authority}).ask("g").text == "plain"


def test_a_plain_server_where_tls_is_due_and_the_reverse(weirs, up, secure, certificates):
    up.says("d1", "plain")
    upstream = secure()
    made = config(up, {"tls-to-plain": {"d1": {"api_base": up.url("d1").replace("http:", "https:")}},
                       "plain-to-tls": {"d2": {"api_base": upstream.url("d1").replace("https:", "http:")}}})
    made["weir_settings"]["connect_timeout"] = 0.5
    weir = weirs(made, env={"SSL_CERT_FILE": certificates.authority})
    assert weir.ask("tls-to-plain").status in (408, 500)
    assert weir.ask("plain-to-tls").status == 500
    assert up.hits() == upstream.hits() == 0


def test_a_target_may_lead_from_a_plain_deployment_to_tls(secure, weirs, up, certificates):
    up.says("d1", answers.error(500))
    upstream = secure()
    made = config(up, {"g": ["d1"], "other": ["d2"]},
                  router={"num_retries": 0, "fallbacks": [{"g": [{"model": "other", "api_base": upstream.url("d1")}]}]})
    assert weirs(made, env={"SSL_CERT_FILE": certificates.authority}).ask("g").text == "over TLS"


@pytest.mark.parametrize("how", [CLOSE, RESET], ids=lambda stop: stop.name)
def test_answers_cut_inside_tls(secure, trusting, how):
    upstream = secure()
    weir = trusting(upstream)
    for at in (0, 10, 100, -1):
        upstream.says("d1", answers.cut(answers.text("over TLS"), at, how))
        assert weir.ask("g").status == 500
        upstream.says("d1", answers.stream("some ", how))
        assert weir.ask({"model": "g", "stream": True}).failed
    upstream.says("d1", "over TLS")
    assert weir.ask("g").text == "over TLS"


def test_big_bodies_over_tls(secure, trusting):
    upstream = secure()
    text = "ä" * 4_000_000
    upstream.says("d1", text, answers.in_pieces(answers.text("in pieces"), 1))
    weir = trusting(upstream)
    assert weir.ask({"model": "g", "messages": [{"role": "user", "content": text}]}, timeout=50).text == text
    assert upstream.last().json["messages"][0]["content"] == text
    assert weir.ask("g").text == "in pieces"


def test_connections_over_tls_are_used_again(secure, trusting):
    upstream = secure()
    weir = trusting(upstream)
    for _ in range(8):
        assert weir.ask("g").text == "over TLS"
    assert len({call.connection for call in upstream.calls}) <= 4
    upstream.says("d1", answers.close_idle(answers.text("over TLS"), 0.02))
    for _ in range(4):
        assert weir.ask("g").text == "over TLS"
        assert upstream.wait_for(lambda u: u.last().ended_at)
        time.sleep(0.05)


def test_a_server_that_never_answers_the_greeting(weirs, mute_port):
    weir = weirs(config(None, {"g": {"d1": {"api_base": f"https://127.0.0.1:{mute_port}/v1"}}}, weir={"connect_timeout": 0.5}))
    reply = weir.ask("g", timeout=10)
    assert reply.status in (408, 500) and reply.elapsed < 5


@pytest.fixture
def mute_port():
    """A port that accepts connections and never says anything."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]
