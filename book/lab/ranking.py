"""Estimators at equal time: their errors, the cost of a fixed precision, and their ranking.

Runs are those of the sweep of chapter compare, and longer runs of earlier sweeps. Seconds of the
sweep are processor time, with pilots; seconds of earlier sweeps are wall time on one thread.
"""

import math
from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.special import chdtrc, ndtri

from rbmlib import datasets

from . import plots
from .models import load_reference
from .tables import number

PRECISION = 0.05  # nats
LEVEL = 0.05  # probability with which an honest error bar counts as failing
FLAGGED = 0.5  # a method with this share of flagged runs, or more, does not count
FEWEST, MANY = 5, 10  # least number of repeats for ranking, and for resampling
N_DRAWS = 4000
_ENDS = ("low", "high")
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
    """Runs from the table of the sweep ``compare``, read by `stored_results`."""
    found = table[["model", "method", "budget", "size", "seed", "log_z", "std_error"]].copy()
    found["seconds"] = table.attrs["provenance"]["seconds"]
    found["flagged"] = ~table["converged"].astype(bool)
    found["low"], found["high"], found["source"] = table["low"], table["high"], "compare"
    return _with_errors(found)


def earlier() -> pd.DataFrame:
    """Longer runs of sweeps of other chapters."""
    parts = []
    for sweep, rows, method in _EARLIER:
        table = pd.read_csv(datasets.committed(f"results/{sweep}.csv"))
        table = table.assign(source=sweep, method=method).query(rows)
        size = [c for c in ("n_temperatures", "n_sweeps") if c in table]
        part = table[["model", "method", "seed", "log_z", "std_error", "seconds", "source"]].copy()
        part["flagged"] = ~table["converged"].astype(bool)
        part["size"] = table[size].fillna(1).prod(axis=1)
        parts.append(part)
    found = pd.concat(parts, ignore_index=True)
    return _with_errors(found.assign(budget=np.nan, low=np.nan, high=np.nan))


def _with_errors(table: pd.DataFrame) -> pd.DataFrame:
    """Add ``error`` against the reference set, its standard error ``doubt``, and ``covered``.

    Only intervals of unflagged runs count, because some others are widened on purpose. The
    half-width of the reference value is added in squares.
    """
    reference = load_reference()
    truth = table["model"].map({name: value.log_z for name, value in reference.items()})
    doubt = table["model"].map({name: value.std_error for name, value in reference.items()})
    error, doubt = table["log_z"] - truth, doubt.fillna(0.0)
    low, high = (np.hypot(table["log_z"] - table[end], doubt * ndtri(0.975)) for end in _ENDS)
    promised = table["low"].notna() & table["std_error"].notna() & ~table["flagged"]
    covered = ((error <= low) & (-error <= high)).astype(float).where(promised)
    return table.assign(error=error, doubt=doubt, covered=covered)


def misfit(errors, bars, shared: float = 0.0) -> float:
    """Sum of squared errors in units of their bars, a chi-squared variable if the bars hold.

    All errors are from one reference value with standard error ``shared``. The sum is
    ``e C^-1 e``, where C is the covariance matrix of the errors: ``bars^2`` on the diagonal plus
    ``shared^2`` everywhere.
    """
    errors, weights = np.asarray(errors), 1 / np.maximum(bars, 1e-9) ** 2
    pull = weights @ errors
    common = shared**2 * pull**2 / (1 + shared**2 * weights.sum())
    return float(weights @ errors**2 - common)


def cells(table: pd.DataFrame) -> pd.DataFrame:
    """One row per model, method, source and size: error, honesty, flags and seconds.

    ``ratio`` is errors over error bars, and ``chance`` is the probability of errors at least as
    large if the bars are honest, both for unflagged runs. ``errors`` and ``bars`` are of all runs.
    """
    rows = []
    keys = ["model", "method", "source", "size"]
    for key, group in table.sort_values("seed", kind="stable").groupby(keys, sort=False):
        error, bar = group["error"].to_numpy(), group["std_error"].to_numpy()
        kept, doubt = ~group["flagged"].to_numpy(), float(group["doubt"].iloc[0])
        joint = np.hypot(np.nan_to_num(bar, nan=PRECISION), doubt)
        wrong = np.abs(error) > 3 * np.maximum(joint, 1e-9)
        n, squares = int(kept.sum()), misfit(error[kept], bar[kept], doubt)
        rows.append(dict(zip(keys, key, strict=True)) | {
            "budget": group["budget"].iloc[0], "n": len(group),
            "seconds": float(group["seconds"].median()),
            "rmse": float(np.sqrt(np.mean(error**2))),
            "ratio": math.sqrt(squares / n) if n else math.nan,
            "chance": float(chdtrc(n, squares)) if n else math.nan,
            "flagged": float(group["flagged"].mean()),
            "unflagged_failures": int((wrong & kept).sum()),
            "errors": error, "bars": bar,
        })  # fmt: skip
    return pd.DataFrame(rows)


def effort(errors, seconds: float) -> float:
    """Seconds to an RMSE of 0.05 nat, if the RMSE falls as 1 / sqrt(seconds)."""
    return float(seconds * np.mean(np.square(errors)) / PRECISION**2)


def longest(table: pd.DataFrame, model: str) -> pd.DataFrame:
    """The longest runs of each method on a model, with at least `FEWEST` repeats.

    They are runs of the sweep if there are any, and of earlier sweeps otherwise. Adds ``holds``:
    fewer than half of the runs are flagged, and honest bars show errors as large in at least one
    case of twenty. Adds ``effort``, which is at least ``floor``: the seconds of the longest shorter
    run with errors (``missed``) above 0.05 nat, or of the run itself if nothing shorter was tried.
    """
    rows = []
    of_model = table[(table["model"] == model) & (table["n"] >= FEWEST)]
    of_model = of_model[[bool(np.isfinite(bars).all()) for bars in of_model["bars"]]]
    for _, group in of_model.groupby("method", sort=False):
        own = group[group["source"] == "compare"]
        row = (own if len(own) else group).nlargest(1, "seconds").iloc[0].copy()
        shorter = group[group["seconds"] < row["seconds"]]
        last = shorter[shorter["rmse"] > PRECISION].nlargest(1, "seconds")
        row["missed"] = last.iloc[0]["errors"] if len(last) else None
        row["floor"] = 0.0 if len(shorter) else row["seconds"]
        row["floor"] = last.iloc[0]["seconds"] if len(last) else row["floor"]
        row["holds"] = bool(row["flagged"] < FLAGGED and row["chance"] >= LEVEL)
        row["effort"] = max(effort(row["errors"], row["seconds"]), row["floor"])
        rows.append(row)
    columns = [*table.columns, "missed", "floor", "holds", "effort"]
    return pd.DataFrame(rows, columns=columns).reset_index(drop=True)


class _Draws:
    """Random expected squared errors that agree with those of a few runs.

    Runs are drawn with replacement, with the same seeds for all methods of a sweep. If two methods
    give the same values, only their seconds decide. For fewer than `MANY` runs, the mean square is
    drawn from its distribution for normal errors, once for equal values.
    """

    def __init__(self, n_draws: int, seed: int):
        self.n_draws, self.rng = n_draws, np.random.default_rng(seed)
        self.shared: dict = {}

    def means(self, errors, source: str) -> np.ndarray:
        squares, n = np.square(errors), len(errors)
        if n >= MANY:
            chosen = self.rng.integers(n, size=(self.n_draws, n))
            chosen = self.shared.setdefault((source, n), chosen)
            return squares[chosen].mean(axis=1)
        factor = n / self.rng.chisquare(n, self.n_draws)
        return squares.mean() * self.shared.setdefault(np.round(squares, 9).tobytes(), factor)


def drawn(found: pd.DataFrame, n_draws: int = N_DRAWS, seed: int = 0) -> np.ndarray:
    """Random efforts (n_methods, n_draws) that agree with `longest` runs.

    There is no floor in draws in which its run would not have missed 0.05 nat.
    """
    draws, efforts = _Draws(n_draws, seed), []
    for row in found.itertuples():
        error = draws.means(row.errors, row.source)
        least = np.full(n_draws, row.floor)
        if row.missed is not None:
            least[draws.means(row.missed, row.source) <= PRECISION**2] = 0.0
        efforts.append(np.maximum(row.seconds * error / PRECISION**2, least))
    return np.array(efforts)


def ranking(table: pd.DataFrame, model: str, n_draws: int = N_DRAWS, seed: int = 0):
    """`longest` runs that hold, by effort, with its 95% interval from ``low`` to ``high``.

    ``first``, ``within_two``: shares of draws with the least time, or at most twice the least.
    """
    found = longest(table, model)
    found = found[found["holds"].astype(bool)].reset_index(drop=True)
    if found.empty:
        return found
    efforts = drawn(found, n_draws, seed)
    found["low"], found["high"] = np.quantile(efforts, (0.025, 0.975), axis=1)
    best = efforts.min(axis=0)
    found["first"] = (efforts == best).mean(axis=1)
    found["within_two"] = (efforts <= 2 * best).mean(axis=1)
    return found.sort_values("effort", ignore_index=True)


def in_words(seconds: float) -> str:
    """Seconds with two digits, such as 0.34 s, 12 s, 5.4 min or 2.1 h.

    Examples
    --------
    >>> in_words(0.345), in_words(12.3), in_words(324), in_words(7500)
    ('0.34 s', '12 s', '5.4 min', '2.1 h')
    """
    if not math.isfinite(seconds):
        return "not known"
    units = {"h": 3600.0, "min": 60.0, "s": 1.0}
    unit = next((name for name, length in units.items() if seconds >= 1.5 * length), "s")
    value = seconds / units[unit]
    decimals = 0 if value >= 10 else 1 if value >= 1 else 2
    return f"{value:.{decimals}f} {unit}"


def time_to_precision(longest: pd.DataFrame, method: str) -> str:
    """The time of a method to 0.05 nat by its run in `longest`, or why there is none."""
    if method not in longest.index:
        return "no run"
    row = longest.loc[method]
    if row["flagged"] >= FLAGGED:
        return f"flagged, {row['n']}"
    if not row["holds"]:
        return f"bar fails ({row['ratio']:.2f}), {row['n']}"
    return f"{in_words(row['effort'])} ({in_words(row['seconds'])}, {row['n']})"


def times(longest: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """`time_to_precision` by method and model, without TAP, which has no error bar."""
    methods = [method for method in METHODS if not method.startswith("TAP")]
    columns = {
        model: [time_to_precision(found, method) for method in methods]
        for model, found in longest.items()
    }
    return pd.DataFrame({"method": methods} | columns)


def winners(table: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, pd.Series]]:
    """A table of the first method on each model, and the rows of `ranking` of these methods."""
    rows, first = [], {}
    for title, models in CLASSES.items():
        for model in models:
            found = ranking(table, model)
            if found.empty:
                why = "none holds" if len(longest(table, model)) else "no run"
                rows.append([title, model, why, "", "", ""])
                continue
            top = first[model] = found.iloc[0]
            close = found.loc[found["within_two"] >= 0.25, "method"]
            others = ", ".join(close[close != top["method"]])
            span = " to ".join(in_words(top[end]) for end in ("low", "high"))
            took = f"{in_words(top['effort'])} ({span})"
            rows.append([title, model, top["method"], took, f"{top['first']:.0%}", others])
    head = ["class", "model", "winner", "time to 0.05 (95%)", "first", "within twice its time"]
    return pd.DataFrame(rows, columns=head), first


def honesty(sweep: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Share of flagged runs of each method, and quality of the unflagged ones."""
    rows = []
    for method in (m for m in METHODS if m in set(sweep["method"])):
        runs = sweep[sweep["method"] == method]
        of_sweep = table[(table["method"] == method) & (table["source"] == "compare")]
        covered, silent = runs["covered"].mean(), int((~runs["flagged"]).sum())
        rows.append({
            "method": method,
            "runs": len(runs),
            "flagged": f"{runs['flagged'].mean():.0%}",
            "covered, unflagged runs":
                "no interval" if np.isnan(covered) else f"{covered:.0%}",
            "wrong, unflagged runs":
                f"{int(of_sweep['unflagged_failures'].sum())} of {silent}",
        })  # fmt: skip
    return pd.DataFrame(rows)


def error_of_tool(runs: pd.DataFrame) -> str:
    """RMSE of runs of another tool, with the sign of the bias, and the error stated by the tool."""
    if runs.empty:
        return "no run"
    error, said = runs["error"], runs["std_error"].mean()
    signed = np.sqrt(np.mean(error**2)) * np.sign(error.mean())
    words = "nothing" if np.isnan(said) else number(said, 2)
    return f"{number(signed, 2)} (says {words}; {in_words(runs['seconds'].median())})"


def tools(others: pd.DataFrame, models: list[str]) -> pd.DataFrame:
    """`error_of_tool` by tool and setting, one column per model; repeats are the fewest."""
    return pd.DataFrame([
        {"tool": f"{tool}: {setting}"}
        | {model: error_of_tool(runs[runs["model"] == model]) for model in models}
        | {"repeats": runs["model"].value_counts().min()}
        for (tool, setting), runs in others.groupby(["tool", "setting"], sort=False)
    ])  # fmt: skip


def live(runs: Mapping[str, list], known: float) -> pd.DataFrame:
    """Errors and seconds of live runs; ``runs`` has (estimate, seconds) pairs by method.

    If log Z is unknown (nan), errors are from the mean of the runs.
    """
    rows = []
    for method, found in runs.items():
        values = np.array([run.log_z for run, _ in found])
        seconds = float(np.median([taken for _, taken in found]))
        off = values - (known if np.isfinite(known) else values.mean())
        rows.append({
            "method": method,
            "seconds": in_words(seconds),
            "rms error": np.sqrt(np.mean(off**2)),
            "standard error": np.mean([run.std_error for run, _ in found]),
            "flagged": f"{sum(not run.converged for run, _ in found)} of {len(found)}",
            "time to 0.05": in_words(effort(off, seconds)),
        })  # fmt: skip
    return pd.DataFrame(rows)


LOOKS = {"AIS, linear": "linear"}  # methods with the style of another name
MARKERS = {"AIS, linear": "s", "log_z": "*", "TAP2": "X"}  # distinct in this figure
SHOWN = ("AIS, linear", "AIS", "BAR", "SMC", "RTS", "MBAR", "SAMS", "NRPT", "log_z", "TAP2")


def race(table, models):
    """Error against seconds, one panel per model; runs of other chapters have open markers."""
    figure, axes = plt.subplots(2, 2, figsize=(9.5, 7.4), sharex=True, sharey=True)
    shown = {}
    for ax, model in zip(axes.flat, models, strict=True):
        of_model = table[(table["model"] == model) & (table["n"] >= 2)]
        for name in (m for m in SHOWN if m in set(of_model["method"])):
            part = of_model[of_model["method"] == name].sort_values("seconds")
            points = plots.method(LOOKS.get(name, name), name) | {"linestyle": "", "markersize": 8}
            points["marker"] = MARKERS.get(name, points["marker"])
            new, old = (part[(part["source"] == "compare") == is_new] for is_new in (True, False))
            ax.plot(new["seconds"], new["rmse"], color=points["color"], lw=0.8, alpha=0.5)
            (shown[name],) = ax.plot(new["seconds"], new["rmse"], **points)
            ax.plot(old["seconds"], old["rmse"], **points | {"markerfacecolor": "white"})
        ax.axhline(0.05, color="black", lw=0.8, ls=":")
        ax.set(title=model, xscale="log", yscale="log")
    plt.setp(axes[1], xlabel="seconds of one processor")
    plt.setp(axes[:, 0], ylabel="root mean squared error (nats)")
    order = [m for m in SHOWN if m in shown]
    figure.legend([shown[m] for m in order], order, loc="outside lower center", ncols=5, fontsize=9)
    return axes
