"""Each check is given a tree that breaks its rule and must say so, and one that keeps it and must be silent."""
import subprocess

import pytest

import headers
import includes
import layout
import sizes
import symbols
import words
from tree import Tree

LEAF = "#ifndef A\n#define A\n#endif\n"


@pytest.fixture
def lay(tmp_path):
    """Lays files out in an empty folder and returns the tree of them."""
    def lay_out(files):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, newline="")
        return Tree(tmp_path)
    return lay_out


def tree_with(lay, path, text, *others):
    return lay({**{name: LEAF for name in others}, path: text})


@pytest.mark.parametrize("path, include, other", [
    ("src/base/a.c", '"engine/router.h"', "src/engine/router.h"),
    ("src/base/a.c", "<weir/router.h>", "include/weir/router.h"),
    ("src/engine/a.c", '"wire/sse.h"', "src/wire/sse.h"),
    ("src/engine/a.c", '"config/load.h"', "src/config/load.h"),
    ("src/wire/a.h", '"provider/table.h"', "src/provider/table.h"),
    ("src/wire/a.h", "<weir/call.h>", "include/weir/call.h"),
    ("src/provider/a.c", '"engine/live/live.h"', "src/engine/live/live.h"),
    ("src/net/a.c", '"gateway/route.h"', "src/gateway/route.h"),
    ("src/net/a.c", "<weir/call.h>", "include/weir/call.h"),
    ("src/gateway/a.c", '"engine/live/live.h"', "src/engine/live/live.h"),
    ("src/config/a.c", '"provider/openai.h"', "src/provider/openai.h"),
    ("src/config/a.c", '"wire/sse.h"', "src/wire/sse.h"),
    ("src/cli/a.c", '"state/redis.h"', "src/state/redis.h"),
    ("include/weir/a.h", '"base/slice.h"', "src/base/slice.h"),
    ("src/elsewhere/a.c", '"base/slice.h"', "src/base/slice.h"),
])
def test_an_include_against_an_arrow_is_told(lay, path, include, other):
    complaints = list(includes.check(tree_with(lay, path, f"\n#include {include}\n", other)))
    assert len(complaints) == 1 and complaints[0].startswith(f"{path}:2: ")


@pytest.mark.parametrize("path, include, other", [
    ("src/base/a.c", "<weir/slice.h>", "include/weir/slice.h"),
    ("src/wire/a.c", "<weir/mem.h>", "include/weir/mem.h"),
    ("src/engine/a.c", '"base/map.h"', "src/base/map.h"),
    ("src/engine/a.c", '"engine/tbl/steps.h"', "src/engine/tbl/steps.h"),
    ("src/provider/a.c", '"wire/sse.h"', "src/wire/sse.h"),
    ("src/config/a.c", '"provider/endpoint.h"', "src/provider/endpoint.h"),
    ("src/gateway/a.c", '"net/server.h"', "src/net/server.h"),
    ("src/cli/a.c", '"gateway/worker.h"', "src/gateway/worker.h"),
])
def test_an_include_along_an_arrow_is_fine(lay, path, include, other):
    assert list(includes.check(tree_with(lay, path, f"#include {include}\n", other))) == []


@pytest.mark.parametrize("path, include", [
    ("src/base/a.c", "<stdio.h>"),
    ("src/engine/a.c", "<time.h>"),
    ("src/engine/a.c", "<yyjson.h>"),
    ("src/wire/a.c", "<sys/socket.h>"),
    ("src/wire/a.c", "<uv.h>"),
    ("src/provider/a.c", "<llhttp.h>"),
    ("src/config/a.c", "<uv.h>"),
    ("src/gateway/a.c", "<openssl/ssl.h>"),
    ("include/weir/a.h", "<stdio.h>"),
    ("src/base/a.c", '"slice.h"'),
    ("src/base/a.c", '"weir/slice.h"'),
    ("src/base/a.c", "<weir/nowhere.h>"),
])
def test_a_header_that_a_folder_may_not_know_is_told(lay, path, include):
    complaints = list(includes.check(tree_with(lay, path, f"#include {include}\n", "src/base/slice.h", "include/weir/slice.h")))
    assert len(complaints) == 1 and complaints[0].startswith(f"{path}:1: ")


def test_a_source_file_outside_the_folders_is_told(lay):
    assert list(includes.check(tree_with(lay, "src/a.c", "")))


def archive(tmp_path, folder, source):
    place = tmp_path / "src" / folder
    place.mkdir(parents=True)
    subprocess.run(["cc", "-x", "c", "-std=gnu17", "-O2", "-fPIC", "-fno-common", "-c", "-o", place / "a.o", "-"],
                   input=source, text=True, check=True)
    subprocess.run(["ar", "rcsT", place / f"libweir_{folder}.a", place / "a.o"], check=True, cwd=tmp_path)
    return list(symbols.check(tmp_path, [folder]))


@pytest.mark.parametrize("folder, call", [
    ("engine", "void *malloc(unsigned long); void *f(void) { return malloc(8); }"),
    ("engine", "long time(long *); long f(void) { return time(0); }"),
    ("base", "int socket(int, int, int); int f(void) { return socket(1, 2, 3); }"),
    ("wire", "int printf(const char *, ...); void f(int i) { printf(\"%d\", i); }"),
    ("wire", "int uv_run(void *, int); int f(void *p) { return uv_run(p, 0); }"),
    ("engine", "int yyjson_read(void *); int f(void *p) { return yyjson_read(p); }"),
    ("provider", "int llhttp_execute(void *); int f(void *p) { return llhttp_execute(p); }"),
    ("provider", "double strtod(const char *, char **); double f(const char *s) { return strtod(s, 0); }"),
])
def test_a_call_that_a_folder_may_not_make_is_told(tmp_path, folder, call):
    complaints = archive(tmp_path, folder, call)
    assert len(complaints) == 1 and f"libweir_{folder}.a: refers to " in complaints[0]


@pytest.mark.parametrize("state", ["int n = 1;", "static int n; int f(void) { return ++n; }", "_Thread_local int n;", "long n[4];"])
def test_state_of_its_own_is_told(tmp_path, state):
    complaints = archive(tmp_path, "engine", state)
    assert len(complaints) == 1 and "is state of its own" in complaints[0]


def test_calls_and_tables_that_are_allowed_are_fine(tmp_path):
    source = """
        #include <string.h>
        int weir_map_get(void *); int llhttp_execute(void *); int yyjson_read(void *);
        const int primes[] = {2, 3}; const char *const names[] = {"a", "b"}; int (*const calls[])(void *) = {llhttp_execute};
        int f(void *p, const char *s) { return weir_map_get(p) + yyjson_read(p) + memcmp(p, s, strlen(s)); }
    """
    assert archive(tmp_path, "wire", source) == []


def test_an_archive_that_was_not_built_is_told(tmp_path):
    assert list(symbols.check(tmp_path, ["engine"]))


def function(lines):
    return "int f(void)\n{\n" + "    g();\n" * lines + "}\n"


def test_a_long_function_is_told(lay):
    tree = tree_with(lay, "src/base/a.c", "\n" + function(sizes.FUNCTION_LINES_MAX + 1))
    assert list(sizes.check(tree)) == [f"src/base/a.c:3: a function of {sizes.FUNCTION_LINES_MAX + 1} lines"]


def test_a_long_file_is_told(lay):
    tree = tree_with(lay, "src/base/a.h", "\n" * (sizes.FILE_LINES_MAX + 1))
    assert list(sizes.check(tree)) == [f"src/base/a.h:1: {sizes.FILE_LINES_MAX + 1} lines"]


def test_sizes_at_the_bound_are_fine_and_warned_of(lay):
    tree = tree_with(lay, "src/base/a.c", function(sizes.FUNCTION_LINES_MAX))
    assert list(sizes.check(tree)) == [] and len(list(sizes.warnings(tree))) == 1


def test_small_files_and_functions_cause_no_warning(lay):
    tree = tree_with(lay, "src/base/a.c", function(sizes.FUNCTION_LINES_MOSTLY) + "\n" * 400)
    assert list(sizes.measure(tree)) == []


def test_deep_nesting_is_warned_of(lay):
    body = "".join("    " * depth + "if (a) {\n" for depth in range(1, 5))
    tree = tree_with(lay, "src/base/a.c", "int f(void)\n{\n" + body + "}\n")
    assert list(sizes.warnings(tree)) == ["src/base/a.c:2: control statements 4 deep"]


@pytest.mark.parametrize("path, line", [
    ("src/base/a.c", "/* TODO: later */"),
    ("docs/a.md", "FIXME"),
    ("README.md", "see /work/thing"),
    ("scripts/a", "cd /home/somebody/weir"),
    ("Makefile", "curl https://pypi.org/simple"),
    ("src/base/a.c", "strcpy(a, b);"),
    ("src/base/a.c", "n = atoi (s);"),
    ("src/base/a.c", "sprintf(a, b);"),
    ("src/base/a.c", "char *p = strtok(s, t);"),
    ("src/base/a.c", "\tx = 1;"),
    ("src/base/a.h", "#pragma once"),
    ("src/base/a.c", "#if 0"),
    ("src/base/a.c", "x = 1;  "),
    ("docs/a.md", "text\r"),
    ("docs/a.md", "<<<<<<< ours"),
])
def test_a_word_that_may_not_be_there_is_told(lay, path, line):
    complaints = list(words.check(tree_with(lay, path, f"\n{line}\n")))
    assert complaints and all(c.startswith(f"{path}:2: ") for c in complaints)


def test_a_missing_last_newline_is_told(lay):
    assert list(words.check(tree_with(lay, "src/base/a.c", "x"))) == ["src/base/a.c:1: no newline at the end of the file"]


def test_words_that_only_look_like_forbidden_ones_are_fine(lay):
    text = "my_sprintf(a); snprintf(b); fgets(c); /* a/work/b, mktemp XXXXXX, tmp/x */\n"
    assert list(words.check(tree_with(lay, "src/base/a.c", text))) == []


def test_a_layout_of_ones_own_is_told(lay):
    tree = tree_with(lay, "src/base/a.c", "int f(void) {return 1;}\n")
    assert list(layout.check(tree)) == ["src/base/a.c:1: not as clang-format lays it out (make format)"]


def test_the_settled_layout_is_fine(lay):
    assert list(layout.check(tree_with(lay, "src/base/a.c", "int f(void) { return 1; }\n"))) == []


def header(lines):
    return "#ifndef A_H\n#define A_H\n" + lines + "\n#endif\n"


def test_a_header_that_needs_another_is_told(lay):
    complaints = list(headers.check(tree_with(lay, "src/base/a.h", header("size_t weir_a(void);"))))
    assert len(complaints) == 1 and "does not compile alone" in complaints[0]


def test_a_public_header_that_is_no_cpp_is_told(lay):
    complaints = list(headers.check(tree_with(lay, "include/weir/a.h", header("struct weir_a { int class; };"))))
    assert len(complaints) == 1 and "does not compile as C++" in complaints[0]


def test_a_public_function_without_c_linkage_is_told(lay):
    complaints = list(headers.check(tree_with(lay, "include/weir/a.h", header("int weir_a(int b);\nstruct weir_c *weir_c_new(\n    int b);"))))
    assert len(complaints) == 1 and "without C linkage in C++: weir_a, weir_c_new" in complaints[0]


def test_a_public_header_with_c_linkage_is_fine(lay):
    lines = """
        #define WEIR_ROWS(X) \\
            X(a) \\
            X(b)
        #ifdef __cplusplus
        extern "C" {
        #endif
        /* Says int weir_not(void); and means it. */
        struct weir_c;
        int weir_a(struct weir_c *c, int (*f)(int)) __attribute__((warn_unused_result));
        static inline int weir_b(void) { return 1; }
        #ifdef __cplusplus
        }
        #endif
    """
    assert list(headers.check(tree_with(lay, "include/weir/a.h", header(lines.replace("        ", ""))))) == []
