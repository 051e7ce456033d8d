"""A crowd of clients, as a process of its own so that they do not wait for the test's: `Crowd(port, asks)` plays them, and `seen` is
what each of them saw.

An ask is {"body", "headers", "path", "timeout"}; one whose timeout passes has left. A sight is None of such a one, else
{"status", "id", "done", "error", "cut", "stream"}.
"""
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


class Crowd:
    def __init__(self, port, asks, clients):
        self.asks = asks
        self._out = tempfile.TemporaryFile("w+")
        self._process = subprocess.Popen([sys.executable, "-m", "kit.crowd", str(port), str(clients)], cwd=Path(__file__).parents[1],
                                         stdin=subprocess.PIPE, stdout=self._out, text=True)
        self._process.stdin.write(json.dumps(asks))
        self._process.stdin.close()

    @property
    def is_over(self):
        return self._process.poll() is not None

    def seen(self):
        assert self._process.wait() == 0
        with self._out:
            self._out.seek(0)
            return json.load(self._out)


def play(port, ask):
    from . import client
    body = ask["body"].encode() if isinstance(ask["body"], str) else ask["body"]
    try:
        reply = client.ask(port, body, path=ask["path"], headers=ask["headers"], timeout=ask["timeout"])
    except TimeoutError:
        return None
    return {"status": reply.status, "id": reply.header("x-litellm-call-id"), "done": reply.done, "error": bool(reply.error), "cut": reply.cut,
            "stream": reply.is_stream}


def main():
    port, clients = map(int, sys.argv[1:])
    asks = json.load(sys.stdin)
    with ThreadPoolExecutor(clients) as pool:
        json.dump(list(pool.map(lambda ask: play(port, ask), asks)), sys.stdout)


if __name__ == "__main__":
    main()
