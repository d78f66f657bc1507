"""The library built step by step: AIS, RTS, MBAR and SAMS, in the order of the notebook.

Lessons ask for some of its functions, too.
"""

import tracemalloc
from functools import partial
from itertools import pairwise
from time import perf_counter

import numpy as np
from scipy.optimize import root
from scipy.special import expit, logsumexp, softmax

from rbmlib import ais as library_ais
from rbmlib import reverse_ais as library_reverse
from rbmlib.estimators.exact import exact
from rbmlib.estimators.sample import sample
from rbmlib.models import BernoulliRBM, testsystems
from rbmlib.numerics import logmeanexp, softplus
from rbmlib.paths import GeometricPath

from .checker import NotYet, function, numbers, require, task
from .own import Own, states

N_CHAINS = 4000
FEW = np.linspace(0, 1, 7)
LADDER = np.linspace(0, 1, 6)
step = partial(function, "step", 1)


def hills(tilt: float):
    """A model of 100 units whose second mode holds exp(tilt) times as much, and its log Z."""
    return testsystems.two_mode_rbm(100, strength=4.0, tilt=tilt)


# numbers and the model


@step()
def sigmoid(own: Own):
    x = own.rng("sigmoid").normal(scale=3, size=(3, 4))
    yield (x,), expit(x), {"this is 1/(1 + exp(x)): check the sign": expit(-x)}

    def overflows(answer):
        with np.errstate(over="raise"):
            try:
                answer(np.array([-1000.0, 1000.0]))
            except FloatingPointError:
                raise NotYet("it overflows at -1000: np.logaddexp(0, -x) does not") from None

    yield overflows
    yield (np.array([-1000.0, 1000.0]),), [0.0, 1.0]


@step()
def log_mean_exp(own: Own):
    x = own.rng("weights").normal(scale=2, size=50)
    yield (x,), logmeanexp(x), {
        "this is the logarithm of the sum: divide by the number of values": logsumexp(x),
        "this is the mean of the logarithms, which is a bound and no estimate": x.mean(),
    }  # fmt: skip
    for far in (2000, -2000):
        yield (x + far,), logmeanexp(x) + far
    yield (np.array([0.0, -1500.0]),), -np.log(2), {}, "the result for 0 and -1500"


@step()
def score(own: Own):
    """Given the picture, each hidden unit adds 1 if it is off and exp(field) if it is on."""
    m, v = own.model, own.some_states(20)
    field = v @ m.weights + m.hidden_bias
    right, of_v = m.log_density(v), v @ m.visible_bias
    yield (v, m.weights, m.visible_bias, m.hidden_bias), right, {
        "each hidden unit adds log(1 + exp(field)), not its field": of_v + field.sum(axis=1),
        "the visible biases are missing": right - of_v,
        "the hidden biases are missing": of_v + softplus(v @ m.weights).sum(axis=1),
    }  # fmt: skip
    big = 300 * m.weights, m.visible_bias, m.hidden_bias
    yield (v, *big), BernoulliRBM(*big).log_density(v), {}, "the score where weights are huge"


@step()
def log_z(own: Own):
    """Given the hidden units the visible ones are independent: one factor each, and few terms."""
    m = own.model
    unbiased = exact(BernoulliRBM(m.weights, m.visible_bias, 0 * m.hidden_bias)).log_z
    yield (m.weights, m.visible_bias, m.hidden_bias), own.log_z, {
        "this is the mean over the states, not the sum": own.log_z - m.n_hidden * np.log(2),
        "the hidden biases are missing, or the state with all hidden units off": unbiased,
    }  # fmt: skip
    yield partial(_over_hidden_units, own)
    wide = testsystems.random_rbm(200, 4, coupling=3.0, rng=own.rng("wide"))
    wide = wide.weights, 30 + wide.visible_bias, wide.hidden_bias
    yield wide, exact(BernoulliRBM(*wide)).log_z, {}, "log Z of a model with 200 visible units"


def _over_hidden_units(own: Own, answer):
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
        "the value is right, but your function adds up over the states of the visible units, which "
        "would never end with 200 of them: add up over those of the hidden units",
    )


# annealed importance sampling


@step()
def path_score(own: Own):
    """Only parameters move with beta, so the model at each beta is an RBM again."""
    m, b0, v = own.model, own.base, own.some_states(15)
    field = v @ m.weights + m.hidden_bias
    of_b, of_v, of_h = v @ b0, v @ m.visible_bias, softplus(0.3 * field).sum(axis=1)
    right = 0.7 * of_b + 0.3 * of_v + of_h
    yield (m, b0, v, 0.3), right, {
        "β stands inside: log(1 + exp(β field)), not β log(1 + exp(field))":
            right - of_h + 0.3 * softplus(field).sum(axis=1),
        "the biases of the base must fade out with 1 - β": right + 0.3 * of_b,
        "multiply the hidden biases by β, too":
            right - of_h + softplus(0.3 * (v @ m.weights) + m.hidden_bias).sum(axis=1),
        "the base is missing": right - 0.7 * of_b,
    }  # fmt: skip
    for beta in (0.0, 1.0):
        right = own.path.at(beta).log_density(v)
        yield (m, b0, v, beta), right, {}, f"the score at β = {beta}"


@step()
def log_z_base(own: Own):
    m, b0 = own.model, own.base
    visible, coins = softplus(b0).sum(), m.n_hidden * np.log(2)
    yield (m, b0), visible + coins, {
        "each hidden unit of the base is a fair coin and adds log 2": visible,
        "the base has biases of its own, b0": softplus(m.visible_bias).sum() + coins,
    }  # fmt: skip


def _coins(p, rng):
    return (rng.random(p.shape) < p).astype(float)


def _base(m, b0, n, rng):
    return _coins(np.tile(expit(b0), (n, 1)), rng)


@step()
def sample_base(own: Own):
    yield (own.model, own.base, N_CHAINS), _base, {
        "units are not independent: draw one random number for each":
            lambda m, b0, n, rng: (rng.random((n, 1)) < expit(b0)).astype(float),
    }, "each visible unit must be on with probability sigmoid(b0), independently"  # fmt: skip


def _hidden(m, v, beta):
    return expit(beta * (v @ m.weights + m.hidden_bias))


def _visible(m, b0, h, beta):
    return expit((1 - beta) * b0 + beta * (h @ m.weights.T + m.visible_bias))


@step()
def hidden_mean(own: Own):
    m, v = own.model, own.some_states(12)
    field = v @ m.weights + m.hidden_bias
    yield (m, v, 0.4), _hidden(m, v, 0.4), {
        "β multiplies the hidden biases, too": expit(0.4 * (v @ m.weights) + m.hidden_bias),
        "β stands inside the sigmoid": 0.4 * expit(field),
        "β is not used": expit(field),
    }  # fmt: skip
    column = np.linspace(0, 1, 12)[:, None]
    yield (m, v, column), _hidden(m, v, column), {}, "with one β for each row, your answer"


@step()
def visible_mean(own: Own):
    m, b0, h = own.model, own.base, own.some_states(12, units=own.model.n_hidden)
    field = h @ m.weights.T + m.visible_bias
    yield (m, b0, h, 0.4), _visible(m, b0, h, 0.4), {
        "the base is missing: (1 - β) b0": expit(0.4 * field),
        "b0 must fade out with 1 - β": expit(b0 + 0.4 * field),
        "β is not used": expit(field),
    }  # fmt: skip
    column = np.linspace(0, 1, 12)[:, None]
    yield (m, b0, h, column), _visible(m, b0, h, column), {}, "with one β for each row, your answer"


def _sweep(m, b0, v, beta, rng):
    h = _coins(_hidden(m, v, beta), rng)
    return _coins(_visible(m, b0, h, beta), rng), h


@step()
def sweep(own: Own):
    m, n = own.model, N_CHAINS
    v = np.tile(states(m.n_visible)[37], (n, 1))
    what = "v or h is on with the wrong probability: draw h given v, then v given this h"
    yield (m, own.base, v, 0.6), _sweep, {
        "v must be drawn from the h that is returned":
            lambda *args: (_sweep(*args)[0], _sweep(*args)[1]),
        "v must be drawn, too": lambda *args: (v, _sweep(*args)[1]),
    }, what  # fmt: skip
    betas = np.repeat([[0.0], [1.0]], n // 2, axis=0)
    yield (m, own.base, v, betas), _sweep, {}, f"with one β for each chain, {what}"


@step()
def increment(own: Own):
    m, b0, v, low, high = own.model, own.base, own.some_states(15), 0.2, 0.5
    old, new = (own.path.at(beta).log_density(v) for beta in (low, high))
    yield (m, b0, v, low, high), new - old


def _centred(own: Own, log_w):
    """Log-weights or R less log Z, and their exponentials, bounded so that means are sure."""
    x = np.asarray(log_w)[:, None] - own.log_z
    return np.concatenate([x, np.exp(np.clip(x, -9, 1)), np.exp(np.clip(-x, -9, 1))], axis=1)


def _weights(m, b0, betas, n, rng):
    return library_ais(GeometricPath(m, base=b0), betas, n_chains=n, rng=rng).log_weights


def _ais(m, b0, betas, n, rng, *, start=None, late=False, sweeps=1, at=lambda old, new: new):
    """AIS with known mistakes: chains that start from other biases, or move at another time."""
    path = GeometricPath(m, base=b0)
    v, log_w = _base(m, b0 if start is None else start, n, rng), np.full(n, path.log_z_base)
    for old, new in pairwise(betas):
        before = v
        for _ in range(sweeps):
            v, _ = _sweep(m, b0, v, at(old, new), rng)
        weighed = v if late else before
        log_w += path.at(new).log_density(weighed) - path.at(old).log_density(weighed)
    return log_w


@step()
def ais(own: Own):
    """The weight is taken before the move, so that each ratio is of the state that earned it."""
    m = own.model
    far = m.visible_bias + np.resize([2.0, -2.0], m.n_visible)  # so that its start is seen
    base, log_2 = GeometricPath(m, base=far).log_z_base, m.n_hidden * np.log(2)
    not_z = "the mean weight is not Z"
    begin = "the chains must begin in the base: a unit is on with probability sigmoid(b0)"
    yield (m, far, FEW, 10_000), _weights, {
        "log Z of the base is missing at the start": lambda *a: _weights(*a) - base,
        "log Z of the base lacks log 2 for each hidden unit": lambda *a: _weights(*a) - log_2,
        "these are the weights: return their logarithms": lambda *a: np.exp(_weights(*a)),
        "add the new score minus the old score": lambda *a: 2 * base - _weights(*a),
        f"{not_z}: weigh first, then move at the new β": partial(_ais, late=True),
        f"{not_z}: move at the new β, not at the old one": partial(_ais, at=lambda old, new: old),
        f"{not_z}: move at the new β, not at β = 1": partial(_ais, at=lambda old, new: 1.0),
        "the chains do not move: one sweep follows each weight": partial(_ais, sweeps=0),
        "take one sweep at each β, not two": partial(_ais, sweeps=2),
        begin: partial(_ais, start=0 * far),
        f"{begin}, not sigmoid(-b0)": partial(_ais, start=-far),
    }, (
        "the log-weights are not distributed like those of rbmlib: is every β of the "
        "schedule used, each with one sweep that draws h and then v, are the weights made of the "
        "score of v alone, and does each chain keep its own?"
    ), partial(_centred, own)  # fmt: skip
    free = BernoulliRBM(0 * m.weights, own.base, 0 * m.hidden_bias)
    flat = "where base and model are the same, each log w must be log Z of the base"
    yield (free, own.base, FEW, 5), _weights, {}, flat


@step()
def ess(own: Own):
    x = own.rng("ess").normal(size=60)
    right = np.exp(x).sum() ** 2 / np.exp(2 * x).sum()
    yield (x,), right, {
        "this is the share: multiply by the number of chains": right / 60,
        "these are log-weights: take exp first": x.sum() ** 2 / (x**2).sum(),
    }  # fmt: skip
    yield (x + 3000,), right
    yield (np.array([0.0, -1500.0, 0.0]),), 2.0, {}, "the ESS of 0, -1500, 0"


@step()
def std_error(own: Own):
    x = own.rng("error").normal(scale=0.8, size=80)
    w = np.exp(x - logmeanexp(x))
    right = w.std(ddof=1) / np.sqrt(80)
    yield (x,), right, {
        "use the weights, not the log-weights": x.std(ddof=1) / np.sqrt(80),
        "divide by the square root of the number of chains": w.std(ddof=1),
        "use ddof=1 in the standard deviation": w.std() / np.sqrt(80),
    }  # fmt: skip
    yield (x - 900,), right


@step()
def reverse_ais(own: Own):
    m, path = own.model, own.path

    def reverse(m, b0, betas, v, rng):
        path = GeometricPath(m, base=b0)
        return library_reverse(path, betas, n_chains=len(v), rng=rng, start=v).log_weights

    def turned(m, b0, betas, v, rng):
        """Moves first, at the lower beta."""
        total = np.full(len(v), path.log_z_base)
        for high, low in pairwise(betas[::-1]):
            v, _ = _sweep(m, b0, v, low, rng)
            total += path.at(high).log_density(v) - path.at(low).log_density(v)
        return total

    begin = sample(m, 20_000, own.rng("begin")).states
    yield (m, own.base, FEW, begin), reverse, {
        "collect with the state that you have, then move it at the lower β": turned,
        "the mean of R must be above log Z: check the signs":
            lambda *a: 2 * path.log_z_base - reverse(*a),
        "log Z of the base is missing": lambda *a: reverse(*a) - path.log_z_base,
    }, (
        "R is not distributed like that of rbmlib: is every β of the schedule used, and are "
        "the states moved at each, by one sweep?"
    ), partial(_centred, own)  # fmt: skip


@step()
def bracket(own: Own):
    rng = own.rng("bracket")
    x, r = rng.normal(10, 2, 50), rng.normal(13, 3, 70)
    means, sd = np.array([x.mean(), r.mean()]), np.array([-x.std(ddof=1), r.std(ddof=1)])
    error = sd / np.sqrt([50, 70])
    right = means + 2 * error
    yield (x, r), right, {
        "take means of logarithms, not logarithms of means": [logmeanexp(x), -logmeanexp(-r)],
        "the upper end is the mean of R, not of -R": [x.mean(), -r.mean()],
        "the lower end comes first": right[::-1],
        "the means alone leave out their errors": means,
        "take two standard errors, not one": means + error,
        "take errors of the means: divide by the root of the number of chains": means + 2 * sd,
        "use ddof=1 in the standard deviations":
            means + 2 * np.array([-x.std(), r.std()]) / np.sqrt([50, 70]),
    }  # fmt: skip


@step()
def z_score(own: Own):
    one, error, other, its_error = own.rng("z").uniform(0.1, 0.5, size=4)
    off = one - other
    right = off / np.hypot(error, its_error)
    yield (one, error, other, its_error), right, {
        "variances add up, not standard errors": off / (error + its_error),
        "this is the difference: divide it by its error": off,
    }  # fmt: skip


# tempered chains and RTS


def _slope(m, b0, v, h):
    return v @ (m.visible_bias - b0) + h @ m.hidden_bias + ((v @ m.weights) * h).sum(axis=1)


def distribution(delta, betas, guess):
    """q(k | x) of slopes, in the last axis."""
    return softmax(np.multiply.outer(delta, betas) - guess, axis=-1)


@step()
def slope(own: Own):
    m, b0, v = own.model, own.base, own.some_states(15)
    h = own.rng("slope").integers(0, 2, (15, m.n_hidden)).astype(float)
    right, pairs = _slope(m, b0, v, h), ((v @ m.weights) * h).sum(axis=1)
    yield (m, b0, v, h), right, {
        "subtract the biases of the base, which count already at β = 0": right + v @ b0,
        "the hidden biases are missing": right - h @ m.hidden_bias,
        "the weights are missing": right - pairs,
    }  # fmt: skip


@step()
def beta_probabilities(own: Own):
    """What is common to all exponents cancels, so the largest may be subtracted first."""
    rng = own.rng("law")
    delta, betas = rng.normal(scale=3, size=7), np.sort(rng.random(5))
    guess = rng.normal(size=5)
    logits = np.multiply.outer(delta, betas) - guess
    right, raw = distribution(delta, betas, guess), np.exp(logits)
    yield (delta, betas, guess), right, {
        "divide by the guessed Z: subtract its logarithm": distribution(delta, betas, -guess),
        "the guesses are not used": distribution(delta, betas, 0.0),
        "each row must add up to 1": raw,
        "each row must add up to 1, not each column": raw / raw.sum(axis=0),
    }  # fmt: skip
    far = np.array([-1e5, 1e5])
    what = "q(k | x) with slopes of 100,000 (subtract the largest exponent of each row before exp)"
    yield (far, betas, guess), distribution(far, betas, guess), {}, what


def _draw(q, rng):
    return (q.cumsum(axis=1) < rng.random((len(q), 1))).sum(axis=1).clip(max=q.shape[1] - 1)


@step()
def draw(own: Own):
    q = np.repeat(own.rng("q").dirichlet(np.ones(5), size=3), 4000, axis=0)
    kind = np.repeat(np.eye(3), 4000, axis=0)
    yield (q,), _draw, {
        "draw an index, do not take the most likely one": lambda q, rng: q.argmax(axis=1),
    }, "indices do not have the probabilities q: draw one random number for each row", (
        lambda k: np.column_stack([kind, np.equal.outer(k, np.arange(5))])
    )  # fmt: skip


def _temper(m, b0, betas, guess, n_chains, n_sweeps, rng, *, beta_of=None, stale=False):
    v, k = _base(m, b0, n_chains, rng), rng.integers(len(betas), size=n_chains)
    indices, slopes = [], []
    for _ in range(n_sweeps):
        before = distribution(_slope(m, b0, v, _coins(_hidden(m, v, 1.0), rng)), betas, guess)
        v, h = _sweep(m, b0, v, betas[k][:, None] if beta_of is None else beta_of, rng)
        delta = _slope(m, b0, v, h)
        k = _draw(before if stale else distribution(delta, betas, guess), rng)
        indices.append(k)
        slopes.append(delta)
    return np.array(indices), np.array(slopes)


@step()
def temper(own: Own):
    m, b0, n_chains, n_sweeps = own.model, own.base, 300, 150
    guess = own.log_z_at(LADDER) + np.linspace(0, 2.0, LADDER.size)

    def rows(k, delta):
        k, delta = np.asarray(k), np.asarray(delta)
        require(np.isin(k, range(LADDER.size)).all(), "indices are the whole numbers 0 to 5")
        require(np.all(np.ptp(k, axis=0) > 0), "each chain must change its temperature")
        at, late = np.eye(LADDER.size)[k.astype(int)][30:], delta[30:, :, None]
        drawn = at - distribution(delta[30:], LADDER, guess)
        return np.concatenate([x.mean(axis=0) for x in (at, drawn, at * late, late)], axis=1)

    yield (m, b0, LADDER, guess, n_chains, n_sweeps), _temper, {
        "sweep each chain at its own β": partial(_temper, beta_of=1.0),
        "k must be drawn from q(k | x) of the slope beside it": partial(_temper, stale=True),
        "the guesses are not used": lambda m, b0, betas, guess, *more:
            _temper(m, b0, betas, 0 * guess, *more),
    }, (
        "the chains are not at each β as often as Z / (guess of Z) says, or their slopes differ "
        "from those of rbmlib: move x first, then draw k given the new slope"
    ), rows  # fmt: skip


@step()
def counted(own: Own):
    k = own.rng("k").choice(5, size=(40, 6), p=(0.4, 0.3, 0.15, 0.1, 0.05))
    right = np.array([np.bincount(column, minlength=5) for column in k.T]) / 40
    yield (k, 5), right
    yield (np.zeros((3, 2), dtype=int), 4), [[1, 0, 0, 0]] * 2


@step()
def averaged(own: Own):
    rng = own.rng("average")
    delta, betas, guess = rng.normal(size=(30, 6)), np.linspace(0, 1, 5), rng.normal(size=5)
    right = distribution(delta, betas, guess).mean(axis=0)
    yield (delta, betas, guess), right, {
        "the guesses are not used": distribution(delta, betas, 0 * guess).mean(axis=0),
        "average over sweeps, with one row for each chain": right.mean(axis=0),
        "average the probabilities, not the slopes": distribution(delta.mean(axis=0), betas, guess),
    }  # fmt: skip


@step()
def corrected(own: Own):
    """A guess that was too low is visited too often; the logarithm of the share corrects it."""
    rng = own.rng("corrected")
    guess, shares = rng.normal(size=5), rng.dirichlet(3 * np.ones(5), size=8)
    log_c, logs = np.log(shares.mean(axis=0)), np.log(shares).mean(axis=0)
    right = guess + log_c - log_c[0]
    yield (guess, shares), right, {
        "a guess that is visited too often is too small: add log c": guess - log_c + log_c[0],
        "average the shares over chains first, then take the logarithm": guess + logs - logs[0],
        "average the shares over chains first, then divide by that of β = 0":
            guess + np.log((shares / shares[:, :1]).mean(axis=0)),
        "this is the correction alone: add it to the guesses": right - guess,
    }  # fmt: skip


@step()
def rts_error(own: Own):
    shares = own.rng("error").dirichlet(4 * np.ones(5), size=50)
    last, first = shares[:, -1] / shares[:, -1].mean(), shares[:, 0] / shares[:, 0].mean()
    sd, n = partial(np.std, ddof=1), np.sqrt(50)
    yield (shares,), sd(last - first) / n, {
        "the end at β = 0 has an error, too": sd(last) / n,
        "take the difference of both ends first, then its spread":
            np.hypot(sd(last), sd(first)) / n,
        "divide by the root of the number of chains": sd(last - first),
        "use ddof=1 in the standard deviation": np.std(last - first) / n,
    }  # fmt: skip


@step()
def round_trips(own: Own):
    for trips, *walks in (
        (0, (0, 1, 0, 1, 0), (1, 1, 1), (2, 1, 0)),
        (1, (0, 1, 2, 1, 0), (2, 0, 2, 0), (0, 2, 2, 0, 0, 2)),
        (2, (0, 2, 1, 2, 0, 1, 2, 0)),
    ):
        for walk in walks:
            yield (np.array(walk)[:, None], 2), [trips], {}, f"the count for a chain at {walk}"
    yield (np.array([[0, 2], [2, 0], [0, 2]]), 2), [1, 0], {}, "the count for two chains"


# MBAR and SAMS


@step()
def log_terms(own: Own):
    betas = np.linspace(0, 1, 4)
    delta = own.rng("terms").normal(scale=4, size=betas.size)  # so that a transpose has its shape
    yield (delta, betas), np.multiply.outer(delta, betas)


def _mbar_case(own: Own, n: int):
    """Slopes of exact samples, n at each beta, as the terms of MBAR."""
    m, rng, found = own.model, own.rng("mbar"), []
    for at in map(own.path.at, LADDER):
        v = sample(at, n, rng).states
        found.append(_slope(m, own.base, v, at.sample_hidden(v, rng)))
    return np.multiply.outer(np.concatenate(found), LADDER), np.full(LADDER.size, n)


@step()
def mixture(own: Own):
    u, counts = _mbar_case(own, 20)
    counts = counts + np.arange(counts.size)
    guess, logs = own.rng("guess").normal(size=LADDER.size), np.log(counts)
    right = logsumexp(u - guess + logs, axis=1)
    yield (u, counts, guess), right, {
        "multiply each model by its number of states": logsumexp(u - guess, axis=1),
        "each p* is divided by its guess: subtract it": logsumexp(u + guess + logs, axis=1),
        "the guesses are missing": logsumexp(u + logs, axis=1),
        "sum over the models, for each state": logsumexp(u - guess + logs, axis=0),
    }  # fmt: skip
    yield (u + 2000, counts, guess), right + 2000, {}, "the logarithm where terms are huge"


@step()
def mbar_step(own: Own):
    u, counts = _mbar_case(own, 20)
    counts = counts + np.arange(counts.size)
    guess = own.rng("guess").normal(size=LADDER.size)
    bottom = logsumexp(u - guess + np.log(counts), axis=1)
    raw, turned = (logsumexp(u - bottom[:, None], axis=axis) for axis in (0, 1))
    hints = {"sum over the states, for each model": turned - turned[0]}
    yield (u, counts, guess), raw - raw[0], hints


@step(rtol=0, atol=1e-6)
def mbar(own: Own):
    u, counts = _mbar_case(own, 150)

    def left_over(log_z):
        return softmax(u - np.append(0, log_z) + np.log(counts), axis=1).sum(axis=0)[1:] - 150

    right = np.append(0, root(left_over, np.zeros(LADDER.size - 1), tol=1e-13).x)
    what = "log Z (iterate until a step changes no entry by more than 1e-10)"
    yield (u, counts), right, {"one step is not enough: repeat it": 0 * right}, what


@step()
def gains(own: Own):
    """Large steps forget the start, and steps like 1/t average the noise away."""

    def of(n, t_0, n_betas, alpha, *, begin=None, first_cap=True, late_cap=True):
        t = np.arange(1, n + 1)
        late = 1 / np.maximum(t - t_0 + (t_0**alpha if begin is None else begin), 1e-9)
        early, r = t <= t_0, 1 / n_betas
        return np.minimum(
            np.where(early, t**-alpha, late), np.where(early, r**first_cap, r**late_cap)
        )

    given = 1500, own.whole("t0", 200, 400), 20, 0.7
    right = of(*given)
    yield given, right, {
        "the cap is missing: no gain above 1 / n_betas": of(*given, first_cap=False),
        "the second stage begins at t_0 ** -alpha, without a jump": of(*given, begin=0.0),
        "there is a second stage, after t_0": of(1500, 1500, 20, 0.7),
        "sweeps are counted from 1": np.append(1 / 20, right[:-1]),
    }  # fmt: skip
    hints = {"alpha is given: it is not always 0.7": of(8, 8, 4, 0.7)}
    yield (8, 8, 4, 0.6), of(8, 8, 4, 0.6), hints, "with t_0 = n your answer"
    hints = {"the cap holds in the second stage, too": of(30, 2, 6, 0.7, late_cap=False)}
    yield (30, 2, 6, 0.7), of(30, 2, 6, 0.7), hints, "with t_0 = 2 your answer"


@step()
def update(own: Own):
    """All guesses are raised by their probabilities, and only differences of guesses matter."""
    rng = own.rng("update")
    log_z, q = rng.normal(size=(6, 5)), rng.dirichlet(np.ones(5), size=6)

    def raised(factor):
        return log_z + factor * q

    def shifted(x):
        return x - x[:, :1]

    yield (log_z, q, 0.03), shifted(raised(0.15)), {
        "divide the gain by the share 1 / n_betas": shifted(raised(0.03)),
        "the first guess must stay 0: subtract it at the end": raised(0.15),
        "add: a temperature that is visited too often needs a larger guess": shifted(raised(-0.15)),
    }, "with gain 0.03 your answer"  # fmt: skip
    yield (log_z, q, 0.9), shifted(raised(1.0)), {
        "the cap is missing: no guess rises by more than one nat": shifted(raised(4.5)),
        "cap the factor, not its product with q": shifted(log_z + np.minimum(4.5 * q, 1)),
    }, "with gain 0.9 your answer"  # fmt: skip


def _sams(m, b0, betas, gains, n_chains, rng, *, share=True, stay=False):
    v, k = _base(m, b0, n_chains, rng), np.zeros(n_chains, int)
    log_z = np.zeros((n_chains, len(betas)))
    for gain in gains:
        v, h = _sweep(m, b0, v, betas[k][:, None], rng)
        q = distribution(_slope(m, b0, v, h), betas, log_z)
        k = k if stay else _draw(q, rng)
        log_z = log_z + min(gain * len(betas) if share else gain, 1) * q
        log_z -= log_z[:, :1]
    return log_z


@step()
def sams(own: Own):
    t = np.arange(1, 1501)
    late = 1 / np.where(t > 300, t - 300 + 300**0.7, 1.0)
    schedule = np.minimum(1 / LADDER.size, np.where(t <= 300, t**-0.7, late))
    yield (own.model, own.base, LADDER, schedule, 60), _sams, {
        "divide the gain by the share 1 / n_betas": partial(_sams, share=False),
        "k must be drawn after each sweep": partial(_sams, stay=True),
    }, (
        "the mean or spread of the guesses is wrong: does each chain have its own, "
        "is the gain of each sweep used, and is the first guess kept at 0?"
    )  # fmt: skip


@step()
def groups(own: Own):
    values = own.rng("groups").normal(size=(10, 4))
    means = values.mean(axis=1)
    sd = means.std(ddof=1)
    yield (values,), [means.mean(), sd / np.sqrt(10)], {
        "chains of one group share their error: use the group means":
            [means.mean(), values.std(ddof=1) / np.sqrt(40)],
        "divide the spread by the root of the number of groups": [means.mean(), sd],
        "use ddof=1 in the standard deviation": [means.mean(), means.std() / np.sqrt(10)],
        "a row is a group": [means.mean(), values.mean(axis=0).std(ddof=1) / 2],
    }  # fmt: skip


@task("step", 1, {
    'give a dict: {"AIS": (value, error), ...}': [1.0],
    "missing: RTS, MBAR, SAMS": {"AIS": (1.0, 0.1)},
})  # fmt: skip
def library(answer, own: Own):
    """Four estimates of one model, each right within its own honest standard error."""
    names, largest = ("AIS", "RTS", "MBAR", "SAMS"), 0.25
    require(isinstance(answer, dict), 'give a dict: {"AIS": (value, error), ...}')
    missing = [name for name in names if name not in answer]
    require(not missing, f"missing: {', '.join(missing)}")
    for name in names:
        value, error = numbers(answer[name], (2,), name)
        require(0 < error < largest, f"the error of {name} is {error:.3g}: it should lie between "
                f"0 and {largest} (more chains or sweeps)")  # fmt: skip
        off = (value - own.log_z) / error
        require(abs(off) < 4.5, f"{name} is {off:+.1f} of its own standard errors off")
