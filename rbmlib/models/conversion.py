"""Models of other programs, taken where an RBM is expected."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from .bernoulli import BernoulliRBM
from .enumeration import in_bits as in_bits
from .layers import Bits
from .names import SKLEARN
from .rbm import RBM


def as_rbm(name: str, value, meaning: str = "a BernoulliRBM or another RBM") -> RBM:
    """The RBM that an argument stands for: itself, or that of a fitted model of scikit-learn.

    TypeError says how to make one of what came; ValueError, if scikit-learn's is not fitted.
    """
    model = as_model(name, value)
    if not isinstance(model, RBM):
        raise TypeError(
            f"{name} is a {type(value).__name__}: expected {meaning}{how_to_make_one(value)}"
        )
    return model


def as_rbm_of_bits(name: str, value, meaning: str = "a BernoulliRBM") -> RBM:
    """As `as_rbm`, but both layers are `Bits`."""
    model = as_rbm(name, value, meaning)
    if not (isinstance(model.visible, Bits) and isinstance(model.hidden, Bits)):
        kind = repr(model) if type(model) is RBM else f"a {type(model).__name__}"
        raise TypeError(f"{name} is {kind}: expected {meaning}")
    return model


def as_model(name: str, value) -> Any:
    """As `as_rbm`, but what is no model of scikit-learn is handed on as it is."""
    if isinstance(value, RBM):
        return value
    if all(hasattr(value, attribute) for attribute in SKLEARN):
        return BernoulliRBM.from_sklearn(value)
    if type(value).__name__ == "BernoulliRBM" and hasattr(value, "n_components"):
        raise ValueError(
            f"{name} is a BernoulliRBM of scikit-learn without components_: expected a fitted "
            "one; call model.fit(data) first"
        )
    return value


def how_to_make_one(value) -> str:
    """How to make a BernoulliRBM of something else."""
    if isinstance(getattr(value, "rbm", None), RBM):
        return "; pass its model, .rbm"
    if isinstance(value, Mapping):
        return "; make one with rl.BernoulliRBM.from_state_dict(state)"
    if callable(getattr(value, "state_dict", None)):
        return "; make one with rl.BernoulliRBM.from_state_dict(module.state_dict())"
    if isinstance(value, (str, os.PathLike)):
        return "; rl.load_rbm reads one by its name or path"
    return ""
