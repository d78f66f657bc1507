"""The stored runs behind the figures of Carlson et al. (2016), by model, method and start."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from .. import measured
from ..measured import Measured, rmse
from ..models import load_reference
from ..page import number, pick, stored

PUBLIC = "salakhutdinov_cd25_500"  # of Figures 3 (500 hidden units), 4 and 7
METHODS = dict.fromkeys(("rts", "rts_from_rounds", "rts_given_v"), "RTS")
METHODS |= {"ais": "AIS", "raise": "RAISE", "reverse_ais": "reverse AIS"}
READINGS = {  # the variables that beta is conditioned on, and the sweeps left out of a round
    f"{given}, {left_out or 'all'} {'left out' if left_out else 'sweeps'}": (how, left_out)
    for left_out in (0, 10, 20, 25)
    for given, how in (("v and h", "joint"), ("v", "marginal"))
}
PILOT = "a pilot"  # section 2.4: "or a better estimate, if known"; beta given v and h
PILOT_GIVEN_V = "v, a pilot"
SPACED_AIS = "AIS is spaced as by Salakhutdinov & Murray"
LENGTHS = (100, 300, 1000, 3000, 10_000)  # sweeps of a chain
FEWEST = 5  # fewer runs are not judged
in_interval = partial(measured.factor, alpha=measured.FEW)
SOUND_ESS = 50  # least ESS at which AIS with 100 chains is trusted


def gathered(names: str, scheduler: str = "") -> pd.DataFrame:
    """Rows of these sweeps, with their errors of log Z.

    ``steps`` are sweeps of a chain or betas of an annealing; ``begun`` is one of `READINGS` or a
    pilot.
    """
    frame = pd.concat(stored(names, scheduler), ignore_index=True)
    frame["method"] = frame["estimator"].map(METHODS)
    frame["steps"] = frame["n_sweeps"].fillna(frame["n_temperatures"])
    known = {model: reference.log_z for model, reference in load_reference().items()}
    frame["error"] = frame["log_z"] - frame["model"].map(known)
    frame["n_images"] = frame.get("n_images", np.nan)
    how = frame.reindex(columns=["conditional", "round_burn_in", "starting", "schedule"])
    given, left_out = how["conditional"].fillna("joint"), how["round_burn_in"].fillna(0)
    words = {reading: name for name, reading in READINGS.items()}
    frame["begun"] = [words.get(k, "") for k in zip(given, left_out.astype(int), strict=True)]
    frame.loc[how["starting"] == "pilot", "begun"] = PILOT
    frame.loc[how["schedule"] == "sm08", "method"] = SPACED_AIS
    frame.loc[frame["estimator"] == "rts_given_v", "begun"] = PILOT_GIVEN_V
    return frame


def by_seed(frame: pd.DataFrame, **where) -> pd.Series:
    """Errors of the runs with these values, by seed; there may be none."""
    for column, value in where.items():
        frame = frame[frame[column] == value]
    return frame.set_index("seed")["error"].sort_index()


def span(errors) -> str:
    if not errors.size:
        return "not run"
    most = f" to {errors.max():+.1f} ({errors.size} runs)" if errors.size > 1 else " (1 run)"
    return f"{errors.min():+.1f}{most}"


def mean_and_rmse(errors) -> str:
    """Mean error with its standard error, root mean square and number of runs, as text."""
    if len(errors) < 2:
        return span(errors)
    mean = measured.mean_of(errors)
    return f"{mean.value:.2f} ± {mean.std_error:.2f}; {number(rmse(errors))} ({len(errors)})"


ESTIMATES = ("rts", "ts", "ti_rb", "ti", "mbar")


def rmse_by_temperatures(runs: pd.DataFrame) -> pd.DataFrame:
    """RMSE of ``n`` estimates about the value from all states of a run, by number K of betas."""
    k = (runs["n_temperatures"] + 1).rename("K")
    n = {c: runs["n_mbar" if c == "mbar" else "n_estimates"] for c in ESTIMATES}
    squares = {c: n[c] * (runs[f"{c}_error"] ** 2 + (runs[c] - runs["log_z"]) ** 2) for c in n}
    n, squares = (pd.DataFrame(x).groupby(k).sum() for x in (n, squares))
    return np.sqrt(squares / n).assign(n=n["rts"], n_mbar=n["mbar"])


def ratio_of(a, b, n_a: float, n_b: float) -> Measured:
    return measured.measured(a / b, np.sqrt(0.5 / n_a + 0.5 / n_b), min(n_a, n_b) - 1, "log")


def ratios(curves: dict[str, pd.DataFrame], top, bottom) -> dict[str, Measured]:
    """RMSE at one point (estimator, K) of Figure 4 divided by that at another, by model."""
    found = {}
    for model, curve in curves.items():
        n = [curve.loc[k, "n_mbar" if of == "mbar" else "n"] for of, k in (top, bottom)]
        found[model] = ratio_of(*(curve.loc[k, of] for of, k in (top, bottom)), *n)
    return found


def growth(curve: pd.DataFrame, least: int) -> float:
    """Factor by which the RMSE of RTS grows from K = ``least``, by a line fitted to logarithms."""
    x, y = np.log(curve.index), np.log(curve["rts"])
    chosen = curve.index >= least
    return float(np.exp(np.polyfit(x[chosen], y[chosen], 1)[0] * np.ptp(x[chosen])))


def moves_errors(runs: pd.DataFrame) -> dict[str, dict[str, np.ndarray]]:
    """Root mean squared errors of the runs of each task "moves", by model and estimator."""
    known = {model: reference.log_z for model, reference in load_reference().items()}
    known |= dict(runs[runs["estimator"] == "exact"][["model", "log_z"]].to_numpy())
    found = {}
    for model, of in pick(runs, estimator="moves").groupby("model"):
        off = {kind: of[f"{kind}_mean"] - known[model] for kind in ("rts", "sd", "rsd")}
        squares = {kind: of[f"{kind}_variance"] + e**2 for kind, e in off.items()}
        found[str(model)] = {kind: np.sqrt(x).to_numpy() for kind, x in squares.items()}
    return found


def trainings(runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Evaluations along each training run on DNA, first the one with the most chains."""
    rows = runs[runs["n_annealed"] == 100].sort_values("look", ignore_index=True)
    rows["update"] = rows["look"] * rows["n_updates"] // rows["n_looks"]
    found = {}
    groups = [rows["n_apart"] - rows["n_chains"], "gain", "learning_rate", "seed"]
    for (n, gain, rate, seed), run in rows.groupby(groups):
        again = f", seed {seed}" if seed > rows["seed"].min() else ""
        found[f"{-n:,} chains, α = {gain}, step {rate:g}{again}"] = run.reset_index()
    return found


def against_ais(run: pd.DataFrame) -> dict:
    """Differences of the tracked log Z from AIS in a training run, and where each would stop."""
    off, sound = (run["tracked"] - run["log_z"]).abs(), run["ess"] >= SOUND_ESS
    checked = run["validation"] + run["tracked"] - run["log_z"]
    best, best_ais = run["validation"].argmax(), checked.argmax()
    return {
        "evaluations": len(run),
        "smallest ESS": run["ess"].min(),
        "sound evaluations": int(sound.sum()),
        "RMS difference": rmse(off[sound]),
        "largest difference": off[sound].max(),
        "best tracked update": run["update"][best],
        "ESS at best tracked": run["ess"][best],
        "best update by AIS": run["update"][best_ais],
        "ESS at best by AIS": run["ess"][best_ais],
        "nats lost": checked[best_ais] - checked[best],
    }
