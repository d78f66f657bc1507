"""Figures of the ladder of failures: what went wrong beside what was looked at."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from .hills import GRID, LOG_Z
from .plots import BLUE, GREY, ORANGE, method, truth

SAYS = "what a chain says log Z is (nats)"
OFF = 2.0  # nats beyond which a dot is orange


def _coloured(ax, x, y, exact: float = LOG_Z, **style) -> None:
    """Dots, orange where they are far off: their markers differ as well."""
    x, y = np.asarray(x), np.asarray(y)
    near, off = f"within {OFF:g} nats of log Z", f"{OFF:g} nats off or more"
    for label, far, colour, marker in ((near, False, BLUE, "o"), (off, True, ORANGE, "v")):
        here = (np.abs(y - exact) > OFF) == far
        ax.plot(x[here], y[here], marker, color=colour, ms=3, ls="", label=label, **style)


def _steps(ax, steps: list[int]) -> None:
    """Numbers of steps that were run as the only ticks of a logarithmic axis."""
    ax.set_xticks(steps, [f"{n:,}" for n in steps])
    ax.minorticks_off()


def on_hills(runs: dict) -> None:
    """Where chains end and what each says, above the hills: a panel a run, by its title."""
    _, axes = plt.subplots(1, len(runs), figsize=(4.3 * len(runs), 3.4), sharey=True, squeeze=False)
    for ax, (title, (hills, run)) in zip(axes[0], runs.items(), strict=True):
        shape = hills.log_target(GRID)
        ax.fill_between(GRID, 4, np.maximum(4, 4 + 0.35 * shape), color=GREY, alpha=0.25, lw=0)
        _coloured(ax, run.states[:, 0], run.log_weights)
        truth(ax, LOG_Z)
        ax.set(xlabel="where the chain ends", title=title, xlim=(-6, 6), ylim=(3, 28))
        ax.grid(False)
    axes[0][0].set(ylabel=SAYS)
    axes[0][0].legend(fontsize=8, loc="upper left")


def few_chains(runs: np.ndarray) -> None:
    """log Z of runs of a few chains against their ESS, of rows (log Z, error, ESS)."""
    _, ax = plt.subplots(figsize=(6.4, 3.2))
    _coloured(ax, runs[:, 2], runs[:, 0], alpha=0.6)
    truth(ax, LOG_Z)
    ax.set(xlabel="effective sample size of the run", ylabel="log Z by the run (nats)")
    ax.legend(fontsize=8, loc="upper right")


def first_order(betas, law: np.ndarray, values: dict[int, float], exact: float, log_sum) -> None:
    """log p of the number of units on, by beta, and estimates by steps below the sum."""
    _, (left, right) = plt.subplots(1, 2, figsize=(9, 3.3))
    shades = plt.cm.viridis(np.linspace(0.85, 0, len(betas)))
    for beta, row, shade in zip(betas, law, shades, strict=True):
        left.plot(row, color=shade, label=f"β = {beta:g}")
    left.set(xlabel="visible units that are on", ylabel="log probability", ylim=(-40, 2))
    left.legend(fontsize=8)
    right.plot([*values], [*values.values()], **method("AIS"))
    right.axhline(log_sum, color=BLUE, lw=1, ls=":", label="sum over states found")
    truth(right, exact)
    right.set(xscale="log", xlabel="steps", ylabel="log Z (nats)")
    _steps(right, [*values])
    right.legend(fontsize=8, loc="center right")


def by_round(values, errors, exact: float) -> None:
    """log Z after each round, with two standard errors of its chains."""
    _, ax = plt.subplots(figsize=(6.4, 3.2))
    n = np.arange(1, len(values) + 1)
    ax.errorbar(n, values, 2 * np.asarray(errors), capsize=3, **method("counts", "after a round"))
    truth(ax, exact)
    ax.set(xlabel="round of 50 sweeps", ylabel="log Z (nats)", xticks=n)
    ax.legend(fontsize=8, loc="center right")


def biased(runs: dict[str, dict], drifts: dict[str, np.ndarray], exact: float = LOG_Z) -> None:
    """Estimates by steps, and means of Δ of exact draws that are only moved: a line a move."""
    _, (left, right) = plt.subplots(1, 2, figsize=(9, 3.3))
    looks = zip(runs, (ORANGE, BLUE), "vo", strict=True)
    for name, colour, marker in looks:
        style = {"color": colour, "marker": marker, "ms": 4, "capsize": 3, "label": name}
        found, seen = runs[name], drifts[name]
        errors = [2 * run.std_error for run in found.values()]
        left.errorbar([*found], [run.log_z for run in found.values()], errors, **style)
        right.errorbar(range(len(seen)), seen[:, 0], 2 * seen[:, 1], **style)
    truth(left, exact)
    truth(right, 0.0)
    left.set(xscale="log", xlabel="steps", ylabel="log Z (nats)")
    _steps(left, [*next(iter(runs.values()))])
    right.set(xlabel="moves after an exact draw", ylabel="mean of Δ minus exact (nats)")
    left.legend(fontsize=8)


def families(shares: np.ndarray, sizes: np.ndarray) -> None:
    """Shares of the left hill with errors of independent states, and sizes of the families."""
    _, (left, right) = plt.subplots(1, 2, figsize=(9, 3.3))
    rows = shares[np.argsort(shares[:, 0])]
    left.errorbar(range(len(rows)), rows[:, 0], 2 * rows[:, 1], fmt="o", ms=3, color=ORANGE,
                  label="± 2 errors of 1,000 states")  # fmt: skip
    truth(left, 0.5)
    left.set(xlabel="population, in order", ylabel="share of the left hill", ylim=(0, 1))
    left.legend(fontsize=8, loc="upper left")
    right.bar(np.arange(1, len(sizes) + 1), sizes, color=BLUE)
    right.set(xlabel="family of the first population", ylabel="states in it")
