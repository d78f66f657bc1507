"""Annealing and Gibbs sweeps on the matrix tiles of some x86-64 processors (AMX, Linux).

The same integers as everywhere (`fixed_point`), in two planes of bytes, q = 256 high + low with
high signed and low unsigned, times states of zeros and ones: fields are exact and states equal
those of the portable kernels bit for bit. A tile holds 16 rows of 64 bytes; a group is 32 chains.
The products of one block of sixteen units are interleaved with the draws of the block before,
because tiles and vectors are computed side by side.
"""

from typing import NamedTuple

import numba
import numpy as np

from .active import n_words
from .elementwise import EXACT, draw_lanes, exact_increment, exp_negative, increment_lanes
from .memory import aligned, load, store, store_bytes
from .random import mixed_units
from .simd import LANES, absolute, fma, join, mask_of, to_floats, where
from .tiles import (
    CONFIGURATION,
    GROUP,
    HIGH,
    HIGH_0,
    HIGH_1,
    LOW,
    LOW_0,
    LOW_1,
    STATES_0,
    STATES_1,
    TILE,
    K,
    add_signed,
    add_unsigned,
    clear_tile,
    configure,
    load_tile,
    release,
    store_tile,
)
from .wide import padded, set_keys

f32, u32 = np.float32, np.uint32

_KERNEL = {"nogil": True, "error_model": "numpy", "cache": True}
_INLINE = {"inline": "always", "error_model": "numpy"}


@numba.njit(**_INLINE)
def _multiply(states, weights, block, k):
    """Add the products of 64 units of 32 chains and the weights to sixteen units."""
    width, place = states.shape[1], 2 * TILE * (block * weights.shape[1] + k)
    load_tile(STATES_0, states, K * k, width)
    load_tile(HIGH, weights, place, K)
    load_tile(LOW, weights, place + TILE, K)
    add_signed(HIGH_0, STATES_0, HIGH)
    add_unsigned(LOW_0, STATES_0, LOW)
    load_tile(STATES_1, states, 16 * width + K * k, width)
    add_signed(HIGH_1, STATES_1, HIGH)
    add_unsigned(LOW_1, STATES_1, LOW)


@numba.njit(**_INLINE)
def _clear():
    clear_tile(HIGH_0)
    clear_tile(LOW_0)
    clear_tile(HIGH_1)
    clear_tile(LOW_1)


@numba.njit(**_INLINE)
def _store(planes, half):
    """Store the fields of a block: ``planes`` (2 halves, 2 planes, GROUP, LANES) int32."""
    place = 4 * TILE * half
    store_tile(HIGH_0, planes, place, K)
    store_tile(HIGH_1, planes, place + TILE, K)
    store_tile(LOW_0, planes, place + 2 * TILE, K)
    store_tile(LOW_1, planes, place + 3 * TILE, K)


@numba.njit(**_INLINE)
def _field(planes, half, chain):
    place = 2 * GROUP * LANES * half + LANES * chain
    return to_floats((load(planes, place) << 8) + load(planes, place + GROUP * LANES))


@numba.njit(**_KERNEL)
def draw_layer(states, weights, n_units, scale, slope, offset, betas, k0, k1, planes, out):
    """Draw a layer into ``out`` (GROUP, width) uint8 given the other; one beta a chain."""
    n_blocks, depth = n_words(n_units), weights.shape[1]
    share = (GROUP + depth - 1) // depth  # draws beside the products of one depth
    for block in range(n_blocks + 1):
        half, before = block & 1, max(block - 1, 0)
        first = LANES * before
        a, a0, units = load(slope, first), load(offset, first), mixed_units(first)
        chain = 0
        if block < n_blocks:
            _clear()
        for k in range(depth):
            if block < n_blocks:
                _multiply(states, weights, block, k)
            if block > 0:
                stop = min(chain + share, GROUP)
                while chain < stop:
                    t = fma(fma(_field(planes, 1 - half, chain), scale, a), betas[chain], a0)
                    e = exp_negative(absolute(t))
                    bits = draw_lanes(t, e, units, k0[chain], k1[chain])
                    store_bytes(out, chain * out.shape[1] + first, bits)
                    chain += 1
        if block < n_blocks:
            _store(planes, half)


@numba.njit(**_KERNEL)
def draw_layer_with_increments(
    states, weights, n_units, scale, slope, offset, betas, step, rule, k0, k1, planes, out, sums,
):  # fmt: skip
    """`draw_layer`, and add `increment_lanes` to ``sums`` (GROUP, LANES)."""
    n_blocks, depth = n_words(n_units), weights.shape[1]
    share = (GROUP + depth - 1) // depth  # draws beside the products of one depth
    for block in range(n_blocks + 1):
        half, before = block & 1, max(block - 1, 0)
        first = LANES * before
        a, a0, units = load(slope, first), load(offset, first), mixed_units(first)
        here = mask_of((1 << min(n_units - first, LANES)) - 1)
        chain = 0
        if block < n_blocks:
            _clear()
        for k in range(depth):
            if block < n_blocks:
                _multiply(states, weights, block, k)
            if block > 0:
                stop = min(chain + share, GROUP)
                while chain < stop:
                    s = fma(_field(planes, 1 - half, chain), scale, a)
                    t = fma(s, betas[chain], a0)
                    e = exp_negative(absolute(t))
                    bits = draw_lanes(t, e, units, k0[chain], k1[chain])
                    store_bytes(out, chain * out.shape[1] + first, bits)
                    gain = where(here, increment_lanes(s, t, e, step, rule), f32(0))
                    store(sums, LANES * chain, load(sums, LANES * chain) + gain)
                    chain += 1
        if block < n_blocks:
            _store(planes, half)


@numba.njit(**_KERNEL)
def all_fields(states, weights, planes, out):
    """Fields (GROUP, columns padded) as float32, undrawn."""
    for block in range(weights.shape[0]):
        _clear()
        for k in range(weights.shape[1]):
            _multiply(states, weights, block, k)
        _store(planes, 0)
        for chain in range(GROUP):
            store(out, chain * out.shape[1] + LANES * block, _field(planes, 0, chain))


@numba.njit(**_KERNEL)
def visible_term(states, weights, n_hidden, planes, out):
    """Fields of the column after the hidden units, the visible slope."""
    half = (n_words(n_hidden) - 1) & 1  # where the block drawn last still is
    if n_hidden % LANES == 0:  # the column begins a block of its own
        half = 0
        _clear()
        for k in range(weights.shape[1]):
            _multiply(states, weights, weights.shape[0] - 1, k)
        _store(planes, half)
    for chain in range(GROUP):
        high = planes[half, 0, chain, n_hidden % LANES]
        out[chain] = 256.0 * high + planes[half, 1, chain, n_hidden % LANES]


@numba.njit(**_KERNEL)
def _read(v, states):
    for chain in range(v.shape[0]):
        for i in range(v.shape[1]):
            states[chain, i] = np.uint8(v[chain, i])


@numba.njit(**_KERNEL)
def _write(states, v):
    for chain in range(v.shape[0]):
        for i in range(v.shape[1]):
            v[chain, i] = f32(states[chain, i])


class Workspace(NamedTuple):
    """Aligned memory of one group."""

    visible: np.ndarray  # uint8 (GROUP, n_visible padded)
    hidden: np.ndarray
    planes: np.ndarray  # int32 (2, 2, GROUP, LANES)
    sums: np.ndarray  # float32 (GROUP, LANES)


def workspace(n_visible: int, n_hidden: int) -> Workspace:
    visible, hidden = (aligned((GROUP, K * -(-n // K)), np.uint8) for n in (n_visible, n_hidden))
    return Workspace(
        visible, hidden, aligned((2, 2, GROUP, LANES), np.int32), aligned((GROUP, LANES))
    )


@numba.njit(**_KERNEL)
def _anneal_group(
    v, log_weights, betas, rules, start, stop, seed, first_chain, first_draw,
    up, down, visible, hidden, planes, sums, scale, slope_scale,
    hidden_slope, hidden_offset, visible_slope, visible_offset,
):  # fmt: skip
    """`anneal` of at most GROUP chains."""
    n_visible, n_hidden = v.shape[1], hidden_slope.size
    a, a0 = padded(hidden_slope, up.shape[0]), padded(hidden_offset, up.shape[0])
    b, b0 = padded(visible_slope, down.shape[0]), padded(visible_offset, down.shape[0])
    k0, k1 = np.empty(GROUP, u32), np.empty(GROUP, u32)
    chain_betas, visible_terms = np.empty(GROUP, f32), np.empty(GROUP)
    x = np.empty((GROUP, LANES * up.shape[0]), f32)
    _read(v, visible)
    for k in range(start, stop):
        beta, step = betas[k + 1], betas[k + 1] - betas[k]
        chain_betas[:], sums[:] = f32(beta), f32(0)
        set_keys(seed, first_chain, first_draw + 2 * k, k0, k1)
        if rules[k] != EXACT:
            draw_layer_with_increments(
                visible, up, n_hidden, scale, a, a0, chain_betas, f32(step), rules[k], k0, k1,
                planes, hidden, sums,
            )  # fmt: skip
            visible_term(visible, up, n_hidden, planes, visible_terms)
        else:
            draw_layer(visible, up, n_hidden, scale, a, a0, chain_betas, k0, k1, planes, hidden)
            all_fields(visible, up, planes, x)
            visible_terms[:] = x[:, n_hidden]
        for chain in range(v.shape[0]):
            gain = step * slope_scale * visible_terms[chain]
            if rules[k] != EXACT:
                gain += join(load(sums, LANES * chain))
            else:
                gain += exact_increment(
                    x[chain], scale, hidden_slope, hidden_offset, beta, betas[k]
                )
            log_weights[chain] += gain
        set_keys(seed, first_chain, first_draw + 2 * k + 1, k0, k1)
        draw_layer(hidden, down, n_visible, scale, b, b0, chain_betas, k0, k1, planes, visible)
    _write(visible, v)


@numba.njit(**_KERNEL)
def _sweep_group(
    v, h, betas, start, stop, seed, first_chain, first_draw,
    up, down, visible, hidden, planes, sums, scale,
    hidden_slope, hidden_offset, visible_slope, visible_offset,
):  # fmt: skip
    """`sweep` of at most GROUP chains."""
    n_visible, n_hidden = v.shape[1], hidden_slope.size
    a, a0 = padded(hidden_slope, up.shape[0]), padded(hidden_offset, up.shape[0])
    b, b0 = padded(visible_slope, down.shape[0]), padded(visible_offset, down.shape[0])
    k0, k1, chain_betas = np.empty(GROUP, u32), np.empty(GROUP, u32), np.zeros(GROUP, f32)
    chain_betas[: betas.size] = betas
    _read(v, visible)
    for k in range(start, stop):
        set_keys(seed, first_chain, first_draw + 2 * k, k0, k1)
        draw_layer(visible, up, n_hidden, scale, a, a0, chain_betas, k0, k1, planes, hidden)
        set_keys(seed, first_chain, first_draw + 2 * k + 1, k0, k1)
        draw_layer(hidden, down, n_visible, scale, b, b0, chain_betas, k0, k1, planes, visible)
    _write(visible, v)
    _write(hidden, h)


@numba.njit(**_KERNEL)
def anneal(v, log_weights, betas, rules, start, stop, seed, first_chain, *rest):
    """Steps ``start`` to ``stop`` of `gibbs.anneal`, in place."""
    configure(CONFIGURATION)
    for first in range(0, v.shape[0], GROUP):
        group = slice(first, first + GROUP)
        _anneal_group(
            v[group], log_weights[group], betas, rules, start, stop, seed, first_chain + first,
            *rest,
        )  # fmt: skip
    release()


@numba.njit(**_KERNEL)
def sweep(v, h, betas, start, stop, seed, first_chain, *rest):
    """Sweeps ``start`` to ``stop`` of `gibbs.sweep`, in place."""
    configure(CONFIGURATION)
    for first in range(0, v.shape[0], GROUP):
        group = slice(first, first + GROUP)
        _sweep_group(
            v[group], h[group], betas[group], start, stop, seed, first_chain + first, *rest
        )
    release()
