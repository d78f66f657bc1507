"""Exact log Z: of models with few states of one layer, or that know theirs.

A model says itself what is known of it, by `exact_log_z()` and `exact_samples(n, rng)`.
"""

from typing import Any

import numpy as np

from ..models.conversion import as_model, as_rbm
from ..models.enumeration import parts
from ..models.rbm import RBM
from ..results import Estimate
from . import estimator


@estimator
def exact(rbm) -> Estimate:
    """Compute log Z exactly: add up all states of the smaller layer, or use a closed form.

    Parameters
    ----------
    rbm : RBM
        With at most 2**30 states of one of the layers, or of each part that no weight connects to
        the others (a ValueError beyond); a further unit doubles the time (64 x 24 takes a second).
        Or a `LeakyRBM` with orthogonal columns of weights, or another model with `exact_log_z()`. A
        fitted BernoulliRBM of scikit-learn is also accepted.

    Returns
    -------
    Estimate
        Of log Z in nats, with its error bar and what was checked.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.BernoulliRBM(weights=[[1.0]], visible_bias=[0.0], hidden_bias=[0.0])
    >>> round(rl.exact(rbm).log_z, 6)  # log(3 + e)
    1.743668
    """
    rbm = known(rbm)
    log_z = float(rbm.exact_log_z())
    if not np.isfinite(log_z):
        raise ValueError(f"log Z of {rbm!r} is {log_z}: its parameters are too large for float64")
    n = parts(rbm).n_states if isinstance(rbm, RBM) else np.inf
    details: dict[str, Any] = {"n_states": int(n)} if np.isfinite(n) else {}
    details["reason"] = "all states enumerated" if details else "known in closed form"
    return Estimate("exact", log_z, 0.0, (log_z, log_z), verdict="exact", details=details)


def known(rbm):
    """A model that knows its log Z, or counts; one of scikit-learn is converted."""
    model = as_model("rbm", rbm)
    if isinstance(model, RBM):
        model.refuse_improper()
    return model if hasattr(model, "exact_log_z") else as_rbm("rbm", model)
