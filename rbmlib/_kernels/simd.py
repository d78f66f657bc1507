"""Sixteen float32 or 32-bit integers, or eight 16-bit integers, as one value in a compiled kernel.

LLVM maps such a value to one register of AVX-512, two of AVX2 or four of NEON. Every lane is
rounded as IEEE prescribes, so results are identical on all processors, and the speed does not
depend on a compiler's decision to vectorise a loop.

Operators and functions work lane by lane, on vectors or on vectors and scalars of the same kind:
``+ - * /``, ``<``, ``>`` on floats, ``+ - * ^ << >>`` (logical) on integers, ``!=`` (exclusive
or) on masks. Arrays for loads and stores are C-contiguous; offsets count elements.
"""

import inspect
import operator
from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

LANES = 16

# Decorators of all kernels; functions that are called for every sixteen units are inlined.
njit: Any = numba.njit(nogil=True, error_model="numpy", cache=True)
inline: Any = numba.njit(inline="always", error_model="numpy")

_F32, _I32, _I16, _I1 = ir.FloatType(), ir.IntType(32), ir.IntType(16), ir.IntType(1)


class _Vector(types.Type):
    def __init__(self, name: str, element: ir.Type, n_lanes: int = LANES):
        super().__init__(name)
        self.llvm = ir.VectorType(element, n_lanes)


floats = _Vector("floats x 16", _F32)
integers = _Vector("integers x 16", _I32)
shorts = _Vector("short integers x 8", _I16, LANES // 2)
row = _Vector("short integers x 32", _I16, 2 * LANES)
mask = _Vector("mask x 16", _I1)
_OF_ELEMENT = {types.float32: floats, types.int32: integers, types.uint32: integers}
_OF_ELEMENT |= {types.int16: shorts, types.uint16: shorts}


@register_model(_Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, kind.llvm)


# building blocks of code generation ---------------------------------------------------------


def _constant(vector: ir.VectorType, values) -> ir.Constant:
    return ir.Constant(vector, [vector.element(x) for x in values])


def _spread(builder, scalar, vector: ir.VectorType):
    """Return a vector with the scalar in all lanes."""
    if isinstance(scalar, ir.Constant):
        return ir.Constant(vector, [scalar] * vector.count)
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), scalar, _I32(0))
    zeros = _constant(ir.VectorType(_I32, vector.count), [0] * vector.count)
    return builder.shuffle_vector(first, ir.Constant(vector, ir.Undefined), zeros)


def _as_vector(builder, value, kind, vector_kind):
    """Return a vector unchanged; spread a scalar to all lanes, with integers truncated."""
    if isinstance(kind, _Vector) or not isinstance(vector_kind, _Vector):
        return value
    element = vector_kind.llvm.element
    if isinstance(kind, types.Integer) and value.type.width > element.width:
        value = builder.trunc(value, element)
    return _spread(builder, value, vector_kind.llvm)


def _call(builder, name, *args):
    """Call an LLVM intrinsic whose arguments have one type; declare it on first use."""
    function = builder.module.globals.get(name) or ir.Function(
        builder.module, ir.FunctionType(args[0].type, [x.type for x in args]), name
    )
    return builder.call(function, args)


def _function(result, *kinds):
    """Return a decorator that makes a kernel function from a code generator for these kinds."""

    def decorate(emit):
        def typed(typingctx, *given):
            pairs = zip(given, kinds, strict=True)
            own = [x if isinstance(kind, _Vector) else kind for x, kind in pairs]

            def codegen(context, builder, signature, args):
                each = zip(args, own, kinds, strict=True)
                return emit(builder, *(_as_vector(builder, *one) for one in each))

            return result(*own), codegen

        typed.__name__, typed.__doc__ = emit.__name__, emit.__doc__
        typed.__signature__ = inspect.signature(emit)
        return intrinsic(typed)

    return decorate


# operators ----------------------------------------------------------------------------------


def _vector_of(one, two):
    """Return the vector kind of two operands; one may be a scalar of the same kind."""
    for a, b in ((one, two), (two, one)):
        if isinstance(a, _Vector) and a == b:
            return a
        if a == floats and b == types.float32:
            return a
        if a in (integers, shorts, row) and isinstance(b, types.Integer):
            return a
    return None


def _define(symbol, vector_kind, result, emit):
    @type_callable(symbol)
    def typer_of(context):
        def typer(one, two):
            return result if _vector_of(one, two) == vector_kind else None

        return typer

    def lowering(context, builder, signature, args):
        pairs = zip(args, signature.args, strict=True)
        return emit(builder, *(_as_vector(builder, x, kind, vector_kind) for x, kind in pairs))

    scalar = types.Float if vector_kind == floats else types.Integer
    for kinds in ((vector_kind, vector_kind), (vector_kind, scalar), (scalar, vector_kind)):
        lower_builtin(symbol, *kinds)(lowering)


for _symbol, _name in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul"),
                       (operator.truediv, "fdiv")):  # fmt: skip
    _define(_symbol, floats, floats, lambda b, x, y, name=_name: getattr(b, name)(x, y))
for _symbol, _sign in ((operator.lt, "<"), (operator.gt, ">")):
    _define(_symbol, floats, mask, lambda b, x, y, sign=_sign: b.fcmp_ordered(sign, x, y))
for _symbol, _name in ((operator.add, "add"), (operator.sub, "sub"), (operator.mul, "mul"),
                       (operator.xor, "xor"), (operator.lshift, "shl"),
                       (operator.rshift, "lshr")):  # fmt: skip
    _define(_symbol, integers, integers, lambda b, x, y, name=_name: getattr(b, name)(x, y))
for _kind in (shorts, row):
    _define(operator.add, _kind, _kind, lambda b, x, y: b.add(x, y))
_define(operator.sub, row, row, lambda b, x, y: b.sub(x, y))
_define(operator.ne, mask, mask, lambda b, x, y: b.xor(x, y))


# functions ----------------------------------------------------------------------------------


@_function(floats, floats, floats, floats)
def fma(builder, x, y, z):
    """Return ``x * y + z``, rounded once."""
    return _call(builder, "llvm.fma.v16f32", x, y, z)


@_function(types.float32, types.float32, types.float32, types.float32)
def fma_of_one(builder, x, y, z):
    """Return ``x * y + z`` of scalars, rounded once."""
    return _call(builder, "llvm.fma.f32", x, y, z)


@_function(floats, mask, floats, floats)
def where(builder, condition, x, y):
    """Return ``x`` where the condition holds, otherwise ``y``."""
    return builder.select(condition, x, y)


@_function(floats, floats)
def absolute(builder, x):
    return _call(builder, "llvm.fabs.v16f32", x)


@_function(floats, floats, floats)
def times_power_of_two(builder, x, exponent):
    """Return ``x * 2**n``, with n in the low bits of ``exponent = n + 1.5 * 2**23``."""
    bits, n = (builder.bitcast(a, integers.llvm) for a in (x, exponent))
    shifted = builder.shl(n, _constant(integers.llvm, [23] * LANES))
    return builder.bitcast(builder.add(bits, shifted), floats.llvm)


@_function(floats, integers)
def to_floats(builder, lanes):
    """Convert signed integer lanes to float32."""
    return builder.sitofp(lanes, floats.llvm)


@_function(types.int64, mask)
def bits_of(builder, lanes):
    """Return a mask as an integer; lane 0 is the lowest bit."""
    return builder.zext(builder.bitcast(lanes, _I16), ir.IntType(64))


@_function(mask, types.int64)
def mask_of(builder, bits):
    """Return the low 16 bits of an integer as a mask; lane 0 is the lowest bit."""
    return builder.bitcast(builder.trunc(bits, _I16), mask.llvm)


@_function(integers, integers, integers)
def count(builder, first, step):
    """Return the integer lanes first, first + step, first + 2 step, ... (modulo 2**32)."""
    return builder.add(first, builder.mul(step, _constant(integers.llvm, range(LANES))))


@_function(types.float64, floats)
def join(builder, lanes):
    """Return the sum of float lanes in float64, from lane 0 to lane 15."""
    double = ir.DoubleType()
    total = double(0.0)
    for lane in range(LANES):
        element = builder.extract_element(lanes, _I32(lane))
        total = builder.fadd(total, builder.fpext(element, double))
    return total


@intrinsic
def spread(typingctx, scalar):
    """Return a vector with a float32 or 32-bit integer in all lanes."""
    kind = _OF_ELEMENT[types.unliteral(scalar)]

    def codegen(context, builder, signature, args):
        return _spread(builder, args[0], kind.llvm)

    return kind(scalar), codegen


@intrinsic(prefer_literal=True)
def widen(typingctx, lanes, half):
    """Return the first (0) or last (1) sixteen of 32 lanes of 16 bits, as 32 bits."""

    def codegen(context, builder, signature, args):
        first = LANES * half.literal_value
        places = _constant(integers.llvm, range(first, first + LANES))
        part = builder.shuffle_vector(args[0], ir.Constant(row.llvm, ir.Undefined), places)
        return builder.sext(part, integers.llvm)

    return integers(row, half), codegen


@intrinsic(prefer_literal=True)
def interleaved(typingctx, one, two, half):
    """Interleave the lanes of the first (0) or second (1) halves of two rows."""

    def codegen(context, builder, signature, args):
        first = LANES * half.literal_value
        places = [first + k // 2 + 2 * LANES * (k % 2) for k in range(2 * LANES)]
        chosen = _constant(ir.VectorType(_I32, 2 * LANES), places)
        return builder.shuffle_vector(args[0], args[1], chosen)

    return row(row, row, half), codegen


@_function(row, floats, floats)
def narrowed(builder, low, high):
    """Return the low 16 bits of 32 floats."""
    low, high = (builder.bitcast(x, integers.llvm) for x in (low, high))
    places = _constant(ir.VectorType(_I32, 2 * LANES), range(2 * LANES))
    return builder.trunc(builder.shuffle_vector(low, high, places), row.llvm)


@_function(row, row, row)
def larger(builder, one, two):
    return builder.select(builder.icmp_signed(">", one, two), one, two)


# memory -------------------------------------------------------------------------------------


def _address(context, builder, signature, array, offset):
    data = context.make_array(signature.args[0])(context, builder, array).data
    return builder.gep(data, [offset])


def _load(array, kind):
    def codegen(context, builder, signature, args):
        address = _address(context, builder, signature, *args)
        address = builder.bitcast(address, kind.llvm.as_pointer())
        return builder.load(address, align=array.dtype.bitwidth // 8)

    return kind(array, types.int64), codegen


@intrinsic
def load(typingctx, array, offset):
    """Load a vector from an array at an offset."""
    return _load(array, _OF_ELEMENT[array.dtype])


@intrinsic
def load_row(typingctx, array, offset):
    """Load 32 elements of 16 bits from an array at an offset."""
    return _load(array, row)


@intrinsic
def element(typingctx, array, offset):
    """Load one element of an array; negative indices do not wrap around."""

    def codegen(context, builder, signature, args):
        return builder.load(_address(context, builder, signature, *args))

    return array.dtype(array, types.int64), codegen


@intrinsic
def store(typingctx, array, offset, lanes):
    """Store a vector in an array at an offset."""
    kind = row if lanes == row else _OF_ELEMENT[array.dtype]

    def codegen(context, builder, signature, args):
        address = _address(context, builder, signature, *args[:2])
        address = builder.bitcast(address, kind.llvm.as_pointer())
        builder.store(args[2], address, align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, types.int64, kind), codegen
