"""What stands in examples/ works as it stands there, and docs/embedding.md shows the program that is tested here."""
import re
import subprocess

import pytest

from kit.weir import BINARY, ROOT, environment

EXAMPLES = ROOT / "examples"
CONFIGS = sorted(EXAMPLES.glob("*.yaml"))
STRICT = ["-std=c17", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", "-fsanitize=address,undefined"]


def variables(path):
    """A value for each variable that the file's first lines say to export."""
    return {name: f"example-{name}" for name in re.findall(r"\b([A-Z_]+_KEY)=", path.read_text())}


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=60, check=False, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done


@pytest.mark.parametrize("path", CONFIGS, ids=[path.stem for path in CONFIGS])
def test_weir_check_has_nothing_to_say_of_an_example(path):
    done = run(BINARY, "check", path, env=environment(variables(path)))
    assert done.stderr == ""
    assert done.stdout.splitlines()[-1].endswith(", 0 errors, 0 warnings")


@pytest.mark.parametrize("path", CONFIGS, ids=[path.stem for path in CONFIGS])
def test_an_example_is_served(path, weirs):
    env = variables(path)
    weir = weirs(path.read_text(), env=env)
    headers = {"authorization": f"Bearer {env.get('GATEWAY_KEY', 'none')}"}
    listed = weir.ask(path="/v1/models", method="GET", headers=headers)
    assert listed.status == 200
    assert {name for name in re.findall(r"model_name: ([\w./*-]+)", path.read_text())} <= {model["id"] for model in listed.json["data"]}


def test_the_page_of_streams_recommends_the_example():
    page = (ROOT / "docs" / "streams.md").read_text()
    assert re.search(r"^```yaml\n(.*?)^```", page, re.S | re.M)[1] == (EXAMPLES / "chat.yaml").read_text()


@pytest.fixture
def installed(tmp_path):
    """weir as `meson install` lays it out, in a folder of its own; returns the arguments that pkg-config gives for it."""
    run("meson", "install", "-C", ROOT / "build", "--no-rebuild", "--destdir", tmp_path)
    (described,) = tmp_path.rglob("weir.pc")
    prefix = re.search(r"^prefix=(.*)$", described.read_text(), re.M)[1]
    options = ["--define-variable", f"prefix={tmp_path}{prefix}", "--cflags", "--libs", "weir"]
    return run("pkg-config", *options, env={**environment(), "PKG_CONFIG_PATH": str(described.parent)}).stdout.split()


def test_the_embedded_engine_prints_what_its_page_says(installed, tmp_path):
    page = (ROOT / "docs" / "embedding.md").read_text()
    program, printed = re.search(r"```c\n(.*?)```.*```\n(call 1\n.*?)```", page, re.S).groups()
    assert program == (EXAMPLES / "embed.c").read_text()
    run("cc", *STRICT, EXAMPLES / "embed.c", *installed, "-o", tmp_path / "embed")
    assert run(tmp_path / "embed", env=environment()).stdout == printed
