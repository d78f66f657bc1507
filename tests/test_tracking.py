"""Tracking: eq. (24) by hand, the lag, its noise, the negative phase; training by its chains."""

from types import SimpleNamespace

import numpy as np
import pytest
from helpers_models import on_threads
from helpers_stats import all_states, assert_no_rejection, log_sum, rbm_table, two_sided

import rbmbook.training  # noqa: F401  (which registers a method)
import rbmlib as rl
from rbmlib import BernoulliRBM, LogZTracker, schedules
from rbmlib.training import tracking

BETAS = rl.schedules.linear(9)
DATA = rl.sample(rl.testsystems.random_rbm(10, 5, rng=0), 200, rng=1).states
BASE = rl.base_rate(DATA)


def random_rbm(seed, scale=1.0) -> BernoulliRBM:
    rng = np.random.default_rng(seed)
    w, b, a = (scale * rng.normal(size=size) for size in ((10, 5), 10, 5))
    return BernoulliRBM(w, b, a)


def test_an_update_is_equation_24():
    tracker = LogZTracker(BASE, BETAS, n_chains=50, n_sweeps=4, gain=0.3, rng=0)
    for seed in (0, 1):
        tracker.update(random_rbm(seed))
        before, c = tracker.sample.log_z_path, tracker.sample.occupation()[0].mean(axis=0)
        r = np.exp(2.0 * BETAS)
        wanted = before + 0.3 * np.log(r[0] / r * c / c[0])
        np.testing.assert_allclose(tracker.log_z_path, wanted, rtol=0, atol=1e-9)
        np.testing.assert_allclose(tracker.prior, r / r.sum())
    assert tracker.log_z_path[0] == pytest.approx(np.log1p(np.exp(BASE)).sum() + 5 * np.log(2))


def test_it_begins_with_the_noise_of_its_annealing(monkeypatch):
    """By a prior so steep that all chains stop at beta = 1."""
    monkeypatch.setattr(tracking, "PRIOR_SLOPE", 300.0)
    tracker = LogZTracker(BASE, BETAS, n_chains=50, rng=0)
    _, _, logs = tracker._start(rl.GeometricPath(random_rbm(0), base=BASE))
    weights = np.exp(logs - logs.max())
    assert tracker.noise == pytest.approx(
        weights.std(ddof=1) / weights.mean() / np.sqrt(50), rel=0.01
    )


GAIN = 0.3


def tracked(shares):
    """A tracker whose chains have these shares at the ends, and its innovations.

    log Z rises by 0.1 an update, and the estimate is fed back.
    """
    tracker = LogZTracker(BASE, [0, 1], n_chains=shares.shape[1], gain=GAIN, rng=0)
    tracker.log_z_path, innovations = np.zeros(2), []
    for step, share in enumerate(shares):
        before = tracker.log_z_path
        tracker.sample = SimpleNamespace(log_z_path=before)
        tracker._track(tracker.prior * np.exp(np.array([0, 0.1 * step]) - before) * share)
        innovations.append((tracker.log_z_path - before)[1] / GAIN)
    return tracker, np.array(innovations)


def by_leaving_out(shares, small=1e-5):
    """What each chain does, by differences: its shares in all updates weigh a little more."""
    for chain in range(shares.shape[1]):
        more = shares.copy()
        more[:, chain] += small * (shares[:, chain] - shares.mean(axis=1))
        yield tracked(more)


def test_the_noise_is_made_of_what_each_chain_does_to_the_estimate():
    shares = np.random.default_rng(0).uniform(0.2, 2, (12, 30, 2))
    whole, _ = tracked(shares)
    found = [(one.log_z, one.log_z + one.lag) for one, _ in by_leaving_out(shares)]
    spreads = np.std(found, axis=0, ddof=1) / 1e-5 * np.sqrt(30)
    np.testing.assert_allclose(spreads, [whole.noise, whole.noise_with_lag], rtol=1e-3)


@pytest.mark.parametrize("n_updates", [7, 50])
def test_the_bar_is_noise_and_lag_in_squares(n_updates):
    """The lag's square: what innovations have on average beyond their noise. The average is over
    all updates while these are few (7), and later of weights that fall by a twentieth (50)."""
    shares = np.random.default_rng(1).uniform(0.5, 1.5, (n_updates, 30, 2))
    whole, innovations = tracked(shares)
    spread = np.std([i for _, i in by_leaving_out(shares)], axis=0, ddof=1) / 1e-5 * np.sqrt(30)
    squares = innovations**2 - spread**2
    first = squares[:20].mean()
    for square in squares[20:]:
        first = 0.95 * first + 0.05 * square
    assert 0 < first < 0.95 * np.mean(innovations[-20:] ** 2)  # the noise is seen in it
    wanted = np.hypot(whole.noise, (1 - GAIN) * np.sqrt(first))
    assert whole.std_error == pytest.approx(wanted, rel=1e-5)


@pytest.mark.always
@pytest.mark.statistical
def test_negative_phase_is_the_mean_of_the_model():
    rbm, n = random_rbm(3), 8000
    tracker = LogZTracker(BASE, BETAS, n_chains=n, n_sweeps=5, rng=2)
    for _ in range(3):
        tracker.update(rbm)
    v, q = tracker.sample.states.astype(float), tracker.conditional()[:, -1]
    table = rbm_table(rbm)
    p = np.exp(log_sum(table, axis=1) - log_sum(table))
    means = rbm.hidden_mean(all_states(10))
    truths = (all_states(10) * p[:, None]).T @ means, p @ all_states(10), p @ means
    h = rbm.hidden_mean(v)
    values = v[:, :, None] * h[:, None], v, h
    p_values = []
    for found, truth, value in zip(tracker.negative_phase(), truths, values, strict=True):
        weights = (q / q.sum()).reshape(-1, *[1] * truth.ndim)
        np.testing.assert_allclose(found, (weights * value).sum(axis=0), rtol=0, atol=1e-4)
        errors = (weights * (value - truth)).std(axis=0) * np.sqrt(n)
        p_values.append(two_sided((found - truth) / errors).ravel())
    assert_no_rejection(np.concatenate(p_values), "moments")


@pytest.mark.parametrize("part", ["weights", "visible_bias", "hidden_bias", "log_scale"])
def test_a_look_at_another_model_is_an_update(part):
    tracker, rbm = LogZTracker(BASE, BETAS, n_chains=20, n_sweeps=1, rng=0), random_rbm(0)
    names = ("weights", "visible_bias", "hidden_bias", "log_scale")
    parts = {name: getattr(rbm, name) for name in names}
    same, other = (BernoulliRBM(**parts | {part: parts[part] + d}) for d in (0.0, 0.1))
    look = tracker.monitor(train=DATA)
    for model, n in ((rbm, 1), (same, 1), (other, 2)):
        seen = look(model)
        assert tracker.n_updates == n
        assert seen["train"] == pytest.approx(model.log_density(DATA).mean() - tracker.log_z)


def test_tempered_updates_have_momentum_and_decay(monkeypatch):
    start, phases = random_rbm(8, 0.3), []
    tracker = LogZTracker(BASE, schedules.linear(9), n_chains=50, n_sweeps=3, rng=7)
    phase = tracker.negative_phase
    monkeypatch.setattr(tracker, "negative_phase", lambda: phases.append(phase()) or phases[-1])
    result = rl.train(
        DATA, 5, method="tempered", tracker=tracker, start=start, n_updates=3,
        batch_size=len(DATA), learning_rate=[0.2, 0.15, 0.1], momentum=0.6,
        weight_decay=0.05, rng=1,
    )  # fmt: skip
    assert len(phases) == 3
    x = DATA.astype(float)
    w, b, a = (np.array(p, float) for p in (start.weights, start.visible_bias, start.hidden_bias))
    speed = [0 * w, 0 * b, 0 * a]
    for rate, (vh, v, h) in zip((0.2, 0.15, 0.1), phases, strict=True):
        means = 1 / (1 + np.exp(-(x @ w + a)))
        gradients = (x.T @ means / len(x) - vh - 0.05 * w, x.mean(0) - v, means.mean(0) - h)
        speed = [0.6 * s + rate * g for s, g in zip(speed, gradients, strict=True)]
        w, b, a = w + speed[0], b + speed[1], a + speed[2]
    for name, wanted in (("weights", w), ("visible_bias", b), ("hidden_bias", a)):
        np.testing.assert_allclose(getattr(result.rbm, name), wanted, atol=2e-5)
    assert (result.settings["n_sweeps"], result.settings["n_chains"]) == (3, 50)


def train_tempered(seed=7, **options):
    tracker = LogZTracker(BASE, BETAS, n_chains=100, n_sweeps=5, rng=seed)
    options = {"n_updates": 40, "monitor_every": 4, "batch_size": 100, "rng": seed} | options
    return rl.train(DATA, 5, method="tempered", tracker=tracker, **options)


@pytest.mark.parametrize(("method", "rate"), [("tempered", 1.0), ("spectral tempered", 0.01)])
def test_tempered_training_learns(method, rate):
    """Two patterns: the best model without hidden units gives 10 log 2 nats, the best log 2."""
    rows = np.tile([[1, 0] * 5, [0, 1] * 5], (50, 1))
    tracker = LogZTracker(rl.base_rate(rows), BETAS, n_chains=60, n_sweeps=5, rng=0)
    result = rl.train(
        rows, 3, method=method, tracker=tracker, n_updates=100, learning_rate=rate, rng=1,
    )  # fmt: skip
    likelihood = result.history["log_likelihood"]
    assert likelihood[0] < -6.5
    assert likelihood[-1] > -3


def test_same_seed_same_training_on_any_number_of_threads():
    one, two = (on_threads(n, train_tempered).rbm for n in (1, 2))
    np.testing.assert_array_equal(one.weights, two.weights)


@pytest.mark.parametrize(
    ("given", "seen", "best"),
    [([1.0, 3.0, 5.0, 4.0, 2.0, 9.0], 5, 2), ([1.0, 3.0, 3.0, 3.0, 9.0, 9.0], 4, 1)],
    ids=["a maximum", "a plateau, whose first model is returned"],
)
def test_early_stopping_returns_the_best_model(given, seen, best):
    values, models = iter(given), []

    def monitor(rbm):
        models.append(rbm)
        return {"validation": next(values)}

    result = train_tempered(monitor=monitor, patience=2, n_updates=400)
    assert result.history["validation"].tolist() == given[:seen]
    np.testing.assert_array_equal(result.rbm.weights, models[best].weights)
