"""Models with a mode that runs miss, and estimates that were not made by a run."""

import math

import numpy as np

import rbmlib as rl
from rbmbook.testsystems import of_spins

FEW = 1.5e4  # ns: too little for all states of ten hidden units


def ferromagnet(n_visible, n_hidden, coupling=2.0, odds=5.0):
    """Two modes, all spins up or down, of unequal weight; and the rates of the heavier one."""
    each = coupling / math.sqrt(n_visible * n_hidden)
    field = math.log(odds) / 2 / n_visible
    weights, zeros = np.full((n_visible, n_hidden), each), np.zeros(n_hidden)
    rbm = of_spins(weights, np.full(n_visible, field), zeros)
    up = np.ones((1, n_visible))
    for _ in range(50):
        up = rbm.visible_mean(rbm.hidden_mean(up))
    return rbm, np.log(up[0] / (1 - up[0]))


def made(log_z, std_error=0.01, **more):
    interval = (log_z - 2 * std_error, log_z + 2 * std_error)
    return rl.Estimate("made", log_z, std_error, interval, **more)


def log_z_of(rbm):
    """Of equal weights: a sum over how many hidden units are on."""
    n, m = rbm.weights.shape
    on = np.arange(m + 1)
    choices = [math.lgamma(m + 1) - math.lgamma(k + 1) - math.lgamma(m - k + 1) for k in on]
    fields = rbm.visible_bias[0] + rbm.weights[0, 0] * on
    logs = np.array(choices) + rbm.hidden_bias[0] * on + n * np.logaddexp(0, fields)
    return np.logaddexp.reduce(logs) + rbm.log_scale
