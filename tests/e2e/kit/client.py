"""A client that tells exactly what it saw: one request on one connection, or raw bytes on a socket."""
import json
import re
import socket
import time

HAS_TEXT = re.compile(rb'"(?:content|text)": ?"[^"]')


class Reply:
    def __init__(self):
        self.status, self.headers, self.body = None, [], bytearray()
        self.cut = False            # the connection ended before the message was complete
        self.events, self.done, self.error = [], False, None
        self.elapsed = self.first_text = None

    def header(self, name):
        found = [value for key, value in self.headers if key == name.lower()]
        return ", ".join(found) if found else None

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def is_stream(self):
        return (self.header("content-type") or "").startswith("text/event-stream")

    @property
    def text(self):
        """All text of the answer, plain or streamed, chat or completion; None if there is none."""
        if self.is_stream:
            choices = [choice for event in self.events for choice in event.get("choices") or []]
            return "".join((c.get("delta") or {}).get("content") or c.get("text") or "" for c in choices)
        try:
            choice = self.json["choices"][0]
            return choice["message"]["content"] if "message" in choice else choice["text"]
        except (ValueError, LookupError, TypeError):
            return None

    @property
    def failed(self):
        """A stream that did not come to its proper end."""
        return bool(self.error or self.cut or not self.done)

    def __repr__(self):
        return f"<{self.status} {'cut ' if self.cut else ''}{self.body[:400]!r}>"


class Connection:
    """A socket with a buffer: writes bytes, reads replies."""

    def __init__(self, port, timeout=30, host="127.0.0.1"):
        self.socket = socket.create_connection((host, port), timeout=timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = bytearray()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def send_slowly(self, data, size, pause):
        """Returns how much was taken before the other side closed."""
        for start in range(0, len(data), size):
            try:
                self.socket.sendall(data[start:start + size])
            except OSError:
                return start
            time.sleep(pause)
        return len(data)

    def is_closed(self, seconds=5):
        """Whether the other side closes (FIN or RST) within this time, without sending anything more."""
        self.socket.settimeout(seconds)
        try:
            return not self.buffer and self.socket.recv(1) == b""
        except ConnectionError:
            return True
        except TimeoutError:
            return False

    def _more(self):
        try:
            data = self.socket.recv(1 << 20)
        except ConnectionError:
            data = b""
        self.buffer += data
        return bool(data)

    def _until(self, mark):
        while mark not in self.buffer:
            if not self._more():
                return None
        end = self.buffer.index(mark)
        found = bytes(self.buffer[:end])
        del self.buffer[:end + len(mark)]
        return found

    def _take(self, count):
        while len(self.buffer) < count:
            if not self._more():
                return None
        found = bytes(self.buffer[:count])
        del self.buffer[:count]
        return found

    def reply(self, method="POST", began=None):
        """Reads one reply; without a status if the connection ended before one came."""
        reply, began = Reply(), began or time.monotonic()
        head = self._until(b"\r\n\r\n")
        while head is not None and head.startswith(b"HTTP/1.1 1"):
            head = self._until(b"\r\n\r\n")
        if head is None:
            reply.cut = True
            return reply
        first, *lines = head.decode("latin-1").split("\r\n")
        reply.status = int(first.split(" ")[1])
        reply.headers = [(n.strip().lower(), v.strip()) for n, v in (line.split(":", 1) for line in lines)]
        if method != "HEAD" and reply.status not in (204, 304):
            self._body(reply, began)
        reply.elapsed = time.monotonic() - began
        if reply.is_stream:
            read_events(reply)
        return reply

    def _body(self, reply, began):
        for part in self._parts(reply):
            reply.body += part
            if reply.first_text is None and HAS_TEXT.search(reply.body[-len(part) - 64:]):
                reply.first_text = time.monotonic() - began

    def _parts(self, reply):
        length = reply.header("content-length")
        if (reply.header("transfer-encoding") or "").lower() == "chunked":
            yield from self._chunks(reply)
        elif length is not None:
            data = self._take(int(length))
            reply.cut = data is None
            yield bytes(self.buffer) if data is None else data
        else:
            while self._more():
                pass
            yield self._take(len(self.buffer))

    def _chunks(self, reply):
        while True:
            size = self._until(b"\r\n")
            data = None if not size else self._take(int(size.split(b";")[0], 16) + 2)
            if data is None:
                reply.cut = True
                return
            if data == b"\r\n":
                return
            yield data[:-2]


def read_events(reply):
    text = reply.body.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    for block in text.split("\n\n"):
        data = "\n".join(line[5:].lstrip() for line in block.splitlines() if line.startswith("data:"))
        if not data:
            continue
        if data == "[DONE]":
            reply.done = True
            continue
        try:
            event = json.loads(data)
        except ValueError:
            reply.error = {"message": "an event that is no JSON: " + data[:200]}
            continue
        reply.events.append(event)
        if isinstance(event, dict) and event.get("error"):
            reply.error = event["error"]


def request_bytes(body, path="/v1/chat/completions", method="POST", headers=None):
    """A request: `body` is bytes, or an object that becomes JSON; a header that is None is left out."""
    data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    fields = {"host": "127.0.0.1", "authorization": "Bearer sk-e2e", "content-type": "application/json", "content-length": str(len(data))}
    if body is None:
        del fields["content-type"], fields["content-length"]
    fields.update({name.lower(): value for name, value in (headers or {}).items()})
    lines = [f"{method} {path} HTTP/1.1"] + [f"{name}: {value}" for name, value in fields.items() if value is not None]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + data


def ask(port, body=None, path="/v1/chat/completions", method="POST", headers=None, timeout=30):
    """One request on a connection of its own."""
    began = time.monotonic()
    with Connection(port, timeout) as connection:
        connection.send(request_bytes(body, path, method, headers))
        return connection.reply(method, began)
