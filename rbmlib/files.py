"""Files: written whole or not at all, by one function; arrays read after a look at their headers.

A file that is read here may be damaged, or made to harm: nothing in it is executed, and no array
is read before its header has shown that it is of numbers, that it is as large as it says, and not
larger than an argument may be.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import secrets
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

MAX_VALUES = 2**27  # of an array in an archive: a few MB of these can hold any number of zeros
ARCHIVES = (zipfile.BadZipFile, zlib.error)
DAMAGED = (ValueError, KeyError, TypeError, OSError, RuntimeError, EOFError, *ARCHIVES)


# writing ------------------------------------------------------------------------------------


def checked_target(path, what: str = "path", but_not=()) -> Path:
    """The file that ``path`` stands for, links followed, if it can be written.

    A folder, a device or a pipe is refused, and a file of ``but_not``, however it is spelt.
    """
    try:
        target = Path(os.path.realpath(path))
        if os.path.lexists(target) and not target.is_file():
            raise ValueError(
                f"{what} is {str(path)!r}, which is no regular file: expected the name of a new "
                "file, or of one to be replaced"
            )
        for other in but_not:
            if target.exists() and other.exists() and target.samefile(other):
                raise ValueError(
                    f"{what} is {str(path)!r}, which is the file {str(other)!r} that is read: "
                    "expected another name"
                )
        if not target.parent.is_dir():
            raise ValueError(f"{what} is {str(path)!r}: its folder does not exist")
        for needed in (target.parent, target):
            if needed.exists() and not os.access(needed, os.W_OK):
                raise PermissionError(f"{what} is {str(path)!r}: {needed} cannot be written")
    except OSError as error:
        if error.errno is None:
            raise
        raise _named(error, path) from None
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
            raise _named(error, path) from None
        raise


def _named(error: OSError, path) -> OSError:
    """An error of the disk: of a file of ours its temporary name would be said, or none."""
    return OSError(error.errno, f"{error.strerror}; nothing was written", str(path))


def write_npz(path, arrays: dict, compression: int = zipfile.ZIP_DEFLATED) -> None:
    """An .npz of these arrays. The dates in it are fixed: the same arrays, the same bytes."""
    if Path(path).suffix != ".npz":
        raise ValueError(f"path is {str(path)!r}: models are saved as .npz")
    with replacing(path, "wb") as file, zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.save(buffer, np.asarray(array), allow_pickle=False)
            member = zipfile.ZipInfo(f"{name}.npy")
            archive.writestr(member, buffer.getvalue(), compress_type=compression)


# reading ------------------------------------------------------------------------------------


def read_npy(path) -> np.ndarray:
    """The array of a .npy."""
    with open(path, "rb") as file:
        return _array(file, os.fstat(file.fileno()).st_size, Path(path).name)


def read_npz(path, names=None) -> dict[str, np.ndarray]:
    """The arrays of an .npz, by name: those of ``names`` that it has, or all.

    Raises ValueError, which says what is wrong with which array.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = {i.filename.removesuffix(".npy"): i for i in archive.infolist()}
            found = {}
            for name in members if names is None else names:
                if name in members:
                    with archive.open(members[name]) as file:
                        found[name] = _array(file, members[name].file_size, name, most=MAX_VALUES)
            return found
    except DAMAGED as error:
        raise ValueError(f"{type(error).__name__}: {error}".removeprefix("ValueError: ")) from None


def _array(file, size: int, name: str, most: float = math.inf) -> np.ndarray:
    """An array in the format of NumPy, in a file of ``size`` bytes."""
    try:
        version = {(1, 0): "1_0", (2, 0): "2_0"}[np.lib.format.read_magic(file)]
        header = getattr(np.lib.format, f"read_array_header_{version}")
        shape, by_column, dtype = header(file)
    except DAMAGED:  # NumPy's own words may advise what opens the door to any code in the file
        raise ValueError(f"{name} is damaged, or no array as np.save writes them") from None
    if dtype.kind not in "buifcU":
        raise ValueError(f"{name} is an array of {dtype.name}: expected numbers")
    count = math.prod(shape)
    if count > most:
        raise ValueError(f"{name} has shape {shape}: expected at most {most:,} values")
    if min(shape, default=0) < 0 or count * dtype.itemsize != size - file.tell():
        raise ValueError(
            f"{name} is damaged: its header says {shape} of {dtype}, but {size:,} bytes are there"
        )
    content = np.empty(count * dtype.itemsize, np.uint8)
    if file.readinto(content) != content.size:
        raise ValueError(f"{name} is damaged: it ends before its last value")
    return content.view(dtype).reshape(shape, order="F" if by_column else "C")
