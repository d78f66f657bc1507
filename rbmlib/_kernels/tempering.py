"""Simulated tempering of many chains: block Gibbs sweeps, with a draw of beta after each.

The slope ``Delta(v, h)`` of the joint log-density is a sum over the active visible units of their
slopes, which the draw of these units has at hand, so a sweep costs little more than without.
With Delta, beta given (v, h) is one of K numbers with probabilities ``q_k ~ exp(beta_k Delta +
offset_k)``: O(K) a chain, in float64, with an exponential of our own (`weigh`), so that the same
seed gives the same bits on any processor. Sums over chains are of integers, for the same reason.
There is no route on matrix tiles: `narrow` and `wide` serve every machine.
"""

from typing import NamedTuple

import numba
import numpy as np

from . import groups, narrow, wide
from .active import ROOM, list_active, n_words, read_row, write_row
from .elementwise import draw_lanes, exp_negative
from .memory import load, store
from .random import bits31, draw_key, high, low, mixed_keys, mixed_units
from .simd import LANES, absolute, bits_of, fma, join, spread, where

f32, u16, u32 = np.float32, np.uint16, np.uint32

_KERNEL = {"nogil": True, "error_model": "numpy", "cache": True}

DRAWS = 3  # of a sweep: hidden units, visible units, beta
PART = 16  # probabilities are summed in parts: a sum can then be searched
UNIT = 2.0**32  # of the integers that stand for probabilities in `Tally.mixed_transitions`
_MAGIC = 1.5 * 2.0**52  # adding it rounds to the nearest integer, left in the low bits


class Tally(NamedTuple):
    """What is added up on the way; chains first, so that threads share nothing."""

    mixed: np.ndarray  # (n_chains, 3, K): sums of q_k, q_k Delta and q_k Delta**2
    visited: np.ndarray  # (n_chains, 3, K): the same with 1 for the beta drawn, 0 for others
    transitions: np.ndarray  # int64 (K, K): from beta to beta, summed over chains
    mixed_transitions: np.ndarray  # int64 (K, K): the same with q_k, in units of 1 / UNIT
    passages: np.ndarray  # int64 (n_chains,): from one end of the ladder to the other
    last_end: np.ndarray  # int64 (n_chains,): visited last, 0 or K - 1; -1 for none


@numba.njit(**_KERNEL)
def weigh(delta, betas, offsets, p, p_bits, shifted, shifted_bits, parts):
    """``p[k] = exp(x_k - max x)``, ``x_k = betas[k] delta + offsets[k]``; returns their sum.

    2**t = 2**n 2**f as in `elementwise.exp_negative`, in float64: relative error below 1e-11,
    to 2**-1000. ``p_bits`` and ``shifted_bits`` are the int64 views of ``p`` and ``shifted``.
    """
    top = -np.inf
    for k in range(betas.size):
        p[k] = betas[k] * delta + offsets[k]
    for k in range(betas.size):
        top = max(top, p[k])
    for k in range(betas.size):
        t = max((p[k] - top) * 1.4426950408889634, -1000.0)
        s = t + _MAGIC
        f = t - (s - _MAGIC)
        y = 7.054911620801121e-9 * f + 1.0178086009239699e-7
        y = y * f + 1.3215486790144307e-6
        y = y * f + 1.5252733804059838e-5
        y = y * f + 1.5403530393381608e-4
        y = y * f + 1.3333558146428441e-3
        y = y * f + 9.618129107628477e-3
        y = y * f + 5.5504108664821576e-2
        y = y * f + 2.4022650695910069e-1
        y = y * f + 6.931471805599453e-1
        p[k] = y * f + 1.0
        shifted[k] = s
    for k in range(betas.size):
        p_bits[k] += shifted_bits[k] << 52
    total = 0.0
    for part in range(parts.size):
        parts[part] = 0.0
        for k in range(part * PART, min((part + 1) * PART, betas.size)):
            parts[part] += p[k]
        total += parts[part]
    return total


@numba.njit(**_KERNEL)
def search(p, parts, goal):
    """The first k whose cumulative sum exceeds ``goal``."""
    part = 0
    while part < parts.size - 1 and goal >= parts[part]:
        goal -= parts[part]
        part += 1
    k, last = part * PART, min((part + 1) * PART, p.size) - 1
    while k < last and goal >= p[k]:
        goal -= p[k]
        k += 1
    return k


@numba.njit(**_KERNEL)
def add_visit(sums, k, delta):
    sums[0, k] += 1.0
    sums[1, k] += delta
    sums[2, k] += delta * delta


@numba.njit(**_KERNEL)
def draw_beta(
    chain, old, delta, key, betas, offsets, memory, mixed, visited, transitions,
    mixed_transitions, passages, last_end,
):  # fmt: skip
    """Draw the index of beta given the state of a chain, and add to the tally."""
    p, p_bits, shifted, shifted_bits, parts = memory
    total = weigh(delta, betas, offsets, p, p_bits, shifted, shifted_bits, parts)
    u = (np.float64(bits31(0, high(key), low(key))) + 0.5) / 2147483648.0
    new = search(p, parts, u * total)
    share, sums = 1.0 / total, mixed[chain]
    for k in range(betas.size):
        q = p[k] * share
        sums[0, k] += q
        sums[1, k] += q * delta
        sums[2, k] += q * delta * delta
    row, share = mixed_transitions[old], UNIT / total
    for k in range(betas.size):
        row[k] += np.int64(p[k] * share)
    transitions[old, new] += 1
    add_visit(visited[chain], new, delta)
    note_end(chain, new, betas.size, passages, last_end)
    return new


@numba.njit(**_KERNEL)
def note_end(chain, k, n, passages, last_end):
    if k == 0 or k == n - 1:
        if last_end[chain] >= 0 and last_end[chain] != k:
            passages[chain] += 1
        last_end[chain] = k


@numba.njit(**_KERNEL)
def memory_of(n):
    """Work space of `weigh` for n betas."""
    p, shifted = np.empty(n), np.empty(n)
    return p, p.view(np.int64), shifted, shifted.view(np.int64), np.empty((n + PART - 1) // PART)


@numba.njit(**_KERNEL)
def row_of(k, every):
    """Row in which sweep k is kept, or -1."""
    return (k + 1) // every - 1 if (k + 1) % every == 0 else -1


# few hidden units: a chain at a time --------------------------------------------------------


@numba.njit(**_KERNEL)
def draw_visible_with_slopes(state, tables, scale, slope_bias, offset, units, beta, key, bits):
    """`narrow.draw_visible`; returns the sum of the slopes of the units that are 1."""
    k0, k1 = mixed_keys(key)
    r0, r1, r2, r3, r4, r5 = narrow._table_rows(state, tables.shape[2])
    n_groups, total = tables.shape[0], spread(f32(0))
    for word in range(bits.size):
        j = word * LANES
        y = load(tables, r0 + j) + load(tables, r1 + j)
        if n_groups > 2:
            y = y + (load(tables, r2 + j) + load(tables, r3 + j))
        if n_groups > 4:
            y = y + (load(tables, r4 + j) + load(tables, r5 + j))
        s = fma(y, scale, load(slope_bias, j))
        t = fma(s, beta, load(offset, j))
        drawn = draw_lanes(t, exp_negative(absolute(t)), load(units, j), k0, k1)
        bits[word] = bits_of(drawn)
        total = total + where(drawn, s, f32(0))  # slopes of padding are 0
    return join(total)


@numba.njit(**_KERNEL)
def narrow_sweep(
    beta, seed, chain, draw, active, n_active, bits, x, units, hidden_slope, a, a0, b, b0, up,
    tables, scale, n_visible,
):  # fmt: skip
    """A sweep of one chain: Delta at its end, and how many visible units are then listed."""
    narrow.add_rows(up, active, n_active, x)
    key = draw_key(seed, chain, draw)
    state = narrow.draw_hidden(x, hidden_slope.size, scale, a, a0, beta, key)
    delta = 0.0
    for unit in range(hidden_slope.size):
        if (state >> unit) & 1:
            delta += np.float64(hidden_slope[unit])
    key = draw_key(seed, chain, draw + 1)
    delta += draw_visible_with_slopes(state, tables, scale, b, b0, units, beta, key, bits)
    return delta, list_active(bits, n_visible, active)


@numba.njit(**_KERNEL)
def narrow_temper(
    v, index, betas, offsets, draw, delta_out, index_out, every, phase, start, stop, seed,
    first_chain, first_draw, mixed, visited, transitions, mixed_transitions, passages, last_end,
    up, tables, scale, hidden_slope, hidden_offset, visible_slope, visible_offset,
):  # fmt: skip
    """Sweeps ``start`` to ``stop`` of `gibbs.temper`, chain by chain."""
    n_visible = v.shape[1]
    a, a0 = narrow._padded(hidden_slope, narrow.WIDTH), narrow._padded(hidden_offset, narrow.WIDTH)
    b, b0 = (
        narrow._padded(visible_slope, tables.shape[2]),
        narrow._padded(visible_offset, tables.shape[2]),
    )
    active, bits = np.empty(n_visible + ROOM, u16), np.empty(b.size // LANES, u16)
    x, units = np.empty(narrow.WIDTH, f32), narrow._mixed_units(b.size)
    memory = memory_of(betas.size)
    for chain in range(v.shape[0]):
        read_row(v[chain], bits)
        n_active, k = list_active(bits, n_visible, active), index[chain]
        for sweep in range(start, stop):
            first = first_draw + DRAWS * sweep
            delta, n_active = narrow_sweep(
                f32(betas[k]), seed, first_chain + chain, first, active, n_active, bits, x, units,
                hidden_slope, a, a0, b, b0, up, tables, scale, n_visible,
            )  # fmt: skip
            if draw:
                key = draw_key(seed, first_chain + chain, first + 2)
                k = draw_beta(
                    chain, k, delta, key, betas, offsets, memory, mixed, visited, transitions,
                    mixed_transitions, passages, last_end,
                )  # fmt: skip
            row = row_of(sweep + phase, every)
            if row >= 0:
                delta_out[row, chain], index_out[row, chain] = delta, k
        index[chain] = k
        write_row(bits, v[chain])


# any number of hidden units, a group of chains at a time ------------------------------------


@numba.njit(**_KERNEL)
def draw_block_with_slopes(block, fields, scale, weight, slope, offset, betas, k0, k1, words, sums):
    """`wide.draw_block`; adds ``weight * fields + slope`` of the units that are 1 to ``sums``."""
    first = LANES * block
    a, a0, units = load(slope, first), load(offset, first), mixed_units(first)
    for chain in range(betas.size):
        x = load(fields, LANES * chain)
        t = fma(fma(x, scale, a), betas[chain], a0)
        drawn = draw_lanes(t, exp_negative(absolute(t)), units, k0[chain], k1[chain])
        words[chain, block] = bits_of(drawn)
        gain = where(drawn, fma(x, weight, a), f32(0))
        store(sums, LANES * chain, load(sums, LANES * chain) + gain)


@numba.njit(**_KERNEL)
def finish_sweep(
    sweep, n_chains, index, betas, offsets, draw, delta_out, index_out, every, phase, seed,
    first_chain, first_draw, sums, chain_betas, memory, mixed, visited, transitions,
    mixed_transitions, passages, last_end,
):  # fmt: skip
    """After a sweep of a group: Delta from the sums of slopes, and the draw of beta."""
    row = row_of(sweep + phase, every)
    for chain in range(n_chains):
        delta = join(load(sums, LANES * chain))
        if draw:
            key = draw_key(seed, first_chain + chain, first_draw + DRAWS * sweep + 2)
            index[chain] = draw_beta(
                chain, index[chain], delta, key, betas, offsets, memory, mixed, visited,
                transitions, mixed_transitions, passages, last_end,
            )  # fmt: skip
            chain_betas[chain] = f32(betas[index[chain]])
        if row >= 0:
            delta_out[row, chain], index_out[row, chain] = delta, index[chain]


@numba.njit(**_KERNEL)
def draw_layer_with_slopes(
    weights, states, sparse, room, scale, weight, slope, offset, betas, k0, k1, words, sums
):
    """`wide.draw_layer`; adds to ``sums`` as `draw_block_with_slopes` does."""
    for block in range(words.shape[1]):
        fields = groups.fields_of_block(block, weights, states, sparse, room)
        draw_block_with_slopes(
            block, fields, scale, weight, slope, offset, betas, k0, k1, words, sums
        )


@numba.njit(**_KERNEL)
def wide_sweep(
    betas, seed, first_chain, draw, visible, hidden, sparse, room, sums, k0, k1, a, a0, b, b0, up,
    down, scale, n_visible, n_hidden,
):  # fmt: skip
    """A sweep of a group of chains; ``sums`` (n_chains, LANES) then add up to their Delta."""
    sums[:] = f32(0)
    wide.set_keys(seed, first_chain, draw, k0, k1)
    draw_layer_with_slopes(
        up, visible, sparse, room, scale, f32(0), a, a0, betas, k0, k1, hidden.words, sums
    )
    sparse = groups.prepare(hidden, n_hidden)
    wide.set_keys(seed, first_chain, draw + 1, k0, k1)
    draw_layer_with_slopes(
        down, hidden, sparse, room, scale, scale, b, b0, betas, k0, k1, visible.words, sums
    )
    return groups.prepare(visible, n_visible)


@numba.njit(**_KERNEL)
def wide_temper(
    v, index, betas, offsets, draw, delta_out, index_out, every, phase, start, stop, seed,
    first_chain, first_draw, mixed, visited, transitions, mixed_transitions, passages, last_end,
    up, down, scale, hidden_slope, hidden_offset, visible_slope, visible_offset,
):  # fmt: skip
    """Sweeps ``start`` to ``stop`` of `gibbs.temper` for one group of chains."""
    n_chains, n_visible, n_hidden = v.shape[0], v.shape[1], hidden_slope.size
    h_blocks, v_blocks = n_words(n_hidden), n_words(n_visible)
    a, a0 = wide.padded(hidden_slope, h_blocks), wide.padded(hidden_offset, h_blocks)
    b, b0 = wide.padded(visible_slope, v_blocks), wide.padded(visible_offset, v_blocks)
    visible, hidden = groups.read_states(v), groups.empty_states(n_chains, n_hidden)
    k0, k1 = np.empty(n_chains, u32), np.empty(n_chains, u32)
    room, sums = groups.room_for_fields(n_chains), np.empty((n_chains, LANES), f32)
    chain_betas, memory = np.empty(n_chains, f32), memory_of(betas.size)
    for chain in range(n_chains):
        chain_betas[chain] = f32(betas[index[chain]])
    sparse = groups.prepare(visible, n_visible)
    for sweep in range(start, stop):
        sparse = wide_sweep(
            chain_betas, seed, first_chain, first_draw + DRAWS * sweep, visible, hidden, sparse,
            room, sums, k0, k1, a, a0, b, b0, up, down, scale, n_visible, n_hidden,
        )  # fmt: skip
        finish_sweep(
            sweep, n_chains, index, betas, offsets, draw, delta_out, index_out, every, phase, seed,
            first_chain, first_draw, sums, chain_betas, memory, mixed, visited, transitions,
            mixed_transitions, passages, last_end,
        )  # fmt: skip
    for chain in range(n_chains):
        write_row(visible.words[chain], v[chain])
