"""For each hint at a task of one lesson that asks for a number what makes it, of the student's
own models: what the numbers are of, and each wrong one."""

import numpy as np
from helpers_hints import LOG_2, law, lse, path_slope, soft, summed
from helpers_lesson_hints import leaky_score, leapfrog, of_letters, potts_score, share

import rbmlib as rl
from rbmbook.exercises import (
    ais,
    leaky_rbm,
    mcmc_basics,
    own,
    proteins,
    rts_continuous,
    sams,
    start,
    tracking,
)
from rbmbook.exercises import rts as rts_tasks
from rbmbook.exercises.published import reference, report


def hills_of(lesson):
    """log Z, and what a run from the uniform base finds: the hill of 2^100 states."""
    return lambda mine: (lesson.hills(mine)[1], 100 * LOG_2)


def mutated(mine):
    """Scores of the sequence of first letters, and of all that differ from it at one site."""
    model, first = proteins.letters_model(mine), np.tile(np.eye(4)[0], 6)
    after = [score for site in range(6) for score in of_letters(first, site, *model)[1:]]
    return potts_score(first[None], *model)[0], after


def printed(method, model):
    """How far a number of the report is off, and the variance that it prints."""
    off = report(method, model) - reference(model)
    return lambda mine: (off, report(method, model, "variance"))


def slopes(mine):
    """Mean and mean square of slopes half-way."""
    rows = own.states(mine.model.n_visible)
    p = share(np.exp(point_score(mine, rows)))
    x = path_slope(mine.model, mine.base, rows, 0.5)
    return p @ x, p @ x**2


def point_score(mine, rows):
    half = (rows @ mine.model.weights + mine.model.hidden_bias) / 2
    return rows @ (mine.base + mine.model.visible_bias) / 2 + soft(half).sum(axis=1)


def of_each_chain(mine):
    """Shares of the last place as counted, as averaged, and as averaged without the guesses."""
    k, delta, guess = rts_tasks.walk(mine)
    betas = np.linspace(0, 1, 6)
    return k == 5, law(delta, betas, guess)[..., 5], law(delta, betas, 0 * guess)[..., 5]


def one_step(n_dimensions):
    """The share of proposals accepted after one leapfrog step in a standard normal."""

    def rate(mine):
        eps, rng = rts_continuous.bold(mine), np.random.default_rng(5)
        x, p = rng.normal(size=(2, 200_000, n_dimensions))
        y, end = leapfrog(x, p, np.negative, eps, 1)
        change = ((x - y) * (x + y) + (p - end) * (p + end)).sum(axis=1) / 2
        return np.exp(np.minimum(0, change)).mean()

    return rate


def errors_of_groups(mine):
    """The standard error with and without regard to groups."""
    x = sams.ten_groups(mine)
    return np.sqrt(np.cov(x.mean(axis=1)) / 10), np.sqrt(np.cov(x.ravel()) / 40)


def updated(mine):
    """log Z before and after an update."""
    return [summed(m.weights, m.visible_bias, m.hidden_bias) for m in tracking.update(mine)]


def one_leaky_unit(mine):
    w, b, c = leaky_rbm.unit(mine)
    v = np.linspace(-30, 30, 600_001)
    return lse(leaky_score(v[:, None], np.array([[w]]), b, c)) + np.log(v[1] - v[0])


def mean_field(mine):
    return mine.log_z, rl.tap(mine.model, 1, 0).log_z


def phi(mine):
    return mine.number("phi", 0.6, 0.95, 2)


NUMBERS = {
    ("start", "missed", hills_of(start)): {
        "exact minus estimate": lambda z, low: low - z,
        "did you begin": lambda z, low: 0.0,
        "this is the exact": lambda z, low: z,
        "this is the estimate": lambda z, low: low,
    },
    ("start", "flattered", printed("SAMS", "h20")): {
        "log p(v) is log p*(v)": lambda off, variance: off,
        "this is a factor": lambda off, variance: np.exp(-off),
        "this is what the 105": lambda off, variance: 13.89,
    },
    ("ais", "lost_hill", hills_of(ais)): {
        "exact minus estimate": lambda z, low: low - z,
        "this is the exact": lambda z, low: z,
        "this is the estimate": lambda z, low: low,
        "this is log 2": lambda z, low: LOG_2,
        "the chains found": lambda z, low: 0.0,
    },
    ("ais", "stable", printed("AIS", "h500")): {
        "the error of a mean of 20": lambda off, variance: off / variance**0.5,
        "this is the distance": lambda off, variance: off,
        "the variance is not": lambda off, variance: off / variance,
        "the error of the mean is": lambda off, variance: 20 * off / variance,
        "divide by the root": lambda off, variance: 20**0.5 * off / variance,
        "the report's value": lambda off, variance: -off * (20 / variance) ** 0.5,
    },
    ("varopt", "half_way", slopes): {
        "this is the standard": lambda mean, square: np.sqrt(square - mean**2),
        "this is the mean": lambda mean, square: mean,
        "the mean must be": lambda mean, square: square,
    },
    ("rts", "gain", of_each_chain): {
        "averaged over counted": lambda k, q, bare: k.mean(axis=0).var() / q.mean(axis=0).var(),
        "variances, not": lambda k, q, bare: q.mean(axis=0).std() / k.mean(axis=0).std(),
        "first the mean": lambda k, q, bare: q.var() / k.var(),
        "a column is a chain": lambda k, q, bare: q.mean(axis=1).var() / k.mean(axis=1).var(),
        "q(k | x) needs": lambda k, q, bare: bare.mean(axis=0).var() / k.mean(axis=0).var(),
    },
    ("rts_continuous", "accepted", lambda mine: (one_step(10)(mine), one_step(1)(mine))): {
        "this is the share": lambda ten, one: 1 - ten,
        "in ten dimensions": lambda ten, one: one,
    },
    ("rts_continuous", "half_turn", lambda mine: (np.pi / rts_continuous.turns(mine),)): {
        "this is the step": lambda turn: turn,
        "a half turn, not a full": lambda turn: np.sqrt(2 - 2 * np.cos(2 * turn)),
        "a half turn, not a quarter": lambda turn: np.sqrt(2 - 2 * np.cos(turn / 2)),
    },
    ("sams", "one_group", errors_of_groups): {
        "divide the right": lambda right, wrong: wrong / right,
        "the wrong error": lambda right, wrong: right / wrong / 2,
        "near, but": lambda right, wrong: 2.0,
    },
    ("sams", "report_h100", printed("SAMS", "h100")): {
        "the sign": lambda off, variance: -off * (20 / variance) ** 0.5,
        "the standard error": lambda off, variance: off / variance**0.5,
        "this is the distance": lambda off, variance: off,
        "divide by the root": lambda off, variance: off * 20 / variance,
    },
    ("tap", "too_low", mean_field): {
        "exact less": lambda z, low: low - z,
        "this is the mean field": lambda z, low: low,
    },
    ("tap", "h500", lambda mine: (report("TAP (order not stated)", "h500"), reference("h500"))): {
        "the sign": lambda said, right: right - said,
    },
    ("tracking", "one_update", updated): {
        "log Z of the new model less": lambda before, after: before - after,
        "this is log Z": lambda before, after: after,
    },
    ("tracking", "flattered", tracking.filter_of): {
        "log p(v) is": lambda rise, gain: rise - rise / gain,
        "this is the rise": lambda rise, gain: rise,
    },
    ("leaky_rbm", "one_unit", lambda mine: (one_leaky_unit(mine),)): {
        "this is Z": np.exp,
        "log √(2π)": lambda z: z - np.log(2 * np.pi) / 2,
    },
    ("leaky_rbm", "printed_sign", leaky_rbm.layers): {
        "from -n/2": lambda n, j: np.log(2 * np.pi) * n / 2,
        "the printed value": lambda n, j: -n * np.log(2 * np.pi),
    },
    ("proteins", "best_mutation", mutated): {
        "this is the worst": lambda before, after: min(after) - before,
        "this is the score": lambda before, after: max(after),
    },
    ("proteins", "no_letters", proteins.bits_of_dna): {
        "there are three letters": lambda n, p: n * np.log((1 - p) ** 3 + p * (1 - p) ** 2),
        "the last letter": lambda n, p: n * np.log(3 * p * (1 - p) ** 2),
        "this is of a single": lambda n, p: np.log((1 - p) ** 3 + 3 * p * (1 - p) ** 2),
        "a mass below one": lambda n, p: -n * np.log((1 - p) ** 3 + 3 * p * (1 - p) ** 2),
    },
    ("mcmc_basics", "worth", lambda mine: (phi(mine),)): {
        "the sum of correlations": lambda phi: 20_000 - 20_000 * phi,
        "this is the autocorrelation": lambda phi: 2 / (1 - phi) - 1,
    },
    ("mcmc_basics", "wide_variance", lambda mine: (mcmc_basics.spread(mine),)): {
        "this is the variance": lambda s: s * s,
        "a variance is": lambda s: 1.5 * s,
    },
}
