"""Files: written whole or not at all; arrays read without executing anything in a file."""

import contextlib
import io
import os
import secrets
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

DAMAGED = (ValueError, KeyError, TypeError, OSError, RuntimeError, EOFError, zipfile.BadZipFile,
           zlib.error)  # fmt: skip


def checked_target(path, what: str = "path") -> Path:
    """The file that ``path`` stands for, links followed, if it can be written."""
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise ValueError(f"{what} is {str(path)!r}, no regular file: expected the name of a file")
    if not target.parent.is_dir():
        raise ValueError(f"{what} is {str(path)!r}: its folder does not exist")
    for needed in (target.parent, target):
        if needed.exists() and not os.access(needed, os.W_OK):
            raise PermissionError(f"{what} is {str(path)!r}: {needed} cannot be written")
    return target


@contextlib.contextmanager
def replacing(path, mode: str = "w"):
    """A file to write to, that takes the place of ``path`` when the block has ended.

    Until then, and after any error, what was there is as it was, and nothing is left beside it.
    A link stays a link: what it points at is replaced. Errors of the disk name the file.
    """
    target = checked_target(path)
    temporary = target.with_name(f"{target.name[:50]}.{secrets.token_hex(4)}.part")
    text: dict[str, Any] = {} if "b" in mode else {"encoding": "utf-8", "newline": ""}
    try:
        with open(temporary, mode.replace("w", "x"), **text) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            temporary.chmod(target.stat().st_mode & 0o777)
        temporary.replace(target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError) and error.errno is not None:
            reason = f"{error.strerror}; nothing was written"
            raise OSError(error.errno, reason, str(path)) from None
        raise


def write_npz(path, arrays: dict) -> None:
    """An .npz of these arrays. The dates in it are fixed: the same arrays, the same bytes."""
    if Path(path).suffix != ".npz":
        raise ValueError(f"path is {str(path)!r}: models are saved as .npz")
    with replacing(path, "wb") as file, zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.save(buffer, np.asarray(array), allow_pickle=False)
            member = zipfile.ZipInfo(f"{name}.npy")
            archive.writestr(member, buffer.getvalue(), compress_type=zipfile.ZIP_DEFLATED)


def read_arrays(path) -> dict[str, np.ndarray]:
    """The arrays of an .npz, by name; a .npy has one array, which is named ""."""
    try:
        with open(path, "rb") as file:
            found = np.load(file, allow_pickle=False)
            arrays = {"": found} if isinstance(found, np.ndarray) else dict(found.items())
        if not all(isinstance(array, np.ndarray) for array in arrays.values()):
            raise ValueError  # of a member that np.save has not written, NumPy returns the bytes
        return arrays
    except FileNotFoundError:
        raise
    except DAMAGED:  # NumPy's own words may advise what lets a file execute code
        name = Path(path).name
        raise ValueError(f"{name} is damaged, or holds more than arrays of numbers") from None
