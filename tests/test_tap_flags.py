"""TAP says so where a start was not solved, and where no other order can check its value."""

import math
import warnings

import numpy as np
import pytest

import rbmlib as rl


def test_what_did_not_converge_is_said():
    rbm = rl.load_rbm("pcd_10")
    with pytest.warns(rl.ConvergenceWarning, match="2 of 2 starts did not converge"):
        estimate = rl.tap(rbm, 2, n_starts=2, max_sweeps=1)
    assert not estimate.converged
    assert not estimate.settings["solved"]
    assert math.isnan(estimate.log_z)
    assert len(estimate.states.free_energy) == 0


def test_one_start_of_two_that_is_solved_is_not_enough():
    """The first is a fixed point already; the other is not there after one sweep."""
    rbm = rl.testsystems.random_rbm(12, 6, rng=0)
    whole = rl.tap(rbm, 1, n_starts=1, compare=False)
    begin = np.stack([whole.states.visible[0], np.linspace(0.01, 0.99, 12)])
    with pytest.warns(rl.ConvergenceWarning, match="1 of 2 starts did not converge"):
        half = rl.tap(rbm, 1, starts=begin, max_sweeps=1, compare=False)
    assert half.settings["n_solved"] == 1
    assert (half.settings["solved"], half.converged) == (False, False)
    assert half.log_z == pytest.approx(whole.log_z, abs=1e-6)


def test_without_fields_the_third_order_is_no_check():
    """Spins: TAP3 repeats TAP2 however far both are off. Weak couplings need no such check."""
    weights = np.random.default_rng(0).normal(size=(60, 15))
    for strength, flagged in ((0.02, False), (0.3, True)):
        rbm = rl.BernoulliRBM.from_spins(strength * weights, np.zeros(60), np.zeros(15))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            estimate = rl.tap(rbm, 2, starts=[[0.5] * 60])
        orders = estimate.settings["orders"]
        assert orders["TAP2"] == pytest.approx(orders["TAP3"], abs=1e-9)
        assert estimate.converged is not flagged
        assert any("TAP3 repeats" in str(one.message) for one in caught) is flagged
