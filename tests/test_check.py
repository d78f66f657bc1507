"""The independent check contradicts runs that missed a mode, and lets right ones be."""

import math
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from helpers_check import ferromagnet, frozen_or_liquid, log_z_of, made
from helpers_models import independent_rbm, quiet
from scipy.linalg import block_diag

import rbmlib as rl
from rbmlib.estimate import Check
from rbmlib.search.local_masses import local_masses

checking = import_module("rbmlib.search.check")
pytestmark = pytest.mark.filterwarnings("ignore::rbmlib.ConvergenceWarning")
NARROW, BASE = ferromagnet(30, 10)
LOG_Z = rl.exact(NARROW).log_z
PATH, MISLED = rl.GeometricPath(NARROW), rl.GeometricPath(NARROW, BASE)
WIDE, _ = ferromagnet(120, 40)  # 2**40 hidden states
UNKNOWN = {"std_error": np.nan, "interval": (-np.inf, np.inf), "verdict": "inconclusive"}


def numbers(estimate):
    return estimate.details["independent_check"]


RUNS = {
    "ais": lambda path: rl.ais(path, rl.schedules.linear(100), 100, rng=1),
    "bar": lambda path: rl.bar(path, rl.schedules.linear(100), 200, rng=1, start="chains"),
    "tempering": lambda path: rl.mbar_of_sample(
        rl.parallel_tempering(path, np.linspace(0, 1, 6), 10, 300, rng=1)
    ),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_that_missed_a_mode_is_contradicted(name, tmp_path):
    """From a base of the heavier of two modes: the other has a sixth of Z. And so it is saved."""
    with pytest.warns(rl.ConvergenceWarning, match="all 1,024 states lies above this value by"):
        run = RUNS[name](MISLED)
    gap = LOG_Z - run.log_z
    assert gap > 0.1
    assert (run.verdict, run.converged, run.checks[-1].passed) == ("contradicted", False, False)
    assert LOG_Z - 1e-5 < run.interval[0] < LOG_Z < run.interval[1] < LOG_Z + 1e-5
    assert min(run.std_error, run.details["disagreement"]) > gap - 1e-5
    run.save(tmp_path / "run.json")
    loaded = rl.Estimate.load(tmp_path / "run.json")
    assert (loaded.verdict, loaded.reason) == (run.verdict, run.reason)
    assert rl.check(MISLED, loaded) is loaded
    again = replace(loaded, details={}, std_error=0.01, interval=(0.0, 1.0), verdict="consistent")
    assert rl.check(MISLED, again).verdict == "contradicted"


def test_a_right_run_is_left_as_it_is():
    with rl.using(independent_check=False):
        bare = rl.ais(PATH, rl.schedules.linear(1000), 500, rng=0)
    run = rl.ais(PATH, rl.schedules.linear(1000), 500, rng=0)
    assert bare.verdict == "consistent"
    for one in (run, rl.check(PATH, bare), rl.check(PATH, run)):
        assert one.verdict == "verified"
        assert (one.log_z, one.std_error, one.interval) == (
            bare.log_z, bare.std_error, bare.interval,
        )  # fmt: skip
        assert len(one.checks) == len(bare.checks) + 1  # a check replaces the one before
    assert numbers(run)["complete"]
    assert abs(numbers(run)["log_sum"] - LOG_Z) < 1e-9


@pytest.mark.parametrize(
    ("off", "error", "ends", "said"),
    [
        (0.0, 0.01, None, "verified"), (0.015, 0.01, None, "verified"),
        (0.025, 0.01, None, "verified"), (-0.025, 0.01, None, "verified"),  # chance may do it
        (0.04, 0.01, None, "contradicted"), (-0.04, 0.01, None, "contradicted"),
        # four errors and a twentieth of a nat, however wide Student's t of a handful of chains is
        (0.3, 0.05, (-2, 2), "contradicted"), (-0.3, 0.05, (-2, 2), "contradicted"),
        (0.15, 0.05, (-2, 2), "verified"), (0.04, 0.005, (-2, 2), "verified"),
        # by the half of the interval on its side
        (0.04, 0.01, (0.02, 1), "contradicted"), (-0.04, 0.01, (0.02, 1), "verified"),
    ],
)  # fmt: skip
def test_a_sum_over_all_states_judges_both_ways(off, error, ends, said):
    given = made(LOG_Z + off, error)
    if ends:
        given = replace(given, interval=(LOG_Z + ends[0], LOG_Z + ends[1]))
    found = rl.check(PATH, given)
    assert found.verdict == said
    assert found.std_error < 0.06 + abs(off)


@pytest.mark.parametrize(
    ("off", "error", "said"),
    [(-0.1, 0.01, "contradicted"), (-0.085, 0.03, "inconclusive"), (-0.01, 0.03, "verified"),
     (0.02, 0.03, "verified"), (0.5, 0.03, "consistent")],
)  # fmt: skip
def test_a_sum_of_some_states_judges_from_below(off, error, said):
    """At 2^40 states, of which 2,000,000 hold all but a hundredth of Z; a second base agrees."""
    log_z = log_z_of(WIDE)
    found = rl.check(rl.GeometricPath(WIDE), made(log_z + off, error))
    assert log_z - 0.02 < numbers(found)["log_sum"] <= log_z
    assert not numbers(found)["complete"]
    assert found.verdict == said
    assert ("second, broader base" in found.reason) == (said == "verified")


def test_a_second_base_of_few_effective_chains_verifies_nothing(monkeypatch):
    path, right = rl.GeometricPath(WIDE), made(log_z_of(WIDE))
    assert rl.check(path, right).verdict == "verified"
    summary = checking.summarise_log_weights
    monkeypatch.setattr(checking, "summarise_log_weights", lambda w: summary(w)._replace(ess=9.0))
    few = rl.check(path, right)
    assert (few.verdict, "(ESS 9 of 200)" in few.reason) == ("consistent", True)


@pytest.mark.parametrize("seen", [{"outside": 0.2}, {"error": 0.1}, {"lost": 0.2}])
def test_a_second_base_that_finds_more_or_loses_much_verifies_nothing(monkeypatch, seen):
    found = checking.Summed.of
    monkeypatch.setattr(checking.Summed, "of", lambda *given: found(*given)._replace(**seen))
    assert rl.check(rl.GeometricPath(WIDE), made(log_z_of(WIDE))).verdict == "consistent"


def test_a_sum_that_holds_all_of_a_wrong_value_does_not_verify_it():
    """A frozen state holds all that a run from its data finds, and a fifth of Z."""
    rbm, log_z, frozen = frozen_or_liquid()
    path = rl.GeometricPath(rbm, rl.base_rate(np.tile(frozen, (50, 1))))
    run = quiet(rl.ais, path, rl.schedules.linear(400), 100, rng=0)
    assert run.log_z < log_z - 1
    found = rl.check(path, run)
    assert numbers(found)["log_sum"] > run.log_z - 0.1
    assert found.verdict in ("consistent", "contradicted")


def test_where_many_states_matter_masses_about_modes_judge():
    """A sum that holds 94% of a value .41 nats low, and grows by 1% while it doubles."""
    rbm, _ = ferromagnet(400, 60, 1.3)
    path, log_z = rl.GeometricPath(rbm), log_z_of(rbm)
    low, right = (rl.check(path, made(log_z + off, 0.01, n_chains=30)) for off in (-0.41, 0.0))
    for found in (low, right):
        assert numbers(found)["log_sum"] < log_z - 0.41
        assert numbers(found)["n_modes"] == 2
        assert abs(numbers(found)["log_local"] - log_z) < 0.05
    assert low.verdict == "contradicted"
    assert abs(low.interval[0] - log_z) < 0.1
    assert low.std_error > 0.3
    assert right.verdict == "consistent"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"log_z": np.nan}, "estimate.log_z is nan: expected a finite number"),
        ({"states": np.zeros((5, 29))}, r"estimate.states has shape \(5, 29\): expected .*, 30\)"),
        ({"states": np.full((5, 30), 0.5)}, "estimate.states holds .*0.5"),
    ],
)  # fmt: skip
def test_an_estimate_of_something_else_is_refused(changed, said):
    with pytest.raises(ValueError, match=said):
        rl.check(PATH, replace(made(LOG_Z), **changed))


def test_estimates_within_an_estimator_are_not_checked_nor_what_cannot_be_counted(monkeypatch):
    asked = []
    of_model = checking._checked
    monkeypatch.setattr(checking, "_checked", lambda *a: asked.append(1) or of_model(*a))
    rl.bar(PATH, rl.schedules.linear(50), 50, rng=0)  # which runs `ais` and `reverse_ais`
    assert len(asked) == 1
    with rl.using(independent_check=False):
        run = rl.ais(MISLED, rl.schedules.linear(100), 100, rng=1)
    assert len(asked) == 1
    assert "independent_check" not in run.details
    rl.log_z(WIDE, n_steps=100, rng=0)  # which looks further itself
    leaky = rl.LeakinessPath(rl.testsystems.orthogonal_leaky_rbm(8, 3))
    run = rl.ais(leaky, rl.schedules.linear(50), 50, rng=0)
    assert rl.check(leaky, run) is run
    assert len(asked) == 1


def test_a_bracket_is_not_contradicted_by_what_lies_inside_it():
    failed = replace(
        made(LOG_Z - 12), std_error=12.0, interval=(LOG_Z - 1e-9, np.inf), verdict="inconclusive",
        details={"checks": [Check("of its own", False)]},
    )  # fmt: skip
    found = rl.check(PATH, failed)
    assert (found.verdict, found.reason) == ("inconclusive", "of its own")


def test_a_mean_field_bound_contradicts_where_a_sum_is_of_one_mode():
    """30 visible units that 40 hidden ones hold together, and 60 more: log Z in closed form."""
    weights, bias = np.full((90, 40), 1e-9), np.zeros(90)
    weights[:30], bias[:30] = 4.0, 0.3 - 160
    ways = [math.log(math.comb(40, k)) for k in range(41)]
    held = [w + 30 * np.logaddexp(0, 4.0 * k + 0.3 - 160) for k, w in enumerate(ways)]
    log_z = 60 * math.log(2) + float(np.logaddexp.reduce(held))
    rbm = rl.BernoulliRBM(weights, bias, np.zeros(40))
    path = rl.GeometricPath(rbm, np.r_[np.full(30, 4.0), np.zeros(60)])
    with pytest.warns(rl.ConvergenceWarning, match="a mean-field bound lies above this value by 2"):
        run = rl.ais(path, rl.schedules.linear(1000), 200, rng=0)
    assert run.verdict == "contradicted"
    assert run.log_z < log_z - 2
    assert run.interval[0] <= log_z


def gaussian_and_bits(apart, rng=0):
    """Two hidden units shift real visible units ``apart`` standard deviations; 24 move them a
    little. And log Z, of blocks before a rotation hides them."""
    rng = np.random.default_rng(rng)
    blocks = [np.diag([apart, -apart]), *rng.normal(0, 0.35, (4, 6, 6))]
    w = block_diag(*blocks)
    a = rng.normal(0, 0.5, 26) - (w**2).sum(axis=0) / 2
    a[:2] = np.array([0.5, -0.3]) - apart**2 / 2
    log_z = rl.exact(rl.RBM(rl.Gaussian(np.zeros(26)), rl.Binary(a), w)).log_z
    turned = np.linalg.qr(rng.normal(size=(26, 26)))[0] @ w
    return rl.RBM(rl.Gaussian(np.zeros(26)), rl.Binary(a), turned), log_z


@pytest.mark.parametrize(("apart", "said"), [(9.0, "contradicted"), (1.0, "consistent")])
def test_a_run_that_missed_a_far_unit_of_real_visible_units_is_contradicted(apart, said):
    rbm, log_z = gaussian_and_bits(apart)
    path = rl.GeometricPath(rbm)
    run = quiet(rl.bar, path, rl.schedules.linear(300), 200, rng=0)
    assert rl.check(path, run).verdict == said
    assert (run.log_z < log_z - 1) == (said == "contradicted")
    found = local_masses(rbm.reduced()[0])
    assert found.log_lower < log_z
    assert abs(found.log_z - log_z) < 4 * found.std_error < 0.2
    value = quiet(rl.log_z, rbm, n_steps=300, n_chains=200, rng=0, enumerate_small=False)
    assert abs(value.log_z - log_z) < 0.2
    assert value.verdict == ("inconclusive" if said == "contradicted" else "consistent")


@pytest.mark.parametrize("n_modes", [1, 2])
def test_local_masses_are_unbiased(n_modes):
    """Of both modes; and of the heavier one, a part of Z."""
    runs = [local_masses(NARROW, rng=seed, n_modes=n_modes) for seed in range(100)]
    assert {run.n_modes for run in runs} == {n_modes}
    share = (NARROW.exact_samples(200_000, rng=0).mean(axis=1) > 0.5).mean() if n_modes == 1 else 1
    values = np.exp([run.log_z - LOG_Z for run in runs])
    error = values.std(ddof=1) / 10
    assert abs(values.mean() - share) < 4 * error + 0.005 * (n_modes == 1)
    assert error < 0.02
    assert np.mean([run.log_lower < LOG_Z for run in runs]) > 0.97


def test_what_local_masses_surely_exceed_is_without_the_largest_weight():
    """Where weights are all but equal the spread says nothing, and one of forty is left out."""
    found = local_masses(independent_rbm(np.linspace(-1, 1, 9), [0.3, -0.2])[0])
    assert found.n_modes == 1
    assert found.std_error < 0.005
    assert found.log_lower <= found.log_z + math.log(1 - 1 / 40)


@pytest.mark.parametrize("off", [0.1, -0.1, 0.11, -0.11])
def test_a_value_of_unknown_error_is_to_be_within_a_tenth_of_a_sum_over_all_states(off):
    said = "verified" if abs(off) < 0.105 else "contradicted"
    one = replace(made(LOG_Z + off), **UNKNOWN)
    found = rl.check(PATH, one)
    assert (found.verdict, math.isnan(found.std_error)) == (said, said == "verified")
    failed = rl.check(PATH, replace(one, details={"checks": [Check("of its own", False)]}))
    assert failed.verdict == ("inconclusive" if said == "verified" else said)
    near = rl.check(rl.GeometricPath(WIDE), replace(made(log_z_of(WIDE) + off), **UNKNOWN))
    assert near.verdict == ("contradicted" if off < -0.105 else "verified" if off < 0.105 else
                            "inconclusive")  # fmt: skip


@pytest.mark.parametrize(("order", "off"), [(1, -1.47), (3, 0.97)])
def test_a_value_that_all_orders_share_is_contradicted_by_a_sum(order, off):
    """All own checks pass: within a nat of each other they may all be a nat off."""
    rbm = rl.testsystems.random_rbm(16, 8, coupling=6.0, rng=3)
    where = f"256 states lies {'above' if off < 0 else 'below'} this value by {abs(off):.2f} nats"
    with pytest.warns(rl.ConvergenceWarning, match=f"{where}. Use rl.log_z"):
        estimate = rl.tap(rbm, order)
    log_z = rl.exact(rbm).log_z
    *own, last = (check.passed for check in estimate.checks)
    assert (all(own), last, estimate.verdict) == (True, False, "contradicted")
    assert estimate.log_z - log_z == pytest.approx(off, abs=0.01)
    assert estimate.std_error == pytest.approx(abs(off), abs=0.01)
    assert estimate.interval == pytest.approx((log_z, log_z), abs=1e-5)
