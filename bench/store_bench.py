"""What recording and reading decisions costs: bench/store_bench.cpp, told as rows.

A placement is recorded by the thread that decides, so its worst cases count: with no sync beside it, and with one and ten a second.
"""
import json
import subprocess
import sys

from results import BUILD, Row, make, parser, show

COUNTERS = ("p50_us", "p99_us", "max_us")


def main():
    options = parser(__doc__.splitlines()[0]).parse_args()
    done = subprocess.run([make("bench/store_bench"), "--benchmark_format=json"], stdin=subprocess.DEVNULL, check=True,
                          stdout=subprocess.PIPE, text=True, cwd=BUILD)
    rows = []
    for found in json.loads(done.stdout)["benchmarks"]:
        if found.get("error_occurred"):
            raise SystemExit(f"{found['name']}: {found['error_message']}")
        name, _, words = found["name"].partition("/")
        if name == "record_placement":
            syncs = words.split("/")[0]
            rows += [Row(f"store_record_{syncs}_syncs_{counter}", found[counter], "us", found["iterations"]) for counter in COUNTERS]
        else:
            rows.append(Row(f"store_{name}_{words}_us", found["real_time"], found["time_unit"], found["iterations"]))
    show(rows, options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
