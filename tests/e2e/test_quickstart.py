"""`make run`: the three commands that it prints do what it says."""
import os
import re
import signal
import subprocess
import time

import pytest

from kit.ports import Port
from kit.weir import BINARY, ROOT, environment


@pytest.fixture
def printed(tmp_path):
    """What scripts/run prints before it waits, on a port of its own."""
    log = tmp_path / "run.log"
    held = Port()
    port = held.number
    with open(log, "wb") as file:
        process = subprocess.Popen(["scripts/run", str(port)], cwd=ROOT, env={**environment(), "WEIR": BINARY}, stdin=subprocess.DEVNULL, stdout=file,
                                   stderr=subprocess.STDOUT)
    end = time.monotonic() + 30
    while "Ctrl-C" not in log.read_text() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
    yield log.read_text()
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 0, log.read_text()
    held.release()


def test_the_three_commands_work(printed):
    commands = re.findall(r"^\s+(curl .*)$", printed, re.M)
    assert len(commands) == 3, printed
    outputs = []
    for command in commands:
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=30, env={"PATH": os.environ["PATH"]})
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout)
    plain, streamed, failover = outputs
    assert '"chat.completion"' in plain and '"content"' in plain
    assert streamed.count("data: ") > 2 and streamed.rstrip().endswith("data: [DONE]")
    assert re.match(r"HTTP/1.1 200", failover)
    assert re.search(r"(?im)^x-litellm-attempted-(retries|fallbacks): [1-9]", failover)


def test_no_key_and_no_network_is_needed(printed):
    assert not re.search(r"(?i)\b(error|warning)\b", printed), printed
