"""Samples over a ladder of betas: simulated and parallel tempering.

Simulated tempering makes beta random: the joint distribution of a state x and an index k is
``q(x, k) ~ p*_k(x) r_k / Z_k``, with estimates Z_k of the partition functions and a prior r. A
sweep at beta_k is followed by a draw of k given x (Carlson et al. 2016, eq. 7). Parallel tempering
keeps one replica at each beta and swaps neighbours, even and odd pairs in turn. This order is not
reversible, so replicas travel rather than diffuse (Okabe et al. 2001; Syed et al. 2022).

With ``conditional="joint"``, x is the pair (v, h). Its log-density is linear in beta on a geometric
path, ``log p*_beta(v, h) = log p*_0(v, h) + beta Delta(v, h)``, so one number of each state is
enough for all betas. With ``"marginal"``, the hidden units are summed over. This works on any path
and gives a little less noise in k, for K times the work.
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
        Whether beta is drawn given (v, h) or given v.
    betas, log_z_path, prior : ndarray (K,)
        The betas, the estimates log Z_k for the draws of beta (the first is log Z of the base), and
        r_k. Parallel tempering needs no estimates: they are NaN except at the base.
    temperature : int16 ndarray (n_kept, n_chains)
        Index of the beta of each kept state, drawn after the state.
    delta : ndarray (n_kept, n_chains)
        Slope of each kept state. "joint": Delta(v, h), with ``log p*_k = log p*_0 + betas[k]
        delta`` for all k. "marginal": d/dbeta log p*_beta(v) at the beta of the state.
    visited : ndarray (n_blocks, n_groups, 3, K)
        Sums of 1, slope and slope**2 at the sampled beta over all sweeps of a block of time, for
        each independent group (a chain, or a ladder of K replicas).
    mixed : ndarray (n_blocks, n_groups, 3, K) or None
        The Rao-Blackwellised sums of ``q(k | x)``, times 1, slope and slope**2 (eq. 9, 21).
    round_trips : ndarray (n_chains,)
        Number of round trips of each chain or replica between the ends of the ladder.
    origin : ndarray (n_groups,)
        Index of the beta at which each chain started; -1 for parallel tempering.
    states, index : ndarray (n_chains, n), (n_chains,)
        Last state of each chain, and the index of its beta.
    last_end : ndarray (n_chains,)
        Index of the end of the ladder that each chain visited last, or -1 if it visited neither.
    swap_rates : ndarray (K - 1,) or None
        Share of proposed swaps that parallel tempering accepted.
    path : Path or None
        Path of the sample.
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
        """Number of independent chains, or of ladders of parallel tempering."""
        return self.visited.shape[1]

    @property
    def log_z_base(self) -> float:
        return float(self.log_z_path[0])

    @property
    def block_sweeps(self) -> np.ndarray:
        """Number of sweeps in each block of time (n_blocks,)."""
        replicas = 1 if self.method == "simulated" else self.betas.size
        return (self.visited[:, 0, 0].sum(axis=-1) / replicas).astype(int)

    @property
    def n_sweeps(self) -> int:
        return int(self.block_sweeps.sum())

    def occupation(self) -> np.ndarray:
        """Return the Rao-Blackwellised c_k (eq. 9), (n_blocks, n_chains, K)."""
        assert self.mixed is not None
        return self.mixed[:, :, 0] / self.block_sweeps[:, None, None]

    def of_chains(self, chains) -> TemperedSample:
        """Return the sample of some chains (or ladders), given as a slice or indices."""
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
        run = f"{self.method} tempering: {self.n_chains} chains, {self.n_sweeps} sweeps"
        trips = f"{self.round_trips.sum():.0f} round trips"
        return f"<TemperedSample of {run}, {self.betas.size} betas, {trips}>"


def bytes_of_chain(path) -> int:
    """Return the memory in bytes of a chain of a path or model, as measured and rounded up.

    Compiled loops store states of two-valued units twice in single precision. Other loops use
    double precision for each field and draw.
    """
    model = getattr(path, "rbm", path)
    layers = [getattr(model, name, None) for name in ("visible", "hidden")]
    compact = all(isinstance(layer, (Binary, Spin)) for layer in layers)
    n_units = sum(getattr(model, name, 0) for name in ("n_visible", "n_hidden"))
    return (16 if compact else 32) * max(n_units, 1)


def drawn_given(path) -> str:
    """Return the default of ``conditional``: "joint" if one slope is enough for all betas."""
    return "joint" if path.joint else "marginal"


def given_states(path, start, n: int):
    """Return ``start`` if it holds n states of the models of the path."""
    model = path.at(1.0)
    if hasattr(model, "visible"):
        start = checks.states("start", start, model.visible)
    else:
        width = getattr(model, "n_visible", None)
        start = checks.array("start", start, (None, width), f"(n_chains, {width})")
    if len(start) != n:
        raise ValueError(f"start holds {len(start)} states: expected {n}, one per chain or replica")
    return start
