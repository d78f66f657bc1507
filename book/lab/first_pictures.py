"""The figure of the first lesson that is no plot: an RBM as a network."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from .plots import BLUE, GREEN, ORANGE, RED


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
