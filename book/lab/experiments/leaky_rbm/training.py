"""Chapter leaky_rbm: several trainings of leaky and Gaussian-Bernoulli RBMs on CIFAR-10.

On the committed 2,000 images, or on all but the last 5,000 of the 50,000 for training. Both models
by the same program, at rates found in the same way, with as many hidden units as the model that a
task names: of its weights nothing is used.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np

from rbmbook.gaussian_likelihood import bracket_log_z
from rbmbook.gaussian_training import train_gaussian
from rbmbook.images import cifar10_scale, load_cifar10
from rbmbook.sweeps.words import ESTIMATORS, MODELS, register
from rbmlib.models import GaussianRBM, LeakyRBM

from .cifar10 import N_TRAIN, N_TUNING, SHAPE, diverged, rates

UNITS = 20, 100, 200, 500
N_TUNING_OF_ALL = 1_000
N_START = 200  # images at which the chains begin that log Z rests on


def _of_units(kind, n_hidden: int):
    return kind(np.full((SHAPE[0], n_hidden), 1e-3 / n_hidden))


MODELS |= {
    f"{name} of {n} units": partial(_of_units, kind, n)
    for name, kind in (("leaky", LeakyRBM), ("gaussian", GaussianRBM))
    for n in UNITS
}


@lru_cache(maxsize=1)
def subset() -> dict[str, np.ndarray]:
    """Standardised images of the committed subset: to "train" on, for "tuning" and to "test"."""
    images, scale = load_cifar10(), cifar10_scale()
    held_out = scale(images.test).astype(float)
    return {
        "train": scale(images.train), "tuning": held_out[:N_TUNING], "test": held_out[N_TUNING:]
    }  # fmt: skip


@lru_cache(maxsize=1)
def all_images() -> dict[str, np.ndarray]:
    """Of the whole CIFAR-10: 45,000 images, the 1,000 after them, and all 10,000 for tests."""
    images, scale = load_cifar10(full=True), cifar10_scale()
    train, later = np.split(images.train, [N_TRAIN])
    tuning, test = (scale(part).astype(float) for part in (later[:N_TUNING_OF_ALL], images.test))
    return {"train": scale(train), "tuning": tuning, "test": test}


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
    training |= {"learning_rate": rates(learning_rate, falling, n_updates)}
    if isinstance(rbm, LeakyRBM):
        training |= {"kernel": kernel, "largest": largest}
    bracket = {"n_chains": n_chains, "n_temperatures": n_temperatures, "n_leapfrog": n_leapfrog}
    bracket |= {"rng": seed}
    return _scored(rbm, subset(), training, bracket)


@register(ESTIMATORS, "trained at size")
def _trained_at_size(
    rbm, seed, *, method: str = "cd", learning_rate: float, falling: bool = False,
    n_updates: int = 400, n_sweeps: int = 20, n_chains: int = 50, n_temperatures: int = 200,
):  # fmt: skip
    """As "trained for epochs", of hundreds of units: log Z by products in single precision."""
    training = {"method": method, "n_sweeps": n_sweeps, "n_updates": n_updates, "rng": seed}
    training |= {"learning_rate": rates(learning_rate, falling, n_updates)}
    bracket = {"n_chains": n_chains, "n_temperatures": n_temperatures, "n_leapfrog": 10}
    bracket |= {"single_precision": True, "rng": seed}
    return _scored(rbm, subset(), training, bracket)


@register(ESTIMATORS, "trained on all images")
def _trained_on_all_images(
    rbm, seed, *, method: str = "cd", learning_rate: float, falling: bool = False,
    n_updates: int = 450, n_sweeps: int = 20, n_chains: int = 50, n_temperatures: int = 200,
):  # fmt: skip
    """As "trained at size", on 45,000 images, 450 updates an epoch; "test" is of 10,000 images."""
    training = {"method": method, "n_sweeps": n_sweeps, "n_updates": n_updates, "rng": seed}
    training |= {"learning_rate": rates(learning_rate, falling, n_updates)}
    bracket = {"n_chains": n_chains, "n_temperatures": n_temperatures, "n_leapfrog": 10}
    bracket |= {"single_precision": True, "rng": seed}
    return _scored(rbm, all_images(), training, bracket)


def _scored(rbm, images: dict[str, np.ndarray], training: dict, bracket: dict):
    """A model of the kind and size of ``rbm``, trained, and both ends of its log-likelihoods."""
    started = time.thread_time()
    hidden = "leaky" if isinstance(rbm, LeakyRBM) else "bernoulli"
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            run = train_gaussian(
                images["train"], rbm.n_hidden, hidden=hidden,
                monitor_every=training["n_updates"], **training,
            )  # fmt: skip
            trained = time.thread_time() - started
            below, above = bracket_log_z(run.rbm, images["train"][:N_START], **bracket)
    except (FloatingPointError, np.linalg.LinAlgError):
        return diverged(time.thread_time() - started), {}
    more = {"training_seconds": trained, "reverse_ess": above.ess}
    for name in ("tuning", "test"):
        log_p = run.rbm.log_density(images[name]).mean()
        more[f"{name}_low"] = log_p - above.mean_log_z
        more[f"{name}_high"] = log_p - below.mean_log_z
    more |= {name: run.history[name][-1] for name in list(run.history)[1:]}
    return replace(below, seconds=time.thread_time() - started), more
