"""The commands that ask a running weir, run as a person would."""
import re
import subprocess

from .weir import BINARY, environment

COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def run(command, weir=None, *arguments, url=None, key=None, env=None, binary=BINARY):
    """`weir COMMAND --url ...`: what subprocess.run gives."""
    line = [str(binary), command]
    if url or weir:
        line += ["--url", url or weir.url]
    if key:
        line += ["--key", key]
    return subprocess.run([*line, *map(str, arguments)], env=environment(env), capture_output=True, text=True, timeout=60, check=False)


def explain(weir, *arguments, **more):
    """What `weir explain` prints; it must succeed."""
    done = run("explain", weir, *arguments, **more)
    assert done.returncode == 0 and not done.stderr, f"status {done.returncode}\n{done.stderr}{done.stdout}"
    return done.stdout


def sentences(text):
    """The sentences of a story, without their times: what follows one is joined to it by " | "."""
    told = []
    for line in text.split("\n\n", 1)[1].splitlines():
        found = re.match(r" *[\d.]+ (?:ms|s|min)(?: \d+ s)?  (.*)", line)
        if found:
            told.append(found[1])
        else:
            told[-1] += " | " + line.strip()
    return told
