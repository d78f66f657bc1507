"""The book's figures: one function a kind of figure, each returns its matplotlib Axes."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

BLUE, ORANGE, GREEN, GREY, RED = "#0b5394", "#c55a11", "#2e7d32", "#5f6368", "#b3261e"
STYLE: Any = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "font.size": 10,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
    "figure.facecolor": "white",
}


def use_style() -> None:
    """The book's look, for all figures that follow."""
    plt.rcParams.update(STYLE)


def digits(images, n_columns: int = 10, shape=(28, 28), titles=None):
    """Images (n, n_pixels) on a grid, grey levels from 0 (white) to 1 (black)."""
    images = np.asarray(images)
    n_rows = -(-len(images) // n_columns)
    _, axes = plt.subplots(
        n_rows, n_columns, figsize=(0.75 * n_columns, 0.85 * n_rows), squeeze=False
    )
    for i, ax in enumerate(axes.flat):
        ax.axis("off")
        if i < len(images):
            ax.imshow(images[i].reshape(shape), cmap="gray_r", vmin=0, vmax=1)
            if titles is not None:
                ax.set_title(titles[i], fontsize=8)
    return axes


def log_weight_histograms(estimates: dict, exact: float | None = None, ax=None):
    """Histograms of per-chain log-estimates of log Z, one a name, and the exact value."""
    ax = ax or plt.subplots(figsize=(6.5, 3.2))[1]
    values = [estimate.log_weights for estimate in estimates.values()]
    low, high = min(map(np.min, values)), max(map(np.max, values))
    bins = np.linspace(low, high, 60)
    for (name, estimate), color in zip(
        estimates.items(), (BLUE, ORANGE, GREEN, GREY), strict=False
    ):
        ax.hist(estimate.log_weights, bins, alpha=0.55, color=color, label=name)
    if exact is not None:
        ax.axvline(exact, color="black", lw=1.2, ls="--", label="exact log Z")
    ax.set(xlabel="log-estimate of log Z of one chain (nats)", ylabel="chains")
    ax.legend()
    return ax


def annealing_trace(estimates: dict, axes=None):
    """On-the-fly quantities against beta: ESS, and the slope's mean and variance g."""
    if axes is None:
        _, axes = plt.subplots(1, 3, figsize=(9.5, 3.0))
    panels = (
        ("ess", "ESS / chains"),
        ("slope_mean", "mean slope  d log Z / dβ  (nats)"),
        ("slope_variance", "variance of the slope  g(β)"),
    )
    for (name, estimate), color in zip(
        estimates.items(), (BLUE, ORANGE, GREEN, GREY), strict=False
    ):
        for ax, (key, label) in zip(axes, panels, strict=True):
            scale = estimate.n_chains if key == "ess" else 1
            ax.plot(estimate.betas, estimate.trace[key] / scale, color=color, label=name)
            ax.set(xlabel="inverse temperature β", ylabel=label)
    axes[0].set_ylim(0, 1.05)
    axes[2].set_yscale("log")
    axes[0].legend()
    return axes


def bracket(n_steps, lower, upper, exact: float | None = None, ax=None):
    """Bounds in expectation from below and above against the number of steps, with 2 s.e.

    ``lower`` and ``upper`` are Estimates of forward and reverse AIS, one for each of ``n_steps``.
    """
    ax = ax or plt.subplots(figsize=(6.5, 3.4))[1]
    for side, color, name in ((lower, BLUE, "AIS"), (upper, ORANGE, "reverse AIS")):
        mean = np.array([e.mean_log_z for e in side])
        error = np.array([e.mean_std_error for e in side])
        ax.errorbar(n_steps, mean, 2 * error, color=color, marker="o", ms=4, capsize=3,
                    label=f"{name}: mean of chains")  # fmt: skip
        averaged = np.array([e.log_z for e in side])
        ax.plot(n_steps, averaged, color=color, ls=":", marker="x", ms=5,
                label=f"{name}: log of the mean weight")  # fmt: skip
    if exact is not None:
        ax.axhline(exact, color="black", lw=1, ls="--", label="exact")
    ax.set(xscale="log", xlabel="annealing steps K", ylabel="log Z (nats)")
    ax.legend(fontsize=8)
    return ax
