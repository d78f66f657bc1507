"""How chains of RTS, TI and MBAR begin: from a pilot, or by the rounds of the paper.

The first iterations of RTS (Carlson et al. 2016, section 2.4) are short rounds from equal Z^. After
each round Z^ is updated by eq. (12), and chains go on from their last states with fresh, uniformly
drawn betas. The paper does not say whether the first sweeps of a round are used. It matters: log
Z^_K / Z^_0 rises by log c_K / c_0, and a fresh beta at the bottom of the ladder is a visit that the
Z^ of the round do not ask for. One state with q(0 | x) near 1 among N is enough to keep c_0 at
1 / N and the rise below log N, however far the Z^ are off. Where the first sweeps are left out, c_0
is the mean of q(0 | x) over states that have left the bottom, however small it is (down to
2**-1000: compiled draws of beta take no probability below).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from .. import checks
from ..paths.path import Path
from ..sampling import TemperedSample, both_ends, simulated_tempering
from ..sampling.planning import PER_LENGTH, planned
from ..sampling.sample import check_conditional

PILOT_STEPS = 4000
TRIPS = 5.0  # round trips of a chain for which sweeps are planned: 2 are asked
BLOCKS = 20  # of time
ROUNDS, ROUND_SWEEPS, CLOSE = 10, 50, 0.1


def from_pilot(path, betas, n_chains, source, options):
    """Z^ of a pilot, and chains at both ends of the ladder."""
    log_z_path, start, index = both_ends(path, betas, n_chains, PILOT_STEPS, source)
    more = {"pilot_log_z": float(log_z_path[-1])}
    return log_z_path, {"start": start, "index": index}, more


def tempered(
    method: str,
    path: Path,
    betas,
    n_chains,
    n_sweeps,
    rng,
    *,
    begin: Callable = from_pilot,
    prior=None,
    conditional: str = "joint",
    record_every: int | Callable[[int], int] = 1,
    per_length: int = PER_LENGTH,
) -> tuple[TemperedSample, dict[str, Any]]:
    """A sample of simulated tempering, and what there is to say of how it was begun.

    Betas and sweeps that were not given (None) are planned. ``record_every`` may be a function of
    the number of sweeps.
    """
    n_chains = checks.count("n_chains", n_chains, 2)
    check_conditional(path, conditional)
    if not callable(record_every):
        record_every = checks.count("record_every", record_every)
    source = checks.generator(rng)
    betas, n_sweeps, seen = planned(
        method, path, betas, n_sweeps, source, trips=TRIPS, conditional=conditional, prior=prior,
        per_length=per_length,
    )  # fmt: skip
    options = {"prior": prior, "conditional": conditional}
    log_z_path, begun, more = begin(path, betas, n_chains, source, options)
    every = record_every(n_sweeps) if callable(record_every) else record_every
    sample = simulated_tempering(
        path, betas, log_z_path, n_chains, n_sweeps, source, **begun, **options,
        record_every=every, n_blocks=BLOCKS,
    )  # fmt: skip
    return sample, more | seen


# rounds -------------------------------------------------------------------------------------


class Round(NamedTuple):
    """Of the initial iterations: what a round began with, saw, and left."""

    before: np.ndarray  # (K,): log Z^ with which beta was drawn, log Z_0 of the base first
    occupation: np.ndarray  # (K,): c_k of the sweeps that are used (eq. 9)
    prior: np.ndarray  # (K,)
    log_z_path: np.ndarray  # (K,): log Z^ after the update (eq. 12)
    states: np.ndarray  # (n_chains, n)

    @property
    def distance(self) -> float:
        """``K max |r_k - c_k|``: below 0.1 the paper stops."""
        return float(self.prior.size * np.abs(self.prior - self.occupation).max())


def checked_burn_in(start: str, burn_in, n_sweeps: int = ROUND_SWEEPS) -> int:
    """Sweeps of a round that are not used, fewer than it has; none without rounds."""
    burn_in = checks.count("round_burn_in", burn_in, 0)
    if burn_in and start == "pilot":
        raise ValueError(
            f"round_burn_in is {burn_in}, but a pilot has no rounds: expected start='paper', or 0"
        )
    if burn_in >= n_sweeps:
        raise ValueError(
            f"round_burn_in is {burn_in}: expected fewer than the {n_sweeps} sweeps of a round"
        )
    return burn_in


def updated(log_z_path, prior, c) -> np.ndarray:
    """Eq. (12), in logarithms."""
    change = np.log(c) - np.log(prior)
    return log_z_path + change - change[0]


def rounds(
    path: Path,
    betas,
    n_chains: int,
    rng,
    options: dict,
    *,
    n_sweeps: int = ROUND_SWEEPS,
    burn_in: int = 0,
) -> Iterator[Round]:
    """Rounds of ``n_sweeps`` sweeps, the first ``burn_in`` not used, without end.

    The paper's base is normalised, ``f_beta = f^beta p_1^(1 - beta)`` with Z_1 = 1, and its Z^_k
    are 1: in terms of our densities ``log Z^_k = (1 - beta_k) log Z_1``. ``options`` are those of
    `simulated_tempering`: prior, conditional.
    """
    log_z_path: np.ndarray = (1 - betas) * path.log_z_base
    start: Any = "base"
    options = options | {"n_blocks": 1, "progress": False}
    while True:
        if burn_in:
            start = simulated_tempering(
                path, betas, log_z_path, n_chains, burn_in, rng, start=start,
                record_every=burn_in, **options,
            )  # fmt: skip
        sample = simulated_tempering(
            path, betas, log_z_path, n_chains, n_sweeps - burn_in, rng, start=start, **options
        )
        c = sample.occupation()[0].mean(axis=0)
        log_z_path, start = updated(sample.log_z_path, sample.prior, c), sample.states
        yield Round(sample.log_z_path, c, sample.prior, log_z_path, start)


def from_rounds(burn_in: int = 0) -> Callable:
    """Z^ and states of up to ten rounds, fewer if ``max |r_k - c_k| < 0.1 / K``."""

    def begin(path, betas, n_chains, source, options):
        history, close = [], False
        for one in islice(rounds(path, betas, n_chains, source, options, burn_in=burn_in), ROUNDS):
            history.append([one.before.tolist(), one.occupation.tolist()])
            close = one.distance < CLOSE
            if close:
                break
        more = {"initial": history, "initial_close": close, "round_burn_in": burn_in}
        return one.log_z_path, {"start": one.states}, more

    return begin
