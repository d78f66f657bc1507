"""The figures of the lesson on Markov chains: laws with mistakes, step sizes, chains in an RBM."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from .hills import GRID, Hills
from .plots import BLUE, RED, digits, truth
from .wang.metropolis import SAMPLERS

SHADES = dict(zip(SAMPLERS, ("#000000", "#2e7d32", "#c55a11", "#0b5394"), strict=True))
LINES = dict(zip(SAMPLERS, ("-", "--", "-.", ":"), strict=True))
_THREE = (0.0, 0.45, 0.8)  # colours of three chains


def walks_on_hills(walks: dict):
    """Where chains on hills at each distance spent their time, and the law of their target."""
    _, axes = plt.subplots(1, len(walks), figsize=(8.0, 3.2), sharey=True)
    bins = np.linspace(-5.25, 5.25, 43)
    for ax, (at, states) in zip(axes, walks.items(), strict=True):
        shares, _ = np.histogram(states, bins, weights=np.full(states.shape, 1 / states.size))
        exact, _ = np.histogram(GRID, bins, weights=Hills(at=at).law(1.0))
        middle = (bins[1:] + bins[:-1]) / 2
        ax.plot(middle, np.where(exact > 1e-7, exact, np.nan), color="black", label="the target")
        ax.plot(middle, np.where(shares > 0, shares, np.nan), "o", ms=4, color=BLUE, label="chains")
        ax.set(yscale="log", xlabel="x", ylim=(1e-7, 3), title=f"hills at −{at} and {at}")
    axes[0].set(ylabel="share of the time, by bin")
    axes[0].legend(fontsize=8)
    return axes


def two_clouds(clouds: dict, log_target, n_shown: int = 1500):
    """Counted points of two samplers on the contours of their target."""
    _, axes = plt.subplots(1, 2, figsize=(8.0, 3.4), sharey=True)
    x1, x2 = np.meshgrid(np.linspace(1, 9, 121), np.linspace(2, 18, 121))
    grid = np.stack([x1.ravel(), x2.ravel()], axis=1)
    log_p = log_target(grid).reshape(121, 121)
    levels = log_p.max() - np.array([4.5, 2, 0.5])
    for ax, (name, points) in zip(axes, clouds.items(), strict=True):
        ax.scatter(*points[:n_shown].T, s=6, color=SHADES[name], alpha=0.35, lw=0)
        ax.contour(x1, x2, log_p, levels, colors=RED, linewidths=1, linestyles="solid")
        found = np.corrcoef(points.T)[0, 1]
        label = f"$x_1$   ({name}: correlation {found:.2f})"
        ax.set(xlabel=label, xlim=(1, 9), ylim=(2, 18))
    axes[0].set(ylabel="$x_2$")
    return axes


def three_states(laws: dict, target):
    """Shares of three states by sampler as bars, and the target."""
    _, ax = plt.subplots(figsize=(6.6, 2.9))
    for i, (name, law) in enumerate(laws.items()):
        ax.bar(np.arange(3) + 0.2 * (i - 1.5), law, width=0.18, color=SHADES[name], label=name)
    for j, p in enumerate(target):
        label = "target" if j == 0 else None
        ax.plot([j - 0.42, j + 0.42], [p, p], color=RED, lw=1.5, label=label)
    names = ["state 1", "state 2", "state 3"]
    ax.set(xticks=range(3), xticklabels=names, ylabel="probability")
    ax.legend(fontsize=9)
    return ax


def step_sizes(sizes, accepted, efficiency, far: dict):
    """Acceptance and effective draws against the width, and chains begun far away."""
    _, (ax, right) = plt.subplots(1, 2, figsize=(8.5, 3.1))
    ax.plot(sizes, accepted, color="black", ls="--", label="share accepted")
    ax.plot(sizes, efficiency, color=BLUE, marker="o", ms=4, label="effective draws a sample")
    ax.set(xscale="log", yscale="log", xlabel="width of a proposal", ylabel="share")
    ax.legend(fontsize=8)
    for (size, x), shade in zip(far.items(), plt.cm.viridis(_THREE), strict=True):
        right.plot(x, color=shade, lw=1.2, label=f"width {size:g}")
    right.set(xlabel="sample", ylabel="x, begun at −6")
    right.legend(fontsize=8)
    return ax, right


def widths(ks, curves: dict, printed: float):
    """Correlation and variance in the long run against the width of the proposals."""
    _, axes = plt.subplots(1, 2, figsize=(9, 3.3))
    for name, values in curves.items():
        for ax, column in zip(axes, values.T, strict=True):
            ax.plot(ks, column, color=SHADES[name], ls=LINES[name], label=name)
    axes[0].axhline(printed, color=RED, lw=1, label="the report, 100 runs")
    axes[0].set(xlabel="width of the proposals k", ylabel="correlation")
    axes[1].set(xlabel="width of the proposals k", ylabel="variance of $x_1$ (true: 1)")
    axes[0].legend(fontsize=8)
    return axes


def chains_of_pictures(rows: dict, side: int):
    """Square pictures of the same chains in rows, each after a number of sweeps."""
    axes = digits(np.concatenate(list(rows.values())), shape=(side, side))
    for row, n in zip(axes, rows, strict=True):
        row[0].set_title(f"after {n:,} sweeps", fontsize=8, loc="left")
    return axes


def memory(shares: dict, chance: float, group: str, traces: dict):
    """Share of chains that are nearest to their first group by sweeps, and three traces."""
    _, (ax, right) = plt.subplots(1, 2, figsize=(8.5, 3.1))
    label = f"chains nearest to their first {group}"
    at = np.maximum(list(shares), 0.5)
    ax.plot(at, list(shares.values()), color=BLUE, marker="o", ms=4, label=label)
    ax.axhline(chance, color="black", lw=0.8, ls="--", label="chance")
    ax.set(xscale="log", xlabel="sweeps (first point: 0)", ylabel="share", ylim=(0, 1.05))
    ax.legend(fontsize=8, loc="lower left", bbox_to_anchor=(0, 0.15))
    for (name, trace), shade in zip(traces.items(), plt.cm.viridis(_THREE), strict=True):
        right.plot(trace, color=shade, lw=0.7, label=name)
    right.set(xlabel="sweep", ylabel="log p*(v) (nats)")
    right.legend(fontsize=8)
    return ax, right


def autocorrelation(lags, found, exact):
    """Measured autocorrelation by lag as points, and the exact one as a line."""
    _, ax = plt.subplots(figsize=(6.0, 2.7))
    ax.plot(lags, found, color=BLUE, marker="o", ls="", label="Gibbs sampling")
    truth(ax, 0.0, "none")
    ax.plot(lags, exact, color="black", lw=1, label="4 to the power of minus t")
    ax.set(xlabel="lag t (sweeps)", ylabel="autocorrelation")
    ax.legend(fontsize=9)
    return ax
