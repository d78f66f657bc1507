"""Make data/reference.csv: log Z of every model of the book, joined from independent runs.

    python -m rbmbook run reference     # hours of processor time
    python data/make_reference.py

How runs are joined is said in `joined`; the same tables give the same file.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import chi2

from rbmlib import datasets

OUTPUT = Path(__file__).parent / "reference.csv"
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


def main():
    table = joined(runs())
    table.to_csv(OUTPUT, index=False, lineterminator="\n")
    print(f"{OUTPUT}: {len(table)} models, {table['settled'].sum()} settled")


if __name__ == "__main__":
    main()
