"""Runs that are wrong, each with the check that stays silent and the one that catches it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import rbmlib as rl
from rbmlib.checks import generator, number
from rbmlib.numerics import softplus
from rbmlib.results import summarise_log_weights

from .counted_models import log_choose
from .hills import HillsPath

CLOSE = 0.5  # nats within which chains are said to agree


class Group(NamedTuple):
    """The largest group of chains that agree: how many, and the mean of what they say."""

    n: int
    log_z: float


def agreeing(log_weights, within: float = CLOSE) -> Group:
    """The largest group of chains whose estimates of log Z lie within some nats.

    Examples
    --------
    >>> agreeing([12.0, 12.1, 12.2, 20.0]).n
    3
    """
    w = np.sort(np.asarray(log_weights, float))
    ends = np.searchsorted(w, w + within, side="right")
    first = int(np.argmax(ends - np.arange(w.size)))
    return Group(int(ends[first] - first), float(w[first : ends[first]].mean()))


def split(log_weights, n_chains: int) -> np.ndarray:
    """Runs of a few chains each, from one of many: log Z, its own error and ESS, (n_runs, 3)."""
    groups = np.asarray(log_weights, float).reshape(-1, n_chains)
    runs = [summarise_log_weights(group) for group in groups]
    return np.array([(run.log_mean, run.std_error, run.ess) for run in runs])


def law_of_sum(rbm: rl.BernoulliRBM, betas) -> np.ndarray:
    """log p of the number of visible units that are on, at each beta, of equal weights and no
    visible biases, along the path from fair coins: (n_betas, n_visible + 1)."""
    on = np.arange(rbm.n_visible + 1)
    fields = np.multiply.outer(betas, rbm.hidden_bias[0] + rbm.weights[0, 0] * on)
    log_p = log_choose(rbm.n_visible) + rbm.n_hidden * softplus(fields)
    return log_p - np.logaddexp.reduce(log_p, axis=1, keepdims=True)


class Untested(HillsPath):
    """A path whose move climbs a little and adds noise, without a test of acceptance."""

    def __init__(self, hills, size: float = 0.5):
        super().__init__(hills)
        self.size = number("size", size, "above 0", above=0)

    def transition(self, v: np.ndarray, beta, rng) -> np.ndarray:
        rise = self.log_density(v + 1e-3, beta) - self.log_density(v - 1e-3, beta)
        up = self.size**2 / 2 * rise[:, None] / 2e-3
        return v + up + self.size * rng.standard_normal(v.shape)


def drift(path: HillsPath, n_draws: int, n_moves: int, rng) -> np.ndarray:
    """Exact draws of the hills, only moved: mean of Δ less its exact value, and its error.

    Returns
    -------
    ndarray (n_moves + 1, 2)
    """
    rng, hills = generator(rng), path.hills
    v, found = hills.draw(n_draws, 1.0, rng)[:, None], []
    for k in range(n_moves + 1):
        v = path.transition(v, 1.0, rng) if k else v
        slope = hills.slope(v[:, 0])
        found.append((slope.mean() - hills.mean_slope(1.0), slope.std() / np.sqrt(n_draws)))
    return np.array(found)


class Population(NamedTuple):
    """States resampled in proportion to their weights, and the chain that each comes from."""

    states: np.ndarray
    ancestors: np.ndarray

    @property
    def families(self) -> np.ndarray:
        """How many states each ancestor has that has any, largest first."""
        return np.sort(np.unique(self.ancestors, return_counts=True)[1])[::-1]


def population(run: rl.Estimate, rng) -> Population:
    """As many states of the target as the run has chains, drawn by their weights."""
    weights = np.exp(run.log_weights - run.log_weights.max())
    kept = generator(rng).choice(run.n_chains, run.n_chains, p=weights / weights.sum())
    return Population(run.states[kept], kept)


def share_of_left(found: Population) -> tuple[float, float, float]:
    """Share of the states left of 0; its error if all were independent, and if families were."""
    left = found.states[:, 0] < 0
    share, n = left.mean(), left.size
    sums = np.bincount(found.ancestors, weights=left - share)
    return (
        float(share),
        float(np.sqrt(share * (1 - share) / n)),
        float(np.sqrt((sums**2).sum()) / n),
    )
