"""Peers that misbehave on request: an exporter, a PromQL server, an OpenTelemetry sender and a SONiC switch, of one calm port each.

The port is 30 % loaded and one frame in a thousand is marked, which is no pressure at all, whatever its telemetry looks like.
"""

import contextlib
import http.client
import http.server
import json
import random
import signal
import socket
import threading
import time
import urllib.parse

from peers import Redis

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

    def break_it(self):
        """What `fault` needs done once; most only change what is answered from now on."""

    def heal(self):
        """Undoes break_it(); `fault` is still what it was."""


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

    def break_it(self):
        if self.fault == "killed":
            self.end()

    def heal(self):
        if self.fault == "killed":
            self.listen()

    def end(self):
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
        threading.Thread(target=self.run, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def end(self):
        self.stopped.set()

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


class SonicSwitch(Peer):
    """A COUNTERS_DB in a redis-server of its own, written five times a second; behind a proxy where the fault is to be slow."""

    kind = "sonic"
    FIELDS = dict(zip(NAMES, ("SAI_PORT_STAT_IF_OUT_OCTETS", "SAI_PORT_STAT_IF_OUT_UCAST_PKTS", "SAI_PORT_STAT_ECN_MARKED_PACKETS")))

    def __init__(self, switch, folder, proxied):
        super().__init__(switch)
        folder.mkdir()
        self.redis, self.stopped, self.running = Redis(folder), threading.Event(), None
        self.proxy = socket.create_server(("127.0.0.1", 0)) if proxied else None
        self.start_redis()
        if proxied:
            threading.Thread(target=self.serve_slowly, daemon=True).start()
        threading.Thread(target=self.run, daemon=True).start()

    @property
    def url(self):
        return f"redis://127.0.0.1:{self.proxy.getsockname()[1]}" if self.proxy else self.redis.url

    def start_redis(self):
        self.redis.path.unlink(missing_ok=True)
        self.running = self.redis.up()
        self.running.__enter__()
        self.write()

    def stop_redis(self):
        if self.running:
            self.redis.process.send_signal(signal.SIGCONT)
            running, self.running = self.running, None
            running.__exit__(None, None, None)

    def break_it(self):
        if self.fault in ("killed", "restarted"):
            self.stop_redis()
        if self.fault == "restarted":
            self.start_redis()
        if self.fault == "hung":
            self.redis.process.send_signal(signal.SIGSTOP)
        if self.fault == "denied":
            self.redis.run(["CONFIG", "SET", "requirepass", "secret"], ["AUTH", "secret"], ["CLIENT", "KILL", "TYPE", "normal"])

    def heal(self):
        if self.running is None or self.fault == "denied":
            self.stop_redis()
            self.start_redis()
        self.redis.process.send_signal(signal.SIGCONT)

    def run(self):
        while not self.stopped.wait(.2):
            if self.running and self.fault not in ("hung", "denied"):
                with contextlib.suppress(OSError, AssertionError):
                    self.write()

    def write(self):
        ports = {}
        for name, port, value in self.samples():
            ports.setdefault(port, {"SAI_PORT_STAT_IF_OUT_NON_UCAST_PKTS": 0})[self.FIELDS[name]] = value
        commands = [["SELECT", 2], ["MULTI"], ["FLUSHDB"],
                    ["HSET", "COUNTERS_PORT_NAME_MAP", *(word for port in ports for word in (port, f"oid:{port}"))]] if ports else []
        commands += [["HSET", f"COUNTERS:oid:{port}", *(word for pair in fields.items() for word in pair)] for port, fields in ports.items()]
        if commands:
            self.redis.run(*commands, ["EXEC"])

    def serve_slowly(self):
        while True:
            try:
                peer, _ = self.proxy.accept()
            except OSError:
                return
            threading.Thread(target=self.pass_on, args=(peer,), daemon=True).start()

    def pass_on(self, peer):
        with contextlib.suppress(OSError), peer, socket.socket(socket.AF_UNIX) as redis:
            redis.connect(str(self.redis.path))
            threading.Thread(target=self.pass_requests, args=(peer, redis), daemon=True).start()
            while answer := redis.recv(65536):
                slow = self.fault == "slow"
                for piece in (answer[i:i + 1] for i in range(len(answer))) if slow else [answer]:
                    peer.sendall(piece)
                    if slow:
                        time.sleep(.05)

    @staticmethod
    def pass_requests(peer, redis):
        with contextlib.suppress(OSError):
            while request := peer.recv(65536):
                redis.sendall(request)
            redis.shutdown(socket.SHUT_RDWR)

    def end(self):
        self.stopped.set()
        self.stop_redis()
        if self.proxy:
            self.proxy.close()
