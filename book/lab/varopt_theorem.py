"""Kiwaki's Theorem 1 on a model that can be enumerated: perfect transitions, and what is foretold.

K times the variance of log-weights tends to J if transitions are perfect. Numbers are `Measured`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

import rbmlib as rl
from rbmlib import schedules

from .bootstrap import bootstrap_log_weights
from .measured import Measured, mean_of, measured


class PerfectPath(rl.GeometricPath):
    """Transitions that draw from p_beta itself."""

    def transition(self, v, beta, rng):
        draws = np.random.default_rng(int(2**52 * rng.random((len(v), 1))[0, 0]))
        return rl.sample(self.at(beta), len(v), draws).states


def variance_of(run: rl.Estimate, rng=0, times: float = 1.0) -> Measured:
    """``times`` the variance of the log-weights of a run, with the error of the bootstrap.

    ``times`` is K for the scaled variance of Theorem 1. It is asked for, since a run records
    fewer betas than it has steps.
    """
    low, high = bootstrap_log_weights(run.log_weights, rng=rng)["variance"]
    value = times * float(np.var(run.log_weights, ddof=1))
    return measured(value, times * (high - low) / (2 * 1.96))


def foretold(pilots: Sequence[rl.Estimate], betas, mixing: str = "perfect") -> Measured:
    """K times the variance of a schedule that pilots foretell: their mean, and its error."""
    k = len(betas) - 1
    return mean_of([k * schedules.predicted_variance(p, betas, mixing) for p in pilots])


def foretold_by_one(
    pilot: rl.Estimate, others: Sequence[rl.Estimate], betas, work: float
) -> Measured:
    """The same of one pilot of ``work`` times the chain-steps of others, which give its error."""
    k = len(betas) - 1
    spread = [k * schedules.predicted_variance(p, betas) for p in others]
    error = float(np.std(spread, ddof=1)) / math.sqrt(work)
    return measured(k * schedules.predicted_variance(pilot, betas), error, len(spread) - 1)


def pooled(values: Iterable[Measured], dependent: bool = False) -> Measured:
    """The mean of positive numbers, on the scale "log"; ``dependent`` errors add up unsquared.

    Examples
    --------
    >>> found = pooled([measured(2.0, 0.3), measured(4.0, 0.4)])
    >>> round(math.exp(found.value), 6), round(found.std_error, 6), found.scale
    (3.0, 0.083333, 'log')
    """
    every = list(values)
    total = sum(m.value for m in every)
    errors = [m.std_error for m in every]
    error = sum(errors) if dependent else math.hypot(*errors)
    return measured(total / len(every), error / total, scale="log")


def skewness(groups: Iterable) -> Measured:
    """Of groups of values that are each less their mean, over their standard deviation."""
    arrays = [np.asarray(g, float) for g in groups]
    z = np.concatenate([(x - x.mean()) / x.std(ddof=1) for x in arrays])
    return measured(float(np.mean(z**3)), math.sqrt(6 / len(z)), len(z))


def in_errors(ones: Iterable[Measured], others: Iterable[Measured]) -> np.ndarray:
    """Differences of numbers, in the combined standard errors of both."""
    pairs = zip(ones, others, strict=True)
    return np.array([(a.value - b.value) / math.hypot(a.std_error, b.std_error) for a, b in pairs])
