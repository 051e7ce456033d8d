"""A page of incidents: configurations, commands, and what those print, which is made by running them.

A section of the page (`## `) has a block `yaml`, which is served, and a block `console incident` behind it. There, lines that begin with
`$ ` are run in their order, and what follows up to the next one is what they print. `weir` asks the weir that is served, as
127.0.0.1:4000 does.
"""
import os
import re
import subprocess

from .wait import until
from .weir import BINARY, environment

SECTION = re.compile(r"(?=^## )", re.M)
CONFIG = re.compile(r"^```yaml\n(.*?)^```$", re.M | re.S)
CONSOLE = re.compile(r"(?<=^```console incident\n)(.*?)(?=^```$)", re.M | re.S)
SERVED = "127.0.0.1:4000"

# What is another one each time.
VARIES = [
    (re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "ID"),
    (re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d\.\d{3}"), "TIME"),
    (re.compile(r"\d\d:\d\d:\d\d"), "CLOCK"),
    (re.compile(r" *\b\d+(?:\.\d+)? (?:ms|s|min)\b(?: \d+ s)?"), " SPAN"),
]


def sections(page):
    return [section for section in SECTION.split(page) if CONSOLE.search(section)]


def normal(text):
    for pattern, word in VARIES:
        text = pattern.sub(word, text)
    return text


def commands(section):
    return [line[2:] for line in CONSOLE.search(section)[1].splitlines() if line.startswith("$ ")]


def run(command, weir, folder):
    """What the command prints."""
    program = folder / "weir"
    program.write_text(f'#!/bin/sh\ncommand=$1; shift; exec "{os.path.abspath(BINARY)}" "$command" --url {weir.url} "$@"\n')
    program.chmod(0o755)
    env = {**environment(), "PATH": f"{folder}:{os.environ['PATH']}"}
    done = subprocess.run(["sh", "-c", command.replace(SERVED, f"127.0.0.1:{weir.port}")], cwd=folder, env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and not done.stderr, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def retold(section, weirs, folder):
    """The section with what its commands print now."""
    weir = weirs(CONFIG.search(section)[1])
    told, calls = "", 0
    for command in commands(section):
        told += f"$ {command}\n{run(command, weir, folder)}"
        calls += command.startswith("curl ")
        until(lambda: weir.ask(None, path="/weir/calls", method="GET").json["kept"] == calls)
    return CONSOLE.sub(lambda _: told, section)
