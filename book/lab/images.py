"""Images of the chapters: CIFAR-10, SVHN, their files and the order of pixels; a course's digits.

A picture of 32 x 32 colour pixels is a vector of 3,072 bytes in CIFAR's own order: all red
values row by row from the top left corner, then all green ones, then all blue ones.
"""

from __future__ import annotations

import functools
import tarfile
from typing import NamedTuple

import numpy as np

from rbmlib import datasets
from rbmlib.datasets import Dataset, committed
from rbmlib.datasets.files import find, found_or_downloaded
from rbmlib.datasets.register import Remote

SIDE = 32
N_PIXELS = 3 * SIDE * SIDE
PLANES = (3, SIDE, SIDE)

_SVHN = "http://ufldl.stanford.edu/housenumbers/"
REMOTE = {
    "cifar10": Remote(
        file="cifar-10-binary.tar.gz",
        url="https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
        sha256="c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
    ),
    "svhn_train": Remote(
        file="train_32x32.mat",
        url=_SVHN + "train_32x32.mat",
        sha256="435e94d69a87fde4fd4d7f3dd208dfc32cb6ae8af2240d066de1df7508d083b8",
    ),
    "svhn_test": Remote(
        file="test_32x32.mat",
        url=_SVHN + "test_32x32.mat",
        sha256="cdce80dfb2a2c4c6160906d0bd7c68ec5a99d7ca4831afa54f09182025b6a75b",
    ),
}

# SHA-256 of the files in CIFAR-10's archive, which may also lie in CIFAR_FOLDER, unpacked.
CIFAR_FOLDER = "cifar-10-batches-bin"
CIFAR_BATCHES = {
    "data_batch_1.bin": "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5",
    "data_batch_2.bin": "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed",
    "data_batch_3.bin": "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67",
    "data_batch_4.bin": "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48",
    "data_batch_5.bin": "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add",
    "test_batch.bin": "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b",
}
CIFAR_NAMES = (
    "airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"
)  # fmt: skip


def pictures(vectors) -> np.ndarray:
    """Vectors (n, 3072) as pictures (n, 32, 32, 3), the order in which they are drawn."""
    array = np.asarray(vectors)
    if array.ndim != 2 or array.shape[1] != N_PIXELS:
        raise ValueError(f"vectors has shape {array.shape}: expected (n, {N_PIXELS})")
    return array.reshape(-1, *PLANES).transpose(0, 2, 3, 1)


@functools.cache
def load_cifar10(full: bool = False) -> Dataset:
    """Return CIFAR-10: a committed subset of 2,500 colour images, or all 60,000.

    Parameters
    ----------
    full : bool
        False: the first 200 training and the first 50 test images of each class, in the order
        of the files. True: 50,000 and 10,000 images (180 MB in memory), from the archive
        of its binary version, or from its six files in the folder "cifar-10-batches-bin" of
        ``$RBMLIB_DATA`` or the cache folder.

    Returns
    -------
    Dataset
        ``train`` (2000 or 50000, 3072), ``test`` (500 or 10000, 3072), bytes: red, green, blue,
        each row by row. :func:`pictures` orders them for drawing, `cifar10_scale` standardises
        them.

    Raises
    ------
    DataCorrupt, DataUnavailable
        As `rbmlib.datasets.committed`, or with ``full`` as `rbmlib.datasets.fetch`.

    Examples
    --------
    >>> from rbmbook import images
    >>> data = images.load_cifar10()
    >>> data.train.shape, data.label_names[data.train_labels[0]]
    ((2000, 3072), 'frog')
    """
    if not isinstance(full, bool):
        raise ValueError(f"full is {full!r}: expected True or False")
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
    return _dataset(*arrays, CIFAR_NAMES)


class Standardisation(NamedTuple):
    """Of each pixel by its mean and standard deviation in the training images (Li et al., 4.2).

    Examples
    --------
    >>> scale = Standardisation(np.array([2.0, 20.0]), np.array([2.0, 10.0]))
    >>> scale(np.array([[0, 30]]))
    array([[-1.,  1.]], dtype=float32)
    """

    mean: np.ndarray  # (n_pixels,)
    std: np.ndarray

    def __call__(self, images) -> np.ndarray:
        """Standardised pixels (n_images, n_pixels), float32."""
        out = images.astype(np.float32)
        out -= self.mean.astype(np.float32)
        out *= (1 / self.std).astype(np.float32)
        return out


@functools.cache
def cifar10_scale() -> Standardisation:
    """Return the standardisation of all 50,000 training images of CIFAR-10.

    It is committed, so that models trained on all of them can be used with the subset.
    """
    with np.load(committed("cifar10/scale.npz"), allow_pickle=False) as file:
        return Standardisation(file["mean"], file["std"])


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
        As `rbmlib.datasets.fetch`: the files are "svhn_train" and "svhn_test" (246 MB).
    """
    train, train_labels = read_svhn(fetch("svhn_train"))
    test, test_labels = read_svhn(fetch("svhn_test"))
    return _dataset(train, test, train_labels, test_labels, tuple("0123456789"))


def fetch(name: str):
    """The path of a file of `REMOTE`, as `rbmlib.datasets.fetch` finds and downloads others."""
    return found_or_downloaded(name, REMOTE[name])


def _dataset(train, test, train_labels, test_labels, names: tuple[str, ...]) -> Dataset:
    arrays = train, test, train_labels, test_labels
    for array in arrays:
        array.setflags(write=False)
    return Dataset(*arrays, names)


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


# files --------------------------------------------------------------------------------------


def read_cifar_batch(content: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Images (n, 3072) and labels (n,) of a file of CIFAR-10's binary version.

    Each image is one byte of label and 3,072 of pixels; nothing in the file is executed.
    """
    records = np.frombuffer(content, np.uint8).reshape(-1, 1 + N_PIXELS)
    return records[:, 1:], records[:, 0]


def write_cifar_batch(images: np.ndarray, labels: np.ndarray) -> bytes:
    """The bytes that `read_cifar_batch` reads."""
    return np.concatenate([labels[:, None], images], axis=1).tobytes()


def read_svhn(path) -> tuple[np.ndarray, np.ndarray]:
    """Images (n, 3072) and digits (n,) of a cropped SVHN file (``train_32x32.mat``).

    The file holds X (row, column, colour, n) and y (n, 1), in which 10 stands for the digit 0.
    """
    from scipy.io import loadmat

    content = loadmat(path, variable_names=["X", "y"])
    images = content["X"].transpose(3, 2, 0, 1).reshape(-1, N_PIXELS)
    return np.ascontiguousarray(images), (content["y"].ravel() % 10).astype(np.uint8)


def differences(images: np.ndarray) -> np.ndarray:
    """Images (n, 3072) as differences of neighbours, modulo 256: they take a third less space.

    Red and blue minus green, then each pixel minus the one to its left, then minus the one above.
    `from_differences` undoes it, to the byte.
    """
    d = images.reshape(-1, *PLANES).copy()
    d[:, [0, 2]] -= d[:, [1]]
    d[..., 1:] -= d[..., :-1].copy()
    d[..., 1:, :] -= d[..., :-1, :].copy()
    return d.reshape(-1, N_PIXELS)


def from_differences(coded: np.ndarray) -> np.ndarray:
    d = coded.reshape(-1, *PLANES)
    d = d.cumsum(axis=2, dtype=np.uint8).cumsum(axis=3, dtype=np.uint8)
    d[:, [0, 2]] += d[:, [1]]
    return d.reshape(-1, N_PIXELS)


@functools.cache
def load_course_test() -> np.ndarray:
    """Return the binarised MNIST test images published with the h models, uint8 (10000, 784).

    They are not those of `datasets.load_mnist`: the images are shuffled, and a pixel was set to 1
    at random with its grey level / 255 as probability. The report takes its base rate from them.
    Raises DataCorrupt and DataUnavailable as `datasets.fetch`.
    """
    from scipy.io import loadmat

    file, name = datasets.fetch("course_test"), "testbatchdata"
    batches = loadmat(file, variable_names=[name])[name]
    # (image in batch, pixel, batch) to (batch, image in batch, pixel)
    images = batches.transpose(2, 0, 1).reshape(-1, batches.shape[1])
    images.setflags(write=False)
    return images
