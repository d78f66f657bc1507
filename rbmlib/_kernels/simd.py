"""Sixteen float32 or 32-bit integers, or eight 16-bit ones, as one value of a compiled kernel.

LLVM turns such a value into one register of AVX-512, two of AVX2, four of NEON; every lane
is rounded as IEEE prescribes, so the digits are the same on all of them. Written-out lanes
spare the kernels what compilers decide differently from one version to the next: whether a
loop is vectorised, and how wide.

Operators work lane by lane, on two vectors or on a vector and a scalar of the same kind:
``+ - * /``, ``<``, ``>`` on floats, ``+ - * ^ << >>`` (logical) on integers, ``!=`` (exclusive
or) on masks. Vectors meet arrays in `memory`.
"""

import operator

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

LANES = 16

_F32, _I32, _I16, _I1 = ir.FloatType(), ir.IntType(32), ir.IntType(16), ir.IntType(1)


class _Vector(types.Type):
    def __init__(self, name: str, element: ir.Type, n_lanes: int = LANES):
        super().__init__(name)
        self.llvm = ir.VectorType(element, n_lanes)


class _Floats(_Vector):
    pass


class _Integers(_Vector):
    pass


class _Mask(_Vector):
    pass


floats = _Floats("floats x 16", _F32)
integers = _Integers("integers x 16", _I32)
shorts = _Integers("short integers x 8", _I16, LANES // 2)
row = _Integers("short integers x 32", _I16, 2 * LANES)
mask = _Mask("mask x 16", _I1)
_OF_ELEMENT = {
    types.float32: floats,
    types.int32: integers,
    types.uint32: integers,
    types.int16: shorts,
    types.uint16: shorts,
}


@register_model(_Floats)
@register_model(_Integers)
@register_model(_Mask)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, kind.llvm)


# building blocks of code generation ---------------------------------------------------------


def _constant(vector: ir.VectorType, values) -> ir.Constant:
    return ir.Constant(vector, [vector.element(x) for x in values])


def _spread(builder, scalar, vector: ir.VectorType):
    """The same scalar in all lanes."""
    if isinstance(scalar, ir.Constant):
        return ir.Constant(vector, [scalar] * vector.count)
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), scalar, _I32(0))
    zeros = _constant(ir.VectorType(_I32, vector.count), [0] * vector.count)
    return builder.shuffle_vector(first, ir.Constant(vector, ir.Undefined), zeros)


def _as_vector(builder, value, kind, vector_kind):
    """A vector as it is; a scalar in all lanes, integers cut to their size."""
    if isinstance(kind, _Vector):
        return value
    element = vector_kind.llvm.element
    if isinstance(kind, types.Integer) and value.type.width > element.width:
        value = builder.trunc(value, element)
    return _spread(builder, value, vector_kind.llvm)


def _call(builder, name, result, args):
    """Call an LLVM intrinsic, declared on first use."""
    function = builder.module.globals.get(name) or ir.Function(
        builder.module, ir.FunctionType(result, [x.type for x in args]), name
    )
    return builder.call(function, args)


# operators ----------------------------------------------------------------------------------


def _vector_of(one, two):
    """The vector kind of two operands, of which one may be a scalar of the same kind."""
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
_define(operator.ne, mask, mask, lambda b, x, y: b.xor(x, y))


# functions ----------------------------------------------------------------------------------


@intrinsic
def spread(typingctx, scalar):
    """A float32 or 32-bit integer in all lanes."""
    kind = _OF_ELEMENT[types.unliteral(scalar)]

    def codegen(context, builder, signature, args):
        return _spread(builder, args[0], kind.llvm)

    return kind(scalar), codegen


@intrinsic
def count(typingctx, first, step):
    """Integer lanes first, first + step, first + 2 step, ... (modulo 2**32)."""

    def codegen(context, builder, signature, args):
        pairs = zip(args, signature.args, strict=True)
        start, by = (_as_vector(builder, x, kind, integers) for x, kind in pairs)
        return builder.add(start, builder.mul(by, _constant(integers.llvm, range(LANES))))

    return integers(first, step), codegen


@intrinsic
def join(typingctx, lanes):
    """Sum of float lanes in float64, from lane 0 to lane 15."""

    def codegen(context, builder, signature, args):
        double = ir.DoubleType()
        total = double(0.0)
        for lane in range(LANES):
            element = builder.extract_element(args[0], _I32(lane))
            total = builder.fadd(total, builder.fpext(element, double))
        return total

    return types.float64(floats), codegen


@intrinsic
def fma(typingctx, x, y, z):
    """``x * y + z`` rounded once: of float32 scalars, or of vectors and scalars."""
    vector = floats in (x, y, z)

    def codegen(context, builder, signature, args):
        if not vector:
            return _call(builder, "llvm.fma.f32", _F32, args)
        pairs = zip(args, signature.args, strict=True)
        lanes = [_as_vector(builder, a, kind, floats) for a, kind in pairs]
        return _call(builder, "llvm.fma.v16f32", floats.llvm, lanes)

    kinds = [k if k == floats else types.float32 for k in (x, y, z)]
    return (floats if vector else types.float32)(*kinds), codegen


def _select(typingctx, condition, x, y):
    vector = condition == mask

    def codegen(context, builder, signature, args):
        if vector:
            pairs = zip(args[1:], signature.args[1:], strict=True)
            args = [args[0], *(_as_vector(builder, a, kind, floats) for a, kind in pairs)]
        return builder.select(*args)

    kinds = [k if k == floats else types.float32 for k in (x, y)]
    result = floats if vector else types.float32
    return result(mask if vector else types.boolean, *kinds), codegen


@intrinsic
def where(typingctx, condition, x, y):
    """``x`` where the condition holds, else ``y``: float32 scalars, or lanes of a mask."""
    return _select(typingctx, condition, x, y)


@intrinsic
def absolute(typingctx, x):
    """|x| of a float32 or of lanes."""
    name, kind = ("llvm.fabs.v16f32", floats) if x == floats else ("llvm.fabs.f32", types.float32)

    def codegen(context, builder, signature, args):
        return _call(builder, name, args[0].type, args)

    return kind(kind), codegen


@intrinsic
def square_root(typingctx, lanes):
    """Of float lanes, rounded as IEEE prescribes."""

    def codegen(context, builder, signature, args):
        return _call(builder, "llvm.sqrt.v16f32", floats.llvm, args)

    return floats(floats), codegen


@intrinsic
def times_power_of_two(typingctx, x, exponent):
    """``x * 2**n``, n the integer in the low bits of ``exponent = n + 1.5 * 2**23``."""
    kind = floats if x == floats else types.float32

    def codegen(context, builder, signature, args):
        vector = kind == floats
        integer = integers.llvm if vector else _I32
        shift = _constant(integer, [23] * LANES) if vector else _I32(23)
        bits, n = (builder.bitcast(a, integer) for a in args)
        return builder.bitcast(builder.add(bits, builder.shl(n, shift)), args[0].type)

    return kind(kind, kind), codegen


@intrinsic
def to_floats(typingctx, lanes):
    """Signed integer lanes, rounded to float32."""

    def codegen(context, builder, signature, args):
        return builder.sitofp(args[0], floats.llvm)

    return floats(integers), codegen


@intrinsic
def exchanged(typingctx, lanes):
    """The bits of float lanes as integers, those of integer lanes as floats."""
    kind = integers if lanes == floats else floats

    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], kind.llvm)

    return kind(lanes), codegen


@intrinsic
def bits_of(typingctx, lanes):
    """A mask as an int64: lane 0 is the lowest bit."""

    def codegen(context, builder, signature, args):
        return builder.zext(builder.bitcast(args[0], _I16), ir.IntType(64))

    return types.int64(mask), codegen


@intrinsic
def mask_of(typingctx, bits):
    """The mask whose lane 0 is the lowest bit of an integer."""

    def codegen(context, builder, signature, args):
        return builder.bitcast(builder.trunc(args[0], _I16), mask.llvm)

    return mask(types.int64), codegen
