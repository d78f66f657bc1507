"""Logistic draws and log-weight increments, float32 with fixed rounding.

Every operation here is an IEEE float32 operation, a fused multiply-add written out as such,
or an integer operation, in a fixed order: the same input gives the same bits on any processor.
A unit of field ``t = beta * s + offset`` is drawn by ``e = exp(-|t|)`` and
``bit = (u (1 + e) < e) xor (t > 0)``: no division, no overflow. Units go sixteen at a time
(`simd`); the last few of a row that is no multiple of sixteen are masked.
"""

from typing import NamedTuple

import numpy as np

from .random import bits31_lanes
from .simd import absolute, fma, fma_of_one, inline, njit, times_power_of_two, to_floats, where

f32 = np.float32

# How the change of a softplus over a step is computed, by the largest change d of its argument.
EXACT, SERIES, QUADRATURE = 0, 1, 2  # float64 logarithms, `series_lanes`, `quadrature_lanes`
SERIES_LIMIT, QUADRATURE_LIMIT = 1 / 16, 1.0


@inline
def exp_negative(x):
    """exp(-x) for x >= 0, relative error below 1e-6 to x = 10, 4e-6 to 2**-125; that beyond.

    2**t = 2**n 2**f with n the nearest integer (found by adding 1.5 * 2**23) and 2**f its
    degree-6 Taylor polynomial, |f| <= 1/2. `adaptive.weigh` has its own in float64.
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
    """Mask of units that are 1, with probability 1 / (1 + exp(-t)), given e = exp(-|t|)."""
    u = fma(to_floats(bits31_lanes(units, k0, k1)), f32(2.0**-31), f32(2.0**-32))
    return (fma(u, e, u) < e) != (t > f32(0.0))


@inline
def series_lanes(s, t, e, step):
    """``softplus(t) - softplus(t - d)`` with ``d = step * s``, given e = exp(-|t|).

    Fourth-order Taylor series at t; its remainder is below ``|d|**5 / 900`` a unit.
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
    """1 / (1 + exp(-t))."""
    e = exp_negative(absolute(t))
    q = f32(1.0) / (e + f32(1.0))
    return where(t > f32(0.0), q, e * q)


@inline
def quadrature_lanes(s, t, step):
    """``softplus(t) - softplus(t - d)`` with ``d = step * s`` as the integral of the mean.

    Gauss-Legendre with three points, at most ``|d|**7 / 4.9e6`` off a unit.
    """
    d = s * step
    ends = mean_lanes(fma(d, f32(-0.5 + 0.15**0.5), t)) + mean_lanes(
        fma(d, f32(-0.5 - 0.15**0.5), t)
    )
    middle = mean_lanes(fma(d, f32(-0.5), t))
    return d * fma(ends, f32(5 / 18), middle * f32(4 / 9))


@inline
def increment_lanes(s, t, e, step, rule):
    """``softplus(t) - softplus(t - step * s)`` by one of two rules, given e = exp(-|t|)."""
    if rule == SERIES:
        return series_lanes(s, t, e, step)
    return quadrature_lanes(s, t, step)


class Schedule(NamedTuple):
    """Betas of an annealing run (n_steps + 1,), the rule of each step (n_steps,), and where
    log-weights are kept after it: a row, or -1."""

    betas: np.ndarray
    rules: np.ndarray
    rows: np.ndarray


class Step(NamedTuple):
    """A step of a schedule as `increment_lanes` takes it."""

    beta: np.float32  # at its end
    size: np.float32
    rule: int


@inline
def step_of(schedule, k):
    beta = schedule.betas[k + 1]
    return Step(f32(beta), f32(beta - schedule.betas[k]), schedule.rules[k])


def increment_rules(steps, largest_slope: float) -> np.ndarray:
    """The cheapest rule for each step of a schedule that is accurate enough."""
    d = np.abs(steps) * largest_slope
    return np.select([d < SERIES_LIMIT, d < QUADRATURE_LIMIT], [SERIES, QUADRATURE], EXACT)


@njit
def exact_increment(field, layer, beta, previous_beta):
    """sum_j softplus(t_j) - softplus(t_j at previous_beta), float64: for large steps."""
    scale, slope, offset = layer.scale, layer.slope, layer.offset
    total = 0.0
    for j in range(layer.n_units):
        s = np.float64(fma_of_one(field[j], scale, slope[j]))
        t = beta * s + np.float64(offset[j])
        r = previous_beta * s + np.float64(offset[j])
        total += max(t, 0.0) - max(r, 0.0)
        total += np.log1p(np.exp(-abs(t))) - np.log1p(np.exp(-abs(r)))
    return total
