"""Files and functions stay small enough to be read.

clang-format puts the braces of functions, and of nothing else, alone in the first column; so a function is what stands
between two such lines, whatever it contains.
"""
import re

FILE_LINES_MAX = 600
FILE_LINES_MOSTLY = 500
FUNCTION_LINES_MAX = 80
FUNCTION_LINES_MOSTLY = 40
NESTING_MAX = 3

CONTROL = re.compile(r"^(\s+)(?:\} )?(?:if|else|for|while|do|switch|WEIR_FOREACH)\b")


def functions(lines):
    """(line number of the opening brace, the lines of the body) of each function."""
    start = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            start = number
        elif line == "}" and start is not None:
            yield start, lines[start:number - 1]
            start = None


def nesting(body):
    """How deep control statements stand in one another; a `case` takes no part."""
    deepest, open_at = 0, []
    for line in body:
        found = CONTROL.match(line)
        if not found:
            continue
        column = len(found.group(1))
        open_at = [c for c in open_at if c < column] + [column]
        deepest = max(deepest, len(open_at))
    return deepest


def measure(tree):
    """Yields (complaint, is it fatal) for files and functions over a bound."""
    for path in tree.under("src", "include"):
        lines = tree.lines(path)
        count = len(lines) - (lines[-1] == "")
        if count > FILE_LINES_MOSTLY:
            yield f"{path}:1: {count} lines", count > FILE_LINES_MAX
        if path.endswith(".h") and "/tbl/" in path:
            continue
        for start, body in functions(lines):
            if len(body) > FUNCTION_LINES_MOSTLY:
                yield f"{path}:{start}: a function of {len(body)} lines", len(body) > FUNCTION_LINES_MAX
            if nesting(body) > NESTING_MAX:
                yield f"{path}:{start}: control statements {nesting(body)} deep", False


def check(tree):
    return (complaint for complaint, fatal in measure(tree) if fatal)


def warnings(tree):
    return (complaint for complaint, fatal in measure(tree) if not fatal)
