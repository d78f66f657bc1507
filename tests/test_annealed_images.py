"""RAISE from images, whose chains tell their probability under annealing."""

import numpy as np
import pytest

import rbmlib as rl
from rbmbook.experiments import carlson2016 as experiments
from rbmbook.sweeps.words import ESTIMATORS

RBM = rl.testsystems.random_rbm(6, 3, coupling=6.0, rng=0)
PATH = rl.GeometricPath(RBM, base=np.linspace(-1, 1, 6))
BETAS = rl.schedules.linear(3)
pytestmark = pytest.mark.filterwarnings("ignore::rbmlib.ConvergenceWarning")


def bits(n):
    return (np.arange(2**n)[:, None] >> np.arange(n)) & 1


def law_of(probability, states):
    """Probability of each state (columns) by independent bits with these means (rows)."""
    log_p = np.log(probability) @ states.T + np.log1p(-probability) @ (1 - states.T)
    return np.exp(log_p)


def law_of_annealing(path, betas):
    """p_ann of all states: where annealing along ``betas`` ends, by matrices of Gibbs sweeps."""
    visible, hidden = bits(path.at(1.0).n_visible), bits(path.at(1.0).n_hidden)
    law = np.exp(path.at(0.0).log_density(visible) - path.log_z_base)
    for beta in betas[1:-1]:
        model = path.at(beta)
        up = law_of(model.hidden_mean(visible), hidden)
        down = law_of(model.visible_mean(hidden), visible)
        law = law @ up @ down
    return visible, law


def test_weights_of_chains_from_an_image_are_right_on_average_for_the_annealed_law():
    visible, law = law_of_annealing(PATH, BETAS)
    assert abs(law.sum() - 1) < 1e-12
    model = np.exp(RBM.log_density(visible) - rl.exact(RBM).log_z)
    assert np.abs(np.log(law / model)).max() > 0.5  # three steps are far from the model
    chosen = [0, 13, 40, 63]
    back, _ = experiments.raised(PATH, BETAS, visible[chosen], 20_000, 0)
    found = np.exp(RBM.log_density(visible[chosen])[:, None] - back)
    error = found.std(axis=1) / np.sqrt(found.shape[1])
    assert np.all(np.abs(found.mean(axis=1) - law[chosen]) < 4.5 * error)
    assert np.all(error < 0.02 * law[chosen])


def test_the_task_is_the_mean_over_test_images():
    """Ten images with ten chains each; more chains an image bound log p_ann more closely."""
    rbm = rl.load_rbm("pcd_10")
    path = rl.GeometricPath(rbm, base=rl.base_rate(rl.datasets.load_mnist().train))
    betas, task = rl.schedules.linear(30), ESTIMATORS["raise"]
    many, more = task(path, betas, 4, n_chains=100, n_images=10)
    images = np.random.default_rng([4, 3]).choice(rl.datasets.load_mnist().test, 10, replace=False)
    back, _ = experiments.raised(path, betas, images, 10, 4)
    log_p_ann = rbm.log_density(images) + np.log(np.exp(-back).mean(axis=1))
    each = rbm.log_density(images) - log_p_ann
    assert many.log_z == pytest.approx(np.mean(each), abs=1e-6)
    assert many.std_error == pytest.approx(np.std(each, ddof=1) / np.sqrt(10), rel=1e-6)
    assert more["log_p_ann"] == pytest.approx(log_p_ann.mean(), abs=1e-6)
    assert many.log_z < many.mean_log_z  # of one chain an image: Jensen
    assert many.n_chains == 100
