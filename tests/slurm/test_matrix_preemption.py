"""Preemption by partition priority, with real slurmds: REQUEUE, CANCEL and SUSPEND work as in stock Slurm while aegisd steers."""
import pytest

from hostlist import expand
from steered import steered
from waiting import wait_for

NODES = 4
PARTITIONS = ("PartitionName=low Nodes=ALL Default=YES PriorityTier=1 MaxTime=INFINITE State=UP {low}",
              "PartitionName=high Nodes=ALL PriorityTier=10 MaxTime=INFINITE State=UP {high}")
WAYS = {
    "REQUEUE": ("PreemptMode=REQUEUE", "PENDING", "", ""),
    "CANCEL": ("PreemptMode=CANCEL", "PREEMPTED", "", ""),
    "SUSPEND": ("PreemptMode=SUSPEND,GANG", "SUSPENDED", "OverSubscribe=FORCE:1", "OverSubscribe=FORCE:1"),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_higher_partition_gets_its_nodes(way, installed):
    mode, fate, low, high = WAYS[way]
    partitions = [line.format(low=low, high=high) for line in PARTITIONS]
    with steered(nodes=NODES, leaves=2, real=True, gres="", hot=("tor1",), select="CR_Core", partitions=partitions,
                 extra=("PreemptType=preempt/partition_prio", mode, "SchedulerTimeSlice=5")) as world:
        slurm = world.slurm
        first, nodes, _ = world.advised(lambda: world.run("-N2", "--partition=low", "--ntasks-per-node=16"))
        assert world.leaves(nodes) == {"tor2"}
        second = slurm.sbatch("-N2", "--partition=low", "--ntasks-per-node=16", wrap="sleep 1000")
        slurm.wait_state(second, "RUNNING")

        urgent = slurm.sbatch("-N4", "--partition=high", "--ntasks-per-node=16", wrap="sleep 1000")
        assert len(expand(slurm.wait_state(urgent, "RUNNING", seconds=60)["NodeList"])) == NODES
        for job in (first, second):
            slurm.wait_state(job, fate, seconds=30)

        slurm.scancel(str(urgent))
        slurm.wait_state(urgent, "CANCELLED")
        if way == "SUSPEND":  # a requeued job would wait two minutes
            for job in (first, second):
                slurm.wait_state(job, "RUNNING", seconds=60)
        counters = world.aegis.fresh_counters()
        assert counters["losses"] == 0
        assert counters["plans_accepted"] >= 1
        assert slurm.slurmctld.running()
        wait_for(lambda: world.aegis.status()["plugin"]["connected"], "the plugin to be there still", 5)
