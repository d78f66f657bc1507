"""Hard models of equal units, or of planted checks, whose log Z is a sum over counts.

Each kind is a function of a generator, to a model and its log Z; `hard_systems` disguises them.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from rbmlib import BernoulliRBM
from rbmlib.numerics import logsumexp, softplus

from .testsystems import of_spins


def counted(n: int, m: int, coupling: float, b: float, a: float) -> float:
    """log Z of n x m units of equal weights and biases: a sum over how many of each are on."""
    on, up = np.arange(n + 1)[:, None], np.arange(m + 1)
    ways = log_choose(n)[:, None] + log_choose(m)
    return float(logsumexp((ways + coupling * on * up + b * on + a * up).ravel()))


def log_choose(n: int) -> np.ndarray:
    """Logarithms of the binomial coefficients of n, (n + 1,)."""
    k = np.arange(n + 1)
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


def mean_field(rng):
    """Spins of one coupling J and one field: s s' J = (4 v h - 2 v - 2 h + 1) J."""
    n, m = int(rng.integers(40, 600)), int(rng.integers(10, 400))
    coupling = rng.uniform(0.7, 2.5) / np.sqrt(n * m)
    field = rng.choice([0, 1]) * rng.uniform(0, 1.5) / (n + m)
    rbm = of_spins(np.full((n, m), coupling), np.full(n, field), np.full(m, field))
    weight, b, a = rbm.weights[0, 0], rbm.visible_bias[0], rbm.hidden_bias[0]
    return rbm, counted(n, m, weight, b, a) + rbm.log_scale


def first_order(rng):
    """Hidden units of equal weights c: all on at many visible units, all off at few.

    log p*(k visible units on) = log C(n, k) + b k + m softplus(a + c k); their bias a gives the
    states above and below k = -a / c a share of Z, found by bisection.
    """
    n, m = int(rng.integers(60, 300)), int(rng.integers(6, 40))
    weight, b = rng.uniform(2, 5) / m, -rng.uniform(0, 1)
    share, on = rng.uniform(0.1, 0.9), np.arange(n + 1)

    def odds(a):
        logs = log_choose(n) + b * on + m * softplus(a + weight * on)
        above = on > -a / weight
        return logsumexp(logs[above]) - logsumexp(logs[~above])

    low, high = -weight * n * (1 - 1e-9), -1e-9
    for _ in range(60):
        a = (low + high) / 2
        low, high = (a, high) if odds(a) < np.log(share / (1 - share)) else (low, a)
    rbm = BernoulliRBM(np.full((n, m), weight), np.full(n, b), np.full(m, a))
    return rbm, counted(n, m, weight, b, a)


def parities(rng):
    """Planted 5-XORSAT: 16 hidden units a check, one for each pattern of its five units.

    A pattern at distance d is worth softplus(depth - steep d), so that a check, by symmetry, is
    worth one of two values: that of even distances if it is satisfied, else that of odd ones. A
    last hidden unit holds all visible ones in the decoy, with a share of Z. All visible states are
    summed over.
    """
    n = int(rng.integers(16, 21))
    n_checks = round(rng.uniform(1.1, 1.4) * n)
    planted, decoy = rng.integers(0, 2, (2, n))
    depth, strength = rng.uniform(3, 6), rng.uniform(2, 6)
    steep, distance = 2 * depth, np.arange(6)
    worth = np.exp(log_choose(5)).round() * softplus(depth - steep * distance)
    codes, log_p = np.arange(2**n), np.zeros(2**n)
    every = np.arange(32)[:, None] >> np.arange(5) & 1
    weights, a = np.zeros((n, 16 * n_checks + 1)), np.zeros(16 * n_checks + 1)
    for check in range(n_checks):
        units, of = rng.choice(n, 5, replace=False), slice(16 * check, 16 * check + 16)
        parity = planted[units].sum() % 2
        patterns = every[every.sum(axis=1) % 2 == parity]
        weights[units, of] = steep * (2 * patterns.T - 1)
        a[of] = depth - steep * patterns.sum(axis=1)
        satisfied = np.bitwise_count(codes & np.sum(1 << units)) % 2 == parity
        log_p += np.where(satisfied, worth[::2].sum(), worth[1::2].sum())
    weights[:, -1] = strength * (2 * decoy - 1)
    held = log_p + (codes[:, None] >> np.arange(n) & 1) @ weights[:, -1]
    share, log_z = rng.uniform(0.2, 0.8), logsumexp(log_p)
    odds = np.log(share / (1 - share))
    a[-1] = log_z - logsumexp(held) + odds
    return BernoulliRBM(weights, np.zeros(n), a), float(log_z + softplus(odds))
