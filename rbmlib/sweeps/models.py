"""Models of a task, where their paths begin, and the vectors whose likelihood is wanted."""

from __future__ import annotations

import hashlib
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .. import datasets
from ..estimators.exact import MAX_UNITS, can_enumerate
from ..models import testsystems
from ..paths.bases import base_rate

BASES = {
    "base rate": lambda rbm: base_rate(datasets.load_mnist().train),
    "own biases": lambda rbm: rbm.visible_bias,
    "mean field": lambda rbm: "mean_field",
    "uniform": lambda rbm: np.zeros(rbm.n_visible),
}
TEST_SETS: dict[str, Any] = {
    "none": None,
    "course": datasets.load_course_test,
    "mnist": lambda: datasets.load_mnist().test,
    "cifar10 subset": lambda: datasets.cifar10_scale()(datasets.load_cifar10().test),
    "cifar10": lambda: datasets.cifar10_scale()(datasets.load_cifar10(full=True).test),
}
MODELS = {  # made by a function; all others are read from files
    f"orthogonal {n}": partial(testsystems.orthogonal_leaky_rbm, 3072, n) for n in (5, 10, 20, 30)
} | {"two gaussians": testsystems.two_gaussians}


def check_models(tasks) -> None:
    """Every model that is named can be read here; the error says which cannot, and why."""
    enumerated = {task["model"] for task in tasks if task["estimator"] == "exact"}
    for name in sorted({task["model"] for task in tasks}):
        try:
            rbm = load_model(name)
            if name in enumerated and not can_enumerate(rbm, MAX_UNITS):
                raise ValueError(f"{rbm!r} has too many units for the estimator 'exact'")
        except (ValueError, OSError, RuntimeError) as error:
            raise ValueError(f"model is {name!r}: {error}") from None


def load_model(name: str):
    """A model made by a function, a registered one, or one from a file."""
    return MODELS[name]() if name in MODELS else datasets.load_rbm(name)


def model_digest(name: str | None) -> str:
    """SHA-256 of a model in a file of the user's: a name alone would not say which it is."""
    if name is None or name in datasets.register.RBMS or name in MODELS:
        return ""
    try:
        file = Path(name).expanduser()
        if file.exists() and not file.is_file():  # a device never ends
            raise ValueError(
                f"model is {name!r}, which is no regular file: expected an .npz or .mat"
            )
        with file.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    except OSError as error:
        raise ValueError(
            f"model is {name!r}: {error.strerror}; expected a registered name "
            "(python -m rbmlib data), or a file"
        ) from None
