"""Sources through the real aegisd, each against a real peer: what it makes of the values, and what it says of the source."""

import contextlib
import json
import subprocess
import urllib.error
import urllib.request

import pytest
from peers import BUILD, answers, free_port, running, wait_until
from test_promql import Exporter, prometheus

AEGISD, AEGISCTL = BUILD / "aegisd/aegisd", BUILD / "aegisctl/aegisctl"
CONFIG = """
initial_mode = "observe"
[select]
socket = "{run}/select.socket"
[control]
socket = "{run}/control.socket"
[fabric]
topology = "{run}/topology.conf"
[store]
directory = "{run}"
[[ports]]
switch = "leaf1"
ports = "Ethernet0"
rate = "100Gbit"
[[source]]
name = "peer"
type = "{type}"
url = "{url}"
interval = "500ms"
[[source.metric]]
name = "{metric}"
signal = "queue_depth"
kind = "snapshot"
switch_label = "switch"
queue_label = "queue"
"""


@contextlib.contextmanager
def aegisd(folder, kind, url, metric="switch_queue_depth_bytes"):
    """Yields a function that asks for one command's result."""
    (folder / "topology.conf").write_text("SwitchName=leaf1 Nodes=n[1-4]\n")
    config = folder / "aegisd.toml"
    config.write_text(CONFIG.format(run=folder, type=kind, url=url, metric=metric))

    def ask(*words):
        done = subprocess.run([AEGISCTL, "--socket", folder / "control.socket", *words, "--json"], capture_output=True, text=True)
        return json.loads(done.stdout) if done.returncode == 0 else None

    with running([AEGISD, "--config", config], folder):
        wait_until(lambda: ask("status"), "aegisd answering")
        yield ask


def source(ask):
    (state,) = ask("status")["sources"]
    return state


def depth(ask):
    return [link["depth_bytes"] for leaf in ask("fabric", "show")["leaves"] for link in leaf["links"]]


def test_a_prometheus_server_is_read_and_its_death_is_told(tmp_path):
    exporter = Exporter()
    with prometheus(tmp_path, exporter.target) as (url, server), aegisd(tmp_path, "promql", url) as ask:
        wait_until(lambda: depth(ask) == [184320], "the depth that the server holds")
        state = source(ask)
        assert (state["type"], state["state"], state["unmapped_series"]) == ("promql", "fresh", 0)
        server.kill()
        wait_until(lambda: source(ask)["last_failure"], "the failure being told")
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

    with aegisd(tmp_path, "otlp", f"http://127.0.0.1:{port}", "depth") as ask:
        wait_until(lambda: answers(port), "the receiver listening")
        assert push(body) == 200
        wait_until(lambda: depth(ask) == [70001], "the pushed depth")
        assert (source(ask)["type"], source(ask)["state"]) == ("otlp", "fresh")
        with pytest.raises(urllib.error.HTTPError, match="400"):
            push(b"<html>")
        wait_until(lambda: "not JSON" in (source(ask)["last_failure"] or ""), "the refusal being told")
