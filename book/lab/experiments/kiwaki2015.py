"""Kiwaki (2015): AIS in both directions with records on the way, exact slopes, training runs.

For 500 hidden units, the paper draws the number of epochs, the learning rate and the L2 penalty.
For 20 hidden units, the learning rate is fixed. None of these is printed (sections 7.1, 7.2).
"""

import time
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from rbmbook.measured import bootstrap_log_weights
from rbmbook.sweeps.words import ESTIMATORS, MODELS, register
from rbmlib import ais, datasets, exact, reverse_ais
from rbmlib.estimators.reverse_ais import resampled
from rbmlib.models.enumeration import can_enumerate
from rbmlib.numerics import ChainStream
from rbmlib.paths.named import GeometricPath
from rbmlib.results import Estimate
from rbmlib.sampling.anneal import sweep
from rbmlib.training.train import train

N_DRAWN, N_AGAIN = 3, 3
UPDATES_AN_EPOCH = 600  # 60,000 images, 100 per update
RATES_AGAIN = (0.003, 0.005, 0.01)  # for all three kinds with 20 hidden units
KINDS = {"pcd_20": ("pcd", 1), "cd1_20": ("cd", 1), "cd25_20": ("cd", 25)}


def drawn_settings(draw: int) -> dict:
    """Settings of training run ``draw``: 4 to 20 epochs; rates and penalties are log-uniform."""
    rng = np.random.default_rng([500, draw])
    return {
        "n_updates": UPDATES_AN_EPOCH * int(rng.integers(4, 21)),
        "learning_rate": float(f"{0.05 * 10 ** -rng.random():.2g}"),
        "weight_decay": float(f"{1e-3 * 100 ** -rng.random():.2g}"),
    }


@lru_cache(maxsize=1)  # all tasks on a model follow each other
def trained(n_hidden, n_updates, learning_rate, weight_decay, rng, method="pcd", n_sweeps=1):
    """A model trained on MNIST with 100 images per update, in minutes."""
    return train(
        datasets.load_mnist().train, n_hidden, method=method, n_sweeps=n_sweeps,
        n_updates=n_updates, learning_rate=learning_rate, weight_decay=weight_decay, rng=rng,
        monitor_every=n_updates,
    ).rbm  # fmt: skip


MODELS |= {
    f"pcd_500, training {k}": partial(trained, 500, **drawn_settings(k), rng=k)
    for k in range(1, N_DRAWN + 1)
}
MODELS["pcd_20, rate 0.002"] = partial(trained, 20, 250_000, 0.002, 0.0, 0)  # of pcd_20: 0.02
MODELS |= {
    f"{name}, rate {rate}, training {k}": partial(trained, 20, 250_000, rate, 0.0, k, *kind)
    for name, kind in KINDS.items()
    for rate in RATES_AGAIN
    for k in range(1, N_AGAIN + 1)
}


@register(ESTIMATORS, "two_way_ais")
def two_way_ais(path, betas, seed, *, n_chains: int = 1000, n_reversed: int = 0):
    return _two_way(path, betas.tobytes(), seed, n_chains, n_reversed)


@lru_cache(maxsize=2)
def _two_way(path, packed: bytes, seed: int, n_chains: int, n_reversed: int):
    """AIS with bootstrap intervals, and reverse AIS along the same betas, from exact samples of the
    target if available, and otherwise from the forward chains. Equal schedules share a run."""
    betas = np.frombuffer(packed)
    forward = ais(path, betas, n_chains, seed, n_recorded=2)
    more = {"largest_step": float(np.diff(betas).max() * (betas.size - 1))}
    more["variance"] = float(np.var(forward.log_weights, ddof=1))
    for name, ends in bootstrap_log_weights(forward.log_weights, rng=seed).items():
        more |= {f"{name}_low": ends[0], f"{name}_high": ends[1]}
    if n_reversed:
        rng = np.random.default_rng([seed, 2])
        start: Any = "exact"
        if not can_enumerate(path.at(1.0)):
            chosen = resampled(forward.log_weights, rng, n_reversed)
            stream = ChainStream(rng, n_reversed)
            start = sweep(path, forward.states[chosen], 1.0, 1000, stream)
        more |= reverse_columns(reverse_ais(path, betas, n_reversed, rng, start=start))
    return forward, more


def reverse_columns(back: Estimate) -> dict[str, float]:
    return {"reverse_log_z": back.log_z, "reverse_std_error": back.std_error,
            "reverse_mean": back.mean_log_z, "reverse_mean_error": back.mean_std_error,
            "reverse_ess": back.ess}  # fmt: skip


@register(ESTIMATORS, "looked_at")
def _looked_at(path, betas, rng, *, n_chains: int = 1000, n_looks: int = 20):
    """AIS with effective sample size and variance of log-weights at evenly spaced steps."""
    run = ais(path, betas, n_chains, rng, n_recorded=n_looks + 1, keep_chains=True)
    variances = run.trace["chain_log_weights"].astype(float).var(axis=1, ddof=1)
    seen, looks = {"ess": run.trace["ess"], "variance": variances}, range(1, n_looks + 1)
    return run, {f"{name}_{i}": float(x[i]) for name, x in seen.items() for i in looks}


def slope_variance(path: GeometricPath, beta: float, n_draws: int, rng) -> dict[str, float]:
    """Mean, variance g(beta) and its error of d/dbeta log p*_beta(v), from exact draws of p_beta.

    The mean equals d log Z / d beta. No pilot and no chain is needed.
    """
    v = path.at(beta).exact_samples(n_draws, np.random.default_rng(rng))
    x = path.log_density_slope(v, beta)
    g = x.var(ddof=1)
    fourth = ((x - x.mean()) ** 4).mean()
    error = np.sqrt(max(fourth - g**2, 0.0) / n_draws)
    return {"mean_slope": float(x.mean()), "g": float(g), "g_error": float(error)}


@register(ESTIMATORS, "exact_slopes")
def _exact_slopes(path, seed, *, beta: float, n_draws: int = 5000):
    """g at one beta from exact draws, which differ between betas; log Z is that of p*_beta."""
    started = time.perf_counter()
    found = slope_variance(path, beta, n_draws, [seed, round(1e6 * beta)])
    run = exact(path.at(beta))
    return replace(run, seconds=time.perf_counter() - started), found
