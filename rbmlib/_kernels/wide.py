"""Annealing and Gibbs sweeps with any number of hidden units, a group of chains at a time.

Units are taken sixteen at a time: the fields of such a block, for all chains of the group, are
computed from weights that fit the first-level cache (`groups`); then the block is drawn.
"""

import numba
import numpy as np

from .active import n_words, write_row
from .elementwise import EXACT, draw_lanes, exact_increment, exp_negative, increment_lanes
from .groups import empty_states, fields_of_block, prepare, read_states, room_for_fields
from .memory import load, store
from .random import draw_key, mixed_keys, mixed_units
from .simd import LANES, absolute, bits_of, fma, join, mask_of, where

f32, u16, u32, i32 = np.float32, np.uint16, np.uint32, np.int32

_KERNEL = {"nogil": True, "error_model": "numpy", "cache": True}


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
def draw_layer(weights, states, sparse, room, scale, slope, offset, betas, k0, k1, words):
    """Draw the units of the other layer of every chain at its beta."""
    for block in range(words.shape[1]):
        fields = fields_of_block(block, weights, states, sparse, room)
        draw_block(block, fields, scale, slope, offset, betas, k0, k1, words)


@numba.njit(**_KERNEL)
def anneal(
    v, log_weights, betas, rules, start, stop, seed, first_chain, first_draw, up, down,
    scale, slope_scale, hidden_slope, hidden_offset, visible_slope, visible_offset,
):  # fmt: skip
    """Steps ``start`` to ``stop`` of `gibbs.anneal` for one group of chains, in place."""
    n_chains, n_visible, n_hidden = v.shape[0], v.shape[1], hidden_slope.size
    h_blocks, v_blocks = n_words(n_hidden), n_words(n_visible)
    a, a0 = padded(hidden_slope, h_blocks), padded(hidden_offset, h_blocks)
    b, b0 = padded(visible_slope, v_blocks), padded(visible_offset, v_blocks)
    visible, hidden = read_states(v), empty_states(n_chains, n_hidden)
    k0, k1 = np.empty(n_chains, u32), np.empty(n_chains, u32)
    room, sums = room_for_fields(n_chains), np.empty((n_chains, LANES), f32)
    n_blocks = up.rows.shape[0]  # the visible slope may stand in a block of its own
    x, chain_betas = np.empty((n_chains, LANES * n_blocks), f32), np.empty(n_chains, f32)
    sparse = prepare(visible, n_visible)
    for k in range(start, stop):
        beta, step = betas[k + 1], betas[k + 1] - betas[k]
        chain_betas[:], sums[:] = f32(beta), f32(0)
        set_keys(seed, first_chain, first_draw + 2 * k, k0, k1)
        for block in range(n_blocks):
            fields = fields_of_block(block, up, visible, sparse, room)
            if block == n_blocks - 1 or rules[k] == EXACT:
                x[:, LANES * block : LANES * (block + 1)] = fields[:n_chains]
            if block < h_blocks and rules[k] != EXACT:
                draw_block_with_increments(
                    block, n_hidden, fields, scale, a, a0, f32(beta), f32(step), rules[k], k0, k1,
                    hidden.words, sums,
                )  # fmt: skip
            elif block < h_blocks:
                draw_block(block, fields, scale, a, a0, chain_betas, k0, k1, hidden.words)
        for chain in range(n_chains):
            gain = step * slope_scale * np.float64(x[chain, n_hidden])
            if rules[k] != EXACT:
                gain += join(load(sums, LANES * chain))
            else:
                gain += exact_increment(
                    x[chain], scale, hidden_slope, hidden_offset, beta, betas[k]
                )
            log_weights[chain] += gain
        sparse = prepare(hidden, n_hidden)
        set_keys(seed, first_chain, first_draw + 2 * k + 1, k0, k1)
        draw_layer(down, hidden, sparse, room, scale, b, b0, chain_betas, k0, k1, visible.words)
        sparse = prepare(visible, n_visible)
    for chain in range(n_chains):
        write_row(visible.words[chain], v[chain])


@numba.njit(**_KERNEL)
def sweep(
    v, h, betas, start, stop, seed, first_chain, first_draw, up, down,
    scale, hidden_slope, hidden_offset, visible_slope, visible_offset,
):  # fmt: skip
    """Sweeps ``start`` to ``stop`` of `gibbs.sweep` for one group of chains, in place."""
    n_chains, n_visible, n_hidden = v.shape[0], v.shape[1], hidden_slope.size
    h_blocks, v_blocks = n_words(n_hidden), n_words(n_visible)
    a, a0 = padded(hidden_slope, h_blocks), padded(hidden_offset, h_blocks)
    b, b0 = padded(visible_slope, v_blocks), padded(visible_offset, v_blocks)
    visible, hidden = read_states(v), empty_states(n_chains, n_hidden)
    k0, k1 = np.empty(n_chains, u32), np.empty(n_chains, u32)
    room, chain_betas = room_for_fields(n_chains), betas.astype(f32)
    sparse = prepare(visible, n_visible)
    for k in range(start, stop):
        set_keys(seed, first_chain, first_draw + 2 * k, k0, k1)
        draw_layer(up, visible, sparse, room, scale, a, a0, chain_betas, k0, k1, hidden.words)
        sparse = prepare(hidden, n_hidden)
        set_keys(seed, first_chain, first_draw + 2 * k + 1, k0, k1)
        draw_layer(down, hidden, sparse, room, scale, b, b0, chain_betas, k0, k1, visible.words)
        sparse = prepare(visible, n_visible)
    for chain in range(n_chains):
        write_row(visible.words[chain], v[chain])
        write_row(hidden.words[chain], h[chain])
