"""Run a seeded stream of jobs through a cluster of CLOUD nodes, one by one, and write down where each went.

Every job's fate is known before the next is submitted: single jobs are tried inside slurmctld's allocation RPC, arrays by the
main scheduler. What cannot start at once is cancelled, so that no later pass starts it at a moment only the clock knows.
"""
from waiting import wait_for


def place(slurm, jobs):
    """[(what, nodes, or [nodes of each task])] in the order of `jobs`; no nodes: it could not start."""
    keys, running = [], []
    for words, array, cancels in jobs:
        if array:
            own, started = _array(slurm, words, array)
        else:
            job = slurm.allocate(*words)
            own = str(job) if job else None
            started = [own] if job else []
        keys.append(own)
        running += started
        gone = [running.pop(int(rank * len(running))) for rank in cancels if running]
        if gone:
            _cancel(slurm, gone)
    nodes = {key: names for key, (_, _, names) in slurm.queue().items()}  # finished jobs still show their nodes
    log = []
    for (words, array, _), own in zip(jobs, keys):
        fate = [nodes.get(key, []) for key in own] if array else nodes.get(own, [])
        log.append((" ".join([*words, f"--array=0-{array - 1}"] if array else words), fate))
    return log


def _array(slurm, words, size):
    """Submit the array: (the keys of its tasks, those that started). What the scheduler left pending is cancelled."""
    job = slurm.sbatch(f"--array=0-{size - 1}", *words)

    def settled():
        rows = slurm.squeue("--noheader", "--array", f"--job={job}", "--format=%K|%T|%r").splitlines()
        tasks = {int(task): (state, reason) for task, state, reason in (row.split("|") for row in rows)}
        # "None": not tried yet. Behind the first task that does not fit the scheduler tries no other: "Priority".
        done = all(state != "PENDING" or reason in ("Resources", "Priority") for state, reason in tasks.values())
        return tasks if done and len(tasks) == size else None

    tasks = wait_for(settled, f"array job {job} to be tried", 20, interval=0.25)
    started = [f"{job}_{task}" for task in sorted(tasks) if tasks[task][0] != "PENDING"]
    if len(started) < size:
        slurm.scancel("--state=PENDING", str(job))
        wait_for(lambda: not slurm.squeue("--noheader", f"--job={job}", "--states=PENDING").strip(), "pending tasks to go", 20)
    return [f"{job}_{task}" for task in range(size)], started


def _cancel(slurm, jobs):
    slurm.scancel(*jobs)
    wait_for(lambda: not slurm.squeue("--noheader", f"--job={','.join(jobs)}", "--format=%i %T").strip(), "cancelled jobs to be gone", 20)
