"""Time what adding up all states costs: `rl.exact` by the units of the smaller layer.

    python book/_tools/bench_exact.py [--rounds 3]

Processor seconds of one thread, which are nearly those of a quiet machine when others work on it
too: medians over the rounds. Writes data/results/speed_exact.csv, which the page `which` shows and
every other page quotes.
"""

import argparse
import csv
import statistics
import time
from pathlib import Path

import rbmlib as rl

TABLE = Path(__file__).parents[2] / "data" / "results" / "speed_exact.csv"
SMALLER, LARGER = (20, 22, 24, 26), (100, 784)


def seconds_of(n_visible: int, n_hidden: int) -> float:
    rbm = rl.testsystems.random_rbm(n_visible, n_hidden, rng=0)
    started = time.process_time()
    rl.exact(rbm)
    return time.process_time() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    rounds = range(parser.parse_args().rounds)
    seconds_of(30, 10)  # what is compiled, once
    head = ["units in the smaller layer", "states", *(f"seconds, other layer {n}" for n in LARGER)]
    rows = []
    for small in SMALLER:
        times = [statistics.median(seconds_of(n, small) for _ in rounds) for n in LARGER]
        rows.append([small, f"{2**small:,}", *(f"{t:.2g}" for t in times)])
        print(rows[-1], flush=True)
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([head, *rows])


if __name__ == "__main__":
    main()
