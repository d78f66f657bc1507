"""Simulated tempering of many chains: block Gibbs sweeps, with a draw of beta after each.

The slope ``Delta(v, h)`` of the joint log-density is a sum over the active visible units of their
slopes, which the draw of these units has at hand, so a sweep costs little more than without.
Given Delta, beta is drawn and either added to a tally, or the estimates of log Z are
adjusted (`adaptive`).
"""

from typing import NamedTuple

import numpy as np

from . import groups, narrow, wide
from .adaptive import adjust, ladder_of, move, note_end, search, set_offsets, weigh
from .layers import ROOM, list_active, read_row, write_row
from .random import bits31, draw_key, high, low
from .simd import LANES, join, load, njit

f32, u16 = np.float32, np.uint16


DRAWS = 3  # of a sweep: hidden units, visible units, beta


class Tally(NamedTuple):
    """What is added up on the way; chains first, so that threads share nothing."""

    mixed: np.ndarray  # (n_chains, 3, K): sums of q_k, q_k Delta and q_k Delta**2
    visited: np.ndarray  # (n_chains, 3, K): the same with 1 for the beta drawn, 0 for others
    passages: np.ndarray  # int64 (n_chains,): from one end of the ladder to the other
    last_end: np.ndarray  # int64 (n_chains,): visited last, 0 or K - 1; -1 for none


class Kept(NamedTuple):
    """Where every ``every``-th Delta and index of beta goes, of all chains of a run."""

    delta: np.ndarray  # (n_kept, n_chains)
    index: np.ndarray  # int16 (n_kept, n_chains)
    every: int
    phase: int  # sweeps since the last that was kept
    first: int = 0  # column of the first chain of a chunk


class Tempering(NamedTuple):
    """Beta k is drawn with probability ~ exp(beta_k Delta + offsets[k]), and tallied."""

    offsets: np.ndarray
    kept: Kept
    tally: Tally
    draws: bool = True  # or every chain keeps its beta


@njit
def add_visit(sums, k, delta):
    sums[0, k] += 1.0
    sums[1, k] += delta
    sums[2, k] += delta * delta


@njit
def draw_beta(chain, delta, key, betas, offsets, memory, tally):
    """Draw the index of beta given the state of a chain, and add to the tally."""
    p = memory.p
    total = weigh(delta, betas, offsets, memory)
    u = (np.float64(bits31(0, high(key), low(key))) + 0.5) / 2147483648.0
    new = search(p, memory.parts, u * total)
    share, sums = 1.0 / total, tally.mixed[chain]
    for k in range(betas.size):
        q = p[k] * share
        sums[0, k] += q
        sums[1, k] += q * delta
        sums[2, k] += q * delta * delta
    add_visit(tally.visited[chain], new, delta)
    note_end(chain, new, betas.size, tally.passages, tally.last_end)
    return new


def no_draws(n_chains: int, kept: Kept) -> Tempering:
    """Every chain keeps its beta, of as many as there are chains; Delta is kept."""
    nothing, sums = np.zeros(n_chains, np.int64), np.zeros((n_chains, 3, 0))
    tally = Tally(sums, sums, nothing, nothing)
    return Tempering(np.zeros(n_chains), kept, tally, draws=False)


# few hidden units: a chain at a time --------------------------------------------------------


@njit
def slopes_of(state, slope, n_units):
    """Sum of the slopes of the hidden units that are 1, in order."""
    total = 0.0
    for unit in range(n_units):
        if (state >> unit) & 1:
            total += np.float64(slope[unit])
    return total


@njit
def narrow_sweeps(v, index, betas, tempering, adapting, model, run):
    """Sweeps of `gibbs.temper` and `gibbs.adapt`, of which one is None, chain by chain.

    Tuples are taken apart here: inside the loops that would cost a tenth of the time.
    """
    n_groups = v.shape[0] if adapting is None else adapting.gains.shape[0]
    size, n_visible = v.shape[0] // n_groups, v.shape[1]
    ladder, (up, down, _, hidden, visible) = ladder_of(betas, index), model
    slope, n_hidden = hidden.slope, hidden.n_units
    if tempering is not None:
        (offsets, kept, tally, draws), memory = tempering, ladder.memory
        every, column, deltas, indices = kept.every, kept.first, kept.delta, kept.index
    (one, _, x, units), n_active = narrow.empty_chain(n_visible), np.empty(size, np.int64)
    bits, active = np.empty((size, one.size), u16), np.empty((size, n_visible + ROOM), u16)
    for group in range(n_groups):
        first = group * size
        for c in range(size):
            read_row(v[first + c], bits[c])
            n_active[c] = list_active(bits[c], n_visible, active[c])
        for sweep in range(run.start, run.stop):
            draw = run.first_draw + DRAWS * sweep
            if adapting is not None:
                set_offsets(group, adapting, ladder)
            for c in range(size):
                chain, words, listed = first + c, bits[c], active[c]
                number, beta = run.first_chain + chain, f32(betas[index[chain]])
                narrow.add_rows(up, listed, n_active[c], x)
                key = draw_key(run.seed, number, draw)
                state, _ = narrow.draw_hidden(x, hidden, beta, None, key)
                key = draw_key(run.seed, number, draw + 1)
                delta = slopes_of(state, slope, n_hidden)
                delta += narrow.draw_visible(state, down, visible, beta, True, key, units, words)
                n_active[c] = list_active(words, n_visible, listed)
                key = draw_key(run.seed, number, draw + 2)
                if tempering is not None:
                    if draws:
                        index[chain] = draw_beta(chain, delta, key, betas, offsets, memory, tally)
                    passed = sweep + kept.phase + 1
                    if passed % every == 0:
                        row = passed // every - 1
                        deltas[row, column + chain] = delta
                        indices[row, column + chain] = index[chain]
                if adapting is not None:
                    move(chain, group, delta, key, ladder, adapting)
            if adapting is not None:
                adjust(group, sweep, size, ladder, adapting)
        for c in range(size):
            write_row(bits[c], v[first + c])


# any number of hidden units, a group of chains at a time ------------------------------------


@njit
def wide_sweep(group, sparse, draw, model, run):
    """A sweep of a group of chains; its sums then add up to their Delta."""
    visible, hidden, scale = group.visible, group.hidden, model.visible.scale
    group.sums[:] = f32(0)
    wide.set_keys(run, draw, group)
    wide.draw_layer(model.up, visible, sparse, f32(0), model.hidden, group, hidden.words)
    sparse = groups.prepare(hidden, model.hidden.n_units)
    wide.set_keys(run, draw + 1, group)
    wide.draw_layer(model.down, hidden, sparse, scale, model.visible, group, visible.words)
    return groups.prepare(visible, model.visible.n_units)


@njit
def wide_sweeps(v, index, betas, tempering, adapting, model, run):
    """Sweeps of `gibbs.temper` and `gibbs.adapt`, of which one is None, all chains together."""
    n_groups = v.shape[0] if adapting is None else adapting.gains.shape[0]
    size = v.shape[0] // n_groups
    ladder = ladder_of(betas, index)
    if tempering is not None:
        (offsets, kept, tally, draws), memory = tempering, ladder.memory
        every, column, deltas, indices = kept.every, kept.first, kept.delta, kept.index
    chains = wide.read_group(v, model.hidden.n_units)
    sparse = groups.prepare(chains.visible, model.visible.n_units)
    for sweep in range(run.start, run.stop):
        draw = run.first_draw + DRAWS * sweep
        for chain in range(index.size):
            chains.betas[chain] = f32(betas[index[chain]])
        sparse = wide_sweep(chains, sparse, draw, model, run)
        for group in range(n_groups):
            if adapting is not None:
                set_offsets(group, adapting, ladder)
            for chain in range(group * size, (group + 1) * size):
                delta = join(load(chains.sums, LANES * chain))
                key = draw_key(run.seed, run.first_chain + chain, draw + 2)
                if tempering is not None:
                    if draws:
                        index[chain] = draw_beta(chain, delta, key, betas, offsets, memory, tally)
                    passed = sweep + kept.phase + 1
                    if passed % every == 0:
                        row = passed // every - 1
                        deltas[row, column + chain] = delta
                        indices[row, column + chain] = index[chain]
                if adapting is not None:
                    move(chain, group, delta, key, ladder, adapting)
            if adapting is not None:
                adjust(group, sweep, size, ladder, adapting)
    wide.write_states(chains.visible, v)
