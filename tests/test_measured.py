"""Means, ratios and differences of repeats with their errors, by hand."""

import math

import numpy as np
import pytest

from rbmbook import measured as ms


def test_measurements():
    a, b = np.array([2.0, 4.0, 6.0]), np.array([1.0, 2.0, 3.0])
    assert ms.difference(a, b, paired=True)[:2] == (2.0, pytest.approx(1 / math.sqrt(3)))
    welch = ms.difference(a, b)
    assert welch.std_error == pytest.approx(math.sqrt(4 / 3 + 1 / 3))
    assert welch.freedom == pytest.approx((5 / 3) ** 2 / (16 / 9 / 2 + 1 / 9 / 2))
    assert math.exp(ms.ratio(a, b).value) == pytest.approx(2)
    assert ms.ratio(a, b, paired=True)[:2] == (pytest.approx(math.log(2)), pytest.approx(0))
    assert math.exp(ms.rmse_ratio(a, b).value) == pytest.approx(2)
    assert (ms.by_training([a, b]).value, ms.difference(a, np.arange(9.0)).n) == (3.0, 3)
    assert ms.from_interval(2, 1, 4).std_error == pytest.approx(math.log(2) / 1.959964, rel=1e-6)
    assert ms.exactly(3).interval() == (3, 3)
