"""An InfiniBand fabric without hardware: Debian's ibsim, swept by opensm, asked by infiniband-diags.

Sockets are abstract and named after the folder, so that several run beside each other.
"""

import os
import pathlib
import subprocess
import time

TOOLS = ("/usr/bin/ibsim", "/usr/sbin/opensm", "/usr/sbin/ibnetdiscover")
PRELOAD = "/usr/lib/x86_64-linux-gnu/umad2sim/libumad2sim.so"


def missing():
    return [tool for tool in (*TOOLS, PRELOAD) if not os.path.exists(tool)]


def net(cables, descriptions):
    """The net file of ibsim. cables: (end, port, end, port); the first end of each is a switch, as named in descriptions. Adapters are
    those ends whose description does not begin with MF0."""
    ports = {}
    for a, a_port, b, b_port in cables:
        ports.setdefault(a, []).append((a_port, b, b_port))
        ports.setdefault(b, []).append((b_port, a, a_port))
    text = ""
    for end, links in ports.items():
        kind, count = ("Switch", 40) if descriptions[end].startswith("MF0") else ("Ca", 2)
        text += f'{kind} {count} "{end}" # "{descriptions[end]}"\n'
        text += "".join(f'[{port}] "{peer}"[{peer_port}]\n' for port, peer, peer_port in sorted(links)) + "\n"
    return text


class Fabric:
    def __init__(self, folder, net_file):
        self.folder = pathlib.Path(folder)
        self.env = {**os.environ, "IBSIM_SOCKNAME": f"aegis-{os.getpid()}-{self.folder.name}", "OSM_CACHE_DIR": str(folder),
                    "OSM_TMP_DIR": str(folder)}
        self.log = self.folder / "ibsim.log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(["/usr/bin/ibsim", "-s", net_file], stdin=subprocess.PIPE, stdout=log, stderr=log, env=self.env)
        self._wait("Network simulator ready")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()  # there is nothing it would write down
        self.process.wait()
        self.process.stdin.close()

    def _wait(self, text, since=0):
        end = time.monotonic() + 20
        while text not in self.log.read_text(errors="replace")[since:]:
            assert self.process.poll() is None, self.log.read_text(errors="replace")
            assert time.monotonic() < end, f"ibsim never said {text!r}"
            time.sleep(0.02)

    def console(self, command, answer):
        """One command at ibsim's console, and the wait until it says `answer`."""
        since = len(self.log.read_text(errors="replace"))
        self.process.stdin.write((command + "\n").encode())
        self.process.stdin.flush()
        self._wait(answer, since)

    def run(self, *command):
        done = subprocess.run(command, env={**self.env, "LD_PRELOAD": PRELOAD}, capture_output=True, text=True, timeout=60, cwd=self.folder)
        assert done.returncode == 0, done
        return done.stdout

    def sweep(self):
        """opensm, once: every port gets its LID and becomes active."""
        self.run("/usr/sbin/opensm", "-o", "-e", "-f", str(self.folder / "opensm.log"))

    def discover(self, *options):
        return self.run("/usr/sbin/ibnetdiscover", *options)
