"""The schedule of a run of `log_z`: that of friction, by a short pilot, with a share left even."""

from __future__ import annotations

import warnings

import numpy as np

from ..estimators.ais import ais
from ..paths.base import AnnealingPath
from ..results import ConvergenceWarning
from ..schedules import linear
from ..schedules.cutting import cut
from ..schedules.pilots import friction_coefficient

CHAINS, SHORTER, FEWEST, MOST = 64, 4, 100, 10_000  # of a pilot: chains, and steps
LOOKS = 101
EVEN = 0.25  # of the steps, spread evenly: a pilot may miss what a longer run will meet


def work(n_steps: int) -> int:
    """Sweeps of all chains of a pilot."""
    return CHAINS * _length(n_steps)


def _length(n_steps: int) -> int:
    return min(max(n_steps // SHORTER, FEWEST), MOST)


def schedule(path: AnnealingPath, n_steps: int, source, n_threads: int | None = None) -> np.ndarray:
    """Betas (n_steps + 1,): steps in proportion to the square root of the friction coefficient."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        run = ais(
            path, linear(_length(n_steps)), CHAINS, source, n_recorded=LOOKS, keep_chains=True,
            n_threads=n_threads, progress=False,
        )  # fmt: skip
    increments = np.diff(run.trace["chain_log_weights"], axis=0)
    if not np.ptp(increments, axis=1).all():  # a flat stretch, which has no friction
        return linear(n_steps)
    zeta = friction_coefficient(run, smoothing=2.0)[1]
    grid = run.betas
    lengths = np.sqrt(zeta) * np.diff(grid)
    return cut(grid, (1 - EVEN) * lengths / lengths.sum() + EVEN * np.diff(grid), n_steps)
