"""The figures of the lesson leaky_rbm."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np

from . import plots
from .li2016 import quadrature
from .page import pick
from .plots import RED

if TYPE_CHECKING:
    import pandas as pd

PUBLISHED, EXACT = plots.METHOD_COLOURS["published"], plots.METHOD_COLOURS["AIS"]


def answer(runs: pd.DataFrame, printed: pd.DataFrame) -> None:
    """Errors of AIS-Leaky against hidden units: ours by move and steps, and the printed ones."""
    _, ax = plt.subplots(figsize=(6.6, 3.4))
    units = np.array([0, 32])
    paper = pick(printed, method="AIS-Leaky")
    ax.plot(units, units * quadrature.slow_bias(0.9, 0.01), color=PUBLISHED, lw=1)
    for move, steps, colour, marker, label in (
        ("gibbs", 1000, PUBLISHED, "D", "published move, 1,000 steps"),
        ("gibbs", 10_000, PUBLISHED, "x", "published move, 10,000 steps"),
        ("blockwise", 1000, EXACT, "o", "exact move, 1,000 steps"),
    ):
        found = pick(runs, path="leakiness", transition=move, steps=steps)
        ax.errorbar(
            found["hidden units"] + 0.4 * (steps > 1000), -found["difference"], 2 * found["s.e."],
            color=colour, marker=marker, ms=5, capsize=3, ls="", label=label,
        )  # fmt: skip
    ax.plot(paper["n_hidden"] - 0.5, -paper["bias"], "k+", ms=8, label="Li et al., Table 2")
    plots.truth(ax, 0.0, "exact log Z")
    ax.set(xlabel="hidden units", ylabel="estimate minus exact log Z (nats)")
    ax.legend(fontsize=8)


def unit() -> None:
    """The visible unit beside one hidden unit, with a weight of 0.9, at three leakinesses."""
    _, ax = plt.subplots(figsize=(6.2, 3.0))
    v = np.linspace(-7, 7, 400)
    shades = plt.cm.viridis([0.0, 0.45, 0.8])
    for c, shade, line in zip((1.0, 0.3, 0.01), shades, ("-", "--", "-."), strict=True):
        log_p = quadrature.half_square(v, 0.9, c, 1.0) - v**2 / 2
        p = np.exp(log_p - quadrature.unit_log_z(0.9, c))
        ax.plot(v, p, color=shade, ls=line, label=f"c = {c:g}")
    ax.set(xlabel="visible unit v", ylabel="density p(v)")
    ax.legend()


def anneal(plane, stops: dict[float, tuple]) -> None:
    """Chains in two dimensions: their states and log-weights by leakiness, a panel each."""
    span = np.linspace(-6.5, 6.5, 201)
    grid = np.stack(np.meshgrid(span, span), axis=-1).reshape(-1, 2)
    _, axes = plt.subplots(1, len(stops), figsize=(9.4, 2.7), sharey=True)
    for ax, (c, (v, log_w)) in zip(axes, stops.items(), strict=True):
        size = np.exp(log_w - log_w.max())
        area = len(v) * size / size.sum() * 12
        ax.scatter(*v.T, s=area, color=EXACT, alpha=0.35, lw=0)
        log_p = plane.with_leakiness(c).log_density(grid).reshape(201, 201)
        levels = -0.5 * np.array([3.0, 2, 1]) ** 2
        ax.contour(span, span, log_p, levels, colors="black", linewidths=0.9,
                   linestyles="solid")  # fmt: skip
        for w in plane.weights.T:  # the lines on which a field is zero
            across = np.outer([-w[1], w[0]], [-9, 9]) / np.linalg.norm(w)
            ax.plot(*across, color="grey", lw=0.8)
        limits = (-6.5, 6.5)
        ax.set(xlabel=f"$v_1$   (c = {c:g})", xlim=limits, ylim=limits, aspect="equal")
        ax.grid(False)
    axes[0].set(ylabel="$v_2$")


def conditional(norm: float, leakiness: float, h: float = 0.2) -> None:
    """The visible unit given a hidden one, and in the long run: published rule, and in truth."""
    _, (left, right) = plt.subplots(1, 2, figsize=(8.6, 3.0))
    v = np.linspace(-3.5, 3.5, 601)
    gauss = np.exp(-((v - norm * h) ** 2) / 2) / np.sqrt(2 * np.pi)
    alpha = np.where(v > 0, 1.0, leakiness)
    true = gauss * np.exp(-(h**2) / (2 * alpha)) / np.sqrt(alpha)
    true /= true.sum() * (v[1] - v[0])
    left.plot(v, gauss, color=PUBLISHED, ls="--", label="published rule")
    left.plot(v, true, color="black", label="p(v | h)")
    left.set(xlabel="v", ylabel=f"density given h = {h}")
    left.legend(fontsize=9)
    u, _ = quadrature.nodes(norm)
    law, model = quadrature.stationary_law(norm, leakiness)
    right.plot(u, model, color="black", label="the model")
    right.plot(u, law, color=PUBLISHED, ls="--", label="published chain")
    right.plot(u, law - model, color=RED, lw=1, label="difference")
    right.set(xlim=(-4, 6), xlabel="v", ylabel="density in the long run")
    right.legend(fontsize=9)


def drift(means: np.ndarray) -> None:
    """Means less the exact one and their errors, (moves + 1, 2), of the published move."""
    _, ax = plt.subplots(figsize=(6.2, 3.0))
    ax.errorbar(
        range(len(means)), means[:, 0], 2 * means[:, 1],
        color=PUBLISHED, marker="D", ms=5, capsize=3, label="published move",
    )  # fmt: skip
    plots.truth(ax, 0.0, "exact value")
    ax.set(xlabel="moves after an exact draw", ylabel="mean of Q minus exact (nats)")
    ax.legend(fontsize=9, loc="center right")


def area(leakinesses, excess, lost: float) -> None:
    """Excess of the mean of Q against leakiness, and the area under it."""
    _, ax = plt.subplots(figsize=(6.2, 2.8))
    ax.plot(leakinesses, excess, color=PUBLISHED)
    ax.fill_between(leakinesses, 0, excess, color=PUBLISHED, alpha=0.25)
    ax.text(0.12, max(excess) * 0.25, f"area {lost:.4f} nats", fontsize=10)
    ax.set(xlabel="leakiness on the way", ylim=(0, None), xlim=(0, 1))
    ax.set_ylabel("mean of Q, chain minus model")
