"""Sequences of one family in a chapter's live part: the reader's or the WW domain, cut in two."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

import rbmlib as rl
from rbmlib.datasets.alignments import AMINO_ACIDS
from rbmlib.datasets.own import SUFFIXES

from . import plots
from .parameters import checked_parameters, how_to_read, refused_parameter
from .ww_domain import ww_domain

FEWEST, MOST_HELD_OUT = 40, 1000
RELATED = 0.7  # a part of equal letters above which two sequences are near relatives
YAP = "LPAGWEMAKTSS-GQRYFLNHIDQTTTWQDP"  # of the human protein YAP1, residues 13 to 42


class Family(NamedTuple):
    """Different sequences of one length, one-hot: (n, n_sites q) uint8."""

    words: str  # what they are
    alphabet: str
    train: np.ndarray
    held_out: np.ndarray
    far: np.ndarray  # of the held-out ones, those that have no near relative among the others
    example: np.ndarray  # one sequence, (1, n_sites q)
    model: rl.RBM | None  # the reader's own

    @property
    def visible(self) -> rl.Potts:
        """Sites alone, with the frequencies of the sequences to train on."""
        q = len(self.alphabet)
        blank = rl.Potts(np.zeros(self.train.shape[1]), q)
        return rl.Potts(rl.base_rate(self.train, 1e-2, blank), q)

    def word(self, row) -> str:
        """A row as letters."""
        found = np.asarray(row).reshape(-1, len(self.alphabet)).argmax(axis=1)
        return "".join(self.alphabet[k] for k in found)

    def sentence(self) -> str:
        """For the first output of a chapter."""
        sites = self.train.shape[1] // len(self.alphabet)
        return (
            f"{self.words}: {len(self.train):,} different sequences of {sites} sites to train on, "
            f"{len(self.held_out):,} held out, of which {self.far.sum():,} are at most "
            f"{RELATED:.0%} equal to any of the others."
        )


def begin(names: dict, **least: int) -> Family:
    """Check the parameters of a page, set its style, and read the sequences and the model.

    Parameters
    ----------
    names : dict
        ``globals()`` of the page, with ``model``, ``data``, ``alphabet`` and ``seed``.
    **least : int
        As `checked_parameters` takes them.
    """
    checked_parameters(names, **least)
    plots.use_style()
    given = (names[name] for name in ("model", "data", "alphabet", "seed"))
    found = family(*given, **how_to_read(names))
    print(found.sentence())
    return found


def family(
    model: str = "", data: str = "", alphabet: str = AMINO_ACIDS, seed: int = 0, **how: str | dict
):
    """The family of the parameters, in random order; a part is held out.

    Parameters
    ----------
    model : str
        A registered RBM or a file, with visible `Potts` like the sequences; "": none.
    data : str
        A FASTA file of aligned sequences, or one-hot rows in a .npz, .npy or .csv; "": WW domain.
    alphabet : str
        The letters, in the order of the columns of a site.
    seed : int
        Of the order.
    **how
        ``layout``, ``names`` and ``units`` of the model's file, as `rbmlib.load_rbm` takes them.

    Raises
    ------
    ValueError
        Naming the parameter and, of a letter or a group that is none, its place.
    """
    with refused_parameter("alphabet", alphabet):
        if len({*alphabet}) != len(alphabet) or len(alphabet) < 2:
            raise ValueError("expected a word of different letters, such as ACGT")
    with refused_parameter("data", data):
        if not data and alphabet != AMINO_ACIDS:
            raise ValueError("the WW domain has an alphabet of its own: give data with yours")
        letters = _letters(data, alphabet)
        if (n := len(letters)) < FEWEST:
            raise ValueError(f"it has {n} different sequences: expected {FEWEST} or more")
    rbm = _checked(model, how, letters.shape[1], len(alphabet)) if model else None
    order = np.random.default_rng(seed).permutation(n)
    rows = np.eye(len(alphabet), dtype=np.uint8)[letters[order]].reshape(n, -1)
    n_held = min(MOST_HELD_OUT, n // 4)
    held_out, train = rows[:n_held], rows[n_held:]
    equal = (held_out.astype(np.float32) @ train.T.astype(np.float32)).max(axis=1)
    words, example = (Path(data).name, held_out[:1]) if data else ("WW domain", _yap())
    return Family(
        words, alphabet, train, held_out, equal <= RELATED * letters.shape[1], example, rbm
    )


def _letters(data: str, alphabet: str) -> np.ndarray:
    """Positions in the alphabet of all sequences that differ, (n, n_sites)."""
    if not data:
        return np.unique(rl.datasets.load_ww().letters, axis=0)
    if Path(data).suffix not in SUFFIXES:
        return np.unique(rl.datasets.load_fasta(data, alphabet).letters, axis=0)
    rows, q = rl.datasets.load_rows(data), len(alphabet)
    if rows.shape[1] % q:
        raise ValueError(
            f"it has {rows.shape[1]} columns: expected {q} a site, one a letter of {alphabet!r}"
        )
    sites = rows.reshape(len(rows), -1, q)
    wrong = np.argwhere(((sites != 0) & (sites != 1)).any(axis=2) | (sites.sum(axis=2) != 1))
    if len(wrong):
        row, site = wrong[0] + 1
        raise ValueError(
            f"row {row}, site {site}, columns {q * (site - 1) + 1} to {q * site}: expected a "
            f"single 1 and {q - 1} zeros, found a sum of {sites[row - 1, site - 1].sum():g}"
        )
    return np.unique(sites.argmax(axis=2), axis=0)


def _checked(model: str, how: dict, n_sites: int, q: int) -> rl.RBM:
    with refused_parameter("model", model):
        rbm = ww_domain() if model == "ww_domain" else rl.load_rbm(model, **how)
        fits = isinstance(rbm.visible, rl.Potts) and rbm.visible.q == q
        if not fits or rbm.n_visible != n_sites * q:
            raise ValueError(
                f"{rbm!r}: expected, as the data have, Potts of {n_sites} sites with {q} "
                "letters each"
            )
    return rbm


def _yap() -> np.ndarray:
    letters = [AMINO_ACIDS.index(letter) for letter in YAP]
    return np.eye(len(AMINO_ACIDS), dtype=np.uint8)[letters].reshape(1, -1)


def without_coupling(visible: rl.Potts) -> rl.RBM:
    """Sites alone as an RBM: one hidden unit without weights, so that Z is a product."""
    return rl.RBM(visible, rl.Binary(np.zeros(1)), np.zeros((len(visible), 1)))


def trained(family: Family, n_hidden: int, n_updates: int, seed: int) -> rl.RBM:
    """An RBM of letters and Gaussian hidden units by PCD, from the frequencies of its sites."""
    visible = family.visible
    weights = np.random.default_rng(seed).normal(scale=0.01, size=(len(visible), n_hidden))
    start = rl.RBM(visible, rl.Gaussian(np.zeros(n_hidden)), weights)
    options = {"n_updates": n_updates, "monitor_every": n_updates, "rng": seed}
    options |= {"learning_rate": np.linspace(0.1, 0.01, n_updates), "start": start}
    size = min(100, len(family.train))
    return rl.train(family.train, n_hidden, batch_size=size, **options).rbm


def mutations(rbm: rl.RBM, row, q: int) -> np.ndarray:
    """log p of each single mutation of a one-hot row less log p of the row: (n_sites, q)."""
    mutants = np.repeat(np.reshape(row, (1, -1, q)).astype(float), len(np.ravel(row)), axis=0)
    for i, mutant in enumerate(mutants):
        mutant[i // q] = np.arange(q) == i % q
    mutants = mutants.reshape(len(mutants), -1)
    wild = np.reshape(row, (1, -1)).astype(float)
    return (rbm.log_density(mutants) - rbm.log_density(wild)).reshape(-1, q)
