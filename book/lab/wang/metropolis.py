"""The Metropolis-Hastings sampler of the report, with its mistakes.

The target is a Gaussian with correlation 1/2, proposals are Gaussians of the two marginals, and
their ratio is left out of the acceptance. A refused proposal is drawn again, or the old state is
counted once more (``repeat``): the report leaves open which.
"""

from __future__ import annotations

import numpy as np

from rbmbook.page import published as printed_rows

TRUTH = 0.5  # correlation of the target
MEAN, SD = np.array([5.0, 10.0]), np.array([1.0, 2.0])  # of the report's target
WHITEN = np.linalg.inv(np.linalg.cholesky([[1.0, 1.0], [1.0, 4.0]])).T
DROPPED, PIECE = 500, 50_000  # samples at the start, and of all chains that are held in memory
BLOCK = 4096  # steps whose random numbers are drawn at once


def published():
    """The report's table: n_runs, correlation (4.912 is printed for 0.4912), variance."""
    table = printed_rows("report_mh_correlation")
    return table.assign(correlation=table["mean_correlation_as_printed"] / 10)


def long_run(repeat: bool, reach: float = 6.0, n: int = 301) -> float:
    """The correlation of the points that are counted in the long run, by a sum over a grid."""
    grid = np.linspace(-reach, reach, n)  # standard deviations
    s, t = (g.ravel() for g in np.meshgrid(grid, grid))
    log_pi, q = -2 / 3 * (s**2 - s * t + t**2), np.exp(-(s**2 + t**2) / 2)
    density = q * np.exp(log_pi)  # of a chain that counts each refusal
    if not repeat:  # times the chance to leave: the sum of q min(1, pi' / pi)
        order = np.argsort(log_pi)
        log_w, q = log_pi[order], q[order] / q.sum()
        lower = np.concatenate([[0], np.cumsum(q * np.exp(log_w - log_w[-1]))])
        upper = np.concatenate([np.cumsum(q[::-1])[::-1], [0]])
        rank = np.searchsorted(log_w, log_pi)
        density *= lower[rank] * np.exp(log_w[-1] - log_pi) + upper[rank]
    return float((density * s * t).sum() / (density * s**2).sum())


def log_target(x) -> np.ndarray:
    return -0.5 * np.square((x - MEAN) @ WHITEN).sum(axis=1)


def steps(x, n_steps: int, rng) -> tuple[np.ndarray, np.ndarray]:
    """States of chains from x, (n_chains, n_steps, 2), and whether the chain moved there."""
    states, moved = [], []
    for first in range(0, n_steps, BLOCK):
        k = min(BLOCK, n_steps - first)
        log_u = np.log(rng.random((k, len(x))))
        y = MEAN + rng.standard_normal((k * len(x), 2)) * SD
        weight, now = log_target(y).reshape(k, -1), log_target(x)
        accepted = np.empty((k, len(x)), bool)
        for t in range(k):
            accepted[t] = log_u[t] < weight[t] - now
            now = np.where(accepted[t], weight[t], now)
        last = np.maximum.accumulate(accepted * np.arange(1, k + 1)[:, None], axis=0)
        every = np.concatenate([x[None], y.reshape(k, *x.shape)])
        states.append(every[last, np.arange(len(x))])
        moved.append(accepted)
        x = states[-1][-1]
    return np.concatenate(states).swapaxes(0, 1), np.concatenate(moved).T


def counted_runs(repeat: bool, n_kept: int, n_runs: int, rng) -> list[np.ndarray]:
    """Points that the sampler counts, ``n_kept`` of each run, in pieces that fit into memory."""
    x = steps(np.tile(MEAN, (n_runs, 1)), DROPPED, rng)[0][:, -1]
    runs = [np.empty((0, 2)) for _ in range(n_runs)]
    while min(map(len, runs)) < n_kept:
        states, moved = steps(x, min(n_kept, PIECE), rng)
        x = states[:, -1]
        pieces = zip(runs, states, moved | repeat, strict=True)
        runs = [np.concatenate([run, own[counted]]) for run, own, counted in pieces]
    return [run[:n_kept] for run in runs]
