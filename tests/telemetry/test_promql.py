"""PromQL through Debian's prometheus and victoria-metrics: values and their true ages, of an exporter of our own."""

import contextlib
import http.server
import json
import socket
import threading
import time
import urllib.parse
import urllib.request

import pytest
from peers import Printed, answers, free_port, need, polls, running, shared, values, wait_until

MAPPINGS = ["switch_port_bytes_total,bytes,counter,switch,port,", "switch_queue_depth_bytes,queue_depth,snapshot,switch,port,queue"]
BYTES = ("leaf1", "Ethernet0", None, "bytes", "counter")
DEPTH = ("leaf1", "Ethernet0", 3, "queue_depth", "snapshot")


class Exporter(http.server.ThreadingHTTPServer):
    """A /metrics page whose numbers the test sets."""

    def __init__(self):
        self.values = {'switch_port_bytes_total{switch="leaf1",port="Ethernet0"}': 1000,
                       'switch_queue_depth_bytes{switch="leaf1",port="Ethernet0",queue="3"}': 184320}
        self.served = 0
        exporter = self

        class Page(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                body = "".join(f"{name} {value}\n" for name, value in exporter.values.items()).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
                exporter.served += 1

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Page)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def target(self):
        return f"127.0.0.1:{self.server_address[1]}"


@contextlib.contextmanager
def prometheus(folder, target):
    port = free_port()
    config = folder / "prometheus.yml"
    config.write_text(json.dumps({"global": {"scrape_interval": "1s"},
                                  "scrape_configs": [{"job_name": "switches", "static_configs": [{"targets": [target]}]}]}))
    with running([need("prometheus"), f"--config.file={config}", f"--storage.tsdb.path={folder}/data",
                  f"--web.listen-address=127.0.0.1:{port}"], folder) as process:
        wait_until(lambda: answers(port), "prometheus listening")
        yield f"http://127.0.0.1:{port}", process


@contextlib.contextmanager
def victoria_metrics(folder, target):
    port = free_port()
    config = folder / "scrape.yml"
    config.write_text(json.dumps({"global": {"scrape_interval": "1s"},
                                  "scrape_configs": [{"job_name": "switches", "static_configs": [{"targets": [target]}]}]}))
    with running([need("victoria-metrics"), f"-promscrape.config={config}", f"-storageDataPath={folder}/data",
                  f"-httpListenAddr=127.0.0.1:{port}", "-search.latencyOffset=1s"], folder) as process:
        wait_until(lambda: answers(port), "victoria-metrics listening")
        yield f"http://127.0.0.1:{port}", process


@pytest.fixture
def exporter():
    server = Exporter()
    yield server
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("server", [prometheus, victoria_metrics], ids=["prometheus", "victoria-metrics"])
def test_values_are_those_of_the_exporter_and_no_younger_than_their_scrape(tmp_path, exporter, server):
    with server(tmp_path, exporter.target) as (url, _):
        with Printed("promql", url, 100000, 200, *MAPPINGS) as source:
            batch = source.batch_when(lambda b: len(b["readings"]) == 2, "both series are there", tries=300)
            assert batch["failure"] is None and batch["refused"] == 0
            assert values(batch, source.series) == {BYTES: 1000, DEPTH: 184320}
            exporter.values = {name: value + 7 for name, value in exporter.values.items()}
            changed_us = time.time() * 1e6
            batch = source.batch_when(lambda b: values(b, source.series).get(BYTES) == 1007, "the new value is there", tries=300)
            for _, value, time_us in batch["readings"]:
                assert value in (1007, 184327)
                assert changed_us - 1000 <= time_us <= batch["polled_at_us"]


def test_what_is_only_remembered_is_seen_to_be_old(tmp_path, exporter):
    with prometheus(tmp_path, exporter.target) as (url, _):
        with Printed("promql", url, 100000, 200, *MAPPINGS) as source:
            source.batch_when(lambda b: len(b["readings"]) == 2, "both series are there", tries=300)
            # A metric that is served from memory with its own timestamp: the server answers with it as if it were current.
            old_ms = int((time.time() - 120) * 1000)
            exporter.values = {'switch_port_bytes_total{switch="leaf2",port="Ethernet0"}': f"5 {old_ms}"}
            batch = source.batch_when(lambda b: ("leaf2", "Ethernet0", None, "bytes", "counter") in values(b, source.series),
                                      "the old value is there", tries=300)
            times = {source.series[i]["switch"]: time_us for i, _, time_us in batch["readings"]}
            assert times["leaf2"] == old_ms * 1000


def test_a_server_that_goes_away_or_refuses_is_a_failure_in_words(tmp_path, exporter):
    with prometheus(tmp_path, exporter.target) as (url, process):
        with Printed("promql", url, 100000, 100, "switch{,bytes,counter,switch,port,") as source:
            source.batch_when(lambda b: b["failure"] and "HTTP 400, bad_data" in b["failure"], "the query is refused")
        with Printed("promql", url, 100000, 100, *MAPPINGS) as source:
            source.batch_when(lambda b: len(b["readings"]) == 2, "both series are there", tries=300)
            process.kill()
            process.wait()
            failed = source.batch_when(lambda b: b["failure"], "the server is gone")
            assert failed["readings"] == []


def test_tenant_and_authorization_are_sent_and_the_path_is_kept(exporter):
    seen = {}

    class Mimir(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            seen["path"], seen["tenant"], seen["authorization"] = self.path, self.headers["X-Scope-OrgID"], self.headers["Authorization"]
            body = b'{"status":"success","data":{"resultType":"vector","result":[]}}'
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Mimir) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        (batch,) = polls("promql", f"http://127.0.0.1:{server.server_address[1]}/prometheus/", 1, 100, "tenant=hpc",
                         "authorization=Bearer abc", MAPPINGS[0])
        server.shutdown()
    assert batch["failure"] is None and batch["readings"] == []
    path, query = seen["path"].split("?")
    assert path == "/prometheus/api/v1/query"
    assert urllib.parse.parse_qs(query)["query"] == ["switch_port_bytes_total"]
    assert seen["tenant"] == "hpc" and seen["authorization"] == "Bearer abc"


def test_every_recorded_answer_is_read_or_refused():
    """The answers of a real server, served again: what a query is answered with decides, not what was asked."""
    recorded = json.loads(shared("prometheus", "promql-responses.json").read_text())
    answer = {}

    class Server(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.0"

        def do_GET(self):
            query = urllib.parse.parse_qs(self.path.split("?")[1])["query"][0]
            body = json.dumps(answer["now"]).encode()
            if query.startswith("timestamp("):
                body = body.replace(b'"4294967295"', b'"1796096950.5"')
            self.send_response(400 if answer["now"]["status"] == "error" else 200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    outcome = {}
    with http.server.HTTPServer(("127.0.0.1", 0), Server) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for name, answer["now"] in recorded.items():
            (batch,) = polls("promql", f"http://127.0.0.1:{server.server_address[1]}", 1, 100,
                             "node_infiniband_port_transmit_wait_total,transmit_wait,counter,instance,port,")
            outcome[name] = batch
            print(f"\n{name}: " + (f"refused: {batch['failure']}" if batch["failure"] else
                                   f"{len(batch['readings'])} read, {batch['refused']} refused"), end="")
        server.shutdown()
    in_future = 1796096950500000 > outcome["counter"]["polled_at_us"] + 5e6
    assert outcome["counter"]["readings"] == ([] if in_future else [[0, 4294967295, 1796096950500000]])
    assert outcome["counter"]["announced"][0]["switch"] == "127.0.0.1:19100"
    assert "a matrix" in outcome["matrix"]["failure"]
    assert "bad_data" in outcome["error"]["failure"]
    for name in ("p99 with NaN", "empty", "scalar", "inf"):
        assert outcome[name]["failure"] is None and outcome[name]["readings"] == []
