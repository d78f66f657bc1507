"""How the reference set is joined from its runs, and the figure that shows whether they agree."""

from __future__ import annotations

import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.stats import chi2

from rbmlib import datasets

from .plots import BLUE, GREEN, GREY, ORANGE

MAXIMUM_ERROR = 0.02  # nats: of a value that is called settled
DISAGREEMENT = 0.001  # chance of the chi-squared of runs that agree, below which they do not
DIGITS = 6
BOTH, TEMPERING, SIDES = "both directions", "parallel tempering", "both sides"


def runs() -> pd.DataFrame:
    """The runs behind the reference set: log Z, standard error, and a name for each method."""
    sweep = pd.read_csv(datasets.committed("results/reference.csv"))
    leaky = pd.read_csv(datasets.committed("results/leaky_table3.csv"))
    leaky = leaky[leaky["estimator"] == SIDES]
    leaky = leaky.loc[leaky.groupby("model")["n_temperatures"].idxmax()].assign(
        lower=leaky["mean_log_z"], lower_error=leaky["mean_std_error"],
        upper=leaky["reverse_mean"], upper_error=leaky["reverse_mean_error"], base="own moments",
    )  # fmt: skip
    table = pd.concat([sweep, leaky], ignore_index=True)
    words = {BOTH: "AIS + reverse AIS", SIDES: "AIS", TEMPERING: "parallel tempering"}
    table["method"] = [
        f"{words[e]}, {b}" if e in words else e
        for e, b in zip(table["estimator"], table["base"], strict=True)
    ]
    return table


def joined(table: pd.DataFrame) -> pd.DataFrame:
    """One row a model, as `load_reference` has it, from the rows of `runs`.

    An exact value is taken as it is. Of the others the unflagged runs are averaged with weights
    ``1 / std_error**2``. Runs of one seed share their random numbers, and so their errors add up;
    those of different seeds add in squares. The sum is taken times
    ``sqrt(chi_squared / (n_runs - 1))`` where the runs differ by more than their errors say.
    Where every run is flagged all of them are averaged, and the value is not settled; nor is it
    where the runs are all of one estimator and base, or differ by more than chance allows
    (`DISAGREEMENT`). The bounds are those of the unflagged run whose bounds have the smallest
    errors: the narrowest of several brackets would be too narrow, as it is chosen by what the
    bounds happened to be.
    """
    rows = [_joined(str(name), of_model) for name, of_model in table.groupby("model")]
    size = ["n_hidden", "n_visible", "log_z"]
    return pd.DataFrame(rows).sort_values(size, ignore_index=True).round(DIGITS)


def _joined(name: str, of_model: pd.DataFrame) -> dict:
    info = next(info for info in datasets.list_rbms() if info.name == name)  # downloads nothing
    row = {"model": name, "n_visible": info.n_visible, "n_hidden": info.n_hidden}
    exact = of_model[of_model["estimator"] == "exact"]
    if len(exact):
        value = float(exact["log_z"].iloc[0])
        ends = {"lower": value, "lower_error": 0.0, "upper": value, "upper_error": 0.0}
        join = {"log_z": value, "std_error": 0.0, "exact": True, "n_runs": 1, "chi_squared": 0.0}
        return row | join | ends | {"settled": True}
    fine = of_model[of_model["converged"]]
    used = fine if len(fine) else of_model
    weight = 1 / used["std_error"].to_numpy() ** 2
    value = float(np.average(used["log_z"], weights=weight))
    chi_squared = float(weight @ (used["log_z"].to_numpy() - value) ** 2)
    spread = chi_squared / max(len(used) - 1, 1)
    shares = pd.Series(weight / weight.sum() * used["std_error"].to_numpy())
    of_seeds = shares.groupby(used["seed"].to_numpy()).sum()
    error = math.sqrt(max(1.0, spread)) * float(np.linalg.norm(of_seeds))
    both = used[used["upper"].notna()] if used["upper"].notna().any() else of_model
    sharpest = both.loc[np.hypot(both["lower_error"], both["upper_error"]).idxmin()]
    ends = {k: float(sharpest[k]) for k in ("lower", "lower_error", "upper", "upper_error")}
    join = {"log_z": value, "std_error": error, "exact": False, "n_runs": len(used)}
    methods = fine[["estimator", "base"]].drop_duplicates()
    agree = chi2.sf(chi_squared, len(used) - 1) >= DISAGREEMENT
    settled = bool(len(methods) >= 2 and agree and error <= MAXIMUM_ERROR)
    return row | join | ends | {"chi_squared": chi_squared, "settled": settled}


def agreement(table: pd.DataFrame, reference: pd.DataFrame):
    """Each run less the joined value, with 95% intervals, a panel a model; returns the Axes.

    Open markers are flagged runs, which were not joined. The grey band is the 95% interval of
    the joined value, the orange one the bracket of single-chain bounds.
    """
    shown = reference[~reference["exact"].astype(bool)]
    n_rows = -(-len(shown) // 3)
    _, axes = plt.subplots(n_rows, 3, figsize=(9.5, 1.9 * n_rows), squeeze=False)
    for ax, (_, row) in zip(axes.flat, shown.iterrows(), strict=False):
        _agreement_of_model(ax, table[table["model"] == row["model"]], row)
    for ax in axes.flat[len(shown) :]:
        ax.axis("off")
    return axes


def _agreement_of_model(ax, part: pd.DataFrame, row) -> None:
    value, half = row["log_z"], 1.96 * row["std_error"]
    ax.axvspan(row["lower"] - value, row["upper"] - value, color=ORANGE, alpha=0.15, lw=0)
    ax.axvspan(-half, half, color=GREY, alpha=0.35, lw=0)
    ax.axvline(0, color="black", lw=0.8)
    for i, (_, run) in enumerate(part.iterrows()):
        color = GREEN if run["estimator"] == TEMPERING else BLUE
        ax.errorbar(
            run["log_z"] - value, -i, xerr=1.96 * run["std_error"], color=color, marker="o", ms=4,
            capsize=2, mfc=color if run["converged"] else "white",
        )  # fmt: skip
    ax.set_yticks([-i for i in range(len(part))])
    names = [m.replace("AIS + reverse AIS", "AIS").replace("parallel tempering", "PT")
             for m in part["method"]]  # fmt: skip
    ax.set_yticklabels(names, fontsize=7)
    ax.set_ylim(0.7 - len(part), 0.3 + 0.4)
    ax.set_title(row["model"], fontsize=9)
    ax.set_xlabel("log Z less the joined value (nats)", fontsize=7)
    ax.tick_params(axis="x", labelsize=7)
