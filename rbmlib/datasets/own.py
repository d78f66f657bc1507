"""Rows of visible states from your own files."""

import os
import warnings
from pathlib import Path

import numpy as np

from .. import checks
from ..files import DAMAGED, read_arrays
from ..models.layers import OF_SPINS, are_spins

SUFFIXES = (".npy", ".npz", ".csv")
ENCODING = "utf-8-sig"  # skip the byte-order mark that spreadsheets write


def load_rows(
    path: str | os.PathLike, n_visible: int | None = None, *, threshold: float | None = None
) -> np.ndarray:
    """Read rows of visible states from a file, one sample in each row.

    Parameters
    ----------
    path : str or path
        A .npy file or an .npz file with a single array (n_samples, n_visible), or a .csv file of
        numbers separated by commas; a header line is skipped. Images (n_samples, height, width) are
        flattened. No code in a file is executed.
    n_visible : int, optional
        Required number of columns.
    threshold : float, optional
        Values above the threshold become 1, other values 0. By default, the values must be in
        [0, 1], or be the states -1 and +1 of spins, for which no threshold is allowed.

    Returns
    -------
    ndarray (n_samples, n_visible)
        uint8 if all values are 0 or 1 or a threshold is given, otherwise float64.

    Raises
    ------
    FileNotFoundError, ValueError
        If the file does not exist, is damaged, holds something else, or holds other values and no
        threshold is given.

    Examples
    --------
    >>> import tempfile, numpy as np, rbmlib as rl
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/grey.npy", np.array([[0, 200, 90], [255, 0, 130]]))
    ...     rl.datasets.load_rows(f"{folder}/grey.npy", threshold=127)
    array([[0, 1, 0],
           [1, 0, 1]], dtype=uint8)
    """
    name, rows = Path(path).name, read_numbers(path, n_visible)
    ends = f"from {rows.min()} to {rows.max()}"
    if threshold is not None:
        if are_spins(rows):
            raise ValueError(f"threshold is {threshold!r}, but {name} holds {OF_SPINS}")
        bits = rows > checks.number("threshold", threshold, "a number: what is above it becomes 1")
        if bits.all() or not bits.any():
            held = f"makes all of {name} {int(bits.all())}"
            raise ValueError(f"threshold is {threshold!r}, and {held}: expected a number {ends}")
        return bits.astype(np.uint8)
    if not are_spins(rows) and (rows.min() < 0 or rows.max() > 1):
        meaning = "zeros and ones, or intensities in [0, 1]; a threshold makes bits of other values"
        raise ValueError(f"{name} runs {ends}: expected {meaning}")
    return rows.astype(np.uint8 if np.isin(rows, (0, 1)).all() else float)


def read_numbers(path: str | os.PathLike, n_visible: int | None = None) -> np.ndarray:
    """Return the rows of a file as finite numbers."""
    source = Path(path).expanduser()
    if source.suffix.lower() not in SUFFIXES:
        raise ValueError(f"{source} is not a data file: expected one of {', '.join(SUFFIXES)}")
    if not source.is_file():
        raise FileNotFoundError(f"no data file {str(path)!r}")
    try:
        rows = checks.numeric("the file", _read(source), "an array of numbers")
    except DAMAGED as error:
        raise ValueError(f"cannot read {source.name}: {error}") from None
    rows = rows.reshape(len(rows), -1) if rows.ndim > 2 else rows
    if rows.ndim != 2 or not rows.size or n_visible not in (None, rows.shape[1]):
        meaning = f"(n_samples, {n_visible or 'n_visible'}), one column per visible unit"
        raise ValueError(f"{source.name} holds an array of shape {rows.shape}: expected {meaning}")
    checks.refuse_nan(source.name, rows, "finite numbers")
    return rows


def _read(source: Path) -> np.ndarray:
    if source.suffix.lower() != ".csv":
        arrays = read_arrays(source)
        if len(arrays) != 1:
            names = ", ".join(arrays) or "none"
            raise ValueError(f"expected one array in it, found {names}; save the data alone")
        return next(iter(arrays.values()))
    with open(source, encoding=ENCODING) as file, warnings.catch_warnings():
        if any(map(_is_number, file.readline().split(","))):  # a row with a gap is not a header
            file.seek(0)
        warnings.simplefilter("ignore", UserWarning)  # a file without rows is refused by its shape
        return np.loadtxt(file, delimiter=",", ndmin=2)


def _is_number(word: str) -> bool:
    try:
        float(word)
        return True
    except ValueError:
        return False
