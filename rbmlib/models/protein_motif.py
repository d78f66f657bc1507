"""RBMs of proteins as the program ProteinMotifRBM writes them: Potts and dReLU units, in a pickle.

    log p*(v) = sum_i fields[i, v_i] + sum_j Gamma_j(sum_i weights[j, i, v_i])

with Gamma the cumulant of `Rectified` units (Tubiana, Cocco & Monasson 2019). Such a pickle names
classes to be made. Here each name stands for a container of this file, which is filled and never
run; an array is built from its shape and its bytes; any other name is refused.
"""

from __future__ import annotations

import math
import pickle
from pathlib import Path

import numpy as np

from ..files import DAMAGED, MAX_VALUES
from .layers import Categories, Rectified

KINDS = {"visible": "Potts", "hidden": "dReLU"}
OF_UNITS = Rectified.constants
NAMES = {"fields", "weights", *OF_UNITS}


class _Object:
    """What an object of the file holds, by name."""

    def __init__(self, *_):
        self.held: dict = {}

    def __setstate__(self, state):
        self.held = state if isinstance(state, dict) else {}


class _Type:
    """The word that names the numbers of an array."""

    def __init__(self, word="", *_):
        self.word = str(word)

    def __setstate__(self, state):
        pass


class _Array:
    """Numbers, by shape, type and bytes."""

    def __init__(self, *_):
        self.values = np.empty(0)

    def __setstate__(self, state):
        _, shape, kind, by_column, content = state
        dtype = np.dtype(kind.word)
        if dtype.kind not in "iufb" or math.prod(shape) > MAX_VALUES:
            raise ValueError(
                f"it holds an array of {dtype}, {shape}: expected numbers, not so many"
            )
        flat = np.frombuffer(content.encode("latin1"), dtype)
        self.values = flat.reshape(shape, order="F" if by_column else "C")


KNOWN = {
    ("copy_reg", "_reconstructor"): _Object,
    ("layer", "Layer"): _Object,
    ("numpy.random", "__RandomState_ctor"): _Object,
    ("numpy.core.multiarray", "_reconstruct"): _Array,
    ("numpy", "dtype"): _Type,
}
WORDS = {"rbm.RBM", "numpy.ndarray", "__builtin__.object", "__builtin__.int", "__builtin__.float"}


class _Reader(pickle.Unpickler):
    def find_class(self, module, name):
        if (word := f"{module}.{name}") in WORDS:  # named as what is to be made: never called
            return word
        if (module, name) not in KNOWN:
            raise ValueError(
                f"it names {word}, which no file of ProteinMotifRBM does: expected numbers, "
                "words and containers alone; nothing was executed"
            )
        return KNOWN[module, name]

    def persistent_load(self, pid):
        raise ValueError("it refers to objects outside: expected a file of ProteinMotifRBM")


def parts_of_pickle(source: Path) -> tuple:
    """Visible and hidden layer, weights and log_scale of a file."""
    try:
        with open(source, "rb") as file:
            held = _Reader(file, encoding="latin1").load().held
        found = {side: held[side] for side in KINDS}
        if found != KINDS:
            raise ValueError(f"it holds layers {found}: expected {KINDS}")
        arrays = {name: held["hlayer"].held[name].values for name in OF_UNITS}
        arrays |= {
            "fields": held["vlayer"].held["fields"].values,
            "weights": held["weights"].values,
        }
        return parts_of_arrays(arrays)
    except (*DAMAGED, AttributeError, pickle.UnpicklingError, IndexError) as error:
        known = isinstance(error, ValueError) and str(error).startswith("it ")
        why = (
            str(error) if known else f"it is damaged, or no file of ProteinMotifRBM ({error!r:.80})"
        )
        raise ValueError(f"cannot read {source.name}: {why}") from None


def parts_of_arrays(arrays) -> tuple:
    """The same of its arrays by name; weights (n_hidden, sites, q), or (sites, q, n_hidden)."""
    fields, weights = arrays["fields"], arrays["weights"]
    if weights.shape[1:] == fields.shape:
        weights = np.moveaxis(weights, 0, -1)
    if weights.shape[:2] != fields.shape:
        raise ValueError(f"it holds weights {weights.shape} for fields {fields.shape}")
    hidden = Rectified(np.zeros(weights.shape[2]), *(arrays[name] for name in OF_UNITS))
    visible = Categories(fields.ravel(), fields.shape[1])
    return visible, hidden, weights.reshape(fields.size, -1), 0.0
