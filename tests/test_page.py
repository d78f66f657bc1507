"""The words in which pages are written: what they refuse, and errors that no table shows.

What they show is held to the stored notebooks.
"""

import math

import numpy as np
import pandas as pd
import pytest

from rbmbook import page
from rbmbook.measured import measured, minus

RUNS = pd.DataFrame(
    {
        "model": ["h20", "h10", "h10", "h20"],
        "base": ["uniform", "uniform", "base rate", "base rate"],
        "log_z": [3.0, 1.0, 2.5, 7.0],
        "std_error": [0.1, 0.2, 0.3, 0.4],
    }
)


REFUSED = [
    (lambda: page.pick(RUNS, model="h11"), "no row has {'model': 'h11'}"),
    (lambda: page.pick(RUNS, modle="h10"), "no column modle: expected one of model, base"),
    (lambda: page.one(RUNS, model="h10"), "2 rows have"),
    (lambda: page.table(RUNS, "Runs.", logz=1), "no column logz"),
    (lambda: page.pm(measured(1.0, 0.2, scale="log")), "scale 'log'"),
    (lambda: minus(measured(1.0, 0.1), measured(1.0, 1.0, 2, "log")), "the same scale"),
    (lambda: page.checks({"fine": True, "none": np.array([]) > 0}), "nothing is checked: none"),
]


@pytest.mark.parametrize(("call", "said"), REFUSED)
def test_what_shows_nothing_or_has_no_meaning_is_refused(call, said):
    with pytest.raises(ValueError, match=said):
        call()


def test_one_row_is_chosen():
    assert page.one(RUNS, model="h10", base="uniform").log_z == 1.0


def test_ratio_on_the_scale_of_logarithms():
    ratio = minus(measured(4.0, 1.0, 2, "log"), measured(1.0, 1.0, 2, "log"))
    assert ratio.value == pytest.approx(math.log(4))
    assert ratio.std_error == pytest.approx(math.sqrt(2))
    assert ratio.freedom == pytest.approx(4)


def test_checks_name_each_sentence_that_does_not_hold():
    with pytest.raises(AssertionError, match=r"^large; false$"):
        page.checks({"large": RUNS.log_z > 2, "fine": True, "false": False})
