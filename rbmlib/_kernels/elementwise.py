"""One row at a time: logistic draws and log-weight increments, float32 with fixed rounding.

Every operation here is an IEEE float32 operation, a fused multiply-add written out as such,
or an integer operation, in a fixed order: the same input gives the same bits on any processor.
A unit of field ``t = beta * s + offset`` is drawn by ``e = exp(-|t|)`` and
``bit = (u (1 + e) < e) xor (t > 0)``: no division, no overflow.
"""

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from .random import bits31, high, low

f32 = np.float32
LANES = 16  # partial sums of a row; a row's buffer is padded to a multiple of it

_INLINE = {"inline": "always", "error_model": "numpy"}
_ROW = {"nogil": True, "error_model": "numpy", "inline": "never", "cache": True}


@intrinsic
def fma(typingctx, x, y, z):
    """``x * y + z`` in float32, rounded once."""
    signature = types.float32(types.float32, types.float32, types.float32)

    def codegen(context, builder, signature, args):
        real = ir.FloatType()
        kind = ir.FunctionType(real, [real] * 3)
        function = builder.module.globals.get("llvm.fma.f32") or ir.Function(
            builder.module, kind, "llvm.fma.f32"
        )
        return builder.call(function, args)

    return signature, codegen


@intrinsic
def _bits_of(typingctx, x):
    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], ir.IntType(32))

    return types.int32(types.float32), codegen


@intrinsic
def _float_of(typingctx, x):
    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], ir.FloatType())

    return types.float32(types.int32), codegen


@numba.njit(**_INLINE)
def exp_negative(x):
    """exp(-x) for x >= 0, relative error below 1e-6 to x = 10, 4e-6 to 2**-125; that beyond.

    2**t = 2**n 2**f with n the nearest integer (found by adding 1.5 * 2**23) and 2**f its
    degree-6 Taylor polynomial, |f| <= 1/2.
    """
    t = max(x * f32(-1.4426950408889634), f32(-125.0))
    shifted = t + f32(12582912.0)
    f = t - (shifted - f32(12582912.0))
    p = f32(1.5403530393381609e-4)
    p = fma(p, f, f32(1.3333558146428443e-3))
    p = fma(p, f, f32(9.6181291076284772e-3))
    p = fma(p, f, f32(5.5504108664821580e-2))
    p = fma(p, f, f32(2.4022650695910072e-1))
    p = fma(p, f, f32(6.9314718055994531e-1))
    p = fma(p, f, f32(1.0))
    return _float_of(np.int32(_bits_of(p) + np.int32(_bits_of(shifted) << np.int32(23))))


@numba.njit(**_INLINE)
def _bit(e, t, unit, k0, k1):
    """1 with probability 1 / (1 + exp(-t)), given e = exp(-|t|)."""
    r = f32(np.int32(bits31(unit, k0, k1)))
    u = fma(r, f32(2.0**-31), f32(2.0**-32))
    return (fma(u, e, u) < e) != (t > f32(0.0))


@numba.njit(**_ROW)
def draw_row(field, scale, slope_bias, offset, beta, key, out):
    """Draw ``out`` (n_units,) at ``t = beta * (scale * field + slope_bias) + offset``."""
    k0, k1 = high(key), low(key)
    for j in range(out.size):
        s = fma(field[j], scale, slope_bias[j])
        t = fma(beta, s, offset[j])
        out[j] = f32(_bit(exp_negative(abs(t)), t, j, k0, k1))


@numba.njit(**_ROW)
def draw_row_with_series(field, scale, slope_bias, offset, beta, step, key, out, terms):
    """`draw_row`, and ``terms[j] = softplus(t) - softplus(t - d)`` with ``d = step * s``.

    Fourth-order Taylor series at t; its remainder is below ``|d|**5 / 900`` a unit.
    """
    k0, k1 = high(key), low(key)
    for j in range(out.size):
        s = fma(field[j], scale, slope_bias[j])
        t = fma(beta, s, offset[j])
        e = exp_negative(abs(t))
        out[j] = f32(_bit(e, t, j, k0, k1))
        q = f32(1.0) / (f32(1.0) + e)
        mean = q if t > f32(0.0) else e * q
        variance = q * (e * q)
        d = s * step
        third = variance * fma(f32(-2.0), mean, f32(1.0)) * f32(1.0 / 6.0)
        fourth = variance * fma(f32(-6.0), variance, f32(1.0)) * f32(-1.0 / 24.0)
        inner = fma(fma(fma(fourth, d, third), d, f32(-0.5) * variance), d, mean)
        terms[j] = d * inner


@numba.njit(**_ROW)
def sum_lanes(terms):
    """Sum of a padded buffer in a fixed order: LANES partial sums, joined in float64."""
    lanes = np.zeros(LANES, f32)
    for start in range(0, terms.size, LANES):
        for lane in range(LANES):
            lanes[lane] += terms[start + lane]
    total = 0.0
    for lane in range(LANES):
        total += np.float64(lanes[lane])
    return total


@numba.njit(**_ROW)
def exact_increment(field, scale, slope_bias, offset, beta, previous_beta):
    """sum_j softplus(t_j) - softplus(t_j at previous_beta), float64: for large steps."""
    total = 0.0
    for j in range(slope_bias.size):
        s = np.float64(fma(field[j], scale, slope_bias[j]))
        t = beta * s + np.float64(offset[j])
        r = previous_beta * s + np.float64(offset[j])
        total += max(t, 0.0) - max(r, 0.0)
        total += np.log1p(np.exp(-abs(t))) - np.log1p(np.exp(-abs(r)))
    return total


@numba.njit(**_ROW)
def mean_row(field, scale, bias, out):
    """``out[j] = sigmoid(scale * field + bias)``."""
    for j in range(out.size):
        t = fma(field[j], scale, bias[j])
        e = exp_negative(abs(t))
        q = f32(1.0) / (f32(1.0) + e)
        out[j] = q if t > f32(0.0) else e * q
