"""One daemon under the harness: started with its output in a file, stopped for certain, with everything it left behind.

slurmd daemonises its slurmstepds. The harness makes itself their reaper (PR_SET_CHILD_SUBREAPER), so an orphan becomes a
child of the harness and can be found: only descendants of this very process are ever signalled, never a name.
"""
import ctypes
import os
import signal
import subprocess

from waiting import Timeout, wait_for

PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans():
    """Orphaned grandchildren become children of this process instead of init's."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _parent_and_state(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
            fields = stat.read().rpartition(")")[2].split()
    except OSError:
        return None, None
    return int(fields[1]), fields[0]


def descendants(root):
    """Living processes below `root`, as pids."""
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            parent, state = _parent_and_state(int(entry))
            if parent is not None and state != "Z":
                children.setdefault(parent, []).append(int(entry))
    found, todo = [], [root]
    while todo:
        for child in children.get(todo.pop(), []):
            found.append(child)
            todo.append(child)
    return found


def uses_directory(pid, directory):
    """Does the process run in `directory`, hold a file of it open, or name it in its command line or environment?"""
    prefix = directory + "/"
    for name in ("cwd", "exe"):
        try:
            if (os.readlink(f"/proc/{pid}/{name}") + "/").startswith(prefix):
                return True
        except OSError:
            pass
    try:
        for descriptor in os.listdir(f"/proc/{pid}/fd"):
            try:
                if os.readlink(f"/proc/{pid}/fd/{descriptor}").startswith(prefix):
                    return True
            except OSError:
                pass
        for name in ("cmdline", "environ"):
            with open(f"/proc/{pid}/{name}", "rb") as text:
                if prefix.encode() in text.read():
                    return True
    except OSError:
        pass
    return False


def kill_leftovers(directory, seconds=10.0):
    """Kill what descends from this process and belongs to `directory`; return how many there were."""
    killed = set()

    def none_left():
        mine = [pid for pid in descendants(os.getpid()) if uses_directory(pid, directory)]
        for pid in mine:
            killed.add(pid)
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        return not mine

    wait_for(none_left, f"the processes of {directory} to end", seconds)
    for pid in killed:  # orphans are ours to reap; a child of someone else is not, and stays untouched
        try:
            os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            pass
    return len(killed)


class Daemon:
    """A foreground process with its own log file, in a session of its own: Ctrl-C reaches the harness, which then stops it."""

    def __init__(self, name, command, log, env=None, cwd=None):
        self.name, self.command, self.log = name, [str(word) for word in command], str(log)
        self.env, self.cwd = env, cwd
        self.process = None

    def start(self):
        with open(self.log, "ab") as output:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                            env=self.env, cwd=self.cwd, start_new_session=True)
        return self

    @property
    def pid(self):
        return self.process.pid

    def running(self):
        return self.process is not None and self.process.poll() is None

    def signal(self, number):
        if self.running():
            self.process.send_signal(number)

    def stop(self, seconds=15.0):
        """SIGTERM, then SIGKILL after `seconds`. Returns the exit status, None if it never ran."""
        if self.process is None:
            return None
        if self.running():
            self.signal(signal.SIGCONT)  # a stopped process would never see the SIGTERM
            self.signal(signal.SIGTERM)
            try:
                self.process.wait(seconds)
            except subprocess.TimeoutExpired:
                self.kill()
        return self.process.returncode

    def kill(self):
        """kill -9, and wait for the end."""
        if self.running():
            self.process.kill()
            self.process.wait(10)

    def log_text(self):
        try:
            with open(self.log, encoding="utf-8", errors="replace") as text:
                return text.read()
        except OSError:
            return ""

    def log_tail(self, lines=40):
        return "\n".join(self.log_text().splitlines()[-lines:])

    def wait_ready(self, condition, seconds):
        """Wait until condition() holds; an early end of the process is reported at once, with its log."""
        def ready_or_dead():
            if not self.running():
                raise Timeout(f"{self.name} ended with status {self.process.returncode}:\n{self.log_tail()}")
            return condition()

        try:
            wait_for(ready_or_dead, f"{self.name} to be ready", seconds)
        except Timeout as problem:
            if self.running():
                raise Timeout(f"{problem}\n{self.log_tail()}") from None
            raise
