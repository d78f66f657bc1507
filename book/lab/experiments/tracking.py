"""The estimator of a task that looks at a training whose log Z is tracked."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from rbmbook import spectral
from rbmbook.sweeps.words import ESTIMATORS, register
from rbmlib import datasets, schedules
from rbmlib.paths import GeometricPath
from rbmlib.paths.bases import base_rate
from rbmlib.training import train
from rbmlib.training.tracking import LogZTracker

from .varopt.annealing import two_way_ais

DNA_TRAIN = 1400  # rows; the other 600 of the training set are for validation (Carlson et al. 2016)


@register(ESTIMATORS, "tracked")
def _tracked(
    rbm, seed, *, look: int, n_looks: int, n_updates: int, learning_rate: float,
    final_learning_rate: float, warm_up: int = 0, gain: float = 0.2, n_chains: int = 2000,
    n_apart: int = 400, n_sweeps: int = 25, batch_size: int = 100, n_temperatures: int = 10_000,
    n_annealed: int = 100, n_reversed: int = 20,
):  # fmt: skip
    """AIS, and back, at one of the looks of a training on DNA; and what the tracker says there.

    Of ``n_chains`` those of ``n_apart`` would drive nothing: they are not run.
    """
    rates = learning_rate, final_learning_rate, warm_up
    chains = gain, n_chains - n_apart, n_sweeps
    model, seen = _tracked_training(rbm, seed, n_looks, n_updates, rates, batch_size, *chains)[look]
    path = GeometricPath(model, base=base_rate(datasets.load_dna().train[:DNA_TRAIN]))
    task = {"n_chains": n_annealed, "n_reversed": n_reversed}
    forward, back = two_way_ais(path, schedules.linear(n_temperatures), seed, **task)
    return forward, seen | {k: v for k, v in back.items() if k.startswith("reverse")}


@lru_cache(maxsize=1)
def _tracked_training(
    rbm, seed, n_looks, n_updates, rates, batch_size, gain, n_chains, n_sweeps
):  # fmt: skip
    """Models at the looks, with what was seen: trained once for all rows of a run."""
    data, rng = datasets.load_dna(), np.random.default_rng([seed, 3])
    rows = data.train[:DNA_TRAIN]
    tracker = LogZTracker(base_rate(rows), n_chains=n_chains, n_sweeps=n_sweeps, gain=gain, rng=rng)
    monitor = tracker.monitor(train=rows, validation=data.train[DNA_TRAIN:], test=data.test)
    looks = []

    def keep(model):
        seen = {"tracked": 0.0} | monitor(model)
        seen["tracked"] = seen.pop("log_z")
        # of the mean lag, as the stored table has it: the tracker's own bar takes its square
        seen["log_z_error"] = float(np.hypot(seen["noise"], seen["lag"]))
        looks.append((model, seen))
        return seen

    train(
        rows, rbm.n_hidden, method="spectral tempered", tracker=tracker, start=rbm,
        n_updates=n_updates, learning_rate=spectral.rates(*rates[:2], n_updates, rates[2]),
        batch_size=batch_size, rng=rng, monitor=keep, monitor_every=n_updates // n_looks,
    )  # fmt: skip
    return looks
