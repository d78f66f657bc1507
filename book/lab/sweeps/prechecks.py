"""What would fail in a task, found before anything is computed."""

from collections.abc import Iterable
from typing import NamedTuple

import rbmlib as rl
from rbmlib import datasets

from .words import BASE_RATE, MODELS, biases, load_model

PIXELS = {"mnist": 784, "course": 784, "cifar10 subset": 3072, "cifar10": 3072}
OF_BITS = "geometric", "moment averaging"  # paths of Bernoulli RBMs
MAX_UNITS = 30  # in a layer that `rl.exact` enumerates
COULD_NOT = (ValueError, TypeError, OSError, RuntimeError)


class Size(NamedTuple):
    """Of a model: all that is known of one that is to be downloaded."""

    n_visible: int
    n_hidden: int


def task_faults(tasks: Iterable[dict], fetch: bool = True) -> Iterable[tuple[dict, str]]:
    """Tasks that would fail, each with the reason.

    Without ``fetch`` nothing is downloaded: a published model that is not here counts as good,
    and so does one that a function makes.
    """
    tasks = list(tasks)
    away = set() if fetch else set(to_download(tasks))
    unseen = set() if fetch else set(MODELS)  # what makes them may download data
    models: dict = {}  # by name: the model, or why it cannot be read
    bases: dict = {}  # by model and data: the base rate, or why there is none
    for task in tasks:
        name, data = task["model"], task.get("data")
        if name in unseen:
            continue
        if name not in models:
            models[name] = _tried(_size if name in away else _model_or_size, name)
        model = models[name]
        reason = (
            model if isinstance(model, str) else _other_kind(task, model) or _misfit(task, model)
        )
        if reason is not None:
            yield task, f"model is {name!r}: {reason}"
        elif data:
            if (name, data) not in bases:
                bases[name, data] = _tried(biases, model, BASE_RATE, data)
            if isinstance(reason := bases[name, data], str):
                yield task, f"data is {data!r}: {reason}"


def _tried(function, *arguments):
    """What it returns, or the text of its error."""
    try:
        return function(*arguments)
    except COULD_NOT as error:
        return str(error)


def to_download(tasks: Iterable[dict]) -> list[str]:
    """Published models that are named and not here."""
    away = {info.name for info in datasets.list_rbms() if info.where == "not here"}
    return sorted(away & {task["model"] for task in tasks})


def _size(name: str) -> Size:
    return Size(*datasets.register.RBMS[name])


def _model_or_size(name: str):
    """The model itself; its size, where making it takes a training, which knows its ``size``."""
    size = getattr(MODELS.get(name), "size", None)
    return Size(*size) if size else load_model(name)


def _other_kind(task: dict, model) -> str | None:
    """Why a model of this kind has no such path, or cannot be enumerated."""
    if isinstance(model, Size):
        return None
    layers = (model.visible, model.hidden) if isinstance(model, rl.RBM) else ()
    counted = [layer.values is not None for layer in layers]
    if counted and all(counted):
        return None
    kind = f"it is a {type(model).__name__}"
    if task.get("path") in OF_BITS:
        return (
            f"{kind}, and the path {task['path']!r} is of Bernoulli RBMs: "
            "name a path of its kind (such as 'path: leakiness', of a LeakyRBM)"
        )
    if task["estimator"] == "exact" and not (layers and _n_counted(model)):
        return f"{kind}, which the estimator 'exact' cannot enumerate"
    return None


def _n_counted(model) -> float:
    """Units of the layer that `rl.exact` enumerates; of leaky ones it knows a closed form."""
    if isinstance(model, Size):
        return min(model)
    layers = [layer for layer in (model.visible, model.hidden) if layer.values is not None]
    return min(map(len, layers), default=isinstance(model.hidden, rl.Leaky))


def _misfit(task: dict, model) -> str | None:
    n_visible = getattr(model, "n_visible", None)
    it_has = f"it has {repr(model) if n_visible is None else f'{n_visible} visible units'}"
    if task["estimator"] == "exact" and (units := _n_counted(model)) > MAX_UNITS:
        return (
            f"it has too many units for the estimator 'exact': {units} in its smaller "
            f"layer, expected {MAX_UNITS} at most"
        )
    if n_visible != PIXELS["mnist"]:
        if task.get("base") == BASE_RATE and not task.get("data"):
            return (
                f"{it_has}, and the base 'base rate' is that of MNIST, of {PIXELS['mnist']} "
                "pixels: name training data of the model (data: FILE.npy), or take "
                "'base: mean field'"
            )
        if task.get("begin") == "images":
            return f"{it_has}, and 'begin: images' takes those of MNIST: leave it out"
    pixels = PIXELS.get(task["test_set"])
    if pixels and n_visible != pixels:
        return f"{it_has}, and the test set {task['test_set']!r} {pixels} pixels"
    return None
