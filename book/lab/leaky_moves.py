"""Moves of leaky RBMs, tried on chains: do they keep the model, and how soon do they forget?

What is followed is the slope of log Z in the leakiness, eta^2 / 2 summed over the fields eta <= 0
of a state: the quantity that AIS adds up on the path along the leakiness.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rbmlib.checks import count
from rbmlib.numerics import ChainStream

from . import leaky_bias
from .leaky_kernels import MOVES

MEMORY_ENDS = 0.05  # correlation below which the sum over lags is cut


class Drift(NamedTuple):
    """What sweeps do to exact draws; slopes are less their exact mean, with standard errors."""

    last: tuple[float, float]  # after the last sweep
    mean: tuple[float, float]  # mean over the sweeps
    p: float  # of the law of all fields, against that of fresh exact draws
    moved: float  # share of the coordinates that the last sweep changed


class Settled(NamedTuple):
    """Chains that go on from the model."""

    slope: float
    std_error: float
    negative: float  # share of the fields that are negative


def negative_squares(eta) -> np.ndarray:
    """Sum of eta^2 / 2 over the fields eta <= 0 of each state.

    Examples
    --------
    >>> negative_squares(np.array([[-2.0, 1.0, -4.0], [3.0, 0.0, 5.0]])).tolist()
    [10.0, 0.0]
    """
    low = np.minimum(eta, 0.0)
    return np.einsum("nj,nj->n", low, low) / 2


def drift(rbm, kernel: str, norm: float, seeds: list[int], n_draws: int, n_sweeps=16) -> Drift:
    """Exact draws of a model with orthogonal columns of length ``norm``, moved.

    Parameters
    ----------
    rbm : LeakyRBM
        Without biases.
    kernel : str
        Name of a move (`leaky_kernels.MOVES`).
    seeds : list of int
        Of the draws; those of the moves and of the fresh draws begin with the same numbers.
    """
    from scipy.stats import ks_2samp

    count("n_sweeps", n_sweeps)
    model, _ = rbm.reduced()
    u = model.exact_samples(n_draws, np.random.default_rng(seeds))
    stream = ChainStream(np.random.default_rng([*seeds, 1]), n_draws)
    slopes = np.zeros(n_draws)
    for _ in range(n_sweeps):
        old, u = u, MOVES[kernel](model, u, stream)
        last = negative_squares(model.field(u))
        slopes += last / n_sweeps
    fresh = model.exact_samples(n_draws, np.random.default_rng([*seeds, 2]))
    p = ks_2samp(*(model.field(x).ravel() for x in (u, fresh))).pvalue
    nodes, weights = leaky_bias.nodes(norm)
    law = leaky_bias.stationary_law(norm, model.leakiness)[1]
    exact = rbm.n_hidden * (weights * leaky_bias.half_square(nodes, norm, 1.0, 0.0)) @ law
    end, mean = ((x.mean() - exact, x.std(ddof=1) / np.sqrt(n_draws)) for x in (last, slopes))
    return Drift(end, mean, p, (u != old).mean())


def memory(rbm, kernel: str, seed: int, n_sweeps: int = 200, n_states: int = 400) -> float:
    """Integrated autocorrelation time of the slope at the target (sweeps)."""
    model, _ = rbm.reduced()
    u, stream = model.exact_samples(n_states, seed), ChainStream(seed, n_states)
    values = []
    for _ in range(n_sweeps):
        u = MOVES[kernel](model, u, stream)
        values.append(negative_squares(model.field(u)))
    return correlation_time(np.array(values))


def correlation_time(values) -> float:
    """Of a table of values (n_sweeps, n_chains) around their common mean, in sweeps.

    Examples
    --------
    >>> correlation_time(np.array([[1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, 1.0]]))
    1.0
    """
    values = np.asarray(values)
    n_sweeps = len(values)
    x = values - np.mean(values)
    lags = range(n_sweeps // 2)
    correlation = np.array([(x[: n_sweeps - lag] * x[lag:]).mean() for lag in lags]) / (x**2).mean()
    end = np.argmax(correlation < MEMORY_ENDS) or len(correlation)
    return float(1 + 2 * correlation[1:end].sum())


def settled(
    rbm, images, seed: int, moves=("gibbs", "hmc"), n_sweeps: int = 200, n_left_out: int = 50
) -> dict[str, Settled]:
    """Chains that exact moves bring from images to the model, and that each move leads on."""
    model, span = rbm.reduced()
    n_states = len(images)
    u = images.astype(float) @ span.basis
    stream = ChainStream(np.random.default_rng([seed, 1]), n_states)
    for _ in range(n_sweeps):
        u = MOVES["hmc"](model, u, stream)
    found = {}
    for move in moves:
        v, stream = u, ChainStream(np.random.default_rng([seed, 2]), n_states)
        slopes, negative = np.zeros(n_states), 0.0
        for sweep in range(n_left_out + n_sweeps):
            v = MOVES[move](model, v, stream)
            if sweep >= n_left_out:
                eta = model.field(v)
                slopes += negative_squares(eta) / n_sweeps
                negative += (eta <= 0).mean() / n_sweeps
        error = slopes.std(ddof=1) / np.sqrt(n_states)
        found[move] = Settled(slopes.mean(), error, negative)
    return found
