"""Trained RBMs: registered ones by name, others from files."""

import os
from pathlib import Path
from typing import NamedTuple

from ..models import RBM, GaussianRBM
from ..models.files import refuse_other_programs
from .download import DataCorrupt, DataUnavailable, find
from .files import committed, fetch, suggest
from .register import PUBLISHED_RBMS, RBMS, REMOTE


class RBMInfo(NamedTuple):
    """One line of :func:`list_rbms`."""

    name: str
    n_visible: int
    n_hidden: int
    where: str


def load_rbm(
    name_or_path: str | os.PathLike, *, layout: str | None = None,
    names: dict[str, str] | None = None,
) -> RBM:  # fmt: skip
    """Return a trained RBM: a registered one by its name, or one from a file.

    Parameters
    ----------
    name_or_path : str or path
        A name listed by :func:`list_rbms`, such as "h500", or the path of an .npz or .mat file
        as :meth:`rbmlib.RBM.load` reads them, or as `LeakyRBM.save` or
        `GaussianRBM.save` wrote it.
    layout, names : optional
        As :meth:`rbmlib.RBM.load`, for files of other programs.

    Returns
    -------
    RBM
        A BernoulliRBM, or of other layers, such as those named "leaky_cifar10", "gaussian_cifar10".

    Raises
    ------
    ValueError
        If it is neither a known name nor ends in .npz or .mat, or the file holds no RBM, or one
        whose parts or layout are not told. Files of other kinds are refused with the line that
        converts them.
    FileNotFoundError
        If there is no file at that path.
    DataCorrupt, DataUnavailable
        As :func:`fetch`, for a registered name.
    """
    if not isinstance(name_or_path, (str, os.PathLike)):
        raise TypeError(
            f"name_or_path is {name_or_path!r}: expected a registered name, or a path to an .npz "
            "or .mat file"
        )
    if name_or_path in RBMS and (layout is not None or names is not None):
        raise ValueError(
            f"{name_or_path!r} is a registered model, whose arrays are known: expected neither "
            "layout nor names"
        )
    file = _rbm_file(name_or_path)
    unmarked = name_or_path == "gaussian_cifar10"  # its file does not say what it holds
    return (GaussianRBM if unmarked else RBM).load(file, layout=layout, names=names)


def list_rbms() -> list[RBMInfo]:
    """Return the registered RBMs and where each is; nothing is downloaded.

    Returns
    -------
    list of RBMInfo
        ``name``, ``n_visible``, ``n_hidden`` and ``where``: "committed", "fetched" (in
        ``$RBMLIB_DATA`` or the cache folder), "not here" (:func:`load_rbm` will download it, or
        say where it is to be had) or "damaged" (:func:`load_rbm` will say which file).
    """
    return [RBMInfo(name, *shape, _where(name)) for name, shape in RBMS.items()]


def rbm_files(name: str) -> list[Path]:
    """Files on this machine that :func:`load_rbm` reads for a registered name; none for others."""
    return [_registered(name)] if name in RBMS else []


def _registered(name: str) -> Path:
    return fetch(name) if name in PUBLISHED_RBMS else committed(f"models/{name}.npz")


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


def _rbm_file(name_or_path: str | os.PathLike) -> Path:
    if name_or_path in RBMS:
        return _registered(name_or_path)
    path = Path(name_or_path).expanduser()
    if path.suffix not in (".npz", ".mat"):
        if path.is_file():
            refuse_other_programs(path)
        if path.exists():
            kind = "a folder" if path.is_dir() else f"a {path.suffix or 'nameless'} file"
            raise ValueError(f"{path} is {kind}: expected a model in an .npz or .mat file")
        raise ValueError(
            f"unknown RBM {os.fspath(name_or_path)!r}{suggest(str(name_or_path), RBMS)}; "
            "a path to an .npz or .mat file also works"
        )
    if not path.is_file():
        raise FileNotFoundError(f"no RBM at {path}: there is no such file")
    return path
