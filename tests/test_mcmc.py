"""Hamiltonian Monte Carlo, by its laws."""

import numpy as np
import pytest
from helpers_stats import assert_no_rejection, chi_square_p
from scipy import stats

from rbmlib.paths import hmc
from rbmlib.paths.hmc import Transition, leapfrog

N, D = 20_000, 3
POWER = 4  # a density that is no Gaussian: log p = -sum |x|^4 / 4


def log_density(x):
    return -(np.abs(x) ** POWER).sum(axis=1) / POWER


def gradient(x):
    return -np.sign(x) * np.abs(x) ** (POWER - 1)


def exact_draws(n, rng):
    """|x|^4 / 4 is gamma(1/4): draws of the density above."""
    size = (POWER * rng.gamma(1 / POWER, size=(n, D))) ** (1 / POWER)
    return size * rng.choice([-1.0, 1.0], size=(n, D))


def ranks_p(x) -> float:
    """p-value that every coordinate, put through its exact distribution function, is uniform."""
    u = (1 + np.sign(x) * stats.gamma.cdf(np.abs(x) ** POWER / POWER, 1 / POWER)) / 2
    bins = np.minimum(50 * u, 49).astype(int)
    p = [chi_square_p(column, np.full(50, 0.02)) for column in bins.T]
    return min(D * min(p), 1.0)


def test_energy_error_is_of_second_order():
    """Over a trajectory of fixed length its root mean square falls as step_size^2."""
    rng = np.random.default_rng(1)
    x, p = exact_draws(2000, rng), rng.normal(size=(2000, D))
    steps = 0.1 / 2.0 ** np.arange(5)
    error = []
    for step in steps:
        y, q = leapfrog(gradient, x, p, step, round(1.2 / step))
        kinetic = ((q**2).sum(axis=1) - (p**2).sum(axis=1)) / 2
        error.append(np.sqrt(np.mean((kinetic - log_density(y) + log_density(x)) ** 2)))
    fit = stats.linregress(np.log(steps), np.log(error))
    assert fit.slope == pytest.approx(2.0, abs=0.02)
    assert error[-1] < 1e-4


def test_leapfrog_is_reversible_to_rounding():
    rng = np.random.default_rng(2)
    x, p = exact_draws(500, rng), rng.normal(size=(500, D))
    step = rng.uniform(0.05, 0.3, size=(500, 1))
    y, q = leapfrog(gradient, x, p, step, 15)
    assert np.abs(y - x).max() > 0.5
    back, turned = leapfrog(gradient, y, -q, step, 15)
    assert np.abs(back - x).max() < 1e-11
    assert np.abs(turned + p).max() < 1e-11


def steps_of(n, rng):
    """Step sizes that differ from chain to chain, some so large that many ends are rejected."""
    return rng.uniform(0.2, 1.3, size=n)


@pytest.mark.always
@pytest.mark.statistical
def test_exact_draws_stay_exact_and_do_not_without_the_accept_step(monkeypatch):
    """The chi-square test of ranks passes after 1, 4, 16 steps; it fails if all are accepted."""
    p_values, shares = [], []
    for n_steps in (1, 4, 16):
        rng = np.random.default_rng(n_steps)
        x = exact_draws(N, rng)
        for _ in range(n_steps):
            moved = hmc.hmc(log_density, gradient, x, steps_of(N, rng), 4, rng)
            x = moved.x
            shares.append(moved.accepted.mean())
        p_values.append(ranks_p(x))
    assert_no_rejection(p_values, "steps")
    assert 0.3 < np.mean(shares) < 0.8  # rejections are what is tested

    def all_accepted(x, end, error, rng):
        keep = np.isfinite(end).all(axis=1)
        return Transition(np.where(keep[:, None], end, x), keep, error)

    monkeypatch.setattr(hmc, "accept", all_accepted)
    rng = np.random.default_rng(1)
    x = hmc.hmc(log_density, gradient, exact_draws(N, rng), steps_of(N, rng), 4, rng).x
    assert ranks_p(x) < 1e-20


def test_a_diverged_trajectory_is_rejected_quietly():
    x = np.full((4, D), 3.0)
    moved = hmc.hmc(log_density, gradient, x, 50.0, 30, np.random.default_rng(0))
    assert not moved.accepted.any()
    assert (moved.energy_error == np.inf).all()
    np.testing.assert_array_equal(moved.x, x)
    assert (moved.probability == 0).all()
