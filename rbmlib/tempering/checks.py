"""What every run over a ladder of betas asks of its arguments."""

from __future__ import annotations

import numpy as np

from .._validation import annealing_betas, count, finite_array, instance, one_of
from ..paths.base import AnnealingPath

CONDITIONALS = ("joint", "marginal")
PATH_MEANING = (
    "an annealing path, such as rl.GeometricPath(rbm), or rl.LeakinessPath(rbm) of a LeakyRBM"
)
MAX_BETAS = 32_767  # indices are kept in 16 bits


def ladder(betas) -> np.ndarray:
    """A schedule of at most as many betas as an index of 16 bits can name."""
    betas = annealing_betas(betas)
    if betas.size > MAX_BETAS:
        raise ValueError(f"betas holds {betas.size:,} values: expected {MAX_BETAS:,} at most")
    return betas


def checked_prior(prior, n: int) -> np.ndarray:
    """r_k, normalised; uniform if None."""
    if prior is None:
        return np.full(n, 1 / n)
    prior = finite_array("prior", prior, (n,), f"({n},), one positive number a beta")
    if not (prior > 0).all():
        raise ValueError(f"prior is {prior.min()} at its least: expected positive numbers")
    return prior / prior.sum()


def check_conditional(path: AnnealingPath, conditional) -> None:
    if one_of("conditional", conditional, CONDITIONALS) == "joint" and not path.has_joint_slope:
        raise ValueError(
            f"conditional is 'joint', but {type(path).__name__} has no joint log-density that is "
            "linear in beta: expected 'marginal'"
        )


def block_bounds(n_sweeps: int, n_blocks) -> np.ndarray:
    """Sweeps at which blocks of time begin, and the end of the last; no block is empty."""
    n_blocks = min(count("n_blocks", n_blocks), n_sweeps)
    return np.unique(np.rint(np.linspace(0, n_sweeps, n_blocks + 1)).astype(int))


def needs_joint_slope(path) -> None:
    """One slope a state serves all betas: what reads log Z off tempered states asks for it."""
    instance("path", path, AnnealingPath, PATH_MEANING)
    if not path.has_joint_slope:
        raise ValueError(
            f"path is a {type(path).__name__}, whose slope depends on beta: expected a path such "
            "as rl.GeometricPath(rbm); use rl.rts(..., conditional='marginal') or rl.ais here"
        )
