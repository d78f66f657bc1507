"""Tempered chains of real numbers, and what rules of TI get wrong of them."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

import rbmlib as rl
from rbmlib.estimators.ti import correction, quadrature
from rbmlib.models.testsystems import GaussianMixture
from rbmlib.results import quietly

from ..testsystems import tempered_log_z


class RuleErrors(NamedTuple):
    """Errors of log Z in nats where all means and variances are exact."""

    riemann: float  # rectangles
    trapezoid: float
    corrected: float


def slopes(mixture: GaussianMixture, base_variance: float, betas) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of the slope Delta at each beta, by differences of the exact log Z."""
    h = 1e-3 * betas + 1e-6
    low, middle, high = (
        tempered_log_z(mixture, base_variance, b) for b in (betas - h, betas, betas + h)
    )
    return (high - low) / (2 * h), (high - 2 * middle + low) / h**2


def rule_errors(mixture: GaussianMixture, base_variance: float, betas) -> RuleErrors:
    """Errors of the three rules on a ladder, without noise."""
    mean, variance = slopes(mixture, base_variance, betas)
    trapezoid = quadrature(betas, "trapezoid") @ mean - mixture.log_z
    return RuleErrors(
        float(quadrature(betas, "riemann") @ mean - mixture.log_z),
        float(trapezoid),
        float(trapezoid + correction(betas) @ variance),
    )


def first_blocks(sample: rl.TemperedSample, n_blocks: int) -> rl.TemperedSample:
    """The first blocks of time of tempered states, all of which were kept."""
    kept = int(sample.block_sweeps[:n_blocks].sum())
    return replace(
        sample,
        temperature=sample.temperature[:kept], delta=sample.delta[:kept],
        visited=sample.visited[:n_blocks], mixed=sample.mixed[:n_blocks],
    )  # fmt: skip


def on_fine_ladder(
    path: rl.DensityPath, mixture: GaussianMixture, n_steps: int, n_repeats: int, seed: int
) -> dict[str, np.ndarray]:
    """Errors of RTS and of two rules of TI-RB, from 10,000 states on a ladder of many betas.

    Guesses are exact. Of TI, which counts, hardly a beta has a state: its rules read TI-RB's means.
    """
    betas = rl.schedules.linear(n_steps) ** 2
    guesses = tempered_log_z(mixture, 30.0, betas)
    found: dict[str, list[float]] = {"RTS": [], "TI Riemann": [], "TI trap": []}
    for r in range(n_repeats):
        source = np.random.default_rng([seed, n_steps, r])
        own = path, betas, guesses, 10
        warm = rl.simulated_tempering(*own, 100, source, n_blocks=1, record_every=100)
        how = {"start": warm, "n_blocks": 20, "record_every": 1000}
        sample = rl.simulated_tempering(*own, 1000, source, **how)
        with quietly():  # ten short chains make few round trips
            found["RTS"].append(rl.rts_of_sample(sample).log_z)
            for name, rule in (("TI Riemann", "riemann"), ("TI trap", "trapezoid")):
                found[name].append(rl.ti(sample, rule=rule).log_z)
    return {name: np.array(values) - mixture.log_z for name, values in found.items()}
