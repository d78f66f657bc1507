"""`rl.log_z` beside other ways to log Z of hard models, each with about as many chain-steps.

    python book/_tools/trust_rivals.py [--seeds 6] [--summary]

Adds to data/results/log_z_rivals.csv what is missing there, a row a run, and `--summary` prints
what the rows say. The others get the chain-steps that `log_z` takes, pilots included; the hunt
for modes, which three methods share, is counted for none. Seconds are of one core. Rows name the
seed and the steps, which give the same values again: seeds that the code was designed by.
"""

import argparse
import time
import warnings
from itertools import pairwise
from unittest.mock import patch

import numpy as np
import pandas as pd
from trust import ERRORS, NATS, RESULTS, add, model, rows

import rbmlib as rl
from rbmbook import rivals
from rbmbook.hard_systems import HARD_KINDS
from rbmlib.estimators.reverse_ais import resampled
from rbmlib.numerics import ChainStream, logit, logmeanexp, logsumexp, softplus
from rbmlib.results import MINIMUM_ESS, summarise_log_weights
from rbmlib.sampling import anneal, planning
from rbmlib.sampling.compiled import Loops

KINDS = HARD_KINDS[:14]  # those that its table has
TARGET = RESULTS / "log_z_rivals.csv"
FIELDS = [
    "kind", "seed", "method", "exact", "log_z", "std_error", "believed", "ess", "n_modes",
    "n_parts", "chain_steps", "seconds", "version",
]  # fmt: skip
N_STEPS, N_CHAINS = 1000, 500  # of `log_z`; of the others
# of parallel tempering: betas to a standard deviation of the slope, sweeps of which one is kept
FEWEST_LADDERS, PER_LENGTH, EVERY, SKIP = 10, 2, 4, 0.1
POPULATIONS, LOOK_EVERY, SMALL = 4, 10, 0.1  # of population annealing; an error to believe
WITHIN, MOST, WIDTH = 15.0, 60, 0.02  # components of the mixture, as those that `log_z` pilots


def automatic(rbm, chain_steps, seed) -> dict:
    """`rl.log_z`, whose chain-steps are counted, pilots included."""
    taken, of_loops, sweep = [], Loops.anneal, Loops.sweep

    def annealed(loops, v, betas, *args):
        taken.append(len(v) * (len(betas) - 1))
        return of_loops(loops, v, betas, *args)

    def swept(loops, v, beta, n_sweeps, *args):
        taken.append(len(v) * n_sweeps)
        return sweep(loops, v, beta, n_sweeps, *args)

    with patch.multiple(Loops, anneal=annealed, sweep=swept):
        run = rl.log_z(rbm, n_steps=N_STEPS, rng=seed, enumerate_small=False)
    return judged(run, n_parts=run.details["n_parts"], chain_steps=sum(taken))


def judged(run, **more) -> dict:
    """Of an `Estimate`, which knows whether to be believed."""
    return {"log_z": run.log_z, "std_error": run.std_error, "ess": run.ess,
            "believed": int(run.converged), **more}  # fmt: skip


def tempering(rbm, chain_steps, seed) -> dict:
    """Parallel tempering of ladders that begin in the modes; BAR between neighbours."""
    rng, path, modes = np.random.default_rng([seed, 1]), rl.GeometricPath(rbm), rl.find_modes(rbm)
    betas, _ = planning.own_ladder(path, rng, PER_LENGTH)
    left = chain_steps - planning.N_CHAINS * planning.LADDER_STEPS
    n_ladders = max(FEWEST_LADDERS, left // (planning.FEWEST_SWEEPS * betas.size))
    n = n_ladders * betas.size
    chosen = rng.choice(len(modes.log_z), n, p=np.exp(modes.log_z - logsumexp(modes.log_z)))
    start = (rng.random((n, rbm.n_visible)) < modes.visible[chosen]).astype(np.float32)
    sample = rl.parallel_tempering(path, betas, n_ladders, left // n, rng, start=start,
                                   record_every=EVERY)  # fmt: skip
    run = rivals.bar_of_sample(sample, skip=int(SKIP * (left // n / EVERY)))
    return judged(run, n_modes=len(modes.log_z))


def population(rbm, chain_steps, seed) -> dict:
    """Population annealing: a population is resampled when its ESS falls below half."""
    rng, path, n = np.random.default_rng([seed, 2]), rl.GeometricPath(rbm), POPULATIONS * N_CHAINS
    betas, stream = rl.schedules.linear(chain_steps // n), ChainStream(rng, n)
    v = path.sample_base(n, stream)
    weights, log_z = np.zeros((POPULATIONS, N_CHAINS)), np.full(POPULATIONS, path.log_z_base)
    for first in range(0, betas.size - 1, LOOK_EVERY):
        v, gains = anneal(path, v, betas[first : first + LOOK_EVERY + 1], stream)
        weights += gains.reshape(weights.shape)
        kept = np.arange(n).reshape(weights.shape)
        for p, own in enumerate(weights):
            if summarise_log_weights(own).ess < N_CHAINS / 2:
                log_z[p] += logmeanexp(own)
                kept[p] = kept[p, resampled(own, rng)]
                own[:] = 0.0
        v = v[kept.ravel()]
    run = summarise_log_weights(log_z + logmeanexp(weights, axis=1))
    believed = int(run.std_error < SMALL)
    return {"log_z": run.log_mean, "std_error": run.std_error, "believed": believed}


def mixture_weights(rbm, modes, n_steps, rng, n_chains=N_CHAINS) -> np.ndarray:
    """Log-weights (n_chains,) whose exponentials have the mean Z, from a mixture over the modes.

    Component c has independent units of both layers, q_c(v, h). With c as one more hidden variable

        p_beta(v, h, c) = [C_c q_c(v, h)]^(1 - beta) p*(v, h)^beta

    goes from sum_c C_c to Z times the number of components. Weights are of (v, c), summed over h.
    """
    b, a = (logit((m + WIDTH) / (1 + 2 * WIDTH)) for m in (modes.visible, modes.hidden))
    at_zero = modes.log_z - softplus(b).sum(axis=1) - softplus(a).sum(axis=1)  # log C_c q_c(0, 0)
    weights = np.full(n_chains, logsumexp(modes.log_z) - np.log(len(b)))
    label = rng.choice(len(b), n_chains, p=np.exp(modes.log_z - logsumexp(modes.log_z)))

    def drawn(fields):
        return (rng.random(fields.shape) * (1 + np.exp(-fields)) < 1).astype(float)

    def log_sums(fields):
        return (np.maximum(fields, 0) + np.log(1 + np.exp(-abs(fields)))).sum(axis=1)

    v = drawn(b[label])
    for low, high in pairwise(rl.schedules.linear(n_steps)):
        fields, own = v @ rbm.weights + rbm.hidden_bias, a[label]
        slope = rbm.log_scale + (v * (rbm.visible_bias - b[label])).sum(axis=1) - at_zero[label]
        here, there = ((1 - x) * own + x * fields for x in (low, high))
        weights += (high - low) * slope + log_sums(there) - log_sums(here)
        h = drawn(there)
        logs = (1 - high) * (at_zero + v @ b.T + h @ a.T)
        shares = np.exp(logs - logs.max(axis=1, keepdims=True)).cumsum(axis=1)
        label = (shares < rng.random((n_chains, 1)) * shares[:, -1:]).sum(axis=1)
        v = drawn((1 - high) * b[label] + high * (h @ rbm.weights.T + rbm.visible_bias))
    return weights


def mixture(rbm, chain_steps, seed) -> dict:
    """AIS from a mixture over the modes, with their label as one more hidden variable."""
    modes, rng = rl.find_modes(rbm), np.random.default_rng([seed, 3])
    near = min(MOST, int((modes.log_z > modes.log_z[0] - WITHIN).sum()))
    modes = type(modes)(*(each[:near] for each in modes))
    run = summarise_log_weights(mixture_weights(rbm, modes, chain_steps // N_CHAINS, rng))
    return {"log_z": run.log_mean, "std_error": run.std_error, "ess": run.ess,
            "believed": int(run.ess >= MINIMUM_ESS), "n_modes": near}  # fmt: skip


def plain(rbm, chain_steps, seed) -> dict:
    """AIS from the mean-field base."""
    betas, rng = rl.schedules.linear(chain_steps // N_CHAINS), np.random.default_rng([seed, 4])
    with rl.using(independent_check=False, progress=False):  # which is no part of plain AIS
        return judged(rl.ais(rl.GeometricPath(rbm), betas, N_CHAINS, rng))


METHODS = {
    "log_z": automatic,
    "parallel tempering, BAR": tempering,
    "population annealing": population,
    "mixture base": mixture,
    "plain AIS": plain,
}


def row(kind: str, seed: int, method: str, chain_steps: int = 0) -> dict:
    """One run; `log_z` itself needs no ``chain_steps``."""
    rbm, exact, _ = model(kind, seed)
    began = time.process_time()
    run = METHODS[method](rbm, chain_steps, seed)
    run = {"chain_steps": chain_steps, "seconds": round(time.process_time() - began, 2)} | run
    made = dict(kind=kind, seed=seed, method=method, exact=exact, version=rl.__version__) | run
    return {name: f"{x:.8g}" if isinstance(x, float) else x for name, x in made.items()}


def summary() -> None:
    """Of each method: how often it is wrong, and would be believed all the same."""
    table = pd.read_csv(TARGET)
    table["gap"] = abs(table["log_z"] - table["exact"])
    table["wrong"] = ~(table["gap"] <= np.clip(ERRORS * table["std_error"], 1e-6, NATS))
    for method, group in table.groupby("method", sort=False):
        right, believed = group[~group["wrong"]], group[group["believed"] == 1]
        rms, seconds = np.sqrt((right["gap"] ** 2).mean()), group["seconds"].median()
        counts = len(group), group["wrong"].sum(), len(believed), believed["wrong"].sum()
        words = "{} models, {} wrong, {} believed, {} of them wrong".format(*counts)
        print(f"{method:24} {words}, rms error of those not wrong {rms:.4f}, {seconds:.1f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=6, help="of each kind")
    parser.add_argument("--summary", action="store_true")
    options = parser.parse_args()
    if options.summary:
        return summary()
    warnings.simplefilter("ignore")
    todo = [(kind, seed) for seed in range(options.seeds) for kind in KINDS]
    for kind, seed in todo:
        for method in METHODS:
            done = {(r["kind"], int(r["seed"]), r["method"]): r for r in rows(TARGET)}
            if (kind, seed, method) not in done:
                first = done.get((kind, seed, "log_z"), {"chain_steps": 0})
                add(row(kind, seed, method, int(first["chain_steps"])), TARGET, FIELDS)


if __name__ == "__main__":
    main()
