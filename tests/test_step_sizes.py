"""Step sizes of proposals: tuned at one density, and fitted over a ladder of them."""

import numpy as np
import pytest
from test_mcmc import exact_draws, gradient, log_density

from rbmbook.step_sizes import AcceptanceModel, fit_acceptance, tune_step_size
from rbmlib.numerics import expit
from rbmlib.paths.hmc import hmc


@pytest.mark.statistical
@pytest.mark.parametrize("target", [0.4, 0.651, 0.9])
def test_tuned_step_size_meets_its_target(target):
    rng = np.random.default_rng(6)

    def move(x, step):
        return hmc(log_density, gradient, x, step, 5, rng)

    step, x = tune_step_size(move, exact_draws(200, rng), 3.0, target=target)
    shares = np.concatenate([move(x, step).probability for _ in range(50)])
    assert abs(shares.mean() - target) < 0.03


def acceptance_data(n, n_betas, rng):
    """Proposals of a model that obeys the constraints."""
    index, step = rng.integers(n_betas, size=n), rng.uniform(0.5, 4.0, size=n)
    slope = -1 - 0.4 * np.arange(n_betas)
    probability = expit(3.0 + slope[index] * step)
    return index, step, rng.random(n) < probability, slope


@pytest.mark.statistical
def test_acceptance_model_finds_the_truth_and_its_step_sizes():
    index, step, yes, slope = acceptance_data(60_000, 6, np.random.default_rng(7))
    model = fit_acceptance(index, step, yes, 6, (0.5, 4.0))
    np.testing.assert_allclose(model.slope, slope, rtol=0.12)
    wanted = np.clip((np.log(0.651 / 0.349) - 3) / slope, 0.5, 4.0)
    np.testing.assert_allclose(model.step_sizes(0.651), wanted, rtol=0.05)


def test_acceptance_model_is_the_constrained_optimum():
    """On few data, where constraints bind: they hold, and no feasible direction climbs."""
    rng = np.random.default_rng(8)
    index, step = rng.integers(12, size=300), rng.uniform(0.5, 4.0, size=300)
    yes = rng.random(300) < 0.5  # nothing to be found: everything binds
    model = fit_acceptance(index, step, yes, 12, (0.5, 4.0))
    assert (model.slope <= 0).all()
    for at in (0.5, 1.7, 4.0):
        assert (np.diff(model.probability(at)) <= 1e-7).all()

    def value(w0, w1):
        logits = w0[index] + w1[index] * step
        return float((yes * logits - np.logaddexp(0, logits)).sum())

    best = value(model.intercept, model.slope)
    assert best == pytest.approx(model.log_likelihood, abs=1e-6)
    for _ in range(300):  # towards other feasible models, from near and far
        a = np.sort(rng.normal(scale=2, size=12))[::-1]
        b = np.minimum(np.sort(rng.normal(scale=2, size=12))[::-1], a)
        w1 = (b - a) / 3.5
        w0 = a - w1 * 0.5
        for share in (1e-3, 0.1, 1.0):
            other = value(model.intercept + share * (w0 - model.intercept),
                          model.slope + share * (w1 - model.slope))  # fmt: skip
            assert other <= best + 1e-3  # nats, of 300 proposals


def test_step_sizes_where_all_or_nothing_is_accepted():
    model = fit_acceptance([0, 0, 1, 1], [1.0, 2.0, 1.0, 2.0], [1, 1, 0, 0], 2, (1.0, 2.0))
    assert model.step_sizes().tolist() == [2.0, 1.0]
    # no step changes it: where all is accepted the longest will do, where nothing is the shortest
    flat = AcceptanceModel(np.array([5.0, -5.0]), np.zeros(2), (1.0, 2.0), 0.0)
    assert flat.step_sizes().tolist() == [2.0, 1.0]


def test_the_modelled_acceptance_is_that_of_the_chosen_steps():
    model = AcceptanceModel(np.array([3.0, 2.0]), np.array([-4.0, -1.0]), (0.01, 9.0), 0.0)
    assert model.probability(model.step_sizes(0.6)) == pytest.approx(0.6)
    assert model.probability(0.5) == pytest.approx(1 / (1 + np.exp([-1.0, -1.5])))
