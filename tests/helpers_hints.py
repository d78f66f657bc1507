"""For each hint of an exercise's judge the function that deserves it, by plain formulas.

Tasks of the line, and of lessons that ask for a function; the beginning of a hint names it.
"""

from itertools import product

import numpy as np

import rbmlib as rl

LOG_2 = np.log(2)


def soft(x):
    return np.log1p(np.exp(x))


def logit_mean(x):
    return 1 / (1 + np.exp(-np.asarray(x)))


def lse(x, axis=None):
    return np.log(np.exp(x).sum(axis=axis))


def lme(x):
    return np.log(np.exp(x).mean())


def two(x):
    return 2 * np.sqrt(np.var(x) / (len(x) - 1))


def summed(W, b, a, count=lambda h: True):
    """log of the sum over hidden states."""
    rows = [np.array(h) for h in product((0, 1), repeat=len(a)) if count(h)]
    return lse(np.array([h @ a + soft(W @ h + b).sum() for h in rows]))


def point(m, b0, v, t):
    return v @ (b0 + t * (m.visible_bias - b0)) + soft(t * (v @ m.weights + m.hidden_bias)).sum(1)


def path_slope(m, b0, v, t):
    x = v @ m.weights + m.hidden_bias
    return v @ m.visible_bias - v @ b0 + (x / (1 + np.exp(-t * x))).sum(axis=1)


def annealed(offset):
    """Answers of rbmlib, with something added to the log-weights."""

    def ais(m, b0, betas, n, rng):
        path = rl.GeometricPath(m, base=b0)
        found = rl.ais(path, betas, n_chains=n, rng=rng)
        return found.log_weights + offset(m, b0)

    return ais


def base_log_z(m, b0):
    return soft(b0).sum() + m.n_hidden * LOG_2


def law(delta, betas, guess):
    p = np.exp(np.asarray(delta)[..., None] * betas - guess)
    return p / p.sum(axis=-1, keepdims=True)


def weights(x):
    return np.exp(x) / np.exp(x).mean()


def ends(shares):
    """The two ends of each chain, each over its mean."""
    return shares[:, -1] / shares[:, -1].mean(), shares[:, 0] / shares[:, 0].mean()


def over_chains(shares):
    return np.log(shares.sum(axis=0) / len(shares))


def mixed(u, counts, guess):
    return np.log((counts * np.exp(u - guess)).sum(axis=1))


def stepped(u, counts, guess, axis=0):
    raw = np.log(np.exp(u - mixed(u, counts, guess)[:, None]).sum(axis=axis))
    return raw - raw[0]


def gains(n, t_0, n_betas, alpha, late=None, early=None, cap=(True, True)):
    late = late or (lambda t: 1 / (t - t_0 + t_0**alpha))
    early = early or (lambda t: t**-alpha)
    found = []
    for t in range(1, n + 1):
        gain = early(t) if t <= t_0 else late(t)
        found.append(min(gain, 1 / n_betas) if cap[t > t_0] else gain)
    return np.array(found)


def raised(log_z, rise):
    """Guesses after a rise, the first of each row taken away."""
    new = log_z + rise
    return (new.T - new[:, 0]).T


LINE = {
    "sigmoid": {"this is 1/(1 + exp(x))": lambda x: 1 / (1 + np.exp(x))},
    "log_mean_exp": {
        "this is the logarithm of the sum": lse,
        "this is the mean of the logarithms": lambda x: x.sum() / len(x),
        "the mean must be inside the logarithm": lambda x: np.exp(x).sum() / len(x),
    },
    "score": {
        "the hidden units are summed over": lambda v, W, b, a: v @ (b + W.sum(axis=1)) + a.sum(),
        "the visible biases are missing": lambda v, W, b, a: soft(v @ W + a).sum(axis=1),
        "the hidden biases are missing": lambda v, W, b, a: v @ b + soft(v @ W).sum(axis=1),
        "this is the score itself": lambda v, W, b, a: (
            np.exp(v @ b) * (1 + np.exp(v @ W + a)).prod(axis=1)
        ),
        "the sign: this is the free": lambda v, W, b, a: -(v @ b) - soft(v @ W + a).sum(axis=1),
    },
    "log_z": {
        "this is Z": lambda W, b, a: np.exp(summed(W, b, a)),
        "it is too large by": lambda W, b, a: summed(W, b, a) + len(a) * LOG_2,
        "this is the mean over the states": lambda W, b, a: summed(W, b, a) - LOG_2 * len(a),
        "the state without any unit on": lambda W, b, a: summed(W, b, 0 * a),
    },
    "path_score": {
        "the dial stands inside": lambda m, b0, v, t: (1 - t) * (v @ b0) + t * m.log_density(v),
        "the biases of the base must fade": lambda m, b0, v, t: point(m, b0, v, t) + t * v @ b0,
        "the visible biases of base and model": lambda m, b0, v, t: (
            point(m, b0, v, t) + (2 * t - 1) * v @ (b0 - m.visible_bias)
        ),
        "the hidden biases must be turned": lambda m, b0, v, t: (
            v @ ((1 - t) * b0 + t * m.visible_bias)
            + soft(v @ (t * m.weights) + m.hidden_bias).sum(axis=1)
        ),
        "the base is missing": lambda m, b0, v, t: point(m, 0 * b0, v, t),
    },
    "log_z_base": {
        "each hidden unit of the base": lambda m, b0: soft(b0).sum(),
        "the base has its own biases": lambda m, b0: base_log_z(m, m.visible_bias),
        "a hidden unit of the base has no bias": lambda m, b0: soft([*b0, *m.hidden_bias]).sum(),
        "log 2 for each hidden unit": lambda m, b0: soft([*b0, *(0 * b0)]).sum(),
    },
    "hidden_mean": {
        "β multiplies the hidden": lambda m, v, t: logit_mean(t * v @ m.weights + m.hidden_bias),
        "β stands inside": lambda m, v, t: t * logit_mean(v @ m.weights + m.hidden_bias),
        "β is not used": lambda m, v, t: logit_mean(v @ m.weights + m.hidden_bias),
        "this is the field": lambda m, v, t: t * (v @ m.weights + m.hidden_bias),
    },
    "visible_mean": {
        "the base is missing": lambda m, b0, h, t: logit_mean(
            t * (m.weights @ h.T).T + t * m.visible_bias
        ),
        "b0 must fade out": lambda m, b0, h, t: logit_mean(
            b0 + t * (m.weights @ h.T).T + t * m.visible_bias
        ),
        "β is not used": lambda m, b0, h, t: logit_mean((m.weights @ h.T).T + m.visible_bias),
        "b0 and the field": lambda m, b0, h, t: logit_mean(
            t * b0 + (1 - t) * ((m.weights @ h.T).T + m.visible_bias)
        ),
    },
    "increment": {
        "the sign": lambda m, b0, v, low, high: point(m, b0, v, low) - point(m, b0, v, high),
        "this is the slope": lambda m, b0, v, low, high: (high - low) * path_slope(m, b0, v, low),
        "this is the new score": lambda m, b0, v, low, high: point(m, b0, v, high),
    },
    "ais": {
        "log Z of the base is missing": annealed(lambda m, b0: -base_log_z(m, b0)),
        "log Z of the base lacks": annealed(lambda m, b0: -m.n_hidden * LOG_2),
        "log Z of the base was added": annealed(base_log_z),
    },
    "ess": {
        "this is the share": lambda x: np.exp(x).mean() ** 2 / np.exp(2 * x).mean(),
        "these are log-weights": lambda x: len(x) * x.mean() ** 2 / (x**2).mean(),
        "square the sum": lambda x: np.exp(2 * x).sum() / np.exp(2 * x).sum(),
    },
    "std_error": {
        "this is the spread of": lambda x: np.sqrt((x**2).mean() - x.mean() ** 2) / len(x) ** 0.5,
        "these are log-weights": lambda x: np.sqrt(np.cov(x) / len(x)),
        "divide by the square root": lambda x: np.sqrt((weights(x) ** 2).mean() - 1),
    },
    "bracket": {
        "the bracket is made of means of": lambda x, r: (lme(x), -lme(-r)),
        "the reverse side is R": lambda x, r: (np.mean(x), -np.mean(r)),
        "the lower end comes first": lambda x, r: (np.mean(r) + two(r), np.mean(x) - two(x)),
        "the means alone leave out": lambda x, r: (np.mean(x), np.mean(r)),
        "of two standard errors": lambda x, r: (np.mean(x) - two(x) / 2, np.mean(r) + two(r) / 2),
        "the errors are those of the means": lambda x, r: (
            np.mean(x) - 2 * np.std(x, ddof=1),
            np.mean(r) + 2 * np.std(r, ddof=1),
        ),
        "the ends are made of means": lambda x, r: (min(x), max(r)),
    },
    "z_score": {
        "variances add up": lambda x, dx, y, dy: (y - x) / (dx + dy),
        "both values have an error": lambda x, dx, y, dy: (y - x) / dx,
        "this is the difference": lambda x, dx, y, dy: y - x,
        "take the square root": lambda x, dx, y, dy: (y - x) / (dx**2 + dy**2),
    },
    "slope": {
        "take the biases of the base away": lambda m, b0, v, h: (
            v @ m.visible_bias + np.einsum("ni,ij,nj->n", v, m.weights, h) + h @ m.hidden_bias
        ),
        "the hidden biases are missing": lambda m, b0, v, h: (
            np.einsum("ni,ij,nj->n", v, m.weights, h) + v @ m.visible_bias - v @ b0
        ),
        "the weights are missing": lambda m, b0, v, h: (
            v @ m.visible_bias - v @ b0 + h @ m.hidden_bias
        ),
        "the sign of the base": lambda m, b0, v, h: (
            ((v @ m.weights + m.hidden_bias) * h).sum(axis=1) + v @ b0 + v @ m.visible_bias
        ),
        "the sign": lambda m, b0, v, h: (
            v @ b0 - v @ m.visible_bias - ((v @ m.weights + m.hidden_bias) * h).sum(axis=1)
        ),
    },
    "law_of_beta": {
        "divide by the guessed Z": lambda d, t, g: law(d, t, -g),
        "the guesses are not used": lambda d, t, g: law(d, t, 0 * g),
        "each row must add up to 1": lambda d, t, g: np.exp(d[:, None] * t) / np.exp(g),
        "the largest exponent is out": lambda d, t, g: (
            law(d, t, g) / law(d, t, g).max(axis=1)[:, None]
        ),
        "divide each row by its own": lambda d, t, g: np.exp(
            np.outer(d, t) - g - lse(np.outer(d, t) - g)
        ),
        "each row must add up to 1, not each column": lambda d, t, g: (
            np.exp(np.outer(d, t)) / np.exp(np.outer(d, t)).sum(axis=0)
        ),
        "these are the logarithms": lambda d, t, g: (
            np.outer(d, t) - g - lse(np.outer(d, t) - g, axis=1)[:, None]
        ),
    },
    "counted": {
        "these are counts": lambda k, n: (k[:, :, None] == np.arange(n)).sum(axis=0),
        "divide by the sweeps": lambda k, n: (k[:, :, None] == np.arange(n)).sum(axis=0) / k.size,
    },
    "averaged": {
        "the guesses are not used": lambda d, t, g: law(d, t, 0).mean(axis=0),
        "average over sweeps": lambda d, t, g: law(d.ravel(), t, g).mean(axis=0),
        "this is the sum": lambda d, t, g: law(d, t, g).sum(axis=0),
        "average the probabilities": lambda d, t, g: law(d.sum(axis=0) / len(d), t, g),
        "the sign of the guesses": lambda d, t, g: law(d, t, -g).mean(axis=0),
    },
    "corrected": {
        "where chains come too often": lambda g, c: g - over_chains(c) + over_chains(c)[0],
        "the guess at β = 0 must stay": lambda g, c: g + over_chains(c),
        "average the shares over chains first, then take": lambda g, c: (
            g + np.log(c / c[:, :1]).mean(axis=0)
        ),
        "average the shares over chains first, then divide": lambda g, c: (
            g + np.log((c.T / c[:, 0]).mean(axis=1))
        ),
        "correct the guesses": lambda g, c: np.log(c.sum(axis=0) / c[:, 0].sum()),
        "the guess at β = 0 is known": lambda g, c: (
            g - g[0] + np.log(c.sum(axis=0) / c[:, 0].sum())
        ),
    },
    "rts_error": {
        "the end at β = 0": lambda c: np.sqrt(np.cov(ends(c)[0]) / len(c)),
        "the two ends belong": lambda c: np.sqrt((np.cov(ends(c)[0]) + np.cov(ends(c)[1])) / 50),
        "this is the spread of one": lambda c: np.sqrt(np.cov(ends(c)[0] - ends(c)[1])),
        "the logarithm is taken": lambda c: np.sqrt(np.cov(np.log(c[:, 0] / c[:, -1])) / len(c)),
    },
    "log_terms": {
        "a row a state": lambda d, t: np.outer(t, d),
        "these are to stay": lambda d, t: np.exp(d[:, None] * t),
        "log p*_β - log p*_0": lambda d, t: np.outer(-d, t),
    },
    "mixture": {
        "every model counts": lambda u, n, g: lse(u - g, axis=1),
        "each p* is divided": lambda u, n, g: mixed(u, n, -g),
        "the guesses are missing": lambda u, n, g: mixed(u, n, 0 * g),
        "sum over the models": lambda u, n, g: np.log(n * np.exp(u - g).sum(axis=0)),
    },
    "mbar_step": {
        "fix the constant": lambda u, n, g: lse(u - mixed(u, n, g)[:, None], axis=0),
        "this is Z": lambda u, n, g: np.exp(stepped(u, n, g)),
        "sum over the states": lambda u, n, g: stepped(u, n, g, axis=1),
        "the sign": lambda u, n, g: -stepped(u, n, g),
    },
    "gains": {
        "the cap is missing": lambda n, t_0, m, a: gains(n, t_0, m, a, cap=(False, False)),
        "the second stage begins": lambda n, t_0, m, a: gains(
            n, t_0, m, a, late=lambda t: 1 / (t - t_0)
        ),
        "the second stage falls": lambda n, t_0, m, a: gains(n, t_0, m, a, late=lambda t: 1 / t),
        "there is a second": lambda n, t_0, m, a: gains(n, t_0, m, a, late=lambda t: t**-a),
        "sweeps are counted": lambda n, t_0, m, a: [1 / m, *gains(n - 1, t_0, m, a)],
        "alpha is given": lambda n, t_0, m, a: gains(n, t_0, m, 0.7),
        "the cap holds in the second": lambda n, t_0, m, a: gains(n, t_0, m, a, cap=(True, False)),
    },
    "update": {
        "the cap": lambda z, q, r: raised(z, q.shape[1] * r * q),
        "divide the gain by the share": lambda z, q, r: raised(z, min(r, 1) * q),
        "the first guess must stay 0": lambda z, q, r: z + min(5 * r, 1) * q,
        "a place that is visited": lambda z, q, r: raised(z, -min(5 * r, 1) * q),
        "take the first guess of each row away, not that": lambda z, q, r: (
            z - z[0, 0] + min(5 * r, 1) * (q - q[0, 0])
        ),
        "take the first guess of each row away, not the": lambda z, q, r: (
            z - z[0] + min(5 * r, 1) * (q - q[0])
        ),
        "r is one over": lambda z, q, r: raised(z, min(len(q) * r, 1) * q),
        "take the first guess away from its": lambda z, q, r: np.hstack(
            [np.zeros((len(z), 1)), (z + min(5 * r, 1) * q)[:, 1:]]
        ),
        "the factor has the cap": lambda z, q, r: raised(z, np.minimum(5 * r * q, 1)),
    },
    "groups": {
        "chains of one group": lambda x: (x.mean(), np.sqrt(np.cov(x.ravel()) / x.size)),
        "divide the spread": lambda x: (x.mean(), np.sqrt(np.cov(x.mean(axis=1)))),
        "there are few groups": lambda x: (
            x.mean(),
            np.sqrt(np.cov(x.mean(axis=1), ddof=0) / len(x)),
        ),
        "a row is a group": lambda x: (x.mean(), np.sqrt(np.cov(x.mean(axis=0)) / x.shape[1])),
        "divide by the root": lambda x: (x.mean(), np.sqrt(np.cov(x.mean(axis=1)) / x.size)),
    },
}
