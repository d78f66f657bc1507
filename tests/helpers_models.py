"""Models that several test files look at: small ones, modes missed, units recounted."""

import warnings

import numpy as np
import pytest
from helpers_stats import log_sum, rbm_table

import rbmlib as rl
from rbmbook.models import of_spins
from rbmlib import BernoulliRBM, GeometricPath, datasets
from rbmlib.models import normal

PUBLISHED = {"h10": 226.113155, "h20": 221.066790}  # log Z as the papers print it


RNG = np.random.default_rng(9)
SMALL = BernoulliRBM(
    RNG.normal(scale=1.2, size=(7, 4)), RNG.normal(size=7), RNG.normal(size=4), log_scale=-2.0
)
SMALL_LOG_Z = log_sum(rbm_table(SMALL))
HIDDEN_BASE = BernoulliRBM(
    np.zeros((7, 4)), RNG.normal(scale=0.5, size=7), RNG.normal(scale=0.5, size=4)
)


def hopfield_rbm(n_visible, n_hidden, *, strength=2.5, spread=0.4, rng=None) -> BernoulliRBM:
    """Random patterns of unequal depth, each a pair of modes, one pattern a hidden unit.

    In units s, t in {-1, 1} the weights are ``strength_j pattern_ij / sqrt(n_visible)``. Chains
    choose their mode early on: runs that miss the deepest have the highest effective sample size.
    """
    patterns = 2.0 * np.random.default_rng(rng).integers(0, 2, (n_visible, n_hidden)) - 1
    depths = strength * np.linspace(1 - spread, 1 + spread, n_hidden)
    return of_spins(depths * patterns / np.sqrt(n_visible), np.zeros(n_visible), np.zeros(n_hidden))


def independent_rbm(visible_bias, hidden_bias) -> tuple[BernoulliRBM, float]:
    """A model with zero weights, and its log Z in closed form, at any size."""
    zero = np.zeros((np.size(visible_bias), np.size(hidden_bias)))
    log_z = sum(np.logaddexp(0, bias).sum() for bias in (visible_bias, hidden_bias))
    return BernoulliRBM(zero, visible_bias, hidden_bias), float(log_z)


def same_model(one, two) -> bool:
    """Kinds of layers, all parameters, and ``log_scale``."""

    def parts(model):
        layers = (model.visible, model.hidden)
        own = (getattr(layer, name) for layer in layers for name in layer.parameters)
        return [model.weights, model.log_scale, *own]

    return one.like(two) and all(map(np.array_equal, parts(one), parts(two)))


def log_joint(rbm, v, h) -> np.ndarray:
    """log p*(v, h) of paired states."""
    joint = np.einsum("nj,nj->n", v.astype(float) @ rbm.weights, h)
    return joint + rbm.visible.own(v) + rbm.hidden.own(h) + rbm.log_scale


def quiet(function, *arguments, **options):
    """What a call answers, its warnings unheard."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments, **options)


def quiet_path(rbm, base) -> GeometricPath:
    return quiet(GeometricPath, rbm, base=base)


def published(name: str) -> BernoulliRBM:
    """A published RBM that is on this machine; nothing is downloaded for a test."""
    where = {info.name: info.where for info in datasets.list_rbms()}
    if where[name] == "not here":
        pytest.skip(f"{name} is not on this machine: put it in a folder and name it RBMLIB_DATA")
    return datasets.load_rbm(name)


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


def on_threads(n: int, function, *arguments, **options):
    """What a function returns on so many threads."""
    with rl.using(n_threads=n):
        return function(*arguments, **options)


def leaky_draws(rbm, n: int, rng) -> np.ndarray:
    """Independent draws of a `LeakyRBM` with few hidden units, by rejection from leakiness 1."""
    model, span = rbm.reduced()
    kept, found = [], 0
    while found < n:
        u = normal.gaussian_draws(model, n, rng)
        below = np.minimum(model.field(u), 0)
        log_ratio = -(1 - rbm.leakiness) / 2 * (below**2).sum(axis=1)
        kept.append(u[np.log(rng.random(n)) < log_ratio])
        found += len(kept[-1])
    return span(np.concatenate(kept)[:n], rng)
