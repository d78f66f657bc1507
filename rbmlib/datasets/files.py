"""Find the files of the package and published files, download missing ones, and check them."""

import difflib
import hashlib
import os
import sys
import warnings
from pathlib import Path
from urllib.parse import urlsplit

from ..checks import instance
from .register import COMMITTED, REMOTE, Remote

INSTALLED = "_data"  # name of the folder data in an installed package
TIMEOUT = 30  # seconds to wait for a server


class DataUnavailable(RuntimeError):
    """A file is not on this machine and could not be downloaded."""


class DataCorrupt(RuntimeError):
    """A file is missing from a checkout, or differs from the registered file."""


def committed(file: str) -> Path:
    """Return the path of a committed file; check the SHA-256 of a binary file.

    ``file`` is a path in the data folder, such as ``"published/varopt_table1.csv"``.

    Raises
    ------
    ValueError
        If the path leads out of the data folder.
    DataUnavailable
        If only the chapters need the file, and it is not installed with the package; the message
        says where to put it.
    DataCorrupt
        If the file is missing from a checkout, or is binary and not the registered file.
    """
    inside = "a path in the data folder, such as 'published/varopt_table1.csv'"
    instance("file", file, str, inside)
    if Path(file).is_absolute() or ".." in Path(file).parts or not Path(file).name:
        raise ValueError(f"file is {file!r}: expected {inside}")
    folder = _data_folder()
    path = folder / file
    remedy = f"restore it (in a checkout: git checkout -- data/{file}) or reinstall rbmlib"
    if not path.is_file() and folder.name == INSTALLED:
        path, remedy = _of_checkout(file), "replace it with the file of the repository"
    if not path.is_file():
        raise DataCorrupt(f"{path} is missing; {remedy}")
    if file in COMMITTED:
        _check(path, COMMITTED[file], remedy)
    elif path.suffix == ".npz":
        remedy = "enter its SHA-256 in rbmlib/datasets/register.py, COMMITTED"
        raise DataCorrupt(f"{path} is not in the register of committed files; {remedy}")
    return path


def _data_folder() -> Path:
    """Return the folder of committed files, in the installed package or in the checkout."""
    package = Path(__file__).parents[1]
    installed = package / INSTALLED
    return installed if installed.is_dir() else package.parent / "data"


def _of_checkout(file: str) -> Path:
    """Return the path in ``$RBMLIB_DATA`` of a file that is not installed with the package."""
    folder = _user_folder()
    if folder is not None and (folder / file).is_file():
        return folder / file
    expected = f", with SHA-256 {COMMITTED[file]}" if file in COMMITTED else ""
    raise DataUnavailable(
        f"{file} is not installed with rbmlib: it is data/{file} in a checkout of the repository"
        f"{expected}. Set the environment variable RBMLIB_DATA to a folder that has {file}"
    )


def fetch(name: str) -> Path:
    """Return the path of a published file, and download it if it is not on this machine.

    The function looks in the folder ``$RBMLIB_DATA``, which it only reads, and then in
    :func:`cache_folder`, to which it downloads. ``name`` is one of the RBMs "h10", "h20", "h100",
    "h500" and "salakhutdinov_cd25_500", or "ww_domain" (the RBM of a protein family, which
    `rbmbook.ww_domain` reads), or "course_test" (a binarised test set).

    Raises
    ------
    ValueError
        If the name is not registered, or ``$RBMLIB_DATA`` is not a folder.
    DataCorrupt
        If the file has another SHA-256.
    DataUnavailable
        If the download fails; the message says what to put where.
    """
    instance("name", name, str, f"one of {', '.join(REMOTE)}")
    if name not in REMOTE:
        raise ValueError(f"unknown published file {name!r}{suggest(name, REMOTE)}")
    return found_or_downloaded(name, REMOTE[name])


def found_or_downloaded(name: str, remote: Remote) -> Path:
    """Return the path of a published file, as `fetch` does."""
    return find(remote) or _download(name, remote)


def suggest(name: str, known) -> str:
    """Return the end of an error message: the nearest known name, and all known names."""
    close = difflib.get_close_matches(name, known, n=1)
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    return f"{hint}: expected one of {', '.join(known)}"


def find(remote: Remote) -> Path | None:
    """Return the path of the local copy of a published file, or None if there is none."""
    for folder, remedy in (
        (_user_folder(), "replace or remove it (rbmlib never writes to $RBMLIB_DATA)"),
        (cache_folder(), f"delete it and ask again, or put the file of {remote.url} in its place"),
    ):
        for file, sha256 in ((remote.file, remote.sha256), *remote.copies):
            if folder is not None and (folder / file).is_file():
                _check(folder / file, sha256, remedy)
                return folder / file
    return None


def cache_folder() -> Path:
    """Return the folder for downloads, "rbmlib" in the user's cache folder."""
    return Path(_import_pooch().os_cache("rbmlib"))


def _user_folder() -> Path | None:
    """Return the folder ``$RBMLIB_DATA``, or None if the variable is not set."""
    name = os.environ.get("RBMLIB_DATA")
    if not name:
        return None
    folder = Path(name).expanduser()
    if not folder.is_dir():
        raise ValueError(f"RBMLIB_DATA is {name!r}, which is not a folder; correct or unset it")
    return folder


def _check(path: Path, sha256: str, remedy: str) -> None:
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256:
        raise DataCorrupt(f"{path} is damaged: SHA-256 {found}, expected {sha256}; {remedy}")


def _download(name: str, remote: Remote) -> Path:
    pooch = _import_pooch()
    how = pooch.HTTPDownloader(progressbar=sys.stderr.isatty(), timeout=TIMEOUT)
    digest, folder = f"sha256:{remote.sha256}", cache_folder()
    try:  # pooch downloads to a temporary file, checks it, and moves it
        return Path(pooch.retrieve(remote.url, digest, remote.file, folder, downloader=how))
    except (OSError, ValueError) as error:  # network or disk errors; another SHA-256
        reason = _reason(error, remote.url)
    raise DataUnavailable(
        f"{name} is not on this machine and could not be downloaded: {reason}. Get {remote.url} "
        f"(SHA-256 {remote.sha256}) and put it as {remote.file} in {folder} or in $RBMLIB_DATA"
    )


def _reason(error: Exception, url: str) -> str:
    """Return the reason for a failed download in one line."""
    import requests

    if isinstance(error, requests.Timeout):
        return f"no answer within {TIMEOUT} s"
    if isinstance(error, requests.ConnectionError):
        return f"no connection to {urlsplit(url).hostname}"
    return str(error).partition("\n")[0].rstrip(".") or type(error).__name__


def _import_pooch():
    """Import pooch on demand: it takes 0.15 s, and warns in Jupyter if there are no widgets."""
    with warnings.catch_warnings(action="ignore"):
        import pooch
    pooch.get_logger().setLevel("WARNING")  # do not report each download on standard error
    return pooch
