"""The library built step by step: AIS, RTS, MBAR and SAMS, in the order of the notebook.

Lessons ask for some of its functions, too.
"""

from __future__ import annotations

import tracemalloc
from time import perf_counter

import numpy as np
from scipy.special import expit as right_sigmoid
from scipy.special import logsumexp

from rbmlib import ais as library_ais
from rbmlib import reverse_ais as library_reverse
from rbmlib.estimators.exact import exact
from rbmlib.estimators.sample import sample
from rbmlib.models import BernoulliRBM, testsystems
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
    task,
)  # fmt: skip
from .own import Own, states

N_CHAINS = 4000
FEW = np.linspace(0, 1, 7)
LADDER = np.linspace(0, 1, 6)


# numbers and the model


def sigmoid(answer, own: Own):
    x = own.rng("sigmoid").normal(scale=3, size=(3, 4))
    same(answer(x), right_sigmoid(x), {"this is 1/(1 + exp(x)): the sign": right_sigmoid(-x)})
    with np.errstate(over="raise", invalid="raise"):
        try:
            far = answer(np.array([-1000.0, 1000.0]))
        except FloatingPointError:
            far = [np.nan, np.nan]
    require(np.all(np.isfinite(far)), "it overflows at -1000: np.logaddexp(0, -x) does not")
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


# annealed importance sampling


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
    require(np.all(spread > 0.5), "v must be drawn")
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


# tempered chains and RTS


def right_slope(m, b0, v, h):
    return v @ (m.visible_bias - b0) + h @ m.hidden_bias + ((v @ m.weights) * h).sum(axis=1)


def right_law(delta, betas, guess, prior=0.0):
    logits = np.multiply.outer(delta, betas) - guess + prior
    return np.exp(logits - logsumexp(logits, axis=-1, keepdims=True))


def joint_sample(own: Own, n: int, purpose: str):
    """Slopes of exact samples, n at each beta of the ladder: shape (n, n_betas)."""
    m, rng, found = own.model, own.rng(purpose), []
    for beta in LADDER:
        at = own.path.at(beta)
        v = sample(at, n, rng).states
        found.append(right_slope(m, own.base, v, at.sample_hidden(v, rng)))
    return np.stack(found, axis=1)


def slope(answer, own: Own):
    m, b0, rng = own.model, own.base, own.rng("slope")
    v = own.some_states(15)
    h = rng.integers(0, 2, (15, m.n_hidden)).astype(float)
    pairs = ((v @ m.weights) * h).sum(axis=1)
    mistakes = {
        "take the biases of the base away: at β = 0 they are paid already":
            v @ m.visible_bias + h @ m.hidden_bias + pairs,
        "the hidden biases are missing": v @ (m.visible_bias - b0) + pairs,
        "the weights are missing": v @ (m.visible_bias - b0) + h @ m.hidden_bias,
        "the sign of the base": v @ (m.visible_bias + b0) + h @ m.hidden_bias + pairs,
        "the sign": -right_slope(m, b0, v, h),
    }  # fmt: skip
    same(answer(m, b0, v, h), right_slope(m, b0, v, h), mistakes)


def beta_probabilities(answer, own: Own):
    """What is common to all exponents cancels, so that the largest may be taken out."""
    rng = own.rng("law")
    delta, betas = rng.normal(scale=3, size=7), np.sort(rng.random(5))
    guess = rng.normal(size=5)
    logits = np.multiply.outer(delta, betas) - guess
    right = right_law(delta, betas, guess)
    mistakes = {
        "divide by the guessed Z: its logarithm is taken away, not added":
            right_law(delta, betas, -guess),
        "the guesses are not used": right_law(delta, betas, 0.0),
        "each row must add up to 1": np.exp(logits),
        "the largest exponent is out, now each row must add up to 1":
            np.exp(logits - logits.max(axis=1, keepdims=True)),
        "divide each row by its own sum, not by the sum of all":
            np.exp(logits) / np.exp(logits).sum(),
        "each row must add up to 1, not each column": np.exp(logits) / np.exp(logits).sum(axis=0),
        "these are the logarithms": np.log(right),
    }  # fmt: skip
    same(answer(delta, betas, guess), right, mistakes)
    far = np.array([-1e5, 1e5])
    hint = (
        "q(k | x) where the slope is 100,000 or -100,000: take the largest exponent of each row "
        "out before exp"
    )
    require(np.all(np.isfinite(answer(far, betas, guess))), hint)
    same(answer(far, betas, guess), right_law(far, betas, guess),
         what="where the slope is 100,000 or -100,000 your answer")  # fmt: skip


def draw(answer, own: Own):
    q = own.rng("q").dirichlet(np.ones(5), size=3)
    rows = np.repeat(q, 4000, axis=0)
    k = numbers(answer(rows, own.rng("draw")), (12_000,), "the indices")
    require(np.isin(k, range(5)).all(), "indices are the whole numbers 0 to 4")
    for i in range(3):
        mine = k[4000 * i : 4000 * (i + 1)]
        require(np.ptp(mine) > 0, "an index must be drawn, not the most likely one taken")
        for j in range(5):
            mean_is(mine == j, q[i, j], "indices do not come out with the probabilities q")
    drawn(answer, own, "draw", rows)
    joint = np.corrcoef(k[:4000] == 0, k[4000:8000] == 0)[0, 1]
    require(abs(joint) < 0.08, "chains must be drawn independently: one random number for each")


def temper(answer, own: Own):
    m, b0 = own.model, own.base
    guess = own.log_z_at(LADDER) + np.linspace(0, 2.0, LADDER.size)
    n_chains, n_sweeps = 300, 150
    pair = answer(m, b0, LADDER, guess, n_chains, n_sweeps, own.rng("temper"))
    require(isinstance(pair, tuple) and len(pair) == 2, "return the pair k, delta")
    k = numbers(pair[0], (n_sweeps, n_chains), "k").astype(int)
    delta = numbers(pair[1], (n_sweeps, n_chains), "delta")
    require(np.isin(k, range(LADDER.size)).all(), "indices are the whole numbers 0 to 5")
    require(np.all(np.ptp(k, axis=0) > 0), "each chain must change its temperature")
    law = np.exp(-np.linspace(0, 2.0, LADDER.size))
    law /= law.sum()
    late, hint = k[30:], "the chains are not at each β as often as Z / (guess of Z) says"
    for j in range(LADDER.size):
        mean_is((late == j).mean(axis=0), law[j], hint)
    q = right_law(delta, LADDER, guess)
    drawn = np.eye(LADDER.size)[k]
    for j in range(LADDER.size):
        mean_is((drawn[..., j] - q[..., j]).mean(axis=0), 0.0, "k must be drawn from q(k | x) of "
                "the slope beside it: move x first, then draw k")  # fmt: skip
    rows = states(m.n_visible)
    for j in (0, LADDER.size - 1):
        at = own.path.at(LADDER[j])
        p = np.exp(at.log_density(rows) - own.log_z_at(LADDER[j])[0])
        truth = float(p @ _mean_slope(m, b0, rows, LADDER[j]))
        weights = (late == j).astype(float)
        values = ((delta[30:] - truth) * weights).mean(axis=0)
        mean_is(values, 0.0, "the states at an end of the ladder are no samples of its model: "
                "sweep each chain at its own β")  # fmt: skip


def _mean_slope(m, b0, v, beta):
    field = v @ m.weights + m.hidden_bias
    return v @ (m.visible_bias - b0) + (field * right_sigmoid(beta * field)).sum(axis=1)


def counted(answer, own: Own):
    k = own.rng("k").choice(5, size=(40, 6), p=(0.4, 0.3, 0.15, 0.1, 0.05))
    right = np.array([np.bincount(column, minlength=5) for column in k.T]) / 40
    mistakes = {
        "these are counts: divide by the number of sweeps": 40 * right,
        "divide by the sweeps of one chain": right / 6,
    }
    same(answer(k, 5), right, mistakes)
    same(answer(np.zeros((3, 2), dtype=int), 4), [[1, 0, 0, 0]] * 2)


def averaged(answer, own: Own):
    rng = own.rng("average")
    delta, betas, guess = rng.normal(size=(30, 6)), np.linspace(0, 1, 5), rng.normal(size=5)
    right = right_law(delta, betas, guess).mean(axis=0)
    mistakes = {
        "the guesses are not used": right_law(delta, betas, 0 * guess).mean(axis=0),
        "average over sweeps, one row for each chain": right.mean(axis=0),
        "this is the sum over sweeps: divide by their number": 30 * right,
        "average the probabilities, not the slopes":
            right_law(delta.mean(axis=0), betas, guess),
        "the sign of the guesses": right_law(delta, betas, -guess).mean(axis=0),
    }  # fmt: skip
    same(answer(delta, betas, guess), right, mistakes)


def corrected(answer, own: Own):
    """Where a chain comes too often, the guess was too low, by the logarithm of how often."""
    rng = own.rng("corrected")
    guess, shares = rng.normal(size=5), rng.dirichlet(3 * np.ones(5), size=8)
    c = shares.mean(axis=0)
    right = guess + np.log(c) - np.log(c[0])
    mistakes = {
        "where chains come too often the guess is too small: add log c, do not take it away":
            guess - np.log(c) + np.log(c[0]),
        "the guess at β = 0 must stay as it is: take log c[0] away": guess + np.log(c),
        "average the shares over chains first, then take the logarithm":
            guess + np.log(shares).mean(axis=0) - np.log(shares).mean(axis=0)[0],
        "average the shares over chains first, then divide by that of β = 0":
            guess + np.log((shares / shares[:, :1]).mean(axis=0)),
        "correct the guesses; this is the correction alone": np.log(c) - np.log(c[0]),
        "the guess at β = 0 is known and need not be 0: keep it": right - guess[0],
    }  # fmt: skip
    same(answer(guess, shares), right, mistakes)


def rts_error(answer, own: Own):
    shares = own.rng("error").dirichlet(4 * np.ones(5), size=50)
    c = shares.mean(axis=0)
    moved = shares[:, -1] / c[-1] - shares[:, 0] / c[0]
    right = moved.std(ddof=1) / np.sqrt(50)
    last, first = (shares[:, i] / c[i] for i in (-1, 0))
    mistakes = {
        "the end at β = 0 has an error, too": last.std(ddof=1) / np.sqrt(50),
        "the two ends belong to the same chain: take the difference first, then its spread":
            np.hypot(last.std(ddof=1), first.std(ddof=1)) / np.sqrt(50),
        "this is the spread of one chain: divide by the root of the number of chains":
            moved.std(ddof=1),
    }  # fmt: skip
    found = float(numbers(answer(shares), ()))
    if abs(found / moved.std() * np.sqrt(50) - 1) < 1e-9:
        return  # n in the place of n - 1
    near_log = np.log(shares[:, -1] / shares[:, 0]).std(ddof=1) / np.sqrt(50)
    mistakes["the logarithm is taken of the mean, not of each chain"] = near_log
    same(found, right, mistakes)


def round_trips(answer, own: Own):
    tests = {
        (0, 1, 2, 1, 0): 1, (0, 1, 0, 1, 0): 0, (2, 0, 2, 0): 1, (0, 2, 2, 0, 0, 2): 1,
        (1, 1, 1): 0, (0, 2, 1, 2, 0, 1, 2, 0): 2, (2, 1, 0): 0,
    }  # fmt: skip
    for walk, right in tests.items():
        found = answer(np.array(walk)[:, None], 2)
        require(np.shape(found) == (1,), "one number for each chain is wanted")
        require(
            int(np.asarray(found)[0]) == right,
            f"a chain at {list(walk)} made {right} trips from 0 to 2 and back to 0, not "
            f"{np.asarray(found)[0]}",
        )
    both = np.array([[0, 2], [2, 0], [0, 2]])
    same(answer(both, 2), [1, 0], what="the trips of two chains")


# MBAR and SAMS


def log_terms(answer, own: Own):
    betas = np.linspace(0, 1, 4)
    delta = own.rng("terms").normal(scale=4, size=betas.size)  # so that a transpose has its shape
    right = np.multiply.outer(delta, betas)
    mistakes = {
        "a row a state, a column a β: transpose": right.T,
        "these are to stay logarithms": np.exp(right),
        "log p*_β - log p*_0 is β times the slope; the sign": -right,
    }
    same(answer(delta, betas), right, mistakes)


def _mbar_case(own: Own, n: int = 150):
    delta = joint_sample(own, n, "mbar").T.ravel()
    return np.multiply.outer(delta, LADDER), np.full(LADDER.size, n)


def mixture(answer, own: Own):
    u, counts = _mbar_case(own, 20)
    counts = counts + np.arange(counts.size)
    guess = own.rng("guess").normal(size=LADDER.size)
    logs = np.log(counts)
    right = logsumexp(u - guess + logs, axis=1)
    mistakes = {
        "every model counts with its number of states": logsumexp(u - guess, axis=1),
        "each p* is divided by its guess: take it away": logsumexp(u + guess + logs, axis=1),
        "the guesses are missing": logsumexp(u + logs, axis=1),
        "sum over the models, for each state": logsumexp(u - guess + logs, axis=0),
    }
    same(answer(u, counts, guess), right, mistakes)
    far = answer(u + 2000, counts, guess)
    same(far, right + 2000, what="the log of the mixture where terms are huge")


def mbar_step(answer, own: Own):
    u, counts = _mbar_case(own, 20)
    counts = counts + np.arange(counts.size)
    guess = own.rng("guess").normal(size=LADDER.size)
    bottom = logsumexp(u - guess + np.log(counts), axis=1)
    raw, turned = (logsumexp(u - bottom[:, None], axis=axis) for axis in (0, 1))
    mistakes = {
        "fix the constant: the first entry is 0": raw,
        "this is Z: the logarithm is wanted": np.exp(raw - raw[0]),
        "sum over the states, for each model": turned - turned[0],
        "the sign": -(raw - raw[0]),
    }
    same(answer(u, counts, guess), raw - raw[0], mistakes)


def mbar(answer, own: Own):
    u, counts = _mbar_case(own)
    right = np.asarray(_solved(u, counts))
    found = numbers(answer(u, counts), right.shape, "log Z")
    require(abs(found[0]) < 1e-9, "the first entry is log Z at β = 0 less itself: 0")
    off = abs(found - right).max()
    require(off < 0.3, f"the result is {off:.2g} nats from the solution")
    require(
        off < 1e-6,
        f"the iteration stopped {off:.1g} nats too early: go on until a step changes nothing "
        "above 1e-10",
    )
    truth = own.log_z_at(LADDER) - own.path.log_z_base
    require(abs(found - truth).max() < 1.5, "the result is far from the exact values")


def _solved(u, counts):
    """By Newton's method, so that a student's iteration is compared with another way."""
    log_z = np.zeros(u.shape[1])
    for _ in range(200):
        log_w = u - log_z + np.log(counts)
        w = np.exp(log_w - logsumexp(log_w, axis=1, keepdims=True))
        gradient = counts - w.sum(axis=0)
        hessian = np.diag(w.sum(axis=0)) - w.T @ w
        step = np.zeros_like(log_z)
        step[1:] = np.linalg.solve(hessian[1:, 1:], -gradient[1:])
        size = max(1.0, abs(step).max())
        log_z = log_z + step / size
        if abs(step).max() < 1e-12:
            break
    return log_z


def gains(answer, own: Own):
    """Large steps forget the start, and steps like 1/t average the noise away."""
    t_0, n, n_betas, alpha = int(own.number("t0", 200, 400, 0)), 1500, 20, 0.7
    t = np.arange(1, n + 1)
    late = 1 / np.where(t > t_0, t - t_0 + t_0**alpha, 1.0)
    right = np.minimum(1 / n_betas, np.where(t <= t_0, t**-alpha, late))
    shifted = 1 / np.where(t > t_0, t - t_0 + 0.0, 1.0)
    mistakes = {
        "the cap is missing: no gain above 1 / n_betas": np.where(t <= t_0, t**-alpha, late),
        "the second stage begins at t_0 ** -alpha, without a jump": np.minimum(
            1 / n_betas, np.where(t <= t_0, t**-alpha, shifted)
        ),
        "the second stage falls like 1/(t - t_0 + t_0 ** alpha), not like 1/t": np.minimum(
            1 / n_betas, np.where(t <= t_0, t**-alpha, 1 / t)
        ),
        "there is a second stage, after t_0": np.minimum(1 / n_betas, t**-alpha),
        "sweeps are counted from 1": np.concatenate([[1 / n_betas], right[:-1]]),
    }
    same(answer(n, t_0, n_betas, alpha), right, mistakes)
    t = np.arange(1, 9)
    same(answer(8, 8, 4, 0.6), np.minimum(1 / 4, t**-0.6), {
        "alpha is given: it is not always 0.7": np.minimum(1 / 4, t**-0.7),
    }, what="with t_0 = n your answer")  # fmt: skip
    t = np.arange(1, 31)
    first, late = t**-0.7, 1 / np.maximum(t - 2 + 2**0.7, 1)
    capped = np.minimum(1 / 6, late)
    same(answer(30, 2, 6, 0.7), np.where(t <= 2, 1 / 6, capped), {
        "the cap holds in the second stage, too":
            np.where(t <= 2, np.minimum(1 / 6, first), late),
    }, what="with t_0 = 2 your answer")  # fmt: skip


def update(answer, own: Own):
    """All guesses are raised by their probabilities, and only differences of guesses matter."""
    rng = own.rng("update")
    log_z, q = rng.normal(size=(6, 5)), rng.dirichlet(np.ones(5), size=6)
    for gain in (0.03, 0.9):
        step = min(5 * gain, 1.0)
        raised = log_z + step * q
        right = raised - raised[:, :1]
        mistakes = {
            "the cap: no guess rises by more than one nat": (
                log_z + 5 * gain * q - (log_z + 5 * gain * q)[:, :1]
            ),
            "divide the gain by the share 1 / n_betas": (
                log_z + min(gain, 1) * q - (log_z + min(gain, 1) * q)[:, :1]
            ),
            "the first guess must stay 0: take it away at the end": raised,
            "a temperature that is visited too often needs a larger guess: add": (
                log_z - step * q - (log_z - step * q)[:, :1]
            ),
            "take the first guess of each row away, not that of the first row": (
                raised - raised[0, 0]
            ),
            "take the first guess of each row away, not the first row": raised - raised[0],
            "r is one over the number of temperatures, not of chains": (
                log_z + min(6 * gain, 1) * q - (log_z + min(6 * gain, 1) * q)[:, :1]
            ),
            "take the first guess away from its whole row": (
                np.concatenate([0 * raised[:, :1], raised[:, 1:]], axis=1)
            ),
            "the factor has the cap, not its product with q": (
                log_z + np.minimum(5 * gain * q, 1) - (log_z + np.minimum(5 * gain * q, 1))[:, :1]
            ),
        }
        same(answer(log_z.copy(), q, gain), right, mistakes, what=f"with gain {gain} your answer")
    kept = log_z.copy()
    answer(log_z, q, 0.1)
    require(np.array_equal(kept, log_z), "the guesses that were given were changed: copy them")


def sams(answer, own: Own):
    n_chains, t = 60, np.arange(1, 1501)
    late = 1 / np.where(t > 300, t - 300 + 300**0.7, 1.0)
    schedule = np.minimum(1 / LADDER.size, np.where(t <= 300, t**-0.7, late))
    found = numbers(
        answer(own.model, own.base, LADDER, schedule, n_chains, own.rng("sams")),
        (n_chains, LADDER.size), "the guesses",
    )  # fmt: skip
    require(np.all(abs(found[:, 0]) < 1e-9), "the guess at β = 0 is kept at 0")
    truth = own.log_z_at(LADDER) - own.path.log_z_base
    last = found[:, -1]
    require(last.std() > 1e-6, "each chain has guesses of its own here")
    require(last.std() < 1.0, f"the guesses scatter by {last.std():.2g} nats: is the gain used, "
            "and does it shrink?")  # fmt: skip
    error = last.std(ddof=1) / np.sqrt(n_chains)
    off = last.mean() - truth[-1]
    require(abs(off) < 5 * error + 0.05, f"the mean of the guesses is {off:+.2f} nats off")


def groups(answer, own: Own):
    values = own.rng("groups").normal(size=(10, 4))
    means = values.mean(axis=1)
    right = [means.mean(), means.std(ddof=1) / np.sqrt(10)]
    mistakes = {
        "chains of one group share their guesses: the spread is that of the ten group means":
            [means.mean(), values.std(ddof=1) / np.sqrt(40)],
        "divide the spread by the root of the number of groups": [means.mean(), means.std(ddof=1)],
        "there are few groups: divide by n - 1 in the variance":
            [means.mean(), means.std() / np.sqrt(10)],
        "a row is a group": [means.mean(), values.mean(axis=0).std(ddof=1) / 2],
        "divide by the root of the number of groups, not of chains":
            [means.mean(), means.std(ddof=1) / np.sqrt(40)],
    }  # fmt: skip
    same(answer(values), right, mistakes)


def library(answer, own: Own):
    """Four estimates of one model: each right within its own error, and no error a pretence."""
    require(isinstance(answer, dict), 'give a dict: {"AIS": (value, error), ...}')
    most = {"AIS": 0.25, "RTS": 0.25, "MBAR": 0.25, "SAMS": 0.25}
    missing = [name for name in most if name not in answer]
    require(not missing, f"missing: {', '.join(missing)}")
    for name, largest in most.items():
        value, error = numbers(answer[name], (2,), name)
        require(0 < error < largest, f"the error of {name} is {error:.3g}: it should lie between "
                f"0 and {largest} (more chains or sweeps)")  # fmt: skip
        off = (value - own.log_z) / error
        require(abs(off) < 4.5, f"{name} is {off:+.1f} of its own standard errors off")


STEPS = (
    sigmoid, log_mean_exp, score, log_z,
    path_score, log_z_base, sample_base, hidden_mean,
    visible_mean, sweep, increment, ais, ess,
    std_error, reverse_ais, bracket, z_score,
    slope, beta_probabilities, draw, temper, counted,
    averaged, corrected, rts_error, round_trips,
    log_terms, mixture, mbar_step, mbar, gains,
    update, sams, groups, library,
)  # fmt: skip

for _judge in STEPS:
    task("step", 1)(_judge)
