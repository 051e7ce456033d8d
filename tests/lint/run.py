#!/usr/bin/env python3
"""Runs every check of the source tree; ends with `N passed, N failed`.

    tests/lint/run.py [--build BUILD] [CHECK...]      (checks: includes symbols sizes words layout headers)
"""
import argparse
import os
import sys

import headers
import includes
import layout
import sizes
import symbols
import words
from tree import Tree

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def pure_folders(tree):
    return [folder for folder in sorted(symbols.LIBRARIES) if f"src/{folder}/meson.build" in tree.paths]


def checks(tree, build):
    return {
        "includes": lambda: includes.check(tree),
        "symbols": lambda: symbols.check(build, pure_folders(tree)),
        "sizes": lambda: sizes.check(tree),
        "words": lambda: words.check(tree),
        "layout": lambda: layout.check(tree),
        "headers": lambda: headers.check(tree),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"), help="a release build, for the symbols")
    parser.add_argument("checks", nargs="*")
    options = parser.parse_args()

    tree = Tree(ROOT)
    every = checks(tree, options.build)
    unknown = set(options.checks) - set(every)
    if unknown:
        parser.error(f"no such check: {', '.join(sorted(unknown))}")

    failed = 0
    chosen = options.checks or list(every)
    for name in chosen:
        complaints = list(every[name]())
        failed += bool(complaints)
        print(f"{name}: {'ok' if not complaints else f'{len(complaints)} complaints'}")
        for complaint in complaints:
            print(f"  {complaint}")
    if "sizes" in chosen:
        for warning in sizes.warnings(tree):
            print(f"  long, though allowed: {warning}")
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
