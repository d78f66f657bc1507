"""AIS of rbms and of this library on RBMs of colours and bits, at equal processor time.

    python book/_tools/compare_colours.py      # with rbms, which needs PyTorch

Of rbms its own function, in its float32: four runs of 125 chains and 1,000 steps, whose spread is
the error bar, since it gives none; then `rbmlib.ais` with 500 chains and as many steps as that
time allows. The models are those of rbmbook.experiments.calibration. Writes
data/results/colours_rivals.csv, a row a run, and speed_colours.csv.
"""

import time
import warnings

import numpy as np
import pandas as pd
import torch
from bench import RESULTS, dated, limited
from rbms.partition_function.ais import compute_partition_function_ais
from rbms.potts_bernoulli.classes import PBRBM
from run_bench import log_mean

import rbmlib as rl
from rbmbook.experiments.calibration import planted_model_of, random_model_of

N_MODELS = 20  # of each kind


def by_rbms(rbm, _):
    shape = -1, rbm.visible.q
    parts = rbm.weights.reshape(*shape, rbm.n_hidden), rbm.visible_bias.reshape(shape)
    parts = (torch.tensor(x, dtype=torch.float32) for x in (*parts, rbm.hidden_bias))
    model = PBRBM(*parts)
    runs = [compute_partition_function_ais(125, 1001, model) for _ in range(4)]
    log_z, error = log_mean(np.array(runs))
    return log_z, error * (4 / 3) ** 0.5, True


def by_rbmlib(rbm, n_steps):
    run = rl.ais(rl.GeometricPath(rbm), rl.schedules.linear(n_steps), 500, 0)
    return run.log_z, run.std_error, run.converged


def timed(program, *given):
    started = time.process_time()
    return *program(*given), time.process_time() - started


def sums(table):
    """A row a kind and program: errors in nats and in standard errors, flags, seconds."""
    off = table["log_z"] - table["exact"]
    runs = table.assign(off=off.abs(), square=off**2, z=(off / table["std_error"]) ** 2)
    groups = runs.assign(flagged=~runs["trusted"].astype(bool)).groupby(["kind", "program"])
    found = {
        "models": groups.size(),
        "root mean squared error, nats": groups["square"].mean() ** 0.5,
        "largest": groups["off"].max(),
        "in standard errors, root mean square": groups["z"].mean() ** 0.5,
        "flagged": groups["flagged"].sum(),
        "processor seconds": groups["processor seconds"].mean(),
    }
    return pd.DataFrame(found).reset_index()


def main() -> None:
    rows = []
    for kind, made in (("Potts, bits", random_model_of), ("planted Potts, bits", planted_model_of)):
        for seed in range(N_MODELS):
            torch.manual_seed(seed)
            rbm = made("Potts, bits", seed)
            theirs = timed(by_rbms, rbm, None)
            by_rbmlib(rbm, 20)  # compiles what is not yet
            n_steps = int(2000 * theirs[-1] / timed(by_rbmlib, rbm, 2000)[-1])
            for program, said in (("rbms", theirs), ("rbmlib", timed(by_rbmlib, rbm, n_steps))):
                rows.append((kind, seed, program, rl.exact(rbm).log_z, *said))
    names = ["kind", "seed", "program", "exact", "log_z", "std_error", "trusted"]
    table = pd.DataFrame(rows, columns=[*names, "processor seconds"])
    dated(table).to_csv(RESULTS / "colours_rivals.csv", index=False, float_format="%.6g")
    found = sums(table).to_csv(index=False, float_format="%.3g")
    (RESULTS / "speed_colours.csv").write_text(found, encoding="utf-8")


if __name__ == "__main__":
    with limited(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", rl.ConvergenceWarning)
        main()
