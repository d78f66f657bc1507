"""Looks along the stored trainings on DNA: the tracker against AIS, and where each would stop."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from .errors import rmse

SOUND_ESS = 50  # of AIS with 100 chains, from which on it is trusted
FEWEST_ANCESTORS = 10  # of Jarzynski's chains: a spread over fewer means nothing
STAYS = 0.5  # share of the chains that are still in a mode, above which it is one of its own


class Trainings(NamedTuple):
    """The table of the sweep ``tracking``, one frame a training, one row a look."""

    paper: pd.DataFrame  # 2,000 chains
    by_gain: dict[float, pd.DataFrame]  # 400 chains
    checked_again: pd.DataFrame  # looks of the gain 0.2 with 1,000 chains of AIS, by look


def trainings(stored: pd.DataFrame) -> Trainings:
    """The stored looks by training, with the number of updates before each, ``update``."""
    looks = stored.sort_values("look")
    looks["update"] = looks["look"] * looks["n_updates"] // looks["n_looks"]
    usual = looks[looks["n_annealed"] == 100]
    few = usual[usual["n_chains"] == 400].groupby("gain")
    return Trainings(
        usual[usual["n_chains"] == 2000].reset_index(),
        {gain: run.reset_index() for gain, run in few},
        looks[looks["n_annealed"] == 1000].set_index("look"),
    )


def against_ais(name: str, run: pd.DataFrame, estimate, bar) -> dict:
    """How far an estimate is from AIS along a training, and where each would stop.

    Parameters
    ----------
    name : str
        Of the row.
    run : DataFrame
        One row a look.
    estimate, bar : Series
        log Z at each look with its error bar, or nan where there is none.
    """
    errors, bars = estimate - run["log_z"], np.hypot(bar, run["std_error"])
    checked = validation_by_ais(run)
    best, best_ais = (checked - errors).argmax(), checked.argmax()
    sound = run["ess"] >= SOUND_ESS
    return {
        "estimate": name,
        "looks": len(run),
        "least ESS": run["ess"].min(),
        "sound looks": int(sound.sum()),
        "RMS difference": rmse(errors),
        "largest": errors.abs().max(),
        "largest at sound looks": errors[sound].abs().max(),
        "within 2 bars": (errors.abs() < 2 * bars)[bars.notna()].mean(),
        "best look": best,
        "best by AIS": best_ais,
        "lost": checked[best_ais] - checked[best],
        "falls after": bool(0 < best_ais < len(run) - 1),
        "test, tracked": run["test"][best],
    }


def validation_by_ais(run: pd.DataFrame) -> pd.Series:
    """Validation likelihood with log Z by AIS in the place of the tracked one."""
    return run["validation"] + run["tracked"] - run["log_z"]


def of_tracker(name: str, run: pd.DataFrame) -> list[dict]:
    """`against_ais` of the tracked log Z, and of that with its lag added."""
    added = run["tracked"] + run["lag"]
    return [
        against_ais(f"{name}: tracker", run, run["tracked"], run["log_z_error"]),
        against_ais(f"{name}: lag added", run, added, run["noise_with_lag"]),
    ]


def of_jarzynski(name: str, run: pd.DataFrame) -> list[dict]:
    """`against_ais` of Jarzynski's estimate, and of that less its error at the base."""
    bar, less = family_bar(run), run["reweighted"] - run["reweighted_base_error"]
    return [
        against_ais(f"{name}: Jarzynski", run, run["reweighted"], bar),
        against_ais(f"{name}: Jarzynski less base error", run, less, bar),
    ]


def family_bar(run: pd.DataFrame) -> pd.Series:
    """The error bar of Jarzynski's estimate, nan where the chains descend from too few."""
    return run["reweighted_error"].where(run["reweighted_ancestors"] >= FEWEST_ANCESTORS)


def witnessed(traced: pd.DataFrame, run: pd.DataFrame, again: pd.DataFrame) -> pd.DataFrame:
    """What tracker, AIS, a trajectory and the heaviest mode say of log Z at each look.

    Parameters
    ----------
    traced : DataFrame
        The table of the sweep ``tracking_dna``, by look.
    run, again : DataFrame
        The same training in `Trainings`, by look, and its looks with more chains of AIS.

    Returns
    -------
    DataFrame
        ``traced`` with ``update``; ``ais``, of 1,000 chains where there are; ``missed``: the bound
        of the mode proves the trajectory too low; and ``whole``, the trajectory and the mode
        together where the mode is a part of its own.
    """
    more = again["log_z"].reindex(traced.index)
    apart = (traced["mode_log_z"] > traced["log_z"]) & (traced["mode_stays"] > STAYS)
    both = np.logaddexp(traced["log_z"], traced["mode_log_z"])
    return traced.assign(
        update=run["update"],
        ais=more.fillna(run["log_z"]),
        missed=traced["mode_bound"] > traced["log_z"] + 2 * traced["std_error"],
        whole=np.where(apart, both, traced["log_z"]),
    )
