"""The figures of the lesson rts."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from . import plots
from .errors import rmse


def wandering(walks: dict, betas, shown: int = 300) -> None:
    """Places (n_sweeps, n_chains) of each walk: three chains at the end, and all shares of time."""
    _, axes = plt.subplots(len(walks), 2, figsize=(9, 4.4), width_ratios=(4, 1), sharey=True)
    colours = plt.cm.viridis((0.1, 0.5, 0.85))
    for row, (name, places) in zip(axes, walks.items(), strict=True):
        for chain, colour in zip(places[-shown:].T[:3], colours, strict=True):
            row[0].plot(betas[chain], color=colour, lw=0.8)
        shares = np.bincount(places.ravel(), minlength=len(betas)) / places.size
        colour, height = plots.METHOD_COLOURS["RTS"], 0.8 / len(betas)
        row[1].barh(betas, shares, height=height, color=colour)
        row[0].set_ylabel(f"{name}\nβ of a chain")
    axes[-1, 0].set_xlabel("sweep")
    axes[-1, 1].set_xlabel("share of visits")


def rao_blackwell(betas, brief: tuple, spreads: list) -> None:
    """Shares of one chain, counted and averaged, and the spread of either over many chains."""
    _, axes = plt.subplots(1, 2, figsize=(9, 3.2))
    named = {"counts": "visits counted", "RTS": "mean of q(k | x)"}
    for i, (name, label) in enumerate(named.items()):
        place, colour = betas + (i - 0.5) * 0.02, plots.METHOD_COLOURS[name]
        axes[0].bar(place, brief[i][0], 0.02, color=colour, label=label)
        axes[1].plot(betas, spreads[i], **plots.method(name))
    axes[0].axhline(1 / len(betas), color="black", ls="--", lw=1, label="expected")
    axes[0].set(xlabel="inverse temperature β", ylabel="share of 30 sweeps")
    axes[0].set_ylim(0, 1.4 * brief[0].max())
    axes[1].set(xlabel="inverse temperature β", ylabel="spread of the share", ylim=(0, None))
    axes[0].legend()
    axes[1].legend()


def falling_errors(errors: dict, n_hidden: dict[str, int]) -> None:
    """RMSE against sweeps, a panel a model.

    Parameters
    ----------
    errors : dict
        By model and method: errors of the runs by number of sweeps.
    n_hidden : dict
        By model, in the order of the panels.
    """
    _, axes = plt.subplots(1, len(n_hidden), figsize=(9.3, 3.2), sharey=True)
    kinds = list(dict.fromkeys(kind for _, kind in errors))
    for ax, (name, units) in zip(axes, n_hidden.items(), strict=True):
        for kind in kinds:
            points = errors[name, kind]
            ax.plot(list(points), [rmse(e) for e in points.values()], **plots.method(kind))
        ax.set(xscale="log", yscale="log", xlabel="sweeps of each chain")
        ax.set_title(f"{name}: {units} hidden units", fontsize=10)
    axes[0].set_ylabel("RMSE of log Z (nats)")
    axes[0].legend()
