"""The figures of the pages on continuous targets: the path, leapfrog steps, chains, errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import matplotlib.pyplot as plt
import numpy as np

from rbmlib import schedules
from rbmlib.models.testsystems import GaussianMixture

from .. import plots

LOOKS = {"adapted": (plots.BLUE, "o", "-"), "fixed": (plots.ORANGE, "v", "--")}  # of steps
BETA = "inverse temperature β"
ACCEPTED = 0.651  # best rate for HMC in many dimensions


def tempered_density(mixture: GaussianMixture) -> None:
    """The first coordinate's density at five temperatures."""
    x = np.linspace(-9, 9, 600)
    _, ax = plt.subplots(figsize=(7, 3.4))
    betas = 0.0, 0.05, 0.2, 0.5, 1.0
    colours = plt.get_cmap("viridis")(np.linspace(0.9, 0, 5))
    for beta, colour in zip(betas, colours, strict=True):
        # the other nine dimensions are Gaussian and cancel in the shape of the first
        of_target = np.logaddexp(*(-((x - m) ** 2) for m in mixture.means[:, 0]))
        log_p = beta * of_target - (1 - beta) * x**2 / 60
        p = np.exp(log_p - log_p.max())
        p = p / (p.sum() * (x[1] - x[0]))
        ax.plot(x, p, color=colour, label=f"β = {beta:g}")
    ax.set(xlabel="first coordinate of x", ylabel="density")
    ax.legend(fontsize=8)


def _one_hill(mixture: GaussianMixture, axes) -> None:
    """Rings of equal density about the first hill's top, in its first two coordinates."""
    grid = np.linspace(-2.6, 2.6, 80)
    one, two = np.meshgrid(grid, grid)
    points = np.zeros((one.size, 10))
    points[:, 0] = mixture.means[0, 0] + one.ravel()
    points[:, 1] = two.ravel()
    height = mixture.log_density(points).reshape(one.shape)
    levels = height.max() + np.array([-6, -4, -2.5, -1.2, -0.4])
    for ax in axes:
        ax.contour(one, two, height, levels=levels, colors="grey", linewidths=0.8)
        ax.set(xlim=(-2.6, 2.6), ylim=(-2.6, 2.6))
    axes[0].set_ylabel("second coordinate")


def half_steps(mixture: GaussianMixture, x: np.ndarray, m: np.ndarray, step: float) -> None:
    """The three moves of a leapfrog step from the place ``x`` with the momentum ``m``, numbered.

    A momentum is an arrow from the place to where it would lead in a time of one.
    """
    _, axes = plt.subplots(1, 3, figsize=(9.2, 3.4), sharex=True, sharey=True)
    _one_hill(mixture, axes)
    centre = np.array([mixture.means[0, 0], 0])
    half = m + step / 2 * mixture.gradient(x)
    y = x + step * half
    end = half + step / 2 * mixture.gradient(y)
    old, new = (z[0, :2] - centre for z in (x, y))
    before, turned, after = (z[0, :2] for z in (m, half, end))

    def arrow(ax, from_, to, colour, width):
        look = {"color": colour, "lw": width, "shrinkA": 0, "shrinkB": 0, "arrowstyle": "-|>"}
        ax.annotate("", xy=to, xytext=from_, arrowprops=look)

    def panel(ax, place, first, then):
        arrow(ax, place, place + first, plots.GREY, 1.5)
        arrow(ax, place + first, place + then, plots.ORANGE, 2.5)
        arrow(ax, place, place + then, plots.BLUE, 2.5)

    panel(axes[0], old, before, turned)
    arrow(axes[1], old, new, plots.BLUE, 2.5)
    panel(axes[2], new, turned, after)
    for ax in axes:
        ax.plot(*old, "s", ms=8, color="black")
    for ax in axes[1:]:
        ax.plot(*new, "o", ms=8, color="black")
    for ax, label in zip(axes, ("1: half a push", "2: move", "3: half a push"), strict=True):
        ax.set_xlabel(label)


def leapfrog_walks(mixture: GaussianMixture, walks: Mapping[float, list]) -> None:
    """A panel for each step size: the way of one trajectory in one mode, from the black square.

    ``walks`` gives the places and momenta (1, d) after each step, by the size of the step.
    """
    _, axes = plt.subplots(1, 3, figsize=(9.2, 3.2), sharex=True, sharey=True)
    _one_hill(mixture, axes)
    for ax, (step, walk) in zip(axes, walks.items(), strict=True):
        energies = [(p**2).sum() / 2 - mixture.log_density(y)[0] for y, p in walk]
        way = np.array([y[0, :2] for y, _ in walk]) - [mixture.means[0, 0], 0]
        ax.plot(*way.T, "o-", ms=4, color=plots.BLUE)
        ax.plot(*way[0], "s", ms=8, color="black")
        share = min(1.0, np.exp(energies[0] - energies[-1]))
        label = f"ε = {step}: accepted with probability {share:.2f}"
        ax.set_xlabel(label)


def steps_and_acceptance(betas, paths: Mapping, accepted: Mapping, width) -> None:
    """Step sizes against beta, and how often they are accepted.

    Parameters
    ----------
    betas : ndarray
    paths, accepted : mapping
        The path of each kind of steps, and its acceptance at each beta.
    width : ndarray
        Of the density at each beta; drawn through the last adapted step.
    """
    _, (left, right) = plt.subplots(1, 2, figsize=(8.5, 3.2))
    for name, path in paths.items():
        colour, marker, line = LOOKS[name]
        look = {"color": colour, "marker": marker, "ls": line, "ms": 4, "label": name}
        left.plot(betas, np.interp(betas, path.step_betas, path.step_sizes), **look)
        right.plot(betas, accepted[name], **look)
    scaled = paths["adapted"].step_sizes[-1] / width[-1] * width
    left.plot(betas, scaled, color="black", lw=0.8, label="in proportion to the width")
    right.axhline(ACCEPTED, color="black", lw=0.8)
    left.set(xlabel=BETA, ylabel="step size ε", yscale="log")
    right.set(xlabel=BETA, ylabel="acceptance", ylim=(0, 1))
    left.legend(fontsize=8)


def wandering_chains(betas, runs: Mapping, errors: Mapping[str, np.ndarray]) -> None:
    """The first fifth of a typical chain with each kind of steps, and the errors of all chains."""
    _, axes = plt.subplots(1, 3, figsize=(9.5, 3.0))
    for ax, (name, run) in zip(axes, runs.items(), strict=False):
        n_moves, n_chains = run.temperature.shape
        typical = np.argsort(run.round_trips)[n_chains // 2]
        walk = betas[run.temperature[: n_moves // 5, typical]]
        ax.plot(walk, color=LOOKS[name][0], lw=0.5)
        ax.set(xlabel=f"transition, {name} steps", ylabel=BETA)
    axes[2].boxplot(list(errors.values()), tick_labels=list(errors))
    plots.truth(axes[2], 0.0)
    axes[2].set(ylabel="error of log Z (nats)", xlabel="steps")


def areas(mean_slope: Callable, n_temperatures: int) -> None:
    """The mean of Delta near the base, with the rectangles and trapezoids of two ladders.

    ``mean_slope`` gives it at an array of betas.
    """
    fine = np.linspace(0, 1, 401) ** 2
    _, axes = plt.subplots(1, 2, figsize=(9.2, 3.4), sharey=True)
    for ax, (name, power) in zip(axes, {"linear": 1, "square": 2}.items(), strict=True):
        rungs = schedules.linear(n_temperatures) ** power
        slopes = mean_slope(rungs)
        ax.plot(fine, mean_slope(fine), color="black", lw=1.5, label="mean of Δ, exact")
        for i in range(1, len(rungs)):
            ax.fill_between(rungs[i - 1 : i + 1], slopes[i], color=plots.GREY, alpha=0.18, lw=0)
        ax.plot(rungs, slopes, **plots.method("TI", "trapezoids on the ladder"))
        ax.set(xlim=(0, 0.12), ylim=(-265, 30))
        ax.set_xlabel(f"{BETA}, {name} ladder")
    axes[0].fill_between([], [], color=plots.GREY, alpha=0.3, label="rectangles")
    axes[0].set_ylabel("mean of Δ (nats)")
    axes[0].legend(fontsize=8, loc="lower right")
