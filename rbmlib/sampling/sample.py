"""Samples over a ladder of betas: simulated and parallel tempering.

Simulated tempering makes beta random: the joint law of a state x and an index k is ``q(x, k) ~
p*_k(x) r_k / Z_k``, with estimates Z_k of the partition functions and a prior r. A sweep at beta_k
is followed by a draw of k given x (Carlson et al. 2016, eq. 7). Parallel tempering keeps one
replica at each beta and swaps neighbours, even and odd pairs in turn: the order that is not
reversible, in which replicas travel rather than diffuse (Okabe et al. 2001; Syed et al. 2022).

With ``conditional="joint"`` x is the pair (v, h). Its log-density is linear in beta on a
geometric path, ``log p*_beta(v, h) = log p*_0(v, h) + beta Delta(v, h)``: one number a state
serves all betas. With ``"marginal"`` the hidden units are summed over first: a little less noise
in k, for K times the work, on any path.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .. import checks
from ..models.layers import Binary, Spin

CONDITIONALS = ("joint", "marginal")


@dataclass(frozen=True, eq=False)
class TemperedSample:
    """States of many chains at K betas, from which RTS, TI, BAR and MBAR estimate log Z.

    Attributes
    ----------
    conditional : {"joint", "marginal"}
    betas, log_z_path, prior : ndarray (K,)
        The betas, the estimates log Z_k with which beta was drawn (log Z_0 of the base first),
        and r_k. NaN above the base for parallel tempering, which needs none.
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
    round_trips : ndarray (n_chains,)
        From one end of the ladder to the other and back, of each chain or replica.
    origin : ndarray (n_groups,)
        Index of beta at which the chains began; -1 where that tells nothing (parallel).
    states, index : ndarray (n_chains, n), (n_chains,)
        Where the chains are.
    last_end : ndarray (n_chains,)
        Index of beta of the end of the ladder where each chain was last; -1: at neither yet.
    swap_rates : ndarray (K - 1,) or None
        Of parallel tempering: share of the proposed swaps that were accepted.
    path : Path or None
        Along which it was drawn.
    """

    conditional: str
    betas: np.ndarray
    log_z_path: np.ndarray
    prior: np.ndarray
    temperature: np.ndarray
    delta: np.ndarray
    visited: np.ndarray
    mixed: np.ndarray | None
    round_trips: np.ndarray
    origin: np.ndarray
    states: np.ndarray
    index: np.ndarray
    last_end: np.ndarray
    seconds: float
    swap_rates: np.ndarray | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    path: Any = field(default=None, repr=False)

    @property
    def method(self) -> str:
        """ "simulated", or "parallel"."""
        return "simulated" if self.swap_rates is None else "parallel"

    @property
    def n_chains(self) -> int:
        """Independent chains; ladders of parallel tempering."""
        return self.visited.shape[1]

    @property
    def log_z_base(self) -> float:
        return float(self.log_z_path[0])

    @property
    def block_sweeps(self) -> np.ndarray:
        """Sweeps in each block of time (n_blocks,): each is one visit of a chain, or a replica."""
        replicas = 1 if self.method == "simulated" else self.betas.size
        return (self.visited[:, 0, 0].sum(axis=-1) / replicas).astype(int)

    @property
    def n_sweeps(self) -> int:
        return int(self.block_sweeps.sum())

    def occupation(self) -> np.ndarray:
        """The Rao-Blackwellised c_k (eq. 9) of each block and chain: (n_blocks, n_chains, K)."""
        assert self.mixed is not None
        return self.mixed[:, :, 0] / self.block_sweeps[:, None, None]

    def of_chains(self, chains) -> TemperedSample:
        """Some chains (or ladders), a slice or indices, as a sample of their own."""
        try:
            numbers = np.arange(self.n_chains)[chains]
        except (IndexError, TypeError, ValueError):
            numbers = np.empty(0)
        if numbers.ndim != 1 or not numbers.size:
            meaning = f"a slice, or indices in a list, of some of the {self.n_chains} chains"
            raise ValueError(f"chains is {chains!r:.60}: expected {meaning}")
        columns = np.arange(self.index.size).reshape(self.n_chains, -1)[chains].ravel()
        one_a_column = ("round_trips", "states", "index", "last_end")
        return replace(
            self, temperature=self.temperature[:, columns], delta=self.delta[:, columns],
            visited=self.visited[:, chains], origin=self.origin[chains],
            mixed=None if self.mixed is None else self.mixed[:, chains],
            **{name: getattr(self, name)[columns] for name in one_a_column},
        )  # fmt: skip

    def __repr__(self) -> str:
        return (
            f"<TemperedSample of {self.method} tempering: {self.n_chains} chains, "
            f"{self.n_sweeps} sweeps, {self.betas.size} betas, "
            f"{self.round_trips.sum():.0f} round trips>"
        )


def bytes_of_chain(path) -> int:
    """That a chain takes on a path, or of a model: measured, and rounded up.

    Compiled loops keep states of two-valued units in single precision, twice; others take arrays
    of all chains, in double precision, for each field and draw.
    """
    model = getattr(path, "rbm", path)
    layers = [getattr(model, name, None) for name in ("visible", "hidden")]
    compact = all(isinstance(layer, (Binary, Spin)) for layer in layers)
    n_units = sum(getattr(model, name, 0) for name in ("n_visible", "n_hidden"))
    return (16 if compact else 32) * max(n_units, 1)


def drawn_given(path) -> str:
    """What beta is drawn given, unless it is said: (v, h) where one slope serves all betas."""
    return "joint" if path.joint else "marginal"


def given_states(path, start, n: int):
    """``start``, if it holds n states of the path's models."""
    model = path.at(1.0)
    if hasattr(model, "visible"):
        start = checks.states("start", start, model.visible)
    else:
        width = getattr(model, "n_visible", None)
        start = checks.array("start", start, (None, width), f"(n_chains, {width})")
    if len(start) != n:
        raise ValueError(f"start holds {len(start)} states: expected {n}, one per chain or replica")
    return start
