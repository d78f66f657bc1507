"""Chapter rts: many estimators of the same states, and RAISE from images."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rbmbook.carlson2016.estimators import bootstrap_tempered, transition_rts
from rbmbook.carlson2016.small import PRIORS
from rbmbook.experiments.varopt.trainings import Training
from rbmbook.rivals import bar_of_sample
from rbmbook.sweeps.words import ESTIMATORS, MODELS, register
from rbmlib import (
    mbar_of_sample,
    parallel_tempering,
    pilot,
    reverse_ais,
    rts,
    rts_of_sample,
    simulated_tempering,
    ti,
)
from rbmlib.checks import one_of
from rbmlib.datasets import load_mnist
from rbmlib.numerics import logmeanexp

MODELS |= {  # as pcd_10, whose likelihood does not rise after so many updates
    f"{name}, training {k}": Training(10, 25_000, 0.02, 0.0, k, method)
    for name, method, n in (("pcd_10", "pcd", 18), ("cd1_10", "cd", 2))
    for k in range(1, n + 1)
}


def side_by_side(estimates: dict) -> dict[str, float]:
    columns: dict[str, float] = {}
    for name, estimate in estimates.items():
        columns |= {name: estimate.log_z, f"{name}_error": estimate.std_error}
    return columns


@register(ESTIMATORS, "tempered")
def _tempered(
    path, betas, seed, *, n_chains: int = 100, n_sweeps: int, sampler: str = "simulated"
):  # fmt: skip
    """What each estimator makes of the same states; log Z is RTS's, or MBAR's (parallel)."""
    if one_of("sampler", sampler, ("simulated", "parallel")) == "parallel":
        return _parallel(path, betas, seed, n_chains, n_sweeps)
    run = rts(path, betas, n_chains, n_sweeps, seed)
    sample, skip = run.states, n_sweeps // 10
    others = {
        "ts": rts_of_sample(sample, rao_blackwell=False, skip=2),
        "ti": ti(sample, rao_blackwell=False, skip=2),
        "ti_rb": ti(sample, rule="corrected", skip=2),
        "mbar": mbar_of_sample(sample, skip=skip),
        "bar": bar_of_sample(sample, skip=skip),
        "sd": transition_rts(sample, kind="sd", n_groups=20),
        "rsd": transition_rts(sample, n_groups=20),
    }
    return run, {"round_trips": run.details["round_trips"]} | side_by_side(others)


def _parallel(path, betas, seed, n_chains, n_sweeps):
    """``n_chains`` ladders, annealed for a tenth of the sweeps; a tenth more is not used."""
    anneal = max(1, n_sweeps // (10 * betas.size))
    sample = parallel_tempering(path, betas, n_chains, n_sweeps, seed, start="annealed",
                                anneal_sweeps=anneal)  # fmt: skip
    run = mbar_of_sample(sample, skip=n_sweeps // 10)
    others = {"bar": bar_of_sample(sample, skip=n_sweeps // 10), "ti": ti(sample, skip=1)}
    trips = sample.round_trips.sum() / n_chains
    assert sample.swap_rates is not None  # as parallel tempering always has them
    more = {"round_trips": float(trips), "least_swapped": float(sample.swap_rates.min())}
    return run, more | side_by_side(others)


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
