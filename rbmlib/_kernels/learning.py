"""One update of contrastive divergence, reproducible to the bit.

Probabilities of the positive and negative phase are rounded to multiples of 2**-16, so that
their sums over a mini-batch of up to 255 rows are exact in float32: gradients, like fields,
do not depend on the order of summation.
"""

from typing import NamedTuple

import numba
import numpy as np

from .elementwise import mean_row
from .fixed_point import MAX_ENTRY, MAX_SUM
from .gibbs import fields_up, sweep_at_one

f32 = np.float32
GRID = f32(65536.0)
MAX_BATCH = 255

_KERNEL = {"nogil": True, "error_model": "numpy", "cache": True}


@numba.njit(**_KERNEL)
def requantise(weights, integers):
    """Write the integers of ``weights`` (n_visible, n_hidden); False if they do not fit."""
    up, down = integers.up, integers.down
    n_visible, n_hidden = weights.shape
    column_reach = np.zeros((2, n_hidden), f32)
    fits = True
    inverse = f32(1.0) / integers.scale  # a power of two: exact
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
def hidden_counts(v, weights, hidden_bias, x, out):
    """``2**16 p(h = 1 | v)`` of every row, rounded to integers held in float32."""
    fields_up(v, weights, x)
    for row in range(v.shape[0]):
        mean_row(x[row], weights.scale, hidden_bias, out[row])
        for j in range(out.shape[1]):
            out[row, j] = f32(np.rint(out[row, j] * GRID))


class Parameters(NamedTuple):
    """Parameters of a model, or their velocities; changed in place."""

    weights: np.ndarray  # float32 (n_visible, n_hidden)
    visible_bias: np.ndarray
    hidden_bias: np.ndarray


class Momentum(NamedTuple):
    """How far a step goes, by the gradient and by the step before; and what weights lose."""

    rate: np.float32
    momentum: np.float32
    decay: np.float32


@numba.njit(**_KERNEL)
def _weights_update(weights, velocity, positive, negative, n_rows, step):
    """Momentum step on ``weights`` from two exact sums of ``2**16 v h``; arrays 2-d float32."""
    unit = f32(1.0) / (GRID * f32(n_rows))
    rate, momentum, decay = step
    for i in range(weights.shape[0]):
        for j in range(weights.shape[1]):
            gradient = (positive[i, j] - negative[i, j]) * unit - decay * weights[i, j]
            velocity[i, j] = momentum * velocity[i, j] + rate * gradient
            weights[i, j] += velocity[i, j]


@numba.njit(**_KERNEL)
def _bias_update(bias, velocity, sums, unit, step):
    """As `_weights_update`, from ``sums`` (2, n_units) of both phases; biases do not decay."""
    for i in range(bias.size):
        gradient = (sums[0, i] - sums[1, i]) * unit
        velocity[i] = step.momentum * velocity[i] + step.rate * gradient
        bias[i] += velocity[i]


@numba.njit(**_KERNEL)
def _column_sums(rows, out):
    for j in range(out.size):
        out[j] = f32(0)
    for row in range(rows.shape[0]):
        for j in range(out.size):
            out[j] += rows[row, j]


@numba.njit(**_KERNEL)
def moments(batch, chains, weights, parameters, run):
    """Exact sums over the batch and over the chains, which are moved by the sweeps of run first.

    Returns sums of ``2**16 v h`` (over the batch, over the chains), of v (2, n_visible) and of
    ``2**16 h`` (2, n_hidden), with p(h | v) for h.
    """
    n_rows, n_visible = batch.shape
    hidden_bias = parameters.hidden_bias
    n_hidden = hidden_bias.size
    x = np.empty((n_rows, weights.up.shape[1]), f32)
    counts = np.empty((n_rows, n_hidden), f32)
    visible, hidden = np.empty((2, n_visible), f32), np.empty((2, n_hidden), f32)
    hidden_counts(batch, weights, hidden_bias, x, counts)
    positive = np.dot(batch.T, counts)
    _column_sums(batch, visible[0])
    _column_sums(counts, hidden[0])
    sweep_at_one(chains, weights, parameters.visible_bias, hidden_bias, run)
    hidden_counts(chains, weights, hidden_bias, x, counts)
    negative = np.dot(chains.T, counts)
    _column_sums(chains, visible[1])
    _column_sums(counts, hidden[1])
    return positive, negative, visible, hidden


@numba.njit(**_KERNEL)
def contrastive_divergence(batch, chains, weights, parameters, velocities, step, run):
    """One update of the parameters, in place, from a batch and the chains of the negative phase.

    ``chains`` (n_rows, n_visible), a copy of the batch for CD or persistent for PCD, are moved by
    the sweeps of run and used with p(h | v). ``weights`` are the integers of the parameters.
    """
    n_rows = batch.shape[0]
    positive, negative, visible, hidden = moments(batch, chains, weights, parameters, run)
    _weights_update(parameters.weights, velocities.weights, positive, negative, n_rows, step)
    unit = f32(1.0) / f32(n_rows)
    _bias_update(parameters.visible_bias, velocities.visible_bias, visible, unit, step)
    unit = f32(1.0) / (GRID * f32(n_rows))
    _bias_update(parameters.hidden_bias, velocities.hidden_bias, hidden, unit, step)
