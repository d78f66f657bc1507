"""Images for the chapters: CIFAR-10 and the binarised digits of a course.

A picture of 32 x 32 colour pixels is a vector of 3,072 bytes in the order of CIFAR: all red values
row by row from the top left corner, then all green values, then all blue values.
"""

import functools
import tarfile
from collections.abc import Callable

import numpy as np

from rbmlib import datasets
from rbmlib.datasets import Dataset, committed
from rbmlib.datasets.files import find, found_or_downloaded
from rbmlib.datasets.register import Remote

PLANES = (3, 32, 32)
N_PIXELS = 3 * 32 * 32

CIFAR10 = Remote(
    file="cifar-10-binary.tar.gz",
    url="https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
    sha256="c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
)

# SHA-256 of the files in CIFAR-10's archive, which may also be in CIFAR_FOLDER, unpacked.
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


@functools.cache
def load_cifar10(full: bool = False) -> Dataset:
    """CIFAR-10 as bytes (n, 3072), which `cifar10_scale` standardises.

    By default, a committed subset of the first 200 training images and 50 test images of each
    class. With ``full``, 50,000 and 10,000 images (180 MB), from the archive of the binary version
    or its six files in the folder "cifar-10-batches-bin" of ``$RBMLIB_DATA`` or the cache folder.
    """
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
    for array in arrays:
        array.setflags(write=False)
    return Dataset(*arrays, CIFAR_NAMES)


@functools.cache
def cifar10_scale() -> Callable[[np.ndarray], np.ndarray]:
    """A function from images to standardised pixels (n_images, n_pixels), float32.

    Each pixel is standardised by its mean and deviation in all 50,000 training images (Li et al.,
    4.2), as in training the models.
    """
    with np.load(committed("cifar10/scale.npz"), allow_pickle=False) as file:
        mean, scale = file["mean"].astype(np.float32), (1 / file["std"]).astype(np.float32)
    return lambda images: (images.astype(np.float32) - mean) * scale


def _cifar_batches() -> list[bytes]:
    """The six files of CIFAR-10, unpacked or else from the archive."""
    found = [
        find(Remote(f"{CIFAR_FOLDER}/{name}", CIFAR10.url, digest))
        for name, digest in CIFAR_BATCHES.items()
    ]
    files = [file for file in found if file]
    if len(files) == len(found):
        return [file.read_bytes() for file in files]
    with tarfile.open(found_or_downloaded("cifar10", CIFAR10)) as archive:
        members = [archive.extractfile(f"{CIFAR_FOLDER}/{name}") for name in CIFAR_BATCHES]
        return [member.read() for member in members if member is not None]


def read_cifar_batch(content: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Images (n, 3072) and labels (n,) of a file; each image is a label byte and its pixels."""
    records = np.frombuffer(content, np.uint8).reshape(-1, 1 + N_PIXELS)
    return records[:, 1:], records[:, 0]


def from_differences(coded: np.ndarray) -> np.ndarray:
    """Images (n, 3072) from the differences that `data/make_cifar10.py` stores."""
    d = coded.reshape(-1, *PLANES)
    d = d.cumsum(axis=2, dtype=np.uint8).cumsum(axis=3, dtype=np.uint8)
    d[:, [0, 2]] += d[:, [1]]
    return d.reshape(-1, N_PIXELS)


@functools.cache
def load_course_test() -> np.ndarray:
    """The binarised MNIST test images published with the h models, uint8 (10000, 784).

    They differ from those of `datasets.load_mnist`: a pixel is 1 with probability grey level / 255.
    """
    from scipy.io import loadmat

    file, name = datasets.fetch("course_test"), "testbatchdata"
    batches = loadmat(file, variable_names=[name])[name]
    # (image in batch, pixel, batch) to (batch, image in batch, pixel)
    images = batches.transpose(2, 0, 1).reshape(-1, batches.shape[1])
    images.setflags(write=False)
    return images
