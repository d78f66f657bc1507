"""Exact log Z of models with few states in one layer, or with a closed form.

Such a model defines `exact_log_z()` and `exact_samples(n, rng)`.
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
    """Compute log Z exactly, by a sum over the states of the smaller layer or in closed form.

    Parameters
    ----------
    rbm : RBM
        A model with at most 2**30 states in one layer, or in a layer of each unconnected part; more
        raise a ValueError. A further unit doubles the time (64 x 24 units take a second). Also a
        `LeakyRBM` whose weights have orthogonal columns, another model with `exact_log_z()`, or a
        fitted BernoulliRBM of scikit-learn.

    Returns
    -------
    Estimate
        log Z (nats), with standard error 0.

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
    """Convert ``rbm`` to a model with `exact_log_z`."""
    model = as_model("rbm", rbm)
    if isinstance(model, RBM):
        model.refuse_improper()
    return model if hasattr(model, "exact_log_z") else as_rbm("rbm", model)
