"""A server of pages that are got, for what asks weir without being a client of models: each path has its answer."""
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Pages:
    def __init__(self, certificate=None):
        """`certificate`: (file, key file), or plain HTTP."""
        self.answers, self.asked = {}, []
        pages = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                pages.asked.append(self.path)
                status, body = pages.answers.get(self.path.split("?")[0], (404, b"there is nothing"))
                self.send_response(status)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = f"http{'s' if certificate else ''}://127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def says(self, path, body, status=200):
        self.answers[path] = (status, body.encode() if isinstance(body, str) else body)
        return self
