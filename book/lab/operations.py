"""How many operations on numbers a computation takes, counted while it runs.

An array of `counting` numbers goes through plain NumPy as any other: sums, products, comparisons,
exponentials and logarithms of its elements are counted, copies and indices are not.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

_BOTH_WAYS = ["add", "sub", "mul", "truediv", "pow"]
_ARITHMETIC = [*_BOTH_WAYS, *(f"r{name}" for name in _BOTH_WAYS), "neg", "abs"]
_ORDER = ["lt", "le", "gt", "ge"]


class Counted(float):
    """A number that counts what is done with it, in `Counted.n`."""

    n = 0

    def exp(self) -> Counted:
        """For `numpy.exp`, which looks for it in arrays of objects."""
        Counted.n += 1
        return Counted(math.exp(self))

    def log(self) -> Counted:
        """For `numpy.log`."""
        Counted.n += 1
        return Counted(math.log(self))


def _counts(name: str, makes: type) -> None:
    plain = getattr(float, name)

    def method(self, *other):
        Counted.n += 1
        return makes(plain(self, *map(float, other)))

    setattr(Counted, name, method)


for _name in _ARITHMETIC:
    _counts(f"__{_name}__", Counted)
for _name in _ORDER:
    _counts(f"__{_name}__", bool)


def counting(values) -> np.ndarray:
    """An array whose elements are counted numbers."""
    x = np.asarray(values, dtype=float)
    return np.array([Counted(value) for value in x.ravel()], dtype=object).reshape(x.shape)


def operations(work: Callable[[], object]) -> int:
    """How many operations ``work`` makes with `counting` numbers.

    Examples
    --------
    >>> a, b = counting([[1, 2, 3], [4, 5, 6]]), counting([1, 2, 3])
    >>> operations(lambda: a @ b)  # six products and four sums
    10
    """
    before = Counted.n
    work()
    return Counted.n - before


def solved(matrix, right) -> np.ndarray:
    """Gaussian elimination without pivots, for counts: `numpy.linalg` takes no counted numbers.

    Examples
    --------
    >>> solved([[2.0, 1.0], [1.0, 3.0]], [3.0, 4.0]).tolist()
    [1.0, 1.0]
    """
    a, x = np.array(matrix), np.array(right)
    for i in range(len(x)):
        factor = a[i + 1 :, i] / a[i, i]
        a[i + 1 :, i:] = a[i + 1 :, i:] - factor[:, None] * a[i, i:]
        x[i + 1 :] = x[i + 1 :] - factor * x[i]
    for i in range(len(x))[::-1]:
        x[i] = (x[i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
    return x
