"""Rounds of RTS from equal guesses, the start of Carlson et al. (2016)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

import rbmlib as rl
from rbmlib.estimators.rts import BLOCKS, EMPTY, updated

ROUND, ROUNDS, CLOSE = 50, 10, 0.1  # sweeps per round, most rounds, `distance` of the last


class Round(NamedTuple):
    """Some sweeps of all chains: their states, the shares c, and the new guess of log Z."""

    sample: rl.TemperedSample
    shares: np.ndarray
    log_z: float
    guesses: np.ndarray


def rounds(path, betas, n_chains, seed, n_rounds=8, *, left_out=0, column="mixed",
           conditional="joint", until=0.0) -> list[Round]:  # fmt: skip
    """Successive rounds of `ROUND` sweeps from equal guesses (section 2.4).

    The paper's base is normalised, and its guesses of 1 are ``(1 - beta) log Z_1`` of ours. The
    paper does not say whether the first ``left_out`` sweeps of a round are used, and this matters.
    One state in N with q(0 | x) near 1 keeps c_0 at 1 / N and the rise of the guess, log c_K / c_0,
    below log N, however wrong the guesses are.

    ``column`` says whether shares come from q(beta | x) ("mixed") or from counts ("visited"), with
    `EMPTY` added to each. The first round with a `distance` below ``until`` is the last.
    """
    log_z = (1 - betas) * path.log_z_base
    rng, made = np.random.default_rng(seed), []
    start: Any = "base"
    for _ in range(n_rounds):
        for n in [left_out, ROUND - left_out] if left_out else [ROUND]:
            how = {"n_blocks": 1, "record_every": n, "conditional": conditional, "start": start}
            sample = rl.simulated_tempering(path, betas, log_z, n_chains, n, rng, **how)
            start = sample
        c = getattr(sample, column)[0, :, 0].sum(axis=0) + (EMPTY if column == "visited" else 0)
        c = c / c.sum()
        log_z = updated(sample.log_z_path, sample.prior, c)
        value = float(log_z[-1] - log_z[0] + path.log_z_base)
        made.append(Round(sample, c, value, log_z))
        if distance(c) < until:
            break
        start = sample.states
    return made


def rts_from_rounds(path, betas, n_chains, n_sweeps, rng, *, left_out=0, conditional="joint",
                    rao_blackwell=True) -> tuple[rl.Estimate, list[Round]]:  # fmt: skip
    """RTS that uses all sweeps after the last of the authors' rounds; and these rounds."""
    source = np.random.default_rng(rng)
    how = {"left_out": left_out, "conditional": conditional, "until": CLOSE}
    made = rounds(path, betas, n_chains, source, ROUNDS, **how)
    sample = rl.simulated_tempering(
        path, betas, made[-1].guesses, n_chains, n_sweeps, source, conditional=conditional,
        start=made[-1].sample.states, record_every=n_sweeps, n_blocks=BLOCKS,
    )  # fmt: skip
    run = rl.rts_of_sample(sample, rao_blackwell=rao_blackwell)
    return replace(run, settings=run.settings | {"start": "paper"}), made


def distance(shares) -> float:
    """Largest difference of a share from 1/K, in units of 1/K; the authors stop below 0.1."""
    return float(np.abs(shares - 1 / shares.size).max() * shares.size)
