"""Time what a user waits for before any chain has moved: the import, and the first answer.

    python book/_tools/bench_start.py [--rounds 5] [--against FOLDER]

Each row is a program in a Python of its own, with its kernels and the bytecode of every package
compiled already (where PYTHONDONTWRITEBYTECODE is set, users wait longer); medians over the rounds,
in which the programs take turns. With ``--against``, the folder of another checkout, each program
runs with the library of both in turn, and its seconds stand beside ours. Processor seconds are
nearly those of a quiet machine when others work on it too; wall seconds are not.

Prints a table, and writes data/results/speed_start.csv, which the page on scaling shows.
"""

import argparse
import csv
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "data" / "results" / "speed_start.csv"
ESTIMATE = """
import rbmlib as rl
rbm = rl.load_rbm("pcd_20")
path = rl.GeometricPath(rbm, base=rl.base_rate(rl.datasets.load_mnist().train))
rl.ais(path, rl.schedules.linear(1000), n_chains=100, rng=0)
"""
PROGRAMS = {
    "import numpy, scipy.special, numba": ["-c", "import numpy, scipy.special, numba"],
    "import rbmlib": ["-c", "import rbmlib"],
    "first estimate: AIS of pcd_20, 100 chains of 1,000 steps": ["-c", ESTIMATE],
    "python -m rbmlib logz pcd_10, from its file to the verdict": [
        "-m",
        "rbmlib",
        "logz",
        "pcd_10",
    ],
    "python -m rbmlib logz cd25_500 --data mnist, which rests after ten seconds": [
        *("-m", "rbmlib", "logz", "cd25_500", "--data", "mnist"),
    ],
}


def seconds_of(arguments: list[str], library: Path, bytecode: str) -> tuple[float, float]:
    """Wall and processor seconds of a program with the library of this checkout."""
    settings = os.environ | {"PYTHONPATH": str(library), "RBMLIB_NUM_THREADS": "1",
                             "PYTHONPYCACHEPREFIX": bytecode}  # fmt: skip
    settings.pop("PYTHONDONTWRITEBYTECODE", None)
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, *arguments], cwd=folder, env=settings, capture_output=True, check=False
        )
    wall, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):  # 1: a verdict that is not to be trusted
        raise SystemExit(f"{arguments} failed: {done.stderr.decode()}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--against", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    libraries = {"": ROOT} | ({"before": options.against.resolve()} if options.against else {})
    found: dict = {(name, which): [] for name in PROGRAMS for which in libraries}
    with tempfile.TemporaryDirectory() as bytecode:
        for number in range(options.rounds + 1):  # the first one fills caches and is not counted
            for (name, which), seconds in found.items():
                one = seconds_of(PROGRAMS[name], libraries[which], bytecode)
                if number:
                    seconds.append(one)
            print(f"round {number} of {options.rounds}", file=sys.stderr, flush=True)
            if number:
                rows = table(found)
                write(rows)
    for row in rows:
        print("  ".join(f"{name}: {value}" for name, value in row.items()))


def table(found: dict) -> list[dict]:
    """Medians of the rounds so far: a row a program, the columns of each library beside another."""
    rows: dict[str, dict] = {}
    for (name, which), seconds in found.items():
        row = rows.setdefault(name, {"program": name, "rounds": len(seconds)})
        for i, unit in enumerate(("wall seconds", "processor seconds")):
            column = " ".join(filter(None, [unit, which]))
            row[column] = f"{statistics.median(s[i] for s in seconds):.2f}"
    return list(rows.values())


def write(rows: list[dict]) -> None:
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
