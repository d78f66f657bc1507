"""The stored runs of annealing schedules, and what Kiwaki (2015) prints of his."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from .. import measured as ms
from .. import tables
from ..measured import Measured
from ..page import one, published
from ..stored import is_stored, stored_results

SWEEPS = (
    "varopt_20", "varopt_500", "varopt_bases", "varopt_bases_500", "varopt_curves",
    "varopt_rates", "varopt_trainings",
)  # fmt: skip
# Declared, and read as soon as they are there: hours on two cores.
LONG = {"varopt_table1": 9.0, "varopt_table2": 6.0, "varopt_500_seeds": 5.0, "varopt_drop": 0.3}
BASES = ("base rate", "own biases")
RATES = {"pcd_20": 0.02, "cd1_20": 0.05, "cd25_20": 0.05}  # of the committed models
TWENTY = ("pcd_20", "cd1_20", "cd25_20")
MODELS = (*TWENTY, "pcd_500", "cd1_500", "cd25_500")
SCHEDULES = {
    "VAROPT": ("varopt", 1.0),
    "VAROPT0.009": ("varopt", 0.009),
    "VAROPT0.006": ("varopt", 0.006),
    "VAROPT0.003": ("varopt", 0.003),
    "LINEAR": ("linear", 1.0),
    "GMS13": ("gms13", 1.0),
}


def papers_name(model: str) -> str:
    """A model in the paper's words.

    Examples
    --------
    >>> papers_name("cd25_500"), papers_name("pcd_20, rate 0.01")
    ('CD25(500)', 'PCD(20)')
    """
    kind, units = model.partition(",")[0].split("_")
    return f"{kind.upper()}({units})"


def there() -> list[str]:
    """Those of the long sweeps whose tables are stored."""
    return [name for name in LONG if is_stored(name)]


def stored_runs(scheduler: str = "") -> pd.DataFrame:
    """Every stored run of AIS along a schedule of the paper, one row a seed, `labelled`."""
    every = pd.concat([stored_results(name, scheduler) for name in (*SWEEPS, *there())])
    return labelled(every[every["estimator"] == "two_way_ais"])


def labelled(runs: pd.DataFrame) -> pd.DataFrame:
    """Runs with ``label``, the schedule in the paper's words, and ``training``, each once."""
    caps = runs["max_step"].fillna(1.0)
    by = {setting: label for label, setting in SCHEDULES.items()}
    labels = [by.get(key, "") for key in zip(runs["schedule"], caps, strict=True)]
    runs = runs.assign(label=labels, training=runs["model"].map(_training))
    keys = ["model", "base", "label", "n_temperatures", "seed", "n_chains"]
    return runs[runs["label"] != ""].drop_duplicates(keys).reset_index(drop=True)


def _training(model: str) -> str:
    kind, _, which = model.partition(", ")
    return which or (f"rate {RATES[kind]:g}" if kind in RATES else "ours")


def found(runs, model: str, label: str, k: int = 100_000, base: str = "base rate"):
    """The runs with these settings, one a seed, those of most chains; empty if there are none.

    Plain VAROPT, which alone may be stored, stands for the caps that are above its largest step.
    """
    here = runs[(runs["model"] == model) & (runs["n_temperatures"] == k) & (runs["base"] == base)]
    exact = here[here["label"] == label]
    if exact.empty and label.startswith("VAROPT0"):
        plain = here[here["label"] == "VAROPT"]
        exact = plain[plain["largest_step"] < 1000 * float(label.removeprefix("VAROPT"))]
    return exact[exact["n_chains"] == exact["n_chains"].max()].sort_values("seed")


def ess(rows) -> Measured | None:
    """ESS over chains, on the scale "log", by the wider of bootstrap, normal weights and spread."""
    if rows.empty:
        return None
    errors = []
    for row in rows.itertuples():
        low, high = tables.ess_interval(row.ess, int(row.n_chains))
        errors.append(math.log(max(high, row.ess_high) / min(low, row.ess_low)) / 3.92)
    return _over_seeds(np.log(rows["ess"] / rows["n_chains"]), errors, "log")


def bound(rows) -> Measured | None:
    """The lower bound on log Z, the mean log-weight."""
    return None if rows.empty else _over_seeds(rows["mean_log_z"], rows["mean_std_error"], "linear")


def variance(rows) -> Measured | None:
    """The variance of log-weights, on the scale "log"."""
    if rows.empty:
        return None
    errors = np.log(rows["variance_high"] / rows["variance_low"]) / 3.92
    return _over_seeds(np.log(rows["variance"]), errors, "log")


def _over_seeds(values, errors, scale: str) -> Measured:
    x, e = np.asarray(values, float), np.asarray(errors, float)
    error, freedom = math.sqrt((e**2).mean() / len(x)), math.inf
    if len(x) > 1 and (spread := x.std(ddof=1) / math.sqrt(len(x))) > error:
        error, freedom = spread, len(x) - 1
    return Measured(float(x.mean()), error, freedom, len(x), scale)


def over(top: Measured | None, bottom: Measured | None) -> Measured | None:
    """Their ratio, or difference if they are no logarithms; None if one of them is."""
    if top is None or bottom is None:
        return None
    error, freedom = math.hypot(top.std_error, bottom.std_error), ms.welch_freedom(top, bottom)
    return Measured(top.value - bottom.value, error, freedom, min(top.n, bottom.n), top.scale)


def pooled(every) -> Measured:
    """The mean of independent numbers of one scale, each of another setting of our own models."""
    every = list(every)
    error = math.sqrt(sum(m.std_error**2 for m in every)) / len(every)
    mean = sum(m.value for m in every) / len(every)
    return Measured(mean, error, min(m.freedom for m in every), len(every), every[0].scale)


def printed(number: int) -> pd.DataFrame:
    """Table 1 or 2 as it is printed."""
    return published(f"varopt_table{number}")


def printed_ess(model: str, label: str) -> float:
    table = printed(1 if model.endswith("_20") else 2)
    return float(one(table, model=papers_name(model), schedule=label)["ess"])


def table(runs: pd.DataFrame, models, truths: dict[str, float]) -> pd.DataFrame:
    """A printed table with ours below each row: error of log Z (nats), and ESS of 1,000."""
    source, rows = printed(1 if models[0].endswith("_20") else 2), []
    for label in SCHEDULES:
        theirs = {m: one(source, model=papers_name(m), schedule=label) for m in models}
        cells = {m: _printed_cells(row) for m, row in theirs.items()}
        rows.append(_row(label, "printed", cells))
        for base in BASES:
            here = {m: found(runs, m, label, base=base) for m in models}
            cells = {m: _our_cells(x, truths[m]) for m, x in here.items()}
            rows.append(_row(label, f"ours, {base}", cells))
    return pd.DataFrame(rows)


def _row(label: str, whose: str, cells: dict[str, tuple[str, str]]) -> dict:
    row = {"schedule": label, "whose": whose}
    for model, (log_z, size) in cells.items():
        row |= {f"{papers_name(model)} log Z": log_z, f"{papers_name(model)} ESS": size}
    return row


def _printed_cells(row) -> tuple[str, str]:
    off = row["logz_hat"] - row.get("logz_exact", math.nan)
    said = f"{off:+.3f}".replace("-", "−") if math.isfinite(off) else f"{row['logz_hat']:.3f}"
    return said, f"{row['ess']:.0f}"


def _our_cells(rows, truth: float) -> tuple[str, str]:
    if rows.empty:
        return "–", "–"
    off, error = rows["log_z"].mean() - truth, rows["std_error"].mean() / math.sqrt(len(rows))
    share, said = ess(rows), tables.with_error(off, error).replace("-", "−")
    size = 1000 * math.exp(share.value)
    fewer = "" if rows["n_chains"].iloc[0] == 1000 else "*"
    ends = f"{size:.0f} ± {size * share.std_error:.0f}{fewer}"
    return said if said.startswith("−") else f"+{said}", ends


def printed_spread() -> Measured:
    """Mean square of printed estimates' distances, in the errors that their ESS imply: from exact
    values (Table 1), or from the mean of the six schedules (Table 2)."""
    rows = pd.concat([printed(1), printed(2)], ignore_index=True)
    error = np.sqrt(1 / rows["ess"] - 1 / 1000)
    weight = error**-2.0
    sums = pd.DataFrame({"w": weight, "wz": weight * rows["logz_hat"]}).groupby(rows["model"]).sum()
    truth = rows["logz_exact"].fillna(rows["model"].map(sums["wz"] / sums["w"]))
    squares = float((((rows["logz_hat"] - truth) / error) ** 2).sum())
    free = len(rows) - rows.loc[rows["logz_exact"].isna(), "model"].nunique()
    return ms.measured(squares / free, math.sqrt(2 / free), free, "log")


def largest_steps(runs) -> pd.DataFrame:
    """The largest step of plain VAROPT, in mean steps, by model and base."""
    plain = runs[(runs["label"] == "VAROPT") & (runs["n_temperatures"] == 100_000)]
    return plain.groupby(["model", "base"], sort=False)["largest_step"].max().reset_index()
