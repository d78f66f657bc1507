"""Judges of functions of MBAR and SAMS; several lessons use them."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from .checker import numbers, require, same
from .ladders import LADDER, joint_sample
from .own import Own


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
    require(bool(np.all(abs(found[:, 0]) < 1e-9)), "the guess at β = 0 is kept at 0")
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
