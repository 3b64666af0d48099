"""What reading Prometheus text costs, from bytes to the pressure of links: bench/ingest_bench.cpp, told as rows.

1,024 switches with 64 ports of 8 queues and 4 signals each, all scraped once a round. The baseline reads the same text the plain
way, into a map of names to values; it makes no pressure. Bytes are those of the heap for all that aegisd keeps of the
series, their links included; with history, every link is one between leaf and spine and keeps ten minutes of seconds.

Where Debian's prometheus is installed, its own CPU time for scraping such exporters is a row as well: samples for a second of one
core. It fetches them over HTTP as well, and stores them; we, here, do neither.

Where redis-server is installed, the time of one poll of a SONiC switch with 64 ports of 8 queues over a Unix socket is a row:
from the first byte asked to the last reading, in a process of its own.
"""
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from results import BUILD, SOURCE, Row, make, note, parser, quantile, show

SWITCHES, PORTS, QUEUES, ROUNDS = 1024, 64, 8, 7


SONIC_POLLS, SONIC_LIMIT_MS = 200, 15
PEER_TARGETS, PEER_WARM_S, PEER_S = 40, 6, 20
METRICS = ("sonic_queue_packets_total", "sonic_queue_bytes_total", "sonic_queue_ecn_marked_packets_total", "sonic_queue_watermark_bytes")


def body(switch, turn):
    """As write_text() of the program writes it."""
    lines = []
    for number, metric in enumerate(METRICS):
        lines.append(f"# HELP {metric} Counter of a queue\n# TYPE {metric} counter")
        lines += [f'{metric}{{switch="leaf{switch:04}",device="Ethernet{4 * port}",queue="{queue}"}} '
                  f"{(9_000_000_000_000 >> 10 * number) + 1_000_000 * port + 1_000 * queue + 250_000 * turn}"
                  for port in range(PORTS) for queue in range(QUEUES)]
    return ("\n".join(lines) + "\n").encode()


class Exporters(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    bodies = {}
    scrapes = 0

    def do_GET(self):
        Exporters.scrapes += 1
        answer = self.bodies[int(self.path.strip("/")), Exporters.scrapes // PEER_TARGETS % 4]
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


def cpu_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def prometheus_samples_per_s():
    """Samples Prometheus scrapes for each second of CPU time; nothing where it is not installed."""
    program = shutil.which("prometheus")
    if not program:
        note("prometheus is not installed: no peer")
        return None
    Exporters.bodies = {(switch, turn): body(switch, turn) for switch in range(PEER_TARGETS) for turn in range(4)}
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Exporters)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # Prometheus ends without closing its connections
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        jobs = "".join(f"  - {{job_name: s{number}, metrics_path: /{number}, static_configs: [{{targets: ['127.0.0.1:{server.server_port}']}}]}}\n"
                       for number in range(PEER_TARGETS))
        (Path(folder) / "p.yml").write_text(f"global: {{scrape_interval: 1s, scrape_timeout: 1s}}\nscrape_configs:\n{jobs}")
        peer = subprocess.Popen([program, f"--config.file={folder}/p.yml", f"--storage.tsdb.path={folder}/data", "--web.listen-address=127.0.0.1:0"],
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                env={**os.environ, "GOMAXPROCS": "1"})
        try:
            time.sleep(PEER_WARM_S)
            scrapes, cpu = Exporters.scrapes, cpu_seconds(peer.pid)
            time.sleep(PEER_S)
            scrapes, cpu = Exporters.scrapes - scrapes, cpu_seconds(peer.pid) - cpu
        finally:
            peer.terminate()
            peer.wait(20)
            server.shutdown()
    if scrapes < PEER_TARGETS:
        raise SystemExit("prometheus did not scrape")
    return scrapes * PORTS * QUEUES * len(METRICS) / cpu


def sonic_rows():
    """Median and p99 of a poll, in ms, against the limit we set ourselves; nothing where there is no redis-server."""
    if not shutil.which("redis-server"):
        note("redis-server is not installed: no SONiC switch")
        return []
    sys.path.insert(0, str(SOURCE / "tests" / "telemetry"))
    from peers import Redis, polls
    from test_sonic_redis import switch
    make("tests/telemetry/print_source")
    with tempfile.TemporaryDirectory() as folder:
        redis = Redis(pathlib.Path(folder))
        with redis.up():
            redis.load(2, switch(PORTS, QUEUES))
            batches = polls("sonic-redis", redis.url, SONIC_POLLS + 1, 20)[1:]  # the first one connects
    readings = PORTS * (10 + 4 * QUEUES)
    if any(batch["failure"] or len(batch["readings"]) != readings for batch in batches):
        raise SystemExit("a poll did not bring all readings")
    took = [batch["poll_ms"] for batch in batches]
    return [Row(f"sonic_poll_{name}", quantile(took, share), "ms", SONIC_POLLS, SONIC_LIMIT_MS) for name, share in (("p50", .5), ("p99", .99))]


def main():
    options = parser(__doc__.splitlines()[0]).parse_args()
    shape = [str(number) for number in (SWITCHES, PORTS, QUEUES, ROUNDS)]
    done = subprocess.run([make("bench/ingest_bench"), *shape], stdin=subprocess.DEVNULL, check=True,
                          stdout=subprocess.PIPE, text=True, cwd=BUILD)
    rows = [Row(**json.loads(line)) for line in done.stdout.splitlines()]
    if peer := prometheus_samples_per_s():
        rows.insert(1, Row("ingest_against_prometheus", rows[0].value, "1/s", rows[0].n, peer))
    rows += sonic_rows()
    show(rows, options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
