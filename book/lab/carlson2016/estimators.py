"""Estimators of Carlson et al. (2016) beside RTS: their appendix G, and their Figure 4.

**Appendix G** takes q(beta) as the stationary distribution of P_jk = E[q(k | x) | beta_j],
estimated by the moves made (SD) or by the mean of q(k | x) over the states reached from beta_j
(RSD). **Figure 4** resamples the states of a long run: all estimators use the same states.
"""

from __future__ import annotations

import time

import numpy as np
from scipy.sparse import csr_array
from scipy.special import softmax

from rbmlib import Estimate, TemperedSample, solve_mbar
from rbmlib._kernels import float_sums
from rbmlib.estimators.rts import EMPTY, updated
from rbmlib.results import Check, finished, round_trips

CHUNK = 100_000  # states whose q(k | x) are held at a time


def transition_rts(
    sample: TemperedSample, *, skip: int = 0, kind: str = "rsd", n_groups: int = 10
) -> Estimate:
    """Estimate log Z from the stationary distribution of beta, by "rsd" or counts ("sd").

    The sample must have every sweep, with ``conditional="joint"``; the first ``skip`` are left out.
    The error bar is a jackknife over groups of chains.
    """
    started = time.perf_counter()
    groups = np.array_split(np.arange(sample.n_chains), min(n_groups, sample.n_chains))
    moves = [transition_sums(sample, chains, kind, skip) for chains in groups]

    def log_z_path(moves):
        return updated(sample.log_z_path, sample.prior, stationary(moves))

    whole, n = log_z_path(sum(moves)), len(groups)
    left_out = [log_z_path(sum(moves) - one)[-1] for one in moves]
    std_error = float(np.sqrt((n - 1) * np.var(left_out)))
    checks = [round_trips(sample.round_trips.mean())]
    if not (np.isfinite(whole).all() and np.isfinite(std_error)):
        text = "some betas were never visited, so that q is not determined"
        checks.insert(0, Check(text, False))
    return finished(
        kind, whole[-1], std_error, checks, n,
        remedy="Use more sweeps, or better estimates to start from", n_chains=sample.n_chains,
        n_sweeps=sample.n_sweeps, seconds=sample.seconds + time.perf_counter() - started,
        betas=sample.betas, log_z_path=whole, states=sample,
    )  # fmt: skip


def transition_sums(sample: TemperedSample, chains, kind: str, skip: int = 0) -> np.ndarray:
    """Sums (K, K) over the moves of some chains from each beta to each."""
    k = sample.betas.size
    old = sample.temperature[skip:-1][:, chains].ravel()
    if kind == "sd":
        new = sample.temperature[skip + 1 :][:, chains].ravel()
        return np.bincount(old.astype(np.int64) * k + new, minlength=k * k).reshape(k, k) * 1.0
    delta, out = sample.delta[skip + 1 :][:, chains].ravel(), np.zeros((k, k))
    offsets = np.log(sample.prior) - sample.log_z_path
    for first in range(0, old.size, CHUNK):
        rows = slice(first, first + CHUNK)
        q = softmax(delta[rows, None] * sample.betas + offsets, axis=1)
        n = len(q)
        out += csr_array((np.ones(n), (old[rows], np.arange(n))), shape=(k, n)) @ q
    return out


def stationary(moves) -> np.ndarray:
    """Stationary distribution of the moves (K, K) with normalised rows; NaN if a row is empty."""
    total = moves.sum(axis=1)
    if not (total > 0).all():
        return np.full(len(moves), np.nan)
    k = len(moves)
    equations = np.vstack([(moves / total[:, None]).T - np.eye(k), np.ones(k)])
    q = np.linalg.lstsq(equations, np.append(np.zeros(k), 1.0), rcond=None)[0]
    return np.where(q > 0, q, np.nan)


def bootstrap_tempered(
    sample: TemperedSample, n_estimates: int, n_states: int, rng, *, skip: int, n_mbar: int
) -> dict[str, np.ndarray]:
    """Repeated estimates of log Z from ``n_states`` states drawn with replacement.

    The first ``skip`` states of each chain are left out. "ts" counts betas, with 0.1 added to each
    bin, and "ti" interpolates empty bins. "mbar", the only costly one, has ``n_mbar`` estimates.
    """
    rng = np.random.default_rng(rng)
    pool = sample.delta[skip:].ravel()
    at = sample.temperature[skip:].ravel().astype(int)
    points = float_sums.grid(pool, 1.0)
    offsets = np.log(sample.prior) - sample.log_z_path
    q = softmax(points.nodes[:, None] * sample.betas + offsets, axis=1)
    found: dict[str, list[float]] = {name: [] for name in ("rts", "ts", "ti_rb", "ti", "mbar")}
    for i in range(n_estimates):
        chosen = rng.integers(pool.size, size=n_states)
        weights = _weights(points, chosen)
        mixed = np.stack([weights, weights * points.nodes]) @ q
        for name, value in _estimates(pool[chosen], at[chosen], *mixed, sample).items():
            found[name].append(value)
        if i < n_mbar:
            counts = np.bincount(at[chosen], minlength=sample.betas.size)
            log_z = solve_mbar(pool[chosen], counts, sample.betas).log_z[-1]
            found["mbar"].append(float(log_z) + sample.log_z_base)
    return {name: np.array(values) for name, values in found.items()}


def _weights(points: float_sums.Grid, chosen) -> np.ndarray:
    """Weights of all nodes in a sum over the drawn states."""
    if not points.rank.size:
        return np.bincount(chosen, minlength=points.nodes.size)
    weights = np.zeros((points.nodes.size // float_sums.N_NODES, float_sums.N_NODES))
    float_sums._spread(points.position[chosen], points.rank[chosen], weights)
    return weights.ravel()


def _estimates(delta, index, c, slopes, sample: TemperedSample) -> dict[str, float]:
    """RTS, TS, TI-RB and TI (trapezoid); ``c`` and ``slopes`` are sums of q and of q Delta."""
    betas, k = sample.betas, sample.betas.size
    counted = np.bincount(index, minlength=k)
    full = counted > 0
    own = np.bincount(index, delta, minlength=k)[full] / counted[full]
    own = np.interp(betas, betas[full], own)
    prior = np.log(sample.prior[0] / sample.prior[-1])
    first = sample.log_z_path[-1] + prior
    return {
        "rts": first + np.log(c[-1] / c[0]),
        "ts": first + np.log((counted[-1] + EMPTY) / (counted[0] + EMPTY)),
        "ti_rb": sample.log_z_base + np.trapezoid(slopes / c, betas),
        "ti": sample.log_z_base + np.trapezoid(own, betas),
    }
