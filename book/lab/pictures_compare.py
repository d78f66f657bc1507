"""The figures of chapter compare: the race, questions to an estimator, ladders, phases."""

from __future__ import annotations

import matplotlib.pyplot as plt

from . import ranking
from .plots import METHOD_COLOURS, method

LOOKS = {"AIS, linear": "linear", "TAP1": "mean field"}  # methods with the look of another name
ASK, DO = "#e8eef7", "#e7f2e8"  # grounds of the boxes
QUESTIONS = (  # asked, the answer that ends it, what to do then
    ("20 units or fewer in the smaller layer?", "yes", "rl.exact: add up, no error"),
    ("Are a few nats of error acceptable?", "yes", "rl.tap: a second, no error bar"),
    (
        "rl.bar from the base rate,\nat least 200 chains: is it flagged?", "no",
        "a second base agrees? done\n(rl.log_z does it all)",
    ),
    (
        "Ten times the steps:\nstill few ancestors, low ESS?", "no",
        "done, with the check\nby a second base",
    ),
    (
        "rl.rts or rl.nrpt: round trips\nin both halves of the run?", "yes",
        "done, with the check by\nrl.find_modes (rl.log_z)",
    ),
)  # fmt: skip
AT_LAST = "give a bracket (rl.ais, rl.reverse_ais),\nnot a number"


def look(name: str, **more) -> dict:
    """Colour, marker, line and label of a method of the race."""
    return method(LOOKS.get(name, name), name) | more


def race(table, models):
    """Error against seconds, a panel a model; runs of other chapters have open markers.

    ``table`` is that of `rbmbook.ranking.cells`, of which cells with one run are left out.
    """
    figure, axes = plt.subplots(2, 2, figsize=(9.5, 7.4), sharex=True, sharey=True)
    shown = {}
    for ax, model in zip(axes.flat, models, strict=True):
        of_model = table[(table["model"] == model) & (table["n"] >= 2)]
        for name in (m for m in ranking.METHODS if m in set(of_model["method"])):
            part = of_model[of_model["method"] == name].sort_values("seconds")
            points = look(name, linestyle="", markersize=6)
            new, old = (part[(part["source"] == "compare") == is_new] for is_new in (True, False))
            ax.plot(new["seconds"], new["rmse"], color=points["color"], lw=0.8, alpha=0.5)
            (shown[name],) = ax.plot(new["seconds"], new["rmse"], **points)
            ax.plot(old["seconds"], old["rmse"], **points | {"markerfacecolor": "white"})
        ax.axhline(0.05, color="black", lw=0.8, ls=":")
        ax.set(title=model, xscale="log", yscale="log")
    for ax in axes[1]:
        ax.set_xlabel("seconds of one processor")
    for ax in axes[:, 0]:
        ax.set_ylabel("root mean squared error (nats)")
    order = [m for m in ranking.METHODS if m in shown]
    handles = [shown[m] for m in order]
    figure.legend(handles, order, loc="outside lower center", ncols=6, fontsize=8)
    return axes


def tree(questions=QUESTIONS, at_last=AT_LAST):
    """Questions one below the other, each with the answer that ends the search."""
    _, ax = plt.subplots(figsize=(5.2, 8.2))
    for k, (question, word, answer) in enumerate(questions):
        y = -2.0 * k
        _box(ax, 0.0, y, question, ASK)
        _box(ax, 0.42, y - 0.95, answer, DO)
        _arrow(ax, (0.26, y - 0.3), (0.42, y - 0.95), word, "angle,angleA=-90,angleB=180")
        _arrow(ax, (0.05, y - 0.3), (0.05, y - 1.75), {"yes": "no", "no": "yes"}[word])
    _box(ax, 0.0, -2.0 * len(questions), at_last, DO)
    ax.set(xlim=(-0.04, 1.12), ylim=(-2.0 * len(questions) - 0.5, 0.4))
    ax.axis("off")
    return ax


def _box(ax, x, y, words, colour):
    pad = {"boxstyle": "round,pad=0.4", "fc": colour, "ec": "#5f6368"}
    ax.text(x, y, words, va="center", fontsize=10.5, bbox=pad)


def _arrow(ax, start, end, word, bend="arc3"):
    style = {"arrowstyle": "->", "connectionstyle": bend, "shrinkB": 6}
    ax.annotate("", end, start, arrowprops=style)
    ax.text(start[0] + 0.03, (start[1] + end[1]) / 2 - 0.05, word, fontsize=10)


def refused_swaps(runs: dict):
    """Share of swaps refused along the ladders of two runs of tempering: equal steps, and tuned."""
    _, ax = plt.subplots(figsize=(7.5, 3.2))
    for (name, run), colour in zip(runs.items(), ("#8a6d00", METHOD_COLOURS["NRPT"]), strict=True):
        middle = (run.betas[1:] + run.betas[:-1]) / 2
        refused = run.settings["rejection"]
        ax.plot(middle, refused, "o-", markersize=4, color=colour, label=name)
    ax.set(xlabel="β between the two of a pair", ylabel="share of swaps refused", ylim=(0, 1.05))
    ax.legend()
    return ax


def two_phases(cells):
    """Error against seconds on the model of two phases, a line a method."""
    figure, ax = plt.subplots(figsize=(7.5, 4.2))
    for name, part in cells.sort_values("seconds").groupby("method", sort=False):
        ax.plot(part["seconds"], part["rmse"], **look(name, markersize=7))
    ax.axhline(0.05, color="black", lw=0.8, ls=":")
    ax.set(xscale="log", yscale="log", xlabel="seconds of one processor")
    ax.xaxis.set_minor_formatter("")
    ax.set_ylabel("root mean squared error (nats)")
    figure.legend(loc="outside right upper", fontsize=9)
    return ax
