"""Where the chains of the lesson on Markov chains begin: images, rows, draws of the base."""

from types import SimpleNamespace

import numpy as np

import rbmlib as rl
from rbmbook.gibbs_starts import Starts, starts_of


def live(is_mnist=False, train=None):
    base = np.array([40.0, -40.0])  # one unit always on, one always off
    return SimpleNamespace(is_mnist=is_mnist, train=train, base=base, base_name="mean field")


def test_nearest_group():
    typical = np.array([[0.0, 0.0], [1.0, 1.0]])
    found = Starts(typical, np.arange(2), typical, "here", "start")
    assert found.nearest([[0.2, 0.1], [0.9, 0.4]]).tolist() == [0, 1]


def test_draws_of_the_base():
    found = starts_of(live(), seed=0)
    assert found.states.tolist() == [[1, 0]] * 100
    assert found.typical.tolist() == [[1, 0]]
    assert (found.group == 0).all()
    assert (found.where, found.what) == ("draws of the mean field base", "start")


def test_rows_of_data_are_groups_of_their_own():
    found = starts_of(live(train=np.array([[0, 0], [1, 1], [1, 1]], np.uint8)), seed=0)
    assert found.typical.tolist() == [[0, 0], [1, 1]]
    assert (found.typical[found.group] == found.states).all()
    assert (found.nearest(found.states) == found.group).all()


def test_ten_test_images_of_each_digit():
    found = starts_of(live(is_mnist=True), seed=0)
    mnist = rl.datasets.load_mnist()
    assert found.states.shape == (100, 784)
    fours = mnist.test[mnist.test_labels == 4][:10]
    assert (found.states[found.group == 4] == fours).all()
    assert np.allclose(found.typical[4], mnist.train[mnist.train_labels == 4].mean(axis=0))
    assert (found.nearest(found.states) == found.group).mean() > 0.7
