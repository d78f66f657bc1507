"""Answers of a program on the models of data/bench, as a table for `python -m rbmbook bench`.

    python book/_tools/run_bench.py PROGRAM answers.csv [--bench FOLDER]

Programs are methods of this library (log_z, ais, bar, rts, sams, tap), each with its
defaults, from the base that knows nothing of the model's making, and those of others: numpy,
scikit-learn, rbms (which needs PyTorch). These are annealed importance sampling with 100 chains of
1,000 steps, as a user of each would call it, on models of bits. None has a rule of when to trust
it, so the usual one is applied where weights are known: an effective sample size of 10. `rbms`
gives one number, which is trusted if it is finite. adabmDCA holds no RBM, and blackjax samples real
numbers: neither takes these models.

Models that nothing was tuned on come from `data/make_bench.py --seed 1 --out FOLDER`; then also
`--index FOLDER/index.csv` for the judge. Rows that the table holds are not computed again; seconds
are of the processor.
"""

import argparse
import csv
import itertools
import time
import warnings
from pathlib import Path

import numpy as np

import rbmlib as rl
from rbmbook import bench

BENCH = Path(__file__).parents[2] / "data" / "bench"
COLUMNS = ["name", "log_z", "std_error", "trusted", "seconds"]
LADDER, ANNEALING = rl.schedules.linear(60), rl.schedules.linear(1000)
N_CHAINS, ENOUGH = 100, 10  # of others
OURS = {
    "log_z": lambda model, path: rl.log_z(model, rng=0, enumerate_small=False),
    "ais": lambda model, path: rl.ais(path, ANNEALING, 500, rng=0),
    "bar": lambda model, path: rl.bar(path, ANNEALING, 500, rng=0),
    "rts": lambda model, path: rl.rts(path, LADDER, 100, 2000, rng=0),
    "sams": lambda model, path: rl.sams(path, LADDER, 100, 2000, rng=0),
    "tap": lambda model, path: rl.tap(model),
}


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
    for low, high in itertools.pairwise(ANNEALING):
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
    for low, high in itertools.pairwise(ANNEALING):
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
    runs = [compute_partition_function_ais(N_CHAINS // 4, len(ANNEALING), model) for _ in range(4)]
    log_z, error, _ = log_mean(np.array(runs))
    return log_z, error, bool(np.isfinite(log_z))


OTHERS = {"numpy": with_numpy, "scikit-learn": with_scikit_learn, "rbms": with_rbms}


def answer(program, folder, name):
    """A row of the table; a model that the program does not take is not trusted."""
    started, said = time.process_time(), ["", "", False]
    model = bench.model(name, folder / "models.zip")
    if program in OURS:
        try:
            found = OURS[program](model, rl.GeometricPath(model))
            said = [found.log_z, found.std_error, found.converged]
        except (ValueError, TypeError, NotImplementedError) as error:
            print(f"{name}: {error}", flush=True)
    elif isinstance(model, rl.BernoulliRBM):
        arrays = model.weights, model.visible_bias, model.hidden_bias
        said = OTHERS[program](*arrays, np.random.default_rng(0))
    return [name, *said, round(time.process_time() - started, 2)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("program", choices=[*OURS, *OTHERS])
    parser.add_argument("answers", type=Path)
    parser.add_argument("--bench", type=Path, default=BENCH, metavar="FOLDER")
    given = parser.parse_args()
    warnings.simplefilter("ignore", rl.ConvergenceWarning)
    done = [*bench.read_answers(given.answers).index] if given.answers.exists() else []
    with given.answers.open("a", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        if not done:
            out.writerow(COLUMNS)
        for name in bench.read_index(given.bench / "index.csv"):
            if name not in done:
                out.writerow(answer(given.program, given.bench, name))
                file.flush()


if __name__ == "__main__":
    with np.errstate(over="ignore"):
        main()
