#!/usr/bin/env python3
"""Holds `weir check` against the folder of configurations beside the repository: tests/configs.py CHECK WEIR

CHECK is the check.py in that folder. Its table is for a gateway with a dialect for every provider; weir leaves an entry out
whose provider has none yet, with an error that says so. A file is forgiven that it has diagnostics where there should be
none, when there are such errors and no others.
"""
import os
import re
import subprocess
import sys

FORGIVABLE = ["diagnostics where there are none"]
ERROR = re.compile(r": error: (.*)$", re.M)
NUMERIC = re.compile("PORT|RPM|TPM|LIMIT|RETRIES|NUM|TIMEOUT|SECONDS")


def forgiven(weir, path, faults):
    """Whether all that is wrong comes from providers without a dialect."""
    env = dict(os.environ)
    with open(path, encoding="utf-8") as file:
        for name in re.findall(r"os\.environ/(\w+)", file.read()):
            if not name.startswith("NOT_SET"):
                env[name] = "6379" if NUMERIC.search(name) else "value"
    out = subprocess.run([weir, "check", "--quiet", path], env=env, capture_output=True, text=True, check=False)
    errors = ERROR.findall(out.stderr)
    return faults == FORGIVABLE and errors != [] and all("no dialect for the provider" in error for error in errors)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    check, weir = sys.argv[1:]
    done = subprocess.run([sys.executable, check, weir], capture_output=True, text=True, check=False)
    passed, failed = map(int, re.search(r"^(\d+) passed, (\d+) failed$", done.stdout, re.M).groups())
    for name, faults in re.findall(r"^(\S+\.ya?ml): (.*)$", done.stdout, re.M):
        if forgiven(weir, os.path.join(os.path.dirname(check), name), faults.split("; ")):
            passed, failed = passed + 1, failed - 1
        else:
            print(f"{name}: {faults}")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
