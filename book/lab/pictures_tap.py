"""Figures of the lesson on TAP."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from . import plots

GREY, FAINT = "#5f6368", "#bbbbbb"


def errors_by_model(highest, truths: dict[str, float], orders: dict[int, str]) -> None:
    """Errors of the best fixed points ``highest[model, order]``, one marker an order."""
    _, ax = plt.subplots(figsize=(7.2, 3.2))
    names = list(truths)
    for order, label in orders.items():
        errors = [highest[name, order] - truths[name] for name in names]
        look = plots.method(label) | {"linestyle": "", "markersize": 9}
        ax.plot(np.arange(len(names)) + 0.12 * (order - 2), errors, **look)
    ax.axhline(0, color="black", ls="--", lw=1.2, label="truth")
    ax.set(ylabel="log Z − truth (nats)", xlabel="published model")
    ticks = [f"{name} ({name[1:]} hidden units)" for name in names]
    ax.set_xticks(range(len(names)), ticks, fontsize=9)
    ax.legend(ncols=2, fontsize=9)


def four_states(laws: dict[float, dict[str, np.ndarray]]) -> None:
    """Probabilities of the states of two units by the truth and by mean field, by weight."""
    _, axes = plt.subplots(1, len(laws), figsize=(8, 2.9), sharey=True)
    colours = {"truth": plots.BLUE, "mean field": plots.ORANGE}
    at = np.arange(4)
    for ax, (w, laws_of_w) in zip(axes, laws.items(), strict=True):
        for shift, (label, p) in zip((-0.2, 0.2), laws_of_w.items(), strict=True):
            ax.bar(at + shift, p, 0.4, color=colours[label], label=label)
        ax.set_xticks(at, ["00", "01", "10", "11"])
        ax.set(xlabel="state (v, h)", title=f"weight W = {w:g}")
    axes[0].set_ylabel("probability")
    axes[0].legend(fontsize=9)


def landscapes(grid, values: dict[float, np.ndarray], highest: dict[float, set]) -> None:
    """Contours of the bound L over both magnetisations, with its highest points, by weight."""
    _, axes = plt.subplots(1, len(values), figsize=(8, 3.4), sharey=True)
    for ax, (w, bound) in zip(axes, values.items(), strict=True):
        levels = bound.max() - np.array([4, 3, 2, 1, 0.5, 0.25, 0.1, 0.02])
        drawn = ax.contour(grid, grid, bound.T, levels, cmap="viridis")
        ax.clabel(drawn, drawn.levels[:5], fontsize=8, fmt="%.2f")
        for point in highest[w]:
            ax.plot(*point, "o", color="#b3261e", ms=8)
        ax.set(xlabel="$m^v$", title=f"L (higher is better), W = {w:g}", aspect="equal")
    axes[0].set_ylabel("$m^h$")


def two_units(weights, errors: dict[str, np.ndarray]) -> None:
    """Errors of log Z of two units against their weight, and the loss of one mode of two."""
    _, ax = plt.subplots(figsize=(6, 3.1))
    for name, off in errors.items():
        ax.plot(weights, off, **plots.method(name, markers=False))
    ax.axhline(0, color="black", ls="--", lw=1.2)
    ax.axhline(-np.log(2), color=GREY, lw=0.8, ls=":")
    ax.text(0.2, -np.log(2) + 0.02, "−log 2: one mode of two is lost", fontsize=9)
    ax.set(xlabel="weight W", ylabel="log Z − exact (nats)")
    ax.legend()


def powers(scales, errors: dict[int, list], orders: dict[int, str]) -> None:
    """Errors against the scale of the weights, each with the power that is expected."""
    _, ax = plt.subplots(figsize=(6, 3.2))
    for order, off in errors.items():
        ax.plot(scales, off, **plots.method(orders[order]))
        expected = off[-1] * (scales / scales[-1]) ** (order + 1)
        ax.plot(scales, expected, color=FAINT, lw=0.8)
    ax.set(xscale="log", yscale="log", xlabel="weights times t", ylabel="|log Z − exact| (nats)")
    ax.set_xticks((0.125, 0.25, 0.5, 1), ("1/8", "1/4", "1/2", "1"))
    ax.set_xticks((), minor=True)
    ax.legend()


def changes(runs: dict[str, dict]) -> None:
    """Changes of the free energy in each sweep: a panel an order, a curve a solver."""
    _, axes = plt.subplots(1, len(runs), figsize=(9, 3.2), sharey=True)
    for ax, (title, of_order) in zip(axes, runs.items(), strict=True):
        shades = plt.cm.viridis(np.linspace(0, 0.85, len(of_order)))
        for (label, run), colour in zip(of_order.items(), shades, strict=True):
            change = np.abs(np.diff(run.trace["free_energy"][:, 0]))
            sweeps = np.arange(1, len(change) + 1)
            ax.plot(sweeps, np.maximum(change, 1e-12), color=colour, lw=1.2, label=label)
        ax.set(xscale="log", yscale="log", xlabel="sweep", title=title)
    axes[0].set_ylabel("|change of Γ| in a sweep (nats)")
    axes[0].legend(fontsize=8)


def errors_along(x, errors: dict[str, list], **labels) -> None:
    """Errors of the orders along a path or a training, on an axis that is logarithmic."""
    _, ax = plt.subplots(figsize=(6, 3.2))
    for name, off in errors.items():
        look = plots.method(name.split(",")[0], label=name)
        ax.plot(x, off, **look | ({"linestyle": "-", "lw": 2} if name.endswith("modes") else {}))
    ax.axhline(0, color="black", lw=1.2, ls="--")
    ax.set(yscale="symlog", **labels)
    ax.legend()


def cycle(trace, value: float) -> None:
    """log Z after each update, all of them and the last twenty, with the published value."""
    _, axes = plt.subplots(1, 2, figsize=(9, 3.1))
    for ax, part in zip(axes, (trace, trace.tail(20)), strict=True):
        ax.plot(part["n_updates"], part["final"], **plots.method("TAP3", markers=False), lw=1)
        ax.axhline(value, color=GREY, lw=1, ls=":", label="published")
        ax.set(xlabel="update", ylabel="log Z (nats)")
    axes[1].plot(trace["n_updates"].tail(20), trace["final"].tail(20), "k.", ms=4)
    axes[1].ticklabel_format(useOffset=False)
    axes[0].legend()
