"""Self-adjusted mixture sampling (Tan 2017): tempering that adjusts its own log Z after every sweep.

    log Z_k += min(gain, pi_k) / pi_k * share_k,    then less log Z_0,

with a gain that falls as 1/t in the end: the least variance any stochastic approximation has. Chains
that adjust the same log Z are not independent: groups of them are, and their spread is the error.
"""

import numpy as np
from scipy.stats import t as student

from .. import checks
from ..numerics import ChainStream, logmeanexp
from ..results import Check, agreement, finished, value
from ..sampling import Adjusted, adapt, pilot
from . import estimator

PILOT_STEPS, MINIMUM_TRIPS, LEAST_VISITED, FALSE_ALARM = 4000, 2.0, 0.5, 0.0027


@estimator
def sams(
    path,
    betas,
    n_chains=100,
    n_sweeps=2000,
    rng=None,
    *,
    n_groups=10,
    t_0=None,
    exponent=0.7,
    conditional="joint",
):
    """Estimate log Z by groups of chains, each with a log Z of its own from a pilot."""
    betas, n_groups = checks.schedule(betas), checks.count("n_groups", n_groups, 2)
    if checks.count("n_chains", n_chains) % n_groups:
        raise ValueError(f"n_chains is {n_chains}: expected a multiple of n_groups, {n_groups}")
    rng, k = checks.generator(rng), betas.size
    prior, top = np.full(k, 1 / k), np.arange(n_groups) % 2 == 1  # groups begin at either end
    first = pilot(path, betas, max(n_chains, 2), PILOT_STEPS, rng)
    stream, at_top = ChainStream(rng, n_chains), np.repeat(top, n_chains // n_groups)
    v = np.where(at_top[:, None], first.top, first.bottom)
    log_z = np.ascontiguousarray(logmeanexp(first.log_weights.reshape(k, n_groups, -1), axis=2).T)
    index = np.where(at_top, k - 1, 0)
    gains, halves = (
        gain_sequence(n_sweeps, 3 * n_sweeps // 10 if t_0 is None else t_0, exponent),
        [],
    )
    for half in np.split(gains, [n_sweeps // 2]):
        seen = Adjusted(
            log_z,
            np.zeros(log_z.shape, np.int64),
            np.zeros(n_chains, np.int64),
            np.full(n_chains, -1),
        )  # of this half
        rows = np.ascontiguousarray(np.tile(half, (n_groups, 1)))
        v = adapt(path, v, index, betas, rows, prior, log_z, stream, seen, conditional)
        halves.append(log_z[:, -1].copy())
    return of_groups("sams", path, betas, log_z, halves, seen, top, prior, n_sweeps)


def gain_sequence(n_sweeps, t_0, exponent):
    """``t**-exponent`` up to t_0, then ``1 / (t - t_0 + t_0**exponent)``."""
    t = np.arange(1, n_sweeps + 1, dtype=float)
    return np.where(t <= t_0, t**-exponent, 1 / np.maximum(t - t_0 + t_0**exponent, 1))


def of_groups(method, path, betas, log_z, halves, seen, top, prior, n_sweeps):
    """From the log Z of each group, (n_groups, K), and what was seen in the second half."""
    n, values, occupation = len(log_z), log_z[:, -1] + path.log_z_base, seen.visits.sum(axis=0)
    trips, least = seen.passages.mean() / 2, (occupation / occupation.sum() / prior).min()
    limits = student.isf(FALSE_ALARM / 2, [n - 1, n - 2])
    found = [
        Check(f"round trips {trips:.1f}, 2 or more", bool(trips >= MINIMUM_TRIPS)),
        Check(f"least visited beta {least:.2f} of its share", bool(least >= LEAST_VISITED)),
        agreement("halves of the run", value(halves[1] - halves[0]), (0, 0), limit=limits[0]),
        agreement("groups begun at either end", value(values[top]), value(values[~top]), limits[1]),
    ]
    return finished(
        method,
        values.mean(),
        values.std(ddof=1) / np.sqrt(n),
        found,
        n,
        n_chains=seen.passages.size,
        n_sweeps=n_sweeps,
        log_weights=values,
        betas=betas,
        log_z_path=log_z.mean(axis=0) + path.log_z_base,
        settings={"n_groups": n, "round_trips": float(trips)},
    )
