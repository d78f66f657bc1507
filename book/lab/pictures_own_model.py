"""Figures of the page on a model of one's own: an answer in its bounds, the worth of signs."""

from __future__ import annotations

import matplotlib.pyplot as plt

from .plots import GREY, METHOD_COLOURS

ESTIMATES = {  # of the settings of `rl.log_z`, from the bottom of the figure upwards
    "bound from below": ("lower_bound", "AIS"),
    "the answer": ("", "BAR"),
    "AIS, second base": ("second_base", "AIS"),
    "reverse AIS": ("reverse", "reverse AIS"),
    "bound from above": ("upper_bound", "reverse AIS"),
}


def between_bounds(estimate):
    """The answer of `rl.log_z` with its bounds and other estimates, and their 95% intervals."""
    _, ax = plt.subplots(figsize=(7, 2.6))
    for y, (setting, method) in enumerate(ESTIMATES.values()):
        answer = estimate.log_z, estimate.std_error
        value, error = estimate.settings[setting] if setting else answer
        colour = METHOD_COLOURS[method]
        ax.errorbar(value, y, xerr=1.96 * error, fmt="o", capsize=3, color=colour)
    low, high = (estimate.settings[f"{side}_bound"][0] for side in ("lower", "upper"))
    ax.axvspan(low, high, color=GREY, alpha=0.15, lw=0)
    ax.set_yticks(range(len(ESTIMATES)), list(ESTIMATES))
    ax.set(xlabel="log Z (nats)", ylim=(-0.6, len(ESTIMATES) - 0.4))
    return ax


def worth_of_signs(signs):
    """Bars of false assurances and of false alarms, one a row of `rbmbook.trust.signs`.

    The first row is drawn on top, in a colour of its own.
    """
    rows = signs.iloc[::-1]
    colours = [METHOD_COLOURS["AIS"]] * (len(rows) - 1) + [METHOD_COLOURS["BAR"]]
    bars = {
        "false assurances (% of the trusted runs)": 100 * rows["wrong"] / rows["trusted"],
        "false alarms (% of all runs)": 100 * rows["alarms"] / rows["runs"],
    }
    _, axes = plt.subplots(1, 2, figsize=(8.5, 2.8), sharey=True)
    for ax, (label, values) in zip(axes, bars.items(), strict=True):
        drawn = ax.barh(rows["sign"], values, color=colours)
        ax.bar_label(drawn, fmt="%.1f", padding=3)
        ax.set(xlabel=label, xlim=(0, 1.2 * max(*values, 1)))
    return axes
