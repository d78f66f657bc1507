"""Training with Gaussian visible units: updates against plain NumPy, laws of the chains, limits."""

import time

import numpy as np
import pytest
from scipy.special import expit

import rbmlib as rl
from rbmbook import experiments as tasks
from rbmlib.models import normal
from rbmlib.training import gaussian as gaussian_training
from rbmlib.training.gaussian import _Learner

RNG = np.random.default_rng(7)
CLOUD = RNG.normal(size=(400, 5)) @ RNG.normal(size=(5, 5))
DATA = rl.Standardisation(CLOUD)(CLOUD)
WEIGHTS = rl.project_weights(RNG.normal(size=(5, 3)), 0.8)


def settings(**changed):
    given = dict(
        n_hidden=3, hidden="leaky", method="cd", kernel="gibbs", leakiness=0.1, largest=0.9999,
        n_sweeps=3, n_updates=1, batch_size=len(DATA), learning_rate=0.1,
        momentum=0.0, weight_decay=0.0,
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


def reference(hidden, method, n_updates, n_sweeps, largest=None, momentum=0.5, decay=0.01, c=0.1):
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
        gradients = [
            (x.T @ up - v.T @ down) / 50 - decay * w,
            (x - v).mean(axis=0),
            (up - down).mean(axis=0),
        ]
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
    chosen = settings(
        hidden=hidden, method=method, largest=largest, batch_size=50, momentum=0.5,
        weight_decay=0.01,
    )  # fmt: skip
    learner = _Learner(DATA[:50], chosen, WEIGHTS, Noiseless(np.random.default_rng(0)))
    for _ in range(8):
        learner.update(0.1)
    wanted = reference(hidden, method, 8, 3, largest)
    assert np.abs(wanted[0] - WEIGHTS).max() > 0.1
    for found, right in zip(learner.parameters, wanted, strict=True):
        np.testing.assert_allclose(found, right, atol=2e-5)


def chains(n, method, hidden="leaky", kernel="gibbs", leakiness=0.1, start=None, **changed):
    """A model with biases, and n negative chains."""
    chosen = settings(
        hidden=hidden, method=method, kernel=kernel, leakiness=leakiness, batch_size=n, **changed
    )
    learner = _Learner(np.zeros((n, 5), np.float32), chosen, WEIGHTS, np.random.default_rng(3))
    learner.visible_bias[:] = [0.5, -0.3, 0.2, 0.0, -0.4]
    learner.hidden_bias[:] = [0.4, -0.6, 0.2]
    rbm = learner.rbm()
    if start is None:
        start = np.tile(DATA[:1], (n, 1))
    start = np.asarray(start, np.float32)
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


def test_annealed_chains_start_from_the_gaussian():
    """At leakiness 1 Gibbs sampling is exact, so the law is that Gaussian after any sweeps."""
    rbm, _, found = chains(40_000, "leaky", leakiness=1.0)
    mean, precision, _ = normal.gaussian(rbm.with_leakiness(1.0))
    exact = np.random.default_rng(2).multivariate_normal(mean, np.linalg.inv(precision), 40_000)
    assert_same_law(found, exact)


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


@pytest.mark.parametrize("kernel", ["slice", "hmc"])
def test_exact_kernels_leave_the_model_as_it_is(kernel):
    rbm = chains(1, "cd", leakiness=0.1)[0]
    exact = rl.sample(rbm, 20_000, 1).states
    found = chains(20_000, "cd", kernel=kernel, start=exact, n_sweeps=10)[2]
    assert_same_law(found, rl.sample(rbm, 20_000, 2).states)


# what training is for -----------------------------------------------------------------------


def log_likelihood(rbm, data):
    """Mean log p(v) of a model with two hidden units, by a sum over a grid in their span."""
    axis = np.linspace(-25, 25, 401)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    log_p = rbm.reduced()[0].log_density(grid)
    log_z = np.logaddexp.reduce(log_p) + 2 * np.log(axis[1] - axis[0])
    return rbm.log_density(data).mean() - log_z


@pytest.mark.parametrize(
    ("hidden", "method"), [(h, m) for h, ms in gaussian_training.METHODS.items() for m in ms]
)
def test_training_raises_the_likelihood(hidden, method):
    """Eight correlated pixels; the best model with variances of at least one is Gaussian."""
    rng = np.random.default_rng(0)
    cloud = rng.normal(size=(2000, 1)) + 0.5 * rng.normal(size=(2000, 8))
    data = rl.Standardisation(cloud)(cloud)
    spread = np.linalg.eigvalsh(np.cov(data.T))
    nothing = -4 * np.log(2 * np.pi) - 4
    best = nothing + (spread[-1] - 1 - np.log(spread[-1])) / 2
    assert best - nothing > 1.8
    result = rl.train_gaussian(
        data, 2, hidden=hidden, method=method, n_sweeps=10, n_updates=600, learning_rate=0.01,
        final_learning_rate=0.0, start_weights=rng.normal(scale=0.1, size=(8, 2)), rng=0,
        monitor_every=600, monitor=lambda rbm: {"log_likelihood": log_likelihood(rbm, data)},
        largest=0.98,
    )  # fmt: skip
    seen = result.history["log_likelihood"]
    assert seen[0] < nothing + 0.3
    assert best - 0.7 < seen[-1] < best + 0.1, (seen, best)


def test_training_without_projection_leaves_the_models():
    cloud = RNG.normal(size=(500, 1)) + 0.3 * RNG.normal(size=(500, 20))
    data = rl.Standardisation(cloud)(cloud)
    options = dict(n_sweeps=1, n_updates=300, learning_rate=0.01, rng=0)
    result = rl.train_gaussian(data, 4, largest=None, **options)
    assert result.history["largest_singular_value"][-1] > 1
    v, rng = np.array(data[:20], float), np.random.default_rng(0)
    for _ in range(300):
        v = result.rbm.gibbs(v, rng)
    assert np.abs(v).max() > 1e3
    kept = rl.train_gaussian(data, 4, **options)
    assert kept.history["largest_singular_value"].max() <= 0.9999 + 1e-6


def test_weights_are_projected_before_the_first_update():
    wide = np.random.default_rng(0).normal(size=(300, 200))
    data = rl.Standardisation(wide)(wide)
    start = np.random.default_rng(1).uniform(0, 0.1, (200, 50))
    assert np.linalg.norm(start, 2) > 4
    result = rl.train_gaussian(data, 50, n_sweeps=1, n_updates=1, start_weights=start, rng=0)
    assert result.history["largest_singular_value"][0] <= 0.9999 + 1e-6


# seeds, checkpoints, errors -----------------------------------------------------------------


@pytest.mark.parametrize("method", ["cd", "pcd"])
def test_a_broken_off_training_goes_on_to_the_same_bits(tmp_path, method):
    options = dict(n_hidden=3, method=method, n_sweeps=2, n_updates=12, monitor_every=4, rng=1)
    options["batch_size"] = 60  # it breaks off within an epoch of 400 rows
    whole = rl.train_gaussian(DATA, **options)

    class Break(Exception):
        pass

    def fail_at_8(rbm):
        fail_at_8.looks += 1
        if fail_at_8.looks == 3:
            raise Break
        return {}

    fail_at_8.looks = 0
    file = tmp_path / "run.npz"
    with pytest.raises(Break):
        rl.train_gaussian(DATA, **options, checkpoint=file, monitor=fail_at_8)
    again = rl.train_gaussian(DATA, **options, checkpoint=file)
    np.testing.assert_array_equal(again.rbm.weights, whole.rbm.weights)
    np.testing.assert_array_equal(again.rbm.hidden_bias, whole.rbm.hidden_bias)
    assert again.history["update"].tolist() == [0, 4, 8, 12]
    with pytest.raises(ValueError, match="is of a training with other settings"):
        rl.train_gaussian(DATA, **options | {"learning_rate": 0.5}, checkpoint=file)
    whole = file.read_bytes()
    middle = len(whole) // 2
    other = bytes([whole[middle] ^ 1])
    for damaged in (b"", whole[:-9], whole[:middle] + other + whole[middle + 1 :], b"no archive"):
        file.write_bytes(damaged)
        with pytest.raises(ValueError, match=rf"{file.name}.*damaged.*delete it") as caught:
            rl.train_gaussian(DATA, **options, checkpoint=file)
        assert "pickle" not in str(caught.value)
        assert file.read_bytes() == damaged


def test_a_training_that_goes_on_remembers_the_seconds_before(tmp_path):
    options = dict(n_hidden=3, n_updates=4, monitor_every=2, rng=1, checkpoint=tmp_path / "run.npz")

    def slow_then_broken(rbm):
        slow_then_broken.looks += 1
        time.sleep(0.3 if slow_then_broken.looks == 2 else 0)
        if slow_then_broken.looks == 3:
            raise KeyboardInterrupt
        return {}

    slow_then_broken.looks = 0
    with pytest.raises(KeyboardInterrupt):
        rl.train_gaussian(DATA, **options, monitor=slow_then_broken)
    started = time.perf_counter()
    again = rl.train_gaussian(DATA, **options)
    assert again.seconds > time.perf_counter() - started + 0.25


def test_same_seed_same_bits():
    one, two = (rl.train_gaussian(DATA, 3, n_updates=5, rng=4).rbm for _ in range(2))
    np.testing.assert_array_equal(one.weights, two.weights)
    other = rl.train_gaussian(DATA, 3, n_updates=5, rng=5).rbm
    assert (other.weights != one.weights).any()


def test_divergence_is_an_error_that_names_the_remedy():
    with pytest.raises(FloatingPointError, match="lower learning_rate"):
        rl.train_gaussian(DATA, 3, hidden="bernoulli", n_updates=50, learning_rate=1e30, rng=0)


WRONG = {
    "bytes": (dict(data=np.full((200, 5), 128)), r"data is not standardised"),
    "[0, 1]": (dict(data=RNG.random((200, 5))), r"data is not standardised.*Standardisation"),
    "NaN": (dict(data=np.where(DATA > 2, np.nan, DATA)), r"data holds"),
    "few": (dict(data=DATA[:50]), r"data has 50 rows: expected at least batch_size"),
    "leakiness 0": (dict(leakiness=0.0), r"leakiness is 0.0: expected a number in \(0, 1\]"),
    "leakiness 2": (dict(leakiness=2.0), r"leakiness is 2.0: expected a number in \(0, 1\]"),
    "largest": (dict(largest=1.0), r"largest is 1.0: expected a singular value above 0 and below"),
    "method": (dict(method="sgd"), r"method is 'sgd': expected one of 'cd', 'pcd', 'leaky'"),
    "annealed": (
        dict(method="leaky", hidden="bernoulli"),
        r"method is 'leaky': expected one of 'cd', 'pcd'",
    ),
    "kernel": (dict(kernel="slice", hidden="bernoulli"), r"kernel is 'slice': expected 'gibbs'"),
    "hidden": (dict(hidden="relu"), r"hidden is 'relu': expected one of 'leaky', 'bernoulli'"),
    "weights": (dict(start_weights=np.ones((3, 5))), r"start_weights has shape \(3, 5\)"),
    "checkpoint": (dict(checkpoint="run.pickle"), r"checkpoint is 'run.pickle': expected a path"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong_arguments(case):
    changed, message = WRONG[case]
    with pytest.raises(ValueError, match=message):
        rl.train_gaussian(**dict(data=DATA, n_hidden=3, n_updates=2) | changed)


SUBSET_TASK = {"model": "orthogonal 5", "estimator": "trained on the subset", "method": "mix",
               "learning_rate": 1e-3, "n_updates": 4, "n_sweeps": 2, "n_chains": 20,
               "n_temperatures": 30, "n_burn_in": 10, "seed": 1}  # fmt: skip


def test_a_sweep_trains_on_the_subset():
    row = tasks.estimate(**SUBSET_TASK)
    assert row["test_low"] < row["test_high"] + 1.0
    assert row["largest_singular_value"] < 1
    more = tasks.estimate(**SUBSET_TASK | {"n_updates": 40})
    assert more["tuning_high"] > row["tuning_high"] + 10
    held = tasks.estimate(**SUBSET_TASK | {"largest": 0.5})
    assert held["largest_singular_value"] == pytest.approx(0.5, abs=1e-3)


def test_a_training_that_diverges_has_no_log_likelihood():
    row = tasks.estimate(**SUBSET_TASK | {"learning_rate": 1e30})
    assert row["log_z"] is None
    assert not row["converged"]
    assert "test_low" not in row


def test_annealed_chains_begin_with_the_hidden_units_of_leakiness_1(monkeypatch):
    seen = []

    def hidden(self, pull):
        seen.append(pull)
        return np.zeros((4, 3))

    monkeypatch.setattr(_Learner, "_gaussian_hidden", hidden)
    rbm, _, _ = chains(4, "leaky", kernel="hmc")
    np.testing.assert_allclose(seen[0], rbm.visible_bias @ rbm.weights + rbm.hidden_bias, rtol=1e-5)
