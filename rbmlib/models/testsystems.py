"""Small models with known log Z, for users and tests alike."""

from __future__ import annotations

import numpy as np

from ..checks import array, count, generator, instance, number
from ..numerics import logsumexp, softplus
from .bernoulli import BernoulliRBM
from .gaussian import LeakyRBM
from .mixture import GaussianMixture

__all__ = [
    "first_order_rbm",
    "hopfield_rbm",
    "independent_rbm",
    "orthogonal_leaky_rbm",
    "random_rbm",
    "tempered_log_z",
    "two_gaussians",
    "two_mode_rbm",
]


def random_rbm(n_visible: int, n_hidden: int, *, coupling: float = 1.0, rng=None) -> BernoulliRBM:
    """Gaussian weights of standard deviation ``coupling / sqrt(n_visible)``, of biases 0.5.

    With few units `rbmlib.exact` knows its log Z.
    """
    rng = generator(rng)
    coupling = number("coupling", coupling, "a number, 0 or more", least=0)
    shape = (count("n_visible", n_visible), count("n_hidden", n_hidden))
    weights = rng.normal(scale=coupling / np.sqrt(shape[0]), size=shape)
    return BernoulliRBM(
        weights, rng.normal(scale=0.5, size=shape[0]), rng.normal(scale=0.5, size=shape[1])
    )


def independent_rbm(visible_bias, hidden_bias) -> tuple[BernoulliRBM, float]:
    """A model with zero weights, and its log Z in closed form, at any size."""
    visible_bias = array("visible_bias", visible_bias, (None,), "(n_visible,)")
    hidden_bias = array("hidden_bias", hidden_bias, (None,), "(n_hidden,)")
    zero = np.zeros((np.size(visible_bias), np.size(hidden_bias)))
    rbm = BernoulliRBM(zero, visible_bias, hidden_bias)
    return rbm, float(softplus(rbm.visible_bias).sum() + softplus(rbm.hidden_bias).sum())


def two_mode_rbm(
    n_visible: int, *, strength: float = 2.0, tilt: float = 0.0
) -> tuple[BernoulliRBM, float]:
    """One hidden unit that switches all visible units: a narrow mode, a broad one, and log Z.

    With the hidden unit off the visible units are fair coins; with it on each is 1 with odds
    ``exp(strength)``. ``tilt`` is the log-ratio of the weights of the two modes. Annealing from
    a uniform base finds the narrow mode late: a model on which an effective sample size can be
    large and the estimate wrong.
    """
    n = count("n_visible", n_visible)
    strength, tilt = number("strength", strength, "a number"), number("tilt", tilt, "a number")
    off = n * np.log(2.0)
    on = n * softplus(strength)
    hidden_bias = off - on + tilt
    rbm = BernoulliRBM(np.full((n, 1), strength), np.zeros(n), [hidden_bias])
    return rbm, float(np.logaddexp(off, off + tilt))


def first_order_rbm(
    n_visible: int = 120, n_hidden: int = 25, *, strength: float = 6.0, tilt: float = 0.0
) -> tuple[BernoulliRBM, float]:
    """Two phases that no temperature joins, and log Z: all weights are equal.

    Hidden units are off while few visible ones are on, which are then fair coins; beyond a
    threshold all hidden units go on, and each visible one is 1 with odds ``exp(strength)``. There
    are many states of the first phase, and few of great weight of the second; ``tilt`` is about
    the log-ratio of their weights. Between them lie states that are rare at every temperature, by a
    factor that is exponential in ``n_visible``: a first-order transition. Annealing and
    tempering stay in the phase in which they begin, and see no sign of the other.

    log Z is a sum over n, the number of visible units that are on:
    ``Z = sum_n binomial(N, n) (1 + exp(a + w n))^M``.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm, log_z = rl.testsystems.first_order_rbm(12, 8)
    >>> abs(rl.exact(rbm).log_z - log_z) < 1e-9
    True
    """
    n, m = count("n_visible", n_visible), count("n_hidden", n_hidden)
    strength = number("strength", strength, "a number, 0 or more", least=0)
    tilt = number("tilt", tilt, "a number")
    weight, bias = strength / m, (n * (np.log(2.0) - softplus(strength)) + tilt) / m
    rbm = BernoulliRBM(np.full((n, m), weight), np.zeros(n), np.full(m, bias))
    on = np.arange(n + 1)
    log_binomials = np.cumsum(np.log(np.r_[1.0, on[:0:-1] / on[1:]]))
    return rbm, float(logsumexp(log_binomials + m * softplus(bias + weight * on)))


def hopfield_rbm(
    n_visible: int, n_hidden: int, *, strength: float = 2.5, spread: float = 0.4, rng=None
) -> BernoulliRBM:
    """Random patterns of unequal depth, each a pair of modes, one pattern a hidden unit.

    In units s, t in {-1, 1} the weights are ``strength_j pattern_ij / sqrt(n_visible)``, with
    strengths evenly from ``strength (1 - spread)`` to ``strength (1 + spread)``. Chains choose
    their mode early on, so that a few end in the deepest with large weights: runs that miss it have
    the highest effective sample size. With few hidden units `rbmlib.exact` knows its log Z.
    """
    shape = (count("n_visible", n_visible), count("n_hidden", n_hidden))
    patterns = 2.0 * generator(rng).integers(0, 2, shape) - 1
    strength = number("strength", strength, "a number")
    depths = strength * np.linspace(1 - spread, 1 + spread, shape[1])
    return BernoulliRBM.from_spins(
        depths * patterns / np.sqrt(shape[0]), np.zeros(shape[0]), np.zeros(shape[1])
    )


def two_gaussians(d: int = 10, distance: float = 5.0, variance: float = 0.5) -> GaussianMixture:
    """Two Gaussians, ``distance`` apart in the first dimension.

    The defaults are the target of Carlson et al. (2016, appendix E.1); its base is N(0, 30 I).
    """
    d = count("d", d)
    distance = number("distance", distance, "a number, 0 or more", least=0)
    means = np.zeros((2, d))
    means[:, 0] = -distance / 2, distance / 2
    return GaussianMixture(means, variance)


def tempered_log_z(mixture: GaussianMixture, base_variance: float, betas) -> np.ndarray:
    """log Z at each beta of the geometric path from N(0, base_variance I) to a mixture: (K,).

    The means of the mixture differ in the first dimension only, so the other dimensions are
    Gaussian integrals. The first is summed on a grid, which for such a density is exact to
    rounding.
    """
    instance("mixture", mixture, GaussianMixture, "a GaussianMixture, as of two_gaussians")
    if np.any(mixture.means[:, 1:] != mixture.means[0, 1:]):
        raise ValueError("mixture has means that differ in several dimensions: expected the first "
                         "alone, as in two_gaussians")  # fmt: skip
    s2, v2 = mixture.variance, number("base_variance", base_variance, "above 0", above=0)
    betas = array("betas", betas, (None,), "(K,), betas from 0 to 1")
    if not (betas / s2 + (1 - betas) / v2 > 0).all():  # differences go a little beyond the ends
        raise ValueError(f"betas run from {betas.min()} to {betas.max()}: expected 0 to 1")
    reach = np.abs(mixture.means[:, 0]).max() + 12 * np.sqrt(max(s2, v2))
    x = np.linspace(-reach, reach, 40_001)
    first = logsumexp(
        np.log(mixture.weights) - (x[:, None] - mixture.means[:, 0]) ** 2 / (2 * s2), axis=1
    )
    base = -(x**2) / (2 * v2) - np.log(2 * np.pi * v2) / 2
    log_z = []
    for beta in betas:
        total = logsumexp(beta * first + (1 - beta) * base) + np.log(x[1] - x[0])
        precision = beta / s2 + (1 - beta) / v2
        for mean in mixture.means[0, 1:]:
            pull = beta * mean / s2
            total += (np.log(2 * np.pi / precision) + pull**2 / precision - beta * mean**2 / s2) / 2
            total -= (1 - beta) * np.log(2 * np.pi * v2) / 2
        log_z.append(total + beta * mixture.log_scale)
    return np.array(log_z)


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
    norm = number("norm", norm, "the length of the columns, at least 0, below 1", least=0, below=1)
    columns = generator(rng).standard_normal((n_visible, n_hidden))
    return LeakyRBM(norm * np.linalg.qr(columns)[0], leakiness=leakiness)
