"""Exporters, well and ill: what is believed, what is told, and that Slurm's answers do not care."""

import gzip
import pathlib
import shutil
import subprocess
import threading
import time

import pytest

import wire
from harness import Aegisd, Exporter, Plugin, respond, wait_for


def http_500(handler, body):
    respond(handler, b"oops\n", status=500)


def redirect(handler, body):
    respond(handler, b"", status=302)


def hang(handler, body):
    time.sleep(2)


def hang_in_the_body(handler, body):
    respond(handler, body[: len(body) // 2], length=len(body))
    time.sleep(2)


def half_a_body(handler, body):
    respond(handler, body[: len(body) // 2], length=len(body))
    handler.close_connection = True


def a_byte_at_a_time(handler, body):
    respond(handler, b"", length=len(body))
    for byte in body:
        handler.wfile.write(bytes([byte]))
        time.sleep(0.05)


def huge_announced(handler, body):
    respond(handler, b"", length=100 << 20)
    chunk = b'marked_total{switch="sw1",port="swp1"} 1\n' * 1000
    for _ in range((100 << 20) // len(chunk)):
        handler.wfile.write(chunk)


def huge_in_chunks(handler, body):
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    chunk = b'other_total{switch="sw1",port="swp1"} 1\n' * 1000
    for _ in range((100 << 20) // len(chunk)):
        handler.wfile.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")


def huge_without_newline(handler, body):
    respond(handler, b"x" * (1 << 20))


def html(handler, body):
    respond(handler, b"# fine so far\n<!DOCTYPE html>\n<html><body>Login required</body></html>\n")


def not_http(handler, body):
    handler.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n")
    handler.close_connection = True


def endless_header(handler, body):
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n" + b"X-Filler: " + b"y" * (200 << 10) + b"\r\n\r\n")


def compressed(handler, body):
    data = gzip.compress(body)
    handler.send_response(200)
    handler.send_header("Content-Encoding", "gzip")
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data)


FAULTS = {
    "HTTP 500": (http_500, "HTTP 500"),
    "a redirect": (redirect, "HTTP 302"),
    "hang": (hang, "within 150 ms"),
    "hang in the body": (hang_in_the_body, "within 150 ms"),
    "half a body": (half_a_body, "before the answer was complete"),
    "a byte at a time": (a_byte_at_a_time, "within 150 ms"),
    "100 MB announced": (huge_announced, "over the limit"),
    "a line of 1 MB": (huge_without_newline, "not Prometheus text"),
    "HTML": (html, "line 2"),
    "no HTTP": (not_http, "not a valid HTTP answer"),
    "an endless header": (endless_header, "not a valid HTTP answer"),
    "gzip unasked": (compressed, "not Prometheus text"),
}


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """One daemon and one exporter for all faults; each test ends with the exporter well again."""
    exporter = Exporter()
    exporter.heat("sw1")
    exporter.cool("sw2")
    daemon = Aegisd(tmp_path_factory.mktemp("sources"), mode="steer", sources=[("exporter", exporter.url)]).start()
    plugin = Plugin(daemon.select_socket)
    yield daemon, exporter, plugin
    plugin.close()
    exporter.stop()
    assert daemon.stop() == 0
    assert "Sanitizer" not in daemon.log() and "runtime error" not in daemon.log()


def fresh(daemon):
    source = daemon.source()
    return source["state"] == "fresh" and source["age_ms"] < 1000 and daemon.leaf("tor1")["pressure"] > 0.8


@pytest.mark.parametrize("fault, told", FAULTS.values(), ids=FAULTS.keys())
def test_a_failing_exporter_is_told_in_words_and_answers_go_on(shared, fault, told):
    daemon, exporter, plugin = shared
    wait_for("the source is well", lambda: fresh(daemon))
    before, memory = daemon.source(), daemon.resident_kib()
    exporter.fault = fault
    try:
        failed = wait_for("the failure is told", lambda: (lambda s: s if s["failures"] > before["failures"] + 1 else None)(
            daemon.source()))
        assert told in failed["last_failure"], failed["last_failure"]
        assert failed["last_failure_us"] > 0
        latencies = time_asks(plugin, 200)
        assert latencies[int(0.99 * len(latencies))] < 0.050, latencies[-5:]
        # within its limits, the exporter's last good word fades
        wait_for("the source is dark", lambda: daemon.source()["state"] == "dark")
        wait_for("its leaf is not believed", lambda: daemon.leaf("tor1")["confidence"] == 0)
        assert plugin.ask({0, 1})["verdict"] == wire.KEEP
        assert daemon.resident_kib() - memory < 32 << 10
    finally:
        exporter.fault = None
    wait_for("the source is well again", lambda: fresh(daemon))
    wait_for("and steers again", lambda: plugin.ask({0, 1})["verdict"] == wire.PLANS)


def time_asks(plugin, count):
    times = []
    for _ in range(count):
        start = time.perf_counter()
        plugin.ask({0, 1})
        times.append(time.perf_counter() - start)
    return sorted(times)


def test_a_body_of_100_mb_in_chunks_is_refused_and_not_kept(make_aegisd, exporter):
    text = [("exporter", exporter.url)]
    daemon = make_aegisd(sources=text)
    config = daemon.config_file.read_text().replace('timeout = "150ms"', 'timeout = "5s"\nbody_limit = "8MiB"')
    daemon.config_file.write_text(config.replace('interval = "200ms"', 'interval = "6s"'))
    exporter.fault = huge_in_chunks
    daemon.start()
    failed = wait_for("the failure is told", lambda: daemon.source()["last_failure"], timeout=20)
    assert "over the limit of 8388608 bytes" in failed
    assert daemon.resident_kib() < 200 << 10


def test_a_dead_exporter_is_told_and_its_pressure_fades(shared):
    daemon, exporter, plugin = shared
    wait_for("the source is well", lambda: fresh(daemon))
    exporter.stop()
    try:
        states = []

        def is_dark():
            state = daemon.source()["state"]
            if not states or states[-1] != state:
                states.append(state)
            return state == "dark"

        wait_for("the source is dark", is_dark)
        assert states[-3:] in (["lagged", "stale", "dark"], ["fresh", "lagged", "stale", "dark"][-3:])
        assert "refused" in daemon.source()["last_failure"]
        leaf = wait_for("the leaf is dark", lambda: (lambda l: l if l["freshness"] == "dark" else None)(daemon.leaf("tor1")))
        assert leaf["confidence"] == 0 and leaf["age_ms"] > 2000
        assert plugin.ask({0, 1})["verdict"] == wire.KEEP
    finally:
        exporter.listen()
    wait_for("the source is well again", lambda: fresh(daemon))


@pytest.mark.parametrize("value", ["NaN", "-5", "+Inf", "-Inf", "-0.001"])
def test_an_impossible_value_is_refused_and_counted_and_the_rest_is_read(shared, value):
    daemon, exporter, _ = shared
    wait_for("the source is well", lambda: fresh(daemon))
    before = daemon.source()

    def impossible(handler, body):
        lines = body.decode().splitlines()
        lines = [f"{line.rpartition(' ')[0]} {value}" if line.startswith("packets_total{switch=\"sw2\"") else line for line in lines]
        respond(handler, ("\n".join(lines) + "\n").encode())

    exporter.fault = impossible
    try:
        after = wait_for("samples are refused", lambda: (lambda s: s if s["refused_samples"] > before["refused_samples"] else None)(
            daemon.source()))
        assert after["failures"] == before["failures"] and after["state"] == "fresh"
        assert daemon.leaf("tor1")["pressure"] > 0.8
    finally:
        exporter.fault = None


def test_a_sample_from_the_future_is_refused(shared):
    daemon, exporter, _ = shared
    wait_for("the source is well", lambda: fresh(daemon))
    before = daemon.source()["refused_samples"]
    exporter.fault = lambda handler, body: respond(
        handler, f'depth_bytes{{switch="sw2",port="swp1"}} 300000 {int(time.time() * 1000) + 3600_000}\n'.encode())
    try:
        wait_for("it is refused", lambda: daemon.source()["refused_samples"] > before)
        assert daemon.leaf("tor2")["links"][0]["depth_bytes"] != 300000
    finally:
        exporter.fault = None


def test_the_time_of_a_sample_is_its_age(shared):
    daemon, exporter, _ = shared
    wait_for("the source is well", lambda: fresh(daemon))
    stamp = int(time.time() * 1000)
    exporter.fault = lambda handler, body: respond(
        handler, "".join(f"{line} {stamp}\n" for line in body.decode().splitlines() if not line.startswith("#")).encode())
    try:
        polls = daemon.source()["polls"]
        dark = wait_for("scrapes succeed and the data is old all the same",
                        lambda: (lambda s: s if s["state"] == "dark" else None)(daemon.source()))
        assert dark["polls"] > polls + 5
        assert dark["events"]["duplicate"] > 0
    finally:
        exporter.fault = None
    wait_for("the source is well again", lambda: fresh(daemon))


def test_a_counter_reset_is_no_traffic(shared):
    daemon, exporter, _ = shared
    wait_for("the source is well", lambda: fresh(daemon))
    resets = daemon.source()["events"]["reset"]
    with exporter.lock:
        exporter.total.clear()
    wait_for("the reset is seen", lambda: daemon.source()["events"]["reset"] > resets)
    assert daemon.leaf("tor2")["links"][0]["load"] < 0.2
    wait_for("the source is well again", lambda: fresh(daemon))


def test_ports_that_no_table_maps_are_counted_and_named(shared):
    daemon, exporter, _ = shared
    exporter.cool("sw9", "swp77")
    wait_for("it is named", lambda: "sw9/swp77" in daemon.control("fabric")["unmapped_ports"])
    source = daemon.source()
    assert source["unmapped_series"] == 4 and source["series"] == 12
    assert daemon.status()["fabric"]["unmapped_ports"] == 1
    assert "sw9/swp77" in daemon.log()


def test_pressure_rises_with_marks_and_falls_without(make_aegisd, exporter):
    daemon = make_aegisd(sources=[("exporter", exporter.url)]).start()
    exporter.set("sw1", marked=0, packets=1e6, bytes=1e8)
    wait_for("tor1 is measured", lambda: daemon.leaf("tor1")["worst_link"] == "sw1/swp1")
    assert daemon.leaf("tor1")["pressure"] < 0.05
    exporter.set("sw1", marked=5e4, packets=1e6, bytes=1e8)
    link = wait_for("tor1 is marked", lambda: (lambda l: l if l["pressure"] > 0.35 else None)(daemon.leaf("tor1")))["links"][0]
    assert 0.01 < link["mark_rate"] <= 0.051
    exporter.set("sw1", marked=0, packets=1e6, bytes=1e8)
    wait_for("it falls again", lambda: daemon.leaf("tor1")["pressure"] < 0.15, timeout=20)


def test_the_same_connection_serves_many_scrapes(make_aegisd, exporter):
    daemon = make_aegisd(sources=[("exporter", exporter.url)]).start()
    wait_for("ten scrapes", lambda: daemon.source()["polls"] >= 10)
    assert len(exporter.connections) == 1 and daemon.source()["failures"] == 0


def test_an_exporter_that_closes_after_every_answer_does_not_fail(make_aegisd, exporter):
    def closing(handler, body):
        respond(handler, body)
        handler.close_connection = True  # without having said so

    exporter.fault = closing
    daemon = make_aegisd(sources=[("exporter", exporter.url)]).start()
    wait_for("ten scrapes", lambda: daemon.source()["polls"] >= 10)
    assert daemon.source()["failures"] == 0 and daemon.source()["state"] == "fresh"


def test_one_hanging_source_does_not_delay_another(make_aegisd, exporter):
    other = Exporter()
    other.fault = hang
    try:
        daemon = make_aegisd(sources=[("exporter", exporter.url), ("slow", other.url)]).start()
        wait_for("twenty scrapes", lambda: daemon.source()["polls"] >= 20)
        assert daemon.source()["failures"] == 0
        assert daemon.source("slow")["failures"] > 0 and daemon.source("slow")["state"] == "dark"
    finally:
        other.stop()


def test_a_real_node_exporter_is_read(make_aegisd, tmp_path):
    program = shutil.which("prometheus-node-exporter")
    if not program:
        pytest.skip("prometheus-node-exporter is not installed")
    textfiles = tmp_path / "textfiles"
    textfiles.mkdir()
    stop = threading.Event()
    total = 0

    def write():
        nonlocal total
        total += 50_000
        text = "".join(f'{name}{{switch="sw1",port="swp1"}} {value}\n' for name, value in (
            ("marked_total", total // 10), ("packets_total", total), ("bytes_total", total * 1500), ("depth_bytes", 250_000)))
        (textfiles / "switch.tmp").write_text(text)
        (textfiles / "switch.tmp").rename(textfiles / "switch.prom")

    def run():
        while not stop.wait(0.1):
            write()

    write()
    port = free_port()
    process = subprocess.Popen([program, f"--web.listen-address=127.0.0.1:{port}", "--collector.disable-defaults",
                                "--collector.textfile", f"--collector.textfile.directory={textfiles}"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    writer = threading.Thread(target=run)
    writer.start()
    try:
        daemon = make_aegisd(sources=[("exporter", f"http://127.0.0.1:{port}/metrics")]).start()
        leaf = wait_for("its marks are pressure", lambda: (lambda l: l if l["pressure"] > 0.8 else None)(daemon.leaf("tor1")), 20)
        assert leaf["links"][0]["depth_bytes"] == 250_000
        assert leaf["links"][0]["mark_rate"] == pytest.approx(0.1, abs=0.02)
        assert daemon.source()["series"] == 4
    finally:
        stop.set()
        writer.join()
        process.terminate()
        process.wait()


def free_port():
    import socket
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]
