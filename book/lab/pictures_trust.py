"""The figure of the page on error bars: intervals by cell."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from .trust import LEVELS, share_interval


def coverages(cells, rejected) -> None:
    """Shares of intervals that hold log Z, sorted; ``rejected``: (n_cells, n_levels)."""
    _, axes = plt.subplots(1, 2, figsize=(8.4, 4.2), sharey=True)
    for ax, coupling in zip(axes, ("weak", "strong"), strict=True):
        chosen = np.array([m.startswith(coupling) for _, m, _ in cells.index])
        for level, wrong in zip(LEVELS, rejected[chosen].T, strict=True):
            _level(ax, cells[chosen], level, wrong)
        ax.set_title(f"{coupling}ly coupled")
        ax.set_xlabel("cells, sorted")
        ax.set_yticks(LEVELS)
    axes[0].set_ylabel("intervals that hold log Z (%)")


def _level(ax, cells, level, wrong) -> None:
    k, n = cells[f"hold_{level}"].to_numpy(), cells["n_converged"].to_numpy()
    at = np.argsort(np.argsort(k / n, kind="stable"))
    low, high = share_interval(k, n)
    ax.axhspan(level - 3, level + 3, color="0.9", lw=0)
    for which, marker, color in ((~wrong, "o", "C0"), (wrong, "D", "C3")):
        ax.vlines(at[which], 100 * low[which], 100 * high[which], color=color, lw=1)
        ax.plot(at[which], (100 * k / n)[which], marker, color=color, ms=4)
