"""Models with a mode that runs miss, and estimates that were not made by a run."""

import math

import numpy as np

import rbmlib as rl
from rbmbook.models import of_spins


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


def frozen_or_liquid(n_blocks=30, n=5, m=3, tilt=1.5):
    """One state, and behind the last hidden unit 2^blocks modes that weigh exp(tilt) times it."""
    rng, units = np.random.default_rng(1), n_blocks * m
    weights, b, a = np.zeros((n_blocks * n, units + 1)), np.zeros(n_blocks * n), np.zeros(units + 1)
    ends = np.zeros(2)
    for k in range(n_blocks):
        i, j = slice(k * n, (k + 1) * n), slice(k * m, (k + 1) * m)
        signs = rng.choice([-1.0, 1.0], n)
        w = 14 / np.sqrt(n * m) * np.outer(signs, rng.choice([-1.0, 1.0], m))
        w *= rng.uniform(0.9, 1.1, w.shape)
        weights[i, j], weights[i, -1] = w, -6 * signs
        a[j], b[i] = -w.sum(axis=0) / 2, 6 * signs - w.sum(axis=1) / 2
        shifted = (rl.BernoulliRBM(w, b[i] + shift, a[j]) for shift in (0, -6 * signs))
        ends += [rl.exact(block).log_z for block in shifted]
    a[-1] = ends[0] - ends[1] + tilt
    return rl.BernoulliRBM(weights, b, a), ends[0] + np.logaddexp(0, tilt), (b > 0).astype(float)
