"""The dashboard and the alerts of contrib: what they name exists, and a real Prometheus answers all that they ask."""
import json
import re
import time
from pathlib import Path

import pytest
import yaml

from kit import answers
from kit.prometheus import Prometheus, promtool
from kit.redis import Redis
from kit.wait import until
from test_metrics import KEY

ROOT = Path(__file__).resolve().parents[2]
DASHBOARD = ROOT / "contrib" / "grafana" / "weir.json"
RULES = ROOT / "contrib" / "prometheus" / "weir-rules.yaml"
RULES_TEST = RULES.with_name("weir-rules-test.yaml")
OURS = ("weir_", "litellm_", "process_")
# What Prometheus adds to each sample, and what PromQL gives its results.
ADDED = {"instance", "job", "le"}


def documented():
    """name -> its labels, of every sample that /metrics may have."""
    found = {}
    for row in re.finditer(r"^\| `(\w+)` \| (\w+) \| ([^|]*) \|", (ROOT / "docs" / "metrics.md").read_text(), re.M):
        labels = set(re.findall(r"`(\w+)`", row[3]))
        for part in ("_bucket", "_sum", "_count") if row[2] == "histogram" else ("",):
            found[row[1] + part] = labels
    return found


def panels():
    return [panel for panel in json.loads(DASHBOARD.read_text())["panels"] if panel["type"] != "row"]


def queries():
    """(title, expression) of everything that the dashboard asks."""
    board = json.loads(DASHBOARD.read_text())
    return ([(panel["title"], target["expr"]) for panel in panels() for target in panel["targets"]]
            + [(note["name"], note["expr"]) for note in board["annotations"]["list"]])


def expressions():
    rules = [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]
    variables = [v["query"]["query"].removeprefix("label_values(").rstrip(")").rsplit(",", 1)[0]
                 for v in json.loads(DASHBOARD.read_text())["templating"]["list"] if v["type"] == "query"]
    return [*queries(), *[(rule["alert"], rule["expr"]) for rule in rules], *[("a variable", query) for query in variables]]


def names_in(expression):
    """name -> the labels that are asked of it, in the braces that follow it."""
    found = {}
    for name, braces in re.findall(r"\b((?:%s)\w+)(\{[^}]*\})?" % "|".join(OURS), expression):
        found.setdefault(name, set()).update(re.findall(r'(\w+)\s*[=!]~?"', braces))
    return found


@pytest.mark.parametrize("title, expression", expressions(), ids=lambda value: str(value)[:40])
def test_what_is_named_exists(title, expression):
    table, named = documented(), names_in(expression)
    assert named or expression.startswith("up{"), expression
    for name, labels in named.items():
        assert name in table, f"{title}: no metric {name}"
        assert labels <= table[name] | ADDED, f"{title}: {name} has no label {labels - table[name] - ADDED}"
    grouped = {label for by in re.findall(r"\b(?:by|on) \(([^)]*)\)", expression) for label in re.findall(r"\w+", by)}
    assert grouped <= ADDED | set.union(set(), *(table[name] for name in named)), f"{title}: grouped by what is not there"


def test_panels_lie_beside_each_other():
    taken = {}
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        for x in range(place["x"], place["x"] + place["w"]):
            for y in range(place["y"], place["y"] + place["h"]):
                assert (x, y) not in taken, f"{panel['title']} lies on {taken[x, y]}"
                taken[x, y] = panel["title"]
    ids = [panel["id"] for panel in json.loads(DASHBOARD.read_text())["panels"]]
    assert len(ids) == len(set(ids))


def test_promtool_takes_the_rules():
    done = promtool("check", "rules", str(RULES))
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_alert_fires_when_it_should_and_not_before():
    tested = {case["alertname"]: set() for group in yaml.safe_load(RULES_TEST.read_text())["tests"] for case in group["alert_rule_test"]}
    for group in yaml.safe_load(RULES_TEST.read_text())["tests"]:
        for case in group["alert_rule_test"]:
            tested[case["alertname"]].add(bool(case["exp_alerts"]))
    alerts = {rule["alert"] for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]}
    assert set(tested) == alerts and all(seen == {True, False} for seen in tested.values())
    done = promtool("test", "rules", str(RULES_TEST))
    assert done.returncode == 0, done.stdout + done.stderr


# ---- a real Prometheus

@pytest.fixture
def redis(tmp_path):
    server = Redis(tmp_path).start()
    yield server
    server.stop()


@pytest.fixture
def weir(serve, up, redis):
    """Everything that a dashboard may ask for can happen here."""
    left = {"x-ratelimit-remaining-requests": "41", "x-ratelimit-remaining-tokens": "9000"}
    priced = {"rpm": 1000, "tpm": 100000, "input_cost_per_token": 0.001, "output_cost_per_token": 0.002}
    up.says("good", *[answers.text("fine", headers=left)] * 500)
    up.says("bad", *[answers.error("internal")] * 500)
    up.says("limited", *[answers.error("rate_limit", headers={"retry-after": "1"})] * 500)
    up.says("other", *[answers.text("fine")] * 500)
    up.says("stream", *[answers.stream("a", "b", "c")] * 500)
    up.says("torn", *[answers.stream("a", answers.event("{no json"))] * 500)
    up.says("slow", *[answers.late(answers.text("slow"), 1)] * 500)
    up.says("quick", *[answers.text("quick")] * 500)
    groups = {"good": {"good": priced}, "bad": ["bad"], "mixed": {"limited": {"order": 1}, "other": {"order": 2}}, "stream": ["stream"], "torn": ["torn"],
              "hedged": {"slow": {"order": 1, "weight": 1000}, "quick": {"order": 1, "weight": 0.001}},
              "tight": {"tight": {"rpm": 1}}, "alone": {"only": {"at": "limited"}, "lonely": {"at": "limited"}}}
    up.says("tight", *[answers.text("fine")] * 500)
    return serve(groups, env={"REDIS_HOST": "127.0.0.1", "REDIS_PORT": str(redis.port)},
                 router={"num_retries": 1, "retry_after": 0, "fallbacks": [{"bad": ["good"]}], "optional_pre_call_checks": ["enforce_model_rate_limits"],
                         "redis_host": "127.0.0.1", "redis_port": redis.port},
                 general={"master_key": KEY}, litellm={"require_auth_for_metrics_endpoint": True},
                 weir={"workers": 2, "groups": {"hedged": {"hedge": {"after": 0.05}}, "bad": {"retry_budget": {"ratio": 0, "min_per_s": 0.2}},
                                                "alone": {"all_cooling_wait": 2}}})


def busy(weir):
    """One round of all kinds of traffic."""
    key = {"authorization": f"Bearer {KEY}"}
    for model in ("good", "bad", "bad", "bad", "mixed", "hedged", "tight", "nobody", "alone"):
        weir.ask(model, headers=key)
    for model in ("stream", "torn"):
        weir.ask({"model": model, "stream": True}, headers=key)
    weir.reload("model_list: 5", headers=key)


def asked(expression):
    """As Grafana would ask it."""
    expression = expression.replace("$__rate_interval", "20s").replace("$__range", "5m")
    return re.sub(r"\$(instance|group|deployment)\b", ".*", expression)


def test_a_real_prometheus_answers_every_query_of_the_dashboard(weir, tmp_path):
    good = weir.path.read_text()
    prometheus = Prometheus(tmp_path, weir, rules=[RULES], key=KEY).start()
    try:
        until(lambda: prometheus.query('up{job="weir"} == 1'), 20)
        begun = time.monotonic()
        while time.monotonic() - begun < 8:
            busy(weir)
        weir.reload(good, headers={"authorization": f"Bearer {KEY}"})
        waiting = dict.fromkeys(queries())
        until(lambda: all(prometheus.query(asked(expression)) for _, expression in waiting) or time.monotonic() - begun > 25, 30)
        assert [(title, asked(expression)) for title, expression in waiting if not prometheus.query(asked(expression))] == []
        for rule in prometheus.rules().values():
            assert rule["health"] == "ok", rule
    finally:
        prometheus.stop()
