"""Figures 1 to 8 of Carlson et al. (2016), from our runs."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from .. import plots
from ..measured import rmse, rmse_ratio
from .runs import LENGTHS, PILOT, SOUND_ESS

STARTS = {PILOT: "-", "v, 10 left out": "--", "v and h, 10 left out": "-."}
STARTS |= {"v, all sweeps": ":", "v and h, all sweeps": (0, (1, 4))}
STEPS = {"adapted": plots.BLUE, "fixed": plots.ORANGE}
TRACKED = {"train": plots.GREY, "validation": plots.METHOD_COLOURS["RTS"]}


def first_rounds(history, betas) -> None:
    """Figure 1: guesses and shares in four of the first rounds, one row per variant."""
    _, axes = plt.subplots(len(history), 2, figsize=(8.5, 2.3 * len(history)), sharex=True)
    for (name, made), row in zip(history.items(), axes, strict=True):
        for i in (0, 1, 3, 7):
            look = {"color": plt.colormaps["viridis"](i / 8), "label": f"round {i + 1}"}
            row[0].plot(betas, made[i].sample.log_z_path, **look)
            row[1].plot(betas, np.log(made[i].shares), **look)
        row[0].set(ylabel=f"{name}\nlog Ẑ (nats)")
        row[1].set(ylabel="log ĉ")
        row[1].axhline(-np.log(betas.size), color="black", lw=0.8, ls="--")
    axes[0, 0].legend(fontsize=8)
    plt.setp(axes[-1], xlabel="inverse temperature β")


def errors_by_samples(samples, errors: Mapping[str, np.ndarray]) -> None:
    """Figure 2: RMSE against samples; ``errors`` has shape (n_numbers, n_repeats) per estimator."""
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


def mean_and_rmse(frame: pd.DataFrame, models) -> None:
    """Figures 3 and 7: mean error and RMSE against sweeps, one row per model."""
    # RAISE with one chain per image, as in the paper
    frame = frame[(frame["method"] != "RAISE") | (frame["n_images"] == 100)]
    frame = frame[frame["steps"].isin([*LENGTHS, 100_000])]
    frame = frame.assign(begun=frame["begun"].where(frame["method"] == "RTS", ""))
    frame = frame[frame["begun"].isin(["", *STARTS])]
    figure, axes = plt.subplots(len(models), 2, figsize=(9.3, 2.9 * len(models)), squeeze=False)
    for (left, right), model in zip(axes, models, strict=True):
        runs = frame[frame["model"] == model]
        for (method, begun), points in runs.groupby(["method", "begun"]):
            look = plots.method(method, f"{method}, {begun}" if begun else method)
            look |= {"linestyle": STARTS[begun]} if begun else {}
            errors = points.groupby("steps")["error"]
            bars = {"yerr": 2 * errors.sem().fillna(0), "capsize": 3}
            left.errorbar(errors.mean().index, errors.mean(), **bars, **look)
            right.plot(errors.apply(rmse), **look)
        left.axhline(0, color="black", lw=0.8)
        left.set(xscale="log", yscale="symlog", ylabel=f"{model}\nmean error (nats)")
        right.set(xscale="log", yscale="log", ylabel="RMSE (nats)")
    plt.setp(axes[-1], xlabel="sweeps of a chain")
    lines = {line.get_label(): line for ax in axes[:, 1] for line in ax.get_lines()}
    figure.legend(lines.values(), lines, loc="outside lower center", ncols=3, fontsize=8)


def by_temperatures(curves: Mapping[str, pd.DataFrame]) -> None:
    """Figure 4: RMSE against the number of temperatures, one panel per model."""
    names = {"rts": "RTS", "ts": "counts", "ti_rb": "TI-RB", "ti": "TI", "mbar": "MBAR"}
    _, axes = plt.subplots(1, len(curves), figsize=(9, 3.4), sharey=True, squeeze=False)
    for ax, (model, curve) in zip(axes[0], curves.items(), strict=True):
        for column, name in names.items():
            ax.plot(curve[column], **plots.method(name, "TS" if column == "ts" else name))
        ax.set(xscale="log", yscale="log", xlabel="number of temperatures", title=model)
    axes[0, 0].set_ylabel("RMSE (nats)")
    axes[0, -1].legend(fontsize=8)


def likelihoods(trainings: Mapping[str, pd.DataFrame]) -> None:
    """Figure 5: likelihoods along training runs; lines are tracked, circles are by AIS."""
    _, axes = plt.subplots(1, len(trainings), figsize=(9.5, 3.4))
    for ax, (title, run) in zip(axes, trainings.items(), strict=True):
        sound = run["ess"] >= SOUND_ESS
        for name, colour in TRACKED.items():
            by_ais = run[name] + run["tracked"] - run["log_z"]
            ax.plot(run["update"], run[name], color=colour, label=f"{name}, tracked")
            ax.plot(run["update"][sound], by_ais[sound], "o", color=colour, ms=4)
            ax.plot(run["update"][~sound], by_ais[~sound], "o", color=colour, mfc="none", ms=4)
        ax.set(xlabel="update", title=title)
    axes[0].set_ylabel("mean log-likelihood (nats); circles: AIS")
    axes[-1].legend(fontsize=8)


def bottlenecks(moves: Mapping[str, np.ndarray], conductances, betas) -> None:
    """Figure 7, right: shares of the moves from each beta, and conductances, for each base."""
    _, axes = plt.subplots(1, 3, figsize=(9.3, 3))
    for ax, (name, counts) in zip(axes, moves.items(), strict=False):
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        ax.imshow(np.sqrt(shares), origin="lower", extent=(0, 1, 0, 1), cmap="viridis", vmax=0.6)
        ax.set(xlabel="β after", ylabel="β before", title=name)
        ax.grid(visible=False)
        look = plots.method(name, markers=False)
        axes[2].plot((betas[1:] + betas[:-1]) / 2, conductances[name], **look)
    axes[2].set(yscale="log", xlabel="β", ylabel="conductance")
    axes[2].legend(fontsize=8)


def matrix_of_moves(by_length, trainings) -> None:
    """Figure 8: RMSE of SD and RSD over that of RTS, by the sweeps used and by training run."""
    _, (left, right) = plt.subplots(1, 2, figsize=(9.3, 3.4), sharey=True)
    gain = {m: rmse_ratio(of["rsd"], of["rts"]).value for m, of in trainings.items()}
    by_training = {m: trainings[m] for m in sorted(gain, key=gain.get)}
    for i, (kind, look) in enumerate((("sd", "counts"), ("rsd", "TI-RB"))):
        for ax, cases in ((left, by_length), (right, by_training)):
            used = {k: e for k, e in cases.items() if np.isfinite(e[kind]).all()}
            ratios = [rmse_ratio(e[kind], of=e["rts"]) for e in used.values()]
            middle = np.exp([r.value for r in ratios])
            low, high = np.exp([r.interval(0.05) for r in ratios]).T
            at = list(used) if ax is left else np.arange(len(used)) + 0.3 * i
            how = plots.method(look, kind.upper()) | ({"linestyle": ""} if ax is right else {})
            ax.errorbar(at, middle, [middle - low, high - middle], capsize=3, **how)
    for ax in (left, right):
        ax.axhline(1, color="black", lw=0.8)
    left.axhline(0.9, **plots.method("published", "printed: about 10% less", markers=False))
    left.set(xscale="log", xlabel="sweeps used of each chain, pcd_10")
    left.set_ylabel("RMSE divided by that of RTS")
    right.set(xticks=[], xlabel=f"{len(trainings)} training runs, 10 hidden units, sorted by RSD")
    left.legend(fontsize=8)


def wandering_chains(betas, runs: Mapping, errors: Mapping[str, np.ndarray]) -> None:
    """The first fifth of a typical chain with each kind of step, and the errors of all chains."""
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
