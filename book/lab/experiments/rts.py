"""Chapter rts: many estimators of the same states, how RTS may begin, and RAISE from images."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from itertools import islice

import numpy as np

from rbmbook import rts_rounds
from rbmbook.bootstrap import bootstrap_tempered
from rbmbook.experiments.varopt.trainings import Training
from rbmbook.given_visible import GivenVisible
from rbmbook.sweeps.words import ESTIMATORS, MODELS, register
from rbmbook.transition_rts import transition_rts
from rbmlib import (
    bar_of_sample,
    exact,
    mbar_of_sample,
    parallel_tempering,
    pilot,
    reverse_ais,
    rts,
    rts_of_sample,
    sams,
    simulated_tempering,
    ti,
    wang_landau,
)
from rbmlib.checks import one_of
from rbmlib.datasets import load_mnist
from rbmlib.estimators.rts import CLOSE, ROUND_SWEEPS, checked_burn_in, rounds
from rbmlib.numerics import logmeanexp
from rbmlib.results import ConvergenceWarning

PRIORS = {
    "uniform": lambda betas: np.ones_like(betas),
    "ends": lambda betas: 1 + np.exp(-betas / 0.1) + np.exp(-(1 - betas) / 0.1),
    "rising": lambda betas: np.exp(2 * betas),
    "falling": lambda betas: np.exp(-2 * betas),
}  # of the temperatures, up to a factor
MODELS |= {  # as pcd_10, whose likelihood does not rise after so many updates
    f"{name}, training {k}": Training(10, 25_000, 0.02, 0.0, k, method)
    for name, method in (("pcd_10", "pcd"), ("cd1_10", "cd"))
    for k in (1, 2)
}
STOPS = (*range(50, 501, 50), 600, 800, 1000, 1200, 1600, 2000, 2400, 3200, 4000, 6000, 8000)
LOOKS = (500, 1000, 2000, 4000)  # at which the distance of c from r is kept, too
SETTLING, MEASURED = 50, 500  # sweeps after a start: not used, used


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
    run = rts(path, betas, n_chains, n_sweeps, seed, progress=False)
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
    return run, {"round_trips": run.settings["round_trips"]} | side_by_side(others)


def _parallel(path, betas, seed, n_chains, n_sweeps):
    """``n_chains`` ladders, annealed for a tenth of the sweeps; a tenth more is not used."""
    anneal = max(1, n_sweeps // (10 * betas.size))
    sample = parallel_tempering(path, betas, n_chains, n_sweeps, seed, start="annealed",
                                anneal_sweeps=anneal, progress=False)  # fmt: skip
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
    run = rts(path, betas, n_chains, n_sweeps, seed, progress=False)
    drawn = bootstrap_tempered(run.states, n_estimates, n_states, seed, skip=n_sweeps // 10,
                               n_mbar=n_mbar)  # fmt: skip
    more = {"round_trips": run.settings["round_trips"]}
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
        progress=False, **begun,
    )  # fmt: skip
    sample = simulated_tempering(
        path, betas, guess, n_chains, n_sweeps, source, prior=weights, start=settled,
        record_every=n_sweeps, progress=False,
    )  # fmt: skip
    run = rts_of_sample(sample)
    return run, {"round_trips": run.settings["round_trips"], "bias": run.settings["bias"]}


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
        path, betas, guess, every, burn_in, source, record_every=burn_in, progress=False, **begun
    )
    sample = simulated_tempering(
        path, betas, guess, every, n_sweeps, source, start=settled, progress=False
    )
    found: dict[str, list[float]] = {"rts": [], "sd": [], "rsd": []}
    for i in range(n_runs):
        one = sample.of_chains(slice(i * n_chains, (i + 1) * n_chains))
        found["rts"].append(rts_of_sample(one).log_z)
        for kind in ("sd", "rsd"):
            found[kind].append(transition_rts(one, kind=kind, n_groups=2).log_z)
    run = rts_of_sample(sample)
    columns = {"round_trips": run.settings["round_trips"]}
    for name, values in found.items():
        columns |= {f"{name}_mean": np.mean(values), f"{name}_variance": np.var(values)}
    return run, {name: float(value) for name, value in columns.items()}


@register(ESTIMATORS, "ladders")
def _ladders(path, betas, seed, *, n_chains: int, n_sweeps: int, burn_in: int):
    """MBAR of parallel tempering that begins with annealed states and forgets ``burn_in``."""
    sample = parallel_tempering(
        path, betas, n_chains, n_sweeps, seed, start="annealed",
        anneal_sweeps=max(1, n_sweeps // (10 * betas.size)), progress=False,
    )  # fmt: skip
    run = mbar_of_sample(sample, skip=burn_in)
    assert sample.swap_rates is not None  # as parallel tempering always has them
    trips = sample.round_trips.sum() / n_chains
    return run, {"round_trips": float(trips), "least_swapped": float(sample.swap_rates.min())}


# the beginning ------------------------------------------------------------------------------


def uniform_prior(betas, conditional: str) -> dict:
    """Options of `rounds` that the sweeps of the chapter do not vary."""
    return {"prior": np.full(betas.size, 1 / betas.size), "conditional": conditional}


@register(ESTIMATORS, "rounds")
def _rounds(
    path, betas, seed, *, n_chains: int = 100, n_sweeps: int, round_sweeps: int = ROUND_SWEEPS,
    round_burn_in: int = 0, conditional: str = "joint",
):  # fmt: skip
    """The initial iterations alone, for ``n_sweeps`` sweeps of a chain: log Z^ on the way.

    ``close_after`` is the number of sweeps until ``max |r - c| < 0.1 / K`` first held, none if it
    never did; ``log_z_S`` is log Z^ after the last round that was over at sweep S. ``std_error``
    is left empty: rounds of the same chains tell none.
    """
    started = time.perf_counter()
    burn_in = checked_burn_in("paper", round_burn_in, round_sweeps)
    source, options = np.random.default_rng(seed), uniform_prior(betas, conditional)
    path = given(path, conditional)
    every = rounds(path, betas, n_chains, source, options, n_sweeps=round_sweeps, burn_in=burn_in)
    found = list(islice(every, n_sweeps // round_sweeps))
    distance = np.array([one.distance for one in found])
    close = np.flatnonzero(distance < CLOSE)
    more = {"close_after": float(round_sweeps * (close[0] + 1)) if close.size else np.nan}
    more |= {"n_close": float(close.size), "least_distance": float(distance.min())}
    for stop in STOPS:
        done = stop // round_sweeps
        inside = 0 < done <= len(found) and stop <= n_sweeps
        more[f"log_z_{stop}"] = float(found[done - 1].log_z_path[-1]) if inside else np.nan
        if stop in LOOKS:
            more[f"distance_{stop}"] = float(distance[done - 1]) if inside else np.nan
    run = _measured(path, betas, found[-1].log_z_path, n_chains, source, 2, 1, conditional)
    seconds = time.perf_counter() - started
    at_end = {"log_z": float(found[-1].log_z_path[-1]), "std_error": np.nan, "converged": False}
    return replace(run, **at_end, seconds=seconds), more


@register(ESTIMATORS, "first_rounds")
def _first_rounds(
    path, betas, seed, *, n_chains: int = 100, n_rounds: int, round_burn_in: int = 0,
    conditional: str = "joint",
):  # fmt: skip
    """The authors' rounds once more, as Figure 1 looks at them: after eight, and nearest to r.

    ``distance_8`` is ``K max |r - c|`` after eight rounds, ``least_distance`` that of the best
    round, ``roughness_8`` that of log c, and ``exact`` log Z by enumeration. ``counted`` is the
    roughness after eight rounds whose c is counted, and ``empty`` the share of its empty bins.
    """
    started, path = time.perf_counter(), given(path, conditional)
    where, how = (path, betas, n_chains, seed), {"left_out": round_burn_in}
    how |= {"conditional": conditional}
    made = rts_rounds.rounds(*where, n_rounds, **how)
    by_counts = rts_rounds.rounds(*where, 8, column="visited", **how)[7]
    far, eighth = [rts_rounds.distance(one.shares) for one in made], made[7]
    more = {"distance_8": far[7], "least_distance": min(far), "log_z_8": eighth.log_z}
    more |= {"exact": exact(path.rbm).log_z, "roughness_8": rts_rounds.roughness(eighth.shares)}
    more |= {"counted": rts_rounds.roughness(by_counts.shares), "empty": by_counts.empty}
    at_end = {"log_z": made[-1].log_z, "std_error": np.nan, "converged": False}
    seconds = time.perf_counter() - started
    return replace(rts_of_sample(made[-1].sample), **at_end, seconds=seconds), more


def given(path, conditional: str):
    """The path, as it is quick for what beta is drawn given."""
    return GivenVisible(path) if conditional == "marginal" else path


def _measured(path, betas, log_z_path, n_chains, rng, n_sweeps, settling, conditional, **begun):
    """RTS from ``n_sweeps`` sweeps with these Z^, after some that are not used."""
    settled = simulated_tempering(
        path, betas, log_z_path, n_chains, settling, rng, conditional=conditional,
        record_every=settling, progress=False, **begun,
    )  # fmt: skip
    sample = simulated_tempering(
        path, betas, log_z_path, n_chains, n_sweeps, rng, conditional=conditional, start=settled,
        record_every=n_sweeps, progress=False,
    )  # fmt: skip
    return rts_of_sample(sample)


def _from_rounds(path, betas, seed, n_chains, n_sweeps, burn_in):
    options = uniform_prior(betas, "joint")
    source = np.random.default_rng([seed, 1])
    every = rounds(path, betas, n_chains, source, options, burn_in=burn_in)
    *_, last = islice(every, n_sweeps // ROUND_SWEEPS)
    return last.log_z_path, {"start": last.states}


def _from_groups(method):
    """Both groups' mean log Z, from equal values, with chains where they ended."""

    def begin(path, betas, seed, n_chains, n_sweeps, burn_in):
        run = method(path, betas, n_chains, n_sweeps, seed, n_groups=2, start="plain",
                     progress=False)  # fmt: skip
        return run.log_z_path, {"start": run.states}

    return begin


def _from_pilot(path, betas, seed, n_chains, n_sweeps, burn_in):
    """Half of the chains at each end, as in `rbmlib.rts`."""
    return short_start(path, betas, seed, n_chains, n_sweeps)


BEGINNINGS = {
    "rounds": _from_rounds,
    "sams": _from_groups(sams),
    "wang_landau": _from_groups(wang_landau),
    "pilot": _from_pilot,
}


@register(ESTIMATORS, "begun")
def _begun(
    path, betas, seed, *, begin: str, n_chains: int = 100, n_sweeps: int, round_burn_in: int = 0,
):  # fmt: skip
    """Z^ of a start of ``n_sweeps`` sweeps, and what 500 sweeps of RTS with them say.

    ``log_z`` is that of the start; ``distance`` is ``K max |r - c|`` of the 500 sweeps, 50 more
    having passed, ``rts`` and ``rts_error`` are their estimate.
    """
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a start is not asked to converge
        log_z_path, begun = BEGINNINGS[one_of("begin", begin, BEGINNINGS)](
            path, betas, seed, n_chains, n_sweeps, round_burn_in
        )
        source = np.random.default_rng([seed, 2])
        run = _measured(
            path, betas, log_z_path, n_chains, source, MEASURED, SETTLING, "joint", **begun
        )
    more = {
        "distance": float(betas.size * np.abs(run.trace["occupation"] - 1 / betas.size).max()),
        "rts": run.log_z,
        "rts_error": run.std_error,
        "round_trips": run.settings["round_trips"],
    }
    seconds = time.perf_counter() - started
    return replace(run, log_z=float(log_z_path[-1]), seconds=seconds), more


@register(ESTIMATORS, "rts_from_rounds")
def _rts_from_rounds(
    path, betas, seed, *, n_chains: int = 100, n_sweeps: int, round_burn_in: int = 0,
    conditional: str = "joint",
):  # fmt: skip
    """`rbmlib.rts` from the paper's rounds, the first sweeps of each left out."""
    run = rts(
        given(path, conditional), betas, n_chains, n_sweeps, seed, start="paper",
        round_burn_in=round_burn_in, conditional=conditional, record_every=n_sweeps,
        progress=False,
    )  # fmt: skip
    last = run.settings["initial"][-1]
    more = {"round_trips": run.settings["round_trips"], "bias": run.settings["bias"]}
    more["n_rounds"] = float(len(run.settings["initial"]))
    more["start_log_z"] = float(last[0][-1] + np.log(last[1][-1] / last[1][0]))
    return run, more


@register(ESTIMATORS, "rts_after_rounds")
def _rts_after_rounds(
    path, betas, seed, *, n_chains: int = 100, n_sweeps: int, n_rounds: int, round_burn_in: int,
):  # fmt: skip
    """RTS after as many rounds as wanted, without its first tenth of sweeps, as after a pilot."""
    started = time.perf_counter()
    source = np.random.default_rng(seed)
    every = rounds(path, betas, n_chains, source, uniform_prior(betas, "joint"),
                   burn_in=checked_burn_in("paper", round_burn_in))  # fmt: skip
    *_, last = islice(every, n_rounds)
    sample = simulated_tempering(
        path, betas, last.log_z_path, n_chains, n_sweeps, source, start=last.states, n_blocks=20,
        record_every=n_sweeps, progress=False,
    )  # fmt: skip
    run = rts_of_sample(sample, skip=2)
    more = {"round_trips": run.settings["round_trips"], "start_log_z": float(last.log_z_path[-1])}
    return replace(run, seconds=time.perf_counter() - started), more


# images --------------------------------------------------------------------------------------


def raised(path, betas, images, n_chains: int, seed):
    """R of chains from each image back to the base, (n_images, n_chains); and their run.

    ``p*(v) exp(-R)`` is right on average for p_ann(v), the law of where annealing ends.
    """
    start = np.repeat(images, n_chains, axis=0)
    run = reverse_ais(path, betas, len(start), seed, start=start, progress=False)
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
