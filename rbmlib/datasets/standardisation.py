"""Pixels of mean 0 and standard deviation 1, which models of unit variance given h expect."""

from __future__ import annotations

import numpy as np

from .. import checks
from ..checks import numeric, refuse_nan

SEEN = 2000  # rows that tell whether pixels are standardised
FAR = 0.5  # from means of 0 and standard deviations of 1


class Standardisation:
    """Mean zero and standard deviation one for each pixel, and back.

    Each of the 3,072 values has its own mean and standard deviation (ddof=0), taken from the
    training images ("zero mean and standard deviation of 1 for each pixel", Li et al. 2016,
    section 4.2), and test images are moved by the same numbers. A density of standardised pixels
    is that of the bytes plus the constant ``log_jacobian``.

    Parameters
    ----------
    images : array (n_images, n_pixels)
        The training images, bytes or numbers.

    Attributes
    ----------
    mean, std : ndarray (n_pixels,)

    Raises
    ------
    ValueError
        If a pixel is the same in all images: it has no standard deviation.

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
        total = np.zeros(array.shape[1])
        square = np.zeros(array.shape[1])
        for rows in np.array_split(array, max(1, len(array) // 5000)):
            rows = rows.astype(float)  # float64 of all 50,000 images would be 1.2 GB
            total += rows.sum(axis=0)
            square += (rows**2).sum(axis=0)
        self.mean = total / len(array)
        self.std = np.sqrt(np.maximum(square / len(array) - self.mean**2, 0))
        constant = int(np.sum(self.std < 1e-6))
        if constant:
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
        out = array.astype(np.float32)
        out -= self.mean.astype(np.float32)
        out *= (1 / self.std).astype(np.float32)
        return out

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
    array = numeric(name, value, meaning)
    if array.ndim != 2 or not array.size or n_pixels not in (None, array.shape[1]):
        raise ValueError(f"{name} has shape {array.shape}: expected {meaning}")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        refuse_nan(name, array, "finite pixels")
        raise ValueError(f"{name} holds infinite values: expected finite pixels")
    return array
