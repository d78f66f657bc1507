"""Files of models: .npz of this library, and .mat of published RBMs. Nothing is executed."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from .._files import MAX_VALUES, read_npz, rounded, write_npz
from .._validation import PARAMETERS

MAT_KEYS = (
    ("parameter_W", "parameter_b", "parameter_a"),
    ("vishid", "visbiases", "hidbiases"),
)
UNMARKED = ""  # the mark of Bernoulli RBMs
KINDS: dict = {}  # of models by the marks of their files; each enters itself


def save_model(model, path, dtype) -> None:
    """Write an .npz of weights, biases and ``model.numbers``, and the flags of its kind."""
    arrays = rounded({name: getattr(model, name) for name in PARAMETERS}, dtype)
    numbers = {name: getattr(model, name) for name in model.numbers}
    try:
        type(model)(**arrays, **numbers)
    except ValueError as error:
        raise ValueError(
            f"dtype is {np.dtype(dtype)}: rounded to it, {error}; or use dtype=np.float64"
        ) from None
    write_npz(path, arrays | numbers | dict.fromkeys(model.flags, True))


def kind_of_file(path: Path) -> type | None:
    """The kind of model whose mark the file has; of several, the one of most parameters."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = {name.removesuffix(".npy") for name in archive.namelist()}
    except (OSError, zipfile.BadZipFile):
        return None
    marked = [kind for mark, kind in KINDS.items() if mark in names]
    return max(marked, key=lambda kind: len(kind.numbers), default=None)


def load_model(path):
    """The model of any kind that a file holds, as its mark says."""
    return (kind_of_file(path) or KINDS[UNMARKED]).load(path)


def load_gaussian_visible(path) -> Any:
    """The LeakyRBM or GaussianRBM that `LeakyRBM.save` or `GaussianRBM.save` wrote.

    Raises ValueError if the file holds no such model. Nothing in it is executed (no pickle).
    """
    kind = kind_of_file(path) or KINDS["gaussian_visible"]
    try:
        arrays = read_npz(path, (*PARAMETERS, *kind.numbers))
        weights, *biases = (arrays.pop(name) for name in PARAMETERS)
        numbers = {name: float(value) for name, value in arrays.items()}
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"{Path(path).name} holds no model with Gaussian visible units ({error}): expected "
            "an .npz of LeakyRBM.save or GaussianRBM.save"
        ) from None
    return kind(weights, *biases, **numbers)


def load_bernoulli(path) -> Any:
    """The BernoulliRBM of `BernoulliRBM.save`, or of a MATLAB .mat file of a published RBM."""
    source, kind = Path(path), KINDS[UNMARKED]
    if not source.is_file():
        raise FileNotFoundError(f"no model file {str(path)!r}: expected a path to .npz or .mat")
    readers = {".npz": _read_npz, ".mat": _read_mat}
    if source.suffix not in readers:
        raise ValueError(f"{source.name} is neither .npz nor .mat: cannot read a model from it")
    if kind_of_file(source):
        raise ValueError(
            f"{source.name} holds a model with Gaussian visible units: expected a Bernoulli "
            "RBM; rl.load_rbm reads both"
        )
    try:
        arrays = readers[source.suffix](source)
    except Exception as error:  # damaged files fail in many ways inside the readers
        raise ValueError(
            f"cannot read {source.name}: the file is damaged, or not an array file ({error})"
        ) from None
    if arrays is None:
        raise ValueError(
            f"{source.name} holds no RBM: expected the arrays weights, visible_bias and "
            f"hidden_bias (.npz), or {' or '.join(', '.join(keys) for keys in MAT_KEYS)} "
            "(.mat); a model of scikit-learn: BernoulliRBM.from_sklearn(model).save(file)"
        )
    return kind(*arrays[:3], log_scale=arrays[3])


def _read_npz(path: Path):
    found = read_npz(path, (*PARAMETERS, "log_scale"))
    if not set(PARAMETERS) <= set(found):
        return None
    return *(found[name] for name in PARAMETERS), found.get("log_scale", 0.0)


def _read_mat(path: Path):
    from scipy.io import loadmat, whosmat

    shapes = {name: shape for name, shape, _ in whosmat(path)}
    for keys in MAT_KEYS:
        if set(keys) <= set(shapes):
            for key in keys:
                if math.prod(shapes[key]) > MAX_VALUES:
                    raise ValueError(
                        f"{key} has shape {shapes[key]}: expected at most {MAX_VALUES:,} values"
                    )
            content = loadmat(path, variable_names=keys)
            return (*(content[key].astype(float) for key in keys), 0.0)
    return None
