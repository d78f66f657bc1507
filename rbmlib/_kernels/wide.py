"""Annealing and Gibbs sweeps with any number of hidden units, a group of chains at a time.

Units are taken sixteen at a time: the fields of such a block, for all chains of the group, are
sums of the weights of the active units of the other layer, which fit the first-level cache;
then the block is drawn. Sums of integers are exact, so the order does not show in the digits.
A list that would hold more than half of the units holds the others, and is subtracted.
"""

from typing import NamedTuple

import numba
import numpy as np

from .active import ROOM, list_active, n_words, read_row, write_row
from .elementwise import EXACT, draw_lanes, exact_increment, exp_negative, increment_lanes
from .random import draw_key, mixed_keys, mixed_units
from .simd import (
    LANES,
    absolute,
    aligned,
    bits_of,
    fma,
    join,
    load,
    load_wide,
    mask_of,
    spread,
    store,
    to_floats,
    where,
)

f32, u16, u32 = np.float32, np.uint16, np.uint32

TURN = 4  # weight rows added in a turn of the loop

_KERNEL = {"nogil": True, "error_model": "numpy", "cache": True}


class Blocks(NamedTuple):
    """Integer weights (n_rows, n_columns), columns cut in blocks of sixteen and padded."""

    weights: np.ndarray  # int16 (n_blocks, n_rows + 1, LANES): the last row is zero
    totals: np.ndarray  # int32 (n_blocks, LANES): sums of all rows


def blocks(q: np.ndarray) -> Blocks:
    n_rows, n_columns = q.shape
    n_blocks = n_words(n_columns)
    padded = np.zeros((n_rows + 1, n_blocks * LANES), np.int64)
    padded[:n_rows, :n_columns] = q
    weights = aligned((n_blocks, n_rows + 1, LANES), np.int16)
    weights[...] = padded.reshape(n_rows + 1, n_blocks, LANES).swapaxes(0, 1)
    totals = aligned((n_blocks, LANES), np.int32)
    totals[...] = padded.sum(axis=0).reshape(n_blocks, LANES)
    return Blocks(weights, totals)


@numba.njit(**_KERNEL)
def list_rows(words, n_units, rows, counts, inverted):
    """List the active units of every chain, or the others if they are fewer."""
    for chain in range(counts.size):
        n_active = list_active(words[chain], n_units, rows[chain])
        inverted[chain] = 2 * n_active > n_units
        if inverted[chain]:
            for word in range(words.shape[1]):
                words[chain, word] ^= 0xFFFF
            n_active = list_active(words[chain], n_units, rows[chain])
            for word in range(words.shape[1]):
                words[chain, word] ^= 0xFFFF
        while n_active % TURN:  # with the row of zeros
            rows[chain, n_active] = n_units
            n_active += 1
        counts[chain] = n_active


@numba.njit(**_KERNEL)
def fields_of_block(block, weights, totals, rows, counts, inverted, fields):
    """``fields`` (n_chains, LANES): sums of the listed rows."""
    start = block * weights.shape[1] * LANES
    for chain in range(counts.size):
        a, b = spread(np.int32(0)), spread(np.int32(0))
        for k in range(0, counts[chain], TURN):
            r0, r1 = np.int64(rows[chain, k]), np.int64(rows[chain, k + 1])
            r2, r3 = np.int64(rows[chain, k + 2]), np.int64(rows[chain, k + 3])
            a = a + load_wide(weights, start + LANES * r0)
            b = b + load_wide(weights, start + LANES * r1)
            a = a + load_wide(weights, start + LANES * r2)
            b = b + load_wide(weights, start + LANES * r3)
        total = a + b
        if inverted[chain]:
            total = load(totals, LANES * block) - total
        store(fields, LANES * chain, to_floats(total))


@numba.njit(**_KERNEL)
def draw_block(block, fields, scale, slope, offset, betas, k0, k1, words):
    """Draw sixteen units of every chain at its beta."""
    first = LANES * block
    a, a0, units = load(slope, first), load(offset, first), mixed_units(first)
    for chain in range(betas.size):
        t = fma(fma(load(fields, LANES * chain), scale, a), betas[chain], a0)
        bits = draw_lanes(t, exp_negative(absolute(t)), units, k0[chain], k1[chain])
        words[chain, block] = bits_of(bits)


@numba.njit(**_KERNEL)
def draw_block_with_increments(
    block, n_units, fields, scale, slope, offset, beta, step, rule, k0, k1, words, sums
):
    """`draw_block` at one beta; adds `increment_lanes` to ``sums`` (n_chains, LANES)."""
    first = LANES * block
    a, a0, units = load(slope, first), load(offset, first), mixed_units(first)
    here = mask_of((1 << min(n_units - first, LANES)) - 1)
    for chain in range(k0.size):
        s = fma(load(fields, LANES * chain), scale, a)
        t = fma(s, beta, a0)
        e = exp_negative(absolute(t))
        words[chain, block] = bits_of(draw_lanes(t, e, units, k0[chain], k1[chain]))
        gain = where(here, increment_lanes(s, t, e, step, rule), f32(0))
        store(sums, LANES * chain, load(sums, LANES * chain) + gain)


@numba.njit(**_KERNEL)
def set_keys(seed, first_chain, draw, k0, k1):
    for chain in range(k0.size):
        k0[chain], k1[chain] = mixed_keys(draw_key(seed, first_chain + chain, draw))


@numba.njit(**_KERNEL)
def padded(vector, n_blocks):
    out = np.zeros(LANES * n_blocks, f32)
    out[: vector.size] = vector
    return out


@numba.njit(**_KERNEL)
def list_of(v, words, rows, counts, inverted):
    """`list_rows` of rows of zeros and ones."""
    for chain in range(v.shape[0]):
        read_row(v[chain], words[chain])
    list_rows(words, v.shape[1], rows, counts, inverted)


@numba.njit(**_KERNEL)
def anneal(
    v, log_weights, betas, rules, start, stop, seed, first_chain, first_draw,
    up, up_totals, down, down_totals, scale, slope_scale,
    hidden_slope, hidden_offset, visible_slope, visible_offset,
):  # fmt: skip
    """Steps ``start`` to ``stop`` of `gibbs.anneal` for one group of chains, in place."""
    n_chains, n_visible, n_hidden = v.shape[0], v.shape[1], hidden_slope.size
    h_blocks, v_blocks = n_words(n_hidden), n_words(n_visible)
    a, a0 = padded(hidden_slope, h_blocks), padded(hidden_offset, h_blocks)
    b, b0 = padded(visible_slope, v_blocks), padded(visible_offset, v_blocks)
    v_words, v_rows = (
        np.zeros((n_chains, v_blocks), u16),
        np.empty((n_chains, n_visible + ROOM), u16),
    )
    h_words, h_rows = (
        np.zeros((n_chains, h_blocks), u16),
        np.empty((n_chains, n_hidden + ROOM), u16),
    )
    counts, inverted = np.empty(n_chains, np.int64), np.empty(n_chains, np.bool_)
    k0, k1 = np.empty(n_chains, u32), np.empty(n_chains, u32)
    fields, sums = np.empty((n_chains, LANES), f32), np.empty((n_chains, LANES), f32)
    x, chain_betas = np.empty((n_chains, LANES * up.shape[0]), f32), np.empty(n_chains, f32)
    list_of(v, v_words, v_rows, counts, inverted)
    for k in range(start, stop):
        beta, step = betas[k + 1], betas[k + 1] - betas[k]
        chain_betas[:], sums[:] = f32(beta), f32(0)
        set_keys(seed, first_chain, first_draw + 2 * k, k0, k1)
        for block in range(up.shape[0]):
            fields_of_block(block, up, up_totals, v_rows, counts, inverted, fields)
            if block == up.shape[0] - 1 or rules[k] == EXACT:
                x[:, LANES * block : LANES * (block + 1)] = fields
            if block < h_blocks and rules[k] != EXACT:
                draw_block_with_increments(
                    block, n_hidden, fields, scale, a, a0, f32(beta), f32(step), rules[k], k0, k1,
                    h_words, sums,
                )  # fmt: skip
            elif block < h_blocks:
                draw_block(block, fields, scale, a, a0, chain_betas, k0, k1, h_words)
        for chain in range(n_chains):
            gain = step * slope_scale * np.float64(x[chain, n_hidden])
            if rules[k] != EXACT:
                gain += join(load(sums, LANES * chain))
            else:
                gain += exact_increment(
                    x[chain], scale, hidden_slope, hidden_offset, beta, betas[k]
                )
            log_weights[chain] += gain
        list_rows(h_words, n_hidden, h_rows, counts, inverted)
        set_keys(seed, first_chain, first_draw + 2 * k + 1, k0, k1)
        for block in range(v_blocks):
            fields_of_block(block, down, down_totals, h_rows, counts, inverted, fields)
            draw_block(block, fields, scale, b, b0, chain_betas, k0, k1, v_words)
        list_rows(v_words, n_visible, v_rows, counts, inverted)
    for chain in range(n_chains):
        write_row(v_words[chain], v[chain])


@numba.njit(**_KERNEL)
def sweep(
    v, h, betas, start, stop, seed, first_chain, first_draw, up, up_totals, down, down_totals,
    scale, hidden_slope, hidden_offset, visible_slope, visible_offset,
):  # fmt: skip
    """Sweeps ``start`` to ``stop`` of `gibbs.sweep` for one group of chains, in place."""
    n_chains, n_visible, n_hidden = v.shape[0], v.shape[1], hidden_slope.size
    h_blocks, v_blocks = n_words(n_hidden), n_words(n_visible)
    a, a0 = padded(hidden_slope, h_blocks), padded(hidden_offset, h_blocks)
    b, b0 = padded(visible_slope, v_blocks), padded(visible_offset, v_blocks)
    v_words, v_rows = (
        np.zeros((n_chains, v_blocks), u16),
        np.empty((n_chains, n_visible + ROOM), u16),
    )
    h_words, h_rows = (
        np.zeros((n_chains, h_blocks), u16),
        np.empty((n_chains, n_hidden + ROOM), u16),
    )
    counts, inverted = np.empty(n_chains, np.int64), np.empty(n_chains, np.bool_)
    k0, k1 = np.empty(n_chains, u32), np.empty(n_chains, u32)
    fields, chain_betas = np.empty((n_chains, LANES), f32), betas.astype(f32)
    list_of(v, v_words, v_rows, counts, inverted)
    for k in range(start, stop):
        set_keys(seed, first_chain, first_draw + 2 * k, k0, k1)
        for block in range(h_blocks):
            fields_of_block(block, up, up_totals, v_rows, counts, inverted, fields)
            draw_block(block, fields, scale, a, a0, chain_betas, k0, k1, h_words)
        list_rows(h_words, n_hidden, h_rows, counts, inverted)
        set_keys(seed, first_chain, first_draw + 2 * k + 1, k0, k1)
        for block in range(v_blocks):
            fields_of_block(block, down, down_totals, h_rows, counts, inverted, fields)
            draw_block(block, fields, scale, b, b0, chain_betas, k0, k1, v_words)
        list_rows(v_words, n_visible, v_rows, counts, inverted)
    for chain in range(n_chains):
        write_row(v_words[chain], v[chain])
        write_row(h_words[chain], h[chain])
