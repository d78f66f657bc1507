"""Training with Gaussian visible units: updates against plain NumPy, laws of the chains, limits."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

import rbmlib as rl
from rbmbook.training import GaussianLearner
from rbmlib.models import normal

RNG = np.random.default_rng(7)
DATA = stats.zscore(RNG.normal(size=(400, 5)) @ RNG.normal(size=(5, 5))).astype(np.float32)
WEIGHTS = rl.project_weights(RNG.normal(size=(5, 3)), 0.8)


def settings(**changed):
    given = dict(
        n_hidden=3, hidden="leaky", method="cd", leakiness=0.1, largest=0.9999,
        n_sweeps=3, n_updates=1, batch_size=len(DATA), learning_rate=0.1,
        momentum=0.0,
    )  # fmt: skip
    return given | changed


class Noiseless:
    """A generator whose normals are zero and whose uniforms are 0.3."""

    def __init__(self, rng):
        self.permutation, self.uniform = rng.permutation, rng.uniform

    def standard_normal(self, shape, dtype=float):
        return np.zeros(shape, dtype)

    def random(self, shape, dtype=float):
        return np.full(shape, 0.3, dtype)


def reference(hidden, method, n_updates, n_sweeps, largest=None, momentum=0.5, c=0.1):
    """Updates without noise, on the visible units themselves."""
    w, b, a = WEIGHTS.copy(), np.zeros(5), np.zeros(3)
    speed = [0 * w, 0 * b, 0 * a]
    old = None

    def mean(eta, c=c):
        return np.where(eta > 0, eta, c * eta) if hidden == "leaky" else expit(eta)

    def draw(eta, c):
        return mean(eta, c) if hidden == "leaky" else (mean(eta) > 0.3).astype(float)

    levels = [1 - k / n_sweeps * (1 - c) if method in ("leaky", "mix") else c
              for k in range(1, n_sweeps + 1)]  # fmt: skip
    for _ in range(n_updates):
        x = DATA[:50].astype(float)
        v = x if method != "pcd" or old is None else old
        if method == "leaky":  # without noise a draw of h is its mean, and v is b + W h
            h = np.linalg.solve(np.eye(3) - w.T @ w, w.T @ b + a)
            v = np.tile(b + w @ h, (50, 1))
        for level in levels:
            v = draw(v @ w + a, level) @ w.T + b
        old = v
        up, down = mean(x @ w + a), mean(v @ w + a)
        gradients = [(x.T @ up - v.T @ down) / 50, (x - v).mean(axis=0), (up - down).mean(axis=0)]
        speed = [momentum * s + 0.1 * g for s, g in zip(speed, gradients, strict=True)]
        w, b, a = w + speed[0], b + speed[1], a + speed[2]
        if largest:
            left, scales, right = np.linalg.svd(w, full_matrices=False)
            w = left * np.minimum(scales, largest) @ right
    return w, b, a


CASES = [
    ("leaky", "cd", None), ("leaky", "cd", 0.9), ("leaky", "pcd", 0.9), ("leaky", "mix", 0.9),
    ("leaky", "leaky", 0.9), ("bernoulli", "cd", None), ("bernoulli", "pcd", None),
]  # fmt: skip


@pytest.mark.parametrize(("hidden", "method", "largest"), CASES)
def test_updates_follow_plain_numpy(hidden, method, largest):
    """Fields are moved by G and L in place of W: without noise the chains must be the same."""
    chosen = settings(hidden=hidden, method=method, largest=largest, batch_size=50, momentum=0.5)
    learner = GaussianLearner(DATA[:50], chosen, WEIGHTS, Noiseless(np.random.default_rng(0)))
    for _ in range(8):
        learner.update(0.1)
    wanted = reference(hidden, method, 8, 3, largest)
    assert np.abs(wanted[0] - WEIGHTS).max() > 0.1
    for found, right in zip(learner.parameters, wanted, strict=True):
        np.testing.assert_allclose(found, right, atol=2e-5)


def chains(n, method, hidden="leaky", **changed):
    """A model with biases, and n negative chains."""
    chosen = settings(hidden=hidden, method=method, batch_size=n, **changed)
    learner = GaussianLearner(
        np.zeros((n, 5), np.float32), chosen, WEIGHTS, np.random.default_rng(3)
    )
    learner.visible_bias[:] = [0.5, -0.3, 0.2, 0.0, -0.4]
    learner.hidden_bias[:] = [0.4, -0.6, 0.2]
    rbm = learner.rbm()
    start = np.tile(DATA[:1], (n, 1))
    eta = start @ learner.weights + learner.hidden_bias
    return rbm, start, learner._negative(start, eta).astype(float)


def assert_same_law(one, two):
    """Means and second moments within 5 standard errors, all of them."""
    first = np.concatenate([one, (one[:, :, None] * one[:, None]).reshape(len(one), -1)], axis=1)
    second = np.concatenate([two, (two[:, :, None] * two[:, None]).reshape(len(two), -1)], axis=1)
    error = np.sqrt(first.var(axis=0) / len(one) + second.var(axis=0) / len(two))
    z = (first.mean(axis=0) - second.mean(axis=0)) / error
    assert np.abs(z).max() < 5, z


@pytest.mark.parametrize("hidden", ["leaky", "bernoulli"])
def test_chains_have_the_law_of_sweeps_on_visible_units(hidden):
    rbm, start, found = chains(40_000, "cd", hidden)
    rng = np.random.default_rng(5)
    v = start.astype(float)
    for _ in range(3):
        v = rbm.gibbs(v, rng)
    assert_same_law(found, v)


@pytest.mark.parametrize(("method", "n_sweeps"), [("leaky", 4), ("mix", 4)])
def test_annealed_chains_follow_algorithm_2(method, n_sweeps):
    rbm, v, found = chains(40_000, method, n_sweeps=n_sweeps)
    rng = np.random.default_rng(6)
    if method == "leaky":
        mean, precision, _ = normal.gaussian(rbm.with_leakiness(1.0))
        v = rng.multivariate_normal(mean, np.linalg.inv(precision), 40_000)
    for k in range(1, n_sweeps + 1):
        v = rbm.with_leakiness(1 - k / n_sweeps * 0.9).gibbs(v, rng)
    assert_same_law(found, v)


@pytest.mark.parametrize("c", [0.04, 0.5])
def test_leaky_hidden_units_of_training_spread_by_the_root_of_c(c):
    """h given v: N(eta, 1) where eta > 0, and N(c eta, c) elsewhere."""
    chosen = settings(leakiness=c, n_hidden=2, batch_size=2)
    learner = GaussianLearner(
        np.zeros((2, 3), np.float32), chosen, np.zeros((3, 2)), np.random.default_rng(0)
    )
    eta = np.tile(np.float32([2.0, -3.0]), (200_000, 1))
    h = learner._draw_hidden(eta, c).astype(float)
    np.testing.assert_allclose(h.mean(axis=0), [2.0, -3.0 * c], atol=0.015)
    np.testing.assert_allclose(h.std(axis=0), [1.0, np.sqrt(c)], rtol=0.01)


def test_weights_are_projected_before_the_first_update():
    start = np.random.default_rng(1).uniform(0, 0.1, (200, 50))
    assert np.linalg.norm(start, 2) > 4
    chosen = settings(n_hidden=50, batch_size=300)
    learner = GaussianLearner(np.zeros((300, 200), np.float32), chosen, start, RNG)
    assert np.linalg.norm(learner.weights, 2) <= 0.9999 + 1e-6
