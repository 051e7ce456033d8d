"""clang-format settles the layout; its version is pinned with the Python packages of the tests, since versions differ."""
import os
import re
import shutil
import subprocess
import sys

VERSION = "14."


def find_clang_format():
    beside_python = os.path.join(os.path.dirname(sys.executable), "clang-format")
    return beside_python if os.path.exists(beside_python) else shutil.which("clang-format")


def check(tree):
    """Yields the first complaint of clang-format about each file."""
    files = tree.c_files()
    program = find_clang_format()
    if program is None:
        yield "clang-format is missing: run scripts/venv"
        return
    version = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
    if f"version {VERSION}" not in version:
        yield f"{program}: version {VERSION}x is the one that settles the layout here, this is {version.strip()}"
        return
    if not files:
        return
    done = subprocess.run([program, "--dry-run", "-Werror", "--style=file", *files], cwd=tree.root, capture_output=True, text=True)
    seen = set()
    for path, line in re.findall(r"^(\S+?):(\d+):\d+: error:", done.stderr, re.M):
        if path not in seen:
            seen.add(path)
            yield f"{path}:{line}: not as clang-format lays it out (make format)"
    if done.returncode != 0 and not seen:
        yield f"clang-format failed: {done.stderr.strip()}"
