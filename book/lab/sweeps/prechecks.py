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
    and so does one that a function makes, which may download data.
    """
    tasks = list(tasks)
    away = set() if fetch else set(to_download(tasks))
    models: dict = {}  # by name: the model, or why it cannot be read
    bases: dict = {}  # by model and data: the base rate, or why there is none
    for task in tasks:
        name, data = task["model"], task.get("data")
        if name in MODELS and not fetch:
            continue
        if name not in models:
            models[name] = _tried(_size if name in away else _model_or_size, name)
        model = models[name]
        if reason := model if isinstance(model, str) else _misfit(task, model):
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


def _misfit(task: dict, model) -> str | None:
    """Why the model cannot be that of the task."""
    layers = (model.visible, model.hidden) if isinstance(model, rl.RBM) else ()
    counted = [len(layer) for layer in layers if layer.values is not None]
    if isinstance(model, Size):
        counted = [*model]
    elif len(counted) < 2 and task.get("path") in OF_BITS:
        return (
            f"it is a {type(model).__name__}, and the path {task['path']!r} is of Bernoulli RBMs: "
            "name a path of its kind (such as 'path: leakiness', of a LeakyRBM)"
        )
    if task["estimator"] == "exact":
        if not counted and not (layers and isinstance(model.hidden, rl.Leaky)):
            kind = type(model).__name__
            return f"it is a {kind}, which the estimator 'exact' cannot enumerate"
        if (units := min(counted, default=1)) > MAX_UNITS:  # leaky units have a closed form
            return (
                f"it has too many units for the estimator 'exact': {units} in its smaller "
                f"layer, expected {MAX_UNITS} at most"
            )
    n_visible = getattr(model, "n_visible", None)
    it_has = f"it has {repr(model) if n_visible is None else f'{n_visible} visible units'}"
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
