"""Gamma, the free energy whose stationary points TAP finds: see `tap`.

States are kept as logits of the magnetisations, so that 1 - m is as accurate as m.
"""

from typing import NamedTuple

import numpy as np

from ..numerics import expit, softplus


class Cumulants(NamedTuple):
    """kappa_1 .. kappa_order of independent bits, and their derivatives with respect to m."""

    logits: np.ndarray
    mean: np.ndarray
    variance: np.ndarray
    values: list
    slopes: list
    curvatures: list

    @classmethod
    def of(cls, logits, order):
        mean, off = expit(logits), expit(-logits)
        variance, skew = mean * off, off - mean
        values = [mean, variance, variance * skew]
        slopes = [np.ones_like(mean), skew, 1 - 6 * variance]
        curvatures = [np.zeros_like(mean), np.full_like(mean, -2.0), -6 * skew]
        return cls(logits, mean, variance, values[:order], slopes[:order], curvatures[:order])

    def energy(self, bias, fields):
        """-S - bias m - sum_n field_n kappa_n of each unit."""
        terms = sum(p * k for p, k in zip(fields, self.values, strict=True))
        return self.mean * (self.logits - bias) - softplus(self.logits) - terms

    def gradient(self, bias, fields):
        """Its derivative with respect to m."""
        return self.logits - bias - sum(p * s for p, s in zip(fields, self.slopes, strict=True))

    def curvature(self, fields):
        """m(1-m) times its second derivative: the derivative of `gradient` by the logit."""
        return 1 - self.variance * sum(p * c for p, c in zip(fields, self.curvatures, strict=True))


class Expansion(NamedTuple):
    """Gamma up to an order, of logits (n_starts, n_visible) and (n_starts, n_hidden)."""

    biases: tuple[np.ndarray, np.ndarray]  # visible, hidden
    powers: list  # W^n / n!

    @classmethod
    def of(cls, rbm, order):
        powers = [rbm.weights]
        for n in range(2, order + 1):
            powers.append(powers[-1] * rbm.weights / n)
        return cls((rbm.visible_bias, rbm.hidden_bias), powers)

    def cumulants(self, logits):
        return Cumulants.of(logits, len(self.powers))

    def fields(self, other, layer):
        """W^n kappa_n / n! of the other layer on the units of this one (0 visible, 1 hidden)."""
        powers = (w if layer else w.T for w in self.powers)
        return [k @ w for k, w in zip(other.values, powers, strict=True)]

    def free_energy(self, logits):
        """Gamma (n_starts,), nats."""
        visible, hidden = map(self.cumulants, logits)
        fields = self.fields(visible, 1)
        alone = visible.energy(self.biases[0], [0.0] * len(fields))
        return alone.sum(axis=1) + hidden.energy(self.biases[1], fields).sum(axis=1)

    def gradient(self, logits):
        """Derivatives of Gamma with respect to both layers' magnetisations."""
        both = [self.cumulants(x) for x in logits]
        return tuple(both[i].gradient(self.biases[i], self.fields(both[1 - i], i)) for i in (0, 1))

    def hessian(self, logits):
        """Of one state: diagonals of both layers, and the block between them."""
        both = [self.cumulants(x[None]) for x in logits]
        diagonals = [
            (both[i].curvature(self.fields(both[1 - i], i)) / both[i].variance)[0] for i in (0, 1)
        ]
        block = -self.powers[0]
        for n in range(1, len(self.powers)):
            term = self.powers[n] * both[1].slopes[n]
            term *= both[0].slopes[n].T
            block -= term
        return *diagonals, block
