"""Sources through the real aegisd, each against a real peer: what it makes of the values, and what it says of the source."""

import json
import subprocess
import urllib.error
import urllib.request

import pytest
from daemon import aegisd, ports, source
from peers import answers, free_port, wait_until
from test_promql import Exporter, prometheus

PORTS = ports("leaf1", "Ethernet0", "100Gbit")


def depth_metric(name):
    return [(name, "queue_depth", "snapshot", {"switch_label": "switch", "queue_label": "queue"})]


def depth(daemon):
    return daemon.links()["leaf1/Ethernet0"]["depth_bytes"]


def test_a_prometheus_server_is_read_and_its_death_is_told(tmp_path):
    exporter = Exporter()
    with prometheus(tmp_path, exporter.target) as (url, server), \
            aegisd(tmp_path, PORTS + source("promql", url, depth_metric("switch_queue_depth_bytes"))) as daemon:
        wait_until(lambda: depth(daemon) == 184320, "the depth that the server holds")
        state = daemon.source()
        assert (state["type"], state["state"], state["unmapped_series"]) == ("promql", "fresh", 0)
        server.kill()
        wait_until(lambda: daemon.source()["last_failure"], "the failure being told")
    exporter.shutdown()


def test_pushed_metrics_are_read_and_a_wrong_body_is_told(tmp_path):
    port = free_port()
    attributes = [{"key": key, "value": {"stringValue": value}} for key, value in
                  (("switch", "leaf1"), ("port", "Ethernet0"), ("queue", "3"))]
    body = json.dumps({"resourceMetrics": [{"scopeMetrics": [{"metrics": [
        {"name": "depth", "gauge": {"dataPoints": [{"attributes": attributes, "asDouble": 70001}]}}]}]}]}).encode()

    def push(sent):
        request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/metrics", sent, {"Content-Type": "application/json"})
        return urllib.request.urlopen(request, timeout=10).status

    with aegisd(tmp_path, PORTS + source("otlp", f"http://127.0.0.1:{port}", depth_metric("depth"))) as daemon:
        wait_until(lambda: answers(port), "the receiver listening")
        assert push(body) == 200
        wait_until(lambda: depth(daemon) == 70001, "the pushed depth")
        assert (daemon.source()["type"], daemon.source()["state"]) == ("otlp", "fresh")
        with pytest.raises(urllib.error.HTTPError, match="400"):
            push(b"<html>")
        wait_until(lambda: "not JSON" in (daemon.source()["last_failure"] or ""), "the refusal being told")


def test_what_the_opentelemetry_sdk_counts_is_what_aegisd_says_has_happened(tmp_path, sdk):
    port = free_port()
    labels = {"switch_label": "host.name", "port_label": "interface", "queue_label": "tc"}
    tables = ports("leaf-01", "swp1", "100Gbit") + source("otlp", f"http://127.0.0.1:{port}", [
        ("switch_packets", "packets", "counter", labels), ("switch_marked", "ecn_marked_packets", "counter", labels)])
    with aegisd(tmp_path, tables) as daemon:
        wait_until(lambda: answers(port), "the receiver listening")
        for encoding, temporality in (("json", "cumulative"), ("protobuf", "delta")):
            subprocess.run(["node", "otlp_client.cjs", encoding, f"http://127.0.0.1:{port}/v1/metrics", "gzip", temporality], cwd=sdk,
                           check=True, timeout=60)
        state = daemon.source()
        assert (state["failures"], state["state"], state["series"]) == (0, "fresh", 2)
        # it counts to 7 and to 12, marks stand at 41229 and at 41230; it begins anew the second time
        assert state["events"]["first"] == 2 and state["events"]["reset"] == 2
        sums = daemon.recorded("leaf-01/swp1")
        assert (sums["packets"], sums["marked"]) == (2 * 5, 2 * 1)
