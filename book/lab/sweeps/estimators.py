"""Estimators that any sweep may name: those of the library, as their signatures say.

A task gives an estimator its path, betas and seed, or its model; every other argument that is
annotated as a plain value is a setting of the task, with the same default. So a new estimator can
be named at once. `IN_TASKS` says what tasks call otherwise, or never give.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from rbmlib import datasets, estimators
from rbmlib._validation import one_of
from rbmlib.estimators._reverse_start import STARTS as REVERSE_STARTS
from rbmlib.estimators.rts import STARTS as RTS_STARTS
from rbmlib.estimators.tap import SOLVERS
from rbmlib.results import Estimate
from rbmlib.tempering.self_adjusted import JUMPS, STARTS
from .registry import ESTIMATORS, register

PARTS = {"path": "path", "source": "path", "rbm": "rbm", "betas": "betas", "rng": "seed"}
PLAIN = {kind.__name__: kind for kind in (int, float, str, bool)}
REQUIRED = ("n_sweeps",)  # a table says how long its runs were


class InTasks(NamedTuple):
    """Where tasks do not follow the signature of an estimator."""

    # by argument: the setting that stands for it, with its default; None: no setting does
    settings: Mapping[str, tuple[str, Any] | None] = MappingProxyType({})
    # arguments by name, from the settings and the parts of a task
    arguments: Callable[[dict], dict] = lambda task: {}
    # what a table holds of the estimate beside its usual columns
    columns: Callable[[Estimate], dict] = lambda run: {}


def register_estimator(function: Callable[..., Estimate], differs: InTasks | None = None) -> None:
    """Let tasks name an estimator of a path, or of a model: its settings are in its signature."""
    differs = differs or InTasks()
    parts, settings = {}, {}
    parameters = inspect.signature(function).parameters
    for name, parameter in parameters.items():
        if name in PARTS:
            parts[name] = PARTS[name]
        elif name in differs.settings:
            if (other := differs.settings[name]) is not None:
                settings[other[0]] = type(other[1]), other[1]
        elif (kind := PLAIN.get(parameter.annotation, parameter.annotation)) in PLAIN.values():
            settings[name] = (
                kind,
                inspect.Parameter.empty if name in REQUIRED else parameter.default,
            )
    quiet = {"progress": False} if "progress" in parameters else {}

    def call(*given, **chosen):
        task = dict(zip(parts.values(), given, strict=True)) | chosen
        plain = {name: value for name, value in chosen.items() if name in parameters}
        arguments = dict(zip(parts, given, strict=True)) | plain | quiet | differs.arguments(task)
        run = function(**arguments)
        return run, differs.columns(run)

    call.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in parts.values()]
        + [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=value)
            for name, (kind, value) in settings.items()
        ]
    )
    register(ESTIMATORS, function.__name__)(call)


def _of_settings(*names: str) -> Callable[[Estimate], dict]:
    return lambda run: {name: run.settings[name] for name in names}


def _of_groups(run: Estimate) -> dict:
    """Round trips of a chain in the second half, and the spread of log Z over groups."""
    spread = float(np.std(run.log_weights, ddof=1))
    return {"round_trips": run.settings["round_trips"], "spread": spread}


def _of_sams(task: dict) -> dict:
    """``first_stage`` is t_0, as a share of the sweeps."""
    return {
        "start": one_of("starting", task["starting"], STARTS),
        "t_0": round(task["first_stage"] * task["n_sweeps"]),
        "jump": one_of("jump", task["jump"], JUMPS),
    }


TAP_STARTS = {
    "densities": lambda rbm, rng, n: None,
    "uniform": lambda rbm, rng, n: rng.random((n, rbm.n_visible)),
    "images": lambda rbm, rng, n: rng.choice(datasets.load_mnist().train, n, replace=False),
}


def _of_tap(task: dict) -> dict:
    """From random hidden states, as `rbmlib.tap` draws them, uniform means, or training images."""
    rng = np.random.default_rng([task["seed"], 1])
    begin = TAP_STARTS[one_of("begin", task["begin"], TAP_STARTS)]
    return {
        "starts": begin(task["rbm"], rng, task["n_starts"]),
        "solver": one_of("solver", task["solver"], SOLVERS),
        "rng": rng,
    }


# A column named "start" says where reverse chains began: settings are "starting" or "begin".
IN_TASKS = {
    "ais": InTasks({"n_recorded": None, "keep_chains": None}, lambda task: {"n_recorded": 2}),
    "bar": InTasks(
        {"start": ("begin", "auto")},
        lambda task: {"start": one_of("begin", task["begin"], REVERSE_STARTS)},
    ),
    "rts": InTasks(
        {
            "start": ("starting", "pilot"),
            "conditional": None,
            "record_every": None,
            "round_burn_in": None,
        },
        lambda task: {
            "start": one_of("starting", task["starting"], RTS_STARTS),
            "record_every": task["n_sweeps"],
        },
        _of_settings("round_trips", "bias"),
    ),
    "sams": InTasks(
        {"start": ("starting", "pilot"), "t_0": ("first_stage", 0.3), "conditional": None},
        _of_sams,
        _of_groups,
    ),
    "tap": InTasks(
        {"starts": ("begin", "densities"), "n_starts": ("n_starts", 20)},
        _of_tap,
        lambda run: (
            _of_settings("n_solved", "n_fixed_points", "log_z_sum")(run) | {"sweeps": run.n_sweeps}
        ),
    ),
    "ti": InTasks({"skip": None}),
    "wang_landau": InTasks(
        {"start": ("starting", "pilot"), "jump": None, "conditional": None},
        lambda task: {"start": one_of("starting", task["starting"], STARTS)},
        _of_groups,
    ),
}
NOT_IN_TASKS = ("log_z",)  # what it finds depends on the seconds that the machine takes


def _is_estimator(function) -> bool:
    """Whether it makes an `Estimate` of a path or of a model, not of the sample of another run."""
    signature = inspect.signature(function)
    first = next(iter(signature.parameters), "")
    returned = signature.return_annotation in (Estimate, Estimate.__name__)
    return returned and PARTS.get(first) in ("path", "rbm")


for _name in vars(estimators)["__all__"]:
    if _name not in NOT_IN_TASKS and _is_estimator(getattr(estimators, _name)):
        register_estimator(getattr(estimators, _name), IN_TASKS.get(_name))
