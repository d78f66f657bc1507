"""What would fail in a task, found before anything is computed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from rbmlib import datasets
from rbmlib.estimators.exact import MAX_UNITS
from rbmlib.models.bernoulli import BernoulliRBM
from .models import BASE_RATE, MODELS, biases, load_model

PIXELS = {"mnist": 784, "course": 784, "cifar10 subset": 3072, "cifar10": 3072}
OF_BITS = "geometric", "moment averaging"  # paths of Bernoulli RBMs
COULD_NOT = (ValueError, TypeError, OSError, RuntimeError)


class Size(NamedTuple):
    """Of a model: all that is known of one that is to be downloaded."""

    n_visible: int
    n_hidden: int

    @property
    def n_enumerated(self) -> int:
        return min(self)


def task_faults(tasks: Iterable[dict], *, fetch: bool = True) -> list[tuple[dict, str]]:
    """Tasks that would fail, each with the reason.

    Without ``fetch`` nothing is downloaded: a published model that is not here counts as good,
    and so does one that a function makes.
    """
    tasks = list(tasks)
    away = set() if fetch else set(to_download(tasks))
    unseen = set() if fetch else set(MODELS)  # what makes them may download data
    models: dict = {}  # by name: the model, or why it cannot be read
    bases: dict = {}  # by model and data: the base rate, or why there is none
    found = []
    for task in tasks:
        name, data = task["model"], task.get("data")
        if name in unseen:
            continue
        if name not in models:
            models[name] = _tried(_size if name in away else _model_or_size, name)
        model = models[name]
        reason = model if isinstance(model, str) else _misfit(task, model)
        if reason is not None:
            found.append((task, f"model is {name!r}: {reason}"))
        elif data:
            if (name, data) not in bases:
                bases[name, data] = _tried(biases, model, BASE_RATE, data)
            if isinstance(reason := bases[name, data], str):
                found.append((task, f"data is {data!r}: {reason}"))
    return found


def _tried(function, *arguments):
    """What it returns, or the text of its error."""
    try:
        return function(*arguments)
    except COULD_NOT as error:
        return str(error)


def check_models(tasks: Iterable[dict]) -> None:
    """Refuse a sweep in which a task would fail."""
    for _, reason in task_faults(tasks):
        raise ValueError(reason)


def to_download(tasks: Iterable[dict]) -> list[str]:
    """Published models that are named and not here."""
    away = {info.name for info in datasets.list_rbms() if info.where == "not here"}
    return sorted(away & {task["model"] for task in tasks})


def folder_fault(*folders: Path) -> str | None:
    """Why results could not be written there."""
    for folder in folders:
        while not folder.exists() and folder != folder.parent:
            folder = folder.parent  # it would be made
        if not folder.is_dir() or not os.access(folder, os.W_OK):
            return f"cannot write into {folder}: give another place (--folder, --store)"
    return None


def _size(name: str) -> Size:
    return Size(*datasets.register.RBMS[name])


def _model_or_size(name: str):
    """The model itself; its size, where making it takes a training, which knows its ``size``."""
    size = getattr(MODELS.get(name), "size", None)
    return Size(*size) if size else load_model(name)


def _other_kind(task: dict, model) -> str | None:
    """Why a model of this kind has no such path, or cannot be enumerated."""
    if isinstance(model, (BernoulliRBM, Size)):
        return None
    if task.get("path") in OF_BITS:
        return (
            f"it is a {type(model).__name__}, and the path {task['path']!r} is of Bernoulli RBMs: "
            "name a path of its kind (such as 'path: leakiness', of a LeakyRBM)"
        )
    if task["estimator"] == "exact" and not hasattr(model, "exact_log_z"):
        return f"it is a {type(model).__name__}, which the estimator 'exact' cannot enumerate"
    return None


def _misfit(task: dict, model) -> str | None:
    if reason := _other_kind(task, model):
        return reason
    shown = f"{model.n_visible} visible units" if hasattr(model, "n_visible") else repr(model)
    n_visible = getattr(model, "n_visible", None)
    if task["estimator"] == "exact" and getattr(model, "n_enumerated", 0) > MAX_UNITS:
        return (
            f"it has too many units for the estimator 'exact': {model.n_enumerated} in its smaller "
            f"layer, expected {MAX_UNITS} at most"
        )
    images = PIXELS["mnist"]
    if task.get("base") == BASE_RATE and not task.get("data") and n_visible != images:
        return (
            f"it has {shown}, and the base 'base rate' is that of MNIST, of {images} pixels: name "
            "training data of the model (data: FILE.npy), or take 'base: mean field'"
        )
    if task.get("begin") == "images" and n_visible != images:
        return f"it has {shown}, and 'begin: images' takes those of MNIST: leave it out"
    pixels = PIXELS.get(task["test_set"])
    if pixels and n_visible != pixels:
        return f"it has {shown}, and the test set {task['test_set']!r} {pixels} pixels"
    return None
