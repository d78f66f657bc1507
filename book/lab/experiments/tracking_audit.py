"""Bars of a tracker, and log Z of whole trainings by exchange of their checkpoints."""

from __future__ import annotations

import time
from functools import lru_cache

import numpy as np

from rbmbook.sweeps.words import ESTIMATORS, register
from rbmbook.trajectory import trajectory
from rbmlib import bar, datasets, exact, find_modes, sample, schedules
from rbmlib.models import testsystems
from rbmlib.numerics import ChainStream, logit
from rbmlib.paths import GeometricPath
from rbmlib.paths.bases import base_rate
from rbmlib.results import Estimate, student_interval
from rbmlib.sampling import sweep
from rbmlib.training import LogZTracker, train

from .tracking import DNA_TRAIN, _tracked_training

COUPLING = 8.0  # of the model that makes the rows of small trainings
MODE_SMOOTHING = 0.02  # of the means of a mode, for the base that anneals to it


def _small_rows(rbm, seed: int) -> np.ndarray:
    """Rows of another random model for each seed."""
    source = testsystems.random_rbm(rbm.n_visible, rbm.n_hidden, coupling=COUPLING, rng=seed)
    return sample(source, 400, rng=seed).states


def _truth(rbm) -> float:
    return exact(rbm).log_z


# trainings that can be enumerated -----------------------------------------------------------


@register(ESTIMATORS, "trajectory_small")
def _trajectory_small(
    rbm, seed, *, n_chains: int = 20, n_sweeps: int = 400, acceptance: float = 0.4,
    n_looks: int = 10, n_updates: int = 2500, learning_rate: float = 0.2,
):  # fmt: skip
    """log Z of a small training, and at each checkpoint the error, its bar, whether it is in."""
    kept: list = []
    train(
        _small_rows(rbm, seed), rbm.n_hidden, n_updates=n_updates, learning_rate=learning_rate,
        rng=seed, start=rbm, monitor=kept.append, monitor_every=n_updates // n_looks,
    )  # fmt: skip
    found = trajectory(kept, n_chains, n_sweeps, seed, acceptance=acceptance)
    truth = np.array([_truth(model) for model in kept])
    trace, details = found.trace, found.details
    more = {"n_rungs": float(len(details["rungs"])), "round_trips": details["round_trips"]}
    for i, error in enumerate(found.log_z_path - truth):
        more |= {f"error_{i}": error, f"bar_{i}": trace["std_error"][i]}
        more[f"inside_{i}"] = float(trace["low"][i] <= truth[i] <= trace["high"][i])
    return found, more


@register(ESTIMATORS, "tracker_small")
def _tracker_small(
    rbm, seed, *, gain: float = 0.2, n_chains: int = 400, n_sweeps: int = 5, n_updates: int = 300,
    learning_rate: float = 0.1,
):  # fmt: skip
    """The bar of a tracker, and the one of noise and mean lag, against the truth at 20 looks."""
    rows = _small_rows(rbm, seed)
    tracker = LogZTracker(
        base_rate(rows), schedules.linear(19), n_chains=n_chains, n_sweeps=n_sweeps, gain=gain,
        rng=seed,
    )  # fmt: skip
    looks = []

    def look(model):
        looks.append([tracker.log_z - _truth(model), tracker.std_error, tracker.noise,
                      np.hypot(tracker.noise, tracker.lag)])  # fmt: skip
        return {}

    started = time.perf_counter()
    train(
        rows, rbm.n_hidden, method="tempered", tracker=tracker, n_updates=n_updates, start=rbm,
        learning_rate=learning_rate, rng=seed, monitor=look, monitor_every=n_updates // 20,
    )  # fmt: skip
    errors, *bars = np.array(looks[1:]).T
    more = {"rms_error": np.sqrt((errors**2).mean())}
    for name, bar_ in zip(("bar", "noise", "mean_lag"), bars, strict=True):
        more[f"{name}_rms"] = np.sqrt((bar_**2).mean())
        more[f"{name}_within"] = float((np.abs(errors) < 2 * bar_).mean())
        more[f"{name}_squares"] = float(((errors / bar_) ** 2).mean())
    last = tracker.log_z, tracker.std_error
    interval = student_interval(*last, n_chains)
    return Estimate("tracker", *last, interval, seconds=time.perf_counter() - started), more


# large trainings ----------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _whole(models: tuple, base: bytes, seed, n_chains, n_sweeps, acceptance, exchange_every):
    """log Z of all checkpoints, and the processor seconds of the run: once for all rows."""
    started = time.process_time()
    found = trajectory(
        models, n_chains, n_sweeps, seed, base=np.frombuffer(base), acceptance=acceptance,
        exchange_every=exchange_every,
    )  # fmt: skip
    return found, time.process_time() - started


def _row(whole: tuple[Estimate, float], look: int) -> tuple[Estimate, dict]:
    found, cpu = whole
    value, error = found.log_z_path[look], found.trace["std_error"][look]
    interval = found.trace["low"][look], found.trace["high"][look]
    estimate = Estimate(
        "trajectory", value, error, interval, verdict=found.verdict, n_chains=found.n_chains,
        n_sweeps=found.n_sweeps, seconds=found.seconds / len(found.log_z_path),
    )  # fmt: skip
    return estimate, {
        "cpu": cpu,
        "n_rungs": len(found.details["rungs"]),
        "round_trips": found.details["round_trips"],
        "least_acceptance": min(found.details["acceptance"]),
    }


@register(ESTIMATORS, "trajectory_of_tracked")
def _of_tracked(
    rbm, seed, *, look: int, n_looks: int = 20, n_updates: int = 2000,
    learning_rate: float = 4e-5, warm_up: int = 100, gain: float = 0.2, n_driving: int = 400,
    n_chains: int = 20, n_sweeps: int = 1000, acceptance: float = 0.4, exchange_every: int = 2,
    n_temperatures: int = 1000, n_annealed: int = 200,
):  # fmt: skip
    """A look of the tracked training on DNA by exchange; and what its heaviest mode holds alone."""
    rates = learning_rate, learning_rate, warm_up
    looks = _tracked_training(rbm, seed, n_looks, n_updates, rates, 100, gain, n_driving, 0, 25)
    models = tuple(model for model, _ in looks)
    rows = datasets.load_dna().train[:DNA_TRAIN]
    base = base_rate(rows).tobytes()
    whole = _whole(models, base, seed, n_chains, n_sweeps, acceptance, exchange_every)
    estimate, more = _row(whole, look)
    more |= {name: looks[look][1][name] for name in ("tracked", "validation")}
    return estimate, more | _heaviest_mode(models[look], rows, seed, n_temperatures, n_annealed)


def _heaviest_mode(rbm, rows, seed: int, n_temperatures: int, n_chains: int) -> dict:
    """Its bound below log Z, its log Z by annealing from a base about it, and whether chains stay.

    ``mode_stays`` is the share of chains that, begun in the mode, agree with it in four units of
    five after 500 sweeps.
    """
    modes = find_modes(rbm, rows)
    mode, path = modes.visible[0], GeometricPath(rbm, base=_base_about(modes.visible[0]))
    joined = bar(path, schedules.linear(n_temperatures), n_chains, seed)
    begun = np.tile(mode > 0.5, (n_chains, 1)).astype(np.float32)
    moved = sweep(path, begun, 1.0, 500, ChainStream(seed, n_chains))
    agree = ((moved > 0.5) == (mode > 0.5)).mean(axis=1)
    return {
        "mode_bound": modes.lower_bound[0], "mode_log_z": joined.log_z,
        "mode_error": joined.std_error, "mode_ess": joined.ess,
        "mode_stays": (agree >= 0.8).mean(),
    }  # fmt: skip


def _base_about(mode: np.ndarray) -> np.ndarray:
    return logit((mode + MODE_SMOOTHING) / (1 + 2 * MODE_SMOOTHING))


@lru_cache(maxsize=1)
def first_updates(n_updates: int, every: int, n_hidden: int = 500) -> tuple:
    """Models of the training of pcd_500 after every so many of its first updates.

    The rate falls as in data/train_models.py, where it comes to zero after 60,000 updates.
    """
    kept: list = []
    last = 0.02 * (1 - (n_updates - 1) / 59_999)
    train(
        datasets.load_mnist().train, n_hidden, method="pcd", n_updates=n_updates,
        learning_rate=np.linspace(0.02, last, n_updates), weight_decay=1e-4, rng=0,
        monitor=kept.append, monitor_every=every,
    )  # fmt: skip
    return tuple(kept)


@register(ESTIMATORS, "trajectory_of_pcd")
def _of_pcd(
    rbm, seed, *, look: int, n_updates: int = 12_000, every: int = 3000, n_chains: int = 12,
    n_sweeps: int = 10_000, acceptance: float = 0.3, exchange_every: int = 10,
):  # fmt: skip
    """A look at the training of pcd_500 by exchange."""
    models = first_updates(n_updates, every, rbm.n_hidden)
    base = base_rate(datasets.load_mnist().train).tobytes()
    return _row(_whole(models, base, seed, n_chains, n_sweeps, acceptance, exchange_every), look)


@register(ESTIMATORS, "annealed_to_pcd")
def _annealed_to_pcd(
    rbm, seed, *, look: int, n_updates: int = 12_000, every: int = 3000,
    n_temperatures: int = 20_000, n_annealed: int = 200,
):  # fmt: skip
    """The same look by annealing from the base rate and back, joined and each for itself."""
    model = first_updates(n_updates, every, rbm.n_hidden)[look]
    path = GeometricPath(model, base=base_rate(datasets.load_mnist().train))
    started = time.process_time()
    joined = bar(path, schedules.linear(n_temperatures), n_annealed, seed, start="chains",
                 )  # fmt: skip
    more = {"cpu": time.process_time() - started}
    for name in ("forward", "reverse"):
        more[name], more[f"{name}_error"] = joined.details[name]
    return joined, more | {"low": joined.interval[0], "high": joined.interval[1]}
