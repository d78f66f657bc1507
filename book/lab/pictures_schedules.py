"""Figures of the lesson on annealing schedules: slopes, their memory, and what schedules do."""

from __future__ import annotations

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np

from . import exact_slopes, plots
from .kiwaki2015.runs import ScheduleRuns, papers_name

HEADS = {"linear": "linear", "varopt": "VAROPT", "friction": "friction"}


def variance_over_linear(runs: ScheduleRuns, models) -> None:
    """The variance of three schedules over that of equal steps, in as many steps, by model."""
    _, ax = plt.subplots(figsize=(8, 3))
    places = np.arange(len(models))
    base = [runs.first(name, "linear")["variance"] for name in models]
    for shift, (schedule, look) in enumerate(HEADS.items()):
        ours = [runs.first(name, schedule) for name in models]
        scale = np.array([row["n_temperatures"] / 100_000 for row in ours]) / base
        variance, low, high = (
            np.array([row[f"variance{end}"] for row in ours]) * scale
            for end in ("", "_low", "_high")
        )
        style = plots.method(look) | {"linestyle": ""}
        bars = [variance - low, high - variance]
        ax.errorbar(places + 0.15 * (shift - 1), variance, bars, capsize=3, **style)
    ax.axhline(1, color="black", lw=0.8)
    ax.set_xticks(places, [papers_name(name) for name in models])
    ax.set(yscale="log", ylabel="variance of log w / linear", xlabel="model (hidden units)")
    ax.set_yticks((0.2, 0.5, 1), ("0.2", "0.5", "1"))
    ax.yaxis.set_minor_formatter("")
    ax.legend(fontsize=8)


def slopes_and_areas(betas, slopes, g, n_pieces: int = 12) -> None:
    """Slopes (n_betas, n_states) of independent states, and the root of g cut into equal areas."""
    _, (left, right) = plt.subplots(1, 2, figsize=(9, 3))
    at = np.repeat(betas, slopes.shape[1])
    left.plot(at, slopes.ravel(), ".", ms=1.5, alpha=0.6, color=plots.GREY)
    left.set(xlabel="β", ylabel="slope Δ of a state (nats)")
    right.plot(betas, np.sqrt(g), **plots.method("VAROPT", markers=False))
    edges = exact_slopes.varopt(n_pieces, betas, g)
    colour = plots.METHOD_COLOURS["VAROPT"]
    for i, (a, b) in enumerate(pairwise(edges)):
        inside = np.concatenate([[a], betas[(betas > a) & (betas < b)], [b]])
        shade = (0.15, 0.35)[i % 2]
        height = np.interp(inside, betas, np.sqrt(g))
        right.fill_between(inside, height, alpha=shade, lw=0, color=colour)
    right.set(xlabel="β", ylabel="√g (nats)", ylim=(0, None))


def repeats(log_z: dict, ess: dict, exact: float) -> None:
    """Estimates of log Z and effective sample sizes of repeats of a few schedules, as bands."""
    _, (left, right) = plt.subplots(1, 2, figsize=(9, 2.6), sharey=True)
    for ax, found in ((left, log_z), (right, ess)):
        for place, (name, values) in enumerate(found.items()):
            look = plots.method({"equal steps": "linear", "equal areas": "VAROPT"}.get(name, name))
            spread = place + 0.3 * np.linspace(-1, 1, values.size)
            dots = {
                "color": look["color"],
                "marker": look["marker"],
                "ms": 4,
                "ls": "",
                "alpha": 0.6,
            }
            ax.plot(values, spread, **dots)
            ax.plot([np.median(values)] * 2, [place - 0.4, place + 0.4], color="black")
        ax.set_yticks(range(len(found)), list(found))
    left.axvline(exact, color="black", lw=0.8, ls=":")
    left.set_xlabel("estimate of log Z (nats)")
    right.set(xlabel="effective sample size", xlim=(0, None))


def memory(slopes: dict[float, np.ndarray]) -> None:
    """Slopes (n_sweeps, n_chains) of three chains, less their mean, a panel for each β."""
    _, axes = plt.subplots(1, len(slopes), figsize=(9, 2.8), sharey=True)
    for ax, (beta, seen) in zip(axes, slopes.items(), strict=True):
        for chain, colour in zip(seen.T, plt.cm.viridis((0.1, 0.5, 0.8)), strict=True):
            ax.plot(chain - np.mean(seen), color=colour, lw=0.8)
        ax.set(xlabel=f"sweeps at β = {beta}")
    axes[0].set_ylabel("slope less its mean (nats)")


def friction(middles, g, zeta, curves: dict) -> None:
    """Variance and friction along the path, their ratio, and schedules."""
    _, axes = plt.subplots(1, 3, figsize=(9.5, 2.9))
    axes[0].semilogy(middles, g, **plots.method("VAROPT", "g: variance", markers=False))
    look = plots.method("friction", "ζ = g τ: friction", markers=False)
    axes[0].semilogy(middles, zeta, **look)
    axes[0].set(xlabel="β", ylabel="nats²")
    axes[1].semilogy(middles, zeta / g, color="black")
    axes[1].set(xlabel="β", ylabel="memory τ (sweeps)")
    for name, betas in curves.items():
        along = np.linspace(0, 1, len(betas))
        axes[2].plot(along, betas, **plots.method(name, markers=False))
    axes[2].set(xlabel="share of the steps, k / K", ylabel="β")
    for ax in (axes[0], axes[2]):
        ax.legend(fontsize=8)
