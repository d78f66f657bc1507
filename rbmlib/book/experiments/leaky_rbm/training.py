"""Chapter leaky_rbm: several trainings of leaky and Gaussian-Bernoulli RBMs on 2,000 images.

Both models by the same program, at rates found in the same way, with as many hidden units as the
model that a task names: of its weights nothing is used.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np

from .... import datasets
from ....estimators.gaussian_likelihood import bracket_log_z
from ....models import GaussianRBM, LeakyRBM
from ....sweeps.models import MODELS
from ....sweeps.registry import ESTIMATORS, register
from ....training.gaussian import train_gaussian
from .cifar10 import N_TUNING, SHAPE, diverged

UNITS = 20, 100, 200, 500
N_START = 200  # images at which the chains begin that log Z rests on


def _of_units(kind, n_hidden: int):
    return kind(np.full((SHAPE[0], n_hidden), 1e-3 / n_hidden))


MODELS |= {
    f"{name} of {n} units": partial(_of_units, kind, n)
    for name, kind in (("leaky", LeakyRBM), ("gaussian", GaussianRBM))
    for n in UNITS
}


@lru_cache(maxsize=1)
def subset() -> tuple[np.ndarray, np.ndarray]:
    """Standardised images to train on, and held out, of the committed subset."""
    images, scale = datasets.load_cifar10(), datasets.cifar10_scale()
    return scale(images.train), scale(images.test).astype(float)


@register(ESTIMATORS, "trained for epochs")
def _trained_for_epochs(
    rbm, seed, *, method: str = "cd", kernel: str = "gibbs", learning_rate: float,
    falling: bool = False, largest: float = 0.9999, n_updates: int = 400, n_sweeps: int = 20,
    n_chains: int = 50, n_temperatures: int = 200, n_leapfrog: int = 10,
):  # fmt: skip
    """Train on the 2,000 images of the committed subset: 20 updates of 100 are an epoch.

    Mean log-likelihood of the first 250 of the 500 test images ("tuning") and of the others
    ("test"): log Z by AIS ("high") and by reverse AIS ("low"), with transitions that are exact for
    either model. A training that ends in no finite numbers has neither. ``largest`` bounds the
    singular values of the leaky RBM. The seconds are those of the processor, on one thread;
    "training_seconds" are those of the training alone.
    """
    training = {"method": method, "n_sweeps": n_sweeps, "n_updates": n_updates, "rng": seed}
    if isinstance(rbm, LeakyRBM):
        training |= {"kernel": kernel, "largest": largest}
    bracket = {"n_chains": n_chains, "n_temperatures": n_temperatures, "n_leapfrog": n_leapfrog}
    return _scored(rbm, _rates(learning_rate, falling) | training, bracket | {"rng": seed})


@register(ESTIMATORS, "trained at size")
def _trained_at_size(
    rbm, seed, *, method: str = "cd", learning_rate: float, falling: bool = False,
    n_updates: int = 400, n_sweeps: int = 20, n_chains: int = 50, n_temperatures: int = 200,
):  # fmt: skip
    """As "trained for epochs", of hundreds of units: log Z by products in single precision."""
    training = {"method": method, "n_sweeps": n_sweeps, "n_updates": n_updates, "rng": seed}
    bracket = {"n_chains": n_chains, "n_temperatures": n_temperatures, "n_leapfrog": 10}
    bracket |= {"single_precision": True, "rng": seed}
    return _scored(rbm, _rates(learning_rate, falling) | training, bracket)


def _rates(learning_rate: float, falling: bool) -> dict[str, float]:
    final = 0.0 if falling else learning_rate
    return {"learning_rate": learning_rate, "final_learning_rate": final}


def _scored(rbm, training: dict, bracket: dict):
    """A model of the kind and size of ``rbm``, trained, and both ends of its log-likelihoods."""
    started = time.thread_time()
    images, held_out = subset()
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            run = train_gaussian(
                images, rbm.n_hidden, hidden="leaky" if isinstance(rbm, LeakyRBM) else "bernoulli",
                monitor_every=training["n_updates"], progress=False, **training,
            )  # fmt: skip
            trained = time.thread_time() - started
            below, above = bracket_log_z(run.rbm, images[:N_START], **bracket)
    except (FloatingPointError, np.linalg.LinAlgError):
        return diverged(time.thread_time() - started), {}
    log_p = run.rbm.log_density(held_out)
    more = {"training_seconds": trained, "reverse_ess": above.ess}
    for name, part in (("tuning", log_p[:N_TUNING]), ("test", log_p[N_TUNING:])):
        more[f"{name}_low"] = part.mean() - above.mean_log_z
        more[f"{name}_high"] = part.mean() - below.mean_log_z
    more |= {name: run.history[name][-1] for name in list(run.history)[1:]}
    return replace(below, seconds=time.thread_time() - started), more
