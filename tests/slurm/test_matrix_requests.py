"""Every kind of request, steered: tor1 is hot, stock Slurm would go there, and what was asked for is still what the job gets.

One cluster of CLOUD nodes serves all tests of this file; each begins with no jobs.
"""
import re

import pytest

from hostlist import expand
from steered import steered
from waiting import wait_for

HOT = "tor1"


@pytest.fixture(scope="module")
def cluster(installed):
    with steered(nodes=64, leaves=4, gres="gpu:a100:2,gpu:h100:2", hot=(HOT,), scheduler="bf_interval=1,batch_sched_delay=0,sched_interval=2",
                 extra=("AllowSpecResourcesUsage=YES",)) as world:
        yield world


@pytest.fixture
def world(cluster):
    cluster.slurm.cancel_all()
    yield cluster
    counters = cluster.aegis.counters()
    assert counters["losses"] == 0
    assert counters["malformed"] == 0


def leaves(world, nodes):
    return {world.slurm.shape.leaf_of(node) for node in nodes}


def start(world, *words):
    """Start a job at once; (its number, its nodes)."""
    job = world.slurm.allocate(*words)
    assert job, f"stock Slurm would start {words} on an empty cluster"
    return job, world.slurm.nodes_of_job(job)


def steered_start(world, *words):
    """Start a job that Slurm would put on the hot leaf; it must not be there, and it must be aegisd's doing."""
    job, nodes = start(world, *words)
    assert HOT not in leaves(world, nodes), f"{words} was not steered: {nodes}"
    decision = wait_for(lambda: world.aegis.decisions(job=str(job)), f"a decision about job {job}", 5)[0]
    assert decision["reason"] == "better_plan" and decision["offered"]
    return job, nodes


def gres_of(world, job):
    """{node: {"a100": 2}} as slurmctld allotted it."""
    allotted = {}
    text = world.slurm.scontrol("--detail", "show", "job", job)
    for names, gres in re.findall(r"^\s+Nodes=(\S+) CPU_IDs=\S+ Mem=\d+ GRES=(\S*)", text, re.M):
        for node in expand(names):
            counts = allotted.setdefault(node, {})
            for kind, count in re.findall(r"gpu:(\w+):(\d+)", gres):
                counts[kind] = counts.get(kind, 0) + int(count)
    return allotted


def gpus(world, job):
    return {node: sum(counts.values()) for node, counts in gres_of(world, job).items()}


def test_gpus_of_the_whole_job_are_all_there(world):
    job, nodes = steered_start(world, "-N2", "--gpus=8")
    assert len(nodes) == 2 and gpus(world, job) == dict.fromkeys(nodes, 4)


def test_gpus_per_node(world):
    job, nodes = steered_start(world, "-N3", "--gpus-per-node=3")
    assert len(nodes) == 3 and gpus(world, job) == dict.fromkeys(nodes, 3)


def test_gpus_per_task(world):
    job, _ = steered_start(world, "--ntasks=6", "--gpus-per-task=1")
    assert sum(gpus(world, job).values()) == 6


def test_gres_types(world):
    job, nodes = steered_start(world, "-N2", "--gres=gpu:h100:2")
    assert gres_of(world, job) == {node: {"h100": 2} for node in nodes}


def test_exclusive(world):
    job, nodes = steered_start(world, "-N2", "--exclusive")
    assert world.slurm.job(job)["NumCPUs"] == "32"
    assert world.slurm.allocate("-N1", f"--nodelist={nodes[0]}") is None, "an exclusive node was shared"


def test_core_spec(world):
    job, nodes = steered_start(world, "-N2", "--core-spec=2")
    record = world.slurm.job(job)
    assert record["CoreSpec"] == "2" and len(nodes) == 2
    assert record["NumCPUs"] == "28", "all cores of two nodes but the two specialised ones on each"


def test_nodelist_on_the_hot_leaf_is_obeyed(world):
    _, nodes = start(world, "-N2", "--nodelist=n03,n05")
    assert nodes == ["n03", "n05"]


def test_nodelist_keeps_its_nodes_while_the_rest_may_move(world):
    _, nodes = start(world, "-N4", "--nodelist=n03")
    assert "n03" in nodes and len(nodes) == 4


def test_exclude_is_obeyed(world):
    _, nodes = steered_start(world, "-N2", "--exclude=n[16-47]")
    assert leaves(world, nodes) == {"tor4"}


def test_contiguous(world):
    blockers = [start(world, "-N1", "--exclusive", f"--nodelist={node}")[0] for node in ("n17", "n34", "n51")]
    _, nodes = start(world, "-N5", "--exclusive", "--contiguous")
    numbers = [int(node[1:]) for node in nodes]
    assert numbers == list(range(numbers[0], numbers[0] + 5))
    assert len(blockers) == 3


def test_switches_one_leaf_only(world):
    _, nodes = steered_start(world, "-N10", "--exclusive", "--switches=1")
    assert len(nodes) == 10 and len(leaves(world, nodes)) == 1


def test_job_array_every_task_is_decided_and_steered(world):
    job = world.slurm.sbatch("--array=1-5", "-N1", "--gpus-per-node=2")
    keys = {f"{job}_{task}" for task in range(1, 6)}

    def started():
        rows = {key: nodes for key, (_, _, nodes) in world.slurm.queue().items() if key in keys and nodes}
        return rows if len(rows) == 5 else None
    rows = wait_for(started, "five tasks to start", 20)
    assert all(HOT not in leaves(world, nodes) for nodes in rows.values())
    decided = {row["job_key"] for row in world.aegis.decisions()}
    assert keys <= decided


def test_het_job_starts_whole_and_every_component_is_steered(world):
    job = world.slurm.sbatch("-N1", "--gpus-per-node=1", ":", "-N2", "--gpus-per-node=2")

    def started():
        records = world.slurm.show_jobs(job)
        return records if len(records) == 2 and all(expand(record.get("NodeList")) for record in records) else None
    records = wait_for(started, "both components to start", 20)
    sizes = {record["HetJobOffset"]: expand(record["NodeList"]) for record in records}
    assert {offset: len(nodes) for offset, nodes in sizes.items()} == {"0": 1, "1": 2}
    assert all(HOT not in leaves(world, nodes) for nodes in sizes.values())


def test_dependency_expand_gives_the_first_job_the_nodes_of_the_second(world):
    first, nodes = steered_start(world, "-N2", "--exclusive")
    second = world.slurm.allocate("-N1", "--exclusive", f"--dependency=expand:{first}")
    assert second
    more = world.slurm.nodes_of_job(second)
    world.slurm.scontrol("update", f"JobId={second}", "NumNodes=0")
    world.slurm.scontrol("update", f"JobId={first}", "NumNodes=ALL")
    assert sorted(world.slurm.nodes_of_job(first)) == sorted(nodes + more)


def test_a_reservation_holds_inside_and_outside(world):
    world.slurm.scontrol("create", "reservation", "ReservationName=held", "Nodes=n[00-05],n[16-31]", "StartTime=now", "Duration=60", "Users=root")
    try:
        _, inside = start(world, "-N2", "--reservation=held", "--gpus-per-node=1")
        assert set(inside) <= set(expand("n[00-05],n[16-31]")) and len(inside) == 2
        _, outside = steered_start(world, "-N2", "--gpus-per-node=1")
        assert leaves(world, outside) <= {"tor3", "tor4"}
        world.slurm.cancel_all()
    finally:
        world.slurm.cancel_all()
        world.slurm.scontrol("delete", "ReservationName=held")


def test_backfill_starts_a_short_job_and_it_is_steered(world):
    slurm = world.slurm
    slurm.allocate("-N32", "--exclusive", "--nodelist=n[32-63]", "--time=600")
    blocked = slurm.sbatch("-N40", "--exclusive", "--time=60")
    wait_for(lambda: slurm.job(blocked)["Reason"] == "Resources", "the large job to wait for nodes", 20)
    short = slurm.sbatch("-N2", "--exclusive", "--time=5")
    nodes = slurm.wait_started(short)
    assert leaves(world, nodes) == {"tor2"}
    assert f"_start_job: Started JobId={short} in main" in slurm.slurmctld.log_text(), "it was not backfill that started it"
    assert slurm.state(blocked) == "PENDING"
