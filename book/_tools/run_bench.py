"""Answers of a method of this library on the models of data/bench, as a table for `rbmbook bench`.

    python book/_tools/run_bench.py log_z answers.csv      # or ais, rts, sams, bar, smc, nrpt, tap
    python -m rbmbook bench answers.csv

Models that nothing was tuned on come from `data/make_bench.py --seed 1 --out FOLDER`, and then
`--bench FOLDER` here and `--index FOLDER/index.csv` there.

Every method has its defaults, from the base that knows nothing of the model's making. The table
grows a row a model: what it holds is not computed again. Seconds are of the processor.
"""

import argparse
import csv
import time
import warnings
from pathlib import Path

import rbmlib as rl
from rbmbook import bench, rivals

BENCH = Path(__file__).parents[2] / "data" / "bench"
COLUMNS = ["name", "log_z", "std_error", "trusted", "seconds"]
LADDER, ANNEALING = rl.schedules.linear(60), rl.schedules.linear(1000)
METHODS = {
    "log_z": lambda model, path: rl.log_z(model, rng=0, enumerate_small=False),
    "ais": lambda model, path: rl.ais(path, ANNEALING, 500, rng=0),
    "bar": lambda model, path: rl.bar(path, ANNEALING, 500, rng=0),
    "rts": lambda model, path: rl.rts(path, LADDER, 100, 2000, rng=0),
    "sams": lambda model, path: rl.sams(path, LADDER, 100, 2000, rng=0),
    "smc": lambda model, path: rivals.smc(path, n_chains=1000, rng=0),
    "nrpt": lambda model, path: rivals.nrpt(path, rng=0),
    "tap": lambda model, path: rl.tap(model),
}


def answer(method, folder, row):
    """A row of the table; a model that the method does not take is not trusted."""
    started = time.process_time()
    try:
        model = bench.model(row["name"], folder / "models.zip")
        found = METHODS[method](model, rl.GeometricPath(model))
        said = [found.log_z, found.std_error, found.converged]
    except (ValueError, TypeError, NotImplementedError) as error:
        print(f"{row['name']}: {error}", flush=True)
        said = ["", "", False]
    return dict(
        zip(COLUMNS, [row["name"], *said, round(time.process_time() - started, 2)], strict=True)
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("method", choices=METHODS)
    parser.add_argument("answers", type=Path)
    parser.add_argument("--bench", type=Path, default=BENCH, metavar="FOLDER")
    given = parser.parse_args()
    warnings.simplefilter("ignore", rl.ConvergenceWarning)
    done = set()
    if given.answers.exists():
        done = {row["name"] for row in csv.DictReader(given.answers.open(encoding="utf-8"))}
    with given.answers.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if not done:
            writer.writeheader()
        for row in csv.DictReader((given.bench / "index.csv").open(encoding="utf-8")):
            if row["name"] not in done:
                writer.writerow(answer(given.method, given.bench, row))
                file.flush()


if __name__ == "__main__":
    main()
