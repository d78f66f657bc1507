"""Figures of the page on error bars: wrong runs that are trusted, signs, and intervals by cell."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from .plots import METHOD_COLOURS
from .trust import LEVELS, share_interval


def wrong_shares(counted) -> None:
    """Shares of trusted runs that are wrong, before and after a second opinion, a row a method."""
    _, ax = plt.subplots(figsize=(6.5, 4.4))
    at = -np.arange(len(counted))
    for wrong, trusted, color, up, label in (
        ("silent", "own", "C1", 0.15, "by their own checks"),
        ("still", "after", "C0", -0.15, "with a second opinion"),
    ):
        k, n = counted[wrong].to_numpy(), counted[trusted].to_numpy()
        low, high = share_interval(k, n)
        ax.hlines(at + up, 100 * low, 100 * high, color=color, lw=1.5)
        ax.plot(100 * k / np.maximum(n, 1), at + up, "o", color=color, ms=4)
        ax.plot([], [], "o-", color=color, label=label)
    ax.set_yticks(at, counted.index)
    ax.set_xlabel("of the runs that are trusted, percent that are wrong")
    ax.set_ylim(-len(counted) - 1.2, 0.7)
    ax.legend(fontsize=8, loc="lower right")


def worth_of_signs(signs):
    """Bars of false assurances and of false alarms, one a row of `rbmbook.trust.signs`.

    The first row is drawn on top, in a colour of its own.
    """
    rows = signs.iloc[::-1]
    colours = [METHOD_COLOURS["AIS"]] * (len(rows) - 1) + [METHOD_COLOURS["BAR"]]
    bars = {
        "false assurances (% of the trusted runs)": 100 * rows["wrong"] / rows["trusted"],
        "false alarms (% of all runs)": 100 * rows["alarms"] / rows["runs"],
    }
    _, axes = plt.subplots(1, 2, figsize=(8.5, 2.8), sharey=True)
    for ax, (label, values) in zip(axes, bars.items(), strict=True):
        drawn = ax.barh(rows["sign"], values, color=colours)
        ax.bar_label(drawn, fmt="%.1f", padding=3)
        ax.set(xlabel=label, xlim=(0, 1.2 * max(*values, 1)))
    return axes


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
