"""Jobs that really run, on real slurmds with files as GPUs: GPU requests, expansion, restart, and uninstalling under running jobs.

One cluster of 8 nodes on 2 leaves serves all tests of this file but the last ones; tor1 is hot.
"""
import re

import pytest

from hostlist import expand
from steered import steered
from waiting import wait_for

HOT = "tor1"
FIELDS = {"nodes": 8, "leaves": 2, "real": True, "gres": "gpu:a100:2,gpu:h100:2",
          "scheduler": "bf_interval=1,batch_sched_delay=0,sched_interval=2,permit_job_expansion"}


@pytest.fixture(scope="module")
def cluster(installed):
    with steered(hot=(HOT,), **FIELDS) as world:
        yield world


@pytest.fixture
def world(cluster):
    cluster.slurm.cancel_all()
    cluster.slurm.wait_nodes_up()
    yield cluster
    assert cluster.aegis.counters()["losses"] == 0


def run_steered(world, *words):
    """A job that sleeps, once it runs on the cool leaf by aegisd's doing."""
    job, nodes, decision = world.advised(lambda: world.run(*words))
    assert decision["outcome"]["result"] in ("plan_1", "plan_2"), decision
    assert world.leaves(nodes) == {"tor2"}
    return job, nodes


def gpus(world, job):
    """{node: {"a100": 2}}"""
    allotted = {}
    text = world.slurm.scontrol("--detail", "show", "job", job)
    for names, gres in re.findall(r"^\s+Nodes=(\S+) CPU_IDs=\S+ Mem=\d+ GRES=(\S*)", text, re.M):
        for node in expand(names):
            for kind, count in re.findall(r"gpu:(\w+):(\d+)", gres):
                allotted.setdefault(node, {})[kind] = int(count)
    return allotted


def test_gpus_of_the_whole_job(world):
    job, nodes = run_steered(world, "-N2", "--gpus=a100:4")
    assert gpus(world, job) == {node: {"a100": 2} for node in nodes}


def test_gpus_per_node(world):
    job, nodes = run_steered(world, "-N3", "--gpus-per-node=h100:1")
    assert gpus(world, job) == {node: {"h100": 1} for node in nodes}


def test_gpus_per_task(world):
    job, nodes = run_steered(world, "--ntasks=4", "--gpus-per-task=a100:1", "-N2")
    assert sum(sum(kinds.values()) for kinds in gpus(world, job).values()) == 4


def test_gres_types(world):
    job, nodes = run_steered(world, "-N2", "--gres=gpu:h100:2,gpu:a100:1")
    assert gpus(world, job) == {node: {"h100": 2, "a100": 1} for node in nodes}


def test_srun_and_its_steps_see_their_gpus(world):
    said = world.slurm.srun("-N2", "--gpus-per-node=a100:2", "sh", "-c", "echo $SLURMD_NODENAME $SLURM_JOB_NODELIST $SLURM_GPUS_ON_NODE")
    lines = [line.split() for line in said.splitlines()]
    assert sorted(line[0] for line in lines) == expand(lines[0][1]) and len(lines) == 2
    assert {line[2] for line in lines} == {"2"}


def test_dependency_expand_gives_the_first_job_the_nodes_of_the_second(world):
    first, nodes = run_steered(world, "-N2", "-n2")
    second = world.slurm.allocate("-N1", "-n1", f"--dependency=expand:{first}", f"--exclude={','.join(nodes)}")
    assert second
    more = world.slurm.nodes_of_job(second)
    world.slurm.scontrol("update", f"JobId={second}", "NumNodes=0")
    # "NumNodes=ALL" for the first would follow; without accounting stock 22.05 refuses it, and the nodes are there already
    assert sorted(world.slurm.nodes_of_job(first)) == sorted(nodes + more)
    assert world.slurm.state(second) in ("COMPLETED", "CANCELLED")


def test_a_restart_of_slurmctld_keeps_jobs_and_goes_on_steering(world):
    job, nodes = run_steered(world, "-N2", "--gpus-per-node=a100:1")
    before = world.aegis.status()["plugin"]["since_us"]
    world.slurm.restart_slurmctld()
    wait_for(lambda: (world.aegis.status()["plugin"] or {}).get("since_us", before) != before, "the plugin to greet again", 20)
    world.slurm.wait_nodes_up()
    assert world.slurm.state(job) == "RUNNING" and world.slurm.nodes_of_job(job) == nodes
    assert gpus(world, job) == {node: {"a100": 1} for node in nodes}
    _, again, _ = world.advised(lambda: world.run("-N2", "--exclusive"))
    assert world.leaves(again) == {"tor2"} and not set(again) & set(nodes)


def test_uninstalling_keeps_running_jobs(installed):
    """The directory leaves PluginDir, slurmctld restarts: stock Slurm takes over the live state, jobs end by themselves."""
    with steered(hot=(HOT,), **FIELDS) as world:
        slurm = world.slurm
        job, nodes = run_steered(world, "-N2", "--gpus-per-node=a100:2")
        short = slurm.sbatch("-N1", f"--output={slurm.path('out')}", wrap=f"while ! test -e {slurm.path('go')}; do sleep 0.1; done; echo end")
        slurm.wait_state(short, "RUNNING")
        slurm.restart_slurmctld(plugin_dirs=())
        slurm.wait_nodes_up()
        assert slurm.state(job) == "RUNNING" and slurm.nodes_of_job(job) == nodes
        assert gpus(world, job) == {node: {"a100": 2} for node in nodes}
        with open(slurm.path("go"), "w", encoding="ascii"):
            pass
        slurm.wait_state(short, "COMPLETED")
        with open(slurm.path("out"), encoding="ascii") as file:
            assert file.read() == "end\n"
        wait_for(lambda: not world.aegis.status()["plugin"]["connected"], "aegisd to notice", 10)
        slurm.cancel_all()
        slurm.wait_nodes_up()
        _, now = world.run("-N2", "--exclusive")
        assert world.leaves(now) == {HOT}, "stock placement again"
