"""Machines that hear each other by LLDP: a network namespace and a real lldpd for each, veth pairs as cables."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import time

TOOLS = ("/usr/sbin/lldpd", "/usr/sbin/lldpcli", "/usr/sbin/ip")


def _run(*command, check=True):
    return subprocess.run(command, capture_output=True, text=True, timeout=30, check=check)


def unusable():
    """Why namespaces with cables between them cannot be had here; empty if they can."""
    absent = [tool for tool in TOOLS if not os.path.exists(tool)]
    if absent:
        return f"not installed: {' '.join(absent)}"
    if os.geteuid():
        return "network namespaces need root"
    names = [f"aegis-{os.getpid()}-{end}" for end in "ab"]
    try:
        for name in names:
            _run("ip", "netns", "add", name)
        _run("ip", "link", "add", "end-a", "netns", names[0], "type", "veth", "peer", "name", "end-b", "netns", names[1])
        return ""
    except subprocess.CalledProcessError as error:
        return f"no network namespaces here: {error.stderr.strip()}"
    finally:
        for name in names:
            _run("ip", "netns", "del", name, check=False)


class Machines:
    """machines: {name: system description}; cables: (machine, interface, machine, interface)."""

    def __init__(self, machines, cables):
        self.cables = cables
        self.folder = folder = pathlib.Path(tempfile.mkdtemp(prefix="aegis-lldp-"))
        folder.chmod(0o755)  # lldpcli runs as the daemons' user
        self.spaces = {name: f"aegis-{os.getpid()}-{name}" for name in machines}
        self.daemons = {}
        try:
            for space in self.spaces.values():
                _run("ip", "netns", "add", space)
            for a, a_end, b, b_end in cables:
                _run("ip", "link", "add", a_end, "netns", self.spaces[a], "type", "veth", "peer", "name", b_end, "netns", self.spaces[b])
                for name, end in ((a, a_end), (b, b_end)):
                    _run("ip", "-n", self.spaces[name], "link", "set", end, "up")
            for name, description in machines.items():
                with open(folder / f"{name}.log", "wb") as log:
                    self.daemons[name] = subprocess.Popen(
                        ["ip", "netns", "exec", self.spaces[name], "/usr/sbin/lldpd", "-d", "-u", folder / f"{name}.sock", "-O", "/dev/null",
                         "-S", description], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            for name in machines:
                self._until(lambda name=name: _run("lldpcli", "-u", folder / f"{name}.sock", "show", "chassis", check=False).returncode == 0,
                            f"lldpd of {name} answers")
                self.configure(name, "system", "hostname", name)
                self.configure(name, "lldp", "tx-interval", "1")
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        for daemon in self.daemons.values():
            daemon.terminate()
        for daemon in self.daemons.values():
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        for space in self.spaces.values():
            _run("ip", "netns", "del", space, check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _until(self, condition, what):
        end = time.monotonic() + 30
        while not condition():
            assert time.monotonic() < end, f"not within 30 s: {what}"
            time.sleep(0.05)

    def configure(self, name, *words):
        _run("lldpcli", "-u", self.folder / f"{name}.sock", "configure", *words)

    def asked(self, name, form):
        """What an administrator would collect there: show chassis, then show neighbors."""
        return "".join(_run("lldpcli", "-u", self.folder / f"{name}.sock", "-f", form, "show", what).stdout for what in ("chassis", "neighbors"))

    def wait_heard(self, heard):
        """Until condition heard(name, json0 text) holds on every machine: names and ports have been sent as configured."""
        for name in self.spaces:
            self._until(lambda name=name: heard(name, self.asked(name, "json0")), f"{name} hears its neighbours")
