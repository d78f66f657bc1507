"""Arguments that were answered in silence, or by an error that named nothing of the user's."""

import numpy as np
import pytest
from helpers_refusals import BETAS, DATA, PATH, RAGGED, RBM, W, assert_refused, named, train

import rbmlib as rl
from rbmbook import images, step_sizes
from rbmbook.testsystems import tempered_log_z
from rbmlib import datasets, schedules, testsystems

GAUSSIAN = rl.GaussianRBM(W)
LEAKY = testsystems.orthogonal_leaky_rbm(5, 3, norm=0.8, leakiness=0.1)
MIXTURE = testsystems.two_gaussians(2, 3.0)
X = np.random.default_rng(2).normal(size=(10, 2))
NAN_STATES = np.full((2, 4), np.nan)
ARRAY = np.zeros(7)


SILENT = {
    "bit of NaN": (lambda: RBM.sample_hidden(NAN_STATES, 0), "visible holds 8 NaN values"),
    "bit of inf": (lambda: RBM.sample_visible(np.full(3, np.inf), 0), "hidden reaches inf"),
    "Gaussian bit of NaN": (lambda: GAUSSIAN.sample_hidden(NAN_STATES, 0), "visible holds 8 NaN"),
    "root of NaN": (lambda: step_sizes.scaled_root(np.eye(2) * np.nan), "covariance holds 4 NaN"),
    "yes": (
        lambda: rl.using(progress="no").__enter__(),
        "progress is a str: expected True, False, or None",
    ),
    "bar": (lambda: rl.using(progress=0).__enter__(), "progress is a int"),
    "number in words": (lambda: testsystems.two_mode_rbm(4, strength="3"), "strength is '3'"),
    "beyond the path": (lambda: tempered_log_z(MIXTURE, 4.0, [-1.0, 1.0]), "betas run from -1.0"),
    "in full": (lambda: images.load_cifar10(full="False"), "full is 'False'"),
}


NAMELESS = {
    "wide states": (lambda: RBM.hidden_mean(np.zeros((2, 5))), "visible has shape (2, 5)"),
    "no states": (lambda: RBM.hidden_mean(None), "visible is not an array"),
    "ragged states": (lambda: RBM.visible_mean(RAGGED), "hidden is not an array"),
    "number": (lambda: GAUSSIAN.visible_mean(3), "hidden has shape ()"),
    "seed of a bit": (lambda: RBM.sample_hidden(DATA, "abc"), "rng is 'abc'"),
    "seed of a sweep": (lambda: GAUSSIAN.gibbs(DATA, -1), "rng is -1"),
    "method": (train(DATA, 3, method=ARRAY), "method is array"),
    "mixing": (lambda: schedules.predicted_variance(PILOT, BETAS, ARRAY), "mixing is array"),
    "move": (lambda: step_sizes.tune_step_size(None, X), "move is None"),
    "flat covariance": (lambda: step_sizes.scaled_root(ARRAY), "covariance has shape (7,)"),
    "negative covariance": (lambda: step_sizes.scaled_root(-np.eye(2)), "covariance is not pos"),
    "coupling": (lambda: testsystems.random_rbm(4, 3, coupling=-1), "coupling is -1"),
    "ragged bias": (lambda: rl.BernoulliRBM(W, RAGGED, ARRAY[:3]), "visible_bias is not an"),
    "tilt": (lambda: testsystems.two_mode_rbm(4, tilt="up"), "tilt is 'up'"),
    "norm": (lambda: testsystems.orthogonal_leaky_rbm(5, 3, norm="long"), "norm is 'long'"),
    "list as a name": (lambda: rl.load_rbm([]), "name_or_path is []"),
    "file": (lambda: datasets.committed(3), "file is a int"),
    "published": (lambda: datasets.fetch(None), "name is a NoneType"),
}

PILOT = rl.ais(PATH, rl.schedules.linear(100), 20, rng=0, n_recorded=101, slopes=True)


@pytest.mark.parametrize(**named(silent=SILENT, nameless=NAMELESS))
def test_what_cannot_be_meant_is_refused_by_name(call, name):
    assert_refused(call, name)


def test_conditionals_draw_from_a_seed_as_from_its_generator():
    for draw, states in ((RBM.sample_hidden, DATA), (GAUSSIAN.sample_visible, np.ones((5, 3)))):
        np.testing.assert_array_equal(draw(states, 7), draw(states, np.random.default_rng(7)))
