"""Every kind of request, steered: tor1 is hot, stock Slurm would go there, and what was asked for is still what the job gets.

One cluster of CLOUD nodes serves all tests of this file; each begins with no jobs. Requests whose result only real slurmds
show (GPUs, expansion) are in test_matrix_running.py.
"""
import re

import pytest

from hostlist import expand
from steered import steered
from waiting import wait_for

HOT = "tor1"


@pytest.fixture(scope="module")
def cluster(installed):
    with steered(nodes=64, leaves=4, hot=(HOT,), scheduler="bf_interval=1,batch_sched_delay=0,sched_interval=2",
                 extra=("AllowSpecResourcesUsage=YES",)) as world:
        yield world


@pytest.fixture
def world(cluster):
    cluster.slurm.cancel_all()
    yield cluster
    counters = cluster.aegis.counters()
    assert counters["losses"] == 0
    assert counters["malformed"] == 0


def start_steered(world, *words):
    """Start a job that Slurm would put on the hot leaf; it must not be there, and that must be aegisd's doing."""
    job, nodes, decision = world.advised(lambda: world.allocate(*words))
    assert decision["reason"] == "better_plan" and decision["outcome"]["result"] in ("plan_1", "plan_2"), decision
    assert HOT not in world.leaves(nodes), f"{words} was not steered: {nodes}"
    return job, nodes


def start_whatever(world, *words):
    """Start a job; aegisd has been asked and may have kept Slurm's choice."""
    job, nodes, _ = world.advised(lambda: world.allocate(*words))
    return job, nodes


def test_exclusive(world):
    job, nodes = start_steered(world, "-N2", "--exclusive")
    assert world.slurm.job(job)["NumCPUs"] == "32"
    assert world.slurm.allocate("-N1", f"--nodelist={nodes[0]}") is None, "an exclusive node was shared"


def test_gpus_fill_no_node_twice(world):
    _, nodes = start_steered(world, "-N2", "--gpus-per-node=3")
    assert len(nodes) == 2
    assert world.slurm.allocate("-N1", "--gpus-per-node=2", f"--nodelist={nodes[0]}") is None, "five of four GPUs"
    assert world.slurm.allocate("-N1", "--gpus-per-node=1", f"--nodelist={nodes[0]}")


def test_core_spec(world):
    job, nodes = start_steered(world, "-N2", "--core-spec=2")
    assert world.slurm.job(job)["CoreSpec"] == "2" and len(nodes) == 2
    used = re.findall(r"CPU_IDs=(\S+)", world.slurm.scontrol("--detail", "show", "job", job))
    assert used == ["0-6,8-14"], "all cores of both nodes but two on each"


def test_nodelist_on_the_hot_leaf_is_obeyed(world):
    _, nodes = start_whatever(world, "-N2", "--nodelist=n03,n05")
    assert nodes == ["n03", "n05"]


def test_nodelist_keeps_its_nodes_while_the_rest_may_move(world):
    _, nodes = start_whatever(world, "-N4", "--nodelist=n03")
    assert "n03" in nodes and len(nodes) == 4


def test_exclude_is_obeyed(world):
    _, nodes = start_steered(world, "-N2", "--exclude=n[16-47]")
    assert world.leaves(nodes) == {"tor4"}


def test_contiguous(world):
    for node in ("n17", "n34", "n51"):
        assert world.slurm.allocate("-N1", "--exclusive", f"--nodelist={node}")
    _, nodes = start_whatever(world, "-N5", "--exclusive", "--contiguous")
    numbers = [int(node[1:]) for node in nodes]
    assert numbers == list(range(numbers[0], numbers[0] + 5))


def test_switches_one_leaf_only(world):
    _, nodes = start_steered(world, "-N10", "--exclusive", "--switches=1")
    assert len(nodes) == 10 and len(world.leaves(nodes)) == 1


def test_a_job_larger_than_all_cool_leaves_still_starts(world):
    _, nodes = start_whatever(world, "-N60", "--exclusive")
    assert len(nodes) == 60 and HOT in world.leaves(nodes)


def test_job_array_every_task_is_decided_by_itself(world):
    job = world.slurm.sbatch("--array=1-5", "-N1", "--gpus-per-node=2")

    def started():
        rows = {key: nodes for key, (_, _, nodes) in world.slurm.queue().items() if key.startswith(f"{job}_") and nodes}
        return rows if len(rows) == 5 else None
    rows = wait_for(started, "five tasks to start", 20)
    in_time = [key for key in rows if world.outcome(key)]
    assert in_time, "no advice was in time"
    assert all(HOT not in world.leaves(rows[key]) for key in in_time)
    assert {row["job_key"] for row in world.aegis.decisions(limit=5)} <= set(rows)


def test_het_job_starts_whole_and_its_components_are_steered(world):
    job = world.slurm.sbatch("-N1", "--gpus-per-node=1", ":", "-N2", "--gpus-per-node=2")

    def started():
        records = world.slurm.show_jobs(job)
        return records if len(records) == 2 and all(expand(record.get("NodeList")) for record in records) else None
    records = wait_for(started, "both components to start", 20)
    nodes = {int(record["HetJobOffset"]): expand(record["NodeList"]) for record in records}
    assert [len(nodes[0]), len(nodes[1])] == [1, 2]
    in_time = [offset for offset in nodes if world.outcome(f"{job}+{offset}")]
    assert in_time, "no advice was in time"
    assert all(HOT not in world.leaves(nodes[offset]) for offset in in_time)


def test_a_reservation_holds_inside_and_outside(world):
    world.slurm.scontrol("create", "reservation", "ReservationName=held", "Nodes=n[00-05],n[16-31]", "StartTime=now",
                         "Duration=60", "Users=root")
    try:
        _, inside = start_whatever(world, "-N2", "--reservation=held", "--gpus-per-node=1")
        assert set(inside) <= set(expand("n[00-05],n[16-31]")) and len(inside) == 2
        _, outside = start_steered(world, "-N2", "--gpus-per-node=1")
        assert world.leaves(outside) <= {"tor3", "tor4"}
    finally:
        world.slurm.cancel_all()
        world.slurm.scontrol("delete", "ReservationName=held")


def test_backfill_starts_a_short_job_and_it_is_steered(world):
    slurm = world.slurm
    assert slurm.allocate("-N32", "--exclusive", "--nodelist=n[32-63]", "--time=600")
    blocked = slurm.sbatch("-N40", "--exclusive", "--time=60")
    wait_for(lambda: slurm.job(blocked)["Reason"] == "Resources", "the large job to wait for nodes", 20)

    def backfill():
        job = slurm.sbatch("-N2", "--exclusive", "--time=5")
        return job, slurm.wait_started(job)
    job, nodes, _ = world.advised(backfill)
    assert world.leaves(nodes) == {"tor2"}
    assert f"_start_job: Started JobId={job} in main" in slurm.slurmctld.log_text(), "it was not backfill that started it"
    assert slurm.state(blocked) == "PENDING"
