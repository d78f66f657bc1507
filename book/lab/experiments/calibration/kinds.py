"""Models of two kinds of layers, small enough to be enumerated, with weak to strong couplings.

Of a *planted* kind one state of a hidden unit holds the visible units in a pattern of 20% to 95% of
Z, to which nothing leads. A *wide* kind has more states than the check of a run adds up.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np
from scipy.optimize import brentq

import rbmlib as rl
from rbmbook.sweeps.words import BASES
from rbmlib.checks import one_of
from rbmlib.models.enumeration import n_states, states
from rbmlib.numerics import logsumexp

FAR = 1e4  # a bias by which a unit is off, or on, for certain

BASES["site frequencies"] = lambda rbm: rl.base_rate(
    rl.datasets.load_ww().rows, 1e-3, rbm.visible
)  # of the WW domain


def _bits(n, rng):
    return rl.Binary(rng.normal(size=n))


def _spins(n, rng):
    return rl.Spin(rng.normal(scale=0.5, size=n))


def _potts(q, n, rng):
    return rl.Potts(rng.normal(size=q * n), q)


def _normal(n, rng):
    return rl.Gaussian(rng.normal(size=n))


def _rectified(n, rng):
    a = rng.uniform(0.5, 2, (2, n))
    return rl.DoubleReLU(np.zeros(n), *a, *rng.normal(size=(2, n)))


PAIRS: dict[str, tuple[Callable, Callable]] = {
    "bits, bits": (partial(_bits, 20), partial(_bits, 8)),
    "spins, spins": (partial(_spins, 20), partial(_spins, 8)),
    "Potts, bits": (partial(_potts, 4, 10), partial(_bits, 8)),
    "Potts, rectified": (partial(_potts, 4, 6), partial(_rectified, 5)),
    "spins, rectified": (partial(_spins, 12), partial(_rectified, 6)),
    "normal, Potts": (partial(_normal, 10), partial(_potts, 3, 5)),
    "wide bits, bits": (partial(_bits, 40), partial(_bits, 22)),
    "wide spins, spins": (partial(_spins, 40), partial(_spins, 22)),
    "wide Potts, bits": (partial(_potts, 4, 10), partial(_bits, 16)),
    "wide Potts, rectified": (partial(_potts, 4, 9), partial(_rectified, 5)),
    "wide spins, rectified": (partial(_spins, 18), partial(_rectified, 6)),
    "wide normal, Potts": (partial(_normal, 10), partial(_potts, 3, 11)),
}


def model_of(kind: str, seed: int) -> rl.RBM:
    """A model of two kinds of layers, of which the smaller countable one can be enumerated."""
    kinds = list(PAIRS)
    rng = np.random.default_rng([kinds.index(one_of("kind", kind, kinds)), seed])
    visible, hidden = (layer(rng) for layer in PAIRS[kind])
    scale = rng.uniform(0.5, 2.0) / np.sqrt(max(len(visible), len(hidden)) / 4)
    return rl.RBM(visible, hidden, scale * rng.normal(size=(len(visible), len(hidden))))


@lru_cache(maxsize=200)
def planted_model_of(kind, seed: int) -> rl.RBM:
    """As `model_of`, but the last hidden column is a pattern with a share of Z that is drawn."""
    rbm, rng = model_of(kind, seed), np.random.default_rng([len(kind), seed])
    visible, hidden, weights = rbm.visible, rbm.hidden, 0.5 * rbm.weights
    mean = visible.mean(np.zeros((1, len(visible))))[0]
    pattern = visible.draw(np.zeros((1, len(visible))), rng)[0]
    column = weights[:, -1] = rng.uniform(2, 6) * (pattern - mean)
    if isinstance(hidden, rl.DoubleReLU):  # its last unit is on above 0 alone
        hidden = hidden.with_(
            a_minus=np.append(hidden.a_minus[:-1], 100.0),
            theta_minus=np.append(hidden.theta_minus[:-1], 100.0),
        )
    share = rng.uniform(0.2, 0.95)
    odds = np.log(share) - np.log1p(-share)

    def biased(b):
        layer = hidden.with_(bias=np.append(hidden.bias[:-1], b))
        return rl.RBM(visible, layer, weights)

    if hidden.values is None:  # no state of it is off: the pattern is what is nearer to it
        every = states(visible, np.arange(int(n_states(visible))))
        near = every @ column > (pattern + mean) @ column / 2

        def log_odds(b):
            log_p = biased(b).log_density(every)
            return logsumexp(log_p[near]) - logsumexp(log_p[~near])

        without = log_odds(-100.0)  # the pattern; where that is more than the share, it is doubled
        odds = odds if odds > without else without + np.log(2)
        return biased(brentq(lambda b: log_odds(b) - odds, -100.0, 100.0))
    step = 1 + isinstance(hidden, rl.Spin)  # Z(b) = Z_off + exp(step b) Z_on, but for a factor
    off = biased(-FAR).exact_log_z() - FAR * (step - 1)
    return biased((odds + off - biased(FAR).exact_log_z() + FAR) / step)
