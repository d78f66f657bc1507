"""The figures of the lesson on AIS: chains of one model, their weights, two modes, two sides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from . import plots
from .hills import GRID, Hills
from .known_value import EXACT, Known

STEPS = {"linear": "equal steps", "random": "random steps", "sm08": "most near the end"}


def chains_by_setting(chains: pd.DataFrame, exact: float):
    """A row of dots for each base and schedule, one dot a chain, and the exact value."""
    _, ax = plt.subplots(figsize=(8, 3.2))
    labels = []
    for i, ((base, schedule), group) in enumerate(chains.groupby(["base", "schedule"])):
        jitter = np.random.default_rng(i).uniform(-0.25, 0.25, len(group))
        look = plots.METHOD_COLOURS[str(base)]
        ax.plot(group["log_z"], i + jitter, ".", ms=4, alpha=0.6, color=look)
        labels.append(f"{base}, {STEPS[str(schedule)]}")
    plots.truth(ax, exact, vertical=True)
    ax.set_yticks(range(len(labels)), labels)
    ax.set(xlabel="log Z of h20 from one chain (nats)", ylabel="base, steps")
    ax.legend(loc="lower left")
    return ax


def on_the_way(frames: Sequence[np.ndarray], betas, side: int | None) -> None:
    """States of a few chains, a row a chain and a column a setting of the dial.

    Without a ``side`` the visible units form no square, which is said instead.
    """
    n_visible = frames[0].shape[1]
    if side is None:
        print(f"{n_visible} visible units form no square: no pictures of the chains.")
        return
    images = np.stack(frames, axis=1).reshape(-1, n_visible)
    titles = [f"β = {beta:.2f}" for beta in betas] + [""] * (len(images) - len(frames))
    plots.digits(images, len(frames), (side, side), titles=titles)


def spreading_weights(betas, off: np.ndarray, averaged) -> None:
    """Log-weights on the way, less log Z there: 40 chains, their mean, the log of their mean.

    ``off`` has a row a setting of the dial, and a column a chain.
    """
    _, ax = plt.subplots(figsize=(7.5, 3.2))
    ax.plot(betas, off[:, :40], color=plots.METHOD_COLOURS["AIS"], alpha=0.2, lw=0.8)
    label = f"mean of {off.shape[1]} log-weights"
    look = plots.method("AIS", label, markers=False) | {"lw": 2}
    ax.plot(betas, off.mean(axis=1), **look)
    ax.plot(betas, averaged, color=plots.ORANGE, lw=2, label="log of their mean weight")
    plots.truth(ax, 0.0)
    ax.set(xlabel="β", ylabel="log w minus log Z at β (nats)")
    ax.legend(fontsize=8)


def skewed_estimates(ratios: Mapping[int, np.ndarray]) -> None:
    """Histograms of estimates of Z over Z, one a number of steps."""
    _, ax = plt.subplots(figsize=(7.5, 2.8))
    bins = np.linspace(0, 3, 61).tolist()
    colours = plots.METHOD_COLOURS["AIS"], plots.ORANGE
    for (n_steps, ratio), colour in zip(ratios.items(), colours, strict=True):
        heights = np.minimum(ratio, 2.999)
        ax.hist(heights, bins, color=colour, label=f"K = {n_steps}", histtype="step", lw=1.8)
    plots.truth(ax, 1.0, vertical=True)
    ax.set(xlabel="estimate of Z / exact Z (the last bin holds all above)", ylabel="estimates")
    ax.legend()


def lost_hill(hills: Hills, seen: Sequence[tuple[float, float]]) -> None:
    """The law of two hills at five settings of the dial, and the large hill's share on the way.

    ``seen`` has a setting and the share of the chains on the large hill, at each step.
    """
    _, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2))
    colours = plt.get_cmap("viridis")(np.linspace(0, 0.85, 5))
    for beta, colour in zip((0, 0.25, 0.5, 0.75, 1), colours, strict=True):
        law = hills.law(beta) / (GRID[1] - GRID[0])
        left.plot(GRID, law, color=colour, label=f"β = {beta}")
    left.set(xlabel="x", ylabel="density")
    left.legend(fontsize=8)
    betas, chains = np.transpose(seen)
    exact = [hills.law(beta)[GRID > 0].sum() for beta in betas]
    right.semilogy(betas, exact, **plots.method("exact", "exact"))
    look = plots.method("AIS", f"chains, {len(betas)} steps", markers=False)
    right.semilogy(betas, np.maximum(chains, 1e-9), **look)
    right.set(xlabel="β", ylabel="share on the large hill", ylim=(3e-10, 9))
    right.legend(fontsize=8, loc="center right")


def two_bells() -> None:
    """A sketch: two noisy means about log Z, and the bracket that ends two errors beyond each."""
    _, ax = plt.subplots(figsize=(6.5, 3.2))
    x, ends = np.linspace(-3.6, 3.6, 400), []
    sides = (("AIS", "mean of log w", -1.3, 0.45, -1), ("reverse AIS", "mean of R", 1.1, 0.6, 1))
    for name, label, mean, error, outward in sides:
        look = plots.method(name, label, markers=False)
        ax.plot(x, np.exp(-(((x - mean) / error) ** 2) / 2), **look)
        ends.append(mean + 2 * outward * error)
        arrow = {"arrowstyle": "->", "color": look["color"], "lw": 2}
        ax.annotate("", (ends[-1], -0.15), (mean, -0.15), arrowprops=arrow)
        ax.text(mean + outward * error, -0.22, "2 errors", ha="center", va="top", fontsize=8)
    ax.annotate("", (1.1, -0.15), (-1.3, -0.15), arrowprops={"arrowstyle": "<->", "color": "black"})
    ax.text(-0.1, -0.22, "gap", ha="right", va="top", fontsize=8)
    ax.plot(ends, [-0.5, -0.5], color="black", lw=3)
    ax.text(ends[0], -0.57, "the bracket", va="top", fontsize=9)
    plots.truth(ax, 0.0, "log Z", vertical=True)
    ax.set(xlabel="nats", xticks=[], yticks=[], ylim=(-0.85, 1.15))
    ax.grid(False)
    ax.legend(fontsize=8, loc="upper left")


def both_sides(steps, lower: Sequence, upper: Sequence, known: Known) -> None:
    """Weights of the longest runs from either side, and their means against the number of steps.

    ``lower`` and ``upper`` are Estimates of AIS and of reverse AIS, one for each of ``steps``.
    """
    _, (left, right) = plt.subplots(1, 2, figsize=(9.4, 3.4))
    exact = known.log_z if known.kind == EXACT else None
    plots.log_weight_histograms({"AIS": lower[-1], "reverse AIS": upper[-1]}, exact, left)
    plots.bracket(steps, lower, upper, exact, right)
    if known and exact is None:
        plots.truth(left, known.log_z, "reference", vertical=True)
        plots.truth(right, known.log_z, "reference")
    for ax in (left, right):
        ax.legend(fontsize=8)
