"""Schedules of a task: fixed ones, and those that a pilot run of their own finds."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from rbmlib import schedules
from rbmlib.estimators.ais import ais
from .registry import SCHEDULES, register


@register(SCHEDULES, "linear")
def _linear(*, n_temperatures: int):
    return schedules.linear(n_temperatures)


@register(SCHEDULES, "square")
def _square(*, n_temperatures: int):
    return schedules.linear(n_temperatures) ** 2


@register(SCHEDULES, "sm08")
def _sm08(*, n_temperatures: int = 14_500):
    return schedules.sm08(n_temperatures)


@register(SCHEDULES, "random")
def _random(rng, *, n_temperatures: int):
    """Uniform draws, sorted: new betas for each seed."""
    return np.concatenate([[0.0], np.sort(rng.random(n_temperatures - 1)), [1.0]])


def _pilot(path, rng, n_steps: int, n_chains: int, n_recorded: int, **options):
    betas = schedules.linear(n_steps)
    return ais(path, betas, n_chains, rng, n_recorded=n_recorded, progress=False, **options)


@register(SCHEDULES, "varopt")
def _varopt(
    path, rng, *, n_temperatures: int, pilot_steps: int = 1000, pilot_chains: int = 100,
    max_step: float = 1.0,
):  # fmt: skip
    """Kiwaki's schedule from a pilot of its own; ``max_step`` caps it on the grid of the pilot."""
    pilot = _pilot(path, rng, pilot_steps, pilot_chains, pilot_steps + 1)
    betas = schedules.varopt(pilot, n_temperatures)
    return schedules.decelerate(betas, max_step, pilot_steps) if max_step < 1 else betas


@register(SCHEDULES, "friction")
def _friction(
    path, rng, *, n_temperatures: int, pilot_steps: int = 10_000, pilot_chains: int = 128
):  # fmt: skip
    pilot = _pilot(path, rng, pilot_steps, pilot_chains, 201, keep_chains=True)
    return schedules.friction(pilot, n_temperatures)


@register(SCHEDULES, "equal_rejection")
def _equal_rejection(
    path, rng, *, n_temperatures: int, pilot_steps: int = 1000, pilot_chains: int = 100
):  # fmt: skip
    pilot = _pilot(path, rng, pilot_steps, pilot_chains, pilot_steps + 1, keep_chains=True)
    return schedules.equal_rejection(pilot, n_temperatures)


@register(SCHEDULES, "ess_bisection")
def _ess_bisection(path, rng, *, n_temperatures: int, pilot_chains: int = 100):
    return schedules.ess_bisection(path, n_temperatures, pilot_chains, rng, progress=False)


@register(SCHEDULES, "gms13")
def _gms13(path, seed, *, n_temperatures: int, pilot_chains: int = 1000):
    betas = _gms13_curve(path, seed, pilot_chains)
    return np.interp(np.linspace(0, 1, n_temperatures + 1), np.linspace(0, 1, betas.size), betas)


@lru_cache(maxsize=4)
def _gms13_curve(path, seed, pilot_chains):
    """The piecewise linear curve that schedules of any length cut: found once a path."""
    rng = np.random.default_rng([seed, 1])
    return schedules.gms13(path, 90_000, pilot_chains, rng, progress=False)
