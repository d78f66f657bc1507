"""Time what users do, against the alternatives: an answer that holds, and a training.

    python book/_tools/bench_users.py [--rounds 5] [--quick]

* AIS to a standard error of 0.05: rbmlib with a schedule long enough for one run of so many chains
  to be off the reference by no more than its error bar allows (which is checked, over all rounds),
  and a loop of NumPy in float64 that takes a part of the same steps. Seconds are those of the run,
  times (its standard error / 0.05)^2: of so many more or fewer chains.
* An update of CD-1 and of PCD, mini-batches of 100 images, 784-500.

One thread each. Programs take turns; medians over the rounds, and ratios of processor seconds.
Writes data/results/speed_users.csv, adds its ratios to speed_history.csv, and draws
book/speed_users.svg, which the page on scaling shows.
"""

import argparse
import os
import warnings
from datetime import UTC, datetime
from pathlib import Path

os.environ["RBMLIB_NUM_THREADS"] = "1"

import machine
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from baselines import baselines, trainings
from threadpoolctl import threadpool_limits
from turns import in_turns, rows

import rbmlib as rl
from rbmlib.book import plots

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "data" / "results"
WANTED = 0.05  # nats
UPDATES = 1000
PART = 100  # of the steps are taken by the loops that are compared
RUNS = {"pcd_20": (128, 20_000), "cd25_500": (128, 20_000), "dna_cd1_500": (128, 2000)}


def answer(model: str, n_rounds: int, shorter: int) -> pd.DataFrame:
    """Seconds to a standard error that holds."""
    n_chains, n_steps = RUNS[model][0], RUNS[model][1] // shorter
    data = rl.datasets.load_dna() if model.startswith("dna") else rl.datasets.load_mnist()
    rbm, truth = rl.load_rbm(model), rl.datasets.load_reference()[model]
    path, betas = rl.GeometricPath(rbm, rl.base_rate(data.train)), rl.schedules.linear(n_steps)
    found = []

    def ours():
        estimate = rl.ais(path, betas, n_chains, rng=len(found), progress=False)
        found.append((estimate.log_z - truth.log_z, estimate.std_error))

    def theirs(loop):
        v = path.sample_base(n_chains, np.random.default_rng(0)).coordinates
        part = betas[n_steps // 2 :][: max(2, n_steps // PART + 1)]
        return lambda: loop(rbm, path.base_visible_bias, part, v, 0)

    loops = {name: theirs(loop) for name, loop in baselines().items() if "Gibbs" not in name}
    seconds = in_turns({"rbmlib": ours} | loops, n_rounds)
    off, errors = np.array(found[1:]).T
    if shorter == 1 and abs(off.mean()) > 4 * np.sqrt((errors**2).mean() / off.size):
        raise SystemExit(f"error: {model}: off by {off.mean():.2f} nats: no answer that holds")
    more = float(np.median(errors) / WANTED) ** 2
    shares = {name: 1 / more / (n_steps / max(1, n_steps // PART)) for name in loops}
    task = f"AIS to s.e. {WANTED}, {rbm.n_visible}-{rbm.n_hidden} ({model})"
    return rows(task, seconds, shares | {"rbmlib": 1 / more})


def training(method: str, n_rounds: int, shorter: int) -> pd.DataFrame:
    """Seconds of `UPDATES` updates; ours look at the model before and after, too."""
    data = rl.datasets.load_mnist().train[: 100 * PART].astype(float)
    few, many = max(1, UPDATES // PART // shorter), UPDATES // shorter

    def ours():
        rl.train(
            data, 500, method=method, n_updates=many, monitor_every=many, rng=0, progress=False
        )

    loops = {name: lambda f=f: f(data, 500, few) for name, f in trainings(method).items()}
    seconds = in_turns({"rbmlib": ours} | loops, n_rounds)
    shares = dict.fromkeys(loops, few / many)
    return rows(f"{UPDATES:,} updates of {method.upper()}-1, 784-500", seconds, shares)


def figure(table: pd.DataFrame) -> None:
    """A row of panels: one a task."""
    plots.use_style()
    tasks = list(table["task"].unique())
    fig, axes = plt.subplots(
        len(tasks), 1, figsize=(7, 1.4 * len(tasks)), sharex=True, layout="constrained"
    )
    for ax, task in zip(axes, tasks, strict=True):
        part = table[table["task"] == task][::-1]
        colours = [plots.GREEN if name == "rbmlib" else plots.BLUE for name in part["program"]]
        ax.scatter(part["processor seconds"], part["program"], color=colours)
        ax.set_title(task, loc="left", fontsize="medium")
        ax.set(xscale="log", ylim=(-0.6, len(part) - 0.4))
    axes[-1].set_xlabel("processor seconds, one thread")
    fig.savefig(ROOT / "book" / "speed_users.svg", metadata={"Date": None})
    plt.close(fig)


def remember(table: pd.DataFrame) -> None:
    """Add a line a program to the history."""
    target = RESULTS / "speed_history.csv"
    today = datetime.now(UTC).strftime("%Y-%m-%d")
    lines = table.assign(date=today, rbmlib=rl.__version__, machine=machine.description())
    lines = lines[["date", "rbmlib", "machine", *table.columns]]
    lines.to_csv(target, mode="a", header=not target.exists(), index=False, float_format="%.4g")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="shorter runs, nothing written")
    options = parser.parse_args()
    shorter = 20 if options.quick else 1
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        tables = [answer(model, options.rounds, shorter) for model in RUNS]
        tables += [training(method, options.rounds, shorter) for method in ("cd", "pcd")]
    table = pd.concat(tables)
    if not options.quick:
        table.to_csv(RESULTS / "speed_users.csv", index=False, float_format="%.4g")
        remember(table)
        figure(table)


if __name__ == "__main__":
    main()
