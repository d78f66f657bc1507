"""Models of a task, where their paths begin, and the vectors whose likelihood is wanted."""

from __future__ import annotations

import hashlib
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rbmlib import datasets
from rbmlib._validation import one_of
from rbmlib.models import BernoulliRBM, testsystems
from rbmlib.paths.bases import base_rate

BASE_RATE = "base rate"
BASES = {
    BASE_RATE: lambda rbm: base_rate(datasets.load_mnist().train),
    "own biases": lambda rbm: rbm.visible_bias,
    "own biases, both layers": lambda rbm: without_weights(rbm),
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
MODELS: dict[str, Any] = {  # made by a function; all others are read from files
    f"orthogonal {n}": partial(testsystems.orthogonal_leaky_rbm, 3072, n) for n in (5, 10, 20, 30)
} | {
    "two gaussians": testsystems.two_gaussians,
    "two phases": lambda: testsystems.first_order_rbm()[0],
    "untrained 12 x 6": partial(testsystems.random_rbm, 12, 6, coupling=0.05, rng=0),
}


def without_weights(rbm: BernoulliRBM) -> BernoulliRBM:
    """The target with its weights at zero: the base of its own biases, hidden ones too."""
    return BernoulliRBM(0 * rbm.weights, rbm.visible_bias, rbm.hidden_bias)


def biases(rbm, base: str, data: str = ""):
    """The base of the word ``base``, as paths take it; the base rate is MNIST's, or a file's."""
    if data and base == BASE_RATE:
        return base_rate(datasets.load_rows(data, rbm.n_visible))
    return BASES[one_of("base", base, BASES)](rbm)


def load_model(name: str):
    """A model made by a function, a registered one, or one from a file."""
    return MODELS[name]() if name in MODELS else datasets.load_rbm(name)


def model_digest(name: str | None) -> str:
    """SHA-256 of a model in a file of the user's: a name alone would not say which it is."""
    if name is None or name in datasets.register.RBMS or name in MODELS:
        return ""
    registered = "a registered name (python -m rbmlib data)"
    return file_digest("model", name, "an .npz or .mat", registered)


def file_digest(setting: str, name: str, kinds: str, *others: str) -> str:
    """SHA-256 of the file that a setting names."""
    try:
        file = Path(name).expanduser()
        if file.exists() and not file.is_file():  # a device never ends
            raise ValueError(f"{setting} is {name!r}, which is no regular file: expected {kinds}")
        with file.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    except OSError as error:
        expected = ", or ".join([*others, "a file"])
        raise ValueError(f"{setting} is {name!r}: {error.strerror}; expected {expected}") from None
