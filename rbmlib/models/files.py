"""Files of models: .npz that name the kinds of their layers, and .npz or .mat of other programs.

Nothing in a file is executed. Files of earlier versions, which have marks in place of the names of
layers, are read too: ``leakiness``, ``gaussian_visible``, or neither.
"""

from __future__ import annotations

import contextlib
import math
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..files import MAX_VALUES, read_npz, rounded, write_npz  # noqa: F401
from .layers import KINDS, Bits
from .names import LAYOUTS, PARAMETERS, arranged, parameters, told

SIDES = ("visible", "hidden")
MAT_KEYS = (  # of published models, whose files may hold other things too
    ("parameter_W", "parameter_b", "parameter_a"),
    ("vishid", "visbiases", "hidbiases"),
)
STATE = "rl.BernoulliRBM.from_state_dict"
CONVERTED_BY = {  # by lines of Python, for files that are not opened here: most can execute code
    (".pt", ".pth", ".ckpt", ".bin"): "import torch, rbmlib as rl; "
    f"{STATE}(torch.load({{0!r}}, weights_only=True)).save({{1!r}})",
    (".pkl", ".pickle", ".joblib", ".sav"): "import joblib, rbmlib as rl; "
    "rl.BernoulliRBM.from_sklearn(joblib.load({0!r})).save({1!r})",
    (".h5", ".hdf5", ".hdf"): "import h5py, rbmlib as rl; "
    f"{STATE}({{{{k: v[()] for k, v in h5py.File({{0!r}}).items()}}}}).save({{1!r}})",
}

# our own ------------------------------------------------------------------------------------


def arrays_of(model, dtype) -> dict[str, Any]:
    """What the file of a model holds; ValueError if ``dtype`` cannot hold its parameters."""
    arrays = rounded({name: getattr(model, name) for name in PARAMETERS}, dtype)
    arrays["log_scale"] = model.log_scale
    for side in SIDES:
        layer = getattr(model, side)
        arrays[f"{side}_layer"] = type(layer).__name__
        for name in layer.parameters + layer.constants:
            arrays.setdefault(f"{side}_{name}", getattr(layer, name))
    return arrays


def parts_of(arrays: dict[str, Any]) -> tuple:
    """Visible and hidden layer, weights and log_scale of such arrays."""
    layers = []
    for side in SIDES:
        name = str(arrays[f"{side}_layer"])
        if name not in KINDS:
            raise ValueError(
                f"it holds {side} units of the kind {name!r}, which no class here is: expected "
                f"one of {', '.join(KINDS)}; import the module that defines yours, then load it"
            )
        kind = KINDS[name]
        values = [np.asarray(arrays[f"{side}_{n}"]) for n in kind.parameters + kind.constants]
        layers.append(kind(*(x if x.ndim else x.item() for x in values)))
    return *layers, arrays["weights"], arrays["log_scale"]


def marks_of(names: set[str], unmarked) -> dict[str, Any] | None:
    """What the file of an earlier version leaves out; None if these are no arrays of this library.

    ``unmarked`` are the kinds of layers of a file that says nothing.
    """
    if {"visible_layer", "hidden_layer"} <= names:
        return {}
    kinds = tuple(kind.__name__ for kind in unmarked) if names == {*PARAMETERS, "log_scale"} else ()
    if "gaussian_visible" in names or "leakiness" in names:
        kinds = "Normal", "Leaky" if "leakiness" in names else "Bits"
    return (
        {f"{side}_layer": kind for side, kind in zip(SIDES, kinds, strict=True)} if kinds else None
    )


# reading ------------------------------------------------------------------------------------


def read_model(path, made: Callable, layout: str | None, names: Mapping | None, *, unmarked) -> Any:
    """The model that a file holds, ``made`` of layers, weights and log_scale."""
    source = Path(path)
    if not source.is_file():
        raise FileNotFoundError(f"no model file {str(path)!r}: expected a path to .npz or .mat")
    refuse_other_programs(source)
    if source.suffix not in (".npz", ".mat"):
        raise ValueError(f"{source.name} is neither .npz nor .mat: cannot read a model from it")
    with _told_of(source):
        shapes = _shapes(source)
    marks = marks_of(set(shapes), unmarked)
    try:
        ours = marks is not None
        model = made(_own(source, marks) if ours else _others(source, shapes, layout, names))
        if ours and (names is not None or layout not in (None, LAYOUTS[0])):
            raise ValueError(
                f"{source.name} holds a {type(model).__name__}, which says how its arrays lie: "
                "expected neither layout nor names"
            )
    except ValueError as error:
        option = "; on the command line --layout" if "its layout" in str(error) else ""
        known = "" if source.name in str(error) else f"{source.name}: "
        raise ValueError(f"{known}{error}{option}") from None
    return model


def _own(source: Path, marks: dict[str, Any]) -> tuple:
    """Parts of a file of this library, whatever arrays a layer has."""
    of_layers = {n for kind in KINDS.values() for n in kind.parameters + kind.constants}
    known = {f"{side}_{n}" for side in SIDES for n in ("layer", *of_layers)}
    with _told_of(source):
        arrays: dict[str, Any] = read_npz(source, {*known, "weights", "log_scale", "leakiness"})
    if "leakiness" in arrays:
        arrays |= {"hidden_above": 1.0, "hidden_below": arrays["leakiness"]}
    try:
        return parts_of(arrays | marks)
    except KeyError as error:
        raise ValueError(f"cannot read {source.name}: it is damaged, without {error}") from None


def _others(source: Path, shapes: dict, layout: str | None, names) -> tuple:
    """Parts of an RBM of bits of another program."""
    keys = list(shapes)
    published = [triple for triple in MAT_KEYS if set(triple) <= set(keys)]
    if names is None and source.suffix == ".mat" and published:
        keys = list(published[0])
    found = told(keys, names, source.name)
    with _told_of(source):
        arrays = _arrays(source, list(found.keys.values()), shapes)
    given = (arrays[found.keys[role]] for role in PARAMETERS)
    w, b, a = parameters(*arranged(*given, layout or found.layout))
    return Bits(b), Bits(a), w, 0.0


def refuse_other_programs(path: Path) -> None:
    """Raises ValueError, with the line that converts the file, for one that is not opened here."""
    for suffixes, line in CONVERTED_BY.items():
        if path.suffix.lower() in suffixes:
            raise ValueError(
                f"{path.name} is a {path.suffix} file, which rbmlib does not open (it could "
                "execute code, or needs another package): convert it once, in Python, if you "
                "trust it: " + line.format(str(path), str(path.with_suffix(".npz")))
            )


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
