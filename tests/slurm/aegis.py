"""aegisd from an install tree, in a temporary folder, and the plugin directory to go with it.

    with Exporter(shape.leaf_names()) as exporter, Aegis(shape, url=exporter.url, mode="steer") as aegis:
        with Cluster(plugin_dirs=(aegis.plugin_dir,), env=aegis.slurmctld_env(), ...) as slurm:
            aegis.wait_connected()

AEGIS_STAGE names the install tree; default build/stage beside the tests. aegisd need not run: start=False, stop(), kill().
"""
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile

import slurm_conf
from exporter import RATE_BPS, UPLINKS, Exporter
from process import Daemon
from waiting import wait_for

STAGE = os.environ.get("AEGIS_STAGE") or os.path.join(
    os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "build", "stage")
AEGISD = os.path.join(STAGE, "sbin", "aegisd")
AEGISCTL = os.path.join(STAGE, "bin", "aegisctl")
PLUGIN_DIR = os.path.join(STAGE, "lib", "aegis", "slurm")


def missing():
    """Which part of the install tree is not there, or None."""
    for path in (AEGISD, AEGISCTL, os.path.join(PLUGIN_DIR, "select_cons_tres.so")):
        if not os.path.exists(path):
            return path
    return None


class ControlError(AssertionError):
    """aegisd answered {"ok": false}."""


def aegisd_toml(directory, shape, url, settings, metrics=None, poll="200ms"):
    """Averages as fast as the settings allow: tests should not wait a minute for a leaf to cool down."""
    values = {
        "initial_mode": "observe",
        "select.socket": f"{directory}/select.socket", "select.slurm_user": "root",
        "control.socket": f"{directory}/control.socket",
        "fabric.topology": f"{directory}/topology.conf",
        "pressure.fast": "1s", "pressure.slow": "5s",
        "store.directory": f"{directory}/store",
        **settings,
    }
    lines, section = [], None
    for key in sorted(values, key=lambda name: ("." in name, name)):
        table, _, name = key.rpartition(".")
        if table and table != section:
            lines.append(f"\n[{table}]")
            section = table
        value = values[key]
        lines.append(f"{name} = {json.dumps(value) if isinstance(value, str) else value}")
    for leaf in shape.leaf_names():
        lines.append(f'\n[[ports]]\nswitch = "{Exporter.switch(leaf)}"\nports = {json.dumps(list(UPLINKS))}\nleaf = "{leaf}"\n'
                     f'rate = "{RATE_BPS / 1e9:g}Gbit"')
    if url:
        lines.append(f'\n[[source]]\nname = "fabric"\ntype = "prometheus"\nurl = "{url}"\ninterval = "{poll}"')
        for name, signal, kind in metrics or (("fabric_port_packets_total", "packets", "counter"),
                                              ("fabric_port_bytes_total", "bytes", "counter"),
                                              ("fabric_port_ecn_marked_total", "ecn_marked_packets", "counter"),
                                              ("fabric_port_queue_bytes", "queue_depth", "snapshot")):
            lines.append(f'\n[[source.metric]]\nname = "{name}"\nsignal = "{signal}"\nkind = "{kind}"\nswitch_label = "switch"')
    return "\n".join(lines) + "\n"


class Aegis:
    """`mode` is set once aegisd is up; `settings` are dotted keys of aegisd.toml on top of the test's own."""

    def __init__(self, shape, *, url=None, mode="steer", settings=None, poll="200ms", start=True):
        self.shape, self.url, self.mode, self.settings, self.poll = shape, url, mode, dict(settings or {}), poll
        self._start_now = start
        self.directory = self.daemon = None
        self.plugin_dir = PLUGIN_DIR

    def __enter__(self):
        self.directory = tempfile.mkdtemp(prefix="aegis-d-")
        os.mkdir(self.path("store"))
        try:
            self.write_files()
            if self._start_now:
                self.start()
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise
        return self

    def __exit__(self, kind, *_):
        if self.daemon:
            self.daemon.stop()
            if kind not in (None, KeyboardInterrupt, SystemExit):
                print(f"--- end of {self.daemon.log}", self.daemon.log_tail(), sep="\n", file=sys.stderr)
        shutil.rmtree(self.directory, ignore_errors=True)

    def path(self, *names):
        return os.path.join(self.directory, *names)

    @property
    def socket(self):
        return self.path("select.socket")

    @property
    def config(self):
        return self.path("aegisd.toml")

    def slurmctld_env(self):
        return {"AEGIS_SOCKET": self.socket}

    def write_files(self):
        with open(self.path("topology.conf"), "w", encoding="utf-8") as file:
            file.write(slurm_conf.topology_conf(self.shape))
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(aegisd_toml(self.directory, self.shape, self.url, {"initial_mode": self.mode, **self.settings}, poll=self.poll))

    # life

    def start(self, seconds=20):
        self.daemon = Daemon("aegisd", [AEGISD, "--config", self.config], self.path("aegisd.log")).start()
        self.daemon.wait_ready(self._answers, seconds)

    def stop(self):
        return self.daemon.stop()

    def kill(self):
        self.daemon.kill()

    def _answers(self):
        try:
            return bool(self.status())
        except (OSError, ValueError):
            return False

    # what it says

    def control(self, command, **arguments):
        """One request over the control socket; the result, or ControlError with aegisd's words."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
            sock.settimeout(10)
            sock.connect(self.path("control.socket"))
            sock.sendall(json.dumps({"command": command, **arguments}).encode() + b"\n")
            answer = json.loads(sock.makefile("rb").readline())
        if not answer["ok"]:
            raise ControlError(answer["error"])
        return answer["result"]

    def ctl(self, *words, check=True):
        """aegisctl, as an operator runs it."""
        done = subprocess.run([AEGISCTL, "--socket", self.path("control.socket"), *map(str, words)], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=30, check=False)
        if check and done.returncode:
            raise ControlError(f"aegisctl {' '.join(map(str, words))}: status {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def status(self):
        return self.control("status")

    def set_mode(self, mode, reason="test"):
        return self.control("mode", mode=mode, reason=reason)

    def counters(self):
        """The plugin's counters as aegisd last heard them: up to a second old."""
        plugin = self.status()["plugin"]
        return plugin["counters"] if plugin else {}

    def fresh_counters(self, seconds=10):
        """The plugin's counters, from a ping that was sent after this call (by this machine's clock)."""
        before = self.status()["plugin"]["last_ping_us"]
        # two pings on: the next one may have been written just before we looked
        seen = []

        def pinged():
            plugin = self.status()["plugin"]
            if plugin["last_ping_us"] != before and plugin["last_ping_us"] not in seen:
                seen.append(plugin["last_ping_us"])
            return plugin["counters"] if len(seen) >= 2 else None
        return wait_for(pinged, "two pings of the plugin", seconds)

    def decisions(self, **filters):
        return self.control("decisions", limit=filters.pop("limit", 10000), **filters)["decisions"]

    def explain(self, job):
        return self.control("explain", job=str(job))

    def pressure(self):
        """{leaf: believed pressure}"""
        return {row["leaf"]: row["pressure"] * row["confidence"] for row in self.control("fabric")["leaves"]}

    # waiting

    def wait_connected(self, seconds=15):
        def greeted():
            plugin = self.status()["plugin"]
            return plugin if plugin and plugin["connected"] else None
        return wait_for(greeted, "the plugin to greet aegisd", seconds)

    def wait_pressure(self, hot=(), cold=(), high=0.6, low=0.1, seconds=45):
        """Until the leaves named `hot` are above `high` and those named `cold` below `low`."""
        def reached():
            pressure = self.pressure()
            wrong = {leaf: pressure[leaf] for leaf in hot if pressure[leaf] < high}
            wrong |= {leaf: pressure[leaf] for leaf in cold if pressure[leaf] > low}
            return not wrong
        wait_for(reached, f"{hot} hot and {cold} cold", seconds, interval=0.2)
