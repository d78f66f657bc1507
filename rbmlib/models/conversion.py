"""What is taken where a model is expected, other programs' too; log-likelihoods by any of them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import checks
from ..results import warn
from .formats import SKLEARN
from .layers import Bits
from .named import BernoulliRBM
from .rbm import RBM


def as_rbm(name: str, value, meaning: str = "a BernoulliRBM or another RBM") -> RBM:
    """The RBM that an argument stands for: itself, or that of a fitted model of scikit-learn.

    TypeError says how to make one of what came; ValueError, if scikit-learn's is not fitted.
    """
    model = as_model(name, value)
    if not isinstance(model, RBM):
        raise TypeError(
            f"{name} is a {type(value).__name__}: expected {meaning}{_how_to_make_one(value)}"
        )
    return model


def as_rbm_of_bits(name: str, value, meaning: str = "a BernoulliRBM") -> RBM:
    """As `as_rbm`, but both layers are `Bits`."""
    model = as_rbm(name, value, meaning)
    if not (isinstance(model.visible, Bits) and isinstance(model.hidden, Bits)):
        raise TypeError(f"{name} is {shown(model)}: expected {meaning}")
    return model


def shown(model) -> str:
    """What a model is, for a message: its class, or the layers of one that has none of its own."""
    return repr(model) if type(model) is RBM else f"a {type(model).__name__}"


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


def _how_to_make_one(value) -> str:
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


def log_likelihood(model, data, log_z) -> np.ndarray:
    """log p(v) = log p*(v) - log Z of each row of ``data`` (report, eq. 23), (n_states,), nats.

    ``model`` has a `log_density`, as every RBM of the library; a fitted BernoulliRBM of
    scikit-learn is taken too. ``log_z`` is a number or an `Estimate`. An error of log Z shifts
    every row alike, and of an `Estimate` that has not converged a `ConvergenceWarning` says so.

    Raises ValueError if log Z is NaN or infinite, or the data are not states of the model;
    TypeError if the model is none.
    """
    model = as_model("model", model)
    if not hasattr(model, "log_density"):
        raise TypeError(
            f"model is {model!r:.60}: expected a model with log_density, such as a BernoulliRBM, "
            f"which rl.load_rbm reads by name or path{_how_to_make_one(model)}"
        )
    if isinstance(model, RBM):
        data = checks.states("data", data, model.visible)
    else:
        n_visible = getattr(model, "n_visible", None)
        meaning = f"(n_states, {n_visible or 'n_visible'}), one column a unit of the model"
        rows = np.atleast_2d(checks.numeric("data", data, meaning))
        data = checks.array("data", rows, (None, n_visible), meaning)
    if not getattr(log_z, "converged", True):
        warn(
            "log_likelihood: log_z comes from an estimate whose checks failed, and its error "
            "shifts every row alike; run it longer, or give the number to accept it"
        )
    value = getattr(log_z, "log_z", log_z)
    value = float(checks.array("log_z", value, (), "one number in nats, or an Estimate"))
    return model.log_density(data) - value
