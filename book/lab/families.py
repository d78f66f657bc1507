"""The lesson on proteins: its parameters, refused by name, and its sequence logo."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.font_manager import FontProperties
from matplotlib.patches import PathPatch
from matplotlib.textpath import TextPath
from matplotlib.transforms import Affine2D

import rbmlib as rl

from . import plots
from .live import checked_parameters, how_to_read, refused_parameter
from .plots import BLUE, GREEN, GREY, ORANGE, RED

FEWEST = 40  # different sequences


def begin(names: dict, **least: int) -> None:
    """As `page.begin`, of a page with ``model``, ``data`` and ``alphabet``."""
    checked_parameters(names, **least)
    plots.use_style()
    model, data, alphabet = (names[name] for name in ("model", "data", "alphabet"))
    with refused_parameter("alphabet", alphabet):
        if len({*alphabet}) != len(alphabet) or len(alphabet) < 2:
            raise ValueError("expected a word of different letters, such as ACGT")
    with refused_parameter("data", data):
        ww = rl.datasets.load_ww()
        if not data and alphabet != ww.alphabet:
            raise ValueError("the WW domain has an alphabet of its own: give data with yours")
        letters = (rl.datasets.load_fasta(data, alphabet) if data else ww).letters
        if (n := len(np.unique(letters, axis=0))) < FEWEST:
            raise ValueError(f"it has {n} different sequences: expected {FEWEST} or more")
    if model:
        _check(model, how_to_read(names), letters.shape[1], len(alphabet))


def _check(model: str, how: dict, n_sites: int, q: int) -> None:
    with refused_parameter("model", model):
        rbm = rl.load_rbm(model, **how)
        fits = isinstance(rbm.visible, rl.Potts) and rbm.visible.q == q
        if not fits or rbm.n_visible != n_sites * q:
            raise ValueError(
                f"{rbm!r}: expected, as the data have, Potts of {n_sites} sites with {q} "
                "letters each"
            )


# the sequence logo: letters as high as what they say --------------------------------------

# Amino acids by what their side chain is like; all others are grey.
KINDS = {
    "acidic": ("DE", RED), "basic": ("KRH", BLUE), "polar": ("STNQCGP", GREEN),
    "aromatic": ("FWY", ORANGE), "water-shy": ("AVLIM", "#4b2e83"),
}  # fmt: skip
COLOURS = {letter: colour for letters, colour in KINDS.values() for letter in letters}
SHORTEST = 0.04  # part of the highest stack below which a letter is not drawn


def letter_stacks(ax, heights, alphabet: str) -> None:
    """A stack of letters a site, the largest on top, each as high as its number.

    Parameters
    ----------
    heights : array (n_sites, q), 0 or more
    """
    heights, font = np.asarray(heights, float), FontProperties(family="DejaVu Sans", weight="bold")
    paths = {letter: TextPath((0, 0), letter, size=1, prop=font) for letter in alphabet}
    top = heights.sum(axis=1).max()
    for site, row in enumerate(heights):
        bottom = 0.0
        for k in np.argsort(row):
            if row[k] > SHORTEST * top:
                path = paths[alphabet[k]]
                box = path.get_extents()
                place = Affine2D().translate(-box.x0, -box.y0)
                place = place.scale(0.9 / box.width, 0.96 * row[k] / box.height)
                place = place.translate(site + 0.55, bottom)
                look = COLOURS.get(alphabet[k], GREY)
                ax.add_patch(PathPatch(place.transform_path(path), fc=look, lw=0))
                bottom += row[k]
    ax.set(xlim=(0.4, len(heights) + 0.6), ylim=(0, 1.05 * top))
    ax.grid(False)


def family_logo(rows, alphabet: str) -> None:
    """How much each site of one-hot rows says, in nats, divided among its letters."""
    share = np.reshape(rows, (len(rows), -1, len(alphabet))).mean(axis=0)
    said = np.log(len(alphabet)) + (share * np.log(np.maximum(share, 1e-12))).sum(axis=1)
    _, ax = plt.subplots(figsize=(9.0, 2.6))
    letter_stacks(ax, share * said[:, None], alphabet)
    ax.set(xlabel="site", ylabel="nats")
