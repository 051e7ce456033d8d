"""tests/run must count what ran, and call a failure one."""
import importlib.machinery
import importlib.util
import json
import os
import subprocess
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


@pytest.fixture(scope="module")
def run():
    loader = importlib.machinery.SourceFileLoader("weir_tests_run", os.path.join(ROOT, "tests", "run"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    dont_write, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    loader.exec_module(module)
    sys.dont_write_bytecode = dont_write
    return module


def line_of(count):
    return (count.passed, count.failed, count.skipped)


def meson_log(tmp_path, *tests):
    log = tmp_path / "testlog.json"
    log.write_text("".join(json.dumps(test) + "\n" for test in tests))
    return log


def test_the_cases_of_cmocka_are_counted(run, tmp_path):
    log = meson_log(tmp_path, {"result": "OK", "stdout": "[  PASSED  ] 12 test(s).\n"},
                    {"result": "FAIL", "stdout": "[  PASSED  ] 3 test(s).\n", "stderr": "[  FAILED  ] 2 test(s), listed below:\n"})
    assert line_of(run.count_of_meson(log)) == (15, 2, 0)


def test_a_test_without_cases_is_one(run, tmp_path):
    assert line_of(run.count_of_meson(meson_log(tmp_path, {"result": "OK", "stdout": "3 inputs"}))) == (1, 0, 0)


@pytest.mark.parametrize("result", ["FAIL", "ERROR", "TIMEOUT", "INTERRUPT"])
def test_a_test_that_dies_after_its_last_case_has_failed(run, tmp_path, result):
    log = meson_log(tmp_path, {"result": result, "stdout": "[  PASSED  ] 4 test(s).\n"})
    assert line_of(run.count_of_meson(log)) == (4, 1, 0)


@pytest.mark.parametrize("script, counted", [
    ("echo '3 passed, 1 failed'; exit 1", (3, 1, 0)),
    ("echo '3 passed, 0 failed, 2 skipped'", (3, 0, 2)),
    ("echo '1 passed, 0 failed'; echo '2 passed, 0 failed'", (2, 0, 0)),
    ("echo '3 passed, 0 failed'; exit 1", (3, 1, 0)),
    ("exit 7", (0, 1, 0)),
    ("true", (0, 1, 0)),
    ("echo '0 passed, 0 failed'", (0, 1, 0)),
])
def test_a_command_is_believed_only_when_its_count_and_status_agree(run, script, counted):
    assert line_of(run.counted("sh", "-c", script)) == counted


@pytest.mark.parametrize("body, counted", [
    ("def test_a(): pass\ndef test_b(): assert False\n", (1, 1, 0)),
    ("import pytest\n@pytest.fixture\ndef f(): raise ValueError\ndef test_a(f): pass\n", (0, 1, 0)),
    ("import nothing_of_that_name\n", (0, 1, 0)),
    ("", (0, 1, 0)),
])
def test_what_pytest_ran_is_counted(run, tmp_path, body, counted):
    (tmp_path / "test_body.py").write_text(body)
    run.PYTHON = sys.executable
    assert line_of(run.pytest(str(tmp_path), "-p", "no:cacheprovider")) == counted


def test_an_unknown_stage_is_refused():
    done = subprocess.run([sys.executable, os.path.join(ROOT, "tests", "run"), "no-such-stage"], capture_output=True, text=True)
    assert done.returncode == 2 and "no such stage: no-such-stage" in done.stderr


def deps(*arguments, **variables):
    return subprocess.run([os.path.join(ROOT, "scripts", "deps"), *arguments], capture_output=True, text=True,
                          env={**os.environ, **variables}, stdin=subprocess.DEVNULL)


def test_nothing_is_said_when_nothing_is_missing():
    done = deps("test")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_what_is_missing_is_named_with_its_reason():
    done = deps("--list", PKG_CONFIG_LIBDIR="/nonexistent", PKG_CONFIG_PATH="")
    assert done.returncode == 1
    assert "libyaml-dev        YAML, for the configuration" in done.stdout and "libcmocka-dev" not in done.stdout


def test_an_unknown_level_is_wrong_usage():
    assert deps("everything").returncode == 2
