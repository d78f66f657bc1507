"""What would fail in a task, found before anything is computed."""

from collections.abc import Iterable

import rbmlib as rl
from rbmlib import datasets

from .words import BASE_RATE, MODELS, biases, load_model

PIXELS = {"mnist": 784, "course": 784, "cifar10 subset": 3072, "cifar10": 3072}
MAX_UNITS = 30  # in a layer that `rl.exact` enumerates


def task_faults(tasks: Iterable[dict], fetch: bool = True) -> Iterable[tuple[dict, str]]:
    """Tasks that would fail, each with the reason.

    What a function makes counts as good, and without ``fetch`` a published model that is not here.
    """
    tasks = list(tasks)
    passed = {*MODELS, *(() if fetch else to_download(tasks))}
    read: dict = {}  # by model and data: the model, or why one of them cannot be read
    for task in tasks:
        if (name := task["model"]) in passed:
            continue
        if (which := (name, task.get("data"))) not in read:
            read[which] = _read(*which)
        found = read[which]
        if reason := found if isinstance(found, str) else _misfit(task, found):
            yield task, f"model is {name!r}: {reason}"


def to_download(tasks: Iterable[dict]) -> list[str]:
    """Published models that are named and not here."""
    away = {info.name for info in datasets.list_rbms() if info.where == "not here"}
    return sorted(away & {task["model"] for task in tasks})


def _read(name: str, data: str | None) -> rl.RBM | str:
    try:
        model = load_model(name)
        if data:
            biases(model, BASE_RATE, data)
    except (ValueError, TypeError, OSError, RuntimeError) as error:
        return str(error)
    return model


def _misfit(task: dict, model: rl.RBM) -> str | None:
    """Why the model cannot be that of the task."""
    counted = [len(layer) for layer in (model.visible, model.hidden) if layer.values is not None]
    if task["estimator"] == "exact" and min(counted, default=0) > MAX_UNITS:
        return (
            f"it has too many units for the estimator 'exact': {min(counted)} in its smaller "
            f"layer, expected {MAX_UNITS} at most"
        )
    of_mnist = task.get("base") == BASE_RATE and not task.get("data")
    if of_mnist and model.n_visible != PIXELS["mnist"]:
        return (
            f"it has {model.n_visible} visible units, and the base 'base rate' is that of MNIST: "
            "name training data of the model (data: FILE.npy), or take 'base: mean field'"
        )
    if model.n_visible != PIXELS.get(task["test_set"], model.n_visible):
        wanted = f"the test set {task['test_set']!r} {PIXELS[task['test_set']]} pixels"
        return f"it has {model.n_visible} visible units, and {wanted}"
    return None
