"""Files of models: .npz of this library, and .mat of published RBMs. Nothing is executed."""

from __future__ import annotations

import contextlib
import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from .._validation import PARAMETERS
from ..files import MAX_VALUES, read_npz, rounded, write_npz
from .names import LAYOUTS, Found, chosen, find

MAT_KEYS = (  # of published models, whose files may hold other things too
    ("parameter_W", "parameter_b", "parameter_a"),
    ("vishid", "visbiases", "hidbiases"),
)
READ = (".npz", ".mat")
_TORCH = "import torch, rbmlib as rl; rl.BernoulliRBM.from_state_dict(torch.load({0!r}, weights_only=True)).save({1!r})"  # noqa: E501
_PICKLE = (
    "import joblib, rbmlib as rl; rl.BernoulliRBM.from_sklearn(joblib.load({0!r})).save({1!r})"
)
_HDF5 = "import h5py, rbmlib as rl; rl.BernoulliRBM.from_state_dict({{k: v[()] for k, v in h5py.File({0!r}).items()}}).save({1!r})"  # noqa: E501
CONVERTED_BY = (  # a line of Python, for files that are not opened here: most can execute code
    dict.fromkeys((".pt", ".pth", ".ckpt", ".bin"), _TORCH)
    | dict.fromkeys((".pkl", ".pickle", ".joblib", ".sav"), _PICKLE)
    | dict.fromkeys((".h5", ".hdf5", ".hdf"), _HDF5)
)
UNMARKED = ""  # the mark of Bernoulli RBMs
KINDS: dict = {}  # of models by the marks of their files; each enters itself


def kinds() -> dict[str, type]:
    """All kinds of models by their marks, whatever was imported before."""
    from . import bernoulli, gaussian, leaky  # noqa: F401

    return KINDS


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
    marked = [kind for mark, kind in kinds().items() if mark in names]
    return max(marked, key=lambda kind: len(kind.numbers), default=None)


def load_model(path, layout: str | None = None, names: dict[str, str] | None = None):
    """The model of any kind that a file holds, as its mark says."""
    kind = kind_of_file(path)
    if kind is None:
        return load_bernoulli(path, layout, names)
    if layout is not None or names is not None:
        raise ValueError(f"{Path(path).name} holds a {kind.__name__}, which says how its arrays "
                         "lie: expected neither layout nor names")  # fmt: skip
    return kind.load(path)


def refuse_other_programs(path: Path) -> None:
    """Raises ValueError, with the line that converts the file, for one that is not opened here."""
    line = CONVERTED_BY.get(path.suffix.lower())
    if line:
        raise ValueError(
            f"{path.name} is a {path.suffix} file, which rbmlib does not open (it could execute "
            "code, or needs another package): convert it once, in Python, if you trust it: "
            + line.format(str(path), str(path.with_suffix(".npz")))
        )


def load_gaussian_visible(path) -> Any:
    """The LeakyRBM or GaussianRBM that `LeakyRBM.save` or `GaussianRBM.save` wrote.

    Raises ValueError if the file holds no such model. Nothing in it is executed (no pickle).
    """
    kind = kind_of_file(path) or kinds()["gaussian_visible"]
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


def load_bernoulli(path, layout: str | None = None, names: dict[str, str] | None = None) -> Any:
    """The BernoulliRBM of `BernoulliRBM.save`, or of an .npz or .mat file of another program."""
    source, kind = Path(path), kinds()[UNMARKED]
    if not source.is_file():
        raise FileNotFoundError(f"no model file {str(path)!r}: expected a path to .npz or .mat")
    refuse_other_programs(source)
    if source.suffix not in READ:
        raise ValueError(f"{source.name} is neither .npz nor .mat: cannot read a model from it")
    if kind_of_file(source):
        raise ValueError(
            f"{source.name} holds a model with Gaussian visible units: expected a Bernoulli "
            "RBM; rl.load_rbm reads both"
        )
    with _told_of(source):
        shapes = _shapes(source)
    ours = {*PARAMETERS, "log_scale"} <= set(shapes)
    if ours and layout in (None, LAYOUTS[0]) and names is None:
        with _told_of(source):
            arrays = read_npz(source, (*PARAMETERS, "log_scale"))
        return kind(*(arrays[name] for name in PARAMETERS), log_scale=arrays["log_scale"])
    found = _found(source, list(shapes), names)
    with _told_of(source):
        arrays = _arrays(source, list(found.keys.values()), shapes)
    try:
        parts = {role: arrays[key] for role, key in found.keys.items()}
        return kind.from_arrays(**parts, layout=layout or found.layout)
    except ValueError as error:
        option = "; on the command line --layout" if "its layout" in str(error) else ""
        raise ValueError(f"{source.name}: {error}{option}") from None


def _found(source: Path, keys: list[str], names) -> Found:
    if names is not None:
        return chosen(names, keys, source.name)
    published = [triple for triple in MAT_KEYS if set(triple) <= set(keys)]
    if source.suffix == ".mat" and published:
        keys = list(published[0])
    return find(keys, strict=True, what=source.name)


@contextlib.contextmanager
def _told_of(source: Path):
    """Whatever goes wrong inside is a damaged file: the readers fail in many ways."""
    try:
        yield
    except Exception as error:
        newer = isinstance(error, NotImplementedError)  # MATLAB 7.3 writes HDF5
        advice = "; in MATLAB, save it with -v7" if newer else ""
        raise ValueError(
            f"cannot read {source.name}: the file is damaged, or not an array file "
            f"({error}{advice})"
        ) from None


def _shapes(source: Path) -> dict[str, Any]:
    """Names of the arrays of a file, and their shapes where these are told without reading."""
    if source.suffix == ".npz":
        with zipfile.ZipFile(source) as archive:
            return dict.fromkeys(name.removesuffix(".npy") for name in archive.namelist())
    from scipy.io import whosmat

    return {name: shape for name, shape, _ in whosmat(source)}


def _arrays(source: Path, keys: list[str], shapes: dict[str, Any]) -> dict[str, np.ndarray]:
    if source.suffix == ".npz":
        return read_npz(source, keys)
    from scipy.io import loadmat

    for key in keys:
        if math.prod(shapes[key]) > MAX_VALUES:
            raise ValueError(
                f"{key} has shape {shapes[key]}: expected at most {MAX_VALUES:,} values"
            )
    content = loadmat(source, variable_names=keys)
    return {key: content[key].astype(float) for key in keys}
