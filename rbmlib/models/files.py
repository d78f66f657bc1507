"""Readers of model files: .npz of this library, and .mat of published RBMs. Nothing is executed."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path

from .._files import MAX_VALUES, read_npz
from .._validation import (
    PARAMETERS,
)

MAT_KEYS = (
    ("parameter_W", "parameter_b", "parameter_a"),
    ("vishid", "visbiases", "hidbiases"),
)


def holds_gaussian_visible(path: Path) -> bool:
    """Whether the file is one of `LeakyRBM.save` or `GaussianRBM.save`."""
    if path.suffix != ".npz" or not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return bool({"gaussian_visible.npy", "leakiness.npy"} & set(archive.namelist()))


def read_rbm_npz(path: Path):
    found = read_npz(path, (*PARAMETERS, "log_scale"))
    if not set(PARAMETERS) <= set(found):
        return None
    return *(found[name] for name in PARAMETERS), found.get("log_scale", 0.0)


def read_rbm_mat(path: Path):
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
