"""Matrix tiles of some x86-64 processors: their registers, instructions and layout of weights.

`available` says whether this machine grants the use of tiles; ``RBMLIB_AMX=0`` turns them off.
"""

import ctypes
import os
import platform
import sys
from functools import cache

import llvmlite.binding as llvm
import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from .active import n_words
from .memory import aligned
from .simd import LANES

GROUP = 32  # chains: two tiles of rows
TILE = 1024  # bytes: 16 rows of 64
K = 64  # units of the other layer a tile product takes


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


def layout(q: np.ndarray) -> np.ndarray:
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
