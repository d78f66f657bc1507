"""The figures of the page leaky_rbm_audit, and what its chains and methods are called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np

import rbmlib as rl

from . import leaky_bias, leaky_trainings, plots
from .page import pick
from .plots import BLUE, GREEN, ORANGE, RED

if TYPE_CHECKING:
    import pandas as pd

PURPLE = "#8e24aa"
PUBLISHED, AIS = plots.METHOD_COLOURS["published"], plots.METHOD_COLOURS["AIS"]

# Column of the sweep ``leaky_mixing``: what it is called, and its look.
ROUTES: dict[str, tuple] = {
    "tv_cd_normal": ("CD, data N(0, 1)", GREEN, "-", "o"),
    "tv_mix_normal": ("Mix, data N(0, 1)", PURPLE, "--", "D"),
    "tv_plain": ("plain, from c = 1", BLUE, "-", "^"),
    "tv_leaky": ("Leaky, from c = 1", ORANGE, "--", "s"),
    "tv_cd_model": ("CD, data the model", "grey", ":", None),
    "tv_mix_model": ("Mix, data the model", "grey", "-.", None),
}
METHODS = {
    "cd": (GREEN, "-", "o"), "mix": (PURPLE, "--", "D"), "leaky": (ORANGE, "-", "s"),
    "pcd": (plots.METHOD_COLOURS["PCD"], ":", "^"),
}  # fmt: skip
ARMS: dict[str, dict[str, Any]] = {
    "decay, no projection": {"color": RED, "ls": "-"},
    "projection": {"color": BLUE, "ls": "-"},
    "decay and projection": {"color": GREEN, "ls": "--"},
}


def li_regions() -> None:
    """Three lines in the plane, one dimension at three leakinesses, three planes in space."""
    fig = plt.figure(figsize=(9.5, 3.1))
    _lines_in_the_plane(fig.add_subplot(131))
    _one_dimension(fig.add_subplot(132))
    three: Any = fig.add_subplot(133, projection="3d")
    flat = np.meshgrid([-1.0, 1.0], [-1.0, 1.0])
    for axis, color in enumerate(plt.cm.viridis([0.1, 0.5, 0.8])):
        parts = [flat[0], flat[1]]
        parts.insert(axis, np.zeros((2, 2)))
        three.plot_surface(*parts, color=color, alpha=0.35)
    three.set(xticks=[], yticks=[], zticks=[])


def _lines_in_the_plane(ax) -> None:
    lines = np.array([[1.0, 0.2], [-0.3, 1.0], [-0.8, -0.7]]).T * 0.55
    plane = rl.LeakyRBM(lines, None, np.array([0.3, 0.15, 0.3]), leakiness=0.05)
    x = np.linspace(-4, 4, 300)
    grid = np.stack(np.meshgrid(x, x), axis=-1).reshape(-1, 2)
    signs = ((plane.field(grid) > 0) @ (1 << np.arange(3))).reshape(300, 300)
    ax.imshow(signs, extent=(-4, 4, -4, 4), origin="lower", cmap="Set2", alpha=0.5)
    log_p = plane.log_density(grid).reshape(300, 300)
    levels = log_p.max() - 0.5 * np.arange(5, 0, -1) ** 2
    ax.contour(x, x, log_p, levels, colors="black", linewidths=0.8, linestyles="solid")
    ax.set(xlabel="$v_1$", ylabel="$v_2$")
    ax.grid(False)


def _one_dimension(ax) -> None:
    u = np.linspace(-7, 7, 400)
    for c, color in zip((1.0, 0.5, 0.01), plt.cm.viridis([0.0, 0.45, 0.8]), strict=True):
        log_p = leaky_bias.half_square(u, 0.9, c, 1.0) - u**2 / 2 - leaky_bias.unit_log_z(0.9, c)
        ax.plot(u, np.exp(log_p), color=color, label=f"c = {c:g}")
    ax.set(xlabel="$v$", ylabel="density")
    ax.legend(fontsize=8)


def table_2(runs: pd.DataFrame, printed: pd.DataFrame, unit_bias: float) -> None:
    """Li et al., Table 2, and our runs at its scale; ``unit_bias``: of AIS-Leaky."""
    _, (ax, far) = plt.subplots(1, 2, figsize=(9.2, 3.6), width_ratios=(1.5, 1))
    leaky, energy = (pick(printed, method=f"AIS-{name}") for name in ("Leaky", "Energy"))
    ax.errorbar(leaky["n_hidden"] - 0.9, -leaky["bias"], 2 * leaky["std"], color="black",
                marker="s", ms=4, capsize=3, ls="", label="Li et al., ± 2 std")  # fmt: skip
    marks: list[tuple] = [
        ("gibbs", 1000, PUBLISHED, "D", -0.3), ("gibbs", 10000, PUBLISHED, "x", 0.3),
        ("blockwise", 1000, AIS, "o", -0.3), ("blockwise", 10000, AIS, "v", 0.3),
        ("slice", 1000, plots.METHOD_COLOURS["RTS"], "<", -1.1),
        ("hmc", 1000, plots.METHOD_COLOURS["BAR"], "^", 1.1),
    ]  # fmt: skip
    for kernel, k, color, marker, shift in marks:
        seen = pick(runs, path="leakiness", transition=kernel, steps=k)
        ax.errorbar(
            seen["hidden units"] + shift, -seen["difference"], 2 * seen["s.e."], color=color,
            marker=marker, ms=4, capsize=2, ls="", label=f"{kernel}, {k:,} steps",
        )  # fmt: skip
    units = np.array([0, 31])
    ax.plot(units, units * unit_bias, color=PUBLISHED, lw=1, label="quadrature")
    ax.axhline(0, color="black", lw=0.8)
    ax.set(xlabel="hidden units", ylabel="estimate minus exact log Z (nats)", ylim=(-0.21, 0.02))
    ax.legend(fontsize=7, ncols=2, loc="lower left")
    _both_paths(far, runs, leaky, energy)


def _both_paths(ax, runs, leaky, energy) -> None:
    ours = {
        "Energy": pick(runs, path="energy", transition="gibbs", steps=100_000),
        "Leaky": pick(runs, path="leakiness", transition="gibbs", steps=1000),
    }
    for printed, name, line in ((energy, "Energy", "-"), (leaky, "Leaky", "--")):
        found = ours[name]
        ax.plot(printed["n_hidden"], printed["bias"], color="black", ls=line, marker="s", ms=4,
                label=f"AIS-{name}, Li et al.")  # fmt: skip
        ax.plot(found["hidden units"], found["difference"], color=PUBLISHED, ls=line, marker="D",
                ms=4, label=f"AIS-{name}, ours")  # fmt: skip
    ax.set(yscale="log", ylim=(0.01, 200), xlabel="hidden units", ylabel="size of the error (nats)")
    ax.legend(fontsize=7, loc="upper left", handlelength=4)


def sampler(distances: pd.DataFrame) -> None:
    """Distance from the model against sweeps, a panel a length and move: rows of one leakiness."""
    panels = ((0.9, "gibbs"), (0.99, "gibbs"), (0.99, "blockwise"))
    fig, axes = plt.subplots(1, 3, figsize=(9.4, 3.4), sharey=True)
    for ax, (s, move) in zip(axes, panels, strict=True):
        runs = pick(distances, norm=s, kernel=move)
        for column, (label, colour, line, marker) in ROUTES.items():
            ax.plot(runs["n_sweeps"], runs[column], color=colour, ls=line, marker=marker,
                    ms=4, mfc="none", label=label)  # fmt: skip
        kind = "published move" if move == "gibbs" else "exact move"
        ax.set(xscale="log", yscale="log", ylim=(1e-3, 1))
        ax.set_xlabel(f"sweeps (s = {s}, {kind})")
    axes[0].set_ylabel("total variation from the model")
    fig.legend(*axes[0].get_legend_handles_labels(), fontsize=8, ncols=3,
               loc="upper center", bbox_to_anchor=(0.5, 0.02))  # fmt: skip


def training(histories: dict[str, dict], gaussian: float) -> None:
    """Both ends of the log-likelihood by epoch, a panel a model; ``gaussian``: of a plain one."""
    _, axes = plt.subplots(1, 2, figsize=(9, 3.2), sharey=True)
    for ax, (name, history) in zip(axes, histories.items(), strict=True):
        seen = {key: np.array(values)[1:] for key, values in history.items()}
        epoch = seen["update"] / 500
        for part, color in (("train", BLUE), ("test", ORANGE)):
            low, high = seen[f"{part}_low"], seen[f"{part}_high"]
            ax.fill_between(epoch, low, high, color=color, alpha=0.3)
            ax.plot(epoch, low, color=color, marker="o", ms=3, label=f"{part} images")
        label = "plain Gaussian, test images"
        ax.axhline(gaussian, color="black", lw=0.8, ls="--", label=label)
        ax.set(xlabel=f"epoch ({name})")
    axes[0].set(ylabel="mean log p(v), upper reading (nats)")
    axes[0].legend(fontsize=7)


def figure_4(by_rate: pd.DataFrame, live: dict[str, tuple[float, dict]]) -> None:
    """Likelihood against rate for two bounds, and live against updates.

    Parameters
    ----------
    live : dict
        Rate and history by method.
    """
    bounds = by_rate["largest"].max(), by_rate["largest"].min()
    _, axes = plt.subplots(1, 3, figsize=(9.4, 3.3), constrained_layout=True)
    for method, (color, line, marker) in METHODS.items():
        style: Any = {"color": color, "ls": line, "marker": marker, "ms": 5, "mfc": "none"}
        for ax, bound in zip(axes, bounds, strict=False):
            rates = by_rate[(by_rate["method"] == method) & (by_rate["largest"] == bound)]
            if len(rates):
                ax.plot(rates["learning_rate"], rates["tuning"], label=method, **style)
        if method in live:
            rate, seen = live[method]
            label = f"{method}, rate {rate:g}"
            axes[2].plot(seen["update"], seen["log_likelihood"], label=label, **style)
    top = by_rate["tuning"].max()
    for ax, bound in zip(axes, bounds, strict=False):
        ax.set(xscale="log", ylim=(top - 550, top + 30), xlabel=f"learning rate (bound {bound:g})")
    axes[0].set_ylabel("log-likelihood (nats)")
    axes[2].set(xlabel=f"update (live, bound {bounds[0]:g})")
    for ax, place in zip(axes, ("lower right", "lower left", "center right"), strict=True):
        beside = (1, 0.58) if "center" in place else None
        ax.legend(fontsize=7, loc=place, bbox_to_anchor=beside)


def sizes(settings: dict[str, leaky_trainings.Trainings], trivial: float) -> None:
    """Each training that counts as a mark; ``trivial``: the log-likelihood of N(0, I)."""
    small = settings["100 units"]
    rows = [name for name in leaky_trainings.ORDER if small.of(name).size]
    fig, axes = plt.subplots(1, 2, figsize=(9.4, 3.6), sharey=True, layout="constrained")
    looks: dict[str, tuple] = {
        "100 units": (axes[0], "o", -0.15, 0.15),
        "500 units": (axes[0], "s", 0.15, 0.65),
        "all images": (axes[1], "s", 0.0, 0.65),
    }
    for label, (ax, marker, shift, shade) in looks.items():
        found = settings[label]
        style: Any = {"ms": 5.5, "mfc": "none", "color": plt.cm.viridis(shade)}
        for i, name in enumerate(rows):
            values = found.of(name) if name in found.rates else np.array([])
            style["label"] = None if i else label
            ax.plot(values, np.full(len(values), i + shift), marker, **style)
    axes[0].axvline(trivial, color="grey", ls=":")
    axes[0].text(trivial + 8, 0.1, "N(0, I)", color="grey", fontsize=9)
    axes[0].set(yticks=range(len(rows)), yticklabels=rows)
    axes[0].set(ylim=(len(rows) - 0.4, -0.6), title="2,000 images, 20 epochs")
    axes[1].set(title="all images, one epoch, 500 units")
    axes[0].legend(fontsize=9)
    fig.supxlabel("mean log-likelihood of a test image, from above (nats)", fontsize=10)


def bound(table_3: pd.DataFrame, constant: float) -> None:
    """The printed log-likelihoods against the bound ``-constant`` of 3,072 pixels."""
    names = [f"{model}, {data}" for model, data in table_3[["model", "data"]].to_numpy()]
    printed, rows = table_3["log_likelihood"], range(len(table_3))
    _, ax = plt.subplots(figsize=(8.4, 2.6))
    ax.axvspan(-constant, 0, color=RED, alpha=0.12, lw=0)
    ax.axvline(-constant, color=RED, lw=1.5)
    ax.text(-constant + 40, 3.62, "none of these models can be here", color=RED, fontsize=9)
    ax.plot(printed, rows, "kD", label="as printed")
    ax.plot(printed - constant, rows, "ko", mfc="white", label="less 2,823.0")
    ax.axvline(-3072 / 2 - constant, color="grey", ls=":", label="weights 0: N(0, I)")
    ax.set(xlabel="mean log-likelihood of an image (nats)", yticks=rows, yticklabels=names)
    ax.set(ylim=(-0.5, 4.1))
    ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(0, -0.25), ncols=3)
