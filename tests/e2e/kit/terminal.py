"""A terminal: a program runs in it, keys are pressed, and its screen is read as a person would."""
import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time

import pyte

from .weir import environment


class Terminal:
    def __init__(self, command, lines=24, columns=80, env=None):
        self.screen = pyte.Screen(columns, lines)
        self.stream = pyte.ByteStream(self.screen)
        self.raw, self.status = b"", None
        extra = {"TERM": "xterm-256color", "LANG": "C.UTF-8", **(env or {})}
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
            os.execvpe(command[0], command, environment(extra))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)

    def read(self, seconds=0.05):
        """Takes what the program writes within that time; False when it has ended."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if not select.select([self.fd], [], [], left)[0]:
                break
            try:
                data = os.read(self.fd, 65536)
            except OSError:  # the other end is closed
                return False
            self.raw += data
            self.stream.feed(data)
        return True

    @property
    def lines(self):
        return [line.rstrip() for line in self.screen.display]

    @property
    def text(self):
        return "\n".join(self.lines)

    def until(self, predicate, seconds=10):
        """Reads until the screen is such, and has come to rest: predicate(lines), or a text that must be on it; returns the lines."""
        if isinstance(predicate, str):
            wanted = predicate
            predicate = lambda lines: wanted in "\n".join(lines)  # noqa: E731
        end = time.monotonic() + seconds
        while True:
            before, runs = self.lines, self.read()
            if predicate(self.lines) and (self.lines == before or not runs):
                return self.lines
            assert runs, f"the program has ended:\n{self.text}"
            assert time.monotonic() < end, f"it did not come about:\n{self.text}"

    def press(self, keys):
        os.write(self.fd, keys.encode())

    def resize(self, lines, columns):
        self.screen.resize(lines, columns)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def wait(self, seconds=10):
        """The exit status, once it has ended."""
        end = time.monotonic() + seconds
        while self.status is None:
            assert time.monotonic() < end, f"it did not end:\n{self.text}"
            self.read(0.02)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
        return self.status
