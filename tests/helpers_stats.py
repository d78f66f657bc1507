"""Plain NumPy truths by enumeration, and the statistics with which tests are judged.

Nothing here calls rbmlib: a test compares the library with sums over all pairs (v, h).
"""

import numpy as np
from scipy import special, stats

log_sum, probabilities, standard_error = special.logsumexp, special.softmax, stats.sem


def all_states(n: int) -> np.ndarray:
    """(2**n, n) zeros and ones; row r holds the bits of r, lowest first."""
    return ((np.arange(2**n)[:, None] >> np.arange(n)) & 1).astype(float)


def state_index(states) -> np.ndarray:
    """Row of each state in `all_states`."""
    states = np.asarray(states).astype(np.int64)
    return states @ (1 << np.arange(states.shape[1]))


def joint_table(weights, visible_bias, hidden_bias) -> np.ndarray:
    """v W h + b v + a h for every pair of states: (2**n_visible, 2**n_hidden)."""
    weights = np.asarray(weights, float)
    v, h = all_states(weights.shape[0]), all_states(weights.shape[1])
    return (
        np.einsum("ri,ij,cj->rc", v, weights, h, optimize=True)
        + (v * visible_bias).sum(axis=1)[:, None]
        + (h * hidden_bias).sum(axis=1)[None, :]
    )


def rbm_table(rbm) -> np.ndarray:
    """`joint_table` of a model from its parameters, its constant included."""
    return joint_table(rbm.weights, rbm.visible_bias, rbm.hidden_bias) + rbm.log_scale


def geometric_tables(base_table, target_table, beta):
    """log p*_beta(v, h) of the geometric path: a mixture of the two joint log-densities."""
    return (1 - beta) * base_table + beta * target_table


def z_score(values, expected, axis=0):
    """(mean - expected) in standard errors of the mean."""
    return (np.mean(values, axis=axis) - expected) / standard_error(values, axis)


def two_sided(z) -> np.ndarray:
    """p-values of z-scores."""
    return 2 * stats.norm.sf(np.abs(z))


def assert_no_rejection(p_values, what: str = "cells", level: float = 0.01) -> None:
    """The chance of one or more false rejections is ``level``, shared by all p-values."""
    p = np.asarray(p_values)
    assert not np.isnan(p).any(), f"{what}: a p-value is NaN"
    where = np.unravel_index(p.argmin(), p.shape)
    assert p.min() > level / p.size, f"{what}: smallest p of {p.size} {p.min():.2g} at {where}"


def chi_square_p(indices, expected) -> float:
    """p-value of the counts of ``indices`` under probabilities ``expected``.

    States expected less than ten times are pooled, as the approximation demands.
    """
    counts = np.bincount(indices, minlength=len(expected)).astype(float)
    wanted = np.asarray(expected) * counts.sum()
    rare = wanted < 10
    if rare.any():
        counts = np.append(counts[~rare], counts[rare].sum())
        wanted = np.append(wanted[~rare], wanted[rare].sum())
        if wanted[-1] < 1:
            counts, wanted = counts[:-1], wanted[:-1]
            wanted *= counts.sum() / wanted.sum()
    return float(stats.chisquare(counts, wanted).pvalue)
