"""The figure of the landing page, and the numbers in the text of the front pages.

Both are made from ``data/results`` whenever the book is rendered, so that they cannot contradict
what is stored. A page writes ``@@name@@`` where the number of that name stands.
"""

import functools
import re
from pathlib import Path

import numpy as np
import pandas as pd

from rbmbook import measured, tables, trust
from rbmbook.claims import claims
from rbmbook.page import pick
from rbmbook.wang import truth
from rbmlib import datasets

MARK = re.compile(r"@@(\w+)@@")
FIGURE = "book/front.svg"
SPIKE = 0.5  # nats above the lowest chain: those that agree, as the first lesson counts them
SAMPLERS = {  # rows of rts_tempered, by what the text calls them
    "AIS": {"estimator": "ais"},
    "BAR": {"estimator": "bar"},
    "RTS": {"estimator": "tempered", "sampler": "simulated"},
}
VERDICTS = ["verdicts", "verdicts_new", "verdicts_log_z"]
MODELS = ["pcd_10", "pcd_200", "cd25_500"]


@functools.cache
def stored(name: str) -> pd.DataFrame:
    return pd.read_csv(datasets.committed(f"results/{name}.csv"))


def rows(name: str, **where) -> pd.DataFrame:
    """The rows of a stored table that have these settings: an error if there are none."""
    return pick(stored(name), **where)


def one_base(base: str) -> np.ndarray:
    """Estimates of 200 chains of AIS on h20 from one base, each by itself."""
    return rows("ais_report", model="h20", base=base, schedule="linear")["log_z"].to_numpy()


def runs_of(method: str, model: str) -> pd.DataFrame:
    """Twenty runs of a method, with ``off`` (nats) and ``seconds``."""
    found = rows("rts_tempered", model=model, **SAMPLERS[method])
    found = found[found["n_temperatures"] < 100_000]
    return found.assign(off=found["log_z"] - truth(model))


def rmse_of(method: str, model: str) -> float:
    return float(np.sqrt(np.mean(runs_of(method, model)["off"] ** 2)))


def cost_of_rts(model: str) -> tuple[float, float, float]:
    """Seconds times squared error of RTS over that of AIS, and its 95% interval."""
    rts, ais = runs_of("RTS", model), runs_of("AIS", model)
    ratio = measured.rmse_ratio(rts["off"], of=ais["off"], paired=False)
    seconds = rts["seconds"].median() / ais["seconds"].median()
    logs = ratio.value, *ratio.interval(0.05)  # of a ratio of errors, not of their squares
    value, low, high = (float(np.exp(2 * log) * seconds) for log in logs)
    return value, low, high


def best_tap(model: str, truth_value: float) -> float:
    """Distance of TAP2's usual answer (the median of 51 calls) from the truth."""
    calls = rows("tap_report", model=model, order=2, begin="densities", solver="minimise")
    return float(calls["log_z"].median() - truth_value)


def bracket(model: str, n_temperatures: int) -> list[pd.Series]:
    """Forward and reverse AIS from the base rate, 500 chains each."""
    where = {"model": model, "n_temperatures": n_temperatures, "base": "base rate"}
    return [rows("ais_bounds", estimator=e, **where).iloc[0] for e in ("ais", "reverse_ais")]


def ess_of(schedule: str) -> float:
    return float(rows("varopt_equal_time", schedule=schedule)["ess"].mean())


def consistent() -> str:
    """How often consistent values of `rl.log_z` were wrong on models whose log Z is known."""
    every = pd.concat([trust.judged(stored(name)) for name in VERDICTS])
    found = every[every["method"].str.startswith("log_z") & (every["verdict"] == "consistent")]
    wrong, most = int(found["wrong"].sum()), trust.share_interval(found["wrong"].sum(), len(found))
    return (
        f"On test models whose log Z is known, {wrong or 'none'} of {len(found)} consistent values "
        f"{'was' if wrong < 2 else 'were'} off by more than four standard errors and 0.05 nats. "
        f"The 95% interval for the share of such errors ends at {most[1]:.1%}. "
        "Models built to deceive can still fool `rl.log_z` ({doc}`check/calibration`)."
    )


@functools.cache
def facts() -> dict[str, str]:
    """Every number that a front page writes, as text."""
    missed = one_base("own biases")
    low = missed[missed < missed.min() + SPIKE]
    forward, backward = bracket("h500", 100_000)
    h100 = bracket("h100", 100_000)[0]["log_z"]
    found = {
        "claims": f"{len(claims())}",
        "answer": f"{truth('pcd_20'):.6f}",
        "consistent": consistent(),
        "h20_truth": tables.number(truth("h20"), 5),
        "h20_chains": f"{len(missed)}",
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
    for model in MODELS:
        value, *ends = (tables.number(x, 2) for x in cost_of_rts(model))
        found[f"cost_{model}"] = f"{value} ({ends[0]} to {ends[1]})"
    return found


def filled(text: str) -> str:
    """A page with its numbers in place; a name that is not known is an error."""
    return MARK.sub(lambda match: facts()[match[1]], text)


def draw(target: Path, size=(8.4, 3.3), title: str = "") -> None:
    """Chains of AIS on h20 from two bases, and the exact value; size in inches of 150 dots."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from rbmbook import plots

    with plt.rc_context(plots.STYLE):
        figure, ax = plt.subplots(figsize=size)
        for base, label in (
            ("own biases", "from the model's own biases:\nhalf agree on a wrong value"),
            ("base rate", "from the base rate of the data"),
        ):
            runs = np.sort(one_base(base))
            look = plots.method(base, label) | {"linestyle": "", "markersize": 3.5}
            ax.plot(np.arange(1, len(runs) + 1), runs, **look)
        plots.truth(ax, truth("h20"), "exact, by adding up 2²⁰ terms")
        ax.set(xlabel="200 chains of each, sorted", ylabel="estimate of log Z (nats)")
        ax.legend(loc="center left", bbox_to_anchor=(0.03, 0.57), fontsize=9)
        if title:
            ax.set_title(title, fontsize=20, loc="left", pad=12)
        if target.suffix == ".svg":
            target.write_text(plots.bundle(figure)["image/svg+xml"], encoding="utf-8")
        else:
            figure.savefig(target, dpi=150)
        plt.close(figure)
