"""What rules of thermodynamic integration get wrong when all means and variances are exact."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rbmlib.estimators.ti import correction, quadrature
from rbmlib.models.testsystems import GaussianMixture

from .testsystems import tempered_log_z


class RuleErrors(NamedTuple):
    """Errors of log Z in nats."""

    riemann: float  # rectangles
    trapezoid: float
    corrected: float


def slopes(mixture: GaussianMixture, base_variance: float, betas) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of the slope Delta at each beta, by differences of the exact log Z."""
    h = 1e-3 * betas + 1e-6
    low, middle, high = (
        tempered_log_z(mixture, base_variance, b) for b in (betas - h, betas, betas + h)
    )
    return (high - low) / (2 * h), (high - 2 * middle + low) / h**2


def rule_errors(mixture: GaussianMixture, base_variance: float, betas) -> RuleErrors:
    """Errors of the three rules on a ladder, without noise."""
    mean, variance = slopes(mixture, base_variance, betas)
    trapezoid = quadrature(betas, "trapezoid") @ mean - mixture.log_z
    return RuleErrors(
        float(quadrature(betas, "riemann") @ mean - mixture.log_z),
        float(trapezoid),
        float(trapezoid + correction(betas) @ variance),
    )
