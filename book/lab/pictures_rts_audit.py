"""Figures of the audit page of RTS: its small model, its first rounds, its bases, its costs."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from . import plots
from .errors import rmse
from .measured import mean_of, rmse_ratio

VIRIDIS = plt.colormaps["viridis"]


def loops(looped) -> None:
    """RMSE after each round of loops by (guesses at the beginning, rule): (n_loops, n_rounds)."""
    begins = list(dict.fromkeys(begin for begin, _ in looped))
    _, axes = plt.subplots(1, len(begins), figsize=(9, 3.2))
    for ax, begin in zip(axes, begins, strict=True):
        for (own, rule), errors in looped.items():
            if own == begin:
                look = plots.method("RTS" if rule == "RTS" else "MBAR", rule, markers=False)
                n = np.arange(1, errors.shape[1] + 1)
                ax.plot(n, np.sqrt((errors**2).mean(axis=0)), **look)
        ax.set(yscale="log", xlabel="rounds of 20 sweeps")
        ax.set_title(f"guesses at the beginning: {begin}", fontsize=10)
    axes[0].set_ylabel("RMSE of log Ẑ (nats)")
    axes[0].legend()


def bias(found, tilts, lengths) -> None:
    """Mean errors of short runs and the bias foretold, ``found[tilt, n]`` as the page has them."""
    _, ax = plt.subplots(figsize=(6.5, 3.2))
    looks = (plots.BLUE, "o"), (plots.ORANGE, "s")
    for tilt, (color, marker) in zip(tilts, looks, strict=True):
        means = [mean_of(found[tilt, n][0]) for n in lengths]
        end = "β = 0" if tilt < 0 else "β = 1"
        bars = [2 * m.std_error for m in means]
        ax.errorbar(lengths, [m.value for m in means], bars, color=color, fmt=marker, capsize=3,
                    label=f"{end} seldom visited")  # fmt: skip
        ax.plot(lengths, [found[tilt, n][2] for n in lengths], color=color)
    ax.plot([], color=plots.GREY, label="lines: what the variances foretell")
    ax.axhline(0, color="black", lw=0.8)
    ax.set(xscale="log", xlabel="sweeps of a run of four chains", ylabel="bias (nats)")
    ax.set_xticks(lengths, [str(n) for n in lengths])
    ax.xaxis.set_minor_formatter("")
    ax.legend(fontsize=8)


def area(betas, slopes, every: int = 20) -> None:
    """The mean slope along the path, and straight lines between a few of its points."""
    few, heights = betas[::every], slopes[::every]
    _, ax = plt.subplots(figsize=(6.5, 3.2))
    ax.plot(betas, slopes, **plots.method("exact", "mean slope", markers=False))
    ax.fill_between(few, heights, color=plots.METHOD_COLOURS["TI"], alpha=0.25)
    ax.plot(few, heights, **plots.method("TI", "three temperatures, straight lines"))
    ax.set(xlabel="inverse temperature β", ylabel="mean slope (nats)")
    ax.legend()


def overlap(slopes, crossing) -> None:
    """Histograms of the slopes of states at two betas, and where the densities cross."""
    _, ax = plt.subplots(figsize=(6.5, 3.2))
    bins = np.histogram_bin_edges(np.concatenate(list(slopes.values())), 60).tolist()
    for (beta, those), color in zip(slopes.items(), VIRIDIS((0.15, 0.7)), strict=True):
        ax.hist(those, bins, color=color, label=f"β = {beta:.2f}", density=True,
                histtype="stepfilled", alpha=0.45)  # fmt: skip
    plots.truth(ax, crossing, vertical=True)
    ax.set(xlabel="Δ of the states (nats)", ylabel="density")
    ax.legend()


def first_rounds(history, betas) -> None:
    """Guesses and shares in four of the first rounds, a row for each of three ways."""
    _, axes = plt.subplots(3, 2, figsize=(8.5, 7), sharex=True)
    for (name, repeats), row in zip(history.items(), axes, strict=True):
        for i in (0, 1, 3, 7):
            color, one = VIRIDIS(i / 8), repeats[0][i]
            guesses = one.sample.log_z_path
            row[0].plot(betas, guesses, color=color, label=f"iteration {i + 1}")
            row[1].plot(betas, np.log(one.shares), color=color)
        row[0].set(ylabel=f"{name}\nlog Ẑ (nats)")
        row[1].set(ylabel="log ĉ")
        row[1].axhline(-np.log(betas.size), color="black", lw=0.8, ls="--")
    axes[0, 0].legend(fontsize=8)
    for ax in axes[-1]:
        ax.set_xlabel("inverse temperature β")


def starts(errors) -> None:
    """Errors of the guess before the first round and after each, by the start."""
    styles = {"equal guesses, all sweeps": ":", "equal guesses, first 10 left out": "--"}
    _, ax = plt.subplots(figsize=(6.5, 3.2))
    for start, off in errors.items():
        look = plots.method("RTS", f"from {start}") | {"linestyle": styles.get(start, "-")}
        ax.plot(np.abs(off), **look)
    ax.set(yscale="log", xlabel="rounds of 50 sweeps", ylabel="|error of log Ẑ| (nats)")
    ax.legend()


def left_out(errors, looks, models, numbers) -> None:
    """Median errors on the way, ``errors(model, n)`` with n sweeps of each round left out."""
    _, axes = plt.subplots(2, 2, figsize=(9, 6), sharex=True, sharey=True)
    for ax, model in zip(axes.flat, models, strict=True):
        for n, color in zip(numbers, VIRIDIS((0.0, 0.3, 0.6, 0.9)), strict=True):
            label = f"{n} left out" if n else "all sweeps used"
            ax.plot(looks, np.median(np.abs(errors(model, n)), axis=0), color=color, label=label)
        ax.axhline(1, color="black", lw=0.8, ls="--")
        ax.set(xscale="log", yscale="log")
        ax.set_title(model, fontsize=10)
    for ax in axes[-1]:
        ax.set_xlabel("sweeps of a chain")
    for ax in axes[:, 0]:
        ax.set_ylabel("|error of log Ẑ| (nats)")
    axes[0, 0].legend(fontsize=8)


def look_of(kind: str) -> dict:
    """Of a method's name, followed by words on its start: lines tell the starts apart."""
    styles = {"equal": ":", "80 rounds": "-.", "10 left out": "--", "ten chains": ":"}
    style = next((style for word, style in styles.items() if word in kind), None)
    return plots.method(kind.split(",")[0], kind) | ({"linestyle": style} if style else {})


def errors_against_sweeps(curves, models, kinds) -> None:
    """Mean error and RMSE by all sweeps, a column a model; ``kinds[kind][-1]``: of the start."""
    figure, axes = plt.subplots(2, 3, figsize=(9.3, 5.2), sharex=True)
    for ax, model in zip(axes.T, models, strict=True):
        for kind, (*_, before) in kinds.items():
            _mean_and_rmse(ax, curves[model, kind], before, look_of(kind))
        ax[0].axhline(0, color="black", lw=0.8)
        ax[0].set(title=model, xscale="log", yscale="symlog")
        ax[1].set(xlabel="sweeps, start included", yscale="log")
    axes[0, 0].set(ylabel="mean error (nats)")
    axes[1, 0].set(ylabel="RMSE (nats)")
    names = axes[0, 0].get_legend_handles_labels()
    figure.legend(*names, loc="outside lower center", ncols=3, fontsize=9)


def from_images(curves, before) -> None:
    """Mean error and RMSE on one model, by kind; ``before``: sweeps of the start of a kind."""
    _, axes = plt.subplots(1, 2, figsize=(9, 3.2))
    for kind, points in curves.items():
        _mean_and_rmse(axes, points, before.get(kind, 0), look_of(kind))
    axes[0].axhline(0, color="black", lw=0.8)
    axes[0].set(yscale="symlog", ylabel="mean error (nats)")
    axes[1].set(yscale="log", ylabel="RMSE (nats)")
    for ax in axes:
        ax.set(xscale="log", xlabel="sweeps, start included")
    axes[1].legend(fontsize=7)


def _mean_and_rmse(axes, points, before, look) -> None:
    total = np.array(list(points)) + before
    means = [mean_of(errors) for errors in points.values()]
    bars = [2 * m.std_error for m in means]
    axes[0].errorbar(total, [m.value for m in means], bars, capsize=3, **look)
    axes[1].plot(total, [rmse(errors) for errors in points.values()], **look)


def rounds_of_bases(errors) -> None:
    """Errors after each round of several starts, by (base, "normalised" or "as it is")."""
    figure, ax = plt.subplots(figsize=(6.5, 3.2))
    for (base, scaled), values in errors.items():
        style = plots.method(base, f"{base}, p_A {scaled}", markers=False)
        style["linestyle"] = "-" if scaled == "normalised" else ":"
        n = np.arange(1, values.shape[1] + 1)
        ax.plot(n, values.T, **style | {"label": None}, lw=0.8)
        ax.plot([], [], **style)
    ax.axhline(0, color="black", lw=0.8)
    ax.set(yscale="symlog", xlabel="round of 50 sweeps", ylabel="error of log Ẑ (nats)")
    figure.legend(loc="outside lower center", ncols=2, fontsize=9)


def by_temperatures(curves, shown) -> None:
    """RMSE against the number of temperatures, a panel a model; ``shown``: labels to columns."""
    _, axes = plt.subplots(1, len(curves), figsize=(9, 3.4), sharey=True)
    for ax, (name, table) in zip(axes, curves.items(), strict=True):
        for label, column in shown.items():
            points = table[column].iloc[:-1] if label == "MBAR" else table[column]
            ax.plot(points, **plots.method(label))
        ax.set(xscale="log", yscale="log", xlabel="number of temperatures")
        ax.set_title(name, fontsize=10)
    axes[0].set_ylabel("RMSE (nats)")
    axes[1].legend(fontsize=8)


def two_bases(uniform, rate) -> None:
    """Errors by sweeps and kind along a uniform base, and, thin, along the base rate."""
    _, axes = plt.subplots(1, 2, figsize=(9, 3.4), sharex=True)
    for kind in ("RTS", "RTS, 10 left out", "AIS", "reverse AIS"):
        n, look = list(uniform[kind]), look_of(kind)
        axes[0].plot(n, [e.mean() for e in uniform[kind].values()], **look)
        axes[1].plot(n, [rmse(e) for e in uniform[kind].values()], **look)
        thin = {"lw": 1, "ls": "-." if "left out" in kind else ":", "color": look["color"]}
        axes[1].plot(list(rate[kind]), [rmse(e) for e in rate[kind].values()], **thin)
    axes[0].axhline(0, color="black", lw=0.8)
    axes[0].set(xscale="log", yscale="symlog", ylabel="mean error (nats)")
    axes[1].set(yscale="log", ylabel="RMSE (nats)")
    for ax in axes:
        ax.set_xlabel("sweeps of a chain")
    axes[0].legend(fontsize=8)


def knots(moves, conductances, betas) -> None:
    """Shares of moves from each beta by base, (K, K), and the conductance of each cut."""
    middle = (betas[1:] + betas[:-1]) / 2
    _, axes = plt.subplots(1, 3, figsize=(9.3, 3))
    for ax, (name, counts) in zip(axes, moves.items(), strict=False):
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        ax.imshow(np.sqrt(shares), origin="lower", extent=(0, 1, 0, 1), cmap="viridis", vmax=0.6)
        ax.set(xlabel="β after", ylabel="β before")
        ax.set_title(name, fontsize=10)
        ax.grid(visible=False)
        axes[2].plot(middle, conductances[name], **plots.method(name, markers=False))
    axes[2].set(yscale="log", xlabel="β", ylabel="conductance")
    axes[2].legend(fontsize=8)


def moves_by_length(errors, lengths) -> None:
    """RMSE by the sweeps that are used, and over that of RTS; ``errors[kind, n]`` of runs."""
    _, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), width_ratios=(1, 1.1))
    named = {"rts": ("RTS", "RTS"), "sd": ("counts", "SD"), "rsd": ("TI-RB", "RSD")}
    for kind, names in named.items():
        look = plots.method(*names)
        left.plot(lengths, [rmse(errors[kind, n]) for n in lengths], **look)
        if kind != "rts":
            used = [n for n in lengths if np.isfinite(errors[kind, n]).all()]  # some have none
            ratios = [rmse_ratio(errors[kind, n], of=errors["rts", n]) for n in used]
            low, high = np.exp([ratio.interval(0.05) for ratio in ratios]).T
            middle = np.exp([ratio.value for ratio in ratios])
            right.errorbar(used, middle, [middle - low, high - middle], capsize=3, **look)
    right.axhspan(0.88, 0.92, color=plots.GREY, alpha=0.3, lw=0, label="the paper's 10%")
    right.axhline(1, color="black", lw=0.8)
    left.set(yscale="log", ylabel="RMSE (nats)")
    right.set(ylabel="RMSE over that of RTS")
    for ax in (left, right):
        ax.set(xscale="log", xlabel="sweeps of each chain that are used")
        ax.legend(fontsize=8)


def costs(relative, models, ways) -> None:
    """Time times squared error over that of RTS, with 95% intervals, a panel a model."""
    _, axes = plt.subplots(1, len(models), figsize=(9.3, 3), sharey=True)
    for ax, name in zip(axes, models, strict=True):
        for i, label in enumerate(ways):
            cost, look = relative[name, label], plots.method(label.removesuffix(" of annealing"))
            if label != "RTS":
                ax.plot(np.exp(cost.interval(0.05)), [i, i], color=look["color"])
            ax.plot(np.exp(cost.value), i, color=look["color"], marker=look["marker"])
        ax.axvline(1, color="black", lw=0.8)
        ax.set(xscale="log", xlabel="time × squared error")
        ax.set_title(name, fontsize=10)
    axes[0].set_yticks(range(len(ways)), ways)
    axes[0].invert_yaxis()
