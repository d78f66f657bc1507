"""Page calibration: how often each verdict is wrong, counted on models whose log Z is known.

A task is one run of one estimator on one model. Models are those of data/bench, on which the checks
were tuned, and models of two kinds of layers with weak to strong couplings. In these one state of a
hidden unit holds the visible units in a *planted* pattern of 20% to 95% of Z, to which nothing
leads. A *wide* kind has more states than the check of a run adds up.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np
from scipy.optimize import brentq

import rbmlib as rl
from rbmbook import bench
from rbmbook.sweeps.words import BASES, ESTIMATORS, MODELS, register
from rbmlib.checks import one_of
from rbmlib.estimate import VERDICTS
from rbmlib.models.enumeration import n_states, states
from rbmlib.numerics import logsumexp
from rbmlib.search.check import checked

# What a task names instead of a model: the family and the seed say which it is.
MODELS["of a family"] = lambda: None
BASES["site frequencies"] = lambda rbm: rl.base_rate(
    rl.datasets.load_ww().rows, 1e-3, rbm.visible
)  # of the WW domain

LADDER = rl.schedules.linear(30)
FAR = 1e4  # a bias by which a unit is off, or on, for certain


# models of two kinds of layers -----------------------------------------------------------------


def _rectified(n, rng, q):
    a = rng.uniform(0.5, 2, (2, n))
    return rl.DoubleReLU(np.zeros(n), *a, *rng.normal(size=(2, n)))


LAYERS: dict[str, Callable] = {  # of n units or sites, Potts of q letters
    "bits": lambda n, rng, q: rl.Binary(rng.normal(size=n)),
    "spins": lambda n, rng, q: rl.Spin(rng.normal(scale=0.5, size=n)),
    "Potts": lambda n, rng, q: rl.Potts(rng.normal(size=q * n), q),
    "normal": lambda n, rng, q: rl.Gaussian(rng.normal(size=n)),
    "rectified": _rectified,
}
SIZES = {  # of the visible layer and of the hidden one
    "bits, bits": (20, 8), "spins, spins": (20, 8), "Potts, bits": (10, 8),
    "Potts, rectified": (6, 5), "spins, rectified": (12, 6), "normal, Potts": (10, 5),
    "wide bits, bits": (40, 22), "wide spins, spins": (40, 22), "wide Potts, bits": (10, 16),
    "wide Potts, rectified": (9, 5), "wide spins, rectified": (18, 6),
    "wide normal, Potts": (10, 11),
}  # fmt: skip


def random_model_of(kind: str, seed: int) -> rl.RBM:
    """A model of two kinds of layers, of which the smaller countable one can be enumerated."""
    rng = np.random.default_rng([list(SIZES).index(one_of("kind", kind, SIZES)), seed])
    first, second = kind.removeprefix("wide ").split(", ")
    n_visible, n_hidden = SIZES[kind]
    visible, hidden = LAYERS[first](n_visible, rng, 4), LAYERS[second](n_hidden, rng, 3)
    scale = rng.uniform(0.5, 2.0) / np.sqrt(max(len(visible), len(hidden)) / 4)
    return rl.RBM(visible, hidden, scale * rng.normal(size=(len(visible), len(hidden))))


@lru_cache(maxsize=200)
def planted_model_of(kind, seed: int) -> rl.RBM:
    """As `random_model_of`; the last hidden column is a pattern with a share of Z that is drawn."""
    rbm, rng = random_model_of(kind, seed), np.random.default_rng([len(kind), seed])
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


# runs --------------------------------------------------------------------------------------------


def _annealed(estimator, n_chains, path, seed):
    return estimator(path, rl.schedules.linear(1000), n_chains, rng=seed)


def _tempered(estimator, path, seed):
    return estimator(path, LADDER, 50, 1000, rng=seed)


def _ladders(path, seed):
    sample = rl.parallel_tempering(path, rl.schedules.linear(9), 8, 1000, seed, start="annealed")
    return rl.mbar_of_sample(sample, skip=200)


METHODS: dict[str, Callable] = {
    "log_z": lambda path, seed: rl.log_z(path.rbm, rng=seed, enumerate_small=False),
    "log_z, 2 s": lambda path, seed: rl.log_z(
        path.rbm, budget_seconds=2.0, rng=seed, enumerate_small=False
    ),
    "ais": partial(_annealed, rl.ais, 500),
    "ais, 12 chains": partial(_annealed, rl.ais, 12),
    "reverse_ais": partial(_annealed, rl.reverse_ais, 500),
    "bar": partial(_annealed, rl.bar, 250),
    "tempering + mbar": _ladders,
    **{
        estimator.__name__: partial(_tempered, estimator)
        for estimator in (rl.rts, rl.mbar, rl.ti, rl.sams, rl.wang_landau)
    },
}


@lru_cache(maxsize=1)
def _bench() -> dict[tuple[str, int], tuple[str, float]]:
    """Name and log Z of the models of data/bench by their family and their place in it."""
    found: dict[tuple[str, int], tuple[str, float]] = {}
    for name, (family, log_z) in bench.read_index().items():
        place = sum(other == family for other, _ in found)
        found[family, place] = name, log_z
    return found


@lru_cache(maxsize=20)
def model_of(of: str, family: str, seed: int) -> tuple[rl.RBM, float]:
    """A model ``of`` the bench, or a planted one; and its log Z."""
    if one_of("of", of, ("bench", "planted")) == "bench":
        name, log_z = _bench()[family, seed]
        return bench.model(name), log_z
    rbm = planted_model_of(family, seed)
    return rbm, rl.exact(rbm).log_z


@register(ESTIMATORS, "a verdict")
def _verdict(seed, *, of: str, family: str, method: str):
    """One run; its verdict by number, its error before the check, and processor seconds of both."""
    rbm, exact = model_of(of, family, seed)
    path = rl.GeometricPath(rbm)
    call = METHODS[one_of("method", method, METHODS)]
    started = time.process_time()
    with rl.using(independent_check=False):
        own = call(path, seed)
    between = time.process_time()
    run = checked(path, own)
    return run, {
        "exact": exact,
        "verdict": VERDICTS.index(run.verdict),
        "own_error": own.details.get("both_directions", (0, own.std_error))[1],
        "n_visible": rbm.n_visible,
        "n_hidden": rbm.n_hidden,
        "run_seconds": between - started,
        "check_seconds": time.process_time() - between,
    }
