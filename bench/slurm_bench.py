"""Jobs started per second: stock Slurm against Slurm with Aegis in mode steer, in alternating rounds of one run.

A round is a fresh slurmctld with 512 CLOUD nodes (16 leaves, 4 GPUs a node) and 2,000 one-node jobs of one GPU, waiting in a
partition that is down. The partition goes up, and slurmctld starts all of them in one pass of its main scheduler.
Its own log, in milliseconds, says when each was allocated: the rate is 1,999 jobs over the time from the first to the last.
Both arms are measured the same way and take turns in going first. Before the jobs are released a few others have come and gone
("warm"). In the Aegis rounds a quarter of the leaves is hot and known to be, so jobs are steered while the calm leaves have room, and
kept afterwards; those that CALM lets the plugin keep need no question, but are reported and recorded like the others. If less than
nine tenths of the jobs were asked about or kept by CALM, as happens when the machine is busy and the circuit breaker opens, or none
was steered, the run measured something else: it says so and fails.

The ratio is the median over pairs of rounds. CPU time of slurmctld for a job is reported too: unlike the rate it does
not depend on what else the machine does.
"""
import contextlib
import datetime
import os
import re
import statistics
import sys
import tempfile

import advice_bench
from results import Row, note, parser, show

from cluster import Cluster  # noqa: E402, found through results
from steered import steered
from waiting import wait_for

NODES, LEAVES = 512, 16
ARRAYS, TASKS = 100, 20  # 2,000 jobs, in 100 calls of sbatch
JOBS = ARRAYS * TASKS
PAIRS = 3
WARM_UP = 10  # jobs
DEADLINE = "2ms"  # as installed; the tests grant more
SEEN_AT_LEAST = 0.9
# one pass may look at every job and take as long as it needs; no other pass begins meanwhile
SCHEDULER = "default_queue_depth=100000,batch_sched_delay=0,sched_interval=1,max_sched_time=55,bf_interval=600"


def fields(log):
    return {"nodes": NODES, "leaves": LEAVES, "scheduler": SCHEDULER,
            "partitions": ("PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=DOWN",
                           "PartitionName=warm Nodes=ALL MaxTime=INFINITE State=UP"),
            "extra": (f"SlurmctldLogFile={log}", "SlurmctldDebug=info", "MessageTimeout=115")}


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
        values = stat.read().rpartition(")")[2].split()
    return (int(values[11]) + int(values[12])) / os.sysconf("SC_CLK_TCK")


def allocations(log):
    """When each job was allocated, in seconds."""
    with open(log, encoding="utf-8", errors="replace") as lines:
        found = [re.match(r"\[([0-9T:.-]+)\] sched: Allocate JobId=", line) for line in lines]
    return [datetime.datetime.fromisoformat(match[1]).timestamp() for match in found if match]


def start_jobs(slurm, log):
    """Jobs per second and CPU milliseconds of slurmctld for a job."""
    for _ in range(WARM_UP):
        slurm.allocate("-N1", "--gpus=1", "-c4", "--partition=warm")
    slurm.cancel_all()
    first = len(allocations(log))
    for _ in range(ARRAYS):
        slurm.sbatch("-N1", "--gpus=1", "-c4", f"--array=0-{TASKS - 1}")
    before = cpu_seconds(slurm.slurmctld.pid)
    slurm.scontrol("update", "PartitionName=main", "State=UP")
    times = wait_for(lambda: len(found := allocations(log)[first:]) >= JOBS and found, f"{JOBS} jobs to start", 300, interval=1)
    cpu = cpu_seconds(slurm.slurmctld.pid) - before
    return (JOBS - 1) / (max(times) - min(times)), cpu / JOBS * 1000


def stock():
    with tempfile.TemporaryDirectory(prefix="aegis-bench-") as folder:
        log = os.path.join(folder, "slurmctld.log")
        with Cluster(**fields(log)) as slurm:
            return (*start_jobs(slurm, log), None)


def aegis():
    with contextlib.ExitStack() as stack:
        log = os.path.join(stack.enter_context(tempfile.TemporaryDirectory(prefix="aegis-bench-")), "slurmctld.log")
        hot = [f"tor{number + 1}" for number in range(LEAVES // 4)]
        world = stack.enter_context(steered(mode="steer", hot=hot, settings={"select.deadline": DEADLINE}, **fields(log)))
        result = start_jobs(world.slurm, log)
        return (*result, world.aegis.fresh_counters())


def main():
    arguments = parser(__doc__.splitlines()[0])
    arguments.add_argument("--pairs", type=int, default=PAIRS, help=f"pairs of rounds, {PAIRS} by default")
    options = arguments.parse_args()

    rates, costs, counters = {stock: [], aegis: []}, {stock: [], aegis: []}, []
    for pair in range(options.pairs):
        for arm in (stock, aegis) if pair % 2 == 0 else (aegis, stock):
            rate, cost, counted = arm()
            rates[arm].append(rate)
            costs[arm].append(cost)
            note(f"pair {pair + 1}, {arm.__name__}: {rate:.0f} jobs/s, {cost:.2f} ms of slurmctld's CPU a job")
            if counted:
                counters.append(counted)
                note("  {asks} asks, {kept_unasked} kept unasked, {plans_accepted} plans accepted, {plans_refused} refused, {timeouts} timeouts, "
                     "{losses} losses".format(**counted))
    ratios = [ours / theirs for ours, theirs in zip(rates[aegis], rates[stock])]
    note(f"ratios of the pairs: {', '.join(f'{ratio:.3f}' for ratio in ratios)}")
    median = statistics.median
    asks = sum(counted["asks"] for counted in counters)
    unasked = sum(counted["kept_unasked"] for counted in counters)
    steered_jobs = sum(counted["plans_accepted"] for counted in counters)
    added = sum(counted["added_us_total"] for counted in counters)
    answered = sum(counted["advice_keep"] + counted["advice_plans"] for counted in counters)
    show([Row("slurm_jobs_per_second", median(rates[aegis]), "jobs/s", options.pairs, median(rates[stock])),
          Row("slurm_throughput_ratio", median(ratios), "ratio", options.pairs, 1.0),
          Row("slurmctld_cpu_ms_per_job", median(costs[aegis]), "ms", options.pairs, median(costs[stock])),
          Row("slurm_added_us_per_job", added / max(1, asks + unasked), "us", asks + unasked),
          Row("slurm_jobs_asked_about", asks, "jobs", JOBS * len(counters)),
          Row("slurm_advice_in_time", answered / max(1, asks), "share", asks),
          Row("slurm_jobs_steered", steered_jobs, "jobs", JOBS * len(counters)),
          Row("slurm_losses", sum(counted["losses"] for counted in counters), "jobs", JOBS * len(counters)),
          *advice_bench.rows(sizes=advice_bench.SIZES[:1])], options.json)
    if asks + unasked < SEEN_AT_LEAST * JOBS * len(counters) or not steered_jobs:
        note(f"FAILED: Aegis saw {asks + unasked} of {JOBS * len(counters)} jobs and steered {steered_jobs}; is the machine busy?")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
