"""TAP: a deterministic expansion of log Z in the couplings (Thouless, Anderson & Palmer 1977).

The Legendre transform of log Z is a function of the magnetisations m = E[v], E[h]. For two layers
without couplings inside them, its expansion in W (Plefka 1982; Georges & Yedidia 1991) is

    Gamma(m) = -S(m) - b m_v - a m_h - sum_n 1/n! kappa_n(m_v) W^n kappa_n(m_h)    (n <= order)

where W^n is the element-wise power, S the entropy of independent bits, and kappa_n the n-th
cumulant of one bit: m, m(1-m), m(1-m)(1-2m). Order 1 is naive mean field, order 2 is TAP, and order
3 adds the next term; higher orders need other diagrams. This is eq. (14) of Wang's report, with a
and b exchanged. Stationary points satisfy its eqs. (15) and (16), and there log Z ~ -Gamma.

The series does not converge for strong couplings. On some trained models, every start of TAP2 leads
to an estimate of log Z that is tens of nats too high, and only the other orders reveal it.
"""

import math

import numpy as np

from .. import checks
from .._kernels import threads
from ..context import using
from ..models.conversion import as_rbm_of_bits
from ..models.mean_field import best_lower_bound
from ..numerics import expit, logit, logsumexp
from ..results import Check, Estimate, warn
from ..search.modes import APART, distinct, find_modes
from . import estimator
from .tap_solvers import Expansion, solve, sweep

ORDERS = ("mean field", "TAP2", "TAP3")
SOLVERS = ("minimise", "iterate")
CLOSE = 1.0  # nats: limit of differences between orders, and between one fixed point and all
ROUNDING = 1e-9  # relative to log Z
EDGE = 0.01  # distance of starts from 0 and 1
TRIED = ((60, 2), (24, 6))  # number of lowest modes, and sweeps from each of them
N_LOWEST, N_RANDOM = 8, 2  # distinct modes and random states from which to solve


@estimator
def tap(
    rbm,
    order: int = 2,
    rng=0,
    *,
    n_starts: int | None = None,
    starts=None,
    solver: str = "minimise",
    damping: float = 0.5,
    max_sweeps: int = 2000,
    compare=True,
) -> Estimate:
    """Approximate log Z by the mean-field (order 1), TAP2 or TAP3 free energy.

    Parameters
    ----------
    rbm : BernoulliRBM
    order : {1, 2, 3}
    rng : int, Generator or None
        The same seed gives the same bits on any number of threads.
    n_starts : int, optional
        Number of random hidden states to start from, with between 1% and all of the units on. By
        default, the starts are 2 random states and 8 of the 60 heaviest modes of
        `rbmlib.find_modes`: distinct ones with the lowest Gamma after a few sweeps. If Gamma of one
        of these starts is a nat above a fixed point after 100 sweeps, the start is abandoned.
    starts : array (n_starts, n_visible), optional
        Visible magnetisations in [0, 1] to start from instead, such as images.
    solver : {"minimise", "iterate"}
        "minimise" lowers Gamma layer by layer. At orders 1 and 2 it cannot oscillate, because Gamma
        is convex in the units of one layer while the other is fixed. "iterate" applies eqs. (15)
        and (16), ``m <- damping m + (1 - damping) sigmoid(...)``. Both end with Newton's method.
    damping : float
        In [0, 1), for "iterate".
    max_sweeps : int
        Largest number of updates of both layers for each start.
    compare : bool
        Whether to compare the value with the other orders, with the best mean-field bound and with
        a sum over states, and to warn if they refute it.

    Returns
    -------
    Estimate
        ``log_z`` is -Gamma at the lowest fixed point. ``std_error`` is NaN, because the error of
        the expansion is not known: order 1 is a lower bound, orders 2 and 3 are no bounds. If TAP2
        and TAP3 differ by nats, neither can be used; if they agree, both may still miss other
        modes. (Without biases TAP3 equals TAP2, so TAP2 is compared with mean field instead.) The
        verdict is "inconclusive", unless a sum over states agrees to within a tenth of Z or
        contradicts the value; ``std_error`` is their distance if it does.

        `states` holds the fixed points, lowest first, and ``trace["free_energy"]`` (n_sweeps + 1,
        n_starts) the history of Gamma. In ``details``, "log_z_sum" sums all fixed points as if each
        were a separate mode, "solved" says whether every start reached a fixed point, and "orders"
        holds the value of each order ("mean field": the best lower bound).

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.testsystems.random_rbm(n_visible=12, n_hidden=6, rng=0)
    >>> errors = [rl.tap(rbm, order).log_z - rl.exact(rbm).log_z for order in (1, 2, 3)]
    >>> errors[0] < 0 and abs(errors[2]) < abs(errors[1]) < abs(errors[0])
    True
    """
    rbm = as_rbm_of_bits("rbm", rbm)
    checks.instance("compare", compare, (bool, np.bool_), "True or False")
    if not isinstance(order, (int, float, np.number)) or order not in (1, 2, 3):
        raise ValueError(f"order is {order!r:.60}: expected 1 (mean field), 2 or 3")
    order, max_sweeps = int(order), checks.count("max_sweeps", max_sweeps)
    checks.one_of("solver", solver, SOLVERS)
    checks.number("damping", damping, "0 or more, and less than 1", least=0, below=1)
    expansion, values = Expansion.of(rbm, order), {}
    with threads.blas_threads(1):  # in products this small, threads wait for each other
        begin, bound = _starts(rbm, expansion, n_starts, starts, checks.generator(rng))
        ahead = bound is not None
        found, history, n_solved = solve(expansion, begin, solver, damping, max_sweeps, ahead)
        log_zs = rbm.log_scale - found.free_energy
        log_z = float(log_zs[0]) if n_solved else math.nan
        if compare and n_solved:
            bound = best_lower_bound(rbm) if bound is None else bound
            values = _orders(rbm, order, found, log_z, bound, max_sweeps)
    n_starts, solved = history.shape[1], n_solved == history.shape[1]
    if not solved:
        ways = "solver='minimise', a damping nearer to 1, or " if solver == "iterate" else ""
        failed = f"tap: {n_starts - n_solved} of {n_starts} starts did not converge"
        warn(f"{failed}; use {ways}a larger max_sweeps")
    details = _compared(order, log_zs, values) if values else {"checks": []}
    details["checks"].append(Check("starts that end at a fixed point", solved, n_solved, n_starts))
    details["reason"] = "the error of the expansion is unknown"
    details |= {"solved": solved, "n_solved": n_solved, "n_fixed_points": len(log_zs)}
    details["log_z_sum"] = float(logsumexp(log_zs)) if n_solved else math.nan
    bounds = {"bound": "lower", "mean_log_z": log_z, "mean_std_error": 0.0} if order == 1 else {}
    settings = {"order": order, "solver": solver}
    settings["damping"] = damping if solver == "iterate" else None
    return Estimate(
        ORDERS[order - 1], log_z, std_error=math.nan, interval=(-math.inf, math.inf),
        verdict="inconclusive",  # its error is unknown; see `search.check`
        n_chains=n_starts, n_sweeps=len(history) - 1, settings=settings, details=details,
        trace={"free_energy": history, "log_z": log_zs, "n_starts": found.n_starts}, states=found,
        **bounds,  # type: ignore[arg-type]
    )  # fmt: skip


def _starts(rbm, expansion, n_starts, starts, rng):
    """Return logits (n_starts, n_visible + n_hidden) to start from, and a lower bound.

    The bound on log Z is the best bound of the modes, or None if the starts are not modes.
    """
    if starts is not None:
        meaning = f"visible magnetisations (n_starts, {rbm.n_visible}) in [0, 1]"
        visible = checks.array("starts", starts, (None, rbm.n_visible), meaning)
        if not len(visible) or visible.min() < 0 or visible.max() > 1:
            raise ValueError(f"starts is empty or has values outside [0, 1]: expected {meaning}")
        visible = np.clip(visible, EDGE, 1 - EDGE)
        return np.hstack([logit(visible), rbm.field(visible)]), None
    if n_starts is not None:
        return _random(rbm, checks.count("n_starts", n_starts), rng), None
    modes = find_modes(rbm, rng=rng, most=TRIED[0][0])
    x = np.hstack([rbm.visible_field(modes.hidden), rbm.field(modes.visible)])
    gamma = -modes.log_z
    for most, n_sweeps in TRIED:
        x = x[np.argsort(gamma, kind="stable")[:most]]
        for _ in range(n_sweeps):
            x, gamma, _ = sweep(expansion, x, "minimise", 0.0)
    lowest = distinct(expit(expansion.split(x)[0]), -gamma, APART)[:N_LOWEST]
    begin = np.concatenate([x[lowest], _random(rbm, N_RANDOM, rng)])
    return begin, float(modes.lower_bound.max())


def _random(rbm, n_starts, rng):
    dense = rng.random(n_starts) < 0.5
    density = np.where(dense, rng.random(n_starts), 10 ** rng.uniform(-2, 0, n_starts))
    hidden = (rng.random((n_starts, rbm.n_hidden)) < density[:, None]).astype(float)
    hidden = np.clip(hidden, EDGE, 1 - EDGE)
    return np.hstack([rbm.visible_field(hidden), logit(hidden)])


def _orders(rbm, order, found, log_z, bound, max_sweeps):
    """Return log Z by each order; the other orders start from the lowest fixed point only."""
    begin = np.hstack([found.visible_logit[:1], found.hidden_logit[:1]])
    values = {ORDERS[0]: max(bound, log_z) if order == 1 else bound}
    for other in (2, 3):
        value = log_z
        if other != order:
            expansion = Expansion.of(rbm, other)
            with using(progress=False):
                points, _, n = solve(expansion, begin, "minimise", 0.0, max_sweeps, ahead=True)
            value = float(rbm.log_scale - points.free_energy[0]) if n else math.nan
        values[ORDERS[other - 1]] = value
    return values


def _compared(order, log_zs, values):
    """Return details on the orders and the best lower bound, and warn if they refute log Z."""
    log_z, bound = float(log_zs[0]), values[ORDERS[0]]
    apart, more = abs(values["TAP2"] - values["TAP3"]), float(logsumexp(log_zs)) - log_z
    slack = CLOSE if order == 1 else ROUNDING * (1 + abs(log_z))  # mean field may miss a better one
    under = f"the mean-field bound, {bound:.2f}, lies"
    above, found = bound - log_z, [Check(f"{under} below this value", True)]
    if not above <= 0:  # also if no mean-field solution was found
        found = [Check(f"{under} above this value by", above <= slack, above, slack, "nats")]
    if order > 1:
        orders = "TAP2 and TAP3 differ by"
        if apart <= ROUNDING * (1 + abs(log_z)):  # the third term is 0
            apart = abs(values["TAP2"] - bound)
            orders = "TAP2, which TAP3 repeats here, and mean field differ by"
        found.append(Check(orders, apart <= CLOSE, apart, CLOSE, "nats"))
        found.append(Check("other fixed points add", more <= CLOSE, more, CLOSE, "nats"))
    span = float(np.ptp(list(values.values())))
    if failed := [str(check) for check in found if not check.passed]:
        warn(
            f"tap: this value, which has no error bar, is unreliable: {'; '.join(failed)}. "
            + ", ".join(f"{name} {value:.1f}" for name, value in values.items())
            + f" (the first is a lower bound) span {span:.1f} nats, so the expansion does not "
            "converge for couplings as strong as these; use rl.log_z or rl.ais"
        )
    return {"orders": values, "disagreement": span, "checks": found}
