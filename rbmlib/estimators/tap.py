"""TAP: a deterministic expansion of log Z in the couplings (Thouless, Anderson & Palmer 1977).

The Legendre transform of log Z, a function of the magnetisations m = E[v], E[h], expanded in W
(Plefka 1982; Georges & Yedidia 1991), is for two layers without couplings inside them

    Gamma(m) = -S(m) - b m_v - a m_h - sum_n 1/n! kappa_n(m_v) W^n kappa_n(m_h)    (n <= order)

with W^n element by element, S the entropy of independent bits and kappa_n the n-th cumulant of
one bit: m, m(1-m), m(1-m)(1-2m). Order 1 is naive mean field, 2 TAP, 3 its next term; beyond,
other diagrams enter. This is eq. (14) of the report, whose a and b are our b and a. Stationary
points satisfy its eqs. (15) and (16), and there log Z ~ -Gamma.

Where couplings are strong the series does not converge. Each term then favours magnetisations at
which it is large: on the trained model pcd_20 TAP2 puts all hidden units near 1/2, where the term
of second order is 217 nats and that of first order 18, and log Z 37 nats too high. Every start
leads there, and it is a minimum; only the other orders tell.
"""

from __future__ import annotations

import math
import time
from typing import NamedTuple

import numpy as np

from .. import __version__
from .._diagnosis import warn
from .._numerics import expit, logit, logsumexp
from .._progress import progress_bar
from .._validation import count, finite_array, generator, instance, number, one_of, seed_of
from ..models.bernoulli import BernoulliRBM
from ..models.conversion import as_rbm
from ..models.mean_field import best_lower_bound
from ..results import Estimate
from .tap_expansion import Bits, Expansion

ORDERS = ("mean field", "TAP2", "TAP3")
SOLVERS = ("minimise", "iterate")
TOLERANCE = 1e-10  # of the gradient with respect to the magnetisations, at a fixed point
HAND_OVER = (1e-3, 1e-5, 1e-8)  # distances from self-consistency where Newton's method is tried
CLOSE = 1.0  # nats by which orders, or one fixed point and all, may differ
ALIKE = 1e-6  # largest difference of magnetisations of what is called one fixed point
ROUNDING = 1e-9  # of log Z
EDGE = 0.01  # starts are kept away from 0 and 1


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


def tap(
    rbm: BernoulliRBM, order: int = 2, rng=0, *, n_starts: int = 20, starts=None,
    solver: str = "minimise", damping: float = 0.5, max_sweeps: int = 2000, compare=True,
    progress: bool | None = None,
) -> Estimate:  # fmt: skip
    """log Z from the mean-field (order 1), TAP2 or TAP3 free energy, and all fixed points found.

    Parameters
    ----------
    rbm : BernoulliRBM
    order : {1, 2, 3}
    rng : int, Generator or None
        For the starts.
    n_starts : int
        Hidden states are drawn with anything from one unit in a hundred to all units on.
    starts : array (n_starts, n_visible), optional
        Visible magnetisations in [0, 1] to start from instead, such as images, or
        ``rl.find_modes(rbm, most=10).visible``: near fixed points, several times as quick.
    solver : {"minimise", "iterate"}
        "minimise" lowers Gamma, layer by layer: at orders 1 and 2 Gamma is convex in the units of
        one layer while the other is held, so it cannot oscillate. "iterate" is eqs. (15) and (16),
        ``m <- damping m + (1 - damping) sigmoid(...)``, one layer after the other. Both end with
        Newton's method.
    damping : float
        In [0, 1), of "iterate".
    max_sweeps : int
        Updates of both layers for each start.
    compare : bool
        Compare with the other orders, solved from the lowest fixed point, and with the best
        mean-field bound, and warn where these refute the value or make it worthless. A single
        start with ``compare=False`` is the quickest.
    progress : bool or None
        As in `rbmlib.ais`.

    Returns
    -------
    Estimate
        ``log_z`` is -Gamma at the lowest fixed point, ``std_error`` NaN: the error of an expansion
        is not known. Order 1 is a lower bound; orders 2 and 3 bound nothing. ``states`` holds the
        `FixedPoints`; ``trace["free_energy"]`` (n_sweeps + 1, n_starts) their history;
        ``settings["log_z_sum"]`` the sum over all fixed points, as if each were a separate mode.
        ``converged`` is False, with a `ConvergenceWarning`, if a start did not end at a fixed
        point. That each did says nothing of the expansion: of that ``settings["checks"]`` tells,
        with ``settings["orders"]``, what each order finds ("mean field": the best lower bound),
        and a `ConvergenceWarning` where a check failed. Where TAP2 and TAP3 differ by
        nats neither means anything. Where they agree both may still miss what other modes add:
        on large trained models they are several nats too low together.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.testsystems.random_rbm(n_visible=12, n_hidden=6, rng=0)
    >>> errors = [rl.tap(rbm, order).log_z - rl.exact(rbm).log_z for order in (1, 2, 3)]
    >>> errors[0] < 0 and abs(errors[2]) < abs(errors[1]) < abs(errors[0])
    True
    """
    started = time.perf_counter()
    rbm = as_rbm("rbm", rbm)
    instance("compare", compare, (bool, np.bool_), "True or False")
    if order not in (1, 2, 3):
        raise ValueError(f"order is {order!r}: expected 1 (mean field), 2 or 3")
    one_of("solver", solver, SOLVERS)
    number("damping", damping, "0 or more, and less than 1", least=0, below=1)
    max_sweeps = count("max_sweeps", max_sweeps)
    expansion = Expansion.of(rbm, order)
    begin = _starts(rbm, count("n_starts", n_starts), starts, generator(rng))
    with progress_bar(len(begin[0]), "tap", progress, unit="start") as bar:
        found, history, n_solved = _solve(expansion, begin, solver, damping, max_sweeps, bar)
    if n_solved < len(begin[0]):
        warn(
            f"tap: {len(begin[0]) - n_solved} of {len(begin[0])} starts did not converge; "
            + ("use solver='minimise', a damping nearer to 1, or" if solver == "iterate" else "use")
            + " a larger max_sweeps"
        )
    log_zs = rbm.log_scale - found.free_energy
    log_z = float(log_zs[0]) if n_solved else math.nan
    compared = _compared(rbm, order, found, log_zs, max_sweeps) if compare and n_solved else {}
    return Estimate(
        method=ORDERS[order - 1],
        log_z=log_z,
        std_error=math.nan,
        interval=(-math.inf, math.inf),
        bound="lower" if order == 1 else None,
        mean_log_z=log_z if order == 1 else None,
        mean_std_error=0.0 if order == 1 else None,
        n_chains=len(begin[0]),
        n_sweeps=len(history) - 1,
        seconds=time.perf_counter() - started,
        converged=n_solved == len(begin[0]),
        trace={"free_energy": history, "log_z": log_zs, "n_starts": found.n_starts},
        settings={
            "order": order,
            "solver": solver,
            "damping": damping if solver == "iterate" else None,
            "n_solved": n_solved,
            "n_fixed_points": len(log_zs),
            "log_z_sum": float(logsumexp(log_zs)) if n_solved else math.nan,
            "rng": seed_of(rng),
            "version": __version__,
        }
        | compared,
        states=found,
    )


def _starts(rbm, n_starts, starts, rng):
    """Logits (n_starts, n_visible) and (n_starts, n_hidden) to start from."""
    if starts is None:
        density = np.where(
            rng.random(n_starts) < 0.5, rng.random(n_starts), 10 ** rng.uniform(-2, 0, n_starts)
        )
        hidden = (rng.random((n_starts, rbm.n_hidden)) < density[:, None]).astype(float)
        hidden = np.clip(hidden, EDGE, 1 - EDGE)
        return rbm.visible_field(hidden), logit(hidden)
    meaning = f"visible magnetisations (n_starts, {rbm.n_visible}) in [0, 1]"
    visible = finite_array("starts", starts, (None, rbm.n_visible), meaning)
    if not len(visible) or visible.min() < 0 or visible.max() > 1:
        raise ValueError(f"starts is empty or has values outside [0, 1]: expected {meaning}")
    visible = np.clip(visible, EDGE, 1 - EDGE)
    return logit(visible), rbm.hidden_field(visible)


def _compared(rbm, order: int, found: FixedPoints, log_zs, max_sweeps: int) -> dict:
    """What the orders and the best lower bound say, for the settings; a warning if they refute it.

    The other orders begin at the lowest fixed point, so that they cost one start each.
    """
    log_z, begin = float(log_zs[0]), (found.visible_logit[:1], found.hidden_logit[:1])
    bound = best_lower_bound(rbm)
    values = {ORDERS[0]: max(bound, log_z) if order == 1 else bound}
    for other in (2, 3):
        value = log_z
        if other != order:
            expansion, silent = Expansion.of(rbm, other), progress_bar(1, "tap", False)
            points, _, n = _solve(expansion, begin, "minimise", 0.0, max_sweeps, silent)
            value = float(rbm.log_scale - points.free_energy[0]) if n else math.nan
        values[ORDERS[other - 1]] = value
    apart, more = abs(values["TAP2"] - values["TAP3"]), float(logsumexp(log_zs)) - log_z
    slack = CLOSE if order == 1 else ROUNDING * (1 + abs(log_z))  # mean field may miss a better one
    checks = {f"not below the best lower bound by mean field, {bound:.2f}": log_z >= bound - slack}
    if order > 1:
        checks |= {
            f"TAP2 and TAP3 within {CLOSE:g} nat (they differ by {apart:.2f})": apart <= CLOSE,
            f"other fixed points add {CLOSE:g} nat at most ({more:.2f})": more <= CLOSE,
        }
    failed = [text for text, passed in checks.items() if not passed]
    if failed:
        warn(
            f"tap: do not trust this value, which has no error bar: failed: {'; '.join(failed)}. "
            + ", ".join(f"{name} {value:.1f}" for name, value in values.items())
            + f" (the first is a lower bound): they span {_span(values):.1f} nats, so the "
            "expansion does not converge for couplings as strong as these; use rl.log_z or rl.ais"
        )
    return {"orders": values, "disagreement": _span(values), "checks": checks}


def _span(values: dict) -> float:
    return float(np.ptp(list(values.values())))


# solvers ------------------------------------------------------------------------------------


def _minimising_step(bits: Bits, bias, fields, order: int) -> np.ndarray:
    """Logits after a Newton step of each unit, halved until it lowers the unit's energy."""
    gradient, now = bits.gradient(bias, fields), bits.energy(bias, fields)
    step = -gradient / np.maximum(bits.curvature(fields), 1.0)
    for _ in range(40):
        after = Bits.of(bits.logits + step, order).energy(bias, fields)
        worse = after > now + 1e-12 * (1 + np.abs(now))
        if not worse.any():
            break
        step[worse] /= 2
    return bits.logits + step


def _damped_step(bits: Bits, bias, fields, damping: float) -> np.ndarray:
    """Logits of ``damping m + (1 - damping) sigmoid(...)``."""
    target = bits.logits - bits.gradient(bias, fields)
    on = damping * bits.mean + (1 - damping) * expit(target)
    off = damping * expit(-bits.logits) + (1 - damping) * expit(-target)
    return np.log(on) - np.log(off)


def _sweep(expansion: Expansion, logits, solver: str, damping: float):
    """Hidden, then visible units updated, as in eqs. (15) and (16).

    Returns the logits, Gamma there, and by how much the magnetisations before differed from the
    right-hand sides: of magnetisations, because logits of -80 where -90 are due do not matter.
    """
    logits, distance = list(logits), 0.0
    for layer in (1, 0):
        here, other = expansion.bits(logits[layer]), expansion.bits(logits[1 - layer])
        bias, fields = expansion.biases[layer], expansion.fields(other, layer)
        target = expit(here.logits - here.gradient(bias, fields))
        distance = np.maximum(distance, np.abs(here.mean - target).max(axis=1))
        if solver == "minimise":
            logits[layer] = _minimising_step(here, bias, fields, len(expansion.powers))
        else:
            logits[layer] = _damped_step(here, bias, fields, damping)
    alone = other.energy(expansion.biases[1], [0.0] * len(fields)).sum(axis=1)
    gamma = alone + expansion.bits(logits[0]).energy(bias, fields).sum(axis=1)
    return logits, gamma, distance


def _newton(expansion: Expansion, logits, n_steps: int = 20):
    """One state (n_visible,), (n_hidden,) taken to gradient zero, or None if it will not go."""
    best = expansion.residual([x[None] for x in logits])[0]
    for _ in range(n_steps):
        g_v, g_h = (g[0] for g in expansion.gradient([x[None] for x in logits]))
        d_v, d_h, block = expansion.hessian(logits)
        scaled = block / d_v[:, None]
        schur = np.diag(d_h) - block.T @ scaled
        try:
            m_h = np.linalg.solve(schur, scaled.T @ g_v - g_h)
        except np.linalg.LinAlgError:
            return None
        m_v = -(g_v + block @ m_h) / d_v
        change = (m / (expit(x) * expit(-x)) for m, x in zip((m_v, m_h), logits, strict=True))
        after = tuple(x + step for x, step in zip(logits, change, strict=True))
        residual = expansion.residual([x[None] for x in after])[0]
        if not residual < best / 2:  # as small as rounding lets it be, or astray
            return logits if best <= TOLERANCE else None
        logits, best = after, residual
    return logits if best <= TOLERANCE else None


def _solve(expansion: Expansion, logits, solver, damping, max_sweeps, bar):
    """Fixed points from each start, the history of Gamma, and how many starts reached one."""
    n_starts = len(logits[0])
    logits, gamma = [np.array(x) for x in logits], expansion.free_energy(logits)
    history, solved = [gamma], [None] * n_starts
    tried = np.zeros(n_starts, int)  # how often, by Newton's method
    for _ in range(max_sweeps):
        open_ = np.array([i for i in range(n_starts) if solved[i] is None])
        if not open_.size:
            break
        after, now, distance = _sweep(expansion, [x[open_] for x in logits], solver, damping)
        gamma = gamma.copy()
        gamma[open_] = now
        for layer in (0, 1):
            logits[layer][open_] = after[layer]
        history.append(gamma)
        for row, i in enumerate(open_):
            if tried[i] < len(HAND_OVER) and distance[row] < HAND_OVER[tried[i]]:
                tried[i] += 1
                solved[i] = _newton(expansion, (logits[0][i], logits[1][i]))
                bar.update(int(solved[i] is not None))
    points = [s for s in solved if s is not None]
    return _distinct(expansion, points), np.array(history), len(points)


def _distinct(expansion: Expansion, points) -> FixedPoints:
    """Fixed points that differ, lowest Gamma first."""
    kept, times = [], []
    for point in points:
        near = [
            i for i, other in enumerate(kept)
            if all(np.abs(expit(a) - expit(b)).max() < ALIKE
                   for a, b in zip(point, other, strict=True))
        ]  # fmt: skip
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
        expansion.residual(logits),
        np.array([_is_minimum(expansion, p) for p in zip(*logits, strict=True)], bool),
        np.array(times, int)[order],
    )


def _is_minimum(expansion: Expansion, logits) -> bool:
    d_v, d_h, block = expansion.hessian(logits)
    if d_v.min() <= 0:
        return False
    try:
        np.linalg.cholesky(np.diag(d_h) - block.T @ (block / d_v[:, None]))
    except np.linalg.LinAlgError:
        return False
    return True
