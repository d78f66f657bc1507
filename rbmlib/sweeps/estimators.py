"""Estimators that any sweep may name, and their settings."""

from __future__ import annotations

import numpy as np

from .. import datasets
from ..estimators import ais, bar, exact, mbar, reverse_ais, rts, sams, tap, ti, wang_landau
from ..estimators._reverse_start import STARTS as REVERSE_STARTS
from ..estimators.rts import STARTS as RTS_STARTS
from ..estimators.tap import SOLVERS
from ..tempering.self_adjusted import JUMPS, STARTS
from .registry import ESTIMATORS, one_of, register


@register(ESTIMATORS, "ais")
def _ais(path, betas, seed, *, n_chains: int = 1000):
    return ais(path, betas, n_chains, seed, n_recorded=2, progress=False)


@register(ESTIMATORS, "reverse_ais")
def _reverse_ais(path, betas, seed, *, n_chains: int = 1000, n_burn_in: int = 1000):
    return reverse_ais(path, betas, n_chains, seed, n_burn_in=n_burn_in, progress=False)


@register(ESTIMATORS, "bar")
def _bar(path, betas, seed, *, n_chains: int = 1000, n_burn_in: int = 100, begin: str = "auto"):
    return bar(
        path, betas, n_chains, seed, start=one_of("begin", begin, REVERSE_STARTS),
        n_burn_in=n_burn_in, progress=False,
    )  # fmt: skip


@register(ESTIMATORS, "rts")
def _rts(
    path, betas, seed, *, n_chains: int = 100, n_sweeps: int, starting: str = "pilot",
    rao_blackwell: bool = True,
):  # fmt: skip
    run = rts(
        path, betas, n_chains, n_sweeps, seed, start=one_of("starting", starting, RTS_STARTS),
        rao_blackwell=rao_blackwell, record_every=n_sweeps, progress=False,
    )  # fmt: skip
    return run, {"round_trips": run.settings["round_trips"], "bias": run.settings["bias"]}


@register(ESTIMATORS, "ti")
def _ti(
    path, betas, seed, *, n_chains: int = 100, n_sweeps: int, rule: str = "trapezoid",
    rao_blackwell: bool = True,
):  # fmt: skip
    return ti(
        path, betas, n_chains, n_sweeps, seed, rule=rule, rao_blackwell=rao_blackwell,
        progress=False,
    )  # fmt: skip


@register(ESTIMATORS, "mbar")
def _mbar(path, betas, seed, *, n_chains: int = 100, n_sweeps: int):
    return mbar(path, betas, n_chains, n_sweeps, seed, progress=False)


@register(ESTIMATORS, "sams")
def _sams(
    path, betas, seed, *, n_chains: int = 100, n_sweeps: int, n_groups: int = 10,
    starting: str = "pilot", first_stage: float = 0.3, exponent: float = 0.7,
    jump: str = "global", rao_blackwell: bool = True,
):  # fmt: skip
    """``first_stage`` is t_0, as a share of the sweeps."""
    run = sams(
        path, betas, n_chains, n_sweeps, seed, n_groups=n_groups,
        start=one_of("starting", starting, STARTS),
        t_0=round(first_stage * n_sweeps), exponent=exponent, jump=one_of("jump", jump, JUMPS),
        rao_blackwell=rao_blackwell, progress=False,
    )  # fmt: skip
    return run, _of_groups(run)


@register(ESTIMATORS, "wang_landau")
def _wang_landau(
    path, betas, seed, *, n_chains: int = 100, n_sweeps: int, n_groups: int = 10,
    starting: str = "pilot", one_over_t: bool = True, flatness: float = 0.8,
):  # fmt: skip
    run = wang_landau(
        path, betas, n_chains, n_sweeps, seed, n_groups=n_groups,
        start=one_of("starting", starting, STARTS), one_over_t=one_over_t,
        flatness=flatness, progress=False,
    )  # fmt: skip
    return run, _of_groups(run)


def _of_groups(run) -> dict:
    """Round trips of a chain in the second half, and the spread of log Z over groups."""
    spread = float(np.std(run.log_weights, ddof=1))
    return {"round_trips": run.settings["round_trips"], "spread": spread}


TAP_STARTS = {
    "densities": lambda rbm, rng, n: None,
    "uniform": lambda rbm, rng, n: rng.random((n, rbm.n_visible)),
    "images": lambda rbm, rng, n: rng.choice(datasets.load_mnist().train, n, replace=False),
}


@register(ESTIMATORS, "tap")
def _tap(
    rbm, rng, *, order: int = 2, n_starts: int = 20, begin: str = "densities",
    solver: str = "minimise", damping: float = 0.5, max_sweeps: int = 2000,
):  # fmt: skip
    """TAP from the starts of `rbmlib.tap`, uniform magnetisations, or training images."""
    starts = TAP_STARTS[one_of("begin", begin, TAP_STARTS)](rbm, rng, n_starts)
    run = tap(rbm, order, rng, n_starts=n_starts, starts=starts,
              solver=one_of("solver", solver, SOLVERS), damping=damping,
              max_sweeps=max_sweeps)  # fmt: skip
    more = {name: run.settings[name] for name in ("n_solved", "n_fixed_points", "log_z_sum")}
    return run, more | {"sweeps": run.n_sweeps}


@register(ESTIMATORS, "exact")
def _exact(rbm):
    return exact(rbm, progress=False)
