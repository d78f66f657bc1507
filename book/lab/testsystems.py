"""Models and paths with known log Z, of which chapters alone tell."""

from __future__ import annotations

import numpy as np

import rbmlib as rl
from rbmlib import BernoulliRBM
from rbmlib.models.testsystems import GaussianMixture
from rbmlib.numerics import logsumexp, softplus


def first_order_rbm(
    n_visible: int = 120, n_hidden: int = 25, *, strength: float = 6.0, tilt: float = 0.0
) -> tuple[BernoulliRBM, float]:
    """Two phases that no temperature joins, and log Z: all weights are equal.

    Hidden units are off while few visible ones are on, which are then fair coins; beyond a
    threshold all hidden units go on, and each visible one is 1 with odds ``exp(strength)``.
    ``tilt`` is about the log-ratio of the phases' weights. States between them are rare at every
    temperature, by a factor that is exponential in ``n_visible``: a first-order transition.
    Annealing and tempering stay in the phase in which they begin, and see no sign of the other.

    log Z is a sum over n, the number of visible units that are on:
    ``Z = sum_n binomial(N, n) (1 + exp(a + w n))^M``.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm, log_z = first_order_rbm(12, 8)
    >>> abs(rl.exact(rbm).log_z - log_z) < 1e-9
    True
    """
    n, m = n_visible, n_hidden
    weight, bias = strength / m, (n * (np.log(2.0) - softplus(strength)) + tilt) / m
    rbm = BernoulliRBM(np.full((n, m), weight), np.zeros(n), np.full(m, bias))
    on = np.arange(n + 1)
    log_binomials = np.cumsum(np.log(np.r_[1.0, on[:0:-1] / on[1:]]))
    return rbm, float(logsumexp(log_binomials + m * softplus(bias + weight * on)))


def of_spins(weights, visible_bias, hidden_bias) -> rl.RBM:
    """The model of units 0 and 1 that a model of spins is."""
    return rl.RBM(rl.Spin(visible_bias), rl.Spin(hidden_bias), weights).to_bits()


def tempered_log_z(mixture: GaussianMixture, base_variance: float, betas) -> np.ndarray:
    """log Z at each beta of the geometric path from N(0, base_variance I) to a mixture: (K,).

    The means of the mixture differ in the first dimension only, so the other dimensions are
    Gaussian integrals. The first is summed on a grid, which for such a density is exact to
    rounding.
    """
    s2, v2 = mixture.variance, base_variance
    reach = np.abs(mixture.means[:, 0]).max() + 12 * np.sqrt(max(s2, v2))
    x = np.linspace(-reach, reach, 40_001)
    first = logsumexp(-((x[:, None] - mixture.means[:, 0]) ** 2) / (2 * s2), axis=1)
    base = -(x**2) / (2 * v2) - np.log(2 * np.pi * v2) / 2
    log_z = []
    for beta in betas:
        total = logsumexp(beta * first + (1 - beta) * base) + np.log(x[1] - x[0])
        precision = beta / s2 + (1 - beta) / v2
        for mean in mixture.means[0, 1:]:
            pull = beta * mean / s2
            total += (np.log(2 * np.pi / precision) + pull**2 / precision - beta * mean**2 / s2) / 2
            total -= (1 - beta) * np.log(2 * np.pi * v2) / 2
        log_z.append(total)
    return np.array(log_z)
