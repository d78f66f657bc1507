"""The vocabulary of tasks: models, bases, paths, schedules and estimators.

`register` enters a function in a registry. It takes parts of a task by position (`parts_of`) and
settings of the task by keyword (`settings_of`). Settings and their defaults are in the keys of
stored results, and a function with a new setting needs a new name.
"""

import inspect
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

import rbmlib as rl
from rbmlib import datasets, testsystems
from rbmlib import schedules as cuts

from .. import images
from ..carlson2016.rounds import rts_from_rounds
from ..models import ww_domain
from ..schedules import gms13
from ..step_sizes import Walk, adapt_step_sizes
from .declare import one_of

PATHS: dict[str, Callable] = {}
SCHEDULES: dict[str, Callable] = {}
ESTIMATORS: dict[str, Callable] = {}


def register(registry: dict, name: str):
    """Decorator: let tasks name the function in ``PATHS``, ``SCHEDULES`` or ``ESTIMATORS``."""

    def enter(function):
        registry[name] = function
        return function

    return enter


def parts_of(function) -> list[str]:
    parameters = inspect.signature(function).parameters.values()
    return [p.name for p in parameters if p.kind is not p.KEYWORD_ONLY]


def settings_of(function) -> dict:
    """Types and defaults (None if required) of the keyword-only parameters."""
    parameters = inspect.signature(function, eval_str=True).parameters.values()
    return {
        p.name: (p.annotation, None if p.default is p.empty else p.default)
        for p in parameters
        if p.kind is p.KEYWORD_ONLY
    }


# models and bases ---------------------------------------------------------------------------

MODELS: dict[str, Any] = {  # made by a function; all others are read from files
    "two gaussians": testsystems.two_gaussians,
    "ww_domain": ww_domain,
}
BASE_RATE = "base rate"
BASES: dict[str, Callable] = {
    BASE_RATE: lambda rbm: rl.base_rate(datasets.load_mnist().train),
    "own biases": lambda rbm: rbm.visible_bias,
    "own biases, both layers": lambda rbm: rl.BernoulliRBM(
        0 * rbm.weights, rbm.visible_bias, rbm.hidden_bias
    ),
    "mean field": lambda rbm: "mean_field",
    "uniform": lambda rbm: np.zeros(rbm.n_visible),
}
TEST_SETS: dict[str, Any] = {
    "none": None,
    "course": images.load_course_test,
    "mnist": lambda: datasets.load_mnist().test,
    "cifar10": lambda: images.cifar10_scale()(images.load_cifar10(full=True).test),
}


def biases(rbm, base: str, data: str = ""):
    """Visible biases for the word ``base``; the base rate is that of MNIST or a file."""
    if data and base == BASE_RATE:
        return rl.base_rate(datasets.load_rows(data, rbm.n_visible))
    return BASES[one_of("base", base, BASES)](rbm)


def load_model(name: str):
    """A model from a function, from the registry or from a file."""
    return MODELS[name]() if name in MODELS else datasets.load_rbm(name)


@register(PATHS, "geometric")
def _geometric(rbm, *, base: str = BASE_RATE, data: str = ""):
    return rl.GeometricPath(rbm, base=biases(rbm, base, data))


@register(PATHS, "density")
def _density(
    rbm, *, base_variance: float = 30.0, kernel: str = "hmc", n_leapfrog: int = 1,
    jitter: float = 0.0, steps: str = "adaptive", ladder: str = "square", n_knots: int = 40,
):  # fmt: skip
    """With step sizes adapted to a ladder of ``n_knots`` steps; "fixed" uses their mean."""
    kinds = {"hmc": rl.DensityPath, "random_walk": Walk}
    kind = kinds[one_of("kernel", kernel, kinds)]
    path = kind(rbm, base_variance, n_leapfrog=n_leapfrog, jitter=jitter)
    power = {"linear": 1, "square": 2}[one_of("ladder", ladder, ("linear", "square"))]
    adapted = adapt_step_sizes(path, cuts.linear(n_knots) ** power, rng=0)
    wanted = one_of("steps", steps, ("adaptive", "fixed"))
    return adapted.path if wanted == "adaptive" else adapted.fixed


def _of_kernel(path):
    def made(rbm, *, kernel: str):
        return path(rbm, kernel)

    return made


PATHS |= {"leakiness": _of_kernel(rl.LeakinessPath), "energy": _of_kernel(rl.EnergyPath)}

# schedules: fixed ones, and those of a pilot run of their own ------------------------------


def _fixed(curve, default=inspect.Parameter.empty):
    def schedule(*, n_temperatures: int = default):
        return curve(n_temperatures)

    return schedule


SCHEDULES |= {
    "linear": _fixed(cuts.linear),
    "square": _fixed(lambda n: cuts.linear(n) ** 2),
    "sm08": _fixed(cuts.sm08, 14_500),
}


@register(SCHEDULES, "random")
def _random(rng, *, n_temperatures: int):
    """Sorted uniform draws, which differ between seeds."""
    return np.concatenate([[0.0], np.sort(rng.random(n_temperatures - 1)), [1.0]])


@register(SCHEDULES, "friction")
def _friction(
    path, rng, *, n_temperatures: int, pilot_steps: int = 10_000, pilot_chains: int = 128
):
    recorded = {"n_recorded": 201, "keep_chains": True}
    pilot = rl.ais(path, cuts.linear(pilot_steps), pilot_chains, rng, **recorded)
    return cuts.friction(pilot, n_temperatures)


@register(SCHEDULES, "varopt")
def _varopt(
    path, rng, *, n_temperatures: int, pilot_steps: int = 1000, pilot_chains: int = 100,
    max_step: float = 1.0,
):  # fmt: skip
    """Kiwaki's schedule from a separate pilot; ``max_step`` caps it on the grid of the pilot."""
    recorded = {"n_recorded": pilot_steps + 1, "slopes": True}
    pilot = rl.ais(path, cuts.linear(pilot_steps), pilot_chains, rng, **recorded)
    betas = cuts.varopt(pilot, n_temperatures)
    return cuts.decelerate(betas, max_step, pilot_steps) if max_step < 1 else betas


@register(SCHEDULES, "gms13")
def _gms13(path, seed, *, n_temperatures: int, pilot_chains: int = 1000):
    betas = _gms13_curve(path, seed, pilot_chains)
    return np.interp(np.linspace(0, 1, n_temperatures + 1), np.linspace(0, 1, betas.size), betas)


@lru_cache(maxsize=4)
def _gms13_curve(path, seed, pilot_chains):
    """The piecewise linear curve for schedules of any length, computed once per path."""
    rng = np.random.default_rng([seed, 1])
    return gms13(path, 90_000, pilot_chains, rng)


# estimators ---------------------------------------------------------------------------------

# The column "start" says where reverse chains began. Settings are named "starting" or "begin".

ESTIMATORS["exact"] = lambda rbm: rl.exact(rbm)


@register(ESTIMATORS, "ais")
def _ais(path, betas, seed, *, n_chains: int = 1000):
    return rl.ais(path, betas, n_chains, seed, n_recorded=2)


@register(ESTIMATORS, "reverse_ais")
def _reverse_ais(path, betas, seed, *, n_chains: int = 1000, n_burn_in: int = 1000):
    return rl.reverse_ais(path, betas, n_chains, seed, n_burn_in=n_burn_in)


@register(ESTIMATORS, "bar")
def _bar(path, betas, seed, *, n_chains: int = 1000, n_burn_in: int = 100, begin: str = "auto"):
    return rl.bar(path, betas, n_chains, seed, n_burn_in=n_burn_in, start=begin)


@register(ESTIMATORS, "rts")
def _rts(
    path, betas, seed, *, n_chains: int = 100, n_sweeps: int, starting: str = "pilot",
    rao_blackwell: bool = True,
):  # fmt: skip
    given = path, betas, n_chains, n_sweeps, seed
    if one_of("starting", starting, ("pilot", "paper")) == "paper":
        run = rts_from_rounds(*given, rao_blackwell=rao_blackwell)[0]
    else:
        run = rl.rts(*given, rao_blackwell=rao_blackwell, record_every=n_sweeps)
    return run, {name: run.details[name] for name in ("round_trips", "bias")}


@register(ESTIMATORS, "mbar")
def _mbar(path, betas, seed, *, n_chains: int = 100, n_sweeps: int):
    return rl.mbar(path, betas, n_chains, n_sweeps, seed)


@register(ESTIMATORS, "ti")
def _ti(
    path, betas, seed, *, n_chains: int = 100, n_sweeps: int, rule: str = "trapezoid",
    rao_blackwell: bool = True,
):  # fmt: skip
    return rl.ti(path, betas, n_chains, n_sweeps, seed, rule=rule, rao_blackwell=rao_blackwell)


def _of_groups(run: rl.Estimate) -> tuple[rl.Estimate, dict]:
    """Round trips per chain in the second half, and the spread of log Z over groups."""
    spread = float(np.std(run.log_weights, ddof=1))
    return run, {"round_trips": run.details["round_trips"], "spread": spread}


@register(ESTIMATORS, "sams")
def _sams(
    path, betas, seed, *, n_chains: int = 100, n_sweeps: int, n_groups: int = 10,
    starting: str = "pilot", first_stage: float = 0.3, exponent: float = 0.7,
    jump: str = "global", rao_blackwell: bool = True,
):  # fmt: skip
    """``first_stage`` is t_0, as a share of the sweeps."""
    t_0 = round(first_stage * n_sweeps)
    how = {"n_groups": n_groups, "exponent": exponent, "jump": jump, "rao_blackwell": rao_blackwell}
    run = rl.sams(path, betas, n_chains, n_sweeps, seed, start=starting, t_0=t_0, **how)
    return _of_groups(run)


@register(ESTIMATORS, "wang_landau")
def _wang_landau(
    path, betas, seed, *, n_chains: int = 100, n_sweeps: int, n_groups: int = 10,
    starting: str = "pilot", one_over_t: bool = True, flatness: float = 0.8,
):  # fmt: skip
    """``flatness`` is an unused setting of stored tasks."""
    how = {"n_groups": n_groups, "start": starting, "one_over_t": one_over_t}
    return _of_groups(rl.wang_landau(path, betas, n_chains, n_sweeps, seed, **how))


TAP_STARTS = {
    "densities": lambda rbm, rng, n: None,
    "uniform": lambda rbm, rng, n: rng.random((n, rbm.n_visible)),
    "images": lambda rbm, rng, n: rng.choice(datasets.load_mnist().train, n, replace=False),
}


@register(ESTIMATORS, "tap")
def _tap(
    rbm, seed, *, order: int = 2, n_starts: int = 20, begin: str = "densities",
    solver: str = "minimise", damping: float = 0.5, max_sweeps: int = 2000,
):  # fmt: skip
    """From random hidden states, as in `rbmlib.tap`, from uniform means or from training images."""
    rng = np.random.default_rng([seed, 1])
    starts = TAP_STARTS[one_of("begin", begin, TAP_STARTS)](rbm, rng, n_starts)
    how = {"order": order, "solver": solver, "damping": damping, "max_sweeps": max_sweeps}
    run = rl.tap(rbm, starts=starts, n_starts=n_starts, rng=rng, compare=False, **how)
    names = "n_solved", "n_fixed_points", "log_z_sum"
    return run, {name: run.details[name] for name in names} | {"sweeps": run.n_sweeps}
