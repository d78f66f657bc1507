"""Other kinds of units: every estimator on models of two layers, against exact log Z.

A task is one short run of one estimator on one model: small enough to be enumerated, with couplings
from weak to strong, so that some have several modes. Of a *planted* kind one state of a hidden unit
holds the visible units in a pattern of 20% to 95% of Z, to which nothing leads. A *wide* kind has
more states than a second opinion may add up while it takes a twentieth of a second.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np
from scipy.optimize import brentq

import rbmlib as rl
from rbmbook import rivals
from rbmbook.sweeps.words import BASES, ESTIMATORS, MODELS, register
from rbmlib.checks import one_of
from rbmlib.models.enumeration import n_states, states
from rbmlib.numerics import logsumexp

from .trusted import both_ways

FAR = 1e4  # a bias by which a unit is off, or on, for certain
BETAS, FEW = rl.schedules.linear(200), rl.schedules.linear(8)

BASES["site frequencies"] = lambda rbm: rl.base_rate(
    rl.datasets.load_ww().rows, 1e-3, rbm.visible
)  # of the WW domain
MODELS["of a kind"] = lambda: None  # which, the kind and the seed say


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


def _ladders(path, seed):
    return rivals.bar_of_sample(rl.parallel_tempering(path, FEW, 10, 200, seed), skip=20)


def _log_z(path, seed):
    return rl.log_z(path.rbm, n_steps=200, n_chains=100, rng=seed, enumerate_small=False)


METHODS: dict[str, Callable] = {
    "ais": lambda path, seed: rl.ais(path, BETAS, 100, seed),
    "reverse_ais": lambda path, seed: rl.reverse_ais(path, BETAS, 100, seed),
    "bar": lambda path, seed: rl.bar(path, BETAS, 50, seed),
    "parallel tempering": _ladders,
    **{
        f.__name__: lambda path, seed, f=f: f(path, FEW, 100, 100, seed)
        for f in (rl.rts, rl.ti, rl.mbar, rl.sams, rl.wang_landau)
    },
    "nrpt": lambda path, seed: rivals.nrpt(path, FEW, 10, 200, seed),
    "smc": lambda path, seed: rivals.smc(path, BETAS, 100, seed),
    "log_z": _log_z,
}


@register(ESTIMATORS, "of a kind")
def _of_a_kind(seed, *, kind: str, method: str):
    """One run of a model whose log Z is ``exact``, with its second opinion; processor seconds."""
    plain = kind.removeprefix("planted ")
    rbm = (model_of if plain == kind else planted_model_of)(plain, seed)
    exact, path = rl.exact(rbm).log_z, rl.GeometricPath(rbm)
    method = one_of("method", method, METHODS)
    started = time.process_time()
    run, _, columns = both_ways(path, lambda: METHODS[method](path, seed))
    seconds = time.process_time() - started
    return run, {"exact": exact, "processor_seconds": seconds} | columns
