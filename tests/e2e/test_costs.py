"""What answers cost: in the log, over streams, over deployments, and from a model map."""
import json
import subprocess

from kit import answers
from kit.answers import CLOSE
from kit.configs import config
from kit.weir import BINARY

PRICED = {"input_cost_per_token": 1e-6, "output_cost_per_token": 4e-6}
USAGE = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}


def line(weir, model):
    return json.loads(weir.log_line(f'"model":"{model}"'))


def test_the_log_tells_the_cost_of_plain_answers_and_streams(weirs, up):
    weir = weirs(config(up, {"g": {"d1": PRICED}, "s": {"d2": PRICED}, "free": {"d3": {}}}))
    up.says("d1", answers.text("x", usage=USAGE))
    up.says("d2", answers.stream("a", "b", usage=USAGE))
    up.says("d3", answers.text("x", usage=USAGE))
    assert weir.ask("g").header("x-litellm-response-cost") == "0.00014"
    assert line(weir, "g")["cost"] == 0.00014
    streamed = weir.ask({"model": "s", "stream": True, "stream_options": {"include_usage": True}})
    assert streamed.text == "ab" and streamed.header("x-litellm-response-cost") is None  # not known when the head goes out
    assert line(weir, "s")["cost"] == 0.00014
    weir.ask("free")
    assert "cost" not in line(weir, "free")


def test_all_deployments_of_a_continued_stream_are_paid(weirs, up):
    weir = weirs(config(up, {"g": {"d1": PRICED}, "next": {"d2": {"input_cost_per_token": 1e-5, "output_cost_per_token": 1e-5, "info": {"supports_assistant_prefill": True}}}},
                        router={"enable_mid_stream_fallback_continuation": True, "fallbacks": [{"g": ["next"]}]}))
    told = json.dumps({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [], "usage": USAGE})
    up.says("d1", answers.stream("one ", f"data: {told}\n\n".encode(), CLOSE))
    up.says("d2", answers.stream("two", usage={"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": 10}))
    assert weir.ask({"model": "g", "stream": True, "stream_options": {"include_usage": True}}).text == "one two"
    assert line(weir, "g")["cost"] == 0.00024


def test_evidence_that_is_not_valid_is_told(weirs, up):
    weir = weirs(config(up, {"g": ["d1"]}, router={"routing_strategy": "lar1"}))
    weir.ask({"model": "g", "metadata": {"lar1": {"confidence": 7}}})
    assert line(weir, "g")["lar1_invalid"] is True


def test_a_model_map_beside_the_file_gives_prices_and_weir_check_says_so(weirs, up, tmp_path):
    models = {"gpt-4o": {"litellm_provider": "openai", "input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6},
              "openai/house": {"litellm_provider": "openai", "max_input_tokens": 77}}
    (tmp_path / "models.json").write_text(json.dumps(models))
    made = config(up, {"g": {"d1": {"model": "openai/gpt-4o"}}, "w/*": {"d2": {"model": "openai/*"}}, "h": {"d3": {"model": "openai/house"}}},
                  weir={"model_map": str(tmp_path / "models.json")})
    weir = weirs(made)
    up.says("d1", answers.text("x", usage=USAGE))
    up.says("d2", answers.text("x", usage=USAGE))
    assert weir.ask("g").header("x-litellm-response-cost") == "0.00012"
    assert weir.ask("w/gpt-4o").header("x-litellm-response-cost") == "0.00012"
    made["weir_settings"]["model_map"] = "models.json"
    (tmp_path / "config.yaml").write_text(json.dumps(made))
    said = subprocess.run([BINARY, "check", "config.yaml"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert "input $1/M, output $2/M  (models.json)" in said
    assert "context 128000  (built in, https://platform.openai.com/docs/pricing)" in said
    assert "context 77  (models.json)" in said
