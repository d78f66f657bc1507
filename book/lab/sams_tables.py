"""Chapter sams: errors of stored runs, and rows of the tables of runs and of readings.

Errors are those of log Z against the book's reference values, in nats. The readings are those of
`rbmbook.sams_readings`.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd

from . import sams_readings
from .datasheet import load_reference
from .errors import rmse
from .group_spreads import pooled_spread
from .tables import number, order_models, with_error

METHODS = {"sams": "SAMS", "wang_landau": "Wang-Landau", "rts": "RTS"}
BASES = ("counts + 5", "own visible", "own both", "zero")  # of the readings
LENGTHS = (4000, 5000, 6000, 7000)  # sweeps of the readings with equal steps
KIND = ["model", "estimator", "n_sweeps"]  # what runs of a row have in common


@cache
def _reference():
    return load_reference()


def truth_of(model: str) -> float:
    """log Z of the book's reference set."""
    return _reference()[model].log_z


def errors_of(runs: pd.DataFrame) -> np.ndarray:
    """Errors of log Z of stored runs."""
    return (runs["log_z"] - runs["model"].map(truth_of)).to_numpy()


def printed_error(model: str) -> float:
    """Error of the mean that the report prints."""
    return sams_readings.published().loc[model, "logz"] - truth_of(model)


def flagged(runs: pd.DataFrame) -> str:
    """How many of the runs did not pass their own checks, in words."""
    return f"{(~runs['converged']).sum()} of {len(runs)}"


def kinds(runs: pd.DataFrame) -> list[pd.DataFrame]:
    """Runs of one method on one model, and of one length, in the order of the table."""
    return [group for _, group in runs.groupby(KIND, sort=False)]


def _heading(runs: pd.DataFrame) -> dict:
    name, method, n_sweeps = runs[KIND].iloc[0]
    return {"model": name, "method": METHODS[method], "sweeps": f"{int(n_sweeps):,}"}


def errors_by_method(runs: pd.DataFrame) -> pd.DataFrame:
    """Mean error, RMSE and round trips of each kind of runs."""
    rows = [
        _heading(group) | {
            "mean error": with_error(errors_of(group).mean(), group["log_z"].sem()),
            "RMSE": rmse(errors_of(group)),
            "round trips": group["round_trips"].mean(),
            "flagged": flagged(group),
        }
        for group in kinds(runs)
    ]  # fmt: skip
    return order_models(pd.DataFrame(rows))


def bars_by_method(runs: pd.DataFrame) -> pd.DataFrame:
    """Errors of each kind of runs in units of their own error bars."""
    rows = []
    for group in kinds(runs):
        of_truth = _reference()[group["model"].iloc[0]].std_error
        off = errors_of(group) / np.hypot(group["std_error"], of_truth)
        rows.append(_heading(group) | {
            "median s.e.": group["std_error"].median(),
            "rms error in s.e.": rmse(off),
            "largest": np.abs(off).max(),
            "flagged": flagged(group),
        })  # fmt: skip
    return order_models(pd.DataFrame(rows))


def errors_by_case(cases: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Errors, spread of the groups and round trips of cases, each on the report's models."""
    rows = []
    for case, runs in cases.items():
        for name in (m for m in sams_readings.MODELS if m in set(runs["model"])):
            group = runs[runs["model"] == name]
            rows.append({
                "case": case,
                "model": name,
                "runs × sweeps": f"{len(group)} × {int(group['n_sweeps'].iloc[0]):,}",
                "mean error": errors_of(group).mean(),
                "RMSE": rmse(errors_of(group)),
                "spread": pooled_spread(group)[0],
                "round trips": group["round_trips"].mean(),
                "flagged": flagged(group),
            })  # fmt: skip
    return pd.DataFrame(rows)


def with_variance(error: float, variance: float, decimals: int = 1) -> str:
    """An error with the variance of the runs behind it.

    Examples
    --------
    >>> with_variance(-10.92, 0.2188)
    '−10.9 (0.219)'
    """
    return f"{error:+.{decimals}f} ({number(variance)})".replace("-", "−")


def cell(reading: pd.Series) -> str:
    """Mean error and variance of a reading."""
    return with_variance(reading["log_z"] - truth_of(reading["model"]), reading["variance"])


def not_contradicted(readings: pd.DataFrame) -> str:
    """Lengths at which the judge contradicts the report's mean, or its variance, by no reading."""
    found = []
    for kind in sams_readings.KINDS:
        outcomes = [verdict.outcome for verdict in readings[f"{kind}_verdict"]]
        pairs = zip(readings["n_sweeps"], outcomes, strict=True)
        fit = [f"{n // 1000}" for n, outcome in pairs if outcome != "contradicted"]
        found += [f"{kind} at {', '.join(fit)} thousand"] if fit else []
    return "; ".join(found) or "neither"


def by_length(readings: pd.DataFrame, pilot: pd.DataFrame) -> pd.DataFrame:
    """Cells of the readings with equal steps by their sweeps, below the report and a pilot's runs.

    Parameters
    ----------
    readings : DataFrame
        Of `sams_readings.readings`, one for each model, base and length.
    pilot : DataFrame
        Our runs from a pilot, beside which they stand.
    """
    blank = {f"{n:,}": "" for n in LENGTHS}
    rows = []
    for name in sams_readings.MODELS:
        printed = sams_readings.published().loc[name, "variance"]
        ours = errors_of(pilot[pilot["model"] == name])
        beside = {
            "the report": with_variance(printed_error(name), printed),
            "ours, from a pilot": with_variance(ours.mean(), ours.var(ddof=1), 2),
        }
        for who, text in beside.items():
            rows.append({"model": name, "RBM A": who} | blank | {"not contradicted": text})
        for base in BASES:
            of_base = (readings["model"] == name) & (readings["rbm_a"] == base)
            lengths = readings[of_base].sort_values("n_sweeps")
            cells = {f"{row['n_sweeps']:,}": cell(row) for _, row in lengths.iterrows()}
            rows.append({"model": name, "RBM A": base} | blank | cells
                        | {"not contradicted": not_contradicted(lengths)})  # fmt: skip
    return pd.DataFrame(rows)


def by_variant(variants: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Cells of other readings, a column a variant, which has one for each model and base."""
    columns = {what: rows.set_index(["model", "rbm_a"], drop=False)
               for what, rows in variants.items()}  # fmt: skip
    return pd.DataFrame([
        {"model": name, "RBM A": base}
        | {what: cell(rows.loc[(name, base)]) for what, rows in columns.items()}
        for name in sams_readings.MODELS
        for base in BASES
    ])  # fmt: skip


def on_ladders(readings: pd.DataFrame) -> pd.DataFrame:
    """Readings on random ladders: mean error, variance, and what the judge says of both."""
    rows = [
        {
            "model": row.model,
            "reading": sams_readings.words(row).replace(", random ladders", ""),
            "ladders": row.n,
            "mean error": with_error(row.log_z - truth_of(row.model),
                                     np.sqrt(row.variance / row.n)),
            "variance": row.variance,
            "the report's mean": row.mean_verdict,
            "its variance": row.variance_verdict,
        }
        for row in readings.itertuples()
    ]  # fmt: skip
    return order_models(pd.DataFrame(rows))


def in_neither(readings: pd.DataFrame) -> str:
    """Readings of a model that are contradicted in neither number, in words."""
    kept = [
        sams_readings.words(row)
        for row in readings.itertuples()
        if "contradicted" not in (row.mean_verdict.outcome, row.variance_verdict.outcome)
    ]
    return "; ".join(kept) or "none"
