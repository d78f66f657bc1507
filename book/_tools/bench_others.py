"""Answers of other programs on data/bench, in the table that `python -m rbmbook bench` judges.

    python book/_tools/bench_others.py numpy answers.csv     # or scikit-learn, rbms (needs PyTorch)

All three are annealed importance sampling with 100 chains of 1,000 steps, as a user of each would
call it, on models of bits; models of colours are not taken. None has a rule of when to trust it, so
the usual one is applied where weights are known: an effective sample size of 10. `rbms` gives one
number, which is trusted if it is finite. Rows that the table holds are not computed again; seconds
are of the processor. This file does not import rbmlib.

adabmDCA holds no RBM, and blackjax samples real numbers: neither takes these models.
"""

import argparse
import csv
import itertools
import time
from pathlib import Path
from zipfile import ZipFile

import numpy as np

BENCH = Path(__file__).parents[2] / "data" / "bench"
N_CHAINS, ENOUGH, BETAS = 100, 10, np.linspace(0, 1, 1001)


def log_mean(log_w):
    """Log of the mean weight, its standard error, and whether the effective sample is enough."""
    ratio = np.exp(log_w - log_w.max())
    error = ratio.std(ddof=1) / ratio.mean() / np.sqrt(len(log_w))
    enough = ratio.sum() ** 2 / (ratio**2).sum() >= ENOUGH
    return np.log(ratio.mean()) + log_w.max(), error, bool(enough)


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
    log_z, error, _ = log_mean(np.array(runs))
    return log_z, error, bool(np.isfinite(log_z))


PROGRAMS = {"numpy": with_numpy, "scikit-learn": with_scikit_learn, "rbms": with_rbms}


def answer(program, folder, row):
    """A row of the table; a model that the program does not take is not trusted."""
    started, said = time.process_time(), ["", "", False]
    if row["units"] == "bits":
        names = ("weights", "visible_bias", "hidden_bias")
        with ZipFile(folder / "models.zip") as models:
            parts = np.load(models.open(f"{row['name']}.npz"))
            arrays = [parts[name].astype(float) for name in names]
        said = PROGRAMS[program](*arrays, np.random.default_rng(0))
    return [row["name"], *said, round(time.process_time() - started, 2)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("program", choices=PROGRAMS)
    parser.add_argument("answers", type=Path)
    parser.add_argument("--bench", type=Path, default=BENCH, metavar="FOLDER")
    given = parser.parse_args()
    done = set()
    if given.answers.exists():
        done = {row["name"] for row in csv.DictReader(given.answers.open(encoding="utf-8"))}
    with given.answers.open("a", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        if not done:
            out.writerow(["name", "log_z", "std_error", "trusted", "seconds"])
        for row in csv.DictReader((given.bench / "index.csv").open(encoding="utf-8")):
            if row["name"] not in done:
                out.writerow(answer(given.program, given.bench, row))
                file.flush()


if __name__ == "__main__":
    with np.errstate(over="ignore"):
        main()
