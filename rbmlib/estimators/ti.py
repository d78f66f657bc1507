"""Thermodynamic integration: log Z_1 - log Z_0 is the integral of the mean slope over beta.

Mean slopes are ``sum_i q(k | x_i) Delta_i / sum_i q(k | x_i)`` (Carlson et al. 2016, eq. 21). The
integral is a rule of quadrature, whose error no number of samples removes: it is taken as the
distance to Simpson's rule and to the corrected one.
"""

import numpy as np
from scipy.integrate import simpson

from .. import checks
from ..results import Check, of_chains
from . import estimator
from .rts import UNUSED, tempered

RULES = ("trapezoid", "riemann", "corrected", "simpson")
RULE_SHARE = 0.75  # of the error of the chains


@estimator
def ti(path, betas, n_chains=100, n_sweeps=2000, rng=None, *, rule="trapezoid"):
    """Estimate log Z by a quadrature of the mean slopes of tempered states."""
    return ti_of_sample(tempered(path, betas, n_chains, n_sweeps, rng), rule=rule, skip=UNUSED)


def ti_of_sample(sample, *, rule="trapezoid", skip=0):
    checks.one_of("rule", rule, RULES)
    sums, betas = sample.mixed[skip:], sample.betas  # (blocks, chains, 3, K)
    total = sums.sum(axis=(0, 1))
    mean, square = total[1] / total[0], total[2] / total[0]
    each = total[0] / sums.shape[1]  # of a chain
    of_mean = (sums[:, :, 1] - mean * sums[:, :, 0]) / each
    of_square = (sums[:, :, 2] - square * sums[:, :, 0]) / each
    variance, of_variance = square - mean**2, of_square - 2 * mean * of_mean
    weights, bend = quadrature(betas, "trapezoid" if rule == "corrected" else rule), bends(betas)
    value, blocks = weights @ mean, of_mean @ weights
    if rule == "corrected":
        value, blocks = value + bend @ variance, blocks + of_variance @ bend
    others = [quadrature(betas, "simpson") @ mean]
    derivative = variance if sample.joint else np.gradient(mean, betas, edge_order=2)
    others.append(quadrature(betas, "trapezoid") @ mean + bend @ derivative)
    error = float(np.abs(np.array(others) - value).max())
    spread = blocks.sum(axis=0).std(ddof=1) / np.sqrt(blocks.shape[1])
    check = Check(
        f"error of the rule {error:.3f}, of the chains {spread:.3f} (closer betas mend it)",
        bool(error <= max(RULE_SHARE * spread, 1e-9)),
    )
    path = np.r_[0.0, np.cumsum(np.diff(betas) * (mean[1:] + mean[:-1]) / 2)[:-1], value]
    ends = sums[:, :, 0][..., [0, -1]] / sample.block_sweeps[skip:, None, None]
    return of_chains(
        "ti",
        sample,
        sample.log_z_base + path,
        blocks,
        [check],
        ends=ends,
        error_of_rule=error,
        trace={"slope_mean": mean},
    )


def quadrature(betas, rule):
    steps = np.diff(betas)
    if rule == "simpson":
        return simpson(np.eye(betas.size), x=betas, axis=1)
    right = np.append(0.0, steps)
    return right if rule == "riemann" else (right + np.append(steps, 0.0)) / 2


def bends(betas):
    """Weights of the variances in the corrected rule (Friel, Hurn & Wyse 2014): -h^2 / 12 dV."""
    square = np.diff(betas) ** 2 / 12
    return np.append(square, 0.0) - np.append(0.0, square)
