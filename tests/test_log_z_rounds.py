"""How long `log_z` runs: rounds, budgets, and the same result again by its steps."""

from types import SimpleNamespace

import numpy as np
import pytest
from helpers_models import coupled_rbm, quiet

import rbmlib as rl
from rbmlib.automatic import problem, rounds, three_runs


@pytest.fixture(scope="module")
def model():
    return coupled_rbm()


def same_bits(one, two) -> bool:
    arrays = [np.array_equal(getattr(one, x), getattr(two, x)) for x in ("log_weights", "betas")]
    numbers = [getattr(one, x) == getattr(two, x) for x in ("log_z", "std_error", "interval")]
    names = one.settings.keys() - {"budget_seconds"}
    return all(arrays + numbers + [one.settings[x] == two.settings[x] for x in names])


def test_a_run_with_a_budget_is_had_again_by_its_steps(model):
    """Wherever the clock ended it; and a seed that was drawn is told."""
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
    """Or one that passes would not confirm the one before it."""
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
        return n_chains * (3 * n_steps + three_runs.BURN_IN)

    def round(self, n_steps, n_chains):
        self.now += self.each * self.work(n_steps, n_chains)
        weights = np.sqrt(self.spread / n_steps) * np.tile([-1.0, 1.0], n_chains // 2)
        return SimpleNamespace(
            n_steps=n_steps, n_chains=n_chains, passed=next(self.verdicts),
            std_error=self.error / np.sqrt(n_steps),
            forward=SimpleNamespace(log_weights=weights),
        )  # fmt: skip


@pytest.mark.parametrize(
    ("verdicts", "steps"),
    [
        ([True, True], [250, 1000]),
        ([False, True, True], [250, 1000, 4000]),
        ([True, False, True, True], [250, 1000, 4000, 16000]),
        ([False] * 9, [250, 1000, 4000, 61000]),
    ],
)
def test_rounds_grow_until_two_pass_in_a_row_or_the_budget_is_spent(verdicts, steps, monkeypatch):
    """The round that passed first is never the answer: it was chosen because it passed."""
    clock = Clock(1e-4, verdicts)
    ran = clock.run(20.0, monkeypatch)
    assert [done.n_steps for done in ran] == steps
    assert clock.now < 20


def test_rounds_go_on_until_the_error_is_small(monkeypatch):
    """Two rounds that pass are not enough where the second leaves an error above 0.05."""
    for error, steps in ((0.04, [250, 1000]), (0.09, [250, 1000, 4000])):
        clock = Clock(1e-4, [True] * 9, error * np.sqrt(1000))
        assert [x.n_steps for x in clock.run(20.0, monkeypatch)] == steps


@pytest.mark.parametrize(("spread", "chains"), [(1000.0, 500), (1e5, 100), (1e7, 100)])
def test_the_last_round_has_fewer_chains_where_weights_would_be_uneven(spread, chains, monkeypatch):
    """With a variance v of log-weights, n exp(-v) of n chains count; steps make v smaller."""
    clock = Clock(1e-4, [False] * 9, spread=spread)
    *before, last = clock.run(20.0, monkeypatch)
    assert {ran.n_chains for ran in before} == {500}
    assert last.n_chains == chains
    assert clock.now < 20
    assert clock.now > 17  # what the other chains would have cost goes into steps


def test_a_budget_too_small_for_two_rounds_is_one(monkeypatch):
    for budget, steps in ((0.2, 590), (1e-6, rounds.LEAST_STEPS)):
        clock = Clock(1e-4, [True])
        assert [x.n_steps for x in clock.run(budget, monkeypatch)] == [steps]


@pytest.mark.parametrize("found", [-1e6, 1e6])
def test_the_bound_is_the_higher_of_two(found, monkeypatch, without_paths_to_modes):
    """Of the modes that were sought, and the sum over states."""
    rbm, log_z = rl.testsystems.two_mode_rbm(30, strength=4.0, tilt=1.0)
    monkeypatch.setattr(problem, "grown", lambda *_: SimpleNamespace(log_sum=found))
    made = problem.Problem(rbm, None, None, 0)
    bounds = rl.find_modes(rbm).lower_bound
    assert bounds.min() < bounds.max() < log_z
    assert made.bound == max(found, bounds.max())


def eight_clusters():
    """A model of 100 x 16, trained on rows that are flips of eight patterns, and the rows."""
    rng = np.random.default_rng(0)
    rows = (rng.random((8, 100)) < 0.5)[rng.integers(8, size=2000)]
    rows = (rows ^ (rng.random(rows.shape) < 0.05)).astype(float)
    trained = rl.train(rows, 16, method="cd", n_updates=5000, rng=0)
    return trained.rbm, rows


def test_data_are_one_base_among_others(without_sum):
    """Their base rate leads to fewer effective chains here than a mean-field fit does."""
    rbm, rows = eight_clusters()
    exact = rl.exact(rbm).log_z
    options = {"n_steps": 1000, "rng": 1, "enumerate_small": False}
    alone, given = runs = [rl.log_z(rbm, data=data, **options) for data in (None, rows)]
    assert given.settings["base"] == alone.settings["base"] == "mean field"
    assert given.ess > 0.8 * alone.ess
    assert given.std_error < 1.3 * alone.std_error
    assert all(run.converged and abs(run.log_z - exact) < 4 * run.std_error for run in runs)


def test_the_second_base_is_another_than_the_first():
    """Images lead to the one model better, a mean-field fit to the other, by four nats or more."""
    data = rl.datasets.load_mnist().train
    for name, of_data in (("pcd_200", True), ("pcd_20", False)):
        made = problem.Problem(rl.load_rbm(name), data, rl.base_rate(data), 0)
        first, second = (path.models[0].visible.bias for path in (made.first, made.second))
        assert made.of_data == of_data
        assert np.array_equal(first, rl.base_rate(data)) == of_data
        assert not np.array_equal(first, second)
