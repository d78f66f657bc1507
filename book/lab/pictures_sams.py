"""The figures of the lesson on SAMS: its answer, guesses on the way, step sizes, jumps."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from .plots import METHOD_COLOURS, method, truth
from .wang import MODELS, PRINTED_RUNS, errors_of, printed_error
from .wang import printed as printed_table

RED = METHOD_COLOURS["SAMS"]
RULES = {  # of the step size: colour and line
    "1/t from the start": ("#0b5394", ":"),
    "two stages (SAMS)": (RED, "-"),
    "constant": ("black", "--"),
}


def answer(from_pilot, from_nothing):
    """Errors on the report's models: ours from a pilot, from nothing, and as printed."""
    _, ax = plt.subplots(figsize=(7.5, 3.4))
    labels = ["SAMS from a pilot, ten runs", "SAMS from nothing, mean of 20 chains",
              "published, mean of 20 runs, ± 2 s.e."]  # fmt: skip
    for i, name in enumerate(MODELS):
        ours, start = (
            errors_of(runs[runs["model"] == name]) for runs in (from_pilot, from_nothing)
        )
        bar = 2 * np.sqrt(float(printed_table("SAMS").loc[name, "variance"]) / PRINTED_RUNS)
        pilot, nothing, printed = labels if i == 0 else ["_"] * 3
        ax.plot(np.full(len(ours), i - 0.15), ours, "p", color=RED, alpha=0.5, label=pilot)
        ax.plot(i, start, "v", color="black", label=nothing)
        ax.errorbar(i + 0.15, printed_error(name), bar, fmt="D", capsize=3,
                    color=METHOD_COLOURS["published"], label=printed)  # fmt: skip
    truth(ax, 0.0, "exact, or best known")
    ax.set_yscale("symlog", linthresh=1)
    ax.set(xticks=range(4), xticklabels=MODELS, ylabel="error of log Z (nats)")
    ax.set_ylim(-80, 400)
    ax.legend(fontsize=8, loc="upper left")
    return ax


def learned(betas, guesses, exact, sweeps=(0, 10, 40, 150, 450, 1499)):
    """The guesses of one chain (sweeps, betas) after some sweeps, and what they should become."""
    _, ax = plt.subplots(figsize=(6.5, 3.6))
    colours = plt.cm.viridis(np.linspace(0.9, 0.0, len(sweeps)))
    for t, colour in zip(sweeps, colours, strict=True):
        ax.plot(betas, guesses[t], "-", color=colour, label=f"sweep {t + 1:,}")
    ax.plot(betas, exact, **method("exact"))
    ax.set(xlabel="inverse temperature β", ylabel="guess of log Z minus log Z₀ (nats)")
    ax.legend(fontsize=8)
    return ax


def flood(betas, guesses, exact, places, n_sweeps=450):
    """Errors of the guesses of one chain as colours, and the chain on them."""
    _, ax = plt.subplots(figsize=(8, 3.4))
    off = (guesses[:n_sweeps] - exact).T
    shades = {"cmap": "Blues_r", "vmin": off.min(), "vmax": max(2.0, off.max())}
    edges = 0.5, n_sweeps + 0.5, -0.025, 1.025
    image = ax.imshow(off, aspect="auto", origin="lower", extent=edges, **shades)
    ax.plot(np.arange(1, n_sweeps + 1), betas[places[:n_sweeps]], lw=0.7, color=RED,
            label="where the chain is")  # fmt: skip
    ax.figure.colorbar(image, label="guess minus exact (nats)")
    ax.grid(False)
    ax.set(xlabel="sweep", ylabel="inverse temperature β")
    ax.legend(fontsize=8, loc="lower left")
    return ax


def forgetting(curves: dict):
    """Errors against sweeps by rule of the step size: to each name the sweeps and the errors."""
    _, ax = plt.subplots(figsize=(7, 3.8))
    for name, (sweeps, errors) in curves.items():
        colour, line = RULES[name]
        ax.plot(sweeps, errors, color=colour, ls=line, label=name)
    ax.set(xscale="log", yscale="log", xlabel="sweeps", ylabel="RMSE of one group (nats)")
    ax.legend(fontsize=8)
    return ax


def walks(of_chains: dict):
    """Inverse temperatures of single chains, sweep by sweep, a panel each."""
    _, axes = plt.subplots(1, 2, figsize=(9, 2.6), sharey=True)
    for ax, (name, walk) in zip(axes, of_chains.items(), strict=True):
        ax.plot(walk, lw=0.8, color=RED)
        ax.set(xlabel=f"sweep, {name}")
    axes[0].set_ylabel("inverse temperature β")
    return axes


def from_nothing(runs):
    """Mean error of 20 single chains at two lengths, a panel a model, and the printed error."""
    _, axes = plt.subplots(1, 4, figsize=(9.5, 2.8), sharex=True)
    for ax, name in zip(axes, MODELS, strict=True):
        rows = runs[runs["model"] == name].sort_values("n_sweeps")
        look = method("SAMS", "from nothing")
        ax.errorbar(rows["n_sweeps"], errors_of(rows), 2 * rows["spread"], capsize=3, **look)
        ax.axhline(printed_error(name), **method("published", markers=False))
        truth(ax, 0.0)
        ax.set(xscale="log", title=name, xlabel="sweeps", xlim=(5000, 40000))
        ax.set_xticks([7000, 28000], ["7,000", "28,000"])
        ax.minorticks_off()
    axes[0].set_ylabel("error of log Z (nats)")
    axes[0].legend(fontsize=7)
    return axes
