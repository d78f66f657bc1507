"""The words in which pages are written: what they refuse, and errors that no table shows.

What they show is held to the stored notebooks.
"""

import math

import numpy as np
import pandas as pd
import pytest

from rbmbook import page
from rbmbook.measured import measured

RUNS = pd.DataFrame(
    {
        "model": ["h20", "h10", "h10", "h20"],
        "base": ["uniform", "uniform", "base rate", "base rate"],
        "log_z": [3.0, 1.0, 2.5, 7.0],
        "std_error": [0.1, 0.2, 0.3, 0.4],
    }
)


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ({"model": "h11"}, "no row has {'model': 'h11'}"),
        ({"modle": "h10"}, "no column modle: expected one of model, base"),
    ],
)
def test_pick_refuses_what_chooses_nothing(where, said):
    with pytest.raises(ValueError, match=said):
        page.pick(RUNS, **where)


def test_one_row_and_no_other_number_of_them():
    assert page.one(RUNS, model="h10", base="uniform").log_z == 1.0
    with pytest.raises(ValueError, match="2 rows have"):
        page.one(RUNS, model="h10")


def test_logarithms_have_no_plain_errors_and_tables_no_other_columns():
    with pytest.raises(ValueError, match="no column logz"):
        page.table(RUNS, "Runs.", logz=1)
    with pytest.raises(ValueError, match="scale 'log'"):
        page.pm(measured(1.0, 0.2, scale="log"))


def test_ratio_on_the_scale_of_logarithms():
    top, bottom = measured(4.0, 1.0, 2, "log"), measured(1.0, 1.0, 2, "log")
    ratio = page.over(top, bottom)
    assert ratio.value == pytest.approx(math.log(4))
    assert ratio.std_error == pytest.approx(math.sqrt(2))
    assert ratio.freedom == pytest.approx(4)
    with pytest.raises(ValueError, match="expected 'log'"):
        page.over(measured(1.0, 0.1), bottom)


def test_checks_name_each_sentence_that_does_not_hold():
    with pytest.raises(AssertionError, match=r"^large; false$"):
        page.checks({"large": RUNS.log_z > 2, "fine": True, "false": False})


def test_checks_of_nothing_are_refused():
    with pytest.raises(ValueError, match="nothing is checked: none"):
        page.checks({"fine": True, "none": np.array([]) > 0})
