"""What other people's tools say of log Z, with about the processor time of the table `compare`.

    python -m venv rivals && rivals/bin/pip install rbms==0.5.0 torch==2.15.0 pymbar==4.0.3 \\
        scikit-learn==1.9.1 numba==0.68.1 pandas pyyaml tqdm pooch
    RBMLIB_NUM_THREADS=1 PYTHONPATH=. rivals/bin/python book/_tools/compare_rivals.py

Writes data/results/compare_rivals.csv, a row a run. Chains and steps are in
the table below, so that the same versions give the same values; seconds are of one core. Compiling
and a first short call are not counted. PyDeep 1.1 is Python 2 and not in the package registry: its
procedure is computed by the loop of `baselines.numpy_annealing` (ours), as its source describes it.
"""

import time
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
from baselines import numpy_annealing, rbms_annealing

import rbmlib as rl
from rbmbook import load_reference
from rbmbook.experiments.reference import bar_of_sample
from rbmlib.numerics import logmeanexp, softplus
from rbmlib.sampling import planning
from rbmlib.sampling.tempered import parallel_tempering

TARGET = Path(__file__).parents[2] / "data" / "results" / "compare_rivals.csv"
FIELDS = ["model", "tool", "version", "setting", "seed", "log_z", "std_error", "error", "converged",
          "seconds"]  # fmt: skip
SEEDS = 5
MODELS = ("h20", "h100", "cd25_500")
WORK = {  # chains and betas, or sweeps, in about a second (h20) or ten
    ("rbms", "1,000 chains"): {"h20": (1000, 60), "h100": (1000, 330), "cd25_500": (1000, 90)},
    ("rbms", "100 chains"): {"h20": (100, 650), "h100": (100, 3000), "cd25_500": (100, 1000)},
    ("PyDeep", "base rate, equal time"): {
        "h20": (100, 900), "h100": (100, 4000), "cd25_500": (100, 1100)
    },
    ("scikit-learn", "pseudo-likelihood"): dict.fromkeys(MODELS, ()),
    ("rbmlib", "BAR on these states"): {"h20": (1200,), "h100": (4300,), "cd25_500": (400,)},
    ("pymbar", "all states"): {"h20": (1200,), "h100": (4300,)},
    ("pymbar", "thinned states"): {"h20": (1200,), "h100": (4300,)},
    ("PyDeep", "its defaults"): dict.fromkeys(MODELS, (100, 10_000)),
}  # fmt: skip


def rbms(rbm, setting, work, seed, log_z):
    """Its own path: weights from zero, visible biases kept. No error bar, no flag."""
    chains = np.zeros((work[0], rbm.n_visible))
    return {"log_z": rbms_annealing(rbm, None, np.empty(work[1]), chains, seed)}


def pydeep(rbm, setting, work, seed, log_z):
    """Plain AIS in equal steps; the base is uniform unless the model was made with data."""
    base = np.zeros(rbm.n_visible)
    if setting != "its defaults":
        base = base_rate()
    rng, n_chains = np.random.default_rng([seed, 1]), work[0]
    v = (rng.random((n_chains, rbm.n_visible)) < 1 / (1 + np.exp(-base))).astype(float)
    logs = numpy_annealing(rbm, base, np.linspace(0, 1, work[1]), v, seed)
    value = logmeanexp(logs)  # its bounds are three of these standard deviations of the mean
    error = np.exp(logs - value).std() / np.sqrt(n_chains)
    zero = softplus(base).sum() + rbm.n_hidden * np.log(2)
    return {"log_z": value + zero, "std_error": error}


def scikit_learn(rbm, setting, work, seed, log_z):
    """No log Z: the mean score of MNIST's test images, minus their mean log-likelihood."""
    from sklearn.neural_network import BernoulliRBM

    rows = rl.datasets.load_mnist().test.astype(float)
    model = BernoulliRBM(n_components=rbm.n_hidden, random_state=seed, n_iter=1).fit(rows[:2])
    model.components_ = rbm.weights.T.copy()
    model.intercept_hidden_, model.intercept_visible_ = rbm.hidden_bias, rbm.visible_bias
    began = time.process_time()
    score = float(model.score_samples(rows).mean())
    seconds = time.process_time() - began
    return {"error": score + log_z - float(rbm.log_density(rows).mean()), "seconds": seconds}


def tempered(rbm, work, seed):
    """States of parallel tempering, as the runs of `compare` drew them, and how many not to use."""
    rng, path = np.random.default_rng([seed, 29]), rl.GeometricPath(rbm, base=base_rate())
    betas, _ = planning.own_ladder(path, rng, 2)
    sample = parallel_tempering(
        path, betas, 8, work[0], rng, start="annealed", anneal_sweeps=3,
        record_every=max(1, work[0] // 500),
    )  # fmt: skip
    return sample, len(sample.delta) // 10


def base_rate():
    return rl.base_rate(rl.datasets.load_mnist().train)


def pymbar(rbm, setting, work, seed, log_z):
    """MBAR from states of rbmlib: it needs somebody's."""
    from pymbar import MBAR, timeseries

    sample, skip = tempered(rbm, work, seed)
    delta, at, k = sample.delta[skip:], sample.temperature[skip:], sample.betas.size
    series = [delta[at == i].reshape(len(delta), -1).T for i in range(k)]  # a row a ladder
    every = 1
    if setting == "thinned states":
        slowest = max(timeseries.statistical_inefficiency_multiple(list(x)) for x in series)
        every = int(np.ceil(slowest))
    series = [x[:, ::every].ravel() for x in series]
    states, counts = np.concatenate(series), np.array([len(x) for x in series])
    found = MBAR(-sample.betas[:, None] * states, counts).compute_free_energy_differences()
    value = -found["Delta_f"][0, -1] + sample.log_z_base
    return {"log_z": value, "std_error": found["dDelta_f"][0, -1]}


def of_states(rbm, setting, work, seed, log_z):
    sample, skip = tempered(rbm, work, seed)
    run = bar_of_sample(sample, skip=skip)
    return {"log_z": run.log_z, "std_error": run.std_error, "converged": int(run.converged)}


RUNNERS = {  # and a first call, which compiles
    "rbms": (rbms, (10, 5)),
    "PyDeep": (pydeep, (10, 5)),
    "scikit-learn": (scikit_learn, ()),
    "pymbar": (pymbar, (40,)),
    "rbmlib": (of_states, (40,)),
}
VERSIONS = {"PyDeep": "1.1.0, loop ours", "rbmlib": rl.__version__}


def row(name: str, tool: str, setting: str, seed: int, warm: set) -> dict:
    rbm, work = rl.load_rbm(name), WORK[tool, setting][name]
    log_z = load_reference()[name].log_z
    runner, short = RUNNERS[tool]
    if (name, tool) not in warm:
        runner(rbm, setting, short, seed, log_z)
        warm.add((name, tool))
    began = time.process_time()
    found = runner(rbm, setting, work, seed, log_z)
    found = {"seconds": time.process_time() - began} | found
    if "log_z" in found:
        found["error"] = found["log_z"] - log_z
    made_by = VERSIONS.get(tool) or version(tool)
    made = {"model": name, "tool": tool, "version": made_by, "setting": setting, "seed": seed}
    made |= found
    return {key: f"{x:.8g}" if isinstance(x, float) else x for key, x in made.items()}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    compiled: set = set()
    todo = [(m, *key, seed) for key in WORK for m in WORK[key] for seed in range(1, SEEDS + 1)]
    found = [row(*task, compiled) for task in todo]
    pd.DataFrame(found, columns=FIELDS).to_csv(TARGET, index=False)
