"""The path from a fitted Gaussian: its trajectories, and log Z from below and from above."""

import numpy as np
import pytest
from test_gaussian_visible import BASIS
from test_gaussian_visible import BIASED as LEAKY

import rbmlib as rl
from rbmbook import paths
from rbmbook.experiments.li2016 import principal_gaussian
from rbmbook.paths import GaussianBasePath, SinglePrecisionBasePath, bracket_log_z
from rbmlib import GaussianRBM, LeakyRBM

RNG = np.random.default_rng(5)
GAUSSIAN = GaussianRBM(0.7 * RNG.normal(size=(8, 3)), RNG.normal(size=8) * 0.3, RNG.normal(size=3))
STATES = {rbm: rbm.exact_samples(200, 1) for rbm in (LEAKY, GAUSSIAN)}
KINDS = [GaussianBasePath, SinglePrecisionBasePath]


@pytest.mark.parametrize("beta", [0.4, 1.0])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rbm", STATES, ids=["leaky", "gaussian"])
def test_trajectories_alone_leave_the_density_invariant(rbm, kind, beta):
    path, rng, n = kind(rbm, STATES[rbm], n_leapfrog=5), np.random.default_rng(4), 20_000
    base = path.state_of(rbm.exact_samples(n, 4)) if beta == 1.0 else path.sample_base(n, rng)
    log_w = (beta != 1.0) * beta * path.log_density_slope(base, 0.0)
    w = np.exp(log_w - log_w.max())
    z = moved = base[rng.choice(n, n, p=w / w.sum())]
    for _ in range(4):
        moved = path._trajectory(moved, np.full((n, 1), beta), rng)
    assert np.mean(moved[:, 0] != z[:, 0]) > 0.6
    slope, before = (path.log_density_slope(x, beta) for x in (moved, z))
    inflate = np.sqrt(n * (w**2).sum()) / w.sum()
    assert abs(slope.mean() - before.mean()) < 5 * inflate * np.sqrt(2 * slope.var() / n)


def test_single_precision_moves_to_the_same_law_in_energy():
    beta, v, values, slopes = np.full((40, 1), 0.6), LEAKY.exact_samples(40, 2), [], []
    for path in (kind(LEAKY, STATES[LEAKY]) for kind in KINDS):
        log_p, gradient = path._tempered(beta)
        place = path._place(path.state_of(v))
        values.append(log_p(place))
        slopes.append((gradient(place) ** 2).sum(axis=1))
    np.testing.assert_allclose(np.diff(values[1]), np.diff(values[0]), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(slopes[1], slopes[0], rtol=1e-4)
    assert place.dtype == np.float32


def test_too_few_states_are_refused_and_so_are_starts_of_another_path():
    with pytest.raises(ValueError, match="3 states: expected at least 8"):
        GaussianBasePath(LEAKY, np.zeros((3, 12)))
    with pytest.raises(ValueError, match="5 rows: expected at least n_chains, 50"):
        bracket_log_z(LEAKY, np.zeros((5, 12)))
    path = GaussianBasePath(LEAKY, RNG.normal(size=(30, 12)))
    for estimator in (rl.reverse_ais, rl.bar):  # draws of the model are no states of this path
        with pytest.raises(ValueError, match=r"start is 'exact', but .*SimpleNamespace"):
            estimator(path, rl.schedules.linear(5), 20, 0, start="exact")


def test_trajectories_follow_the_slope_of_their_density(monkeypatch):
    path, seen = GaussianBasePath(LEAKY, STATES[LEAKY], n_leapfrog=5), []

    def trajectory(log_p, gradient, start, momentum, step, n):
        seen.append((log_p, gradient, start))
        return start, np.zeros(len(start))

    monkeypatch.setattr(paths, "trajectory", trajectory)
    z, beta = np.random.default_rng(2).normal(size=(5, 4)), np.linspace(0.1, 0.9, 5)[:, None]
    path._trajectory(z, beta, np.random.default_rng(0))
    (log_p, gradient, u), small = seen[0], 1e-5
    for i, unit in enumerate(np.eye(u.shape[1])):
        slope = (log_p(u + small * unit) - log_p(u - small * unit)) / (2 * small)
        np.testing.assert_allclose(gradient(u)[:, i], slope, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("level", "least", "most"), [(1e-300, 1, 1), (0.999999, 0.2, 0.8)])
def test_the_step_of_a_trajectory_tells_nothing_of_whether_it_is_accepted(level, least, most):
    class Drawn:
        """Of a trajectory half a step, and this level."""

        def __init__(self):
            self.standard_normal = np.random.default_rng(3).standard_normal

        def random(self, shape):
            return np.tile([0.5, level], (shape[0], 1))

    path = GaussianBasePath(GAUSSIAN, STATES[GAUSSIAN], n_leapfrog=6)
    z = path.sample_base(300, np.random.default_rng(2))
    moved = (path._trajectory(z, np.ones((300, 1)), Drawn()) != z).any(axis=1).mean()
    assert least <= moved <= most


FAR = LeakyRBM(BASIS * [0.98, 0.95, 0.9, 0.8], LEAKY.visible_bias, LEAKY.hidden_bias)
WIDE = GaussianRBM(1.5 / 0.7 * GAUSSIAN.weights, GAUSSIAN.visible_bias, [-4.0, -0.3, -8.0])


@pytest.mark.parametrize("single_precision", [False, True])
@pytest.mark.parametrize("rbm", [FAR, WIDE], ids=["leaky", "gaussian"])
def test_both_sides_hold_the_exact_value(rbm, single_precision):
    """The means bound log Z, the tighter values meet it, at so few steps that they differ."""
    images, log_z = RNG.normal(size=(400, rbm.n_visible)), rbm.exact_log_z()
    task = {"n_temperatures": 2, "n_sweeps": 100, "single_precision": single_precision}
    below, above = bracket_log_z(rbm, images, n_chains=400, rng=0, **task)
    assert abs(below.log_z - log_z) < 4 * below.std_error
    assert abs(above.log_z - log_z) < 4 * above.std_error
    assert below.mean_log_z < log_z + 4 * below.mean_std_error
    assert above.mean_log_z > log_z - 4 * above.mean_std_error
    assert above.mean_log_z - below.mean_log_z > 4 * above.mean_std_error


def test_the_gaussian_of_principal_directions_is_the_best_fit():
    turn = np.linalg.qr(RNG.normal(size=(5, 5)))[0]
    data = RNG.normal(size=(4000, 5)) * [3.0, 1.5, 0.5, 0.7, 2.0] @ turn
    fit = principal_gaussian(data)
    assert fit.n_hidden == 3  # variances above 1
    covariance = np.linalg.inv(np.eye(5) - fit.weights @ fit.weights.T)
    spread = np.linalg.eigvalsh(data.T @ data / len(data))
    np.testing.assert_allclose(np.linalg.eigvalsh(covariance), np.maximum(spread, 1), rtol=1e-9)
    fewer = LeakyRBM(fit.weights[:, :2], leakiness=1.0)
    score = [(m.log_density(data) - m.exact_log_z()).mean() for m in (fewer, fit)]
    assert score[0] < score[1]
