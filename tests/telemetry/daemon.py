"""A real aegisd with sources of the test's choice, seen through aegisctl."""

import contextlib
import json
import sqlite3
import subprocess

from peers import BUILD, running, wait_until

AEGISD, AEGISCTL = BUILD / "aegisd/aegisd", BUILD / "aegisctl/aegisctl"
COUNTERS = "bytes", "packets", "marked", "drops", "pauses", "waits"
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
[history]
ports = "all"
"""


class Daemon:
    def __init__(self, folder, process):
        self.folder, self.process = folder, process

    def ask(self, *words):
        """What aegisctl WORDS --json answers; None where it fails."""
        done = subprocess.run([AEGISCTL, "--socket", self.folder / "control.socket", *map(str, words), "--json"], capture_output=True,
                              text=True, timeout=60)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def source(self, name="peer"):
        return next(source for source in self.ask("status")["sources"] if source["name"] == name)

    def links(self):
        return {link["link"]: link for leaf in self.ask("fabric", "show")["leaves"] for link in leaf["links"]}

    def recorded(self, link):
        """Ends aegisd. {counter: all that it says has happened}, exactly, from telemetry.db; None of what was never read."""
        self.process.terminate()
        assert self.process.wait(20) == 0
        with contextlib.closing(sqlite3.connect(f"file:{self.folder}/telemetry.db?mode=ro", uri=True)) as database:
            sums = ", ".join(f"sum({column})" for column in COUNTERS)
            row = database.execute(f"SELECT {sums} FROM roll_up_10s JOIN link ON link.id = link WHERE name = ?", [link]).fetchone()
        return dict(zip(COUNTERS, row))


@contextlib.contextmanager
def aegisd(folder, tables, topology="SwitchName=leaf1 Nodes=n[1-4]\n", scalars="", **popen):
    """`tables` are the [[ports]] and [[source]] of aegisd.toml; `scalars` further sections."""
    (folder / "topology.conf").write_text(topology)
    config = folder / "aegisd.toml"
    config.write_text(CONFIG.format(run=folder) + scalars + tables)
    with running([AEGISD, "--config", config], folder, **popen) as process:
        daemon = Daemon(folder, process)
        wait_until(lambda: daemon.ask("status"), "aegisd answering")
        yield daemon


def source(kind, url, metrics, name="peer", **settings):
    """[[source]] and its [[source.metric]] tables; a metric is (name, signal, kind, {further keys})."""
    quoted = lambda value: json.dumps(value) if isinstance(value, (str, bool, int)) else str(value)
    lines = ["[[source]]", f"name = {quoted(name)}", f"type = {quoted(kind)}", f"url = {quoted(url)}"]
    lines += [f"{key} = {quoted(value)}" for key, value in {"interval": "500ms", **settings}.items()]
    for metric, signal, shape, more in metrics:
        lines += ["[[source.metric]]", f"name = {quoted(metric)}", f"signal = {quoted(signal)}", f"kind = {quoted(shape)}"]
        lines += [f"{key} = {quoted(value)}" for key, value in more.items()]
    return "\n".join(lines) + "\n"


def ports(switch, names, rate, leaf="leaf1"):
    return f'[[ports]]\nswitch = "{switch}"\nports = "{names}"\nleaf = "{leaf}"\nrate = "{rate}"\n'
