"""Chapter leaky_rbm: leaky RBMs with few units trained on the subset of CIFAR-10."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from ... import datasets
from ...estimators import ais, reverse_ais
from ...paths.fitted_gaussian import GaussianBasePath
from ...schedules import linear
from ...sweeps.registry import ESTIMATORS, PATHS, register
from ...training.gaussian import train_gaussian
from .cifar10 import diverged

N_TUNING = 250  # test images of the subset by which rates are chosen; the others are for the result


@register(PATHS, "fitted gaussian")
def _fitted_gaussian(
    rbm, *, fit_chains: int = 100, fit_sweeps: int = 1000, n_steps: int = 1, path_seed: int = 0
):  # fmt: skip
    """From the moments of Gibbs chains begun at CIFAR-10 images: each 20th sweep after a fifth."""
    rng = np.random.default_rng(path_seed)
    images = datasets.cifar10_scale()(datasets.load_cifar10().train[:fit_chains])
    reduction, seen = rbm.reduced(), []
    u = reduction.coordinates(images.astype(float))
    for sweep in range(1, fit_sweeps + 1):
        u = reduction.model.gibbs(u, rng)
        if 5 * sweep > fit_sweeps and sweep % 20 == 0:
            seen.append(u)
    return GaussianBasePath(rbm, reduction.expand(np.concatenate(seen), rng), n_steps)


@register(ESTIMATORS, "trained on the subset")
def _trained_on_subset(
    rbm, seed, *, method: str, learning_rate: float, n_updates: int, n_sweeps: int = 20,
    largest: float = 0.9999, n_chains: int = 100, n_temperatures: int = 300, n_burn_in: int = 200,
):  # fmt: skip
    """Train a leaky RBM of as many units as ``rbm`` on 2,000 images of CIFAR-10.

    Mean log-likelihood of the first 250 of the 500 test images ("tuning") and of the others
    ("test"): log Z by AIS ("high") and by reverse AIS ("low"). A training that ends in no finite
    numbers has neither. The seconds are those of the processor, on one thread.
    """
    started = time.thread_time()
    subset, scale = datasets.load_cifar10(), datasets.cifar10_scale()
    images, held_out = scale(subset.train), scale(subset.test).astype(float)
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            run = train_gaussian(
                images, rbm.n_hidden, method=method, n_sweeps=n_sweeps, n_updates=n_updates,
                learning_rate=learning_rate, largest=largest, rng=seed, monitor_every=n_updates,
                progress=False,
            )  # fmt: skip
            path = _fitted_gaussian(run.rbm, fit_chains=200, fit_sweeps=300)
            betas = linear(n_temperatures)
            below = ais(path, betas, n_chains, seed, progress=False)
            above = reverse_ais(path, betas, n_chains, seed, n_burn_in=n_burn_in, progress=False)
    except (FloatingPointError, np.linalg.LinAlgError):
        return diverged(time.thread_time() - started), {}
    log_p = run.rbm.log_density(held_out)
    more = {}
    for name, part in (("tuning", log_p[:N_TUNING]), ("test", log_p[N_TUNING:])):
        more[f"{name}_low"] = part.mean() - above.mean_log_z
        more[f"{name}_high"] = part.mean() - below.mean_log_z
    more |= {name: run.history[name][-1] for name in list(run.history)[1:]}
    below = replace(below, seconds=time.thread_time() - started)
    return below, more | {"reverse_ess": above.ess}
