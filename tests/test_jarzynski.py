"""Weights of tracked chains: the change of log density, Jarzynski's equality and its bias."""

import numpy as np
import pytest
from helpers_stats import all_states
from helpers_tracking import BASE, BETAS, DATA, exact, random_rbm

import rbmlib as rl
from rbmbook.jarzynski import ReweightedTracker, log_density_change


@pytest.mark.statistical
def test_change_of_log_density():
    one, other = random_rbm(4), random_rbm(5)
    states = all_states(10)[::7].astype(np.float32)
    beta = np.resize([0.0, 0.3, 1.0], len(states))
    change = log_density_change(one, other, states, beta)
    for b in (0.0, 0.3, 1.0):
        before, after = (
            rl.GeometricPath(m, base=BASE).log_density(states, b) for m in (one, other)
        )
        here = beta == b
        np.testing.assert_allclose(change[here], (after - before)[here], rtol=0, atol=2e-4)


def test_change_of_log_density_after_a_jump():
    """Fields that move by tens, where single precision would lose or overflow the product."""
    one, other = (rl.BernoulliRBM(s * np.ones((10, 5)), np.zeros(10), np.zeros(5)) for s in (8, -8))
    states = all_states(10)[::7].astype(np.float32)
    wanted = other.log_density(states) - one.log_density(states)
    found = log_density_change(one, other, states, np.ones(len(states)))
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    back = log_density_change(other, one, states, np.ones(len(states)))
    np.testing.assert_allclose(back, -wanted, rtol=1e-6)


def tempered(rows, **options):
    """A training at a rate that disturbs the chains; log Z by weights less the exact one."""
    options = {"n_chains": 60, "n_sweeps": 3, "rng": 3} | options
    tracker = ReweightedTracker(BASE, BETAS, **options)
    result = rl.train(
        rows, 5, method="tempered", tracker=tracker, n_updates=60, learning_rate=0.5,
        batch_size=100, rng=4,
    )  # fmt: skip
    found = tracker.reweighted()
    return tracker, found, found.log_z - exact(result.rbm)


@pytest.mark.statistical
@pytest.mark.parametrize("resample_below", [0.0, 0.9])
def test_weights_of_chains_kept_apart_are_unbiased(resample_below):
    tracker, found, error = tempered(
        DATA, n_apart=3000, n_chains=3060, resample_below=resample_below
    )
    assert abs(error) < 4.5 * found.std_error < 0.2
    assert abs(found.base_error) < 4.5 * found.base_std_error
    assert (tracker.weights.n_resampled > 0) == (resample_below > 0)
    assert found.ess < 2950  # the weights have something to do


def test_weights_of_the_chains_that_drive_the_training_are_biased():
    """What the test above can see: the gradient pushes the model away from these chains."""
    _, found, error = tempered(DATA, n_chains=60, resample_below=0.0)
    assert error < -6 * found.std_error
    assert found.base_error < -6 * found.base_std_error


def test_a_constant_of_the_old_model_is_taken_away():
    """Both constants count, the new one with beta and the old one against it."""
    one, other = random_rbm(4), random_rbm(5)
    moved = [rl.BernoulliRBM(m.weights, m.visible_bias, m.hidden_bias, log_scale=m.log_scale + c)
             for m, c in ((one, 3.0), (other, 0.5))]  # fmt: skip
    states, beta = all_states(10)[:4].astype(np.float32), np.array([0.0, 0.2, 0.7, 1.0])
    plain = log_density_change(one, other, states, beta)
    found = log_density_change(*moved, states, beta)
    np.testing.assert_allclose(found - plain, -2.5 * beta, atol=1e-5)
