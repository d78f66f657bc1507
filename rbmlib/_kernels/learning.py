"""One update of contrastive divergence, reproducible to the bit.

Probabilities of the positive and negative phase are rounded to multiples of 2**-16, so that
their sums over a mini-batch of up to 255 rows are exact in float32: gradients, like fields,
do not depend on the order of summation.
"""

import numba
import numpy as np

from .elementwise import mean_row
from .fixed_point import MAX_ENTRY, MAX_SUM
from .gibbs import fields_up, sweep_chunk

f32 = np.float32
GRID = f32(65536.0)
MAX_BATCH = 255

_KERNEL = {"nogil": True, "error_model": "numpy", "cache": True}


@numba.njit(**_KERNEL)
def requantise(weights, scale, up, down):
    """Write the integers of ``weights`` into ``up`` and ``down``; False if they do not fit."""
    n_visible, n_hidden = weights.shape
    column_reach = np.zeros((2, n_hidden), f32)
    fits = True
    inverse = f32(1.0) / f32(scale)  # a power of two: exact
    for i in range(n_visible):
        positive, negative = f32(0), f32(0)
        for j in range(n_hidden):
            q = f32(np.rint(weights[i, j] * inverse))
            up[i, j] = q
            down[j, i] = q
            p, n = max(q, f32(0)), max(-q, f32(0))
            fits &= p + n <= f32(MAX_ENTRY)
            positive += p
            negative += n
            column_reach[0, j] += p
            column_reach[1, j] += n
        fits &= max(positive, negative) < f32(MAX_SUM)
    for j in range(n_hidden):
        fits &= max(column_reach[0, j], column_reach[1, j]) < f32(MAX_SUM)
    return fits


@numba.njit(**_KERNEL)
def hidden_counts(v, up, scale, hidden_bias, small, x, out):
    """``2**16 p(h = 1 | v)`` of every row, rounded to integers held in float32."""
    fields_up(v, up, small, x)
    for row in range(v.shape[0]):
        mean_row(x[row], scale, hidden_bias, out[row])
        for j in range(out.shape[1]):
            out[row, j] = f32(np.rint(out[row, j] * GRID))


@numba.njit(**_KERNEL)
def apply_update(weights, velocity, positive, negative, rate, momentum, decay, n_rows):
    """Momentum step on ``weights`` from two exact sums of ``2**16 v h``; arrays 2-d float32."""
    unit = f32(1.0) / (GRID * f32(n_rows))
    for i in range(weights.shape[0]):
        for j in range(weights.shape[1]):
            gradient = (positive[i, j] - negative[i, j]) * unit - decay * weights[i, j]
            velocity[i, j] = momentum * velocity[i, j] + rate * gradient
            weights[i, j] += velocity[i, j]


@numba.njit(**_KERNEL)
def _bias_update(bias, velocity, positive, negative, unit, rate, momentum):
    for i in range(bias.size):
        gradient = (positive[i] - negative[i]) * unit
        velocity[i] = momentum * velocity[i] + rate * gradient
        bias[i] += velocity[i]


@numba.njit(**_KERNEL)
def _column_sums(rows, out):
    for j in range(out.size):
        out[j] = f32(0)
    for row in range(rows.shape[0]):
        for j in range(out.size):
            out[j] += rows[row, j]


@numba.njit(**_KERNEL)
def moments(
    batch, chains, n_sweeps, seed, first_draw, visible_bias, hidden_bias,
    up, down, tables, scale, small,
):  # fmt: skip
    """Exact sums over the batch and over the chains, which are moved ``n_sweeps`` sweeps first.

    Returns sums of ``2**16 v h`` (over the batch, over the chains), of v (2, n_visible) and of
    ``2**16 h`` (2, n_hidden), with p(h | v) for h.
    """
    n_rows, n_visible = batch.shape
    n_hidden = hidden_bias.size
    x = np.empty((n_rows, up.shape[1]), f32)
    counts = np.empty((n_rows, n_hidden), f32)
    visible, hidden = np.empty((2, n_visible), f32), np.empty((2, n_hidden), f32)
    hidden_counts(batch, up, scale, hidden_bias, small, x, counts)
    positive = np.dot(batch.T, counts)
    _column_sums(batch, visible[0])
    _column_sums(counts, hidden[0])
    h = np.empty((n_rows, n_hidden), f32)
    sweep_chunk(
        chains, h, np.ones(n_rows), 0, n_sweeps, seed, 0, first_draw,
        up, down, tables, scale, 1.0, hidden_bias, np.zeros(n_hidden, f32),
        visible_bias, np.zeros(n_visible, f32), small,
    )  # fmt: skip
    hidden_counts(chains, up, scale, hidden_bias, small, x, counts)
    negative = np.dot(chains.T, counts)
    _column_sums(chains, visible[1])
    _column_sums(counts, hidden[1])
    return positive, negative, visible, hidden


@numba.njit(**_KERNEL)
def contrastive_divergence(
    batch, chains, n_sweeps, seed, first_draw, rate, momentum, decay,
    weights, visible_bias, hidden_bias, weights_velocity, visible_velocity, hidden_velocity,
    up, down, tables, scale, small,
):  # fmt: skip
    """One update of the parameters, in place, from a batch and the chains of the negative phase.

    ``chains`` (n_rows, n_visible), a copy of the batch for CD or persistent for PCD, are moved
    ``n_sweeps`` sweeps and used with p(h | v).
    """
    n_rows = batch.shape[0]
    positive, negative, visible, hidden = moments(
        batch, chains, n_sweeps, seed, first_draw, visible_bias, hidden_bias,
        up, down, tables, scale, small,
    )  # fmt: skip
    apply_update(
        weights, weights_velocity, positive, negative, f32(rate), f32(momentum), f32(decay), n_rows
    )
    unit = f32(1.0) / f32(n_rows)
    _bias_update(
        visible_bias, visible_velocity, visible[0], visible[1], unit, f32(rate), f32(momentum)
    )
    unit = f32(1.0) / (GRID * f32(n_rows))
    _bias_update(hidden_bias, hidden_velocity, hidden[0], hidden[1], unit, f32(rate), f32(momentum))
