"""`rbmbook.failures`: what the ladder of failures counts, by hand values."""

from types import SimpleNamespace

import numpy as np
import pytest

import rbmlib as rl
from rbmbook import failures
from rbmbook.hills import Hills, HillsPath
from rbmbook.testsystems import first_order_rbm
from rbmlib.numerics import logmeanexp


def test_the_largest_group_that_agrees():
    said = [20.0, 12.3, 12.0, 12.1, 19.8, 20.2, 20.3, 15.0]
    assert failures.agreeing(said) == (4, pytest.approx(20.075))
    assert failures.agreeing(said, within=0.1).n == 2
    assert failures.agreeing([3.0]) == (1, 3.0)


def test_runs_of_a_few_chains():
    log_z, error, ess = failures.split(np.log([1.0, 3.0, 2.0, 2.0]), 2).T
    assert log_z == pytest.approx(np.log([2.0, 2.0]))
    assert ess == pytest.approx([2 / (1 + 0.5), 2.0])  # n / (1 + relative variance)
    assert error == pytest.approx([0.5, 0.0])  # sqrt(2) / sqrt(2) / 2


def test_the_law_of_the_sum_is_that_of_all_states():
    rbm, _ = first_order_rbm(6, 3, tilt=1.0)
    states = np.arange(2**6)[:, None] >> np.arange(6) & 1
    path = rl.GeometricPath(rbm, base=np.zeros(6))
    for beta, law in zip((0.4, 1.0), failures.law_of_sum(rbm, [0.4, 1.0]), strict=True):
        p = np.exp(path.log_density(states.astype(float), beta))
        sums = np.bincount(states.sum(axis=1), weights=p)
        assert np.exp(law) == pytest.approx(sums / sums.sum())


def test_the_path_to_the_hills_is_that_of_the_hills():
    hills = Hills(base=-1.0, at=1.5)
    path, x = HillsPath(hills), np.array([[-1.2], [0.3], [1.4]])
    assert path.log_density(x, 0.0) == pytest.approx(hills.log_base(x[:, 0]))
    assert path.log_density(x, 1.0) == pytest.approx(hills.log_target(x[:, 0]))
    step = (hills.log_z(0.701) - hills.log_z(0.699)) / 0.002
    assert hills.mean_slope(0.7) == pytest.approx(step, rel=1e-4)
    run = rl.ais(path, rl.schedules.linear(100), 2000, rng=1)
    assert abs(run.log_z - 20) < 4 * run.std_error
    assert abs(logmeanexp(run.log_weights) - run.log_z) < 1e-12


def test_a_move_without_a_test_is_too_wide_and_one_with_it_stays():
    """On a hill of variance 1/4 with steps of 1/2 the variance is 1/3."""
    hills = Hills(base=2.0, at=2.0)
    wider = (1 / 3 - 1 / 4) * (1 / 0.95**2 - 1 / 0.5**2) / 2
    wrong = failures.drift(failures.Untested(hills), 40_000, 8, 1)
    right = failures.drift(HillsPath(hills), 40_000, 8, 1)
    assert wrong.shape == (9, 2)
    assert abs(wrong[0, 0]) < 4.5 * wrong[0, 1]
    assert abs(wrong[-1, 0] - wider) < 4.5 * wrong[-1, 1]
    assert (abs(right[:, 0]) < 4.5 * right[:, 1]).all()
    with pytest.raises(ValueError, match="size is 0"):
        failures.Untested(hills, 0)


def test_families_are_counted_and_make_the_error():
    run = SimpleNamespace(
        log_weights=np.log([1e-300, 1.0, 1.0, 1e-300]), n_chains=4,
        states=np.array([[9.0], [-1.0], [1.0], [9.0]]),
    )  # fmt: skip
    found = failures.population(run, 0)
    assert set(found.ancestors) <= {1, 2}
    assert (found.states[:, 0] == np.where(found.ancestors == 1, -1.0, 1.0)).all()
    by_hand = failures.Population(np.array([[-1.0]] * 3 + [[1.0]]), np.array([1, 1, 1, 2]))
    assert by_hand.families.tolist() == [3, 1]
    # 3 of 4: independent, root of 3/16 over 4; families deviate by 3/4 and -3/4
    expected = (0.75, np.sqrt(3 / 64), np.sqrt(2) * 0.75 / 4)
    assert failures.share_of_left(by_hand) == pytest.approx(expected)
