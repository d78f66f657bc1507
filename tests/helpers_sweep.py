"""A sweep of squares, and a small task, for the tests of sweeps."""

import csv
from pathlib import Path

from rbmbook.sweeps import Sweep
from rbmbook.sweeps.run import PROVENANCE

TASKS = [{"n": n} for n in (3, 1, 2)]
SMALL = {"model": "pcd_20", "n_temperatures": 20, "n_chains": 10, "seed": 1}


def square(n):
    if n < 0:
        raise ArithmeticError("too small")
    return {"square": n * n, "root": n**0.5}


def read(path: Path) -> list[dict]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def results(path: Path) -> list[dict]:
    """Rows without their last columns, which no run has again: seconds, and when it was."""
    return [{n: x for n, x in row.items() if n not in PROVENANCE} for row in read(path)]


def run(declared, folder, function=square, **more):
    made = Sweep(declared, function, folder=folder, **more)
    return made, made.run(n_workers=0)
