"""Tasks of the lesson on mean field and TAP."""

from __future__ import annotations

import numpy as np

from rbmlib import tap as library_tap
from rbmlib.numerics import logmeanexp

from .checker import choice, near, numbers, require, same, task
from .own import Own
from .project import reference, report

GIVEN: dict = {}


def _entropy(m):
    return -(m * np.log(m) + (1 - m) * np.log(1 - m)).sum()


def _means(own: Own):
    rng = own.rng("means")
    return rng.uniform(0.1, 0.9, own.model.n_visible), rng.uniform(0.1, 0.9, own.model.n_hidden)


@task("derivation", 3)
def two_units(answer, own: Own):
    """Two bits have four states, and each adds exp of what is on in it."""
    w, b, a = own.rng("two").normal(size=3)
    terms = np.array([0, b, a, a + b + w])
    right = logmeanexp(terms) + np.log(4)
    mistakes = {
        "the state with both units off counts, too": np.log(np.exp(terms[1:]).sum()),
        "both units on: the biases count as well as the weight":
            np.log(1 + np.exp(b) + np.exp(a) + np.exp(w)),
        "this is Z": np.exp(right),
        "without the weight the units are independent": np.logaddexp(0, b) + np.logaddexp(0, a),
    }  # fmt: skip
    same(answer(w, b, a), right, mistakes)
    same(answer(0.0, b, a), np.logaddexp(0, b) + np.logaddexp(0, a))


@task("coding", 3)
def lower_bound(answer, own: Own):
    """The mean score rewards likely states, the entropy rewards being undecided."""
    m = own.model
    v, h = _means(own)
    energy = v @ m.visible_bias + h @ m.hidden_bias + v @ m.weights @ h
    mistakes = {
        "the entropy raises the bound: the sign": energy - _entropy(v) - _entropy(h),
        "the entropy of the hidden units is missing": energy + _entropy(v),
        "the entropy is missing": energy,
        "the sign: this is Γ, and the bound is -Γ": -energy - _entropy(v) - _entropy(h),
        "each unit has two terms: m log m and (1 - m) log(1 - m)":
            energy - (v * np.log(v)).sum() - (h * np.log(h)).sum(),
    }  # fmt: skip
    found = answer(v, h, m.weights, m.visible_bias, m.hidden_bias)
    same(found, energy + _entropy(v) + _entropy(h), mistakes)
    require(float(numbers(found)) < own.log_z, "a bound from below is above log Z")


@task("coding", 3)
def second_order(answer, own: Own):
    """What independence leaves out is, to this order, half the variance of the interaction."""
    m = own.model
    v, h = _means(own)
    spread = (v - v**2) @ m.weights**2 @ (h - h**2)
    mistakes = {
        "the factor 1/2 is missing": spread,
        "the weights are squared": 0.5 * (v - v**2) @ m.weights @ (h - h**2),
        "the variance of a unit is m - m²": 0.5 * v @ m.weights**2 @ h,
        "it raises log Z: the sign": -0.5 * spread,
    }
    same(answer(v, h, m.weights), 0.5 * spread, mistakes)


@task("experiment", 4)
def too_low(answer, own: Own):
    """The best independent distribution is still not the model, and its bound falls short."""
    best = library_tap(own.model, 1, 0).log_z
    near(answer, own.log_z - best, 0.02, {
        "exact less mean field, not the other way round": best - own.log_z,
        "this is the mean field value itself": best,
    })  # fmt: skip


@task("trap", 0)
def h500(answer, own: Own):
    """All starts find the same answer, which says nothing of its error."""
    printed = report("TAP (order not stated)", "h500")
    near(answer, printed - reference("h500"), 0.1, {
        "the sign: printed less reference": reference("h500") - printed,
    })  # fmt: skip


@task("reading", 1)
def two_states(answer, own: Own):
    """An independent pair cannot say both or neither: it has to choose."""
    choice(answer, "d", {
        "a": "mean field keeps one of the two modes; the other one is what it loses",
        "b": "for a weak weight all states are nearly alike, and the pair is good",
        "c": "an independent pair cannot have both units on or both off with nothing between",
    })  # fmt: skip
