"""Published files: looked for on this machine, else downloaded once, and checked each time."""

import hashlib
import os
import sys
import warnings
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

TIMEOUT = 30  # seconds without an answer from a server


class Remote(NamedTuple):
    """A published file: its name on disk, its address and its SHA-256."""

    file: str
    url: str
    sha256: str


class DataUnavailable(RuntimeError):
    """A file is neither on this machine nor could it be downloaded."""


class DataCorrupt(RuntimeError):
    """A file is there, but is not the one it should be."""


def cache_folder() -> Path:
    """Return the folder that downloads go to: "rbmlib" in the user's cache folder."""
    return Path(_import_pooch().os_cache("rbmlib"))


def user_folder() -> Path | None:
    """Return the folder ``$RBMLIB_DATA``, or None if that is not set."""
    name = os.environ.get("RBMLIB_DATA")
    if not name:
        return None
    folder = Path(name).expanduser()
    if not folder.is_dir():
        raise ValueError(f"RBMLIB_DATA is {name!r}, which is not a folder; correct or unset it")
    return folder


def found_or_downloaded(name: str, remote: Remote) -> Path:
    """Return the checked local file of a published one; :func:`rbmlib.datasets.fetch` explains."""
    return find(remote) or _download(name, remote)


def find(remote: Remote) -> Path | None:
    """Return the checked local file of a published one, or None if there is none."""
    remedies = [
        (user_folder(), "replace or remove it (rbmlib never writes to $RBMLIB_DATA)"),
        (cache_folder(), f"delete it and ask again, or put the file of {remote.url} in its place"),
    ]
    for folder, remedy in remedies:
        if folder is not None and (folder / remote.file).is_file():
            check(folder / remote.file, remote.sha256, remedy)
            return folder / remote.file
    return None


def check(path: Path, sha256: str, remedy: str) -> None:
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256:
        raise DataCorrupt(f"{path} is damaged: SHA-256 {found}, expected {sha256}; {remedy}")


def _download(name: str, remote: Remote) -> Path:
    pooch = _import_pooch()
    fetch = pooch.HTTPDownloader(progressbar=sys.stderr.isatty(), timeout=TIMEOUT)
    try:  # pooch writes beside, checks, and moves
        return Path(
            pooch.retrieve(
                remote.url, f"sha256:{remote.sha256}", remote.file, cache_folder(), downloader=fetch
            )
        )
    except (OSError, ValueError) as error:  # of requests, of the disk; another SHA-256
        reason = _reason(error, remote.url)
    raise DataUnavailable(
        f"{name} is not on this machine and could not be downloaded: {reason}. "
        f"Get {remote.url} (SHA-256 {remote.sha256}) and put it as {remote.file} in "
        f"{cache_folder()} or in a folder of your own, named by the environment variable "
        "RBMLIB_DATA"
    )


def _reason(error: Exception, url: str) -> str:
    """Return one line on why a download failed; those of requests run over many."""
    import requests

    if isinstance(error, requests.Timeout):
        return f"no answer within {TIMEOUT} s"
    if isinstance(error, requests.ConnectionError):
        return f"no connection to {urlsplit(url).hostname}"
    return str(error).partition("\n")[0].rstrip(".") or type(error).__name__


def _import_pooch():
    """Import pooch late and quietly: it takes 0.15 s, and warns in Jupyter without widgets."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pooch
    pooch.get_logger().setLevel("WARNING")  # it tells of each download on standard error
    return pooch
