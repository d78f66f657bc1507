"""A sweep of states, a draw of their betas, and passages along the ladder: in plain NumPy."""

from __future__ import annotations

import numpy as np

from .._kernels.tempering import UNIT, Tally
from .._numerics import logsumexp


def moved(path, conditional, state, beta, betas, stream):
    """States after a sweep, their log-densities (n_chains, K), and slopes (n_chains, 1 or K)."""
    if conditional == "joint":
        state, delta = path.joint_transition(state, beta, stream)
        return state, delta[:, None] * betas, delta[:, None]
    state = path.transition(state, beta, stream)
    slopes = np.stack([path.log_density_slope(state, b) for b in betas], axis=1)
    return state, path.log_density(state, betas), slopes


def draw_betas(index, logits, slopes, uniforms, tally: Tally) -> None:
    """Draw the index of every chain from ``exp(logits)`` (n_chains, K), in place, and tally."""
    q = np.exp(logits - logsumexp(logits, axis=1)[:, None])
    new = np.minimum((np.cumsum(q, axis=1) <= uniforms).sum(axis=1), q.shape[1] - 1)
    chains = np.arange(index.size)
    slopes = np.broadcast_to(slopes, q.shape)
    own = slopes[chains, new]
    for power in range(3):
        tally.mixed[:, power] += q * slopes**power
        tally.visited[chains, power, new] += own**power
    np.add.at(tally.mixed_transitions, index, (q * UNIT).astype(np.int64))
    np.add.at(tally.transitions, (index, new), 1)
    note_ends(new, q.shape[1], tally.passages, tally.last_end)
    index[:] = new


def note_ends(index, n, passages, last_end) -> None:
    """Count passages from one end of the ladder to the other."""
    at_end = (index == 0) | (index == n - 1)
    passages += at_end & (last_end >= 0) & (last_end != index)
    last_end[at_end] = index[at_end]
