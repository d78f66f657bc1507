"""The figures of the first lesson: an RBM as a network, its states, its digits, its log Z."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from .live import image_side
from .plots import BLUE, GREEN, GREY, ORANGE, RED

MARKS = {"a minute": 60.0, "an hour": 3600.0, "a year": 3.156e7, "age of the universe": 4.35e17}


def _square(pixels):
    side = image_side(len(pixels))
    if side is None:
        raise ValueError(f"{len(pixels)} pixels form no square: expected a square image")
    return np.reshape(pixels, (side, side))


def chains_that_agree(every, agreeing, exact: float):
    """Single-chain estimates of log Z beside the truth, and the agreeing ones enlarged."""
    _, axes = plt.subplots(1, 2, figsize=(7.6, 3.1), width_ratios=(2, 1))
    bins = np.arange(min(every) - 0.25, max(max(every), exact) + 0.75, 0.5)
    others = [value for value in every if value > max(agreeing)]
    axes[0].hist(agreeing, bins, color=RED, label=f"{len(agreeing)} chains that agree")
    axes[0].hist(others, bins, color=GREY, label=f"the other {len(others)} chains")
    axes[0].axvline(exact, color="black", ls="--", lw=1.4, label="exact log Z")
    axes[0].legend(loc="upper center", fontsize=9)
    axes[0].set(xlabel="log Z from one chain (nats)", ylabel="chains", title="200 chains")
    axes[1].hist(agreeing, 15, color=RED)
    axes[1].set(
        xlabel="log Z (nats)", ylabel="chains", title=f"the {len(agreeing)}, enlarged"
    )  # fmt: skip
    return axes


def network(weights, visible_bias, hidden_bias):
    """Two layers of units as circles, with biases inside and weights on the lines."""
    _, ax = plt.subplots(figsize=(5.2, 3.0))
    places = {}
    for letter, biases, y, colour in (("v", visible_bias, 0, BLUE), ("h", hidden_bias, 1, ORANGE)):
        for i, bias in enumerate(biases):
            places[letter, i] = (2.0 * i, y)
            ax.plot(2.0 * i, y, "o", ms=34, color="white", mec=colour, mew=2, zorder=2)
            ax.text(2.0 * i, y, f"${letter}_{i + 1}$", ha="center", va="center", size=14, zorder=3)
            side = -1 if i == 0 else 1
            ax.text(
                2.0 * i + 0.35 * side, y, f"bias {bias:+.1f}", va="center",
                ha="right" if side < 0 else "left",
            )  # fmt: skip
    for (i, j), weight in np.ndenumerate(weights):
        (x0, y0), (x1, y1) = places["v", i], places["h", j]
        colour, line = (GREEN, "-") if weight > 0 else (RED, "--")
        ax.plot([x0, x1], [y0, y1], color=colour, ls=line, lw=abs(weight), zorder=1)
        at = 0.28
        ax.text(
            x0 + at * (x1 - x0), y0 + at * (y1 - y0), f"{weight:+.0f}", ha="center", va="center",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
        )  # fmt: skip
    ax.text(1, 1.22, "hidden units", ha="center", color=ORANGE)
    ax.text(1, -0.3, "visible units", ha="center", color=BLUE)
    ax.set(xlim=(-1.3, 3.3), ylim=(-0.4, 1.4))
    ax.axis("off")
    return ax


def shares_of_states(labels, exact, drawn: dict):
    """Probability of each state as a bar, and the shares of draws as points, one set a name."""
    _, ax = plt.subplots(figsize=(7.6, 3.0))
    x = np.arange(len(labels))
    ax.bar(x, exact, color=BLUE, alpha=0.35, label="from the table")
    for (name, shares), colour, marker in zip(
        drawn.items(), (ORANGE, GREEN, RED), "vo^", strict=False
    ):
        ax.plot(x, shares, marker, color=colour, ms=6, label=name)
    ax.set_xticks(x, labels, rotation=60, fontsize=8)
    ax.set(xlabel="state of v₁ v₂ | h₁ h₂", ylabel="probability, or share")
    ax.legend()
    return ax


def filters(weights, n_most: int = 20):
    """Columns of the weights as square pictures, green where positive and purple where negative."""
    weights = np.asarray(weights)
    shown = min(n_most, weights.shape[1])
    n_columns = min(10, shown)
    n_rows = -(-shown // n_columns)
    figure, axes = plt.subplots(
        n_rows, n_columns, figsize=(7.6, 0.95 * n_rows + 0.3), squeeze=False
    )  # fmt: skip
    limit = np.quantile(np.abs(weights), 0.995) or 1.0
    for j, ax in enumerate(axes.flat):
        ax.axis("off")
        if j < shown:
            image = _square(weights[:, j])
            drawn = ax.imshow(image, cmap="PRGn", vmin=-limit, vmax=limit)
            ax.set_title(f"$h_{{{j + 1}}}$", fontsize=9)
    bar = figure.colorbar(drawn, ax=axes, shrink=0.8, pad=0.01)
    bar.set_label("weight")
    return axes


def rows_of_pictures(rows: dict):
    """One row of square black and white pictures a name."""
    n_columns = min(10, *map(len, rows.values()))
    _, axes = plt.subplots(
        len(rows), n_columns, figsize=(7.6, 0.74 * len(rows)), squeeze=False
    )  # fmt: skip
    for line, (name, pictures) in zip(axes, rows.items(), strict=True):
        for ax, picture in zip(line, pictures, strict=False):
            ax.imshow(_square(picture), cmap="gray_r", vmin=0, vmax=1)
            ax.set(xticks=[], yticks=[])
            ax.grid(visible=False)
            ax.spines[:].set_visible(True)
        line[0].set_ylabel(name, rotation=0, ha="right", va="center")
    return axes


def enumeration_times(n_units, seconds):
    """Measured seconds of an enumeration, and the doubling that goes on from them."""
    _, ax = plt.subplots(figsize=(7.0, 3.4))
    ahead = np.arange(n_units[0], 101)
    ax.plot(
        ahead, seconds[-1] * 2.0 ** (ahead - n_units[-1]), ":", color=GREY,
        label="twice as long for each further unit",
    )  # fmt: skip
    ax.plot(n_units, seconds, "o", color=BLUE, label="measured on this machine")
    for name, mark in MARKS.items():
        ax.axhline(mark, color=RED, lw=0.8)
        ax.text(102, mark, name, va="center", color=RED, fontsize=8)
    ax.set(yscale="log", xlabel="hidden units", ylabel="seconds for log Z", xlim=(4, 101))
    ax.legend(loc="upper left", bbox_to_anchor=(0.0, 1.0), fontsize=9)
    return ax


def learning(updates, curves: dict):
    """Mean log-likelihood of test images while training, one curve a method."""
    _, ax = plt.subplots(figsize=(6.5, 3.2))
    looks = {"CD-1": (ORANGE, "v", "--"), "PCD": (BLUE, "o", "-")}
    for name, values in curves.items():
        colour, marker, line = looks[name]
        ax.plot(updates, values, color=colour, marker=marker, ls=line, ms=5, label=name)
    ax.set(xlabel="updates of the weights", ylabel="mean log p(v) of test images (nats)")
    ax.legend()
    return ax


def ranking(right: dict, wrong: dict, what_is_wrong: str):
    """Mean log-likelihoods of models as bars, once as they are and once with a wrong log Z."""
    _, axes = plt.subplots(1, 2, figsize=(7.6, 2.3), sharex=True, sharey=True)
    lowest = min(*right.values(), *wrong.values()) - 6
    titles = "with the right log Z", what_is_wrong
    for ax, values, title in zip(axes, (right, wrong), titles, strict=True):
        best = max(values, key=values.__getitem__)
        for y, (name, value) in enumerate(values.items()):
            colour = BLUE if name == best else GREY
            ax.barh(y, value - lowest, left=lowest, color=colour, height=0.6)
            note = f"{value:.1f}" + (" (better)" if name == best else "")
            ax.text(lowest + 0.4, y, note, va="center", color="white", fontweight="bold")
        ax.set_yticks(range(len(values)), list(values))
        ax.set(title=title, xlabel="mean log p(v) of test images (nats)", xlim=(lowest, None))
        ax.grid(visible=False)
    return axes


def chains_on_hills(runs: dict, log_hills):
    """A row for each distance of the hills: chains under their log score, and what each says.

    Parameters
    ----------
    runs : dict
        Of each ``at`` the places of the chains and their log-weights, ``(n_chains,)`` each.
    log_hills : callable
        ``log_hills(x, at)`` is the log score.
    """
    _, axes = plt.subplots(len(runs), 2, figsize=(8.0, 5.0), sharex="col")
    x = np.linspace(-5.2, 5.2, 400)
    for (hills, says), (at, (ends, log_weights)) in zip(axes, runs.items(), strict=True):
        hills.plot(x, log_hills(x, at), color=BLUE, lw=2)
        heights = 0.6 + 0.9 * (np.arange(len(ends)) % 4)
        rank = np.argsort(np.argsort(log_weights))
        for side, colour, marker in ((ends > 0, BLUE, "^"), (ends <= 0, RED, "o")):
            style = {"s": 9, "color": colour, "marker": marker, "lw": 0}
            hills.scatter(ends[side], heights[side], **style)
            says.scatter(rank[side], log_weights[side], **style)
        hills.set(ylabel="log score (nats)", title=f"hills at −{at} and {at}", ylim=(0, 22))
        says.axhline(np.logaddexp(12, 20), color="black", ls="--", lw=1.4, label="exact log Z")
        says.set(ylabel="log Z from one chain (nats)", ylim=(9, 23))
        says.legend(loc="center left")
    axes[-1, 0].set(xlabel="where the chains end")
    axes[-1, 1].set(xlabel="chains, in order")
    return axes
