"""From ratios of Z between neighbouring betas of tempered states to log Z along the ladder."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from .._diagnosis import Check
from ..results import Estimate
from ..tempering import TemperedSample
from ._report import kept_states, of_influences


class Ratio(NamedTuple):
    """log (Z_high / Z_low), what each state at either end moves it by, and what it rests on."""

    log_z: float
    low: np.ndarray
    high: np.ndarray
    states: float  # how many, of those where the neighbours overlap


def joined_neighbours(
    method: str, sample: TemperedSample, skip: int, ratio: Callable[..., Ratio],
    words: str, fewest: int,
) -> Estimate:  # fmt: skip
    """The estimate from ``ratio`` of the work values (d Delta) at both ends of each step d.

    ``words`` say of what every step needs ``fewest``. Betas without states are left out: their
    neighbours are joined.
    """
    started = time.perf_counter()
    delta, temperature, counts = kept_states(sample, skip)
    used = np.flatnonzero(counts)
    for end in (0, counts.size - 1):
        if not counts[end]:
            raise ValueError(
                f"sample holds no state at beta = {sample.betas[end]:g}: expected some at both "
                "ends; run more sweeps, or start from a pilot"
            )
    delta, order = delta.ravel(), np.argsort(temperature.ravel(), kind="stable")
    of_beta = np.split(order, np.cumsum(counts)[:-1])
    influences, log_z_path, least = np.zeros(delta.size), np.zeros(counts.size), np.inf
    for low, high in pairwise(used):
        step = sample.betas[high] - sample.betas[low]
        found = ratio(step * delta[of_beta[low]], step * delta[of_beta[high]])
        log_z_path[high] = log_z_path[low] + found.log_z
        influences[of_beta[low]] += found.low
        influences[of_beta[high]] += found.high
        least = min(least, found.states)
    log_z_path = np.interp(sample.betas, sample.betas[used], log_z_path[used])
    return of_influences(
        method, sample, log_z_path, influences.reshape(temperature.shape),
        [Check(f"{least:.0f} {words}, {fewest} or more", bool(least >= fewest))], started,
    )  # fmt: skip
