"""Bars of a tracker, and log Z of whole trainings by exchange of their checkpoints."""

from __future__ import annotations

import time
from functools import lru_cache

import numpy as np

from rbmbook.sweeps.words import ESTIMATORS, register
from rbmbook.trajectory import trajectory
from rbmlib import bar, datasets, find_modes, schedules
from rbmlib.numerics import ChainStream, logit
from rbmlib.paths import GeometricPath
from rbmlib.paths.bases import base_rate
from rbmlib.results import Estimate
from rbmlib.sampling import sweep

from .tracking import DNA_TRAIN, _tracked_training

MODE_SMOOTHING = 0.02  # of the means of a mode, for the base that anneals to it


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
