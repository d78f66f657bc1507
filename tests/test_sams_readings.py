"""The report's table of SAMS: how stored runs are put together, one verdict of many readings."""

import numpy as np
import pandas as pd
import pytest

from rbmbook import sams_readings, stored_results
from rbmbook.claims import claims
from rbmbook.verdicts import CONTRADICTED, DEPENDS, NOT_DECIDED, REPRODUCED

SETTING = {
    "schedule": "linear", "n_temperatures": 99, "jump": "global", "constant": "kept",
    "n_sweeps": 5000, "n_runs": 20, "model": "h500",
}  # fmt: skip
PRINTED = 512.70, 486.2


def of_readings(*means, variance=PRINTED[1]):
    rows = [
        SETTING | {"rbm_a": f"base {i}", "log_z": mean, "variance": variance}
        for i, mean in enumerate(means)
    ]
    return sams_readings.readings(pd.DataFrame(rows))


def of_random_ladders(n, rng):
    """Twenty runs' worth of ladders: a mean for each, of two runs apart by their own spread."""
    ladder, runs = rng.normal(500, 6, size=n), rng.normal(0, 2, size=(n, 2))
    of_row = {"log_z": ladder + runs.mean(axis=1), "variance": runs.var(axis=1, ddof=1)}
    more = SETTING | {"rbm_a": "zero", "schedule": "random", "n_runs": 2}
    return pd.DataFrame(of_row).assign(**more), (ladder[:, None] + runs)


def test_a_variance_on_random_ladders_is_that_of_one_run_on_its_own_ladder():
    stored, _ = of_random_ladders(20_000, np.random.default_rng(0))
    row = sams_readings.readings(stored).iloc[0]
    assert row["n"] == 20_000
    assert row["log_z"] == pytest.approx(500, abs=0.2)
    assert row["variance"] == pytest.approx(6**2 + 2**2, rel=0.05)


def test_a_row_of_runs_is_taken_as_it_is():
    row = of_readings(505.0, variance=3.0).iloc[0]
    assert (row["n"], row["log_z"], row["variance"]) == (20, 505.0, 3.0)


def test_one_reading_that_fits_and_one_that_does_not_make_it_depend():
    both = sams_readings.verdicts(of_readings(PRINTED[0], 300.0, variance=1.0))["h500", "mean"]
    assert both.outcome == DEPENDS
    assert "reproduced by base 0, 5,000 sweeps" in both.note
    assert "contradicted by base 1, 5,000 sweeps" in both.note
    assert both.ours == "300 to 512.7, 2 readings"


@pytest.mark.parametrize(
    ("means", "outcome"),
    [
        ((PRINTED[0], PRINTED[0] + 1), REPRODUCED),
        ((300.0, 310.0), CONTRADICTED),
        ((PRINTED[0] + 15.0, 300.0), NOT_DECIDED),
    ],
)
def test_without_a_turn_it_does_not(means, outcome):
    table = of_readings(*means, variance=1.0)
    assert sams_readings.verdicts(table)["h500", "mean"].outcome == outcome


def test_words_tell_what_differs():
    rows = [
        SETTING | {"rbm_a": "zero", "log_z": 1.0, "variance": 1.0} | changed
        for changed in (
            {}, {"schedule": "random"}, {"n_temperatures": 49}, {"jump": "local"},
            {"constant": "dropped"},
        )
    ]  # fmt: skip
    said = [sams_readings.words(r) for r in sams_readings.readings(pd.DataFrame(rows)).itertuples()]
    assert said[0] == "zero, 5,000 sweeps"
    assert said[1:3] == [
        "zero, random ladders, 5,000 sweeps",
        "zero, 50 temperatures, 5,000 sweeps",
    ]
    assert said[3:] == ["zero, local jumps, 5,000 sweeps", "zero, Z_A out, 5,000 sweeps"]


def test_every_number_of_the_table_is_judged_once():
    found = sams_readings.verdicts(sams_readings.readings(stored_results("sams_printed")))
    names = [v.name for v in found.values()]
    ends = ("-logz", "-var")
    wanted = {n for n in claims() if n.startswith("wang-sams-h") and n.endswith(ends)}
    assert len(names) == len(set(names)) == 8
    assert set(names) == wanted
