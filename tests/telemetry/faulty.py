"""Peers that misbehave on request: an exporter, a PromQL server and an OpenTelemetry sender of one calm switch port each.

The port is 30 % loaded and one frame in a thousand is marked, which is no pressure at all, whatever its telemetry looks like.
"""

import contextlib
import http.client
import http.server
import json
import random
import socket
import threading
import time
import urllib.parse

LINE_BYTES = 100e9 / 8
LOAD, FRAME_BYTES, MARKED = .3, 1000, .001
NAMES = "bytes_total", "packets_total", "marked_total"


class Counters:
    """What the port has counted; time passes for them as it does for the world."""

    def __init__(self):
        self.began, self.frozen_at, self.base = time.time(), None, 1e12

    def restart(self):
        self.began, self.base = time.time(), 0

    def freeze(self):
        self.frozen_at = time.time()

    def thaw(self):
        self.frozen_at = None

    def values(self):
        frames = LOAD * LINE_BYTES / FRAME_BYTES * ((self.frozen_at or time.time()) - self.began)
        return dict(zip(NAMES, (int(self.base + frames * FRAME_BYTES), int(self.base / 1000 + frames), int(self.base / 1e6 + frames * MARKED))))


class Peer:
    """`fault` is the name of what is wrong with it now, or None; `shift_s` what its clock is wrong by."""

    def __init__(self, switch):
        self.switch, self.counters, self.fault, self.shift_s = switch, Counters(), None, 0

    def samples(self):
        """[(name, port, value)], as wrong as the fault wants them."""
        ports = [f"p{number}" for number in range(1, 1001)] if self.fault == "thousandfold" else ["p1"]
        samples = [(name, port, value) for name, value in self.counters.values().items() for port in ports]
        return [sample for sample in samples if self.fault != "lossy" or random.random() > .2]

    def time(self):
        return time.time() + self.shift_s


class HttpPeer(Peer):
    """Serves body() as whole answers, or as the fault wants it."""

    def __init__(self, switch):
        super().__init__(switch)
        self.port, self.connections = 0, set()
        self.listen()

    def listen(self):
        peer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                super().setup()
                peer.connections.add(self.connection)

            def do_GET(self):
                with contextlib.suppress(OSError):
                    return peer.answer(self)
                self.close_connection = True

            def log_message(self, *_):
                pass

        http.server.ThreadingHTTPServer.allow_reuse_address = True
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": .05}, daemon=True).start()

    def kill(self):
        self.server.shutdown()
        self.server.server_close()
        for connection in list(self.connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self.connections.clear()

    def answer(self, handler):
        if self.fault == "hung":
            time.sleep(20)
            handler.close_connection = True
            return
        body = b"denied\n" if self.fault == "denied" else self.body(handler.path)
        handler.send_response(401 if self.fault == "denied" else 200)
        handler.send_header("Content-Type", self.content_type)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        for piece in (body[i:i + 1] for i in range(len(body))) if self.fault == "slow" else [body]:
            handler.wfile.write(piece)
            if self.fault == "slow":
                time.sleep(.05)


class Exporter(HttpPeer):
    kind, content_type = "prometheus", "text/plain; version=0.0.4"

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/metrics"

    def body(self, _):
        stamp = f" {int(self.time() * 1000)}" if self.shift_s else ""
        return "".join(f'{name}{{switch="{self.switch}",port="{port}"}} {value}{stamp}\n' for name, port, value in self.samples()).encode()


class PromqlServer(HttpPeer):
    kind, content_type = "promql", "application/json"

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def body(self, path):
        asked = urllib.parse.parse_qs(urllib.parse.urlparse(path).query)["query"][0]
        of_time = asked.startswith("timestamp(")
        name = asked.removeprefix("timestamp(").split("{")[0].rstrip(")")
        result = [{"metric": {"__name__": name, "switch": self.switch, "port": port} if not of_time else {"switch": self.switch, "port": port},
                   "value": [time.time(), str(self.time() if of_time else value)]} for sample, port, value in self.samples() if sample == name]
        return json.dumps({"status": "success", "data": {"resultType": "vector", "result": result}}).encode()


class Sender(Peer):
    """Pushes once a second to an OTLP receiver on `port`."""

    kind = "otlp"

    def __init__(self, switch, port):
        super().__init__(switch)
        self.port, self.stopped = port, threading.Event()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def start(self):
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while not self.stopped.wait(1):
            if self.fault != "killed":
                with contextlib.suppress(OSError, http.client.HTTPException):
                    self.push()

    def push(self):
        point = lambda port, value: {"attributes": [{"key": key, "value": {"stringValue": text}} for key, text in
                                                    (("switch", self.switch), ("port", port))],
                                     "timeUnixNano": str(int(self.time() * 1e9)), "asInt": str(value)}
        by_name = {}
        for name, port, value in self.samples():
            by_name.setdefault(name, []).append(point(port, value))
        body = json.dumps({"resourceMetrics": [{"scopeMetrics": [{"metrics": [{"name": name, "gauge": {"dataPoints": points}}
                                                                               for name, points in by_name.items()]}]}]}).encode()
        path = "/v1/metrics"
        if self.fault in ("hung", "slow"):
            with socket.create_connection(("127.0.0.1", self.port), timeout=30) as connection:
                connection.sendall(f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode())
                for i in range(len(body)):
                    if self.fault == "hung" or self.stopped.wait(.05):
                        self.stopped.wait(10)
                        break
                    connection.sendall(body[i:i + 1])
            return
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        connection.request("POST", path, body, {"Content-Type": "application/json"})
        connection.getresponse().read()
        connection.close()
