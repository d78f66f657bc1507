"""Estimators of a task that adapt while they run: SAMS and Wang-Landau."""

from __future__ import annotations

import numpy as np

from ..adaptive import JUMPS, STARTS
from ..estimators import sams, wang_landau
from .registry import ESTIMATORS, one_of, register


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
