"""Time MBAR by rbmlib against pymbar on the same samples.

    python book/_tools/bench_mbar.py [--rounds 5] [--quick]

K = 100 temperatures with 20,000 Gaussian slopes: rbmlib, pymbar with its default solver, and with
its robust one. They take turns; medians over the rounds are shown, of the wall clock and of the
processor, which other programs on the machine do not change. pymbar runs without JAX unless
that is installed, and keeps a matrix of K x N numbers; the last row is rbmlib alone with K = 1,000
and 10^6 samples.

Writes data/results/speed_mbar.csv.
"""

import argparse
import resource
import statistics
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

import rbmlib as rl
from rbmlib._kernels import threads

RESULTS = Path(__file__).parents[2] / "data" / "results"
MEAN, VARIANCE = -50.0, 300.0  # of slopes at beta = 0; the mean grows by VARIANCE beta


def samples(n_states: int, n_each: int):
    """Slopes, ordered by temperature, their counts, and the betas."""
    betas = np.linspace(0, 1, n_states)
    noise = np.random.default_rng(0).normal(size=(n_states, n_each))
    delta = MEAN + VARIANCE * betas[:, None] + np.sqrt(VARIANCE) * noise
    return delta.ravel(), np.full(n_states, n_each), betas


def ours(delta, counts, betas):
    found = rl.solve_mbar(delta, counts, betas)
    return found.log_z, found.std_error


def theirs(protocol):
    import pymbar

    def solve(delta, counts, betas):
        found = pymbar.MBAR(-betas[:, None] * delta, counts, solver_protocol=protocol)
        found = found.compute_free_energy_differences()
        return -found["Delta_f"][0], found["dDelta_f"][0]

    return solve


def timed(solve, problem):
    """The result, and seconds of the wall clock and of the processor."""
    wall, cpu = time.perf_counter(), time.process_time()
    found = solve(*problem)
    return found, (time.perf_counter() - wall, time.process_time() - cpu)


def row(name, n_states, n_each, seconds, found, reference):
    (log_z, error), (wanted, errors) = found, reference
    return {
        "solver": name,
        "n_temperatures": n_states,
        "n_samples": n_states * n_each,
        "n_threads": threads.default_n_threads(),
        "seconds": round(statistics.median(wall for wall, _ in seconds), 3),
        "processor_seconds": round(statistics.median(cpu for _, cpu in seconds), 3),
        "difference_log_z": float(f"{np.abs(log_z - wanted).max():.2g}"),
        "difference_std_error": float(f"{np.abs(error[1:] / errors[1:] - 1).max():.2g}"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="small sizes, nothing written")
    options = parser.parse_args()
    n_states, n_each = (20, 100) if options.quick else (100, 200)
    solvers = {
        "rbmlib": ours,
        "pymbar, default solver": theirs("default"),
        "pymbar, robust solver": theirs("robust"),
    }
    print("JAX is", "installed" if find_spec("jax") else "not installed", flush=True)
    problem, found = samples(n_states, n_each), {}
    seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in solvers}
    ours(*problem)  # compiled, or read from the cache
    with threads.blas_threads(None):
        for _ in range(options.rounds):
            for name, solve in solvers.items():
                found[name], spent = timed(solve, problem)
                seconds[name].append(spent)
                print(f"{name}: {spent[0]:.3f} s, of the processor {spent[1]:.3f} s", flush=True)
    rows = [
        row(name, n_states, n_each, seconds[name], found[name], found["rbmlib"])
        for name in solvers
    ]  # fmt: skip
    n_states, n_each = (50, 400) if options.quick else (1000, 1000)
    problem = samples(n_states, n_each)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    large, spent = timed(ours, problem)
    rows.append(row("rbmlib", n_states, n_each, [spent], large, large))
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    table = pd.DataFrame(rows)
    print(table.to_string(index=False))
    print(f"peak memory grew by {max(after - before, 0) / 1024:.0f} MiB in the last row, whose "
          f"K x N numbers would take {8e-6 * n_states**2 * n_each / 1.048576:.0f} MiB")  # fmt: skip
    if not options.quick:
        table.to_csv(RESULTS / "speed_mbar.csv", index=False)


if __name__ == "__main__":
    main()
