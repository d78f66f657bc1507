"""The path from a fitted Gaussian: densities, exact transitions, log Z from below and above."""

import numpy as np
import pytest
from helpers_stats import all_states, log_sum

import rbmlib as rl
from rbmbook import gaussian_base
from rbmbook.gaussian_base import GaussianBasePath, SinglePrecisionBasePath
from rbmlib import GaussianRBM, LeakyRBM

RNG = np.random.default_rng(5)
BASIS = np.linalg.qr(RNG.normal(size=(12, 4)))[0]
LEAKY = LeakyRBM(BASIS * [0.9, 0.8, 0.7, 0.6], RNG.normal(size=12) * 0.3, [0.3, -0.5, 0.2, -0.1],
                 leakiness=0.1)  # fmt: skip
GAUSSIAN = GaussianRBM(0.7 * RNG.normal(size=(8, 3)), RNG.normal(size=8) * 0.3, RNG.normal(size=3))


def gaussian_log_z(rbm) -> float:
    """Sum over hidden states of the mass of their Gaussians."""
    h = all_states(rbm.n_hidden)
    mean = rbm.visible_bias + h @ rbm.weights.T
    return log_sum(h @ rbm.hidden_bias + (mean**2).sum(axis=1) / 2) + rbm.n_visible / 2 * np.log(
        2 * np.pi
    )


def gaussian_samples(rbm, n, rng):
    h = all_states(rbm.n_hidden)
    mean = rbm.visible_bias + h @ rbm.weights.T
    log_p = h @ rbm.hidden_bias + (mean**2).sum(axis=1) / 2
    return mean[rng.choice(len(h), n, p=np.exp(log_p - log_sum(log_p)))] + rng.normal(
        size=(n, rbm.n_visible)
    )


CASES = {
    "leaky": (LEAKY, LEAKY.exact_log_z(), lambda n, rng: LEAKY.exact_samples(n, rng)),
    "gaussian": (GAUSSIAN, gaussian_log_z(GAUSSIAN), lambda n, g: gaussian_samples(GAUSSIAN, n, g)),
}


KINDS = {
    "slices": (GaussianBasePath, 0),
    "trajectories": (GaussianBasePath, 5),
    "in single precision": (SinglePrecisionBasePath, 5),
}


@pytest.fixture(params=[(name, kind) for name in CASES for kind in KINDS], ids=str)
def case(request):
    name, kind = request.param
    rbm, log_z, draw = CASES[name]
    states = draw(200, np.random.default_rng(1))
    path, n_leapfrog = KINDS[kind]
    return path(rbm, states, n_leapfrog=n_leapfrog), log_z, draw


def test_ends_are_the_gaussian_and_the_model(case):
    path, _, draw = case
    model = path.model
    v = draw(30, np.random.default_rng(2))
    state = path.state_of(v)
    np.testing.assert_allclose(path.log_density(state, 0.0), -(state**2).sum(axis=1) / 2)
    np.testing.assert_allclose(
        np.diff(path.log_density(state, 1.0)),
        np.diff(model.log_density(path.span.coordinates(v))),
    )
    table = path.log_density(state, np.array([0.0, 0.3, 1.0]))
    np.testing.assert_allclose(table[:, 1], 0.7 * table[:, 0] + 0.3 * table[:, 2])
    np.testing.assert_allclose(
        path.span.coordinates(path.visible_of(state, 0)), path.span.coordinates(v)
    )


def test_ais_and_reverse_ais_find_log_z(case):
    path, log_z, draw = case
    betas = rl.schedules.linear(20)
    down, up = [], []
    for seed in range(20):
        run = rl.ais(path, betas, 200, seed)
        down.append((run.log_z - log_z) / run.std_error)
        start = path.state_of(draw(200, np.random.default_rng(100 + seed)))
        back = rl.reverse_ais(path, betas, 200, seed, start=start)
        up.append((back.log_z - log_z) / back.std_error)
    for z in (down, up):
        assert abs(np.mean(z)) < 5 / np.sqrt(len(z)), z
        assert np.std(z) < 2


@pytest.mark.parametrize("beta", [0.4, 1.0])
def test_trajectories_alone_leave_the_density_invariant(case, beta):
    """A slice after which nothing moves would hide a wrong trajectory from the test above."""
    path, _, draw = case
    if not path.n_leapfrog:
        pytest.skip("slices only")
    rng, n = np.random.default_rng(4), 20_000
    base = path.state_of(draw(n, rng)) if beta == 1.0 else path.sample_base(n, rng)
    log_w = (beta != 1.0) * beta * path.log_density_slope(base, 0.0)
    w = np.exp(log_w - log_w.max())
    z = base[rng.choice(n, n, p=w / w.sum())]
    moved = z
    for _ in range(4):
        moved = path._trajectory(moved, np.full((n, 1), beta), rng)
    assert np.mean(moved[:, 0] != z[:, 0]) > 0.6
    slope, before = (path.log_density_slope(x, beta) for x in (moved, z))
    inflate = np.sqrt(n * (w**2).sum()) / w.sum()
    assert abs(slope.mean() - before.mean()) < 5 * inflate * np.sqrt(2 * slope.var() / n)


def test_single_precision_moves_to_the_same_law_in_energy():
    """A trajectory on the axes of the covariance is one in u: the energies are the same."""
    states, beta = LEAKY.exact_samples(200, 1), np.full((40, 1), 0.6)
    double, single = (k(LEAKY, states) for k in (GaussianBasePath, SinglePrecisionBasePath))
    v = LEAKY.exact_samples(40, 2)
    values, slopes = [], []
    for path in (double, single):
        log_p, gradient = path._tempered(beta)
        place = path._place(path.state_of(v))
        values.append(log_p(place))
        slopes.append((gradient(place) ** 2).sum(axis=1))
    np.testing.assert_allclose(np.diff(values[1]), np.diff(values[0]), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(slopes[1], slopes[0], rtol=1e-4)
    assert single._place(single.state_of(v)).dtype == np.float32


def test_too_few_states_are_refused_and_so_are_starts_of_another_path():
    with pytest.raises(ValueError, match="3 states: expected at least 8"):
        GaussianBasePath(LEAKY, np.zeros((3, 12)))
    path = GaussianBasePath(LEAKY, RNG.normal(size=(30, 12)))
    for estimator in (rl.reverse_ais, rl.bar):  # draws of the model are no states of this path
        with pytest.raises(
            ValueError, match=r"start is 'exact', but the target is .*SimpleNamespace"
        ):
            estimator(path, rl.schedules.linear(5), 20, 0, start="exact")


def test_trajectories_follow_the_slope_of_their_density(monkeypatch):
    """By differences, in each direction, at several betas at once."""
    states = LEAKY.exact_samples(200, np.random.default_rng(1))
    path, seen = GaussianBasePath(LEAKY, states, n_leapfrog=5), []

    def trajectory(log_p, gradient, start, momentum, step, n):
        seen.append((log_p, gradient, start))
        return start, np.zeros(len(start))

    monkeypatch.setattr(gaussian_base, "trajectory", trajectory)
    z, beta = np.random.default_rng(2).normal(size=(5, 4)), np.linspace(0.1, 0.9, 5)[:, None]
    path._trajectory(z, beta, np.random.default_rng(0))
    (log_p, gradient, u), small = seen[0], 1e-5
    for i, unit in enumerate(np.eye(u.shape[1])):
        slope = (log_p(u + small * unit) - log_p(u - small * unit)) / (2 * small)
        np.testing.assert_allclose(gradient(u)[:, i], slope, rtol=1e-5, atol=1e-6)


def test_the_step_of_a_trajectory_tells_nothing_of_whether_it_is_accepted():
    """Both are drawn: with the step as it is, the level alone decides."""

    class Drawn:
        """Uniforms of a slice from a generator; of a trajectory half a step, and this level."""

        def __init__(self, level):
            self.rng, self.level = np.random.default_rng(3), level
            self.standard_normal = self.rng.standard_normal

        def random(self, shape):
            return (
                np.tile([0.5, self.level], (shape[0], 1))
                if shape[1] < 3
                else self.rng.random(shape)
            )

    states = gaussian_samples(GAUSSIAN, 200, np.random.default_rng(1))
    path = GaussianBasePath(GAUSSIAN, states, n_leapfrog=6)
    slices = GaussianBasePath(GAUSSIAN, states)
    z = path.sample_base(300, np.random.default_rng(2))
    begun = slices.transition(z, 1.0, Drawn(0.5))
    moved = {
        level: (path.transition(z, 1.0, Drawn(level)) != begun).any(axis=1).mean()
        for level in (1e-300, 0.999999)
    }
    assert moved[1e-300] == 1
    assert 0.2 < moved[0.999999] < 0.8
