"""Data sets of bits: digits and DNA."""

import functools
from dataclasses import dataclass

import numpy as np

from .files import committed, fetch


@dataclass(frozen=True, eq=False)
class Dataset:
    """Vectors in the split of their source, with labels; all arrays are read-only.

    Attributes
    ----------
    train, test : ndarray of uint8, shapes (n_train, n_visible), (n_test, n_visible)
        Bits in {0, 1}.
    train_labels, test_labels : ndarray of uint8, shapes (n_train,), (n_test,)
        Positions in `label_names`.
    label_names : tuple of str
    """

    train: np.ndarray
    test: np.ndarray
    train_labels: np.ndarray
    test_labels: np.ndarray
    label_names: tuple[str, ...]

    def __repr__(self) -> str:
        train, test = (f"{len(part):,} x {part.shape[1]}" for part in (self.train, self.test))
        return f"<Dataset: train {train}, test {test}, {len(self.label_names)} labels>"


@functools.cache
def load_mnist() -> Dataset:
    """Return MNIST, binarised: a pixel is 1 if its grey level is above 127, else 0.

    Returns
    -------
    Dataset
        ``train`` (60000, 784) and ``test`` (10000, 784), images row by row from the top left
        corner, in the order of the original files. Kept in memory (55 MB) after the first call.

    Examples
    --------
    >>> from rbmlib import datasets
    >>> datasets.load_mnist().train.shape
    (60000, 784)
    """
    return _unpack("mnist/mnist_binary.npz")


@functools.cache
def load_dna() -> Dataset:
    """Return the StatLog DNA splice junctions: 60 nucleotides of three bits each.

    A is 100, C is 010, G is 001, T is 000. Classes are "ei" (exon to intron), "ie" (intron to
    exon) and "n" (neither).

    Returns
    -------
    Dataset
        ``train`` (2000, 180) and ``test`` (1186, 180), as StatLog splits them.

    Examples
    --------
    >>> from rbmlib import datasets
    >>> datasets.load_dna().label_names
    ('ei', 'ie', 'n')
    """
    return _unpack("dna/dna_binary.npz")


@functools.cache
def load_course_test() -> np.ndarray:
    """Return the binarised MNIST test images published with the h models.

    They are not :func:`load_mnist`'s: the images are shuffled, and a pixel was set to 1 at random
    with its grey level / 255 as probability. The report takes its base rate from them.

    Returns
    -------
    ndarray of uint8 in {0, 1}, shape (10000, 784), read-only

    Raises
    ------
    DataCorrupt, DataUnavailable
        As :func:`fetch`.
    """
    from scipy.io import loadmat

    batches = loadmat(fetch("course_test"), variable_names=["testbatchdata"])["testbatchdata"]
    # (image in batch, pixel, batch) to (batch, image in batch, pixel)
    return read_only(batches.transpose(2, 0, 1).reshape(-1, batches.shape[1]))


def _unpack(file: str) -> Dataset:
    with np.load(committed(file), allow_pickle=False) as arrays:
        n_visible = int(arrays["n_visible"])
        return Dataset(
            train=_unpack_bits(arrays["train"], n_visible),
            test=_unpack_bits(arrays["test"], n_visible),
            train_labels=read_only(arrays["train_labels"]),
            test_labels=read_only(arrays["test_labels"]),
            label_names=tuple(arrays["label_names"].tolist()),
        )


def _unpack_bits(packed: np.ndarray, n_visible: int) -> np.ndarray:
    """(n, ceil(n_visible / 8)) bytes to (n, n_visible) bits."""
    return read_only(np.unpackbits(packed, axis=1, count=n_visible))


def read_only(array: np.ndarray) -> np.ndarray:
    array.setflags(write=False)
    return array
