"""The harness itself: a cluster comes up on stock Slurm, places jobs, and leaves nothing behind however it ends."""
import os
import signal
import subprocess
import sys

import pytest

from cluster import Cluster
from hostlist import expand
from process import descendants
from waiting import Timeout, wait_for


def test_cloud_nodes_take_jobs_without_slurmds():
    with Cluster(nodes=64, leaves=4) as slurm:
        job = slurm.sbatch("-N2", "--gpus-per-node=4")
        nodes = slurm.wait_started(job)
        assert len(nodes) == 2
        assert {slurm.shape.leaf_of(node) for node in nodes} == {"tor1"}
        assert slurm.allocate("-N64", "--exclusive") is None, "two nodes are in use"
        slurm.cancel_all()
        assert slurm.allocate("-N64", "--exclusive")


def test_real_slurmds_run_jobs_and_everything_ends_with_the_block():
    with Cluster(nodes=4, leaves=2, real=True) as slurm:
        directory = slurm.directory
        job = slurm.sbatch("-N2", "--gpus-per-node=2", wrap="sleep 1000")
        slurm.wait_state(job, "RUNNING")
        assert len(slurm.srun("-N3", "hostname").split()) == 3
        slurm.restart_slurmctld()
        assert slurm.state(job) == "RUNNING"
    assert not os.path.exists(directory)
    assert descendants(os.getpid()) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_cluster_too(number, tmp_path):
    """As scripts do it: a program of its own, stopped from outside while its cluster is up."""
    here = os.path.dirname(os.path.abspath(__file__))
    program = ("import sys, time; from cluster import Cluster\n"
               "with Cluster(nodes=2, leaves=1, real=True) as slurm:\n"
               "    slurm.wait_state(slurm.sbatch('-N2', wrap='sleep 1000'), 'RUNNING')\n"
               "    print(slurm.directory, *[d.pid for d in [slurm.munged, slurm.slurmctld, *slurm.slurmds.values()]], flush=True)\n"
               "    time.sleep(1000)\n")
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          env={**os.environ, "PYTHONPATH": here}, cwd=tmp_path, preexec_fn=_hear_interrupts) as script:
        directory, *pids = script.stdout.readline().split()
        below = descendants(script.pid)
        assert {int(pid) for pid in pids} <= set(below)
        script.send_signal(number)
        assert script.wait(30) != 0
    wait_for(lambda: not any(_alive(pid) for pid in below), "its processes to end", 10)
    assert not os.path.exists(directory)


def _hear_interrupts():
    """A shell starts what it puts in the background with SIGINT ignored, and that is inherited."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_cluster_that_cannot_start_says_why_and_leaves_nothing(capsys):
    cluster = Cluster(nodes=4, leaves=2, extra=("NoSuchKeyword=1",))
    with pytest.raises(Timeout, match="NoSuchKeyword"):
        cluster.__enter__()
    assert "NoSuchKeyword" in capsys.readouterr().err
    assert cluster.directory is None


def test_hostlists_are_expanded_as_slurm_writes_them():
    assert expand("n[00-02,07],login,x[9-10]") == ["n00", "n01", "n02", "n07", "login", "x9", "x10"]
    assert expand("(null)") == []
