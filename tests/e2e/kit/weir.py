"""weir as a process: started with a configuration, and judged when it ends."""
import ctypes
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import yaml

from . import client
from .ports import Port

ROOT = Path(__file__).resolve().parents[3]
BINARY = os.environ.get("WEIR", str(ROOT / "build" / "weir"))
WORKERS = os.environ.get("WEIR_WORKERS")
SANITIZED = "ASAN_OPTIONS" in os.environ

# What a sanitizer or a crash leaves in the output.
TROUBLE = re.compile(r"ERROR: \w+Sanitizer|WARNING: ThreadSanitizer|runtime error:|AddressSanitizer:|LeakSanitizer:|Assertion .* failed")
KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS")
STARTUP = 30


def environment(extra=None):
    """Only what weir needs, so that no proxy or key of this machine takes part; waits between retries are short."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return {**kept, "INITIAL_RETRY_DELAY": "0.02", "JITTER": "0.01", **{k: str(v) for k, v in (extra or {}).items()}}


class Adopted:
    """A process that another one has started: known by its number, waited for as the child of a child (see adopt_orphans)."""

    def __init__(self, pid):
        self.pid, self.returncode = pid, None

    def poll(self):
        if self.returncode is None:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
                self.returncode = os.waitstatus_to_exitcode(status) if pid else None
            except ChildProcessError:
                pass  # whose parent still runs
        return self.returncode

    def wait(self, seconds=None):
        end = time.monotonic() + (seconds or 60)
        while self.poll() is None:
            if time.monotonic() > end:
                raise subprocess.TimeoutExpired("weir", seconds)
            time.sleep(0.01)
        return self.returncode

    def send_signal(self, number):
        os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)


def adopt_orphans():
    """Children of children that end become this process's."""
    subreaper = 36
    assert ctypes.CDLL(None).prctl(subreaper, 1, 0, 0, 0) == 0


class Weir:
    def __init__(self, config, folder, env=None, arguments=(), host="127.0.0.1", binary=BINARY, prefix=(), pass_fds=()):
        self.folder = Path(folder)
        self.path = self.folder / "config.yaml"
        self.write(config)
        self.log_path = self.folder / "weir.log"
        self.env, self.arguments, self.host = environment(env), list(arguments), host
        self.binary, self.prefix, self.pass_fds = str(binary), list(prefix), pass_fds
        self.port = self.process = self._held = None

    def write(self, config):
        """Puts another configuration in the place of the file, as editors do."""
        text = config if isinstance(config, str) else yaml.safe_dump(config, sort_keys=False, allow_unicode=True)
        fresh = self.path.with_suffix(".new")
        fresh.write_text(text)
        fresh.replace(self.path)

    def reload(self, config=None, **more):
        """Asks for a reload, of another configuration perhaps; the answer."""
        if config is not None:
            self.write(config)
        return client.ask(self.port, path="/weir/reload", body={}, **more)

    def launch(self, port=None):
        """Starts the process and does not wait until it serves."""
        if port is None:
            self._held = self._held or Port()
            port = self._held.number
        self.port = port
        command = [*self.prefix, self.binary, "serve", "--config", str(self.path), "--host", self.host, "--port", str(self.port)]
        if WORKERS and "--workers" not in self.arguments:
            command += ["--workers", WORKERS]
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(command + self.arguments, cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=subprocess.STDOUT, pass_fds=self.pass_fds)
        return self

    def start(self):
        if self.launch().is_ready():
            return self
        self.kill()
        raise AssertionError(f"weir did not start (status {self.process.returncode}):\n{self.log[-3000:]}")

    def is_ready(self):
        end = time.monotonic() + STARTUP
        while time.monotonic() < end and self.process.poll() is None:
            try:
                if client.ask(self.port, path="/health/liveliness", method="GET", timeout=5).status == 200:
                    return True
            except (OSError, ValueError):
                pass
            time.sleep(0.02)
        return False

    @property
    def log(self):
        return self.log_path.read_text(errors="replace")

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def ask(self, body=None, **more):
        """Asks for a model (a name, or a whole request); a chat gets a message if it has none."""
        if isinstance(body, str):
            body = {"model": body}
        if isinstance(body, dict) and not {"messages", "input", "prompt"} & set(body):
            body = {**body, "messages": [{"role": "user", "content": "hello"}]}
        return client.ask(self.port, body, **more)

    def connect(self, timeout=30):
        return client.Connection(self.port, timeout)

    def upgrade(self, seconds=STARTUP):
        """Lets another process take over, which is `process` from then on; the one before, which drains."""
        adopt_orphans()
        before, told = self.process, f"process (\\d+) serves in the place of {self.process.pid},"
        self.signal(signal.SIGUSR2)
        self.process = Adopted(int(re.search(told, self.log_line(told, seconds))[1]))
        return before

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self, seconds=15):
        """The exit status, None if it still runs."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self._held:
            self._held.release()

    def stop(self):
        """Ends it as an administrator would, and looks at what it leaves behind."""
        if self.process.poll() is None:
            self.signal(signal.SIGTERM)
        status = self.wait(30)
        self.kill()
        self.judge(status)

    def judge(self, status, expected=0):
        found = TROUBLE.search(self.log)
        assert not found, f"trouble in weir's output:\n{self.log[found.start():][:6000]}"
        assert status == expected, f"weir ended with status {status}:\n{self.log[-3000:]}"

    def log_line(self, matching, seconds=5):
        """Waits for a line of the output that matches, and returns it."""
        end = time.monotonic() + seconds
        while True:
            for line in self.log.splitlines():
                if re.search(matching, line):
                    return line
            assert time.monotonic() < end, f"no line matches {matching!r}:\n{self.log[-3000:]}"
            time.sleep(0.02)
