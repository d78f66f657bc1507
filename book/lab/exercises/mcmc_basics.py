"""Tasks of the lesson on Markov chain Monte Carlo."""

from __future__ import annotations

import numpy as np

from .checker import choice, drawn, mean_is, near, numbers, require, same, task
from .own import Own


def distributions(own: Own) -> tuple[np.ndarray, np.ndarray]:
    """A target and a distribution of proposals on five states."""
    rng = own.rng("laws")
    return rng.dirichlet(np.ones(5)), rng.dirichlet(4 * np.ones(5))


def chain(own: Own) -> np.ndarray:
    """20,000 values of a chain whose correlation falls by one factor a step."""
    phi, noise = own.number("phi", 0.6, 0.95, 2), own.rng("chain").normal(size=20_000)
    x = np.empty(20_000)
    x[0] = noise[0] / np.sqrt(1 - phi**2)
    for t in range(1, 20_000):
        x[t] = phi * x[t - 1] + noise[t]
    return x


def spread(own: Own) -> float:
    """A standard deviation."""
    return own.number("sd", 1.5, 4.0)


GIVEN = {"distributions": distributions, "chain": chain, "spread": spread}


def _matrix(p, q):
    moves = q * np.minimum(1, np.outer(p / q, 1 / (p / q)).T)  # row: from, column: to
    np.fill_diagonal(moves, 0)
    return moves + np.diag(1 - moves.sum(axis=1))


@task("derivation", 2)
def no_repeat(answer, own: Own):
    """A stay counts once, however long: states that are hard to leave come too seldom."""
    p, q = distributions(own)
    w = p / q
    leave = (q * np.minimum(1, w / w[:, None])).sum(axis=1)
    right = p * leave / (p * leave).sum()
    mistakes = {
        "without repeats a stay counts once, not as often as it lasts: multiply by the "
        "probability of leaving": p / leave / (p / leave).sum(),
        "this is the target itself": p,
        "the ratio of proposals is kept here: A compares p/q, not p": (
            (p * (q * np.minimum(1, p / p[:, None])).sum(axis=1))
            / (p * (q * np.minimum(1, p / p[:, None])).sum(axis=1)).sum()
        ),
        "the probabilities must add up to 1": p * leave,
        "this is the distribution of the rule without the ratio": p * q / (p * q).sum(),
    }
    same(answer(p, q), right, mistakes)


@task("coding", 3)
def transition(answer, own: Own):
    """A rejected chain stays, so that the flow between any two states is the same both ways."""
    p, q = distributions(own)
    right = _matrix(p, q)
    found = numbers(answer(p, q), (5, 5), "the matrix")
    require(not np.allclose(found, right.T) or np.allclose(right, right.T),
            "a row is where the chain is, a column where it goes")  # fmt: skip
    require(np.allclose(found.sum(axis=1), 1), "each row must add up to 1: a rejected proposal "
            "stays, and belongs on the diagonal")  # fmt: skip
    ones = np.minimum(1, p / p[:, None])
    naive = q * ones
    np.fill_diagonal(naive, 0)
    require(not np.allclose(found, naive + np.diag(1 - naive.sum(axis=1))),
            "the ratio of the proposals is missing")  # fmt: skip
    require(np.allclose(p @ found, p), "the target is not left as it is: p @ T is not p")
    same(found, right)


def _log_p(x):
    return np.logaddexp(-0.5 * (x + 1.5) ** 2, np.log(0.5) - 0.5 * (x - 1.5) ** 2)


@task("coding", 3)
def step(answer, own: Own):
    """As many chains go one way as the other: the crowd stays spread as the target says."""
    rng, n = own.rng("step"), 20_000
    side = np.where(rng.random(n) < 2 / 3, -1.5, 1.5)
    x = side + rng.normal(size=n)
    kept = x.copy()
    new = numbers(answer(_log_p, x, 2.0, own.rng("move")), (n,), "the states")
    require(np.array_equal(kept, x), "the states that were given were changed: copy them")
    drawn(answer, own, "move", _log_p, x, 2.0)
    stayed = new == x
    require(stayed.any(), "every proposal was taken: some must be rejected, and the old "
            "state stays")  # fmt: skip
    shares = [np.mean(answer(_log_p, x, 2.0, own.rng(f"move {i}")) != x) for i in range(8)]
    require(np.ptp(shares) < 0.1, "all chains share one random number: draw one for each, of "
            "the size of x")  # fmt: skip
    proposed = x + 2.0 * own.rng("other").normal(size=n)
    rate = np.minimum(1, np.exp(_log_p(proposed) - _log_p(x)))
    mean_is(
        (~stayed).astype(float) - rate, 0.0,
        "the share of accepted proposals is wrong: min(1, p*(y)/p*(x)), and steps of the "
        "standard deviation `width`",
    )  # fmt: skip
    hint = "exact draws are none any more after the step"
    for f in (lambda x: x, lambda x: x**2, lambda x: (x > 0).astype(float)):
        mean_is(f(new) - f(x), 0.0, hint)
    y = proposed
    moved = np.where(own.rng("u").random(n) < rate, (y - x) ** 2, 0.0)
    mean_is((new - x) ** 2 - moved, 0.0, "the steps have another width")
    far = answer(lambda x: -50.0 * x**2, np.full(500, 9.0), 0.5, own.rng("far"))
    require(np.all(np.asarray(far) < 9.3), "a much worse state was taken: work with "
            "logarithms")  # fmt: skip


@task("experiment", 3)
def worth(answer, own: Own):
    """Each value repeats a part of the one before; only what is new counts."""
    phi = own.number("phi", 0.6, 0.95, 2)
    right = 20_000 * (1 - phi) / (1 + phi)
    near(answer, right, 0.2 * right, {
        "the sum of correlations counts twice: once for each direction in time":
            20_000 * (1 - phi),
        "this is the autocorrelation time: divide the number of samples by it":
            (1 + phi) / (1 - phi),
    })  # fmt: skip


@task("trap", 2)
def wide_variance(answer, own: Own):
    """Far points are kept more often, the same all along an ellipse: only variances see it."""
    s = spread(own)
    near(answer, 1.5 * s**2, 0.01, {
        "this is the variance of the target; the wide rule without repeats is too wide": s**2,
        "a variance is the square of a standard deviation": 1.5 * s,
    })  # fmt: skip


@task("reading", 1)
def memory(answer, own: Own):
    """Only chains from different starts can show that each still knows its own."""
    choice(answer, "c", {
        "a": "R-hat compares chains from different starts, and it is far above 1.01",
        "b": "a quiet trace only says that the chain stays where it is",
        "d": "a tenth is chance; after hundreds of sweeps the share is far above it",
    })  # fmt: skip
