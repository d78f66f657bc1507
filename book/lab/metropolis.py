"""Metropolis-Hastings for densities on R^d, many chains at once.

From x propose y ~ q(. | x) and go there with probability

    min(1, p*(y) q(x | y) / (p*(x) q(y | x))),

else **stay, and count x once more** (Hastings 1970). Both halves matter: without the ratio of q
the chain samples another density, and without the repeats a third (the chapter `mcmc_basics`).
`rbmlib.paths.hmc` has transitions for densities with a gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rbmlib.checks import array, count, function, generator, instance, number, numeric
from rbmlib.context import bar, using

BLOCK = 4096  # steps whose random numbers are drawn at once


class Chains(NamedTuple):
    """Markov chains, each with every repeat of every state."""

    states: np.ndarray  # (n_chains, n_samples, d)
    accepted: np.ndarray  # (n_chains, n_samples) bool: whether the chain moved to get there

    @property
    def acceptance_rate(self) -> float:
        return float(self.accepted.mean())


@dataclass(frozen=True)
class RandomWalk:
    """Propose ``x + step_size * z``, z standard normal: symmetric, so its ratio of q is 1."""

    step_size: float

    def __post_init__(self):
        number("step_size", self.step_size, "a positive number", above=0)


@dataclass(frozen=True)
class Independent:
    """Propose from one density, whatever x is.

    Attributes
    ----------
    sample : callable
        ``sample(rng, n)`` -> (n, d).
    log_density : callable
        ``log_density(y)`` -> (n,) of states (n, d), up to a constant.
    """

    sample: Callable
    log_density: Callable

    def __post_init__(self):
        function("sample", self.sample, "(rng, n) to n states")
        function("log_density", self.log_density, "of states (n, d), (n,) numbers")

    @classmethod
    def normal(cls, mean, covariance) -> Independent:
        """From the normal law of mean (d,) and covariance (d, d)."""
        mean, root = _mean_and_root(mean, covariance)

        def sample(rng, n):
            return mean + rng.standard_normal((n, mean.size)) @ root.T

        return cls(sample, normal_log_density(mean, covariance))


def normal_log_density(mean, covariance) -> Callable:
    """The log-density of a normal law, (n,) of states (n, d), without its constant.

    Examples
    --------
    >>> log_density = normal_log_density([0.0, 0.0], [[1.0, 0.0], [0.0, 4.0]])
    >>> log_density([[1.0, 2.0]]).tolist()
    [-1.0]
    """
    mean, root = _mean_and_root(mean, covariance)
    whiten = np.linalg.inv(root).T

    def log_density(x):
        z = (x - mean) @ whiten
        return -0.5 * np.einsum("nd,nd->n", z, z)

    return log_density


def metropolis_hastings(
    log_density, proposal, start, n_samples: int, rng=0, *, progress: bool | None = None
) -> Chains:
    """Chains that leave the density ``exp(log_density)`` invariant.

    Parameters
    ----------
    log_density : callable
        ``log_density(x)`` -> (n,) of states (n, d), nats, up to a constant; -inf where the density
        is 0.
    proposal : RandomWalk or Independent
    start : array (n_chains, d)
        Not part of the result.
    n_samples : int
        Of each chain.
    rng : int, Generator or None

    Raises
    ------
    ValueError, TypeError
        Naming the argument; also if a chain starts where the density is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from rbmbook.metropolis import RandomWalk, metropolis_hastings, normal_log_density
    >>> target = normal_log_density([5.0], [[4.0]])
    >>> chains = metropolis_hastings(target, RandomWalk(4.0), np.full((50, 1), 5.0), 2000)
    >>> chains.states.shape
    (50, 2000, 1)
    >>> bool(abs(chains.states.mean() - 5) < 0.1)
    True
    """
    instance("proposal", proposal, (RandomWalk, Independent), "a RandomWalk or an Independent")
    function("log_density", log_density, "of states (n, d), (n,) numbers")
    x = numeric("start", start, "(n_chains, d), one row a chain").astype(float)
    if x.ndim != 2 or not x.size:
        raise ValueError(f"start has shape {x.shape}: expected (n_chains, d), one row a chain")
    n_samples, rng = count("n_samples", n_samples), generator(rng)
    if not np.isfinite(_values(log_density, x)).all():
        raise ValueError("start has a state of density 0: expected log_density finite there")
    states = np.empty((n_samples, *x.shape))
    accepted = np.empty((n_samples, len(x)), bool)
    steps = _independent if isinstance(proposal, Independent) else _random_walk
    with using(progress=progress), bar(n_samples, "Metropolis-Hastings") as shown:
        for first in range(0, n_samples, BLOCK):
            block = slice(first, min(first + BLOCK, n_samples))
            x = steps(log_density, proposal, x, rng, states[block], accepted[block])
            shown.update(block.stop - block.start)
    return Chains(states.swapaxes(0, 1), accepted.swapaxes(0, 1))


def _random_walk(log_density, proposal, x, rng, states, accepted):
    log_u = np.log(rng.random(accepted.shape))
    jumps = proposal.step_size * rng.standard_normal(states.shape)
    now = _values(log_density, x)
    for t in range(len(states)):
        y = x + jumps[t]
        then = _values(log_density, y)
        accepted[t] = log_u[t] < then - now
        x = np.where(accepted[t][:, None], y, x)
        now = np.where(accepted[t], then, now)
        states[t] = x
    return x


def _independent(log_density, proposal, x, rng, states, accepted):
    """All proposals and their weights p*/q first; then which of them each chain sits on."""
    n_steps, n_chains, d = states.shape
    log_u = np.log(rng.random(accepted.shape))
    y = np.asarray(proposal.sample(rng, n_steps * n_chains))
    if y.size != n_steps * n_chains * d:
        raise ValueError(
            f"proposal draws states of shape {y.shape[1:]}: expected ({d},), as start has"
        )
    y = y.reshape(-1, d)
    weight = _values(log_density, y) - _values(proposal.log_density, y)
    weight = weight.reshape(n_steps, n_chains)
    now = _values(log_density, x) - _values(proposal.log_density, x)
    for t in range(n_steps):
        np.less(log_u[t], weight[t] - now, out=accepted[t])
        np.copyto(now, weight[t], where=accepted[t])
    rows = np.where(accepted, np.arange(1, n_steps + 1)[:, None], 0)
    rows = np.maximum.accumulate(rows, axis=0)
    everything = np.concatenate([x[None], y.reshape(states.shape)])
    states[:] = everything[rows, np.arange(n_chains)]
    return states[-1].copy()


def _values(log_density, x) -> np.ndarray:
    values = np.asarray(log_density(x), float)
    if values.shape != x.shape[:1]:
        raise ValueError(
            f"log_density gives shape {values.shape}: expected {x.shape[:1]}, one value a state"
        )
    return np.where(np.isnan(values), -np.inf, values)


def _mean_and_root(mean, covariance):
    mean = array("mean", mean, (None,), "(d,)")
    d = mean.size
    covariance = array("covariance", covariance, (d, d), f"({d}, {d})")
    if not np.allclose(covariance, covariance.T):
        raise ValueError("covariance is not symmetric: expected a covariance")
    try:
        return mean, np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        raise ValueError(
            "covariance is not positive definite: expected eigenvalues above 0"
        ) from None
