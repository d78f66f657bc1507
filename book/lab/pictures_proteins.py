"""The figures of the lesson proteins: letters as high as numbers, mutations, runs of ten chains."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.font_manager import FontProperties
from matplotlib.patches import PathPatch
from matplotlib.textpath import TextPath
from matplotlib.transforms import Affine2D

from . import plots
from .plots import BLUE, GREEN, GREY, ORANGE, RED

if TYPE_CHECKING:
    import pandas as pd

# Amino acids by what their side chain is like; all others, of any alphabet, in turn.
KINDS = {
    "acidic": ("DE", RED), "basic": ("KRH", BLUE), "polar": ("STNQCGP", GREEN),
    "aromatic": ("FWY", ORANGE), "water-shy": ("AVLIM", "#4b2e83"), "gap": ("-", GREY),
}  # fmt: skip
COLOURS = {letter: colour for letters, colour in KINDS.values() for letter in letters}
SHORTEST = 0.04  # part of the highest stack below which a letter is not drawn


def letter_stacks(ax, heights, alphabet: str) -> None:
    """A stack of letters a site, each as high as its number; negative ones hang below zero.

    Parameters
    ----------
    heights : array (n_sites, q)
    """
    heights, font = np.asarray(heights, float), FontProperties(family="DejaVu Sans", weight="bold")
    paths = {letter: TextPath((0, 0), letter, size=1, prop=font) for letter in alphabet}
    tops = [np.where(s * heights > 0, s * heights, 0).sum(axis=1).max() for s in (1, -1)]
    for site, row in enumerate(heights):
        for sign in (1, -1):
            bottom = 0.0
            for k in np.argsort(sign * row):
                height = sign * row[k]
                if height > SHORTEST * max(tops):
                    box = paths[alphabet[k]].get_extents()
                    low = sign * bottom if sign > 0 else -bottom - height
                    place = (
                        Affine2D()
                        .translate(-box.x0, -box.y0)
                        .scale(0.9 / box.width, 0.96 * height / box.height)
                        .translate(site + 0.55, low)
                    )
                    look = COLOURS.get(alphabet[k], GREY)
                    ax.add_patch(PathPatch(place.transform_path(paths[alphabet[k]]), fc=look, lw=0))
                    bottom += height
    ax.set(xlim=(0.4, len(heights) + 0.6), ylim=(-1.05 * tops[1], 1.05 * tops[0]))
    ax.grid(False)
    ax.axhline(0, color="black", lw=0.6)


def family_logo(family) -> None:
    """How much each site says, in nats, divided among its letters by their frequencies."""
    q = len(family.alphabet)
    share = family.train.reshape(len(family.train), -1, q).mean(axis=0)
    said = np.log(q) + (share * np.log(np.maximum(share, 1e-12))).sum(axis=1)
    _, ax = plt.subplots(figsize=(9.0, 2.6))
    letter_stacks(ax, share * said[:, None], family.alphabet)
    ax.set(xlabel="site", ylabel="nats")


def mutation_map(change, word: str, alphabet: str) -> None:
    """log p(mutant) - log p(sequence) by site and new letter; dots are the sequence itself."""
    change = np.asarray(change)
    _, ax = plt.subplots(figsize=(9.0, 4.6))
    largest = np.abs(change).max()
    image = ax.imshow(change.T, cmap="RdBu", vmin=-largest, vmax=largest, aspect="auto")
    ax.plot(range(len(word)), [alphabet.index(letter) for letter in word], "k.", ms=4)
    ax.set_xticks(range(len(word)), list(word), fontsize=9)
    ax.set_yticks(range(len(alphabet)), list(alphabet), fontsize=8)
    ax.set(xlabel="the sequence", ylabel="mutated to")
    ax.grid(False)
    ax.figure.colorbar(image, label="change of log p (nats)", pad=0.01)


def ten_chains(runs: pd.DataFrame, truth: float) -> None:
    """The mean log-weight of each run of ten chains with two standard errors, by steps."""
    steps = sorted(runs["n_temperatures"].unique())
    _, axes = plt.subplots(1, len(steps), figsize=(9.4, 3.0), sharey=True)
    for ax, n in zip(axes, steps, strict=True):
        found = runs[runs["n_temperatures"] == n].sort_values("mean_log_z")
        off, bars = found["mean_log_z"] - truth, 2 * found["mean_std_error"]
        look = plots.method("AIS", "a run", markers=True) | {"linestyle": "", "markersize": 3}
        ax.errorbar(range(len(found)), off, bars, lw=0.8, **look)
        plots.truth(ax, 0.0, "log Z")
        ax.set_title(f"{n:,} steps", fontsize=10)
        ax.set(xlabel="runs, sorted", xticks=[])
    axes[0].set(ylabel="mean log-weight − log Z (nats)")
    axes[0].legend(fontsize=8)
