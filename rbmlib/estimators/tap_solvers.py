"""Ways to the stationary points of Gamma: sweeps of both layers, then Newton's method."""

import warnings
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgWarning, lu_factor, lu_solve

from ..context import bar
from ..numerics import expit
from .tap_expansion import Cumulants

TOLERANCE = 1e-10  # of the gradient with respect to the magnetisations, at a fixed point
HAND_OVER = (1e-3, 1e-5, 1e-8)  # distances from self-consistency where Newton's method is tried
NEAR = 1e-2  # magnetisations within which second derivatives are used again
SERVES = 3  # they do as long as they divide the gradient by this
EVERY, FURTHEST = 5, 100.0  # sweeps after which slow starts go further, and how much at most
PATIENCE, BEHIND = 100, 1.0  # sweeps, nats: later and higher than a fixed point, starts are left
ALIKE = 1e-6  # largest difference of magnetisations of what is called one fixed point


class FixedPoints(NamedTuple):
    """Stationary points of Gamma that were found, lowest first."""

    free_energy: np.ndarray  # (n_points,) Gamma, nats
    visible: np.ndarray  # (n_points, n_visible) magnetisations
    hidden: np.ndarray  # (n_points, n_hidden)
    visible_logit: np.ndarray  # their logits: 1 - m without loss
    hidden_logit: np.ndarray
    gradient: np.ndarray  # (n_points,) largest derivative of Gamma with respect to one m
    is_minimum: np.ndarray  # (n_points,) bool: a local minimum, else a saddle
    n_starts: np.ndarray  # (n_points,) int: starts that led here


def solve(expansion, logits, solver, damping, max_sweeps, ahead=False):
    """Fixed points from each start, the history of Gamma, and how many starts reached one.

    With ``ahead`` starts that come on slowly are moved further from time to time, and left out
    in the end if they lie behind those that have arrived.
    """
    n_starts = len(logits[0])
    logits, gamma = [np.array(x) for x in logits], expansion.free_energy(logits)
    history, solved, known = [gamma], [None] * n_starts, []
    tried = np.zeros(n_starts, int)  # how often, by Newton's method
    before, moved = [x.copy() for x in logits], np.zeros(n_starts)
    left = np.zeros(n_starts, bool)
    with bar(n_starts, "tap") as shown:
        for n_sweeps in range(1, max_sweeps + 1):
            arrived = np.array([s is not None for s in solved])
            if ahead and n_sweeps > PATIENCE and arrived.any():
                left |= ~arrived & (gamma > gamma[arrived].min() + BEHIND)
            on = np.flatnonzero(~arrived & ~left)
            if not on.size:
                break
            after, now, distance = sweep(expansion, [x[on] for x in logits], solver, damping)
            if ahead and n_sweeps % EVERY == 0:
                was = [x[on] for x in before]
                after, now, moved[on] = _further(expansion, after, now, was, moved[on])
                for layer in (0, 1):
                    before[layer][on] = after[layer]
            gamma = gamma.copy()
            gamma[on] = now
            for layer in (0, 1):
                logits[layer][on] = after[layer]
            history.append(gamma)
            for row, i in enumerate(on):
                if tried[i] < len(HAND_OVER) and distance[row] < HAND_OVER[tried[i]]:
                    tried[i] += 1
                    solved[i] = _newton(expansion, (logits[0][i], logits[1][i]), known)
                    shown.update(int(solved[i] is not None))
    points = [s for s in solved if s is not None]
    return _distinct(expansion, points), np.array(history)[:, ~left], len(points)


def sweep(expansion, logits, solver, damping):
    """Hidden, then visible units updated, as in eqs. (15) and (16).

    Returns the logits, Gamma there, and by how much the magnetisations before differed from the
    right-hand sides: of magnetisations, because logits of -80 where -90 are due do not matter.
    """
    logits, distance, order = list(logits), 0.0, len(expansion.powers)
    for layer in (1, 0):
        here, other = expansion.cumulants(logits[layer]), expansion.cumulants(logits[1 - layer])
        bias, fields = expansion.biases[layer], expansion.fields(other, layer)
        target = here.logits - here.gradient(bias, fields)
        distance = np.maximum(distance, np.abs(here.mean - expit(target)).max(axis=1))
        if solver == "minimise":
            logits[layer] = _minimised(here, bias, fields, order)
        else:
            logits[layer] = _damped(here, target, damping)
    alone = other.energy(expansion.biases[1], [0.0] * order).sum(axis=1)
    gamma = alone + expansion.cumulants(logits[0]).energy(bias, fields).sum(axis=1)
    return logits, gamma, distance


def _minimised(units, bias, fields, order):
    """Logits after a Newton step of each unit, halved until it lowers the unit's energy."""
    gradient, now = units.gradient(bias, fields), units.energy(bias, fields)
    step = -gradient / np.maximum(units.curvature(fields), 1.0)
    for _ in range(40):
        after = Cumulants.of(units.logits + step, order).energy(bias, fields)
        worse = after > now + 1e-12 * (1 + np.abs(now))
        if not worse.any():
            break
        step[worse] /= 2
    return units.logits + step


def _damped(units, target, damping):
    """Logits of ``damping m + (1 - damping) sigmoid(target)``."""
    on = damping * units.mean + (1 - damping) * expit(target)
    off = damping * expit(-units.logits) + (1 - damping) * expit(-target)
    return np.log(on) - np.log(off)


def _further(expansion, logits, gamma, before, moved):
    """States, Gamma and the last move, once states have gone on as far as their moves foretell.

    ``before`` holds the logits of some sweeps ago and ``moved`` the length of the move before
    that: moves that shrink by a factor add up to a geometric sum, whose rest is gone at once,
    unless Gamma is higher there.
    """
    moves = [now - x for now, x in zip(logits, before, strict=True)]
    lengths = np.sqrt(sum((m**2).sum(axis=1) for m in moves))
    with np.errstate(divide="ignore", invalid="ignore"):
        shrink = np.where(moved > 0, lengths / moved, 0.0)
        rest = np.where(shrink < 1, shrink / (1 - shrink), FURTHEST)
    for times in (1.0, 3.0):
        far = np.minimum(times * rest, FURTHEST)[:, None]
        ahead = [now + far * m for now, m in zip(logits, moves, strict=True)]
        there = expansion.free_energy(ahead)
        lower = (there < gamma)[:, None]
        logits = [np.where(lower, x, now) for x, now in zip(ahead, logits, strict=True)]
        gamma = np.minimum(there, gamma)
    return logits, gamma, lengths


# Newton's method ------------------------------------------------------------------------------


def _newton(expansion, logits, known, n_steps=40):
    """One state (n_visible,), (n_hidden,) taken to gradient zero, or None if it will not go.

    Derivatives of the second order are used as long as they serve, from those that are ``known``
    nearby, to which new ones are added.
    """
    gradient = expansion.gradient([x[None] for x in logits])
    best = _largest(gradient)
    slopes, fresh = next((s for s in known if s.is_near(logits)), None), False
    for _ in range(n_steps):
        if slopes is None:
            slopes, fresh = Slopes.at(expansion, logits), True
            if slopes is None:
                break
            known.append(slopes)
        after = slopes.step([g[0] for g in gradient], logits)
        tried = expansion.gradient([x[None] for x in after])
        residual = _largest(tried)
        if not residual < best / 2:  # as small as rounding lets it be, or astray
            if fresh or best <= TOLERANCE:
                break
            slopes = None
            continue
        slow = residual > best / SERVES and residual > TOLERANCE
        logits, gradient, best, fresh = after, tried, residual, False
        if slow:
            slopes = None
    return logits if best <= TOLERANCE else None


def _largest(gradient):
    return max(float(np.abs(g).max()) for g in gradient)


class Slopes(NamedTuple):
    """Second derivatives of Gamma at one state, and the factors that Newton's method needs."""

    means: tuple  # of both layers, at that state
    visible: np.ndarray  # the diagonal of the visible layer
    block: np.ndarray
    factors: tuple  # of what is left for the hidden layer once the visible one is eliminated

    @classmethod
    def at(cls, expansion, logits):
        visible, block, schur = _eliminated(expansion, logits)
        if not np.isfinite(schur).all():
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LinAlgWarning)  # of singular ones: steps are not finite
            factors = lu_factor(schur, overwrite_a=True, check_finite=False)
        return cls(tuple(map(expit, logits)), visible, block, factors)

    def is_near(self, logits):
        return all(
            np.abs(mean - expit(x)).max() < NEAR for mean, x in zip(self.means, logits, strict=True)
        )

    def step(self, gradient, logits):
        """Logits after magnetisations were changed so that these derivatives would vanish."""
        g_v, g_h = gradient
        m_h = lu_solve(self.factors, self.block.T @ (g_v / self.visible) - g_h, check_finite=False)
        m_v = -(g_v + self.block @ m_h) / self.visible
        return tuple(
            x + m / (expit(x) * expit(-x)) for m, x in zip((m_v, m_h), logits, strict=True)
        )


def _eliminated(expansion, logits):
    """Diagonal of the visible layer, the block, and what is left once that layer is eliminated."""
    d_v, d_h, block = expansion.hessian(logits)
    if d_v.min() > 0:
        scaled = block / np.sqrt(d_v)[:, None]
        product = scaled.T @ scaled  # symmetric: half the work
    else:
        product = block.T @ (block / d_v[:, None])
    return d_v, block, np.diag(d_h) - product


# what was found -------------------------------------------------------------------------------


def _distinct(expansion, points):
    """Fixed points that differ, lowest Gamma first."""
    kept, times = [], []
    for point in points:
        means = [expit(x) for x in point]
        near = [
            i
            for i, other in enumerate(kept)
            if all(np.abs(m - expit(x)).max() < ALIKE for m, x in zip(means, other, strict=True))
        ]
        if near:
            times[near[0]] += 1
        else:
            kept.append(point)
            times.append(1)
    sizes = [b.size for b in expansion.biases]
    logits = [np.array([p[i] for p in kept]).reshape(-1, sizes[i]) for i in (0, 1)]
    order = np.argsort(expansion.free_energy(logits))
    logits = [x[order] for x in logits]
    return FixedPoints(
        expansion.free_energy(logits),
        *map(expit, logits),
        *logits,
        np.maximum(*(np.abs(g).max(axis=1) for g in expansion.gradient(logits))),
        np.array([_is_minimum(expansion, p) for p in zip(*logits, strict=True)], bool),
        np.array(times, int)[order],
    )


def _is_minimum(expansion, logits):
    d_v, _, schur = _eliminated(expansion, logits)
    if d_v.min() <= 0:
        return False
    try:
        np.linalg.cholesky(schur)
    except np.linalg.LinAlgError:
        return False
    return True
