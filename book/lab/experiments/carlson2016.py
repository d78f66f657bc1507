"""Carlson et al. (2016): RTS from rounds, estimators of one sample, RAISE, tracked training."""

from dataclasses import replace
from functools import lru_cache, partial

import numpy as np

import rbmlib as rl
from rbmbook import training
from rbmbook.carlson2016.estimators import bootstrap_tempered, transition_rts, transition_sums
from rbmbook.carlson2016.rounds import rounds, rts_from_rounds
from rbmbook.carlson2016.small import PRIORS, conductance, in_groups
from rbmbook.paths import GivenVisible
from rbmbook.sweeps.words import ESTIMATORS, MODELS, register
from rbmlib.checks import one_of
from rbmlib.numerics import expit, logmeanexp
from rbmlib.sampling.anneal import both_ends
from rbmlib.training.tracking import LogZTracker
from rbmlib.training.train import train

from .kiwaki2015 import trained, two_way_ais

PILOT_STEPS = 1000  # for estimators that begin with a short pilot
DNA_TRAIN = 1400  # rows; the other 600 of the training set are for validation (Carlson et al. 2016)

MODELS |= {  # as pcd_10, whose likelihood does not rise after so many updates
    f"{name}, training {k}": partial(trained, 10, 25_000, 0.02, 0.0, k, method)
    for name, method, n in (("pcd_10", "pcd", 19), ("cd1_10", "cd", 2))
    for k in range(1, n + 1)
}


@register(ESTIMATORS, "rts_from_rounds")
def _rts_from_rounds(
    path, betas, seed, *, n_chains: int = 100, n_sweeps: int, round_burn_in: int = 0,
    conditional: str = "joint",
):  # fmt: skip
    how = {"left_out": round_burn_in, "conditional": conditional}
    quick = GivenVisible(path) if conditional == "marginal" else path
    run, made = rts_from_rounds(quick, betas, n_chains, n_sweeps, seed, **how)
    more = {"round_trips": run.details["round_trips"], "bias": run.details["bias"]}
    return run, more | {"n_rounds": float(len(made)), "start_log_z": float(made[-1].guesses[-1])}


@register(ESTIMATORS, "rts_given_v")
def _rts_given_v(path, betas, seed, *, n_chains: int = 100, n_sweeps: int):
    """RTS from a pilot of 4,000 steps, with each beta drawn given v alone."""
    source = np.random.default_rng(seed)
    guess, begun = short_start(path, betas, source, n_chains, 4000)
    given = GivenVisible(path), betas, guess, n_chains, n_sweeps, source
    how = {"conditional": "marginal", "record_every": n_sweeps}
    run = rl.rts_of_sample(rl.simulated_tempering(*given, **how, **begun))
    return run, {"round_trips": run.details["round_trips"], "bias": run.details["bias"]}


@register(ESTIMATORS, "rounds")
def _rounds(
    path, betas, seed, *, n_chains: int = 100, round_burn_in: int, conditional: str, until: float,
    n_rounds: int,
):  # fmt: skip
    """Number of rounds from equal guesses until their `distance` is below ``until``."""
    quick = GivenVisible(path) if conditional == "marginal" else path
    how = {"left_out": round_burn_in, "conditional": conditional, "until": until}
    made = rounds(quick, betas, n_chains, seed, n_rounds, **how)
    seconds = sum(one.sample.seconds for one in made)
    return replace(rl.rts_of_sample(made[-1].sample), seconds=seconds), {"rounds": len(made)}


@register(ESTIMATORS, "bottleneck")
def _bottleneck(path, betas, seed, *, n_chains: int = 100, n_sweeps: int):
    run = rl.rts(path, betas, n_chains, n_sweeps, seed)
    found = conductance(transition_sums(run.states, slice(None), "sd"))
    return run, {"conductance": found.min(), "bottleneck": betas[found.argmin() + 1]}


@register(ESTIMATORS, "gradient")
def _gradient(rbm, seed, *, prior: str, n_chains: int, n_updates: int):
    """Summed variance of the model's term of the gradient on DNA, a weighted mean over chains."""
    base = rl.base_rate(rl.datasets.load_dna().train[:DNA_TRAIN])
    tracker, variances = LogZTracker(base, n_chains=n_chains, rng=seed), []
    tracker.prior = PRIORS[one_of("prior", prior, PRIORS)](tracker.betas)
    tracker.prior /= tracker.prior.sum()
    for _ in range(n_updates):
        tracker.update(rbm)
        weights, v = tracker.conditional()[:, -1], tracker.sample.states
        h, mean = expit(v @ rbm.weights + rbm.hidden_bias), tracker.negative_phase()[0]
        off = (v**2).sum(1) * (h**2).sum(1) - 2 * (v @ mean * h).sum(1) + (mean**2).sum()
        variances.append(np.square(weights / weights.sum()) @ off)
    run = replace(rl.rts_of_sample(tracker.sample), seconds=sum(tracker.seconds.values()))
    return run, {"variance": np.mean(variances[n_updates // 2 :])}


@register(ESTIMATORS, "mixing")
def _mixing(path, betas, seed, *, n_chains: int = 100, n_sweeps: int):
    run = rl.rts(path, betas, n_chains, n_sweeps, seed, record_every=n_sweeps)
    trips = run.states.round_trips
    error = trips.std(ddof=1) / np.sqrt(trips.size)
    return run, {"round_trips": trips.mean(), "round_trips_error": error}


@register(ESTIMATORS, "one_sample")
def _one_sample(path, betas, seed, *, n_chains: int = 20, n_sweeps: int, own_pilot: bool = True):
    """Results of the estimators of figure 2 of Carlson et al. (2016) on the same states.

    log Z is by RTS. The guesses of log Z come from a short pilot, a separate one or the same for
    all seeds. A fifth as many sweeps precede those that count.
    """
    source = np.random.default_rng([seed, 4])
    first = rl.pilot(path, betas, n_chains, PILOT_STEPS, source if own_pilot else 0).log_z_path
    warm = rl.simulated_tempering(path, betas, first, n_chains, n_sweeps // 5, source)
    sample = rl.simulated_tempering(path, betas, first, n_chains, n_sweeps, source, start=warm)
    run = rl.rts_of_sample(sample)
    others = {
        "mbar": rl.mbar_of_sample(sample),
        "ti_riemann": rl.ti(sample, rule="riemann", rao_blackwell=False),
        "ti_trap": rl.ti(sample, rao_blackwell=False),
        "ti_corrected": rl.ti(sample, rule="corrected", rao_blackwell=False),
        "ti_rb": rl.ti(sample),
    }
    more = {"round_trips": run.details["round_trips"]}
    for name, estimate in others.items():
        more |= {name: estimate.log_z, f"{name}_error": estimate.std_error}
    return run, more


@register(ESTIMATORS, "bootstrapped")
def _bootstrapped(
    path, betas, seed, *, n_chains: int = 100, n_sweeps: int, n_estimates: int = 200,
    n_states: int = 10_000, n_mbar: int = 20,
):  # fmt: skip
    """Mean and standard deviation of estimates from resampled states of one long run."""
    run = rl.rts(path, betas, n_chains, n_sweeps, seed)
    drawn = bootstrap_tempered(run.states, n_estimates, n_states, seed, skip=n_sweeps // 10,
                               n_mbar=n_mbar)  # fmt: skip
    more = {"round_trips": run.details["round_trips"]}
    for name, values in drawn.items():
        more |= {name: float(values.mean()), f"{name}_error": float(values.std())}
    return run, more


def short_start(path, betas, source, n_chains: int, n_steps: int = PILOT_STEPS):
    """Chains at both ends of the ladder; a short pilot annealed half of them."""
    guess, states, index = both_ends(path, betas, n_chains, n_steps, source)
    return guess, {"start": states, "index": index}


def _settled_sample(path, betas, seed, n_chains, burn_in, n_sweeps, prior=None, **kept):
    """States of chains after ``burn_in`` sweeps with the same guesses."""
    guess, begun = short_start(path, betas, np.random.default_rng([seed, 1]), n_chains)
    given, source = (path, betas, guess, n_chains), np.random.default_rng([seed, 2])
    begun |= {"prior": prior, "record_every": burn_in}
    settled = rl.simulated_tempering(*given, burn_in, source, **begun)
    return rl.simulated_tempering(*given, n_sweeps, source, prior=prior, start=settled, **kept)


@register(ESTIMATORS, "settled")
def _settled(path, betas, seed, *, n_chains: int = 100, n_sweeps: int, burn_in: int, prior: str):
    weights = PRIORS[one_of("prior", prior, PRIORS)](betas)
    given = path, betas, seed, n_chains, burn_in, n_sweeps
    run = rl.rts_of_sample(_settled_sample(*given, prior=weights, record_every=n_sweeps))
    return run, {"round_trips": run.details["round_trips"], "bias": run.details["bias"]}


@register(ESTIMATORS, "moves")
def _moves(path, betas, seed, *, n_runs: int = 25, n_chains: int = 40, n_sweeps: int, burn_in: int):
    """Mean and variance of RTS, SD and RSD over many short runs, on the same states."""
    sample = _settled_sample(path, betas, seed, n_runs * n_chains, burn_in, n_sweeps)
    groups = in_groups(sample, n_chains)
    found = {"rts": [rl.rts_of_sample(one).log_z for one in groups]}
    for kind in ("sd", "rsd"):
        found[kind] = [transition_rts(one, kind=kind, n_groups=2).log_z for one in groups]
    run = rl.rts_of_sample(sample)
    more = {"round_trips": run.details["round_trips"]}
    for name, x in found.items():
        more |= {f"{name}_mean": float(np.mean(x)), f"{name}_variance": float(np.var(x))}
    return run, more


def raised(path, betas, images, n_chains: int, seed):
    """R of chains (n_images, n_chains) from each image back to the base, and their run.

    ``p*(v) exp(-R)`` is an unbiased estimate of p_ann(v), the distribution of annealed states.
    """
    start = np.repeat(images, n_chains, axis=0)
    run = rl.reverse_ais(path, betas, len(start), seed, start=start)
    return run.log_weights.reshape(len(images), n_chains), run


@register(ESTIMATORS, "raise")
def _raise(path, betas, seed, *, n_chains: int = 100, n_images: int = 100):
    """log Z as the mean of ``log p*(v) - log p_ann(v)`` over test images."""
    test = rl.datasets.load_mnist().test
    images = np.random.default_rng([seed, 3]).choice(test, n_images, replace=False)
    back, run = raised(path, betas, images, n_chains // n_images, seed)
    found = -logmeanexp(-back, axis=1)
    more = {"log_p_ann": float((path.at(1.0).log_density(images) - found).mean())}
    std_error = float(found.std(ddof=1) / np.sqrt(n_images))
    return replace(run, log_z=float(found.mean()), std_error=std_error, ess=np.nan), more


@register(ESTIMATORS, "tracked")
def _tracked(
    rbm, seed, *, look: int, n_looks: int, n_updates: int, learning_rate: float,
    final_learning_rate: float, warm_up: int = 0, gain: float = 0.2, n_chains: int = 2000,
    n_apart: int = 400, n_sweeps: int = 25, batch_size: int = 100, n_temperatures: int = 10_000,
    n_annealed: int = 100, n_reversed: int = 20,
):  # fmt: skip
    """AIS and reverse AIS at one evaluation of a training run on DNA, and the tracked log Z."""
    rates = learning_rate, final_learning_rate, warm_up
    chains = gain, n_chains - n_apart, n_sweeps
    model, seen = _tracked_training(rbm, seed, n_looks, n_updates, rates, batch_size, *chains)[look]
    path = rl.GeometricPath(model, base=rl.base_rate(rl.datasets.load_dna().train[:DNA_TRAIN]))
    task = {"n_chains": n_annealed, "n_reversed": n_reversed}
    forward, back = two_way_ais(path, rl.schedules.linear(n_temperatures), seed, **task)
    return forward, seen | {k: v for k, v in back.items() if k.startswith("reverse")}


@lru_cache(maxsize=1)
def _tracked_training(rbm, seed, n_looks, n_updates, rates, batch_size, gain, n_chains, n_sweeps):
    """Models and records at all evaluations; trained once for all rows of a run."""
    data, rng = rl.datasets.load_dna(), np.random.default_rng([seed, 3])
    rows = data.train[:DNA_TRAIN]
    chains = {"n_chains": n_chains, "n_sweeps": n_sweeps, "gain": gain}
    tracker = LogZTracker(rl.base_rate(rows), **chains, rng=rng)
    monitor = tracker.monitor(train=rows, validation=data.train[DNA_TRAIN:], test=data.test)
    looks = []

    def keep(model):
        seen = {"tracked": 0.0} | monitor(model)
        seen["tracked"] = seen.pop("log_z")
        # the stored table has the mean lag, and the tracker's error bar takes its square
        seen["log_z_error"] = float(np.hypot(seen["noise"], seen["lag"]))
        looks.append((model, seen))
        return seen

    train(
        rows, rbm.n_hidden, method="spectral tempered", tracker=tracker, start=rbm,
        n_updates=n_updates, learning_rate=training.rates(*rates[:2], n_updates, rates[2]),
        batch_size=batch_size, rng=rng, monitor=keep, monitor_every=n_updates // n_looks,
    )  # fmt: skip
    return looks
