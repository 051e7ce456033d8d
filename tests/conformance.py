#!/usr/bin/env python3
"""Plays the conformance scenarios for what weir does so far: tests/conformance.py [OPTIONS OF THE RUNNER]

The scenarios and their runner stand beside the repository, in ../shared/conformance, or where the variable WEIR_SHARED says
that `shared` is; where they are not there is nothing to play. The last line reads `N passed, N failed`. Scenarios with
`redis: true` are left out: they need state that processes share, which is not there yet.
"""
import os
import subprocess
import sys
import tempfile

import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(os.environ.get("WEIR_SHARED", os.path.join(os.path.dirname(ROOT), "shared")), "conformance")
FILES = ["config", "cooldowns", "fallbacks", "groups", "limits", "retries", "requests", "selection", "strategies", "streams", "surfaces"]


def scenarios():
    for name in FILES:
        with open(os.path.join(FOLDER, "scenarios", name + ".yaml"), encoding="utf-8") as file:
            yield from (document for document in yaml.safe_load_all(file) if document and not document.get("redis"))


def main():
    if not os.path.isdir(FOLDER):
        print(f"there are no conformance scenarios in {FOLDER}; nothing is played")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as file:
        yaml.safe_dump_all(list(scenarios()), file, sort_keys=False, allow_unicode=True)
        file.flush()
        return subprocess.run([sys.executable, os.path.join(FOLDER, "run.py"), *sys.argv[1:], file.name], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
