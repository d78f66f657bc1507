"""Judges of functions that make up annealed importance sampling; several lessons use them."""

from __future__ import annotations

import numpy as np
from scipy.special import expit as right_sigmoid

from rbmlib import ais as library_ais
from rbmlib import reverse_ais as library_reverse
from rbmlib.estimators.sample import sample
from rbmlib.models import BernoulliRBM
from rbmlib.numerics import logmeanexp, softplus
from rbmlib.paths import GeometricPath

from .checker import (
    NotYet,
    binary,
    codes_of,
    distribution_is,
    drawn,
    mean_is,
    numbers,
    require,
    same,
)
from .own import Own, states

N_CHAINS = 4000
FEW = np.linspace(0, 1, 7)


def path_score(answer, own: Own):
    """Only parameters move with beta, so that the model at each beta is an RBM again."""
    m, b0, v = own.model, own.base, own.some_states(15)
    field = v @ m.weights + m.hidden_bias
    for beta in (0.3, 0.0, 1.0):
        straight = v @ ((1 - beta) * b0 + beta * m.visible_bias)
        mistakes = {
            "beta stands inside: log(1 + exp(β field)), not β log(1 + exp(field))":
                straight + beta * softplus(field).sum(axis=1),
            "the biases of the base must fade out with 1 - β":
                v @ (b0 + beta * m.visible_bias) + softplus(beta * field).sum(axis=1),
            "the visible biases of base and model are exchanged":
                v @ (beta * b0 + (1 - beta) * m.visible_bias) + softplus(beta * field).sum(axis=1),
            "the hidden biases must be multiplied by beta, too":
                straight + softplus(beta * (v @ m.weights) + m.hidden_bias).sum(axis=1),
            "the base is missing":
                beta * (v @ m.visible_bias) + softplus(beta * field).sum(axis=1),
        }  # fmt: skip
        right = straight + softplus(beta * field).sum(axis=1)
        same(answer(m, b0, v, beta), right, mistakes, what=f"the score at β = {beta}")


def log_z_base(answer, own: Own):
    m, b0 = own.model, own.base
    mistakes = {
        "each hidden unit of the base is a fair coin and adds log 2": softplus(b0).sum(),
        "the base has its own biases, not those of the model":
            softplus(m.visible_bias).sum() + m.n_hidden * np.log(2),
        "a hidden unit of the base has no bias": softplus(b0).sum() + softplus(m.hidden_bias).sum(),
        "log 2 for each hidden unit, not for each visible one":
            softplus(b0).sum() + m.n_visible * np.log(2),
    }  # fmt: skip
    same(answer(m, b0), own.path.log_z_base, mistakes)


def sample_base(answer, own: Own):
    m, b0 = own.model, own.base
    v = drawn(answer, own, "draw", m, b0, N_CHAINS)
    v = binary(v, (N_CHAINS, m.n_visible), "the states")
    law = np.exp(states(m.n_visible) @ b0 - softplus(b0).sum())
    for i in range(m.n_visible):
        hint = "a visible unit is on with the wrong probability: it is sigmoid(b0)"
        mean_is(v[:, i], right_sigmoid(b0)[i], hint)
    distribution_is(codes_of(v), law, "units are not independent: draw one random number for each")


def hidden_mean(answer, own: Own):
    m, v = own.model, own.some_states(12)
    for beta in (0.4, np.full((12, 1), 0.7)):
        field = v @ m.weights + m.hidden_bias
        mistakes = {
            "β multiplies the hidden biases, too":
                right_sigmoid(beta * (v @ m.weights) + m.hidden_bias),
            "β stands inside the sigmoid": beta * right_sigmoid(field),
            "β is not used": right_sigmoid(field),
            "this is the field: its sigmoid is wanted": beta * field,
        }  # fmt: skip
        same(answer(m, v, beta), right_sigmoid(beta * field), mistakes)


def visible_mean(answer, own: Own):
    m, b0, h = own.model, own.base, own.some_states(12, units=own.model.n_hidden)
    for beta in (0.4, np.full((12, 1), 0.7)):
        field = h @ m.weights.T + m.visible_bias
        mistakes = {
            "the base is missing: (1 - β) b0": right_sigmoid(beta * field),
            "b0 must fade out with 1 - β": right_sigmoid(b0 + beta * field),
            "β is not used": right_sigmoid(field),
            "b0 and the field are exchanged": right_sigmoid(beta * b0 + (1 - beta) * field),
        }
        same(answer(m, b0, h, beta), right_sigmoid((1 - beta) * b0 + beta * field), mistakes)


def sweep(answer, own: Own):
    m, b0, beta = own.model, own.base, 0.6
    first = sample(own.path.at(beta), N_CHAINS, own.rng("exact")).states
    pair = answer(m, b0, first, beta, own.rng("sweep"))
    require(isinstance(pair, tuple) and len(pair) == 2, "return the pair v, h")
    v = binary(pair[0], first.shape, "v")
    h = binary(pair[1], (N_CHAINS, m.n_hidden), "h")
    rows = states(m.n_visible)
    law = np.exp(own.path.at(beta).log_density(rows) - own.log_z_at(beta)[0])
    hint = "exact samples of the model at β are no samples of it any more after the sweep"
    distribution_is(codes_of(v), law, hint)
    joint = m.weights * beta
    one = np.tile(rows[37], (N_CHAINS, 1))
    v, h = answer(m, b0, one, beta, own.rng("one"))
    for j, p in enumerate(right_sigmoid(one[0] @ joint + beta * m.hidden_bias)):
        mean_is(h[:, j], p, "h is not drawn from the v that was given")
    field = right_sigmoid((1 - beta) * b0 + beta * (h @ m.weights.T + m.visible_bias))
    for i in range(m.n_visible):
        mean_is(v[:, i] - field[:, i], 0.0, "v is not drawn from the h that is returned")
    spread = (v - field).std(axis=0) / np.sqrt(field * (1 - field)).mean(axis=0)
    require(bool(np.all(spread > 0.5)), "v must be drawn")
    betas = np.repeat([[0.0], [1.0]], N_CHAINS // 2, axis=0)
    v, _ = answer(m, b0, one, betas, own.rng("two"))
    for i, p in enumerate(right_sigmoid(b0)):
        mean_is(v[: N_CHAINS // 2, i], p, "with one β for each chain the first half is at β = 0")


def increment(answer, own: Own):
    m, b0, v, low, high = own.model, own.base, own.some_states(15), 0.2, 0.5
    right = own.path.at(high).log_density(v) - own.path.at(low).log_density(v)
    mistakes = {
        "the sign: the new score is divided by the old one": -right,
        "this is the slope at one end: take the difference of two scores":
            own.path.log_density_slope(v, low) * (high - low),
        "this is the new score alone": own.path.at(high).log_density(v),
    }  # fmt: skip
    same(answer(m, b0, v, low, high), right, mistakes)


def ais(answer, own: Own):
    """The weight is taken before the move, so that each ratio is of the state that earned it."""
    _ais_between(answer, own, own.path, FEW, 10_000)
    far = own.model.visible_bias + np.resize([2.0, -2.0], own.model.n_visible)
    _ais_between(answer, own, GeometricPath(own.model, base=far), np.linspace(0, 1, 31), 4000)
    free = BernoulliRBM(0 * own.model.weights, own.base, 0 * own.model.hidden_bias)
    flat = answer(free, own.base, FEW, 5, own.rng("flat"))
    same(flat, np.full(5, own.path.log_z_base), what="log w where base and model are the same")


def _ais_between(answer, own: Own, path: GeometricPath, betas, n: int):
    m, b0 = own.model, path.base_visible_bias
    log_w = numbers(drawn(answer, own, "ais", m, b0, betas, n), (n,), "the log-weights")
    require(log_w.std() > 1e-6, "all log-weights are equal: a chain must collect its own")
    other = library_ais(path, betas, n_chains=n, rng=own.rng("library"))
    theirs = other.log_weights
    shift = log_w.mean() - theirs.mean()
    known = {
        "log Z of the base is missing at the start": -path.log_z_base,
        "log Z of the base lacks log 2 for each hidden unit": -m.n_hidden * np.log(2),
        "log Z of the base was added twice": path.log_z_base,
    }
    error = np.sqrt((log_w.var() + theirs.var()) / n)
    for hint, by in known.items():
        require(abs(shift - by) > 5 * error, hint)
    if log_w.min() > 0:
        off = abs(np.log(log_w).mean() - theirs.mean())
        require(off > 5 * error, "these are the weights: return their logarithms")
    try:
        mean_is(
            np.exp(np.minimum(log_w - own.log_z, 700)), 1.0,
            "the mean weight is not Z: weigh first with the old state, then move at the new β",
        )  # fmt: skip
    except NotYet:
        _begins_in_the_base(answer, own, path, n)
        raise
    require(
        abs(shift) < 5 * error,
        "the mean log-weight differs from that of rbmlib: is every β of the schedule used, each "
        "with one sweep that draws h and then v, and are the weights made of the score of v alone?",
    )
    ratio = np.log(log_w.var() / theirs.var())
    require(abs(ratio) < 0.2, "the log-weights scatter otherwise than those of rbmlib")


def _begins_in_the_base(answer, own: Own, path: GeometricPath, n: int):
    """A hint if a single step shows that the first states have the distribution of other coins."""
    m, b0, rows = own.model, path.base_visible_bias, states(own.model.n_visible)
    gain = path.log_z_base + m.log_density(rows) - path.at(0.0).log_density(rows)
    one = numbers(answer(m, b0, np.array([0.0, 1.0]), n, own.rng("one step")), (n,))
    error = one.std() / np.sqrt(n) + 1e-9

    def far(bias):
        return abs(one.mean() - np.exp(rows @ bias - softplus(bias).sum()) @ gain) > 5 * error

    other = (np.zeros_like(b0), m.visible_bias, -b0)
    require(
        not far(b0) or all(map(far, other)),
        "the chains must begin in the base: at first a visible unit is on with probability "
        "sigmoid(b0)",
    )


def ess(answer, own: Own):
    for scale in (0.1, 1.5):
        x = own.rng("ess").normal(scale=scale, size=60)
        w = np.exp(x - x.max())
        right = w.sum() ** 2 / (w**2).sum()
        mistakes = {
            "this is the share: multiply by the number of chains": right / 60,
            "these are log-weights: take exp first": x.sum() ** 2 / (x**2).sum(),
            "square the sum of the weights, not each weight twice": 1.0,
        }
        same(answer(x), right, mistakes)
        same(answer(x + 3000), right)
        same(answer(np.array([0.0, -1500.0, 0.0])), 2.0, what="the ESS of 0, -1500, 0")


def std_error(answer, own: Own):
    x = own.rng("error").normal(scale=0.8, size=80)
    w = np.exp(x - logmeanexp(x))
    right = w.std() / np.sqrt(80)
    mistakes = {
        "this is the spread of the log-weights: the estimate is the log of the mean weight":
            x.std() / np.sqrt(80),
        "these are log-weights: the estimate is the log of the mean weight, not their mean":
            x.std(ddof=1) / np.sqrt(80),
        "divide by the square root of the number of chains": w.std(),
    }  # fmt: skip
    found = float(numbers(answer(x), ()))
    if abs(found - w.std(ddof=1) / np.sqrt(80)) < 1e-9:
        return  # n - 1 or n: both are in use
    same(found, right, mistakes)
    same(answer(x - 900), right, rtol=1e-6)


def reverse_ais(answer, own: Own):
    m, b0, n = own.model, own.base, 20_000
    begin = sample(m, n, own.rng("begin")).states
    kept = begin.copy()
    r = numbers(answer(m, b0, FEW, begin, own.rng("reverse")), (n,), "R")
    require(np.array_equal(begin, kept), "the states that were given were overwritten: copy them")
    hint = (
        "the mean of exp(-R) is not 1/Z: collect at the state that you have, then move at the "
        "lower β"
    )
    mean_is(np.exp(own.log_z - r), 1.0, hint)
    require(r.mean() > own.log_z, "the mean of R must be above log Z: look at the signs")
    require(r.std() > 1e-6, "all R are equal")
    same(answer(m, b0, np.array([0.0, 1.0]), begin[:9], own.rng("one")),
         own.path.log_z_base + m.log_density(begin[:9]) - own.path.at(0.0).log_density(begin[:9]),
         what="R of a single step")  # fmt: skip
    theirs = library_reverse(
        own.path, FEW, n_chains=n, rng=own.rng("library"), start=begin
    ).log_weights
    error = np.sqrt((r.var() + theirs.var()) / n)
    hint = (
        "R differs from that of rbmlib: is every β of the schedule used, and are the states moved "
        "at each, by one sweep?"
    )
    require(abs(r.mean() - theirs.mean()) < 5 * error, hint)
    require(abs(np.log(r.var() / theirs.var())) < 0.15, hint)


def bracket(answer, own: Own):
    rng = own.rng("bracket")
    low, high = rng.normal(10, 2, 50), rng.normal(13, 3, 70)
    off = 2 * low.std(ddof=1) / np.sqrt(low.size), 2 * high.std(ddof=1) / np.sqrt(high.size)
    right = np.array([low.mean() - off[0], high.mean() + off[1]])
    mistakes = {
        "the bracket is made of means of logarithms, not of logarithms of means":
            [logmeanexp(low), -logmeanexp(-high)],
        "the reverse side is R, not -R": [low.mean(), -high.mean()],
        "the lower end comes first": right[::-1],
        "the means alone leave out their errors": [low.mean(), high.mean()],
        "of two standard errors, not of one": [low.mean() - off[0] / 2, high.mean() + off[1] / 2],
        "the errors are those of the means: divide by the root of the number of chains":
            [low.mean() - 2 * low.std(ddof=1), high.mean() + 2 * high.std(ddof=1)],
        "the ends are made of means, not the smallest and the largest chain":
            [low.min(), high.max()],
    }  # fmt: skip
    same(answer(low, high), right, mistakes, rtol=3e-3)  # by either divisor of a variance


def z_score(answer, own: Own):
    rng = own.rng("z")
    one, other = rng.normal(size=2)
    errors = rng.uniform(0.1, 0.5, size=2)
    right = (one - other) / np.hypot(*errors)
    mistakes = {
        "variances add up, not standard errors": (one - other) / errors.sum(),
        "both values have an error": (one - other) / errors[0],
        "this is the difference: divide it by its error": one - other,
        "take the square root of the sum of squares": (one - other) / (errors**2).sum(),
    }
    found = float(numbers(answer(one, errors[0], other, errors[1]), ()))
    same(abs(found), abs(right), {hint: abs(x) for hint, x in mistakes.items()})
    same(answer(2.0, 0.5, 2.0, 0.5), 0.0)
