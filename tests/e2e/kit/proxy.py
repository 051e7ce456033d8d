"""A recording HTTP proxy: CONNECT tunnels and requests in absolute form, with a password if it has one."""
import asyncio
import base64
import threading
from urllib.parse import urlsplit

from .upstream import read_head


class Proxy:
    def __init__(self, user=None, password=None):
        self.wanted = None
        if user is not None:
            self.wanted = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
        self.seen = []      # (method, target, the Proxy-Authorization that came or None)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._tasks = set()

    def start(self):
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(10)
        return self

    def stop(self):
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _listen(self):
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _close(self):
        self._server.close()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, reader, writer):
        task = asyncio.current_task()
        self._tasks.add(task)
        try:
            await self._request(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError, ValueError, OSError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _request(self, reader, writer):
        (method, target, _), headers = await read_head(reader)
        fields = dict(headers)
        self.seen.append((method, target, fields.get("proxy-authorization")))
        if self.wanted and fields.get("proxy-authorization") != self.wanted:
            writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=e2e\r\nContent-Length: 0\r\n"
                         b"Connection: close\r\n\r\n")
            await writer.drain()
            return
        if method == "CONNECT":
            host, port = target.rsplit(":", 1)
            far_reader, far_writer = await asyncio.open_connection(host, int(port))
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            url = urlsplit(target)
            far_reader, far_writer = await asyncio.open_connection(url.hostname, url.port or 80)
            path = url.path + (f"?{url.query}" if url.query else "")
            kept = [(name, value) for name, value in headers if not name.startswith("proxy-") and name != "connection"]
            far_writer.write(head_bytes(f"{method} {path} HTTP/1.1", kept))
            upload = asyncio.ensure_future(pump(reader, far_writer))
            first, fields = await read_head(far_reader)
            writer.write(head_bytes(" ".join(first), fields))
            await pump(far_reader, writer)
            upload.cancel()
            return
        await asyncio.gather(pump(reader, far_writer), pump(far_reader, writer))


def head_bytes(first, fields):
    """A head after which the connection ends, so that whoever only copies bytes need not know where a message ends."""
    return (first + "\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields) + "connection: close\r\n\r\n").encode("latin-1")


async def pump(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    finally:
        writer.close()
