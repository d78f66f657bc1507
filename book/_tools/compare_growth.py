"""Processor time and memory of each estimator as the model, the chains or the sweeps grow.

    RBMLIB_NUM_THREADS=1 python book/_tools/compare_growth.py

Writes data/results/compare_growth.csv, a row an estimator and a size, each with fixed betas and a
fixed number of chains and sweeps, on random RBMs. Seconds are the least of the repeats, on one
thread. Memory is the most that is resident while the estimator runs, less what was resident before,
with the model in it; Linux only. A short first run, which compiles, is not counted.
"""

import ctypes
import gc
import re
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import rbmlib as rl
from rbmbook import rivals

TARGET = Path(__file__).parents[2] / "data" / "results" / "compare_growth.csv"
FIELDS = ["method", "n_visible", "n_hidden", "n_chains", "n_sweeps", "seconds", "megabytes",
          "repeats", "processor", "version"]  # fmt: skip
VISIBLE, HIDDEN = 784, 500
LADDER = rl.schedules.linear(40)
SHORT = 20  # sweeps of the run that compiles
REPEATS = 3
QUIET = {"progress": False}


def annealed(estimator, **more):
    """``sweeps`` steps of equal length."""

    def run(path, n_chains, n_sweeps):
        return estimator(path, rl.schedules.linear(n_sweeps), n_chains, 1, **more, **QUIET)

    return run


def tempered(estimator):
    """A fixed ladder, so that no pilot decides what is computed."""

    def run(path, n_chains, n_sweeps):
        return estimator(path, LADDER, n_chains, n_sweeps, 1, **QUIET)

    return run


def solved(path, n_starts, n_sweeps):
    return rl.tap(path.rbm, 2, 1, n_starts=n_starts, max_sweeps=n_sweeps, **QUIET)


WORK = {  # a function, chains, sweeps
    "AIS": (annealed(rl.ais, n_recorded=2), 100, 1000),
    "BAR": (annealed(rl.bar, start="chains"), 100, 500),
    "SMC": (annealed(rivals.smc), 100, 400),
    "RTS": (tempered(rl.rts), 20, 400),
    "MBAR": (tempered(rl.mbar), 20, 400),
    "SAMS": (tempered(rl.sams), 20, 400),
    "NRPT": (tempered(rivals.nrpt), 8, 80),
    "TAP2": (solved, 20, 100),
}


def resident(name: str) -> float:
    """Megabytes of this process: ``VmRSS`` now, ``VmHWM`` at most since it was set back."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(rf"{name}:\s+(\d+) kB", status).group(1)) / 1024


def processor() -> str:
    words = Path("/proc/cpuinfo").read_text()
    return re.search(r"model name\s*: (.+)", words).group(1)


def measured(function, path, n_chains: int, n_sweeps: int, repeats: int) -> tuple[float, float]:
    """Least seconds, and most megabytes beyond what was there."""
    seconds, megabytes = [], []
    for _ in range(repeats):
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)  # what earlier runs freed goes back
        Path("/proc/self/clear_refs").write_text("5")  # VmHWM is set back
        before, started = resident("VmRSS"), time.process_time()
        function(path, n_chains, n_sweeps)
        seconds.append(time.process_time() - started)
        megabytes.append(resident("VmHWM") - before)
    return min(seconds), max(megabytes)


def cases():
    """Each estimator on a model; and with half and twice as many units in each layer, with twice
    the chains, and with twice the sweeps."""
    n, m = VISIBLE, HIDDEN
    for method, (_, n_chains, n_sweeps) in WORK.items():
        for size in ((n, m), (n // 2, m), (2 * n, m), (n, m // 2), (n, 2 * m)):
            yield method, size, n_chains, n_sweeps
        yield method, (n, m), 2 * n_chains, n_sweeps
        yield method, (n, m), n_chains, 2 * n_sweeps


def row_of(method: str, size: tuple, n_chains: int, n_sweeps: int) -> dict:
    rbm = rl.testsystems.random_rbm(*size, coupling=1.0, rng=0)
    path = rl.GeometricPath(rbm, base=np.zeros(size[0]))
    function = WORK[method][0]
    function(path, n_chains, SHORT)
    seconds, megabytes = measured(function, path, n_chains, n_sweeps, REPEATS)
    values = (method, *size, n_chains, n_sweeps, f"{seconds:.4g}", f"{megabytes:.2f}", REPEATS,
              processor(), rl.__version__)  # fmt: skip
    return dict(zip(FIELDS, values, strict=True))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    pd.DataFrame([row_of(*case) for case in cases()]).to_csv(TARGET, index=False)
