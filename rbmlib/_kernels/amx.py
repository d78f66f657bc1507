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
from .elementwise import EXACT, draw_lanes, exp_negative, increment_lanes, step_of
from .layers import Run
from .memory import aligned, load, store, store_bytes
from .random import mixed_units
from .simd import LANES, absolute, fma, mask_of, to_floats, where
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
from .wide import add_gains, set_keys

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
def draw_layer(states, weights, layer, memory, out):
    """Draw a layer into ``out`` (GROUP, width) uint8 given the other; one beta a chain."""
    scale, slope, offset, planes = layer.scale, layer.slope, layer.offset, memory.planes
    betas, k0, k1 = memory.betas, memory.k0, memory.k1
    n_blocks, depth = n_words(layer.n_units), weights.shape[1]
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
def draw_layer_with_increments(states, weights, layer, step, memory, out):
    """`draw_layer`, and add `increment_lanes` to the sums of the group."""
    scale, slope, offset, planes = layer.scale, layer.slope, layer.offset, memory.planes
    betas, k0, k1, sums = memory.betas, memory.k0, memory.k1, memory.sums
    n_units = layer.n_units
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
                    gain = where(here, increment_lanes(s, t, e, step.size, step.rule), f32(0))
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
def visible_term(states, weights, n_hidden, planes, x):
    """Fields of the column after the hidden units, the visible slope, undrawn."""
    half = (n_words(n_hidden) - 1) & 1  # where the block drawn last still is
    if n_hidden % LANES == 0:  # the column begins a block of its own
        half = 0
        _clear()
        for k in range(weights.shape[1]):
            _multiply(states, weights, weights.shape[0] - 1, k)
        _store(planes, half)
    for chain in range(GROUP):
        high = planes[half, 0, chain, n_hidden % LANES]
        x[chain, n_hidden] = f32(256.0 * high + planes[half, 1, chain, n_hidden % LANES])


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
    x: np.ndarray  # float32 (GROUP, n_hidden + 1 padded): fields, where they are asked for
    sums: np.ndarray  # float32 (GROUP, LANES)
    betas: np.ndarray  # float32 (GROUP,)
    k0: np.ndarray  # uint32 (GROUP,): keys of the layer that is drawn
    k1: np.ndarray


def workspace(n_visible: int, n_hidden: int) -> Workspace:
    visible, hidden = (aligned((GROUP, K * -(-n // K)), np.uint8) for n in (n_visible, n_hidden))
    return Workspace(
        visible, hidden, aligned((2, 2, GROUP, LANES), np.int32),
        aligned((GROUP, LANES * n_words(n_hidden + 1))), aligned((GROUP, LANES)),
        aligned((GROUP,)), *aligned((2, GROUP), u32),
    )  # fmt: skip


@numba.njit(**_KERNEL)
def _anneal_group(v, log_weights, schedule, model, memory, run):
    """`anneal` of at most GROUP chains."""
    _read(v, memory.visible)
    for k in range(run.start, run.stop):
        step = step_of(schedule, k)
        memory.betas[:], memory.sums[:] = step.beta, f32(0)
        set_keys(run, run.first_draw + 2 * k, memory)
        if step.rule != EXACT:
            draw_layer_with_increments(
                memory.visible, model.up, model.hidden, step, memory, memory.hidden
            )
            visible_term(memory.visible, model.up, model.hidden.n_units, memory.planes, memory.x)
        else:
            draw_layer(memory.visible, model.up, model.hidden, memory, memory.hidden)
            all_fields(memory.visible, model.up, memory.planes, memory.x)
        add_gains(log_weights, schedule, k, model, memory.x, memory.sums)
        set_keys(run, run.first_draw + 2 * k + 1, memory)
        draw_layer(memory.hidden, model.down, model.visible, memory, memory.visible)
    _write(memory.visible, v)


@numba.njit(**_KERNEL)
def _sweep_group(v, h, betas, model, memory, run):
    """`sweep` of at most GROUP chains."""
    memory.betas[:] = f32(0)
    memory.betas[: betas.size] = betas
    _read(v, memory.visible)
    for k in range(run.start, run.stop):
        set_keys(run, run.first_draw + 2 * k, memory)
        draw_layer(memory.visible, model.up, model.hidden, memory, memory.hidden)
        set_keys(run, run.first_draw + 2 * k + 1, memory)
        draw_layer(memory.hidden, model.down, model.visible, memory, memory.visible)
    _write(memory.visible, v)
    _write(memory.hidden, h)


@numba.njit(**_KERNEL)
def _run_of_group(run, first):
    return Run(run.seed, run.first_chain + first, run.first_draw, run.start, run.stop)


@numba.njit(**_KERNEL)
def anneal(v, log_weights, schedule, model, memory, run):
    """Steps of `gibbs.anneal`, in place."""
    configure(CONFIGURATION)
    for first in range(0, v.shape[0], GROUP):
        group = slice(first, first + GROUP)
        own = _run_of_group(run, first)
        _anneal_group(v[group], log_weights[group], schedule, model, memory, own)
    release()


@numba.njit(**_KERNEL)
def sweep(v, h, betas, model, memory, run):
    """Sweeps of `gibbs.sweep`, in place."""
    configure(CONFIGURATION)
    for first in range(0, v.shape[0], GROUP):
        group = slice(first, first + GROUP)
        own = _run_of_group(run, first)
        _sweep_group(v[group], h[group], betas[group], model, memory, own)
    release()
