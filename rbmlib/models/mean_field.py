"""Mean-field solutions: rigorous lower bounds on log Z, from starts that favour no unit's state.

For any independent bits v with means m, log Z is at least the mean of log p*(v, h) plus the
entropy, and with the best independent h

    L(m) = b m + sum_j softplus(a + m W)_j + S(m) + log_scale.

Updates of one layer after the other raise L. A unit whose states are exchanged (h -> 1 - h) gives
the same model; the starts follow such an exchange, as do the singular vectors and large columns of
W and patterns about the means at v = 1/2. The others come with both layers' exchange.
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
    """L of visible means (n, n_visible): each is at or below log Z (n,), nats."""
    entropy = (entr(visible) + entr(1 - visible)).sum(axis=1)
    field = softplus(rbm.field(visible)).sum(axis=1)
    return visible @ rbm.visible_bias + field + entropy + rbm.log_scale


def broad_lower_bound(rbm: RBM) -> float:
    """The largest L from hidden units that are all on, all off, or undecided: some milliseconds."""
    return best_lower_bound(rbm, np.tile([[0.0], [0.5], [1.0]], rbm.n_hidden))


def best_lower_bound(rbm: RBM, hidden=None) -> float:
    """The largest L found from ``hidden`` means (n, n_hidden), or from many starts."""
    hidden = starts(rbm) if hidden is None else hidden
    for _ in range(N_SWEEPS):
        hidden = rbm.hidden_mean(rbm.visible_mean(hidden))
    return float(lower_bounds(rbm, rbm.visible_mean(hidden)).max())


def families(rbm: RBM, n_starts: int):
    """Random hidden states: few to all units on, then the same about other patterns.

    About all on, and about `reference` and its opposite, with a quarter of the starts each.
    """
    rng = np.random.default_rng(0)
    half = n_starts // 2
    density = np.concatenate([rng.random(half), 10 ** rng.uniform(-2, 0, n_starts - half)])
    hidden = (rng.random((n_starts, rbm.n_hidden)) < density[:, None]).astype(float)
    likely, some = reference(rbm), hidden[::4]
    return [hidden, 1 - some, np.abs(some - likely), 1 - np.abs(some - likely)]


def best_cover(rbm: RBM, candidates: list, bases: np.ndarray) -> int:
    """Which base rates (n, n_visible) the heaviest solutions of all candidates find likeliest.

    ``candidates`` holds visible means (n_starts, n_visible) for each base. A solution weighs
    exp(L); the first base is kept unless another is better by `WORTH_A_CHANGE`.
    """
    means = np.concatenate(candidates)
    bounds = lower_bounds(rbm, means)
    weights = np.exp(bounds - bounds.max())
    target = weights @ means / weights.sum()
    scores = np.log(bases) @ target + np.log1p(-bases) @ (1 - target)
    best = int(np.argmax(scores))
    return best if scores[best] > scores[0] + WORTH_A_CHANGE else 0


def reference(rbm: RBM) -> np.ndarray:
    """The likelier state of each hidden unit at v = 1/2: exchanged when the unit's states are."""
    return (rbm.field(np.full(rbm.n_visible, 0.5)) > 0).astype(float)


def singular_vectors(gram: np.ndarray, n: int) -> np.ndarray:
    """The right ones with the n largest values, (n, n_hidden), of weights with this W'W."""
    n_hidden = len(gram)
    return eigh(gram, subset_by_index=(n_hidden - n, n_hidden - 1))[1].T


def starts(rbm: RBM) -> np.ndarray:
    """Hidden means (n, n_hidden)."""
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
    visible = rbm.visible_mean(hidden)
    return np.concatenate([hidden, 1 - hidden, rbm.hidden_mean(1 - visible)])
