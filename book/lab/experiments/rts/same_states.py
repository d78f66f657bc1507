"""Chapter rts: many estimators of the same states, and RAISE from images."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rbmbook.carlson2016.estimators import bootstrap_tempered, transition_rts
from rbmbook.carlson2016.small import PRIORS
from rbmbook.experiments.varopt.trainings import Training
from rbmbook.sweeps.words import ESTIMATORS, MODELS, register
from rbmlib import pilot, reverse_ais, rts, rts_of_sample, simulated_tempering
from rbmlib.checks import one_of
from rbmlib.datasets import load_mnist
from rbmlib.numerics import logmeanexp

MODELS |= {  # as pcd_10, whose likelihood does not rise after so many updates
    f"{name}, training {k}": Training(10, 25_000, 0.02, 0.0, k, method)
    for name, method, n in (("pcd_10", "pcd", 18), ("cd1_10", "cd", 2))
    for k in range(1, n + 1)
}


@register(ESTIMATORS, "bootstrapped")
def _bootstrapped(
    path, betas, seed, *, n_chains: int = 100, n_sweeps: int, n_estimates: int = 200,
    n_states: int = 10_000, n_mbar: int = 20,
):  # fmt: skip
    """Mean and standard deviation of estimates from states drawn again from one long run."""
    run = rts(path, betas, n_chains, n_sweeps, seed)
    drawn = bootstrap_tempered(run.states, n_estimates, n_states, seed, skip=n_sweeps // 10,
                               n_mbar=n_mbar)  # fmt: skip
    more = {"round_trips": run.details["round_trips"]}
    for name, values in drawn.items():
        more |= {name: float(values.mean()), f"{name}_error": float(values.std())}
    return run, more


def short_start(path, betas, seed, n_chains: int, n_steps: int):
    """Chains at both ends of the ladder, half of them annealed there by a pilot of few steps."""
    first = pilot(path, betas, n_chains, n_steps, np.random.default_rng([seed, 1]))
    odd = np.arange(n_chains) % 2 == 1
    states = np.where(odd[:, None], first.top, first.bottom)
    index = np.where(odd, betas.size - 1, 0)
    return first.log_z_path, {"start": states, "index": index}


@register(ESTIMATORS, "settled")
def _settled(
    path, betas, seed, *, n_chains: int = 100, n_sweeps: int, burn_in: int, prior: str = "uniform",
):  # fmt: skip
    """RTS from chains that have moved under the same prior of beta for ``burn_in`` sweeps."""
    weights = PRIORS[one_of("prior", prior, PRIORS)](betas)
    guess, begun = short_start(path, betas, seed, n_chains, 1000)
    source = np.random.default_rng([seed, 2])
    settled = simulated_tempering(
        path, betas, guess, n_chains, burn_in, source, prior=weights, record_every=burn_in,
        **begun,
    )  # fmt: skip
    sample = simulated_tempering(
        path, betas, guess, n_chains, n_sweeps, source, prior=weights, start=settled,
        record_every=n_sweeps,
    )  # fmt: skip
    run = rts_of_sample(sample)
    return run, {"round_trips": run.details["round_trips"], "bias": run.details["bias"]}


@register(ESTIMATORS, "moves")
def _moves(
    path, betas, seed, *, n_runs: int = 25, n_chains: int = 40, n_sweeps: int, burn_in: int,
):  # fmt: skip
    """RTS, SD and RSD of many short runs: mean and variance over runs of each, by the same states.

    Runs are groups of ``n_chains`` independent chains, with the same guesses of a pilot.
    """
    every = n_runs * n_chains
    guess, begun = short_start(path, betas, seed, every, 1000)
    source = np.random.default_rng([seed, 2])
    settled = simulated_tempering(
        path, betas, guess, every, burn_in, source, record_every=burn_in, **begun
    )
    sample = simulated_tempering(path, betas, guess, every, n_sweeps, source, start=settled)
    groups = [sample.of_chains(slice(i, i + n_chains)) for i in range(0, every, n_chains)]
    found = {"rts": [rts_of_sample(one).log_z for one in groups]}
    for kind in ("sd", "rsd"):
        found[kind] = [transition_rts(one, kind=kind, n_groups=2).log_z for one in groups]
    run = rts_of_sample(sample)
    columns = {"round_trips": run.details["round_trips"]}
    for name, values in found.items():
        columns |= {f"{name}_mean": float(np.mean(values))}
        columns |= {f"{name}_variance": float(np.var(values))}
    return run, columns


# images --------------------------------------------------------------------------------------


def raised(path, betas, images, n_chains: int, seed):
    """R of chains from each image back to the base, (n_images, n_chains); and their run.

    ``p*(v) exp(-R)`` is right on average for p_ann(v), the law of where annealing ends.
    """
    start = np.repeat(images, n_chains, axis=0)
    run = reverse_ais(path, betas, len(start), seed, start=start)
    return run.log_weights.reshape(len(images), n_chains), run


@register(ESTIMATORS, "raise")
def _raise(path, betas, seed, *, n_chains: int = 100, n_images: int = 100):
    """log Z as ``log p*(v) - log p_ann(v)``, its mean over test images, which share the chains."""
    test = load_mnist().test
    images = np.random.default_rng([seed, 3]).choice(test, n_images, replace=False)
    back, run = raised(path, betas, images, n_chains // n_images, seed)
    found = -logmeanexp(-back, axis=1)
    more = {"log_p_ann": float((path.at(1.0).log_density(images) - found).mean())}
    std_error = float(found.std(ddof=1) / np.sqrt(n_images))
    return replace(run, log_z=float(found.mean()), std_error=std_error, ess=np.nan), more
