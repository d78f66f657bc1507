"""Answers of other programs on data/bench, in the table that `python -m rbmlib bench` judges.

    python book/_tools/bench_others.py numpy answers.csv     # or scikit-learn, rbms (needs PyTorch)

All three are annealed importance sampling with 1,000 steps, as a user of each would call it, on
models of bits. None doubts a run: every answer is trusted. This file does not import rbmlib.
"""

import argparse
import csv
import itertools
import time
from pathlib import Path

import numpy as np

BENCH = Path(__file__).parents[2] / "data" / "bench"
N_CHAINS, BETAS = 500, np.linspace(0, 1, 1001)


def log_mean(log_w):
    """Log of the mean weight, and its standard error."""
    ratio = np.exp(log_w - log_w.max())
    return np.log(ratio.mean()) + log_w.max(), ratio.std() / ratio.mean() / np.sqrt(len(log_w))


def with_numpy(w, b, a, rng):
    """As most people write it, from the uniform distribution (Salakhutdinov and Murray 2008)."""
    v = (rng.random((N_CHAINS, len(b))) < 0.5).astype(float)
    log_w = np.full(N_CHAINS, (len(a) + len(b)) * np.log(2))
    for low, high in itertools.pairwise(BETAS):
        field = v @ w + a
        log_w += (high - low) * (v @ b) + np.logaddexp(0, high * field).sum(1)
        log_w -= np.logaddexp(0, low * field).sum(1)
        h = rng.random(field.shape) * (1 + np.exp(-high * field)) < 1
        v = (rng.random(v.shape) * (1 + np.exp(-high * (h @ w.T + b))) < 1).astype(float)
    return log_mean(log_w)


def with_scikit_learn(w, b, a, rng):
    """The same with its `BernoulliRBM`: free energies and Gibbs steps of scaled parameters."""
    from sklearn.neural_network import BernoulliRBM

    rbm = BernoulliRBM(len(a))
    rbm.random_state_ = np.random.RandomState(rng.integers(2**31))
    v = (rng.random((N_CHAINS, len(b))) < 0.5).astype(float)
    log_w = np.full(N_CHAINS, (len(a) + len(b)) * np.log(2))
    for low, high in itertools.pairwise(BETAS):
        for beta, sign in ((low, 1), (high, -1)):
            rbm.components_ = beta * w.T
            rbm.intercept_visible_, rbm.intercept_hidden_ = beta * b, beta * a
            log_w += sign * rbm._free_energy(v)
        v = rbm.gibbs(v)
    return log_mean(log_w)


def with_rbms(w, b, a, rng):
    """Its own function, in its float32, from the target's visible biases; error bar: of 4 runs."""
    import torch
    from rbms.bernoulli_bernoulli.classes import BBRBM
    from rbms.partition_function.ais import compute_partition_function_ais

    torch.manual_seed(int(rng.integers(2**31)))
    model = BBRBM(*(torch.tensor(x, dtype=torch.float32) for x in (w, b, a)))
    runs = [compute_partition_function_ais(N_CHAINS // 4, len(BETAS), model) for _ in range(4)]
    log_z, error = log_mean(np.array(runs))
    return log_z, error * np.sqrt(4 / 3)


PROGRAMS = {"numpy": with_numpy, "scikit-learn": with_scikit_learn, "rbms": with_rbms}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("program", choices=PROGRAMS)
    parser.add_argument("answers", type=Path)
    given = parser.parse_args()
    with given.answers.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["name", "log_z", "std_error", "trusted", "seconds"])
        for row in csv.DictReader((BENCH / "index.csv").open(encoding="utf-8")):
            started, parts = time.perf_counter(), np.load(BENCH / f"{row['name']}.npz")
            said = ["", "", False]
            if row["units"] == "bits":
                names = ("weights", "visible_bias", "hidden_bias")
                arrays = (parts[name].astype(float) for name in names)
                said = [*PROGRAMS[given.program](*arrays, np.random.default_rng(0)), True]
            out.writerow([row["name"], *said, round(time.perf_counter() - started, 2)])
            file.flush()


if __name__ == "__main__":
    with np.errstate(over="ignore"):
        main()
