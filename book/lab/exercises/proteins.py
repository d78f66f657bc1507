"""Tasks of the lesson on protein families."""

from __future__ import annotations

import numpy as np

from .checker import choice, near, numbers, require, same, task
from .own import Own

Q, SITES, HIDDEN = 4, 6, 3


def letters_model(own: Own) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights, visible and hidden biases of a model of six sites of four letters."""
    rng = own.rng("letters")
    return rng.normal(size=(SITES * Q, HIDDEN)), rng.normal(size=SITES * Q), rng.normal(size=HIDDEN)


def report_of_ais(own: Own) -> tuple[int, float]:
    """A number of chains, and the error bar of their mean log-weight."""
    return int(own.number("chains", 5, 40, 0)), own.number("bar", 0.1, 0.4, 2)


def bits_of_dna(own: Own) -> tuple[int, float]:
    """A number of letters, and how often each of their bits is on."""
    return int(own.number("letters", 20, 90, 0)), own.number("on", 0.1, 0.4, 2)


GIVEN = {"letters": letters_model, "report": report_of_ais, "bits": bits_of_dna}


def _rows(own: Own, n: int) -> np.ndarray:
    return np.eye(Q)[own.rng("rows").integers(0, Q, (n, SITES))].reshape(n, -1)


@task("derivation", 3)
def too_low(answer, own: Own):
    """The bar is the root of s²/n, so that its square times n is s²; the bias is half of that."""
    for n, bar in (report_of_ais(own), (10, 0.039), (200, 0.028)):
        mistakes = {
            "the bias is half of the variance": n * bar**2,
            "this is the bias of the mean of n, had it shrunk with n: it does not": bar**2 / 2,
            "s² is n times the square of the bar, and n stands under a root in the bar":
                n * bar / 2,
        }  # fmt: skip
        same(answer(n, bar), n * bar**2 / 2, mistakes)


def _score(v, weights, b, c):
    x = v @ weights + c
    return v @ b + 0.5 * (x**2).sum(axis=1) + weights.shape[1] / 2 * np.log(2 * np.pi)


@task("coding", 3)
def score(answer, own: Own):
    """The integral of each hidden unit is a Gaussian's, so that its field counts squared."""
    weights, b, c = letters_model(own)
    v = _rows(own, 12)
    right, x = _score(v, weights, b, c), v @ weights + c
    mistakes = {
        "the biases of the hidden units are missing": _score(v, weights, b, 0 * c),
        "the biases of the letters are missing": right - v @ b,
        "half of the square of a field": right + 0.5 * (x**2).sum(axis=1),
        "each hidden unit brings a factor of root two pi": right - HIDDEN / 2 * np.log(2 * np.pi),
        "these hidden units are no bits": v @ b + np.log1p(np.exp(x)).sum(axis=1),
    }
    same(answer(v, weights, b, c), right, mistakes)


@task("coding", 3)
def of_one_site(answer, own: Own):
    """Z cancels when all other sites are given: only the letters of this one are added up."""
    weights, b, c = letters_model(own)
    for v, site in zip(_rows(own, 3), (0, 2, 5), strict=True):
        every = np.repeat(v[None], Q, axis=0)
        every[:, Q * site : Q * site + Q] = np.eye(Q)
        scores = _score(every, weights, b, c)
        p = np.exp(scores - scores.max())
        alone = np.exp(b[Q * site : Q * site + Q])
        mistakes = {
            "probabilities add up to one": np.exp(scores - scores[0]),
            "this is the logarithm": np.log(p / p.sum()),
            "the other sites count, through the hidden units": alone / alone.sum(),
        }
        found = numbers(answer(v, site, weights, b, c), (Q,), "the distribution of a site")
        same(found, p / p.sum(), mistakes)


@task("experiment", 4)
def best_mutation(answer, own: Own):
    """All single mutations have the same Z, so their scores can be compared."""
    weights, b, c = letters_model(own)
    v = np.tile(np.eye(Q)[0], SITES)
    changes = []
    for site in range(SITES):
        for letter in range(1, Q):
            mutant = v.copy()
            mutant[Q * site : Q * site + Q] = np.eye(Q)[letter]
            changes.append(_score(np.stack([v, mutant]), weights, b, c))
    gains = np.array([after - before for before, after in changes])
    near(answer, gains.max(), 1e-3, {
        "this is the worst of them": gains.min(),
        "this is the score of the mutant: the change is wanted": max(a for _, a in changes),
    })  # fmt: skip


@task("trap", 2)
def no_letters(answer, own: Own):
    """Four of eight triples are letters: none on, or one of three."""
    n, on = bits_of_dna(own)
    none, single = (1 - on) ** 3, on * (1 - on) ** 2
    near(answer, n * np.log(none + 3 * single), 1e-3, {
        "there are three letters with one bit on": n * np.log(none + single),
        "the last letter has no bit on": n * np.log(3 * single),
        "this is of a single letter": np.log(none + 3 * single),
        "a mass below one has a negative logarithm": -n * np.log(none + 3 * single),
    })  # fmt: skip


@task("reading", 1)
def at_fifty(answer, own: Own):
    """The bars say how far ten chains are from the mean of all chains, which is too low itself."""
    require(answer is not None, "answer with a letter")
    choice(answer, "b", {
        "a": "with more chains the bars shrink, and the points stay where they are",
        "c": "with 2,000 steps the same base does well",
        "d": "the dashed line is the same in all panels",
    })  # fmt: skip
