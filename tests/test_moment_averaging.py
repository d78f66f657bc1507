"""The moment-averaging path: valid whatever its knots, which are near where they should be."""

import numpy as np
import pytest
from helpers_stats import (
    all_states,
    log_sum,
    probabilities,
    rbm_table,
)

import rbmlib as rl
from rbmbook import moments as code
from rbmbook.ess_bisection import ess_bisection
from rbmlib import schedules


@pytest.fixture(scope="module")
def rbm():
    return rl.testsystems.random_rbm(6, 4, coupling=3.0, rng=1)


@pytest.fixture(scope="module")
def fitted(rbm):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(code, "N_CHAINS", 500)
        base = np.linspace(-1, 1, 6)
        return code.moment_averaging_path(rbm, base, n_knots=3, n_updates=1000, rng=0)


@pytest.fixture
def path(fitted):
    return fitted[0]


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


def test_knots_have_averaged_moments(rbm, path, fitted):
    """And the geometric path, the other way to average, has not."""
    first, last = moments(path.at(0.0)), moments(rbm)
    geometric = rl.GeometricPath(rbm, np.linspace(-1, 1, 6))
    distance = {"fitted": [], "geometric": []}
    for beta, knot in zip(path.knots[1:-1], path.models[1:-1], strict=True):
        for name, model in (("fitted", knot), ("geometric", geometric.at(beta))):
            gaps = [
                np.abs(got - (1 - beta) * a - beta * b).max()
                for got, a, b in zip(moments(model), first, last, strict=True)
            ]
            distance[name].append(max(gaps))
    # 500 chains: an average moment is known to about 0.5 / sqrt(500 x 50 sweeps apart)
    assert max(distance["fitted"]) < 0.03
    assert min(distance["geometric"]) > max(distance["fitted"])
    assert fitted[1].shape == (3,)
    assert fitted[1].max() < 0.02


def test_fits_stand_at_their_knots_and_the_second_half_is_averaged(monkeypatch):
    """With steps of next to no length every fit stays at the target. What it misses is then
    1 - beta of the way to the base, and it moves by that times the sum of its rates: of four
    updates 1, r, r^2, r^3, r = 0.1^(1/4), where the last two are averaged."""
    rbm, rate = rl.testsystems.random_rbm(6, 4, coupling=3.0, rng=1), 1e-7
    monkeypatch.setattr(code, "N_CHAINS", 1000)
    monkeypatch.setattr(code, "RATE", rate)
    base = np.linspace(-1, 1, 6)
    path, fits = code.moment_averaging_path(rbm, base, n_knots=3, n_updates=4, rng=0)
    missed = fits / (1 - path.knots[1:-1])
    np.testing.assert_allclose(missed, missed.mean(), rtol=0.1)
    step = (path.models[1].weights - path.models[2].weights) / rate
    r = 0.1**0.25
    moved = np.sqrt(np.mean(step**2)) / fits[0]
    assert moved == pytest.approx(1 + r + r**2 + r**3 / 2, rel=0.08)


def test_schedules_apply_to_it(path):
    pilot = rl.ais(path, schedules.linear(200), 200, 0, n_recorded=101, keep_chains=True)
    n = 100
    for betas in (
        schedules.varopt(pilot, n), schedules.friction(pilot, n),
        ess_bisection(path, n, 100, 0),
    ):  # fmt: skip
        assert betas.shape == (n + 1,)
        assert (np.diff(betas) > 0).all()
