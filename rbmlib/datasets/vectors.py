"""Data sets: binary digits, DNA, colour images."""

import functools
import tarfile
from dataclasses import dataclass

import numpy as np

from ..checks import instance
from .download import Remote, find
from .files import committed, fetch, read_only
from .images import Standardisation, from_differences, read_cifar_batch, read_svhn
from .register import CIFAR_BATCHES, CIFAR_FOLDER, CIFAR_NAMES, REMOTE


@dataclass(frozen=True, eq=False)
class Dataset:
    """Vectors in the split of their source, with labels; all arrays are read-only.

    Attributes
    ----------
    train, test : ndarray of uint8, shapes (n_train, n_visible), (n_test, n_visible)
        Bits in {0, 1}; of :func:`load_cifar10` and :func:`load_svhn` bytes from 0 to 255.
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

    Raises
    ------
    DataCorrupt
        If the committed file is damaged or missing.

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

    Raises
    ------
    DataCorrupt
        If the committed file is damaged or missing.

    Examples
    --------
    >>> from rbmlib import datasets
    >>> datasets.load_dna().label_names
    ('ei', 'ie', 'n')
    """
    return _unpack("dna/dna_binary.npz")


@functools.cache
def load_cifar10(full: bool = False) -> Dataset:
    """Return CIFAR-10: a committed subset of 2,500 colour images, or all 60,000.

    Parameters
    ----------
    full : bool
        False: the first 200 training and the first 50 test images of each class, in the order
        of the files. True: 50,000 and 10,000 images (180 MB in memory), from the archive
        "cifar10" of :func:`fetch`, or from its six files in the folder "cifar-10-batches-bin" of
        ``$RBMLIB_DATA`` or the cache folder.

    Returns
    -------
    Dataset
        ``train`` (2000 or 50000, 3072), ``test`` (500 or 10000, 3072), bytes: red, green, blue,
        each row by row. :func:`rbmlib.datasets.images.pictures` orders them for drawing,
        :class:`rbmlib.Standardisation` standardises them.

    Raises
    ------
    DataCorrupt, DataUnavailable
        As :func:`committed`, or with ``full`` as :func:`fetch`.

    Examples
    --------
    >>> from rbmlib import datasets
    >>> data = datasets.load_cifar10()
    >>> data.train.shape, data.label_names[data.train_labels[0]]
    ((2000, 3072), 'frog')
    """
    instance("full", full, bool, "True or False")
    if full:
        batches = [read_cifar_batch(content) for content in _cifar_batches()]
        train, train_labels = map(np.concatenate, zip(*batches[:5], strict=True))
        arrays = train, batches[5][0], train_labels, batches[5][1]
    else:
        with np.load(committed("cifar10/subset.npz"), allow_pickle=False) as file:
            arrays = (
                from_differences(file["train"]), from_differences(file["test"]),
                file["train_labels"], file["test_labels"],
            )  # fmt: skip
    train, test, train_labels, test_labels = map(read_only, arrays)
    return Dataset(train, test, train_labels, test_labels, CIFAR_NAMES)


@functools.cache
def cifar10_scale() -> Standardisation:
    """Return the standardisation of all 50,000 training images of CIFAR-10.

    It is committed, so that models trained on all of them can be used with the subset.
    """
    with np.load(committed("cifar10/scale.npz"), allow_pickle=False) as file:
        return Standardisation.of_moments(file["mean"], file["std"])


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


@functools.cache
def load_svhn() -> Dataset:
    """Return SVHN, cropped: house numbers photographed from the street, a digit an image.

    Returns
    -------
    Dataset
        ``train`` (73257, 3072), ``test`` (26032, 3072), bytes in the order of
        :func:`load_cifar10`; labels are the digits.

    Raises
    ------
    DataCorrupt, DataUnavailable
        As :func:`fetch`: the files are "svhn_train" and "svhn_test" (246 MB).
    """
    train, train_labels = map(read_only, read_svhn(fetch("svhn_train")))
    test, test_labels = map(read_only, read_svhn(fetch("svhn_test")))
    return Dataset(train, test, train_labels, test_labels, tuple("0123456789"))


def _cifar_batches() -> list[bytes]:
    """The six files of CIFAR-10, unpacked ones before the archive."""
    found = [
        find(Remote(f"{CIFAR_FOLDER}/{name}", REMOTE["cifar10"].url, digest))
        for name, digest in CIFAR_BATCHES.items()
    ]
    files = [file for file in found if file]
    if len(files) == len(found):
        return [file.read_bytes() for file in files]
    with tarfile.open(fetch("cifar10")) as archive:
        return [_member(archive, f"{CIFAR_FOLDER}/{name}") for name in CIFAR_BATCHES]


def _member(archive: tarfile.TarFile, name: str) -> bytes:
    content = archive.extractfile(name)
    assert content is not None, f"{name} is a folder"  # of an archive checked by its SHA-256
    return content.read()


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
