"""Judges of functions of tempered chains and of RTS; several lessons use them."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logsumexp

from rbmlib.estimators.sample import sample

from .checker import drawn, mean_is, numbers, require, same
from .own import Own, states

LADDER = np.linspace(0, 1, 6)


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
    require(bool(np.all(np.isfinite(answer(far, betas, guess)))), hint)
    same(answer(far, betas, guess), right_law(far, betas, guess),
         what="where the slope is 100,000 or -100,000 your answer")  # fmt: skip


def draw(answer, own: Own):
    q = own.rng("q").dirichlet(np.ones(5), size=3)
    rows = np.repeat(q, 4000, axis=0)
    k = numbers(answer(rows, own.rng("draw")), (12_000,), "the indices")
    require(bool(np.isin(k, range(5)).all()), "indices are the whole numbers 0 to 4")
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
    require(bool(np.isin(k, range(LADDER.size)).all()), "indices are the whole numbers 0 to 5")
    require(bool(np.all(np.ptp(k, axis=0) > 0)), "each chain must change its temperature")
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
    return v @ (m.visible_bias - b0) + (field * expit(beta * field)).sum(axis=1)


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
