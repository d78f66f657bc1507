"""Tasks of the lesson on protein families."""

import numpy as np
from scipy.special import softmax

from rbmlib.numerics import softplus

from .checker import Own, function, letter, number

Q, SITES, HIDDEN = 4, 6, 3


def letters_model(own: Own) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights, visible and hidden biases of a model of six sites of four letters."""
    rng = own.rng("letters")
    return rng.normal(size=(SITES * Q, HIDDEN)), rng.normal(size=SITES * Q), rng.normal(size=HIDDEN)


GIVEN = {
    "letters": letters_model,
    "bits": lambda own: (own.whole("letters", 20, 90), own.number("on", 0.1, 0.4, 2)),
}


def _rows(own: Own, n: int) -> np.ndarray:
    return np.eye(Q)[own.rng("rows").integers(0, Q, (n, SITES))].reshape(n, -1)


@function("derivation", 3)
def too_low(own: Own):
    """The squared standard error times n is the variance s², and the bias is half of s²."""
    n, error = own.whole("chains", 5, 40), own.number("bar", 0.1, 0.4, 2)
    yield (n, error), n * error**2 / 2, {
        "this shrinks with n, but the bias does not": error**2 / 2,
    }  # fmt: skip
    yield (200, 0.028), 100 * 0.028**2


def _score(v, weights, b, c):
    x = v @ weights + c
    return v @ b + 0.5 * (x**2).sum(axis=1) + weights.shape[1] / 2 * np.log(2 * np.pi)


@function("coding", 3)
def score(own: Own):
    """The integral over a hidden unit is Gaussian, so its field enters squared."""
    weights, b, c = letters_model(own)
    v = _rows(own, 12)
    right, x = _score(v, weights, b, c), v @ weights + c
    yield (v, weights, b, c), right, {
        "the biases of the hidden units are missing": _score(v, weights, b, 0 * c),
        "these hidden units are real numbers, not bits": v @ b + softplus(x).sum(axis=1),
    }  # fmt: skip


@function("coding", 3)
def of_one_site(own: Own):
    """Given all other sites, Z cancels: the sum is over the letters of this site only."""
    weights, b, c = letters_model(own)
    for v, site in zip(_rows(own, 3), (0, 2, 5), strict=True):
        every = np.repeat(v[None], Q, axis=0)
        every[:, Q * site : Q * site + Q] = np.eye(Q)
        scores = _score(every, weights, b, c)
        right = softmax(scores)
        yield (v, site, weights, b, c), right, {
            "the probabilities must add up to one": np.exp(scores - scores[0]),
            "the other sites count, through the hidden units": softmax(b[Q * site : Q * site + Q]),
        }  # fmt: skip


@number("experiment", 4, within=1e-3)
def best_mutation(own: Own):
    """All mutants have the same Z, so their scores can be compared."""
    weights, b, c = letters_model(own)
    first = np.tile(np.eye(Q)[0], SITES)
    mutants = np.tile(first, (SITES, Q - 1, 1))
    for site in range(SITES):
        mutants[site, :, Q * site : Q * site + Q] = np.eye(Q)[1:]
    scores = _score(mutants.reshape(-1, SITES * Q), weights, b, c)
    gains = scores - _score(first[None], weights, b, c)
    return gains.max(), {"this is the score of the mutant: give the change": scores.max()}


@number("trap", 2, within=1e-3)
def no_letters(own: Own):
    """Four of the eight patterns of three bits are letters: no bit is 1, or exactly one is."""
    n, on = GIVEN["bits"](own)
    none, single = (1 - on) ** 3, on * (1 - on) ** 2
    return n * np.log(none + 3 * single), {
        "there are three letters with one bit on": n * np.log(none + single),
        "the fourth letter has no bit on": n * np.log(3 * single),
    }


at_fifty = letter(
    "b", "Error bars show how much means of ten chains vary, but not that they are too low.",
    a="with more chains the error bars shrink, but the mean stays as low as it is",
    c="with 2,000 steps the same base does well",
    d="the dashed line is the same in all panels",
)  # fmt: skip
