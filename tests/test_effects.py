"""An effect and a range: within, outside, and touching."""

import numpy as np
import pytest

from rbmbook.effects import Effect, printed_spread
from rbmbook.errors import rmse
from rbmbook.measured import _jackknifed


def test_an_effect_that_touches_a_range_is_not_outside():
    """Nor within it, where it shares an end."""
    found = Effect(0.0, -1.0, 0.5, 0.1, "words")
    assert found.outside(0.6, 1.0)
    assert found.outside(-3.0, -1.1)
    assert not found.outside(0.5, 1.0)
    assert not found.outside(-3.0, -1.0)
    assert found.within(-1.1, 0.6)
    assert not found.within(-1.0, 0.6)
    assert not found.within(-1.1, 0.5)


def test_a_printed_variance_is_of_single_runs():
    found = printed_spread(3.0, None, 0.2, 20)
    assert (found.value, found.freedom, found.n) == (3.0, 19, 20)
    assert found.std_error == pytest.approx(0.1)


def test_a_ratio_of_errors_is_jackknifed_by_pairs():
    """By hand, one pair left out at a time; n pairs leave n - 1 degrees of freedom."""
    a, b = np.array([1.0, 4.0, 2.0, 7.0]), np.array([2.0, 1.0, 5.0, 3.0])
    found = _jackknifed(a, b)
    kept = [np.arange(4) != i for i in range(4)]
    without = np.array([np.log(a[k].mean() / b[k].mean()) / 2 for k in kept])
    assert found.value == pytest.approx(np.log(14 / 11) / 2)
    assert found.std_error == pytest.approx(np.sqrt(3 * without.var()))
    assert (found.freedom, found.n) == (3, 4)


def test_a_root_mean_square_is_one():
    assert rmse([3.0, -4.0, 0.0, 0.0]) == pytest.approx(2.5)
