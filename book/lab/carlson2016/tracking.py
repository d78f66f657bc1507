"""Looks along the stored trainings on DNA: the tracker against AIS, and what tracking costs."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import pandas as pd

from rbmlib.training import LogZTracker

from ..errors import rmse
from ..timing import seconds_of, seconds_of_sums

SOUND_ESS = 50  # of AIS with 100 chains, from which on it is trusted
N_STEPS, N_DRAWS = 2, 3  # steps of a measured training, and draws of chains for them
LOOK_EVERY = 100  # updates


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


def against_ais(run: pd.DataFrame) -> dict:
    """How far the tracked log Z is from AIS along a training, and where each would stop."""
    off = (run["tracked"] - run["log_z"]).abs()
    checked, sound = validation_by_ais(run), run["ess"] >= SOUND_ESS
    best, best_ais = run["validation"].argmax(), checked.argmax()
    return {
        "looks": len(run),
        "least ESS": run["ess"].min(),
        "sound looks": int(sound.sum()),
        "RMS difference": rmse(off[sound]),
        "largest": off[sound].max(),
        "best update, tracked": run["update"][best],
        "by AIS": run["update"][best_ais],
        "lost": checked[best_ais] - checked[best],
        "ESS there": run["ess"][best_ais],
    }


def validation_by_ais(run: pd.DataFrame) -> pd.Series:
    """Validation likelihood with log Z by AIS in the place of the tracked one."""
    return run["validation"] + run["tracked"] - run["log_z"]


def cost_of_updates(
    tracker: LogZTracker, train: Callable[[int], object], look: Callable[[], object]
) -> dict[str, float]:
    """Processor seconds an update: the training's own, and each part of tracking.

    Training by tempered chains needs their sweeps and draws of beta with or without log Z. Tracking
    adds the sums of q inside the sweeps, the update rule, and the likelihoods at a look.
    ``train(n)`` makes n updates with the tracker; ``look()`` computes the likelihoods.
    """
    summing = seconds_of_sums(tracker.n_chains * tracker.n_sweeps, tracker.betas)
    before, begun = dict(tracker.seconds), time.process_time()
    train(N_STEPS)
    whole = time.process_time() - begun
    spent = {name: tracker.seconds[name] - before[name] for name in before}
    return parts(whole, spent, summing, seconds_of(look))


def parts(whole: float, spent: dict[str, float], summing: float, look: float) -> dict[str, float]:
    """Seconds an update from those of `N_STEPS` steps, which take `N_DRAWS` draws of chains."""
    own = (whole - spent["sampling"] - spent["tracking"]) / N_STEPS + spent["sampling"] / N_DRAWS
    rule = spent["tracking"] / N_DRAWS
    return {
        "own": own - summing,
        "sums of q inside the sweeps": summing,
        "the update rule": rule,
        "a look in a hundred updates": look / LOOK_EVERY,
        "tracking, a look in a hundred": summing + rule + look / LOOK_EVERY,
        "tracking, a look at every update": summing + rule + look,
    }
