"""Those who listen to /weir/events, and the lines of the event log."""
import contextlib
import json
import socket
import threading

from . import client
from .wait import until


class Listener:
    """A stream of events, read by a thread of its own as it comes; `begin=False` leaves it unread until begin()."""

    def __init__(self, port, query="", headers=None, begin=True):
        self.connection = client.Connection(port, timeout=60)
        self.connection.send(client.request_bytes(None, f"/weir/events{query}", "GET", headers))
        self.status, self.headers = None, []
        self.events, self.comments = [], []  # events: (id or None, kind, data)
        self.ended = self.cut = False
        self._thread = threading.Thread(target=self._read, daemon=True)
        if begin:
            self.begin()

    def leave(self):
        """Closes the connection, which the thread may be reading from."""
        with contextlib.suppress(OSError):
            self.connection.socket.shutdown(socket.SHUT_RDWR)
        self.connection.close()

    def begin(self):
        self._thread.start()
        until(lambda: self.comments or self.ended)
        return self

    def wait(self, predicate, seconds=10):
        until(lambda: predicate(self), seconds)
        return self

    def of(self, *kinds):
        return [data for _, kind, data in list(self.events) if kind in kinds]

    @property
    def kinds(self):
        return [kind for _, kind, _ in list(self.events)]

    def _read(self):
        reply, text = client.Reply(), b""
        try:
            head = self.connection._until(b"\r\n\r\n")
            first, *lines = head.decode().split("\r\n")
            reply.headers = [(n.strip().lower(), v.strip()) for n, v in (line.split(":", 1) for line in lines)]
            self.headers, self.status = dict(reply.headers), int(first.split(" ")[1])
            for part in self.connection._parts(reply):
                text += part
                *blocks, text = text.split(b"\n\n")
                for block in blocks:
                    self._take(block.decode())
            self.cut = reply.cut
        except (OSError, AttributeError):
            self.cut = True
        self.ended = True

    def _take(self, block):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if not line.startswith(":"))
        if not fields:
            self.comments.append(block)
            return
        self.events.append((int(fields["id"]) if "id" in fields else None, fields["event"], json.loads(fields["data"])))


def logged(path):
    """The whole lines of an event log, each of which must be an object."""
    text = path.read_text() if path.exists() else ""
    lines = [json.loads(line) for line in text.split("\n")[:-1]]
    assert all(isinstance(line, dict) for line in lines)
    return lines
