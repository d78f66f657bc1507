"""The stored runs that the notebook of the report reads."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from rbmbook.page import pick, stored

from . import programs, tap, truth

SWEEPS = (
    "ais_report ais_printed ais_bounds rts_loop rts_loop_fresh rts_loop_loose rts_loop_sweeps "
    "sams_printed sams_lengths sams_claims tap_printed tap_readings tap_report"
)
CLOSE = 5.0  # nats: three standard deviations of the report's runs of RTS on h20


class Stored(NamedTuple):
    """Readings of AIS, RTS and SAMS; calls of TAP; single runs of the loop of RTS."""

    ais: pd.DataFrame
    coarse: pd.DataFrame  # AIS of 10,000 temperatures
    rts: pd.DataFrame  # from the base of counts + 5
    single: pd.DataFrame  # runs of RTS with K = 100 from both bases
    sweeps: pd.DataFrame  # RTS without a stop, and SAMS, after so many sweeps
    sams: pd.DataFrame
    energy: pd.DataFrame  # SAMS with and without the energy of the base in the draw of beta
    tap: pd.DataFrame
    fixed_points: pd.DataFrame  # of TAP, solved to the end


def load(scheduler: str = "") -> Stored:
    """All of them; each sweep prints a line on its origin."""
    found = dict(zip(SWEEPS.split(), stored(SWEEPS, scheduler), strict=True))
    loops = pd.concat([found["rts_loop"], found["rts_loop_loose"]])
    every = pd.concat([loops, found["rts_loop_fresh"]])
    calls = pd.concat([found["tap_printed"], found["tap_readings"]])
    energy = pick(found["sams_claims"], n_chains=20, n_sweeps=7000).assign(n=20)
    return Stored(
        ais=programs.of_ais(found["ais_report"], found["ais_printed"]),
        coarse=pick(found["ais_bounds"], estimator="ais", n_temperatures=10_000),
        rts=programs.of_rts(pick(every, rbm_a="counts + 5")),
        single=pick(loops, n_temperatures=99),
        sweeps=found["rts_loop_sweeps"],
        sams=programs.of_sams(pd.concat([found["sams_printed"], found["sams_lengths"]])),
        energy=energy.assign(variance=20 * energy["std_error"] ** 2),
        tap=calls.drop_duplicates([*tap.SETTINGS, "model", "order", "n_updates", "seed"]),
        fixed_points=pick(found["tap_report"], n_starts=1, solver="minimise"),
    )


def converged(runs: Stored, **where) -> tuple[np.ndarray, np.ndarray]:
    """For each single run of RTS whether it met the stopping rule, and whether it then was close.

    A run *converges* if it meets the rule within 100,000 sweeps with log Z right to `CLOSE`.
    """
    found = pick(runs.single, **where)
    stops = found["stopped"].to_numpy() == 1
    return stops, stops & (np.abs(found["log_z"] - found["model"].map(truth)) < CLOSE).to_numpy()
