"""Model files of this library, and the identification of parameters in files of other programs.

This library writes .npz files that name the kind of each layer. Files of earlier versions hold
``leakiness`` or no such entry. `hdf5` reads HDF5 files of programs that name their layers.

Names identify the arrays of other programs in an .npz, .mat or .h5 file or in a state dict; case,
dots, underscores and prefixes such as "rbm." are ignored. Ambiguous names are not guessed: "a" and
"b" are the visible and the hidden bias in some programs, and the reverse in others. An additional
array may belong to another model, so it is refused unless the caller names the three parameters.
Both layers are `Binary` unless the caller or an entry ``units`` says otherwise. Nothing in a file
is executed.
"""

import contextlib
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .. import checks
from ..files import read_arrays
from . import hdf5
from .layers import KINDS, UNITS

Names = dict[str, str] | str | None
SIDES = ("visible", "hidden")
PARAMETERS = ("weights", "visible_bias", "hidden_bias")
LAYOUTS = ("visible_hidden", "hidden_visible")

_BIAS = "({0}|{1})(b|bias|biases)|(b|bias|intercept)({0}|{1})|{1}|parameter{2}"
ROLES = {  # patterns of normalised names
    "weights": "w|weights?|w?vishid|wvh|wv|components|couplings|parameterw",
    "visible_bias": _BIAS.format("v", "vis|visible", "b"),
    "hidden_bias": _BIAS.format("h", "hid|hidden", "a"),
}
SKLEARN = ("components_", "intercept_visible_", "intercept_hidden_")
# the layout that a program implies by the name of its weights
LAYOUT_OF = {"parameterw": LAYOUTS[0], "vishid": LAYOUTS[0], "components": LAYOUTS[1]}
HDF5 = (".h5", ".hdf5", ".hdf")
SUFFIXES = (".npz", ".mat", *HDF5)
TORCH = "import torch, rbmlib as rl; rl.from_state_dict(torch.load({!r}, weights_only=True){})"
PICKLE = "import joblib, rbmlib as rl; rl.BernoulliRBM.from_sklearn(joblib.load({!r}))"

# which array is which ------------------------------------------------------------------------


def _endings(key: str) -> list[str]:
    """Return the normalised name and its remainders without prefixes, longest first."""
    parts = re.split(r"[./:]|__+", re.sub(r":\d+$", "", key))  # TensorFlow names end in ":0"
    return [re.sub(r"[^a-z0-9]", "", "".join(parts[i:]).lower()) for i in range(len(parts))]


def _role(key: str) -> str | None:
    spelt = ((role, end) for end in _endings(key) for role in ROLES)
    return next((role for role, end in spelt if re.fullmatch(ROLES[role], end)), None)


def told(arrays: Mapping, names: Names, what: str) -> dict[str, str]:
    """Return the keys of weights and biases, from ``names`` or by the names of the arrays.

    Raises ValueError, with the keys and a remedy, if the three parameters cannot be identified.
    """
    keys = [key for key in arrays if key != "units"]
    held = f"{what} holds {', '.join(map(repr, keys[:12])) or 'nothing'}"
    if isinstance(names, str):
        names = dict(part.partition("=")[::2] for part in names.split(","))
    if names is not None:
        fits = isinstance(names, Mapping) and {*names} == {*PARAMETERS}
        if not fits or len({*names.values()} & {*keys}) < len(PARAMETERS):
            meaning = f"{', '.join(PARAMETERS)}, each with a different key of the file"
            raise ValueError(f"names is {names!r:.100}: expected {meaning}; {held}")
        return dict(names)
    roles = [_role(key) for key in keys]
    found = {r: keys[roles.index(r)] if roles.count(r) == 1 else "..." for r in PARAMETERS}
    unclear = [role for role, key in found.items() if key == "..."]
    rest = [key for key in keys if key not in found.values()]
    if not unclear and not rest:
        return found
    sizes = np.shape(arrays.get(found["weights"], ""))  # most likely (n_visible, n_hidden)
    for role, n in zip(PARAMETERS[1:], sizes, strict=False):
        alike = [key for key in rest if math.prod(np.shape(arrays[key])) == n]
        if role in unclear and len(alike) == 1:
            found[role] = alike[0]
    held += f" (not identified by name: {', '.join(unclear)})" * bool(unclear)
    expected = "weights, visible_bias and hidden_bias, three plain arrays"
    if len(keys) < len(PARAMETERS):
        raise ValueError(f"{held}: expected {expected}; add zeros for biases that it lacks")
    raise ValueError(
        f"{held}: expected {expected}. A further array may belong to another model. If it does not,"
        f" say which are the three: names={found!r}, or --names "
        + ",".join(f"{role}={key}" for role, key in found.items())
    )


def arranged(weights, visible_bias, hidden_bias, layout: str | None):
    """Return weights (n_visible, n_hidden) and biases from arrays of either layout."""
    meaning = "two vectors of biases and a matrix of weights between them"
    given = zip(PARAMETERS, (weights, visible_bias, hidden_bias), strict=True)
    w, b, a = (checks.numeric(name, value, meaning) for name, value in given)
    if layout is None:
        if w.shape == (b.size, a.size) == (a.size, b.size):
            raise ValueError(
                f"weights is square, {b.size} x {b.size}, so the biases do not determine its "
                "layout: expected layout='visible_hidden' (one row per visible unit) or "
                "layout='hidden_visible' (one row per hidden unit, as in PyTorch)"
            )
        layout = LAYOUTS[w.shape == (a.size, b.size)]
    return w.T if checks.one_of("layout", layout, LAYOUTS) == LAYOUTS[1] else w, b, a


def parameters(weights, visible_bias, hidden_bias):
    """Return checked weights and biases; a bias of None becomes zero."""
    meaning = "(n_visible, n_hidden), one row per visible unit"
    w = checks.array("weights", weights, (None, None), meaning)
    if not w.size:
        raise ValueError(f"weights has shape {w.shape}: expected units in both layers")
    biases = []
    for name, value, n in zip(PARAMETERS[1:], (visible_bias, hidden_bias), w.shape, strict=True):
        value = np.zeros(n) if value is None else value
        meaning = f"({n},) (weights is {w.shape[0]} x {w.shape[1]}; is it transposed?)"
        biases.append(checks.array(name, value, (n,), meaning, flatten=True))
    return w, *biases


# files of this library ----------------------------------------------------------------------


def arrays_of(model, dtype) -> dict[str, Any]:
    """Return the arrays of a model file; ValueError if ``dtype`` cannot hold the parameters."""
    kind = np.dtype(object)
    with contextlib.suppress(TypeError):  # if dtype is not a type
        kind = np.dtype(dtype)
    if kind.kind != "f":
        raise ValueError(f"dtype is {dtype!r}: expected floating-point numbers, such as np.float64")
    with np.errstate(over="ignore"):
        arrays: dict[str, Any] = {name: getattr(model, name).astype(kind) for name in PARAMETERS}
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise ValueError(f"dtype is {kind}, which cannot hold {name}: expected np.float64")
    arrays["log_scale"] = model.log_scale
    for side in SIDES:
        layer = getattr(model, side)
        arrays[f"{side}_layer"] = type(layer).__name__
        for name in layer.parameters + layer.constants:
            arrays.setdefault(f"{side}_{name}", getattr(layer, name))
    return arrays


def parts_of(arrays: dict[str, Any]) -> tuple:
    """Return the visible layer, hidden layer, weights and log_scale from these arrays."""
    layers = []
    for side in SIDES:
        name = str(arrays[f"{side}_layer"])
        if name not in KINDS:
            known = f"one of {', '.join(KINDS)}; import the module that defines your kind first"
            raise ValueError(f"{side}_layer is {name!r}: expected {known}")
        kind = KINDS[name]
        values = [np.asarray(arrays[f"{side}_{n}"]) for n in kind.parameters + kind.constants]
        layers.append(kind(*(x if x.ndim else x.item() for x in values)))
    return *layers, arrays["weights"], arrays["log_scale"]


def _with_kinds(arrays: dict[str, Any]) -> dict[str, Any]:
    """Add the kinds of the layers to the arrays of a file of an earlier version."""
    if "leakiness" in arrays:
        kinds = {"visible_layer": "Gaussian", "hidden_layer": "LeakyReLU"}
        return arrays | kinds | {"hidden_above": 1.0, "hidden_below": arrays["leakiness"]}
    if {*arrays} == {*PARAMETERS, "log_scale"}:
        return arrays | {"visible_layer": "Binary", "hidden_layer": "Binary"}
    return arrays


# reading ------------------------------------------------------------------------------------


def read_model(path, made: Callable, layout, names, units) -> Any:
    """Read a model file; ``made`` makes a model of layers, weights and log_scale."""
    source, meaning = Path(path).expanduser(), f"one of {', '.join(SUFFIXES)}"
    if not source.is_file():
        held = f"no model file {str(path)!r}"
        raise FileNotFoundError(f"{held}: expected a file that exists, {meaning}")
    if (suffix := source.suffix.lower()) not in SUFFIXES:
        given = {"layout": layout, "names": names, "units": units}
        more = "".join(f", {name}={x!r}" for name, x in given.items() if x is not None)
        convert = PICKLE if suffix in (".pkl", ".pickle", ".joblib") else TORCH
        raise ValueError(
            f"path is {source.name}: expected {meaning}; a .npy holds one array, and "
            "rl.BernoulliRBM(W, b, a) makes a model of three. Other files may execute code: "
            "if you trust this one, convert it once by a line such as "
            f"{convert.format(str(source), more)}.save({str(source.with_suffix('.npz'))!r})"
        )
    try:
        own = hdf5.model_of(source) if suffix in HDF5 else None
        arrays = {} if own else _with_kinds(_arrays(source))
        if {"visible_layer", "hidden_layer"} <= {*arrays}:
            own = parts_of(arrays)
        model = made(own or of_foreign(arrays, source.name, layout, names, units))
    except KeyError as error:
        raise ValueError(f"cannot read {source.name}: it is damaged, {error} is missing") from None
    except ValueError as error:
        known = "" if source.name in str(error) else f"{source.name}: "
        raise ValueError(f"{known}{error}") from None
    if own and not (names is units is None and layout in (None, LAYOUTS[0])):
        held = f"{source.name} holds {model!r}, which specifies its layout and its units"
        raise ValueError(f"{held}: expected no layout, names or units; or save another model")
    return model


def of_foreign(arrays: Mapping, what: str, layout, names, units) -> tuple:
    """Return layers, weights and log_scale from arrays with the names of another program."""
    found = told(arrays, names, what)
    said = str(np.ravel(arrays.get("units", next(iter(UNITS))))[0])
    kind = UNITS[checks.one_of("units", said if units is None else units, UNITS)]
    known = LAYOUT_OF.get(_endings(found["weights"])[-1]) if names is None else None
    given = (arrays[found[name]] for name in PARAMETERS)
    w, b, a = parameters(*arranged(*given, layout or known))
    return kind(b), kind(a), w, 0.0


def _arrays(source: Path) -> dict[str, Any]:
    """Return the arrays at the top level of a file, by name."""
    try:
        if source.suffix.lower() == ".npz":
            return read_arrays(source)
        if source.suffix.lower() == ".mat":
            from scipy.io import loadmat

            return {k: x for k, x in loadmat(source).items() if not k.startswith("__")}
        with hdf5.opened(source) as file:
            return {key: x[()] for key, x in file.items() if hasattr(x, "shape")}
    except NotImplementedError:
        raise ValueError(f"{source.name}: matlab v7.3 files are HDF5; save with '-v7'") from None
    except Exception as error:  # reading a damaged file may raise anything
        raise ValueError(f"cannot read {source.name}: {error}") from None
