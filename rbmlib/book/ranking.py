"""Estimators at equal time: their errors, what a fixed precision costs, and who is first.

`runs` joins the sweep of chapter compare with longer runs of earlier sweeps. Seconds of the sweep
are those of the processor, pilots included; those of earlier sweeps are of one thread by the wall.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from .. import datasets

PRECISION = 0.05  # nats
HONEST = 1.2  # rms of error / standard error up to which an error bar is said to hold
FEWEST, MANY = 3, 10  # repeats of a cell
N_DRAWS = 4000
CLASSES = {
    "10 or 20 hidden units": ["h10", "pcd_10", "pcd_20", "h20"],
    "100 or 200 hidden units": ["h100", "pcd_200"],
    "500 hidden units, CD": ["cd25_500", "dna_cd1_500"],
    "500 hidden units, PCD or like it": ["h500", "pcd_500"],
}
METHODS = [
    "AIS, linear", "AIS", "BAR", "SMC", "RTS", "MBAR", "TI", "SAMS", "Wang-Landau",
    "parallel tempering", "NRPT", "log_z", "TAP1", "TAP2", "TAP3",
]  # fmt: skip
_EARLIER = (  # sweep, rows, method
    ("start", "estimator == 'ais' and base == 'base rate'", "AIS, linear"),
    ("rts_sweeps", "estimator == 'ais'", "AIS, linear"),
    ("rts_sweeps", "estimator == 'rts' and starting == 'pilot'", "RTS"),
    ("rts_tempered", "estimator == 'ais' and n_temperatures == 10000", "AIS, linear"),
    ("rts_tempered", "estimator == 'bar'", "BAR"),
    ("rts_tempered", "sampler == 'simulated'", "RTS"),
    ("rts_tempered", "sampler == 'parallel'", "parallel tempering"),
    ("rts_report", "starting == 'pilot'", "RTS"),
    ("rts_bar", "begin == 'chains' or model in ('h100', 'h500')", "BAR"),
    ("sams_report", "estimator == 'sams'", "SAMS"),
    ("sams_report", "estimator == 'wang_landau'", "Wang-Landau"),
)


def of_sweep(table: pd.DataFrame) -> pd.DataFrame:
    """Rows of the sweep ``compare``, read by `stored_results`, as `runs` has them."""
    found = table[["model", "method", "budget", "size", "seed", "log_z", "std_error"]].copy()
    found["seconds"] = table.attrs["provenance"]["seconds"]
    found["flagged"] = ~table["converged"].astype(bool)
    found["low"], found["high"], found["source"] = table["low"], table["high"], "compare"
    return _with_errors(found)


def earlier() -> pd.DataFrame:
    """Longer runs of sweeps that other chapters tell of."""
    parts = []
    for sweep, rows, method in _EARLIER:
        table = pd.read_csv(datasets.committed(f"results/{sweep}.csv"))
        extra = pd.read_csv(datasets.committed(f"results/{sweep}.provenance.csv"))
        table = table.assign(seconds=extra["seconds"], source=sweep, method=method).query(rows)
        size = [c for c in ("n_temperatures", "n_sweeps") if c in table]
        part = table[["model", "method", "seed", "log_z", "std_error", "seconds", "source"]].copy()
        part["flagged"] = ~table["converged"].astype(bool)
        part["size"] = table[size].fillna(1).prod(axis=1)
        parts.append(part)
    found = pd.concat(parts, ignore_index=True)
    return _with_errors(found.assign(budget=np.nan, low=np.nan, high=np.nan))


def _with_errors(table: pd.DataFrame) -> pd.DataFrame:
    """``error`` against the reference set; whether the interval held, where there is one."""
    reference = datasets.load_reference()
    truth = table["model"].map({name: value.log_z for name, value in reference.items()})
    inside = (table["low"] <= truth) & (truth <= table["high"])
    covered = inside.astype(float).where(table["low"].notna() & table["std_error"].notna())
    return table.assign(error=table["log_z"] - truth, covered=covered)


def cells(table: pd.DataFrame) -> pd.DataFrame:
    """One row a model, method, source and size: error, honesty, coverage, flags and seconds."""
    rows = []
    keys = ["model", "method", "source", "size"]
    for key, group in table.groupby(keys, sort=False):
        error, bar = group["error"].to_numpy(), group["std_error"].to_numpy()
        wrong = np.abs(error) > 3 * np.maximum(np.nan_to_num(bar, nan=PRECISION), 1e-9)
        rows.append(
            dict(zip(keys, key, strict=True))
            | {
                "budget": group["budget"].iloc[0], "n": len(group),
                "seconds": float(group["seconds"].median()),
                "rmse": float(np.sqrt(np.mean(error**2))),
                "ratio": float(np.sqrt(np.mean((error / bar) ** 2))),
                "covered": float(group["covered"].mean()),
                "flagged": float(group["flagged"].mean()),
                "unflagged_failures": int((wrong & ~group["flagged"].to_numpy()).sum()),
                "errors": error,
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def effort(errors, seconds: float) -> float:
    """Seconds to a root mean squared error of 0.05 nat, if that falls as one over their root."""
    return float(seconds * np.mean(np.square(errors)) / PRECISION**2)


def honest(table: pd.DataFrame, model: str) -> pd.DataFrame:
    """Of each method on a model the most accurate cell whose error bar holds, with its ``effort``.

    Of those with ten repeats or more if there are any: the best of several triples is luck. Where
    no bar holds, the longest cell, with ``holds`` False: its effort is not to be believed.
    """
    rows = []
    of_model = table[(table["model"] == model) & (table["n"] >= FEWEST)]
    of_model = of_model[np.isfinite(of_model["ratio"])]
    for _, group in of_model.groupby("method", sort=False):
        good = group[group["ratio"] <= HONEST]
        many = good[good["n"] >= MANY]
        row = group.nlargest(1, "seconds").iloc[0].copy()
        if len(good):
            row = (many if len(many) else good).nsmallest(1, "rmse").iloc[0].copy()
        row["holds"] = bool(len(good))
        row["effort"] = effort(row["errors"], row["seconds"])
        rows.append(row)
    return pd.DataFrame(rows, columns=[*table.columns, "holds", "effort"]).reset_index(drop=True)


def _drawn(errors, rng, n_draws: int) -> np.ndarray:
    """Mean squared errors that may stand behind these (a parametric bootstrap).

    The mean square of n normal errors is its expectation times chi-squared over n. Resampling
    would do for 20 repeats; of three it cannot say how large a fourth may be.
    """
    n = len(errors)
    return np.mean(np.square(errors)) * n / rng.chisquare(n, n_draws)


def ranking(table: pd.DataFrame, model: str, n_draws: int = N_DRAWS, seed: int = 0):
    """`honest` cells that hold, by effort, with intervals and the chance to be first.

    Returns
    -------
    DataFrame
        ``effort``, ``low``, ``high`` (95%), ``first`` (share of the draws), ``within_two`` (share
        of the draws in which it takes at most twice as long as the first).
    """
    found = honest(table, model)
    found = found[found["holds"].astype(bool)].sort_values("effort", ignore_index=True)
    if found.empty:
        return found
    rng = np.random.default_rng(seed)
    scale = found["seconds"].to_numpy() / PRECISION**2
    draws = np.array([_drawn(e, rng, n_draws) for e in found["errors"]]) * scale[:, None]
    found["low"], found["high"] = np.quantile(draws, (0.025, 0.975), axis=1)
    best = draws.argmin(axis=0)
    found["first"] = np.bincount(best, minlength=len(found)) / n_draws
    found["within_two"] = (draws <= 2 * draws.min(axis=0)).mean(axis=1)
    return found


def in_words(seconds: float) -> str:
    """Seconds with two digits: 0.34 s, 12 s, 5.4 min, 2.1 h.

    Examples
    --------
    >>> in_words(0.345), in_words(12.3), in_words(324), in_words(7500)
    ('0.34 s', '12 s', '5.4 min', '2.1 h')
    """
    if not math.isfinite(seconds):
        return "not known"
    for unit, length in (("h", 3600.0), ("min", 60.0), ("s", 1.0)):
        if seconds >= 1.5 * length or unit == "s":
            value = seconds / length
            decimals = 0 if value >= 10 else 1 if value >= 1 else 2
            return f"{value:.{decimals}f} {unit}"
    return ""
