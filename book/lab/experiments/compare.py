"""Chapter compare: every estimator, each given about the same processor time.

A recipe spends ``size`` units of work, whose price in seconds depends on the machine; so a task
names the size, which gives the same values again, and the budget that it was meant to cost. The
seconds of its provenance are those of the processor, pilots and schedules included; the model and
its base are loaded before.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

import rbmlib as rl
from rbmbook import rivals
from rbmbook.sweeps.words import ESTIMATORS, register
from rbmlib.checks import one_of
from rbmlib.results import Estimate
from rbmlib.sampling import parallel_tempering, planning
from rbmlib.schedules import friction, linear

FEWEST_CHAINS, MOST_CHAINS = 20, 500  # of annealing
N_CHAINS = 20  # of simulated tempering: two in each group of SAMS and Wang-Landau
N_LADDERS, PER_LENGTH, ANNEAL_SWEEPS, SKIP = 8, 2, 3, 0.1  # of parallel tempering
PILOT_CHAINS, PILOT_SHARE, WINDOWS = 32, 0.15, 200  # of the schedule from the friction

RECIPES: dict[str, Callable] = {}


def recipe(name: str):
    """Decorator: ``function(rbm, path, size, rng)`` -> Estimate, by its name in the tables."""

    def enter(function):
        RECIPES[name] = function
        return function

    return enter


def shape(chain_steps: int) -> tuple[int, int]:
    """Chains and steps of annealing: longer runs get more of both."""
    n_chains = int(np.clip(np.sqrt(chain_steps) / 6, FEWEST_CHAINS, MOST_CHAINS))
    return n_chains, max(chain_steps // n_chains, 2)


def _by_friction(path, chain_steps: int, rng) -> tuple[np.ndarray, int]:
    """Betas where chains are slow, from a pilot that takes its share of the work, and chains."""
    n_pilot = int(PILOT_SHARE * chain_steps / PILOT_CHAINS)
    n_chains, n_steps = shape(chain_steps - n_pilot * PILOT_CHAINS)
    if n_pilot < WINDOWS:
        return linear(n_steps), n_chains
    pilot = rl.ais(path, linear(n_pilot), PILOT_CHAINS, rng, n_recorded=WINDOWS + 1,
                    keep_chains=True)  # fmt: skip
    return friction(pilot, n_steps), n_chains


@recipe("AIS, linear")
def _ais(rbm, path, size, rng):
    n_chains, n_steps = shape(size)
    return rl.ais(path, linear(n_steps), n_chains, rng, n_recorded=2)


@recipe("AIS")
def _ais_friction(rbm, path, size, rng):
    betas, n_chains = _by_friction(path, size, rng)
    return rl.ais(path, betas, n_chains, rng, n_recorded=2)


@recipe("BAR")
def _bar(rbm, path, size, rng):
    betas, n_chains = _by_friction(path, size // 2, rng)
    return rl.bar(path, betas, n_chains, rng, start="chains")


@recipe("SMC")
def _smc(rbm, path, size, rng):
    """The betas and the chains of AIS, resampled."""
    betas, n_chains = _by_friction(path, size, rng)
    return rivals.smc(path, betas, n_chains, rng)


@recipe("RTS")
def _rts(rbm, path, size, rng):
    return rl.rts(path, None, N_CHAINS, size, rng, record_every=size)


def _tempered(estimator):
    """A ladder and chains of its own planning, ``size`` sweeps of each."""

    def run(rbm, path, size, rng):
        return estimator(path, None, N_CHAINS, size, rng)

    return run


for _name, _estimator in (
    ("MBAR", rl.mbar), ("TI", rl.ti), ("SAMS", rl.sams), ("Wang-Landau", rl.wang_landau),
):  # fmt: skip
    recipe(_name)(_tempered(_estimator))


@recipe("parallel tempering")
def _tempering(rbm, path, size, rng):
    """Ladders that begin annealed, cut once by a pilot; BAR between neighbours."""
    betas, _ = planning.own_ladder(path, rng, PER_LENGTH)
    sample = parallel_tempering(
        path, betas, N_LADDERS, size, rng, start="annealed", anneal_sweeps=ANNEAL_SWEEPS,
        record_every=max(1, size // 20_000),
    )  # fmt: skip
    return rivals.bar_of_sample(sample, skip=int(SKIP * len(sample.delta)))


@recipe("NRPT")
def _nrpt(rbm, path, size, rng):
    """Ladders that are tuned; of all sweeps the tuning takes nearly half."""
    return rivals.nrpt(path, None, N_LADDERS, size, rng, record_every=max(1, size // 20_000),
                       )  # fmt: skip


@recipe("multicanonical")
def _multicanonical(rbm, path, size, rng):
    """``size`` sweeps of a walk between the ends of the path."""
    return rivals.multicanonical(path, n_sweeps=size, rng=rng)


@recipe("log_z")
def _log_z(rbm, path, size, rng):
    """What `rbmlib.log_z` does by itself, without data; a round of three runs."""
    n_chains, n_steps = shape(size)
    return rl.log_z(rbm, n_steps=n_steps, n_chains=n_chains, rng=rng, enumerate_small=False,
                 )  # fmt: skip


for _order in (1, 2, 3):
    recipe(f"TAP{_order}")(lambda rbm, path, size, rng, order=_order: rl.tap(rbm, order, rng))


@register(ESTIMATORS, "at a budget")
def _at_a_budget(rbm, path, seed, *, method: str, budget: float, size: int):
    """log Z by a recipe, the ends of its interval, and processor seconds."""
    run, seconds = timed(rbm, path, seed, method, size)
    return replace(run, seconds=seconds), {"low": run.interval[0], "high": run.interval[1]}


def timed(rbm, path, seed: int, method: str, size: int) -> tuple[Estimate, float]:
    """The estimate of a recipe and the processor seconds that it took."""
    chosen = RECIPES[one_of("method", method, RECIPES)]
    rng = np.random.default_rng([seed, 29])
    started = time.process_time()
    run = chosen(rbm, path, size, rng)
    return run, time.process_time() - started
