"""A tiny HTTP exporter whose switch counters a test drives: one counter set for each uplink of each leaf.

It drives numbers and nothing else: it says what load a link has, and its counters grow at that rate in real time.

    fabric_port_packets_total{switch,port}      fabric_port_bytes_total{switch,port}
    fabric_port_ecn_marked_total{switch,port}   fabric_port_queue_bytes{switch,port}
"""
import dataclasses
import http.server
import threading
import time

RATE_BPS = 100e9        # line rate of every uplink
PACKET_BYTES = 1000
UPLINKS = ("up1", "up2")


@dataclasses.dataclass
class Load:
    """What a leaf's uplinks carry: share of the line rate, share of packets marked, depth of the queue."""
    share: float = 0.05
    mark_rate: float = 0.0
    depth_bytes: float = 0.0


IDLE = Load()
HOT = Load(share=0.97, mark_rate=0.20, depth_bytes=400_000)


def load_of(level):
    """Level 0 (idle) to 1 (hot), all three signals together."""
    return Load(share=0.05 + 0.92 * level, mark_rate=0.20 * level * level, depth_bytes=400_000 * level)


class SwitchCounters:
    """The counters of the leaves' uplinks: each leaf is a switch "sw-LEAF" with ports up1 and up2."""

    def __init__(self, leaves):
        self._lock = threading.Lock()
        self._load = {leaf: IDLE for leaf in leaves}
        self._counted = {leaf: [0.0, 0.0, 0.0] for leaf in leaves}  # packets, bytes, marked
        self._at = time.monotonic()

    @staticmethod
    def switch(leaf):
        return f"sw-{leaf}"

    def set(self, leaf, load):
        with self._lock:
            self._advance()
            self._load[leaf] = load

    def only_hot(self, *leaves):
        """These leaves are hot, all others idle."""
        for leaf in list(self._load):
            self.set(leaf, HOT if leaf in leaves else IDLE)

    def text(self):
        with self._lock:
            self._advance()
            lines = []
            for name, kind, value in (("packets_total", "counter", lambda leaf: self._counted[leaf][0]),
                                      ("bytes_total", "counter", lambda leaf: self._counted[leaf][1]),
                                      ("ecn_marked_total", "counter", lambda leaf: self._counted[leaf][2]),
                                      ("queue_bytes", "gauge", lambda leaf: self._load[leaf].depth_bytes)):
                lines.append(f"# TYPE fabric_port_{name} {kind}")
                lines += [f'fabric_port_{name}{{switch="{self.switch(leaf)}",port="{port}"}} {value(leaf):.0f}'
                          for leaf in self._load for port in UPLINKS]
            return "\n".join(lines) + "\n"

    def _advance(self):
        now = time.monotonic()
        seconds, self._at = now - self._at, now
        for leaf, load in self._load.items():
            transferred = load.share * RATE_BPS / 8 * seconds
            counted = self._counted[leaf]
            counted[0] += transferred / PACKET_BYTES
            counted[1] += transferred
            counted[2] += transferred / PACKET_BYTES * load.mark_rate


class Exporter(SwitchCounters):
    """The counters over HTTP."""

    def __init__(self, leaves):
        super().__init__(leaves)
        self.answering = True  # False: every scrape gets a 503
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self):
        return f"http://127.0.0.1:{self._server.server_address[1]}/metrics"

    def _handler(self):
        exporter = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):  # noqa: N802, the name http.server looks for
                body = exporter.text().encode() if exporter.answering else b"not now\n"
                try:
                    self.send_response(200 if exporter.answering else 503)
                    self.send_header("Content-Type", "text/plain; version=0.0.4")
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except OSError:  # aegisd ended, or did not want to wait any longer
                    self.close_connection = True

            def log_message(self, *_):
                pass

        return Handler
