"""The stored runs of annealing schedules, and the printed results of Kiwaki (2015)."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from .. import measured as ms
from .. import tables
from ..measured import Measured
from ..models import load_reference
from ..page import one, published
from ..stored import stored_results
from ..verdicts import with_error

SWEEPS = (
    "varopt_20", "varopt_500", "varopt_bases", "varopt_bases_500", "varopt_curves",
    "varopt_gains", "varopt_pilots", "varopt_rates", "varopt_seeds", "varopt_trainings",
)  # fmt: skip
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
SETTING = ["model", "base", "label", "n_temperatures", "n_chains"]


def papers_name(model: str) -> str:
    """The name of a model in the paper: ``pcd_20, rate 0.01`` is PCD(20)."""
    kind, units = model.partition(",")[0].split("_")
    return f"{kind.upper()}({units})"


def stored_runs(scheduler: str = "") -> pd.DataFrame:
    """Every stored run of AIS along a schedule of the paper, `labelled`; one row per seed.

    ``truth`` is the reference value of log Z or, without one, that of the run with the largest ESS.
    """
    every = pd.concat([stored_results(name, scheduler) for name in SWEEPS])
    every = every[every["estimator"] == "two_way_ais"]
    truths = every.sort_values("ess").groupby("model")[["log_z", "std_error"]].last()
    known = {model: (of.log_z, of.std_error) for model, of in load_reference().items()}
    truths.update(pd.DataFrame.from_dict(known, orient="index", columns=truths.columns))
    truths.columns = ["truth", "truth_error"]
    return with_pilots(labelled(every.join(truths, on="model")))


def labelled(runs: pd.DataFrame) -> pd.DataFrame:
    """Distinct runs with ``label``, the paper's name of the schedule, and ``training``."""
    caps = runs["max_step"].fillna(1.0)
    by = {setting: label for label, setting in SCHEDULES.items()}
    labels = [by.get(key, "") for key in zip(runs["schedule"], caps, strict=True)]
    runs = runs.assign(label=labels, training=runs["model"].map(_training))
    return runs[runs["label"] != ""].drop_duplicates([*SETTING, "seed"]).reset_index(drop=True)


def _training(model: str) -> str:
    kind, _, which = model.partition(", ")
    return which or (f"rate {RATES[kind]:g}" if kind in RATES else "our training")


def with_pilots(runs: pd.DataFrame) -> pd.DataFrame:
    """Runs with the error of log ESS and its spread and that of the lower bound between pilots.

    The error is the larger of those by bootstrap and for normal weights.

    The spread of the bound is relative to its distance from log Z. For each model, it is the
    variance over seeds, each with its own pilot, in excess of the variance within runs, pooled over
    settings with several seeds. Equal steps have no pilot.
    """
    sizes = zip(runs["ess"], runs["n_chains"].astype(int), strict=True)
    low, high = np.transpose([tables.ess_interval(*size) for size in sizes])
    wider = np.maximum(high, runs["ess_high"]) / np.minimum(low, runs["ess_low"])
    runs = runs.assign(gap=runs["log_z"] - runs["mean_log_z"], ess_error=np.log(wider) / 3.92)
    runs["kind"] = runs["model"].str.partition(",")[0]

    def beyond(values, errors) -> float:
        return float(np.var(values, ddof=1) - np.mean(np.square(errors)))

    def of_setting(g):
        gap, freedom = g["gap"].mean(), len(g) - 1
        of_bound = beyond(g["mean_log_z"], g["mean_std_error"]) / gap**2
        of_ess = beyond(np.log(g["ess"]), g["ess_error"])
        return g["kind"].iloc[0], freedom, freedom * of_ess, freedom * of_bound

    groups = [g for _, g in runs[runs["label"] != "LINEAR"].groupby(SETTING) if len(g) > 1]
    sums = pd.DataFrame(map(of_setting, groups), columns=["kind", "n", "ess", "bound"])
    sums = sums.groupby("kind").sum()
    for name in ("ess", "bound"):
        spread = runs["kind"].map(np.sqrt((sums[name] / sums["n"]).clip(lower=0))).fillna(0.0)
        runs[f"pilot_{name}"] = spread * (runs["label"] != "LINEAR")
    return runs.assign(pilot_n=runs["kind"].map(sums["n"]).fillna(1.0))


def found(runs, model: str, label: str, k: int = 100_000, base: str = "base rate"):
    """The runs with these settings and the most chains, one per seed; empty if there are none.

    If the largest step of VAROPT without a cap is below a cap, its runs also count for this cap.
    """
    here = runs[(runs["model"] == model) & (runs["n_temperatures"] == k) & (runs["base"] == base)]
    exact = here[here["label"] == label]
    if exact.empty and label.startswith("VAROPT0"):
        plain = here[here["label"] == "VAROPT"]
        exact = plain[plain["largest_step"] < 1000 * float(label.removeprefix("VAROPT"))]
    return exact[exact["n_chains"] == exact["n_chains"].max()].sort_values("seed")


def ess(rows, pilots: float = 1) -> Measured | None:
    """ESS / chains, on the scale "log"; with ``pilots=0``, without the error between pilots."""
    x = np.log(rows["ess"] / rows["n_chains"])
    return _over_seeds(x, rows["ess_error"], pilots * rows["pilot_ess"], "log")


def bound(rows, pilots: float = 1) -> Measured | None:
    """The lower bound on log Z, the mean log-weight."""
    pilots = pilots * rows["pilot_bound"] * rows["gap"]
    return _over_seeds(rows["mean_log_z"], rows["mean_std_error"], pilots, "linear")


def variance(rows) -> Measured | None:
    """The variance of log-weights along equal steps, on the scale "log"."""
    errors = np.log(rows["variance_high"] / rows["variance_low"]) / 3.92
    return _over_seeds(np.log(rows["variance"]), errors, 0 * errors, "log")


def _over_seeds(values, errors, pilots, scale: str) -> Measured | None:
    """Mean over seeds, with the errors within runs and between pilots, or the spread if larger."""
    n = len(values)
    if not n:
        return None
    error, freedom = math.sqrt((np.square(errors) + np.square(pilots)).mean() / n), math.inf
    if n > 1 and (spread := np.std(values, ddof=1) / math.sqrt(n)) > error:
        error, freedom = spread, n - 1
    return Measured(float(np.mean(values)), float(error), freedom, n, scale)


def printed(number: int) -> pd.DataFrame:
    """Table 1 or 2 as printed."""
    return published(f"varopt_table{number}")


def printed_ess(model: str, label: str) -> float:
    table = printed(1 if model.endswith("_20") else 2)
    return float(one(table, model=papers_name(model), schedule=label)["ess"])


def table(runs: pd.DataFrame, models) -> pd.DataFrame:
    """A printed table with our values below each row: log Z (nats), its error and ESS of 1,000."""
    source = printed(1 if models[0].endswith("_20") else 2).set_index(["model", "schedule"])
    of_paper = {m: source.loc[papers_name(m)].iloc[0].get("logz_exact", math.nan) for m in models}
    truths = runs.groupby("model")[["truth", "truth_error"]].first()
    known = {m: with_error(*truths.loc[m]) for m in models}
    shown = {m: f"{x:.3f}" if math.isfinite(x) else "–" for m, x in of_paper.items()}
    rows = [
        _row("reference", whose, {m: (x, "–") for m, x in values.items()})
        for whose, values in (("printed", shown), ("ours", known))
    ]
    for label in SCHEDULES:
        theirs = {m: source.loc[papers_name(m), label] for m in models}
        cells = {
            m: (f"{x['logz_hat']:.3f}{_less(x['logz_hat'], of_paper[m])}", f"{x['ess']:.0f}")
            for m, x in theirs.items()
        }
        rows.append(_row(label, "printed", cells))
        for base in BASES:
            ours = {m: found(runs, m, label, base=base) for m in models}
            if any(map(len, ours.values())):
                cells = {m: _our_cells(of) for m, of in ours.items()}
                rows.append(_row(label, f"ours, {base}", cells))
    return pd.DataFrame(rows)


def _row(label: str, whose: str, cells: dict[str, tuple[str, str]]) -> dict:
    row = {"schedule": label, "source": whose}
    for model, (log_z, size) in cells.items():
        row |= {f"{papers_name(model)} log Z": log_z, f"{papers_name(model)} ESS": size}
    return row


def _less(log_z: float, reference: float) -> str:
    """log Z minus the reference, in brackets; nothing if the reference is unknown."""
    return f" ({log_z - reference:+.3f})".replace("-", "−") if math.isfinite(reference) else ""


def _our_cells(rows) -> tuple[str, str]:
    if rows.empty:
        return "–", "–"
    value = rows["log_z"].mean()
    log_z = tables.with_error(value, rows["std_error"].mean() / math.sqrt(len(rows)))
    log_z += _less(value, rows["truth"].iloc[0])
    share = ess(rows)
    size = 1000 * math.exp(share.value)
    error = size * share.std_error
    fewer = "" if rows["n_chains"].iloc[0] == 1000 else "*"
    return log_z, f"{size:.0f} ± {error:.{0 if error >= 1 else 1}f}{fewer}"


def printed_spread() -> Measured:
    """Mean squared distance of the printed estimates, in units of the errors that their ESS imply.

    Distances are from exact values (Table 1) or from the mean of the six schedules (Table 2).
    """
    rows = pd.concat([printed(1), printed(2)], ignore_index=True)
    error = np.sqrt(1 / rows["ess"] - 1 / 1000)
    weight = error**-2.0
    sums = pd.DataFrame({"w": weight, "wz": weight * rows["logz_hat"]}).groupby(rows["model"]).sum()
    truth = rows["logz_exact"].fillna(rows["model"].map(sums["wz"] / sums["w"]))
    free = len(rows) - rows.loc[rows["logz_exact"].isna(), "model"].nunique()
    return ms.mean_square((rows["logz_hat"] - truth) / error, free)


def largest_steps(runs) -> pd.DataFrame:
    """The largest step of VAROPT without a cap, in mean steps, by model and base."""
    plain = runs[(runs["label"] == "VAROPT") & (runs["n_temperatures"] == 100_000)]
    return plain.groupby(["model", "base"], sort=False)["largest_step"].max().reset_index()
