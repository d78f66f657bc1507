"""Time annealed importance sampling of rbmlib against two loops in plain NumPy float64.

    python book/_tools/bench.py [--chains 1000] [--steps 2000] [--repeats 5] [MODEL ...]

Wall-clock time per chain and step with all cores, base made before the clock starts:

plain     what a user would write: no library, two matrix products a step
generic   the library's reference loop, which works for any path
compiled  `rl.ais` as called

The three take turns and the medians over the repeats are shown, so that a slow spell of the
machine hits them alike; the NumPy loops run fewer steps. The compiled kernels are warmed up first.
"""

import argparse
import itertools
import os
import platform
import statistics
import time
import warnings

import numpy as np
from scipy.special import expit

import rbmlib as rl

NUMPY_STEPS = 20


class ReferencePath(rl.GeometricPath):
    """The same path without its compiled loop."""

    anneal = rl.AnnealingPath.anneal


def plain_numpy_ais(rbm, base_bias, betas, n_chains, rng):
    """AIS of a Bernoulli RBM as in a textbook; log-weights without log Z_0."""
    weights, b, a = rbm.weights, rbm.visible_bias, rbm.hidden_bias
    v = (rng.random((n_chains, rbm.n_visible)) < expit(base_bias)).astype(float)
    log_weights = np.zeros(n_chains)
    for previous, beta in itertools.pairwise(betas):
        fields = v @ weights + a
        log_weights += (beta - previous) * (v @ (b - base_bias))
        log_weights += (np.logaddexp(0, beta * fields) - np.logaddexp(0, previous * fields)).sum(1)
        h = (rng.random(fields.shape) < expit(beta * fields)).astype(float)
        x = (1 - beta) * base_bias + beta * (h @ weights.T + b)
        v = (rng.random(x.shape) < expit(x)).astype(float)
    return log_weights


def contestants(rbm, n_chains, n_steps):
    """For each name a function of the seed, and its number of steps."""
    path, reference = rl.GeometricPath(rbm), ReferencePath(rbm)
    few, many = rl.schedules.linear(NUMPY_STEPS), rl.schedules.linear(n_steps)

    def plain(seed):
        bias = path.base_visible_bias
        plain_numpy_ais(rbm, bias, few, n_chains, np.random.default_rng(seed))

    def library(path, betas):
        return lambda seed: rl.ais(path, betas, n_chains, seed, n_recorded=2, progress=False)

    return {
        "plain": (plain, NUMPY_STEPS),
        "generic": (library(reference, few), NUMPY_STEPS),
        "compiled": (library(path, many), n_steps),
    }


def measure(rbm, n_chains, n_steps, repeats) -> dict[str, float]:
    """Median microseconds per chain and step."""
    runs = contestants(rbm, n_chains, n_steps)
    runs["compiled"][0](0)
    times = {name: [] for name in runs}
    for seed in range(repeats):
        for name, (run, steps) in runs.items():
            start = time.perf_counter()
            run(seed)
            times[name].append((time.perf_counter() - start) / (n_chains * steps) * 1e6)
    return {name: statistics.median(values) for name, values in times.items()}


def models(names) -> dict:
    """The named RBMs, else those in the repository, else random ones of usual sizes."""
    names = names or [i.name for i in rl.datasets.list_rbms() if i.where == "committed"]
    if names:
        return {name: rl.load_rbm(name) for name in names}
    return {
        f"random, {m} hidden": rl.testsystems.random_rbm(n_visible=784, n_hidden=m, rng=m)
        for m in (20, 500)
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", nargs="*", metavar="MODEL", help="a registered name or a file")
    parser.add_argument("--chains", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=2000, help="of the compiled run")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", rl.ConvergenceWarning)  # expected of runs as short as these

    print(f"{platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()},")
    print(
        f"{arguments.chains} chains, medians of {arguments.repeats}, microseconds a chain and step"
    )
    print(f"\n{'model':24} {'plain':>9} {'generic':>9} {'compiled':>9} {'plain/compiled':>15}")
    for name, rbm in models(arguments.models).items():
        t = measure(rbm, arguments.chains, arguments.steps, arguments.repeats)
        ratio = t["plain"] / t["compiled"]
        print(f"{name:24} {t['plain']:9.2f} {t['generic']:9.2f} {t['compiled']:9.3f} {ratio:15.1f}")


if __name__ == "__main__":
    main()
