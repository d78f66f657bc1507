"""Files of models, and which array is which parameter in those of other programs.

Files of this library are .npz that name the kinds of their layers; those of earlier versions have
marks in their place: ``leakiness``, ``gaussian_visible``, or neither. HDF5 of programs that name
their layers is for `hdf5`. Arrays of others, in an .npz, a .mat, an .h5 or a state dict, are told
by their names, without case, dots, underscores and prefixes such as "rbm.". What a name leaves open
is not guessed: "a" and "b" are the visible and the hidden bias of some programs, and the reverse in
others. One array more is refused unless the caller names the three, as it may be a part of another
model. Weights and biases do not tell their units: both layers are `Bits` unless the caller or an
entry ``units`` says otherwise. Nothing in a file is executed.
"""

from __future__ import annotations

import contextlib
import math
import re
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .. import checks
from ..files import MAX_VALUES, read_npz
from . import hdf5
from .layers import KINDS, UNITS, WORD

SIDES = ("visible", "hidden")
PARAMETERS = ("weights", "visible_bias", "hidden_bias")
LAYOUTS = ("visible_hidden", "hidden_visible")

NAMES = {
    "weights": "w weight weights vishid parameterw components wvh wv wvishid couplings",
    "visible_bias": "vbias visiblebias vbiases visiblebiases bv bvisible bvis biasv biasvis "
    "biasvisible visbias visbiases vb visible vis interceptvisible parameterb",
    "hidden_bias": "hbias hiddenbias hbiases hiddenbiases bh bhidden bhid biash biashid "
    "biashidden hidbias hidbiases hb hidden hid intercepthidden parametera",
}
ROLE = {name: role for role, names in NAMES.items() for name in names.split()}
SKLEARN = ("components_", "intercept_visible_", "intercept_hidden_")
LAYOUT_OF = {  # weights whose name is that of one program
    "parameterw": "visible_hidden", "vishid": "visible_hidden", "components": "hidden_visible",
}  # fmt: skip
HDF5 = (".h5", ".hdf5", ".hdf")
CONVERTED_BY = {  # by lines of Python, for files that are not opened here: most can execute code
    (".pt", ".pth", ".ckpt", ".bin"): "import torch, rbmlib as rl; "
    "rl.from_state_dict(torch.load({0!r}, weights_only=True)).save({1!r})",
    (".pkl", ".pickle", ".joblib", ".sav"): "import joblib, rbmlib as rl; "
    "rl.BernoulliRBM.from_sklearn(joblib.load({0!r})).save({1!r})",
}

# which array is which ------------------------------------------------------------------------


def _endings(key: str) -> list[str]:
    """A name and what is left of it without prefixes, longest first, plainly spelt."""
    parts = re.split(r"[./:]|__+", re.sub(r":\d+$", "", key))  # TensorFlow's end in ":0"
    return [re.sub(r"[^a-z0-9]", "", "".join(parts[i:]).lower()) for i in range(len(parts))]


def told(keys: Iterable[str], names: Mapping | str | None, what: str) -> tuple[dict, str | None]:
    """The keys of weights and biases, ``names`` or told by their names; how the weights lie, if
    that of the weights tells.

    Raises ValueError, with all keys and what to do, unless ``what`` holds these three and no more.
    """
    keys = list(keys)
    if names is not None:
        if isinstance(names, str):
            names = dict(part.partition("=")[::2] for part in names.split(","))
        fits = isinstance(names, Mapping) and {*names} == {*PARAMETERS}
        if not fits or len({*names.values()} & {*keys}) < len(PARAMETERS):
            raise ValueError(
                f"names is {names!r:.100}: expected a dict of {', '.join(PARAMETERS)} and three "
                f"different keys of {what}, which holds {_listed(keys)}"
            )
        return dict(names), None
    roles = {key: next((ROLE[e] for e in _endings(key) if e in ROLE), None) for key in keys}
    of = {role: [key for key in keys if roles[key] == role] for role in PARAMETERS}
    found = {role: held[0] if len(held) == 1 else "..." for role, held in of.items()}
    unclear = [role for role, key in found.items() if key == "..."]
    rest = [key for key in keys if key not in found.values()]
    if unclear or rest:
        if len(unclear) == len(rest) == 1 and "bias" in rest[0].lower():
            found[unclear[0]] = rest[0]
        raise ValueError(
            f"{what} holds {_listed(keys)}"
            + (f", names that do not tell {', '.join(unclear)}" if unclear else "")
            + ": expected weights, visible_bias and hidden_bias, plain arrays and no more, as one "
            "more may be a part of another model (labels, a further layer, variances). If none is, "
            f"say which are the three: names={found!r}, or on the command line --names "
            + ",".join(f"{role}={key}" for role, key in found.items())
        )
    return found, LAYOUT_OF.get(_endings(found["weights"])[-1])


def _listed(keys: list[str], most: int = 12) -> str:
    more = f", and {len(keys) - most} more" if len(keys) > most else ""
    return (", ".join(map(repr, keys[:most])) + more) if keys else "nothing"


def arranged(weights, visible_bias, hidden_bias, layout: str | None):
    """Weights (n_visible, n_hidden) and biases of arrays in which W may lie either way."""
    meaning = "two vectors of biases and a matrix of weights between them"
    given = zip(PARAMETERS, (weights, visible_bias, hidden_bias), strict=True)
    w, b, a = (checks.numeric(name, value, meaning) for name, value in given)
    if layout is not None:
        checks.one_of("layout", layout, LAYOUTS)
    elif w.shape == (b.size, a.size) == (a.size, b.size):
        raise ValueError(
            f"weights is square, {b.size} x {b.size}, so that the biases cannot tell its "
            "layout: expected layout='visible_hidden' (one row a visible unit) or "
            "layout='hidden_visible' (one row a hidden unit, as PyTorch's)"
        )
    turned = w.shape == (a.size, b.size) != (b.size, a.size)
    return w.T if layout == "hidden_visible" or (layout is None and turned) else w, b, a


def parameters(weights, visible_bias, hidden_bias, *, optional: bool = False):
    """Weights and biases, whose shapes fit each other; ``optional`` biases are zero if None."""
    meaning = "(n_visible, n_hidden), one row a visible unit"
    w = checks.array("weights", weights, (None, None), meaning)
    if not w.size:
        raise ValueError(f"weights has shape {w.shape}: expected units in both layers")
    biases = []
    for name, value, n in zip(PARAMETERS[1:], (visible_bias, hidden_bias), w.shape, strict=True):
        value = np.zeros(n) if optional and value is None else value
        meaning = f"({n},) (weights is {w.shape[0]} x {w.shape[1]}; is it transposed?)"
        biases.append(checks.array(name, value, (n,), meaning, flatten=True))
    return w, *biases


# this library's own -------------------------------------------------------------------------


def arrays_of(model, dtype) -> dict[str, Any]:
    """What the file of a model holds; ValueError if ``dtype`` cannot hold its parameters."""
    meaning = "a type of floating-point numbers, such as np.float64"
    try:
        kind = np.dtype(dtype)
    except TypeError:
        raise ValueError(f"dtype is {dtype!r}: expected {meaning}") from None
    if kind.kind != "f":
        raise ValueError(f"dtype is {kind}, which would change the model: expected {meaning}")
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


def _kinds(names: set[str], unmarked) -> tuple[str, ...]:
    """The kinds of layers that a file of an earlier version does not name; none of others."""
    if "leakiness" in names:
        return "Normal", "Leaky"
    if "gaussian_visible" in names:
        return "Normal", "Bits"
    return tuple(k.__name__ for k in unmarked) if names == {*PARAMETERS, "log_scale"} else ()


# reading ------------------------------------------------------------------------------------


def read_model(path, made: Callable, layout, names, units, *, unmarked) -> Any:
    """The model that a file holds, ``made`` of layers, weights and log_scale.

    ``unmarked`` are the kinds of layers of a file of an earlier version that says nothing.
    """
    source = Path(path).expanduser()
    if not source.is_file():
        what = f"no model file {str(path)!r}: there is no such file"
        raise FileNotFoundError(f"{what}; expected the path of an .npz, .mat or .h5")
    for suffixes, line in CONVERTED_BY.items():
        if source.suffix.lower() in suffixes:
            raise ValueError(
                f"{source.name} is a {source.suffix} file, which rbmlib does not open (it could "
                "execute code, or needs another package). Of a state dict of units -1 and +1 add "
                f"units={WORD!r}; convert it once, in Python, if you "
                "trust it: " + line.format(str(source), str(source.with_suffix(".npz")))
            )
    if source.suffix.lower() not in OPENED:
        raise ValueError(
            f"{source.name} is no {', '.join(OPENED)}: cannot read a model from it; of arrays "
            f"rl.BernoulliRBM(W, b, a).save({str(source.with_suffix('.npz'))!r}) makes one"
        )
    try:
        parts, ours = _parts(source, layout, names, units, unmarked)
        model = made(parts)
        if ours and not (names is units is None and layout in (None, LAYOUTS[0])):
            kind = UNITS[WORD].__name__
            raise ValueError(
                f"{source.name} holds {model!r}, which says how its arrays lie and what its units "
                "are: expected no layout, names or units; if they are others, save another model, "
                f"such as rl.RBM(rl.{kind}(m.visible_bias), rl.{kind}(m.hidden_bias), m.weights)"
            )
    except KeyError as error:
        raise ValueError(f"cannot read {source.name}: it is damaged, without {error}") from None
    except ValueError as error:
        known = "" if source.name in str(error) else f"{source.name}: "
        raise ValueError(f"{known}{error}") from None
    return model


def _parts(source: Path, layout, names, units, unmarked) -> tuple[tuple, bool]:
    """Layers, weights and log_scale of a file, and whether it names the kinds of its layers."""
    suffix = source.suffix.lower()
    if suffix in HDF5:
        with hdf5.opened(source) as file:
            if found := hdf5.model_of(file):
                return found, True
    with _told_of(source):
        keys, read = OPENED[suffix](source)
    kinds = _kinds({*keys}, unmarked)
    if kinds or {"visible_layer", "hidden_layer"} <= {*keys}:
        with _told_of(source):
            arrays = read(keys)
        arrays |= {f"{side}_layer": kind for side, kind in zip(SIDES, kinds, strict=False)}
        if "leakiness" in arrays:
            arrays |= {"hidden_above": 1.0, "hidden_below": arrays["leakiness"]}
        return parts_of(arrays), True
    return of_foreign(keys, _told_of(source)(read), source.name, layout, names, units), False


def of_foreign(keys, read: Callable, what: str, layout, names, units) -> tuple:
    """Layers, weights and log_scale of arrays that another program has named."""
    found, known = told([key for key in keys if key != "units"], names, what)
    arrays = read([*found.values(), *({"units"} & {*keys})])
    said = str(np.ravel(arrays.get("units", next(iter(UNITS))))[0])
    kind = UNITS[checks.one_of("units", said if units is None else units, UNITS)]
    given = (arrays[found[name]] for name in PARAMETERS)
    w, b, a = parameters(*arranged(*given, layout or known))
    return kind(b), kind(a), w, 0.0


@contextlib.contextmanager
def _told_of(source: Path):
    """Whatever goes wrong inside is a damaged file: the readers fail in many ways."""
    try:
        yield
    except Exception as error:
        if isinstance(error, NotImplementedError):
            error = "it is of MATLAB 7.3: in MATLAB save it with -v7"
        raise ValueError(
            f"cannot read {source.name}: the file is damaged, or not an array file ({error})"
        ) from None


def _npz(source: Path):
    """Names of the arrays of a file, and what reads some of them."""
    with zipfile.ZipFile(source) as archive:
        keys = [name.removesuffix(".npy") for name in archive.namelist()]
    return keys, lambda wanted: read_npz(source, wanted)


def _mat(source: Path):
    """Arrays at the top of the file; in structs and cells there may be several models."""
    from scipy.io import loadmat, whosmat

    nested = ("struct", "cell", "object")
    shapes = {f"{kind} {name}" if kind in nested else name: shape
              for name, shape, kind in whosmat(source)}  # fmt: skip

    def read(wanted):
        for key in wanted:
            if math.prod(shapes[key]) > MAX_VALUES:
                raise ValueError(
                    f"{key} has shape {shapes[key]}: expected at most {MAX_VALUES:,} values"
                )
        content = loadmat(source, variable_names=wanted)
        return {key: content[key] for key in wanted}

    return list(shapes), read


def _hdf5(source: Path):
    """Arrays at the top of the file."""

    def read(wanted):
        with hdf5.opened(source) as file:
            return {key: hdf5.read(file, key) for key in wanted}

    with hdf5.opened(source) as file:
        return [key for key, value in file.items() if hasattr(value, "shape")], read


OPENED: dict[str, Callable[[Path], tuple[list[str], Callable]]] = {".npz": _npz, ".mat": _mat}
OPENED |= dict.fromkeys(HDF5, _hdf5)
