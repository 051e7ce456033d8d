"""Alerts: what is told to webhooks, how often, and that nobody waits for it."""
import contextlib
import fcntl
import json
import os
import re
import subprocess
import time

import pytest
import yaml

from kit import answers, client, wait
from kit.answers import HANG, Wait
from kit.configs import config
from kit.hook import Hook
from kit.redis import Redis
from kit.weir import BINARY, ROOT, SANITIZED, environment

CALM = {"allowed_fails": 1000}      # no deployment cools down
TOUCHY = {"allowed_fails": 0, "cooldown_time": 60}
DOWN = answers.error("unavailable", message="the secret of the provider")


def after(seconds, answer):
    return answers.Answer(lambda call: [Wait(seconds), *answer.steps(call)])


def bearer(key):
    return {"authorization": f"Bearer {key}"}


@pytest.fixture
def hooks(weirs):
    with contextlib.ExitStack() as stack:
        def make(tls=None):
            hook = Hook(tls)
            stack.callback(hook.stop)
            return hook
        yield make


@pytest.fixture
def hook(hooks):
    return hooks()


@pytest.fixture
def watched(serve, hook):
    """A weir that tells the hook, in JSON."""
    def make(groups, router=None, **more):
        own = {"alert_webhook": hook.url(), **more.pop("weir", {})}
        return serve(groups, router=router or TOUCHY, weir=own, **more)
    return make


def fail(weir, model="g", **more):
    assert weir.ask(model, **more).status >= 400


# ---- what is told

def test_a_cooldown_is_told_with_its_cause(watched, hook, up):
    up.says("d1", answers.error("rate_limit")).says("d2", "fine")
    weir = watched({"g": ["d1"], "h": ["d2"]})
    fail(weir)
    told = hook.wait_for("cooldown")
    assert hook.messages[0].headers["Content-Type"] == "application/json"
    assert (told["event"], told["event_group"], told["level"]) == ("cooldown_deployment", "deployment", "Medium")
    assert (told["group"], told["deployment"], told["failure"]) == ("g", "d1", {"kind": "rate_limit", "status": 429})
    assert (told["length_s"], told["rule"], told["repeated"], told["held_back"]) == (60, "router_fails", 0, 0)
    assert told["event_message"] == "Deployment d1 of g cools down for 60 s: rate_limit (429)."
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", told["until"]) and told["until"] > told["time"]
    assert told["process"].endswith(f":{weir.process.pid}")


def test_a_group_of_which_all_cool_down_is_out(watched, hook, up):
    up.says("d1", DOWN).says("d2", DOWN)
    weir = watched({"g": ["d1", "d2"]})
    fail(weir)
    hook.wait_for("cooldown")
    assert not hook.of("outage")
    fail(weir)
    told = hook.wait_for("outage")
    assert (told["event"], told["level"], told["group"], told["deployments"]) == ("outage_alerts", "High", "g", 2)
    assert 50 < told["back_in_s"] <= 60


@pytest.mark.parametrize("name", ["g" * 200, "g\t\u00e9"])
def test_a_group_whose_name_is_cut_or_cleaned_is_out_as_well(watched, hook, up, name):
    up.says("d1", DOWN)
    weir = watched({name: ["d1"], "other": ["d2"]})
    fail(weir, name)
    told = hook.wait_for("outage")
    assert told["group"] == name.replace("\t", " ")[:120] and told["deployments"] == 1


def test_the_end_of_an_outage_is_told_when_one_answers(watched, hook, up):
    up.says("d1", DOWN, "fine")
    weir = watched({"g": ["d1"]}, router={**TOUCHY, "cooldown_time": 1})
    fail(weir)
    hook.wait_for("outage")
    wait.until(lambda: weir.ask("g").status == 200, 10)
    told = hook.wait_for("recovered")
    assert told["event_message"].startswith("Group g is back; it was out for ") and told["duration_s"] >= 1


def test_a_group_cooled_by_hand_is_back_and_is_not_said_to_have_answered(watched, hook, up):
    up.says("d1", "fine")
    weir = watched({"g": ["d1"]})
    assert client.ask(weir.port, {"seconds": 1, "by": "alice"}, path="/weir/cooldowns/d1").status == 200
    hook.wait_for("outage")
    told = hook.wait_for("recovered")
    assert re.fullmatch(r"Group g is back; it was out for [\d.]+ s\.", told["event_message"])
    assert up.hits("d1") == 0


def test_the_end_of_an_outage_is_told_though_other_news_never_ceases(watched, hook, up):
    up.says("d1", "fine").says("d2", DOWN)
    weir = watched({"g": ["d1"], "h": ["d2"]}, router=CALM)
    assert client.ask(weir.port, {"seconds": 1, "by": "alice"}, path="/weir/cooldowns/d1").status == 200
    hook.wait_for("outage")
    wait.until(lambda: weir.ask("h").status == 503 and hook.of("recovered"))


def test_a_cooldown_by_hand_is_told_as_one(watched, hook, up):
    up.says("d1", "fine")
    weir = watched({"g": ["d1"]})
    assert client.ask(weir.port, {"seconds": 60, "by": "alice"}, path="/weir/cooldowns/d1").status == 200
    told = hook.wait_for("cooldown")
    assert told["event_message"] == "Deployment d1 of g cools down for 60 s: set by hand by alice."
    assert (told["rule"], told["by"]) == ("by_hand", "alice")
    assert "failure" not in told and hook.wait_for("outage")["group"] == "g"


def test_a_storm_of_fallbacks_is_told_once(watched, hook, up):
    up.says("d1", DOWN).says("d2", "fine")
    weir = watched({"g": ["d1"], "h": ["d2"]}, router={**CALM, "fallbacks": [{"g": ["h"]}]}, weir={"alert_storm_fallbacks": 5})
    for _ in range(4):
        assert weir.ask("g").status == 200
    assert not hook.of("fallback_storm")
    for _ in range(8):
        assert weir.ask("g").status == 200
    told = hook.wait_for("fallback_storm")
    assert (told["event"], told["group"], told["target"], told["fallbacks"], told["window_s"]) == ("fallback_reports", "g", "h", 5, 60)
    assert len(hook.of("fallback_storm")) == 1 and not hook.of("failed_call")


def test_a_failed_call_is_told_with_its_id(watched, hook, up):
    up.says("d1", DOWN)
    reply = watched({"g": ["d1"]}, router=CALM).ask("g")
    told = hook.wait_for("failed_call")
    assert (told["event"], told["group"], told["failure"]) == ("llm_exceptions", "g", {"kind": "service_unavailable", "status": 503})
    assert told["call_id"] == reply.header("x-litellm-call-id")


@pytest.mark.parametrize("kind", ["bad_request", "context_window", "content_policy"])
def test_what_the_caller_did_wrong_is_nobodys_alarm(watched, hook, up, kind):
    up.says("d1", answers.error(kind)).says("d2", DOWN)
    weir = watched({"g": ["d1"], "h": ["d2"]}, router=CALM)
    fail(weir)
    assert weir.ask("no such model").status == 400
    fail(weir, "h")
    hook.wait_for("failed_call")
    assert [m.json["group"] for m in hook.messages] == ["h"]


def test_a_slow_answer_is_told_and_a_quick_one_is_not(watched, hook, up):
    up.says("d1", after(0.6, answers.text("late")), "quick")
    weir = watched({"g": ["d1"]}, router=CALM, general={"alerting_threshold": 0.3, "alert_types": ["llm_too_slow"]})
    assert weir.ask("g").status == 200 and weir.ask("g").status == 200
    told = hook.wait_for("slow_answer")
    assert (told["event"], told["group"], told["deployment"]) == ("llm_too_slow", "g", "d1") and told["duration_s"] >= 0.6
    assert "the threshold is 0.3 s" in told["event_message"] and len(hook.messages) == 1


def test_a_call_that_hangs_is_told_while_it_does(watched, hook, up):
    up.says("d1", answers.steps(HANG))
    weir = watched({"g": ["d1"]}, router={**CALM, "timeout": 3}, general={"alerting_threshold": 0.4, "alert_types": ["llm_requests_hanging"]})
    asked = wait.in_background(lambda: weir.ask("g"))
    told = hook.wait_for("hanging_call")
    assert (told["event"], told["group"], told["deployment"]) == ("llm_requests_hanging", "g", "d1")
    assert 0.4 <= told["duration_s"] < 3 and up.in_flight["d1"] == 1
    assert asked().header("x-litellm-call-id") == told["call_id"] and len(hook.messages) == 1


def test_only_the_types_that_are_asked_for_are_told(watched, hook, up):
    up.says("d1", DOWN)
    weir = watched({"g": ["d1"]}, general={"alert_types": ["outage_alerts"]})
    fail(weir)
    hook.wait_for("outage")
    assert [m.json["alert"] for m in hook.messages] == ["outage"]


def test_the_page_tells_of_every_alert():
    page = (ROOT / "docs" / "alerts.md").read_text()
    rows = re.findall(r'^X\(\w+, "(\w+)", (\w+), "(\w+)"', (ROOT / "src/gateway/alert/tbl/alert_kinds.h").read_text(), re.M)
    types = dict(re.findall(r'^X\((\w+), "(\w+)"', (ROOT / "src/config/tbl/alert_types.h").read_text(), re.M))
    told = re.findall(r"^\| `(\w+)` \| `(\w+)` \| (\w+) \|", page, re.M)
    assert told == [(name, types[kind], level) for name, kind, level in rows] and len(told) >= 7


# ---- LiteLLM's settings

def test_slack_gets_its_form_and_no_markup(serve, hook, up):
    up.says("d1", DOWN)
    weir = serve({"<!channel>": {"d1": None}}, router=CALM, general={"alerting": ["slack"]}, env={"SLACK_WEBHOOK_URL": hook.url("/services/T/B/x")})
    fail(weir, "<!channel>")
    wait.until(lambda: hook.messages)
    assert hook.messages[0].path == "/services/T/B/x" and list(hook.messages[0].json) == ["text"]
    assert hook.messages[0].text.startswith("Alert type: `llm_exceptions`\nLevel: `High`\nTimestamp: `")
    assert "A call to &lt;!channel&gt; failed" in hook.messages[0].text


def test_types_go_to_their_own_addresses(serve, hook, up):
    up.says("d1", DOWN)
    to = {"cooldown_deployment": [hook.url("/a"), hook.url("/b")], "outage_alerts": "os.environ/OUTAGES"}
    weir = serve({"g": ["d1"]}, router=TOUCHY, general={"alerting": ["slack", "webhook"], "alert_to_webhook_url": to},
                 env={"SLACK_WEBHOOK_URL": hook.url("/rest"), "OUTAGES": hook.url("/out"), "WEBHOOK_URL": hook.url("/json")})
    fail(weir)
    wait.until(lambda: len(hook.messages) == 7)
    told = {(m.path, m.json.get("alert") or m.text.split("`")[1]) for m in hook.messages}
    assert told == {("/a", "cooldown_deployment"), ("/b", "cooldown_deployment"), ("/out", "outage_alerts"), ("/rest", "llm_exceptions"),
                    ("/json", "cooldown"), ("/json", "outage"), ("/json", "failed_call")}


def test_the_console_is_told_too(serve, up):
    up.says("d1", DOWN)
    weir = serve({"g": ["d1"]}, router=CALM, general={"alerting": ["slack"], "alerting_args": {"log_to_console": True}})
    fail(weir)
    weir.log_line(r"weir: alert: A call to g failed: service_unavailable \(503\)\. Call: ")


# ---- how often

def test_the_same_again_is_counted_and_told_in_the_next_one(watched, hook, up):
    up.says("d1", DOWN)
    weir = watched({"g": ["d1"]}, router=CALM, weir={"alert_window": 2})
    for _ in range(6):
        fail(weir)
    hook.wait_for("failed_call")
    time.sleep(2)
    fail(weir)
    told = hook.wait_for("failed_call", 2)
    assert told["repeated"] == 5 and " And 5 more since 20" in told["event_message"]
    assert len(hook.messages) == 2


def test_too_many_are_held_back_and_counted(watched, hook, up):
    groups = {f"g{i}": ["d1"] for i in range(6)}
    up.says("d1", DOWN)
    weir = watched({group: {f"{group}-d": {"at": "d1"}} for group in groups}, router=CALM, weir={"alert_max_per_minute": 4})
    for group in groups:
        fail(weir, group)
    hook.wait_for("failed_call", 4)
    time.sleep(0.3)
    assert len(hook.messages) == 4


def test_what_becomes_of_alerts_is_counted(watched, hook, up):
    up.says("d1", DOWN)
    hook.answers = [404, 200]
    weir = watched({"g": {"a": {"at": "d1"}}, "h": {"b": {"at": "d1"}}, "k": {"c": {"at": "d1"}}}, router=CALM,
                   weir={"alert_max_per_minute": 2})
    for group in ["g", "h", "h", "g", "k"]:
        fail(weir, group)
    wait.until(lambda: len(hook.messages) == 2)
    fail(weir, "h")

    def counts():
        page = client.ask(weir.port, path="/metrics", method="GET").body.decode()
        return dict(re.findall(r"^weir_alerts_(\w+)_total (\d+)$", page, re.M))
    wait.until(lambda: counts() == {"sent": "1", "failed": "1", "repeated": "3", "held_back": "1", "dropped": "0"})


# ---- webhooks that do not behave

def test_a_webhook_that_fails_for_a_while_gets_it_in_the_end(watched, hook, up):
    up.says("d1", DOWN)
    hook.answers = [500, (503, {"Retry-After": "0"}), 200]
    weir = watched({"g": ["d1"]}, router=CALM)
    fail(weir)
    wait.until(lambda: len(hook.messages) == 3, 15)
    assert hook.messages[0].body == hook.messages[2].body
    assert hook.messages[1].at - hook.messages[0].at >= 0.9 and hook.messages[2].at - hook.messages[1].at >= 3.5
    weir.log_line("the webhook of alert_webhook does not take alerts: status 500")
    weir.log_line("the webhook of alert_webhook takes alerts again")


@pytest.mark.parametrize("answer", [400, 404, (302, {"Location": "/elsewhere"}), (307, {"Location": "/elsewhere"})])
def test_a_refusal_is_final_and_redirects_are_not_followed(watched, hook, up, answer):
    up.says("d1", DOWN)
    hook.answers = [answer]
    weir = watched({"g": {"d1": None}, "h": {"d2": {"at": "d1"}}}, router=CALM)
    fail(weir)
    weir.log_line("the webhook of alert_webhook does not take alerts: status")
    time.sleep(1.3)
    assert [m.path for m in hook.messages] == ["/hook"]
    fail(weir, "h")
    wait.until(lambda: len(hook.messages) == 2)


def test_a_webhook_that_hangs_holds_up_nobody(watched, hook, hooks, up):
    up.says("d1", DOWN).says("d2", "fine")
    other, hook.answers = hooks(), ["hang"]
    weir = watched({"g": ["d1"], "h": ["d2"]}, router=CALM, weir={"alert_timeout": 0.5}, general={"alerting": ["webhook"]},
                   env={"WEBHOOK_URL": other.url()})
    fail(weir)
    other.wait_for("failed_call")
    for _ in range(20):
        began = time.monotonic()
        assert weir.ask("h").status == 200
        assert time.monotonic() - began < (5 if SANITIZED else 0.4)
    wait.until(lambda: len(hook.messages) == 2, 10)
    weir.log_line("the webhook of alert_webhook does not take alerts: timed_out")


def test_nobody_at_the_address_is_said(serve, up):
    up.says("d1", DOWN)
    weir = serve({"g": ["d1"]}, router=CALM, weir={"alert_webhook": "http://127.0.0.1:9/hush"})
    fail(weir)
    weir.log_line("the webhook of alert_webhook does not take alerts: refused")
    assert "hush" not in weir.log


@pytest.mark.parametrize("certificate, taken", [("good", True), ("self-signed", False), ("wrong-host", False), ("expired", False)])
def test_the_certificate_of_a_webhook_is_verified(serve, hooks, up, certificates, certificate, taken):
    up.says("d1", DOWN)
    hook = hooks(certificates.server(certificate))
    weir = serve({"g": ["d1"]}, router=CALM, weir={"alert_webhook": hook.url(host="localhost")}, env={"SSL_CERT_FILE": certificates.authority})
    fail(weir)
    if taken:
        hook.wait_for("failed_call")
    else:
        weir.log_line("the webhook of alert_webhook does not take alerts: tls")
        assert not hook.messages


# ---- secrets

def test_neither_addresses_nor_prompts_nor_keys_nor_answers_are_told(serve, hook, up):
    up.says("d1", DOWN)
    weir = serve({"g": {"d1": {"api_key": "sk-hush-key"}}}, router=TOUCHY, weir={"alert_webhook": hook.url("/hush-own")},
                 general={"alerting": ["slack"], "master_key": "sk-hush-master"}, env={"SLACK_WEBHOOK_URL": hook.url("/hush-slack")})
    hook.answers = [200, 404]
    fail(weir, {"model": "g", "messages": [{"role": "user", "content": "hush-prompt"}], "user": "hush-user"}, headers=bearer("sk-hush-master"))
    wait.until(lambda: len(hook.messages) == 6)
    weir.log_line("does not take alerts")
    weir.reload(headers=bearer("sk-hush-master"))
    for message in hook.messages:
        assert b"hush" not in message.body and b"secret of the provider" not in message.body
    assert "hush" not in weir.log


def test_the_check_of_a_file_tells_where_alerts_go_and_no_address(tmp_path, up):
    general = {"alerting": ["slack"], "alert_to_webhook_url": {"outage_alerts": "http://hush.example/1"}, "alert_types": ["outage_alerts", "llm_too_slow"]}
    made = config(up, {"g": ["d1"]}, general=general, weir={"alert_webhook": "http://hush.example/2"})
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(made))
    told = subprocess.run([BINARY, "check", "config.yaml"], cwd=tmp_path, env=environment({"SLACK_WEBHOOK_URL": "http://hush.example/3"}),
                          capture_output=True, text=True)
    assert told.returncode == 0 and "hush" not in told.stdout + told.stderr
    assert told.stdout.split("\nalerts\n")[1].startswith("  alert_to_webhook_url.outage_alerts, in Slack's form: outage_alerts\n"
                                                       "  SLACK_WEBHOOK_URL, in Slack's form: llm_too_slow\n"
                                                       "  alert_webhook, as JSON: llm_too_slow, outage_alerts\n")


# ---- ways out, and several processes

def test_a_webhook_is_reached_through_the_proxy(serve, hook, up, proxies):
    up.says("d1", DOWN)
    proxy = proxies()
    weir = serve({"g": ["d1"]}, router=CALM, weir={"alert_webhook": hook.url(host="localhost")},
                 env={"HTTP_PROXY": f"http://127.0.0.1:{proxy.port}", "NO_PROXY": "127.0.0.1"})
    fail(weir)
    hook.wait_for("failed_call")
    assert [(method, url) for method, url, _ in proxy.seen] == [("POST", hook.url(host="localhost"))]


def test_a_cooldown_is_told_by_the_process_that_has_set_it(weirs, hook, up, tmp_path):
    redis = Redis(tmp_path).start()
    try:
        up.says("d1", DOWN)
        router = {**TOUCHY, "redis_host": "127.0.0.1", "redis_port": redis.port}
        made = config(up, {"g": ["d1"]}, router=router, weir={"alert_webhook": hook.url()}, general={"alert_types": ["cooldown_deployment", "outage_alerts"]})
        first, second = weirs(made), weirs(made)
        fail(first)
        hook.wait_for("outage")
        time.sleep(1.5)     # it is read once a second, at the latest
        assert second.ask("g").status == 429
        assert sorted((m.json["alert"], m.json["process"].split(":")[1]) for m in hook.messages) == [
            ("cooldown", str(first.process.pid)), ("outage", str(first.process.pid))]
        first.stop()
        second.stop()
    finally:
        redis.stop()


# ---- reload and the end

def test_a_reload_changes_the_webhook_and_the_rules(weirs, hook, up):
    up.says("d1", DOWN)
    groups = {"g": ["d1"]}
    weir = weirs(config(up, groups, router=CALM))
    fail(weir)
    assert weir.reload(config(up, groups, router=CALM, weir={"alert_webhook": hook.url("/one"), "alert_window": 0})).status == 200
    wait.until(lambda: (fail(weir), hook.messages)[1])
    assert weir.reload(config(up, groups, router=CALM, weir={"alert_webhook": hook.url("/two"), "alert_window": 0,
                                                             "alert_webhook_template": "slack"})).status == 200
    wait.until(lambda: (fail(weir), hook.messages[-1].path == "/two")[1])
    assert "Alert type: `llm_exceptions`" in hook.messages[-1].text
    assert weir.reload(config(up, groups, router=CALM)).status == 200
    time.sleep(0.3)
    count = len(hook.messages)
    fail(weir)
    time.sleep(0.3)
    assert len(hook.messages) == count


def test_what_is_on_its_way_at_a_reload_is_sent_again(weirs, hook, up):
    up.says("d1", DOWN)
    made = config(up, {"g": ["d1"]}, router=CALM, weir={"alert_webhook": hook.url()})
    hook.answers = ["hang", 200]
    weir = weirs(made)
    fail(weir)
    wait.until(lambda: hook.messages)
    assert weir.reload({**made, "litellm_settings": {"num_retries": 0}}).status == 200
    wait.until(lambda: len(hook.messages) == 2)
    assert hook.messages[0].body == hook.messages[1].body


def test_what_waits_is_sent_before_the_process_ends(watched, hook, up):
    up.says("d1", after(0.5, DOWN))
    weir = watched({"g": ["d1"]}, router=CALM)
    asked = wait.in_background(lambda: weir.ask("g"))
    up.wait_for(lambda upstream: upstream.hits("d1"))
    weir.stop()
    assert asked().status == 503
    assert [m.json["alert"] for m in hook.messages] == ["failed_call"]


def test_a_webhook_that_hangs_does_not_hold_up_the_end(watched, hook, up):
    up.says("d1", DOWN)
    hook.answers = ["hang"]
    weir = watched({"g": ["d1"]}, router=CALM)
    fail(weir)
    wait.until(lambda: hook.messages)
    began = time.monotonic()
    weir.stop()
    assert time.monotonic() - began < (10 if SANITIZED else 4)


def test_an_outage_whose_cooldown_found_no_room_is_told(weirs, up, tmp_path):
    """Nobody reads stderr: who writes alerts there waits, and the queue fills."""
    up.says("d1", DOWN).says("d2", "fine")
    os.mkfifo(tmp_path / "stderr")
    pipe = os.open(tmp_path / "stderr", os.O_RDWR | os.O_NONBLOCK)
    fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, 4096)
    weir = weirs(config(up, {"g": ["d1"], "h": ["d2"]}, router=CALM, general={"alerting": ["slack"], "alerting_args": {"log_to_console": True}},
                        weir={"alert_window": 0, "alert_max_per_minute": 10000}),
                 prefix=["sh", "-c", 'exec "$@" 2>"$0"', str(tmp_path / "stderr")])

    def dropped():
        page = client.ask(weir.port, path="/metrics", method="GET").body.decode()
        return int(re.search(r"^weir_alerts_dropped_total (\d+)$", page, re.M).group(1))
    for _ in range(40):
        for _ in range(20):
            fail(weir)
        if dropped():
            break
    before = dropped()
    assert client.ask(weir.port, {"seconds": 60}, path="/weir/cooldowns/d2").status == 200
    assert dropped() == before + 1 > 1
    fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, 1 << 20)
    told = [os.read(pipe, 4096)]

    def is_told():
        with contextlib.suppress(BlockingIOError):
            told.append(os.read(pipe, 1 << 20))
        return b"alert: Group h is out: every deployment of it cools down (1)" in b"".join(told)
    wait.until(is_told)
    assert b"Deployment d2" not in b"".join(told)
    weir.stop()
    os.close(pipe)


def test_a_burst_is_bounded_and_the_process_goes_on(watched, hook, up):
    """More failures than places in the queue, while the webhook takes nothing."""
    up.says("d1", DOWN).says("d2", "fine")
    hook.answers = ["hang"]
    weir = watched({**{f"g{i}": {f"d{i}": {"at": "d1"}} for i in range(60)}, "h": {"fine": {"at": "d2"}}}, router=CALM,
                   weir={"alert_window": 0, "alert_max_per_minute": 10000, "alert_timeout": 1})
    for i in range(300):
        fail(weir, f"g{i % 60}")
    assert weir.ask("h").status == 200
    assert json.loads(hook.messages[0].body)["alert"] == "failed_call"
