"""The words that a task may name, and what each stands for: models, bases, paths, schedules,
estimators.

A function of a registry is given parts of a task by position (`parts_of`) and settings of the
task by keyword (`settings_of`), as its signature says. `register` enters one of the book's own.
An estimator of the library needs no more than its signature: a task gives it path, betas and seed,
or the model; every other argument that is annotated as a plain value is a setting of the task,
with the same default. `IN_TASKS` says what tasks call otherwise, or never give.
"""

import inspect
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

import rbmlib as rl
from rbmlib import datasets, testsystems
from rbmlib import schedules as cuts

from .. import images
from ..carlson2016.rounds import rts_from_rounds
from ..equal_rejection import equal_rejection
from ..ess_bisection import ess_bisection
from ..gms13 import gms13
from ..leaky_kernels import move_of
from ..moments import moment_averaging_path
from ..step_sizes import Walk, adapt_covariances, adapt_step_sizes
from ..testsystems import first_order_rbm
from ..ww_domain import ww_domain
from .kind import one_of

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
    """Names of the positional parameters."""
    parameters = inspect.signature(function).parameters.values()
    return [p.name for p in parameters if p.kind is not p.KEYWORD_ONLY]


def settings_of(function) -> dict:
    """Types and defaults (None: must be given) of the keyword-only parameters."""
    parameters = inspect.signature(function, eval_str=True).parameters.values()
    return {
        p.name: (p.annotation, None if p.default is p.empty else p.default)
        for p in parameters
        if p.kind is p.KEYWORD_ONLY
    }


# models and bases ---------------------------------------------------------------------------

MODELS: dict[str, Any] = {  # made by a function; all others are read from files
    f"orthogonal {n}": partial(testsystems.orthogonal_leaky_rbm, 3072, n) for n in (5, 10, 20, 30)
} | {
    "two gaussians": testsystems.two_gaussians,
    "two phases": lambda: first_order_rbm()[0],
    "ww_domain": ww_domain,
    "untrained 12 x 6": partial(testsystems.random_rbm, 12, 6, coupling=0.05, rng=0),
}
BASE_RATE = "base rate"


def without_weights(rbm: rl.BernoulliRBM) -> rl.BernoulliRBM:
    """The target with its weights at zero: the base of its own biases, hidden ones too."""
    return rl.BernoulliRBM(0 * rbm.weights, rbm.visible_bias, rbm.hidden_bias)


BASES: dict[str, Callable] = {
    BASE_RATE: lambda rbm: rl.base_rate(datasets.load_mnist().train),
    "own biases": lambda rbm: rbm.visible_bias,
    "own biases, both layers": without_weights,
    "mean field": lambda rbm: "mean_field",
    "uniform": lambda rbm: np.zeros(rbm.n_visible),
}
TEST_SETS: dict[str, Any] = {
    "none": None,
    "course": images.load_course_test,
    "mnist": lambda: datasets.load_mnist().test,
    "cifar10 subset": lambda: images.cifar10_scale()(images.load_cifar10().test),
    "cifar10": lambda: images.cifar10_scale()(images.load_cifar10(full=True).test),
}


def biases(rbm, base: str, data: str = ""):
    """The base of the word ``base``, as paths take it; the base rate is MNIST's, or a file's."""
    if data and base == BASE_RATE:
        return rl.base_rate(datasets.load_rows(data, rbm.n_visible))
    return BASES[one_of("base", base, BASES)](rbm)


def load_model(name: str):
    """A model made by a function, a registered one, or one from a file."""
    return MODELS[name]() if name in MODELS else datasets.load_rbm(name)


# paths --------------------------------------------------------------------------------------


@register(PATHS, "geometric")
def _geometric(rbm, *, base: str = BASE_RATE, data: str = ""):
    return rl.GeometricPath(rbm, base=biases(rbm, base, data))


@register(PATHS, "moment averaging")
def _moment_averaging(
    rbm, *, base: str = BASE_RATE, data: str = "", n_knots: int = 9, n_updates: int = 500,
    path_seed: int = 0,
):  # fmt: skip
    begin = biases(rbm, base, data)
    given = {"n_knots": n_knots, "n_updates": n_updates, "rng": path_seed}
    return moment_averaging_path(rbm, begin, **given)[0]


@register(PATHS, "density")
def _density(
    rbm, *, base_variance: float = 30.0, kernel: str = "hmc", n_leapfrog: int = 1,
    jitter: float = 0.0, steps: str = "adaptive", ladder: str = "square", n_knots: int = 40,
):  # fmt: skip
    """Step sizes are adapted to a ladder of ``n_knots`` steps; "fixed" takes their mean.

    The kernel "random_walk_covariance" adapts the covariance of a random walk instead.
    """
    kinds = {"hmc": rl.DensityPath, "random_walk": Walk, "random_walk_covariance": Walk}
    kind = kinds[one_of("kernel", kernel, kinds)]
    path = kind(rbm, base_variance, n_leapfrog=n_leapfrog, jitter=jitter)
    power = {"linear": 1, "square": 2}[one_of("ladder", ladder, ("linear", "square"))]
    adapt = adapt_covariances if kernel == "random_walk_covariance" else adapt_step_sizes
    adapted = adapt(path, cuts.linear(n_knots) ** power, rng=0)
    wanted = one_of("steps", steps, ("adaptive", "fixed"))
    return adapted.path if wanted == "adaptive" else adapted.fixed


def _of_kernel(path):
    def made(rbm, *, kernel: str):
        return path(rbm, move_of(kernel, rbm))

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
    """Uniform draws, sorted: new betas for each seed."""
    return np.concatenate([[0.0], np.sort(rng.random(n_temperatures - 1)), [1.0]])


def _from_pilot(cut, n_steps: int, n_chains: int, n_recorded: int = 0, **options):
    """Cut from a pilot run, recorded at all its betas unless ``n_recorded`` says at how many."""

    def schedule(
        path, rng, *, n_temperatures: int, pilot_steps: int = n_steps, pilot_chains: int = n_chains
    ):
        recorded = {"n_recorded": n_recorded or pilot_steps + 1} | options
        pilot = rl.ais(path, cuts.linear(pilot_steps), pilot_chains, rng, **recorded)
        return cut(pilot, n_temperatures)

    return schedule


_varopt_of_pilot = _from_pilot(cuts.varopt, 1000, 100, slopes=True)
SCHEDULES["friction"] = _from_pilot(cuts.friction, 10_000, 128, 201, keep_chains=True)
SCHEDULES["equal_rejection"] = _from_pilot(equal_rejection, 1000, 100, keep_chains=True)


@register(SCHEDULES, "varopt")
def _varopt(
    path, rng, *, n_temperatures: int, pilot_steps: int = 1000, pilot_chains: int = 100,
    max_step: float = 1.0,
):  # fmt: skip
    """Kiwaki's schedule from a pilot of its own; ``max_step`` caps it on the grid of the pilot."""
    of_pilot = {"pilot_steps": pilot_steps, "pilot_chains": pilot_chains}
    betas = _varopt_of_pilot(path, rng, n_temperatures=n_temperatures, **of_pilot)
    return cuts.decelerate(betas, max_step, pilot_steps) if max_step < 1 else betas


@register(SCHEDULES, "ess_bisection")
def _ess_bisection(path, rng, *, n_temperatures: int, pilot_chains: int = 100):
    return ess_bisection(path, n_temperatures, pilot_chains, rng)


@register(SCHEDULES, "gms13")
def _gms13(path, seed, *, n_temperatures: int, pilot_chains: int = 1000):
    betas = _gms13_curve(path, seed, pilot_chains)
    return np.interp(np.linspace(0, 1, n_temperatures + 1), np.linspace(0, 1, betas.size), betas)


@lru_cache(maxsize=4)
def _gms13_curve(path, seed, pilot_chains):
    """The piecewise linear curve that schedules of any length cut: found once a path."""
    rng = np.random.default_rng([seed, 1])
    return gms13(path, 90_000, pilot_chains, rng)


# estimators ---------------------------------------------------------------------------------

PARTS = {"path": "path", "source": "path", "rbm": "rbm", "betas": "betas", "rng": "seed"}
KINDS = {kind.__name__: kind for kind in (int, float, str, bool)}
REQUIRED = ("n_sweeps",)  # a table says how long its runs were
# what it finds depends on the seconds that the machine takes; what it joins is no task's
NOT_IN_TASKS = "log_z", "join"


class InTasks(NamedTuple):
    """Where tasks do not follow the signature of an estimator."""

    left_out: tuple[str, ...] = ()  # arguments that no setting stands for
    renamed: Mapping[str, tuple[str, Any]] = MappingProxyType({})  # other settings and defaults
    arguments: Callable[[dict], dict] = lambda task: {}  # found from settings and parts of a task
    columns: Callable[[rl.Estimate], dict] = lambda run: {}  # of the table, beside the usual ones
    constants: Mapping[str, Any] = MappingProxyType(
        {}
    )  # settings of stored tasks that nobody gives


def register_estimator(function: Callable[..., rl.Estimate], differs: InTasks | None = None):
    """Let tasks name an estimator of a path, or of a model: its settings are in its signature."""
    differs = differs or InTasks()
    parameters = inspect.signature(function).parameters
    parts = {name: PARTS[name] for name in parameters if name in PARTS}
    empty, only = inspect.Parameter.empty, inspect.Parameter.KEYWORD_ONLY
    arguments, shown = {}, []  # arguments by setting
    for name, parameter in parameters.items():
        setting, default = differs.renamed.get(name, (name, parameter.default))
        kind = KINDS.get(parameter.annotation, parameter.annotation)
        if name in differs.renamed:
            kind = type(default)
        elif name in REQUIRED:
            kind, default = int, empty
        if name not in differs.left_out and kind in KINDS.values():
            arguments[setting] = name
            shown.append(inspect.Parameter(setting, only, annotation=kind, default=default))

    for name, value in differs.constants.items():
        shown.append(inspect.Parameter(name, only, annotation=type(value), default=value))

    def call(*given, **chosen):
        values = dict(zip(parts, given, strict=True))
        task = dict(zip(parts.values(), given, strict=True)) | chosen
        plain = {arguments[name]: value for name, value in chosen.items() if name in arguments}
        run = function(**(values | plain | differs.arguments(task)))
        return run, differs.columns(run)

    place = inspect.Parameter.POSITIONAL_ONLY
    signature = [inspect.Parameter(name, place) for name in parts.values()] + shown
    call.__signature__ = inspect.Signature(signature)  # type: ignore[attr-defined]
    ESTIMATORS[function.__name__] = call


def _of_groups(run: rl.Estimate) -> dict:
    """Round trips of a chain in the second half, and the spread of log Z over groups."""
    spread = float(np.std(run.log_weights, ddof=1))
    return {"round_trips": run.details["round_trips"], "spread": spread}


TAP_STARTS = {
    "densities": lambda rbm, rng, n: None,
    "uniform": lambda rbm, rng, n: rng.random((n, rbm.n_visible)),
    "images": lambda rbm, rng, n: rng.choice(datasets.load_mnist().train, n, replace=False),
}


def _of_tap(task: dict) -> dict:
    """From random hidden states, as `rbmlib.tap` draws them, uniform means, or training images."""
    rng = np.random.default_rng([task["seed"], 1])
    begin = TAP_STARTS[one_of("begin", task["begin"], TAP_STARTS)]
    starts = begin(task["rbm"], rng, task["n_starts"])
    return {"starts": starts, "rng": rng, "compare": False}


def _columns_of_tap(run: rl.Estimate) -> dict:
    names = "n_solved", "n_fixed_points", "log_z_sum"
    return {name: run.details[name] for name in names} | {"sweeps": run.n_sweeps}


# A column named "start" says where reverse chains began: settings are "starting" or "begin".
STARTING = {"start": ("starting", "pilot")}
OF_TAP = {"starts": ("begin", "densities"), "n_starts": ("n_starts", 20)}
IN_TASKS = {
    "ais": InTasks(
        ("n_recorded", "slopes", "keep_chains"), arguments=lambda task: {"n_recorded": 2}
    ),
    "bar": InTasks(renamed={"start": ("begin", "auto")}),
    "rts": InTasks(
        (),
        STARTING,
        columns=lambda run: {name: run.details[name] for name in ("round_trips", "bias")},
    ),
    "sams": InTasks(  # first_stage is t_0, as a share of the sweeps
        (),
        STARTING | {"t_0": ("first_stage", 0.3)},
        lambda task: {"t_0": round(task["first_stage"] * task["n_sweeps"])},
        _of_groups,
    ),
    "tap": InTasks((), OF_TAP, _of_tap, _columns_of_tap),
    "ti": InTasks(("skip",)),
    "wang_landau": InTasks(("jump",), STARTING, columns=_of_groups, constants={"flatness": 0.8}),
}


def rts(
    path, betas, n_chains: int = 100, n_sweeps: int | None = None, rng=None, *,
    start: str = "pilot", rao_blackwell: bool = True,
) -> rl.Estimate:  # fmt: skip
    """`rbmlib.rts` from its pilot, or RTS from the rounds of the paper."""
    if one_of("starting", start, ("pilot", "paper")) == "paper":
        given = path, betas, n_chains, n_sweeps, rng
        return rts_from_rounds(*given, rao_blackwell=rao_blackwell)[0]
    more = {"rao_blackwell": rao_blackwell, "record_every": n_sweeps}
    return rl.rts(path, betas, n_chains, n_sweeps, rng, **more)


# what makes an `Estimate` of a path or of a model, not of the sample of another run
for _name, _function in inspect.getmembers(rl, inspect.isfunction):
    _signature = inspect.signature(_function)
    _first = PARTS.get(next(iter(_signature.parameters), ""))
    _returned = _signature.return_annotation in (rl.Estimate, rl.Estimate.__name__)
    if _name not in NOT_IN_TASKS and _returned and _first in ("path", "rbm"):
        register_estimator(rts if _name == "rts" else _function, IN_TASKS.get(_name))
