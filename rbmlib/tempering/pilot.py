"""A short annealing run: estimates of log Z with which chains move along the ladder."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._numerics import logmeanexp
from .._streams import ChainStream
from .._validation import count, instance
from ..paths.base import AnnealingPath, State
from .checks import PATH_MEANING, ladder


@dataclass(frozen=True, eq=False)
class Pilot:
    """A short annealing run: what simulated tempering is started from.

    Attributes
    ----------
    log_z_path : ndarray (K,)
        Estimates of log Z at the betas.
    bottom, top : State
        Draws of the base; the states annealed to beta = 1, not weighted.
    log_weights : ndarray (n_chains,)
        Of the annealed states (base included).
    log_weights_path : ndarray (K, n_chains)
        Of every chain at every beta (base not included).
    """

    betas: np.ndarray
    log_z_path: np.ndarray
    bottom: State
    top: State
    log_weights: np.ndarray
    log_weights_path: np.ndarray
    n_steps: int


def pilot(
    path: AnnealingPath, betas, n_chains: int = 100, n_steps: int = 1000, rng=None, *,
    n_threads: int | None = None,
) -> Pilot:  # fmt: skip
    """Anneal ``n_chains`` through the betas in about ``n_steps`` steps (a few tenths of a second).

    Estimates of log Z at every beta by annealed importance sampling: good enough for chains
    to move along the ladder, which equal ones are not.
    """
    instance("path", path, AnnealingPath, PATH_MEANING)
    betas = ladder(betas)
    n_chains, n_steps = count("n_chains", n_chains, 2), count("n_steps", n_steps)
    return pilot_of(path, betas, n_chains, n_steps, rng, n_threads)


def pilot_of(path: AnnealingPath, betas, n_chains: int, n_steps: int, rng, n_threads) -> Pilot:
    """`pilot` of arguments that were checked."""
    each = -(-n_steps // (betas.size - 1))
    fine = refined(betas, each)
    stream = ChainStream(rng, n_chains)
    along = np.zeros((betas.size, n_chains))

    def record(k, _, log_weights):
        along[k // each] = log_weights

    bottom = path.sample_base(n_chains, stream)
    top, log_weights = path.anneal(
        bottom, fine, stream, record_at=range(each, fine.size, each), on_record=record,
        n_threads=n_threads,
    )  # fmt: skip
    log_z_path = path.log_z_base + logmeanexp(along, axis=1)
    log_weights = log_weights + path.log_z_base
    return Pilot(betas, log_z_path, bottom, top, log_weights, along, fine.size - 1)


def refined(betas: np.ndarray, each: int) -> np.ndarray:
    """The betas with ``each`` steps from one to the next."""
    grid = np.arange(each * (betas.size - 1) + 1) / each
    fine = np.interp(grid, np.arange(betas.size), betas)
    fine[::each] = betas
    return fine
