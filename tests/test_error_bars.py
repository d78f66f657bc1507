"""Standard errors against the same estimator with one chain left out in turn, or by their formula.

The jackknife knows nothing of influences, factors or families: a bar that is a tenth too short is
seen. Tolerances are what an expansion to first order leaves with so many chains, measured once.
"""

import warnings

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit

import rbmlib as rl
from rbmlib.estimators.bar import Bennett, bennett, bennett_error, bennett_interval
from rbmlib.estimators.sams import Groups
from rbmlib.estimators.ti import ti
from rbmlib.results import (
    DISAGREEMENT,
    Check,
    agreement,
    blocks_of_time,
    finished,
    log_mean_interval,
    student_interval,
    summarise_log_weights,
)

RBM = rl.BernoulliRBM(
    *(getattr(rl.testsystems.random_rbm(12, 6, coupling=4.0, rng=0), name)
      for name in ("weights", "visible_bias", "hidden_bias")), log_scale=1.25,
)  # fmt: skip
PATH = rl.GeometricPath(RBM, base=np.linspace(-0.5, 0.5, 12))
BETAS = rl.schedules.linear(6) ** 1.3
N = 40


@pytest.fixture(scope="module")
def sample():
    """Uneven prior, guesses off the mark, blocks and chains of their own."""
    guess = rl.pilot(PATH, BETAS, rng=3).log_z_path + np.linspace(0, 0.7, BETAS.size) + 5.0
    return rl.simulated_tempering(PATH, BETAS, guess, N, 400, 1, prior=np.arange(1, BETAS.size + 1))


@pytest.fixture(scope="module")
def ladders():
    return rl.parallel_tempering(PATH, BETAS, 20, 200, 2)


def quiet(function, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rl.ConvergenceWarning)
        return function(*arguments, **options)


def jackknife(values) -> float:
    """Standard error from the values of an estimate with each part left out."""
    values = np.asarray(values)
    return float(np.sqrt((values.size - 1) * values.var()))


def one_left_out(sample, read) -> float:
    everyone = np.arange(sample.n_chains)
    return jackknife([
        quiet(read, sample.of_chains(np.delete(everyone, c))).log_z for c in everyone
    ])  # fmt: skip


def spread(estimate) -> float:
    """Of the chains alone, without what checks or rules add."""
    checked = estimate.settings["disagreement"] if not estimate.converged else 0.0
    rule = estimate.settings.get("rule_error", 0.0)
    return float(np.sqrt(estimate.std_error**2 - checked**2 - rule**2))


READ = {
    "rts": lambda s: rl.rts_of_sample(s, skip=1),
    "ts": lambda s: rl.rts_of_sample(s, rao_blackwell=False, skip=1),
    "mbar": lambda s: rl.mbar_of_sample(s, skip=40),
    "bar": lambda s: rl.bar_of_sample(s, skip=40),
    "ti": lambda s: ti(s, rule="simpson", skip=1),
    "ti riemann": lambda s: ti(s, rule="riemann", skip=1),
    "ti corrected": lambda s: ti(s, rule="corrected", skip=1),
    "ti visited": lambda s: ti(s, rao_blackwell=False, skip=1),
}


@pytest.mark.parametrize("name", READ)
def test_bars_of_a_sample_are_those_of_chains_left_out(sample, name):
    read = READ[name]
    assert spread(quiet(read, sample)) == pytest.approx(one_left_out(sample, read), rel=0.03)


@pytest.mark.parametrize("name", ["mbar", "bar", "ti visited"])
def test_bars_of_ladders_are_those_of_ladders_left_out(ladders, name):
    read = READ[name]
    assert spread(quiet(read, ladders)) == pytest.approx(one_left_out(ladders, read), rel=0.05)


def test_log_z_of_each_chain_is_what_it_pulls_towards(sample):
    """The spread of ``log_weights`` over chains is the bar: histograms of them tell the truth."""
    for name in ("rts", "mbar", "bar", "ti"):
        run = quiet(READ[name], sample)
        assert run.log_weights.std(ddof=1) / np.sqrt(N) == pytest.approx(spread(run), rel=1e-6)


# Bennett's equation, one direction or both left out --------------------------------------------


def work_values():
    rng = np.random.default_rng(4)
    return rng.normal(-0.6, 1.1, 90), rng.normal(0.7, 1.2, 60)


def test_bar_of_independent_values_unequal_in_number():
    w, r = work_values()
    errors = [
        jackknife([bennett(np.delete(w, i), r).log_z for i in range(w.size)]),
        jackknife([bennett(w, np.delete(r, j)).log_z for j in range(r.size)]),
    ]
    error, families = bennett_error(bennett(w, r), None)
    assert error == pytest.approx(np.hypot(*errors), rel=0.02)
    assert families == w.size


def test_bar_of_families_left_out():
    """Each forward chain goes with its descendants, whose mean stands for the reverse process."""
    rng = np.random.default_rng(5)
    w = rng.normal(-0.6, 1.1, 300)
    ancestors = np.sort(rng.choice(300, 300, p=np.exp(w) / np.exp(w).sum()))
    r = 0.8 * w[ancestors] + rng.normal(0.9, 0.6, 300)

    def log_z(kept):
        back = kept[ancestors]
        return brentq(lambda x: expit(w[kept] - x).mean() - expit(x - r[back]).mean(), -5, 5)

    left = []
    for i in range(300):
        kept = np.ones(300, bool)
        kept[i] = False
        left.append(log_z(kept))
    error, families = bennett_error(bennett(w, r), ancestors)
    assert error == pytest.approx(jackknife(left), rel=0.02)
    pulls = np.array(left) - np.mean(left)
    assert families == pytest.approx((pulls**2).sum() ** 2 / (pulls**4).sum(), rel=0.05)


def test_ancestors_without_forward_value_count_with_their_descendants():
    w, r = work_values()
    ancestors = np.arange(60) % 5 + 88  # the last two forward chains, and three others
    root = bennett(w, r)
    s, t = root.forward - root.forward.mean(), root.reverse - root.reverse.mean()
    pulls = np.r_[s, 0, 0, 0]
    for descendant, ancestor in zip(t, ancestors, strict=True):
        pulls[ancestor] -= descendant
    wanted = np.sqrt(93 / 92 * (pulls**2).sum()) / root.slope
    assert bennett_error(root, ancestors, 93)[0] == pytest.approx(wanted)


def test_slope_and_interval_of_bar():
    w, r = work_values()
    root, h = bennett(w, r), 1e-6
    m = np.log(w.size / r.size)

    def excess(x):
        return expit(w - x - m).sum() - expit(x + m - r).sum()

    assert root.slope == pytest.approx((excess(root.log_z - h) - excess(root.log_z + h)) / (2 * h))
    low, high = bennett_interval(2.0, 0.1, 7, 0.05)
    half = student_interval(0.0, 0.1, 7)[1]
    assert (low, high) == pytest.approx((2.0 - half, 2.0 + 1.5 * half))
    assert bennett_error(Bennett(0.0, np.full(4, 0.5), np.full(4, 0.5)), np.arange(4)) == (0, 4)


def test_a_run_of_bar_has_these_bars():
    """From resampled chains: the values that the run kept, and how the reverse ones descend."""
    path = rl.GeometricPath(RBM, base=np.zeros(12))
    run = quiet(rl.bar, path, rl.schedules.linear(15), 150, 3, start="chains", n_burn_in=3)
    back = np.array(run.settings["reverse_log_weights"])
    assert run.log_z == bennett(run.log_weights, back).log_z
    independent = bennett_error(bennett(run.log_weights, back), None)[0]
    assert run.std_error != pytest.approx(independent, rel=0.01)
    weights = summarise_log_weights(run.log_weights)
    assert run.interval == bennett_interval(
        run.log_z, run.std_error, run.settings["families"], weights.std_error
    )
    assert run.settings["forward"] == (weights.log_mean, weights.std_error)
    above = summarise_log_weights(-back)
    assert run.settings["reverse"] == (-above.log_mean, above.std_error)
    assert run.settings["reverse_ess"] == above.ess
    exact = quiet(rl.bar, path, rl.schedules.linear(15), 150, 3, start="exact")
    assert exact.interval == student_interval(exact.log_z, exact.std_error, 150)


# weights -----------------------------------------------------------------------------------------


def test_bars_of_weights_are_those_of_weights_left_out():
    logs = np.random.default_rng(6).normal(3.0, 0.8, 400)
    summary = summarise_log_weights(logs)
    left = [summarise_log_weights(np.delete(logs, i)).log_mean for i in range(400)]
    assert summary.std_error == pytest.approx(jackknife(left), rel=0.01)
    w = np.exp(logs)
    # N / (1 + s^2) and (sum w)^2 / sum w^2 differ by the n - 1 of the sample variance
    s2 = (400 / w.sum() ** 2 * (w**2).sum() - 1) * 400 / 399
    assert summary.ess == pytest.approx(400 / (1 + s2))
    low, high = log_mean_interval(summary, 400)
    half = student_interval(0.0, summary.std_error, 400)[1]
    assert low == pytest.approx(summary.log_mean - half)
    assert high == pytest.approx(summary.log_mean + half * (1 + 10 * summary.std_error))


def test_both_directions_mirror_their_intervals():
    betas = rl.schedules.linear(10)
    up, down = quiet(rl.ais, PATH, betas, 50, 0), quiet(rl.reverse_ais, PATH, betas, 50, 0)
    for run, sign in ((up, 1), (down, -1)):
        summary = summarise_log_weights(sign * run.log_weights)
        ends = log_mean_interval(summary, 50)
        assert run.interval == pytest.approx(sorted((sign * ends[0], sign * ends[1])))
        assert run.std_error == summary.std_error
        assert run.mean_std_error == pytest.approx(run.log_weights.std(ddof=1) / np.sqrt(50))
    assert down.interval[1] - down.log_z < down.log_z - down.interval[0]


def test_groups_have_the_spread_of_their_values():
    for function in (rl.sams, rl.wang_landau):
        run = quiet(function, PATH, BETAS, 24, 800, 5, n_groups=6)
        values = run.log_weights
        assert values.size == 6
        assert spread(run) == pytest.approx(values.std(ddof=1) / np.sqrt(6))
        assert run.log_z == pytest.approx(values.mean())
        assert run.trace["std_error"][-1] == pytest.approx(values.std(ddof=1) / np.sqrt(6))
        assert run.interval == pytest.approx(student_interval(run.log_z, run.std_error, 6))
        np.testing.assert_allclose(run.trace["log_z"][-1], values)


# reports ---------------------------------------------------------------------------------------


def test_a_difference_agrees_up_to_its_limit():
    """The limit itself included, on both sides; without error only no difference agrees."""
    for limit, most in ((None, DISAGREEMENT), (2.5, 2.5)):
        for sign in (-1, 1):
            assert agreement("halves", (sign * most, 1.0), limit=limit).passed
            assert not agreement("halves", (sign * np.nextafter(most, 9), 1.0), limit=limit).passed
    assert agreement("halves", (0.0, 0.0)).passed
    assert not agreement("halves", (0.1, 0.0)).passed


@pytest.mark.parametrize(("passed", "error"), [(True, 0.3), (False, 0.5)])
def test_a_flagged_error_holds_the_largest_disagreement(passed, error):
    checks = [Check("one", passed, 0.4), Check("other", True, 0.1), Check("third", True)]
    run = quiet(finished, "x", 2.0, 0.3, checks, 9)
    assert run.std_error == pytest.approx(error)
    assert run.interval == pytest.approx(student_interval(2.0, error, 9))
    assert run.converged is passed
    assert run.settings["disagreement"] == 0.4
    assert run.settings["checks"] == {"one": passed, "other": True, "third": True}


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
    said = next(t for t in run.settings["checks"] if t.startswith("halves of the run"))
    z = drift.mean() / (drift.std(ddof=1) / np.sqrt(drift.size))
    assert f"({z:+.1f} s.e." in said


def test_drift_of_states_has_a_sign_and_a_size():
    """The drift that MBAR reports is that between its estimates from either half of the states."""
    guess = rl.pilot(PATH, BETAS, rng=3).log_z_path
    whole = rl.simulated_tempering(PATH, BETAS, guess, 120, 400, 2)
    reported, wanted = [], []
    for part in range(8):
        made = whole.of_chains(slice(15 * part, 15 * part + 15))
        checks = quiet(rl.mbar_of_sample, made).settings["checks"]
        text = next(text for text in checks if text.startswith("halves of the run"))
        reported.append(float(text.split("(")[1].split(" s.e.")[0]))
        first = quiet(rl.mbar_of_sample, made.first_blocks(5))
        last = quiet(rl.mbar_of_sample, made, skip=200)
        drift = last.log_z - first.log_z
        wanted.append(drift / np.hypot(spread(first), spread(last)))
    np.testing.assert_allclose(reported, wanted, atol=0.6)
    assert np.abs(wanted).max() > 1, "a mirrored drift would not be seen"


@pytest.mark.parametrize(("ratio", "passed"), [(1.9, True), (2.1, False)])
def test_errors_in_time_may_be_twice_those_of_chains(ratio, passed):
    """Ten blocks and ten chains, whose sums differ: the errors are those of two rows of numbers."""
    row = np.linspace(-1, 1, 10)
    (check,) = blocks_of_time(ratio * row[:, None] + row)
    error = row.std(ddof=1) / np.sqrt(10)
    assert check.text == f"error from blocks of time {ratio * error:.3f}, from chains {error:.3f}"
    assert check.passed is passed
    assert check.disagreement == pytest.approx(ratio * error)


def test_the_corrected_rule_counts_the_spread_of_variances():
    """On three betas the correction is large, and so is what variances add to its error bar."""
    betas = np.array([0.0, 0.4, 1.0])
    guess = rl.pilot(PATH, betas, rng=3).log_z_path
    coarse = rl.simulated_tempering(PATH, betas, guess, N, 200, 1)
    bars = {}
    for rule in ("corrected", "trapezoid"):

        def read(s, rule=rule):
            return ti(s, rule=rule, skip=1)

        bars[rule] = spread(quiet(read, coarse))
        assert bars[rule] == pytest.approx(one_left_out(coarse, read), rel=0.02)
    assert abs(bars["corrected"] / bars["trapezoid"] - 1) > 0.04
