"""The figure of the landing page, and the numbers in the text of the front pages.

Both are made from ``data/results`` whenever the book is rendered, so that they cannot contradict
what is stored. A page writes ``@@name@@`` where the number of that name stands.
"""

import functools
import re
from pathlib import Path

import numpy as np
import pandas as pd

from rbmlib import datasets, exact, load_rbm
from rbmlib.book import tables

MARK = re.compile(r"@@(\w+)@@")
FIGURE = "book/front.png"
LOW = 13.0  # nats below the truth: a run that has missed a mode
SAMPLERS = {  # rows of rts_tempered: sampler, estimator and what the text calls them
    "AIS": ("ais", None),
    "BAR": ("bar", None),
    "RTS": ("tempered", "simulated"),
}
MODELS = ["pcd_10", "pcd_200", "cd25_500"]


@functools.cache
def stored(name: str) -> pd.DataFrame:
    return pd.read_csv(datasets.committed(f"results/{name}.csv"))


def rows(name: str, **where) -> pd.DataFrame:
    """The rows of a stored table that have these settings: an error if there are none."""
    table = stored(name)
    for column, value in where.items():
        table = table[table[column] == value]
    if table.empty:
        raise LookupError(f"{name} has no row with {where}")
    return table


@functools.cache
def truth(model: str) -> float:
    return float(rows("exact", model=model)["log_z"].iloc[0])


@functools.cache
def reference(model: str) -> float:
    """Exact for pcd_10; the longest run for pcd_200; the mean of all long runs for cd25_500."""
    if model == "pcd_10":
        return exact(load_rbm(model), progress=False).log_z
    if model == "pcd_200":
        return float(rows("rts_tempered", model=model, n_temperatures=100_000)["log_z"].iloc[0])
    long = rows("rts_sweeps", model=model, n_temperatures=10_000)
    return float(long["log_z"].mean())


def one_base(base: str) -> np.ndarray:
    """Two hundred runs of AIS on h20, one chain each, from one base."""
    return rows("ais_report", model="h20", base=base, schedule="linear")["log_z"].to_numpy()


def rmse_of(method: str, model: str) -> float:
    estimator, sampler = SAMPLERS[method]
    where = {"model": model, "estimator": estimator} | ({"sampler": sampler} if sampler else {})
    runs = rows("rts_tempered", **where)
    runs = runs[runs["n_temperatures"] < 100_000]
    return float(np.sqrt(np.mean((runs["log_z"] - reference(model)) ** 2)))


def best_tap(model: str, truth_value: float) -> float:
    """Distance of TAP2's usual answer (the median of 51 calls) from the truth."""
    calls = rows("tap_report", model=model, order=2, begin="densities", solver="minimise")
    return float(calls["log_z"].median() - truth_value)


def bound(model: str, estimator: str, n_temperatures: int, base: str = "base rate") -> pd.Series:
    found = rows("ais_bounds", model=model, estimator=estimator, n_temperatures=n_temperatures)
    return found[found["base"] == base].iloc[0]


def bracket(model: str, n_temperatures: int) -> tuple[pd.Series, pd.Series]:
    """Forward and reverse AIS from the base rate, 500 chains each."""
    return tuple(bound(model, e, n_temperatures) for e in ("ais", "reverse_ais"))


def ess_of(schedule: str) -> float:
    return float(rows("varopt_equal_time", schedule=schedule)["ess"].mean())


@functools.cache
def facts() -> dict[str, str]:
    """Every number that a front page writes, as text."""
    missed = one_base("own biases")
    low = missed[missed < truth("h20") - LOW]
    forward, backward = bracket("h500", 100_000)
    h100 = bound("h100", "ais", 100_000)["log_z"]
    found = {
        "h20_truth": tables.number(truth("h20"), 5),
        "h20_runs": f"{len(missed)}",
        "h20_missed": f"{len(low)}",
        "h20_gap": f"{truth('h20') - np.median(low):.1f}",
        "h20_spread": tables.number(np.quantile(low, 0.9) - np.quantile(low, 0.1), 2),
        "h20_good": f"{np.mean(np.abs(one_base('base rate') - truth('h20')) < 1.5):.0%}",
        "h500_low": tables.with_error(forward["log_z"], forward["std_error"]),
        "h500_high": tables.with_error(backward["log_z"], backward["std_error"]),
        "ess_linear": f"{ess_of('linear'):.0f}",
        "ess_varopt": f"{ess_of('varopt'):.0f}",
        "ess_friction": f"{ess_of('friction'):.0f}",
        "tap_h500": f"{-best_tap('h500', forward['log_z']):.0f}",
        "tap_h100": f"{-best_tap('h100', h100):.0f}",
        "rts_start": f"{rows('rts_start', model='h100', starting='paper')['log_z'].mean():.0f}",
        "h100": f"{h100:.0f}",
    }
    for method in SAMPLERS:
        for model in MODELS:
            found[f"{method.lower()}_{model}"] = tables.number(rmse_of(method, model), 2)
    return found


def filled(text: str) -> str:
    """A page with its numbers in place; a name that is not known is an error."""
    return MARK.sub(lambda match: facts()[match[1]], text)


def draw(target: Path) -> None:
    """Runs of AIS on h20 from two bases, and the exact value."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from rbmlib.book import plots

    with plt.rc_context(plots.STYLE):
        figure, ax = plt.subplots(figsize=(8.4, 3.3))
        for base, label in (
            ("own biases", "from the model's own biases: half of the runs miss a mode"),
            ("base rate", "from the pixel frequencies of the data"),
        ):
            runs = np.sort(one_base(base))
            look = plots.method(base, label) | {"linestyle": "", "markersize": 3.5}
            ax.plot(np.arange(1, len(runs) + 1), runs, **look)
        plots.truth(ax, truth("h20"), "exact, by adding up 2²⁰ terms")
        ax.set(xlabel="200 runs of each, sorted", ylabel="estimate of log Z (nats)")
        ax.legend(loc="center left", bbox_to_anchor=(0.03, 0.5), fontsize=9)
        figure.savefig(target, dpi=200)
        plt.close(figure)
