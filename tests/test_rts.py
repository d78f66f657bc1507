"""RTS, thermodynamic integration, SAMS, Wang-Landau: equations, flags; pilots that plan a run."""

import re
import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from helpers_kernels import MirroredStream, quantised_path
from helpers_models import hopfield_rbm, independent_rbm, on_threads, quiet
from helpers_tempering import BETAS, EXACT, PATH, RBM, run
from scipy import stats
from scipy.special import softmax

import rbmlib as rl
from rbmlib import GeometricPath
from rbmlib._kernels import adaptive as kernel
from rbmlib.checks import generator
from rbmlib.estimators import sams as adaptive
from rbmlib.estimators.rts import TRIPS
from rbmlib.estimators.sams import Groups, gain_sequence
from rbmlib.estimators.ti import Slopes, quadrature, rule_error
from rbmlib.estimators.wang_landau import Halving
from rbmlib.results import mixing
from rbmlib.sampling import planning
from rbmlib.sampling.temper import neighbour_law


def test_the_bias_is_that_of_equation_15():
    sample = run(guess=EXACT + np.linspace(0, 1, 10), prior=np.arange(1, 11) / 55)
    estimate = quiet(rl.rts_of_sample, sample)
    assert estimate.log_weights.mean() == pytest.approx(estimate.log_z, abs=1e-12)
    c = sample.occupation().mean(axis=0)[:, [0, -1]]
    first, last = stats.sem(c) ** 2 / c.mean(axis=0) ** 2
    assert estimate.details["bias"] == pytest.approx((first - last) / 2)


@pytest.mark.parametrize("estimator", [rl.rts, rl.sams, rl.wang_landau])
def test_too_few_round_trips_are_flagged(estimator):
    """Two modes that Gibbs sampling cannot pass between but at the base; a short run."""
    rbm, _ = rl.testsystems.two_mode_rbm(200, strength=2.0)
    path = rl.GeometricPath(rbm, base=np.zeros(200))
    with pytest.warns(rl.ConvergenceWarning, match="round trips"):
        estimate = estimator(path, rl.schedules.linear(20), 50, 60, 0)
    assert not estimate.converged
    assert estimate.std_error >= estimate.trace["std_error"][-1]


def ends(chains=40, blocks=10, drift=0.0, apart=0.0, common=0.0, rng=0):
    """c at both ends of a ladder of two betas, made up."""
    rng = np.random.default_rng(rng)
    last = 0.5 + 0.02 * rng.normal(size=(blocks, chains))
    last += drift * np.linspace(-1, 1, blocks)[:, None]
    last += apart * np.where(np.arange(chains) < chains / 2, 1, -1)
    last += common * rng.choice([-1, 1], size=(blocks, 1))
    return np.stack([1 - last, last], axis=-1)


@pytest.mark.parametrize(
    ("made", "failed"),
    [({}, None), ({"drift": 0.02}, "halves"), ({"apart": 0.02}, "either end"),
     ({"common": 0.05}, "blocks of time")],
    ids=["none", "drift", "groups", "blocks"],
)  # fmt: skip
def test_each_disagreement_is_found(made, failed):
    origin, trips = np.where(np.arange(40) < 20, 0, 9), np.full(40, 5.0)
    sample = replace(run(40, 20, n_blocks=10), origin=origin, round_trips=trips)
    checks = mixing(sample, ends(**made))
    wrong = [check.name for check in checks if not check.passed]
    assert len(checks) == 4
    assert any(failed in text for text in wrong) if failed else not wrong


def test_blocks_that_are_not_used_are_not_checked():
    """The first of ten has its betas turned round, which a drift of the run would show."""
    sample = run(n_blocks=10)
    turned = sample.mixed.copy()
    turned[0] = turned[0, ..., ::-1]
    one, two = (rl.rts_of_sample(s, skip=1) for s in (sample, replace(sample, mixed=turned)))
    assert one.log_z == two.log_z
    assert one.checks == two.checks


def test_simpsons_rule_integrates_parabolas():
    betas = np.sort(np.append(np.random.default_rng(0).random(7), [0, 1]))
    for power in range(3):
        assert quadrature(betas, "simpson") @ betas**power == pytest.approx(1 / (power + 1))


class OwnPath(rl.GeometricPath):
    """A path whose slope depends on beta: as users write them."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.joint = False


OWN = OwnPath(RBM, np.zeros(12))


def test_parallel_tempering_and_paths_without_a_joint_slope_serve_too():
    with pytest.raises(ValueError, match="rule is 'corrected', but the slope of a OwnPath"):
        rl.ti(OWN, BETAS, rule="corrected")
    with pytest.raises(ValueError, match=r"path is a OwnPath.*rl\.rts or rl\.ais"):
        rl.mbar(OWN, BETAS, 4, 20)
    ladders = rl.ti(rl.parallel_tempering(PATH, BETAS, 20, 400, 0), rule="corrected", skip=1)
    own = rl.ti(OWN, BETAS, 40, 400, 0, rule="simpson")
    assert "drawn" in ladders.method
    assert own.states.conditional == "marginal"
    for estimate in (ladders, own):
        assert abs(estimate.log_z - EXACT[-1]) < 4 * estimate.std_error


@pytest.mark.parametrize("conditional", ["joint", "marginal"])
def test_a_coarse_rule_is_flagged(conditional):
    guess, given = EXACT[[0, -1]], {"conditional": conditional}
    sample = rl.simulated_tempering(PATH, rl.schedules.linear(1), guess, 50, 400, 0, **given)
    with pytest.warns(rl.ConvergenceWarning, match="error of the quadrature rule"):
        found = rl.ti(sample, skip=1)
    assert not found.converged
    assert found.interval[0] < EXACT[-1] < found.interval[1]


@pytest.mark.parametrize("estimator", [rl.ti, rl.rts_of_sample, rl.mbar_of_sample])
def test_a_random_estimate_with_an_error_of_0_is_flagged(estimator):
    first = run(20, 400).of_chains(slice(0, 1))
    names = {"delta": 1, "temperature": 1, "visited": 1, "mixed": 1, "round_trips": 0, "origin": 0}
    twice = {n: np.repeat(getattr(first, n), 2, axis=axis) for n, axis in names.items()}
    with pytest.warns(rl.ConvergenceWarning, match="the standard error is 0"):
        assert not estimator(replace(first, **twice)).converged


def test_the_error_of_the_rule_on_three_betas():
    """A mean slope of beta cubed: its derivative at three betas corrects the trapezoids."""
    betas = np.array([0.0, 0.5, 1.0])
    mean = betas**3
    trapezoids = 0.25 * mean[0] + 0.5 * mean[1] + 0.25 * mean[2]
    derivative = np.array([-0.5, 1.0, 2.5])  # of the parabola through the three
    corrected = trapezoids - 0.5**2 / 12 * (derivative[2] - derivative[0])
    for value in (0.2, 0.3):
        wanted = max(abs(corrected - value), abs(0.25 - value))
        assert rule_error(betas, mean, None, value) == pytest.approx(wanted)
    of_variances = rule_error(betas, mean, np.array([0.0, 9.0, 9.0]), value)
    assert of_variances == pytest.approx(abs(trapezoids - 0.5**2 / 12 * 9 - value))


def test_influences_are_what_a_little_more_weight_of_a_chain_does():
    """At a beta without states too, where means and variances are interpolated by beta."""
    sums, betas = np.random.default_rng(0).uniform(0.5, 2, (6, 3, 5)), [0.0, 0.1, 0.2, 0.7, 1.0]
    sums[..., 2], betas = 0, np.array(betas)
    slopes = Slopes(sums, betas)
    assert slopes.n_empty == 1
    assert slopes.mean[2] == pytest.approx((5 * slopes.mean[1] + slopes.mean[3]) / 6)
    variance, of_variances = slopes.variances()
    for chain in range(6):
        new = Slopes(sums * (1 + 1e-6 * (np.arange(6) == chain))[:, None, None], betas)
        new_variance, _ = new.variances()
        found = slopes.of_means[chain]
        np.testing.assert_allclose(found, 6e6 * (new.mean - slopes.mean), rtol=1e-4)
        np.testing.assert_allclose(of_variances[chain], 6e6 * (new_variance - variance), rtol=1e-4)


MODES = rl.GeometricPath(hopfield_rbm(100, 8, strength=2.5, rng=3))  # a round trip: 120 sweeps
SMALL = rl.GeometricPath(rl.testsystems.random_rbm(12, 6, rng=0))
ESTIMATORS = [rl.sams, rl.wang_landau, rl.rts, rl.mbar, rl.ti]
FROZEN = rl.GeometricPath(hopfield_rbm(60, 4, strength=12.0, rng=0), np.zeros(60))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_default_call_is_not_flagged_and_right(estimator):
    run = estimator(MODES, rng=1)
    assert run.converged
    assert run.details["round_trips"] >= 2
    assert abs(run.log_z - rl.exact(MODES.rbm).log_z) < 3 * run.std_error < 0.9
    assert run.details["planned"]["needed"] <= run.n_sweeps


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_plan_given_outright_has_the_same_bits(estimator):
    run = estimator(SMALL, rng=3, n_chains=20)
    again = estimator(SMALL, run.betas, 20, run.n_sweeps, 3)
    assert again.log_z == run.log_z
    assert "planned" not in again.details
    if estimator in (rl.sams, rl.wang_landau):
        memory = run.details["planned"]["sweeps_a_trip"] / (0.7 * run.n_sweeps)
        assert run.details["memory"] == pytest.approx(memory)
        assert run.std_error == pytest.approx(np.hypot(again.std_error, memory))
        assert run.interval[0] < again.interval[0] < again.interval[1] < run.interval[1]


def test_the_plan_does_not_depend_on_threads_or_chains():
    given = "x", SMALL, None, None
    one, two = (on_threads(n, planning.planned, *given, generator(0), trips=TRIPS) for n in (1, 2))
    assert np.array_equal(one.betas, two.betas)
    assert one.details == two.details == {"planned": rl.rts(SMALL, rng=0).details["planned"]}


def test_sweeps_are_as_many_as_the_trips_take():
    plan = planning.planned("x", MODES, None, None, generator(0), trips=40.0)
    run = rl.rts(MODES, plan.betas, 100, plan.n_sweeps, rng=5)
    assert 36 < run.details["round_trips"] < 60  # a pilot leaves trips unfinished


def test_round_trips_of_the_pilot_are_those_under_the_prior():
    betas, prior = rl.schedules.linear(4), np.array([0.05, 1.0, 1.0, 1.0, 0.05])
    shares = np.full(5, 0.2), prior / prior.sum()
    even, uneven = (planning.trip_time(SMALL, betas, r, generator(0)) for r in shares)
    assert uneven.sweeps_a_trip > 4 * even.sweeps_a_trip


def test_the_length_of_a_path_is_that_of_its_slopes():
    """Independent bits: the slope is a sum of b_i v_i, each of probability expit(beta b_i)."""
    bias = np.full(50, 4.0)
    rbm = independent_rbm(bias, [0.0])[0]
    betas, length = planning.own_ladder(rl.GeometricPath(rbm, np.zeros(50)), generator(0), 4)
    fine = (np.arange(10_000) + 0.5) / 10_000
    on = 1 / (1 + np.exp(-4 * fine))
    density = 4 * np.sqrt(50 * on * (1 - on))
    assert length == pytest.approx(density.mean(), rel=0.05)
    assert betas.size == np.ceil(4 * length) + 1
    at = np.interp(betas, fine, np.cumsum(density) / density.sum())
    assert np.abs(np.diff(at) * (betas.size - 1) - 1).max() < 0.3


def test_a_model_that_will_not_converge_is_named_before_the_run(monkeypatch):
    monkeypatch.setattr(planning, "MOST_SWEEPS", 100)
    monkeypatch.setattr(planning, "FEWEST_SWEEPS", 40)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        run = rl.rts(MODES, rng=0)
    assert re.match(r"rts: this run will not converge: .* a round trip between the ends of the "
                    r"betas took [\d,]+ sweeps, so the run needs about [\d,]+ sweeps. Without "
                    r"n_sweeps it makes at most 100, and this run makes 40",
                    str(said[0].message))  # fmt: skip
    assert "inconclusive: " in str(said[1].message)
    assert run.n_sweeps == 40
    assert not run.converged


def test_no_round_trip_in_the_pilot_is_said(monkeypatch):
    monkeypatch.setattr(planning, "MOST_PILOT_SWEEPS", 200)
    with pytest.warns(rl.ConvergenceWarning, match=r"took more than 20,000 .* far more sweeps"):
        plan = planning.planned("x", FROZEN, [0.0, 1.0], None, generator(0), trips=3.0)
    assert plan.n_sweeps == planning.FEWEST_SWEEPS
    assert plan.details["planned"]["needed"] == np.inf


def test_the_pilot_ends_with_the_fiftieth_trip(monkeypatch):
    """Twenty-five trips a block: two blocks, and so many sweeps of 100 chains a trip."""
    made = SimpleNamespace(round_trips=np.array([20, 5]))
    ends = None, np.zeros((100, 2)), np.zeros(100, int)
    monkeypatch.setattr(planning, "both_ends", lambda *_: ends)
    monkeypatch.setattr(planning, "simulated_tempering", lambda *_, **more: made)
    found = planning.trip_time(SMALL, np.array([0.0, 1.0]), None, None)
    assert found == (100 * 400 / 50, 50, 400)


UNIFORM = np.full(10, 0.1)


def groups_of(path=PATH, betas=BETAS, n_chains=40, n_groups=4, rng=0, **options):
    return Groups(path, betas, n_chains, rng, n_groups=n_groups, **options)


@pytest.mark.parametrize("old", [0, 1, 4, 8, 9])
def test_neighbour_moves_keep_the_law_of_beta(old):
    rng = np.random.default_rng(old)
    offsets, delta = rng.normal(scale=2, size=10), 3.0
    logits = BETAS * delta + offsets
    law = neighbour_law(np.arange(10), np.tile(logits, (10, 1)))
    np.testing.assert_allclose(law.sum(axis=1), 1)
    flow = np.exp(logits)[:, None] * law
    np.testing.assert_allclose(flow, flow.T, rtol=1e-12)
    ladder = kernel.ladder_of(BETAS, np.full(1, old))._replace(offsets=offsets)
    kernel.jump_to_neighbour(old, delta, 0.5, 0.5, ladder, True)
    np.testing.assert_allclose(ladder.sums, law[old], atol=1e-9)
    ladder.sums[:] = 0
    for side in (0.2, 0.8):
        for u in (np.arange(2000) + 0.5) / 2000:
            kernel.jump_to_neighbour(old, delta, side, u, ladder, False)
    np.testing.assert_allclose(ladder.sums / 4000, law[old], atol=2e-3)


@pytest.mark.parametrize("mixed", [True, False])
def test_update_is_tans(mixed):
    """Eq. (9) and (12), capped at the prior, less the base's."""
    prior = np.arange(1, 11) / 55
    groups = groups_of(n_groups=2, start="plain", mixed=mixed, prior=prior, conditional="marginal")
    before, gain = groups.log_z.copy(), 0.05
    logs = PATH.log_density  # the states after the sweep, with the log Z before it
    groups.advance(np.full((2, 1), gain))
    logits = logs(groups.v, BETAS) + np.log(prior) - before.repeat(20, axis=0)
    share = softmax(logits, axis=1) if mixed else np.eye(10)[groups.index]
    step = np.minimum(gain, prior) / prior * share.reshape(2, 20, 10).mean(axis=1)
    np.testing.assert_allclose(groups.log_z, before + step - step[:, :1], atol=1e-12)
    assert groups.visits.sum() == 40


def test_gain_is_halved_at_flat_histograms_and_then_one_over_t():
    rule = Halving(2, UNIFORM, one_over_t=True)
    flat, uneven, missing = np.full(10, 100), np.full(10, 100), np.full(10, 100)
    uneven[3], missing[0] = 75, 0
    np.testing.assert_array_equal(rule.gains(0, 2), 0.1)
    rule.see(np.array([flat, uneven]), 30)
    np.testing.assert_array_equal(rule.gain, [0.05, 0.1])
    assert not rule.late.any()  # 0.05 > 1/30
    assert rule.histogram[0].sum() == 0 < rule.histogram[1].sum()
    rule.see(np.array([missing, 0 * flat]), 40)
    np.testing.assert_array_equal(rule.gain, [0.05, 0.1])
    rule.see(np.array([10 * flat, 10 * flat]), 35)
    np.testing.assert_array_equal(rule.late, [True, False])  # 0.025 < 1/35 < 0.05
    np.testing.assert_allclose(rule.gains(35, 37), [[1 / 36, 1 / 37], [0.05, 0.05]])
    never = Halving(2, UNIFORM, one_over_t=False)
    for _ in range(9):
        never.see(np.array([flat, uneven]), 30)
    np.testing.assert_allclose(never.gain, [0.1 / 2**9, 0.1])


@pytest.mark.parametrize("jump", ["global", "local"])
@pytest.mark.parametrize("shape", [(25, 9), (64, 95)], ids=["narrow", "wide"])
def test_compiled_equals_the_plain_loop(shape, jump, monkeypatch):
    """The same draws give the same betas and log Z, but for groups with a unit within rounding."""
    path = quantised_path(*shape, coupling=4.0)
    betas = rl.schedules.linear(19)
    gains = np.tile(gain_sequence(8), (50, 1))
    fused, loop = (groups_of(path, betas, 200, 50, jump=jump, mixed=True) for _ in range(2))
    fused.advance(gains)
    path._loops = None
    plain = GeometricPath.joint_transition
    monkeypatch.setattr(
        GeometricPath, "joint_transition", lambda p, s, b, r: plain(p, s, b, MirroredStream(r))
    )
    loop.advance(gains)
    same = (fused.visits == loop.visits).all(axis=1)
    assert same.sum() >= 48
    np.testing.assert_allclose(fused.log_z[same], loop.log_z[same], atol=2e-3)
    if same.all():
        np.testing.assert_array_equal(fused.index, loop.index)
        np.testing.assert_array_equal(fused.round_trips, loop.round_trips)
        np.testing.assert_array_equal(fused.v, loop.v)


def test_groups_share_nothing():
    gains = np.tile(gain_sequence(40, 20, 0.7), (4, 1))
    np.testing.assert_allclose(
        gains[0], [*np.arange(1, 21) ** -0.7, *1 / (np.arange(1, 21) + 20**0.7)]
    )
    other = gains.copy()
    other[1] *= 0.1
    one, two = groups_of(), groups_of()
    one.advance(gains)
    two.advance(other)
    changed = (one.log_z != two.log_z).any(axis=1)
    np.testing.assert_array_equal(changed, [False, True, False, False])


def test_groups_begin_at_the_log_z_of_their_own_chains():
    groups = groups_of()
    weights = rl.pilot(PATH, BETAS, 40, adaptive.PILOT_STEPS, rng=0).log_weights_path
    for log_z, own in zip(groups.log_z, np.split(np.exp(weights), 4, axis=1), strict=True):
        np.testing.assert_allclose(log_z, np.log(own.mean(axis=1)), atol=1e-12)


@pytest.mark.parametrize(
    ("made", "failed"),
    [({}, None), ({"drift": 0.5}, "halves"), ({"apart": 0.5}, "either end"),
     ({"unseen": 3}, "least visited")],
    ids=["none", "drift", "apart", "unseen"],
)  # fmt: skip
def test_each_disagreement_of_groups_is_found(made, failed):
    shares = np.arange(1, 11)
    groups = groups_of(n_chains=20, n_groups=10, prior=shares)
    groups.visits[...] = 100 * shares
    groups._passages[:] = 10
    if "unseen" in made:
        groups.visits[:, made["unseen"]] = 40 * shares[made["unseen"]]
    rng = np.random.default_rng(0)
    values = rng.normal(scale=0.1, size=10) + made.get("apart", 0) * groups.at_top
    drift = rng.normal(scale=0.1, size=10) + made.get("drift", 0)
    groups.log_z[:, -1], groups.half = values, values - drift
    checks = groups.checks()
    wrong = [check.name for check in checks if not check.passed]
    found = max(check.disagreement for check in checks)
    assert len(checks) == 4
    assert found >= max(made.get("apart", 0), made.get("drift", 0)) - 0.2
    assert [failed in text for text in wrong] == [True] if failed else not wrong
