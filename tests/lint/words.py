"""Words that may not stand in the tree: notes of unfinished work, places of one machine, C functions nobody should call."""
import re

EVERYWHERE = [
    (re.compile(r"\b(TODO|FIXME|XXX|HACK)\b"), "finish it, or leave it out"),
    (re.compile(r"(?<![\w.])/(work|root|home/\w+|Users/\w+|tmp/\w+)/"), "a path of one machine"),
    (re.compile(r"\b(deb\.debian\.org|pypi\.org|files\.pythonhosted\.org|registry\.npmjs\.org|crates\.io|proxy\.golang\.org)\b"),
     "the host of a registry; the user's own configuration names it"),
    (re.compile(r"^(<{7}|>{7}) "), "the mark of an unresolved merge"),
]
IN_C = [
    (re.compile(r"\b(strcpy|strcat|sprintf|vsprintf|gets|strtok|atoi|atol|atoll|atof|alloca|strncpy|strncat)\s*\("),
     "a C function without bounds or without errors"),
    (re.compile(r"\t"), "a tab"),
    (re.compile(r"^\s*#\s*pragma\s+once\b"), "an include guard is written out here"),
    (re.compile(r"^\s*#\s*if\s+0\b"), "code that is switched off"),
]
OWN_FOLDER = "tests/lint/"  # this file and its tests have to name what they forbid


def is_binary(path, tree):
    with open(tree.full(path), "rb") as file:
        return b"\0" in file.read(4096)


def applies_to(path):
    return not path.startswith((OWN_FOLDER, "tests/fuzz/corpus/")) and path != "LICENSE"


def faults_of(path, tree):
    patterns = EVERYWHERE + (IN_C if path.endswith((".c", ".h")) else [])
    try:
        lines = tree.lines(path)
    except UnicodeDecodeError:
        yield f"{path}:1: not UTF-8"
        return
    for number, line in enumerate(lines, 1):
        for pattern, why in patterns:
            found = pattern.search(line)
            if found:
                yield f"{path}:{number}: {found.group(0).strip()!r}: {why}"
        if line.endswith("\r"):
            yield f"{path}:{number}: ends with a carriage return"
        elif line != line.rstrip() and not path.endswith(".md"):
            yield f"{path}:{number}: blanks at the end"
    if lines[-1] != "":
        yield f"{path}:{len(lines)}: no newline at the end of the file"


def check(tree):
    """Yields 'path:line: complaint' for each word that may not be there."""
    for path in tree.paths:
        if applies_to(path) and not is_binary(path, tree):
            yield from faults_of(path, tree)
