"""Round trip of one question, from the plugin's client through the Unix socket to aegisd and back.

The daemon decides with live pressure (a quarter of the leaves hot, mode steer) and commits each decision to its store, as in production.
"""
import subprocess
import sys

from results import Row, make, note, parser, quantile, show

from aegis import Aegis  # noqa: E402, found through results
from exporter import Exporter
from slurm_conf import Shape

ASKS = 5000
SIZES = ((512, 16), (10_000, 250))  # nodes, leaves


def hot(shape):
    leaves = shape.leaf_names()
    return leaves[:len(leaves) // 4]


def measure(nodes, leaves, asks=ASKS):
    """Microseconds of each answered ask, and how many went unanswered."""
    program = make("bench/advice_rtt")
    shape = Shape(nodes=nodes, leaves=leaves)
    with Exporter(shape.leaf_names()) as exporter, Aegis(shape, url=exporter.url, mode="steer") as aegis:
        exporter.only_hot(*hot(shape))
        aegis.wait_pressure(hot=hot(shape))
        done = subprocess.run([program, aegis.socket, str(nodes), str(asks)], stdin=subprocess.DEVNULL, check=True,
                              stdout=subprocess.PIPE, text=True)
    answers = done.stdout.split()
    return [int(answer) for answer in answers if answer != "missed"], answers.count("missed")


def rows(sizes=SIZES, asks=ASKS):
    found = []
    for nodes, leaves in sizes:
        note(f"{asks} asks with {nodes} nodes on {leaves} leaves")
        waited, missed = measure(nodes, leaves, asks)
        suffix = "" if nodes == SIZES[0][0] else f"_{nodes}_nodes"
        found += [Row(f"advice_rtt{suffix}_p50_us", quantile(waited, 0.50), "us", len(waited)),
                  Row(f"advice_rtt{suffix}_p99_us", quantile(waited, 0.99), "us", len(waited)),
                  Row(f"advice_missed{suffix}", missed, "asks", asks)]
    return found


if __name__ == "__main__":
    arguments = parser(__doc__)
    options = arguments.parse_args()
    show(rows(), options.json)
    sys.exit(0)
