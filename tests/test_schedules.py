"""Schedules: where the path is cut, by a rule or from a pilot run."""

import dataclasses

import numpy as np
import pytest
from scipy.special import softmax

import rbmlib as rl
from rbmbook.schedules import varopt_by_iteration
from rbmlib import schedules
from rbmlib.numerics import cut
from rbmlib.schedules.pilots import slope_variance


def test_sm08_is_the_published_one():
    """0:0.001:0.5, 0.5:0.0001:0.9, 0.9:0.00001:1, each end once."""
    parts = [np.arange(500) * 0.001, 0.5 + np.arange(4000) * 0.0001, 0.9 + np.arange(10_001) * 1e-5]
    np.testing.assert_allclose(schedules.sm08(), np.concatenate(parts), atol=1e-12)
    np.testing.assert_allclose(schedules.sm08(145), schedules.sm08()[::100], atol=1e-12)


def test_a_path_without_length_is_cut_into_equal_steps():
    grid = np.array([0.0, 0.1, 1.0])
    np.testing.assert_allclose(cut(grid, np.zeros(2), 4), np.linspace(0, 1, 5))


@pytest.fixture(scope="module")
def pilot():
    path = rl.GeometricPath(rl.testsystems.random_rbm(30, 8, coupling=6.0, rng=3), np.zeros(30))
    return rl.ais(path, schedules.linear(2000), 200, 0, n_recorded=201, keep_chains=True)


def with_g(pilot, g, name="slope_variance"):
    """The same run with another variance of the slopes."""
    return dataclasses.replace(pilot, trace=pilot.trace | {name: g})


@pytest.mark.parametrize("n", [1, 2, 7, 1000, 3000])
@pytest.mark.parametrize("name", ["linear", "sm08", "varopt", "friction"])
def test_schedules_rise_from_exactly_0_to_exactly_1(pilot, name, n):
    given = (pilot,) if name in ("varopt", "friction") else ()
    betas = getattr(schedules, name)(*given, n)
    assert betas.shape == (n + 1,)
    assert (betas[0], betas[-1]) == (0.0, 1.0)
    assert (np.diff(betas) > 0).all()


def test_varopt_is_the_square_root_of_an_exponential(pilot):
    """g = exp(-2 c beta): t is in proportion to 1 - exp(-c beta)."""
    c = 3.0
    known = with_g(pilot, np.exp(-2 * c * pilot.betas))
    t = np.arange(501) / 500
    expected = -np.log(1 - t * (1 - np.exp(-c))) / c
    betas = schedules.varopt(known, 500, smoothing=0)
    np.testing.assert_allclose(betas, expected, atol=2e-4)


def test_the_variance_foretold_takes_g_in_the_middle_of_steps(pilot):
    """g = 1 + 4 beta, of two steps: 1/4 of g at 1/4 and at 3/4, which is 3/2."""
    _, unbiased = slope_variance(with_g(pilot, np.ones(pilot.betas.size)))
    known = with_g(pilot, (1 + 4 * pilot.betas) / unbiased)
    found = schedules.predicted_variance(known, [0.0, 0.5, 1.0])
    assert found == pytest.approx(1.5, rel=1e-3)
    assert schedules.predicted_variance(known, [0.0, 1.0]) == pytest.approx(3, rel=1e-3)


def test_decelerate_is_the_fixed_point_of_the_algorithm():
    rng = np.random.default_rng(0)
    steps = rng.exponential(size=200)
    betas = np.concatenate([[0], np.cumsum(steps / steps.sum())])
    betas[-1] = 1.0
    assert schedules.decelerate(schedules.linear(49), 1 / 49).size == 50
    for cap in (0.03, 0.01, 0.0075, 1 / 200):
        slow = np.diff(schedules.decelerate(betas, cap))
        assert slow.max() <= cap * (1 + 1e-9)
        free = slow < cap * (1 - 1e-9)
        if free.any():  # the others grew by one factor
            factor = slow[free] / np.diff(betas)[free]
            np.testing.assert_allclose(factor, factor[0], rtol=1e-6)
            assert np.all(np.diff(betas)[~free] * factor[0] >= cap * (1 - 1e-9))
        printed = np.diff(betas)  # Algorithm 3, with the flag as it was meant
        for _ in range(10_000):
            printed = np.minimum(printed, cap)
            printed /= printed.sum()
        np.testing.assert_allclose(slow, printed, atol=1e-6)


def test_decelerate_leaves_slow_schedules_alone_and_takes_mean_steps():
    betas = schedules.sm08(5000)
    np.testing.assert_array_equal(schedules.decelerate(betas, 0.5), betas)  # to the bit
    one = schedules.decelerate(betas, 0.003, 1000)
    np.testing.assert_allclose(one, schedules.decelerate(betas, 0.0006), atol=1e-12)


def test_slopes_may_have_no_variance_at_some_betas(pilot):
    g = np.where(np.arange(pilot.betas.size) == 7, 0.0, 1.0)
    _, found = slope_variance(with_g(pilot, g))
    assert np.all(found > 0)
    with pytest.raises(ValueError, match="slopes without variance"):
        slope_variance(with_g(pilot, 0 * g))


def test_a_weighted_variance_lacks_the_sum_of_squared_weights(pilot):
    squares = (softmax(pilot.trace["chain_log_weights"], axis=1) ** 2).sum(axis=1)
    wanted = pilot.trace["slope_variance"] / (1 - squares)
    np.testing.assert_allclose(slope_variance(pilot, 0)[1], wanted)


@pytest.mark.parametrize("name", ["slope_variance", "chain_log_weights"])
def test_nan_of_a_pilot_is_refused(pilot, name):
    values = pilot.trace[name].astype(float)
    values[7] = np.nan
    schedule = schedules.varopt if name == "slope_variance" else schedules.friction
    with pytest.raises(ValueError, match=r"^pilot has (slopes without variance|windows in which)"):
        schedule(with_g(pilot, values, name), 10)


def test_fixed_point_iteration_agrees_with_the_quadrature(pilot):
    for smoothing in (2.0, 5.0):
        one = schedules.varopt(pilot, 400, smoothing=smoothing)
        two = varopt_by_iteration(pilot, 400, smoothing=smoothing)
        assert np.abs(one - two).max() < 2e-3


def algorithm_3(betas, max_step, printed, tolerance=1e-6, most=1000):
    """Kiwaki's Algorithm 3 in its own order: clip steps, sum them, set the flag, stretch.

    ``printed``: a sum within the tolerance of 1 makes the flag false; as is meant, a sum beyond it
    does. Betas, and the rounds after which it stopped, ``most`` if it never would.
    """
    steps, rounds, no_change = np.diff(betas), 0, False
    while not no_change and rounds < most:
        rounds += 1
        steps[:-1] = np.minimum(steps[:-1], max_step)  # the last step is left out, as printed
        total = steps.sum()
        no_change = (abs(total - 1) < tolerance) != printed
        steps[:-1] /= total
    return np.concatenate([[0.0], np.cumsum(steps)]), rounds


@pytest.mark.parametrize("cap", [0.015, 0.012])
def test_algorithm_3_stops_rightly_only_with_its_flag_mended(cap):
    even = np.linspace(0, 1, 101)
    fast_first = 1 - (1 - even) ** 2
    assert algorithm_3(even, 0.02, printed=True)[1] == 1000  # nothing to cut: it never stops
    assert algorithm_3(even, 0.02, printed=False)[1] == 1
    cut_once, rounds = algorithm_3(fast_first, cap, printed=True)
    assert rounds == 1
    assert np.diff(cut_once).max() > 1.01 * cap
    mended, rounds = algorithm_3(fast_first, cap, printed=False)
    assert 1 < rounds < 1000
    wanted = rl.schedules.decelerate(fast_first, cap)
    assert mended == pytest.approx(wanted, abs=1e-4)  # its loops leave out the last step
