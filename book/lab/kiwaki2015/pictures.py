"""The figures of Kiwaki (2015) from our runs; crosses mark printed values."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from .. import plots
from .runs import BASES, found, papers_name, printed, printed_ess

LOOKS = {"LINEAR": "linear", "VAROPT": "VAROPT", "VAROPT0.009": "VAROPT", "GMS13": "GMS13"}
LINES = {1000: ":", 10_000: "--", 100_000: "-"}  # of Figure 4, by the number of steps
THREE = ("LINEAR", "GMS13", "VAROPT0.009")
PRINTED = {"marker": "x", "markersize": 8, "markeredgewidth": 2, "linestyle": ""}


def schedules(paths, model: str) -> None:
    """Figure 1: β against the share of the steps, one panel per base."""
    _, axes = plt.subplots(1, len(BASES), figsize=(9, 3.2), sharey=True)
    for ax, base in zip(axes, BASES, strict=True):
        for name, betas in paths.paths[model, base].items():
            by_hand = {"color": "black", "lw": 0.8, "label": name}
            look = by_hand if name == "SM08" else plots.method(name, markers=False)
            ax.plot(np.linspace(0, 1, len(betas)), betas, **look)
        ax.set(xlabel="share of the steps, k / K", title=base)
    axes[0].set_ylabel("β")
    axes[-1].legend(fontsize=8)


def estimates(runs, models, bases=BASES) -> None:
    """Figures 2 and 5: the error of log Z against K, with ±3σ of log w, one row per base."""

    def draw(ax, here, look):
        bars = 3 * here["variance"] ** 0.5
        ax.errorbar(here["n_temperatures"], here["log_z"] - here["truth"], bars, **look)

    exact = printed(1).set_index(["model", "schedule"])
    for row in _grid(runs, models, bases, draw):
        row[0].set_ylabel("log Z − reference, ±3σ of log w")
        for ax, model in zip(row, models, strict=True):
            ax.axhline(0, color="black", lw=0.8, ls=":")
            for label in THREE if model.endswith("_20") else ():
                theirs = exact.loc[(papers_name(model), label)]
                _cross(ax, label, theirs["logz_hat"] - theirs["logz_exact"])


def effective_sizes(runs, models, bases=BASES) -> None:
    """Figures 3 and 6: ESS / chains against K, one row per base; printed ESS at K = 100,000."""

    def draw(ax, here, look):
        low, share, high = (here[x] / here["n_chains"] for x in ("ess_low", "ess", "ess_high"))
        ax.errorbar(here["n_temperatures"], share, [abs(low - share), abs(high - share)], **look)

    for row in _grid(runs, models, bases, draw):
        row[0].set_ylabel("ESS / chains")
        for ax, model in zip(row, models, strict=True):
            ax.set_ylim(0, 1.05)
            for label in THREE:
                _cross(ax, label, printed_ess(model, label) / 1000)


def _cross(ax, label: str, value: float) -> None:
    """Mark the printed value, which is for K = 100,000."""
    ax.plot(1.25e5, value, color=plots.method(LOOKS[label])["color"], **PRINTED)


def _grid(runs, models, bases, draw):
    """A grid of bases by models; each panel draws the first seed of three schedules against K."""
    size = (9.5, 2.7 * len(bases))
    figure, axes = plt.subplots(len(bases), 3, figsize=size, sharex=True, squeeze=False)
    for row, base in zip(axes, bases, strict=True):
        for ax, model in zip(row, models, strict=True):
            steps = sorted(runs.loc[runs["model"] == model, "n_temperatures"].unique())
            for label in THREE:
                here = pd.concat([found(runs, model, label, k, base).iloc[:1] for k in steps])
                look = plots.method(LOOKS[label], label) | {"markersize": 3, "lw": 1}
                draw(ax, here, look | {"capsize": 2})
            ax.set(xscale="log", title=f"{papers_name(model)}, {base}")
    plt.setp(axes[-1], xlabel="steps K")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return axes


def ess_on_the_way(looks, model: str = "pcd_20") -> None:
    """Figure 4: ESS so far against the share of the steps, one panel per base."""
    _, axes = plt.subplots(1, len(BASES), figsize=(9, 3.2), sharey=True)
    seen = looks[(looks["model"] == model) & (looks["seed"] == looks["seed"].min())]
    for ax, base in zip(axes, BASES, strict=True):
        for row in seen[seen["base"] == base].to_dict("records"):
            label, k, capped = row["label"], row["n_temperatures"], row["label"] == "VAROPT0.003"
            look = plots.method("linear" if label == "LINEAR" else "VAROPT", markers=False)
            look |= {"linestyle": LINES[k], "label": f"{label}, {k:,}"}
            look |= {"lw": 3, "alpha": 0.5} if capped else {"lw": 1.5, "alpha": 1}
            shares = [1, *(row[f"ess_{i}"] / row["n_chains"] for i in range(1, 21))]
            ax.plot(np.arange(21) / 20, shares, **look)
        ax.set(xlabel="share of the steps", title=base, ylim=(0, 1.05))
        ax.legend(fontsize=7)
    axes[0].set_ylabel("ESS so far / chains")
