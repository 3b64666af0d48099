"""Seeded streams of mixed jobs. The same seed gives the same words, whatever the cluster answers."""
import random


def mixed_request(generator, shape):
    """Words of one sbatch or salloc: sizes, GPUs, --nodelist, --exclude, --exclusive, time limits."""
    nodes = generator.choice([1, 1, 1, 2, 2, 3, 4, 6, 8, 12])
    words = [f"--nodes={nodes}", f"--time={generator.choice([5, 30, 120, 600])}"]
    kind = generator.random()
    if kind < 0.15:
        words.append("--exclusive")
    elif kind < 0.60:
        words.append(f"--gpus-per-node={generator.randint(1, 4)}")
    elif kind < 0.70:
        words.append(f"--gpus={nodes * generator.randint(1, 3)}")
    else:
        words += [f"--ntasks-per-node={generator.randint(1, 8)}", f"--mem={generator.choice([500, 4000, 16000])}"]
    if generator.random() < 0.10:
        named = sorted(generator.sample(shape.node_names(), min(nodes, 2)))
        words.append(f"--nodelist={','.join(named)}")
    elif generator.random() < 0.15:
        words.append(f"--exclude={','.join(sorted(generator.sample(shape.node_names(), 6)))}")
    return words


def mixed_jobs(seed, count, shape):
    """`count` tuples: words, array size (0: no array), and after it the ranks in [0,1) of running jobs to cancel."""
    generator = random.Random(seed)
    jobs = []
    for number in range(count):
        words = mixed_request(generator, shape)
        array = generator.randint(2, 5) if generator.random() < 0.08 else 0
        cancels = [generator.random() for _ in range(generator.randint(0, 8))] if number % 4 == 3 else []
        jobs.append((words, array, cancels))
    return jobs
