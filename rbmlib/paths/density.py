"""Continuous targets: the geometric path from a Gaussian, along which chains move by HMC."""

from __future__ import annotations

import numpy as np

from .. import checks
from . import hmc
from .path import LinearPath


class DensityPath(LinearPath):
    """The geometric path from N(0, base_variance I) to a density with a gradient.

    ``log p*_beta(x) = (1 - beta) log N(x; 0, base_variance I) + beta log p*(x)``: the slope is
    ``log p*(x) - log N(x)``, and log Z_0 is 0. Modes of a density are not sought, as those of an
    RBM are: one so narrow that no chain enters it shows in no check, and ``converged`` stays True.

    Parameters
    ----------
    target : model
        Such as a `GaussianMixture`: with ``n_visible``, ``log_density(x)`` -> (n_chains,), finite
        everywhere, and, for HMC, ``gradient(x)`` -> (n_chains, n_visible).
    base_variance : float
        Large enough to cover all modes.
    step_sizes, step_betas : float or array (K,)
        One step size for all betas, or one at each of ``step_betas``, by default 0 and 1, with
        others interpolated: large where the density is wide, near beta = 0.
    n_leapfrog : int
        Leapfrog steps of a transition.
    kernel : {"hmc", "random_walk"}
        A transition of the random walk proposes once.
    jitter : float
        Each step size is multiplied by a draw from 1 - jitter to 1 + jitter: see `hmc`.

    Examples
    --------
    >>> import rbmlib as rl
    >>> mixture = rl.testsystems.two_gaussians(d=2, distance=4.0)
    >>> path = rl.DensityPath(mixture, base_variance=10.0, step_sizes=[3.0, 0.7])
    >>> estimate = rl.ais(path, rl.schedules.linear(100) ** 2, n_chains=200, rng=0)
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
        jitter: float = 0.2,
    ):
        checks.one_of("kernel", kernel, ("hmc", "random_walk"))
        for name in ("n_visible", "log_density", *["gradient"] * (kernel == "hmc")):
            if not hasattr(target, name):
                came = f"a {type(target).__name__} without {name}"
                raise TypeError(f"target is {came}: expected a model such as GaussianMixture")
        self.target, self.kernel = target, kernel
        self.n_coordinates = checks.count("target.n_visible", target.n_visible)
        self.base_variance = checks.number("base_variance", base_variance, "above 0", above=0)
        self.n_leapfrog = checks.count("n_leapfrog", n_leapfrog, most=hmc.MOST_LEAPFROG)
        self.jitter = checks.number("jitter", jitter, "from 0 to below 1", least=0, below=1)
        betas = [0.0, 1.0] if step_betas is None else step_betas
        self.step_betas = checks.schedule(betas, "step_betas")
        sizes = checks.numeric("step_sizes", step_sizes, "step sizes above 0")
        shape, meaning = self.step_betas.shape, "one number, or one at each of step_betas"
        sizes = sizes if sizes.ndim else np.broadcast_to(sizes, shape)
        self.step_sizes = checks.array("step_sizes", sizes, shape, meaning)
        if not (self.step_sizes > 0).all():
            raise ValueError(f"step_sizes go down to {self.step_sizes.min()}: expected above 0")
        self._log_scale = -target.n_visible / 2 * np.log(2 * np.pi * self.base_variance)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.target!r}, base_variance={self.base_variance}, "
            f"kernel={self.kernel!r}, n_leapfrog={self.n_leapfrog})"
        )

    def with_steps(self, step_sizes, step_betas=None) -> DensityPath:
        """The same path with other step sizes."""
        names = "target", "base_variance", "n_leapfrog", "kernel", "jitter"
        kept = {name: getattr(self, name) for name in names}
        return DensityPath(**kept, step_sizes=step_sizes, step_betas=step_betas)

    def sample_base(self, n_chains: int, rng) -> np.ndarray:
        return np.sqrt(self.base_variance) * rng.standard_normal((n_chains, self.n_coordinates))

    def _log_base(self, x) -> np.ndarray:
        return self._log_scale - (x**2).sum(axis=1) / (2 * self.base_variance)

    def base_and_slope(self, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Checked where chains are; a proposal may be anywhere, and is refused there."""
        found = self.target.log_density(v)
        _check_values("target.log_density", found, (len(v),))
        base = self._log_base(v)
        return base, found - base

    def transition(self, v: np.ndarray, beta, rng) -> np.ndarray:
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
            return hmc.walked(log_density, x, step_size, rng)
        share, pull = beta[:, None], (1 - beta[:, None]) / self.base_variance
        unchecked = [True]

        def gradient(x):
            found = self.target.gradient(x)
            if unchecked:  # where the chains are; a later step may go astray, and is then refused
                unchecked.clear()
                _check_values("target.gradient", found, x.shape)
            return share * found - pull * x

        return hmc.moved(log_density, gradient, x, step_size, self.n_leapfrog, rng)


def _check_values(name: str, values, shape: tuple) -> None:
    if np.shape(values) != shape:
        raise ValueError(f"{name} gave shape {np.shape(values)}: expected {shape}")
    if bad := int((~np.isfinite(values)).sum()):
        raise ValueError(
            f"{name} gave {bad} NaN or infinite values of {np.size(values)}: expected finite "
            "numbers everywhere; a density that is zero somewhere needs other variables"
        )
