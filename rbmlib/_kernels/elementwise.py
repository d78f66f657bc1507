"""Logistic draws and log-weight increments in float32 with fixed rounding.

Every operation is an IEEE float32 operation, an explicit fused multiply-add, or an integer
operation, in a fixed order, so the same input gives the same bits on any processor. A unit with
field ``t = beta * s + offset`` is drawn by ``e = exp(-|t|)`` and
``bit = (u (1 + e) < e) xor (t > 0)``, without division or overflow. Units are processed sixteen at
a time (`simd`); surplus lanes at the end of a row are masked.
"""

from typing import NamedTuple

import numpy as np

from .random import bits31_lanes
from .simd import absolute, fma, fma_of_one, inline, njit, times_power_of_two, to_floats, where

f32 = np.float32

# Rules for the change of a softplus over a step, by the largest change d of its argument.
EXACT, SERIES, QUADRATURE = 0, 1, 2  # float64 logarithms, `series_lanes`, `quadrature_lanes`
SERIES_LIMIT, QUADRATURE_LIMIT = 1 / 16, 1.0


@inline
def exp_negative(x):
    """Return exp(-x) for x >= 0, but not less than 2**-125.

    The relative error is below 1e-6 up to x = 10, and below 4e-6 down to 2**-125. 2**t = 2**n 2**f
    with n the nearest integer (found by adding 1.5 * 2**23) and the Taylor polynomial of degree 6
    for 2**f, |f| <= 1/2. `adaptive.weigh` has a float64 version.
    """
    t = x * f32(-1.4426950408889634)
    t = where(t > f32(-125.0), t, f32(-125.0))
    shifted = t + f32(12582912.0)
    f = t - (shifted - f32(12582912.0))
    p = fma(f32(1.5403530393381609e-4), f, f32(1.3333558146428443e-3))
    p = fma(p, f, f32(9.6181291076284772e-3))
    p = fma(p, f, f32(5.5504108664821580e-2))
    p = fma(p, f, f32(2.4022650695910072e-1))
    p = fma(p, f, f32(6.9314718055994531e-1))
    p = fma(p, f, f32(1.0))
    return times_power_of_two(p, shifted)


@inline
def draw_lanes(t, e, units, k0, k1):
    """Return a mask of units that are 1, with probability 1 / (1 + exp(-t)); e = exp(-|t|)."""
    u = fma(to_floats(bits31_lanes(units, k0, k1)), f32(2.0**-31), f32(2.0**-32))
    return (fma(u, e, u) < e) != (t > f32(0.0))


@inline
def series_lanes(s, t, e, step):
    """Return ``softplus(t) - softplus(t - d)`` with ``d = step * s``, given e = exp(-|t|).

    The fourth-order Taylor series at t has a remainder below ``|d|**5 / 900``.
    """
    q = f32(1.0) / (e + f32(1.0))
    eq = e * q
    mean = where(t > f32(0.0), q, eq)
    variance = q * eq
    d = s * step
    third = variance * fma(mean, f32(-2.0), f32(1.0)) * f32(1.0 / 6.0)
    fourth = variance * fma(variance, f32(-6.0), f32(1.0)) * f32(-1.0 / 24.0)
    inner = fma(fma(fma(fourth, d, third), d, variance * f32(-0.5)), d, mean)
    return d * inner


@inline
def mean_lanes(t):
    """Return 1 / (1 + exp(-t))."""
    e = exp_negative(absolute(t))
    q = f32(1.0) / (e + f32(1.0))
    return where(t > f32(0.0), q, e * q)


@inline
def quadrature_lanes(s, t, step):
    """Return ``softplus(t) - softplus(t - d)`` with ``d = step * s`` as the integral of the mean.

    Gauss-Legendre quadrature with three points has an error of at most ``|d|**7 / 4.9e6``.
    """
    d = s * step
    ends = mean_lanes(fma(d, f32(-0.5 + 0.15**0.5), t)) + mean_lanes(
        fma(d, f32(-0.5 - 0.15**0.5), t)
    )
    middle = mean_lanes(fma(d, f32(-0.5), t))
    return d * fma(ends, f32(5 / 18), middle * f32(4 / 9))


@inline
def increment_lanes(s, t, e, step, rule):
    """Return ``softplus(t) - softplus(t - step * s)`` by the rule, given e = exp(-|t|)."""
    if rule == SERIES:
        return series_lanes(s, t, e, step)
    return quadrature_lanes(s, t, step)


class Schedule(NamedTuple):
    """The schedule of an annealing run."""

    betas: np.ndarray  # (n_steps + 1,)
    rules: np.ndarray  # (n_steps,)
    rows: np.ndarray  # (n_steps,): row for the log-weights after the step, or -1


class Step(NamedTuple):
    """A step of a schedule in float32."""

    beta: np.float32  # at its end
    size: np.float32
    rule: int


@inline
def step_of(schedule, k):
    beta = schedule.betas[k + 1]
    return Step(f32(beta), f32(beta - schedule.betas[k]), schedule.rules[k])


def increment_rules(steps, largest_slope: float) -> np.ndarray:
    """Return the cheapest sufficiently accurate rule for each step of a schedule."""
    d = np.abs(steps) * largest_slope
    return np.select([d < SERIES_LIMIT, d < QUADRATURE_LIMIT], [SERIES, QUADRATURE], EXACT)


@njit
def exact_increment(field, layer, beta, previous_beta):
    """Return sum_j softplus(t_j) - softplus(t_j at previous_beta) in float64, for large steps."""
    scale, slope, offset = layer.scale, layer.slope, layer.offset
    total = 0.0
    for j in range(layer.n_units):
        s = np.float64(fma_of_one(field[j], scale, slope[j]))
        t = beta * s + np.float64(offset[j])
        r = previous_beta * s + np.float64(offset[j])
        total += max(t, 0.0) - max(r, 0.0)
        total += np.log1p(np.exp(-abs(t))) - np.log1p(np.exp(-abs(r)))
    return total
