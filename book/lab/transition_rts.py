"""q(beta) from the transition matrix of beta (Carlson et al. 2016, appendix G).

If states at a beta were drawn afresh each time, the indices of beta would be a Markov chain with
matrix P_jk = E[q(k | x) | beta_j], whose stationary law is q. SD estimates P by the moves that
were made, RSD by the mean of q(k | x) over the states reached from beta_j. With states that
remember, the indices alone are no Markov chain; but in the long run the moves into a beta are as
many as those out of it, so that q is stationary for P all the same, and both are consistent.
"""

from __future__ import annotations

import time

import numpy as np

from rbmlib import Estimate, TemperedSample
from rbmlib.checks import count, instance, one_of
from rbmlib.estimators.rts import updated
from rbmlib.numerics import logsumexp
from rbmlib.results import Check, finished, round_trips

KINDS = ("rsd", "sd")
CHUNK = 100_000  # states whose q(k | x) are held at a time


def transition_rts(
    sample: TemperedSample, *, kind: str = "rsd", n_groups: int = 10, skip: int = 0
) -> Estimate:
    """Estimate log Z from the stationary law of the transitions of beta.

    Parameters
    ----------
    sample : TemperedSample
        Of `simulated_tempering`, ``conditional="joint"``, every sweep kept.
    kind : {"rsd", "sd"}
        "sd": moves counted; "rsd": Rao-Blackwellised.
    n_groups : int
        Groups of chains, left out in turn for the error bar (jackknife).
    skip : int
        Kept states of each chain that are not used.

    Returns
    -------
    Estimate
        ``converged`` is False if a beta was never left, so that P has no single stationary law,
        or if chains made fewer than two round trips on average.
    """
    started = time.perf_counter()
    instance("sample", sample, TemperedSample, "a TemperedSample of rl.simulated_tempering")
    one_of("kind", kind, KINDS)
    joint = sample.method == "simulated" and sample.conditional == "joint"
    if not joint or len(sample.delta) != sample.n_sweeps:
        raise ValueError("sample lacks states: expected one of rl.simulated_tempering with "
                         "conditional='joint' and record_every=1")  # fmt: skip
    n_groups = min(count("n_groups", n_groups, 2), sample.n_chains)
    skip = count("skip", skip, 0)
    if len(sample.temperature) - skip < 2:
        raise ValueError(f"skip is {skip}: expected at most {len(sample.temperature) - 2}")
    groups = np.array_split(np.arange(sample.n_chains), n_groups)
    moves = np.array([transition_sums(sample, chains, kind, skip) for chains in groups])
    whole = _log_z_path(sample, moves.sum(axis=0))
    left_out = np.array([_log_z_path(sample, moves.sum(axis=0) - one)[-1] for one in moves])
    n = len(groups)
    std_error = float(np.sqrt((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum()))
    checks = [round_trips(sample.round_trips.mean())]
    if not (np.isfinite(whole).all() and np.isfinite(std_error)):
        text = "some betas were never visited, so that there is no single stationary law"
        checks.insert(0, Check(text, False))
    return finished(
        kind, whole[-1], std_error, checks, n,
        remedy="Use more sweeps, or better estimates to start from", n_chains=sample.n_chains,
        n_sweeps=sample.n_sweeps, seconds=sample.seconds + time.perf_counter() - started,
        betas=sample.betas, log_z_path=whole, states=sample,
    )  # fmt: skip


def transition_sums(sample: TemperedSample, chains, kind: str, skip: int = 0) -> np.ndarray:
    """Sums over moves of some chains, from each beta to each: (K, K)."""
    from scipy.sparse import csr_array

    k = sample.betas.size
    old = sample.temperature[skip:-1][:, chains].ravel()
    if kind == "sd":
        new = sample.temperature[skip + 1 :][:, chains].ravel()
        return np.bincount(old.astype(np.int64) * k + new, minlength=k * k).reshape(k, k) * 1.0
    delta, out = sample.delta[skip + 1 :][:, chains].ravel(), np.zeros((k, k))
    offsets = np.log(sample.prior) - sample.log_z_path
    for first in range(0, old.size, CHUNK):
        rows = slice(first, first + CHUNK)
        logits = delta[rows, None] * sample.betas + offsets
        q = np.exp(logits - logsumexp(logits, axis=1)[:, None])
        n = len(q)
        out += csr_array((np.ones(n), (old[rows], np.arange(n))), shape=(k, n)) @ q
    return out


def stationary(moves) -> np.ndarray:
    """Stationary law of the moves (K, K), rows normalised; NaN where there is no single one."""
    total = moves.sum(axis=1)
    if not (total > 0).all():
        return np.full(len(moves), np.nan)
    p = moves / total[:, None]
    equations = np.vstack([p.T - np.eye(len(p)), np.ones(len(p))])
    law = np.linalg.lstsq(equations, np.append(np.zeros(len(p)), 1.0), rcond=None)[0]
    return np.where(law > 0, law, np.nan)


def _log_z_path(sample, moves) -> np.ndarray:
    return updated(sample.log_z_path, sample.prior, stationary(moves))
