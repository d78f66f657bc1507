"""HDF5 files of other programs; needs h5py, which executes nothing.

RestrictedBoltzmannMachines.jl names both layers. Python sees the axes of Julia arrays in reverse
order: the last axis indexes the parameters of a unit, and weights are (hidden, visible). In centred
and standardised models ``(v - o) / s`` and ``(h - o') / s'`` interact; such a model is converted to
the plain form. Files of the Python program rbms hold the models of several updates.
"""

import contextlib
import math
import re
from pathlib import Path

import numpy as np

from .layers import Binary, DoubleReLU, Gaussian, Potts, Spin

JULIA, RBMS = "rbm_hdf5_file_format_version", "model_type"  # entries that identify the program


def _gaussian(theta, gamma):
    gamma = np.abs(gamma)
    return Gaussian(theta) if (gamma == 1).all() else DoubleReLU(theta, gamma, gamma)


def _drelu(up, down, a_plus, a_minus):
    return DoubleReLU(0 * up, np.abs(a_plus), np.abs(a_minus), -up, down)


def _prelu(theta, gamma, delta, eta):
    up, down = 1 + eta, 1 - eta
    return _drelu(theta + delta / up, theta - delta / down, gamma / up, gamma / down)


def _xrelu(theta, gamma, delta, xi):
    return _prelu(theta, gamma, delta, xi / (1 + np.abs(xi)))


def _nsrelu(theta, delta, xi):
    return _xrelu(theta, np.ones_like(theta), delta, xi)


LAYERS = {  # number of parameters of a unit, and the function that makes the layer
    "Binary": (1, Binary), "Spin": (1, Spin), "Potts": (1, Potts),
    "PottsGumbel": (1, Potts), "Gaussian": (2, _gaussian), "dReLU": (4, _drelu),
    "pReLU": (4, _prelu), "xReLU": (4, _xrelu), "nsReLU": (3, _nsrelu),
}  # fmt: skip
MODELS = {  # kinds of rbms; real hidden units have the variance 1 / n_visible
    "BBRBM": (Binary, Binary), "PBRBM": (Potts, Binary), "IIRBM": (Spin, Spin),
    "BGRBM": (Binary, DoubleReLU), "IGRBM": (Spin, DoubleReLU),
}  # fmt: skip


@contextlib.contextmanager
def opened(source: Path):
    """Open an HDF5 file; any exception but ValueError is reported as a damaged file."""
    try:
        import h5py
    except ImportError:
        remedy = "pip install h5py, or rbmlib[hdf5]"
        raise ValueError(f"{source.name} is HDF5, which h5py reads: {remedy}") from None
    try:
        with h5py.File(source, "r") as file:
            yield file
    except ValueError as error:
        raise ValueError(f"{source.name}: {error}") from None
    except Exception as error:
        held = f"cannot read {source.name}: the file is damaged, or not HDF5"
        raise ValueError(f"{held} ({error})") from None


def read(file, name):
    """Return an entry as a string or an array."""
    if name not in file:
        raise ValueError(f"it holds no {name!r}, but {', '.join(file)}")
    data = file[name]
    return data[()].decode() if data.dtype.kind in "OS" else data[()]


def _one_of(table: dict, file, name: str):
    if (kind := read(file, name)) not in table:
        came = f"{kind!r}, a kind that rbmlib does not have"
        raise ValueError(f"{name} is {came}: expected one of {', '.join(table)}")
    return kind, table[kind]


def model_of(source: Path) -> tuple | None:
    """Return layers, weights and log_scale (of the last update); None for other files."""
    with opened(source) as file:
        if JULIA in file:
            return _of_julia(file)
        return _of_rbms(file) if RBMS in file else None


def _of_rbms(file):
    _, kinds = _one_of(MODELS, file, RBMS)
    updates = (int(key[7:]) for key in file if re.fullmatch(r"update_\d+", key))
    held = file[f"update_{max(updates, default=0)}"]
    held, (visible, hidden) = held.get("params", held), kinds
    b, a, w = (read(held, name) for name in ("vbias", "hbias", "weight_matrix"))
    if w.shape != (*b.shape, *a.shape):
        raise ValueError(f"weight_matrix has shape {w.shape}: expected {(*b.shape, *a.shape)}")
    first = visible(b.ravel(), b.shape[1]) if visible is Potts else visible(b)
    second = DoubleReLU(a, float(len(b)), float(len(b))) if hidden is DoubleReLU else hidden(a)
    return first, second, w.reshape(b.size, a.size), 0.0


def _of_julia(file):
    _one_of(dict.fromkeys(["RBM", "CenteredRBM", "StandardizedRBM"]), file, "rbm_type")
    visible, o, s = _side(file, "visible")
    hidden, o_, s_ = _side(file, "hidden")
    w, shape = read(file, "weights"), (len(visible), len(hidden))
    if w.size != math.prod(shape):
        raise ValueError(f"weights has shape {w.shape[::-1]}: expected {shape}")
    w = w.reshape(shape[::-1]).T / np.outer(s, s_)
    visible = visible.with_(bias=visible.bias - w @ o_)
    hidden = hidden.with_(bias=hidden.bias - o @ w)
    return visible, hidden, w, float(o @ w @ o_)


def _side(file, side: str):
    """Return the layer of one side, and the offsets and scales of its units."""
    kind, (n, made) = _one_of(LAYERS, file, f"{side}_type")
    given = read(file, f"{side}_par")
    if given.ndim < 2 + (made is Potts) or given.shape[-1] != n:
        raise ValueError(f"{side}_par has shape {given.shape}: expected (units, {n}) of {kind}")
    layer = made(*given.reshape(-1, n).T, *(given.shape[-2:-1] if made is Potts else ()))
    usual = {f"offset_{side[0]}": np.zeros(len(layer)), f"scale_{side[0]}": np.ones(len(layer))}
    return layer, *(read(file, x).ravel() if x in file else usual[x] for x in usual)
