"""Step sizes and covariances of proposals, for one density and for a ladder of them.

For tempered chains the best step size depends on beta. Carlson et al. (2016, appendix E) fit a
logistic model of acceptance, monotone in beta and in the step size, and read it off there:
`tune_step_size` at both ends of the ladder, then `fit_acceptance` in between.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..checks import array, count, function, number, probability
from ..numerics import expit, logit, softplus

TARGET = 0.651  # acceptance of HMC (Beskos et al. 2013), used by Carlson et al.
TARGET_RANDOM_WALK = 0.234  # Roberts, Gelman & Gilks 1997
# Bounds of fitted logits. At the largest step, which suits beta = 0, chains at beta = 1 accept
# next to nothing; where all or nothing was accepted the bounds keep the fit finite.
LOGITS = (-200.0, 10.0)


def scaled_root(covariance) -> np.ndarray:
    """Cholesky factor (d, d) of a covariance, scaled by 2.38 / sqrt(d).

    With it a step size of 1 is near the best for a random walk on a Gaussian (Roberts, Gelman &
    Gilks 1997).
    """
    d = np.shape(covariance)[0] if np.ndim(covariance) == 2 else 0
    covariance = array("covariance", covariance, (d, d), "(d, d)")
    try:
        return np.linalg.cholesky(covariance) * 2.38 / np.sqrt(d)
    except np.linalg.LinAlgError:
        raise ValueError(
            "covariance is not positive definite: expected eigenvalues above 0"
        ) from None


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


def fit_acceptance(index, steps, y, n_betas: int, span) -> AcceptanceModel:
    """The monotone logistic model of acceptance (Carlson et al. 2016, appendix E, eq. 36).

    Maximises the likelihood under ``slope <= 0`` and acceptance that does not rise from beta_k to
    beta_k+1 at any step of the span; both are linear in the logits at the two ends of the span,
    which is how they are written here, and the likelihood is concave. Of each proposal: the
    ``index`` of its beta, its step size, and ``y``, whether it was accepted or how probably.
    """
    low, high = span
    index, steps, y = np.asarray(index), np.asarray(steps, float), np.asarray(y, float)
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
