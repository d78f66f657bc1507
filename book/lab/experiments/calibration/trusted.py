"""Page calibration: which runs say that they converged, and are wrong.

A task is one run of one estimator at its defaults on one hard model (`rbmbook.hard_systems`), whose
log Z is known. Families and seeds from `FIRST` on are for this count alone, those from `AGAIN` on
for a second, from `THIRD` on for a third, and from `FOURTH` on for a fourth: no threshold of the
library was chosen while looking at them, but for the prices of a check, after the second and third.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np

import rbmlib as rl
from rbmbook import rivals
from rbmbook.hard_systems import HARD_KINDS, KnownModel, hard_rbm
from rbmbook.sweeps.words import ESTIMATORS, MODELS, register
from rbmbook.testsystems import of_spins
from rbmlib.checks import one_of
from rbmlib.search.check import checked

FIRST, AGAIN, THIRD, FOURTH = 40_000, 60_000, 80_000, 90_000
STEPS = 1000  # of annealing, where an estimator asks for betas
N_VISIBLE, N_HIDDEN, COUPLING, ODDS = 30, 10, 1.6, 5.0  # of two signs

VERDICTS = {"refuted": -1.0, "agrees": 1.0}  # "cannot tell" and "not checked": 0

# What a task names instead of a model: the family and the seed say which it is.
MODELS["of a family"] = lambda: None


@lru_cache(maxsize=1)
def two_signs() -> KnownModel:
    """Thirty by ten spins that all agree, the one sign five times as probable as the other.

    The field on all of them that gives these odds is found by bisection.
    """
    low, high = 0.0, 1.0
    for _ in range(60):
        field = (low + high) / 2
        rbm = _magnet(field)
        up = _log_z_of_sign(rbm, 1) - _log_z_of_sign(rbm, -1)
        low, high = (field, high) if up < math.log(ODDS) else (low, field)
    return KnownModel(rbm, rl.exact(rbm).log_z, "two signs")


def _magnet(field: float) -> rl.BernoulliRBM:
    couplings = np.full((N_VISIBLE, N_HIDDEN), COUPLING / math.sqrt(N_VISIBLE * N_HIDDEN))
    return of_spins(couplings, np.full(N_VISIBLE, field), np.full(N_HIDDEN, field))


def _log_z_of_sign(rbm, sign: int) -> float:
    """log of the sum over states with more hidden units on than off, or fewer."""
    on = np.arange(N_HIDDEN + 1)
    ways = np.array([math.log(math.comb(N_HIDDEN, k)) for k in on])
    field = rbm.visible_bias[0] + rbm.weights[0, 0] * on
    logs = ways + rbm.hidden_bias[0] * on + N_VISIBLE * np.logaddexp(0, field)
    chosen = logs[sign * (2 * on - N_HIDDEN) > 0]
    return float(np.logaddexp.reduce(chosen)) + rbm.log_scale


def _two_signs_path(one_sided: bool) -> rl.Path:
    """From the default base, or from the means of the likelier sign, as data of one mode give."""
    rbm = two_signs().rbm
    if not one_sided:
        return rl.GeometricPath(rbm)
    v = rl.sample(rbm, 20_000, 0).states
    return rl.GeometricPath(rbm, base=rl.base_rate(v[v.mean(axis=1) > 0.5]))


FAMILIES: dict[str, Callable] = {
    kind: lambda seed, kind=kind: hard_rbm(
        kind, np.random.default_rng([HARD_KINDS.index(kind), seed])
    )
    for kind in HARD_KINDS
}
TWO_SIGNS = {"two signs": False, "two signs, base of one": True}


def path_of(family: str, seed: int) -> tuple[rl.Path, float]:
    """The path to a model of a family, and its log Z."""
    if family in TWO_SIGNS:
        return _two_signs_path(TWO_SIGNS[family]), two_signs().log_z
    rbm, log_z, _ = FAMILIES[one_of("family", family, [*FAMILIES, *TWO_SIGNS])](seed)
    return rl.GeometricPath(rbm), log_z


def _annealed(estimator, n_chains: int, n_steps: int, path, seed):
    return estimator(path, rl.schedules.linear(n_steps), n_chains, rng=seed)


def _ladder(n_betas: int, n_sweeps: int, read, path, seed):
    sample = rl.parallel_tempering(
        path, rl.schedules.linear(n_betas - 1), 8, n_sweeps, rng=seed, start="annealed"
    )
    return read(sample, skip=n_sweeps // 5)


def _log_z(path, seed):
    return rl.log_z(path.rbm, rng=seed, enumerate_small=False)


METHODS: dict[str, Callable] = {
    "log_z": _log_z,
    "ais": partial(_annealed, rl.ais, 1000, STEPS),
    "reverse_ais": partial(_annealed, rl.reverse_ais, 1000, STEPS),
    "bar": partial(_annealed, rl.bar, 1000, STEPS),
    "tempering + mbar": partial(_ladder, 10, 1000, rl.mbar_of_sample),
    **{
        f.__name__: lambda path, seed, f=f: f(path, rng=seed)
        for f in (rl.rts, rl.mbar, rl.ti, rl.sams, rl.wang_landau, rivals.nrpt, rivals.smc)
    },
    "ais 100 x 100": partial(_annealed, rl.ais, 100, 100),
    "ais 12 x 1,000": partial(_annealed, rl.ais, 12, 1000),
    "ais 30 x 60": partial(_annealed, rl.ais, 30, 60),
    "ais 2,000 x 10": partial(_annealed, rl.ais, 2000, 10),
    "bar 100 x 100": partial(_annealed, rl.bar, 100, 100),
}


@register(ESTIMATORS, "trusted")
def _trusted(seed, *, family: str, method: str):
    """One run, what its own checks say, and what a second opinion says of it.

    ``own`` is 1 where every check of the run itself passed, and ``own_low``, ``own_high``,
    ``own_error`` are as it found them. ``opinion`` is 1 (agrees), 0 (cannot tell, or not asked, as
    of `log_z` in the counts before the third), or -1 (refuted).
    """
    path, log_z = path_of(family, seed)
    method = one_of("method", method, METHODS)
    run, opinion, columns = both_ways(path, lambda: METHODS[method](path, seed))
    sizes = {"n_visible": path.rbm.n_visible, "n_hidden": path.rbm.n_hidden}
    sums = {
        "sum": _finite(opinion.get("log_sum", math.nan)),
        "n_states": opinion.get("n_states", math.nan),
    }
    return run, sizes | {"exact": log_z} | columns | sums


def both_ways(path, call: Callable):
    """A run with its second opinion, that opinion, and columns of both.

    The run is what the call returns to a user; what it would have said alone is in the columns
    ``own``, ``own_error``, ``own_low`` and ``own_high``, and the opinion in ``opinion``.
    """
    with rl.using(independent_check=False):
        own = call()
    run = checked(path, own)
    opinion = run.details.get("second_opinion", {})
    columns = {
        "low": _finite(run.interval[0]),
        "high": _finite(run.interval[1]),
        "own": float(own.converged),
        "own_error": _finite(own.std_error),
        "own_low": _finite(own.interval[0]),
        "own_high": _finite(own.interval[1]),
        "opinion": VERDICTS.get(opinion.get("verdict"), 0.0),
    }
    return run, opinion, columns


def _finite(value: float) -> float:
    """Tables hold no infinities: an open end is none."""
    return value if math.isfinite(value) else math.nan


@register(ESTIMATORS, "opinion")
def _opinion(path, betas, seed, *, n_chains: int = 500):
    """A run of AIS, and what `rl.check` says of it when it may take seconds.

    ``sum_gap`` and ``local_gap`` are how far the sum over states and the local masses lie above the
    value of the run, in nats.
    """
    with rl.using(independent_check=False):
        run = rl.ais(path, betas, n_chains, rng=seed)
    started = time.perf_counter()
    found = rl.check(path, run).details["second_opinion"]
    columns = {
        "sum_gap": _finite(found["log_sum"] - run.log_z),
        "n_states": found["n_states"],
        "local_gap": _finite(found["log_local"] - run.log_z),
        "n_modes": found["n_modes"],
        "opinion": VERDICTS.get(found["verdict"], 0.0),
        "opinion_seconds": time.perf_counter() - started,
        "run_seconds": run.seconds,
    }
    return run, columns


# Of a check the time is asked where few units of a model change and where many do.
MODELS["random 30 x 10"] = lambda: rl.testsystems.random_rbm(30, 10, coupling=3.0, rng=0)
MODELS["random 100 x 40"] = lambda: rl.testsystems.random_rbm(100, 40, coupling=3.0, rng=0)
MODELS["random 400 x 58"] = lambda: rl.testsystems.random_rbm(400, 58, coupling=3.0, rng=0)


@register(ESTIMATORS, "cost of a check")
def _cost(path, seed, *, method: str):
    """Processor seconds of a run and of the second opinion that it is given: the second of two."""
    run = METHODS[one_of("method", method, METHODS)]
    seconds: list[float] = []
    for _ in range(2):  # the first may load compiled loops
        with rl.using(independent_check=False):
            started = time.process_time()
            own = run(path, seed)
            between = time.process_time()
        found = checked(path, own)
        seconds = [between - started, time.process_time() - between]
    return found, {"run_seconds": seconds[0], "opinion_seconds": seconds[1]}
