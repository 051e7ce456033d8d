"""Each header compiles alone: the public ones as C and as C++ with C linkage, those of src as C."""
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
C = ["cc", "-x", "c", "-std=c17", *STRICT]
GNU_C = ["cc", "-x", "c", "-std=c17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror"]
CPP = ["c++", "-x", "c++", "-std=c++17", *STRICT]

FUNCTION = re.compile(r"^(?!static|typedef|#|\s)[\w*\s]*?\b(\w+)\([^;{}]*\)[^;{}]*;", re.M)


def compile_alone(command, header, tree, *options):
    source = f"#include <{header}>\nint weir_lint_not_empty;\n"
    return subprocess.run([*command, "-I", tree.full("include"), "-I", tree.full("src"), *options, "-"], input=source,
                          capture_output=True, text=True)


def declarations(text):
    """The text without comments, preprocessor lines and names of types of functions."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)
    text = re.sub(r"^typedef [^;{]*;", "", text, flags=re.M)
    return re.sub(r"^\s*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.M)


def first_error(result):
    lines = [line for line in result.stderr.split("\n") if "error" in line]
    return lines[0] if lines else result.stderr.strip()[:200]


def linkage_fault(path, header, tree):
    """Asks C++ what it would call each declared function: with C linkage it is called by its plain name."""
    names = FUNCTION.findall(declarations("\n".join(tree.lines(path))))
    if not names:
        return None
    uses = ", ".join(f"reinterpret_cast<void *>(&{name})" for name in names)
    source = f"#include <{header}>\nvoid *weir_lint_uses[] = {{{uses}}};\n"
    result = subprocess.run(["c++", "-x", "c++", "-std=c++17", "-S", "-o", "-", "-I", tree.full("include"), "-"], input=source,
                            capture_output=True, text=True)
    if result.returncode != 0:
        return first_error(result)
    mangled = [name for name in names if not re.search(rf"(?<!\w){name}(?!\w)", result.stdout)]
    return f"without C linkage in C++: {', '.join(mangled)} (extern \"C\" is missing)" if mangled else None


def faults_of(path, tree):
    public = path.startswith("include/")
    header = path.split("/", 1)[1]
    result = compile_alone(C if public else GNU_C, header, tree, "-fsyntax-only")
    if result.returncode != 0:
        return [f"{path}:1: does not compile alone: {first_error(result)}"]
    if not public:
        return []
    result = compile_alone(CPP, header, tree, "-fsyntax-only")
    if result.returncode != 0:
        return [f"{path}:1: does not compile as C++: {first_error(result)}"]
    complaint = linkage_fault(path, header, tree)
    return [f"{path}:1: {complaint}"] if complaint else []


def is_table(path):
    return "/tbl/" in path  # rows of X-macros: meant to be included by who defines the macro


def check(tree):
    """Yields a complaint for each header that needs another one included before it, or fails in C++."""
    paths = [p for p in tree.under("include", "src", ending=(".h",)) if not is_table(p)]
    with ThreadPoolExecutor(2) as pool:
        for complaints in pool.map(lambda path: faults_of(path, tree), paths):
            yield from complaints
