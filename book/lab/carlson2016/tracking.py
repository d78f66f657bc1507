"""Looks along the stored trainings on DNA: the tracker against AIS, and what tracking costs."""

from __future__ import annotations

import time
from collections.abc import Callable

import pandas as pd

from rbmlib.training import LogZTracker

from ..measured import rmse
from ..timing import seconds_of, seconds_of_sums

SOUND_ESS = 50  # of AIS with 100 chains, from which on it is trusted
N_STEPS, N_DRAWS = 2, 3  # steps of a measured training, and draws of chains for them
LOOK_EVERY = 100  # updates


def trainings(stored: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The looks of each training, that of the paper's 2,000 chains first."""
    looks = stored[stored["n_annealed"] == 100].sort_values("look", ignore_index=True)
    looks["update"] = looks["look"] * looks["n_updates"] // looks["n_looks"]
    first, found = looks["seed"].min(), {}
    for (n, gain, seed), run in looks.groupby([-looks["n_chains"], "gain", "seed"]):
        name = f"{-n:,} chains, α = {gain}" + (f", seed {seed}" if seed > first else "")
        found[name] = run.reset_index()
    return found


def against_ais(run: pd.DataFrame) -> dict:
    """How far the tracked log Z is from AIS along a training, and where each would stop."""
    off, sound = (run["tracked"] - run["log_z"]).abs(), run["ess"] >= SOUND_ESS
    checked = run["validation"] + run["tracked"] - run["log_z"]
    best, best_ais = run["validation"].argmax(), checked.argmax()
    return {
        "looks": len(run),
        "least ESS": run["ess"].min(),
        "sound looks": int(sound.sum()),
        "RMS difference": rmse(off[sound]),
        "largest": off[sound].max(),
        "best update, tracked": run["update"][best],
        "ESS at it": run["ess"][best],
        "by AIS": run["update"][best_ais],
        "lost": checked[best_ais] - checked[best],
        "ESS there": run["ess"][best_ais],
    }


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
