"""Sums in float64 over all states, and over samples at many temperatures."""

from typing import NamedTuple

import numpy as np

from .simd import njit

# over all states of one layer -----------------------------------------------------------------

QUAD = 4  # factors that are multiplied before the product is stored
TILE = 16, 128  # states in a tile, whose products stay in the cache


@njit
def multiply(low, high, out):
    """Fill ``out`` (n_high, n_low) with the products over units i of 1 + low[i, l] high[h, i].

    The number of units is a multiple of `QUAD`; n_high and n_low are powers of two.
    """
    n, n_low = low.shape
    rows, columns = min(TILE[0], len(high)), min(TILE[1], n_low)
    out[:] = 1.0
    for first in range(0, len(high), rows):
        for start in range(0, n_low, columns):
            for i in range(0, n, QUAD):
                for h in range(first, first + rows):
                    y0, y1, y2, y3 = high[h, i], high[h, i + 1], high[h, i + 2], high[h, i + 3]
                    for k in range(start, start + columns):
                        one = (1.0 + low[i, k] * y0) * (1.0 + low[i + 1, k] * y1)
                        other = (1.0 + low[i + 2, k] * y2) * (1.0 + low[i + 3, k] * y3)
                        out[h, k] *= one * other


FACTORS = 512  # factors of at most 2 in a product before a logarithm: 2**512 does not overflow


@njit
def _sum_softplus(y):
    """Return sum_i softplus(y_i) = sum_i max(y_i, 0) + log prod_i (1 + exp(-|y_i|))."""
    total = 0.0
    for start in range(0, y.size, FACTORS):
        linear, product = 0.0, 1.0
        for i in range(start, min(start + FACTORS, y.size)):
            linear += max(y[i], 0.0)
            product *= 1.0 + np.exp(-abs(y[i]))
        total += linear + np.log(product)
    return total


# over samples, for functions of one scalar for each sample --------------------------------------
#
# On a geometric path, a sample enters only through its slope Delta, by
#
#     W_k(Delta) = exp(a_k + beta_k Delta) / sum_l exp(a_l + beta_l Delta).
#
# As functions of a complex Delta, W_k and the logarithm of the denominator are analytic for
# ``|Im Delta| < pi / (beta_max - beta_min)``: the terms of the denominator then lie within an angle
# below pi and cannot cancel. A sum over samples can therefore be replaced by a sum over Chebyshev
# nodes in cells of the real line, with weights from Lagrange interpolation. The error falls like
# 5.8**-N_NODES (1e-12 of a weight) for any number of samples.

N_NODES = 18  # nodes in a cell
CELL = 2.0  # length of a cell, times (beta_max - beta_min)
ROWS = 256  # nodes at a time, which limits memory to K x ROWS numbers
MANY = 256  # above this many states, skip those without weight at the nodes of a block

_ANGLES = (np.arange(N_NODES) + 0.5) * (np.pi / N_NODES)
_UNIT = 0.5 - 0.5 * np.cos(_ANGLES)  # Chebyshev nodes of a cell of length 1
_BARYCENTRIC = (-1.0) ** np.arange(N_NODES) * np.sin(_ANGLES)


class Grid(NamedTuple):
    """Nodes and weights: ``sum(weights * g(nodes))`` is the sum of g over the samples."""

    nodes: np.ndarray
    weights: np.ndarray
    position: np.ndarray  # (n,) position of each sample in its cell, from 0 to 1
    rank: np.ndarray  # (n,) index of the cell of each sample; empty if the nodes are the samples


def grid(delta, spread: float) -> Grid:
    """Return the nodes for samples ``delta`` (n,); ``spread`` = beta_max - beta_min."""
    width, start = CELL / spread, delta.min()
    position = (delta - start) / width
    cells = np.floor(position)
    used, rank = np.unique(cells, return_inverse=True)  # only cells that contain samples
    if used.size * N_NODES >= delta.size:
        return Grid(delta, np.ones(delta.size), np.empty(0), np.empty(0, np.int64))
    position -= cells
    nodes = start + width * (used[:, None] + _UNIT)
    weights = np.zeros(nodes.shape)
    _spread(position, rank, weights)
    return Grid(nodes.ravel(), weights.ravel(), position, rank)


@njit
def _basis(position, out):
    """Fill ``out`` with the Lagrange polynomials of a cell at a position in [0, 1]."""
    total = 0.0
    for j in range(N_NODES):
        gap = position - _UNIT[j]
        if gap == 0.0:
            out[:] = 0.0
            out[j] = 1.0
            return
        out[j] = _BARYCENTRIC[j] / gap
        total += out[j]
    for j in range(N_NODES):
        out[j] /= total


@njit
def _spread(position, rank, weights):
    basis = np.empty(N_NODES)
    for n in range(rank.size):
        _basis(position[n], basis)
        for j in range(N_NODES):
            weights[rank[n], j] += basis[j]


@njit
def interpolate(values, points):
    """Return a function at the samples from its ``values`` at the nodes of a `Grid`."""
    if not points.rank.size:
        return values
    out, basis = np.zeros(points.rank.size), np.empty(N_NODES)
    for n in range(out.size):
        _basis(points.position[n], basis)
        for j in range(N_NODES):
            out[n] += basis[j] * values[N_NODES * points.rank[n] + j]
    return out


@njit
def state_weights(delta, betas, a, member, out):
    """Fill ``out`` (n, K) with W_k(delta_n) and return the logarithms of the denominators.

    The denominator includes only the states of ``member``.
    """
    logs = np.empty(delta.size)
    for n in range(delta.size):
        top = -np.inf
        for k in range(betas.size):
            out[n, k] = a[k] + betas[k] * delta[n]
            if member[k]:
                top = max(top, out[n, k])
        total = 0.0
        for k in range(betas.size):
            out[n, k] = np.exp(out[n, k] - top)
            if member[k]:
                total += out[n, k]
        for k in range(betas.size):
            out[n, k] /= total
        logs[n] = top + np.log(total)
    return logs


@njit
def moments(delta, weights, betas, a, member, second):
    """Return weighted sums of the log-denominator, of W_k, and, if ``second``, of W_k W_l."""
    n_states = betas.size
    objective, first = 0.0, np.zeros(n_states)
    products = np.zeros((n_states, n_states))
    block = np.empty((ROWS, n_states))
    for begin in range(0, delta.size, ROWS):
        end = min(begin + ROWS, delta.size)
        w = block[: end - begin]
        logs = state_weights(delta[begin:end], betas, a, member, w)
        weighted = np.empty(w.shape)
        for n in range(end - begin):
            objective += weights[begin + n] * logs[n]
            for k in range(n_states):
                weighted[n, k] = weights[begin + n] * w[n, k]
                first[k] += weighted[n, k]
        low, high = 0, n_states
        while second and n_states > MANY and not w[:, low].any():
            low += 1
        while second and n_states > MANY and not w[:, high - 1].any():
            high -= 1
        if second:
            some = np.ascontiguousarray(weighted[:, low:high]).T
            found = np.dot(some, np.ascontiguousarray(w[:, low:high]))
            for k in range(high - low):  # a sum of slices would take seconds longer to compile
                for other in range(high - low):
                    products[low + k, low + other] += found[k, other]
    return objective, first, products


@njit
def combination(delta, betas, a, member, coefficients):
    """Return ``sum_k coefficients_k W_k(delta_n)`` for each delta."""
    out = np.empty(delta.size)
    block = np.empty((ROWS, betas.size))
    for begin in range(0, delta.size, ROWS):
        end = min(begin + ROWS, delta.size)
        w = block[: end - begin]
        state_weights(delta[begin:end], betas, a, member, w)
        for n in range(end - begin):
            total = 0.0
            for k in range(betas.size):
                total += coefficients[k] * w[n, k]
            out[begin + n] = total
    return out
