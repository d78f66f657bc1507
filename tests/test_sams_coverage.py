"""The test of coverage on a small model, by hand: a row."""

import numpy as np
import pytest

from rbmbook.sams_coverage import tested as row_of


def test_a_row():
    """Half-widths of 95% of two groups are 12.7 standard errors: one misses, two cover."""
    groups = [[9.9, 10.1], [10.0, 12.0], [3.0, 3.1]]
    row = row_of("SAMS", groups, 10.0, 2.5)
    error = np.array([0.0, 1.0, -6.95])
    assert row["mean error"].value == pytest.approx(error.mean())
    assert row["RMSE"] == pytest.approx(np.sqrt((error**2).mean()))
    assert (row["intervals that cover"], row["round trips"]) == ("67%", 2.5)
