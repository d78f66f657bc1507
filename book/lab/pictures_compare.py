"""The figures of chapter compare: error against time, ladders, phases."""

from __future__ import annotations

import matplotlib.pyplot as plt

from .plots import METHOD_COLOURS, method

LOOKS = {"AIS, linear": "linear"}  # methods with the look of another name
MARKERS = {"AIS, linear": "s", "log_z": "*", "TAP2": "X"}  # unlike all others of a figure
SHOWN = ("AIS, linear", "AIS", "BAR", "SMC", "RTS", "MBAR", "SAMS", "NRPT", "log_z", "TAP2")


def look(name: str, **more) -> dict:
    """Colour, marker, line and label of a method of the comparison."""
    known = method(LOOKS.get(name, name), name)
    return known | {"marker": MARKERS.get(name, known["marker"])} | more


def race(table, models):
    """Error against seconds, a panel a model; runs of other chapters have open markers.

    ``table`` is that of `rbmbook.ranking.cells`, of which cells with one run are left out.
    """
    figure, axes = plt.subplots(2, 2, figsize=(9.5, 7.4), sharex=True, sharey=True)
    shown = {}
    for ax, model in zip(axes.flat, models, strict=True):
        of_model = table[(table["model"] == model) & (table["n"] >= 2)]
        for name in (m for m in SHOWN if m in set(of_model["method"])):
            part = of_model[of_model["method"] == name].sort_values("seconds")
            points = look(name, linestyle="", markersize=8)
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
    order = [m for m in SHOWN if m in shown]
    handles = [shown[m] for m in order]
    figure.legend(handles, order, loc="outside lower center", ncols=5, fontsize=9)
    return axes


def refused_swaps(runs: dict):
    """Share of swaps refused along the ladders of two runs of tempering: equal steps, and tuned."""
    _, ax = plt.subplots(figsize=(7.5, 3.2))
    for (name, run), colour in zip(runs.items(), ("#8a6d00", METHOD_COLOURS["NRPT"]), strict=True):
        middle = (run.betas[1:] + run.betas[:-1]) / 2
        refused = run.details["rejection"]
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
