"""Figures of the lesson on annealing schedules and of its audit page."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from . import plots
from .schedule_runs import papers_name
from .varopt_bases import CAPS, ESS_SO_FAR, looked_at

LINES = {1000: ":", 10_000: "--", 100_000: "-"}  # by the number of steps


def schedule_curves(curves: dict, by_hand: dict) -> None:
    """Schedules against the share of their steps; those in ``by_hand`` as thin black lines."""
    _, ax = plt.subplots(figsize=(6.5, 3.4))
    for name, betas in curves.items():
        along = np.linspace(0, 1, len(betas))
        ax.plot(along, betas, **plots.method(name, markers=False))
    for label, betas in by_hand.items():
        ax.plot(np.linspace(0, 1, len(betas)), betas, color="black", lw=0.8, label=label)
    ax.set(xlabel="share of the steps, k / K", ylabel="β")
    ax.legend(fontsize=8)


def ess_on_the_way(runs: dict) -> None:
    """ESS so far, a panel for each schedule: ``runs[schedule][K]``, short runs dotted."""
    _, axes = plt.subplots(1, len(runs), figsize=(9, 3), sharey=True)
    for ax, (name, by_steps) in zip(axes, runs.items(), strict=True):
        for (k, run), line in zip(sorted(by_steps.items()), (":", "-"), strict=False):
            look = plots.method(name, f"{name}, K = {k:,}", markers=False)
            ax.plot(run.betas, run.trace["ess"] / run.n_chains, **look | {"linestyle": line})
        ax.set(xlabel="β")
        ax.legend(fontsize=8)
    axes[0].set(ylabel="ESS so far / chains", ylim=(0, 1.05))


def ess_from_bases(table, bases, n_chains: int = 1000) -> None:
    """ESS so far of stored runs that were looked at twenty times, a panel for each base."""
    _, axes = plt.subplots(1, len(bases), figsize=(9, 3), sharey=True)
    for ax, base in zip(axes, bases, strict=True):
        for name in CAPS:
            for k, line in LINES.items():
                run = looked_at(table, base, name, k)
                if run is not None:
                    look = plots.method(name, f"{name}, K = {k:,}", markers=False)
                    seen = run[ESS_SO_FAR].to_numpy(float) / n_chains
                    shares = np.concatenate([[1], seen])
                    ax.plot(np.arange(21) / 20, shares, **look | {"linestyle": line})
        ax.set(xlabel=f"share of the steps, from the {base}")
    axes[0].set(ylabel="ESS so far / chains", ylim=(0, 1.05))
    axes[-1].legend(fontsize=7)


def steps_against_accuracy(runs, truths: dict[str, float], height: float) -> None:
    """Estimates of log Z above, and their ESS below, against K: three models in two rows."""
    names, n_rows = list(truths), 2 * -(-len(truths) // 3)
    figure, axes = plt.subplots(n_rows, 3, figsize=(9.5, height), sharex=True)
    for i, name in enumerate(names):
        top, bottom = axes[2 * (i // 3) : 2 * (i // 3) + 2, i % 3]
        _steps_of_model(top, bottom, runs[runs["model"] == name])
        plots.truth(top, truths[name])
        top.set(title=papers_name(name), xscale="log")
        bottom.set(ylim=(0, 1.05))
    for row in range(0, n_rows, 2):
        axes[row, 0].set_ylabel("log Z ± 3σ of log w")
        axes[row + 1, 0].set_ylabel("ESS / chains")
    labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(*labels, loc="outside lower center", ncols=4, fontsize=9)
    for ax in axes[-1]:
        ax.set_xlabel("steps K")


def _steps_of_model(top, bottom, runs) -> None:
    looks = {"linear": ("linear", "LINEAR"), "gms13": ("GMS13", "GMS13")}
    looks["varopt"] = ("VAROPT", "VAROPT0.009")
    for schedule, (look, label) in looks.items():
        here = runs[runs["schedule"] == schedule].sort_values("n_temperatures")
        style = plots.method(look, label) | {"markersize": 3, "capsize": 2, "lw": 1}
        k, n = here["n_temperatures"], here["n_chains"]
        top.errorbar(k, here["log_z"], 3 * np.sqrt(here["variance"]), **style)
        ess = (here["ess"] / n).to_numpy()
        ends = here[["ess_low", "ess_high"]].T.to_numpy() / n.to_numpy()
        bottom.errorbar(k, ess, np.abs(ends - ess), **style)
