"""Files of models, and which array is which parameter in those of other programs.

Files of this library are .npz that name the kinds of their layers; those of earlier versions have
marks in their place: ``leakiness``, ``gaussian_visible``, or neither. HDF5 of programs that name
their layers is for `hdf5`. Arrays of others, in an .npz, a .mat, an .h5 or a state dict, are told
by their names, without case, dots, underscores and prefixes such as "rbm.". What a name leaves open
is not guessed: "a" and "b" are the visible and the hidden bias of some programs, and the reverse in
others. Nothing in a file is executed.
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
from . import hdf5, protein_motif
from .layers import KINDS, Bits

SIDES = ("visible", "hidden")
PARAMETERS = ("weights", "visible_bias", "hidden_bias")
LAYOUTS = ("visible_hidden", "hidden_visible")

NAMES = {
    "weights": "w weight weights vishid parameterw components wvh wv wvishid couplings",
    "visible_bias": "vbias visiblebias vbiases visiblebiases bv bvisible bvis biasv biasvis "
    "biasvisible visbias visbiases vb visible vis interceptvisible parameterb",
    "hidden_bias": "hbias hiddenbias hbiases hiddenbiases bh bhidden bhid biash biashid "
    "biashidden hidbias hidbiases hb hidden hid intercepthidden parametera",
    "either bias": "a b c bias biases",  # the one that is left when the other is told by name
}
ROLE = {name: role for role, names in NAMES.items() for name in names.split()}
PAIR = {"b": "visible_bias", "c": "hidden_bias"}  # only together
SKLEARN = ("components_", "intercept_visible_", "intercept_hidden_")
PROGRAMS = {  # whose names are their own: how weights lie; their files may hold other things too
    ("parameter_W", "parameter_b", "parameter_a"): "visible_hidden",
    ("vishid", "visbiases", "hidbiases"): "visible_hidden",
    SKLEARN: "hidden_visible",
}
ASIDE = {"alpha", "momentum", "sizes"}  # in the structs of DeepLearnToolbox
STEPS = {"vW": "W", "vb": "b", "vc": "c"}  # the last steps of these, where a struct holds both
STATE = "rl.BernoulliRBM.from_state_dict"
HDF5 = (".h5", ".hdf5", ".hdf")
CONVERTED_BY = {  # by lines of Python, for files that are not opened here: most can execute code
    (".pt", ".pth", ".ckpt", ".bin"): "import torch, rbmlib as rl; "
    f"{STATE}(torch.load({{0!r}}, weights_only=True)).save({{1!r}})",
    (".pkl", ".pickle", ".joblib", ".sav"): "import joblib, rbmlib as rl; "
    "rl.BernoulliRBM.from_sklearn(joblib.load({0!r})).save({1!r})",
}
MATLAB_7_3 = (
    "import h5py, rbmlib as rl; "
    f"{STATE}({{{{k: v[()] for k, v in h5py.File({{0!r}}).items()}}}}).save({{1!r}})"
)

# which array is which ------------------------------------------------------------------------


def _endings(key: str) -> list[str]:
    """A name and what is left of it without prefixes, longest first, plainly spelt."""
    parts = re.split(r"[./:]|__+", key)
    return [re.sub(r"[^a-z0-9]", "", "".join(parts[i:]).lower()) for i in range(len(parts))]


def told(keys: Iterable[str], names: Mapping | None, what: str) -> tuple[dict, str | None]:
    """The keys of weights and biases, ``names`` or told by their names; how the weights lie, if
    that of the weights tells.

    Raises ValueError if ``what`` holds keys that are none of the three, one is missing or two could
    be it: it lists all keys, and what to do.
    """
    keys = list(keys)
    if names is not None:
        fits = isinstance(names, Mapping) and {*names} == {*PARAMETERS}
        if not fits or len({*names.values()} & {*keys}) < len(PARAMETERS):
            raise ValueError(
                f"names is {names!r:.100}: expected a dict of {', '.join(PARAMETERS)} and three "
                f"different keys of {what}, which holds {_listed(keys)}"
            )
        return dict(names), None
    keys = next((list(program) for program in PROGRAMS if {*program} <= {*keys}), keys)
    last = {key: _endings(key)[-1] for key in keys}
    role = {key: next((ROLE[e] for e in _endings(key) if e in ROLE), "unknown") for key in keys}
    left = [key for key in keys if role[key] == "either bias"]
    missing = [bias for bias in PARAMETERS[1:] if bias not in role.values()]
    if len(missing) == 2 and sorted(last[key] for key in left) == sorted(PAIR):
        role |= {key: PAIR[last[key]] for key in left}
    elif len(missing) == len(left) == 1:
        role[left[0]] = missing[0]
    of = {r: [key for key in keys if role[key] == r] for r in (*NAMES, "unknown")}
    trouble = [f"no {r}" for r in PARAMETERS if not of[r]]
    for r in NAMES:
        if len(of[r]) > (r in PARAMETERS):
            trouble.append(f"{' and '.join(map(repr, of[r]))} could be {r}")
    if of["unknown"]:
        trouble.append(f"{_listed(of['unknown'])} unknown")
    if trouble:
        no_rbm = "no RBM, but " if len(of["unknown"]) == len(keys) else ""
        example = dict(zip(PARAMETERS, [*map(str, keys[:3]), "...", "...", "..."], strict=False))
        raise ValueError(
            f"{what} holds {no_rbm}{_listed(keys)}: {'; '.join(trouble)}; say which is which, for "
            f"example names={example!r} of rl.load_rbm, and .save it for the command line"
        )
    known = {_endings(weights)[-1]: layout for (weights, *_), layout in PROGRAMS.items()}
    return {r: of[r][0] for r in PARAMETERS}, known.get(last[of["weights"][0]])


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


def read_model(path, made: Callable, layout: str | None, names: Mapping | None, *, unmarked) -> Any:
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
                "execute code, or needs another package): convert it once, in Python, if you "
                "trust it: " + line.format(str(source), str(source.with_suffix(".npz")))
            )
    if source.suffix not in (*OPENED, ".data"):
        raise ValueError(
            f"{source.name} is no {', '.join(OPENED)}: cannot read a model from it; of arrays "
            f"rl.BernoulliRBM(W, b, a).save({str(source.with_suffix('.npz'))!r}) makes one"
        )
    try:
        parts, ours = _parts(source, layout, names, unmarked)
        model = made(parts)
        if ours and (names is not None or layout not in (None, LAYOUTS[0])):
            raise ValueError(
                f"{source.name} holds a {type(model).__name__}, which says how its arrays lie: "
                "expected neither layout nor names"
            )
    except KeyError as error:
        raise ValueError(f"cannot read {source.name}: it is damaged, without {error}") from None
    except ValueError as error:
        known = "" if source.name in str(error) else f"{source.name}: "
        raise ValueError(f"{known}{error}") from None
    return model


def _parts(source: Path, layout: str | None, names: Mapping | None, unmarked) -> tuple[tuple, bool]:
    """Layers, weights and log_scale of a file, and whether this library wrote it."""
    if source.suffix == ".data":
        return protein_motif.parts_of_pickle(source), True
    if source.suffix in HDF5 and (saved := saved_models(source)):
        return saved[-1], True
    with _told_of(source):
        keys, read = OPENED[source.suffix](source)
    kinds = _kinds({*keys}, unmarked)
    if kinds or {"visible_layer", "hidden_layer"} <= {*keys}:
        with _told_of(source):
            arrays = read(keys)
        arrays |= {f"{side}_layer": kind for side, kind in zip(SIDES, kinds, strict=False)}
        if "leakiness" in arrays:
            arrays |= {"hidden_above": 1.0, "hidden_below": arrays["leakiness"]}
        return parts_of(arrays), True
    if {*keys} == protein_motif.NAMES and names is None:
        with _told_of(source):
            return protein_motif.parts_of_arrays(read(keys)), True
    found, known = told(keys, names, source.name)
    with _told_of(source):
        arrays = read([*found.values()])
    given = (arrays[found[name]] for name in PARAMETERS)
    w, b, a = parameters(*arranged(*given, layout or known))
    return (Bits(b), Bits(a), w, 0.0), False


def saved_models(source: Path) -> list[tuple]:
    """The same of every update in an HDF5 file of a program that names its layers."""
    with hdf5.opened(source) as file:
        return hdf5.models_of(file)


@contextlib.contextmanager
def _told_of(source: Path):
    """Whatever goes wrong inside is a damaged file: the readers fail in many ways."""
    try:
        yield
    except Exception as error:
        if isinstance(error, NotImplementedError):
            raise ValueError(
                f"{source.name} is a MATLAB 7.3 file (HDF5), which rbmlib does not open: in MATLAB "
                "save it with -v7, or convert it once: "
                + MATLAB_7_3.format(str(source), str(source.with_suffix(".npz")))
            ) from None
        raise ValueError(
            f"cannot read {source.name}: the file is damaged, or not an array file ({error})"
        ) from None


def _npz(source: Path):
    """Names of the arrays of a file, and what reads some of them."""
    with zipfile.ZipFile(source) as archive:
        keys = [name.removesuffix(".npy") for name in archive.namelist()]
    return keys, lambda wanted: read_npz(source, wanted)


def _mat(source: Path):
    """Fields of structs bear names such as "rbm.W", and "dbn.rbm.2.W" of the second of several."""
    from scipy.io import loadmat, whosmat

    held = whosmat(source)
    nested = [name for name, _, kind in held if kind in ("struct", "cell")]
    fields = dict(_fields(loadmat(source, variable_names=nested), nested)) if nested else {}
    shapes = {name: shape for name, shape, _ in held if name not in nested}
    shapes |= {name: value.shape for name, value in fields.items()}

    def read(wanted):
        for key in wanted:
            if math.prod(shapes[key]) > MAX_VALUES:
                raise ValueError(
                    f"{key} has shape {shapes[key]}: expected at most {MAX_VALUES:,} values"
                )
        plain = [key for key in wanted if key not in fields]
        content = fields | (loadmat(source, variable_names=plain) if plain else {})
        return {key: content[key].astype(float) for key in wanted}

    return list(shapes), read


def _fields(content, names, prefix: str = ""):
    """Names and arrays of numbers in structs and cells, however deep."""
    for name in (n for n in names if n not in ASIDE and STEPS.get(n) not in names):
        value, full = np.asarray(content[name]), f"{prefix}{name}"
        if value.dtype.kind in "biuf":
            yield full, value
        elif value.dtype.kind in "OV":
            of = value.dtype.names
            for k, item in enumerate(value.ravel()):
                inner = full if value.size == 1 else f"{full}.{k + 1}"
                yield from _fields(item, of, f"{inner}.") if of else _fields({inner: item}, [inner])


def _hdf5(source: Path):
    """Arrays at the top of the file."""

    def read(wanted):
        with hdf5.opened(source) as file:
            return {key: hdf5.read(file, key) for key in wanted}

    with hdf5.opened(source) as file:
        return [key for key, value in file.items() if hasattr(value, "shape")], read


OPENED: dict[str, Callable[[Path], tuple[list[str], Callable]]] = {".npz": _npz, ".mat": _mat}
OPENED |= dict.fromkeys(HDF5, _hdf5)
