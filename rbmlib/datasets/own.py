"""Data of your own: rows of visible states in files, and pixels of mean 0 and deviation 1."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import numpy as np

from .. import checks
from ..files import DAMAGED, read_arrays
from ..models.layers import OF_SPINS, are_spins

SUFFIXES = (".npy", ".npz", ".csv")
ENCODING = "utf-8-sig"  # spreadsheets begin a file with a mark, which is no part of the first row


def load_rows(
    path: str | os.PathLike, n_visible: int | None = None, *, threshold: float | None = None
) -> np.ndarray:
    """Read rows of visible states, one sample a row.

    Parameters
    ----------
    path : str or path
        A .npy of one array (n_samples, n_visible), an .npz that holds exactly one such array, or
        a .csv of numbers with commas between them; a first line of names is passed over. Images
        (n_samples, height, width) are laid out as rows.
    n_visible : int, optional
        Columns that the rows must have.
    threshold : float, optional
        What is above it becomes 1, the rest 0. None: the values must be in [0, 1] as they are, or
        -1 and +1, both: the states of spins, for which there is no threshold.

    Returns
    -------
    ndarray (n_samples, n_visible)
        uint8 of zeros and ones if the file holds no others or a threshold is given, otherwise
        float64: in [0, 1], or of -1 and +1.

    Raises
    ------
    ValueError, FileNotFoundError
        Naming the file, if it is damaged, holds something else, or values outside [0, 1] and no
        threshold is given; if there is none. Nothing in it is executed.

    Examples
    --------
    >>> import tempfile, numpy as np, rbmlib as rl
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/grey.npy", np.array([[0, 200, 90], [255, 0, 130]]))
    ...     rl.datasets.load_rows(f"{folder}/grey.npy", threshold=127)
    array([[0, 1, 0],
           [1, 0, 1]], dtype=uint8)
    """
    source = Path(path).expanduser()
    if source.suffix.lower() not in SUFFIXES:
        raise ValueError(f"{source} is no data file: expected one of {', '.join(SUFFIXES)}")
    if not source.is_file():
        raise FileNotFoundError(f"no data file {str(path)!r}")
    try:
        rows = checks.numeric("the file", _read(source), "an array of numbers")
    except DAMAGED as error:
        raise ValueError(f"cannot read {source.name}: {error}") from None
    if rows.ndim > 2:
        rows = rows.reshape(len(rows), -1)
    if rows.ndim != 2 or not rows.size or n_visible not in (None, rows.shape[1]):
        raise ValueError(
            f"{source.name} holds an array of shape {rows.shape}: expected (n_samples, "
            f"{n_visible or 'n_visible'}), one column a visible unit of the model"
        )
    checks.refuse_nan(source.name, rows, "finite numbers")
    return _states(source.name, rows, threshold)


def _states(name: str, rows: np.ndarray, threshold: float | None) -> np.ndarray:
    spins = are_spins(rows)
    if spins and threshold is not None:
        raise ValueError(f"threshold is {threshold!r}: leave it out, as {name} holds {OF_SPINS}")
    if threshold is not None:
        limit = checks.number("threshold", threshold, "a number: what is above it becomes 1")
        bits = rows > limit
        if bits.all() or not bits.any():
            raise ValueError(
                f"threshold is {threshold!r}, and makes all of {name} {int(bits.all())}: expected "
                f"a number between its values, which run from {rows.min()} to {rows.max()}"
            )
        return bits.astype(np.uint8)
    if not spins and (rows.min() < 0 or rows.max() > 1):
        raise ValueError(
            f"{name} runs from {rows.min()} to {rows.max()}: expected zeros and ones, or "
            "intensities in [0, 1]; a threshold makes bits of other values"
        )
    return rows.astype(np.uint8 if np.isin(rows, (0, 1)).all() else float)


def _read(source: Path) -> np.ndarray:
    if source.suffix.lower() != ".csv":
        arrays = read_arrays(source)
        if len(arrays) != 1:
            names = ", ".join(arrays) or "none"
            raise ValueError(f"expected one array in it, found {names}; save the data alone")
        return next(iter(arrays.values()))
    with open(source, encoding=ENCODING) as file:
        first = file.readline().split(",")
    is_header = not any(map(_is_number, first))  # a row with a gap in it is no line of names
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of no rows, which is refused by its shape
        return np.loadtxt(
            source, delimiter=",", ndmin=2, skiprows=int(is_header), encoding=ENCODING
        )


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


# pixels -------------------------------------------------------------------------------------

SEEN = 2000  # rows that tell whether pixels are standardised
FLOAT32_MEANS = 1e3  # standard deviations: further from 0, pixels lose digits in float32
FAR = 0.5  # from means of 0 and standard deviations of 1


class Standardisation:
    """Mean zero and standard deviation one for each pixel, and back.

    Each pixel has its own mean and standard deviation (ddof=0), taken from the training images (Li
    et al. 2016, section 4.2), and test images are moved by the same numbers. A density of
    standardised pixels is that of the bytes plus the constant ``log_jacobian``.

    Parameters
    ----------
    images : array (n_images, n_pixels)
        The training images, bytes or numbers; ValueError if a pixel is the same in all.

    Attributes
    ----------
    mean, std : ndarray (n_pixels,)

    Examples
    --------
    >>> scale = Standardisation([[0, 10], [4, 30]])
    >>> scale([[0, 30]])
    array([[-1.,  1.]], dtype=float32)
    >>> scale.inverse([[-1, 1]])
    array([[ 0., 30.]])
    """

    def __init__(self, images):
        array = _rows("images", images)
        total, square = np.zeros((2, array.shape[1]))
        for rows in np.array_split(array, max(1, len(array) // 5000)):
            rows = rows - array[0].astype(float)  # all of 50,000 images would be 1.2 GB
            total += rows.sum(axis=0)
            square += (rows**2).sum(axis=0)
        mean = total / len(array)  # less the first image, or values far from 0 lose their spread
        self.mean, self.std = array[0] + mean, np.sqrt(np.maximum(square / len(array) - mean**2, 0))
        if constant := int(np.sum(self.std < 1e-6)):
            raise ValueError(
                f"images has {constant} pixels that are the same in every image: expected pixels "
                "that vary; leave those out"
            )

    @classmethod
    def of_moments(cls, mean, std) -> Standardisation:
        """From means and standard deviations (n_pixels,) that are known already."""
        scale = object.__new__(cls)
        scale.mean = checks.array("mean", mean, (None,), "(n_pixels,)")
        shape = f"({scale.mean.size},), one a pixel"
        scale.std = checks.array("std", std, scale.mean.shape, shape)
        if not (scale.std > 0).all():
            raise ValueError(f"std goes down to {scale.std.min()}: expected numbers above 0")
        return scale

    def __call__(self, images) -> np.ndarray:
        """Standardised pixels (n_images, n_pixels), float32."""
        array = _rows("images", images, self.mean.size)
        near = (np.abs(self.mean) <= FLOAT32_MEANS * self.std).all()
        kind = np.float32 if near else np.float64
        out: np.ndarray = array.astype(kind)
        out -= self.mean.astype(kind)
        out *= (1 / self.std).astype(kind)
        return out.astype(np.float32, copy=False)

    def inverse(self, pixels) -> np.ndarray:
        """The numbers that these standardised pixels stand for (not rounded, not clipped)."""
        return _rows("pixels", pixels, self.mean.size) * self.std + self.mean

    @property
    def log_jacobian(self) -> float:
        """log p(image) - log p(standardised image), nats."""
        return -float(np.log(self.std).sum())


def check_standardised(name: str, pixels) -> np.ndarray:
    """The pixels (n, n_pixels), if in the first 2,000 rows mean and variance are near 0 and 1.

    Models of unit variance given h (`GaussianRBM`, `LeakyRBM`) fit no others, and training on
    bytes or on [0, 1] fails without a word. A part of a standardised set passes.
    """
    array = _rows(name, pixels)
    checks.array(name, array[:SEEN], (None, None), "(n_samples, n_visible)")
    seen = array[:SEEN].astype(float)
    means, variances = seen.mean(axis=0), seen.var(axis=0)
    shift, spread = np.sqrt((means**2).mean()), variances.mean()
    if shift > FAR or not 1 / (1 + FAR) ** 2 <= spread <= (1 + FAR) ** 2:
        raise ValueError(
            f"{name} is not standardised: its pixels have means of {shift:.3g} (root mean square) "
            f"and a mean variance of {spread:.3g}, expected about 0 and 1; use "
            "scale = rl.Standardisation(train), then scale(train)"
        )
    return array


def _rows(name: str, value, n_pixels: int | None = None) -> np.ndarray:
    meaning = f"(n_images, {n_pixels or 'n_pixels'})"
    array = checks.numeric(name, value, meaning)
    if array.ndim != 2 or not array.size or n_pixels not in (None, array.shape[1]):
        raise ValueError(f"{name} has shape {array.shape}: expected {meaning}")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        checks.refuse_nan(name, array, "finite pixels")
        raise ValueError(f"{name} holds infinite values: expected finite pixels")
    return array
