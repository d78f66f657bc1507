"""The moment-averaging path: valid whatever its knots, which are near where they should be."""

import numpy as np
import pytest
from helpers_stats import (
    all_states,
    assert_no_rejection,
    chi_square_p,
    log_sum,
    probabilities,
    rbm_table,
    state_index,
    two_sided,
    z_score,
)

import rbmlib as rl
from rbmlib import MomentAveragingPath, schedules
from rbmlib._streams import ChainStream


@pytest.fixture(scope="module")
def rbm():
    return rl.testsystems.random_rbm(6, 4, coupling=3.0, rng=1)


@pytest.fixture(scope="module")
def path(rbm):
    return MomentAveragingPath(
        rbm, np.linspace(-1, 1, 6), n_knots=3, n_chains=500, n_updates=1000, rng=0
    )


def moments(rbm):
    """E[v], E[h], E[v h'] by summing over all states."""
    p = probabilities(rbm_table(rbm))
    v, h = all_states(rbm.n_visible), all_states(rbm.n_hidden)
    return p.sum(axis=1) @ v, p.sum(axis=0) @ h, v.T @ p @ h


def test_ends_are_base_and_target(rbm, path):
    assert np.all(path.at(0.0).weights == 0)
    np.testing.assert_allclose(path.at(0.0).visible_bias, np.linspace(-1, 1, 6))
    np.testing.assert_allclose(path.at(1.0).weights, rbm.weights)
    assert path.log_z_base == pytest.approx(log_sum(rbm_table(path.at(0.0))))


def test_knots_have_averaged_moments(rbm, path):
    """And the geometric path, the other way to average, has not."""
    first, last = moments(path.at(0.0)), moments(rbm)
    distance = {"fitted": [], "geometric": []}
    for beta, knot in zip(path.beta_knots[1:-1], path.knots[1:-1], strict=True):
        for name, model in (("fitted", knot), ("geometric", path._geometric.at(beta))):
            gaps = [
                np.abs(got - (1 - beta) * a - beta * b).max()
                for got, a, b in zip(moments(model), first, last, strict=True)
            ]
            distance[name].append(max(gaps))
    # 500 chains: an average moment is known to about 0.5 / sqrt(500 x 50 sweeps apart)
    assert max(distance["fitted"]) < 0.03
    assert min(distance["geometric"]) > max(distance["fitted"])
    assert path.fits.shape == (3,)
    assert path.fits.max() < 0.02


def test_slope_is_the_derivative(path):
    states = rl.State(all_states(6).astype(np.float32))
    for beta in (0.1, 0.25 + 1e-4, 0.6, 0.99):
        eps = 1e-6
        numeric = (path.log_density(states, beta + eps) - path.log_density(states, beta - eps)) / 2
        np.testing.assert_allclose(path.log_density_slope(states, beta), numeric / eps, atol=1e-6)


def test_log_density_at_many_betas(path):
    states = rl.State(all_states(6).astype(np.float32))
    betas = np.array([0.0, 0.3, 1.0])
    together = path.log_density(states, betas)
    for i, beta in enumerate(betas):
        np.testing.assert_allclose(together[:, i], path.at(beta).log_density(states.coordinates))


@pytest.mark.statistical
def test_transition_leaves_p_beta_invariant(path):
    n, p_values = 20_000, []
    for beta in (0.1, 0.5, 0.9):
        p = probabilities(rbm_table(path.at(beta))).sum(axis=1)
        rng = np.random.default_rng(7)
        start = rl.State(all_states(6)[rng.choice(64, size=n, p=p)].astype(np.float32))
        for betas in (beta, np.full(n, beta)):
            moved = path.transition(start, betas, ChainStream(3, n))
            p_values.append(chi_square_p(state_index(moved.coordinates), p))
    assert_no_rejection(p_values, "betas")


@pytest.mark.statistical
def test_weights_are_unbiased_along_it(rbm, path):
    truth = log_sum(rbm_table(rbm))
    p_values = []
    for betas in (schedules.linear(3), schedules.linear(40)):
        run = rl.ais(path, betas, 20_000, 5)
        p_values.append(two_sided(z_score(np.exp(run.log_weights - truth), 1.0)))
    assert_no_rejection(p_values, "schedules")


def test_schedules_apply_to_it(path):
    pilot = rl.ais(path, schedules.linear(200), 200, 0, n_recorded=101, keep_chains=True)
    n = 100
    for betas in (
        schedules.varopt(pilot, n), schedules.friction(pilot, n),
        schedules.gms13(path, n, 100, 0, n_sweeps=60, n_burn_in=10),
        schedules.ess_bisection(path, n, 100, 0),
    ):  # fmt: skip
        assert betas.shape == (n + 1,)
        assert (np.diff(betas) > 0).all()


def test_same_seed_same_path(rbm):
    options = {"base": np.zeros(6), "n_knots": 2, "n_chains": 20, "n_updates": 10}
    one, two = (MomentAveragingPath(rbm, **options, rng=4) for _ in range(2))
    np.testing.assert_array_equal(one.at(0.4).weights, two.at(0.4).weights)
    assert "n_knots=2" in repr(one)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_knots": 0}, "n_knots is 0"),
        ({"n_chains": 1}, "n_chains is 1"),
        ({"n_updates": 1.5}, "n_updates is 1.5"),
        ({"learning_rate": 0}, "learning_rate is 0"),
        ({"base": "flat"}, "base is 'flat'"),
    ],
)
def test_wrong_input_is_explained(rbm, options, message):
    with pytest.raises(ValueError, match=message):
        MomentAveragingPath(rbm, **options)
