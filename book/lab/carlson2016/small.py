"""A model of 30 × 12 units with exact log Z at every beta, and tools for tempered chains."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.optimize import least_squares
from scipy.special import softmax

import rbmlib as rl

GROUP = 16  # chains of an estimate


class Small(NamedTuple):
    """The path of a model, the exact log Z on the path, and slightly wrong guesses."""

    path: rl.GeometricPath
    betas: np.ndarray
    truth: np.ndarray
    guesses: np.ndarray

    @property
    def where(self) -> tuple:
        return self.path, self.betas, self.guesses

    def shares(self, guesses) -> np.ndarray:
        """The exact q(beta_k) with these guesses (eq. 8)."""
        return softmax(self.truth - guesses)


def small_model(seed: int) -> Small:
    rbm = rl.testsystems.random_rbm(n_visible=30, n_hidden=12, coupling=6.0, rng=seed)
    path, betas = rl.GeometricPath(rbm, base=np.full(30, 0.5)), rl.schedules.linear(19)
    truth = np.array([rl.exact(path.at(beta)).log_z for beta in betas])
    return Small(path, betas, truth, truth + np.linspace(0, 0.5, 20))


def in_groups(sample, size: int = GROUP) -> list:
    """Independent samples of ``size`` chains each."""
    return [sample.of_chains(slice(i, i + size)) for i in range(0, sample.n_chains, size)]


def three_routes(small: Small, sample) -> tuple[dict[str, float], float]:
    """log Z by eq. (12), (14) and (18), and the largest slope of (14) at the solution of (12)."""
    rts = rl.rts_of_sample(sample)
    expected = softmax(np.log(sample.prior) + rts.log_z_path - sample.log_z_path)
    offsets = np.log(expected) - rts.log_z_path
    q = softmax(sample.delta.reshape(-1, 1) * small.betas + offsets, axis=1)
    derivatives = expected - q.mean(axis=0)
    shares = sample.occupation().mean(axis=(0, 1))
    guesses = np.log(sample.prior) - sample.log_z_path
    best = least_squares(
        lambda x: softmax(guesses + x) - shares, 0 * shares, xtol=1e-15, ftol=1e-15, gtol=1e-15
    ).x  # where the slope of (14) is zero
    by_mbar = rl.solve_mbar(sample.delta, expected * sample.delta.size, small.betas).log_z[-1]
    return {
        "RTS, eq. (12)": rts.log_z,
        "likelihood (14)": float(best[-1] - best[0] + sample.log_z_base),
        "MBAR, expected counts": float(by_mbar + sample.log_z_base),
    }, float(np.abs(derivatives).max())


PRIORS = {
    "uniform": np.ones_like,
    "ends": lambda betas: 1 + np.exp(-betas / 0.1) + np.exp(-(1 - betas) / 0.1),
    "rising": lambda betas: np.exp(2 * betas),
    "falling": lambda betas: np.exp(-2 * betas),
}  # of the temperatures, up to a factor


def conductance(moves: np.ndarray) -> np.ndarray:
    """Share of moves across each gap between betas, divided by the time on the smaller side."""
    moves = moves / moves.sum()
    cross = [(moves[:m, m:].sum() + moves[m:, :m].sum()) / 2 for m in range(1, len(moves))]
    below = moves.sum(axis=1).cumsum()[:-1]
    return np.array(cross) / np.minimum(below, 1 - below)


def first_blocks(sample: rl.TemperedSample, n_blocks: int) -> rl.TemperedSample:
    """The first blocks of time of a sample that holds every state."""
    kept = int(sample.block_sweeps[:n_blocks].sum())
    return replace(
        sample,
        temperature=sample.temperature[:kept], delta=sample.delta[:kept],
        visited=sample.visited[:n_blocks], mixed=sample.mixed[:n_blocks],
    )  # fmt: skip
