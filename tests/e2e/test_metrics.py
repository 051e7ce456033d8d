"""/metrics: names, labels and numbers as somebody with a dashboard needs them."""
import collections
import concurrent.futures
import json
import os
import re
import time

import pytest

from kit import answers
from kit.client import request_bytes
from kit.prometheus import Page, promtool, scrape, scrape_when
from kit.redis import Redis
from kit.wait import until

# What people chart, as the table of metrics.md has it. K, O, D stand for several labels.
CHARTED = """
litellm_proxy_total_requests_metric | counter | end_user, K, requested_model, user, status_code, user_email, route, client_ip, user_agent, model_id, api_provider, O
litellm_proxy_failed_requests_metric | counter | end_user, K, requested_model, user, exception_status, exception_class, user_email, route, client_ip, user_agent, model_id, api_provider, O
litellm_request_total_latency_metric | histogram | model_group, end_user, K, requested_model, user, model, model_id, api_provider, service_tier, O
litellm_llm_api_latency_metric | histogram | model_group, end_user, K, requested_model, user, model, model_id, api_provider, service_tier, O
litellm_llm_api_time_to_first_token_metric | histogram | model_group, end_user, K, requested_model, user, model, model_id, api_provider, service_tier, O
litellm_overhead_latency_metric | histogram | model_group, D, hashed_api_key, api_key_alias
litellm_request_queue_time_seconds | histogram | model_group, end_user, K, requested_model, user, model, model_id, api_provider, service_tier, O
litellm_input_tokens_metric | counter | end_user, K, model, user, user_email, requested_model, model_id, api_provider, O
litellm_output_tokens_metric | counter | end_user, K, model, user, user_email, requested_model, model_id, api_provider, O
litellm_total_tokens_metric | counter | end_user, K, model, user, user_email, requested_model, model_id, api_provider, O
litellm_spend_metric | counter | end_user, K, model, user, user_email, requested_model, model_id, api_provider, O
litellm_remaining_requests_metric | gauge | model_group, D, hashed_api_key, api_key_alias
litellm_remaining_tokens_metric | gauge | model_group, D, hashed_api_key, api_key_alias
litellm_deployment_state | gauge | D
litellm_deployment_tpm_limit | gauge | model_group, D
litellm_deployment_rpm_limit | gauge | model_group, D
litellm_deployment_cooled_down | counter | D, exception_status
litellm_deployment_success_responses | counter | model_group, requested_model, D, K, client_ip, user_agent
litellm_deployment_failure_responses | counter | model_group, requested_model, D, K, client_ip, user_agent, exception_status, exception_class
litellm_deployment_total_requests | counter | model_group, requested_model, D, K, client_ip, user_agent
litellm_deployment_latency_per_output_token | histogram | model_group, D, K, O
litellm_deployment_successful_fallbacks | counter | requested_model, fallback_model, K, exception_status, exception_class, model_id
litellm_deployment_failed_fallbacks | counter | requested_model, fallback_model, K, exception_status, exception_class, model_id
litellm_redis_latency | histogram |
litellm_redis_fails | counter |
litellm_self_latency | histogram |
"""
SHORT = {"K": ["hashed_api_key", "api_key_alias", "team", "team_alias"], "O": ["org_id", "org_alias"],
         "D": ["litellm_model_name", "model_id", "api_base", "api_provider"]}
BOUNDS = "0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 2 5 10 30 60 120 300 420 600 +Inf".split()


def charted():
    """name -> (type, labels), with the names as they stand on the page."""
    table = {}
    for line in CHARTED.strip().split("\n"):
        name, kind, labels = (part.strip() for part in line.split("|"))
        labels = {one for label in labels.split(", ") if label for one in SHORT.get(label, [label])}
        table[name + ("_total" if kind == "counter" else "")] = (kind, labels)
    return table


def requests(count):
    """So many are over."""
    return lambda page: page.sum("weir_requests_total") == count


@pytest.fixture
def traffic(serve, up):
    """A weir that was asked for a little of everything."""
    up.says("d1", *[answers.text("fine", headers={"x-ratelimit-remaining-requests": "41", "x-ratelimit-remaining-tokens": "9000"})] * 2)
    up.says("e1", answers.error("rate_limit", headers={"retry-after": "60"}))
    up.says("e2", *[answers.text("fine")] * 4)
    up.says("f1", *[answers.error("internal")] * 2)
    up.says("s1", answers.stream("a", "b", "c"))
    groups = {"g": {"d1": {"rpm": 100, "tpm": 1000, "input_cost_per_token": 0.001, "output_cost_per_token": 0.002}},
              "e": {"e1": {"order": 1}, "e2": {"order": 2}}, "f": ["f1"], "s": ["s1"]}
    weir = serve(groups, router={"fallbacks": [{"f": ["g"]}], "num_retries": 1}, weir={"workers": 2})
    assert weir.ask("g").status == 200
    assert weir.ask({"model": "s", "stream": True}).text == "abc"
    assert weir.ask("f").status == 200
    for _ in range(4):
        assert weir.ask("e").status == 200
    assert weir.ask("nobody").status == 400
    assert weir.ask(path="/none", method="GET").status == 404
    scrape_when(weir, requests(9))
    return weir


def test_the_names_that_people_chart_are_there_with_their_types_and_labels(traffic):
    page = scrape(traffic)
    for name, (kind, labels) in charted().items():
        assert page.types[name] == kind, name
        sample = f"{name}_sum" if kind == "histogram" else name
        found = page.all(sample)
        assert found or name == "litellm_deployment_failed_fallbacks_total" or name.startswith("litellm_redis_"), name
        for own, _ in found:
            assert set(own) == labels, name
    assert {name for name in page.types if name.startswith("litellm_")} == set(charted())


def test_histograms_have_the_buckets_that_metrics_md_says(traffic):
    page = scrape(traffic)
    for name in (name for name, kind in page.types.items() if kind == "histogram"):
        series = collections.defaultdict(list)
        for labels, value in page.all(f"{name}_bucket"):
            series[tuple(sorted((k, v) for k, v in labels.items() if k != "le"))].append((labels["le"], value))
        counts = {tuple(sorted(labels.items())): value for labels, value in page.all(f"{name}_count")}
        assert set(counts) == set(series)
        for labels, buckets in series.items():
            assert [float(le) for le, _ in buckets] == [float(bound) for bound in BOUNDS]
            values = [value for _, value in buckets]
            assert values == sorted(values) and values[-1] == counts[labels]


def test_every_name_stands_in_the_page_of_the_docs(traffic):
    page = scrape(traffic)
    docs = open(os.path.join(os.path.dirname(__file__), "..", "..", "docs", "metrics.md")).read()
    rows = {found[1]: {label for label in re.findall(r"`(\w+)`", found[3])} for found in re.finditer(r"^\| `(\w+)` \| (\w+) \| ([^|]*) \|", docs, re.M)}
    assert set(page.types) == set(rows)
    for name, labels, _ in page.samples:
        family = name if name in rows else name[:name.rindex("_")]
        assert set(labels) - {"le"} == rows[family], name


def test_the_numbers_are_those_of_the_traffic(traffic):
    page = scrape(traffic)
    assert page.sum("weir_requests_total") == 9
    assert page.sum("weir_requests_total", state="succeeded") == 7
    assert page.sum("weir_requests_total", state="failed", requested_model="unknown", status="400", kind="bad_request") == 1
    assert page.sum("weir_requests_total", state="failed", route="", status="404") == 1
    assert page.sum("weir_attempts_total", deployment="f1") == 2
    assert page.sum("weir_attempt_failures_total", deployment="f1", kind="internal", status="500") == 2
    assert page.sum("weir_retries_total", group="f") == 1
    assert page.sum("weir_fallbacks_total", source="f", target="g", hop="group") == 1
    assert page.sum("litellm_deployment_successful_fallbacks_total", requested_model="f", fallback_model="g", exception_status="500",
                    exception_class="Openai.InternalServerError", model_id="d1") == 1
    assert page.sum("weir_first_content_seconds_count", stream="true") == 1
    assert page.sum("litellm_llm_api_time_to_first_token_metric_count", requested_model="s") == 1
    assert page.sum("weir_attempts_total") == page.sum("litellm_deployment_total_requests_total") == page.sum("weir_events_total", event="AttemptStarted")
    assert page.sum("weir_attempts_total") == page.sum("weir_attempt_successes_total") + page.sum("weir_attempt_failures_total")


def test_a_cooldown_is_seen(traffic):
    page = scrape(traffic)
    [(labels, value)] = page.all("weir_cooldowns_total")
    assert value == 1 and labels["rule"] == "rate_limited" and labels["kind"] == "rate_limit" and labels["deployment"] == "e1"
    assert page.sum("weir_cooldown_seconds_total") == 60
    assert page.all("litellm_deployment_state", model_id="e1")[0][1] == 2
    assert page.all("weir_deployment_eligible", deployment="e1")[0][1] == 0
    assert 0 < page.all("weir_deployment_cooldown_seconds", deployment="e1")[0][1] <= 60
    assert page.all("litellm_deployment_state", model_id="f1")[0][1] == 1
    assert page.all("litellm_deployment_state", model_id="d1")[0][1] == 0


def test_where_every_probe_of_a_group_fails_its_deployments_may_be_picked(serve, up):
    for one in ("d1", "d2", "e1", "o1"):
        up.says(one, answers.error("internal"))
    for one in ("e2", "o2"):
        up.says(one, "good")
    weir = serve({"g": ["d1", "d2"], "e": ["e1", "e2"], "o": {"o1": {"order": 1}, "o2": {"order": 2}}},
                 general={"background_health_checks": True, "health_check_interval": 60}, router={"enable_health_check_routing": True})

    def told():
        groups = json.loads(weir.ask(path="/weir/state", method="GET").body)["groups"]
        return {row["id"]: row for group in groups for row in group["deployments"]}

    until(lambda: all("health" in row for row in told().values()))
    page = scrape(weir)
    eligible = {labels["deployment"]: value == 1 for labels, value in page.all("weir_deployment_eligible")}
    assert eligible == {"d1": True, "d2": True, "e1": False, "e2": True, "o1": False, "o2": True}
    assert all(row["eligible"] == eligible[name] for name, row in told().items())


def test_limits_and_what_is_left_of_them(traffic):
    page = scrape(traffic)
    assert page.sum("litellm_deployment_rpm_limit", model_id="d1", model_group="g") == 100
    assert page.sum("litellm_deployment_tpm_limit", model_id="d1", model_group="g") == 1000
    assert page.sum("litellm_remaining_requests_metric", model_id="d1") == 41
    assert page.sum("litellm_remaining_tokens_metric", model_id="d1") == 9000
    assert not page.all("litellm_remaining_tokens_metric", model_id="s1")


def test_tokens_and_dollars(traffic):
    page = scrape(traffic)
    tokens, answered = answers.USAGE, 2  # by d1
    assert page.sum("weir_prompt_tokens_total", deployment="d1") == answered * tokens["prompt_tokens"]
    assert page.sum("litellm_output_tokens_metric_total", model_id="d1") == answered * tokens["completion_tokens"]
    dollars = answered * (tokens["prompt_tokens"] * 0.001 + tokens["completion_tokens"] * 0.002)
    assert page.sum("weir_cost_dollars_total", deployment="d1") == pytest.approx(dollars)
    assert page.sum("litellm_spend_metric_total", model_id="d1") == pytest.approx(dollars)


def test_promtool_has_nothing_against_the_page(traffic):
    text = traffic.ask(path="/metrics", method="GET").body.decode()
    done = promtool("check", "metrics", text=text)
    assert done.returncode == 0, done.stdout + done.stderr


# ---- counting

def test_counts_are_exact_over_workers(serve, up):
    weir = serve({"g": ["d1", "d2"]}, weir={"workers": 2})
    for name in ("d1", "d2"):
        up.says(name, *[answers.text("fine")] * 400)

    def some(_):
        with weir.connect() as connection:
            for _ in range(20):
                connection.send(request_bytes({"model": "g", "messages": [{"role": "user", "content": "hi"}]}))
                assert connection.reply().status == 200
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        list(pool.map(some, range(16)))
    page = scrape_when(weir, requests(320))
    assert page.sum("weir_requests_total", state="succeeded") == 320
    assert page.sum("weir_attempts_total") == up.hits() == 320
    assert page.sum("weir_request_duration_seconds_count") == 320


def test_a_stream_with_a_chunk_that_is_no_json_is_counted(serve, up):
    up.says("d1", answers.stream("a", answers.event("{no json"), "b"))
    weir = serve({"g": ["d1"]})
    weir.ask({"model": "g", "stream": True})
    page = scrape_when(weir, requests(1))
    assert page.sum("weir_stream_bad_chunks_total", group="g", deployment="d1") == 1
    assert page.sum("weir_streams_broken_total", committed="true") == 1
    assert page.sum("weir_requests_total", state="failed", status="200") == 1


def test_a_client_that_leaves_is_a_state_of_its_own(serve, up):
    up.says("d1", answers.late(answers.text("never"), 5))
    weir = serve({"g": ["d1"]}, router={}, general={"cancel_on_disconnect": True})
    with weir.connect() as connection:
        connection.send(request_bytes({"model": "g", "messages": [{"role": "user", "content": "hi"}]}))
        assert up.wait_for(lambda u: u.hits() == 1)
    assert scrape_when(weir, requests(1)).sum("weir_requests_total", state="client_gone") == 1


def test_names_that_callers_make_up_make_no_series(serve, up):
    weir = serve({"w/*": {"d1": {"model": "openai/*"}}})
    for n in range(30):
        up.says("d1", answers.text("fine"))
        assert weir.ask(f"w/{n}").status == 200
        assert weir.ask(f"none-{n}").status == 400
    page = scrape_when(weir, requests(60))
    assert {labels["requested_model"] for labels, _ in page.all("weir_requests_total")} == {"w/*", "unknown"}
    assert page.sum("weir_requests_total", requested_model="w/*", group="w/*") == 30


def test_what_finds_no_room_is_counted_as_dropped(serve, up):
    up.says("d1", answers.text("fine"))
    weir = serve({"g": ["d1"]}, weir={"metrics_max_series": 3})
    assert weir.ask("g").status == 200
    page = scrape_when(weir, lambda page: page.sum("weir_metrics_dropped_series_total") > 0)
    assert page.sum("weir_metrics_series") == 3


def test_a_reload_keeps_counts_and_shows_the_deployments_that_hold(serve, up):
    up.says("d1", answers.text("fine"))
    weir = serve({"g": ["d1"]})
    assert weir.ask("g").status == 200
    assert weir.reload(weir.path.read_text().replace("id: d1", "id: d9")).status == 200
    page = scrape(weir)
    assert page.sum("weir_attempts_total", deployment="d1") == 1
    assert [labels["deployment"] for labels, _ in page.all("weir_deployment_eligible")] == ["d9"]
    assert page.sum("weir_reloads_total") == 1
    assert weir.reload("model_list: 5").status == 400
    assert scrape(weir).sum("weir_reloads_refused_total") == 1


def test_redis_is_timed_and_its_failures_are_counted(serve, tmp_path):
    redis = Redis(tmp_path).start()
    try:
        weir = serve({"g": ["d1"]}, router={"redis_host": "127.0.0.1", "redis_port": redis.port})
        page = scrape_when(weir, lambda page: page.sum("litellm_redis_latency_count") > 0)
        assert page.sum("weir_redis_up") == 1
        before = page.sum("litellm_redis_fails_total")
        redis.kill()
        page = scrape_when(weir, lambda page: page.sum("litellm_redis_fails_total") > before)
        assert page.sum("weir_redis_up") == 0
    finally:
        redis.stop()


# ---- who may look, and how

KEY = "sk-planted-master-key-1"


@pytest.mark.parametrize("section", [None, "general", "litellm"])
def test_the_page_is_open_unless_a_setting_closes_it(serve, section):
    sections = {"general": {"master_key": KEY}, "litellm": {}}
    if section:
        sections[section]["require_auth_for_metrics_endpoint"] = True
    weir = serve({"g": ["d1"]}, **sections)
    assert weir.ask(path="/metrics", method="GET").status == (401 if section else 200)
    assert weir.ask(path="/metrics", method="GET", headers={"authorization": "Bearer wrong"}).status == (401 if section else 200)
    assert weir.ask(path="/metrics", method="GET", headers={"authorization": f"Bearer {KEY}"}).status == 200


def test_the_page_has_a_second_path_and_a_head(serve):
    weir = serve({"g": ["d1"]})
    assert Page(weir.ask(path="/metrics/", method="GET").body.decode()).types
    head = weir.ask(path="/metrics", method="HEAD")
    assert head.status == 200 and head.body == b""
    assert weir.ask({}, path="/metrics").status == 405


def test_neither_keys_nor_prompts_nor_answers_are_on_it(serve, up):
    planted = ["sk-planted-master-key-1", "key-of-d1", "PLANTED-PROMPT", "PLANTED-ANSWER", "planted-user", "secret-query"]
    up.says("d1", answers.text("PLANTED-ANSWER"), answers.error("auth"))
    weir = serve({"g": {"d1": {"api_base": up.url("d1") + "?key=secret-query"}}}, general={"master_key": KEY})
    for _ in range(2):
        weir.ask({"model": "g", "user": "planted-user", "messages": [{"role": "user", "content": "PLANTED-PROMPT"}]}, headers={"authorization": f"Bearer {KEY}"})
    weir.ask("PLANTED-PROMPT", headers={"authorization": f"Bearer {KEY}"})
    scrape_when(weir, requests(3))
    text = weir.ask(path="/metrics", method="GET").body.decode()
    assert [word for word in planted if word in text] == []


def test_a_page_that_nobody_takes_holds_up_nothing(serve, up):
    groups = {f"g{n}": [f"d{n}"] for n in range(500)}
    weir = serve(groups, weir={"workers": 1, "access_log": "off"})
    up.says("d0", answers.text("fine"))
    slow = weir.connect()
    for _ in range(40):  # more than sockets take
        slow.send(request_bytes(None, path="/metrics", method="GET"))
    begun = time.monotonic()
    assert weir.ask("g0").text == "fine"
    assert time.monotonic() - begun < 2
    page = scrape(weir)
    assert len(page.all("weir_deployment_eligible")) == 500
    assert page.sum("weir_memory_budget_used_bytes") < 4 * 1024 * 1024
    slow.close()


def test_the_log_tells_of_no_scrape(serve):
    weir = serve({"g": ["d1"]})
    page = scrape(weir)
    assert page.sum("weir_requests_total") == 0
    assert not [line for line in weir.log.splitlines() if line.startswith("{") and "call_id" in json.loads(line)]
