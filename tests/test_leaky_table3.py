"""Readings of Table 3 of Li et al. from stored runs, by hand values."""

import numpy as np
import pandas as pd
import pytest

from rbmbook import leaky_table3

GAUSSIAN, LEAKY = leaky_table3.NAMES.values()


def trainings(*ends):
    rows = [
        {"model": f"{kind} start", "learning_rate": rate, "validation_low": low,
         "validation_high": high}
        for kind, rate, low, high in ends
    ]  # fmt: skip
    return pd.DataFrame(rows)


def test_rates_and_what_became_of_them():
    found = leaky_table3.tuning(
        trainings(
            ("leaky", 0.01, -3500.0, -3490.0),
            ("leaky", 0.1, -9000.0, -8990.0),
            ("leaky", 0.001, -3495.0, -3480.0),
            ("gaussian", 0.1, np.nan, np.nan),
            ("gaussian", 0.01, -3400.0, -3390.0),
            ("gaussian", 0.001, -3450.0, -3440.0),
        )
    )
    assert found["model"].tolist() == [GAUSSIAN] * 3 + [LEAKY] * 3
    assert found["rate"].tolist() == [0.1, 0.01, 0.001] * 2
    close = "best, by less than the brackets' widths"
    words = ["diverged", "best", "", "worse than N(0, I)", "", close]
    assert found["outcome"].tolist() == words
    assert leaky_table3.best_rates(found) == {GAUSSIAN: 0.01, LEAKY: 0.001}


def run(**changed):
    return {
        "model": "leaky_cifar10", "estimator": "both sides", "log_likelihood": -1e4, "log_z": 100.0,
        "mean_log_z": 99.0, "mean_std_error": 0.1, "reverse_mean": 101.0, "reverse_log_z": 100.0,
        "reverse_mean_error": 0.2, "n_leapfrog": 5.0, "n_temperatures": 1000, "n_chains": 50,
        "ess": 30.0, "reverse_ess": 40.0,
    } | changed  # fmt: skip


def test_ends_of_log_z():
    slices = run(n_leapfrog=np.nan, reverse_mean=97.0, n_temperatures=300)
    without = run(estimator="ais", reverse_mean=np.nan, ess=2.0, mean_log_z=90.0)
    found = leaky_table3.bounds(pd.DataFrame([without, run(), slices, run(estimator="known")]))
    assert found["path"].tolist() == ["own moments, slices only", "own moments", "from N(b, I)"]
    low = 100 - np.log(60)
    assert found["from below"].tolist() == pytest.approx([98.7, 98.7, low])
    assert found["from above"].tolist()[:2] == pytest.approx([97.6, 101.6])
    assert found["reading"].tolist() == [
        "no bound: another run finds more", "ESS at least half", "low ESS: read the ends"
    ]  # fmt: skip
    assert found["log p*"].tolist() == pytest.approx([99.0] * 3)
    assert leaky_table3.bracket(found, LEAKY) == pytest.approx((98.7, 101.6))
    crossed = leaky_table3.bounds(pd.DataFrame([run(reverse_mean=98.0)]))
    assert np.isnan(leaky_table3.bracket(crossed, LEAKY)[1])
