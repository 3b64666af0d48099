"""The demo: eight slurmds on two leaves, a node_exporter with switch counters, aegisd, and seven steps.

Each step prints what is expected and what was observed; every figure is read from Slurm or Aegis at that moment. The exit status
is 0 only if all steps went as expected. With --keep everything stays up until Ctrl-C, and the file DIR/hot says which
leaves are hot.
"""
import argparse
import contextlib
import json
import os
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SOURCE / "tests" / "slurm"))

from aegis import PLUGIN_DIR, STAGE, Aegis, missing  # noqa: E402
from cluster import Cluster  # noqa: E402
from exporter import IDLE, Load, SwitchCounters  # noqa: E402
from ports import free_ports  # noqa: E402
from process import Daemon  # noqa: E402
from slurm_conf import Shape  # noqa: E402
from waiting import wait_for  # noqa: E402

SHAPE = Shape(nodes=8, leaves=2, real=True)
AT_ONCE_S = 3.0  # sbatch to running, on a machine with two cores and ten daemons

# half of the line rate on average, yet the queue is long and every fifth packet marked: incast, as gradients make it
HOT = Load(share=0.5, mark_rate=0.20, depth_bytes=400_000)

# By default telemetry is fresh for 5 s, lagged up to a minute, stale up to three, and averaged over 5 s and a minute.
# The demo would take ten minutes with that. And ten daemons share a small machine here, so aegisd may take its 10 ms instead of 2.
SETTINGS = {"freshness.fresh": "3s", "freshness.lagged": "5s", "freshness.stale": "8s", "freshness.tau": "10s",
            "select.deadline": "10ms"}
TRIES = 5  # jobs a step may need until the answer to one comes in time


def say(text="", indent=0):
    for line in text.splitlines() or [""]:
        print((" " * indent + line).rstrip(), flush=True)


class Switches:
    """The switches: their counters are written once a second where node_exporter's textfile collector reads them."""

    def __init__(self, directory):
        self.counters = SwitchCounters(SHAPE.leaf_names())
        self.folder = directory / "textfiles"
        self.hot_file = directory / "hot"
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self):
        self.folder.mkdir()
        self.heat("")
        self._write()
        self._thread.start()

    def stop(self):
        self._stop.set()
        self._thread.join()

    def heat(self, leaves):
        """`leaves` are hot from now on, all others calm. The file is the one truth, so that a player can write it too."""
        self.hot_file.write_text(leaves + "\n")

    def _run(self):
        while not self._stop.wait(1.0):
            self._write()

    def _write(self):
        hot = self.hot_file.read_text().split()
        for leaf in SHAPE.leaf_names():
            self.counters.set(leaf, HOT if leaf in hot else IDLE)
        new = self.folder / "switches.new"
        new.write_text(self.counters.text())
        os.rename(new, self.folder / "switches.prom")  # the collector never sees half a file


class NodeExporter(Daemon):
    """Debian's prometheus-node-exporter with nothing but its textfile collector."""

    def __init__(self, directory, folder):
        self.port = free_ports(1)
        super().__init__("node_exporter", [
            "/usr/bin/prometheus-node-exporter", "--collector.disable-defaults", "--collector.textfile",
            f"--collector.textfile.directory={folder}", f"--web.listen-address=127.0.0.1:{self.port}"],
            directory / "node_exporter.log")

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/metrics"

    def start(self):
        super().start()
        self.wait_ready(self._answers, 20)
        return self

    def _answers(self):
        try:
            with urllib.request.urlopen(self.url, timeout=2) as answer:
                return b"fabric_port_packets_total" in answer.read()
        except OSError:
            return False


class Lab:
    """The cluster, the exporter and aegisd, and how to ask them things."""

    def __init__(self, slurm, aegis, switches, exporter):
        self.slurm, self.aegis, self.switches, self.exporter = slurm, aegis, switches, exporter

    def ask(self, *words):
        return json.loads(self.aegis.ctl(*words, "--json"))

    def show(self, *words):
        """Run a command where the reader can see it and what it prints."""
        say(f"$ aegisctl {' '.join(words)}", 4)
        say(self.aegis.ctl(*words), 6)

    def leaf(self, name):
        return next(leaf for leaf in self.ask("fabric", "show")["leaves"] if leaf["leaf"] == name)

    def source(self):
        return self.ask("status")["sources"][0]

    def heat_tor1(self):
        self.switches.heat("tor1")
        self.wait_pressure()

    def wait_pressure(self):
        self.aegis.wait_pressure(hot=["tor1"], cold=["tor2"])

    def two_node_job(self):
        """Submit a job for two nodes with four GPUs each: its number, its nodes, and how long it took to start."""
        begin = time.monotonic()
        job = self.slurm.sbatch("-N2", "--gpus-per-node=4", wrap="sleep 3600")
        nodes = self.slurm.wait_started(job, 60)
        return job, nodes, time.monotonic() - begin

    def leaves_of(self, nodes):
        return sorted({SHAPE.leaf_of(node) for node in nodes})

    def describe(self, job, nodes):
        hostlist = self.slurm.squeue("--noheader", f"--jobs={job}", "--format=%N").strip()
        return f"job {job} on {hostlist} ({', '.join(self.leaves_of(nodes))})"

    def decisions_of(self, job):
        return self.ask("decisions", "--job", str(job))["decisions"]

    def advised_job(self):
        """As two_node_job(), with the recorded decision. An answer that comes too late is no opinion, as it should be; but then
        there is nothing to see, so the next job is tried."""
        for _ in range(TRIES):
            late = self.aegis.counters()["timeouts"]
            job, nodes, _ = self.two_node_job()

            def known():
                found = self.decisions_of(job)
                return found and found[0]["outcome"] and found[0] or self.aegis.counters()["timeouts"] > late
            decision = wait_for(known, f"the outcome of job {job}", 10)
            if decision is not True:
                return job, nodes, decision
            say(f"(This machine was busy: the advice for job {job} came too late, so Slurm's own choice stood. Once more.)", 4)
            self.finish(job)
        raise AssertionError(f"{TRIES} times the advice came too late: this machine is too busy for the demo")

    def finish(self, job):
        self.slurm.scancel(str(job))
        wait_for(lambda: set(self.slurm.node_states().values()) == {"idle"}, "all nodes to be idle again", 60)


class Story:
    """The steps, each with what is expected and what was observed."""

    def __init__(self, lab):
        self.lab = lab
        self.differences = 0

    def title(self, letter, text, why):
        say()
        say(f"({letter}) {text}")
        say(why, 4)

    def compare(self, expected, observed, holds):
        say(f"expected  {expected}", 4)
        say(f"observed  {observed}", 4)
        say("          as expected" if holds else "          DIFFERENT", 4)
        self.differences += not holds

    def tell(self):
        self.stock_nodes = None
        self.off()
        self.observe()
        self.steer()
        self.killed()
        self.back()
        self.silent()
        self.uninstalled()

    def off(self):
        lab = self.lab
        self.title("a", "mode off, tor1 is hot", "Aegis is installed but does not ask. Slurm places as it always did.")
        lab.heat_tor1()
        lab.show("fabric", "show")
        job, nodes, _ = lab.two_node_job()
        self.stock_nodes = nodes
        decisions = lab.decisions_of(job)
        self.compare("a 2-node job on tor1, no decision recorded",
                     f"{lab.describe(job, nodes)}, {len(decisions)} decisions recorded",
                     lab.leaves_of(nodes) == ["tor1"] and not decisions)
        lab.finish(job)

    def observe(self):
        lab = self.lab
        self.title("b", "mode observe", "Aegis is asked and writes down what it would have done. It changes nothing.")
        lab.show("mode", "observe")
        job, nodes, decision = lab.advised_job()
        plan = lab.ask("explain", str(job))["detail"]["alternatives"]
        best = [share["leaf"] for share in plan[0]["leaves"]] if plan else []
        lab.show("explain", str(job))
        self.compare("the same nodes as in (a), no plan offered, the best alternative on tor2",
                     f"{lab.describe(job, nodes)}, {'offered' if decision['offered'] else 'not offered'}, "
                     f"reason {decision['reason']}, the best alternative on {', '.join(best) or 'nothing'}",
                     nodes == self.stock_nodes and not decision["offered"] and decision["plans"] > 0 and best == ["tor2"])
        lab.finish(job)

    def steer(self):
        lab = self.lab
        self.title("c", "mode steer", "Now advice narrows the leaves. Slurm itself chooses the nodes there.")
        lab.show("mode", "steer")
        job, nodes, decision = lab.advised_job()
        lab.show("explain", str(job))
        self.compare("a 2-node job on tor2, by the first plan",
                     f"{lab.describe(job, nodes)}, outcome {decision['outcome']['result']}, "
                     f"{decision['outcome']['waited_us']} us waited for the advice",
                     lab.leaves_of(nodes) == ["tor2"] and decision["outcome"]["result"] == "plan_1")
        lab.finish(job)

    def killed(self):
        lab = self.lab
        self.title("d", "kill -9 aegisd", "Without aegisd the plugin has no opinion.")
        say(f"$ kill -9 {lab.aegis.daemon.pid}", 4)
        lab.aegis.kill()
        job, nodes, seconds = lab.two_node_job()
        self.compare(f"stock placement, the nodes of (a), running within {AT_ONCE_S:.0f} s of sbatch",
                     f"{lab.describe(job, nodes)}, running after {seconds:.2f} s",
                     nodes == self.stock_nodes and seconds <= AT_ONCE_S)
        lab.finish(job)

    def back(self):
        lab = self.lab
        self.title("e", "aegisd is back", "The plugin finds it by itself; aegisd remembers its mode.")
        begin = time.monotonic()
        lab.aegis.start()
        lab.aegis.wait_connected()
        connected = time.monotonic() - begin
        lab.wait_pressure()
        job, nodes, _ = lab.advised_job()
        status = lab.ask("status")
        self.compare("mode steer, and a 2-node job on tor2",
                     f"mode {status['mode']}, connected after {connected:.1f} s, {lab.describe(job, nodes)}",
                     status["mode"] == "steer" and lab.leaves_of(nodes) == ["tor2"])
        lab.finish(job)

    def silent(self):
        lab = self.lab
        self.title("f", "the counters stop", "node_exporter is stopped. What was measured is believed less and less, then not at all.\n"
                   "(The limits of freshness are a few seconds here; minutes by default.)")
        lab.exporter.stop()
        seen = []

        def faded():
            leaf = lab.leaf("tor1")
            if not seen or seen[-1][0] != leaf["freshness"]:
                seen.append((leaf["freshness"], leaf["confidence"]))
                say(f"tor1 is {leaf['freshness']:<6}  pressure {leaf['pressure']:.2f}, believed by {leaf['confidence']:.2f}, "
                    f"measured {leaf['age_ms'] / 1000:.1f} s ago", 4)
            return leaf["freshness"] == "dark"
        wait_for(faded, "tor1 to be dark", 60, interval=0.1)
        wait_for(lambda: lab.source()["state"] == "dark", "the source to be dark, too", 5)
        job, nodes, _ = lab.two_node_job()
        states, beliefs = [state for state, _ in seen], [belief for _, belief in seen]
        falling = all(later < earlier for earlier, later in zip(beliefs, beliefs[1:]))
        self.compare("fresh, lagged, stale, dark with ever less belief, then stock placement: the nodes of (a)",
                     f"{', '.join(states)}; belief {', '.join(f'{belief:.2f}' for belief in beliefs)}; {lab.describe(job, nodes)}",
                     states == ["fresh", "lagged", "stale", "dark"] and falling and beliefs[-1] == 0 and nodes == self.stock_nodes)
        self.running = (job, nodes)

    def uninstalled(self):
        lab = self.lab
        job, nodes = self.running
        self.title("g", "uninstall", f"Our directory leaves PluginDir and slurmctld is restarted, while job {job} runs.")
        lab.slurm.restart_slurmctld(plugin_dirs=())
        kept = lab.slurm.wait_state(job, "RUNNING", seconds=30)
        plugin_dir = next(line for line in lab.slurm.scontrol("show", "config").splitlines() if line.startswith("PluginDir"))
        say(plugin_dir, 4)
        after = lab.slurm.nodes_of_job(job)
        new, new_nodes, _ = lab.two_node_job()
        self.compare(f"job {job} runs on where it was, a new job starts, no trace of us in PluginDir",
                     f"job {job} {kept['JobState']} on {', '.join(after)}; {lab.describe(new, new_nodes)}; "
                     f"{'still' if PLUGIN_DIR in plugin_dir else 'not'} in PluginDir",
                     after == nodes and len(new_nodes) == 2 and PLUGIN_DIR not in plugin_dir)
        lab.slurm.scancel(str(job))
        lab.finish(new)


def keep(lab):
    """Everything up again, with Aegis in place, until Ctrl-C."""
    lab.slurm.restart_slurmctld(plugin_dirs=(PLUGIN_DIR,))
    lab.exporter.start()
    lab.aegis.wait_connected()
    script = Path(lab.aegis.path("env.sh"))
    script.write_text(f"export SLURM_CONF='{lab.slurm.slurm_conf}'\n"
                      f"aegisctl() {{ '{STAGE}/bin/aegisctl' --socket '{lab.aegis.path('control.socket')}' \"$@\"; }}\n"
                      f"export MANPATH='{STAGE}/share/man':\n")
    say()
    say(f"Everything is up again, with Aegis in mode {lab.ask('status')['mode']}. In another terminal, as root:")
    say(f". {script}\n"
        "sinfo; aegisctl status; aegisctl fabric show\n"
        "sbatch -N2 --gpus-per-node=4 --wrap 'sleep 600'; squeue; aegisctl decisions; aegisctl explain JOB\n"
        f"echo tor2 > {lab.switches.hot_file}      # which leaves are hot; an empty line: none\n"
        f"less {lab.slurm.slurmctld.log} {lab.aegis.daemon.log}", 4)
    say("Ctrl-C here ends it all and removes its folders.")
    try:
        while lab.slurm.slurmctld.running():
            time.sleep(0.5)
        say("slurmctld has ended.")
    except KeyboardInterrupt:
        say()


@contextlib.contextmanager
def everything():
    """From the switches up to slurmctld; taken down in reverse."""
    with contextlib.ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="aegis-demo-")))
        switches = Switches(directory)
        switches.start()
        stack.callback(switches.stop)
        exporter = NodeExporter(directory, switches.folder).start()
        stack.callback(exporter.stop)
        aegis = stack.enter_context(Aegis(SHAPE, url=exporter.url, mode="off", settings=SETTINGS, poll="1s"))
        slurm = stack.enter_context(Cluster(nodes=SHAPE.nodes, leaves=SHAPE.leaves, real=True, plugin_dirs=(PLUGIN_DIR,),
                                            env=aegis.slurmctld_env()))
        aegis.wait_connected()
        yield Lab(slurm, aegis, switches, exporter)


def main():
    parser = argparse.ArgumentParser(prog="scripts/demo", description="Watch Aegis steer a real Slurm.")
    parser.add_argument("--keep", action="store_true", help="leave the cluster up to play with, until Ctrl-C")
    arguments = parser.parse_args()
    if missing():
        say(f"scripts/demo: {missing()} is not there: scripts/build makes it")
        return 1
    begin = time.monotonic()
    say()
    say("Starting eight slurmds with four GPUs each (n00-n03 on tor1, n04-n07 on tor2), slurmctld with our plugin,")
    say("node_exporter serving the counters of two switches, and aegisd.")
    try:
        with everything() as lab:
            story = Story(lab)
            say(f"All up after {time.monotonic() - begin:.0f} s.")
            story.tell()
            say()
            if story.differences:
                say(f"{story.differences} of 7 steps went DIFFERENTLY, {time.monotonic() - begin:.0f} s in all.")
            else:
                say(f"All 7 steps as expected, {time.monotonic() - begin:.0f} s in all.")
            if arguments.keep:
                keep(lab)
        return 1 if story.differences else 0
    except AssertionError as problem:  # Timeout, or a command that failed
        say(f"DIFFERENT: {problem}")
        return 1
    except KeyboardInterrupt:
        say()
        return 130


if __name__ == "__main__":
    sys.exit(main())
