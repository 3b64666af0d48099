"""What a benchmark found: rows of name, value, unit, baseline, ratio and n, as a table or as JSON lines.

`baseline` is what the value is compared with and `ratio` is value / baseline; both are empty where there is nothing to
compare with. `n` is how many measurements the value stands for.
"""
import argparse
import dataclasses
import json
import math
import os
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("AEGIS_BUILD", SOURCE / "build"))
sys.path.insert(0, str(SOURCE / "tests" / "slurm"))


@dataclasses.dataclass
class Row:
    name: str
    value: float
    unit: str
    n: int
    baseline: float | None = None

    def fields(self):
        ratio = self.value / self.baseline if self.baseline else None
        return {"name": self.name, "value": self.value, "unit": self.unit, "baseline": self.baseline, "ratio": ratio, "n": self.n}


def quantile(values, share):
    """The smallest value that at least this share of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * share) - 1)]


def make(target):
    """Build a program that only benchmarks need; its path."""
    subprocess.run(["make", "--silent", "-C", BUILD, target], check=True, stdout=sys.stderr, stdin=subprocess.DEVNULL)
    return BUILD / target


def note(text):
    """What happens meanwhile, for whoever watches."""
    print(text, file=sys.stderr, flush=True)


def parser(description):
    arguments = argparse.ArgumentParser(description=description)
    arguments.add_argument("--json", action="store_true", help="one object a line")
    return arguments


def show(rows, as_json):
    if as_json:
        for row in rows:
            print(json.dumps(row.fields()))
        return
    def text(value):
        return "" if value is None else f"{value:,.3f}" if abs(value) < 10 else f"{value:,.1f}"
    width = max(len(row.name) for row in rows)
    print(f"{'':{width}}  {'value':>10}  {'unit':<8}  {'baseline':>10}  {'ratio':>6}  {'n':>6}")
    for row in rows:
        fields = row.fields()
        print(f"{row.name:{width}}  {text(row.value):>10}  {row.unit:<8}  {text(row.baseline):>10}  "
              f"{text(fields['ratio']):>6}  {row.n:>6}")
