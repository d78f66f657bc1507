"""Figures 4 and 5 of Li et al. (2016) from our trainings."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from .. import judge
from ..plots import BLUE, GREEN, ORANGE, RED
from .trainings import CD

LOOKS = {"cd": ("CD", GREEN), "mix": ("Mix", BLUE), "leaky": ("Leaky", ORANGE)}
WIDTHS = {"cd": 4.0, "mix": 2.0, "leaky": 1.2}  # of lines that lie on one another
SWEEPS = 1, 5, 10, 20, 40, 60  # of the columns "mean_<k>" of the sweep ``leaky_divergence``


def figure_4(curves: dict[tuple[str, float], Any], bounds: dict[str, dict]) -> None:
    """Live trainings by method and bound; stored ones by bound and setting, minus CD."""
    _, (left, right) = plt.subplots(1, 2, figsize=(9.4, 3.6))
    for (method, bound), run in curves.items():
        name, colour = LOOKS[method]
        look: Any = {"color": colour, "ls": "-" if bound > 0.99 else "--", "lw": WIDTHS[method]}
        seen = run.history
        left.plot(seen["update"], seen["log_likelihood"], label=f"{name}, below {bound:g}", **look)
    left.set(xlabel="update (live)", ylabel="test log-likelihood (nats)")
    left.legend(fontsize=7, loc="center right", bbox_to_anchor=(1, 0.58))
    runs = {f"{n}, below {b}": x for b, some in bounds.items() for n, x in some.items()}
    for i, method in enumerate(("mix", "leaky")):
        name, colour = LOOKS[method]
        found = [x.ahead(f"leaky, {name}", CD) for x in runs.values()]
        values = np.array([x.value for x in found])
        ends = np.array([x.interval(judge.FEW) for x in found]).T
        at = np.arange(len(runs)) + 0.2 * i - 0.1
        right.errorbar(values, at, xerr=np.abs(ends - values), color=colour, fmt="o", ms=4,
                       capsize=3, label=name)  # fmt: skip
    right.axvline(0, color="black", lw=0.8)
    right.set(xscale="symlog", yticks=range(len(runs)), yticklabels=runs)
    right.set(xlabel="log-likelihood minus that of CD (nats)")
    right.legend(fontsize=8, ncols=2, loc="lower left", bbox_to_anchor=(0, 1))


def figure_5(free, held) -> None:
    """The mean visible unit of 1,000 chains against sweeps, a line a training."""
    _, ax = plt.subplots(figsize=(6.0, 3.1))
    arms = (free, "weight decay, no projection", RED, "-"), (held, "projection", BLUE, "--")
    for runs, label, colour, line in arms:
        sizes = runs[[f"mean_{k}" for k in SWEEPS]].abs().to_numpy()
        for i, values in enumerate(sizes):
            ax.plot(SWEEPS, values, color=colour, ls=line, marker="o", ms=3,
                    label="" if i else label)  # fmt: skip
    ax.set(yscale="log", xlabel="Gibbs sweeps", ylabel="size of the mean visible unit")
    ax.legend(fontsize=8)
