"""Hamiltonian Monte Carlo for densities on R^d: many chains at once, a step size for each.

A momentum p ~ N(0, I) is drawn, ``x' = p, p' = grad log p*(x)`` is followed by ``n_leapfrog``
leapfrog steps, and the end is accepted with probability min(1, exp(-energy error)), the energy
being ``H = |p|^2 / 2 - log p*(x)`` (Neal 2011). Leapfrog is reversible and keeps volume, so the
accept step alone makes the chain exact, whatever the step size; its error, O(step_size^2) over a
trajectory of fixed length, only costs acceptance. What can go wrong is a resonance: on a Gaussian
of unit variance a step turns (x, p) by about 2 arcsin(step_size / 2), so that three steps of 1 lead
from x to -x, and a chain never leaves its sphere. Step sizes that are drawn anew each time cure it.

For tempered chains the best step size depends on beta. Carlson et al. (2016, appendix E) fit a
logistic model of acceptance, monotone in beta and in the step size, and read it off there:
`tune_step_size` at both ends of the ladder, then `fit_acceptance` in between.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._numerics import expit, logit, softplus
from .._streams import ChainStream
from .._validation import count, finite_array, function, generator, number, numeric, probability

TARGET = 0.651  # acceptance of HMC (Beskos et al. 2013), used by Carlson et al.
TARGET_RANDOM_WALK = 0.234  # Roberts, Gelman & Gilks 1997
# Bounds of fitted logits. At the largest step, which suits beta = 0, chains at beta = 1 accept
# next to nothing; where all or nothing was accepted the bounds keep the fit finite.
LOGITS = (-200.0, 10.0)


class Transition(NamedTuple):
    """What a step did to each chain."""

    x: np.ndarray  # (n_chains, d) where the chains are now
    accepted: np.ndarray  # (n_chains,) bool
    energy_error: np.ndarray  # (n_chains,) H(end) - H(start), nats; inf where it overflowed

    @property
    def probability(self) -> np.ndarray:
        """Probability with which each proposal was accepted (n_chains,)."""
        return np.exp(-np.maximum(self.energy_error, 0.0))


def hmc(log_density, gradient, x, step_size, n_leapfrog: int, rng=None) -> Transition:
    """One step of Hamiltonian Monte Carlo of each chain, which leaves its density invariant.

    Parameters
    ----------
    log_density : callable
        ``log_density(x)`` -> (n_chains,), nats, up to a constant; row i may have a density of
        its own (its own beta).
    gradient : callable
        ``gradient(x)`` -> (n_chains, d), of ``log_density``.
    x : array (n_chains, d)
    step_size : float or array (n_chains,)
        Positive. It may depend on a chain's beta, not on its x.
    n_leapfrog : int
        Leapfrog steps; ``n_leapfrog + 1`` gradients are computed.
    rng : int, Generator or ChainStream

    Returns
    -------
    Transition
        ``x, accepted, energy_error``.

    Raises
    ------
    ValueError
        If a shape does not fit, or a step size is not positive.

    Examples
    --------
    >>> import numpy as np
    >>> rng, x = np.random.default_rng(0), np.zeros((1000, 2))
    >>> for _ in range(20):
    ...     x, accepted, error = hmc(lambda x: -(x**2).sum(1) / 2, lambda x: -x, x, 0.5, 3, rng)
    >>> bool(abs(x.var() - 1) < 0.1)
    True
    """
    x, step_size, rng = _checked(log_density, x, step_size, rng)
    function("gradient", gradient, "of states (n_chains, d), as many numbers")
    n_leapfrog = count("n_leapfrog", n_leapfrog)
    momentum = rng.standard_normal(x.shape)
    with np.errstate(over="ignore", invalid="ignore"):  # a diverged trajectory is rejected
        end, last = leapfrog(gradient, x, momentum, step_size, n_leapfrog)
        kinetic = ((last**2).sum(axis=1) - (momentum**2).sum(axis=1)) / 2
        error = kinetic - (_values(log_density, end) - _values(log_density, x))
    return _accept(x, end, error, rng)


def leapfrog(gradient, x, momentum, step_size, n_leapfrog: int) -> tuple[np.ndarray, np.ndarray]:
    """``n_leapfrog`` steps of size ``step_size`` (n_chains, 1): the new x and momentum.

    With the momentum turned round, the same steps lead back.
    """
    n_leapfrog = count("n_leapfrog", n_leapfrog)
    momentum = momentum + step_size / 2 * gradient(x)
    for _ in range(n_leapfrog - 1):
        x = x + step_size * momentum
        momentum = momentum + step_size * gradient(x)
    x = x + step_size * momentum
    return x, momentum + step_size / 2 * gradient(x)


def random_walk(log_density, x, step_size, rng=None, *, root=None) -> Transition:
    """One step of random-walk Metropolis: propose ``x + step_size * root z``, z standard normal.

    Parameters
    ----------
    log_density, x, step_size, rng
        As in `hmc`.
    root : array (d, d) or (n_chains, d, d), optional
        A root of the covariance of proposals, see `covariance_root`; the identity by default.
        One a chain may depend on its beta, not on its x.

    Returns
    -------
    Transition
        ``energy_error`` is ``log p*(x) - log p*(proposal)``.
    """
    x, step_size, rng = _checked(log_density, x, step_size, rng)
    step = rng.standard_normal(x.shape)
    if root is not None:
        step = np.einsum("...ij,...j->...i", _checked_root(root, *x.shape), step)
    end = x + step_size * step
    with np.errstate(over="ignore", invalid="ignore"):
        error = _values(log_density, x) - _values(log_density, end)
    return _accept(x, end, error, rng)


def covariance_root(x) -> np.ndarray:
    """Cholesky factor (d, d) of the covariance of states (n_states, d), scaled by 2.38 / sqrt(d).

    With it a step size of 1 is near the best for a random walk on a Gaussian (Roberts, Gelman &
    Gilks 1997). States of an earlier run: a chain that learns from its own past needs care.
    """
    x = finite_array("x", x, (None, None), "(n_states, d)")
    n, d = x.shape
    if n <= 2 * d:
        raise ValueError(f"x holds {n} states: expected more than {2 * d}, for {d} dimensions")
    return _scaled_root("x", np.atleast_2d(np.cov(x.T)))


def scaled_root(covariance) -> np.ndarray:
    """`covariance_root` of a covariance (d, d) that is known."""
    return _scaled_root("covariance", covariance)


def _scaled_root(name: str, covariance) -> np.ndarray:
    d = np.shape(covariance)[0] if np.ndim(covariance) == 2 else None
    covariance = finite_array(name, covariance, (d, d), "(d, d)")
    try:
        return np.linalg.cholesky(covariance) * 2.38 / np.sqrt(d)
    except np.linalg.LinAlgError:
        raise ValueError(
            f"{name} has a covariance that is not positive definite: expected eigenvalues above 0"
        ) from None


def _checked(log_density, x, step_size, rng):
    function("log_density", log_density, "of states (n_chains, d), (n_chains,) numbers")
    x = finite_array("x", x, (None, None), "(n_chains, d), one row a chain")
    if not x.size:
        raise ValueError(f"x has shape {x.shape}: expected (n_chains, d), one row a chain")
    meaning = f"a positive number, or ({len(x)},), one a chain"
    step_size = numeric("step_size", step_size, meaning).astype(float)
    sizes = (step_size > 0) & (step_size < np.inf)
    if step_size.shape not in ((), (len(x),)) or not sizes.all():
        raise ValueError(
            f"step_size has shape {step_size.shape} or a value that is not positive and finite: "
            f"expected {meaning}"
        )
    step_size = np.broadcast_to(step_size, len(x))[:, None]
    return x, step_size, rng if isinstance(rng, ChainStream) else generator(rng)


def _checked_root(root, n: int, d: int) -> np.ndarray:
    shape = (n, d, d) if np.ndim(root) == 3 else (d, d)
    meaning = f"({d}, {d}), as of covariance_root, or ({n}, {d}, {d}), one a chain"
    return finite_array("root", root, shape, meaning)


def _values(log_density, x) -> np.ndarray:
    values = np.asarray(log_density(x), float)
    if values.shape != x.shape[:1]:
        raise ValueError(f"log_density gives shape {values.shape}: expected {x.shape[:1]}, one "
                         "value a chain")  # fmt: skip
    return values


def _accept(x, end, error, rng) -> Transition:
    error = np.where(np.isnan(error), np.inf, error)
    accepted = np.log(rng.random((len(x), 1))[:, 0]) < -error
    return Transition(np.where(accepted[:, None], end, x), accepted, error)


# step sizes ---------------------------------------------------------------------------------


def tune_step_size(
    move, x, step_size: float = 1.0, *, target: float = TARGET, n_steps: int = 200
) -> tuple[float, np.ndarray]:
    """A step size at which ``move(x, step_size)`` accepts with probability ``target``.

    Stochastic approximation on its logarithm: step t adds ``(acceptance - target) / t^0.6``, the
    mean over chains; the second half of the steps is averaged. What moves the chains while it
    changes is not a sample: throw it away.

    Parameters
    ----------
    move : callable
        ``move(x, step_size)`` -> `Transition`.
    x : array (n_chains, d)
    step_size : float
        To begin with.

    Returns
    -------
    step_size : float
    x : ndarray (n_chains, d)
        Where the chains ended.
    """
    target = probability("target", target)
    log_step = np.log(number("step_size", step_size, "a positive number", above=0))
    function("move", move, "of states and a step size, a Transition")
    history = []
    for t in range(1, count("n_steps", n_steps, 2) + 1):
        moved = move(x, np.exp(log_step))
        x = moved.x
        log_step += (moved.probability.mean() - target) / t**0.6
        history.append(log_step)
    return float(np.exp(np.mean(history[len(history) // 2 :]))), x


class AcceptanceModel(NamedTuple):
    """logit p(accept | beta_k, step) = intercept[k] + slope[k] step (appendix E, eq. 35)."""

    intercept: np.ndarray  # (K,) w0
    slope: np.ndarray  # (K,) w1, 0 or less
    span: tuple[float, float]  # smallest and largest step size
    log_likelihood: float

    def probability(self, step_size) -> np.ndarray:
        """Acceptance at each beta (K,)."""
        return expit(self.intercept + self.slope * step_size)

    def step_sizes(self, target: float = TARGET) -> np.ndarray:
        """The step at which each beta accepts with ``target``, clipped to the span: (K,)."""
        wanted = logit(probability("target", target)) - self.intercept
        low, high = self.span
        flat = self.slope > -1e-9  # acceptance that no step changes: all or none will do
        steps = wanted / np.where(flat, -1e-9, self.slope)
        return np.clip(np.where(flat, np.where(wanted < 0, high, low), steps), low, high)


def fit_acceptance(index, step_size, accepted, n_betas: int, span) -> AcceptanceModel:
    """The monotone logistic model of acceptance (Carlson et al. 2016, appendix E, eq. 36).

    Maximises the likelihood under ``slope <= 0`` and acceptance that does not rise from beta_k to
    beta_k+1 at any step of the span; both are linear in the logits at the two ends of the span,
    which is how they are written here, and the likelihood is concave.

    Parameters
    ----------
    index : array (n,)
        Index of beta of each proposal.
    step_size, accepted : array (n,)
        Its step size, and whether it was accepted (or the probability with which it was).
    n_betas : int
    span : (smallest, largest) step size

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> index, step = rng.integers(2, size=4000), rng.uniform(0.1, 2.0, size=4000)
    >>> yes = rng.random(4000) < 1 / (1 + np.exp(-(4 - (2 + 2 * index) * step)))
    >>> fit_acceptance(index, step, yes, 2, (0.1, 2.0)).slope.round(0).tolist()
    [-2.0, -4.0]
    """
    n_betas = count("n_betas", n_betas)
    low, high = (number("span", s, "(smallest, largest) step size, above 0", above=0) for s in span)
    if not low < high:
        raise ValueError(f"span is {span!r}: expected (smallest, largest) step size")
    meaning = f"(n,), whole numbers from 0 to {n_betas - 1}"
    given = finite_array("index", index, (None,), meaning)
    index = given.astype(int)
    if not (given.size and np.isin(given, np.arange(n_betas)).all()):
        raise ValueError(f"index holds something other than indices of betas: expected {meaning}")
    steps, y = (
        finite_array(name, value, index.shape, f"{index.shape}, one a proposal")
        for name, value in (("step_size", step_size), ("accepted", accepted))
    )
    if not (0 <= y.min() <= y.max() <= 1):
        raise ValueError(f"accepted runs from {y.min()} to {y.max()}: expected 0 to 1")
    at = (steps - low) / (high - low)  # the logit is (1 - at) a + at b of the two ends a, b

    def objective(ends):
        """Minus the log-likelihood, its gradient and its Hessian."""
        logits = (1 - at) * ends[index] + at * ends[n_betas + index]
        p = expit(logits)
        slopes = [np.bincount(index, w * (p - y), n_betas) for w in (1 - at, at)]
        aa, ab, bb = (np.diag(np.bincount(index, w * p * (1 - p), n_betas))
                      for w in ((1 - at) ** 2, (1 - at) * at, at**2))  # fmt: skip
        value = (softplus(logits) - y * logits).sum()
        return value, np.concatenate(slopes), np.block([[aa, ab], [ab, bb]])

    eye, none = np.eye(n_betas), np.zeros((n_betas - 1, n_betas))
    falls = eye[:-1] - eye[1:]
    above, below = -np.eye(2 * n_betas)[:1], np.eye(2 * n_betas)[-1:]
    matrix = np.block([[falls, none], [none, falls], [eye, -eye]])
    matrix = np.vstack([matrix, above, below])  # all others lie between these two
    offset = np.r_[np.zeros(len(matrix) - 2), LOGITS[1], -LOGITS[0]]
    ends = np.r_[np.linspace(2, 1, n_betas), np.linspace(0, -1, n_betas)]
    ends = _interior_point(objective, matrix, offset, ends)
    a, b = ends[:n_betas], ends[n_betas:]
    slope = (b - a) / (high - low)
    return AcceptanceModel(a - slope * low, slope, (low, high), -float(objective(ends)[0]))


def _interior_point(objective, matrix, offset, x, gap: float = 1e-3) -> np.ndarray:
    """Minimise a convex function where ``matrix @ x + offset > 0``, from an x inside.

    Newton's method on ``t objective - sum log(slack)``; its minimum is within ``len(offset) / t``,
    in the end below ``gap``, of the constrained one (Boyd & Vandenberghe 2004, section 11.3).
    """
    t = 1.0
    while True:
        for _ in range(50):
            slack = matrix @ x + offset
            value, gradient, hessian = objective(x)
            gradient = t * gradient - matrix.T @ (1 / slack)
            hessian = t * hessian + (matrix.T / slack**2) @ matrix
            step = -np.linalg.solve(hessian, gradient)
            descent, move = float(-gradient @ step), matrix @ step
            if descent < 1e-4:  # of t times the objective
                break
            size = min(1.0, 0.99 / max((-move / slack).max(), 1e-300))
            now = t * value - np.log(slack).sum()
            while size > 1e-6:
                trial = t * objective(x + size * step)[0] - np.log(slack + size * move).sum()
                if trial <= now - 0.1 * size * descent:
                    break
                size /= 2
            x = x + size * step
        if len(offset) / t < gap:
            return x
        t *= 50
