"""The figures of the audit page on tracking: live trainings, stored differences."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import pandas as pd

from . import plots

GAINS = 0.05, 0.2, 0.5
TRACKED = {"train": plots.GREY, "validation": plots.METHOD_COLOURS["RTS"]}
SHADES = dict(zip(GAINS, plt.get_cmap("viridis")((0.1, 0.45, 0.8)), strict=True))
BARS = {"marker": "o", "ms": 3, "capsize": 2, "lw": 1}


def likelihoods(trainings: Mapping[str, pd.DataFrame]) -> None:
    """Likelihoods along two trainings, a panel each: lines tracked, circles by AIS."""
    _, axes = plt.subplots(1, 2, figsize=(9.5, 3.6))
    for ax, (title, run) in zip(axes, trainings.items(), strict=True):
        shift = run["tracked"] - run["log_z"]
        for name, colour in TRACKED.items():
            ax.plot(run["update"], run[name], color=colour, label=f"{name}, tracked")
            circles = {"color": colour, "mfc": "none", "ms": 4, "label": f"{name}, AIS"}
            ax.plot(run["update"], run[name] + shift, "o", **circles)
        best = run["update"][run["validation"].argmax()]
        ax.axvline(best, color="black", lw=1, ls=":", label="best look, tracked")
        ax.set(xlabel="update", title=title)
    axes[0].set_ylabel("mean log-likelihood (nats)")
    axes[1].legend(fontsize=8)


def live_trainings(trainings: Mapping[float, tuple]) -> None:
    """Tracked log Z of a training a gain, AIS at the end, and likelihoods of one of them.

    ``trainings`` gives the looks of each gain, as a table, and the Estimate of AIS at the end.
    """
    _, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.2))
    for gain, (looks, check) in trainings.items():
        colour = SHADES[gain]
        left.plot(looks["update"], looks["log_z"], color=colour, label=f"α = {gain}")
        end = looks["update"].iloc[-1]
        left.errorbar(
            end, check.log_z, 2 * check.std_error, fmt="o", ms=4, mfc="none", color=colour
        )
    left.set(xlabel="update", ylabel="log Z (nats); circles: AIS")
    left.legend(fontsize=8)
    looks = trainings[0.2][0]
    for name, colour in (("train", plots.GREY), ("validation", plots.METHOD_COLOURS["RTS"])):
        right.plot(looks["update"], looks[name], color=colour, label=name)
    right.set(xlabel="update", ylabel="mean log-likelihood (nats), α = 0.2")
    right.legend(fontsize=8)


def differences(estimates: Mapping[str, tuple], by_gain: Mapping[float, pd.DataFrame]) -> None:
    """Differences from AIS: of three estimates of a training, of the tracker with three step sizes.

    Parameters
    ----------
    estimates : mapping
        To "tracker", "lag added" and "Jarzynski" the update, the difference and its bar.
    by_gain : mapping
        Looks of the trainings with 400 chains.
    """
    _, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.4))
    colours = {
        "tracker": plots.METHOD_COLOURS["RTS"],
        "lag added": plots.GREY,
        "Jarzynski": plots.METHOD_COLOURS["Jarzynski"],
    }
    for label, (update, value, bar) in estimates.items():
        left.errorbar(update, value, 2 * bar, color=colours[label], label=label, **BARS)
    left.set(title="2,000 chains", xlabel="update", ylabel="log Z − AIS (nats), 2 bars")
    for gain, run in by_gain.items():
        value, bar = run["tracked"] - run["log_z"], 2 * run["log_z_error"]
        look = {"color": SHADES[gain], "label": f"α = {gain}"} | BARS
        right.errorbar(run["update"], value, bar, **look)
        poor = run["ess"] < 10
        circles = {"ms": 7, "mfc": "none", "color": SHADES[gain]}
        right.plot(run["update"][poor], value[poor], "o", **circles)
    right.set(title="400 chains", xlabel="update")
    for ax in (left, right):
        ax.axhline(0, color="black", lw=1, ls="--")
        ax.axhspan(-1, 1, color=plots.GREY, alpha=0.08)
        ax.legend(fontsize=8)
