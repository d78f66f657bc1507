"""Time what users do, against the alternatives: an answer that holds, a training, and MBAR.

    python book/_tools/bench_users.py [--rounds 5] [--quick] [--training]

* AIS to a standard error of 0.05: a run of rbmlib that has about that error bar, and is off the
  reference by no more than the bar allows (which is checked, over all rounds). Its seconds are
  multiplied by (its standard error / 0.05)^2: of so many more or fewer chains. Other people's loops
  take a part of the same steps with as many chains.
* Updates of CD-1 and of PCD, mini-batches of 100 images, 784-500. The others do a part of them,
  a whole number of epochs.
* MBAR of 100 temperatures with 20,000 Gaussian slopes, against pymbar with its default solver and
  with its robust one (by JAX where that is installed); and of 1,000 temperatures with 10^6 samples
  by rbmlib alone, with the largest memory of NumPy's arrays, since pymbar keeps a matrix of samples
  times temperatures (8 GB).

One thread each. Programs take turns; medians over the rounds, and ratios of processor seconds.
Writes data/results/speed_users.csv, adds its rows to speed_history.csv, and draws
book/speed_users.svg; the page on scaling shows them.
"""

import argparse
import os
import tracemalloc
import warnings
from functools import partial
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from baselines import baselines, installed, trainings
from turns import RESULTS, dated, in_turns, limited, rows

import rbmlib as rl
from rbmbook import load_reference, plots

ROOT = Path(__file__).parents[2]
WANTED = 0.05  # nats
UPDATES = 1000
STEPS_PART, UPDATES_PART = 100, 5  # the loops that are compared take one of so many
FEWEST_STEPS = 20  # of them, so that they do not time their own set-up
RUNS = {"pcd_20": (420, 20_000), "cd25_500": (140, 4000), "dna_cd1_500": (128, 100)}
MEAN, VARIANCE = -50.0, 300.0  # of slopes at beta = 0; the mean grows by VARIANCE beta


def answer(model: str, n_rounds: int, shorter: int) -> pd.DataFrame:
    """Seconds to a standard error that holds."""
    n_chains, n_steps = RUNS[model][0], RUNS[model][1] // shorter
    data = rl.datasets.load_dna() if model.startswith("dna") else rl.datasets.load_mnist()
    rbm, truth = rl.load_rbm(model), load_reference()[model]
    path, betas = rl.GeometricPath(rbm, rl.base_rate(data.train)), rl.schedules.linear(n_steps)
    found, n_taken = [], min(n_steps // 2, max(FEWEST_STEPS, n_steps // STEPS_PART))

    def ours():
        estimate = rl.ais(path, betas, n_chains, rng=len(found))
        found.append((estimate.log_z - truth.log_z, estimate.std_error))

    def theirs(loop):
        v = path.sample_base(n_chains, np.random.default_rng(0))
        part = betas[n_steps // 2 :][: n_taken + 1]
        return lambda: loop(rbm, path.base_visible_bias, part, v, 0)

    loops = {name: theirs(loop) for name, loop in baselines().items() if "Gibbs" not in name}
    seconds = in_turns({"rbmlib": ours} | loops, n_rounds)
    off, errors = np.array(found[1:]).T
    if shorter == 1 and abs(off.mean()) > 4 * np.sqrt((errors**2).mean() / off.size):
        raise SystemExit(f"error: {model}: off by {off.mean():.2f} nats: no answer that holds")
    more = float(np.median(errors) / WANTED) ** 2
    if shorter == 1 and not 1 / 1.5 < more < 1.5:
        raise SystemExit(f"error: {model}: {more:.2f} times the chains are needed: change RUNS")
    shares = {name: n_taken / n_steps / more for name in loops}
    task = f"AIS to an error bar of {WANTED}, {rbm.n_visible}-{rbm.n_hidden} ({model})"
    return rows(task, seconds, shares | {"rbmlib": 1 / more})


def training(method: str, n_rounds: int, shorter: int) -> pd.DataFrame:
    """Seconds of `UPDATES` updates; ours look at the model before and after, too."""
    data = rl.datasets.load_mnist().train[: 2000 if shorter > 1 else 10_000].astype(float)
    many = UPDATES // shorter
    few = max(len(data) // 100, many // UPDATES_PART)  # scikit-learn has whole epochs

    def ours():
        rl.train(data, 500, method=method, n_updates=many, monitor_every=many, rng=0)

    loops = {name: lambda f=f: f(data, 500, few) for name, f in trainings(method).items()}
    seconds = in_turns({"rbmlib": ours} | loops, n_rounds)
    shares = dict.fromkeys(loops, few / many)
    return rows(f"Training, {UPDATES:,} updates of {method.upper()}-1, 784-500", seconds, shares)


def slopes(n_states: int, n_each: int):
    """Slopes ordered by temperature, their counts, and the betas."""
    betas = np.linspace(0, 1, n_states)
    noise = np.random.default_rng(0).normal(size=(n_states, n_each))
    delta = MEAN + VARIANCE * betas[:, None] + np.sqrt(VARIANCE) * noise
    return delta.ravel(), np.full(n_states, n_each), betas


def pymbar_log_z(protocol: str, delta, counts, betas):
    """log Z of each temperature, with their errors, as its own interface gives them."""
    import pymbar

    found = pymbar.MBAR(-betas[:, None] * delta, counts, solver_protocol=protocol)
    found = found.compute_free_energy_differences()
    return -found["Delta_f"][0], found["dDelta_f"][0]


def joint(n_rounds: int, shorter: int) -> pd.DataFrame:
    """MBAR against pymbar, whose numbers must be ours; and a problem too large for it."""
    small, large = slopes(100 // shorter, 200), slopes(1000 // shorter, 1000)
    found = {}

    def kept(name, solve, problem):
        return lambda: found.update({name: solve(*problem)})

    programs = {"rbmlib": kept("rbmlib", rl.solve_mbar, small)}
    if installed("pymbar"):
        for protocol in ("default", "robust"):
            name = f"pymbar {'with' if installed('jax') else 'without'} JAX, {protocol} solver"
            programs[name] = kept(name, partial(pymbar_log_z, protocol), small)
    seconds = in_turns(programs, n_rounds)
    for name, (log_z, std_error) in list(found.items())[1:]:
        same = np.allclose(log_z, found["rbmlib"].log_z, atol=1e-3)
        if not same or not np.allclose(std_error[1:], found["rbmlib"].std_error[1:], rtol=1e-2):
            raise SystemExit(f"error: MBAR by {name} is not that of rbmlib")
    tracemalloc.start()
    rl.solve_mbar(*large)
    megabytes = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    alone = in_turns({f"rbmlib, {megabytes:.0f} MB": kept("large", rl.solve_mbar, large)}, 1)

    def task(problem):
        return f"MBAR, {problem[2].size:,} temperatures, {problem[0].size:,} samples"

    return pd.concat([rows(task(small), seconds, {}), rows(task(large), alone, {})])


def figure(table: pd.DataFrame) -> None:
    """A row of panels: one a task."""
    plots.use_style()
    tasks = list(table["task"].unique())
    fig, axes = plt.subplots(
        len(tasks), 1, figsize=(7, 1.4 * len(tasks)), sharex=True, layout="constrained"
    )
    for ax, task in zip(axes, tasks, strict=True):
        part = table[table["task"] == task][::-1]
        colours = [
            plots.GREEN if name.startswith("rbmlib") else plots.BLUE for name in part["program"]
        ]
        ax.scatter(part["processor seconds"], part["program"], color=colours)
        ax.set_title(task, loc="left", fontsize="medium")
        ax.set(xscale="log", ylim=(-0.6, len(part) - 0.4))
    axes[-1].set_xlabel("processor seconds, one thread")
    fig.savefig(ROOT / "book" / "speed_users.svg", metadata={"Date": None})
    plt.close(fig)


def remember(table: pd.DataFrame) -> None:
    """Add a line a program to the history."""
    target = RESULTS / "speed_history.csv"
    new = not target.exists()
    dated(table).to_csv(target, mode="a", header=new, index=False, float_format="%.4g")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="shorter runs, nothing written")
    parser.add_argument(
        "--training", action="store_true", help="only these; of other tasks rows are kept"
    )
    options = parser.parse_args()
    shorter = 20 if options.quick else 1
    warnings.simplefilter("ignore")
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    with limited(1):
        tables = [training(method, options.rounds, shorter) for method in ("cd", "pcd")]
        if not options.training:
            tables = [answer(model, options.rounds, shorter) for model in RUNS] + tables
            tables.append(joint(options.rounds, shorter))
    run = table = pd.concat(tables, ignore_index=True)
    if options.training:
        stored = pd.read_csv(RESULTS / "speed_users.csv")
        groups = dict(list(stored.groupby("task", sort=False))) | dict(list(run.groupby("task")))
        table = pd.concat(groups.values(), ignore_index=True)
    if not options.quick:
        table.to_csv(RESULTS / "speed_users.csv", index=False, float_format="%.4g")
        remember(run)
        figure(table)


if __name__ == "__main__":
    main()
