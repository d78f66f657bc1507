"""Bootstrap intervals over independent chains."""

from __future__ import annotations

import numpy as np

from rbmlib.results import summarise_log_weights


def bootstrap_log_weights(log_weights, n_resamples: int = 1000, rng=0) -> dict:
    """95% percentile intervals over independent chains: ``{"ess": (low, high), "variance": ...}``.

    Of the effective sample size, and of the variance of the log-weights (n,). Resampling cannot
    show a weight larger than any seen, so the interval of the ESS gets too narrow as the ESS falls:
    for 1,000 normal log-weights it covers 94% of the time at an ESS of 780, 85% at 380. That of the
    variance covers 94% at both.
    """
    log_weights = np.asarray(log_weights, dtype=float)
    rng, n = np.random.default_rng(rng), log_weights.size
    if log_weights.ndim != 1 or n < 2:
        raise ValueError(
            f"log_weights has shape {log_weights.shape}: expected (n_chains,) of two chains or more"
        )
    found = np.empty((n_resamples, 2))
    for row in found:
        chosen = log_weights[rng.integers(n, size=n)]
        row[:] = summarise_log_weights(chosen).ess, np.var(chosen, ddof=1)
    low, high = np.quantile(found, (0.025, 0.975), axis=0).tolist()
    return {"ess": (low[0], high[0]), "variance": (low[1], high[1])}
