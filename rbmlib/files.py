"""Write files completely or not at all, and read arrays without executing code in a file."""

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
    """Follow the links of ``path``, check that the file can be written, and return it."""
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
    """Open a temporary file that replaces ``path`` at the end of the block.

    Until then, and after an error, ``path`` is unchanged; an error removes the temporary file. If
    ``path`` is a link, the file that it points to is replaced. An OSError names ``path``.
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
    """Write an .npz file with fixed dates, so that the same arrays give the same bytes."""
    if Path(path).suffix != ".npz":
        raise ValueError(f"path is {str(path)!r}: models are saved as .npz")
    with replacing(path, "wb") as file, zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.save(buffer, np.asarray(array), allow_pickle=False)
            member = zipfile.ZipInfo(f"{name}.npy")
            archive.writestr(member, buffer.getvalue(), compress_type=zipfile.ZIP_DEFLATED)


def read_arrays(path) -> dict[str, np.ndarray]:
    """Return the arrays of an .npz file by name; the array of an .npy file is named ""."""
    try:
        with open(path, "rb") as file:
            found = np.load(file, allow_pickle=False)
            arrays = {"": found} if isinstance(found, np.ndarray) else dict(found.items())
        if not all(isinstance(array, np.ndarray) for array in arrays.values()):
            raise ValueError  # NumPy returns the bytes of a member that np.save did not write
        return arrays
    except FileNotFoundError:
        raise
    except DAMAGED:  # NumPy's message may suggest a setting that lets files execute code
        name = Path(path).name
        raise ValueError(f"{name} is damaged, or holds more than arrays of numbers") from None
