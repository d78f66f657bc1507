"""Step sizes of proposals for one density and for tempered chains."""

from copy import copy
from typing import NamedTuple

import numpy as np

import rbmlib as rl
from rbmlib.numerics import ChainStream, expit, logit, softplus
from rbmlib.paths.hmc import Transition, accept

TARGET = 0.651  # acceptance of HMC (Beskos et al. 2013), used by Carlson et al.
WALK_TARGET = 0.234  # of a random walk (Roberts, Gelman & Gilks 1997)
TUNING_CHAINS, TUNING_STEPS = 100, 200
N_CHAINS, N_STEPS = 10, 50  # at each beta, for the fit of acceptance
# Bounds of fitted logits. They keep the fit finite if all proposals were accepted or none was, as
# happens at beta = 1 with the largest step, which suits beta = 0.
LOGITS = (-200.0, 10.0)
GAP = 1e-3  # of the log-likelihood


def tune_step_size(move, x, step_size: float, target: float = TARGET) -> tuple[float, np.ndarray]:
    """A step size at which ``move(x, step_size)`` accepts with ``target``, and the last states.

    Stochastic approximation of the logarithm: step t adds ``(acceptance - target) / t^0.6``,
    averaged over chains. The result is the mean over the second half of the steps.
    """
    log_step, history = np.log(step_size), []
    for t in range(1, TUNING_STEPS + 1):
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

    def step_sizes(self, target: float = TARGET) -> np.ndarray:
        """The step (K,) at which each beta accepts with ``target``, clipped to the span."""
        wanted = logit(target) - self.intercept
        low, high = self.span
        flat = self.slope > -1e-9  # no step changes the acceptance, and either end will do
        steps = wanted / np.where(flat, -1e-9, self.slope)
        return np.clip(np.where(flat, np.where(wanted < 0, high, low), steps), low, high)


def fit_acceptance(index, steps, y, n_betas: int, span) -> AcceptanceModel:
    """The monotone logistic model of acceptance (Carlson et al. 2016, appendix E, eq. 36).

    The likelihood is maximised subject to ``slope <= 0`` and to acceptance that does not rise from
    beta_k to beta_k+1 at any step of the span; both are linear in the logits at the two ends of it.
    A proposal has the ``index`` of its beta, its step size, and ``y``, its acceptance probability.
    """
    low, high = span
    index, steps, y = np.asarray(index), np.asarray(steps, float), np.asarray(y, float)
    at = (steps - low) / (high - low)  # the logit is (1 - at) a + at b, with a and b at the ends

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
    matrix = np.vstack([matrix, above, below])  # all other logits are between these two
    offset = np.r_[np.zeros(len(matrix) - 2), LOGITS[1], -LOGITS[0]]
    ends = np.r_[np.linspace(2, 1, n_betas), np.linspace(0, -1, n_betas)]
    ends = _interior_point(objective, matrix, offset, ends)
    a, b = ends[:n_betas], ends[n_betas:]
    slope = (b - a) / (high - low)
    return AcceptanceModel(a - slope * low, slope, (low, high))


def _interior_point(objective, matrix, offset, x) -> np.ndarray:
    """Minimise a convex function subject to ``matrix @ x + offset > 0``, from a feasible x.

    Newton's method is applied to ``t objective - sum log(slack)``. Its minimum is within
    ``len(offset) / t``, finally below `GAP`, of the constrained minimum (Boyd & Vandenberghe 2004,
    section 11.3).
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
        if len(offset) / t < GAP:
            return x
        t *= 50


class Walk(rl.DensityPath):
    """A `DensityPath` with random-walk Metropolis transitions, which propose ``x + step z``."""

    def _step(self, log_density, x, beta, step_size, rng) -> Transition:
        end = x + np.reshape(step_size, (-1, 1)) * rng.standard_normal(x.shape)
        with np.errstate(over="ignore", invalid="ignore"):
            error = log_density(x) - log_density(end)
        return accept(x, end, error, rng)


class AdaptedSteps(NamedTuple):
    path: rl.DensityPath  # with a step size for each beta
    fixed: rl.DensityPath  # with their mean at all betas, the paper's baseline


def with_steps(path: rl.DensityPath, step_sizes, step_betas=(0.0, 1.0)) -> rl.DensityPath:
    other = copy(path)
    other.step_betas = np.asarray(step_betas, float)
    other.step_sizes = np.broadcast_to(np.asarray(step_sizes, float), other.step_betas.shape)
    return other


def adapt_step_sizes(path: rl.DensityPath, betas, rng=None) -> AdaptedSteps:
    """Step sizes over temperatures (Carlson et al. 2016, appendix E).

    First, steps with the target acceptance (0.651 for HMC, as in the paper, and 0.234 for the
    random walk) are found at beta = 0 (the largest step) and at beta = 1 (the smallest). Then ten
    chains at each of ``betas`` try fifty steps between these two, and each beta gets the step at
    which `fit_acceptance` gives the target.
    """
    target = WALK_TARGET if isinstance(path, Walk) else TARGET
    n = betas.size * N_CHAINS
    stream = ChainStream(rng, n)
    x = path.sample_base(TUNING_CHAINS, stream)
    size, tuned = np.sqrt(path.base_variance), []
    for beta in (0.0, 1.0):
        size, x = tune_step_size(
            lambda x, step, b=beta: path.move(x, b, step, stream), x, size, target
        )
        tuned.append(size)
    low, high = sorted(tuned)
    index = np.tile(np.arange(betas.size), N_CHAINS)
    x, tries, taken = path.sample_base(n, stream), [], []
    for beta in [*betas[1:], *[1.0] * N_STEPS]:  # a chain stays at its beta when others pass it
        steps = low * (high / low) ** stream.random((n, 1))[:, 0]
        moved = path.move(x, np.minimum(betas[index], beta), steps, stream)
        x = moved.x
        tries.append(steps)
        taken.append(moved.accepted)
    tried, accepted = np.array(tries[-N_STEPS:]), np.array(taken[-N_STEPS:])
    model = fit_acceptance(
        np.tile(index, N_STEPS), tried.ravel(), accepted.ravel(), betas.size, (low, high)
    )
    steps = model.step_sizes(target)
    return AdaptedSteps(with_steps(path, steps, betas), with_steps(path, steps.mean()))
