"""Spreads of groups, and errors of means with their spread, by values worked out by hand."""

import math

import numpy as np
import pandas as pd
import pytest

from rbmbook.group_spreads import (
    pooled_runs,
    pooled_spread,
    ratio_of_rms,
    ratio_of_spreads,
    rms_with_error,
)


def test_pooled_spread_is_a_root_mean_square():
    runs = pd.DataFrame({"spread": [3.0, 4.0], "n_groups": [10, 10]})
    assert pooled_spread(runs) == (math.sqrt(12.5), 18)


def test_runs_of_several_rows_are_as_one_sample():
    parts = np.split(np.random.default_rng(1).normal(3, 2, 60), [20, 25])
    of_parts = [(len(x), x.mean(), x.var(ddof=1)) for x in parts]
    rows = pd.DataFrame(of_parts, columns=["n_runs", "log_z", "variance"])
    every = np.concatenate(parts)
    assert pooled_runs(rows) == pytest.approx((60, every.mean(), every.var(ddof=1)))


def test_ratio_of_spreads_and_of_variances():
    found = ratio_of_spreads((6.0, 18), (3.0, 9))
    assert (found.value, found.scale, found.freedom) == (math.log(2), "log", 9)
    assert found.std_error == pytest.approx(math.sqrt(1 / 36 + 1 / 18))
    squared = ratio_of_spreads((6.0, 18), (3.0, 9), power=2)
    assert squared.value == pytest.approx(2 * found.value)
    assert squared.std_error == pytest.approx(2 * found.std_error)


def test_rms_of_a_mean_with_its_spread():
    value, relative = rms_with_error(3.0, 4.0, 20)
    assert value == 5.0
    assert relative == pytest.approx(math.sqrt(4 * 9 * 16 / 20 + 2 * 256 / 19) / 50)
    draws = np.random.default_rng(0).normal(3.0, 4.0, size=(20_000, 20))
    squares = draws.mean(axis=1) ** 2 + draws.var(axis=1, ddof=1)
    assert relative == pytest.approx(squares.std() / 25 / 2, rel=0.05)


def test_ratio_of_rms():
    found = ratio_of_rms((6.0, 0.3), (3.0, 0.4), 20)
    assert (found.value, found.std_error, found.freedom) == (math.log(2), 0.5, 19)
