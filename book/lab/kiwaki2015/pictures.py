"""The figures of Kiwaki (2015) from our runs; what the paper prints is marked by crosses."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from .. import plots
from .runs import BASES, found, papers_name, printed, printed_ess

LOOKS = {"LINEAR": "linear", "VAROPT": "VAROPT", "VAROPT0.009": "VAROPT", "GMS13": "GMS13"}
LINES = {1000: ":", 10_000: "--", 100_000: "-"}  # of Figure 4, by the number of steps
THREE = ("LINEAR", "GMS13", "VAROPT0.009")
PRINTED = {"marker": "x", "markersize": 8, "markeredgewidth": 2, "linestyle": ""}


def schedules(paths, model: str) -> None:
    """Figure 1: β against the share of the steps, a panel a base."""
    _, axes = plt.subplots(1, len(BASES), figsize=(9, 3.2), sharey=True)
    for ax, base in zip(axes, BASES, strict=True):
        for name, betas in paths.paths[model, base].betas.items():
            if name != "VAROPT0.003":
                look = (
                    {"color": "black", "lw": 0.8, "label": name}
                    if name == "SM08"
                    else plots.method(name, markers=False)
                )
                ax.plot(np.linspace(0, 1, len(betas)), betas, **look)
        ax.set(xlabel="share of the steps, k / K", title=base)
    axes[0].set_ylabel("β")
    axes[-1].legend(fontsize=8)


def estimates(runs, truths: dict[str, float], bases=BASES) -> None:
    """Figures 2 and 5: the error of log Z against K, with ±3σ of log w, a row a base."""
    axes = _grid(runs, list(truths), bases, _error_of(truths))
    for row in axes:
        row[0].set_ylabel("log Z − reference, ±3σ of log w")
        for ax, model in zip(row, truths, strict=True):
            ax.axhline(0, color="black", lw=0.8, ls=":")
            if model.endswith("_20"):
                _mark_errors(ax, model)


def effective_sizes(runs, models, bases=BASES) -> None:
    """Figures 3 and 6: ESS over chains against K, a row a base; printed ESS at K = 100,000."""
    axes = _grid(runs, list(models), bases, _ess)
    for row in axes:
        row[0].set_ylabel("ESS / chains")
        for ax, model in zip(row, models, strict=True):
            ax.set_ylim(0, 1.05)
            for label in THREE:
                colour = plots.method(LOOKS[label])["color"]
                ax.plot(1.25e5, printed_ess(model, label) / 1000, color=colour, **PRINTED)


def _grid(runs, models, bases, draw):
    figure, axes = plt.subplots(
        len(bases), 3, figsize=(9.5, 2.7 * len(bases)), sharex=True, squeeze=False
    )
    for row, base in zip(axes, bases, strict=True):
        for ax, model in zip(row, models, strict=True):
            for label in THREE:
                steps = sorted(runs.loc[runs["model"] == model, "n_temperatures"].unique())
                here = [(k, found(runs, model, label, k, base)) for k in steps]
                here = [(k, rows.iloc[0]) for k, rows in here if len(rows)]
                look = plots.method(LOOKS[label], label) | {"markersize": 3, "lw": 1}
                draw(ax, model, here, look | {"capsize": 2})
            ax.set(xscale="log", title=f"{papers_name(model)}, {base}")
    for ax in axes[-1]:
        ax.set_xlabel("steps K")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return axes


def _error_of(truths):
    def draw(ax, model, here, look):
        off = [row["log_z"] - truths[model] for _, row in here]
        ax.errorbar(
            [k for k, _ in here], off, [3 * row["variance"] ** 0.5 for _, row in here], **look
        )

    return draw


def _ess(ax, model, here, look):
    shares = np.array([row["ess"] / row["n_chains"] for _, row in here])
    ends = [[row[f"ess_{end}"] / row["n_chains"] for _, row in here] for end in ("low", "high")]
    ax.errorbar([k for k, _ in here], shares, np.abs(np.array(ends) - shares), **look)


def _mark_errors(ax, model: str) -> None:
    table = printed(1).set_index(["model", "schedule"])
    for label in THREE:
        row = table.loc[(papers_name(model), label)]
        colour = plots.method(LOOKS[label])["color"]
        ax.plot(1.25e5, row["logz_hat"] - row["logz_exact"], color=colour, **PRINTED)


def ess_on_the_way(looks, model: str = "pcd_20") -> None:
    """Figure 4: ESS so far against β's share of the steps, a panel a base."""
    _, axes = plt.subplots(1, len(BASES), figsize=(9, 3.2), sharey=True)
    columns = [f"ess_{i}" for i in range(1, 21)]
    seen = looks[(looks["model"] == model) & (looks["seed"] == looks["seed"].min())]
    for ax, base in zip(axes, BASES, strict=True):
        for row in seen[seen["base"] == base].to_dict("records"):
            look = plots.method("linear" if row["label"] == "LINEAR" else "VAROPT", markers=False)
            capped = row["label"] == "VAROPT0.003"
            look |= {"linestyle": LINES[row["n_temperatures"]], "lw": 3 if capped else 1.5}
            look |= {
                "alpha": 0.5 if capped else 1,
                "label": f"{row['label']}, {row['n_temperatures']:,}",
            }
            shares = [1, *(row[c] / row["n_chains"] for c in columns)]
            ax.plot(np.arange(21) / 20, shares, **look)
        ax.set(xlabel="share of the steps", title=base, ylim=(0, 1.05))
        ax.legend(fontsize=7)
    axes[0].set_ylabel("ESS so far / chains")
