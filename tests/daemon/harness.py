"""A real aegisd in a temporary folder, an exporter that can misbehave, and a plugin's side of the select socket.

Nothing here knows how aegisd works inside: it is seen through its sockets, its log, its exit status and its store.
AEGIS_STAGE names the install tree under test; without it $AEGIS_BUILD/stage, then build/stage.
"""

import http.server
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "slurm"))
import wire  # noqa: E402

STAGE = pathlib.Path(os.environ.get("AEGIS_STAGE") or
                     pathlib.Path(os.environ.get("AEGIS_BUILD") or ROOT / "build") / "stage")
AEGISD = STAGE / "sbin" / "aegisd"

NODES = 8  # n0-n3 on tor1, n4-n7 on tor2
TABLE = "n[0-7]"
TOPOLOGY = """\
SwitchName=tor1 Nodes=n[0-3]
SwitchName=tor2 Nodes=n[4-7]
SwitchName=spine Switches=tor[1-2]
"""

# Fresh for 1 s and dark after 2 s, which is as short as the configuration allows.
CONFIG = """\
initial_mode = "{mode}"
[select]
socket = "{run}/select.socket"
slurm_user = "{slurm_user}"
[control]
socket = "{run}/control.socket"
[fabric]
topology = "{run}/topology.conf"
[placement]
policy = "{policy}"
[pressure]
fast = "1s"
slow = "5s"
[freshness]
fresh = "1s"
lagged = "1500ms"
stale = "2s"
[store]
directory = "{store}"
[log]
level = "debug"
[[ports]]
switch = "sw1"
ports = "swp1"
leaf = "tor1"
rate = "100Gbit"
[[ports]]
switch = "sw2"
ports = "swp1"
leaf = "tor2"
rate = "100Gbit"
"""

SOURCE = """\
[[source]]
name = "{name}"
type = "prometheus"
url = "{url}"
interval = "200ms"
timeout = "150ms"
[[source.metric]]
name = "marked_total"
signal = "ecn_marked_packets"
kind = "counter"
switch_label = "switch"
[[source.metric]]
name = "packets_total"
signal = "packets"
kind = "counter"
switch_label = "switch"
[[source.metric]]
name = "bytes_total"
signal = "bytes"
kind = "counter"
switch_label = "switch"
[[source.metric]]
name = "depth_bytes"
signal = "queue_depth"
kind = "snapshot"
switch_label = "switch"
"""


def wait_for(what, condition, timeout=10.0):
    """Polls until condition() is true and returns its value; fails naming `what`."""
    end = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"not within {timeout} s: {what}"
        time.sleep(0.02)


def ask_control(path, request, timeout=10.0):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.settimeout(timeout)
        sock.connect(str(path))
        try:
            sock.sendall(json.dumps(request).encode() + b"\n")
        except BrokenPipeError:
            pass  # refused before it was asked: the answer is there all the same
        return json.loads(sock.makefile().readline())


class Aegisd:
    """One configuration, one folder; start() and stop() as often as wanted."""

    def __init__(self, folder, mode="observe", policy="default", slurm_user="slurm", store=None, sources=()):
        self.run = folder
        self.store = store or folder / "store"
        self.store.mkdir(exist_ok=True)
        self.config_file = folder / "aegisd.toml"
        self.select_socket = folder / "select.socket"
        self.control_socket = folder / "control.socket"
        self.log_file = folder / "aegisd.log"
        self.settings = {"mode": mode, "policy": policy, "slurm_user": slurm_user}
        (folder / "topology.conf").write_text(TOPOLOGY)
        self.write_config(sources)
        self.process = None

    def write_config(self, sources=(), extra="", **changes):
        self.settings.update(changes)
        text = CONFIG.format(run=self.run, store=self.store, **self.settings)
        for name, url in sources:
            text += SOURCE.format(name=name, url=url)
        self.config_file.write_text(text + extra)

    def start(self, wait=True, **popen):
        with open(self.log_file, "ab") as log:
            self.process = subprocess.Popen([AEGISD, "--config", self.config_file], stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log, **popen)
        if wait:
            wait_for("aegisd answers status", self.is_up)
        return self

    def is_up(self):
        assert self.process.poll() is None, f"aegisd ended with {self.process.returncode}:\n{self.log()}"
        try:
            return self.status()
        except (FileNotFoundError, ConnectionRefusedError):
            return None

    def log(self):
        return self.log_file.read_text() if self.log_file.exists() else ""

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self, timeout=20.0):
        """SIGTERM, and the exit status. A sanitizer's report would be one other than 0."""
        if self.process.poll() is None:
            self.process.terminate()
        return self.process.wait(timeout)

    def control(self, command, **arguments):
        answer = ask_control(self.control_socket, {"command": command, **arguments})
        assert answer["ok"], answer
        return answer["result"]

    def status(self):
        return self.control("status")

    def source(self, name="exporter"):
        return next(s for s in self.status()["sources"] if s["name"] == name)

    def leaf(self, name):
        return next(leaf for leaf in self.control("fabric")["leaves"] if leaf["leaf"] == name)

    def frames_refused(self):
        return self.status()["protocol_errors"]["frames_refused"]

    def resident_kib(self):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1])

    def reload(self):
        """SIGHUP, and the status once it has taken effect or has been refused."""
        mark = len(self.log())
        self.signal(signal.SIGHUP)
        wait_for("the reload is told in the log",
                 lambda: any(text in self.log()[mark:] for text in ("read again and in force", "not in force")))
        return self.status()


class Plugin:
    """What the plugin says, said in Python."""

    def __init__(self, path, greet=True, table=TABLE, count=NODES):
        self.connection = wire.Connection.connect(path)
        self.count = count
        self.hash = wire.table_hash(table, count)
        self.request = 0
        self.calm = None  # the last one that came
        if greet:
            self.connection.send(wire.encode_hello(table, count))
            self.welcome = self.expect(wire.WELCOME)
            assert self.welcome["status"] == wire.ACCEPTED

    def receive(self):
        """The next frame but CALM, which comes at any time and is kept; None at the end of the stream."""
        while (received := self.connection.receive()) and received[0] == wire.CALM:
            self.calm = received[2]
        return received

    def next_calm(self):
        kind, _, self.calm = self.connection.receive()
        assert kind == wire.CALM
        return self.calm

    def expect(self, kind):
        received = self.receive()
        assert received, "aegisd closed the connection"
        assert received[0] == kind, received
        return received[2]

    def send_ask(self, s1, candidates=None, job="1", **more):
        self.request += 1
        candidates = range(self.count) if candidates is None else candidates
        more = {"min_nodes": len(s1), "max_nodes": len(s1), "req_nodes": len(s1), **more}
        self.connection.send(wire.encode_ask(self.request, self.hash, (self.count, set(candidates)),
                                             (self.count, set(s1)), job_key=job, job_id=int(job.split("_")[0]), **more))

    def ask(self, s1, candidates=None, job="1", **more):
        self.send_ask(s1, candidates, job, **more)
        kind, request, message = self.receive()
        assert (kind, request) == (wire.ADVICE, self.request)
        return message

    def ping(self, **counters):
        self.request += 1
        self.connection.send(wire.encode_ping(self.request, **counters))
        self.expect(wire.PONG)

    def is_closed(self):
        """True once aegisd has closed the connection."""
        give_up = time.monotonic() + 5
        try:
            while self.connection.sock.recv(1 << 16):  # what was on its way
                if time.monotonic() > give_up:
                    return False
            return True
        except ConnectionResetError:
            return True
        except TimeoutError:
            return False

    def close(self):
        self.connection.close()


class Exporter:
    """Counters that run by themselves at set rates, served well or badly.

    rates[(switch, port)] = {"marked_total": per second, ...}; gauges stay as they are in depth_bytes.
    """

    COUNTERS = ("marked_total", "packets_total", "bytes_total")

    def __init__(self):
        self.rates = {}
        self.depths = {}
        self.fault = None
        self.requests = 0
        self.connections = set()
        self.started = time.monotonic()
        self.total = {}
        self.lock = threading.Lock()
        self.port = None
        self.listen()

    def listen(self):
        exporter = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                super().setup()
                exporter.connections.add(self.connection)

            def do_GET(self):
                exporter.requests += 1
                try:
                    exporter.serve(self)
                except OSError:
                    self.close_connection = True

            def log_message(self, *_):
                pass

        http.server.ThreadingHTTPServer.allow_reuse_address = True
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", self.port or 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/metrics"

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
        for connection in list(self.connections):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self.connections.clear()

    def set(self, switch, port="swp1", depth=None, marked=0.0, packets=0.0, bytes=0.0):
        with self.lock:
            self.advance()
            self.rates[switch, port] = {"marked_total": marked, "packets_total": packets, "bytes_total": bytes}
            if depth is not None:
                self.depths[switch, port] = depth

    def heat(self, switch, port="swp1"):
        self.set(switch, port, depth=300_000, marked=100_000, packets=1_000_000, bytes=12e9)

    def cool(self, switch, port="swp1"):
        self.set(switch, port, depth=0, marked=0, packets=100_000, bytes=1e8)

    def advance(self):
        now = time.monotonic()
        passed, self.started = now - self.started, now
        for place, rates in self.rates.items():
            for name, rate in rates.items():
                self.total[place, name] = self.total.get((place, name), 0) + rate * passed

    def text(self):
        with self.lock:
            self.advance()
            lines = ["# HELP marked_total packets with an ECN mark", "# TYPE marked_total gauge"]
            for (switch, port), rates in self.rates.items():
                for name in rates:
                    lines.append(f'{name}{{switch="{switch}",port="{port}"}} {int(self.total[(switch, port), name])}')
            for (switch, port), depth in self.depths.items():
                lines.append(f'depth_bytes{{switch="{switch}",port="{port}"}} {depth}')
            return "\n".join(lines) + "\n"

    def serve(self, handler):
        body = self.text().encode()
        if self.fault is not None:
            self.fault(handler, body)
            return
        respond(handler, body)


def respond(handler, body, status=200, length=None):
    handler.send_response(status)
    handler.send_header("Content-Type", "text/plain; version=0.0.4")
    handler.send_header("Content-Length", str(len(body) if length is None else length))
    handler.end_headers()
    handler.wfile.write(body)
