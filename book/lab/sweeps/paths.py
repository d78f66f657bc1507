"""Paths that any sweep may name: from a base to a Bernoulli RBM, a leaky RBM or a density."""

from __future__ import annotations

from rbmlib import schedules
from rbmlib._validation import one_of
from rbmlib.paths.density import DensityPath, adapt_covariances, adapt_step_sizes
from rbmlib.paths.geometric import GeometricPath
from rbmlib.paths.leaky import EnergyPath, LeakinessPath
from rbmlib.paths.moment_averaging import MomentAveragingPath
from .models import BASE_RATE, biases
from .registry import PATHS, register


@register(PATHS, "geometric")
def _geometric(rbm, *, base: str = BASE_RATE, data: str = ""):
    return GeometricPath(rbm, base=biases(rbm, base, data))


@register(PATHS, "moment averaging")
def _moment_averaging(
    rbm, *, base: str = BASE_RATE, data: str = "", n_knots: int = 9, n_updates: int = 500,
    path_seed: int = 0,
):  # fmt: skip
    begin = biases(rbm, base, data)
    return MomentAveragingPath(
        rbm, begin, n_knots=n_knots, n_updates=n_updates, rng=path_seed, progress=False
    )


STEPS = ("adaptive", "fixed")
WALK = "random_walk_covariance"


@register(PATHS, "density")
def _density(
    rbm, *, base_variance: float = 30.0, kernel: str = "hmc", n_leapfrog: int = 1,
    jitter: float = 0.0, steps: str = "adaptive", ladder: str = "square", n_knots: int = 40,
):  # fmt: skip
    """Step sizes are adapted to a ladder of ``n_knots`` steps; "fixed" takes their mean.

    The kernel "random_walk_covariance" adapts the covariance of a random walk instead.
    """
    shaped = kernel == WALK
    path = DensityPath(rbm, base_variance, kernel="random_walk" if shaped else kernel,
                       n_leapfrog=n_leapfrog, jitter=jitter)  # fmt: skip
    power = {"linear": 1, "square": 2}[one_of("ladder", ladder, ("linear", "square"))]
    adapt = adapt_covariances if shaped else adapt_step_sizes
    adapted = adapt(path, schedules.linear(n_knots) ** power, rng=0)
    return adapted.path if one_of("steps", steps, STEPS) == "adaptive" else adapted.fixed


@register(PATHS, "leakiness")
def _leakiness(rbm, *, kernel: str):
    return LeakinessPath(rbm, kernel)


@register(PATHS, "energy")
def _energy(rbm, *, kernel: str):
    return EnergyPath(rbm, kernel)
