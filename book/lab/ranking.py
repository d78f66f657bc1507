"""Estimators at equal time: their errors, what a fixed precision costs, and who is first.

`runs` joins the sweep of chapter compare with longer runs of earlier sweeps. Seconds of the sweep
are those of the processor, pilots included; those of earlier sweeps are of one thread by the wall.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from rbmlib import datasets

PRECISION = 0.05  # nats
HONEST = 1.2  # rms of error / standard error up to which an error bar is said to hold
FEWEST, MANY = 5, 10  # repeats of a cell: to be ranked, to be resampled
N_DRAWS = 4000
ADDED = ["missed", "floor", "holds", "effort"]
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
    """One row a model, method, source and size: error, honesty, coverage, flags and seconds.

    ``errors`` and ``bars`` are those of its runs, in the order of their seeds.
    """
    rows = []
    keys = ["model", "method", "source", "size"]
    for key, group in table.sort_values("seed", kind="stable").groupby(keys, sort=False):
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
                "bars": bar,
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def effort(errors, seconds: float) -> float:
    """Seconds to a root mean squared error of 0.05 nat, if that falls as one over their root."""
    return float(seconds * np.mean(np.square(errors)) / PRECISION**2)


def longest(table: pd.DataFrame, model: str) -> pd.DataFrame:
    """Of each method its longest runs on a model, whatever their errors are.

    Those of the sweep if there are any, else of earlier ones; `FEWEST` repeats or more. Adds
    ``holds``, whether the error bar does, ``effort``, and ``floor``: the seconds of the longest
    shorter run whose errors, ``missed``, were above 0.05 nat, below which no effort can be; those
    of the run itself if nothing shorter was tried.
    """
    rows = []
    of_model = table[(table["model"] == model) & (table["n"] >= FEWEST)]
    of_model = of_model[np.isfinite(of_model["ratio"])]
    for _, group in of_model.groupby("method", sort=False):
        own = group[group["source"] == "compare"]
        row = (own if len(own) else group).nlargest(1, "seconds").iloc[0].copy()
        shorter = group[group["seconds"] < row["seconds"]]
        last = shorter[shorter["rmse"] > PRECISION].nlargest(1, "seconds")
        row["missed"] = last.iloc[0]["errors"] if len(last) else None
        row["floor"] = 0.0 if len(shorter) else row["seconds"]
        row["floor"] = last.iloc[0]["seconds"] if len(last) else row["floor"]
        row["holds"] = bool(row["ratio"] <= HONEST)
        row["effort"] = max(effort(row["errors"], row["seconds"]), row["floor"])
        rows.append(row)
    return pd.DataFrame(rows, columns=[*table.columns, *ADDED]).reset_index(drop=True)


class _Draws:
    """Mean squares that may stand behind those of a few runs.

    Runs are drawn with replacement, the same seeds for all methods of a sweep: where two methods
    give the same values, as SMC does without resampling, their seconds alone decide. Of fewer runs
    than `MANY`, which cannot say how large another may be, the mean square is drawn as its
    expectation times chi-squared over n, the law for normal errors, once for equal values.
    """

    def __init__(self, n_draws: int, seed: int):
        self.n_draws, self.rng = n_draws, np.random.default_rng(seed)
        self.shared: dict = {}

    def means(self, squares, source: str) -> np.ndarray:
        """Of each row of ``squares`` (k, n): (k, n_draws)."""
        n = squares.shape[1]
        if n >= MANY:
            chosen = self.rng.integers(n, size=(self.n_draws, n))
            chosen = self.shared.setdefault((source, n), chosen)
            return squares[:, chosen].mean(axis=2)
        factor = n / self.rng.chisquare(n, self.n_draws)
        key = np.round(squares, 9).tobytes()
        return squares.mean(axis=1)[:, None] * self.shared.setdefault(key, factor)


def drawn(found: pd.DataFrame, n_draws: int = N_DRAWS, seed: int = 0):
    """Efforts (n_methods, n_draws) that may stand behind `longest` runs, and whether bars hold.

    Where the run that sets the floor would not have missed 0.05 nat, there is none.
    """
    draws, efforts, holds = _Draws(n_draws, seed), [], []
    for row in found.itertuples():
        squares = np.square([row.errors, row.errors / row.bars])
        error, ratio = draws.means(squares, row.source)
        least = np.full(n_draws, row.floor)
        if row.missed is not None:
            (missed,) = draws.means(np.square([row.missed]), row.source)
            least[missed <= PRECISION**2] = 0.0
        efforts.append(np.maximum(row.seconds * error / PRECISION**2, least))
        holds.append(ratio <= HONEST**2)
    return np.array(efforts), np.array(holds)


def ranking(table: pd.DataFrame, model: str, n_draws: int = N_DRAWS, seed: int = 0):
    """`longest` runs that hold, by effort, with intervals and the chance to be first.

    Returns
    -------
    DataFrame
        ``effort``, ``low``, ``high`` (95%); of the draws the shares in which it is ``first`` of
        all methods whose bar holds in the draw, and ``within_two``: takes at most twice as long.
        A method whose bar holds in half of the draws is first in at most half of them.
    """
    found = longest(table, model)
    if found.empty:
        return found
    efforts, holds = drawn(found, n_draws, seed)
    found["low"], found["high"] = np.quantile(efforts, (0.025, 0.975), axis=1)
    efforts[~holds] = np.inf
    best = efforts.min(axis=0)
    found["first"] = (holds & (efforts == best)).mean(axis=1)
    found["within_two"] = (holds & (efforts <= 2 * best)).mean(axis=1)
    found = found[found["holds"].astype(bool)]
    return found.sort_values("effort", ignore_index=True)


def doublings(table: pd.DataFrame) -> pd.DataFrame:
    """What a run costs, and how many times that with twice the units, chains or sweeps.

    ``table`` is that of book/_tools/compare_growth.py, whose first row of a method is the size
    that others double or halve. Of units the factor is the root of double over half.
    """
    rows = []
    for method, part in table.groupby("method", sort=False):
        costs = part.set_index(["n_visible", "n_hidden", "n_chains", "n_sweeps"])
        (n, m, chains, sweeps), costs = costs.index[0], costs[["seconds", "megabytes"]]
        here = costs.loc[(n, m, chains, sweeps)]
        factors = {
            "visible": np.sqrt(
                costs.loc[(2 * n, m, chains, sweeps)] / costs.loc[(n // 2, m, chains, sweeps)]
            ),
            "hidden": np.sqrt(
                costs.loc[(n, 2 * m, chains, sweeps)] / costs.loc[(n, m // 2, chains, sweeps)]
            ),
            "chains": costs.loc[(n, m, 2 * chains, sweeps)] / here,
            "sweeps": costs.loc[(n, m, chains, 2 * sweeps)] / here,
        }
        row = {"method": method, "n": n, "m": m, "chains": chains, "sweeps": sweeps, **here}
        for what, factor in factors.items():
            row |= {f"{cost}, {what}": value for cost, value in factor.items()}
        rows.append(row)
    return pd.DataFrame(rows).set_index("method")


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
