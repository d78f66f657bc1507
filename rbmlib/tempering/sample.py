"""States of chains over K betas: what a run of tempering returns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .._validation import count
from ..paths.base import State


@dataclass(frozen=True, eq=False)
class TemperedSample:
    """States of many chains over K betas, and what was added up on the way.

    Attributes
    ----------
    method : {"simulated", "parallel"}
    conditional : {"joint", "marginal"}
    betas, log_z_path, prior : ndarray (K,)
        The betas, the estimates log Z_k with which beta was drawn (log Z_0 of the base first),
        and r_k. NaN for parallel tempering, which needs none.
    temperature : int16 ndarray (n_kept, n_chains)
        Index of the beta of each kept state, drawn after the state.
    delta : ndarray (n_kept, n_chains)
        "joint": the slope Delta(v, h), for all betas: ``log p*_k = log p*_0 + betas[k] delta``.
        "marginal": d/dbeta log p*_beta(v) at the state's own beta only.
    visited : ndarray (n_blocks, n_groups, 3, K)
        Sums over all sweeps of a block of time (kept or not) of 1, slope and slope**2 at the
        beta drawn, for each independent group: a chain, or a ladder of K replicas.
    mixed : ndarray (n_blocks, n_groups, 3, K) or None
        The Rao-Blackwellised sums of ``q(k | x)``, times 1, slope and slope**2 (eq. 9, 21).
    block_sweeps : ndarray (n_blocks,)
        Sweeps in each block.
    transitions, mixed_transitions : ndarray (K, K)
        Numbers of moves from beta to beta; with ``q(k | x)`` for the beta moved to.
    round_trips : ndarray (n_chains,)
        From one end of the ladder to the other and back, of each chain or replica.
    origin : ndarray (n_groups,)
        Index of beta at which the chains began; -1 where that tells nothing (parallel).
    states, index : State, ndarray (n_chains,)
        Where the chains are.
    last_end : ndarray (n_chains,)
        Index of beta of the end of the ladder where each chain was last; -1: at neither yet.
    """

    method: str
    conditional: str
    betas: np.ndarray
    log_z_path: np.ndarray
    prior: np.ndarray
    temperature: np.ndarray
    delta: np.ndarray
    visited: np.ndarray
    mixed: np.ndarray | None
    block_sweeps: np.ndarray
    transitions: np.ndarray
    mixed_transitions: np.ndarray | None
    round_trips: np.ndarray
    origin: np.ndarray
    states: State
    index: np.ndarray
    log_z_base: float
    n_sweeps: int
    record_every: int
    seconds: float
    swap_rates: np.ndarray | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    last_end: np.ndarray | None = None

    @property
    def n_chains(self) -> int:
        """Independent chains; ladders of parallel tempering."""
        return self.visited.shape[1]

    def occupation(self) -> np.ndarray:
        """The Rao-Blackwellised c_k (eq. 9) of each block and chain: (n_blocks, n_chains, K)."""
        return self.mixed[:, :, 0] / self.block_sweeps[:, None, None]

    def of_chains(self, chains) -> TemperedSample:
        """Some chains (or ladders), a slice or indices, as a sample of their own.

        The matrices of transitions stay those of all chains.
        """
        columns = np.arange(self.index.size).reshape(self.n_chains, -1)[chains].ravel()
        return replace(
            self, temperature=self.temperature[:, columns], delta=self.delta[:, columns],
            visited=self.visited[:, chains],
            mixed=None if self.mixed is None else self.mixed[:, chains],
            round_trips=self.round_trips[columns], origin=self.origin[chains],
            states=State(*(array[columns] for array in self.states)), index=self.index[columns],
            last_end=None if self.last_end is None else self.last_end[columns],
        )  # fmt: skip

    def first_blocks(self, n_blocks: int) -> TemperedSample:
        """The first blocks of time as a sample of their own.

        Round trips, matrices of transitions and ``states`` stay those of the whole run.
        """
        n_blocks = count("n_blocks", n_blocks)
        n_sweeps = int(self.block_sweeps[:n_blocks].sum())
        kept = n_sweeps // self.record_every
        return replace(
            self, temperature=self.temperature[:kept], delta=self.delta[:kept],
            visited=self.visited[:n_blocks],
            mixed=None if self.mixed is None else self.mixed[:n_blocks],
            block_sweeps=self.block_sweeps[:n_blocks], n_sweeps=n_sweeps,
        )  # fmt: skip

    def __repr__(self) -> str:
        return (
            f"<TemperedSample of {self.method} tempering: {self.n_chains} chains, "
            f"{self.n_sweeps} sweeps, {self.betas.size} betas, "
            f"{self.round_trips.sum():.0f} round trips>"
        )
