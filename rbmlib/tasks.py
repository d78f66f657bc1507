"""What a sweep can name: models, paths, schedules and estimators, as plain words and numbers.

A task is a mapping such as ``{model: h20, base: base rate, schedule: linear, n_temperatures:
10000, estimator: ais, n_chains: 500, seed: 0}``. Each registry below maps a word to a function.
Its positional parameters say what it is built from: any of ``rbm``, ``path``, ``betas``, ``rng``
and ``seed``; its keyword-only parameters are the settings that a task may give, with their types
and defaults. An estimator returns an `Estimate`, or one and a dict of further columns. So a new
schedule or estimator is one decorated function, and nothing else.
"""

from __future__ import annotations

import difflib
import hashlib
import inspect
import math
import warnings
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path

import numpy as np

from . import datasets, schedules, testsystems
from ._streams import ChainStream
from .adaptive import JUMPS
from .adaptive import STARTS as ADAPTIVE_STARTS
from .continuous import DensityPath, adapt_step_sizes
from .estimators import (
    ais,
    bar,
    bar_of_sample,
    exact,
    mbar,
    mbar_of_sample,
    reverse_ais,
    rts,
    rts_of_sample,
    sams,
    tap,
    ti,
    transition_rts,
    wang_landau,
)
from .estimators.bootstrap import bootstrap_tempered
from .estimators.exact import MAX_UNITS, can_enumerate
from .estimators.reverse_ais import STARTS as REVERSE_STARTS
from .estimators.reverse_ais import resample
from .estimators.rts import STARTS
from .estimators.tap import SOLVERS
from .gaussian_base import GaussianBasePath
from .leaky_paths import EnergyPath, LeakinessPath
from .models import log_likelihood
from .moment_averaging import MomentAveragingPath
from .paths import GeometricPath, State, base_rate
from .results import ConvergenceWarning, bootstrap_log_weights
from .tempering import parallel_tempering
from .tracking import LogZTracker
from .training import train

PATHS: dict[str, Callable] = {}
SCHEDULES: dict[str, Callable] = {}
ESTIMATORS: dict[str, Callable] = {}
BASES = {
    "base rate": lambda rbm: base_rate(datasets.load_mnist().train),
    "own biases": lambda rbm: rbm.visible_bias,
    "mean field": lambda rbm: "mean_field",
    "uniform": lambda rbm: np.zeros(rbm.n_visible),
}
TEST_SETS = {
    "none": None,
    "course": datasets.load_course_test,
    "mnist": lambda: datasets.load_mnist().test,
    "cifar10 subset": lambda: datasets.cifar10_scale()(datasets.load_cifar10().test),
    "cifar10": lambda: datasets.cifar10_scale()(datasets.load_cifar10(full=True).test),
}

MODELS = {  # made by a function; all others are read from files
    f"orthogonal {n}": partial(testsystems.orthogonal_leaky_rbm, 3072, n) for n in (5, 10, 20, 30)
} | {"two gaussians": testsystems.two_gaussians}

STEPS = ("adaptive", "fixed")

DNA_TRAIN = 1400  # rows; the other 600 of the training set are for validation (Carlson et al. 2016)
RESULTS_VERSION = 1  # raised when the results of tasks change: see `rbmlib.sweep`
DIGITS = 6  # of results: far below any standard error, far above the rounding of a processor


def register(registry: dict, name: str):
    """Decorator: let tasks name the function in ``PATHS``, ``SCHEDULES`` or ``ESTIMATORS``."""

    def enter(function):
        registry[name] = function
        return function

    return enter


@register(PATHS, "geometric")
def _geometric(rbm, *, base: str = "base rate"):
    return GeometricPath(rbm, base=BASES[_one_of("base", base, BASES)](rbm))


@register(PATHS, "moment averaging")
def _moment_averaging(
    rbm, *, base: str = "base rate", n_knots: int = 9, n_updates: int = 500, path_seed: int = 0
):  # fmt: skip
    base = BASES[_one_of("base", base, BASES)](rbm)
    return MomentAveragingPath(
        rbm, base, n_knots=n_knots, n_updates=n_updates, rng=path_seed, progress=False
    )


@register(PATHS, "density")
def _density(
    rbm, *, base_variance: float = 30.0, kernel: str = "hmc", n_leapfrog: int = 1,
    jitter: float = 0.0, steps: str = "adaptive", ladder: str = "square", n_knots: int = 40,
):  # fmt: skip
    """Step sizes are adapted to a ladder of ``n_knots`` steps; "fixed" takes their mean."""
    path = DensityPath(rbm, base_variance, kernel=kernel, n_leapfrog=n_leapfrog, jitter=jitter)
    power = {"linear": 1, "square": 2}[_one_of("ladder", ladder, ("linear", "square"))]
    adapted = adapt_step_sizes(path, schedules.linear(n_knots) ** power, rng=0)
    return adapted.path if _one_of("steps", steps, STEPS) == "adaptive" else adapted.fixed


class _BaseDropped(GeometricPath):
    """Wrong on purpose: beta is drawn as if p_A(x)**(1 - beta) were not there."""

    def joint_transition(self, state: State, beta, rng):
        state, slope = super().joint_transition(state, beta, rng)
        return state, slope + state.visible @ self.base_visible_bias

    def _is_fine(self) -> bool:
        return False  # what is compiled draws rightly


@register(PATHS, "base dropped")
def _base_dropped(rbm, *, base: str = "base rate"):
    return _BaseDropped(rbm, base=BASES[_one_of("base", base, BASES)](rbm))


@register(PATHS, "leakiness")
def _leakiness(rbm, *, kernel: str):
    return LeakinessPath(rbm, kernel)


@register(PATHS, "energy")
def _energy(rbm, *, kernel: str):
    return EnergyPath(rbm, kernel)


@register(PATHS, "fitted gaussian")
def _fitted_gaussian(
    rbm, *, fit_chains: int = 100, fit_sweeps: int = 1000, n_steps: int = 1, path_seed: int = 0
):  # fmt: skip
    """From the moments of Gibbs chains begun at CIFAR-10 images: each 20th sweep after a fifth."""
    rng = np.random.default_rng(path_seed)
    images = datasets.cifar10_scale()(datasets.load_cifar10().train[:fit_chains])
    reduction, seen = rbm.reduced(), []
    u = reduction.coordinates(images.astype(float))
    for sweep in range(1, fit_sweeps + 1):
        u = reduction.model.gibbs(u, rng)
        if 5 * sweep > fit_sweeps and sweep % 20 == 0:
            seen.append(u)
    return GaussianBasePath(rbm, reduction.expand(np.concatenate(seen), rng), n_steps)


@register(SCHEDULES, "linear")
def _linear(*, n_temperatures: int):
    return schedules.linear(n_temperatures)


@register(SCHEDULES, "square")
def _square(*, n_temperatures: int):
    return schedules.linear(n_temperatures) ** 2


@register(SCHEDULES, "sm08")
def _sm08(*, n_temperatures: int = 14_500):
    return schedules.sm08(n_temperatures)


@register(SCHEDULES, "random")
def _random(rng, *, n_temperatures: int):
    """Uniform draws, sorted: new betas for each seed."""
    return np.concatenate([[0.0], np.sort(rng.random(n_temperatures - 1)), [1.0]])


@register(SCHEDULES, "varopt")
def _varopt(
    path, rng, *, n_temperatures: int, pilot_steps: int = 1000, pilot_chains: int = 100,
    max_step: float = 1.0,
):  # fmt: skip
    """Kiwaki's schedule from a pilot of its own; ``max_step`` caps it on the grid of the pilot."""
    pilot = ais(path, schedules.linear(pilot_steps), pilot_chains, rng,
                n_recorded=pilot_steps + 1, progress=False)  # fmt: skip
    betas = schedules.varopt(pilot, n_temperatures)
    return schedules.decelerate(betas, max_step, pilot_steps) if max_step < 1 else betas


@register(SCHEDULES, "friction")
def _friction(
    path, rng, *, n_temperatures: int, pilot_steps: int = 10_000, pilot_chains: int = 128
):  # fmt: skip
    pilot = ais(path, schedules.linear(pilot_steps), pilot_chains, rng, n_recorded=201,
                keep_chains=True, progress=False)  # fmt: skip
    return schedules.friction(pilot, n_temperatures)


@register(SCHEDULES, "equal_rejection")
def _equal_rejection(
    path, rng, *, n_temperatures: int, pilot_steps: int = 1000, pilot_chains: int = 100
):  # fmt: skip
    pilot = ais(path, schedules.linear(pilot_steps), pilot_chains, rng,
                n_recorded=pilot_steps + 1, keep_chains=True, progress=False)  # fmt: skip
    return schedules.equal_rejection(pilot, n_temperatures)


@register(SCHEDULES, "ess_bisection")
def _ess_bisection(path, rng, *, n_temperatures: int, pilot_chains: int = 100):
    return schedules.ess_bisection(path, n_temperatures, pilot_chains, rng, progress=False)


@register(SCHEDULES, "gms13")
def _gms13(path, seed, *, n_temperatures: int, pilot_chains: int = 1000):
    betas = _gms13_curve(path, seed, pilot_chains)
    return np.interp(np.linspace(0, 1, n_temperatures + 1), np.linspace(0, 1, betas.size), betas)


@lru_cache(maxsize=4)
def _gms13_curve(path, seed, pilot_chains):
    """The piecewise linear curve that schedules of any length cut: found once a path."""
    rng = np.random.default_rng([seed, 1])
    return schedules.gms13(path, 90_000, pilot_chains, rng, progress=False)


@register(ESTIMATORS, "ais")
def _ais(path, betas, seed, *, n_chains: int = 1000):
    return ais(path, betas, n_chains, seed, n_recorded=2, progress=False)


@register(ESTIMATORS, "reverse_ais")
def _reverse_ais(path, betas, seed, *, n_chains: int = 1000, n_burn_in: int = 1000):
    return reverse_ais(path, betas, n_chains, seed, n_burn_in=n_burn_in, progress=False)


@register(ESTIMATORS, "rts")
def _rts(
    path, betas, seed, *, n_chains: int = 100, n_sweeps: int, starting: str = "pilot",
    rao_blackwell: bool = True,
):  # fmt: skip
    run = rts(
        path, betas, n_chains, n_sweeps, seed, start=_one_of("starting", starting, STARTS),
        rao_blackwell=rao_blackwell, record_every=n_sweeps, progress=False,
    )  # fmt: skip
    return run, {"round_trips": run.settings["round_trips"], "bias": run.settings["bias"]}


@register(ESTIMATORS, "sams")
def _sams(
    path, betas, seed, *, n_chains: int = 100, n_sweeps: int, n_groups: int = 10,
    starting: str = "pilot", first_stage: float = 0.3, exponent: float = 0.7,
    jump: str = "global", rao_blackwell: bool = True,
):  # fmt: skip
    """``first_stage`` is t_0, as a share of the sweeps."""
    run = sams(
        path, betas, n_chains, n_sweeps, seed, n_groups=n_groups,
        start=_one_of("starting", starting, ADAPTIVE_STARTS),
        t_0=round(first_stage * n_sweeps), exponent=exponent, jump=_one_of("jump", jump, JUMPS),
        rao_blackwell=rao_blackwell, progress=False,
    )  # fmt: skip
    return run, _of_groups(run)


@register(ESTIMATORS, "wang_landau")
def _wang_landau(
    path, betas, seed, *, n_chains: int = 100, n_sweeps: int, n_groups: int = 10,
    starting: str = "pilot", one_over_t: bool = True, flatness: float = 0.8,
):  # fmt: skip
    run = wang_landau(
        path, betas, n_chains, n_sweeps, seed, n_groups=n_groups,
        start=_one_of("starting", starting, ADAPTIVE_STARTS), one_over_t=one_over_t,
        flatness=flatness, progress=False,
    )  # fmt: skip
    return run, _of_groups(run)


def _of_groups(run) -> dict:
    """Round trips of a chain in the second half, and the spread of log Z over groups."""
    spread = float(np.std(run.log_weights, ddof=1))
    return {"round_trips": run.settings["round_trips"], "spread": spread}


@register(ESTIMATORS, "ti")
def _ti(
    path, betas, seed, *, n_chains: int = 100, n_sweeps: int, rule: str = "trapezoid",
    rao_blackwell: bool = True,
):  # fmt: skip
    return ti(
        path, betas, n_chains, n_sweeps, seed, rule=rule, rao_blackwell=rao_blackwell,
        progress=False,
    )  # fmt: skip


@register(ESTIMATORS, "mixing")
def _mixing(path, betas, seed, *, n_chains: int = 100, n_sweeps: int):
    """RTS, and the round trips of its chains with their standard error."""
    run = rts(path, betas, n_chains, n_sweeps, seed, record_every=n_sweeps, progress=False)
    trips = run.states.round_trips
    error = trips.std(ddof=1) / np.sqrt(trips.size)
    return run, {"round_trips": trips.mean(), "round_trips_error": error}


@register(ESTIMATORS, "two_way_ais")
def _two_way_ais(path, betas, seed, *, n_chains: int = 1000, n_reversed: int = 0):
    return _two_way(path, betas.tobytes(), seed, n_chains, n_reversed)


@lru_cache(maxsize=2)
def _two_way(path, betas: bytes, seed: int, n_chains: int, n_reversed: int):
    """AIS with bootstrap intervals; and chains back along the same betas, from exact samples of
    the target where it has them, else from its own chains, resampled and moved 1,000 sweeps.

    Kept: tasks whose schedules turn out the same, as with a cap that does not bind, share a run.
    """
    betas = np.frombuffer(betas)
    forward = ais(path, betas, n_chains, seed, n_recorded=2, progress=False)
    more = {"largest_step": float(np.diff(betas).max() * (betas.size - 1))}
    more["variance"] = float(np.var(forward.log_weights, ddof=1))
    for name, ends in bootstrap_log_weights(forward.log_weights, rng=seed).items():
        more |= {f"{name}_low": ends[0], f"{name}_high": ends[1]}
    if n_reversed:
        rng, start = np.random.default_rng([seed, 2]), "exact"
        if not can_enumerate(path.at(1.0)):
            chosen = resample(forward.log_weights, rng, n_reversed)
            start = State(forward.states.visible[chosen])
            start = path.sweep(start, 1.0, 1000, ChainStream(rng, n_reversed))
        back = reverse_ais(path, betas, n_reversed, rng, start=start, progress=False)
        more |= {"reverse_log_z": back.log_z, "reverse_std_error": back.std_error,
                 "reverse_mean": back.mean_log_z, "reverse_mean_error": back.mean_std_error,
                 "reverse_ess": back.ess}  # fmt: skip
    return forward, more


@register(ESTIMATORS, "bar")
def _bar(path, betas, seed, *, n_chains: int = 1000, n_burn_in: int = 100, begin: str = "auto"):
    return bar(
        path, betas, n_chains, seed, start=_one_of("begin", begin, REVERSE_STARTS),
        n_burn_in=n_burn_in, progress=False,
    )  # fmt: skip


@register(ESTIMATORS, "mbar")
def _mbar(path, betas, seed, *, n_chains: int = 100, n_sweeps: int):
    return mbar(path, betas, n_chains, n_sweeps, seed, progress=False)


TAP_STARTS = {
    "densities": lambda rbm, rng, n: None,
    "uniform": lambda rbm, rng, n: rng.random((n, rbm.n_visible)),
    "images": lambda rbm, rng, n: rng.choice(datasets.load_mnist().train, n, replace=False),
}


@register(ESTIMATORS, "tap")
def _tap(
    rbm, rng, *, order: int = 2, n_starts: int = 20, begin: str = "densities",
    solver: str = "minimise", damping: float = 0.5, max_sweeps: int = 2000,
):  # fmt: skip
    """TAP from the starts of `rbmlib.tap`, uniform magnetisations, or training images."""
    starts = TAP_STARTS[_one_of("begin", begin, TAP_STARTS)](rbm, rng, n_starts)
    run = tap(rbm, order, rng, n_starts=n_starts, starts=starts,
              solver=_one_of("solver", solver, SOLVERS), damping=damping,
              max_sweeps=max_sweeps)  # fmt: skip
    more = {name: run.settings[name] for name in ("n_solved", "n_fixed_points", "log_z_sum")}
    return run, more | {"sweeps": run.n_sweeps}


@register(ESTIMATORS, "tempered")
def _tempered(
    path, betas, seed, *, n_chains: int = 100, n_sweeps: int, sampler: str = "simulated"
):  # fmt: skip
    """What each estimator makes of the same states; log Z is RTS's, or MBAR's (parallel)."""
    if _one_of("sampler", sampler, ("simulated", "parallel")) == "parallel":
        return _parallel(path, betas, seed, n_chains, n_sweeps)
    run = rts(path, betas, n_chains, n_sweeps, seed, progress=False)
    sample, skip = run.states, n_sweeps // 10
    others = {
        "ts": rts_of_sample(sample, rao_blackwell=False, skip=2),
        "ti": ti(sample, rao_blackwell=False, skip=2),
        "ti_rb": ti(sample, rule="corrected", skip=2),
        "mbar": mbar_of_sample(sample, skip=skip),
        "bar": bar_of_sample(sample, skip=skip),
        "sd": transition_rts(sample, kind="sd", n_groups=20),
        "rsd": transition_rts(sample, n_groups=20),
    }
    return run, {"round_trips": run.settings["round_trips"]} | _side_by_side(others)


def _parallel(path, betas, seed, n_chains, n_sweeps):
    """``n_chains`` ladders, annealed for a tenth of the sweeps; a tenth more is not used."""
    anneal = max(1, n_sweeps // (10 * betas.size))
    sample = parallel_tempering(path, betas, n_chains, n_sweeps, seed, start="annealed",
                                anneal_sweeps=anneal, progress=False)  # fmt: skip
    run = mbar_of_sample(sample, skip=n_sweeps // 10)
    others = {"bar": bar_of_sample(sample, skip=n_sweeps // 10), "ti": ti(sample, skip=1)}
    trips = sample.round_trips.sum() / n_chains
    more = {"round_trips": float(trips), "least_swapped": float(sample.swap_rates.min())}
    return run, more | _side_by_side(others)


def _side_by_side(estimates: dict) -> dict[str, float]:
    columns = {}
    for name, estimate in estimates.items():
        columns |= {name: estimate.log_z, f"{name}_error": estimate.std_error}
    return columns


@register(ESTIMATORS, "bootstrapped")
def _bootstrapped(
    path, betas, seed, *, n_chains: int = 100, n_sweeps: int, n_estimates: int = 200,
    n_states: int = 10_000, n_mbar: int = 20,
):  # fmt: skip
    """Mean and standard deviation of estimates from states drawn again from one long run."""
    run = rts(path, betas, n_chains, n_sweeps, seed, progress=False)
    drawn = bootstrap_tempered(run.states, n_estimates, n_states, seed, skip=n_sweeps // 10,
                               n_mbar=n_mbar)  # fmt: skip
    more = {"round_trips": run.settings["round_trips"]}
    for name, values in drawn.items():
        more |= {name: float(values.mean()), f"{name}_error": float(values.std())}
    return run, more


@register(ESTIMATORS, "foretold")
def _foretold(path, betas, rng, *, pilot_steps: int = 10_000, pilot_chains: int = 128):
    """The variance of log-weights along ``betas`` that a linear pilot leads to expect."""
    pilot = ais(path, schedules.linear(pilot_steps), pilot_chains, rng, n_recorded=201,
                keep_chains=True, progress=False)  # fmt: skip
    return pilot, {
        mixing: schedules.predicted_variance(pilot, betas, mixing)
        for mixing in ("perfect", "measured")
    }


@register(ESTIMATORS, "tracked")
def _tracked(
    rbm, seed, *, look: int, n_looks: int, n_updates: int, learning_rate: float,
    final_learning_rate: float, gain: float = 0.2, n_chains: int = 2000, n_apart: int = 400,
    n_sweeps: int = 25, batch_size: int = 100, n_temperatures: int = 10_000,
    n_annealed: int = 100, n_reversed: int = 20,
):  # fmt: skip
    """AIS, and back, at one of the looks of a training on DNA; and what the tracker says there."""
    rates = learning_rate, final_learning_rate
    chains = gain, n_chains, n_apart, n_sweeps
    model, seen = _tracked_training(rbm, seed, n_looks, n_updates, rates, batch_size, *chains)[look]
    path = GeometricPath(model, base=base_rate(datasets.load_dna().train[:DNA_TRAIN]))
    task = {"n_chains": n_annealed, "n_reversed": n_reversed}
    forward, back = _two_way_ais(path, schedules.linear(n_temperatures), seed, **task)
    return forward, seen | {k: v for k, v in back.items() if k.startswith("reverse")}


@lru_cache(maxsize=1)
def _tracked_training(
    rbm, seed, n_looks, n_updates, rates, batch_size, gain, n_chains, n_apart, n_sweeps
):  # fmt: skip
    """Models at the looks, with what was seen: trained once for all rows of a run."""
    data, rng = datasets.load_dna(), np.random.default_rng([seed, 3])
    rows = data.train[:DNA_TRAIN]
    tracker = LogZTracker(
        base_rate(rows), n_chains=n_chains, n_sweeps=n_sweeps, gain=gain, reweight=n_apart > 0,
        n_apart=n_apart, rng=rng,
    )  # fmt: skip
    monitor = tracker.monitor(train=rows, validation=data.train[DNA_TRAIN:], test=data.test)
    looks = []

    def keep(model):
        seen = {"tracked": 0.0} | monitor(model)
        seen["tracked"] = seen.pop("log_z")
        looks.append((model, seen))
        return seen

    train(
        rows, rbm.n_hidden, method="tempered", optimizer="spectral", tracker=tracker, start=rbm,
        n_updates=n_updates, learning_rate=rates[0], final_learning_rate=rates[1],
        batch_size=batch_size, rng=rng, monitor=keep, monitor_every=n_updates // n_looks,
        progress=False,
    )  # fmt: skip
    return looks


@register(ESTIMATORS, "exact")
def _exact(rbm):
    return exact(rbm, progress=False)


# a task, checked and computed ---------------------------------------------------------------


def declared(task: dict) -> dict[str, tuple[type, object]]:
    """Type and default (None: must be given) of each setting of such a task, in order."""
    estimator = _one_of("estimator", task.get("estimator", "ais"), ESTIMATORS)
    needed = _parts(ESTIMATORS[estimator])
    settings: dict = {"model": (str, None)}
    if "path" in needed:
        path = _one_of("path", task.get("path", "geometric"), PATHS)
        settings |= {"path": (str, path)} | _settings(PATHS[path])
    if "betas" in needed:
        schedule = _one_of("schedule", task.get("schedule", "linear"), SCHEDULES)
        settings |= {"schedule": (str, schedule)} | _settings(SCHEDULES[schedule])
    settings |= {"estimator": (str, estimator)} | _settings(ESTIMATORS[estimator])
    settings |= {"test_set": (str, "none")}
    if needed & {"betas", "rng", "seed"}:
        settings |= {"seed": (int, None)}
    return settings


def checked(task: dict) -> dict:
    """The task with every setting spelled out and of its type, in the order of the table.

    Raises
    ------
    ValueError
        Naming the setting: unknown, missing, of the wrong type, or a word that is not registered.
    """
    known = declared(task)
    for name in task:
        if name not in known:
            close = difflib.get_close_matches(str(name), known, n=1)
            hint = f", did you mean {close[0]}?" if close else "."
            raise ValueError(f"unknown setting {name!r}{hint} Expected: {', '.join(known)}")
    whole = {
        name: _of_type(name, task.get(name, default), kind)
        for name, (kind, default) in known.items()
    }
    for name, registry in (("base", BASES), ("test_set", TEST_SETS)):
        if name in whole:
            _one_of(name, whole[name], registry)
    return whole


def check_models(tasks) -> None:
    """Every model that is named can be read here; the error says which cannot, and why."""
    enumerated = {task["model"] for task in tasks if task["estimator"] == "exact"}
    for name in sorted({task["model"] for task in tasks}):
        try:
            rbm = _load(name)
            if name in enumerated and not can_enumerate(rbm, MAX_UNITS):
                raise ValueError(f"{rbm!r} has too many units for the estimator 'exact'")
        except (ValueError, OSError, RuntimeError) as error:
            raise ValueError(f"model is {name!r}: {error}") from None


def _load(name: str):
    return MODELS[name]() if name in MODELS else datasets.load_rbm(name)


def model_digest(name: str | None) -> str:
    """SHA-256 of a model in a file of the user's: a name alone would not say which it is."""
    committed = datasets.COMMITTED_RBMS | datasets.COMMITTED_GAUSSIAN
    known = committed | datasets.PUBLISHED_RBMS | MODELS
    if name is None or name in known:
        return ""
    try:
        return hashlib.sha256(Path(name).expanduser().read_bytes()).hexdigest()
    except OSError as error:
        raise ValueError(
            f"model is {name!r}: {error.strerror}; expected a registered name "
            "(python -m rbmlib data), or a file"
        ) from None


def estimate(**task) -> dict:
    """One row of results: log Z of the model of a task, a pure function of the task.

    Returns
    -------
    dict
        ``log_z, std_error, mean_log_z, mean_std_error, ess, converged`` as in `Estimate` (NaN as
        None), ``start`` of reverse runs, what the estimator adds, ``seconds``, and with a
        ``test_set`` its total ``log_likelihood`` in nats (report, eq. 23) with the standard error
        that log Z leaves it.
    """
    task = checked(task)
    function = ESTIMATORS[task["estimator"]]
    needed = _parts(function)
    chosen = _chosen(task, PATHS[task["path"]]) if "path" in needed else {}
    model = task["model"]
    rbm, path = _model_and_path(model, model_digest(model), task.get("path"), tuple(chosen.items()))
    parts = {"rbm": rbm, "path": path, "seed": task.get("seed", 0)}
    parts["rng"] = np.random.default_rng([parts["seed"], 1])  # estimators draw from `seed` itself
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # `converged` says so in the table
        if "betas" in needed:
            parts["betas"] = _call(SCHEDULES[task["schedule"]], parts, task)
        result = _call(function, parts, task)
    result, more = result if isinstance(result, tuple) else (result, {})
    names = ("log_z", "std_error", "mean_log_z", "mean_std_error", "ess")
    row = {name: _rounded(getattr(result, name)) for name in names}
    row |= {"converged": result.converged, "start": result.settings.get("start")}
    row |= {name: _rounded(value) for name, value in more.items()}
    if task["test_set"] != "none":
        each = log_likelihood(rbm, TEST_SETS[task["test_set"]](), result)
        row["log_likelihood"] = _rounded(each.sum())
        row["log_likelihood_error"] = _rounded(each.size * result.std_error)
    return row | {"seconds": result.seconds}


@lru_cache(maxsize=8)
def _model_and_path(model: str, digest: str, path: str | None, settings: tuple):
    """Kept from one task to the next; a file that has changed (``digest``) is read again."""
    rbm = _load(model)
    return rbm, PATHS[path](rbm, **dict(settings)) if path else None


def _call(function, parts: dict, task: dict):
    return function(*(parts[p] for p in _parts(function, list)), **_chosen(task, function))


def _chosen(task: dict, function) -> dict:
    return {name: task[name] for name in _settings(function)}


def _parts(function, kind=set):
    parameters = inspect.signature(function).parameters.values()
    return kind(p.name for p in parameters if p.kind is not p.KEYWORD_ONLY)


def _settings(function) -> dict:
    """Types and defaults (None: must be given) of the keyword-only parameters."""
    parameters = inspect.signature(function, eval_str=True).parameters.values()
    return {
        p.name: (p.annotation, None if p.default is p.empty else p.default)
        for p in parameters
        if p.kind is p.KEYWORD_ONLY
    }


def _one_of(name: str, word, registry) -> str:
    if not isinstance(word, str) or word not in registry:
        raise ValueError(f"{name} is {word!r}: expected one of {', '.join(map(repr, registry))}")
    return word


def _of_type(name: str, value, kind: type):
    if value is None:
        raise ValueError(f"{name} is missing: expected {_MEANING[kind]}")
    if kind is float and type(value) is int:
        value = float(value)
    if kind is int and type(value) is float and value.is_integer():
        value = int(value)
    least = 0 if name in ("seed", "path_seed", "n_burn_in", "n_reversed", "n_apart", "look") else 1
    if type(value) is not kind or (kind is int and value < least):
        raise ValueError(f"{name} is {value!r}: expected {_MEANING[kind]}")
    return value


_MEANING = {
    int: "a whole number, in digits (YAML takes 1e4 for a text)",
    float: "a number with a point (YAML takes 1e-3 for a text: write 1.0e-3)",
    str: "a word",
    bool: "true or false",
}


def _rounded(value):
    return None if value is None or math.isnan(value) else round(float(value), DIGITS)
