"""`weir check` as a person meets it.

configs/*.yaml say themselves what must be told of them: `#! warning words` (or error) at the end of a line, or `#! N: warning
words` for line N, and in the first line what is loaded: `# 2 deployments, 1 group` or `# refused`. Nothing else may be told.
`# env NAME=value` sets a variable.
"""
import json
import math
import os
import random
import re
import resource
import subprocess
import time
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
WEIR = Path(os.environ.get("WEIR", ROOT / "build" / "weir"))
CONFIGS = Path(__file__).parent / "configs"
FILES = sorted(CONFIGS.glob("*.yaml"))

DIAGNOSTIC = re.compile(r"^(?P<file>[^:]+):(?P<line>\d+):(?P<column>\d+): (?:(?P<path>.*?): )??(?P<severity>error|warning): (?P<text>.*)$")
WANTED = re.compile(r"#! (?:(\d+): )?(error|warning) (.*)$")


def check(*arguments, env=None, **options):
    clean = {name: value for name, value in os.environ.items() if "KEY" not in name and "SSL" not in name}
    return subprocess.run([WEIR, "check", *map(str, arguments)], env={**clean, **(env or {})}, capture_output=True, text=True,
                          timeout=120, check=False, **options)


def told(done):
    lines = [DIAGNOSTIC.match(line) for line in done.stderr.splitlines()]
    assert all(lines), f"not `file:line:column: path: severity: text`:\n{done.stderr}"
    return lines


def wanted(text):
    """(line, severity, words) of each diagnostic that a file asks for, of itself and of what it includes."""
    for number, line in enumerate(text.splitlines(), 1):
        for other, severity, words in WANTED.findall(line):
            yield int(other or number), severity, words.strip()


@pytest.mark.parametrize("path", FILES, ids=[file.stem for file in FILES])
def test_a_file_says_what_is_wrong_with_it(path):
    text = path.read_text(encoding="utf-8")
    loads = text.splitlines()[0].removeprefix("\ufeff").removeprefix("# ")
    done = check("--quiet", path, env=dict(re.findall(r"^# env (\w+)=(.*)$", text, re.M)))
    left = [(int(d["line"]), d["severity"], d["text"]) for d in told(done) if d["file"] == str(path)]
    asked = list(wanted(text))
    for line, severity, words in asked:
        found = next((one for one in left if one[:2] == (line, severity) and words in one[2]), None)
        assert found, f"line {line} asks for {severity} {words!r}; left is\n" + "\n".join(map(str, left))
        left.remove(found)
    assert not left, f"not asked for: {left}"
    errors = sum(severity == "error" for _, severity, _ in asked)
    assert done.returncode == (1 if errors else 0)
    assert f": {loads}" in done.stdout


def test_what_an_included_file_holds_is_told_with_its_own_place():
    done = check(CONFIGS / "include.yaml")
    assert [(Path(d["file"]).name, d["line"]) for d in told(done) if "parts" in d["file"]] == [("more.yaml", "4")]


def test_it_prints_what_the_file_means():
    done = check(ROOT / "examples" / "gateway.yaml", env={"GATEWAY_KEY": "sk-hidden", "NORTH_KEY": "sk-hidden", "SOUTH_KEY": "sk-hidden"})
    assert done.returncode == 0 and done.stderr == ""
    for line in ("  chat: 2 deployments", "  gpt-4o -> chat", "  chat -> chat-small", "3 deployments, 2 groups"):
        assert line in done.stdout
    assert re.search(r"cooldown\s+30\s+.*gateway.yaml:\d+", done.stdout)
    assert re.search(r"hops\s+5\s+default", done.stdout)
    assert "sk-hidden" not in done.stdout


def test_it_tells_limits_of_streams_and_where_they_come_from():
    done = check(CONFIGS / "limits.yaml")
    place = r"\S*limits\.yaml:\d+"
    for line in (rf"first content   5 s         {place}", rf"silence         20 s        {place}", rf"least speed     1 tokens/s  {place}",
                 r"held back       not set     default", rf"whole call      90 s        {place}", rf"continuation    on          {place}",
                 rf"continued by    fallback, group {place}", rf"growing         x 2 to 300 s {place}", rf"coming back     none        {place}",
                 rf"all cooling     3 s         {place}", rf"retry budget    0.2 \+ 1/s   {place}", r"hedge           not set     default",
                 r"    with its own stream_hold, empty_answer, hedge  line \d+"):
        assert re.search(rf"^ *{line}$", done.stdout, re.M), line


def test_ten_times_the_groups_take_no_more_than_a_few_tens_of_times_the_work(tmp_path):
    def work(groups):
        file = tmp_path / f"{groups}.yaml"
        file.write_text("model_list:\n" + "".join(f"- {{model_name: g{i % groups}, litellm_params: {{model: openai/m{i}}}}}\n"
                                                   for i in range(2 * groups)))
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        done = check(file)
        assert f"{2 * groups} deployments, {groups} groups" in done.stdout
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    # What looks at every group for every group would take a hundred times the work.
    assert work(10000) < 40 * max(work(1000), 0.005)


def test_values_of_variables_are_shown_by_name(tmp_path):
    file = tmp_path / "c.yaml"
    file.write_text("model_list:\n- model_name: os.environ/G\n  litellm_params: {model: os.environ/M, api_key: os.environ/K}\n")
    done = check(file, env={"G": "hidden-group", "M": "openai/hidden-model", "K": "hidden-key"})
    assert done.returncode == 0 and "hidden" not in done.stdout + done.stderr
    assert "os.environ/G: 1 deployment" in done.stdout


def test_examples_are_without_a_fault():
    for file in (ROOT / "examples").glob("*.yaml"):
        done = check("--quiet", file, env={name: "x" for name in re.findall(r"os\.environ/(\w+)", file.read_text())})
        assert (done.returncode, done.stderr) == (0, ""), file


@pytest.mark.parametrize("arguments", [[], ["a", "b"], ["--nonsense", "a"]])
def test_wrong_usage_ends_with_2(arguments):
    done = check(*arguments)
    assert done.returncode == 2 and "Try `weir check --help`" in done.stderr and done.stdout == ""


def test_a_file_that_is_not_there_ends_with_1(tmp_path):
    done = check(tmp_path / "none.yaml")
    assert done.returncode == 1 and "No such file" in done.stderr


def test_an_empty_path_names_no_file():
    done = check("")
    assert done.returncode == 1 and "No such file or directory" in done.stderr


def test_the_path_of_a_terminal_escape_is_made_harmless(tmp_path):
    file = tmp_path / "c.yaml"
    file.write_text('router_settings: {"\\e[31mred": 1}\n')
    done = check(file)
    assert "\x1b" not in done.stdout + done.stderr


def test_colour_is_for_terminals():
    import pty

    def on_terminal(env):
        master, slave = pty.openpty()
        clean = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        with subprocess.Popen([WEIR, "check", CONFIGS / "refused-chain.yaml"], env={**clean, **env}, stdout=slave, stderr=slave):
            os.close(slave)
            text = b""
            while True:
                try:
                    piece = os.read(master, 4096)
                except OSError:  # the end, on Linux
                    break
                if not piece:
                    break
                text += piece
        os.close(master)
        return text

    assert b"\x1b[31m" in on_terminal({})
    assert b"\x1b[" not in on_terminal({"NO_COLOR": "1"})
    assert "\x1b" not in check(CONFIGS / "refused-chain.yaml").stderr


def test_the_reference_page_is_current():
    page = (ROOT / "docs" / "configuration.md").read_text()
    assert check("--reference").stdout == page, "run `build/weir check --reference > docs/configuration.md`"


def test_the_page_of_metrics_is_current():
    page = (ROOT / "docs" / "metrics.md").read_text()
    assert check("--metrics").stdout == page, "run `build/weir check --metrics > docs/metrics.md`"


def test_a_thousand_deployments_load_at_once(tmp_path):
    """Tenfold the time that it may take, since its neighbours may slow it down; a sanitizer does so for certain."""
    file = tmp_path / "c.yaml"
    entry = "- {{model_name: g{0}, litellm_params: {{model: openai/m, api_base: 'http://h{0}.example/v1', api_key: k, rpm: 3}}}}\n"
    file.write_text("model_list:\n" + "".join(entry.format(n) for n in range(1000)))
    start = time.monotonic()
    done = check("--quiet", file)
    assert done.returncode == 0 and "1000 deployments, 1000 groups" in done.stdout
    assert time.monotonic() - start < (10 if "ASAN_OPTIONS" in os.environ else 1)


# --- the same as PyYAML ----------------------------------------------------------------------------------------------

READER = WEIR.parent / "tests" / "unit" / "config" / "yaml_to_json"
SCALARS = ["yes", "no", "on", "Off", "TRUE", "y", "~", "null", "", "0", "17", "-3", "+4", "010", "08", "0x1f", "0b11", "1_000", "_1", "1:30", "1:60",
           "1.5", "1.", ".5", "1e6", "1.0e+6", "3e-06", "-.5", "1:30.5", "1.2.3", "text", "a b", "os.environ/X", "'quoted'", "'1'", '"yes"', '"a\\nb"',
           "0o17", "12e03", "1_0.5_0", "<<x", "=x", "0.0", "-0", "00", "0_7", "9:59:59", "1__0", "+.5", "0x", "0b", "-0x10", "--1", "1-2"]


def plain(value):
    """What JSON can say of a value: dates as text, what is no number as null."""
    if isinstance(value, dict):
        return {plain_key(key): plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def plain_key(key):
    return key if isinstance(key, str) else json.dumps(key)


def ours(path):
    done = subprocess.run([READER, path], capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout) if done.returncode == 0 else None


def theirs(text):
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        return None
    return plain(value) if isinstance(value, dict) else None


def random_node(rand, depth, anchors):
    kind = rand.random()
    if depth == 0 or kind < 0.4:
        return rand.choice(SCALARS)
    if kind < 0.5 and anchors:
        return "*" + rand.choice(anchors)
    if kind < 0.7:
        return "[" + ", ".join(random_node(rand, depth - 1, anchors) or "~" for _ in range(rand.randrange(4))) + "]"
    pairs = [f"k{rand.randrange(4)}: {random_node(rand, depth - 1, anchors)}" for _ in range(rand.randrange(4))]
    return "{" + ", ".join(pairs) + "}"


def random_document(rand):
    lines, maps = [], []
    for number in range(rand.randrange(1, 7)):
        if rand.random() < 0.4:
            pairs = [f"k{rand.randrange(4)}: {random_node(rand, 1, [])}" for _ in range(rand.randrange(1, 4))]
            # One merge a map: PyYAML's versions differ in which of several wins (here the first of a list, as YAML says).
            merge = rand.choice(["<<: *{}", "<<: [*{}]"]).format(rand.choice(maps)) if maps and rand.random() < 0.7 else "k9: 1"
            rand.shuffle(members := [*pairs, merge])
            lines.append(f"m{number}: &a{number} {{{', '.join(members)}}}")
            maps.append(f"a{number}")
        else:
            lines.append(f"v{number}: {random_node(rand, 3, maps)}")
    return "\n".join(lines) + "\n"


@pytest.mark.skipif(not READER.exists(), reason="the reader is built with the unit tests")
def test_yaml_means_what_it_means_to_pyyaml(tmp_path):
    rand = random.Random(20)
    file = tmp_path / "c.yaml"
    for text in [f"k: {scalar}\n" for scalar in SCALARS] + [random_document(rand) for _ in range(300)]:
        file.write_text(text)
        assert ours(file) == theirs(text), text


@pytest.mark.skipif(not READER.exists(), reason="the reader is built with the unit tests")
@pytest.mark.parametrize("path", FILES, ids=[file.stem for file in FILES])
def test_files_mean_what_they_mean_to_pyyaml(path):
    assert ours(path) == theirs(path.read_bytes())


def test_where_traces_go_is_told_without_what_is_secret(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(yaml.safe_dump({
        "model_list": [{"model_name": "g", "litellm_params": {"model": "openai/m", "api_base": "http://a/v1", "api_key": "k"}}],
        "weir_settings": {"otlp": {"endpoint": "https://c.example/s3cret", "headers": {"x-key": "s3cret"}, "sample": 0.25, "service_name": "gate"}}}))
    done = check(path)
    assert done.returncode == 0 and "s3cret" not in done.stdout + done.stderr
    assert "traces by OTLP\n  to c.example, as the service gate, of 25 % of the calls, unless the caller's traceparent decides\n" in done.stdout
