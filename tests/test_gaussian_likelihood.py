"""Both sides of log Z of models with Gaussian visible units; the sweep that trains such models."""

import numpy as np
import pytest
from helpers_stats import all_states, log_sum

from rbmbook import experiments as tasks
from rbmbook.gaussian_likelihood import bracket_log_z
from rbmlib import GaussianRBM, LeakyRBM

RNG = np.random.default_rng(5)
BASIS = np.linalg.qr(RNG.normal(size=(12, 4)))[0]
LEAKY = LeakyRBM(BASIS * [0.98, 0.95, 0.9, 0.8], RNG.normal(size=12) * 0.3, [0.3, -0.5, 0.2, -0.1])
GAUSSIAN = GaussianRBM(1.5 * RNG.normal(size=(8, 3)), RNG.normal(size=8) * 0.3, -RNG.random(3) * 9)


def gaussian_log_z(rbm) -> float:
    h = all_states(rbm.n_hidden)
    mean = rbm.visible_bias + h @ rbm.weights.T
    log_mass = h @ rbm.hidden_bias + (mean**2).sum(axis=1) / 2
    return log_sum(log_mass) + rbm.n_visible / 2 * np.log(2 * np.pi)


@pytest.mark.parametrize("single_precision", [False, True])
@pytest.mark.parametrize(
    ("rbm", "log_z"), [(LEAKY, LEAKY.exact_log_z()), (GAUSSIAN, gaussian_log_z(GAUSSIAN))]
)
def test_both_sides_hold_the_exact_value(rbm, log_z, single_precision):
    """The means bound log Z, the tighter values meet it, at so few steps that they differ."""
    images = RNG.normal(size=(400, rbm.n_visible))
    task = {"n_temperatures": 2, "n_sweeps": 100, "single_precision": single_precision}
    below, above = bracket_log_z(rbm, images, n_chains=400, rng=0, **task)
    assert abs(below.log_z - log_z) < 4 * below.std_error
    assert abs(above.log_z - log_z) < 4 * above.std_error
    assert below.mean_log_z < log_z + 4 * below.mean_std_error
    assert above.mean_log_z > log_z - 4 * above.mean_std_error
    assert above.mean_log_z - below.mean_log_z > 4 * above.mean_std_error


def test_likelihood_lies_between_the_ends():
    bracket = bracket_log_z(LEAKY, RNG.normal(size=(60, 12)), n_temperatures=20, rng=1)
    v = LEAKY.exact_samples(50, 2)
    exact = (LEAKY.log_density(v) - LEAKY.exact_log_z()).mean()
    low, high = bracket.log_likelihood(LEAKY, v)
    assert low - 0.2 < exact < high + 0.2
    assert high - low == pytest.approx(bracket.above.mean_log_z - bracket.below.mean_log_z)


def test_too_few_images_are_refused():
    with pytest.raises(ValueError, match="5 rows: expected at least n_chains, 50"):
        bracket_log_z(LEAKY, np.zeros((5, 12)))


def test_the_gaussian_of_principal_directions_is_the_best_fit():
    data = (
        RNG.normal(size=(4000, 5))
        * [3.0, 1.5, 0.5, 0.7, 2.0]
        @ np.linalg.qr(RNG.normal(size=(5, 5)))[0]
    )
    fit, _, none = (tasks.leaky_rbm.cifar10.principal_gaussian(data, n) for n in (5, 1, 0))
    assert (fit.n_hidden, none.n_hidden) == (3, 1)  # three variances above 1
    covariance = np.linalg.inv(np.eye(5) - fit.weights @ fit.weights.T)
    spread = np.linalg.eigvalsh(data.T @ data / len(data))
    np.testing.assert_allclose(np.linalg.eigvalsh(covariance), np.maximum(spread, 1), rtol=1e-9)
    score = [(m.log_density(data) - m.exact_log_z()).mean() for m in (none, _, fit)]
    assert score[0] < score[1] < score[2]
    np.testing.assert_allclose(
        score[0], -(data**2).sum(axis=1).mean() / 2 - 2.5 * np.log(2 * np.pi)
    )
