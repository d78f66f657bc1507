"""Mean-field solutions, which give rigorous lower bounds on log Z.

For any independent bits v with means m, log Z is at least the mean of log p*(v, h) plus the
entropy. The best independent h gives the bound

    L(m) = b m + sum_j softplus(a + m W)_j + S(m) + log_scale.

Alternating updates of the two layers raise L. A model stays the same if the states of a unit are
exchanged (h -> 1 - h), so the starts favour neither state.
"""

import numpy as np
from scipy.linalg import eigh
from scipy.special import entr

from ..numerics import softplus
from .rbm import RBM

N_DIRECTIONS = 6  # singular vectors, and units with the largest weights
N_RANDOM = 12
N_SWEEPS = 15  # of both layers, from each start
WORTH_A_CHANGE = 1.0  # nats


def lower_bounds(rbm: RBM, visible: np.ndarray) -> np.ndarray:
    """Return L for visible means (n, n_visible): (n,) lower bounds on log Z, nats."""
    entropy = (entr(visible) + entr(1 - visible)).sum(axis=1)
    field = softplus(rbm.field(visible)).sum(axis=1)
    return visible @ rbm.visible_bias + field + entropy + rbm.log_scale


def best_lower_bound(rbm: RBM, hidden=None) -> float:
    """Return the largest L found from ``hidden`` means (n, n_hidden), by default `starts`."""
    hidden = starts(rbm) if hidden is None else hidden
    for _ in range(N_SWEEPS):
        hidden = rbm.hidden_mean(rbm.visible_mean(hidden))
    return float(lower_bounds(rbm, rbm.visible_mean(hidden)).max())


def families(rbm: RBM, n_starts: int):
    """Return four arrays of random hidden states, with few to all units changed from a pattern.

    The patterns are all off, all on, `reference` and its complement; each of the last three has a
    quarter of the starts.
    """
    rng = np.random.default_rng(0)
    half = n_starts // 2
    density = np.concatenate([rng.random(half), 10 ** rng.uniform(-2, 0, n_starts - half)])
    hidden = (rng.random((n_starts, rbm.n_hidden)) < density[:, None]).astype(float)
    likely, some = reference(rbm), hidden[::4]
    return [hidden, 1 - some, np.abs(some - likely), 1 - np.abs(some - likely)]


def best_cover(rbm: RBM, candidates: list, bases: np.ndarray) -> int:
    """Return the index of the base under which the solutions with the largest L are most probable.

    ``bases`` (n, n_visible) are means; ``candidates`` holds visible means (n_starts, n_visible) for
    each base. A solution has the weight exp(L). The first base is kept unless another is better by
    `WORTH_A_CHANGE`.
    """
    means = np.concatenate(candidates)
    bounds = lower_bounds(rbm, means)
    weights = np.exp(bounds - bounds.max())
    target = weights @ means / weights.sum()
    scores = np.log(bases) @ target + np.log1p(-bases) @ (1 - target)
    best = int(np.argmax(scores))
    return best if scores[best] > scores[0] + WORTH_A_CHANGE else 0


def reference(rbm: RBM) -> np.ndarray:
    """Return the more probable state of each hidden unit at v = 1/2."""
    return (rbm.field(np.full(rbm.n_visible, 0.5)) > 0).astype(float)


def singular_vectors(gram: np.ndarray, n: int) -> np.ndarray:
    """Return the n leading right singular vectors (n, n_hidden) of W, given W'W."""
    return eigh(gram, subset_by_index=(len(gram) - n, len(gram) - 1))[1].T


def starts(rbm: RBM) -> np.ndarray:
    """Return hidden means (n, n_hidden) from which to start."""
    n = min(N_DIRECTIONS, *rbm.weights.shape)
    gram = rbm.weights.T @ rbm.weights
    right = singular_vectors(gram, n)
    large = np.argsort(-np.diag(gram), kind="stable")[:n]
    one_on = np.full((n, rbm.n_hidden), 0.5)
    one_on[np.arange(n), large] = 1.0
    rng = np.random.default_rng(0)
    half = N_RANDOM // 2
    density = np.concatenate([10 ** rng.uniform(-2, 0, half), rng.random(half)])[:, None]
    few = (rng.random((N_RANDOM, rbm.n_hidden)) < density).astype(float)
    halves = np.stack([np.zeros(rbm.n_visible), np.full(rbm.n_visible, 0.5)])
    hidden = np.concatenate([
        (right > 0).astype(float), one_on, few, np.abs(few - reference(rbm)),
        rbm.hidden_mean(np.concatenate([halves, 0.5 + 0.5 * np.sign(right @ rbm.weights.T)])),
    ])  # fmt: skip
    return np.concatenate([hidden, 1 - hidden, rbm.hidden_mean(1 - rbm.visible_mean(hidden))])
