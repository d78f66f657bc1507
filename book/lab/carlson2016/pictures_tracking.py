"""The figures of the lesson on tracking: shares, noise and lag, errors, witnesses."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from .. import plots

ORANGE = plots.METHOD_COLOURS["RTS"]  # of what the chains that train say


def occupations(betas: np.ndarray, shares: Mapping[float, np.ndarray]) -> None:
    """Shares of the chains at each beta, by how many nats the guess is too low at the model."""
    _, ax = plt.subplots(figsize=(6.5, 3))
    for i, (miss, share) in enumerate(shares.items()):
        label = f"guess at β = 1 is {miss} nats too low" if miss else "guess right"
        at = betas + 0.02 * (i - 0.5)
        ax.bar(at, share / share.sum(), 0.02, color=(plots.GREY, ORANGE)[i], label=label)
    ax.set(xlabel="inverse temperature β", ylabel="share of the chains")
    ax.legend()


def lags(truth, noisy, tracked: Mapping[float, list[float]]) -> None:
    """log Z at each update, noisy measurements of it, and what trackers of three step sizes say."""
    _, ax = plt.subplots(figsize=(7, 3.2))
    ax.plot(noisy, ".", color="#bbbbbb", ms=3, label="one update alone")
    ax.plot(truth, **plots.method("exact"))
    shades = plt.get_cmap("viridis")((0.1, 0.45, 0.8))
    for (gain, values), colour in zip(tracked.items(), shades, strict=True):
        ax.plot(values, color=colour, label=f"step size α = {gain}")
    ax.set(xlabel="update", ylabel="log Z (nats)")
    ax.legend(fontsize=8)


def noise_and_lag(step_size, noise, lag, measured) -> None:
    """Both errors of a tracker against its step size, their sum in squares, and it measured."""
    _, ax = plt.subplots(figsize=(6, 3))
    ax.plot(step_size, noise, color=plots.GREY, ls=":", label="noise")
    ax.plot(step_size, lag, color=plots.GREY, ls="--", label="lag")
    ax.plot(step_size, np.hypot(noise, lag), color=ORANGE, label="both")
    ax.plot(step_size, measured, "o", color="black", mfc="none", ms=5, label="measured")
    ax.set(xlabel="step size α", ylabel="RMS error of log Z (nats)", ylim=(0, 2))
    ax.legend()


def stopping(looks: pd.DataFrame) -> None:
    """Likelihoods of a training that overfits, tracked, and of validation with the exact log Z."""
    _, ax = plt.subplots(figsize=(6, 3.2))
    update, exact = looks["update"], looks["validation, exact"]
    ax.plot(update, looks["validation"], color=ORANGE, label="validation, tracked")
    ax.plot(update, exact, "o", ms=5, mfc="none", color="black", label="validation, exact")
    ax.plot(update, looks["train"], color=plots.GREY, label="train, tracked")
    lowest = exact.min() - 0.5
    ax.set(xlabel="update", ylabel="mean log-likelihood (nats)", ylim=(lowest, None))
    ax.legend(fontsize=8)


def whole_training(update: pd.Series, exact: np.ndarray, estimates: Mapping[str, tuple]) -> None:
    """log Z at every look of a training, exact and by the trajectory; errors of the estimates.

    Parameters
    ----------
    update, exact
        Of each look.
    estimates : mapping
        To the name of a method its label, its values of log Z, and their bars.
    """
    _, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.6), width_ratios=(2, 3))
    left.plot(update, exact, **plots.method("exact"))
    points = plots.method("trajectory") | {"linestyle": ""}
    left.plot(update, estimates["trajectory"][1], **points)
    left.set(xlabel="update", ylabel="log Z (nats)")
    left.legend(fontsize=8)
    for shift, (name, (label, value, bar)) in enumerate(estimates.items()):
        at = update + 3 * (shift - 1.5)
        look = plots.method(name, label) | {"markersize": 4, "linewidth": 1}
        right.errorbar(at, value - exact, 2 * np.array(bar), capsize=2, **look)
    plots.truth(right, 0, "_")
    right.set(xlabel="update", ylabel="error of log Z (nats), 2 bars")
    right.legend(fontsize=8)


def witnesses(looks: pd.DataFrame) -> None:
    """Four witnesses of log Z, less what the trajectory and the mode hold together.

    ``looks`` is the table of `tracked_looks.witnessed`.
    """
    _, ax = plt.subplots(figsize=(8, 3.8))
    for name, label, column in (
        ("RTS", "tracker", "tracked"),
        ("AIS", "AIS", "ais"),
        ("trajectory", "trajectory", "log_z"),
        ("mean field", "bound of the heaviest mode", "mode_bound"),
    ):
        ax.plot(looks["update"], looks[column] - looks["whole"], **plots.method(name, label))
    plots.truth(ax, 0, "trajectory and mode together")
    ax.set(xlabel="update", ylabel="log Z, difference (nats)", ylim=(-29, 3))
    ax.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=3)
