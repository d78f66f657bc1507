"""What the generic loops of a path are made of: sweeps, draws of beta, updates; plain NumPy."""

from __future__ import annotations

import numpy as np

from .._kernels.adaptive import Adjusted, Rule
from .._kernels.tempering import UNIT, Tally
from .._numerics import logsumexp


def moved(path, conditional, state, beta, betas, stream):
    """States after a sweep, their log-densities (n_chains, K), and slopes (n_chains, 1 or K)."""
    if conditional == "joint":
        state, delta = path.joint_transition(state, beta, stream)
        return state, delta[:, None] * betas, delta[:, None]
    state = path.transition(state, beta, stream)
    return state, path.log_density(state, betas), path.log_density_slopes(state, betas)


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


# betas that adjust their own log Z ----------------------------------------------------------


def sweep_of_groups(index, logs, uniforms, gain, rule: Rule, adjusted: Adjusted) -> None:
    """Draw all betas given ``logs`` (n_chains, K) of p*, and adjust log Z, in place."""
    n_groups, k = adjusted.log_z.shape
    group = np.repeat(np.arange(n_groups), index.size // n_groups)
    logits = logs + (rule.log_prior - adjusted.log_z)[group]
    if rule.local:
        law = neighbour_law(index, logits)
    else:
        law = np.exp(logits - logsumexp(logits, axis=1)[:, None])
    new = _choice(law, index, uniforms, rule.local)
    share = law if rule.mixed else np.eye(k)[new]
    share = share.reshape(n_groups, -1, k).mean(axis=1)
    adjusted.log_z[...] += np.minimum(gain[:, None] / rule.prior, 1) * share
    adjusted.log_z[...] -= adjusted.log_z[:, :1].copy()
    np.add.at(adjusted.visits, (group, new), 1)
    note_ends(new, k, adjusted.passages, adjusted.last_end)
    index[:] = new


def neighbour_law(index, logits) -> np.ndarray:
    """Probabilities of the next index, (n_chains, K), of a proposed and accepted neighbour."""
    n, k = logits.shape
    chains, law = np.arange(n), np.zeros((n, k))
    at_end = (np.arange(k) == 0) | (np.arange(k) == k - 1)
    there = np.where(at_end, 1.0, 0.5)  # probability of a proposal from k
    for side in (-1, 1):
        other = index + side
        inside = (other >= 0) & (other < k)
        c, j, i = chains[inside], other[inside], index[inside]
        ratio = np.exp(np.minimum(logits[c, j] - logits[c, i], 700))
        law[c, j] = np.minimum(there[i], there[j] * ratio)
    law[chains, index] = 1 - law.sum(axis=1)
    return law


def _choice(law, index, uniforms, local):
    """Indices drawn from rows of ``law``, with the uniforms as the compiled draws take them."""
    k = law.shape[1]
    if not local:
        return np.minimum((np.cumsum(law, axis=1) <= uniforms[:, :1]).sum(axis=1), k - 1)
    u, side = uniforms.T
    up = (index == 0) | ((index < k - 1) & (side < 0.5))
    goal = np.where(up, index + 1, index - 1)
    there = np.where((index == 0) | (index == k - 1), 1.0, 0.5)
    accepted = u * there < law[np.arange(index.size), goal]
    return np.where(accepted, goal, index)
