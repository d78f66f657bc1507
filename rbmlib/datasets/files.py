"""Files of the package, and published ones: found, checked, downloaded."""

import difflib
from pathlib import Path

from ..checks import instance
from .download import DataCorrupt, DataUnavailable, check, found_or_downloaded, user_folder
from .register import COMMITTED, REMOTE

INSTALLED = "_data"  # the folder data of the repository, in the package


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
    ValueError
        If the path leads out of the data folder.
    DataUnavailable
        If the file is one of those that only chapters need, which an installed package leaves in
        the repository; the message says where to put it.
    DataCorrupt
        If the file is missing from a checkout, or is binary and not the registered one.
    """
    inside = "a path in the data folder, such as 'published/varopt_table1.csv'"
    instance("file", file, str, inside)
    if Path(file).is_absolute() or ".." in Path(file).parts:
        raise ValueError(f"file is {file!r}, which leaves the data folder: expected {inside}")
    if not Path(file).name:
        raise ValueError(f"file is {file!r}: expected {inside}")
    folder = _data_folder()
    path = folder / file
    remedy = f"restore it (in a checkout: git checkout -- data/{file}) or reinstall rbmlib"
    if not path.is_file() and folder.name == INSTALLED:
        path = _of_checkout(file)
        remedy = "replace it by that of the repository"
    if not path.is_file():
        raise DataCorrupt(f"{path} is missing; {remedy}")
    if file in COMMITTED:
        check(path, COMMITTED[file], remedy)
    elif path.suffix == ".npz":
        raise DataCorrupt(
            f"{path} is not in the register of committed files; "
            "enter its SHA-256 in rbmlib/datasets/register.py, COMMITTED"
        )
    return path


def _of_checkout(file: str) -> Path:
    """A file that the installed package does without, in the folder ``$RBMLIB_DATA``."""
    folder = user_folder()
    if folder is not None and (folder / file).is_file():
        return folder / file
    expected = f", with SHA-256 {COMMITTED[file]}" if file in COMMITTED else ""
    raise DataUnavailable(
        f"{file} is not installed with rbmlib, which brings small models and data only: it is "
        f"data/{file} in a checkout of the repository{expected}. Set the environment variable "
        f"RBMLIB_DATA to the folder data of a checkout, or to a folder of your own that has {file}"
    )


def _data_folder() -> Path:
    """Return the folder of the committed files: in the installed package, or in the checkout."""
    package = Path(__file__).parents[1]
    installed = package / INSTALLED
    return installed if installed.is_dir() else package.parent / "data"


def fetch(name: str) -> Path:
    """Return the path of a published file, downloading it if it is nowhere on this machine.

    Looks in the folder ``$RBMLIB_DATA`` if that is set (it is only read), then in
    :func:`cache_folder`, and downloads to the latter.

    Parameters
    ----------
    name : str
        One of "h10", "h20", "h100", "h500", "salakhutdinov_cd25_500" (RBMs), or "course_test"
        (their binarised test set).

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
    instance("name", name, str, f"one of {', '.join(REMOTE)}")
    if name not in REMOTE:
        raise ValueError(f"unknown published file {name!r}{suggest(name, REMOTE)}")
    return found_or_downloaded(name, REMOTE[name])


def suggest(name: str, known) -> str:
    """Words for the end of an error: the nearest known name, and all of them."""
    close = difflib.get_close_matches(name, known, n=1)
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    return f"{hint}: expected one of {', '.join(known)}"
