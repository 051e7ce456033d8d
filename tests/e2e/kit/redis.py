"""A redis-server as a process, and a client of a few lines for looking into it."""
import shutil
import signal
import socket
import subprocess
import time

import pytest

from .ports import Port


class Refused(Exception):
    pass


class Redis:
    def __init__(self, folder, *arguments):
        if not shutil.which("redis-server"):
            pytest.skip("redis-server is not installed")
        self.folder, self.arguments, self.process = folder, arguments, None
        self._held = Port()
        self.port = self._held.number

    def start(self):
        self.process = subprocess.Popen(["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
                                         "--dir", str(self.folder), *self.arguments],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 10
        while True:
            try:
                self.ask("PING")
                return self
            except Refused:
                return self
            except OSError:
                assert time.monotonic() < end, "redis-server does not start"
                time.sleep(0.02)

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
            self.process.wait()

    def stop(self):
        self.kill()
        self._held.release()

    def hang(self):
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def ask(self, *words, login=None):
        """One command; integers, text, None, or a list of these."""
        with socket.create_connection(("127.0.0.1", self.port), 5) as connection, connection.makefile("rb") as file:
            if login:
                connection.sendall(encode("AUTH", *login))
                read(file)
            connection.sendall(encode(*words))
            return read(file)

    def set(self, key, value, seconds=None):
        self.ask("SET", key, value, *(["EX", seconds] if seconds else []))

    def get(self, key):
        return self.ask("GET", key)

    def life(self, key):
        return self.ask("PTTL", key) / 1000


def encode(*words):
    parts = [str(word).encode() if not isinstance(word, bytes) else word for word in words]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)


def read(file):
    line = file.readline()
    if not line:
        raise ConnectionError("redis-server has closed the connection")
    kind, rest = line[:1], line[1:].strip().decode()
    if kind == b"-":
        raise Refused(rest)
    if kind == b":":
        return int(rest)
    if kind == b"$":
        return None if rest == "-1" else file.read(int(rest) + 2)[:-2].decode("utf-8", "replace")
    return [read(file) for _ in range(int(rest))] if kind == b"*" else rest
