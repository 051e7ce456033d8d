"""Another configuration while weir serves: who asks for it, what of it holds when, and what must not be lost by it."""
import copy
import os
import signal
import threading
import time

import pytest

from kit import answers
from kit.answers import Wait
from kit.client import request_bytes
from kit.configs import config
from kit.weir import SANITIZED, WORKERS


def in_background(function):
    """Runs it in a thread; call the result to wait for what it returned."""
    results = []
    thread = threading.Thread(target=lambda: results.append(function()))
    thread.start()

    def wait():
        thread.join(60)
        return results[0]
    return wait


def until(predicate, seconds=5):
    end = time.monotonic() + seconds
    while not predicate():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.01)


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
