"""The geometric path from a Gaussian to a continuous target, with HMC transitions."""

import numpy as np

from .. import checks
from .hmc import Transition, hmc
from .path import Path


class DensityPath(Path):
    """The geometric path from N(0, base_variance I) to a density with a gradient.

    ``log p*_beta(x) = (1 - beta) log N(x; 0, base_variance I) + beta log p*(x)``. The slope is
    ``log p*(x) - log N(x)``, and log Z_0 is 0. Unlike the modes of an RBM, those of a density are
    not searched for: if no chain enters a narrow mode, no check detects it, and ``converged`` stays
    True.

    Parameters
    ----------
    target : model
        An object with ``n_visible``, ``log_density(x)`` -> (n_chains,), finite everywhere, and
        ``gradient(x)`` -> (n_chains, n_visible), such as ``rl.testsystems.two_gaussians()``.
    base_variance : float
        Large enough to cover all modes.
    step_sizes, step_betas : float or array (K,)
        One step size for all betas, or one at each of ``step_betas``, interpolated between them.
        Steps should be large where the density is wide, near beta = 0.
    n_leapfrog : int
        Number of leapfrog steps in a transition.
    jitter : float
        Each step size is multiplied by a uniform draw between 1 - jitter and 1 + jitter.

    Examples
    --------
    >>> import rbmlib as rl
    >>> mixture = rl.testsystems.two_gaussians(d=2, distance=4.0)
    >>> path = rl.DensityPath(mixture, base_variance=10.0, step_sizes=[3.0, 0.7])
    >>> estimate = rl.ais(path, rl.schedules.linear(100) ** 2, n_chains=200, rng=0)
    >>> abs(estimate.log_z - mixture.log_z) < 5 * estimate.std_error
    True
    """

    log_z_base, joint = 0.0, True

    def __init__(
        self,
        target,
        base_variance: float,
        *,
        step_sizes=1.0,
        step_betas=(0.0, 1.0),
        n_leapfrog: int = 5,
        jitter: float = 0.2,
    ):
        for name in ("n_visible", "log_density", "gradient"):
            if not hasattr(target, name):
                came = f"a {type(target).__name__} without {name}"
                raise TypeError(f"target is {came}: expected n_visible, log_density and gradient")
        self.target = target
        self.n_coordinates = checks.count("target.n_visible", target.n_visible)
        self.base_variance = checks.number("base_variance", base_variance, "above 0", above=0)
        self.n_leapfrog = checks.count("n_leapfrog", n_leapfrog)
        self.jitter = checks.number("jitter", jitter, "from 0 to below 1", least=0, below=1)
        self.step_betas = checks.schedule(step_betas, "step_betas")
        shape, meaning = self.step_betas.shape, "one number, or one at each of step_betas"
        sizes = checks.numeric("step_sizes", step_sizes, meaning)
        sizes = sizes if sizes.ndim else np.broadcast_to(sizes, shape)
        self.step_sizes = checks.array("step_sizes", sizes, shape, meaning)
        if not (self.step_sizes > 0).all():
            raise ValueError(f"step_sizes go down to {self.step_sizes.min()}: expected above 0")
        start = self.sample_base(10, np.random.default_rng(0))
        for name, wanted in (("log_density", (10,)), ("gradient", start.shape)):
            found = np.asarray(getattr(target, name)(start))
            if found.shape != wanted or not np.isfinite(found).all():
                raise ValueError(
                    f"target.{name} gave shape {found.shape}, {np.isnan(found).sum()} NaN, of "
                    f"states {start.shape}: expected {wanted}, finite everywhere; a density that "
                    "is zero somewhere needs other variables"
                )

    def __repr__(self) -> str:
        about = f"base_variance={self.base_variance}, n_leapfrog={self.n_leapfrog}"
        return f"{type(self).__name__}({self.target!r}, {about})"

    def sample_base(self, n_chains: int, rng) -> np.ndarray:
        return np.sqrt(self.base_variance) * rng.standard_normal((n_chains, self.n_coordinates))

    def base_and_slope(self, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        scale = -v.shape[1] / 2 * np.log(2 * np.pi * self.base_variance)
        base = scale - (v**2).sum(axis=1) / (2 * self.base_variance)
        return base, self.target.log_density(v) - base

    def transition(self, v: np.ndarray, beta, rng) -> np.ndarray:
        return self.move(v, beta, np.interp(beta, self.step_betas, self.step_sizes), rng).x

    def move(self, x, beta, step_size, rng) -> Transition:
        """Make one step; ``beta`` and ``step_size`` are numbers or arrays (n_chains,)."""
        beta = np.broadcast_to(np.asarray(beta, float), len(x))
        if self.jitter:
            step_size = step_size * (1 + self.jitter * (2 * rng.random((len(x), 1))[:, 0] - 1))

        def log_density(x):
            base, slope = self.base_and_slope(x)
            return base + beta * slope

        return self._step(log_density, x, beta[:, None], step_size, rng)

    def _step(self, log_density, x, beta, step_size, rng) -> Transition:
        """Make one step that leaves ``log_density`` invariant; beta has shape (n_chains, 1)."""
        pull = (1 - beta) / self.base_variance

        def gradient(x):
            return beta * self.target.gradient(x) - pull * x

        return hmc(log_density, gradient, x, step_size, self.n_leapfrog, rng)
