"""A scripted provider: one HTTP/1.1 server, in a thread of its own, for all deployments of a test.

The first segment of the path names the deployment. Each deployment has a list of answers (kit.answers), one for each POST;
the last one repeats. Whatever was asked is kept in `calls`.
"""
import asyncio
import itertools
import json
import socket
import struct
import threading
import time

from . import answers
from .answers import CLOSE, HANG, RESET, Wait

LOOK_EVERY = 0.01


class Call:
    """One request as it came in."""

    def __init__(self, method, path, headers, body, connection):
        self.method, self.path, self.headers, self.body, self.connection = method, path, headers, body, connection
        self.deployment = path.strip("/").split("/", 1)[0]
        self.at = time.monotonic()
        self.left_at = None     # when the other side closed while it was still owed an answer
        self.ended_at = None
        self.status = None      # that it was answered with
        try:
            self.json = json.loads(body) if body else {}
        except ValueError:
            self.json = None

    def header(self, name):
        """The value of a field, None if it is absent; several are joined."""
        found = [value for key, value in self.headers if key == name.lower()]
        return ", ".join(found) if found else None

    def __repr__(self):
        return f"<{self.method} {self.path} {self.body[:200]!r}>"


class ClientLeft(Exception):
    pass


class Upstream:
    def __init__(self, tls=None, host="127.0.0.1"):
        self.tls, self.host = tls, host
        self.calls, self.answers, self.used = [], {}, {}
        self.in_flight, self.peak, self.connections = {}, {}, 0
        self._changed = threading.Condition()
        self._tasks = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._numbers = itertools.count(1)

    # ---- from the test's thread

    def start(self):
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(10)
        return self

    def stop(self):
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def url(self, deployment="", name=None):
        scheme = "https" if self.tls else "http"
        return f"{scheme}://{name or self.host}:{self.port}" + (f"/{deployment}" if deployment else "")

    def says(self, deployment, *script):
        """Sets what a deployment answers from now on; a string is the text of a good answer."""
        self.answers[deployment] = [answers.text(a) if isinstance(a, str) else a for a in script]
        self.used[deployment] = 0
        return self

    def hits(self, deployment=None):
        return sum(1 for call in list(self.calls) if deployment in (None, call.deployment))

    def last(self, deployment=None):
        found = [call for call in list(self.calls) if deployment in (None, call.deployment)]
        assert found, f"{deployment or 'the upstream'} was never called"
        return found[-1]

    def wait_for(self, predicate, seconds=5.0):
        """Waits until predicate(self) holds; returns whether it does."""
        end = time.monotonic() + seconds
        with self._changed:
            while not predicate(self):
                left = end - time.monotonic()
                if left <= 0:
                    return False
                self._changed.wait(min(left, 0.05))
        return True

    # ---- from the loop's thread

    async def _listen(self):
        self._server = await asyncio.start_server(self._serve, self.host, 0, ssl=self.tls, limit=1 << 27, backlog=512)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _close(self):
        self._server.close()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _tell(self):
        with self._changed:
            self._changed.notify_all()

    async def _serve(self, reader, writer):
        task, number = asyncio.current_task(), next(self._numbers)
        self._tasks.add(task)
        self.connections += 1
        try:
            while True:
                call = await read_request(reader, writer, number)
                if not await self._play(call, reader, writer) or call.header("connection") == "close":
                    return
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError, ValueError, IndexError, OSError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()
            self._tell()

    async def _play(self, call, reader, writer):
        """Plays the next answer; returns whether the connection lives on."""
        name = call.deployment
        if call.method != "POST":
            writer.write(answers.whole(404, b'{"error": {"message": "only POST is scripted"}}'))
            return True
        script = self.answers.get(name) or [answers.error("internal", message=f"no script for {name}")]
        turn = self.used.get(name, 0)
        self.used[name] = turn + 1
        self.calls.append(call)
        self.in_flight[name] = self.in_flight.get(name, 0) + 1
        self.peak[name] = max(self.peak.get(name, 0), self.in_flight[name])
        self._tell()
        try:
            return await self._perform(call, script[min(turn, len(script) - 1)].steps(call), reader, writer)
        except (ClientLeft, ConnectionError):
            call.left_at = time.monotonic()
            return False
        finally:
            call.ended_at = time.monotonic()
            self.in_flight[name] -= 1
            self._tell()

    async def _perform(self, call, steps, reader, writer):
        for step in steps:
            if isinstance(step, bytes):
                if call.status is None and step.startswith(b"HTTP/1.1 "):
                    call.status = int(step[9:12])
                writer.write(step)
                await writer.drain()
            elif isinstance(step, Wait):
                await pause(reader, step.seconds)
            elif step is HANG:
                await pause(reader, float("inf"))
            elif step is RESET:
                reset(writer)
                return False
            elif step is CLOSE:
                return False
            else:
                raise TypeError(f"no step: {step!r}")
        return True


async def pause(reader, seconds):
    """Sleeps, and raises ClientLeft as soon as the other side has closed."""
    end = time.monotonic() + seconds
    while True:
        if reader.at_eof() or reader.exception():
            raise ClientLeft
        left = end - time.monotonic()
        if left <= 0:
            return
        await asyncio.sleep(min(left, LOOK_EVERY))


def reset(writer):
    sock = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def read_head(reader):
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head[:-4].decode("latin-1").split("\r\n")
    fields = [(name.strip().lower(), value.strip()) for name, value in (line.split(":", 1) for line in lines)]
    return first.split(" "), fields


async def read_request(reader, writer, connection):
    (method, path, _), headers = await read_head(reader)
    named = dict(headers)
    if named.get("expect", "").lower() == "100-continue":
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    body = b""
    if named.get("transfer-encoding", "").lower() == "chunked":
        while size := int((await reader.readline()).split(b";")[0], 16):
            body += await reader.readexactly(size)
            await reader.readexactly(2)
        await reader.readline()
    elif "content-length" in named:
        body = await reader.readexactly(int(named["content-length"]))
    return Call(method, path, headers, body, connection)
