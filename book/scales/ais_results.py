"""Compute the stored results of the AIS chapter: python book/scales/ais_results.py

Needs the published models h10, h20, h100, h500 (`rbmlib.datasets.fetch` finds or downloads
them). Writes to data/results: exact.csv (enumeration), ais_report.csv (one line a run in the
setting of the report) and ais_bounds.csv (one line a run of ours). Lines that are there already
are not computed again, so it can be stopped and started at any time.
"""

import itertools
import os
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import rbmlib as rl

FOLDER = Path(__file__).parents[2] / "data" / "results"
MODELS = ("h10", "h20", "h100", "h500")
REPORT_STEPS = {"h10": 100_000, "h20": 60_000, "h100": 60_000, "h500": 60_000}
REPORT_RUNS = {"h10": 200, "h20": 200, "h100": 20, "h500": 20}
BASES = ("own biases", "base rate")
DIRECTIONS = ("forward", "reverse")
SPACINGS = ("linear", "random", "SM08")
SEED = 2014


def path_to(name: str, base: str) -> rl.GeometricPath:
    """The geometric path to a published model, from one of two bases."""
    rbm = rl.load_rbm(name)
    bias = rl.base_rate(rl.datasets.load_mnist().train) if base == "base rate" else rbm.visible_bias
    return rl.GeometricPath(rbm, base=bias)


def schedule(spacing: str, n_steps: int, rng) -> np.ndarray:
    if spacing == "linear":
        return rl.schedules.linear(n_steps)
    if spacing == "SM08":
        return rl.schedules.sm08(n_steps)
    return np.concatenate([[0.0], np.sort(rng.random(n_steps - 1)), [1.0]])


def report_runs(name: str, base: str, spacing: str):
    """Runs of one chain each, as the report made them: new random betas for each run."""
    path, n_steps = path_to(name, base), REPORT_STEPS[name]
    rng = np.random.default_rng(SEED)
    n_runs = 20 if spacing == "random" else REPORT_RUNS[name]
    started = time.perf_counter()
    if spacing == "random":
        estimates = [
            rl.ais(path, schedule(spacing, n_steps, rng), n_chains=1, rng=rng, n_recorded=2)
            for _ in range(n_runs)
        ]
        values = [estimate.log_z for estimate in estimates]
    else:
        betas = schedule(spacing, n_steps, rng)
        values = rl.ais(path, betas, n_chains=n_runs, rng=rng, n_recorded=2).log_weights
    seconds = (time.perf_counter() - started) / n_runs
    for run, value in enumerate(values):
        yield {
            "model": name, "base": base, "spacing": spacing, "n_temperatures": n_steps,
            "run": run, "log_z": round(float(value), 6), "seed": SEED,
            "seconds": round(seconds, 3), "version": rl.__version__,
        }  # fmt: skip


def enumerated(name: str):
    estimate = rl.exact(rl.load_rbm(name))
    yield {
        "model": name, "log_z": round(estimate.log_z, 10), "seconds": round(estimate.seconds, 1),
        "version": rl.__version__,
    }  # fmt: skip


def bounds(name: str, base: str, n_steps: int, n_chains: int, direction: str):
    """One run of ours, forward or reverse."""
    path, betas = path_to(name, base), rl.schedules.linear(n_steps)
    estimator = rl.ais if direction == "forward" else rl.reverse_ais
    estimate = estimator(path, betas, n_chains=n_chains, rng=SEED)
    yield {
        "model": name, "base": base, "n_temperatures": n_steps, "n_chains": n_chains,
        "direction": direction, "log_z": round(estimate.log_z, 6),
        "std_error": round(estimate.std_error, 6), "mean_log_z": round(estimate.mean_log_z, 6),
        "mean_std_error": round(estimate.mean_std_error, 6), "ess": round(estimate.ess, 1),
        "start": estimate.settings.get("start", "base"), "seed": SEED,
        "seconds": round(estimate.seconds, 1), "version": rl.__version__,
    }  # fmt: skip


def fill(name: str, function, keys: tuple, tasks) -> None:
    """Run the tasks whose lines are not in the file yet; each is stored as soon as it is done."""
    target = FOLDER / f"{name}.csv"
    rows = pd.read_csv(target).to_dict("records") if target.exists() else []
    done = {tuple(row[key] for key in keys) for row in rows}
    for task in tasks:
        if task in done:
            continue
        rows += list(function(*task))
        table = pd.DataFrame(rows).sort_values(list(keys), kind="stable")
        table.to_csv(target.with_suffix(".part"), index=False)
        os.replace(target.with_suffix(".part"), target)
        print(name, *task, rows[-1]["log_z"], rows[-1]["seconds"], flush=True)


def main() -> None:
    warnings.simplefilter("ignore", rl.ConvergenceWarning)
    FOLDER.mkdir(exist_ok=True)
    fill("exact", enumerated, ("model",), [("h10",), ("h20",)])
    keys = ("model", "base", "n_temperatures", "n_chains", "direction")
    fill("ais_bounds", bounds, keys, itertools.product(MODELS, BASES, [10_000], [500], DIRECTIONS))
    fill(
        "ais_report", report_runs, ("model", "base", "spacing"),
        itertools.product(MODELS, BASES, SPACINGS),
    )  # fmt: skip
    long = itertools.product(("h100", "h500"), ["base rate"], [100_000], [500], DIRECTIONS)
    fill("ais_bounds", bounds, keys, long)


if __name__ == "__main__":
    main()
