"""Page calibration: how often each verdict is wrong, counted on models whose log Z is known.

A task is one run of one estimator on one model. Models are those of data/bench, on which the checks
were tuned; those of two kinds of units with a planted pattern (`kinds`); and those of families that
were written without knowledge of the checks (`families`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np

import rbmlib as rl
from rbmbook import bench
from rbmbook.sweeps.words import ESTIMATORS, MODELS, register
from rbmlib.checks import one_of
from rbmlib.estimate import VERDICTS
from rbmlib.search.check import checked

from .families import FAMILIES
from .kinds import planted_model_of

# What a task names instead of a model: the family and the seed say which it is.
MODELS["of a family"] = lambda: None

LADDER = rl.schedules.linear(30)


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
    "tap": lambda path, seed: rl.tap(path.rbm, rng=seed),
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
    """A model ``of`` the bench, a planted pair, or a new family; and its log Z."""
    if one_of("of", of, ("bench", "planted", "new")) == "bench":
        name, log_z = _bench()[family, seed]
        return bench.model(name), log_z
    if of == "planted":
        rbm = planted_model_of(family, seed)
        return rbm, rl.exact(rbm).log_z
    names = list(FAMILIES)
    place = names.index(one_of("family", family, names))
    return FAMILIES[family](np.random.default_rng([place, seed]))


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
    run = checked(rbm if method == "tap" else path, own)
    return run, {
        "exact": exact,
        "verdict": VERDICTS.index(run.verdict),
        "own_error": own.details.get("both_directions", (0, own.std_error))[1],
        "n_visible": rbm.n_visible,
        "n_hidden": rbm.n_hidden,
        "run_seconds": between - started,
        "check_seconds": time.process_time() - between,
    }
