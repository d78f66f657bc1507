"""The figure of tempered chains with two kinds of steps."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np

from .. import plots

COLOURS = {"adapted": plots.BLUE, "fixed": plots.ORANGE}  # of steps


def wandering_chains(betas, runs: Mapping, errors: Mapping[str, np.ndarray]) -> None:
    """The first fifth of a typical chain with each kind of steps, and the errors of all chains."""
    _, axes = plt.subplots(1, 3, figsize=(9.5, 3.0))
    for ax, (name, run) in zip(axes, runs.items(), strict=False):
        n_moves, n_chains = run.temperature.shape
        typical = np.argsort(run.round_trips)[n_chains // 2]
        walk = betas[run.temperature[: n_moves // 5, typical]]
        ax.plot(walk, color=COLOURS[name], lw=0.5)
        ax.set(xlabel=f"transition, {name} steps", ylabel="inverse temperature β")
    axes[2].boxplot(list(errors.values()), tick_labels=list(errors))
    plots.truth(axes[2], 0.0)
    axes[2].set(ylabel="error of log Z (nats)", xlabel="steps")
