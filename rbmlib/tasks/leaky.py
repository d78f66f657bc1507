"""Paths of a task to models with Gaussian visible units."""

from __future__ import annotations

import numpy as np

from .. import datasets
from ..gaussian_base import GaussianBasePath
from ..leaky_paths import EnergyPath, LeakinessPath
from .registry import PATHS, register


@register(PATHS, "leakiness")
def _leakiness(rbm, *, kernel: str):
    return LeakinessPath(rbm, kernel)


@register(PATHS, "energy")
def _energy(rbm, *, kernel: str):
    return EnergyPath(rbm, kernel)


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
