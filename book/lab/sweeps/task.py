"""A task, checked and computed: log Z of a model."""

import hashlib
import math
import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import rbmlib as rl
from rbmlib import datasets

from . import words
from .declare import named, nearest, one_of, shown
from .engine import RESULTS_VERSION
from .run import Sweep

DIGITS = 6  # of results: finer than any standard error, coarser than rounding errors
MEANING = {
    int: "a whole number of at least 0, in digits (YAML takes 1e4 for a text)",
    float: "a number with a point (YAML takes 1e-3 for a text: write 1.0e-3)",
    str: "a word",
    bool: "true or false",
}


def known_settings(task: dict) -> dict[str, tuple[type, Any]]:
    """Type and default (None if required) of each setting of such a task, in order."""
    estimator = one_of("estimator", task.get("estimator", "ais"), words.ESTIMATORS)
    needed = words.parts_of(words.ESTIMATORS[estimator])
    settings: dict[str, tuple[type, Any]] = {"model": (str, None)}
    if "path" in needed:
        path = one_of("path", task.get("path", "geometric"), words.PATHS)
        settings |= {"path": (str, path)} | words.settings_of(words.PATHS[path])
    if "betas" in needed:
        schedule = one_of("schedule", task.get("schedule", "linear"), words.SCHEDULES)
        settings |= {"schedule": (str, schedule)} | words.settings_of(words.SCHEDULES[schedule])
    settings |= {"estimator": (str, estimator)} | words.settings_of(words.ESTIMATORS[estimator])
    settings |= {"test_set": (str, "none")}
    if {"betas", "rng", "seed"} & {*needed}:
        settings |= {"seed": (int, None)}
    return settings


def checked(task: dict) -> dict:
    """The task with every setting, converted to its type, in the order of the table."""
    known = known_settings(task)
    for name in task:
        if name not in known:
            near, expected = nearest(name, known), ", ".join(known)
            raise ValueError(f"unknown setting {shown(name)}{near}. Expected: {expected}")
    whole = {
        name: _of_type(name, task.get(name, default), kind)
        for name, (kind, default) in known.items()
    }
    for name, registry in (("base", words.BASES), ("test_set", words.TEST_SETS)):
        if name in whole:
            one_of(name, whole[name], registry)
    if "data" in whole and (not whole["data"] or whole["base"] != words.BASE_RATE):
        del whole["data"]  # only this base reads data, and other tasks are the same without them
    return whole


def _of_type(name: str, value: Any, kind: type):
    if value is None:
        raise ValueError(f"{name} is missing: expected {MEANING[kind]}")
    if kind is float and type(value) is int:
        value = float(value)
    if kind is int and type(value) is float and value.is_integer():
        value = int(value)
    if type(value) is not kind or (kind is int and value < 0):
        raise ValueError(f"{name} is {shown(value)}: expected {MEANING[kind]}")
    return value


def estimates(tasks, **where) -> Sweep:
    version = f"rbmlib results {RESULTS_VERSION}"
    whole = []
    for number, task in enumerate(tasks, 1):
        with named(f"task {number}"):
            whole.append(checked(task))
    return Sweep(whole, estimate, version=version, digest=digest, **where)


def estimate(**task) -> dict:
    """One row of results: log Z of the model of a task, a pure function of the task.

    Columns are those of `Estimate` (NaN as None), ``start`` of reverse runs, columns of the
    estimator, and ``seconds``. With a ``test_set``, they include its total ``log_likelihood`` in
    nats (report, eq. 23), with the standard error due to log Z.
    """
    task = checked(task)
    function = words.ESTIMATORS[task["estimator"]]
    needed = words.parts_of(function)
    chosen = _chosen(task, words.PATHS[task["path"]]) if "path" in needed else {}
    # without the independent check, which many older tables lack
    with warnings.catch_warnings(), rl.using(progress=False, independent_check=False):
        warnings.simplefilter("ignore", rl.ConvergenceWarning)  # the table has `converged`
        rbm, path = _model_and_path(
            task["model"], digest(task), task.get("path"), tuple(chosen.items())
        )
        parts = {"rbm": rbm, "path": path, "seed": task.get("seed", 0)}
        parts["rng"] = np.random.default_rng([parts["seed"], 1])  # estimators draw from `seed`
        if "betas" in needed:
            parts["betas"] = _call(words.SCHEDULES[task["schedule"]], parts, task)
        result = _call(function, parts, task)
    result, more = result if isinstance(result, tuple) else (result, {})
    names = ("log_z", "std_error", "mean_log_z", "mean_std_error", "ess")
    row = {name: _rounded(getattr(result, name)) for name in names}
    own = [check.passed for check in result.checks] if math.isnan(result.std_error) else [False]
    row |= {"converged": result.converged or (bool(own) and all(own))}
    row |= {"start": result.settings.get("start")}
    row |= {name: _rounded(value) for name, value in more.items()}
    if task["test_set"] != "none":
        each = rl.log_likelihood(rbm, words.TEST_SETS[task["test_set"]](), result.log_z)
        row["log_likelihood"] = _rounded(each.sum())
        row["log_likelihood_error"] = _rounded(each.size * result.std_error)
    return row | {"seconds": result.seconds}


@lru_cache(maxsize=8)
def _model_and_path(model: str, digest: str, path: str | None, settings: tuple):
    """Model and path, cached between tasks; a file with another ``digest`` is read again."""
    rbm = words.load_model(model)
    return rbm, words.PATHS[path](rbm, **dict(settings)) if path else None


def _call(function, parts: dict, task: dict):
    return function(*(parts[name] for name in words.parts_of(function)), **_chosen(task, function))


def _chosen(task: dict, function) -> dict:
    return {name: task[name] for name in words.settings_of(function) if name in task}


def _rounded(value):
    return None if value is None or math.isnan(value) else round(float(value), DIGITS)


def digest(task: dict) -> str:
    """SHA-256 of the user's files with model and data, which names do not identify."""
    found, model = "", task["model"]
    if model not in words.MODELS and model not in datasets.register.RBMS:
        registered = [*words.MODELS, *datasets.register.RBMS]
        found = _file_digest("model", model, f"{nearest(model, registered)}: expected a registered "
                             "name (python -m rbmlib data), or an .npz or .mat file")  # fmt: skip
    if task.get("data"):
        found += _file_digest("data", task["data"], ": expected a .npy, .npz or .csv file")
    return found


def _file_digest(setting: str, name: str, expected: str) -> str:
    file = Path(name).expanduser()
    if not file.is_file():  # reading a device never ends
        raise ValueError(f"{setting} is {shown(name)}, which is no regular file{expected}")
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
