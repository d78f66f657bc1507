"""Readers of model files: .npz of this library, and .mat of published RBMs. Nothing is executed."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np

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


def read_npz(path: Path):
    with np.load(path, allow_pickle=False) as archive:
        if not {"weights", "visible_bias", "hidden_bias"} <= set(archive.files):
            return None
        scale = archive["log_scale"] if "log_scale" in archive.files else 0.0
        return archive["weights"], archive["visible_bias"], archive["hidden_bias"], scale


def read_mat(path: Path):
    from scipy.io import loadmat

    content = loadmat(path)
    for keys in MAT_KEYS:
        if set(keys) <= set(content):
            return (*(content[key].astype(float) for key in keys), 0.0)
    return None
