"""Tasks of the lesson on Markov chain Monte Carlo."""

from functools import partial

import numpy as np
from scipy.signal import lfilter

from .checker import Own, function, letter, number

N = 20_000


def distributions(own: Own) -> tuple[np.ndarray, np.ndarray]:
    """A target and a proposal distribution on five states."""
    rng = own.rng("laws")
    return rng.dirichlet(np.ones(5)), rng.dirichlet(4 * np.ones(5))


def chain(own: Own) -> np.ndarray:
    """20,000 values of a chain with exponentially falling autocorrelation."""
    phi, noise = own.number("phi", 0.6, 0.95, 2), own.rng("chain").normal(size=N)
    noise[0] /= np.sqrt(1 - phi**2)
    return lfilter([1], [1, -phi], noise)


GIVEN = {
    "distributions": distributions,
    "chain": chain,
    "spread": lambda own: own.number("sd", 1.5, 4.0),  # a standard deviation
}


def _matrix(q, ratio):
    moves = q * np.minimum(1, ratio / ratio[:, None])  # row: from, column: to
    np.fill_diagonal(moves, 0)
    return moves + np.diag(1 - moves.sum(axis=1))


@function("derivation", 2)
def no_repeat(own: Own):
    """Each stay counts once, so states that are hard to leave are counted too seldom."""
    p, q = distributions(own)
    leave = (q * np.minimum(1, (p / q) / (p / q)[:, None])).sum(axis=1)
    yield (p, q), p * leave / (p @ leave), {
        "each stay counts once, however long it lasts: multiply by the probability of leaving":
            p / leave / (p / leave).sum(),
        "this is the target itself": p,
    }  # fmt: skip


@function("coding", 3)
def transition(own: Own):
    """If a rejected chain stays, the flow between any two states is the same both ways."""
    p, q = distributions(own)
    right = _matrix(q, p / q)
    yield (p, q), right, {
        "each row must add up to 1: the probability of staying belongs on the diagonal":
            q * np.minimum(1, (p / q) / (p / q)[:, None]),
        "the ratio of the proposal probabilities is missing": _matrix(q, p),
    }  # fmt: skip


def _log_p(x):
    return np.logaddexp(-0.5 * (x + 1.5) ** 2, np.log(0.5) - 0.5 * (x - 1.5) ** 2)


def _step(log_p, x, width, rng):
    y = x + width * rng.normal(size=x.size)
    return np.where(np.log(rng.random(x.size)) < log_p(y) - log_p(x), y, x)


@function("coding", 3)
def step(own: Own):
    """As many chains move one way as the other way, so the chains keep the target distribution."""
    rng = own.rng("step")
    x = np.where(rng.random(N) < 2 / 3, -1.5, 1.5) + rng.normal(size=N)

    def rows(new, begun):
        return np.stack([new, new - begun, new == begun], axis=1)

    yield (_log_p, x, 2.0), _step, {
        "every proposal was accepted: some must be rejected, and then the old state stays":
            lambda log_p, x, width, rng: x + width * rng.normal(size=x.size),
        "the ratio of p* is upside down":
            lambda log_p, *more: _step(lambda x: -log_p(x), *more),
    }, (
        "the share of accepted proposals or the width of the steps is wrong: add normal steps of "
        "standard deviation `width`, accept with probability min(1, p*(y)/p*(x)), and draw "
        "separate random numbers for each chain"
    ), partial(rows, begun=x)  # fmt: skip
    far = "where p* is near exp(-4000) your step is wrong: work with logarithms"
    x = np.linspace(8.9, 9.1, 500)
    yield (lambda x: -50.0 * x**2, x, 0.5), _step, {}, far, partial(rows, begun=x)


@number("experiment", 3, share=0.2)
def worth(own: Own):
    """Each value repeats a part of the value before it, and only the new part counts."""
    phi = own.number("phi", 0.6, 0.95, 2)
    return N * (1 - phi) / (1 + phi), {
        "the sum of correlations counts twice, once for each direction in time": N * (1 - phi),
    }  # fmt: skip


@number("trap", 2, within=0.01)
def wide_variance(own: Own):
    """Far points are counted too often in all directions, so only the variances are wrong."""
    s = GIVEN["spread"](own)
    return 1.5 * s**2, {
        "this is the variance of the target: without repeats the points spread more widely": s**2,
    }


memory = letter(
    "c", "Only chains from different starts can show that each chain remembers its start.",
    a="R-hat compares chains from different starts, and it is far above 1.01",
    b="a trace without drift only shows that the chain stays where it is",
    d="chance gives a tenth, and after hundreds of sweeps the share is far above a tenth",
)  # fmt: skip
