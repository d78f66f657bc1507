"""Draws of Potts units and of units with half a Gaussian on each side of 0, in float64.

A draw is the inverse of a distribution function at a given uniform number. Exponentials, logarithms
and integrals use IEEE operations in a fixed order, which give the same bits on any processor.
"""

import math

import numpy as np

from .adaptive import MAGIC
from .simd import inline, njit

TINY = 1e-300
LOG_HALF = 0.22579135264472744  # log sqrt(pi / 2)
ROOT_HALF = int(np.float64(0.5**0.5).view(np.int64))  # bits of floating-point numbers
EXPONENTS, MANTISSA = 1024 << 52, (1 << 52) - 1
WHOLE = int(np.float64(MAGIC).view(np.int64))
INVERSE_ODD = 1 / np.arange(1.0, 23.0, 2.0)
ROOT_2PI = 2.5066282746310002
INVERSE_FACTORIALS = np.array([1 / math.factorial(k) for k in range(14)])
LOG_2 = 0.693147180369123816490, 1.90821492927058770002e-10  # the first 32 bits, and the rest

# The mass of half a Gaussian, the integral of exp(-x t - t**2 / 2) over t > 0, is a series in
# u = (x - 5) / (x + 5) divided by x + 5, fitted at 400 Chebyshev nodes; relative error 2e-14.
HALF = np.array([
    1.9280810471531367, -1.6678665951894134, 1.241547061578639,
    -0.78591107551959394, 0.41364471557258276, -0.17325473456915616,
    0.052125504501443959, -0.0075032788571652133, -0.0019999758684515105,
    0.0013658413330590955, -0.00014877969710067325, -0.0001246879357365601,
    4.1688733061508263e-05, 9.8958727208642876e-06, -6.7583852989260613e-06,
    -7.5519793336664933e-07, 9.2110383031250273e-07, 4.6774495235770061e-08,
    -8.1403121588415372e-08,
])  # fmt: skip
# The x at which the tail of a normal is sqrt(pi / 2) exp(-s**2 / 2) is s times a series in
# (s - 1.5) / (s + 1.5); a step of Halley's method cubes the error, 9e-5 (relative for x > 1).
PLACE = np.array([0.656591, 0.6689474, -0.2412633, -0.2201133, 0.1392606, 0.0538076, -0.0571476])


@inline
def _series(coefficients, x):
    total = 0.0
    for k in range(coefficients.size - 1, -1, -1):
        total = total * x + coefficients[k]
    return total


@inline
def _exp(x):
    """Return exp(x) for x <= 0 as 2**n exp(f), |f| <= log(2) / 2; constant below -700."""
    shifted = max(x, -700.0) * 1.4426950408889634 + MAGIC
    n = shifted - MAGIC
    total = _series(INVERSE_FACTORIALS, max(x, -700.0) - n * LOG_2[0] - n * LOG_2[1])
    bits = np.float64(total).view(np.int64) + (np.float64(shifted).view(np.int64) << 52)
    return np.int64(bits).view(np.float64)


@njit
def draw_colours(x, uniforms, q, out):
    """Draw one of q states at each site, from fields x (n or 1, sites * q) and uniforms."""
    p, n_sites = np.empty(x.shape[1]), x.shape[1] // q
    for chain in range(out.shape[0]):
        fields = x[min(chain, x.shape[0] - 1)]
        for site in range(n_sites):  # two halves, which the processor handles in parallel
            first, half = site * q, q // 2
            one, two = fields[first], fields[first + half]
            for k in range(1, half):
                one = max(one, fields[first + k])
                two = max(two, fields[first + half + k])
            top = max(one, two, fields[first + q - 1])
            for k in range(first, first + q):
                p[k] = fields[k] - top
        for k in range(p.size):
            p[k] = _exp(p[k])
        for site in range(n_sites):
            first, half = site * q, q // 2
            k, middle, last = first, first + half, first + q - 1
            one, two = 0.0, p[last] if q % 2 else 0.0
            for i in range(half):
                one += p[first + i]
                two += p[middle + i]
            goal = uniforms[chain, site] * (one + two)
            if goal >= one:
                goal, k = goal - one, middle
            while k < last and goal >= p[k]:
                goal -= p[k]
                k += 1
            out[chain, k] = 1.0


@inline
def _log(x):
    """Return log(x) for x = 2**n m > 0, by a series in (m - 1) / (m + 1) with m near 1."""
    bits = np.float64(x).view(np.int64) - ROOT_HALF + EXPONENTS
    n = np.int64((bits >> 52) + WHOLE).view(np.float64) - (MAGIC + 1024.0)
    m = np.int64((bits & MANTISSA) + ROOT_HALF).view(np.float64)
    s = (m - 1) / (m + 1)
    return n * LOG_2[0] + (n * LOG_2[1] + 2 * s * _series(INVERSE_ODD, s * s))


@inline
def _half(x):
    r = 1 / (x + 5)
    return _series(HALF, (x - 5) * r) * r


@inline
def _place(goal):
    """Return the x >= 0 at which the integral of exp(-t**2 / 2) over t > x is exp(goal)."""
    s = math.sqrt(max(2 * (LOG_HALF - goal), 0.0))
    x = s * _series(PLACE, (s - 1.5) / (s + 1.5))
    m = _half(x)
    off = _log(m) - x * x / 2 - goal
    return max(x + 2 * off * m / (2 + off * (1 - x * m)), 0.0)


@inline
def _side(x, sd):
    """Return z = x sd, a factor m and a logarithm: one side has the mass sd m exp(logarithm)."""
    z = x * sd
    m, square = _half(abs(z)), z * z / 2
    return z, (ROOT_2PI - m * _exp(-square) if z > 0 else m), (square if z > 0 else 0.0)


@njit
def sum_halves(x, units, out):
    """Add the log-masses of units at fields x (n, n_units) to ``out`` (n,).

    A column of ``units`` has the standard deviations and thresholds of both sides of a unit.
    """
    sd, sd_, theta, theta_ = units[0], units[1], units[2], units[3]
    logs = np.empty(x.shape[1])
    for chain in range(x.shape[0]):
        for j in range(x.shape[1]):
            _, m, log = _side(x[chain, j] - theta[j], sd[j])
            _, m_, log_ = _side(-x[chain, j] - theta_[j], sd_[j])
            less = _exp(-abs(log - log_))
            mass = m * sd[j] * (1.0 if log > log_ else less)
            mass_ = m_ * sd_[j] * (less if log > log_ else 1.0)
            logs[j] = _log(mass + mass_) + max(log, log_)
        for j in range(x.shape[1]):
            out[chain] += logs[j]


@njit
def draw_halves(x, units, out):
    """Replace the uniforms ``out`` (n, n_units) by draws at fields x (n or 1, n_units)."""
    sd, sd_, theta, theta_ = units[0], units[1], units[2], units[3]
    for chain in range(out.shape[0]):
        row = min(chain, x.shape[0] - 1)
        for j in range(x.shape[1]):
            z, m, log = _side(x[row, j] - theta[j], sd[j])
            z_, m_, log_ = _side(-x[row, j] - theta_[j], sd_[j])
            less = _exp(-abs(log - log_))
            mass = m * sd[j] * (1.0 if log > log_ else less)
            mass_ = m_ * sd_[j] * (less if log > log_ else 1.0)
            share, u = mass / (mass + mass_), out[chain, j]
            up = u < share
            # the rest of the uniform number is the share of the mass of its side beyond h
            rest = (u if up else 1 - u) / (share if up else 1 - share)
            z, m = z if up else z_, m if up else m_
            tail = min(max(rest, TINY), 1.0) * m
            near = z > 0 and tail > ROOT_2PI / 2
            goal = _log(max(ROOT_2PI - tail, TINY) if near else tail)
            place = _place(goal - (0.0 if z > 0 else z * z / 2))
            size = max(z - place if near else z + place, 0.0)
            out[chain, j] = size * (sd[j] if up else -sd_[j])
