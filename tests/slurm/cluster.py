"""A whole Slurm in a temporary folder: munged, slurmctld and, if wanted, a slurmd for every node. Root, no systemd.

    with Cluster(nodes=64, leaves=4) as slurm:
        print(slurm.wait_started(slurm.sbatch("-N2", "--gpus-per-node=1")))

Leaving the block, by whatever way (SIGTERM and SIGINT included), ends exactly the processes started here and removes the
folder; on an exception the ends of the logs go to stderr first. `keep()` leaves everything up and writes DIR/stop.
"""
import os
import shutil
import signal
import socket
import sys
import tempfile

import slurm_conf as files
from clients import Clients
from munge import start_munged
from ports import free_ports
from process import Daemon, adopt_orphans, kill_leftovers
from waiting import wait_for

START_ATTEMPTS = 3  # a port may be taken between looking and binding


def _raise_exit(number, _frame):
    raise SystemExit(128 + number)


class Cluster(Clients):
    """`shape` and `settings` fields (slurm_conf.py) are keyword arguments; besides:

    env      environment of slurmctld on top of ours, e.g. {"AEGIS_SOCKET": path}
    wrapper  words before slurmctld, e.g. ("valgrind", ...)
    boot     CLOUD nodes: boot all of them first, see power_up(). Not for tests that restart slurmctld: it holds a booting node
             for lost after that, while one that is still powered off stays usable
    """

    def __init__(self, *, env=None, wrapper=(), boot=True, start_seconds=60, **fields):
        def take(kind):
            return kind(**{name: fields.pop(name) for name in list(fields) if name in kind.__dataclass_fields__})

        self.shape, self.settings = take(files.Shape), take(files.Settings)
        if fields:
            raise TypeError(f"unknown: {', '.join(fields)}")
        self.env, self.wrapper, self.boot, self.start_seconds = dict(env or {}), list(wrapper), boot, start_seconds
        self.directory = self.place = self.munged = self.slurmctld = None
        self.slurmds = {}
        self.kept = False
        self._handlers = {}

    # life

    def __enter__(self):
        adopt_orphans()
        self._catch_signals()
        try:
            self.directory = tempfile.mkdtemp(prefix="aegis-slurm-")
            os.chmod(self.directory, 0o755)
            for name in ("state", "spool"):
                os.mkdir(self.path(name))
            self.munged, munge_socket = start_munged(self.directory)
            self._start(munge_socket)
        except BaseException:
            self.print_logs()
            self.close()
            raise
        return self

    def __exit__(self, kind, _value, _trace):
        if kind not in (None, KeyboardInterrupt, SystemExit):
            self.print_logs()
        if not self.kept:
            self.close()
        return False

    def close(self):
        """End everything at once; safe to call twice, and on a cluster that never came up."""
        try:
            # Nothing of the state is wanted any more, and slurmctld takes seconds to end in order.
            for daemon in filter(None, [self.slurmctld, *self.slurmds.values(), self.munged]):
                daemon.kill()
            if self.directory:
                kill_leftovers(self.directory)
                shutil.rmtree(self.directory, ignore_errors=True)
        finally:
            self.directory = None
            for number, handler in self._handlers.items():
                signal.signal(number, handler)
            self._handlers = {}

    def keep(self):
        """Leave the cluster running when the block ends; DIR/stop ends it later. Returns the path of DIR/stop."""
        self.kept = True
        daemons = filter(None, [self.slurmctld, *self.slurmds.values(), self.munged])
        lines = ["#!/bin/sh", "# ends this cluster: only these processes, and only while they still are what they were"]
        for daemon in daemons:
            lines.append(f"grep -qsF '{os.path.basename(self.directory)}' /proc/{daemon.pid}/cmdline /proc/{daemon.pid}/environ "
                         f"&& kill {daemon.pid}")
        lines.append(f"rm -rf '{self.directory}'")
        stop = self.path("stop")
        with open(os.open(stop, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o755), "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        return stop

    def path(self, *names):
        return os.path.join(self.directory, *names)

    @property
    def slurm_conf(self):
        return self.path("slurm.conf")

    def print_logs(self, stream=None):
        stream = stream or sys.stderr
        for daemon in filter(None, [self.munged, self.slurmctld, *list(self.slurmds.values())[:2]]):
            print(f"--- end of {daemon.log}", daemon.log_tail(), sep="\n", file=stream)

    # slurmctld

    def write_files(self):
        """(Re)write the configuration from shape and settings, e.g. before scontrol reconfigure."""
        for name, text in (("slurm.conf", files.slurm_conf(self.shape, self.settings, self.place)),
                           ("topology.conf", files.topology_conf(self.shape)),
                           ("gres.conf", files.gres_conf(self.shape, self.directory)),
                           ("cgroup.conf", files.cgroup_conf())):
            with open(self.path(name + ".new"), "w", encoding="utf-8") as file:
                file.write(text)
            os.rename(self.path(name + ".new"), self.path(name))
        if self.shape.real:
            for device in files.gres_files(self.shape, self.directory):
                with open(device, "ab"):
                    pass

    def start_slurmctld(self):
        command = [*self.wrapper, "/usr/sbin/slurmctld", "-D", "-f", self.slurm_conf]
        self.slurmctld = Daemon("slurmctld", command, self.path("slurmctld.log"),
                                env=self.environment(**self.env), cwd=self.directory).start()
        self.slurmctld.wait_ready(lambda: "is UP" in self.scontrol("ping", check=False), self.start_seconds)

    def stop_slurmctld(self, seconds=30):
        return self.slurmctld.stop(seconds)

    def restart_slurmctld(self, **settings):
        """Stop, apply changed settings (e.g. plugin_dirs=()), start again with the saved state."""
        self.stop_slurmctld()
        self.change(**settings)
        self.start_slurmctld()

    def reconfigure(self, **settings):
        self.change(**settings)
        self.scontrol("reconfigure")

    def change(self, **settings):
        for name, value in settings.items():
            owner = self.shape if hasattr(self.shape, name) else self.settings
            if not hasattr(owner, name):
                raise TypeError(f"unknown: {name}")
            setattr(owner, name, value)
        self.write_files()

    # slurmds

    def start_slurmd(self, node):
        daemon = Daemon(f"slurmd {node}", ["/usr/sbin/slurmd", "-D", "-N", node, "-f", self.slurm_conf],
                        self.path(f"slurmd-{node}.out"), env=self.environment(), cwd=self.directory)
        self.slurmds[node] = daemon.start()

    def power_up(self, seconds=60):
        """Tell Slurm that every CLOUD node is booting; they never finish. Slurm prefers nodes that are up over nodes that are not,
        so without this the choice of nodes would depend on how far the power-saving thread has come."""
        self.scontrol("update", f"NodeName={self.shape.hostlist(0, self.shape.nodes)}", "State=POWER_UP")
        wait_for(lambda: all(state.endswith("#") for state in self.node_states().values()), "all nodes to boot", seconds)

    def wait_nodes_up(self, seconds=60):
        def all_idle():
            states = self.node_states()
            bad = {node: state for node, state in states.items() if state not in ("idle", "mixed", "allocated")}
            return len(states) == self.shape.nodes and not bad
        wait_for(all_idle, f"{self.shape.nodes} nodes to register", seconds, interval=0.2)

    # inside

    def _start(self, munge_socket):
        host = socket.gethostname().partition(".")[0]
        for attempt in range(START_ATTEMPTS):
            first = free_ports(self.shape.nodes + self.shape.future + 1 if self.shape.real else 2)
            self.place = files.Place(self.directory, host, munge_socket, first, first + 1)
            self.write_files()
            try:
                self.start_slurmctld()
                break
            except AssertionError:
                if attempt + 1 == START_ATTEMPTS or "Address already in use" not in self.slurmctld.log_text():
                    raise
        if self.shape.real:
            for node in self.shape.node_names():
                self.start_slurmd(node)
            self.wait_nodes_up()
        elif self.boot:
            self.power_up()

    def _catch_signals(self):
        """SIGTERM becomes SystemExit, so that the block ends in order. Python does the like for SIGINT itself."""
        try:
            if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
                self._handlers[signal.SIGTERM] = signal.signal(signal.SIGTERM, _raise_exit)
        except ValueError:  # not the main thread: the caller handles signals
            pass
