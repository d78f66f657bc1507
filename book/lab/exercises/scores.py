"""Judges of scores and their sums: those of lesson start, and first steps of the line."""

from __future__ import annotations

import tracemalloc
from time import perf_counter

import numpy as np
from scipy.special import expit as right_sigmoid
from scipy.special import logsumexp

from rbmlib.estimators.exact import exact
from rbmlib.models import BernoulliRBM, testsystems
from rbmlib.numerics import logmeanexp, softplus

from .checker import require, same
from .own import Own


def sigmoid(answer, own: Own):
    x = own.rng("sigmoid").normal(scale=3, size=(3, 4))
    same(answer(x), right_sigmoid(x), {"this is 1/(1 + exp(x)): the sign": right_sigmoid(-x)})
    with np.errstate(over="raise", invalid="raise"):
        try:
            far = answer(np.array([-1000.0, 1000.0]))
        except FloatingPointError:
            far = [np.nan, np.nan]
    require(bool(np.all(np.isfinite(far))), "it overflows at -1000: np.logaddexp(0, -x) does not")
    same(far, [0.0, 1.0])


def log_mean_exp(answer, own: Own):
    x = own.rng("weights").normal(scale=2, size=50)
    mistakes = {
        "this is the logarithm of the sum: divide by the number of values": logsumexp(x),
        "this is the mean of the logarithms, which is a bound and no estimate": x.mean(),
        "the mean must be inside the logarithm": np.exp(x).mean(),
    }
    same(answer(x), logmeanexp(x), mistakes)
    same(answer(x + 2000), logmeanexp(x) + 2000)
    same(answer(x - 2000), logmeanexp(x) - 2000)
    same(answer(np.array([0.0, -1500.0])), -np.log(2), what="the result for 0 and -1500")


def score(answer, own: Own):
    """Given the picture, each hidden unit adds 1 if it is off and exp(field) if it is on."""
    m, v = own.model, own.some_states(20)
    field = v @ m.weights + m.hidden_bias
    right = m.log_density(v)
    mistakes = {
        "the hidden units are summed over, not set to their fields: log(1 + exp(field))":
            v @ m.visible_bias + field.sum(axis=1),
        "the visible biases are missing": softplus(field).sum(axis=1),
        "the hidden biases are missing":
            v @ m.visible_bias + softplus(v @ m.weights).sum(axis=1),
        "this is the score itself: its logarithm is wanted": np.exp(right),
        "the sign: this is the free energy": -right,
    }  # fmt: skip
    same(answer(v, m.weights, m.visible_bias, m.hidden_bias), right, mistakes)
    big = 300 * m.weights, m.visible_bias, m.hidden_bias
    same(answer(v, *big), BernoulliRBM(*big).log_density(v))


def _over_hidden_units(answer, own: Own):
    """Refuse a sum over the visible units before it is tried on 200 of them and ends the kernel.

    A sum over 2¹⁶ states needs some 10 MB or most of a second, one over 2³ states neither.
    """
    m = testsystems.random_rbm(16, 3, coupling=1.0, rng=own.rng("tall"))
    tracemalloc.start()
    try:
        begun = perf_counter()
        answer(m.weights, m.visible_bias, m.hidden_bias)
        seconds, megabytes = perf_counter() - begun, tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()
    require(
        seconds < 0.3 and megabytes < 5,
        "right, but this adds up over the states of the visible units; with 200 of them it would "
        "never end: add up over those of the hidden units",
    )


def log_z(answer, own: Own):
    """Given the hidden units the visible ones are independent: one factor each, and few terms."""
    m = own.model
    mistakes = {
        "this is Z: its logarithm is wanted": np.exp(own.log_z),
        "it is too large by the number of hidden units times log 2: every state was counted "
        "several times": own.log_z + m.n_hidden * np.log(2),
        "this is the mean over the states: their sum is wanted":
            own.log_z - m.n_hidden * np.log(2),
        "the state without any unit on is missing, or there are no biases of the hidden units":
            exact(BernoulliRBM(m.weights, m.visible_bias, 0 * m.hidden_bias)).log_z,
    }  # fmt: skip
    same(answer(m.weights, m.visible_bias, m.hidden_bias), own.log_z, mistakes)
    _over_hidden_units(answer, own)
    wide = testsystems.random_rbm(200, 4, coupling=3.0, rng=own.rng("wide"))
    found = answer(wide.weights, 30 + wide.visible_bias, wide.hidden_bias)
    sure = exact(BernoulliRBM(wide.weights, 30 + wide.visible_bias, wide.hidden_bias)).log_z
    same(found, sure, what="log Z of a model with 200 visible units")
    of_free = softplus(m.visible_bias).sum() + softplus(m.hidden_bias).sum()
    same(answer(0 * m.weights, m.visible_bias, m.hidden_bias), of_free)
