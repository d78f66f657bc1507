"""Three runs, chains about missed modes, their sum, and the steps of a pilot."""

from types import SimpleNamespace

import numpy as np
import pytest
from helpers_models import quiet

import rbmlib as rl
from rbmbook import hard_systems
from rbmlib.automatic import three_runs as rounds
from rbmlib.automatic.missed import Missed
from rbmlib.automatic.problem import Problem
from rbmlib.automatic.three_runs import three_runs

SMALL = rl.testsystems.random_rbm(12, 6, coupling=3.0, rng=1)


def pocket():
    kinds = list(hard_systems.HARD_KINDS)
    return hard_systems.hard_rbm("pocket", np.random.default_rng([kinds.index("pocket"), 0]))


def overlapping(n_chains: int) -> SimpleNamespace:
    """Two components that both have something of every state, the second with its own chains."""
    path, biases = rl.GeometricPath(SMALL), np.array([[0.4] * 12, [-0.4] * 12])
    missed = Missed(biases, np.zeros(2), pilot=np.zeros((2, 2)), paths=(path,),
                    n_chains=(n_chains,), own=np.array([1]))  # fmt: skip
    return SimpleNamespace(seed=0, first=path, second=path, missed=missed, sought=False, bound=0.0,
                           beam=None, one_base=False)  # fmt: skip


@pytest.mark.statistical
def test_overlapping_parts_are_their_shares_of_exact_draws():
    """Where shares are neither 0 nor 1 a value without its share would show."""
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
    """Forward, from a second base, backward, and by Bennett's equation."""
    model, truth = pocket()[:2]
    for problem, log_z in ((overlapping(2000), rl.exact(SMALL).log_z),
                           (Problem(model, None, None, 0), truth)):  # fmt: skip
        assert problem.missed.paths
        found = three_runs(problem, 300, 2000)
        for run in (found.forward, found.other, found.backward, found.joint):
            assert abs(run.log_z - log_z) < 4 * run.std_error + 0.01
        for run in (found.forward, found.other, found.backward):
            assert run.interval[0] < run.log_z < run.interval[1]
            assert run.interval[1] - run.interval[0] < 10 * run.std_error
        assert found.forward.mean_log_z - 4 * found.forward.mean_std_error < log_z
        assert found.backward.mean_log_z + 4 * found.backward.mean_std_error > log_z


@pytest.mark.statistical
def test_a_reverse_run_is_weighed_by_where_chains_of_its_own_path_end():
    """Those of the other base end elsewhere after so few steps."""
    problem = overlapping(4000)
    problem.second = rl.GeometricPath(SMALL, base=np.full(12, 3.0))
    backward = three_runs(problem, 3, 10_000).backward
    assert abs(backward.log_z - rl.exact(SMALL).log_z) < 4 * backward.std_error < 0.1


@pytest.mark.statistical
def test_estimates_with_missed_modes_are_unbiased():
    """Mean weight over seeds is Z, though the modes are chosen by a pilot."""
    rbm, log_z = pocket()[:2]
    ratios = []
    for seed in range(30):
        forward = three_runs(Problem(rbm, None, None, seed), 100, 500).forward
        ratios.append(np.exp(forward.log_weights - log_z).mean())
    assert abs(np.mean(ratios) - 1) < 4 * np.std(ratios) / np.sqrt(len(ratios)) + 0.003


def test_a_model_whose_modes_are_all_found_has_one_forward_run():
    rbm = rl.testsystems.random_rbm(30, 10, rng=0)
    problem = Problem(rbm, None, None, 3)
    assert not problem.missed.paths
    source = np.random.default_rng([3, 200])
    betas, _ = (rounds.schedule(path, 200, source) for path in (problem.first, problem.second))
    assert three_runs(problem, 200, 100).forward.log_z == rl.ais(
        problem.first, betas, 100, source
    ).log_z  # fmt: skip


def test_sums_carry_the_errors_of_their_terms():
    assert rounds._added((2.0, 0.1)) == pytest.approx((2.0, 0.1))
    both = rounds._added((np.log(3), 0.2), (0.0, 0.4))
    assert both == pytest.approx((np.log(4), np.hypot(3 * 0.2, 0.4) / 4))


def test_a_pilot_leaves_a_share_of_the_steps_even(monkeypatch):
    """All friction in one place: no step is longer than four even ones."""

    def spike(run, smoothing):
        zeta = np.full(run.betas.size - 1, 1e-12)
        zeta[zeta.size // 2] = 1.0
        return None, zeta

    monkeypatch.setattr(rounds, "friction_coefficient", spike)
    betas = rounds.schedule(rl.GeometricPath(SMALL), 400, np.random.default_rng(0))
    assert np.diff(betas).max() < 4.1 / 400
    assert np.diff(betas).min() < 0.1 / 400, "the spike takes most of the steps"


@pytest.mark.parametrize("n_paths", [1, 2])
def test_a_second_path_has_a_schedule_of_its_own(n_paths, monkeypatch):
    """Of one path the second run has equal steps; a schedule is made for each other path."""
    problem, asked, annealed = overlapping(50), [], []
    if n_paths == 2:
        problem.second = rl.GeometricPath(SMALL, base=np.zeros(12))

    def schedule(path, n_steps, *_):
        asked.append(path)
        return np.linspace(0, 1, n_steps + 1) ** 2

    def ais(path, betas, *_, **more):
        annealed.append(betas)
        return rl.ais(path, betas, *_, **more)

    monkeypatch.setattr(rounds, "schedule", schedule)
    monkeypatch.setattr(rounds, "ais", ais)
    quiet(three_runs, problem, 40, 50)
    assert asked == [problem.first, problem.second][:n_paths]
    bent, straight = np.linspace(0, 1, 41) ** 2, np.linspace(0, 1, 41)
    assert np.array_equal(annealed[0], bent)
    assert np.array_equal(annealed[1], straight if n_paths == 1 else bent)


def test_equal_friction_gives_equal_steps_on_any_grid(monkeypatch):
    looks = np.array([0.0, 0.1, 0.3, 1.0])
    weights = np.random.default_rng(0).normal(size=(4, 5))
    run = SimpleNamespace(betas=looks, trace={"chain_log_weights": weights})
    monkeypatch.setattr(rounds, "ais", lambda *_, **more: run)
    monkeypatch.setattr(rounds, "friction_coefficient", lambda *_, **more: (looks, np.ones(3)))
    betas = rounds.schedule(rl.GeometricPath(SMALL), 10, None)
    np.testing.assert_allclose(betas, np.linspace(0, 1, 11), atol=1e-12)
