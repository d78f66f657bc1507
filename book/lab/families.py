"""The lesson on proteins: its parameters, refused by name."""

from __future__ import annotations

import numpy as np

import rbmlib as rl

from . import plots
from .live import checked_parameters, how_to_read, refused_parameter

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
