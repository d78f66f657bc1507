"""Lower bounds from mean-field solutions, and starts that no exchange of a unit's states moves."""

import numpy as np
import pytest
from helpers_models import exchanged, with_idle_units
from helpers_stats import log_sum, rbm_table

import rbmlib as rl
from rbmlib.models.mean_field import best_lower_bound, lower_bounds, starts


@pytest.mark.parametrize("coupling", [0.5, 3.0, 20.0])
def test_bound_is_never_above_log_z(coupling):
    rng = np.random.default_rng(0)
    for seed in range(20):
        rbm = rl.testsystems.random_rbm(7, 5, coupling=coupling, rng=seed)
        exact = log_sum(rbm_table(rbm))
        means = np.concatenate([rng.random((50, 7)), rng.integers(0, 2, (50, 7))])
        assert lower_bounds(rbm, means).max() <= exact
        assert best_lower_bound(rbm) <= exact + 1e-9
        assert best_lower_bound(rbm) >= lower_bounds(rbm, means).max() - 0.5


def test_bound_is_log_z_where_units_are_independent():
    rng = np.random.default_rng(0)
    rbm, log_z = rl.testsystems.independent_rbm(rng.normal(size=30), rng.normal(size=25))
    assert best_lower_bound(rbm) == pytest.approx(log_z, abs=1e-9)


def test_bound_finds_the_heavy_mode_whichever_way_units_are_counted():
    rbm, log_z = with_idle_units(4.0, 40.0)
    rng = np.random.default_rng(0)
    for hidden, visible in [
        ([], []), (range(25), []), ([], range(300)),
        (np.flatnonzero(rng.random(25) < 0.5), np.flatnonzero(rng.random(300) < 0.5)),
    ]:  # fmt: skip
        other = exchanged(rbm, hidden, visible)
        assert best_lower_bound(other) == pytest.approx(log_z, abs=1e-6)


def test_starts_are_means_of_units():
    """Of units whose reference is on, and whose reference is off."""
    rbm = exchanged(rl.testsystems.random_rbm(30, 12, coupling=6.0, rng=0), hidden=range(6))
    hidden = starts(rbm)
    assert hidden.shape[1] == 12
    assert (hidden >= 0).all()
    assert (hidden <= 1).all()


@pytest.mark.parametrize("hidden", [range(25), range(0, 25, 2), range(1, 25)])
def test_mean_field_base_does_not_depend_on_how_hidden_units_are_counted(hidden):
    """One way the base once lost 95% of Z with a fair error bar, the other way it did not."""
    rbm, log_z = with_idle_units(2.0, 2.87)
    betas = rl.schedules.linear(1000)
    for model in (rbm, exchanged(rbm, hidden)):
        run = rl.ais(rl.GeometricPath(model), betas, n_chains=100, rng=0, n_recorded=2)
        assert abs(run.log_z - log_z) < 4 * run.std_error < 0.4


def test_exchange_of_visible_units_exchanges_the_base():
    rbm = rl.testsystems.random_rbm(30, 12, coupling=6.0, rng=0)
    visible = np.arange(0, 30, 3)
    sign = np.ones(30)
    sign[visible] = -1
    ours, theirs = rl.mean_field_bias(rbm), rl.mean_field_bias(exchanged(rbm, visible=visible))
    np.testing.assert_allclose(theirs, sign * ours, atol=1e-5)


@pytest.mark.parametrize("of", [rl.Bits, rl.Spins])
def test_the_base_is_smoothed_as_asked(of):
    """Bits, or spins of means 2 p - 1: whatever the smoothing s, p (1 + 2 s) - s is the same p."""
    rng = np.random.default_rng(0)
    rbm = rl.RBM(of(rng.normal(size=8)), of(rng.normal(size=4)), rng.normal(size=(8, 4)))
    size, found = 2 if of is rl.Spins else 1, []
    for s in (0.01, 0.5):
        means = 1 / (1 + np.exp(-size * rl.mean_field_bias(rbm, smoothing=s)))
        found.append(means * (1 + 2 * s) - s)
    np.testing.assert_allclose(*found, atol=1e-5)
