"""Figures 1 to 8 of Carlson et al. (2016), ours."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from .. import plots
from ..errors import rmse
from ..measured import rmse_ratio
from .runs import PILOT

VIRIDIS = plt.colormaps["viridis"]
STARTS = {PILOT: "-", "v, 10 left out": "--", "v and h, 10 left out": "-."}
STARTS |= {"v, all sweeps": ":", "v and h, all sweeps": (0, (1, 4))}
STEPS = {"adapted": plots.BLUE, "fixed": plots.ORANGE}
TRACKED = {"train": plots.GREY, "validation": plots.METHOD_COLOURS["RTS"]}


def first_rounds(history, betas) -> None:
    """Figure 1: guesses and shares in four of the first rounds, a row for each way."""
    _, axes = plt.subplots(len(history), 2, figsize=(8.5, 2.3 * len(history)), sharex=True)
    for (name, made), row in zip(history.items(), axes, strict=True):
        for i in (0, 1, 3, 7):
            color, one = VIRIDIS(i / 8), made[i]
            row[0].plot(betas, one.sample.log_z_path, color=color, label=f"round {i + 1}")
            row[1].plot(betas, np.log(one.shares), color=color)
        row[0].set(ylabel=f"{name}\nlog Ẑ (nats)")
        row[1].set(ylabel="log ĉ")
        row[1].axhline(-np.log(betas.size), color="black", lw=0.8, ls="--")
    axes[0, 0].legend(fontsize=8)
    for ax in axes[-1]:
        ax.set_xlabel("inverse temperature β")


def errors_by_samples(samples, errors: Mapping[str, np.ndarray]) -> None:
    """Figure 2: RMSE against samples; ``errors`` (n_numbers, n_repeats) by estimator."""
    looks = {
        "TI Riemann": plots.method("TI") | {"linestyle": ":", "marker": "s"},
        "TI trap corrected": plots.method("TI") | {"linestyle": "-", "marker": "o"},
        "TI trap": plots.method("TI"),
        "TI RB": plots.method("TI-RB"),
    }
    _, ax = plt.subplots(figsize=(6.5, 3.4))
    for name, e in errors.items():
        look = looks.get(name) or plots.method(name)
        ax.plot(samples, np.sqrt((e**2).mean(axis=1)), **look | {"label": name})
    ax.set(xscale="log", yscale="log", xlabel="samples", ylabel="RMSE (nats)")
    ax.legend(fontsize=8)


def mean_and_rmse(frame: pd.DataFrame, models, uniform: bool = False) -> None:
    """Figures 3 and 7: mean error and RMSE against sweeps, a row a model."""
    if "n_images" in frame:  # of RAISE with a chain an image, as in the paper
        frame = frame[(frame["method"] != "RAISE") | (frame["n_images"] == 100)]
    figure, axes = plt.subplots(len(models), 2, figsize=(9.3, 2.9 * len(models)), squeeze=False)
    for (left, right), model in zip(axes, models, strict=True):
        runs = frame[frame["model"] == model]
        for method, own in runs.groupby("method"):
            for begun, points in own.groupby("begun") if method == "RTS" else [("", own)]:
                if begun and begun not in STARTS:
                    continue
                look = plots.method(str(method), f"{method}, {begun}" if begun else str(method))
                look |= {"linestyle": STARTS[begun]} if begun else {}
                errors = points.groupby("steps")["error"]
                left.errorbar(errors.mean().index, errors.mean(), 2 * errors.sem().fillna(0),
                              capsize=3, **look)  # fmt: skip
                right.plot(errors.apply(rmse), **look)
        left.axhline(0, color="black", lw=0.8)
        left.set(xscale="log", yscale="symlog", ylabel=f"{model}\nmean error (nats)")
        right.set(xscale="log", yscale="log", ylabel="RMSE (nats)")
    for ax in axes[-1]:
        ax.set_xlabel("sweeps of a chain" + (", uniform base" if uniform else ""))
    pairs = [zip(*ax.get_legend_handles_labels()[::-1], strict=True) for ax in axes[:, 0]]
    handles = dict(pair for of_axes in pairs for pair in of_axes)
    figure.legend(handles.values(), handles, loc="outside lower center", ncols=3, fontsize=8)


def by_temperatures(curves: Mapping[str, pd.DataFrame]) -> None:
    """Figure 4: RMSE against the number of temperatures, a panel a model."""
    names = {"rts": "RTS", "ts": "counts", "ti_rb": "TI-RB", "ti": "TI", "mbar": "MBAR"}
    _, axes = plt.subplots(1, len(curves), figsize=(9, 3.4), sharey=True, squeeze=False)
    for ax, (model, curve) in zip(axes[0], curves.items(), strict=True):
        for column, name in names.items():
            ax.plot(curve[column], **plots.method(name, "TS" if column == "ts" else name))
        ax.set(xscale="log", yscale="log", xlabel="number of temperatures", title=model)
    axes[0, 0].set_ylabel("RMSE (nats)")
    axes[0, -1].legend(fontsize=8)


def likelihoods(trainings: Mapping[str, pd.DataFrame]) -> None:
    """Figure 5: likelihoods along trainings, a panel each; lines tracked, circles by AIS."""
    _, axes = plt.subplots(1, len(trainings), figsize=(9.5, 3.4))
    for ax, (title, run) in zip(axes, trainings.items(), strict=True):
        shift = run["tracked"] - run["log_z"]
        for name, colour in TRACKED.items():
            ax.plot(run["update"], run[name], color=colour, label=f"{name}, tracked")
            sound = run["ess"] >= 50
            for kept, face in ((sound, colour), (~sound, "none")):
                circles = {"color": colour, "mfc": face, "ms": 4, "ls": ""}
                ax.plot(run["update"][kept], (run[name] + shift)[kept], "o", **circles)
        ax.set(xlabel="update", title=title)
    axes[0].set_ylabel("mean log-likelihood (nats); circles: AIS")
    axes[-1].legend(fontsize=8)


def gains(trainings: Mapping[float, pd.DataFrame]) -> None:
    """Tracked log Z less that of AIS, where AIS is sound, for three step sizes."""
    _, ax = plt.subplots(figsize=(6.5, 3))
    for (gain, run), colour in zip(trainings.items(), VIRIDIS((0.1, 0.45, 0.8)), strict=True):
        sound = run[run["ess"] >= 50]
        off = sound["tracked"] - sound["log_z"]
        ax.plot(sound["update"], off, "o-", ms=3, color=colour, label=f"α = {gain}")
    ax.axhline(0, color="black", lw=0.8)
    ax.set(xlabel="update", ylabel="tracked log Z − AIS (nats)")
    ax.legend(fontsize=8)


def knots(moves: Mapping[str, np.ndarray], conductances, betas) -> None:
    """Figure 7, right: shares of moves from each beta by base, and the conductance of each cut."""
    middle = (betas[1:] + betas[:-1]) / 2
    _, axes = plt.subplots(1, 3, figsize=(9.3, 3))
    for ax, (name, counts) in zip(axes, moves.items(), strict=False):
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        ax.imshow(np.sqrt(shares), origin="lower", extent=(0, 1, 0, 1), cmap="viridis", vmax=0.6)
        ax.set(xlabel="β after", ylabel="β before", title=name)
        ax.grid(visible=False)
        axes[2].plot(middle, conductances[name], **plots.method(name, markers=False))
    axes[2].set(yscale="log", xlabel="β", ylabel="conductance")
    axes[2].legend(fontsize=8)


def matrix_of_moves(by_length, trainings) -> None:
    """Figure 8: RMSE of SD and RSD over RTS by the sweeps used, and of each training.

    ``by_length[n][kind]`` and ``trainings[model][kind]``: root mean squared errors of tasks.
    """
    _, (left, right) = plt.subplots(1, 2, figsize=(9.3, 3.4), sharey=True)
    named = {"sd": ("counts", "SD"), "rsd": ("TI-RB", "RSD")}
    for i, (kind, names) in enumerate(named.items()):
        look = plots.method(*names)
        for ax, cases in ((left, by_length), (right, trainings)):
            used = {k: e for k, e in cases.items() if np.isfinite(e[kind]).all()}
            ratios = [rmse_ratio(e[kind], of=e["rts"]) for e in used.values()]
            middle = np.exp([r.value for r in ratios])
            low, high = np.exp([r.interval(0.05) for r in ratios]).T
            at = list(used) if ax is left else np.arange(len(used)) + 0.2 * i
            own = look if ax is left else look | {"linestyle": ""}
            ax.errorbar(at, middle, [middle - low, high - middle], capsize=3, **own)
    for ax in (left, right):
        ax.axhline(1, color="black", lw=0.8)
    printed = plots.method("published", "printed: about 10% less", markers=False)
    left.axhline(0.9, **printed)
    left.set(xscale="log", xlabel="sweeps of each chain that are used, pcd_10")
    left.set_ylabel("RMSE over that of RTS")
    right.set_xticks(range(len(trainings)), list(trainings), rotation=60, ha="right", fontsize=7)
    left.legend(fontsize=8)


def wandering_chains(betas, runs: Mapping, errors: Mapping[str, np.ndarray]) -> None:
    """The first fifth of a typical chain with each kind of steps, and the errors of all chains."""
    _, axes = plt.subplots(1, 3, figsize=(9.5, 3.0))
    for ax, (name, run) in zip(axes, runs.items(), strict=False):
        n_moves, n_chains = run.temperature.shape
        typical = np.argsort(run.round_trips)[n_chains // 2]
        walk = betas[run.temperature[: n_moves // 5, typical]]
        ax.plot(walk, color=STEPS[name], lw=0.5)
        ax.set(xlabel=f"transition, {name} steps", ylabel="inverse temperature β")
    axes[2].boxplot(list(errors.values()), tick_labels=list(errors))
    plots.truth(axes[2], 0.0)
    axes[2].set(ylabel="error of log Z (nats)", xlabel="steps")
