"""Tasks of the lesson on mean field and TAP."""

import numpy as np
from scipy.special import entr

import rbmlib as rl
from rbmbook.wang import printed_error

from .checker import Own, function, letter, number


def _entropy(m):
    return (entr(m) + entr(1 - m)).sum()


def _means(own: Own):
    rng = own.rng("means")
    return rng.uniform(0.1, 0.9, own.model.n_visible), rng.uniform(0.1, 0.9, own.model.n_hidden)


@function("derivation", 3)
def two_units(own: Own):
    """Two bits have four states, and their scores add up to Z."""
    w, b, a = own.rng("two").normal(size=3)
    z = 1 + np.exp(b) + np.exp(a) + np.exp(a + b + w)
    yield (w, b, a), np.log(z), {
        "the state with both units off counts, too": np.log(z - 1),
        "with both units on, the biases count, too": np.log(1 + np.exp(b) + np.exp(a) + np.exp(w)),
    }  # fmt: skip
    yield (0.0, b, a), np.logaddexp(0, b) + np.logaddexp(0, a)


@function("coding", 3)
def lower_bound(own: Own):
    """The mean log-score favours states of high score, and the entropy favours uncertainty."""
    m = own.model
    v, h = _means(own)
    score = v @ m.visible_bias + h @ m.hidden_bias + v @ m.weights @ h
    entropy = _entropy(v) + _entropy(h)
    yield (v, h, m.weights, m.visible_bias, m.hidden_bias), score + entropy, {
        "the entropy raises the bound: check its sign": score - entropy,
        "the terms (1 - m) log(1 - m) are missing": score + entr(v).sum() + entr(h).sum(),
    }  # fmt: skip


@function("coding", 3)
def second_order(own: Own):
    """To second order, mean field lacks half the variance of the interaction."""
    v, h = _means(own)
    weights, of_v, of_h = own.model.weights, v - v**2, h - h**2
    right = 0.5 * of_v @ weights**2 @ of_h
    yield (v, h, weights), right, {
        "the weights are squared": 0.5 * of_v @ weights @ of_h,
        "the variance of a unit is m - m²": 0.5 * v @ weights**2 @ h,
    }  # fmt: skip


@number("experiment", 4, within=0.02)
def too_low(own: Own):
    """Even the best independent distribution is not the model, so its bound is too low."""
    best = rl.tap(own.model, 1, 0).log_z
    return own.log_z - best, {"this is the mean-field value itself": best}


@number("trap", 0, within=0.1)
def h500(own: Own):
    """All starts find nearly the same answer, which says nothing about its error."""
    return printed_error("h500", "TAP ("), {}


two_states = letter(
    "d", "Independent units cannot switch on and off together, so the pair keeps one mode.",
    a="mean field keeps one of the two modes and loses the other one",
    b="this is the best pair if the weight is weak",
    c="units that are always equal are not independent",
)  # fmt: skip
