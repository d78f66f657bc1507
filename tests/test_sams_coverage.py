"""The test of coverage on a small model, by hand: a row, and what the table shows in words."""

import numpy as np
import pandas as pd
import pytest

from rbmbook.measured import measured
from rbmbook.sams_coverage import in_words
from rbmbook.sams_coverage import tested as row_of


def test_a_row():
    """Half-widths of 95% of two groups are 12.7 standard errors: one misses, two cover."""
    groups = [[9.9, 10.1], [10.0, 12.0], [3.0, 3.1]]
    row = row_of("SAMS", groups, 10.0, 2.5)
    error = np.array([0.0, 1.0, -6.95])
    assert row["mean error"].value == pytest.approx(error.mean())
    assert row["RMSE"] == pytest.approx(np.sqrt((error**2).mean()))
    assert (row["intervals that cover"], row["round trips"]) == ("67%", 2.5)


def rows(bias):
    found = measured(bias, 0.01, 99)
    return pd.DataFrame([
        {"method": "SAMS", "mean error": found, "RMSE": 0.3, "intervals that cover": "93%",
         "round trips": 4.0},
        {"method": "binary", "mean error": found, "RMSE": 0.4, "intervals that cover": "97%",
         "round trips": 2.0},
        {"method": "local", "mean error": found, "RMSE": 0.9, "intervals that cover": "20%",
         "round trips": 0.5},
    ])  # fmt: skip


def test_in_words():
    text = in_words(rows(-0.05), 1000)
    assert "(SAMS; binary) the intervals cover in 93 to 97%" in text
    assert "95, give or take 4, with 100 estimates. The other rows (local)" in text
    assert text.endswith("is 5.0 standard errors from 0, so 1,000 sweeps from nothing leave a "
                         "bias of 0.05 nats in its RMSE of 0.30.")  # fmt: skip
    assert "which is no more than chance, 0.01 nats" in in_words(rows(0.01), 1000)
