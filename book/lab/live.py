"""The model of a chapter's live part: the reader's own or a registered one, its data, its base."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rbmlib import datasets
from rbmlib.models import BernoulliRBM
from rbmlib.models.layers import OF_SPINS, are_spins
from rbmlib.paths.bases import base_rate, mean_field_bias

from .datasheet import load_reference
from .parameters import refused_parameter

MNIST_PIXELS = 784
NO_THRESHOLD = -1.0  # of the parameter `threshold`: the data are zeros and ones already
FEW, MOST_VALIDATION, FEWEST = 100, 600, 40  # rows of a live training


@dataclass(frozen=True)
class LiveModel:
    """An RBM with what a chapter needs to know of it.

    Attributes
    ----------
    name : str
        The parameter ``model``.
    rbm : BernoulliRBM
    train : ndarray (n_samples, n_visible) of zeros and ones, or None
        The rows of the parameter ``data``; without it the training images of MNIST if the model
        has 784 visible units; otherwise None.
    base : ndarray (n_visible,)
        Visible biases where annealing begins: the base rate of ``train``, or, without data, a
        mean-field fit to the model.
    base_name : str
        "base rate" or "mean field".
    is_mnist : bool
        The rows are the images of MNIST, which the stored results of the book are about too.
    side : int or None
        Side of a square image of the visible units; None: they form none.
    reference : row of `load_reference`, or None
        The value of log Z in the book's reference set.
    """

    name: str
    rbm: BernoulliRBM
    train: np.ndarray | None
    base: np.ndarray
    base_name: str
    is_mnist: bool
    side: int | None
    reference: Any

    def sentence(self) -> str:
        """What is estimated and from which base, for the first output of a chapter."""
        rbm = self.rbm
        units = f"{rbm.n_visible} visible and {rbm.n_hidden} hidden units"
        if self.reference is None:  # what the file of a reader does not say
            units += " of 0 and 1"
        if self.train is None:
            start = "no data are given, so that annealing begins at a mean-field fit"
        else:
            kind = "images of MNIST" if self.is_mnist else "rows of data"
            start = f"annealing begins at the base rate of {len(self.train):,} {kind}"
        return f"{self.name}: {units}; {start}."


def live_model(
    model: str,
    data: str = "",
    threshold: float = NO_THRESHOLD,
    **how: str | dict,
) -> LiveModel:
    """The model of the parameters ``model``, ``data`` and ``threshold``, checked.

    Parameters
    ----------
    model : str
        A registered name, or a file, as `rbmlib.load_rbm` takes it.
    data : str
        A file as `rbmlib.datasets.load_rows` takes it; "": MNIST where it fits, else none.
    threshold : float
        Values of the data above it become 1; `NO_THRESHOLD`: they are zeros and ones already.
    **how
        ``layout``, ``names`` and ``units`` of a file, as `rbmlib.load_rbm` takes them.

    Raises
    ------
    ValueError
        Naming the parameter, if the model is not a `BernoulliRBM` or the data do not fit it.
    """
    with refused_parameter("model", model):
        rbm = _checked(datasets.load_rbm(model, **how))
    given = None if threshold == NO_THRESHOLD else threshold
    if given is not None and not data:
        raise ValueError(f"threshold is {threshold!r}, but no data are given: -p data FILE")
    is_mnist = not data and rbm.n_visible == MNIST_PIXELS
    train = None
    if data:
        with refused_parameter("data", data):
            train = _bits(datasets.load_rows(data, rbm.n_visible, threshold=given))
    elif is_mnist:
        train = datasets.load_mnist().train
    return LiveModel(
        name=model,
        rbm=rbm,
        train=train,
        base=mean_field_bias(rbm) if train is None else base_rate(train),
        base_name="mean field" if train is None else "base rate",
        is_mnist=is_mnist,
        side=image_side(rbm.n_visible),
        reference=load_reference().get(model),
    )


def _checked(rbm) -> BernoulliRBM:
    if not isinstance(rbm, BernoulliRBM):
        raise ValueError(
            f"{rbm!r}: expected, in this chapter, a BernoulliRBM (binary visible units, 0 and 1); "
            "for other models run rl.log_z, or python -m rbmlib logz"
        )
    return rbm


def _bits(rows: np.ndarray) -> np.ndarray:
    if are_spins(rows):
        raise ValueError(f"it holds {OF_SPINS}; chapters take units of 0 and 1 alone")
    if rows.dtype != np.uint8:
        raise ValueError(
            "it holds intensities between 0 and 1: expected zeros and ones, or a threshold, for "
            "example -p threshold 0.5"
        )
    return rows


def image_side(n_pixels: int) -> int | None:
    """Side of a square image with so many pixels; None if there is none."""
    side = math.isqrt(n_pixels)
    return side if side * side == n_pixels else None


class LiveRows(NamedTuple):
    """Rows of a live training that overfits: few to train, others for validation."""

    few: np.ndarray
    validation: np.ndarray
    words: str  # what the few are

    def sentence(self) -> str:
        """For the first output of a chapter."""
        return (
            f"The live training is on {self.words} ({self.few.shape[1]} columns); "
            f"{len(self.validation)} other rows are for validation."
        )


def live_rows(data: str, threshold: float, seed: int) -> LiveRows:
    """The reader's rows in random order, half of them or 100 to train; "": DNA.

    Parameters
    ----------
    data, threshold
        As for `live_model`.
    seed : int
        Of the order.
    """
    if threshold != NO_THRESHOLD and not data:
        raise ValueError(f"threshold is {threshold}, but no data are given: -p data FILE")
    if not data:
        dna = datasets.load_dna().train
        return LiveRows(dna[:FEW], dna[1400:], f"{FEW} rows of DNA")
    with refused_parameter("data", data):
        given = None if threshold == NO_THRESHOLD else threshold
        rows = _bits(datasets.load_rows(data, threshold=given))
        if len(rows) < FEWEST:
            raise ValueError(f"it has {len(rows)} rows: expected {FEWEST} or more")
    rows = np.random.default_rng(seed).permutation(rows)
    n = min(FEW, len(rows) // 2)
    return LiveRows(rows[:n], rows[n:][-MOST_VALIDATION:], f"{n} rows of {data}")
