"""Draws of a model: exact where states are counted, else of tempered chains that went on."""

import numpy as np
import pytest

import rbmlib as rl
from rbmlib.estimators.sample import tempered

MODELS = {
    "bits": rl.testsystems.random_rbm(14, 8, coupling=2.5, rng=3),
    "spins": rl.RBM(rl.Spin(np.linspace(-0.4, 0.6, 9)), rl.Spin(np.linspace(-1, 1, 6)),
                    np.random.default_rng(1).normal(0, 0.5, (9, 6))),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_tempered_draws_have_the_means_and_covariances_of_the_model(name):
    rbm = MODELS[name]
    draws, exact = tempered(rbm, 20_000, np.random.default_rng(0)), rl.sample(rbm, 200_000, 1)
    assert exact.exact
    assert not draws.exact
    assert draws.run.converged
    assert np.isin(draws.states, rbm.visible.values).all()
    # chains are looked at four times a round trip: a tenth of the draws count, or more
    error = exact.states.std(axis=0) / np.sqrt(len(draws.states) / 10)
    assert (np.abs(draws.states.mean(axis=0) - exact.states.mean(axis=0)) < 4 * error).all()
    one, two = (np.corrcoef(x.T) for x in (draws.states, exact.states))
    assert np.abs(one - two).max() < 4 / np.sqrt(len(draws.states) / 10)


def test_what_cannot_be_counted_is_tempered_and_says_so():
    rbm = rl.testsystems.random_rbm(60, 40, coupling=0.5, rng=0)
    draws = rl.sample(rbm, 150, rng=0)
    assert draws.states.shape == (150, 60)
    assert repr(draws).startswith("<150 states of 60 units, of tempered chains, ")
    np.testing.assert_array_equal(draws.states, rl.sample(rbm, 150, rng=0).states)


def test_other_units_are_drawn_too():
    rng = np.random.default_rng(2)
    rbm = rl.RBM(rl.Spin(np.zeros(30)), rl.Gaussian(np.zeros(25)), rng.normal(0, 0.1, (30, 25)))
    draws = rl.sample(rbm, 50, rng=0)
    assert np.isin(draws.states, (-1.0, 1.0)).all()
