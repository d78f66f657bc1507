"""Files of models: an .npz that names the kind of each layer."""

import numpy as np

from .layers import KINDS
from .rbm import RBM


def save(model, path):
    arrays = {"weights": model.weights, "log_scale": model.log_scale}
    for side in ("visible", "hidden"):
        layer = getattr(model, side)
        arrays[side] = type(layer).__name__
        arrays |= {
            f"{side}_{name}": getattr(layer, name) for name in layer.parameters + layer.constants
        }
    np.savez(path, **arrays)


def load(path):
    """The model that `RBM.save` wrote; nothing in the file is executed."""
    with np.load(path, allow_pickle=False) as file:
        layers = []
        for side in ("visible", "hidden"):
            name = str(file[side])
            if name not in KINDS:
                raise ValueError(
                    f"{path} holds a layer of kind {name!r}, which no class here is: "
                    f"expected one of {', '.join(KINDS)}; import the module of yours"
                )
            kind = KINDS[name]
            values = (file[f"{side}_{its}"] for its in kind.parameters + kind.constants)
            layers.append(kind(*(v if v.ndim else v.item() for v in values)))
        return RBM(*layers, file["weights"], log_scale=file["log_scale"])
