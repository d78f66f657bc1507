"""Who is first at equal time: which runs speak for a method, and what is drawn again."""

import compare_rivals
import numpy as np
import pandas as pd
import pytest
from helpers_book import REPOSITORY

import rbmlib as rl
from rbmbook import load_reference, ranking


def runs(method, seconds, errors, bar=0.05, source="compare", flagged=False, doubt=0.0):
    """Of the model h20, with these errors."""
    errors = np.asarray(errors, float)
    return pd.DataFrame({
        "model": "h20", "method": method, "source": source, "size": int(1000 * seconds),
        "seed": np.arange(errors.size), "budget": seconds, "seconds": float(seconds),
        "std_error": bar, "error": errors, "covered": 1.0, "flagged": flagged, "doubt": doubt,
    })  # fmt: skip


def cells(*parts):
    return ranking.cells(pd.concat(parts, ignore_index=True))


def normal(seed, scale=0.05, n=20):
    """Errors whose root mean square is ``scale`` exactly."""
    x = np.random.default_rng(seed).normal(size=n)
    return scale * x / np.sqrt(np.mean(x**2))


def test_the_longest_runs_speak_for_a_method_whatever_their_errors():
    table = cells(
        runs("AIS", 1, normal(0, 0.01)),
        runs("AIS", 10, normal(1, 0.08), bar=0.08),
        runs("AIS", 90, normal(2, 0.01), source="start"),
        runs("AIS", 30, normal(2, 0.01, n=4)),
    )
    (row,) = ranking.longest(table, "h20").itertuples()
    assert (row.seconds, row.n, row.source) == (10, 20, "compare")
    assert row.effort == pytest.approx(10 * (0.08 / 0.05) ** 2)
    assert row.floor == 0


def test_without_runs_of_the_sweep_those_of_other_chapters_speak():
    table = cells(runs("RTS", 3, normal(0), source="start"), runs("RTS", 9, normal(1), source="x"))
    (row,) = ranking.longest(table, "h20").itertuples()
    assert row.source == "x"


def test_no_effort_is_shorter_than_a_run_that_missed_the_precision():
    table = cells(runs("AIS", 1, normal(0, 0.2), bar=0.2), runs("AIS", 10, normal(1, 0.005)))
    (row,) = ranking.longest(table, "h20").itertuples()
    assert (row.floor, row.effort) == (1, 1)
    efforts = ranking.drawn(ranking.longest(table, "h20"))
    assert efforts.min() == 1
    alone = ranking.longest(cells(runs("AIS", 10, normal(1, 0.005))), "h20")
    assert alone["effort"].tolist() == [10]  # nothing says that less would do
    assert ranking.drawn(alone).min() == 10
    barely = cells(runs("AIS", 1, normal(0, 0.055)), runs("AIS", 10, normal(1, 0.005)))
    efforts = ranking.drawn(ranking.longest(barely, "h20"))
    assert 0.6 < (efforts == 1).mean() < 0.9  # of the draws of that run, some do not miss it


@pytest.mark.parametrize("n", [20, 5])
def test_equal_values_are_compared_by_their_seconds_alone(n):
    errors = normal(0, n=n)
    table = cells(runs("AIS", 1, errors, bar=0.1), runs("SMC", 1.1, errors, bar=0.1))
    ranked = ranking.ranking(table, "h20").set_index("method")
    assert ranked.loc["SMC", "first"] == 0
    assert ranked.loc["AIS", "first"] > 0.8  # its bar holds in most draws
    other = cells(runs("AIS", 1, errors, bar=0.1), runs("SMC", 1.1, normal(1, n=n), bar=0.1))
    assert ranking.ranking(other, "h20").set_index("method").loc["SMC", "first"] > 0.2


def test_a_method_whose_bar_fails_is_not_ranked():
    table = cells(runs("AIS", 1, normal(0), bar=0.03), runs("RTS", 50, normal(1), bar=0.08))
    assert ranking.ranking(table, "h20")["method"].tolist() == ["RTS"]
    assert not ranking.longest(table, "h20").set_index("method").loc["AIS", "holds"]


# whether error bars hold ---------------------------------------------------------------------


def test_honest_bars_are_rejected_in_one_case_of_twenty():
    for n, doubt in ((5, 0.0), (20, 0.0), (5, 0.08)):
        rng = np.random.default_rng(n)
        errors = 0.05 * rng.standard_normal((4000, n)) + doubt * rng.standard_normal((4000, 1))
        squares = [ranking.misfit(row, np.full(n, 0.05), doubt) for row in errors]
        rejected = np.mean(
            np.array(squares) > {5: 11.0705, 20: 31.4104}[n]
        )  # tables of chi-squared
        assert abs(rejected - 0.05) < 4 * np.sqrt(0.05 * 0.95 / 4000), (n, doubt)


def test_the_limit_of_five_repeats_is_that_of_chi_squared():
    """Errors that are so many bars: 11.07 / 5 in the mean square, not 1.2 squared."""
    for ratio, holds in ((1.48, True), (1.50, False)):
        (row,) = ranking.longest(cells(runs("AIS", 1, [0.05 * ratio] * 5)), "h20").itertuples()
        assert row.holds is holds
        assert row.ratio == pytest.approx(ratio)


def test_an_error_that_all_share_is_that_of_the_reference():
    """Five runs 2 bars off: 20 of 5 degrees; 4 / 1.2 if the reference may be off by a bar."""
    alone, joint = (cells(runs("AIS", 1, [0.1] * 5, doubt=doubt)) for doubt in (0.0, 0.05))
    assert 5 * alone["ratio"].item() ** 2 == pytest.approx(20)
    assert 5 * joint["ratio"].item() ** 2 == pytest.approx(20 / 6)
    assert alone["chance"].item() == pytest.approx(0.00125, rel=0.01)
    assert ranking.longest(joint, "h20")["holds"].item()
    wrong = [cells(runs("AIS", 1, [0.2], doubt=doubt))["unflagged_failures"].item()
             for doubt in (0.0, 0.05)]  # fmt: skip
    assert wrong == [1, 0]  # 4 bars, and 2.8 of both together


def test_what_is_flagged_promises_nothing_whoever_made_it():
    wide, short = (
        cells(runs("AIS", 1, [*[0.05] * 6, 1.0, 1.0], bar=[*[0.05] * 6, bar, bar],
                   flagged=[False] * 6 + [True] * 2))
        for bar in (1.0, 0.05)
    )  # fmt: skip
    assert wide["ratio"].item() == short["ratio"].item() == pytest.approx(1)
    assert ranking.longest(wide, "h20")["holds"].item()
    for n_flagged, holds in ((2, True), (3, False), (6, False)):
        flags = np.arange(6) < n_flagged
        table = cells(runs("AIS", 1, normal(0, 0.01, n=6), flagged=flags))
        assert ranking.longest(table, "h20")["holds"].item() is holds
        assert len(ranking.ranking(table, "h20")) == holds


def test_intervals_count_of_runs_without_a_flag_and_with_the_error_of_the_reference():
    known = load_reference()["h100"]  # of which 0.018 nat are not known
    table = pd.DataFrame({
        "model": "h100", "method": "AIS", "budget": 1.0, "size": 1, "seed": range(4),
        "log_z": known.log_z + np.array([0.0, 0.03, 0.05, 9.0]), "std_error": 0.01,
        "converged": [True, True, True, False],
    })  # fmt: skip
    table = table.assign(low=table["log_z"] - 0.02, high=table["log_z"] + 0.02)
    table.attrs["provenance"] = {"seconds": [1.0] * 4}
    found = ranking.of_sweep(table)
    # 0.03 is beyond the interval, and within it and two errors of the reference
    assert found["covered"].tolist()[:3] == [1.0, 1.0, 0.0]
    assert np.isnan(found["covered"].iloc[3])
    assert found["doubt"].tolist() == [known.std_error] * 4


@pytest.mark.nightly
@pytest.mark.parametrize("n", [20, 5])
def test_intervals_of_the_effort_hold(n):
    inside = []
    for seed in range(300):
        errors = np.random.default_rng(seed).normal(scale=0.05, size=n)
        table = cells(runs("AIS", 1, errors, bar=1.0), runs("AIS", 0.5, normal(0, 0.01)))
        (row,) = ranking.ranking(table, "h20", 500).itertuples()
        inside.append(row.low <= 1 <= row.high)
    assert (0.85 if n == 20 else 0.92) < np.mean(inside) < 0.985


def test_runs_of_different_sweeps_are_drawn_apart():
    """They share no seeds; methods of one sweep do."""
    draws, errors = ranking._Draws(50, seed=0), normal(0)
    one, same, other = (draws.means(errors, source) for source in ("compare", "compare", "start"))
    assert one.tolist() == same.tolist()
    assert (one != other).mean() > 0.9


def test_errors_are_those_from_the_reference_set():
    table = pd.read_csv(REPOSITORY / "data/results/compare_rivals.csv")
    reference = {name: known.log_z for name, known in load_reference().items()}
    rows = table[table["log_z"].notna()]
    assert (rows["error"] - rows["log_z"] + rows["model"].map(reference)).abs().max() < 1e-5
    assert set(table.loc[table["log_z"].isna(), "tool"]) == {"scikit-learn"}


def test_the_procedure_of_pydeep_is_unbiased_where_enumeration_knows():
    rbm = rl.testsystems.random_rbm(12, 6, coupling=2.0, rng=0)
    found = compare_rivals.pydeep(rbm, "its defaults", (500, 100), 0, None)
    exact = rl.exact(rbm).log_z
    assert abs(found["log_z"] - exact) < 4 * found["std_error"] < 0.2
