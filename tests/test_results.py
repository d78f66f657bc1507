"""Estimates: summaries of log-weights against textbook formulas, files, what is said."""

import dataclasses
import json
import math

import numpy as np
import pytest
from scipy import stats

import rbmlib as rl
from rbmlib import Estimate
from rbmlib.results import (
    agreement,
    finished,
    log_mean_interval,
    needed_ess,
    of_chains,
    round_trips,
    student_interval,
    summarise_log_weights,
)


def test_summary_of_weights_by_hand():
    """Weights 1, 2, 3, 6: mean 3, variance of w / 3 with n - 1 is 14 / 27."""
    summary = summarise_log_weights(np.log([1.0, 2.0, 3.0, 6.0]))
    assert summary.log_mean == pytest.approx(math.log(3))
    assert summary.std_error == pytest.approx(math.sqrt(14 / 27 / 4))
    assert summary.ess == pytest.approx(4 / (1 + 14 / 27))


def test_summary_does_not_depend_on_the_scale_of_weights():
    log_weights = np.random.default_rng(0).normal(size=50)
    near, far = summarise_log_weights(log_weights), summarise_log_weights(log_weights - 5000)
    assert far.log_mean == pytest.approx(near.log_mean - 5000, abs=1e-9)
    assert (far.std_error, far.ess) == pytest.approx((near.std_error, near.ess), rel=1e-9)


def test_summary_at_the_extremes():
    equal = summarise_log_weights(np.full(10, 3.0))
    assert (equal.log_mean, equal.std_error, equal.ess) == pytest.approx((3.0, 0.0, 10.0))
    one_rules = summarise_log_weights([0.0, -800.0, -800.0, -800.0])
    assert one_rules.ess == pytest.approx(4 / (1 + 4))
    single = summarise_log_weights([2.0])
    assert single.log_mean == 2.0
    assert math.isnan(single.std_error)
    assert student_interval(2.0, single.std_error, 1) == (-math.inf, math.inf)


def test_interval_is_students():
    values = np.random.default_rng(0).normal(size=12)
    mean, error = values.mean(), values.std(ddof=1) / np.sqrt(12)
    wanted = stats.t.interval(0.95, df=11, loc=mean, scale=error)
    assert student_interval(mean, error, 12) == pytest.approx(wanted)


def test_interval_of_weights_is_students_where_they_are_even_and_wider_above_elsewhere():
    even = summarise_log_weights(1e-4 * np.random.default_rng(0).normal(size=50))
    student = student_interval(even.log_mean, even.std_error, 50)
    assert log_mean_interval(even, 50) == pytest.approx(student, rel=1e-3)
    uneven = summarise_log_weights(np.log([1.0, 2.0, 3.0, 6.0]))
    s = uneven.std_error
    half = stats.t.ppf(0.975, 3) * s
    low, high = log_mean_interval(uneven, 4)
    assert uneven.log_mean - low == pytest.approx(half)
    assert high - uneven.log_mean == pytest.approx(half * (1 + 10 * s))
    single = summarise_log_weights([2.0])
    assert log_mean_interval(single, 1) == (-math.inf, math.inf)


@pytest.mark.parametrize(
    ("ess", "n_chains", "sufficient"),
    [
        (100, 10_000, True), (99, 10_000, False), (50, 100, True), (49, 100, False),
        (10, 12, True), (9, 9, False), (9, 12, False), (1, 1, False),
    ],
)  # fmt: skip
def test_convergence_needs_100_effective_chains_or_half(ess, n_chains, sufficient):
    assert (ess >= needed_ess(n_chains)) is sufficient


# files ------------------------------------------------------------------------------------


def run() -> Estimate:
    path = rl.GeometricPath(rl.testsystems.random_rbm(6, 3, rng=0))
    more = {"n_chains": 20, "rng": np.int64(3), "n_recorded": 5, "keep_chains": True}
    return rl.ais(path, rl.schedules.linear(50), **more)


def test_estimate_survives_a_file(tmp_path):
    estimate = run()
    estimate.save(tmp_path / "run.json")
    loaded = Estimate.load(tmp_path / "run.json")
    arrays = ("log_weights", "betas", "log_z_path")
    for name in loaded.to_dict().keys() - {*arrays, "trace"}:
        assert getattr(loaded, name) == getattr(estimate, name), name
    for name in arrays:
        np.testing.assert_array_equal(getattr(loaded, name), getattr(estimate, name))
    assert loaded.trace.keys() == estimate.trace.keys()
    for name, column in estimate.trace.items():
        np.testing.assert_array_equal(loaded.trace[name], column)
    assert loaded.trace["chain_slopes"].shape == (5, 20)
    assert loaded.states is None
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]
    assert loaded.settings["rng"] == 3


def test_foreign_files_are_refused(tmp_path):
    content = run().to_dict()
    for name, text in [
        ("binary.json", b"\xff\xfe\x00"),
        ("text.json", b"log Z = 3"),
        ("list.json", b"[1, 2]"),
        ("more.json", json.dumps(content | {"surprise": 1}).encode()),
        ("less.json", json.dumps({"log_z": 3.0}).encode()),
    ]:
        (tmp_path / name).write_bytes(text)
        with pytest.raises(ValueError, match="Estimate"):
            Estimate.load(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("log_z", "high"), ("log_z", None), ("std_error", [1.0]), ("interval", [0.0]),
        ("interval", [0.0, None]), ("log_weights", "abc"), ("log_z_path", [[1.0], [2.0, 3.0]]),
        ("trace", [1.0]), ("settings", None), ("details", {"checks": 3}),
        ("verdict", "certain"),
    ],
)  # fmt: skip
def test_a_field_of_another_type_is_refused(tmp_path, name, value):
    content = run().to_dict() | {name: value}
    (tmp_path / "run.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match=r"not what Estimate\.save has written"):
        Estimate.load(tmp_path / "run.json")


def test_a_file_that_is_not_there_is_named_with_what_was_expected(tmp_path):
    for path, kind in ((tmp_path / "gone.json", FileNotFoundError), (tmp_path, IsADirectoryError)):
        with pytest.raises(kind, match=r"expected a file that Estimate\.save has") as caught:
            Estimate.load(path)
        assert str(caught.value).startswith(f"path is {str(path)!r}: ")


def test_estimate_says_what_it_is():
    good = run()
    assert "ais: log Z = " in str(good)
    assert f"ESS {good.ess:.0f} of 20" in str(good)
    assert "±" in str(good)
    bad = Estimate("ais", 1.0, 0.5, (0.0, 2.0), ess=1.2, n_chains=10, verdict="inconclusive")
    assert "inconclusive" in repr(bad)
    without = dataclasses.replace(good, std_error=math.nan, ess=math.nan)
    said = f"ais: log Z = {good.log_z:.4f} nats, no error bar (6 x 3, units 0/1)"
    assert str(without) == f"{said}, verified"
    with pytest.raises(AttributeError):
        good.log_z = 0.0


@pytest.mark.parametrize("run", [
    lambda path, betas: rl.ais(path, betas, 5, rng=0),
    lambda path, betas: rl.bar(path, betas, 5, rng=0),
    lambda path, betas: rl.rts(path, betas, 4, 8, rng=0),
    lambda path, betas: rl.mbar(path, betas, 4, 8, rng=0),
    lambda path, betas: rl.sams(path, betas, 4, 8, rng=0, n_groups=2),
    lambda path, betas: rl.mbar_of_sample(rl.parallel_tempering(path, betas, 2, 8, rng=0)),
])  # fmt: skip
def test_warnings_point_at_the_line_that_called_the_library(run):
    """However deep below it they were given."""
    path = rl.GeometricPath(rl.testsystems.random_rbm(6, 3, rng=0), np.zeros(6))
    with pytest.warns(rl.ConvergenceWarning) as caught:
        estimate = run(path, rl.schedules.linear(2))
    assert [w.filename for w in caught] == [__file__]
    assert not estimate.converged


def test_a_report_holds_the_disagreement_of_failed_checks():
    def of(*checks):
        return finished("x", 2.0, 0.3, checks, 5, settings={"rule": "r"})

    fine = of(agreement("halves differ by", (0.4, 0.2)), round_trips(3.0))
    assert fine.converged
    assert fine.std_error == 0.3
    assert fine.interval == student_interval(2.0, 0.3, 5)
    assert [str(check) for check in fine.checks] == [
        "halves differ by +2.0 standard errors (at most 3)", "round trips of a chain 3 (2 needed)",
    ]  # fmt: skip
    words = r"inconclusive: halves differ by -4.0 standard errors \(at most 3\). Increase"
    with pytest.warns(rl.ConvergenceWarning, match=words):
        found = of(agreement("halves differ by", (-0.4, 0.1)))
    assert not found.converged
    assert found.std_error == pytest.approx(0.5)


@pytest.mark.parametrize(("difference", "passed"), [(0.0, True), (1e-3, False), (np.nan, False)])
def test_parts_without_any_spread_agree_only_if_they_are_the_same(difference, passed):
    assert agreement("halves", (difference, 0.0)).passed is passed


def test_halves_of_a_run_disagree_by_nats_of_log_z():
    """Of ten blocks five put it half a nat low, and five as much high."""
    path = rl.GeometricPath(rl.testsystems.random_rbm(6, 3, rng=0))
    sample = rl.simulated_tempering(path, [0.0, 1.0], [0.0, 0.0], 8, 50, rng=0)
    log_z = np.repeat([-0.5, 0.5], 5)[:, None] + 0.01 * np.random.default_rng(0).normal(size=8)
    with pytest.warns(rl.ConvergenceWarning, match="halves of the run differ by"):
        found = of_chains("made", sample, np.zeros(2), log_z / 10)
    assert found.details["disagreement"] == pytest.approx(1.0)
    assert found.std_error == pytest.approx(1.0, abs=1e-3)
