"""`log_z` chooses, runs three times about what it missed, checks, goes on, and gives a verdict."""

from types import SimpleNamespace

import numpy as np
import pytest
from helpers_models import coupled_rbm, quiet, two_modes, with_idle_units

import rbmlib as rl
from rbmbook import bench
from rbmlib.automatic import problem, rounds
from rbmlib.automatic import three_runs as runs_of
from rbmlib.automatic.missed import Missed
from rbmlib.automatic.problem import Problem
from rbmlib.automatic.three_runs import BURN_IN, three_runs


@pytest.fixture(scope="module")
def model():
    return coupled_rbm()


@pytest.mark.filterwarnings("error")
def test_estimate_brackets_the_exact_value(model, without_sum):
    exact = rl.exact(model).log_z
    estimate = rl.log_z(model, n_steps=1000, rng=0, enumerate_small=False)
    assert estimate.converged
    assert abs(estimate.log_z - exact) < 4 * estimate.std_error
    low, low_error = estimate.details["lower_bound"]
    high, high_error = estimate.details["upper_bound"]
    assert low - 4 * low_error < exact < high + 4 * high_error
    assert all(check.passed for check in estimate.checks)


def bases(monkeypatch, first, second):
    monkeypatch.setattr(problem, "first_base", lambda *_: first)
    monkeypatch.setattr(problem, "mean_field_biases", lambda rbm, smoothings: [second, second])


def test_a_missed_mode_is_found_by_the_runs_together(monkeypatch, without_paths_to_modes):
    rbm, exact = two_modes()
    bases(monkeypatch, np.full(120, 3.0), np.zeros(120))
    with pytest.warns(rl.ConvergenceWarning, match="log_z: contradicted: "):
        estimate = rl.log_z(rbm, n_steps=266, rng=0, enumerate_small=False)
    assert estimate.ess > 0.9 * estimate.n_chains  # the forward run alone looks perfect
    value, error = estimate.details["first_base"]
    assert abs(value - exact) > 100 * error
    assert estimate.verdict == "contradicted"
    assert estimate.interval[0] < exact < estimate.interval[1]
    assert estimate.std_error > abs(value - exact) / 2


@pytest.mark.filterwarnings("error")
def test_a_mode_that_every_base_loses_gets_one_of_its_own(monkeypatch, without_sum):
    rbm, exact = two_modes()
    for first, second in ((3.0, 0.0), (3.0, 3.0), (0.0, 0.0)):
        bases(monkeypatch, np.full(120, first), np.full(120, second))
        estimate = rl.log_z(rbm, n_steps=200, rng=0, enumerate_small=False)
        assert estimate.details["n_missed_modes"] > 0
        assert abs(estimate.log_z - exact) < 4 * estimate.std_error < 0.1
        assert estimate.verdict == "consistent"


def test_a_mode_that_all_runs_miss_is_found_by_its_bound(monkeypatch, without_paths_to_modes):
    """Forward, second base and reverse agree 12 nats below log Z; a mean-field bound does not."""
    rbm, exact = with_idle_units(3.0, 12.0)
    bases(monkeypatch, np.full(300, 0.6), np.full(300, 0.6))
    words = "the highest lower bound, .* lies above the value by"
    with pytest.warns(rl.ConvergenceWarning, match=words):
        estimate = rl.log_z(rbm, n_steps=166, rng=0, enumerate_small=False)
    assert estimate.details["first_base"][0] - exact < -10
    *others, guard = (check.passed for check in estimate.checks)
    assert all(others)
    assert not guard
    assert estimate.verdict == "inconclusive", "the value that is returned is the bound"
    assert estimate.details["best_lower_bound"] == pytest.approx(exact, abs=0.01)
    assert estimate.log_z == estimate.details["best_lower_bound"]
    assert estimate.interval == (estimate.log_z, np.inf)


SMALL = rl.testsystems.random_rbm(12, 6, coupling=3.0, rng=1)


def overlapping(n_chains: int) -> SimpleNamespace:
    """Two components that both have something of every state, the second with its own chains."""
    path, biases = rl.GeometricPath(SMALL), np.array([[0.4] * 12, [-0.4] * 12])
    missed = Missed(biases, np.zeros(2), pilot=np.zeros((2, 2)), paths=(path,),
                    n_chains=(n_chains,), own=np.array([1]))  # fmt: skip
    return SimpleNamespace(seed=0, first=path, second=path, missed=missed, sought=False, bound=0.0,
                           known=None, one_base=False)  # fmt: skip


@pytest.mark.statistical
def test_overlapping_parts_are_their_shares_of_exact_draws():
    problem, log_z = overlapping(2000), rl.exact(SMALL).log_z
    states = rl.sample(SMALL, 50_000, 0).states
    shares = np.exp(problem.missed.log_shares(states))
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-12)
    assert shares.std(axis=0).min() > 0.1, "the shares would hide nothing"
    np.testing.assert_allclose(np.exp(problem.missed.log_rest(states)), shares[:, 0], rtol=1e-12)
    ((log_weights, _),) = problem.missed.runs(400, np.random.default_rng(1))
    held = np.exp(log_weights - log_z)
    assert abs(held.mean() - shares[:, 1].mean()) < 5 * held.std() / np.sqrt(held.size) + 0.01


@pytest.mark.statistical
def test_all_runs_and_their_joint_find_all_of_z():
    model, truth = bench.model("pocket_3"), bench.read_index()["pocket_3"][1]
    for made, log_z in ((overlapping(2000), rl.exact(SMALL).log_z),
                           (Problem(model, None, None, 0), truth)):  # fmt: skip
        assert made.missed.paths
        found = three_runs(made, 300, 2000)
        for run in (found.forward, found.other, found.backward, found.joint):
            assert abs(run.log_z - log_z) < 4 * run.std_error + 0.01
        for run in (found.forward, found.other, found.backward):
            assert run.interval[0] < run.log_z < run.interval[1]
            assert run.interval[1] - run.interval[0] < 10 * run.std_error
        assert found.forward.mean_log_z - 4 * found.forward.mean_std_error < log_z
        assert found.backward.mean_log_z + 4 * found.backward.mean_std_error > log_z


@pytest.mark.always
@pytest.mark.statistical
def test_a_reverse_run_is_weighed_by_where_chains_of_its_own_path_end():
    problem = overlapping(4000)
    problem.second = rl.GeometricPath(SMALL, base=np.full(12, 3.0))
    backward = three_runs(problem, 3, 10_000).backward
    assert abs(backward.log_z - rl.exact(SMALL).log_z) < 4 * backward.std_error < 0.1


def test_a_model_whose_modes_are_all_found_has_one_forward_run():
    rbm = rl.testsystems.random_rbm(30, 10, rng=0)
    problem = Problem(rbm, None, None, 3)
    assert not problem.missed.paths
    source = np.random.default_rng([3, 200])
    betas, _ = (runs_of.schedule(path, 200, source) for path in (problem.first, problem.second))
    alone = rl.ais(problem.first, betas, 100, source)
    assert three_runs(problem, 200, 100).forward.log_z == alone.log_z


def test_sums_carry_the_errors_of_their_terms():
    assert runs_of._added((2.0, 0.1)) == pytest.approx((2.0, 0.1))
    both = runs_of._added((np.log(3), 0.2), (0.0, 0.4))
    assert both == pytest.approx((np.log(4), np.hypot(3 * 0.2, 0.4) / 4))


def test_a_pilot_leaves_a_share_of_the_steps_even(monkeypatch):
    """All friction in one place: no step is longer than four even ones."""

    def spike(run, smoothing):
        zeta = np.full(run.betas.size - 1, 1e-12)
        zeta[zeta.size // 2] = 1.0
        return None, zeta

    monkeypatch.setattr(runs_of, "friction_coefficient", spike)
    betas = runs_of.schedule(rl.GeometricPath(SMALL), 400, np.random.default_rng(0))
    assert np.diff(betas).max() < 4.1 / 400
    assert np.diff(betas).min() < 0.1 / 400, "the spike takes most of the steps"


def same_bits(one, two) -> bool:
    arrays = [np.array_equal(getattr(one, x), getattr(two, x)) for x in ("log_weights", "betas")]
    numbers = [getattr(one, x) == getattr(two, x) for x in ("log_z", "std_error", "interval")]
    names = one.settings.keys() - {"budget_seconds"}
    return all(arrays + numbers + [one.settings[x] == two.settings[x] for x in names])


def test_a_run_with_a_budget_is_had_again_by_its_steps(model):
    for rng in (3, np.random.default_rng(8)):
        timed = rl.log_z(model, budget_seconds=1.5, rng=rng, enumerate_small=False)
        settings = timed.settings
        given = {name: settings[name] for name in ("n_steps", "n_chains", "rng")}
        again = rl.log_z(model, **given, enumerate_small=False)
        assert same_bits(timed, again)
        assert (settings["budget_seconds"], again.settings["budget_seconds"]) == (1.5, None)
    other = rl.log_z(model, n_steps=settings["n_steps"], rng=4, enumerate_small=False)
    assert not same_bits(again, other)


def test_rounds_draw_from_streams_of_their_own():
    path = rl.GeometricPath(rl.testsystems.random_rbm(12, 6, rng=0), np.zeros(12))
    runs = [quiet(rl.log_z, path, n_steps=n, n_chains=20, rng=0) for n in (100, 200, 100)]
    one, two, again = (run.settings["stream_seed"] for run in runs)
    assert one == again != two


class Clock:
    """Time that passes by a fixed amount a sweep of all chains, on any machine.

    Rounds pass by ``verdicts``, with errors that fall from ``error`` as 1 / sqrt(steps), and with
    log-weights of a variance of ``spread`` / steps.
    """

    def __init__(self, seconds_a_sweep, verdicts, error=0.5, spread=0.0):
        self.now, self.seconds, self.each = 0.0, 0.0, seconds_a_sweep / 500
        self.verdicts = iter(verdicts)
        self.error, self.spread = error, spread

    def run(self, budget, monkeypatch):
        monkeypatch.setattr(rounds, "work", lambda _, *sizes: self.work(*sizes))
        monkeypatch.setattr(rounds, "three_runs", lambda _, *sizes: self.round(*sizes))
        return rounds.rounds(self, budget)

    def work(self, n_steps, n_chains):
        return n_chains * (3 * n_steps + BURN_IN)

    def round(self, n_steps, n_chains):
        self.now += self.each * self.work(n_steps, n_chains)
        weights = np.sqrt(self.spread / n_steps) * np.tile([-1.0, 1.0], n_chains // 2)
        return SimpleNamespace(
            n_steps=n_steps, n_chains=n_chains, passed=next(self.verdicts),
            std_error=self.error / np.sqrt(n_steps),
            forward=SimpleNamespace(log_weights=weights),
        )  # fmt: skip


FOUR = [250, 1000, 4000, 16000]


@pytest.mark.parametrize(
    ("verdicts", "budget", "error", "steps"),
    [
        ([True, True], 20.0, 0.5, FOUR[:2]),
        ([False, True, True], 20.0, 0.5, FOUR[:3]),
        ([True, False, True, True], 20.0, 0.5, FOUR),
        ([False] * 9, 20.0, 0.5, [*FOUR[:3], 61000]),
        ([True] * 9, 20.0, 0.09 * 1000**0.5, FOUR[:3]),  # above 0.05 nats after the second
        ([True], 0.2, 0.5, [590]),  # too little for two rounds
        ([True], 1e-6, 0.5, [rounds.LEAST_STEPS]),
    ],
)
def test_rounds_grow_until_two_pass_in_a_row_or_the_budget_is_spent(
    verdicts, budget, error, steps, monkeypatch
):
    """The round that passed first is never the answer: it was chosen because it passed."""
    clock = Clock(1e-4, verdicts, error)
    assert [done.n_steps for done in clock.run(budget, monkeypatch)] == steps
    assert clock.now < 20


@pytest.mark.parametrize(("spread", "chains"), [(1000.0, 500), (1e5, 100), (1e7, 100)])
def test_the_last_round_has_fewer_chains_where_weights_would_be_uneven(spread, chains, monkeypatch):
    """With a variance v of log-weights, n exp(-v) of n chains count; steps make v smaller."""
    clock = Clock(1e-4, [False] * 9, spread=spread)
    *before, last = clock.run(20.0, monkeypatch)
    assert {ran.n_chains for ran in before} == {500}
    assert last.n_chains == chains
    assert clock.now < 20
    assert clock.now > 17  # what the other chains would have cost goes into steps


@pytest.mark.parametrize("found", [-1e6, 1e6])
def test_the_bound_is_the_higher_of_two(found, monkeypatch, without_paths_to_modes):
    rbm, log_z = rl.testsystems.two_mode_rbm(30, strength=4.0, tilt=1.0)
    monkeypatch.setattr(problem, "grown", lambda *_: SimpleNamespace(log_sum=found))
    made = problem.Problem(rbm, None, None, 0)
    bounds = rl.find_modes(rbm).lower_bound
    assert bounds.min() < bounds.max() < log_z
    assert made.bound == max(found, bounds.max())


def test_the_first_base_is_the_best_candidate(model):
    good, bad = rl.mean_field_bias(model), np.linspace(-3, 3, 40)
    modes, rng = rl.find_modes(model, rng=0), np.random.default_rng(0)
    for candidates in ((good, bad), (bad, good)):
        assert problem.first_base(model, candidates, modes, rng) is good


def test_the_second_base_is_another_than_the_first():
    """Images lead to the one model better, a mean-field fit to the other, by four nats or more."""
    data = rl.datasets.load_mnist().train
    for name, of_data in (("pcd_200", True), ("pcd_20", False)):
        made = problem.Problem(rl.load_rbm(name), data, rl.base_rate(data), 0)
        first, second = (path.models[0].visible.bias for path in (made.first, made.second))
        assert made.of_data == of_data
        assert np.array_equal(first, rl.base_rate(data)) == of_data
        assert not np.array_equal(first, second)


def test_the_ess_with_nothing_added_is_that_of_the_weights():
    run = rl.ais(rl.GeometricPath(coupled_rbm()), rl.schedules.linear(50), 500, 0)
    same = runs_of._with(run, run.log_weights, (-np.inf, 0.0))
    assert same.log_z == pytest.approx(run.log_z)
    assert same.ess == pytest.approx(run.ess, rel=0.01)
