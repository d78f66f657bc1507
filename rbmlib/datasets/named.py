"""Named data sets of bits, and named trained RBMs."""

import functools
import os
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..files import read_arrays
from ..models.formats import Names
from ..models.named import GaussianRBM
from ..models.rbm import RBM
from .files import DataCorrupt, DataUnavailable, committed, fetch, find, suggest
from .register import PUBLISHED_RBMS, RBMS, REMOTE

# data sets ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Dataset:
    """Training and test vectors with labels; all arrays are uint8 and read-only."""

    train: np.ndarray  # (n_train, n_visible), bits in {0, 1}
    test: np.ndarray  # (n_test, n_visible)
    train_labels: np.ndarray  # (n_train,), indices into `label_names`
    test_labels: np.ndarray  # (n_test,)
    label_names: tuple[str, ...]

    def __repr__(self) -> str:
        train, test = (f"{len(part):,} x {part.shape[1]}" for part in (self.train, self.test))
        return f"<Dataset: train {train}, test {test}, {len(self.label_names)} labels>"


@functools.cache
def load_mnist() -> Dataset:
    """Return binarised MNIST: a pixel is 1 if its grey level is above 127, else 0.

    ``train`` (60000, 784) and ``test`` (10000, 784) keep the order of the original files; pixels
    are listed row by row from the top left corner. The data (55 MB) stay in memory.

    Examples
    --------
    >>> from rbmlib import datasets
    >>> datasets.load_mnist().train.shape
    (60000, 784)
    """
    return _unpacked("mnist/mnist_binary.npz")


@functools.cache
def load_dna() -> Dataset:
    """Return the StatLog DNA splice junctions: 60 nucleotides of three bits each.

    A is 100, C is 010, G is 001, T is 000. The classes are "ei" (exon to intron), "ie" (intron to
    exon) and "n" (neither). ``train`` (2000, 180) and ``test`` (1186, 180) are the StatLog split.

    Examples
    --------
    >>> from rbmlib import datasets
    >>> datasets.load_dna().label_names
    ('ei', 'ie', 'n')
    """
    return _unpacked("dna/dna_binary.npz")


def _unpacked(file: str) -> Dataset:
    arrays = read_arrays(committed(file))
    names = tuple(arrays.pop("label_names").tolist())
    n = int(arrays.pop("n_visible"))
    for name in ("train", "test"):  # (n, ceil(n_visible / 8)) bytes to (n, n_visible) bits
        arrays[name] = np.unpackbits(arrays[name], axis=1, count=n)
    for array in arrays.values():
        array.setflags(write=False)
    return Dataset(**arrays, label_names=names)


# trained RBMs -------------------------------------------------------------------------------


class RBMInfo(NamedTuple):
    """An entry of :func:`list_rbms`."""

    name: str
    n_visible: int
    n_hidden: int
    where: str


def load_rbm(
    name_or_path: str | os.PathLike, *, layout: str | None = None, names: Names = None,
    units: str | None = None,
) -> RBM:  # fmt: skip
    """Load a trained RBM by name, or from a file.

    Parameters
    ----------
    name_or_path : str or path
        A name from :func:`rbmlib.datasets.list_rbms`, such as "h500", or the path of an .npz, .mat
        or .h5 file.
    layout, names, units : optional
        How to read a file of another program, as in :meth:`rbmlib.RBM.load`.

    Returns
    -------
    RBM
        A BernoulliRBM, or a model with other layers, such as "leaky_cifar10".

    Raises
    ------
    ValueError, FileNotFoundError
        If the argument is neither a known name nor a file; also as in :meth:`rbmlib.RBM.load`.
    DataCorrupt, DataUnavailable
        As in :func:`rbmlib.datasets.fetch`, for a known name.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rl.load_rbm("pcd_20")
    BernoulliRBM(n_visible=784, n_hidden=20)
    """
    if not isinstance(name_or_path, (str, os.PathLike)):
        raise TypeError(f"name_or_path is {name_or_path!r}: expected a registered name, or a path")
    if name_or_path in RBMS:
        if not layout is names is units is None:
            held = f"{name_or_path!r} is a registered model, whose arrays and units are known"
            raise ValueError(f"{held}: expected no layout, names or units")
        name = str(name_or_path)
        rbm = RBM.load(fetch(name) if name in PUBLISHED_RBMS else committed(f"models/{name}.npz"))
        if name_or_path == "gaussian_cifar10":  # the file does not name its layers
            return GaussianRBM(rbm.weights, rbm.visible_bias, rbm.hidden_bias)
        return rbm
    path = Path(name_or_path).expanduser()
    if path.is_dir():
        raise ValueError(f"{path} is a folder: expected a model in an .npz, .mat or .h5 file")
    if not path.suffix and not path.exists():
        held = f"name_or_path is {str(name_or_path)!r}, neither a file nor a registered RBM"
        meaning = suggest(str(name_or_path), RBMS)
        raise ValueError(f"{held}{meaning}; or the path of an .npz, .mat or .h5 file")
    return RBM.load(path, layout=layout, names=names, units=units)


def list_rbms() -> list[RBMInfo]:
    """Return the registered RBMs and where each is, without a download.

    ``where`` is "committed", "fetched" (the file is in ``$RBMLIB_DATA`` or the cache folder), "not
    here" (:func:`rbmlib.load_rbm` downloads the file, or says where to get it) or "damaged"
    (:func:`rbmlib.load_rbm` names the file).
    """
    return [RBMInfo(name, *shape, _where(name)) for name, shape in RBMS.items()]


def _where(name: str) -> str:
    try:
        if name in PUBLISHED_RBMS:
            return "fetched" if find(REMOTE[name]) else "not here"
        committed(f"models/{name}.npz")
        return "committed"
    except DataUnavailable:
        return "not here"
    except DataCorrupt:
        return "damaged"
