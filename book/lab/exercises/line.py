"""Tasks of building the library: AIS, RTS, MBAR and SAMS, in the order of the notebook."""

from functools import partial
from itertools import pairwise
from time import perf_counter

import numpy as np
from scipy.special import expit, logsumexp, softmax

import rbmlib as rl
from rbmlib.estimators.sams import Groups, gain_sequence
from rbmlib.models.enumeration import states
from rbmlib.numerics import logmeanexp, softplus

from .checker import Own, each_named, function, numbers, require, task

N_CHAINS = 4000
FEW = np.linspace(0, 1, 7)
BETAS = np.linspace(0, 1, 6)
COLUMN = np.linspace(0, 1, 12)[:, None]
WITH_COLUMN = "with one β for each row, your answer"
step = partial(function, "step", 1)


def hills(tilt: float):
    """A model of 100 units whose second mode has exp(tilt) times as much mass, and its log Z."""
    return rl.testsystems.two_mode_rbm(100, strength=4.0, tilt=tilt)


# numbers and the model


@step()
def sigmoid(own: Own):
    x = own.rng("sigmoid").normal(scale=3, size=(3, 4))
    yield (x,), expit(x), {"this is 1/(1 + exp(x)): check the sign": expit(-x)}

    def overflows(answer):
        with np.errstate(over="raise"):
            answer(np.array([-1000.0, 1000.0]))

    yield overflows
    yield (np.array([-1000.0, 1000.0]),), [0.0, 1.0]


@step()
def log_mean_exp(own: Own):
    x = own.rng("weights").normal(scale=2, size=50)
    yield (x,), logmeanexp(x), {
        "this is the logarithm of the sum: divide by the number of values": logsumexp(x),
        "this is the mean of the logarithms, which is a lower bound, not an estimate": x.mean(),
    }  # fmt: skip
    for far in (2000, -2000):
        yield (x + far,), logmeanexp(x) + far
    yield (np.array([0.0, -1500.0]),), -np.log(2), {}, "the result for 0 and -1500"


@step()
def score(own: Own):
    """Given the picture, each hidden unit contributes the factor 1 + exp(field)."""
    m, v = own.model, own.some_states(20)
    field = v @ m.weights + m.hidden_bias
    hints = {"each hidden unit adds log(1 + exp(field)), not its field":
             v @ m.visible_bias + field.sum(axis=1)}  # fmt: skip
    yield (v, m.weights, m.visible_bias, m.hidden_bias), m.log_density(v), hints
    big = 300 * m.weights, m.visible_bias, m.hidden_bias
    yield (v, *big), rl.BernoulliRBM(*big).log_density(v), {}, "log p* with huge weights"


@step()
def log_z(own: Own):
    """Given the hidden units, the visible units are independent, and each gives one factor."""
    m = own.model
    hints = {"this is the mean over the states, not the sum": own.log_z - m.n_hidden * np.log(2)}
    yield (m.weights, m.visible_bias, m.hidden_bias), own.log_z, hints
    tall = rl.testsystems.random_rbm(20, 3, coupling=1.0, rng=own.rng("tall"))

    def over_hidden_units(answer):
        """A sum over 2²⁰ states takes a second; for 200 visible units, it would never end."""
        begun = perf_counter()
        answer(tall.weights, tall.visible_bias, tall.hidden_bias)
        require(perf_counter() - begun < 0.3, "the value is right, but your function sums over the "
                "states of the visible units, which would never end with 200 of them: sum "
                "over those of the hidden units")  # fmt: skip

    yield over_hidden_units
    wide = rl.testsystems.random_rbm(200, 4, coupling=3.0, rng=own.rng("wide"))
    wide = wide.weights, 30 + wide.visible_bias, wide.hidden_bias
    right = rl.exact(rl.BernoulliRBM(*wide)).log_z
    yield wide, right, {}, "log Z of a model with 200 visible units"


# annealed importance sampling


@step()
def path_score(own: Own):
    """Only the parameters change with beta, so the model at each beta is again an RBM."""
    m, b0, v = own.model, own.base, own.some_states(15)
    field = v @ m.weights + m.hidden_bias
    right = own.path.at(0.3).log_density(v)
    of_h = softplus(0.3 * field).sum(axis=1)
    yield (m, b0, v, 0.3), right, {
        "β belongs inside: log(1 + exp(β field)), not β log(1 + exp(field))":
            right - of_h + 0.3 * softplus(field).sum(axis=1),
        "multiply the biases of the base by 1 - β": right + 0.3 * v @ b0,
    }  # fmt: skip
    for beta in (0.0, 1.0):
        right = own.path.at(beta).log_density(v)
        yield (m, b0, v, beta), right, {}, f"log p* at β = {beta}"


@step()
def log_z_base(own: Own):
    m, b0 = own.model, own.base
    visible, coins = softplus(b0).sum(), m.n_hidden * np.log(2)
    hints = {"each hidden unit of the base is a fair coin and adds log 2": visible}
    yield (m, b0), visible + coins, hints


def _coins(p, rng):
    return (rng.random(p.shape) < p).astype(float)


def _base(m, b0, n, rng):
    return _coins(np.tile(expit(b0), (n, 1)), rng)


@step()
def sample_base(own: Own):
    what = "each visible unit must be on with probability sigmoid(b0), independently"
    yield (own.model, own.base, N_CHAINS), _base, {}, what


def _hidden(m, v, beta):
    return expit(beta * (v @ m.weights + m.hidden_bias))


def _visible(m, b0, h, beta):
    return expit((1 - beta) * b0 + beta * (h @ m.weights.T + m.visible_bias))


@step()
def hidden_mean(own: Own):
    m, v = own.model, own.some_states(12)
    yield (m, v, 0.4), _hidden(m, v, 0.4)
    yield (m, v, COLUMN), _hidden(m, v, COLUMN), {}, WITH_COLUMN


@step()
def visible_mean(own: Own):
    m, b0, h = own.model, own.base, own.some_states(12, units=own.model.n_hidden)
    yield (m, b0, h, 0.4), _visible(m, b0, h, 0.4), {
        "the base is missing: (1 - β) b0": _visible(m, 0 * b0, h, 0.4),
        "multiply b0 by 1 - β": _visible(m, b0 / 0.6, h, 0.4),
    }  # fmt: skip
    yield (m, b0, h, COLUMN), _visible(m, b0, h, COLUMN), {}, WITH_COLUMN


def _sweep(m, b0, v, beta, rng):
    h = _coins(_hidden(m, v, beta), rng)
    return _coins(_visible(m, b0, h, beta), rng), h


@step()
def sweep(own: Own):
    m, n = own.model, N_CHAINS
    v = states(m.visible, np.full(n, 164))
    what = "v or h is on with the wrong probability: draw h given v, then v given this h"
    yield (m, own.base, v, 0.6), _sweep, {}, what
    betas = np.repeat([[0.0], [1.0]], n // 2, axis=0)
    yield (m, own.base, v, betas), _sweep, {}, f"with one β for each chain, {what}"


@step()
def increment(own: Own):
    m, b0, v, low, high = own.model, own.base, own.some_states(15), 0.2, 0.5
    old, new = (own.path.at(beta).log_density(v) for beta in (low, high))
    yield (m, b0, v, low, high), new - old


def _centred(own: Own, log_w):
    """Log-weights or R minus log Z, and their exponentials, bounded for reliable means."""
    x = np.asarray(log_w)[:, None] - own.log_z
    return np.concatenate([x, np.exp(np.clip(x, -9, 1)), np.exp(np.clip(-x, -9, 1))], axis=1)


def _weights(m, b0, betas, n, rng):
    return rl.ais(rl.GeometricPath(m, base=b0), betas, n_chains=n, rng=rng).log_weights


def _weighed_late(m, b0, betas, n, rng):
    path, v = rl.GeometricPath(m, base=b0), _base(m, b0, n, rng)
    log_w = np.full(n, path.log_z_base)
    for old, new in pairwise(betas):
        v, _ = _sweep(m, b0, v, new, rng)
        log_w += path.at(new).log_density(v) - path.at(old).log_density(v)
    return log_w


@step()
def ais(own: Own):
    """The weight is updated before the move, at a state that was drawn for the old β."""
    m = own.model
    far = m.visible_bias + np.resize([2.0, -2.0], m.n_visible)  # makes a wrong start visible
    base = rl.GeometricPath(m, base=far).log_z_base
    yield (m, far, FEW, 10_000), _weights, {
        "log Z of the base is missing at the start": lambda *a: _weights(*a) - base,
        "these are the weights: return their logarithms": lambda *a: np.exp(_weights(*a)),
        "add the new log p* minus the old one": lambda *a: 2 * base - _weights(*a),
        "the mean weight is not Z: weigh first, then move at the new β": _weighed_late,
    }, (
        "the log-weights are not distributed like those of rbmlib: do the chains begin in the "
        "base, do you use every β of the schedule, with one sweep (h, then v) at the new β, and "
        "does each chain keep its own weight?"
    ), partial(_centred, own)  # fmt: skip
    free = rl.BernoulliRBM(0 * m.weights, own.base, 0 * m.hidden_bias)
    flat = "if base and model are the same, each log w must be log Z of the base"
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
    }  # fmt: skip
    yield (x - 900,), right


@step()
def reverse_ais(own: Own):
    m, base = own.model, own.path.log_z_base

    def reverse(m, b0, betas, v, rng):
        path = rl.GeometricPath(m, base=b0)
        return rl.reverse_ais(path, betas, n_chains=len(v), rng=rng, start=v).log_weights

    begin = rl.sample(m, 20_000, own.rng("begin")).states
    yield (m, own.base, FEW, begin), reverse, {
        "the mean of R must be above log Z: check the signs": lambda *a: 2 * base - reverse(*a),
        "log Z of the base is missing": lambda *a: reverse(*a) - base,
    }, (
        "R is not distributed like that of rbmlib: do you use every β of the schedule, and at each "
        "step first add to R with the present state and then make one sweep at the lower β?"
    ), partial(_centred, own)  # fmt: skip


@step()
def bracket(own: Own):
    rng = own.rng("bracket")
    x, r = rng.normal(10, 2, 50), rng.normal(13, 3, 70)
    means, sd = np.array([x.mean(), r.mean()]), np.array([-x.std(ddof=1), r.std(ddof=1)])
    error = sd / np.sqrt([50, 70])
    yield (x, r), means + 2 * error, {
        "take means of logarithms, not logarithms of means": [logmeanexp(x), -logmeanexp(-r)],
        "the means alone leave out their errors": means,
        "use the errors of the means: divide by the root of the number of chains": means + 2 * sd,
    }  # fmt: skip


@step()
def z_score(own: Own):
    one, error, other, its_error = own.rng("z").uniform(0.1, 0.5, size=4)
    off = one - other
    yield (one, error, other, its_error), off / np.hypot(error, its_error), {
        "variances add up, not standard errors": off / (error + its_error),
        "this is the difference: divide it by its error": off,
    }  # fmt: skip


# tempered chains and RTS


def _slope(m, b0, v, h):
    return v @ (m.visible_bias - b0) + h @ m.hidden_bias + ((v @ m.weights) * h).sum(axis=1)


def distribution(delta, betas, guess):
    """q(k | x) from slopes, in the last axis."""
    return softmax(np.multiply.outer(delta, betas) - guess, axis=-1)


@step()
def slope(own: Own):
    m, b0, v = own.model, own.base, own.some_states(15)
    h = own.rng("slope").integers(0, 2, (15, m.n_hidden)).astype(float)
    right = _slope(m, b0, v, h)
    hint = "subtract the biases of the base, which already count at β = 0"
    yield (m, b0, v, h), right, {hint: right + v @ b0}


@step()
def beta_probabilities(own: Own):
    """Terms common to all exponents cancel, so you may subtract the largest exponent first."""
    rng = own.rng("law")
    delta, betas = rng.normal(scale=3, size=7), np.sort(rng.random(5))
    guess = rng.normal(size=5)
    raw = np.exp(np.multiply.outer(delta, betas) - guess)
    yield (delta, betas, guess), distribution(delta, betas, guess), {
        "divide by the guessed Z: subtract its logarithm": distribution(delta, betas, -guess),
        "each row must add up to 1": raw,
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
    what = "the indices do not have the probabilities q: draw one random number for each row"
    yield (q,), _draw, {}, what, lambda k: np.column_stack([kind, np.equal.outer(k, np.arange(5))])


def tempered(m, b0, betas, guess, n_chains, n_sweeps, rng):
    """Temperature indices and slopes (n_sweeps, n_chains) of the library's chains."""
    path = rl.GeometricPath(m, base=b0)
    run = rl.simulated_tempering(path, betas, guess, n_chains, n_sweeps, rng)
    return run.temperature.astype(int), run.delta


@step()
def temper(own: Own):
    guess = own.log_z_at(BETAS) + np.linspace(0, 2.0, BETAS.size)

    def rows(k, delta):
        k, delta = np.asarray(k), np.asarray(delta)
        require(np.isin(k, range(BETAS.size)).all(), "indices are the whole numbers 0 to 5")
        require(np.all(np.ptp(k, axis=0) > 0), "each chain must change its temperature")
        at, late = np.eye(BETAS.size)[k.astype(int)][30:], delta[30:, :, None]
        drawn = at - distribution(delta[30:], BETAS, guess)
        return np.concatenate([x.mean(axis=0) for x in (at, drawn, at * late, late)], axis=1)

    yield (own.model, own.base, BETAS, guess, 300, 150), tempered, {
        "the guesses are not used": lambda m, b0, betas, guess, *more:
            tempered(m, b0, betas, 0 * guess, *more),
    }, (
        "the chains do not visit each β in proportion to Z / (guess of Z), or their slopes differ "
        "from those of rbmlib: move x at the chain's own β first, then draw k given the new slope"
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
        "average over sweeps, with one row for each chain": right.mean(axis=0),
        "average the probabilities, not the slopes": distribution(delta.mean(axis=0), betas, guess),
    }  # fmt: skip


@step()
def corrected(own: Own):
    """If a guess is too low, its β is visited too often, and the share shows how much."""
    rng = own.rng("corrected")
    guess, shares = rng.normal(size=5), rng.dirichlet(3 * np.ones(5), size=8)
    log_c, logs = np.log(shares.mean(axis=0)), np.log(shares).mean(axis=0)
    right = guess + log_c - log_c[0]
    yield (guess, shares), right, {
        "if a β is visited too often, its guess is too small: add log c": guess - log_c + log_c[0],
        "average the shares over chains first, then take the logarithm": guess + logs - logs[0],
        "this is the correction alone: add it to the guesses": right - guess,
    }  # fmt: skip


@step()
def rts_error(own: Own):
    shares = own.rng("error").dirichlet(4 * np.ones(5), size=50)
    last, first = (shares[:, end] / shares[:, end].mean() for end in (-1, 0))
    sd, n = partial(np.std, ddof=1), np.sqrt(50)
    yield (shares,), sd(last - first) / n, {
        "the share at β = 0 has an error, too": sd(last) / n,
        "divide by the root of the number of chains": sd(last - first),
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
    delta = own.rng("terms").normal(scale=4, size=betas.size)  # a transpose has the same shape
    yield (delta, betas), np.multiply.outer(delta, betas)


def _mbar_case(own: Own, n: int):
    """Slopes of n exact samples at each beta, as the terms of MBAR."""
    m, rng, found = own.model, own.rng("mbar"), []
    for at in map(own.path.at, BETAS):
        v = rl.sample(at, n, rng).states
        found.append(_slope(m, own.base, v, at.sample_hidden(v, rng)))
    return np.multiply.outer(np.concatenate(found), BETAS), np.full(BETAS.size, n)


def _uneven_case(own: Own):
    u, counts = _mbar_case(own, 20)
    return u, counts + np.arange(counts.size), own.rng("guess").normal(size=BETAS.size)


@step()
def mixture(own: Own):
    u, counts, guess = _uneven_case(own)
    right = logsumexp(u - guess + np.log(counts), axis=1)
    yield (u, counts, guess), right, {
        "multiply each model by its number of states": logsumexp(u - guess, axis=1),
        "each p* is divided by its guess: subtract it":
            logsumexp(u + guess + np.log(counts), axis=1),
    }  # fmt: skip
    yield (u + 2000, counts, guess), right + 2000, {}, "the logarithm where terms are huge"


@step()
def mbar_step(own: Own):
    u, counts, guess = _uneven_case(own)
    bottom = logsumexp(u - guess + np.log(counts), axis=1)
    raw = logsumexp(u - bottom[:, None], axis=0)
    yield (u, counts, guess), raw - raw[0]


@step(rtol=0, atol=1e-6)
def mbar(own: Own):
    u, counts = _mbar_case(own, 150)
    right = rl.solve_mbar(u[:, -1], counts, BETAS).log_z
    what = "log Z (iterate until a step changes no entry by more than 1e-10)"
    yield (u, counts), right, {}, what


def _gains(n, t_0, n_betas, alpha):
    return np.minimum(1 / n_betas, gain_sequence(n, t_0, alpha))


@step()
def gains(own: Own):
    """Large steps correct the first guesses, and steps like 1/t average the noise away."""
    given = 1500, own.whole("t0", 200, 400), 20, 0.7
    yield given, _gains(*given), {
        "the cap is missing: no gain above 1 / n_betas": _gains(*given[:2], 1, 0.7),
        "there is a second stage, after t_0": _gains(1500, 1500, 20, 0.7),
    }  # fmt: skip
    yield (8, 8, 4, 0.6), _gains(8, 8, 4, 0.6), {}, "with t_0 = n and alpha = 0.6 your answer"
    yield (30, 2, 6, 0.7), _gains(30, 2, 6, 0.7), {}, "with t_0 = 2 your answer"


@step()
def update(own: Own):
    """Each guess rises with the probability of its temperature, and only differences matter."""
    rng = own.rng("update")
    log_z, q = rng.normal(size=(6, 5)), rng.dirichlet(np.ones(5), size=6)

    def shifted(factor):
        raised = log_z + factor * q
        return raised - raised[:, :1]

    yield (log_z, q, 0.03), shifted(0.15), {
        "divide the gain by the share 1 / n_betas": shifted(0.03),
        "the first guess must stay 0: subtract it at the end": log_z + 0.15 * q,
        "add: a temperature that is visited too often needs a larger guess": shifted(-0.15),
    }, "with gain 0.03 your answer"  # fmt: skip
    hints = {"the cap is missing: no guess rises by more than one nat": shifted(4.5)}
    yield (log_z, q, 0.9), shifted(1.0), hints, "with gain 0.9 your answer"


def _sams(m, b0, betas, gains, n_chains, rng):
    path = rl.GeometricPath(m, base=b0)
    groups = Groups(path, betas, n_chains, rng, n_groups=n_chains, start="plain")
    groups.advance(np.tile(gains, (n_chains, 1)))
    return groups.log_z


@step()
def sams(own: Own):
    schedule = _gains(1500, 300, BETAS.size, 0.7)
    yield (own.model, own.base, BETAS, schedule, 60), _sams, {}, (
        "the mean or spread of the guesses is wrong: does each chain have its own guesses, do you "
        "draw k after each sweep, divide the gain of the sweep by the share 1 / n_betas, and keep "
        "the first guess at 0?"
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
    }  # fmt: skip


@task("step", 1)
def library(answer, own: Own):
    """Four methods estimate the same log Z, each to within its standard error."""
    largest, names = 0.25, ("AIS", "RTS", "MBAR", "SAMS")
    for name, pair in each_named(answer, names, "(value, error)").items():
        value, error = numbers(pair, (2,), name)
        require(0 < error < largest, f"the error of {name} is {error:.3g}: it should lie between "
                f"0 and {largest} (take more chains or sweeps)")  # fmt: skip
        off = (value - own.log_z) / error
        require(abs(off) < 4.5, f"{name} is off by {off:+.1f} of its standard errors")
