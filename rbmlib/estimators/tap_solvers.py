"""Find stationary points of Gamma, the free energy of `tap`, by sweeps and Newton's method.

A state x (n_starts, n_visible + n_hidden) holds the logits of the magnetisations of both layers, so
that 1 - m is as accurate as m.
"""

import warnings
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgWarning, lu_factor, lu_solve

from ..context import bar
from ..numerics import expit, is_positive_definite, softplus

TOLERANCE = 1e-10  # of the gradient with respect to the magnetisations, at a fixed point
# distances from self-consistency at which Newton's method is tried (three times at most)
HAND_OVER = np.array([1e-3, 1e-5, 1e-8, 0.0])
NEAR = 1e-2  # largest difference of magnetisations for which second derivatives are reused
SERVES = 3  # factor by which reused derivatives must reduce the gradient
EVERY, FURTHEST = 5, 100.0  # sweeps between extrapolations, and their largest factor
PATIENCE, BEHIND = 100, 1.0  # sweeps, and nats above a fixed point, to abandon a start
ALIKE = 1e-6  # largest difference of magnetisations of equal fixed points


class Cumulants(NamedTuple):
    """Cumulants 1 to ``order`` of independent bits, and their derivatives with respect to m."""

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
        """Return -S - bias m - sum_n field_n kappa_n of each unit."""
        terms = sum(p * k for p, k in zip(fields, self.values, strict=True))
        return self.mean * (self.logits - bias) - softplus(self.logits) - terms

    def gradient(self, bias, fields):
        """Return the derivative of the energy with respect to m."""
        return self.logits - bias - sum(p * s for p, s in zip(fields, self.slopes, strict=True))

    def curvature(self, fields):
        """Return the derivative of `gradient` with respect to the logit."""
        return 1 - self.variance * sum(p * c for p, c in zip(fields, self.curvatures, strict=True))


class Expansion(NamedTuple):
    """Gamma up to an order; layer 0 is visible, layer 1 hidden."""

    biases: tuple[np.ndarray, np.ndarray]
    powers: list  # W^n / n!

    @classmethod
    def of(cls, rbm, order):
        powers = [rbm.weights]
        for n in range(2, order + 1):
            powers.append(powers[-1] * rbm.weights / n)
        return cls((rbm.visible_bias, rbm.hidden_bias), powers)

    def split(self, x):
        """Return views of the two layers."""
        n = self.biases[0].size
        return x[..., :n], x[..., n:]

    def cumulants(self, x):
        return [Cumulants.of(layer, len(self.powers)) for layer in self.split(x)]

    def fields(self, other, layer):
        """Return W^n kappa_n / n! of the other layer, for each unit of this layer."""
        powers = (w if layer else w.T for w in self.powers)
        return [k @ w for k, w in zip(other.values, powers, strict=True)]

    def free_energy(self, x):
        """Return Gamma (n_starts,) in nats."""
        visible, hidden = self.cumulants(x)
        fields = self.fields(visible, 1)
        alone = visible.energy(self.biases[0], [0.0] * len(fields))
        return alone.sum(axis=1) + hidden.energy(self.biases[1], fields).sum(axis=1)

    def gradient(self, x):
        """Return the derivatives of Gamma with respect to the magnetisations."""
        both = self.cumulants(x)
        parts = [both[i].gradient(self.biases[i], self.fields(both[1 - i], i)) for i in (0, 1)]
        return np.concatenate(parts, axis=1)

    def hessian(self, x):
        """Return the Hessian at one state: the diagonals of both layers, and the block between."""
        both = self.cumulants(x[None])
        fields = self.fields(both[1], 0), self.fields(both[0], 1)
        diagonals = [(x.curvature(f) / x.variance)[0] for x, f in zip(both, fields, strict=True)]
        block = -self.powers[0]
        for n in range(1, len(self.powers)):
            term = self.powers[n] * both[1].slopes[n]
            term *= both[0].slopes[n].T
            block -= term
        return *diagonals, block


class FixedPoints(NamedTuple):
    """Stationary points of Gamma, lowest first."""

    free_energy: np.ndarray  # (n_points,) Gamma, nats
    visible: np.ndarray  # (n_points, n_visible) magnetisations
    hidden: np.ndarray  # (n_points, n_hidden)
    visible_logit: np.ndarray  # logits, which keep the digits of 1 - m
    hidden_logit: np.ndarray
    gradient: np.ndarray  # (n_points,) largest derivative of Gamma with respect to one m
    is_minimum: np.ndarray  # (n_points,) bool: a local minimum, else a saddle
    n_starts: np.ndarray  # (n_points,) int: starts that led here


def solve(expansion, x, solver, damping, max_sweeps, ahead=False):
    """Return the fixed points, the history of Gamma, and how many starts reached a fixed point.

    With ``ahead``, slow starts are extrapolated from time to time, and abandoned if they stay above
    a fixed point.
    """
    n_starts, x, known = len(x), np.array(x), []
    gamma, before, moved = expansion.free_energy(x), x.copy(), np.zeros(n_starts)
    history, tried = [gamma], np.zeros(n_starts, int)  # attempts of Newton's method
    arrived, left = np.zeros(n_starts, bool), np.zeros(n_starts, bool)
    with bar(n_starts, "tap") as shown:
        for n_sweeps in range(1, max_sweeps + 1):
            if ahead and n_sweeps > PATIENCE and arrived.any():
                left |= ~arrived & (gamma > gamma[arrived].min() + BEHIND)
            on = np.flatnonzero(~arrived & ~left)
            if not on.size:
                break
            x[on], now, distance = sweep(expansion, x[on], solver, damping)
            if ahead and n_sweeps % EVERY == 0:
                x[on], now, moved[on] = _further(expansion, x[on], now, before[on], moved[on])
                before[on] = x[on]
            gamma = gamma.copy()
            gamma[on] = now
            history.append(gamma)
            for i in on[distance < HAND_OVER[tried[on]]]:
                tried[i] += 1
                point = _newton(expansion, x[i], known)
                if point is not None:
                    x[i], arrived[i] = point, True
                    shown.update(1)
    return _distinct(expansion, x[arrived]), np.array(history)[:, ~left], int(arrived.sum())


def sweep(expansion, x, solver, damping):
    """Update the hidden and then the visible units, as in eqs. (15) and (16).

    Returns the state, its Gamma, and the largest difference between magnetisations before the
    update and the right-hand sides. Logits are not compared, because -80 and -90 are equivalent.
    """
    x, distance, order = x.copy(), 0.0, len(expansion.powers)
    for layer in (1, 0):
        both = expansion.cumulants(x)
        here, other, bias = both[layer], both[1 - layer], expansion.biases[layer]
        fields = expansion.fields(other, layer)
        target = here.logits - here.gradient(bias, fields)
        distance = np.maximum(distance, np.abs(here.mean - expit(target)).max(axis=1))
        if solver == "minimise":
            here.logits[:] = _minimised(here, bias, fields, order)
        else:  # damping m + (1 - damping) sigmoid(target)
            share = 1 - damping
            on = damping * here.mean + share * expit(target)
            off = damping * expit(-here.logits) + share * expit(-target)
            here.logits[:] = np.log(on) - np.log(off)
    alone = other.energy(expansion.biases[1], [0.0] * order).sum(axis=1)
    gamma = alone + expansion.cumulants(x)[0].energy(bias, fields).sum(axis=1)
    return x, gamma, distance


def _minimised(units, bias, fields, order):
    """Return logits after a Newton step of each unit, halved until it lowers the energy."""
    gradient, now = units.gradient(bias, fields), units.energy(bias, fields)
    step = -gradient / np.maximum(units.curvature(fields), 1.0)
    for _ in range(40):
        after = Cumulants.of(units.logits + step, order).energy(bias, fields)
        worse = after > now + 1e-12 * (1 + np.abs(now))
        if not worse.any():
            break
        step[worse] /= 2
    return units.logits + step


def _further(expansion, x, gamma, before, moved):
    """Extrapolate the moves of states; return states, Gamma, and lengths of the moves.

    ``before`` holds the states some sweeps ago, and ``moved`` the lengths of the moves to them.
    Moves that shrink by a factor form a geometric series. Its remaining sum is added at once, if
    this lowers Gamma.
    """
    moves = x - before
    lengths = np.sqrt(sum((layer**2).sum(axis=1) for layer in expansion.split(moves)))
    with np.errstate(divide="ignore", invalid="ignore"):
        shrink = np.where(moved > 0, lengths / moved, 0.0)
        rest = np.where(shrink < 1, shrink / (1 - shrink), FURTHEST)
    for times in (1.0, 3.0):
        ahead = x + np.minimum(times * rest, FURTHEST)[:, None] * moves
        there = expansion.free_energy(ahead)
        x = np.where((there < gamma)[:, None], ahead, x)
        gamma = np.minimum(there, gamma)
    return x, gamma, lengths


def _distinct(expansion, points):
    """Return the distinct fixed points, lowest Gamma first."""
    kept: list[int] = []
    means, n_starts = expit(points), np.zeros(len(points), int)
    for i, mean in enumerate(means):
        alike = [j for j in kept if np.abs(mean - means[j]).max() < ALIKE]
        if not alike:
            kept.append(i)
        n_starts[alike[0] if alike else i] += 1
    x, n_starts = points[kept or slice(0)], n_starts[kept or slice(0)]
    order = np.argsort(expansion.free_energy(x))
    x, n_starts = x[order], n_starts[order]
    largest = np.abs(expansion.gradient(x)).max(axis=1)
    minima = np.array([_is_minimum(expansion, point) for point in x], bool)
    layers, gamma = expansion.split(x), expansion.free_energy(x)
    return FixedPoints(gamma, *map(expit, layers), *layers, largest, minima, n_starts)


def _is_minimum(expansion, x):
    d_v, _, schur = _eliminated(expansion, x)
    return bool(d_v.min() > 0) and is_positive_definite(schur)


# Newton's method ------------------------------------------------------------------------------


def _newton(expansion, x, known, n_steps=40):
    """Take one state to a zero of the gradient, or return None if Newton's method fails.

    Second derivatives ``known`` from a nearby state are reused while they reduce the gradient; new
    ones are added to the list.
    """
    gradient = expansion.gradient(x[None])[0]
    best = np.abs(gradient).max()
    near = (s for s in known if np.abs(s.mean - expit(x)).max() < NEAR)
    slopes, fresh = next(near, None), False
    for _ in range(n_steps):
        if slopes is None:
            slopes, fresh = Slopes.at(expansion, x), True
            if slopes is None:
                break
            known.append(slopes)
        after = slopes.step(gradient, x)
        tried = expansion.gradient(after[None])[0]
        residual = np.abs(tried).max()
        if not residual < best / 2:  # rounding error, or divergence
            if fresh or best <= TOLERANCE:
                break
            slopes = None
            continue
        quick = residual <= max(best / SERVES, TOLERANCE)
        x, gradient, best, fresh = after, tried, residual, False
        slopes = slopes if quick else None
    return x if best <= TOLERANCE else None


class Slopes(NamedTuple):
    """Second derivatives of Gamma at one state, factorised for Newton's method."""

    mean: np.ndarray  # magnetisations of that state
    visible: np.ndarray  # the diagonal of the visible layer
    block: np.ndarray
    factors: tuple  # of the Schur complement of the visible layer

    @classmethod
    def at(cls, expansion, x):
        visible, block, schur = _eliminated(expansion, x)
        if not np.isfinite(schur).all():
            return None
        # if the matrix is singular, steps are not finite
        with warnings.catch_warnings(action="ignore", category=LinAlgWarning):
            factors = lu_factor(schur, overwrite_a=True, check_finite=False)
        return cls(expit(x), visible, block, factors)

    def step(self, gradient, x):
        """Return the state after a Newton step of the magnetisations."""
        g_v, g_h = gradient[: self.visible.size], gradient[self.visible.size :]
        m_h = lu_solve(self.factors, self.block.T @ (g_v / self.visible) - g_h, check_finite=False)
        m_v = -(g_v + self.block @ m_h) / self.visible
        return x + np.concatenate([m_v, m_h]) / (expit(x) * expit(-x))


def _eliminated(expansion, x):
    """Return the diagonal and the block of the visible layer, and its Schur complement."""
    d_v, d_h, block = expansion.hessian(x)
    if d_v.min() > 0:
        scaled = block / np.sqrt(d_v)[:, None]
        product = scaled.T @ scaled  # symmetric: half the work
    else:
        product = block.T @ (block / d_v[:, None])
    return d_v, block, np.diag(d_h) - product
