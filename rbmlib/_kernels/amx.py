"""Annealing and Gibbs sweeps on the matrix tiles of some x86-64 processors (AMX, Linux).

The same integers as everywhere (`fixed_point`), in two planes of bytes, q = 256 high + low with
high signed and low unsigned, times states of zeros and ones: fields are exact and states equal
those of the portable kernels bit for bit. A tile holds 16 rows of 64 bytes; a group is 32 chains.
The products of one block of sixteen units are interleaved with the draws of the block before,
because tiles and vectors are computed side by side.

`available` says whether this machine grants the use of tiles; ``RBMLIB_AMX=0`` turns them off.
"""

import ctypes
import os
import platform
import sys
from functools import cache
from typing import NamedTuple

import llvmlite.binding as llvm
import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from .active import n_words
from .elementwise import EXACT, draw_lanes, exact_increment, exp_negative, increment_lanes
from .random import mixed_units
from .simd import (
    LANES,
    absolute,
    aligned,
    fma,
    join,
    load,
    mask_of,
    store,
    store_bytes,
    to_floats,
    where,
)
from .wide import padded, set_keys

f32, u32 = np.float32, np.uint32

GROUP = 32  # chains: two tiles of rows
TILE = 1024  # bytes: 16 rows of 64
K = 64  # units of the other layer a tile product takes

_KERNEL = {"nogil": True, "error_model": "numpy", "cache": True}
_INLINE = {"inline": "always", "error_model": "numpy"}


def available() -> bool:
    """Whether this process may use tiles, and numba compiles for them."""
    return os.environ.get("RBMLIB_AMX", "1") != "0" and _granted()


@cache
def _granted() -> bool:
    """Ask Linux for the tile registers: they are off in every process until it does."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return False
    if numba.config.CPU_FEATURES is None:  # not overruled by NUMBA_CPU_FEATURES
        features = {name for name, here in llvm.get_host_cpu_features().items() if here}
    else:
        features = {name[1:] for name in numba.config.CPU_FEATURES.split(",") if name[:1] == "+"}
    if not {"amx-tile", "amx-int8"} <= features:
        return False
    arch_prctl, request_permission, tile_data = 158, 0x1023, 18
    try:
        return ctypes.CDLL(None).syscall(arch_prctl, request_permission, tile_data) == 0
    except (OSError, AttributeError):
        return False


# tiles --------------------------------------------------------------------------------------

_BYTE, _LONG = ir.IntType(8), ir.IntType(64)
_POINTER = _BYTE.as_pointer()
# Tile registers: fields of the rows of two sixteens of chains in two planes, states, weights.
HIGH_0, LOW_0, HIGH_1, LOW_1, STATES_0, STATES_1, HIGH, LOW = range(8)

CONFIGURATION = np.zeros(64, np.uint8)  # palette 1, eight tiles of 16 rows of 64 bytes
CONFIGURATION[0] = 1
CONFIGURATION[16:32:2] = 64
CONFIGURATION[48:56] = 16


def _call(builder, name, *args):
    name = f"llvm.x86.{name}"
    function = builder.module.globals.get(name) or ir.Function(
        builder.module, ir.FunctionType(ir.VoidType(), [x.type for x in args]), name
    )
    builder.call(function, args)


def _address(context, builder, kind, array, offset):
    data = context.make_array(kind)(context, builder, array).data
    return builder.gep(builder.bitcast(data, _POINTER), [offset])


def _memory_operation(name):
    """A tile and memory from a byte offset on, its rows ``stride`` bytes apart."""

    @intrinsic(prefer_literal=True)
    def operation(typingctx, tile, array, offset, stride):
        def codegen(context, builder, signature, args):
            address = _address(context, builder, signature.args[1], args[1], args[2])
            _call(builder, name, _BYTE(tile.literal_value), address, args[3])
            return context.get_dummy_value()

        return types.void(tile, array, types.int64, types.int64), codegen

    return operation


def _product(name):
    """Add the product of a tile of states and a tile of weights to a tile of fields."""

    @intrinsic(prefer_literal=True)
    def operation(typingctx, fields, states, weights):
        def codegen(context, builder, signature, args):
            _call(builder, name, *(_BYTE(t.literal_value) for t in (fields, states, weights)))
            return context.get_dummy_value()

        return types.void(fields, states, weights), codegen

    return operation


load_tile = _memory_operation("tileloadd64")
store_tile = _memory_operation("tilestored64")
add_signed = _product("tdpbusd")
add_unsigned = _product("tdpbuud")


@intrinsic(prefer_literal=True)
def clear_tile(typingctx, tile):
    def codegen(context, builder, signature, args):
        _call(builder, "tilezero", _BYTE(tile.literal_value))
        return context.get_dummy_value()

    return types.void(tile), codegen


@intrinsic
def configure(typingctx, configuration):
    def codegen(context, builder, signature, args):
        address = _address(context, builder, signature.args[0], args[0], _LONG(0))
        _call(builder, "ldtilecfg", address)
        return context.get_dummy_value()

    return types.void(configuration), codegen


@intrinsic
def release(typingctx):
    def codegen(context, builder, signature, args):
        _call(builder, "tilerelease")
        return context.get_dummy_value()

    return types.void(), codegen


def tiles(q: np.ndarray) -> np.ndarray:
    """Integer weights (n_rows, n_columns) as tiles: int8 (blocks, depth, plane, TILE).

    Row r of a tile holds units 4r to 4r + 3 of sixteen columns, the four of a column together.
    """
    n_rows, n_columns = q.shape
    n_blocks, depth = n_words(n_columns), -(-n_rows // K)
    whole = np.zeros((depth * K, n_blocks * LANES), np.int64)
    whole[:n_rows, :n_columns] = q
    out = aligned((n_blocks, depth, 2, TILE), np.int8)
    for plane, values in enumerate((whole >> 8, whole & 255)):
        parts = values.reshape(depth, 16, 4, n_blocks, LANES).transpose(3, 0, 1, 4, 2)
        out[:, :, plane] = parts.reshape(n_blocks, depth, TILE).astype(np.uint8).view(np.int8)
    return out


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
