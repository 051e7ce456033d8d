"""What README.md and docs/ tell to type works: fenced blocks whose info string has the word `runnable` are run.

A `sh runnable` or `python runnable` block is one script, and it must succeed. In a `console runnable` block each line that
begins with `$ ` is run, and what follows up to the next one is what it prints; a line `...` there stands for any number of
lines, `…` in a line for any text in it. The blocks of a page run in their order in one folder, with `weir` in the path and the quickstart served where
the page says 127.0.0.1:4000.
"""
import os
import re
import subprocess
from pathlib import Path

import pytest

from kit.weir import BINARY, ROOT, environment

FENCE = re.compile(r"^```(\w+) runnable\n(.*?)^```$", re.M | re.S)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SCRIPTS = {"sh": ["bash", "-euo", "pipefail", "-c"], "python": ["python3", "-c"]}
SERVED = "127.0.0.1:4000"


def blocks(page):
    return FENCE.findall(page.read_text())


def expected(lines):
    """A pattern of the lines that must be printed."""
    parts = [r"(?:.*\n)*?" if line == "..." else re.escape(line).replace("…", ".*") + r"\n" for line in lines]
    return re.compile("".join(parts) + r"\Z")


def commands(kind, text):
    """(argument vector, pattern of its output or None) for each command of a block."""
    if kind in SCRIPTS:
        yield [*SCRIPTS[kind], text], None
        return
    assert kind == "console", f"a {kind} block cannot be run"
    command, lines = None, []
    for line in text.splitlines() + ["$ "]:
        if line.startswith("$ "):
            if command:
                yield [*SCRIPTS["sh"], command], expected(lines)
            command, lines = line[2:], []
        else:
            lines.append(line)


@pytest.mark.parametrize("page", [pytest.param(page, id=page.name) for page in PAGES if blocks(page)])
def test_the_commands_of_a_page(page, weirs, tmp_path):
    weir = weirs((ROOT / "examples" / "quickstart.yaml").read_text())
    folder = tmp_path / "page"
    folder.mkdir()
    (folder / "examples").symlink_to(ROOT / "examples")
    (folder / "weir").symlink_to(BINARY)
    (folder / "build").mkdir()
    (folder / "build" / "weir").symlink_to(BINARY)
    env = {**environment(), "PATH": f"{folder}:{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}", "OPENAI_API_KEY": "none"}
    for kind, text in blocks(page):
        for command, pattern in commands(kind, text.replace(SERVED, f"127.0.0.1:{weir.port}")):
            done = subprocess.run(command, cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=50)
            assert done.returncode == 0, f"{command[-1]}\n{done.stdout}{done.stderr}"
            assert pattern is None or pattern.match(done.stdout), f"{command[-1]}\nprinted\n{done.stdout}"


@pytest.mark.parametrize("page", [pytest.param(page, id=page.name) for page in [*PAGES, ROOT / "CONTRIBUTING.md"]])
def test_links_lead_somewhere(page):
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)", page.read_text()):
        path = page.parent / target if target else page
        assert path.exists(), target
        titles = re.findall(r"^#+ (.*)$", path.read_text(), re.M) if anchor else []
        assert not anchor or anchor in [re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-") for title in titles], anchor


@pytest.mark.parametrize("source, pattern", [
    ("src/gateway/request/tbl/asked_fields.h", r'^X\("(\w+)"'),
    ("src/gateway/request/tbl/paths.h", r'^X\(\w+, \w+, "(/v1/[\w/]+?|/health[\w/]*)/?"'),
    ("src/gateway/log/tbl/access_fields.h", r"^WEIR_ACCESS_(?:TEXT|COUNT|MAYBE|FLAG)\((\w+)|^WEIR_ACCESS_NS\(\w+, \"(\w+)"),
    ("src/gateway/answer/headers.c", r'WEIR_SLICE\("(x-[\w-]+)'),
    ("src/gateway/request/asked_limits.c", r'WEIR_SLICE\("(x-litellm-\w[\w-]+)"'),
])
def test_the_page_of_routes_has_them_all(source, pattern):
    page = (ROOT / "docs" / "routes.md").read_text()
    names = ["".join(found) for found in re.findall(pattern, (ROOT / source).read_text(), re.M)]
    assert names
    assert not [name for name in names if name.rstrip("-") not in page]


def test_the_page_of_streams_names_settings_and_log_fields_that_there_are():
    page = (ROOT / "docs" / "streams.md").read_text()
    chapter = {title: text for title, text in re.findall(r"^## ([^\n]*)\n(.*?)(?=^## |\Z)", page, re.M | re.S)}
    for title, other in (("Settings and where they may stand", "configuration.md"), ("What the log says of a stream", "routes.md")):
        names = re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (`.*?) \|", chapter[title], re.M)))
        known = (ROOT / "docs" / other).read_text() + (ROOT / "docs" / "routes.md").read_text()
        assert len(names) > 8 and not [name for name in names if f"`{name}`" not in known]


def test_the_blocks_are_found():
    assert Path(PAGES[0]).exists()
    assert blocks(PAGES[0]), "README.md shows something that can be run"


def test_how_a_block_is_read():
    (first, pattern), (second, nothing) = commands("console", "$ echo a; echo b; echo c\na\n...\nc\n$ true\n")
    assert first[-1] == "echo a; echo b; echo c" and pattern.match("a\nb\nc\n") and not pattern.match("a\nb\n")
    (_, inside), = commands("console", "$ x\ntook … ms.\n")
    assert inside.match("took 1.2 ms.\n") and not inside.match("took 1.2 ms!\n") and not inside.match("took\n ms.\n")
    assert second[-1] == "true" and nothing.match("") and not nothing.match("x\n")
