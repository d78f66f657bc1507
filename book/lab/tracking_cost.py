"""What tracking log Z costs beside a training by tempered chains, in processor seconds."""

from __future__ import annotations

import time
from collections.abc import Callable

import pandas as pd

from rbmlib.training import LogZTracker

from .timing import seconds_of, seconds_of_sums

N_STEPS, N_DRAWS = 2, 3  # steps of a measured training, and draws of chains for them
LOOK_EVERY = 100  # updates


def cost_of_updates(
    tracker: LogZTracker, train: Callable[[int], object], look: Callable[[], object]
) -> dict[str, float]:
    """Seconds an update: the training's own, and each part of tracking.

    Parameters
    ----------
    tracker : ReweightedTracker
    train : callable
        ``train(n)`` makes n updates with the tracker.
    look : callable
        Computes the likelihoods of a look.
    """
    summing = seconds_of_sums(tracker.n_chains * tracker.n_sweeps, tracker.betas)
    before, begun = dict(tracker.seconds), time.process_time()
    train(N_STEPS)
    whole = time.process_time() - begun
    spent = {name: tracker.seconds[name] - before[name] for name in before}
    return parts(whole, spent, summing, seconds_of(look))


def parts(whole: float, spent: dict[str, float], summing: float, look: float) -> dict[str, float]:
    """Seconds an update from those of `N_STEPS` steps, which take `N_DRAWS` draws of chains."""
    training = whole - spent["reweighting"] - spent["sampling"] - spent["tracking"]
    own = training / N_STEPS + spent["sampling"] / N_DRAWS
    return {
        "own": own - summing,
        "sums of q inside the sweeps": summing,
        "the update rule": spent["tracking"] / N_DRAWS,
        "a look in a hundred updates": look / LOOK_EVERY,
        "a look at every update": look,
        "Jarzynski, 400 chains": spent["reweighting"] / N_DRAWS,
    }


def with_sums(costs: pd.DataFrame) -> pd.DataFrame:
    """`cost_of_updates`, one row a repeat, with columns of all that tracking takes."""
    both = costs["sums of q inside the sweeps"] + costs["the update rule"]
    sums = {
        "tracking, a look in a hundred": both + costs["a look in a hundred updates"],
        "tracking, a look at every update": both + costs["a look at every update"],
    }
    return costs.assign(**sums)
