"""From log-weights of chains whose mean is Z, or 1 / Z, to an estimate: AIS both ways, and BAR."""

from __future__ import annotations

import math
import time

import numpy as np

from .. import __version__
from .._diagnosis import warn
from .._streams import ChainStream
from .._validation import seed_of
from ..paths.base import State
from ..results import (
    FEWEST_EFFECTIVE,
    MINIMUM_ESS,
    MINIMUM_FRACTION,
    Estimate,
    log_mean_interval,
    summarise_log_weights,
)

NO_SPREAD = 1e-10  # nats: a smaller standard error, or spread of log-weights, is rounding


def of_weights(
    method: str, log_weights, path, final: State, started: float, settings: dict, *,
    sign: int = 1, **more,
) -> Estimate:  # fmt: skip
    """The estimate from weights (n_chains,) whose mean is Z; ``sign`` -1: 1 / Z.

    Warns if they cannot be trusted. Weights that are all alike have no standard error, for chains
    that never moved are alike too, unless the path leads nowhere: ``final`` are chains at its end.
    ``mean_log_z`` is the plain mean over chains, a bound in expectation (Jensen).
    """
    summary, n_chains = summarise_log_weights(log_weights), log_weights.size
    converged = has_converged(summary.ess, n_chains)
    trouble = f"the effective sample size is {summary.ess:.1f} of {n_chains} chains"
    if summary.std_error < NO_SPREAD:
        converged, trouble = _is_constant(path, final), "all chains have the same weight"
        if not converged:
            summary = summary._replace(std_error=math.nan)
    if not converged:
        warn(
            f"{method}: {trouble}, so the standard error cannot be trusted; "
            + (f"use {2 * FEWEST_EFFECTIVE} chains or more" if n_chains < 2 * FEWEST_EFFECTIVE
               else "use more temperatures (or a better base or schedule), then more chains")
        )  # fmt: skip
    interval, values = log_mean_interval(summary, n_chains), sign * log_weights
    spread = float(values.std(ddof=1) / np.sqrt(n_chains)) if n_chains > 1 else math.nan
    return Estimate(
        method=method,
        log_z=sign * summary.log_mean,
        std_error=summary.std_error,
        interval=interval if sign > 0 else (-interval[1], -interval[0]),
        bound="lower" if sign > 0 else "upper",
        mean_log_z=float(values.mean()),
        mean_std_error=spread,
        ess=summary.ess,
        n_chains=n_chains,
        n_sweeps=settings["n_temperatures"],
        seconds=time.perf_counter() - started,
        converged=converged,
        log_weights=values,
        settings=settings,
        **more,
    )


def has_converged(ess: float, n_chains: int) -> bool:
    even = ess >= max(FEWEST_EFFECTIVE, MINIMUM_FRACTION * n_chains)
    return bool(ess >= MINIMUM_ESS or even)


def _is_constant(path, final: State) -> bool:
    """Whether base and target differ by a constant, judged by draws from the base and the chains.

    Then every weight is the same because the estimate is exact.
    """
    n = final.n_chains
    drawn = path.sample_base(n, ChainStream.of_seed(0, n, 0))
    gains = [path.log_density(x, np.array([0.0, 1.0])) @ [-1.0, 1.0] for x in (drawn, final)]
    return bool(np.ptp(gains) <= NO_SPREAD * (1 + np.abs(gains).max()))


def run_settings(path, betas, rng, stream, **more) -> dict:
    """What it takes to repeat a run."""
    return {
        "path": repr(path),
        "n_temperatures": int(betas.size - 1),
        "rng": seed_of(rng),
        "stream_seed": stream.seed,
        "version": __version__,
        **more,
    }
