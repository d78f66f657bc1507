"""Tempering: chains that draw their beta, replicas that swap it, chains that adjust log Z besides.

What stands here is the definition; the first line of a loop asks for the compiled one.
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
    """Sweeps, each followed by a draw of every chain's beta, ~ p*_k(x) exp(offsets[k]).

    ``index`` (n_chains,) and ``tally`` change in place; ``kept`` takes slopes and indices after
    every ``kept.every``-th sweep, ``kept.phase`` having passed since the last. Given v and h one
    slope serves all betas; given v alone, "marginal", there is one a beta.
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
    """As `temper`, for ladders of K replicas, of which neighbours swap their betas.

    ``turns`` gives 0 for even pairs or 1 for odd; ``swaps`` (2, K - 1) counts those accepted and
    proposed. ``tally.visited`` is of ladders.
    """
    for sweep in steps(range(n_sweeps), "parallel tempering"):
        v, logs, slopes = moved(path, v, index, betas, stream, conditional)
        swap_neighbours(index, logs, stream.random((len(v), 1))[:, 0], next(turns), swaps)
        note(sweep, index, slopes, tally, kept)
    return v


def moved(path, v, index, betas, stream, conditional):
    """States after a sweep, their log-densities and slopes at all betas, (n_chains, K)."""
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
    """Exchange the betas of neighbours k, k + 1, k odd or even; ``logs`` (n_replicas, K)."""
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
    """Add states to the sums of their chain or ladder; keep slopes and indices in their turn."""
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

    ``log_z_k += min(gain / prior_k, 1) share_k``, then less ``log_z_0``: ``share_k`` is the mean
    of q(k | x) over the group, or the share of the betas drawn (Tan 2017, eq. 9, 12). ``gains``
    (n_groups, n_sweeps); ``rule`` says how betas are drawn; ``adjusted`` is changed in place.
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
    """Probabilities of the next index, (n_chains, K), of a proposed and accepted neighbour."""
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
    """Indices drawn from rows of ``law``, with the uniforms as the compiled draws take them."""
    k = law.shape[1]
    up = (index == 0) | ((index < k - 1) & (side < 0.5))
    goal = np.where(up, index + 1, index - 1)
    accepted = u * proposed(index, k) < law[np.arange(index.size), goal]
    return np.where(accepted, goal, index)


def proposed(index, k):
    """Probability with which a neighbour of ``index`` is proposed."""
    return np.where((index == 0) | (index == k - 1), 1.0, 0.5)
