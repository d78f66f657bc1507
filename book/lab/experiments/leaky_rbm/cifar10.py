"""Chapter leaky_rbm: leaky RBMs trained on CIFAR-10 (Li et al. 2016, Table 3).

Trainings at paper scale to be scored, models to be bracketed, and small trainings on the subset.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np

from rbmbook.gaussian_base import GaussianBasePath
from rbmbook.gaussian_likelihood import bracket_log_z
from rbmbook.gaussian_training import train_gaussian
from rbmbook.images import cifar10_scale, load_cifar10
from rbmbook.sweeps.words import ESTIMATORS, MODELS, PATHS, register
from rbmlib import GeometricPath, ais, exact, project_weights, reverse_ais
from rbmlib.models import GaussianRBM, LeakyRBM
from rbmlib.results import Estimate
from rbmlib.schedules import linear

N_TRAIN = 45_000  # images to train on in a sweep; the other 5,000 for training are for validation
N_TUNING = 250  # test images of the subset by which rates are chosen; the others are for the result
SHAPE = 3072, 500
NO_WEIGHT = 1e-9  # of the one column of N(0, I): a leaky RBM in name


# models and paths ---------------------------------------------------------------------------


def _untrained(kind):
    """Where Li et al. (2016) start their trainings, W ~ U(0, 0.01), projected if need be."""
    weights = np.random.default_rng(0).uniform(0, 0.01, SHAPE)
    return kind(project_weights(weights) if kind is LeakyRBM else weights)


def principal_gaussian(images, largest_number: int) -> LeakyRBM:
    """The Gaussian of variances of at least 1 that fits standardised images best.

    It is a leaky RBM of leakiness 1: N(0, (I - W W')^-1), a column of W for each principal
    direction of a variance s > 1, of length sqrt(1 - 1 / s), at most ``largest_number`` of them.
    """
    spread, axes = np.linalg.eigh((images.T @ images / len(images)).astype(float))
    kept = np.flatnonzero(spread > 1)[::-1][:largest_number]
    if not kept.size:
        return LeakyRBM(NO_WEIGHT * np.eye(images.shape[1], 1), leakiness=1.0)
    return LeakyRBM(axes[:, kept] * np.sqrt(1 - 1 / spread[kept]), leakiness=1.0)


@lru_cache(maxsize=2)
def _gaussian(largest_number: int) -> LeakyRBM:
    if not largest_number:
        return principal_gaussian(np.zeros((1, SHAPE[0])), 0)
    images = cifar10_scale()(load_cifar10(full=True).train)
    return principal_gaussian(images, largest_number)


MODELS |= {
    "leaky start": partial(_untrained, LeakyRBM),
    "gaussian start": partial(_untrained, GaussianRBM),
    "standard normal": partial(_gaussian, 0),
    "principal gaussian": partial(_gaussian, SHAPE[1]),
}


@register(PATHS, "from a standard normal")
def _from_a_standard_normal(rbm):
    """Of Gaussian-Bernoulli RBMs, by Gibbs sweeps; "energy" is the same path of leaky ones."""
    return GeometricPath(rbm)


@register(PATHS, "fitted gaussian")
def _fitted_gaussian(
    rbm, *, fit_chains: int = 100, fit_sweeps: int = 1000, n_steps: int = 1, path_seed: int = 0
):  # fmt: skip
    """From the moments of Gibbs chains begun at CIFAR-10 images: each 20th sweep after a fifth."""
    rng = np.random.default_rng(path_seed)
    images = cifar10_scale()(load_cifar10().train[:fit_chains])
    (model, span), seen = rbm.reduced(), []
    u = span.coordinates(images.astype(float))
    for sweep in range(1, fit_sweeps + 1):
        u = model.gibbs(u, rng)
        if 5 * sweep > fit_sweeps and sweep % 20 == 0:
            seen.append(u)
    return GaussianBasePath(rbm, span(np.concatenate(seen), rng), n_steps)


# estimators ---------------------------------------------------------------------------------


@register(ESTIMATORS, "known")
def _known(rbm):
    """log Z in closed form, of leaky RBMs with orthogonal columns."""
    run = exact(rbm)
    return run, {"n_directions": rbm.n_hidden}


@register(ESTIMATORS, "both sides")
def _both_sides(
    rbm, seed, *, n_chains: int = 50, n_temperatures: int = 1000, fit_chains: int = 200,
    fit_sweeps: int = 1000, n_burn_in: int = 200, n_leapfrog: int = 0,
):  # fmt: skip
    """AIS, and reverse AIS from chains begun at images of the committed subset."""
    started = time.thread_time()
    images = cifar10_scale()(load_cifar10().train[:fit_chains])
    below, above = bracket_log_z(
        rbm, images, n_chains=n_chains, n_temperatures=n_temperatures, n_sweeps=fit_sweeps,
        n_burn_in=n_burn_in, n_leapfrog=n_leapfrog, rng=seed,
    )  # fmt: skip
    more = {
        "reverse_log_z": above.log_z, "reverse_std_error": above.std_error,
        "reverse_mean": above.mean_log_z, "reverse_mean_error": above.mean_std_error,
        "reverse_ess": above.ess,
    }  # fmt: skip
    return replace(below, seconds=time.thread_time() - started), more


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
    subset, scale = load_cifar10(), cifar10_scale()
    images, held_out = scale(subset.train), scale(subset.test).astype(float)
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            run = train_gaussian(
                images, rbm.n_hidden, method=method, n_sweeps=n_sweeps, n_updates=n_updates,
                learning_rate=learning_rate, largest=largest, rng=seed, monitor_every=n_updates,
            )  # fmt: skip
            path = _fitted_gaussian(run.rbm, fit_chains=200, fit_sweeps=300)
            betas = linear(n_temperatures)
            below = ais(path, betas, n_chains, seed)
            above = reverse_ais(path, betas, n_chains, seed, n_burn_in=n_burn_in)
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


def rates(learning_rate: float, falling: bool, n_updates: int) -> np.ndarray:
    """One an update: constant, or falling to zero."""
    return np.linspace(learning_rate, 0.0 if falling else learning_rate, n_updates)


def diverged(seconds: float) -> Estimate:
    """What stands for an estimate if training diverged: there is no model."""
    return Estimate(
        method="none", log_z=math.nan, std_error=math.nan, interval=(-math.inf, math.inf),
        seconds=seconds, verdict="inconclusive",
    )  # fmt: skip
