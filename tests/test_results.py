"""Estimates: error bars against one chain left out in turn or their formula; files; what is said.

Tolerances are what an expansion to first order leaves with so many chains.
"""

import dataclasses
import json
import math
import re
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from helpers_models import quiet

import rbmlib as rl
from rbmbook.experiments.reference import bar_of_sample
from rbmlib import Estimate
from rbmlib.estimators.sams import Groups
from rbmlib.results import (
    DISAGREEMENT,
    Check,
    agreement,
    blocks_of_time,
    finished,
    log_mean_interval,
    needed_ess,
    of_chains,
    student_interval,
    summarise_log_weights,
)

RBM = rl.testsystems.random_rbm(12, 6, coupling=4.0, rng=0).with_(log_scale=1.25)
PATH = rl.GeometricPath(RBM, base=np.linspace(-0.5, 0.5, 12))
BETAS = rl.schedules.linear(6) ** 1.3
N = 40


@pytest.fixture(scope="module")
def guess():
    return rl.pilot(PATH, BETAS, rng=3).log_z_path


@pytest.fixture(scope="module")
def sample(guess):
    """Uneven prior, guesses off the mark, blocks and chains of their own."""
    off, prior = guess + np.linspace(0, 0.7, BETAS.size) + 5.0, np.arange(1, BETAS.size + 1)
    return rl.simulated_tempering(PATH, BETAS, off, N, 400, 1, prior=prior)


@pytest.fixture(scope="module")
def ladders():
    return rl.parallel_tempering(PATH, BETAS, 20, 200, 2)


def one_left_out(sample, read) -> float:
    """The jackknife."""
    everyone = np.arange(sample.n_chains)
    left = [quiet(read, sample.of_chains(np.delete(everyone, c))).log_z for c in everyone]
    return float(np.sqrt((len(left) - 1) * np.var(left)))


def spread(estimate) -> float:
    """Of the chains alone, without what checks or rules add."""
    checked = estimate.details["disagreement"] if not estimate.converged else 0.0
    rule = estimate.details.get("rule_error", 0.0)
    return float(np.sqrt(estimate.std_error**2 - checked**2 - rule**2))


READ = {
    "rts": partial(rl.rts_of_sample, skip=1),
    "ts": partial(rl.rts_of_sample, rao_blackwell=False, skip=1),
    "mbar": partial(rl.mbar_of_sample, skip=40),
    "bar": partial(bar_of_sample, skip=40),
    "ti": partial(rl.ti, rule="simpson", skip=1),
    "ti riemann": partial(rl.ti, rule="riemann", skip=1),
    "ti corrected": partial(rl.ti, rule="corrected", skip=1),
    "ti visited": partial(rl.ti, rao_blackwell=False, skip=1),
}


@pytest.mark.parametrize("name", READ)
def test_bars_of_a_sample_are_those_of_chains_left_out(sample, name):
    run = quiet(READ[name], sample)
    assert spread(run) == pytest.approx(one_left_out(sample, READ[name]), rel=0.03)
    assert run.log_weights.std(ddof=1) / np.sqrt(N) == pytest.approx(spread(run), rel=1e-6)


@pytest.mark.parametrize("name", ["mbar", "bar", "ti visited"])
def test_bars_of_ladders_are_those_of_ladders_left_out(ladders, name):
    found = spread(quiet(READ[name], ladders))
    assert found == pytest.approx(one_left_out(ladders, READ[name]), rel=0.05)


def test_the_corrected_rule_counts_the_spread_of_variances():
    """On three betas the correction is large, and so is what variances add to its error bar."""
    betas, bars = np.array([0.0, 0.4, 1.0]), {}
    coarse = rl.simulated_tempering(PATH, betas, rl.pilot(PATH, betas, rng=3).log_z_path, N, 200, 1)
    for rule in ("corrected", "trapezoid"):
        read = partial(rl.ti, rule=rule, skip=1)
        bars[rule] = spread(quiet(read, coarse))
        assert bars[rule] == pytest.approx(one_left_out(coarse, read), rel=0.02)
    assert abs(bars["corrected"] / bars["trapezoid"] - 1) > 0.04


def test_both_directions_mirror_their_intervals():
    betas = rl.schedules.linear(10)
    up, down = quiet(rl.ais, PATH, betas, 50, 0), quiet(rl.reverse_ais, PATH, betas, 50, 0)
    for run, sign in ((up, 1), (down, -1)):
        summary = summarise_log_weights(sign * run.log_weights)
        ends = log_mean_interval(summary, 50)
        assert run.interval == pytest.approx(sorted((sign * ends[0], sign * ends[1])))
        above, below = (run.interval[1] - run.log_z, run.log_z - run.interval[0])[::sign]
        assert above / below == pytest.approx(1 + 10 * run.std_error)
        assert (run.log_z, run.ess) == pytest.approx((sign * summary.log_mean, summary.ess))
        assert run.std_error == summary.std_error
        assert run.mean_std_error == pytest.approx(run.log_weights.std(ddof=1) / np.sqrt(50))
    assert down.interval[1] - down.log_z < down.log_z - down.interval[0]


@pytest.mark.parametrize("function", [rl.sams, rl.wang_landau])
def test_groups_have_the_spread_of_their_values(function):
    run = quiet(function, PATH, BETAS, 24, 800, 5, n_groups=6)
    values = run.log_weights
    assert values.size == 6
    assert spread(run) == pytest.approx(values.std(ddof=1) / np.sqrt(6))
    assert run.log_z == pytest.approx(values.mean())
    assert run.trace["std_error"][-1] == pytest.approx(values.std(ddof=1) / np.sqrt(6))
    assert run.interval == pytest.approx(student_interval(run.log_z, run.std_error, 6))
    assert run.trace["log_z"].shape == (run.trace["sweeps"].size, 6)
    np.testing.assert_allclose(run.trace["log_z"][-1], values)


@pytest.mark.parametrize(("passed", "error"), [(True, 0.3), (False, 0.5)])
def test_a_flagged_error_holds_the_largest_disagreement(passed, error):
    first, other = Check("one", passed, disagreement=0.4), Check("other", True, disagreement=0.1)
    run = quiet(finished, "x", 2.0, 0.3, [first, other, Check("third", True)], 9)
    assert run.std_error == pytest.approx(error)
    assert run.interval == pytest.approx(student_interval(2.0, error, 9))
    assert run.converged is passed
    assert run.details["disagreement"] == 0.4
    assert [(c.name, c.passed) for c in run.checks[:2]] == [("one", passed), ("other", True)]


@pytest.mark.parametrize("function", [rl.sams, rl.wang_landau])
def test_the_drift_of_groups_is_what_came_after_the_middle(function, monkeypatch):
    """Late value less the value halfway, base included in both: not their sum, nor its mirror."""
    seen, found = [], Groups.checks

    def look(groups):
        values = groups.log_z[:, -1].copy()
        seen.append((values + PATH.log_z_base, values - groups.half))
        return found(groups)

    monkeypatch.setattr(Groups, "checks", look)
    run = quiet(function, PATH, BETAS, 20, 600, 5, n_groups=4, start="plain")
    (values, drift), sweeps = seen[0], run.trace["sweeps"]
    halfway = run.trace["log_z"][list(sweeps).index(300)]
    np.testing.assert_allclose(drift, values - halfway, atol=1e-9)
    assert np.abs(drift).max() > 0.01
    said = next(check for check in run.checks if check.name.startswith("halves of the run"))
    z = drift.mean() / (drift.std(ddof=1) / np.sqrt(drift.size))
    assert said.value == pytest.approx(z)


def test_drift_of_states_has_a_sign_and_a_size(guess):
    whole = rl.simulated_tempering(PATH, BETAS, guess, 120, 400, 2)
    reported, wanted = [], []
    for part in range(8):
        made = whole.of_chains(slice(15 * part, 15 * part + 15))
        checks = quiet(rl.mbar_of_sample, made).checks
        reported.append(next(c.value for c in checks if c.name.startswith("halves of the run")))
        half = replace(made, delta=made.delta[:200], temperature=made.temperature[:200])
        first = quiet(rl.mbar_of_sample, half)
        last = quiet(rl.mbar_of_sample, made, skip=200)
        wanted.append((last.log_z - first.log_z) / np.hypot(spread(first), spread(last)))
    np.testing.assert_allclose(reported, wanted, atol=0.6)
    assert np.abs(wanted).max() > 1, "a mirrored drift would not be seen"


@pytest.mark.parametrize(("ratio", "passed"), [(1.9, True), (2.1, False)])
def test_errors_in_time_may_be_twice_those_of_chains(ratio, passed):
    row = np.linspace(-1, 1, 10)
    (check,) = blocks_of_time(ratio * row[:, None] + row)
    error = row.std(ddof=1) / np.sqrt(10)
    assert (check.value, check.limit) == pytest.approx((ratio, 2))
    assert check.passed is passed
    assert check.disagreement == pytest.approx(ratio * error)


@pytest.mark.parametrize(
    ("weights", "log_mean", "variance"),  # of weights over their mean, with n - 1
    [([1.0, 2.0, 3.0, 6.0], math.log(3), 14 / 27), (np.full(10, 2.0), math.log(2), 0.0),
     ([1.0, 1e-300, 1e-300, 1e-300], math.log(0.25), 4.0)],
)  # fmt: skip
def test_summaries_of_weights(weights, log_mean, variance):
    n = len(weights)
    for shift in (0.0, -5000.0):
        s = summarise_log_weights(np.log(weights) + shift)
        wanted = log_mean + shift, math.sqrt(variance / n), n / (1 + variance)
        assert tuple(s) == pytest.approx(wanted, abs=1e-9)


def test_a_single_weight_has_no_error():
    single = summarise_log_weights([2.0])
    assert (single.log_mean, math.isnan(single.std_error)) == (2.0, True)
    for interval in (student_interval(2.0, single.std_error, 1), log_mean_interval(single, 1)):
        assert interval == (-math.inf, math.inf)


def test_convergence_needs_100_effective_chains_or_half():
    for n_chains, least in ((10_000, 100), (100, 50), (12, 10), (9, 10), (1, 10)):
        assert least - 1 < needed_ess(n_chains) <= least


# files ------------------------------------------------------------------------------------


def run() -> Estimate:
    path = rl.GeometricPath(rl.testsystems.random_rbm(6, 3, rng=0))
    more = {"n_chains": 20, "rng": np.int64(3), "n_recorded": 5, "keep_chains": True}
    return rl.ais(path, rl.schedules.linear(50), **more)


def test_estimate_survives_a_file(tmp_path):
    of_nothing = {"std_error": math.nan, "interval": (-math.inf, math.inf), "ess": math.nan}
    more = {"settings": {"a": [None, -math.inf]}, "trace": {"ess": np.array([1.0, math.nan])}}
    for estimate in (run(), dataclasses.replace(run(), **of_nothing, **more)):
        estimate.save(tmp_path / "run.json")
        json.loads((tmp_path / "run.json").read_text(), parse_constant=pytest.fail)
        loaded = Estimate.load(tmp_path / "run.json")
        assert loaded.to_dict() == estimate.to_dict()
        for name in ("log_weights", "betas", "log_z_path"):
            np.testing.assert_array_equal(getattr(loaded, name), getattr(estimate, name))
        for name, column in estimate.trace.items():
            np.testing.assert_array_equal(loaded.trace[name], column)
            assert loaded.trace[name].dtype == column.dtype
        assert (loaded.interval, loaded.states) == (estimate.interval, None)
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


OTHER = [  # a field, and what it has
    ("log_z", "high"), ("log_z", None), ("std_error", [1.0]), ("interval", [0.0]),
    ("interval", [0.0, None]), ("log_weights", "abc"), ("log_z_path", [[1.0], [2.0, 3.0]]),
    ("trace", [1.0]), ("settings", None), ("details", {"checks": 3}), ("verdict", "certain"),
    ("surprise", 1),
]  # fmt: skip


def test_what_is_no_saved_estimate_is_refused(tmp_path):
    path, content = tmp_path / "run.json", run().to_dict()
    texts = [json.dumps(content | {name: value}).encode() for name, value in OTHER]
    for text in (*texts, b"\xff\xfe\x00", b"log Z = 3", b"[1, 2]", b'{"log_z": 3.0}'):
        path.write_bytes(text)
        with pytest.raises(ValueError, match=r"Estimate\.save has written|not a saved Estimate"):
            Estimate.load(path)
    for gone, kind in ((tmp_path / "gone.json", FileNotFoundError), (tmp_path, IsADirectoryError)):
        with pytest.raises(kind, match=r"^path is .*: expected a file that Estimate\.save has"):
            Estimate.load(gone)


def test_estimate_says_what_it_is():
    good = run()
    assert re.match(rf"ais: log Z = .* ± .*ESS {good.ess:.0f} of 20", str(good))
    without = dataclasses.replace(good, std_error=math.nan, ess=math.nan)
    said = f"ais: log Z = {good.log_z:.4f} nats, no error bar (6 x 3, units 0/1)"
    assert str(without) == f"{said}, verified"


@pytest.mark.parametrize("run", [
    lambda path, betas: rl.ais(path, betas, 5, rng=0),
    lambda path, betas: rl.bar(path, betas, 5, rng=0),
    lambda path, betas: rl.sams(path, betas, 4, 8, rng=0, n_groups=2),
    lambda path, betas: rl.mbar_of_sample(rl.parallel_tempering(path, betas, 2, 8, rng=0)),
])  # fmt: skip
def test_warnings_point_at_the_line_that_called_the_library(run):
    path = rl.GeometricPath(rl.testsystems.random_rbm(6, 3, rng=0), np.zeros(6))
    with pytest.warns(rl.ConvergenceWarning) as caught:
        estimate = run(path, rl.schedules.linear(2))
    assert [w.filename for w in caught] == [__file__]
    assert not estimate.converged


def test_a_difference_agrees_up_to_its_limit():
    for limit, most in ((None, DISAGREEMENT), (2.5, 2.5)):
        for sign in (-1, 1):
            assert agreement("halves", (sign * most, 1.0), limit=limit).passed
            assert not agreement("halves", (sign * np.nextafter(most, 9), 1.0), limit=limit).passed
    for difference, passed in ((0.0, True), (1e-3, False), (np.nan, False)):
        assert agreement("halves", (difference, 0.0)).passed is passed
    both = agreement("halves", (1.0, 0.3), (0.0, 0.4))
    assert (both.value, both.disagreement) == pytest.approx((2.0, 1.0))


def test_halves_of_a_run_disagree_by_nats_of_log_z():
    """Of ten blocks five put it half a nat low, and five as much high."""
    path = rl.GeometricPath(rl.testsystems.random_rbm(6, 3, rng=0))
    sample = rl.simulated_tempering(path, [0.0, 1.0], [0.0, 0.0], 8, 50, rng=0)
    log_z = np.repeat([-0.5, 0.5], 5)[:, None] + 0.01 * np.random.default_rng(0).normal(size=8)
    with pytest.warns(rl.ConvergenceWarning, match="halves of the run differ by"):
        found = of_chains("made", sample, np.zeros(2), log_z / 10)
    assert found.details["disagreement"] == pytest.approx(1.0)
    assert found.std_error == pytest.approx(1.0, abs=1e-3)
