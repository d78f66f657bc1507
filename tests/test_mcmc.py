"""Hamiltonian Monte Carlo, by its laws; its step sizes, tuned and fitted over a ladder."""

import numpy as np
import pytest
from helpers_stats import assert_no_rejection, chi_square_p
from scipy import stats
from scipy.special import expit

from rbmbook.step_sizes import AcceptanceModel, fit_acceptance
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


def test_acceptance_model_is_the_constrained_optimum():
    """On few data, where constraints bind: they hold, and no feasible direction climbs."""
    rng = np.random.default_rng(8)
    index, step = rng.integers(12, size=300), rng.uniform(0.5, 4.0, size=300)
    yes = rng.random(300) < 0.5  # nothing to be found: everything binds
    model = fit_acceptance(index, step, yes, 12, (0.5, 4.0))
    assert (model.slope <= 0).all()
    for at in (0.5, 1.7, 4.0):
        assert (np.diff(expit(model.intercept + model.slope * at)) <= 1e-7).all()

    def value(w0, w1):
        logits = w0[index] + w1[index] * step
        return float((yes * logits - np.logaddexp(0, logits)).sum())

    best = value(model.intercept, model.slope)
    for _ in range(300):  # towards other feasible models, from near and far
        a = np.sort(rng.normal(scale=2, size=12))[::-1]
        b = np.minimum(np.sort(rng.normal(scale=2, size=12))[::-1], a)
        w1 = (b - a) / 3.5
        w0 = a - w1 * 0.5
        for share in (1e-3, 0.1, 1.0):
            other = value(model.intercept + share * (w0 - model.intercept),
                          model.slope + share * (w1 - model.slope))  # fmt: skip
            assert other <= best + 1e-3  # nats, of 300 proposals


def test_a_feasible_model_is_found_again_from_its_probabilities():
    intercept, slope = np.array([3.0, 2.0]), np.array([-1.0, -0.8])
    index, step = np.repeat([0, 1], 200), np.tile(np.linspace(0.5, 4.0, 200), 2)
    model = fit_acceptance(index, step, expit(intercept[index] + slope[index] * step), 2, (0.5, 4))
    assert model.intercept == pytest.approx(intercept, abs=1e-3)
    assert model.slope == pytest.approx(slope, abs=1e-3)


def test_step_sizes_where_all_or_nothing_is_accepted():
    model = fit_acceptance([0, 0, 1, 1], [1.0, 2.0, 1.0, 2.0], [1, 1, 0, 0], 2, (1.0, 2.0))
    assert model.step_sizes().tolist() == [2.0, 1.0]
    # no step changes it: where all is accepted the longest will do, where nothing is the shortest
    flat = AcceptanceModel(np.array([5.0, -5.0]), np.zeros(2), (1.0, 2.0))
    assert flat.step_sizes().tolist() == [2.0, 1.0]


def test_the_modelled_acceptance_is_that_of_the_chosen_steps():
    model = AcceptanceModel(np.array([3.0, 2.0]), np.array([-4.0, -1.0]), (0.01, 9.0))
    assert expit(model.intercept + model.slope * model.step_sizes(0.6)) == pytest.approx(0.6)
