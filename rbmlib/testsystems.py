"""Small models with known log Z, for users and tests alike."""

from __future__ import annotations

import numpy as np

from ._numerics import softplus
from ._validation import count, generator
from .gaussian_visible import LeakyRBM
from .models import BernoulliRBM

__all__ = ["independent_rbm", "orthogonal_leaky_rbm", "random_rbm", "two_mode_rbm"]


def random_rbm(n_visible: int, n_hidden: int, *, coupling: float = 1.0, rng=None) -> BernoulliRBM:
    """Gaussian weights of standard deviation ``coupling / sqrt(n_visible)``, of biases 0.5.

    With few units `rbmlib.exact` knows its log Z.
    """
    rng = generator(rng)
    shape = (count("n_visible", n_visible), count("n_hidden", n_hidden))
    weights = rng.normal(scale=coupling / np.sqrt(shape[0]), size=shape)
    return BernoulliRBM(
        weights, rng.normal(scale=0.5, size=shape[0]), rng.normal(scale=0.5, size=shape[1])
    )


def independent_rbm(visible_bias, hidden_bias) -> tuple[BernoulliRBM, float]:
    """A model with zero weights, and its log Z in closed form, at any size."""
    zero = np.zeros((np.size(visible_bias), np.size(hidden_bias)))
    rbm = BernoulliRBM(zero, visible_bias, hidden_bias)
    return rbm, float(softplus(rbm.visible_bias).sum() + softplus(rbm.hidden_bias).sum())


def two_mode_rbm(n_visible: int, *, strength: float = 2.0, tilt: float = 0.0):
    """One hidden unit that switches all visible units: a narrow mode, a broad one, and log Z.

    With the hidden unit off the visible units are fair coins; with it on each is 1 with odds
    ``exp(strength)``. ``tilt`` is the log-ratio of the weights of the two modes. Annealing from
    a uniform base finds the narrow mode late: a model on which an effective sample size can be
    large and the estimate wrong.

    Returns
    -------
    rbm : BernoulliRBM (n_visible, 1)
    log_z : float
    """
    n = count("n_visible", n_visible)
    off = n * np.log(2.0)
    on = n * softplus(float(strength))
    hidden_bias = off - on + tilt
    rbm = BernoulliRBM(np.full((n, 1), float(strength)), np.zeros(n), [hidden_bias])
    return rbm, float(np.logaddexp(off, off + tilt))


def orthogonal_leaky_rbm(
    n_visible: int, n_hidden: int, *, norm: float = 0.9, leakiness: float = 0.01, rng=0
) -> LeakyRBM:
    """Random orthogonal columns of length ``norm``, no biases (Li et al. 2016, section 4.1).

    `LeakyRBM.exact_log_z` knows its log Z, which does not depend on the directions.
    """
    n_visible, n_hidden = count("n_visible", n_visible), count("n_hidden", n_hidden)
    if n_hidden > n_visible:
        raise ValueError(
            f"n_hidden is {n_hidden}: expected at most n_visible, {n_visible}, orthogonal columns"
        )
    columns = generator(rng).standard_normal((n_visible, n_hidden))
    return LeakyRBM(norm * np.linalg.qr(columns)[0], leakiness=leakiness)
