"""Another configuration while weir serves: who asks for it, what of it holds when, and what must not be lost by it."""
import os
import signal
import threading
import time

import pytest

from kit import answers
from kit.answers import Wait
from kit.client import request_bytes
from kit.configs import config
from kit.wait import in_background, until
from kit.weir import SANITIZED


# ---- who asks

def test_sighup_reads_the_file_again(serve, up):
    weir = serve({"g": ["d1"]})
    up.says("d2", "of d2")
    weir.write(config(up, {"g": ["d1"], "h": ["d2"]}))
    assert weir.ask("h").status == 400
    weir.signal(signal.SIGHUP)
    assert "1 deployment added" in weir.log_line("reloaded")
    assert weir.ask("h").text == "of d2"


def test_a_request_is_answered_with_what_changed(serve, up):
    weir = serve({"g": ["d1", "d2", "d3"]})
    made = config(up, {"g": {"d1": None, "d2": {"timeout": 7}, "d4": None}}, router={"num_retries": 1}, litellm={"drop_params": True})
    reply = weir.reload(made)
    assert reply.status == 200
    assert reply.json == {"status": "ok", "deployments": {"total": 3, "added": ["d4"], "removed": ["d3"], "changed": ["d2"]},
                          "settings": ["router_settings.num_retries", "litellm_settings.drop_params"], "needs_restart": [], "warnings": []}
    assert weir.reload().json["settings"] == []


def test_a_request_needs_the_key(serve):
    weir = serve({"g": ["d1"]}, general={"master_key": "sk-e2e"})
    assert weir.reload(headers={"authorization": None}).status == 401
    assert weir.reload(headers={"authorization": "Bearer sk-other"}).status == 401
    assert weir.reload().status == 200


@pytest.mark.parametrize("replace", [True, False])
def test_a_changed_file_is_read_where_that_is_wanted(serve, up, replace):
    weir = serve({"g": ["d1"]}, weir={"reload_on_change": True})
    made = config(up, {"g": ["d1"], "h": ["d2"]}, weir={"reload_on_change": True})
    up.says("d2", "of d2")
    weir.write(made)
    if not replace:
        weir.log_line("reloaded")
        text = weir.path.read_text().replace("model_name: h", "model_name: i")
        weir.path.write_text(text)
    until(lambda: weir.ask("h" if replace else "i").status == 200)


def test_a_changed_file_is_left_alone_where_that_is_not_wanted(serve, up):
    weir = serve({"g": ["d1"]})
    weir.write(config(up, {"h": ["d1"]}))
    time.sleep(0.5)
    assert weir.ask("h").status == 400 and "reloaded" not in weir.log


def test_watching_begins_and_ends_with_a_reload(serve, up):
    weir = serve({"g": ["d1"]})
    assert weir.reload(config(up, {"g": ["d1"]}, weir={"reload_on_change": True})).status == 200
    weir.write(config(up, {"h": ["d1"]}))
    until(lambda: weir.log.count("weir_settings.reload_on_change changed") == 2)
    weir.write(config(up, {"i": ["d1"]}))
    time.sleep(0.5)
    assert weir.ask("i").status == 400


# ---- a file that is wrong

def test_a_bad_file_changes_nothing_and_says_why(serve, up):
    weir = serve({"g": ["d1"]})
    up.says("d1", "of d1")
    reply = weir.reload("model_list: []\nrouter_settings:\n  num_retries: many\n")
    error = reply.json["error"]
    assert reply.status == 400 and error["type"] == "invalid_request_error" and error["code"] == "400"
    assert f"{weir.path}:3:16: router_settings.num_retries: error:" in error["message"]
    assert weir.log_line(r"config\.yaml:3:16: router_settings\.num_retries: error:")
    assert weir.log_line("not reloaded, nothing is changed")
    assert weir.ask("g").status == 200
    assert weir.reload(config(up, {"h": ["d1"]})).status == 200
    assert weir.ask("h").status == 200


def test_a_deployment_that_is_wrong_is_left_out_and_told(serve, up):
    weir = serve({"g": ["d1"]})
    up.says("d1", "of d1")
    made = config(up, {"g": ["d1", "d2"]})
    made["model_list"][1]["litellm_params"]["rpm"] = "many"
    reply = weir.reload(made)
    assert reply.status == 200 and "model_list[1].litellm_params.rpm" in reply.json["warnings"][0]
    assert weir.ask("g").status == 200


def test_certificates_that_cannot_be_read_change_nothing(serve, up, tmp_path):
    weir = serve({"g": ["d1"]})
    up.says("d1", "of d1")
    reply = weir.reload(config(up, {"g": {"d1": {"api_base": "https://127.0.0.1:9", "ssl_verify": str(tmp_path / "none.pem")}}}))
    assert reply.status == 400 and "none.pem" in reply.json["error"]["message"]
    assert weir.ask("g").text == "of d1"


def test_a_file_without_the_key_that_the_address_wants_changes_nothing(weirs, up):
    up.says("d1", "of d1")
    weir = weirs(config(up, {"g": ["d1"]}, general={"master_key": "sk-e2e"}), host="0.0.0.0")
    reply = weir.reload(config(up, {"g": ["d1"]}))
    assert reply.status == 400 and "without a key" in reply.json["error"]["message"]
    assert weir.ask("g", headers={"authorization": None}).status == 401
    assert weir.ask("g").status == 200


def test_a_missing_file_changes_nothing_and_is_waited_for(serve, up):
    weir = serve({"g": ["d1"]}, weir={"reload_on_change": True})
    up.says("d1", "of d1")
    weir.path.unlink()
    assert weir.reload().status == 400
    assert weir.ask("g").status == 200
    weir.write(config(up, {"h": ["d1"]}))
    until(lambda: weir.ask("h").status == 200)


# ---- what is under way, and what comes after

@pytest.mark.parametrize("stream", [False, True])
def test_a_call_finishes_on_the_deployment_that_is_gone(serve, up, stream):
    weir = serve({"g": ["d1"]})
    up.says("d1", answers.stream("one ", Wait(0.8), "two") if stream else answers.late(answers.text("one two"), 0.8))
    up.says("d2", "of d2")
    waiting = in_background(lambda: weir.ask({"model": "g", "stream": stream}))
    assert up.wait_for(lambda u: u.hits("d1") == 1)
    for _ in range(2):
        assert weir.reload(config(up, {"g": ["d2"]})).status == 200
    assert weir.ask("g").text == "of d2"
    assert waiting().text == "one two"


def test_another_strategy(serve, up):
    costs = {"d1": {"weight": 1, "info": {"input_cost_per_token": 2e-6}}, "d2": {"weight": 0, "info": {"input_cost_per_token": 1e-6}}}
    weir = serve({"g": costs})
    up.says("d1", "of d1").says("d2", "of d2")
    assert {weir.ask("g").text for _ in range(8)} == {"of d1"}
    assert weir.reload(config(up, {"g": costs}, router={"routing_strategy": "cost-based-routing"})).status == 200
    assert {weir.ask("g").text for _ in range(8)} == {"of d2"}


def test_a_cooldown_survives(serve, up):
    groups = {"g": ["d1"], "h": ["d2"]}
    weir = serve(groups, router={"cooldown_time": 60, "allowed_fails": 0})
    up.says("d1", answers.error(429)).says("d2", "of d2")
    assert weir.ask("g").status == 429 and up.hits("d1") == 1
    weir.reload(config(up, {**groups, "i": ["d3"]}, router={"cooldown_time": 60, "allowed_fails": 0}))
    assert weir.ask("g").status == 429 and up.hits("d1") == 1, "it cools down still"
    weir.reload(config(up, {"h": ["d2"]}))
    weir.reload(config(up, groups))
    assert weir.ask("g").status == 429 and up.hits("d1") == 1, "though it was gone meanwhile"


def test_fallbacks_change_for_the_next_call_only(serve, up):
    groups = {"g": ["d1"], "a": ["d2"], "b": ["d3"]}
    weir = serve(groups, litellm={"fallbacks": [{"g": ["a"]}]})
    up.says("d1", answers.late(answers.error(500), 0.5)).says("d2", "of a").says("d3", "of b")
    waiting = in_background(lambda: weir.ask("g"))
    assert up.wait_for(lambda u: u.hits("d1") == 1)
    reply = weir.reload(config(up, groups, litellm={"fallbacks": [{"g": ["b"]}]}))
    assert reply.json["settings"] == ["litellm_settings.fallbacks"]
    assert waiting().text == "of a"
    assert weir.ask("g").text == "of b"


def test_the_key_changes_with_the_reload(serve, up):
    weir = serve({"g": ["d1"]}, general={"master_key": "sk-e2e"})
    up.says("d1", answers.late(answers.text("of d1"), 0.5))
    waiting = in_background(lambda: weir.ask("g"))
    assert up.wait_for(lambda u: u.hits() == 1)
    reply = weir.reload(config(up, {"g": ["d1"]}, general={"master_key": "sk-other"}))
    assert reply.status == 200 and "sk-" not in reply.body.decode() + weir.log
    assert waiting().text == "of d1"
    assert weir.ask("g").status == 401
    assert weir.ask("g", headers={"authorization": "Bearer sk-other"}).text == "of d1"


def test_variables_of_the_file_are_read_anew(serve, up):
    groups = {"g": {"d1": {"api_key": "os.environ/MY_KEY"}}}
    weir = serve(groups, environment_variables={"MY_KEY": "first"})
    up.says("d1", "of d1")
    weir.ask("g")
    assert up.last().header("authorization") == "Bearer first"
    reply = weir.reload(config(up, groups, environment_variables={"MY_KEY": "second"}))
    assert reply.json["settings"] == ["environment_variables.MY_KEY"] and reply.json["deployments"]["changed"] == ["d1"]
    assert "second" not in reply.body.decode() + weir.log
    weir.ask("g")
    assert up.last().header("authorization") == "Bearer second"


def test_limits_of_the_server_hold_for_connections_that_were_there(serve, up):
    weir = serve({"g": ["d1"]})
    up.says("d1", "of d1")
    body = {"model": "g", "messages": [{"role": "user", "content": "x" * 4000}]}
    with weir.connect() as kept:
        kept.send(request_bytes(body))
        assert kept.reply().status == 200
        weir.reload(config(up, {"g": ["d1"]}, weir={"max_body_bytes": 2000}))
        kept.send(request_bytes(body))
        assert kept.reply().status == 413
    weir.reload(config(up, {"g": ["d1"]}))
    assert weir.ask(body).status == 200


def test_what_needs_a_restart_is_named_and_holds_as_it_was(serve, up, tmp_path):
    weir = serve({"g": ["d1"]}, arguments=[])
    up.says("d1", "of d1")
    made = config(up, {"g": ["d1"]}, weir={"access_log": str(tmp_path / "access.log"), "workers": 7}, router={"num_retries": 1})
    for _ in range(2):
        assert weir.reload(made).json["needs_restart"] == ["weir_settings.workers", "weir_settings.access_log"]
    assert weir.log_line(r"router_settings\.num_retries changed; weir_settings\.workers, weir_settings\.access_log as before until a restart")
    weir.ask("g")
    assert weir.log_line('"route":"chat"') and not (tmp_path / "access.log").exists()
    assert weir.reload(config(up, {"g": ["d1"]})).json["needs_restart"] == []


def test_a_proxy_needs_a_restart(serve, up):
    weir = serve({"g": ["d1"]})
    up.says("d1", "of d1")
    reply = weir.reload(config(up, {"g": ["d1"]}, environment_variables={"HTTP_PROXY": "http://127.0.0.1:9"}))
    assert any("HTTP_PROXY" in key for key in reply.json["needs_restart"])
    assert weir.ask("g").text == "of d1"


@pytest.mark.parametrize("secure", [False, True])
def test_connections_to_places_that_stay_are_kept(weirs, upstreams, certificates, secure):
    upstream = upstreams(certificates.server("good") if secure else None).says("d1", "of d1").says("d2", "of d2")
    trusted = {"ssl_verify": str(certificates.authority)} if secure else {}
    weir = weirs(config(upstream, {"g": {"d1": trusted}}), arguments=["--workers", "1"])
    weir.ask("g")
    weir.reload(config(upstream, {"g": {"d1": trusted, "d2": trusted}}))
    for _ in range(8):
        assert weir.ask("g").status == 200
    assert upstream.connections == 1


def test_renewed_certificates_are_taken_up(weirs, upstreams, certificates, tmp_path):
    upstream = upstreams(certificates.server("good")).says("d1", "of d1")
    trusted = tmp_path / "trusted.pem"
    trusted.write_bytes((certificates.folder / "self-signed.pem").read_bytes())
    weir = weirs(config(upstream, {"g": {"d1": {"ssl_verify": str(trusted)}}}, router={"disable_cooldowns": True}))
    assert weir.ask("g").status == 500
    trusted.write_bytes(certificates.authority.read_bytes())
    assert weir.ask("g").status == 500, "files are read at the start and with a reload"
    assert weir.reload().status == 200
    assert weir.ask("g").text == "of d1"


# ---- files

def test_included_files_are_read_and_watched_as_well(serve, up):
    weir = serve({"g": ["d1"]})
    more = weir.folder / "more.yaml"
    more.write_text("litellm_settings: {fallbacks: [{g: [a]}]}\n")
    made = config(up, {"g": ["d1"], "a": ["d2"], "b": ["d3"]}, weir={"reload_on_change": True}, include=["more.yaml"])
    up.says("d1", answers.error(500)).says("d2", "of a").says("d3", "of b")
    assert weir.reload(made).json["settings"] == ["weir_settings.reload_on_change", "litellm_settings.fallbacks"]
    assert weir.ask("g").text == "of a"
    more.write_text("litellm_settings: {fallbacks: [{g: [b]}]}\n")
    until(lambda: weir.ask("g").text == "of b")


def test_a_link_that_is_swapped_is_seen(weirs, up):
    """As Kubernetes does it: the file is a link through a link to a folder, and the folder is what changes."""
    weir = weirs(config(up, {"g": ["d1"]}, weir={"reload_on_change": True}), start=False)
    first, second = weir.folder / "..first", weir.folder / "..second"
    text = weir.path.read_text()
    weir.path.unlink()
    for folder, group in ((first, "g"), (second, "h")):
        folder.mkdir()
        (folder / "config.yaml").write_text(text.replace("model_name: g", f"model_name: {group}"))
    os.symlink("..first", weir.folder / "..data")
    os.symlink("..data/config.yaml", weir.path)
    up.says("d1", "of d1")
    weir.start()
    assert weir.ask("g").status == 200
    os.symlink("..second", weir.folder / "..next")
    os.rename(weir.folder / "..next", weir.folder / "..data")
    until(lambda: weir.ask("h").status == 200)
    weir.stop()


def test_a_noisy_folder_reloads_nothing(serve, up):
    weir = serve({"g": ["d1"]}, weir={"reload_on_change": True})
    up.says("d1", "of d1")
    for number in range(30):
        (weir.folder / f"noise-{number % 3}").write_text(str(number))
        time.sleep(0.02)
    time.sleep(0.3)
    assert "reloaded" not in weir.log and weir.ask("g").status == 200


# ---- many of them

def test_a_storm_of_wishes(serve, up):
    weir = serve({"g": ["d1"]}, weir={"reload_on_change": True})
    up.says("d1", "of d1")
    replies = []

    def wish():
        for _ in range(10):
            replies.append(weir.reload().status)
    threads = [threading.Thread(target=wish) for _ in range(8)]
    for thread in threads:
        thread.start()
    for number in range(40):
        weir.signal(signal.SIGHUP)
        weir.write(config(up, {"g": ["d1"], f"h{number}": ["d2"]}, weir={"reload_on_change": True}))
    for thread in threads:
        thread.join(60)
    assert replies == [200] * 80
    until(lambda: weir.ask("h39").status != 400)
    assert weir.ask("g").text == "of d1"


def test_who_leaves_does_not_keep_the_answer_from_others(serve, up):
    weir = serve({"g": ["d1"]})
    for _ in range(20):
        with weir.connect() as gone:
            gone.send(request_bytes({}, "/weir/reload"))
    assert weir.reload().status == 200


def test_no_reload_while_draining(serve, up):
    weir = serve({"g": ["d1"]})
    up.says("d1", answers.late(answers.text("finished"), 1))
    with weir.connect() as kept:
        waiting = in_background(lambda: weir.ask("g"))
        assert up.wait_for(lambda u: u.hits() == 1)
        weir.signal(signal.SIGTERM)
        weir.log_line("draining")
        kept.send(request_bytes({}, "/weir/reload"))
        assert kept.reply().status == 503
    weir.signal(signal.SIGHUP)
    assert weir.log_line("SIGHUP: not reloaded, weir is ending")
    assert waiting().text == "finished" and weir.wait(5) == 0


def resident_kib(weir):
    with open(f"/proc/{weir.process.pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))


def test_a_hundred_reloads_under_load_lose_nothing(serve, up):
    weir = serve({"g": ["d0", "d1"]}, router={"num_retries": 0, "disable_cooldowns": True})
    slow = answers.stream("one ", Wait(0.02), "two ", Wait(0.02), "three")
    for number in range(4):
        up.says(f"d{number}", answers.Answer(lambda call: (slow if call.json.get("stream") else answers.text("one two three")).steps(call)))
    ended = threading.Event()
    wrong, good = [], [0]

    def load(stream):
        with weir.connect() as connection:
            while not ended.is_set():
                connection.send(request_bytes({"model": "g", "stream": stream, "messages": [{"role": "user", "content": "hello"}]}))
                reply = connection.reply()
                if reply.status != 200 or reply.text != "one two three":
                    wrong.append(reply)
                good[0] += 1
    threads = [threading.Thread(target=load, args=(number % 2 == 0,)) for number in range(8)]
    for thread in threads:
        thread.start()
    before = 0
    for number in range(100):
        members = [f"d{number % 4}", f"d{(number + 1) % 4}"]
        router = {"num_retries": 0, "disable_cooldowns": True, "routing_strategy": ["simple-shuffle", "least-busy", "latency-based-routing"][number % 3]}
        assert weir.reload(config(up, {"g": members, f"h{number}": members[:1]}, router=router)).status == 200
        time.sleep(0.02)
        if number == 20:
            before = resident_kib(weir)
    after = resident_kib(weir)
    ended.set()
    for thread in threads:
        thread.join(60)
    assert not wrong and good[0] > 100
    if not SANITIZED:
        assert after < before + 4096, f"{before} KiB after 20 reloads, {after} KiB after 100"
