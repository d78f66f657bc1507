"""The book's figures: one function a kind of figure, each returns its matplotlib Axes.

`METHOD_COLOURS` gives a method the same colour in the whole book; `method` hands it to matplotlib
with marker and line; the table of all looks is `_LOOKS`. Colours are dark enough for a white
ground, and methods that a colour-blind reader may take for one another differ in marker and line.
"""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from .svg import figures_as_svg

BLUE, ORANGE, GREEN, GREY, RED = "#0b5394", "#c55a11", "#2e7d32", "#5f6368", "#b3261e"

# Colour, marker, line: by method, then by schedule, base and model of a path.
_LOOKS = {
    "exact": ("#000000", "", "--"),
    "published": ("#5f6368", "D", ":"),
    # Annealing: blues and violets.
    "AIS": ("#0b5394", "o", "-"),
    "reverse AIS": ("#3d8fd1", "s", "-"),
    "RAISE": ("#7b6cd9", "<", "--"),
    "Jarzynski": ("#4b2e83", ">", "-."),
    "trajectory": ("#00796b", "d", "-"),
    # Both ends of an interval at once: greens.
    "BAR": ("#2e7d32", "D", "-."),
    "MBAR": ("#00897b", "P", "--"),
    "SMC": ("#00838f", "<", ":"),
    # Tempering: orange to red.
    "RTS": ("#c55a11", "^", "-"),
    "counts": ("#8a6d00", "v", ":"),
    "TI": ("#b08d00", "X", "-."),
    "TI-RB": ("#e06c00", "d", "--"),
    "parallel tempering": ("#8d6e63", "h", "-."),
    "NRPT": ("#5d4037", ">", "--"),
    "log_z": ("#424242", "1", "-"),
    "multicanonical": ("#6d1b7b", "s", "--"),
    "SAMS": ("#b3261e", "p", "-"),
    "Wang-Landau": ("#d0478f", "*", ":"),
    # Without sampling: purple and grey.
    "mean field": ("#8e9297", "1", ":"),
    "TAP": ("#8e24aa", "H", "-."),
    "TAP2": ("#8e24aa", "H", "-."),
    "TAP3": ("#c25ee0", "8", "--"),
    # Schedules.
    "linear": ("#5f6368", "o", ":"),
    "VAROPT": ("#0b5394", "s", "-"),
    "capped VAROPT": ("#3d8fd1", "D", "--"),
    "friction": ("#c55a11", "^", "-"),
    "GMS13": ("#2e7d32", "v", "-."),
    "equal acceptance": ("#8e24aa", "P", "--"),
    # Bases.
    "base rate": ("#0b5394", "o", "-"),
    "own biases": ("#c55a11", "v", "--"),
    "uniform": ("#8a6d00", "X", ":"),
    "mean-field base": ("#2e7d32", "s", "-."),
    # Training.
    "CD-1": ("#c55a11", "v", "--"),
    "CD-25": ("#2e7d32", "s", "-."),
    "PCD": ("#0b5394", "o", "-"),
}
METHOD_COLOURS = {name: colour for name, (colour, _, _) in _LOOKS.items()}
STYLE: Any = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "font.size": 10,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
    "figure.facecolor": "white",
    "axes.facecolor": "none",
}


def use_style() -> None:
    """The book's look, for all figures that follow; in a notebook they are shown as SVG."""
    plt.rcParams.update(STYLE)
    figures_as_svg()


def method(name: str, label: str | None = None, markers: bool = True) -> dict[str, Any]:
    """Colour, marker, line and label of a method, schedule or base, for ``ax.plot`` and the like.

    Parameters
    ----------
    name : str
        A key of `METHOD_COLOURS`.
    label : str, optional
        In the legend; the name without it.
    markers : bool
        False for a curve of many points.

    Examples
    --------
    >>> method("AIS", label="AIS, 1,000 steps")["label"]
    'AIS, 1,000 steps'
    """
    if name not in _LOOKS:
        raise ValueError(f"no colour for {name!r}: expected one of {', '.join(_LOOKS)}")
    colour, marker, line = _LOOKS[name]
    look = {"color": colour, "linestyle": line, "label": label or name}
    return look | ({"marker": marker, "markersize": 5} if markers and marker else {})


def truth(ax, value: float, label: str = "exact", vertical: bool = False):
    """The exact value as a dashed black line across the axes."""
    line = ax.axvline if vertical else ax.axhline
    line(value, lw=1.2, zorder=1, **method("exact", label))
    return ax


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
