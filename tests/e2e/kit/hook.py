"""A webhook for alerts: keeps what is posted, and answers as it is told."""
import http.server
import json
import threading
import time

from . import wait


class Message:
    def __init__(self, path, headers, body):
        self.path, self.headers, self.body, self.at = path, headers, body, time.monotonic()
        self.json = json.loads(body)

    @property
    def text(self):
        """What a person reads, in either form."""
        return self.json["text"] if "text" in self.json else self.json["event_message"]


class Hook:
    """`answers`: what the next posts get, the last one again and again: a status, (status, headers), or "hang"."""

    def __init__(self, tls=None):
        hook = self
        self.messages, self.answers, self._let_go = [], [200], threading.Event()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                hook.messages.append(Message(self.path, dict(self.headers), body))
                answer = hook.answers.pop(0) if len(hook.answers) > 1 else hook.answers[0]
                if answer == "hang":
                    hook._let_go.wait(60)
                    self.close_connection = True
                    return
                status, headers = answer if isinstance(answer, tuple) else (answer, {})
                self.send_response(status)
                for name, value in {"Content-Length": "2", **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(b"ok")

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass  # weir has left

        self.server = Server(("127.0.0.1", 0), Handler)
        self.scheme = "https" if tls else "http"
        if tls:
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def url(self, path="/hook", host="127.0.0.1"):
        return f"{self.scheme}://{host}:{self.server.server_address[1]}{path}"

    def of(self, alert):
        """The messages of one kind, in JSON: "cooldown", "outage", ..."""
        return [m for m in list(self.messages) if m.json.get("alert") == alert]

    def wait_for(self, alert, count=1, seconds=10):
        wait.until(lambda: len(self.of(alert)) >= count, seconds)
        return self.of(alert)[count - 1].json

    def stop(self):
        self._let_go.set()
        self.server.shutdown()
        self.server.server_close()
