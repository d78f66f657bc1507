"""Log-likelihoods of data, from log Z."""

from __future__ import annotations

import numpy as np

from .. import checks
from ..results import warn
from .conversion import as_model, how_to_make_one
from .rbm import RBM


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
            f"which rl.load_rbm reads by name or path{how_to_make_one(model)}"
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
