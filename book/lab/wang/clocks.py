"""Processor seconds of one run of each program of the report."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits

import rbmlib as rl
from rbmbook import noted_warnings
from rbmbook.experiments.sams import PrintedPath, counts_plus_five
from rbmbook.sweeps.words import ESTIMATORS

UNITS = {10: "pcd_10", 20: "pcd_20", 100: "spectral_100", 500: "pcd_500"}  # hidden units: model


def seconds(call: Callable[[int], object], seed: int, n: int) -> np.ndarray:
    """Of ``n`` runs, after one that may compile."""
    spent = []
    with noted_warnings(), threadpool_limits(1):  # one chain has no error, and warns of it
        for k in range(n + 1):
            began = time.process_time()
            call(seed + k)
            spent.append(time.process_time() - began)
    return np.array(spent[1:])


def of_programs(units: int, seed: int, n: int) -> dict[str, np.ndarray]:
    """AIS by the printed number of temperatures; SAMS, short and long; TAP3 to its stop."""
    rbm = rl.load_rbm(UNITS[units])
    path = PrintedPath(rbm, counts_plus_five(), np.zeros(units))
    betas, steps = rl.schedules.linear(99), rl.schedules.linear(100_000 if units == 10 else 60_000)
    sams, tap3 = ESTIMATORS["sams printed"], ESTIMATORS["tap as printed"]
    n_updates = max(int(tap3(rbm, seed, order=3)[1]["n_done"]), 2)  # then it looks for cycles
    calls = {
        "AIS": lambda s: rl.ais(path, steps, n_chains=1, rng=s),
        "SAMS, 5,000 sweeps": lambda s: sams(path, betas, s, n_runs=1, n_sweeps=5000),
        "SAMS, 30,000 sweeps": lambda s: sams(path, betas, s, n_runs=1, n_sweeps=30_000),
        "TAP3": lambda s: tap3(rbm, seed, order=3, n_updates=n_updates),
    }
    return {name: seconds(call, seed, n) for name, call in calls.items()}
