"""Loops of simulated tempering, parallel tempering, and self-adjusted tempering.

These loops are the definition. A compiled loop runs instead if the path has one.
"""

import numpy as np

from .._kernels.adaptive import Adjusted, Rule
from .._kernels.tempering import Kept, Tally
from ..context import steps
from ..numerics import logsumexp
from .compiled import compiled


def temper(
    path, v, index, betas, offsets, n_sweeps, stream, tally: Tally, kept: Kept, conditional="joint"
):
    """Run sweeps, each followed by a draw of the beta of every chain, ~ p*_k(x) exp(offsets[k]).

    ``index`` (n_chains,) and ``tally`` change in place. ``kept`` stores slopes and indices after
    every ``kept.every``-th sweep; ``kept.phase`` sweeps have passed since the last. Given v and h,
    one slope is enough for all betas; given v alone ("marginal"), each beta has its own slope.
    """
    if conditional == "joint" and (loops := compiled(path)):
        return loops.temper(v, index, betas, offsets, n_sweeps, stream, tally, kept)
    for sweep in steps(range(n_sweeps), "tempering"):
        v, logs, slopes = moved(path, v, index, betas, stream, conditional)
        q = normalised(logs + offsets)
        index[:] = drawn(q, stream.random((len(v), 1)))
        for power in range(3):
            tally.mixed[:, power] += q * slopes**power
        note(sweep, index, slopes, tally, kept)
    return v


def swap(
    path, v, index, betas, n_sweeps, stream, tally: Tally, kept: Kept, conditional, swaps, turns
):
    """As `temper`, for ladders of K replicas whose neighbours swap their betas.

    ``turns`` yields 0 for even pairs and 1 for odd pairs. ``swaps`` (2, K - 1) counts accepted and
    proposed swaps. ``tally.visited`` has one entry for each ladder.
    """
    for sweep in steps(range(n_sweeps), "parallel tempering"):
        v, logs, slopes = moved(path, v, index, betas, stream, conditional)
        swap_neighbours(index, logs, stream.random((len(v), 1))[:, 0], next(turns), swaps)
        note(sweep, index, slopes, tally, kept)
    return v


def moved(path, v, index, betas, stream, conditional):
    """Return states after a sweep, and their log-densities and slopes, (n_chains, K) each."""
    if conditional == "marginal":
        v = path.transition(v, betas[index], stream)
        return v, path.log_density(v, betas), path.log_density_slope(v, betas)
    loops = compiled(path)
    transition = loops.joint_transition if loops else path.joint_transition
    v, delta = transition(v, betas[index], stream)
    return v, delta[:, None] * betas, np.broadcast_to(delta[:, None], (len(v), len(betas)))


def normalised(logits):
    return np.exp(logits - logsumexp(logits, axis=1)[:, None])


def drawn(q, u):
    return np.minimum((np.cumsum(q, axis=1) <= u).sum(axis=1), q.shape[1] - 1)


def swap_neighbours(index, logs, uniforms, odd: int, accepted) -> None:
    """Swap the betas of neighbours k and k + 1, k odd or even; ``logs`` is (n_replicas, K)."""
    k = logs.shape[1]
    replica = np.empty_like(index).reshape(-1, k)  # of each ladder and beta
    replica[np.arange(index.size) // k, index] = np.arange(index.size)
    low, high = replica[:, odd : k - 1 : 2], replica[:, odd + 1 :: 2]
    at = np.arange(odd, k - 1, 2)
    gain = logs[low, at + 1] + logs[high, at] - logs[low, at] - logs[high, at + 1]
    yes = np.log(uniforms[low]) < gain
    accepted[0, at] += yes.sum(axis=0)
    accepted[1, at] += len(replica)
    lower = np.broadcast_to(at, low.shape)[yes]
    index[low[yes]], index[high[yes]] = lower + 1, lower


def note(sweep, index, slopes, tally, kept):
    """Add states to the sums of their chain or ladder, and keep slopes and indices if due."""
    chains, count = np.arange(index.size), sweep + kept.phase + 1
    own, group = slopes[chains, index], chains // (index.size // len(tally.visited))
    for power in range(3):
        tally.visited[group, power, index] += own**power
    note_ends(index, slopes.shape[1], tally.passages, tally.last_end)
    if count % kept.every == 0:
        row = count // kept.every - 1
        kept.delta[row], kept.index[row] = own, index


def note_ends(index, n, passages, last_end):
    """Count passages from one end of the ladder to the other."""
    at_end = (index == 0) | (index == n - 1)
    passages += at_end & (last_end >= 0) & (last_end != index)
    last_end[at_end] = index[at_end]


# self-adjusted ------------------------------------------------------------------------------


def adapt(
    path, v, index, betas, gains, rule: Rule, adjusted: Adjusted, stream, conditional="joint"
):
    """As `temper`, with log Z (n_groups, K) that each group of chains adjusts after every sweep.

    The update is ``log_z_k += min(gain / prior_k, 1) share_k``; then ``log_z_0`` is subtracted.
    ``share_k`` is the mean of q(k | x) over the group, or the share of the sampled betas (Tan 2017,
    eq. 9, 12). ``gains`` is (n_groups, n_sweeps); ``adjusted`` changes in place.
    """
    if conditional == "joint" and (loops := compiled(path)):
        return loops.adapt(v, index, betas, gains, rule, adjusted, stream)
    (n_groups, k), log_z = adjusted.log_z.shape, adjusted.log_z
    group = np.repeat(np.arange(n_groups), len(v) // n_groups)
    for gain in steps(gains.T, "adapting"):
        v, logs, _ = moved(path, v, index, betas, stream, conditional)
        logits, uniforms = logs + (rule.log_prior - log_z)[group], stream.random((len(v), 2))
        if rule.local:
            law = neighbour_law(index, logits)
            index[:] = neighbours(law, index, *uniforms.T)
        else:
            law = normalised(logits)
            index[:] = drawn(law, uniforms[:, :1])
        share = (law if rule.mixed else np.eye(k)[index]).reshape(n_groups, -1, k).mean(axis=1)
        log_z += np.minimum(gain[:, None] / rule.prior, 1) * share
        log_z -= log_z[:, :1].copy()
        np.add.at(adjusted.visits, (group, index), 1)
        note_ends(index, k, adjusted.passages, adjusted.last_end)
    return v


def neighbour_law(index, logits):
    """Return the probabilities (n_chains, K) of the next index by Metropolis local moves."""
    n, k = logits.shape
    chains, law, there = np.arange(n), np.zeros((n, k)), proposed(np.arange(k), k)
    for side in (-1, 1):
        other = index + side
        inside = (other >= 0) & (other < k)
        c, j, i = chains[inside], other[inside], index[inside]
        ratio = np.exp(np.minimum(logits[c, j] - logits[c, i], 700))
        law[c, j] = np.minimum(there[i], there[j] * ratio)
    law[chains, index] = 1 - law.sum(axis=1)
    return law


def neighbours(law, index, u, side):
    """Draw indices from the rows of ``law``, using uniforms in the same way as compiled loops."""
    k = law.shape[1]
    up = (index == 0) | ((index < k - 1) & (side < 0.5))
    goal = np.where(up, index + 1, index - 1)
    accepted = u * proposed(index, k) < law[np.arange(index.size), goal]
    return np.where(accepted, goal, index)


def proposed(index, k):
    """Return the probability of proposing one neighbour of ``index``."""
    return np.where((index == 0) | (index == k - 1), 1.0, 0.5)
