"""Debian's node_exporter on a made-up sysfs: what its counters grew by is what aegisd says has happened, by whichever way it reads them."""

import contextlib

import pytest
from daemon import aegisd, ports, source
from peers import answers, free_port, need, running, wait_until
from test_promql import prometheus, victoria_metrics

COUNTERS = {"port_xmit_data": 237_159_415_345_822,  # words of 4 bytes: 9.48e14 bytes, beyond what a float of six digits would tell apart
            "port_xmit_packets": 101_733_204_203, "port_xmit_discards": 5, "port_xmit_wait": 3_846}
METRICS = [(f"node_infiniband_port_{name}_total", signal, "counter", {"switch_label": "device"}) for name, signal in (
    ("data_transmitted_bytes", "bytes"), ("packets_transmitted", "packets"), ("discards_transmitted", "drops"),
    ("transmit_wait", "transmit_wait"))]
LINK = "mlx5_0/1"


class Adapter:
    """/sys/class/infiniband of one adapter with one port."""

    def __init__(self, folder):
        self.sysfs = folder / "sys"
        device = self.sysfs / "class/infiniband/mlx5_0"
        self.counters = device / "ports/1/counters"
        self.counters.mkdir(parents=True)
        for name, text in {"board_id": "MT_0000000838", "fw_ver": "28.39.1002", "hca_type": "MT4129", "ports/1/rate": "200 Gb/sec (4X HDR)",
                           "ports/1/state": "4: ACTIVE", "ports/1/phys_state": "5: LinkUp"}.items():
            (device / name).write_text(text + "\n")
        self.values = {}
        self.set(COUNTERS)

    def set(self, values):
        self.values.update(values)
        for name, value in values.items():
            made = self.counters / f".{name}"
            made.write_text(f"{value}\n")
            made.rename(self.counters / name)

    def grow(self, **amounts):
        self.set({name: self.values[name] + amount for name, amount in amounts.items()})


@contextlib.contextmanager
def node_exporter(folder, adapter):
    port = free_port()
    with running([need("prometheus-node-exporter"), f"--web.listen-address=127.0.0.1:{port}", f"--path.sysfs={adapter.sysfs}",
                  "--collector.disable-defaults", "--collector.infiniband"], folder):
        wait_until(lambda: answers(port), "node_exporter listening")
        yield f"127.0.0.1:{port}"


@contextlib.contextmanager
def scraped(folder, target):
    yield "prometheus", f"http://{target}/metrics"


@contextlib.contextmanager
def asked(server, folder, target):
    with server(folder, target) as (url, _):
        yield "promql", url


WAYS = {"scraped": scraped, "through prometheus": lambda folder, target: asked(prometheus, folder, target),
        "through victoria-metrics": lambda folder, target: asked(victoria_metrics, folder, target)}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
def test_growth_is_exact_and_a_reset_is_no_traffic(tmp_path, way):
    adapter = Adapter(tmp_path)
    with node_exporter(tmp_path, adapter) as target, way(tmp_path, target) as (kind, url), \
            aegisd(tmp_path, ports("mlx5_0", "1", "200Gbit") + source(kind, url, METRICS)) as daemon:
        events = lambda: daemon.source()["events"]

        def read_twice():
            before = events()["advanced"]
            # a PromQL server scrapes once a second, and a reading that is no newer is none
            wait_until(lambda: events()["advanced"] >= before + 3 * len(METRICS), "all counters being read again")

        wait_until(lambda: daemon.source()["series"] == len(METRICS), "all counters being there")
        read_twice()
        assert daemon.source()["state"] == "fresh"
        adapter.grow(port_xmit_data=250_000_007, port_xmit_packets=1_000_003, port_xmit_discards=11, port_xmit_wait=13)
        wait_until(lambda: daemon.links()[LINK]["load"] > 0, "the traffic being seen")
        read_twice()
        assert daemon.links()[LINK]["load"] < 1.05
        adapter.set({name: 0 for name in COUNTERS})
        wait_until(lambda: events()["reset"] == len(METRICS), "the reset of each counter being seen")
        adapter.grow(port_xmit_data=25_000_000, port_xmit_packets=70, port_xmit_discards=1, port_xmit_wait=2)
        read_twice()
        state = daemon.source()
        assert (state["failures"], state["refused_samples"], state["events"]["implausible"]) == (0, 0, 0)
        sums = daemon.recorded(LINK)
    assert sums == {"bytes": 4 * (250_000_007 + 25_000_000), "packets": 1_000_003 + 70, "marked": None, "drops": 11 + 1, "pauses": None,
                    "waits": 13 + 2}
