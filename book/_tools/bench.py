"""Time annealing by rbmlib against other people's loops, against the machine, and as it scales.

    python book/_tools/bench.py [--chains 256] [--steps 200] [--rounds 5] [--quick] [MODEL ...]

All loops take the same steps of the same chains of the same model, half-way along the path (a
step is a ten-thousandth of it). They take turns, so that a slow spell of
the machine hits them alike; medians over the rounds are shown, and ratios are medians of the
ratios of a round. Rows "alone" are yardsticks: the matrix products of a step (dense float32), and
its exponentials, random numbers and increments, each on its own.

Prints tables; with the models that are timed by default it writes data/results/speed.csv (a block
of rows a kind of machine), speed_steps.csv (the same, a row a loop), speed_machine.csv,
speed_scaling.csv and book/speed.svg, which the page on scaling shows.
"""

import argparse
import platform
import statistics
import time
import tracemalloc
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import machine
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from baselines import baselines
from tqdm import tqdm
from turns import RESULTS, dated, in_turns, keep, limited

import rbmlib as rl
from rbmbook import plots
from rbmlib._kernels import threads
from rbmlib.numerics import ChainStream

ROOT = Path(__file__).parents[2]
MODELS = "pcd_20", "pcd_500"
FINE, MIDDLE = 1e-4, 0.5  # size of a step, and where the steps are taken
OURS = "rbmlib, portable"  # the name that rows measured before have


def steps(n: int) -> np.ndarray:
    """The betas of ``n`` steps half-way along the path."""
    return MIDDLE + FINE * np.arange(n + 1)


def ours(path, betas, v, seed):
    """The compiled loop, with its importance steps to the float64 model."""
    path.anneal(v, betas, ChainStream(seed, len(v)))


def contestants(path) -> dict:
    """Name -> function of steps, chains and seed."""
    bias = path.base_visible_bias
    others = {
        name: lambda k, v, seed, f=f: f(path.rbm, bias, steps(k), v, seed)
        for name, f in baselines().items()
    }
    return others | {OURS: lambda k, v, seed: ours(path, steps(k), v, seed)}


def microseconds(function, n_chain_steps: int) -> float:
    started = time.perf_counter()
    function()
    return (time.perf_counter() - started) / n_chain_steps * 1e6


def all_threads(work, n_threads: int) -> None:
    """``work`` on every thread at the same time."""
    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(lambda _: work(), range(n_threads)))


def compare(models: dict, n_chains: int, n_steps: int, n_rounds: int) -> pd.DataFrame:
    """Microseconds a chain and step of every contestant and bound, a row a round."""
    programs, inside, sizes = {}, {}, {}
    for model, rbm in models.items():
        path = rl.GeometricPath(rbm, base=rl.base_rate(rl.datasets.load_mnist().train))
        v = path.sample_base(n_chains, np.random.default_rng(0))
        for n in sorted({1, threads.default_n_threads()}):
            for name, f in contestants(path).items():
                key = model, n, name
                programs[key] = partial(f, n_steps, v, 0)
                inside[key], sizes[key] = partial(limited, n), n_chains * n_steps
            for name, (kernel, chain_steps) in machine.bounds(rbm).items():
                key = model, n, name
                programs[key] = partial(all_threads, kernel, n)
                inside[key], sizes[key] = partial(limited, 1), n * chain_steps
    return pd.DataFrame(
        [
            (*key, number, wall / sizes[key] * 1e6)
            for key, seconds in in_turns(programs, n_rounds, inside).items()
            for number, (wall, _) in enumerate(seconds)
        ],
        columns=["model", "threads", "loop", "round", "microseconds"],
    )


def summary(rounds: pd.DataFrame) -> pd.DataFrame:
    """Medians, and median ratios to NumPy float64 on as many threads."""
    reference = rounds[rounds["loop"] == "NumPy float64"]
    joined = rounds.merge(
        reference.drop(columns="loop"), on=["model", "threads", "round"], suffixes=("", "_numpy")
    )
    joined["times_numpy"] = joined["microseconds_numpy"] / joined["microseconds"]
    groups = joined.groupby(["model", "threads", "loop"], sort=False)
    table = groups[["microseconds", "times_numpy"]].median()
    table["least"] = groups["microseconds"].min()
    return table.reset_index()


def wide(kept: pd.DataFrame) -> pd.DataFrame:
    """A row a machine and loop, a column a model and number of threads: microseconds (ratio)."""
    shown = kept.assign(
        what=kept["model"] + ", " + kept["threads"].map({1: "1 thread"}).fillna(
            kept["threads"].astype(str) + " threads"
        ),
        value=[f"{t:.3g} ({x:.3g}×)" for t, x in
               zip(kept["microseconds"], kept["times_numpy"], strict=True)],
    )  # fmt: skip
    table = shown.pivot(index=["machine", "loop"], columns="what", values="value")
    order = [tuple(x) for x in shown[["machine", "loop"]].drop_duplicates().to_numpy()]
    return table.reindex(order)[list(shown["what"].drop_duplicates())].reset_index()


def scaling(n_steps: int, n_rounds: int) -> pd.DataFrame:
    """Microseconds a chain and step of rbmlib along one axis at a time."""
    data = rl.datasets.load_mnist().train
    base = rl.base_rate(data)
    most = threads.default_n_threads()
    plan = [("chains", 500, n, max(2 * n_steps, 5 * n_steps * 64 // max(64, n)), most)
            for n in (1, 8, 32, 128, 512, 2048)]  # fmt: skip
    plan += [("steps", 500, 64, k, most) for k in (100, 1000, 10_000)]
    plan += [
        ("hidden units", m, 256, 5 * n_steps, most) for m in (10, 20, 30, 50, 100, 200, 500, 1000)
    ]
    plan += [("threads", m, 256, 5 * n_steps, n) for m in (20, 500) for n in range(1, most + 1)]
    rows = []
    for axis, n_hidden, n_chains, n_steps, n_threads in tqdm(plan, unit="point", disable=None):
        rbm = rl.testsystems.random_rbm(n_visible=784, n_hidden=n_hidden, rng=n_hidden)
        path = rl.GeometricPath(rbm, base=base)
        v = path.sample_base(n_chains, np.random.default_rng(0))
        betas = MIDDLE + min(FINE, 0.5 / n_steps) * np.arange(n_steps + 1)
        with limited(n_threads):
            times = [
                microseconds(lambda b=betas, v=v, p=path: ours(p, b, v, 0), n_chains * n_steps)
                for _ in range(n_rounds)
            ]
            megabytes = peak_megabytes(lambda b=betas, v=v, p=path: ours(p, b, v, 0))
        rows.append((axis, OURS, n_hidden, n_chains, n_steps, n_threads,
                     statistics.median(times), megabytes))  # fmt: skip
    return pd.DataFrame(
        rows,
        columns=["axis", "loop", "n_hidden", "n_chains", "n_steps", "threads", "microseconds",
                 "megabytes"],
    )  # fmt: skip


def peak_megabytes(function) -> float:
    """Largest memory held by Python and NumPy while a function runs."""
    tracemalloc.start()
    function()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20


def figure(table: pd.DataFrame, scales: pd.DataFrame) -> None:
    """Bars of the comparison, and the curves of scaling."""
    plots.use_style()
    plt.rcParams["svg.hashsalt"] = "speed"  # the same file for the same numbers
    n = table["threads"].max()
    loops = [x for x in table["loop"].unique() if not x.startswith("alone")]
    fig, axes = plt.subplots(2, 2, figsize=(10, 7))
    wide = table[table["threads"] == n].pivot(index="loop", columns="model", values="microseconds")
    for model, colour in zip(wide, (plots.BLUE, plots.ORANGE), strict=False):
        axes[0, 0].semilogx(
            wide.loc[loops[::-1], model], loops[::-1], "o", color=colour, label=model
        )
    axes[0, 0].set(xlabel="µs a chain and step", title=f"{n} threads")
    axes[0, 0].legend()
    for ax, (axis, column) in zip(
        axes.flat[1:],
        [("chains", "n_chains"), ("hidden units", "n_hidden"), ("steps", "n_steps")],
        strict=True,
    ):
        for name, part in scales[scales["axis"] == axis].groupby("loop"):
            ax.loglog(part[column], part["microseconds"], "o-", label=name, color=plots.GREEN)
        ax.set(xlabel=f"number of {axis}", ylabel="µs a chain and step")
        ax.legend()
    fig.savefig(ROOT / "book" / "speed.svg", metadata={"Date": None})


def show(table: pd.DataFrame) -> None:
    with pd.option_context("display.width", 120, "display.float_format", "{:.3g}".format):
        print("\n" + table.to_string(index=False), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", nargs="*", metavar="MODEL", help="a registered name or a file")
    parser.add_argument("--chains", type=int, default=256)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="one round of a few steps: a trial")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.chains, arguments.steps, arguments.rounds = 64, 20, 1
    warnings.simplefilter("ignore")

    models = {name: rl.load_rbm(name) for name in arguments.models or MODELS}
    print(f"{machine.description()}, Python {platform.python_version()}, rbmlib {rl.__version__}")
    table = summary(compare(models, arguments.chains, arguments.steps, arguments.rounds))
    show(table)
    if arguments.models or arguments.quick:
        print("\na trial: nothing was written")
        return
    wide(keep(table, "speed")).to_csv(RESULTS / "speed_steps.csv", index=False)
    rates = machine.rates(arguments.rounds)
    show(rates)
    scales = scaling(arguments.steps, min(3, arguments.rounds))
    show(scales)
    dated(rates).to_csv(RESULTS / "speed_machine.csv", index=False, float_format="%.4g")
    scales.to_csv(RESULTS / "speed_scaling.csv", index=False, float_format="%.4g")
    figure(table, scales)


if __name__ == "__main__":
    main()
