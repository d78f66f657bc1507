"""Data sets and trained RBMs: committed with the package, or published and fetched once.

Committed files (``data/`` of the repository, installed with the package) need no network:
:func:`load_mnist`, :func:`load_dna`, :func:`load_cifar10` (a subset of 2,500 images), and the
RBMs that :func:`list_rbms` calls "committed".
Published files are looked for first in the folder named by the environment variable
``RBMLIB_DATA`` (never written to), then in the user cache folder, and are downloaded there
otherwise. Every binary file is checked against the SHA-256 in this module each time it is opened;
a file that differs is refused, never overwritten.
"""

import difflib
import functools
import os
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ._download import (
    DataCorrupt,
    DataUnavailable,
    Remote,
    cache_folder,
    check,
    download,
    find,
)
from .images import Standardisation, from_differences, read_cifar_batch, read_svhn

if TYPE_CHECKING:
    from .models import BernoulliRBM

__all__ = [
    "DataCorrupt",
    "DataUnavailable",
    "Dataset",
    "RBMInfo",
    "cache_folder",
    "cifar10_scale",
    "committed",
    "fetch",
    "list_rbms",
    "load_cifar10",
    "load_course_test",
    "load_dna",
    "load_mnist",
    "load_rbm",
    "load_svhn",
]

# SHA-256 of the committed binary files, by their path in data/. A new one is entered here.
COMMITTED = {
    "cifar10/subset.npz": "8b785b0e6bb95c5755fe95ae2e914f39b141c7a7306f969aacebc3d7d4db0d40",
    "cifar10/scale.npz": "28e49abef4b5ca7a3ef9bae4a33e412ce6319de0b14cc82672019ee264272bfe",
    "mnist/mnist_binary.npz": "a0c5752d5faabe1e0b8567f01b02eab0f4fe157cb7430ad3597f8edfa6416132",
    "dna/dna_binary.npz": "cdf5339596a5a88e8f43da773790bea133856ce03604d88e9e57ab588cfd6a31",
    "models/leaky_cifar10.npz": "a0aaa3c81e99af0cdcd0a7bd0c0efe6c37a1b95d2dbc5c31292150f0b83aeea5",
    "models/gaussian_cifar10.npz": "08f20ee7d883d806f80eec4ad69b333a2123fcc43f487ee4e4762e36f674335f",  # noqa: E501
    "models/cd1_20.npz": "9ca2b3c7998e4a397f702eb6144ae64c8c9b23daa238cddbfe1d91dde906b762",
    "models/cd25_20.npz": "8a2027df6c268e9d421ed18c1d37032520d3a0c8e9bc55d95f83a309ee52455d",
    "models/pcd_20.npz": "c015beaf3a5bb78891dccaa018978002640da43b2842186ba4e0b677a5ce0517",
    "models/cd1_500.npz": "6f581756f23a0add11828a210d9ddb58b39dd1446a8012a0a883d6c130a47e49",
    "models/cd25_500.npz": "4774385c1b9ac59e3f17424405c4876c5fe8bdf5c247c89a442789c4c64e2930",
    "models/pcd_500.npz": "fe537f0429713855773f94c9044b52929a76cf65315aa2593a2a11db9be90645",
    "models/pcd_10.npz": "105a1c664772e732a9cee4a4ab414605f185e3a04a0b58438f98224865d46cae",
    "models/pcd_200.npz": "cff4f9e4b6269bda337c6f34f5c555ef0f24dd1cb7228e9d83ffad74c88479f6",
    "models/dna_cd1_500.npz": "63aea776245d8151d89ee6ad4156313aaa0932eb2ca2d67896b475b09704cabf",
    "models/spectral_100.npz": "532e5a3f94e141070bedd1dd0262c4ff2c71d833dc7e0401ba974e0188df8bd5",
}

# (n_visible, n_hidden) of the committed Bernoulli RBMs; "x" is models/x.npz in COMMITTED.
COMMITTED_RBMS: dict[str, tuple[int, int]] = {
    "cd1_20": (784, 20),
    "cd25_20": (784, 20),
    "pcd_20": (784, 20),
    "cd1_500": (784, 500),
    "cd25_500": (784, 500),
    "pcd_500": (784, 500),
    "pcd_10": (784, 10),
    "pcd_200": (784, 200),
    "spectral_100": (784, 100),
    "dna_cd1_500": (180, 500),
}

# The same of committed models with Gaussian visible units, trained on CIFAR-10.
COMMITTED_GAUSSIAN = {"leaky_cifar10": (3072, 500), "gaussian_cifar10": (3072, 500)}

# (n_visible, n_hidden) of the published ones, which are in REMOTE under the same name.
PUBLISHED_RBMS = {
    "h10": (784, 10),
    "h20": (784, 20),
    "h100": (784, 100),
    "h500": (784, 500),
    "salakhutdinov_cd25_500": (784, 500),
}

_GITHUB = "https://github.com/"
_COURSE = _GITHUB + "Kevin-Wang95/RBMLearning/raw/95cc8140906b82a0c665a041f81378ded4c4e452/"
_SVHN = "http://ufldl.stanford.edu/housenumbers/"
_CD25 = _GITHUB + "lzhbrian/MCMC/raw/0dd3aadd1ed2833aff76bd7af4b014282739984b/"

REMOTE = {
    "h10": Remote(
        file="h10.mat",
        url=_COURSE + "h10.mat",
        sha256="5be9accc538f9d1548ccef1954c2444a71a3b2baef319ac2e3bfb1282ea9a92e",
    ),
    "h20": Remote(
        file="h20.mat",
        url=_COURSE + "h20.mat",
        sha256="caa0fa72bc57eac629d2d5ec12574eda2526ee6c508fde7f72e20a7dd027a6ed",
    ),
    "h100": Remote(
        file="h100.mat",
        url=_COURSE + "h100.mat",
        sha256="e1054109bfe28427d2c3ca8fa5a622a5299c9e141181cdd23bc0ba9baab80202",
    ),
    "h500": Remote(
        file="h500.mat",
        url=_COURSE + "h500.mat",
        sha256="2823840ee01c3ae26e34d8bb930e8dff8ce4deff66ed0b84ceb406eac27ca945",
    ),
    "course_test": Remote(
        file="test.mat",
        url=_COURSE + "test.mat",
        sha256="ea305aba4d256529d215d270c330ffb225e68392f1f263ed2ce9e2d435d736a2",
    ),
    "salakhutdinov_cd25_500": Remote(
        file="mnistvh_CD25.mat",
        url=_CD25 + "src/partition/reference/code_AIS/mnistvh_CD25.mat",
        sha256="264d0e1b8b54162efc886ad596408316ded23664eb8858f8a3ff280d31fb491d",
    ),
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


class RBMInfo(NamedTuple):
    """One line of :func:`list_rbms`."""

    name: str
    n_visible: int
    n_hidden: int
    where: str


# ---------------------------------------------------------------- committed data


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
        each row by row. :func:`rbmlib.images.pictures` orders them for drawing,
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
    return Dataset(*map(_read_only, arrays), label_names=CIFAR_NAMES)


@functools.cache
def cifar10_scale() -> Standardisation:
    """Return the standardisation of all 50,000 training images of CIFAR-10.

    It is committed, so that models trained on all of them can be used with the subset.
    """
    with np.load(committed("cifar10/scale.npz"), allow_pickle=False) as file:
        return Standardisation.of_moments(file["mean"], file["std"])


def _cifar_batches() -> list[bytes]:
    """The six files of CIFAR-10, unpacked ones before the archive."""
    files = [
        find(Remote(f"{CIFAR_FOLDER}/{name}", REMOTE["cifar10"].url, digest))
        for name, digest in CIFAR_BATCHES.items()
    ]
    if all(files):
        return [file.read_bytes() for file in files]
    with tarfile.open(fetch("cifar10")) as archive:
        return [archive.extractfile(f"{CIFAR_FOLDER}/{name}").read() for name in CIFAR_BATCHES]


def committed(file: str) -> Path:
    """Return the path of a committed file, its SHA-256 checked if it is binary.

    Parameters
    ----------
    file : str
        Path in the data folder, such as ``"published/varopt_table1.csv"``.

    Returns
    -------
    Path

    Raises
    ------
    DataCorrupt
        If the file is missing, or is binary and not the registered one.
    """
    path = _data_folder() / file
    remedy = f"restore it (in a checkout: git checkout -- data/{file}) or reinstall rbmlib"
    if not path.is_file():
        raise DataCorrupt(f"{path} is missing; {remedy}")
    if file in COMMITTED:
        check(path, COMMITTED[file], remedy)
    elif path.suffix == ".npz":
        raise DataCorrupt(
            f"{path} is not in the register of committed files; "
            "enter its SHA-256 in rbmlib.datasets.COMMITTED"
        )
    return path


def _data_folder() -> Path:
    """Return the folder of the committed files: in the installed package, or in the checkout."""
    package = Path(__file__).parent
    installed = package / "_data"
    return installed if installed.is_dir() else package.parent / "data"


def _unpack(file: str) -> Dataset:
    with np.load(committed(file), allow_pickle=False) as arrays:
        n_visible = int(arrays["n_visible"])
        return Dataset(
            train=_unpack_bits(arrays["train"], n_visible),
            test=_unpack_bits(arrays["test"], n_visible),
            train_labels=_read_only(arrays["train_labels"]),
            test_labels=_read_only(arrays["test_labels"]),
            label_names=tuple(arrays["label_names"].tolist()),
        )


def _unpack_bits(packed: np.ndarray, n_visible: int) -> np.ndarray:
    """(n, ceil(n_visible / 8)) bytes to (n, n_visible) bits."""
    return _read_only(np.unpackbits(packed, axis=1, count=n_visible))


def _read_only(array: np.ndarray) -> np.ndarray:
    array.setflags(write=False)
    return array


# ---------------------------------------------------------------- published files


def fetch(name: str) -> Path:
    """Return the path of a published file, downloading it if it is nowhere on this machine.

    Looks in the folder ``$RBMLIB_DATA`` if that is set (it is only read), then in
    :func:`cache_folder`, and downloads to the latter.

    Parameters
    ----------
    name : str
        One of "h10", "h20", "h100", "h500", "salakhutdinov_cd25_500" (RBMs), "course_test"
        (their binarised test set), "cifar10" (the archive of its binary version), "svhn_train"
        or "svhn_test".

    Returns
    -------
    Path

    Raises
    ------
    ValueError
        If the name is not registered, or ``$RBMLIB_DATA`` is no folder.
    DataCorrupt
        If the file found has another SHA-256.
    DataUnavailable
        If it has to be downloaded and cannot; the message says what to put where.
    """
    if name not in REMOTE:
        raise ValueError(f"unknown published file {name!r}{_suggest(name, REMOTE)}")
    return find(REMOTE[name]) or download(name, REMOTE[name])


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
    return _read_only(batches.transpose(2, 0, 1).reshape(-1, batches.shape[1]))


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
    train, train_labels = map(_read_only, read_svhn(fetch("svhn_train")))
    test, test_labels = map(_read_only, read_svhn(fetch("svhn_test")))
    return Dataset(train, test, train_labels, test_labels, tuple("0123456789"))


# ---------------------------------------------------------------- models


def load_rbm(name_or_path: str | os.PathLike) -> "BernoulliRBM":
    """Return a trained RBM: a registered one by its name, or a Bernoulli RBM from a file.

    Parameters
    ----------
    name_or_path : str or path
        A name listed by :func:`list_rbms`, such as "h500", or the path of an .npz or .mat file
        as :meth:`rbmlib.BernoulliRBM.load` reads them.

    Returns
    -------
    BernoulliRBM
        Or a LeakyRBM or GaussianRBM, under the names "leaky_cifar10" and "gaussian_cifar10".

    Raises
    ------
    ValueError
        If it is neither a known name nor ends in .npz or .mat.
    FileNotFoundError
        If there is no file at that path.
    DataCorrupt, DataUnavailable
        As :func:`fetch`, for a registered name.
    """
    from .gaussian_visible import load_gaussian_visible
    from .models import BernoulliRBM

    if name_or_path in COMMITTED_GAUSSIAN:
        return load_gaussian_visible(committed(f"models/{name_or_path}.npz"))
    return BernoulliRBM.load(_rbm_file(name_or_path))


def list_rbms() -> list[RBMInfo]:
    """Return the registered RBMs and where each is; nothing is downloaded.

    Returns
    -------
    list of RBMInfo
        ``name``, ``n_visible``, ``n_hidden`` and ``where``: "committed", "fetched" (in
        ``$RBMLIB_DATA`` or the cache folder), "not here" (:func:`load_rbm` will download it) or
        "damaged" (:func:`load_rbm` will say which file).
    """
    shapes = COMMITTED_RBMS | COMMITTED_GAUSSIAN | PUBLISHED_RBMS
    return [RBMInfo(name, *shape, _where(name)) for name, shape in shapes.items()]


def _where(name: str) -> str:
    try:
        if name in COMMITTED_RBMS | COMMITTED_GAUSSIAN:
            committed(f"models/{name}.npz")
            return "committed"
        return "fetched" if find(REMOTE[name]) else "not here"
    except DataCorrupt:
        return "damaged"


def _rbm_file(name_or_path: str | os.PathLike) -> Path:
    if name_or_path in COMMITTED_RBMS:
        return committed(f"models/{name_or_path}.npz")
    if name_or_path in PUBLISHED_RBMS:
        return fetch(name_or_path)
    if not isinstance(name_or_path, (str, os.PathLike)):
        raise TypeError(
            f"name_or_path is {name_or_path!r}: expected a registered name, or a path to an .npz "
            "or .mat file"
        )
    path = Path(name_or_path).expanduser()
    if path.suffix not in (".npz", ".mat"):
        if path.exists():
            kind = "a folder" if path.is_dir() else f"a {path.suffix or 'nameless'} file"
            raise ValueError(f"{path} is {kind}: expected a model in an .npz or .mat file")
        names = COMMITTED_RBMS | COMMITTED_GAUSSIAN | PUBLISHED_RBMS
        raise ValueError(
            f"unknown RBM {os.fspath(name_or_path)!r}{_suggest(str(name_or_path), names)}; "
            "a path to an .npz or .mat file also works"
        )
    if not path.is_file():
        raise FileNotFoundError(f"no RBM at {path}: there is no such file")
    return path


def _suggest(name: str, known) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    return f"{hint}: expected one of {', '.join(known)}"
