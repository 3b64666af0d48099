"""Debian's Slurm clients against one cluster, and what they print as Python values."""
import os
import re
import subprocess
import threading

from hostlist import expand
from waiting import Timeout, wait_for

ENDED = ("CANCELLED", "COMPLETED", "FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL", "DEADLINE", "OUT_OF_MEMORY")
STARTED = ("RUNNING", "CONFIGURING", "SUSPENDED")


class ClientError(AssertionError):
    def __init__(self, command, status, output):
        super().__init__(f"{' '.join(command)}: status {status}\n{output}")
        self.status, self.output = status, output


class Clients:
    """Mixed into Cluster; needs only `slurm_conf`, the path of slurm.conf."""
    slurm_conf = None

    def environment(self, **more):
        """The caller's environment without any Slurm setting of its own, pointed at this cluster."""
        own = {name: value for name, value in os.environ.items() if not re.match(r"(SLURM|SBATCH|SALLOC|SQUEUE|SINFO|SCANCEL)", name)}
        return {**own, "LC_ALL": "C", "TZ": "UTC", "SLURM_CONF": self.slurm_conf, **more}

    def client(self, *command, check=True, seconds=60, env=None):
        """Standard output of a client; ClientError with all it said if it failed."""
        command = [str(word) for word in command]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds,
                              env=self.environment(**(env or {})), cwd="/", check=False)
        if check and done.returncode:
            raise ClientError(command, done.returncode, done.stdout + done.stderr)
        return done.stdout

    def scontrol(self, *words, **options):
        return self.client("scontrol", *words, **options)

    def squeue(self, *words, **options):
        return self.client("squeue", *words, **options)

    def sinfo(self, *words, **options):
        return self.client("sinfo", *words, **options)

    def scancel(self, *words, **options):
        return self.client("scancel", *words, **options)

    def srun(self, *words, **options):
        return self.client("srun", *words, **options)

    def sbatch(self, *words, script=None, wrap=":", **options):
        """Submit; the job's number. Output of the job goes to /dev/null unless the words say otherwise."""
        what = [script] if script else [f"--wrap={wrap}"]
        output = self.client("sbatch", "--parsable", "--output=/dev/null", *words, *what, **options)
        return int(output.split(";")[0])

    def allocate(self, *words, seconds=20):
        """Try to start a job at once, inside slurmctld's allocation RPC: its number, or None if Slurm cannot now.

        Batch jobs wait for the scheduler's next pass, up to a second. salloc would wait for the nodes to boot, which CLOUD
        nodes never do; it is killed once it has said what it got, and the allocation stays.
        """
        command = ["salloc", "--no-shell", "--immediate=1", *map(str, words)]
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                              env=self.environment(), cwd="/") as salloc:
            watchdog = threading.Timer(seconds, salloc.kill)
            watchdog.start()
            said = ""
            try:
                for line in salloc.stderr:
                    said += line
                    granted = re.search(r"Granted job allocation (\d+)", line)
                    if granted:
                        return int(granted[1])
                status = salloc.wait()
            finally:
                watchdog.cancel()
                salloc.kill()
        if "Requested nodes are busy" in said or "Immediate execution impossible" in said or "Unable to allocate resources: Resources" in said:
            return None
        raise ClientError(command, status, said)

    def show_jobs(self, job=None):
        """`scontrol show job` as a list of dicts, one a record (an array has several)."""
        output = self.scontrol("--oneliner", "show", "job", *([job] if job is not None else []))
        return [_fields(line) for line in output.splitlines() if line.startswith("JobId=")]

    def job(self, job):
        """The one record of a job; of an array or het job ask show_jobs()."""
        records = self.show_jobs(job)
        if len(records) != 1:
            raise AssertionError(f"job {job} has {len(records)} records")
        return records[0]

    def state(self, job):
        return self.job(job)["JobState"]

    def nodes_of_job(self, job):
        return expand(self.job(job).get("NodeList", ""))

    def queue(self):
        """Every array task and job known to slurmctld: {"7" or "7_1": (state, reason, [nodes])}."""
        rows = {}
        for line in self.squeue("--noheader", "--all", "--array", "--states=all", "--format=%i|%T|%r|%N").splitlines():
            key, state, reason, nodes = line.split("|")
            rows[key] = (state, reason, expand(nodes))
        return rows

    def wait_state(self, job, *states, seconds=20):
        seen = {}

        def reached():
            seen.update(self.job(job))
            return seen["JobState"] in states
        try:
            wait_for(reached, f"job {job} to be {' or '.join(states)}", seconds)
        except Timeout as problem:
            raise Timeout(f"{problem}; it is {seen['JobState']}, reason {seen['Reason']}") from None
        return seen

    def wait_started(self, job, seconds=20):
        """Wait until the job has its nodes; their names. A CLOUD node's job stays CONFIGURING: its nodes never boot."""
        return expand(self.wait_state(job, *STARTED, seconds=seconds)["NodeList"])

    def cancel_all(self, seconds=30):
        """Cancel every job and wait until no node is in use."""
        self.scancel("--user=root")
        wait_for(lambda: not self.squeue("--noheader", "--format=%i %T").split(), "all jobs to be gone", seconds)

    def node(self, name):
        return _fields(self.scontrol("--oneliner", "show", "node", name).strip())

    def node_states(self):
        """{node: state as sinfo prints it}"""
        rows = self.sinfo("--noheader", "--Node", "--format=%N|%T").splitlines()
        return dict(row.split("|") for row in rows)


def _fields(line):
    """"A=1 B=two words C=3" -> dict; a word without '=' belongs to the value before it."""
    fields, name = {}, None
    for word in line.split(" "):
        key, equals, value = word.partition("=")
        if equals and re.fullmatch(r"[A-Za-z][A-Za-z0-9:/_]*", key):
            name = key
            fields.setdefault(name, value)
        elif name:
            fields[name] += " " + word
    return {key: value.strip() for key, value in fields.items()}
