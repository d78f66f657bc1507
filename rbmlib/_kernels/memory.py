"""Memory of the kernels: vectors to and from arrays, and arrays that begin at a cache line.

Arrays are C-contiguous; an offset counts elements from their first. Vectors are those of `simd`.
"""

import math

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from .simd import _OF_ELEMENT, LANES, _constant, integers, row

CACHE_LINE = 64


def aligned(shape, dtype=np.float32) -> np.ndarray:
    """Zeros that start at a cache line: a vector that straddles two is loaded more slowly."""
    n_bytes = math.prod(shape) * np.dtype(dtype).itemsize
    memory = np.zeros(n_bytes + CACHE_LINE, np.uint8)
    start = -memory.ctypes.data % CACHE_LINE
    return memory[start : start + n_bytes].view(dtype).reshape(shape)


@numba.njit(error_model="numpy", cache=True)
def aligned_empty(size, dtype):
    """As `aligned` of one dimension, within a kernel, and of any content."""
    memory = np.empty(size + CACHE_LINE, dtype)
    start = (-memory.ctypes.data) % CACHE_LINE // memory.itemsize
    return memory[start : start + size]


def _address(context, builder, kind, array, offset, vector: ir.VectorType):
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [offset]), vector.as_pointer())


def _alignment(kind) -> int:
    return kind.dtype.bitwidth // 8


@intrinsic
def load(typingctx, array, offset):
    """As many elements of an array as a vector has lanes, from an offset on."""
    kind = _OF_ELEMENT[array.dtype]

    def codegen(context, builder, signature, args):
        address = _address(context, builder, signature.args[0], *args, kind.llvm)
        return builder.load(address, align=_alignment(array))

    return kind(array, types.int64), codegen


@intrinsic
def element(typingctx, array, offset):
    """One element of an array, without the wrapping of negative indices."""

    def codegen(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.load(builder.gep(data, [args[1]]))

    return array.dtype(array, types.int64), codegen


@intrinsic
def load_row(typingctx, array, offset):
    """As many int16 elements of an array as two vectors have lanes, still of 16 bits."""

    def codegen(context, builder, signature, args):
        address = _address(context, builder, signature.args[0], *args, row.llvm)
        return builder.load(address, align=_alignment(array))

    return row(array, types.int64), codegen


@intrinsic(prefer_literal=True)
def widen(typingctx, lanes, half):
    """The first (0) or second (1) sixteen of 32 lanes of 16 bits, as 32 bits."""

    def codegen(context, builder, signature, args):
        first = LANES * half.literal_value
        places = _constant(integers.llvm, range(first, first + LANES))
        part = builder.shuffle_vector(args[0], ir.Constant(row.llvm, ir.Undefined), places)
        return builder.sext(part, integers.llvm)

    return integers(row, half), codegen


@intrinsic
def store(typingctx, array, offset, lanes):
    """Write a vector to an array."""
    kind = row if lanes == row else _OF_ELEMENT[array.dtype]

    def codegen(context, builder, signature, args):
        address = _address(context, builder, signature.args[0], *args[:2], kind.llvm)
        builder.store(args[2], address, align=_alignment(array))
        return context.get_dummy_value()

    return types.void(array, types.int64, kind), codegen
