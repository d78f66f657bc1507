"""A second opinion refutes runs that missed a mode, and lets right ones be."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from helpers_check import FEW, ferromagnet, log_z_of, made
from helpers_models import independent_rbm, quiet
from scipy.linalg import block_diag

import rbmlib as rl
from rbmbook.gaussian_base import GaussianBasePath
from rbmbook.hard_systems import union_rbm
from rbmbook.testsystems import of_spins
from rbmlib.search import opinion as opinions
from rbmlib.search.local_masses import LocalMasses, local_masses

pytestmark = pytest.mark.filterwarnings("ignore::rbmlib.ConvergenceWarning")


NARROW, BASE = ferromagnet(30, 10)
LOG_Z = rl.exact(NARROW).log_z
PATH, MISLED = rl.GeometricPath(NARROW), rl.GeometricPath(NARROW, BASE)
WIDE, BASE_OF_WIDE = ferromagnet(120, 40)  # 2**40 hidden states


def verdict(estimate):
    return estimate.details["second_opinion"]["verdict"]


RUNS = {
    "ais": lambda path: rl.ais(path, rl.schedules.linear(100), 100, rng=1),
    "bar": lambda path: rl.bar(path, rl.schedules.linear(100), 200, rng=1, start="chains"),
    "tempering": lambda path: rl.mbar_of_sample(
        rl.parallel_tempering(path, np.linspace(0, 1, 6), 10, 300, rng=1)
    ),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_that_missed_a_mode_is_refuted(name):
    """From a base of the heavier of two modes: the other has a sixth of Z."""
    with pytest.warns(rl.ConvergenceWarning, match="1,024 hidden states lies .* above this value"):
        run = RUNS[name](MISLED)
    assert run.log_z < LOG_Z - 0.1
    assert verdict(run) == "refuted"
    assert not run.converged
    assert math.isinf(run.interval[1])
    assert LOG_Z - 1e-5 < run.interval[0] < LOG_Z
    assert run.std_error > LOG_Z - run.log_z - 1e-5
    assert run.details["disagreement"] > LOG_Z - run.log_z - 1e-5
    assert run.checks[-1].passed is False
    assert "refuted" in str(run)


def test_a_sum_above_the_value_that_still_grows_is_given_more_time():
    """A ferromagnet of unequal couplings, of which the run loses the lighter mode."""
    n, m, rng, k = 200, 80, np.random.default_rng(1), np.arange(81)
    u = rng.normal(1, 0.4, n)
    u /= np.linalg.norm(u)
    coupling, field = 1.6 * u / math.sqrt(m), 0.04 * u
    fields = field + np.outer(2 * k - m, coupling)
    ways = [math.log(math.comb(m, i)) for i in k]
    log_z = np.logaddexp.reduce(ways + np.logaddexp(fields, -fields).sum(axis=1))
    rbm = of_spins(np.outer(coupling, np.ones(m)), field, np.zeros(m))
    run = rl.ais(rl.GeometricPath(rbm), rl.schedules.linear(1000), 100, rng=0)
    assert run.log_z < log_z - 0.3
    assert verdict(run) == "refuted"
    assert run.details["second_opinion"]["log_sum"] <= log_z


def test_a_right_run_is_left_as_it_is():
    run = rl.ais(PATH, rl.schedules.linear(1000), 500, rng=0)
    bare = replace(run, details={k: v for k, v in run.details.items() if k != "second_opinion"})
    again = rl.check(PATH, bare)
    for one in (run, again):
        assert verdict(one) == "agrees"
        assert (one.log_z, one.std_error, one.interval, one.converged) == (
            bare.log_z, bare.std_error, bare.interval, True,
        )  # fmt: skip
    assert run.details["second_opinion"]["complete"]
    assert abs(run.details["second_opinion"]["log_sum"] - LOG_Z) < 1e-9


@pytest.mark.parametrize(
    ("off", "said"),
    [(0.0, "agrees"), (0.015, "agrees"), (-0.015, "agrees"), (-0.03, "refuted"),
     (0.04, "refuted"), (0.025, "agrees")],  # too high by less than three errors is chance
)  # fmt: skip
def test_a_sum_over_all_states_judges_both_ways(off, said):
    found = rl.check(PATH, made(LOG_Z + off))
    assert verdict(found) == said
    assert found.converged == (said == "agrees")
    assert found.interval[0] < LOG_Z < found.interval[1] or off == 0.025
    assert found.std_error < 0.05
    assert len(rl.check(PATH, found).checks) == 1  # an opinion replaces the one before


def test_how_far_an_exact_sum_lies_below_is_judged_by_the_lower_half():
    skewed = replace(made(LOG_Z + 0.04), interval=(LOG_Z + 0.02, LOG_Z + 1))
    assert verdict(rl.check(PATH, skewed)) == "refuted"


@pytest.mark.parametrize(
    ("off", "said"), [(-0.1, "refuted"), (-0.01, "cannot tell"), (0.02, "agrees"), (0.5, "cannot")]
)
def test_a_sum_of_some_states_judges_from_below(off, said):
    """At 2^40 states."""
    log_z = log_z_of(WIDE)
    found = rl.check(rl.GeometricPath(WIDE), made(log_z + off, 0.03 if off > -0.05 else 0.01))
    opinion = found.details["second_opinion"]
    assert log_z - 0.02 < opinion["log_sum"] <= log_z
    assert not opinion["complete"]
    assert opinion["verdict"].startswith(said)


def test_where_many_states_matter_local_masses_judge():
    """A sum that holds 94% of a value .41 nats low, and grows by 1% while it doubles."""
    rbm, _ = ferromagnet(400, 60, 1.3)
    path, log_z = rl.GeometricPath(rbm), log_z_of(rbm)
    low, right = (rl.check(path, made(log_z + off, 0.01, n_chains=30)) for off in (-0.41, 0.0))
    for found in (low, right):
        opinion = found.details["second_opinion"]
        assert opinion["log_sum"] < log_z - 0.41
        assert opinion["n_modes"] == 2
        assert abs(opinion["log_local"] - log_z) < 0.05
    assert verdict(low) == "refuted"
    assert abs(low.interval[0] - log_z) < 0.1
    assert low.std_error > 0.3
    assert right.converged
    assert verdict(right) == "agrees"


@pytest.mark.parametrize(
    ("about", "n"),
    [({"n_chains": 29}, 29), ({"n_chains": 100, "ess": 30.0}, 30),
     ({"n_chains": 100, "ess": 90.0, "details": {"families": 7.5}}, 7.5)],
)  # fmt: skip
def test_masses_confirm_no_value_of_less_than_thirty_chains(about, n):
    """The weights of few chains lie low together with masses that lack a mode."""
    rbm, _ = ferromagnet(400, 60, 1.3)
    estimate = made(log_z_of(rbm), **about)
    assert opinions._effective(estimate) == n
    assert verdict(rl.check(rl.GeometricPath(rbm), estimate)) == (
        "agrees" if n >= 30 else "cannot tell"
    )
    trips = rl.mbar_of_sample(rl.parallel_tempering(PATH, np.linspace(0, 1, 6), 3, 300, rng=1))
    assert opinions._effective(trips) == trips.states.round_trips.sum() > 30


def test_sums_over_parts_that_do_not_touch_add_up():
    """Two that are enumerated, and one of 2^40 states of which some are added up."""
    small = rl.testsystems.random_rbm(12, 7, rng=3)
    log_z = LOG_Z + rl.exact(small).log_z
    few = rl.check(rl.GeometricPath(union_rbm(NARROW, small)), made(log_z))
    assert few.details["second_opinion"]["complete"]
    assert few.details["second_opinion"]["n_states"] == 2**10 + 2**7
    assert abs(few.details["second_opinion"]["log_sum"] - log_z) < 1e-9
    of_wide = rl.check(rl.GeometricPath(WIDE), made(log_z_of(WIDE))).details["second_opinion"]
    path = rl.GeometricPath(union_rbm(NARROW, WIDE, small))
    opinion = rl.check(path, made(log_z + log_z_of(WIDE) + 0.02)).details["second_opinion"]
    assert opinion["verdict"] == "agrees"
    assert "states of 3 parts" in opinion["text"]
    assert log_z_of(WIDE) - 0.02 < opinion["log_sum"] - log_z <= log_z_of(WIDE)
    assert abs(opinion["log_sum"] - log_z - of_wide["log_sum"]) < 1e-3


def test_a_sum_above_the_value_never_agrees(monkeypatch):
    log_sum = rl.check(PATH, made(LOG_Z)).details["second_opinion"]["log_sum"]
    monkeypatch.setattr(opinions, "ON_REQUEST", FEW)
    few = rl.check(PATH, made(LOG_Z - 1e-3))
    assert few.details["second_opinion"]["n_states"] < 1024
    assert verdict(few) != "agrees" or few.details["second_opinion"]["log_sum"] <= few.log_z
    assert abs(log_sum - LOG_Z) < 1e-9


@pytest.mark.parametrize(
    "layers",
    [
        (rl.Spin(np.zeros(12)), rl.Spin(np.linspace(0, 1, 8))),
        (rl.Binary(np.zeros(12)), rl.Potts(np.linspace(0, 1, 9), 3)),
        (rl.Gaussian(np.zeros(5)), rl.Binary(np.linspace(0, 1, 8))),
        (rl.Gaussian(np.ones(9)), rl.Binary(np.linspace(0, 1, 4))),
    ],
    ids=["spins", "categories", "normal", "reduced"],
)
def test_models_of_other_units(layers):
    weights = np.random.default_rng(0).normal(scale=0.5, size=[*map(len, layers)])
    rbm = rl.RBM(*layers, weights)
    path, exact = rl.GeometricPath(rbm), rl.exact(rbm).log_z
    run = rl.ais(path, rl.schedules.linear(300), 200, rng=0)
    assert verdict(run) == "agrees"
    assert abs(run.details["second_opinion"]["log_sum"] - exact) < 1e-8
    assert verdict(rl.check(path, made(exact - 0.1))) == "refuted"
    if isinstance(rbm.visible, rl.Gaussian):
        path = GaussianBasePath(rbm, rbm.exact_samples(100, rng=0))
        run = rl.ais(path, rl.schedules.linear(300), 200, rng=0)
        assert abs(run.details["second_opinion"]["log_sum"] - exact) < 1e-8


@pytest.mark.parametrize(("converged", "said"), [(True, "agrees"), (False, "cannot tell")])
def test_a_sum_does_not_agree_with_a_value_that_is_a_bound(converged, said):
    sums = SimpleNamespace(log_sum=10.0, complete=False, growth=0.0, n_states=9, of="states")
    estimate = replace(made(10.0), details={"best_lower_bound": 10.0}, converged=converged)
    assert opinions._of_sum(sums, estimate).verdict == said


def test_what_cannot_be_counted_is_not_checked():
    path = rl.LeakinessPath(rl.testsystems.orthogonal_leaky_rbm(8, 3))
    run = rl.ais(path, rl.schedules.linear(50), 50, rng=0)
    assert "second_opinion" not in run.details
    found = rl.check(path, run)
    assert verdict(found) == "not checked"
    assert (found.converged, found.checks) == (run.converged, run.checks)


def one_ladder_of(rbm):
    return rl.parallel_tempering(rl.GeometricPath(rbm), np.linspace(0, 1, 4), 2, 20, rng=0)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"log_z": np.nan}, "estimate.log_z is nan: expected a finite number"),
        ({"log_z": -np.inf}, "estimate.log_z is -inf: expected a finite number"),
        ({"states": np.zeros((5, 29))}, r"estimate.states has shape \(5, 29\): expected .*, 30\)"),
        ({"states": np.zeros(29)}, r"estimate.states has shape \(29,\): expected .*, 30\)"),
        ({"states": np.full((5, 30), 0.5)}, "estimate.states holds .*0.5"),
        ({"states": np.full((5, 30), np.nan)}, "estimate.states holds 150 NaN values"),
        ({"states": one_ladder_of(WIDE)}, r"estimate.states has shape \(8, 120\): expected"),
    ],
)  # fmt: skip
def test_an_estimate_of_something_else_is_refused(changed, said):
    with pytest.raises(ValueError, match=said):
        rl.check(PATH, replace(made(LOG_Z), **changed))


def test_states_of_one_chain_may_be_one_row():
    assert verdict(rl.check(PATH, replace(made(LOG_Z), states=np.ones(30)))) == "agrees"


def test_estimates_within_an_estimator_are_not_asked(monkeypatch):
    asked = []
    of_sum = opinions._of_sum
    monkeypatch.setattr(opinions, "_of_sum", lambda *a: asked.append(1) or of_sum(*a))
    rl.bar(PATH, rl.schedules.linear(50), 50, rng=0)  # which runs `ais` and `reverse_ais`
    assert len(asked) == 1
    with rl.using(second_opinion=False):
        run = rl.ais(MISLED, rl.schedules.linear(100), 100, rng=1)
    assert len(asked) == 1
    assert "second_opinion" not in run.details


def test_log_z_is_asked_too():
    """Of a model of any kind, scikit-learn's as well; a sentence of its own says so."""
    details = {"verdict": "trust: every check passed"}
    estimate = replace(made(LOG_Z - 1), method="log_z", details=details)
    with pytest.warns(rl.ConvergenceWarning) as warned:
        found = opinions.checked(NARROW, estimate)
    assert "rl.log_z" not in str(warned[0].message)
    assert not found.converged
    assert found.details["verdict"].startswith("do not trust: a sum over 1,024 hidden states")
    run = rl.log_z(WIDE, n_steps=300, rng=0)
    assert verdict(run) == "agrees"
    with rl.using(second_opinion=False):
        alone = rl.log_z(WIDE, n_steps=300, rng=0)
    assert "second_opinion" not in alone.details
    assert (alone.log_z, alone.std_error, alone.converged) == (run.log_z, run.std_error, True)


def test_a_sum_above_an_interval_that_lacks_its_value_is_not_called_below():
    """A bracket from a bound, above a value that has failed."""
    failed = replace(made(LOG_Z - 12), std_error=12.0, interval=(LOG_Z - 1e-9, np.inf))
    assert verdict(rl.check(PATH, failed)) == "agrees"


def test_a_saved_estimate_keeps_its_opinion(tmp_path):
    run = RUNS["ais"](MISLED)
    run.save(tmp_path / "run.json")
    loaded = rl.Estimate.load(tmp_path / "run.json")
    assert loaded.details["second_opinion"] == run.details["second_opinion"]
    assert rl.check(MISLED, loaded) is loaded
    assert (
        verdict(rl.check(MISLED, replace(loaded, details={}, std_error=0.01, interval=(0.0, 1.0))))
        == "refuted"
    )


def one_sharp_mode_and_a_broad_one():
    """30 visible units that 40 hidden ones hold together, and 60 more: log Z in closed form.

    The 60 have weights, of no account, so that they are of the same connected part.
    """
    weights, bias = np.full((90, 40), 1e-9), np.zeros(90)
    weights[:30], bias[:30] = 4.0, 0.3 - 160
    ways = [math.log(math.comb(40, k)) for k in range(41)]
    held = [w + 30 * np.logaddexp(0, 4.0 * k + 0.3 - 160) for k, w in enumerate(ways)]
    log_z = 60 * math.log(2) + float(np.logaddexp.reduce(held))
    return rl.BernoulliRBM(weights, bias, np.zeros(40)), log_z


def test_a_sum_of_one_mode_does_not_agree_below_a_mean_field_bound():
    """It has settled, on some thousand states of 2^40; the rest is spread over all others."""
    rbm, log_z = one_sharp_mode_and_a_broad_one()
    path = rl.GeometricPath(rbm, np.r_[np.full(30, 4.0), np.zeros(60)])
    with pytest.warns(rl.ConvergenceWarning, match="a mean-field bound lies 2"):
        run = rl.ais(path, rl.schedules.linear(1000), 200, rng=0)
    assert verdict(run) == "refuted"
    assert run.log_z < log_z - 2
    assert run.interval[0] <= log_z


def test_a_thousand_units_a_layer():
    rbm = rl.BernoulliRBM(np.zeros((1030, 1030)), np.zeros(1030), np.zeros(1030))
    run = rl.ais(rl.GeometricPath(rbm), [0, 1], 10, rng=0)
    assert rl.check(rl.GeometricPath(rbm), replace(run, std_error=0.1)).converged


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


@pytest.mark.parametrize(("apart", "said"), [(9.0, "refuted"), (1.0, "agrees")])
def test_a_run_that_missed_a_far_unit_of_real_visible_units_is_refuted(apart, said):
    rbm, log_z = gaussian_and_bits(apart)
    run = quiet(rl.bar, rl.GeometricPath(rbm), rl.schedules.linear(300), 200, rng=0)
    assert (verdict(run), run.converged) == (said, said != "refuted")
    assert (run.log_z < log_z - 1) == (said == "refuted")
    found = local_masses(rbm.reduced()[0])
    assert found.log_lower < log_z
    assert abs(found.log_z - log_z) < 4 * found.std_error < 0.2


def test_local_masses_are_unbiased():
    exact = rl.exact(NARROW).log_z
    runs = [local_masses(NARROW, rng=seed) for seed in range(100)]
    values = np.exp([run.log_z - exact for run in runs])
    error = values.std(ddof=1) / math.sqrt(len(values))
    assert abs(values.mean() - 1) < 4 * error
    assert error < 0.02
    inside = [run.log_lower < exact for run in runs]
    assert np.mean(inside) > 0.97


def test_what_local_masses_surely_exceed_is_without_the_largest_weight():
    """Where weights are all but equal the spread says nothing, and one of forty is left out."""
    found = local_masses(independent_rbm(np.linspace(-1, 1, 9), [0.3, -0.2])[0])
    assert found.n_modes == 1
    assert found.std_error < 0.005
    assert found.log_lower <= found.log_z + math.log(1 - 1 / 40)


def test_local_masses_agree_by_what_they_surely_exceed():
    """Which must be 90% of the value: the estimate itself is all of it in both cases."""
    for low, said in ((-0.2, "cannot tell"), (-0.05, "agrees")):
        masses = LocalMasses(log_z=0.0, std_error=0.05, log_lower=low, n_modes=2)
        found = opinions.Opinion("cannot tell", "a sum", log_sum=-1.0)
        assert opinions._of_masses(masses, found, made(0.0, n_chains=30)).verdict == said


def test_local_masses_of_a_mode_are_a_part_of_z():
    """Of the heavier of two modes: those states of which most units are on."""
    share = (NARROW.exact_samples(200_000, rng=0).mean(axis=1) > 0.5).mean()
    runs = [local_masses(NARROW, rng=seed, n_modes=1) for seed in range(100)]
    values = np.exp([run.log_z - LOG_Z for run in runs])
    assert {run.n_modes for run in runs} == {1}
    assert abs(values.mean() - share) < 0.005 + 4 * values.std(ddof=1) / 10
