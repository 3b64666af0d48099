"""What reading Prometheus text costs, from bytes to the pressure of links: bench/ingest_bench.cpp, told as rows.

1,024 switches with 64 ports of 8 queues and 4 signals each, all scraped once a round. The baseline reads the same text the plain
way, into a map of names to values; it makes no pressure. Bytes are those of the heap for all that aegisd keeps of the
series, their links included; with history, every link is one between leaf and spine and keeps ten minutes of seconds.
"""
import json
import subprocess
import sys

from results import BUILD, Row, make, parser, show

SWITCHES, PORTS, QUEUES, ROUNDS = 1024, 64, 8, 7


def main():
    options = parser(__doc__.splitlines()[0]).parse_args()
    shape = [str(number) for number in (SWITCHES, PORTS, QUEUES, ROUNDS)]
    done = subprocess.run([make("bench/ingest_bench"), *shape], stdin=subprocess.DEVNULL, check=True,
                          stdout=subprocess.PIPE, text=True, cwd=BUILD)
    show([Row(**json.loads(line)) for line in done.stdout.splitlines()], options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
