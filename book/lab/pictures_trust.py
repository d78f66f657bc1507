"""The figure of the page on error bars: intervals by cell."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from .trust import LEVELS, share_interval


def coverages(cells, rejected) -> None:
    """Shares of intervals that hold log Z, a row a cell; ``rejected``: (n_cells, n_levels)."""
    labels = [f"{e} | {m.split()[-1]}, {path}" for path, m, e in cells.index]
    rows = {name: -i for i, name in enumerate(dict.fromkeys(labels))}
    figure, axes = plt.subplots(1, 2, figsize=(7.2, 8.4), sharey=True)
    for ax, coupling in zip(axes, ("weak", "strong"), strict=True):
        chosen = np.array([m.startswith(coupling) for _, m, _ in cells.index])
        at = np.array([rows[label] for label in labels])[chosen]
        for level, wrong in zip(LEVELS, rejected[chosen].T, strict=True):
            _panel(ax, at, cells[chosen], level, wrong)
        ax.set_title(f"{coupling}ly coupled", fontsize=9)
        ax.set_xticks(LEVELS)
        ax.set_xlim(35, 101)
        ax.grid(False, axis="y")
    axes[0].set_yticks(list(rows.values()), list(rows), fontsize=6.5)
    axes[0].set_ylim(-len(rows), 1)
    figure.supxlabel("intervals that hold log Z, in percent", fontsize=8)


def _panel(ax, at, cells, level, wrong) -> None:
    k, n = cells[f"hold_{level}"].to_numpy(), cells["n_converged"].to_numpy()
    low, high = share_interval(k, n)
    ax.axvspan(level - 3, level + 3, color="0.9", lw=0)
    for which, marker, color in ((~wrong, "o", "C0"), (wrong, "D", "C3")):
        ax.hlines(at[which], 100 * low[which], 100 * high[which], color=color, lw=1)
        ax.plot((100 * k / n)[which], at[which], marker, color=color, ms=3)
