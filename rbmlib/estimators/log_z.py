"""log Z of a trained model, checked from several sides: for those who just want the number.

Small models are enumerated. Elsewhere three runs share the time: AIS from one base, AIS from a
second, broader base, and reverse AIS along the first path from the particles of both. A mode
that one base loses shows as a disagreement, which no run's own error bar would show. A mode that
all lose may show as a mean-field solution, whose lower bound on log Z lies above the estimate.
"""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import replace

import numpy as np

from .. import __version__
from .._diagnosis import DISAGREEMENT, warn
from .._numerics import expit
from .._progress import one_run
from .._streams import ChainStream
from .._validation import generator, instance, number, seed_of
from ..models.bernoulli import BernoulliRBM
from ..models.mean_field import best_lower_bound
from ..paths.base import State
from ..paths.bases import base_rate, mean_field_bias
from ..paths.geometric import GeometricPath
from ..results import ConvergenceWarning, Estimate
from ..schedules import linear
from ._reverse_start import moved_on, resample
from .ais import ais
from .exact import can_enumerate, exact
from .reverse_ais import reverse_ais

EXACT_UNITS = 20
N_CHAINS = 500
BURN_IN = 200
BROAD = 0.2  # smoothing of the second base
MAX_SECONDS = 1e6  # 11 days
MAX_STEPS = 10_000_000  # of a run: its schedule is held in memory
ROUNDING = 1e-9  # of log Z
N_ROWS = 20  # of data, where mean-field solutions begin


@one_run
def log_z(
    rbm: BernoulliRBM,
    *,
    data=None,
    budget_seconds: float = 30.0,
    rng=None,
    enumerate_small: bool = True,
    n_threads: int | None = None,
    progress: bool | None = None,
) -> Estimate:
    """Estimate log Z within a time budget and say whether to trust it.

    Parameters
    ----------
    rbm : BernoulliRBM
    data : array (n_samples, n_visible), optional
        Training data in [0, 1] for the base; without it a mean-field fit serves.
    budget_seconds : float
        Aimed at, not guaranteed; enumeration (up to 20 units in a layer) ignores it.
    enumerate_small : bool
        False: estimate even where enumeration is possible.

    Returns
    -------
    Estimate
        ``settings["lower_bound"]`` and ``settings["upper_bound"]`` hold (value, standard error)
        of bounds in expectation, ``settings["checks"]`` what was checked; `converged` is True if
        every check passed. Otherwise a `ConvergenceWarning` says which did not.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.testsystems.random_rbm(n_visible=30, n_hidden=10, rng=0)
    >>> rl.log_z(rbm).method
    'exact'
    """
    instance(
        "rbm",
        rbm,
        BernoulliRBM,
        "a BernoulliRBM, which rl.load_rbm reads by name "
        "or path; for other models run rl.ais on a path of theirs",
    )
    meaning = f"a number above 0, {MAX_SECONDS:,.0f} at most"
    budget_seconds = number("budget_seconds", budget_seconds, meaning, above=0)
    if budget_seconds > MAX_SECONDS:
        raise ValueError(f"budget_seconds is {budget_seconds:g}: expected {meaning}")
    if data is not None and np.shape(data)[-1:] != (rbm.n_visible,):
        raise ValueError(
            f"data has shape {np.shape(data)}: expected (n_samples, {rbm.n_visible}), "
            "one column a visible unit of the model"
        )
    base = None if data is None else base_rate(data)  # which refuses what is no data
    if enumerate_small and can_enumerate(rbm, EXACT_UNITS):
        estimate = exact(rbm, n_threads=n_threads, progress=progress)
        bounds = {"lower_bound": (estimate.log_z, 0.0), "upper_bound": (estimate.log_z, 0.0)}
        return replace(estimate, settings=estimate.settings | bounds | {"checks": {}})
    started = time.perf_counter()
    source = generator(rng)
    options = {"n_threads": n_threads, "progress": progress}
    first = GeometricPath(rbm, mean_field_bias(rbm) if base is None else base)
    other_base = mean_field_bias(rbm, smoothing=BROAD) if data is None else mean_field_bias(rbm)
    second = GeometricPath(rbm, other_base)
    steps = _affordable_steps(first, budget_seconds, n_threads)
    betas = linear(min(max(100, (steps - BURN_IN) // 3), MAX_STEPS))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # said once, below
        forward = ais(first, betas, N_CHAINS, source, **options)
        other = ais(second, betas, N_CHAINS, source, **options)
        start = _start_of_reverse(first, forward, other, source, n_threads)
        backward = reverse_ais(first, betas, N_CHAINS, source, start=start, **options)
    bound = best_lower_bound(rbm, _means_to_start_from(data, first, second))
    checks = _checks(forward, other, backward, bound)
    failed = [text for text, passed in checks.items() if not passed]
    if failed:
        warn(
            "log_z: do not trust this value: failed: " + "; ".join(failed)
            + ". Give it more time (budget_seconds), training data (data), or both"
        )  # fmt: skip
    return replace(
        forward,
        method="log_z",
        seconds=time.perf_counter() - started,
        converged=not failed,
        settings=forward.settings
        | {
            "rng": seed_of(rng),
            "base": "mean field" if data is None else "base rate of data",
            "budget_seconds": budget_seconds,
            "lower_bound": (forward.mean_log_z, forward.mean_std_error),
            "upper_bound": (backward.mean_log_z, backward.mean_std_error),
            "mean_field_bound": bound,
            "second_base": (other.log_z, other.std_error),
            "reverse": (backward.log_z, backward.std_error),
            "upper_bound_from": "resampled AIS particles: as good a bound as they are samples",
            "checks": checks,
            "version": __version__,
        },
    )


def _affordable_steps(path: GeometricPath, seconds: float, n_threads) -> int:
    """Steps of N_CHAINS chains that fit into the budget, by trial (the first call compiles)."""
    for n_steps in (2, 50):
        stream = ChainStream(0, N_CHAINS)
        state = path.sample_base(N_CHAINS, stream)
        started = time.perf_counter()
        path.anneal(state, np.linspace(0, 1e-3, n_steps + 1), stream, n_threads=n_threads)
    return int(0.9 * seconds / (time.perf_counter() - started) * 50)


def _start_of_reverse(path, forward, other, rng, n_threads) -> State:
    """Particles of both runs, drawn by their weights, then moved at beta = 1."""
    pooled = np.concatenate([forward.log_weights, other.log_weights])
    states = State(np.concatenate([forward.states.coordinates, other.states.coordinates]))
    chosen = rng.permutation(resample(pooled, rng, N_CHAINS))
    stream = ChainStream(rng, N_CHAINS)
    return moved_on(path, states, chosen, BURN_IN, stream, n_threads=n_threads)


def _means_to_start_from(data, first: GeometricPath, second: GeometricPath) -> np.ndarray:
    """Of mean-field solutions: both bases, and a few rows of data."""
    bases = expit([first.base_visible_bias, second.base_visible_bias])
    some = (
        [] if data is None else [np.asarray(data[:: max(1, len(data) // N_ROWS)][:N_ROWS], float)]
    )
    return np.concatenate([bases, *some])


def _checks(forward: Estimate, other: Estimate, backward: Estimate, bound: float) -> dict:
    def apart(a: Estimate, b: Estimate) -> float:
        return (a.log_z - b.log_z) / math.hypot(a.std_error, b.std_error, 1e-3)

    second = apart(other, forward)  # a second base with a low ESS can only be too low
    bounds = math.hypot(forward.mean_std_error, backward.mean_std_error)
    gap = (bound - forward.log_z) / math.hypot(forward.std_error, 1e-3)
    return {
        f"effective sample size ({forward.ess:.0f} of {forward.n_chains})": forward.converged,
        f"effective sample size from above ({backward.ess:.0f})": backward.converged,
        f"forward and reverse agree ({apart(backward, forward):+.1f} s.e.)": bool(
            abs(apart(backward, forward)) < DISAGREEMENT
        ),
        f"two bases agree ({second:+.1f} s.e., ESS {other.ess:.0f})": bool(
            second < DISAGREEMENT and (second > -DISAGREEMENT or not other.converged)
        ),
        "lower bound below upper bound": bool(
            forward.mean_log_z
            <= backward.mean_log_z + DISAGREEMENT * bounds + ROUNDING * (1 + abs(forward.log_z))
        ),
        f"no mean-field solution bounds log Z from below above this value (the best: {bound:.2f}, "
        f"{gap:+.1f} s.e.)": bool(gap <= DISAGREEMENT),
    }
