"""Calibration: how often intervals contain the exact log Z, and how often verdicts are wrong.

**Intervals.** A task is a block of runs of one estimator on one path of one model. Runs of a block
use separate chains, and each block has its own seed, pilot and draws.

**Verdicts.** A task is one run of one estimator on one model of data/bench, on which the checks
were tuned, or of two kinds of layers. In these, one state of a hidden unit holds the visible units
in a *planted* pattern with 20% to 95% of Z. A *wide* kind has more states than a check adds up.
"""

import time
import warnings
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import stdtrit

import rbmlib as rl
from rbmbook import bench
from rbmbook.carlson2016.estimators import transition_rts
from rbmbook.carlson2016.small import in_groups
from rbmbook.experiments.carlson2016 import short_start
from rbmbook.experiments.reference import bar_of_sample
from rbmbook.sweeps.words import BASES, ESTIMATORS, MODELS, PATHS, register
from rbmlib.checks import one_of
from rbmlib.estimate import VERDICTS
from rbmlib.models.enumeration import n_states, states
from rbmlib.numerics import logsumexp
from rbmlib.results import ConvergenceWarning, Estimate, of_weights
from rbmlib.sampling.sample import TemperedSample
from rbmlib.search.check import checked

LEVELS = (0.5, 0.8, 0.95)
BASE_VARIANCE, STEPS = 6.0, {"step_sizes": [1.2, 0.6], "step_betas": [0.0, 1.0]}  # of densities
CHAINS = {"weights": 100, "sample": 16, "ladders": 8, "groups": 10}  # of a run
BURN_IN = 2  # blocks of time of ten, or the share of states that goes with them


def _gaussian(scale: float) -> rl.GaussianRBM:
    rng = np.random.default_rng(20)
    w, b, a = rng.normal(size=(6, 4)), rng.normal(size=6), rng.normal(size=4)
    return rl.GaussianRBM(scale * w, 0.3 * b, 0.3 * a)


MODELS |= {
    "weak bernoulli": partial(rl.testsystems.random_rbm, 12, 6, coupling=1.0, rng=0),
    "strong bernoulli": partial(rl.testsystems.random_rbm, 12, 6, coupling=6.0, rng=0),
    "weak leaky": partial(rl.testsystems.orthogonal_leaky_rbm, 6, 4, norm=0.5, leakiness=0.3),
    "strong leaky": partial(rl.testsystems.orthogonal_leaky_rbm, 6, 4, norm=0.9, leakiness=0.01),
    "weak gaussian": partial(_gaussian, 0.3),
    "strong gaussian": partial(_gaussian, 0.9),
    "weak mixture": partial(rl.testsystems.two_gaussians, 2, 2.0, 1.0),
    "strong mixture": partial(rl.testsystems.two_gaussians, 2, 5.0, 0.5),
}

PATHS["gaussian geometric"] = lambda rbm: rl.GeometricPath(rbm)
PATHS["fixed steps"] = lambda rbm: rl.DensityPath(rbm, BASE_VARIANCE, **STEPS)


def truth(path) -> float:
    """Exact log Z of the target of a path, in closed form or as a sum over hidden states."""
    target = getattr(path, "rbm", None) or path.target
    known = isinstance(target, rl.testsystems.GaussianMixture)
    return target.log_z if known else rl.exact(target).log_z


class Run(NamedTuple):
    estimate: Estimate
    n_values: float  # independent values behind the error bar


def _of_weights(method: str, path, betas, seed, n) -> Iterator[Run]:
    """n runs of AIS, taken from one run with many independent chains."""
    each = CHAINS["weights"]
    if method == "ais":
        whole, sign = rl.ais(path, betas, n * each, seed, n_recorded=2), 1
    else:
        start = rl.sample(path.at(1.0), n * each, np.random.default_rng([seed, 5])).states
        whole, sign = rl.reverse_ais(path, betas, n * each, seed, start=start), -1
    for part in range(n):
        rows = slice(part * each, (part + 1) * each)
        values, final = sign * whole.log_weights[rows], whole.states[rows]
        yield Run(of_weights(method, values, path, final, sign=sign), each)


def _bar(begin: str, path, betas, seed, n) -> Iterator[Run]:
    for source in np.random.default_rng(seed).spawn(n):
        run = rl.bar(path, betas, CHAINS["weights"], source, start=begin)
        yield Run(run, run.details["families"])


@lru_cache(maxsize=1)
def _sample(conditional: str, path, packed: bytes, seed: int, n: int) -> TemperedSample:
    """Chains from both ends, cached because all estimators use the same states."""
    betas = np.frombuffer(packed)
    source, n_chains = np.random.default_rng(seed), n * CHAINS["sample"]
    first, begun = short_start(path, betas, source, n_chains)
    return rl.simulated_tempering(
        path, betas, first, n_chains, n_sweeps_of(path), source, conditional=conditional, **begun
    )


def n_sweeps_of(path) -> int:
    bits = isinstance(getattr(path, "rbm", None), rl.BernoulliRBM)
    return 500 if bits else 300  # compiled loops cost less


def _tempered(read: Callable, conditional: str, path, betas, seed, n) -> Iterator[Run]:
    sample, each = _sample(conditional, path, betas.tobytes(), seed, n), CHAINS["sample"]
    for part in in_groups(sample, each):
        run = read(part)
        yield Run(run, 10 if run.method == "rsd" else each)


@lru_cache(maxsize=1)
def _replicas(path, packed: bytes, seed: int, n_ladders: int) -> TemperedSample:
    betas = np.frombuffer(packed)
    return rl.parallel_tempering(path, betas, n_ladders, 200, seed, start="annealed")


def _ladders(read: Callable, path, betas, seed, n) -> Iterator[Run]:
    each = CHAINS["ladders"]
    sample = _replicas(path, betas.tobytes(), seed, n * each)
    for part in in_groups(sample, each):
        yield Run(read(part), each)


def _groups(function: Callable, path, betas, seed, n) -> Iterator[Run]:
    for source in np.random.default_rng(seed).spawn(n):
        groups = CHAINS["groups"]
        sizes = 2 * groups, 2 * n_sweeps_of(path)
        yield Run(function(path, betas, *sizes, source, n_groups=groups), groups)


def _kept(read: Callable) -> Callable:
    """Drop the states of the first fifth of a run."""
    return lambda sample: read(sample, skip=len(sample.delta) * BURN_IN // 10)


METHODS: dict[str, Callable] = {
    "ais": partial(_of_weights, "ais"),
    "reverse ais": partial(_of_weights, "reverse_ais"),
    "bar, exact start": partial(_bar, "exact"),
    "bar, resampled": partial(_bar, "chains"),
    "rts": partial(_tempered, partial(rl.rts_of_sample, skip=BURN_IN), "joint"),
    "ts": partial(_tempered, partial(rl.rts_of_sample, skip=BURN_IN, rao_blackwell=False), "joint"),
    "rts, marginal": partial(_tempered, partial(rl.rts_of_sample, skip=BURN_IN), "marginal"),
    "ti": partial(_tempered, partial(rl.ti, skip=BURN_IN, rule="simpson"), "joint"),
    "ti, corrected": partial(_tempered, partial(rl.ti, skip=BURN_IN, rule="corrected"), "joint"),
    "ti, marginal": partial(_tempered, partial(rl.ti, skip=BURN_IN, rule="simpson"), "marginal"),
    "mbar": partial(_tempered, _kept(rl.mbar_of_sample), "joint"),
    "bar of neighbours": partial(_tempered, _kept(bar_of_sample), "joint"),
    "rsd": partial(_tempered, _kept(transition_rts), "joint"),
    "mbar of ladders": partial(_ladders, _kept(rl.mbar_of_sample)),
    "bar of ladders": partial(_ladders, _kept(bar_of_sample)),
    "sams": partial(_groups, rl.sams),
    "wang_landau": partial(_groups, rl.wang_landau),
}


@register(ESTIMATORS, "coverage")
def _coverage(path, betas, seed, *, method: str, n_repeats: int = 100):
    """Numbers of runs of a block that converged, and of intervals that contain log Z.

    The columns ``hold_50`` to ``hold_95`` count converged runs, and ``all_95`` counts all runs.
    ``z_mean`` and ``z_rms`` are for errors divided by standard errors in converged runs.
    """
    started, of = time.perf_counter(), METHODS[one_of("method", method, METHODS)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        runs = list(of(path, betas, seed, n_repeats))
    exact_value = truth(path)
    good = [run for run in runs if run.estimate.converged]
    z = np.array([(r.estimate.log_z - exact_value) / r.estimate.std_error for r in good])
    columns: dict[str, float] = {"n_converged": len(good)}
    for level in LEVELS:
        columns[f"hold_{100 * level:.0f}"] = sum(holds(r, level, exact_value) for r in good)
    columns["all_95"] = sum(holds(r, 0.95, exact_value) for r in runs)
    moments = (z.mean(), np.sqrt((z**2).mean())) if z.size else (np.nan, np.nan)
    columns |= dict(zip(("z_mean", "z_rms"), moments, strict=True))
    values = np.array([run.estimate.log_z for run in runs])
    mean, error = float(values.mean()), float(values.std(ddof=1) / np.sqrt(values.size))
    seconds = time.perf_counter() - started
    nowhere = np.nan, np.nan
    return Estimate(f"coverage of {method}", mean, error, nowhere, seconds=seconds), columns


def holds(run: Run, level: float, value: float) -> bool:
    """Does the interval of a level, scaled by Student's t, contain a value?"""
    low, high = run.estimate.interval
    freedom = max(run.n_values - 1, 1)
    ratio = stdtrit(freedom, (1 + level) / 2) / stdtrit(freedom, 0.975)
    middle = run.estimate.log_z
    return bool(middle - ratio * (middle - low) <= value <= middle + ratio * (high - middle))


# A task gives these instead of a model; family and seed determine the model.
MODELS["of a family"] = lambda: None
BASES["site frequencies"] = lambda rbm: rl.base_rate(
    rl.datasets.load_ww().rows, 1e-3, rbm.visible
)  # of the WW domain

LADDER, FINE = rl.schedules.linear(30), rl.schedules.linear(1000)  # of tempering, of annealing
FAR = 1e4  # a bias that surely turns a unit off, or on


LAYERS: dict[str, Callable] = {  # of n units or sites, Potts of q letters
    "bits": lambda n, rng, q: rl.Binary(rng.normal(size=n)),
    "spins": lambda n, rng, q: rl.Spin(rng.normal(scale=0.5, size=n)),
    "Potts": lambda n, rng, q: rl.Potts(rng.normal(size=q * n), q),
    "normal": lambda n, rng, q: rl.Gaussian(rng.normal(size=n)),
    "rectified": lambda n, rng, q: rl.DoubleReLU(
        np.zeros(n), *rng.uniform(0.5, 2, (2, n)), *rng.normal(size=(2, n))
    ),
}
SIZES = {  # of the visible layer and of the hidden one
    "bits, bits": (20, 8), "spins, spins": (20, 8), "Potts, bits": (10, 8),
    "Potts, rectified": (6, 5), "spins, rectified": (12, 6), "normal, Potts": (10, 5),
    "wide bits, bits": (40, 22), "wide spins, spins": (40, 22), "wide Potts, bits": (10, 16),
    "wide Potts, rectified": (9, 5), "wide spins, rectified": (18, 6),
    "wide normal, Potts": (10, 11),
}  # fmt: skip


def random_model_of(kind: str, seed: int) -> rl.RBM:
    """A model of two kinds of layers, the smaller of which can be enumerated."""
    rng = np.random.default_rng([list(SIZES).index(one_of("kind", kind, SIZES)), seed])
    first, second = kind.removeprefix("wide ").split(", ")
    n_visible, n_hidden = SIZES[kind]
    visible, hidden = LAYERS[first](n_visible, rng, 4), LAYERS[second](n_hidden, rng, 3)
    scale = rng.uniform(0.5, 2.0) / np.sqrt(max(len(visible), len(hidden)) / 4)
    return rl.RBM(visible, hidden, scale * rng.normal(size=(len(visible), len(hidden))))


@lru_cache(maxsize=200)
def planted_model_of(kind, seed: int) -> rl.RBM:
    """`random_model_of` with a pattern in the last hidden column that has a random share of Z."""
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

    if hidden.values is None:  # no state is off: the pattern is the set of nearer states
        every = states(visible, np.arange(int(n_states(visible))))
        near = every @ column > (pattern + mean) @ column / 2

        def log_odds(b):
            log_p = biased(b).log_density(every)
            return logsumexp(log_p[near]) - logsumexp(log_p[~near])

        without = log_odds(-100.0)  # odds without the unit, doubled if above the target
        odds = odds if odds > without else without + np.log(2)
        return biased(brentq(lambda b: log_odds(b) - odds, -100.0, 100.0))
    step = 1 + isinstance(hidden, rl.Spin)  # Z(b) = Z_off + exp(step b) Z_on, but for a factor
    off = biased(-FAR).exact_log_z() - FAR * (step - 1)
    return biased((odds + off - biased(FAR).exact_log_z() + FAR) / step)


def _by_ladders(path, seed):
    sample = rl.parallel_tempering(path, rl.schedules.linear(9), 8, 1000, seed, start="annealed")
    return rl.mbar_of_sample(sample, skip=200)


CHECKED: dict[str, Callable] = {
    "log_z": lambda path, seed: rl.log_z(path.rbm, rng=seed, enumerate_small=False),
    "log_z, 2 s": lambda path, seed: rl.log_z(
        path.rbm, budget_seconds=2.0, rng=seed, enumerate_small=False
    ),
    "ais": lambda path, seed: rl.ais(path, FINE, 500, seed),
    "ais, 12 chains": lambda path, seed: rl.ais(path, FINE, 12, seed),
    "reverse_ais": lambda path, seed: rl.reverse_ais(path, FINE, 500, seed),
    "bar": lambda path, seed: rl.bar(path, FINE, 250, seed),
    "tempering + mbar": _by_ladders,
    **{
        of.__name__: lambda path, seed, of=of: of(path, LADDER, 50, 1000, rng=seed)
        for of in (rl.rts, rl.mbar, rl.ti, rl.sams, rl.wang_landau)
    },
}


@lru_cache(maxsize=20)
def model_of(of: str, family: str, seed: int) -> tuple[rl.RBM, float]:
    """A planted model, or model number ``seed`` of a family of data/bench, and its log Z."""
    if one_of("of", of, ("bench", "planted")) == "bench":
        models = bench.read_index()
        name = [name for name, (its_family, _) in models.items() if its_family == family][seed]
        return bench.model(name), models[name][1]
    rbm = planted_model_of(family, seed)
    return rbm, rl.exact(rbm).log_z


@register(ESTIMATORS, "a verdict")
def _verdict(seed, *, of: str, family: str, method: str):
    """Verdict (by number) and error before the check of one run; processor seconds of both."""
    rbm, exact = model_of(of, family, seed)
    path = rl.GeometricPath(rbm)
    call = CHECKED[one_of("method", method, CHECKED)]
    started = time.process_time()
    with rl.using(independent_check=False):
        own = call(path, seed)
    between = time.process_time()
    run = checked(path, own)
    return run, {
        "exact": exact, "verdict": VERDICTS.index(run.verdict),
        "own_error": own.details.get("both_directions", (0, own.std_error))[1],
        "n_visible": rbm.n_visible, "n_hidden": rbm.n_hidden,
        "run_seconds": between - started, "check_seconds": time.process_time() - between,
    }  # fmt: skip
