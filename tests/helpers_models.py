"""Models that several test files look at: modes that are missed, and units counted another way."""

import numpy as np

import rbmlib as rl


def coupled_rbm():
    """Small enough to be enumerated, with couplings that make a base's mistakes show."""
    return rl.testsystems.random_rbm(n_visible=40, n_hidden=12, coupling=4.0, rng=3)


def two_modes(n_hidden=25, n_visible=120):
    """Two equal modes that no base of this model covers; too many units to be enumerated here."""
    mode, log_z = rl.testsystems.two_mode_rbm(n_visible, strength=3.0)
    weights = np.zeros((n_visible, n_hidden))
    weights[:, 0] = mode.weights[:, 0]
    bias = np.r_[mode.hidden_bias, np.zeros(n_hidden - 1)]
    rbm = rl.BernoulliRBM(weights, mode.visible_bias, bias)
    return rbm, log_z + (n_hidden - 1) * np.log(2)


def exchanged(rbm, hidden=(), visible=()):
    """The same model with the states of some units exchanged (v -> 1 - v, h -> 1 - h)."""
    w, b, a = rbm.weights.copy(), rbm.visible_bias.copy(), rbm.hidden_bias.copy()
    hidden, visible = list(hidden), list(visible)
    b += w[:, hidden].sum(axis=1)
    scale = rbm.log_scale + a[hidden].sum()
    w[:, hidden] *= -1
    a[hidden] *= -1
    a += w[visible].sum(axis=0)
    scale += b[visible].sum()
    w[visible] *= -1
    b[visible] *= -1
    return rl.BernoulliRBM(w, b, a, log_scale=scale)


def with_idle_units(strength, tilt, n_visible=300, n_idle=24):
    mode, log_z = rl.testsystems.two_mode_rbm(n_visible, strength=strength, tilt=tilt)
    weights = np.pad(mode.weights, ((0, 0), (0, n_idle)))
    rbm = rl.BernoulliRBM(weights, mode.visible_bias, np.r_[mode.hidden_bias, np.zeros(n_idle)])
    return rbm, log_z + n_idle * np.log(2)
