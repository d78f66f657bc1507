"""Chapter leaky_rbm: leaky and Gaussian-Bernoulli RBMs trained on CIFAR-10 (Li et al. 2016).

Training runs use the committed 2,000 images or the first 45,000 training images. A task names a
model only for its kind and number of hidden units, not for its weights.
"""

import math
import time
from dataclasses import replace
from functools import lru_cache

import numpy as np

from rbmbook.images import cifar10_scale, load_cifar10
from rbmbook.paths import bracket_log_z
from rbmbook.sweeps.words import ESTIMATORS, MODELS, PATHS, register
from rbmbook.training import train_gaussian
from rbmlib import GeometricPath, exact
from rbmlib.models.named import GaussianRBM, LeakyRBM
from rbmlib.results import Estimate

from .kiwaki2015 import reverse_columns

N_VISIBLE = 3072
N_TRAIN, N_TUNING_OF_ALL = 45_000, 1_000  # of the images for training
N_TUNING = 250  # test images of the subset for choosing rates; the others are for the result
N_START = 200  # images at which the chains for log Z begin

PATHS["from a standard normal"] = lambda rbm: GeometricPath(rbm)


def principal_gaussian(images) -> LeakyRBM:
    """The Gaussian with variances of at least 1 that fits standardised images best.

    It is a leaky RBM of leakiness 1, N(0, (I - W W')^-1). W has a column of length
    sqrt(1 - 1 / s) for each principal direction with variance s > 1.
    """
    spread, axes = np.linalg.eigh((images.T @ images / len(images)).astype(float))
    kept = np.flatnonzero(spread > 1)[::-1]
    return LeakyRBM(axes[:, kept] * np.sqrt(1 - 1 / spread[kept]), leakiness=1.0)


MODELS |= {  # N(0, I) is a leaky RBM in name, with one column of next to no weight
    "standard normal": lambda: LeakyRBM(1e-9 * np.eye(N_VISIBLE, 1), leakiness=1.0),
    "principal gaussian": lambda: principal_gaussian(
        cifar10_scale()(load_cifar10(full=True).train)
    ),
} | {
    f"{name} of {n} units": lambda of=kind, n=n: of(np.full((N_VISIBLE, n), 1e-3 / n))
    for name, kind in (("leaky", LeakyRBM), ("gaussian", GaussianRBM))
    for n in (20, 100, 500)
}


@lru_cache(maxsize=2)
def cifar10_parts(full: bool = False) -> dict[str, np.ndarray]:
    """Standardised images of the committed subset, or of all: "train", "tuning" and "test"."""
    found, scale = load_cifar10(full=full), cifar10_scale()
    train, held_out = found.train, np.split(found.test, [N_TUNING])
    if full:
        train, held_out = train[:N_TRAIN], (train[N_TRAIN:][:N_TUNING_OF_ALL], found.test)
    tuning, test = (scale(part).astype(float) for part in held_out)
    return {"train": scale(train), "tuning": tuning, "test": test}


@register(ESTIMATORS, "known")
def _known(rbm):
    """log Z of leaky RBMs with orthogonal columns, in closed form."""
    return exact(rbm), {"n_directions": rbm.n_hidden}


@register(ESTIMATORS, "both sides")
def _both_sides(
    rbm, seed, *, n_chains: int = 50, n_temperatures: int = 1000, fit_chains: int = 200,
    fit_sweeps: int = 1000, n_burn_in: int = 200, n_leapfrog: int = 0,
):  # fmt: skip
    """AIS, and reverse AIS with chains that begin at images of the committed subset."""
    started = time.thread_time()
    below, above = bracket_log_z(
        rbm, cifar10_parts()["train"][:fit_chains], n_chains=n_chains, n_sweeps=fit_sweeps,
        n_temperatures=n_temperatures, n_burn_in=n_burn_in, n_leapfrog=n_leapfrog, rng=seed,
    )  # fmt: skip
    return replace(below, seconds=time.thread_time() - started), reverse_columns(above)


@register(ESTIMATORS, "trained for epochs")
def _trained_for_epochs(
    rbm, seed, *, method: str = "cd", kernel: str = "gibbs", learning_rate: float,
    falling: bool = False, largest: float = 0.9999, n_updates: int = 400, n_sweeps: int = 20,
    n_chains: int = 50, n_temperatures: int = 200, n_leapfrog: int = 10,
):  # fmt: skip
    """Train on the 2,000 images of the committed subset, in epochs of 20 updates of 100 images.

    Returns mean log-likelihoods of the first 250 of the 500 test images ("tuning") and of the
    others ("test"), with log Z by AIS ("high") and by reverse AIS ("low"). Results are missing if
    the parameters are not finite. ``kernel`` is an unused setting of stored tasks.
    """
    training = {"method": method, "n_sweeps": n_sweeps, "n_updates": n_updates, "largest": largest}
    bracket = {"n_chains": n_chains, "n_temperatures": n_temperatures, "n_leapfrog": n_leapfrog}
    return _scored(rbm, seed, cifar10_parts(), learning_rate, falling, training, bracket)


def _at_size(full: bool, epoch: int, **bound):
    def trained(
        rbm, seed, *, method: str = "cd", learning_rate: float, falling: bool = False,
        n_updates: int = epoch, n_sweeps: int = 20, n_chains: int = 50, n_temperatures: int = 200,
    ):  # fmt: skip
        """As "trained for epochs", for hundreds of units, with log Z in single precision."""
        training = {"method": method, "n_sweeps": n_sweeps, "n_updates": n_updates} | bound
        bracket = {"n_chains": n_chains, "n_temperatures": n_temperatures, "n_leapfrog": 10}
        bracket["single_precision"] = True
        return _scored(rbm, seed, cifar10_parts(full), learning_rate, falling, training, bracket)

    return trained


ESTIMATORS["trained at size"] = _at_size(False, 400)
ESTIMATORS["trained on all images"] = _at_size(True, 450)
ESTIMATORS["trained on all images, below 0.9"] = _at_size(True, 450, largest=0.9)


def _scored(rbm, seed, images, learning_rate, falling, training: dict, bracket: dict):
    """Train a model of the kind and size of ``rbm``: log-likelihoods at both ends of log Z."""
    started, n_updates = time.thread_time(), training["n_updates"]
    rates = np.linspace(learning_rate, 0.0 if falling else learning_rate, n_updates)
    hidden = "leaky" if isinstance(rbm, LeakyRBM) else "bernoulli"
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            run = train_gaussian(
                images["train"], rbm.n_hidden, hidden=hidden, learning_rate=rates, rng=seed,
                monitor_every=n_updates, **training,
            )  # fmt: skip
            trained = time.thread_time() - started
            below, above = bracket_log_z(run.rbm, images["train"][:N_START], rng=seed, **bracket)
    except (FloatingPointError, np.linalg.LinAlgError):
        unknown = math.nan, math.nan, (-math.inf, math.inf)  # there is no model
        seconds = time.thread_time() - started
        return Estimate("none", *unknown, seconds=seconds, verdict="inconclusive"), {}
    more = {"training_seconds": trained, "reverse_ess": above.ess}
    for name in ("tuning", "test"):
        log_p = run.rbm.log_density(images[name]).mean()
        more[f"{name}_low"] = log_p - above.mean_log_z
        more[f"{name}_high"] = log_p - below.mean_log_z
    more |= {name: run.history[name][-1] for name in list(run.history)[1:]}
    return replace(below, seconds=time.thread_time() - started), more
