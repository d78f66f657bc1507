"""Estimators of a task without Monte Carlo error: enumeration and TAP."""

from __future__ import annotations

from .. import datasets
from ..estimators import exact, tap
from ..estimators.tap import SOLVERS
from .registry import ESTIMATORS, one_of, register

TAP_STARTS = {
    "densities": lambda rbm, rng, n: None,
    "uniform": lambda rbm, rng, n: rng.random((n, rbm.n_visible)),
    "images": lambda rbm, rng, n: rng.choice(datasets.load_mnist().train, n, replace=False),
}


@register(ESTIMATORS, "tap")
def _tap(
    rbm, rng, *, order: int = 2, n_starts: int = 20, begin: str = "densities",
    solver: str = "minimise", damping: float = 0.5, max_sweeps: int = 2000,
):  # fmt: skip
    """TAP from the starts of `rbmlib.tap`, uniform magnetisations, or training images."""
    starts = TAP_STARTS[one_of("begin", begin, TAP_STARTS)](rbm, rng, n_starts)
    run = tap(rbm, order, rng, n_starts=n_starts, starts=starts,
              solver=one_of("solver", solver, SOLVERS), damping=damping,
              max_sweeps=max_sweeps)  # fmt: skip
    more = {name: run.settings[name] for name in ("n_solved", "n_fixed_points", "log_z_sum")}
    return run, more | {"sweeps": run.n_sweeps}


@register(ESTIMATORS, "exact")
def _exact(rbm):
    return exact(rbm, progress=False)
