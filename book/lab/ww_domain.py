"""The published RBM of the WW domain (Tubiana, Cocco & Monasson 2019): Potts and dReLU units.

    log p*(v) = sum_i fields[i, v_i] + sum_j Gamma_j(sum_i weights[j, i, v_i])

with Gamma the cumulant of `DoubleReLU` units. Its program, ProteinMotifRBM, wrote it by Python 2 as
a pickle. `rbmlib.datasets.fetch` knows the SHA-256 of the file, so what is opened is that file.
"""

import pickle

import numpy as np

import rbmlib as rl


class _Object:
    """What an object of the program holds, by name; none of its code is needed."""

    def __init__(self, *_):
        self.held: dict = {}

    def __setstate__(self, state):
        self.held = state


class _Reader(pickle.Unpickler):
    def find_class(self, module, name):
        if module in ("numpy", "numpy.core.multiarray"):
            return super().find_class(module.replace("numpy.core", "numpy._core"), name)
        return _Object


def ww_domain() -> rl.RBM:
    """31 sites of 21 letters and 100 hidden units; downloaded when it is first used."""
    source, constants = rl.datasets.fetch("ww_domain"), rl.DoubleReLU.constants
    if source.suffix == ".npz":  # a copy, of the arrays alone
        with np.load(source) as file:
            arrays = dict(file)
    else:
        with open(source, "rb") as file:
            held = _Reader(file, encoding="latin1").load().held
        arrays = {name: held["hlayer"].held[name] for name in constants}
        arrays |= {"fields": held["vlayer"].held["fields"], "weights": held["weights"]}
    fields, weights = arrays["fields"], arrays["weights"]
    if weights.shape[1:] == fields.shape:  # (n_hidden, sites, letters)
        weights = np.moveaxis(weights, 0, -1)
    hidden = rl.DoubleReLU(np.zeros(weights.shape[2]), *(arrays[name] for name in constants))
    visible = rl.Potts(fields.ravel(), fields.shape[1])
    return rl.RBM(visible, hidden, weights.reshape(fields.size, -1))
