"""Gamma, the free energy whose stationary points TAP finds: see `tap`.

States are kept as logits of the magnetisations, so that 1 - m is as accurate as m.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._numerics import expit, softplus
from ..models.bernoulli import BernoulliRBM


class Bits(NamedTuple):
    """Independent bits of given logits: cumulants, and their derivatives with respect to m."""

    logits: np.ndarray
    mean: np.ndarray
    variance: np.ndarray
    cumulants: list  # kappa_1 .. kappa_order
    slopes: list
    curvatures: list

    @classmethod
    def of(cls, logits, order: int) -> Bits:
        mean, off = expit(logits), expit(-logits)
        variance, skew = mean * off, off - mean
        cumulants, slopes = [mean], [np.ones_like(mean)]
        curvatures = [np.zeros_like(mean)]
        if order > 1:
            cumulants.append(variance)
            slopes.append(skew)
            curvatures.append(np.full_like(mean, -2.0))
        if order > 2:
            cumulants.append(variance * skew)
            slopes.append(1 - 6 * variance)
            curvatures.append(-6 * skew)
        return cls(logits, mean, variance, cumulants, slopes, curvatures)

    def energy(self, bias, fields) -> np.ndarray:
        """-S - bias m - sum_n field_n kappa_n of each unit."""
        terms = sum(p * k for p, k in zip(fields, self.cumulants, strict=True))
        return self.mean * (self.logits - bias) - softplus(self.logits) - terms

    def gradient(self, bias, fields) -> np.ndarray:
        """Its derivative with respect to m."""
        terms = sum(p * s for p, s in zip(fields, self.slopes, strict=True))
        return self.logits - bias - terms

    def curvature(self, fields) -> np.ndarray:
        """m(1-m) times its second derivative: the derivative of `gradient` by the logit."""
        terms = sum(p * c for p, c in zip(fields, self.curvatures, strict=True))
        return 1 - self.variance * terms


class Expansion(NamedTuple):
    """Gamma up to an order, of logits (n_starts, n_visible) and (n_starts, n_hidden)."""

    biases: tuple[np.ndarray, np.ndarray]  # visible, hidden
    powers: list  # W^n / n!

    @classmethod
    def of(cls, rbm: BernoulliRBM, order: int) -> Expansion:
        powers = [rbm.weights]
        for n in range(2, order + 1):
            powers.append(powers[-1] * rbm.weights / n)
        return cls((rbm.visible_bias, rbm.hidden_bias), powers)

    def bits(self, logits) -> Bits:
        return Bits.of(logits, len(self.powers))

    def fields(self, other: Bits, layer: int) -> list:
        """W^n kappa_n / n! of the other layer on the units of this one (0 visible, 1 hidden)."""
        powers = (w if layer else w.T for w in self.powers)
        return [k @ w for k, w in zip(other.cumulants, powers, strict=True)]

    def free_energy(self, logits) -> np.ndarray:
        """Gamma (n_starts,), nats."""
        visible, hidden = map(self.bits, logits)
        fields = self.fields(visible, 1)
        alone = visible.energy(self.biases[0], [0.0] * len(fields))
        return alone.sum(axis=1) + hidden.energy(self.biases[1], fields).sum(axis=1)

    def gradient(self, logits) -> tuple[np.ndarray, np.ndarray]:
        """Derivatives of Gamma with respect to both layers' magnetisations."""
        bits = [self.bits(x) for x in logits]
        return tuple(bits[i].gradient(self.biases[i], self.fields(bits[1 - i], i)) for i in (0, 1))

    def residual(self, logits) -> np.ndarray:
        """Largest derivative of Gamma (n_starts,)."""
        return np.maximum(*(np.abs(g).max(axis=1) for g in self.gradient(logits)))

    def hessian(self, logits):
        """Of one state: diagonals of both layers, and the block between them."""
        bits = [self.bits(x[None]) for x in logits]
        diagonals = [
            (bits[i].curvature(self.fields(bits[1 - i], i)) / bits[i].variance)[0] for i in (0, 1)
        ]
        block = -self.powers[0]
        for n in range(1, len(self.powers)):
            term = self.powers[n] * bits[1].slopes[n]
            term *= bits[0].slopes[n].T
            block -= term
        return *diagonals, block
