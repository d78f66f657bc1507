"""Continuous targets: the geometric path from a Gaussian, along which chains move by HMC.

All that an annealing path needs is here once the target has a log-density and a gradient, so that
every tempering and annealing estimator of the library runs on it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .. import checks
from ..checks import array, count, number, schedule
from ..numerics import ChainStream
from . import hmc
from .path import LinearPath
from .step_sizes import fit_acceptance

TUNING_CHAINS = 100
RUNG_MOVES = 5  # at each beta, of chains that are annealed to learn covariances
KERNELS = {"hmc": hmc.TARGET, "random_walk": hmc.TARGET_RANDOM_WALK}


class DensityPath(LinearPath):
    """The geometric path from N(0, base_variance I) to a density with a gradient.

    ``log p*_beta(x) = (1 - beta) log N(x; 0, base_variance I) + beta log p*(x)``: the slope is
    ``log p*(x) - log N(x)``, and log Z_0 is 0.

    Parameters
    ----------
    target : model
        With ``n_visible``, ``log_density(x)`` -> (n_chains,), finite everywhere, and, for HMC,
        ``gradient(x)`` -> (n_chains, n_visible), such as a `GaussianMixture`.
    base_variance : float
        Large enough to cover all modes.
    step_sizes : float or array (K,)
        Step sizes of the kernel: one for all betas, or one at each of ``step_betas``, between
        which they are interpolated. `adapt_step_sizes` finds them.
    step_betas : array (K,), optional
    n_leapfrog : int
        Leapfrog steps of a transition.
    kernel : {"hmc", "random_walk"}
        A transition of the random walk proposes once.
    covariances : array (K, d, d), optional
        Of states at each of ``step_betas``, for the random walk: it then proposes with the
        covariance of the nearest of these betas, times ``(2.38 step size)^2 / d``. Without, with
        the square of the step size in every direction.
    jitter : float
        Each step size is multiplied by a draw from 1 - jitter to 1 + jitter, which keeps HMC off
        exact resonances.

    Examples
    --------
    >>> import rbmlib as rl
    >>> mixture = rl.testsystems.two_gaussians(d=2, distance=4.0)
    >>> path = rl.DensityPath(mixture, base_variance=10.0)
    >>> adapted = rl.adapt_step_sizes(path, rl.schedules.linear(5), rng=0).path
    >>> estimate = rl.ais(adapted, rl.schedules.linear(100) ** 2, n_chains=200, rng=0)
    >>> abs(estimate.log_z - mixture.log_z) < 5 * estimate.std_error
    True
    """

    log_z_base = 0.0

    def __init__(
        self,
        target,
        base_variance: float,
        *,
        step_sizes=1.0,
        step_betas=None,
        n_leapfrog: int = 5,
        kernel: str = "hmc",
        covariances=None,
        jitter: float = 0.2,
    ):
        checks.one_of("kernel", kernel, KERNELS)
        for name in ("n_visible", "log_density", *["gradient"] * (kernel == "hmc")):
            if not hasattr(target, name):
                raise TypeError(
                    f"target is a {type(target).__name__} without {name}: expected a model such as "
                    "GaussianMixture"
                )
        self.target, self.kernel = target, kernel
        self.n_coordinates = count("target.n_visible", target.n_visible)
        self.base_variance = number("base_variance", base_variance, "above 0", above=0)
        self.n_leapfrog = count("n_leapfrog", n_leapfrog, most=hmc.MOST_LEAPFROG)
        self.jitter = number("jitter", jitter, "from 0 to below 1", least=0, below=1)
        self.step_betas = schedule([0.0, 1.0] if step_betas is None else step_betas, "step_betas")
        sizes = checks.numeric("step_sizes", step_sizes, "step sizes above 0")
        if sizes.ndim == 0:
            sizes = np.full(self.step_betas.size, sizes)
        meaning = "one number, or one at each of step_betas"
        self.step_sizes = array("step_sizes", sizes, self.step_betas.shape, meaning)
        if not (self.step_sizes > 0).all():
            raise ValueError(f"step_sizes go down to {self.step_sizes.min()}: expected above 0")
        self.covariances = None if covariances is None else self._checked(covariances)
        self._log_scale = -target.n_visible / 2 * np.log(2 * np.pi * self.base_variance)

    def __repr__(self) -> str:
        return (
            f"DensityPath({self.target!r}, base_variance={self.base_variance}, "
            f"kernel={self.kernel!r}, n_leapfrog={self.n_leapfrog})"
        )

    def _checked(self, covariances) -> np.ndarray:
        if self.kernel != "random_walk":
            raise ValueError("covariances are given, but kernel is 'hmc': expected 'random_walk'")
        shape = (self.step_betas.size, *2 * (self.target.n_visible,))
        covariances = array("covariances", covariances, shape, f"{shape}, one a step_beta")
        try:
            self._roots = np.stack([hmc.scaled_root(c) for c in covariances])
        except ValueError:
            raise ValueError(
                "covariances has one that is not positive definite: expected eigenvalues above 0"
            ) from None
        return covariances

    def with_steps(self, step_sizes, step_betas=None, covariances=None) -> DensityPath:
        """The same path with other step sizes, and other covariances or none."""
        names = "target", "base_variance", "n_leapfrog", "kernel", "jitter"
        steps = {"step_sizes": step_sizes, "step_betas": step_betas, "covariances": covariances}
        return DensityPath(**{name: getattr(self, name) for name in names}, **steps)

    def sample_base(self, n_chains: int, rng) -> np.ndarray:
        normal = rng.standard_normal((n_chains, self.target.n_visible))
        return np.sqrt(self.base_variance) * normal

    def _log_base(self, x) -> np.ndarray:
        return self._log_scale - (x**2).sum(axis=1) / (2 * self.base_variance)

    def base_and_slope(self, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Checked where chains are; a proposal may be anywhere, and is refused there."""
        found = self.target.log_density(v)
        _check_values("target.log_density", found, (len(v),), "(n_chains,)")
        base = self._log_base(v)
        return base, found - base

    def transition(self, v: np.ndarray, beta, rng) -> np.ndarray:
        beta = np.broadcast_to(np.asarray(beta, float), len(v))
        return self.move(v, beta, np.interp(beta, self.step_betas, self.step_sizes), rng).x

    def move(self, x, beta, step_size, rng) -> hmc.Transition:
        """One step of the kernel at ``beta`` and ``step_size``, each a number or one a chain."""
        rng, beta = checks.source_of_random(rng), np.broadcast_to(np.asarray(beta, float), len(x))
        if self.jitter:
            step_size = step_size * (1 + self.jitter * (2 * rng.random((len(x), 1))[:, 0] - 1))
        step_size = np.broadcast_to(step_size, len(x))[:, None]

        def log_density(x):
            base = self._log_base(x)
            return base + beta * (self.target.log_density(x) - base)

        if self.kernel == "random_walk":
            root = None
            if self.covariances is not None:  # of the nearest step_beta
                middles = (self.step_betas[1:] + self.step_betas[:-1]) / 2
                root = self._roots[np.searchsorted(middles, beta)]
            return hmc.walked(log_density, x, step_size, rng, root)
        share, pull = beta[:, None], (1 - beta[:, None]) / self.base_variance
        unchecked = [True]

        def gradient(x):
            found = self.target.gradient(x)
            if unchecked:  # where the chains are; a later step may go astray, and is then refused
                unchecked.clear()
                _check_values("target.gradient", found, x.shape, "(n_chains, n_visible)")
            return share * found - pull * x

        return hmc.moved(log_density, gradient, x, step_size, self.n_leapfrog, rng)


def _check_values(name: str, values, shape: tuple, meaning: str) -> None:
    if np.shape(values) != shape:
        raise ValueError(f"{name} gave shape {np.shape(values)}: expected {shape}, {meaning}")
    bad = int((~np.isfinite(values)).sum())
    if bad:
        raise ValueError(
            f"{name} gave {bad} NaN or infinite values of {np.size(values)}: expected finite "
            "numbers everywhere; a density that is zero somewhere needs other variables"
        )


class AdaptedSteps(NamedTuple):
    """What was found: two paths, and the model of acceptance behind the step sizes."""

    path: DensityPath  # with a step size (and a covariance) for each beta
    fixed: DensityPath  # with their mean at all betas: the paper's baseline
    model: hmc.AcceptanceModel


def adapt_step_sizes(
    path: DensityPath,
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
    """
    checks.instance("path", path, DensityPath, "a DensityPath")
    betas, target = schedule(betas), KERNELS[path.kernel] if target is None else target
    n_chains, n_steps = count("n_chains", n_chains), count("n_steps", n_steps)
    n = betas.size * n_chains
    stream = ChainStream(rng, n)
    x = path.sample_base(TUNING_CHAINS, stream)
    tuned: dict[float, float] = {}
    for beta in (0.0, 1.0):
        first = np.sqrt(path.base_variance) if beta == 0 else tuned[0.0]
        tuned[beta], x = hmc.tune_step_size(
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
    return AdaptedSteps(path.with_steps(steps, betas), path.with_steps(steps.mean()), model)


def adapt_covariances(
    path: DensityPath,
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
    of the second half shapes the proposals there, scaled as `hmc.scaled_root` does. Chains that
    walk with these give the covariances of the next of ``n_rounds``. The last ones stay as they
    are: a chain that goes on to learn from its own past would not leave its density invariant.

    ``path`` is one with ``kernel="random_walk"``; ``fixed`` of what is returned has the mean of the
    covariances at all betas, ``model`` is of the steps in all directions. ValueError if chains and
    steps are too few for the dimensions.
    """
    checks.instance("path", path, DensityPath, "a DensityPath")
    if path.kernel != "random_walk":
        raise ValueError(f"path has the kernel {path.kernel!r}: expected 'random_walk'")
    betas, n_rounds = schedule(betas), count("n_rounds", n_rounds)
    n_chains, n_steps = count("n_chains", n_chains), count("n_steps", n_steps)
    if n_chains * n_steps <= 2 * path.target.n_visible:
        raise ValueError(
            f"n_chains times n_steps is {n_chains * n_steps}: expected more than "
            f"{2 * path.target.n_visible}, twice the dimensions"
        )
    source = checks.generator(rng)
    isotropic = adapt_step_sizes(path.with_steps(1.0), betas, rng=source)
    stream = ChainStream(source, betas.size * n_chains)
    walk, own = isotropic.path, np.tile(betas, n_chains)
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
        walk = path.with_steps(1.0, betas, covariances)
    mean = np.broadcast_to(covariances.mean(axis=0), covariances.shape)
    return AdaptedSteps(walk, path.with_steps(1.0, betas, mean), isotropic.model)
