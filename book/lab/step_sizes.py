"""Step sizes and covariances of proposals, for one density and for a ladder of them.

For tempered chains the best step size depends on beta. Carlson et al. (2016, appendix E) fit a
logistic model of acceptance, monotone in beta and in the step size, and read it off there:
`tune_step_size` at both ends of the ladder, then `fit_acceptance` in between; `adapt_step_sizes`
does both. `adapt_covariances` shapes the proposals of a random walk.
"""

from __future__ import annotations

from copy import copy
from typing import NamedTuple

import numpy as np

import rbmlib as rl
from rbmlib import checks
from rbmlib.checks import array, count, function, number, schedule
from rbmlib.numerics import ChainStream, expit, logit, softplus
from rbmlib.paths.hmc import Transition, accept

TARGET = 0.651  # acceptance of HMC (Beskos et al. 2013), used by Carlson et al.
WALK_TARGET = 0.234  # of a random walk (Roberts, Gelman & Gilks 1997)
TUNING_CHAINS = 100
RUNG_MOVES = 5  # at each beta, of chains that are annealed to learn covariances
# Bounds of fitted logits. At the largest step, which suits beta = 0, chains at beta = 1 accept
# next to nothing; where all or nothing was accepted the bounds keep the fit finite.
LOGITS = (-200.0, 10.0)


def _probability(target) -> float:
    return number("target", target, "a probability above 0 and below 1", above=0, below=1)


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
    target = _probability(target)
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
        wanted = logit(_probability(target)) - self.intercept
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


class Walk(rl.DensityPath):
    """A `DensityPath` whose transition is random-walk Metropolis: it proposes ``x + step z``."""

    def _step(self, log_density, x, beta, step_size, rng) -> Transition:
        end = x + np.reshape(step_size, (-1, 1)) * rng.standard_normal(x.shape)
        with np.errstate(over="ignore", invalid="ignore"):
            error = log_density(x) - log_density(end)
        return accept(x, end, error, rng)


class ShapedWalk(Walk):
    """A `Walk` that proposes in the shape of the density at each beta.

    Parameters
    ----------
    target, base_variance
        As of `DensityPath`, and so are ``step_sizes``, ``step_betas`` and ``jitter``.
    covariances : array (K, d, d)
        Of states at each of ``step_betas``. A proposal has that of the nearest of these betas,
        times ``(2.38 step size)^2 / d``.
    """

    def __init__(self, target, base_variance: float, covariances, **options):
        super().__init__(target, base_variance, **options)
        shape = (self.step_betas.size, *2 * (self.target.n_visible,))
        meaning = f"{shape}, one a step_beta"
        self.covariances = array("covariances", covariances, shape, meaning)
        try:
            self._roots = np.stack([scaled_root(c) for c in self.covariances])
        except ValueError:
            raise ValueError(
                "covariances has one that is not positive definite: expected eigenvalues above 0"
            ) from None

    def move(self, x, beta, step_size, rng) -> Transition:
        middles = (self.step_betas[1:] + self.step_betas[:-1]) / 2
        nearest = np.searchsorted(middles, np.broadcast_to(beta, len(x)))
        return super().move(x, beta, step_size, _Shaped(rng, self._roots[nearest]))


class _Shaped(NamedTuple):
    """Random numbers, of which the normal ones have the covariance of each chain's root."""

    rng: object
    roots: np.ndarray  # (n_chains, d, d)

    def random(self, shape) -> np.ndarray:
        return self.rng.random(shape)

    def standard_normal(self, shape) -> np.ndarray:
        return np.einsum("...ij,...j->...i", self.roots, self.rng.standard_normal(shape))


class AdaptedSteps(NamedTuple):
    """What was found: two paths, and the model of acceptance behind the step sizes."""

    path: rl.DensityPath  # with a step size (and a covariance) for each beta
    fixed: rl.DensityPath  # with their mean at all betas: the paper's baseline
    model: AcceptanceModel


def with_steps(path: rl.DensityPath, step_sizes, step_betas=(0.0, 1.0)) -> rl.DensityPath:
    """The same path with other step sizes."""
    other = copy(path)
    other.step_betas = np.asarray(step_betas, float)
    other.step_sizes = np.broadcast_to(np.asarray(step_sizes, float), other.step_betas.shape)
    return other


def adapt_step_sizes(
    path: rl.DensityPath,
    betas,
    *,
    target: float | None = None,
    n_chains: int = 10,
    n_steps: int = 50,
    rng=None,
) -> AdaptedSteps:
    """Step sizes over temperatures (Carlson et al. 2016, appendix E).

    Steps that are accepted with probability ``target`` (by default 0.651 for HMC, the paper's, and
    0.234 for the random walk) are found at beta = 0, the largest, and at beta = 1, the smallest.
    Then ``n_chains`` chains at each of ``betas``, annealed to it, try ``n_steps`` steps drawn
    between the two, evenly on a logarithmic scale, and each beta gets the step at which a monotone
    logistic model of what they accepted accepts with ``target``.

    Examples
    --------
    >>> mixture = rl.testsystems.two_gaussians(d=2, distance=4.0)
    >>> path = rl.DensityPath(mixture, base_variance=10.0)
    >>> adapted = adapt_step_sizes(path, rl.schedules.linear(5), rng=0).path
    >>> estimate = rl.ais(adapted, rl.schedules.linear(100) ** 2, n_chains=200, rng=0)
    >>> abs(estimate.log_z - mixture.log_z) < 5 * estimate.std_error
    True
    """
    checks.instance("path", path, rl.DensityPath, "a DensityPath")
    betas, target = schedule(betas), target or (WALK_TARGET if isinstance(path, Walk) else TARGET)
    n_chains, n_steps = count("n_chains", n_chains), count("n_steps", n_steps)
    n = betas.size * n_chains
    stream = ChainStream(rng, n)
    x = path.sample_base(TUNING_CHAINS, stream)
    tuned: dict[float, float] = {}
    for beta in (0.0, 1.0):
        first = np.sqrt(path.base_variance) if beta == 0 else tuned[0.0]
        tuned[beta], x = tune_step_size(
            lambda x, step, b=beta: path.move(x, b, step, stream), x, first, target=target
        )
    low, high = sorted(tuned.values())
    index = np.tile(np.arange(betas.size), n_chains)
    x, tries, taken = path.sample_base(n, stream), [], []
    for beta in [*betas[1:], *[1.0] * n_steps]:  # a chain stays at its beta once others pass it
        steps = low * (high / low) ** stream.random((n, 1))[:, 0]
        moved = path.move(x, np.minimum(betas[index], beta), steps, stream)
        x = moved.x
        tries.append(steps)
        taken.append(moved.accepted)
    tried, accepted = np.array(tries[-n_steps:]), np.array(taken[-n_steps:])
    model = fit_acceptance(
        np.tile(index, n_steps), tried.ravel(), accepted.ravel(), betas.size, (low, high)
    )
    steps = model.step_sizes(target)
    return AdaptedSteps(with_steps(path, steps, betas), with_steps(path, steps.mean()), model)


def adapt_covariances(
    path: rl.DensityPath,
    betas,
    *,
    n_chains: int = 50,
    n_steps: int = 100,
    n_rounds: int = 2,
    rng=None,
) -> AdaptedSteps:
    """Proposals of the random walk in the shape of the density at each beta.

    Steps in all directions are adapted first (`adapt_step_sizes`). With them ``n_chains`` chains
    at each of ``betas``, annealed to it, make ``2 n_steps`` steps, and the covariance of the states
    of the second half shapes the proposals there, scaled as `scaled_root` does. Chains that
    walk with these give the covariances of the next of ``n_rounds``. The last ones stay as they
    are: a chain that goes on to learn from its own past would not leave its density invariant.

    ``path`` is a `Walk`; ``fixed`` of what is returned has the mean of the
    covariances at all betas, ``model`` is of the steps in all directions. ValueError if chains and
    steps are too few for the dimensions.
    """
    betas, n_rounds = schedule(betas), count("n_rounds", n_rounds)
    n_chains, n_steps = count("n_chains", n_chains), count("n_steps", n_steps)
    if n_chains * n_steps <= 2 * path.target.n_visible:
        raise ValueError(
            f"n_chains times n_steps is {n_chains * n_steps}: expected more than "
            f"{2 * path.target.n_visible}, twice the dimensions"
        )
    source = checks.generator(rng)
    isotropic = adapt_step_sizes(with_steps(path, 1.0), betas, rng=source)
    stream = ChainStream(source, betas.size * n_chains)
    walk, own = isotropic.path, np.tile(betas, n_chains)

    def shaped(covariances):
        steps = {"step_betas": betas, "jitter": path.jitter}
        return ShapedWalk(path.target, path.base_variance, covariances, **steps)

    v = walk.sample_base(own.size, stream)
    for beta in np.repeat(betas[1:], RUNG_MOVES):
        v = walk.transition(v, np.minimum(own, beta), stream)
    for _ in range(n_rounds):
        seen = []
        for step in range(2 * n_steps):
            v = walk.transition(v, own, stream)
            if step >= n_steps:
                seen.append(v.reshape(n_chains, betas.size, -1))
        states = np.concatenate(seen)
        covariances = np.stack([np.atleast_2d(np.cov(states[:, k].T)) for k in range(betas.size)])
        walk = shaped(covariances)
    mean = np.broadcast_to(covariances.mean(axis=0), covariances.shape)
    return AdaptedSteps(walk, shaped(mean), isotropic.model)
