"""Tracking: eq. (24) by hand, the lag, the negative phase, Jarzynski's equality and its bias."""

from types import SimpleNamespace

import numpy as np
import pytest
from helpers_stats import all_states, assert_no_rejection, log_sum, rbm_table, two_sided

import rbmlib as rl
from rbmlib import BernoulliRBM, LogZTracker
from rbmlib.book import experiments as tasks
from rbmlib.training.jarzynski import log_density_change

BETAS = rl.schedules.linear(9)
DATA = rl.exact_samples(rl.testsystems.random_rbm(10, 5, rng=0), 200, rng=1)
BASE = rl.base_rate(DATA)


def random_rbm(seed, scale=1.0) -> BernoulliRBM:
    rng = np.random.default_rng(seed)
    w, b, a = (scale * rng.normal(size=size) for size in ((10, 5), 10, 5))
    return BernoulliRBM(w, b, a)


def exact(rbm) -> float:
    return float(log_sum(rbm_table(rbm)))


def moved(rbm, step) -> BernoulliRBM:
    return BernoulliRBM(rbm.weights + step, rbm.visible_bias, rbm.hidden_bias + step)


def test_an_update_is_equation_24():
    tracker = LogZTracker(BASE, BETAS, n_chains=50, n_sweeps=4, gain=0.3, prior_slope=1.5, rng=0)
    for seed in (0, 1):
        tracker.update(random_rbm(seed))
        before, c = tracker.sample.log_z_path, tracker.sample.occupation()[0].mean(axis=0)
        r = np.exp(1.5 * BETAS)
        wanted = before + 0.3 * np.log(r[0] / r * c / c[0])
        np.testing.assert_allclose(tracker.log_z_path, wanted, rtol=0, atol=1e-9)
        np.testing.assert_allclose(tracker.prior, r / r.sum())
    assert tracker.log_z_path[0] == pytest.approx(np.log1p(np.exp(BASE)).sum() + 5 * np.log(2))


@pytest.mark.statistical
def test_a_steady_rise_is_followed_with_the_lag_that_is_reported():
    """log Z rises by d an update: behind by d (1 - gain) / gain, which `lag` finds."""
    rbm, gain = random_rbm(2), 0.1
    tracker = LogZTracker(BASE, BETAS, n_chains=500, n_sweeps=10, gain=gain, rng=1)
    behind, rises, log_z = [], [], exact(rbm)
    for i in range(120):
        tracker.update(rbm)
        if i >= 60:
            behind.append(log_z - tracker.log_z)
        rbm = moved(rbm, 0.002)
        rises.append(exact(rbm) - log_z)
        log_z += rises[-1]
    expected = np.mean(rises[60:]) * (1 - gain) / gain
    assert expected > 0.3
    assert np.mean(behind) == pytest.approx(expected, rel=0.15)
    assert tracker.lag == pytest.approx(behind[-1], abs=5 * tracker.noise)
    assert tracker.noise < 0.1 * expected < tracker.std_error


def test_the_noise_is_made_of_what_each_chain_does_to_the_estimate():
    """By differences: the occupations of one chain, in all updates, weigh a little more."""
    n, rng = 30, np.random.default_rng(0)
    shares = rng.uniform(0.2, 2, (12, n, 2))

    def tracked(shares):
        tracker = LogZTracker(BASE, [0, 1], n_chains=n, gain=0.3, rng=0)
        tracker.log_z_path = np.zeros(2)
        for step, share in enumerate(shares):  # log Z rises; the estimate is fed back
            tracker.sample = SimpleNamespace(log_z_path=tracker.log_z_path)
            truth = np.array([0, 0.1 * step])
            tracker._track(tracker.prior * np.exp(truth - tracker.log_z_path) * share)
        return tracker

    whole, small = tracked(shares), 1e-5
    found = []
    for chain in range(n):
        more = shares.copy()
        more[:, chain] += small * (shares[:, chain] - shares.mean(axis=1))
        one = tracked(more)
        found.append([one.log_z - whole.log_z, one.log_z + one.lag - whole.log_z - whole.lag])
    spreads = np.std(found, axis=0, ddof=1) / small * np.sqrt(n)
    np.testing.assert_allclose(spreads, [whole.noise, whole.noise_with_lag], rtol=1e-3)


@pytest.mark.statistical
def test_the_noise_is_the_spread_over_trackers():
    """Of the estimate, and of the estimate with its lag added, which is the noisier."""
    rbm, n = random_rbm(2), 150
    trackers = [
        LogZTracker(BASE, BETAS, n_chains=60, n_sweeps=3, gain=0.2, rng=seed) for seed in range(n)
    ]
    for tracker in trackers:
        for _ in range(15):
            tracker.update(rbm)
    for found, noise in (
        ([t.log_z for t in trackers], [t.noise for t in trackers]),
        ([t.log_z + t.lag for t in trackers], [t.noise_with_lag for t in trackers]),
    ):
        ratio = np.var(found, ddof=1) / np.mean(np.square(noise))
        assert ratio == pytest.approx(1, abs=4 * np.sqrt(2 / n))
    assert np.mean([t.noise_with_lag / t.noise for t in trackers]) > 1.2


def test_round_trips_go_on_from_update_to_update():
    """As counted in the recorded betas of all updates, put end to end."""
    path, rng = rl.GeometricPath(random_rbm(2, 0.3), base=BASE), np.random.default_rng(0)
    sample, seen, counted = None, [], 0
    for _ in range(40):
        sample = rl.simulated_tempering(
            path, BETAS, np.linspace(0, 0, BETAS.size), 20, 2, rng, start=sample or "base"
        )
        seen.append(sample.temperature)
        counted += sample.round_trips.sum()
    passages = 0
    for chain in np.concatenate(seen).T:
        ends = chain[(chain == 0) | (chain == BETAS.size - 1)]
        passages += (np.diff(ends) != 0).sum()
    assert counted == passages / 2 > 10


def test_a_resampled_sample_is_a_new_one():
    """What a caller holds of the last update is not changed by the next."""
    tracker = LogZTracker(
        BASE, BETAS, n_chains=40, n_sweeps=2, reweight=True, n_apart=20, resample_below=1, rng=0
    )
    tracker.update(random_rbm(0))
    held = tracker.sample
    states, index = held.states.coordinates.copy(), held.index.copy()
    tracker.update(random_rbm(1))
    assert tracker.weights.n_resampled == 1
    assert 1 <= tracker.reweighted().n_ancestors < 20
    np.testing.assert_array_equal(held.states.coordinates, states)
    np.testing.assert_array_equal(held.index, index)


@pytest.mark.statistical
def test_negative_phase_is_the_mean_of_the_model():
    rbm, n = random_rbm(3), 8000
    tracker = LogZTracker(BASE, BETAS, n_chains=n, n_sweeps=5, rng=2)
    for _ in range(3):
        tracker.update(rbm)
    v, q = tracker.sample.states.coordinates.astype(float), tracker.conditional()[:, -1]
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


@pytest.mark.statistical
def test_change_of_log_density():
    one, other = random_rbm(4), random_rbm(5)
    states = rl.State(all_states(10)[::7].astype(np.float32))
    beta = np.resize([0.0, 0.3, 1.0], states.n_chains)
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
    states = rl.State(all_states(10)[::7].astype(np.float32))
    wanted = other.log_density(states.coordinates) - one.log_density(states.coordinates)
    found = log_density_change(one, other, states, np.ones(states.n_chains))
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    back = log_density_change(other, one, states, np.ones(states.n_chains))
    np.testing.assert_allclose(back, -wanted, rtol=1e-6)


def tempered(rows, **options):
    """A training at a rate that disturbs the chains; log Z by weights less the exact one."""
    options = {"n_chains": 60, "n_sweeps": 3, "reweight": True, "rng": 3} | options
    tracker = LogZTracker(BASE, BETAS, **options)
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


@pytest.mark.statistical
def test_any_training_can_be_followed():
    """PCD followed at every tenth update: near the exact log Z, and the training is not touched."""
    tracker = LogZTracker(BASE, BETAS, n_chains=400, n_sweeps=20, gain=0.5, rng=5)
    look, models = tracker.monitor(train=DATA), []

    def both(rbm):
        models.append(rbm)
        return look(rbm)

    options = {"n_updates": 200, "monitor_every": 10, "rng": 6}
    result = rl.train(DATA, 5, monitor=both, **options)
    alone = rl.train(DATA, 5, **options)
    np.testing.assert_array_equal(result.rbm.weights, alone.rbm.weights)
    truth = np.array([exact(rbm) for rbm in models])
    assert tracker.n_updates == len(models) == 21
    history = result.history
    assert np.abs(history["log_z"] - truth).max() < 0.1
    likelihood = models[-1].log_density(DATA).mean() - history["log_z"][-1]
    assert history["train"][-1] == pytest.approx(likelihood)
    assert (np.abs(history["log_z"] - truth) < 4 * history["log_z_error"] + 0.01).mean() > 0.8


def train_tempered(seed=7, **options):
    tracker = LogZTracker(
        BASE, BETAS, n_chains=100, n_sweeps=5, rng=seed, n_threads=options.pop("n_threads", 1)
    )
    options = {"n_updates": 40, "monitor_every": 4, "batch_size": 100, "rng": seed} | options
    return tracker, rl.train(DATA, 5, method="tempered", tracker=tracker, **options)


def test_a_tempered_update_by_hand():
    start = random_rbm(8, 0.1)
    tracker = LogZTracker(BASE, BETAS, n_chains=100, n_sweeps=5, rng=7)
    tracker.update(start)
    v, w, a = tracker.negative_phase()
    _, result = train_tempered(start=start, n_updates=1, batch_size=200, learning_rate=0.1)
    x, h = DATA, 1 / (1 + np.exp(-(DATA @ start.weights + start.hidden_bias)))
    for found, before, gradient in (
        (result.rbm.weights, start.weights, x.T @ h / 200 - v),
        (result.rbm.visible_bias, start.visible_bias, x.mean(axis=0) - w),
        (result.rbm.hidden_bias, start.hidden_bias, h.mean(axis=0) - a),
    ):
        np.testing.assert_allclose(found, before + 0.1 * gradient, rtol=0, atol=1e-6)


def test_the_settings_beside_a_tempered_training_are_those_of_its_chains():
    tracker, result = train_tempered()
    assert result.settings["n_sweeps"] == tracker.n_sweeps == 5
    assert (result.settings["n_chains"], result.settings["gain"]) == (100, 0.2)


def test_warm_up_is_a_rate_that_rises():
    """Of two updates the first is made at half the rate, the second at the whole one."""
    start = random_rbm(8, 0.1)
    options = {"start": start, "batch_size": 200, "monitor_every": 1, "learning_rate": 0.1}
    whole, half = (
        train_tempered(n_updates=1, **options | {"learning_rate": rate})[1].rbm
        for rate in (0.1, 0.05)
    )
    seen = []
    train_tempered(
        n_updates=2, warm_up=2, monitor=lambda rbm: seen.append(rbm.weights) or {}, **options
    )
    np.testing.assert_allclose(seen[1], half.weights, rtol=0, atol=1e-7)
    assert np.abs(half.weights - whole.weights).max() > 1e-4
    with pytest.raises(ValueError, match="warm_up is -1"):
        rl.train(DATA, 5, n_updates=1, warm_up=-1)


def test_same_seed_same_training_on_any_number_of_threads():
    one, two = train_tempered()[1].rbm, train_tempered(n_threads=2)[1].rbm
    np.testing.assert_array_equal(one.weights, two.weights)


@pytest.mark.parametrize("optimizer", ["sgd", "spectral"])
def test_tempered_training_learns(optimizer):
    """Two patterns: the best model without hidden units gives 10 log 2 nats, the best log 2."""
    rows = np.tile([[1, 0] * 5, [0, 1] * 5], (50, 1))
    rate = 1.0 if optimizer == "sgd" else 0.01
    tracker = LogZTracker(rl.base_rate(rows), BETAS, n_chains=60, n_sweeps=5, rng=0)
    result = rl.train(
        rows, 3, method="tempered", optimizer=optimizer, tracker=tracker, n_updates=100,
        learning_rate=rate, rng=1,
    )  # fmt: skip
    likelihood = result.history["log_likelihood"]
    assert likelihood[0] < -6.5
    assert likelihood[-1] > -3


def test_early_stopping_returns_the_best_model():
    values = iter([1.0, 3.0, 5.0, 4.0, 2.0, 9.0])
    seen = []

    def monitor(rbm):
        seen.append(rbm)
        return {"validation": next(values)}

    _, result = train_tempered(monitor=monitor, patience=2, n_updates=400)
    assert result.history["update"].tolist() == [0, 4, 8, 12, 16]
    np.testing.assert_array_equal(result.rbm.weights, seen[2].weights)
    with pytest.raises(ValueError, match="watch is 'test': expected one of update"):
        rl.train(DATA, 5, n_updates=1, monitor=lambda _: {"other": 1.0}, patience=1, watch="test")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gain": 0}, "gain is 0"),
        ({"gain": 1.5}, "gain is 1.5"),
        ({"n_chains": 1}, "n_chains is 1"),
        ({"betas": [0, 0.5]}, "betas runs from"),
        ({"n_apart": 5}, "n_apart is 5: expected 0 without reweight"),
        ({"n_apart": 9, "n_chains": 10, "reweight": True}, "n_apart is 9"),
        ({"resample_below": -1}, "resample_below is -1"),
    ],
)
def test_wrong_settings_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        LogZTracker(BASE, **options)


def test_order_of_calls_is_explained():
    tracker = LogZTracker(BASE, n_chains=10)
    for look in (tracker.negative_phase, lambda: tracker.log_z, lambda: tracker.std_error):
        with pytest.raises(ValueError, match="call update"):
            look()
    with pytest.raises(ValueError, match="reweight=True"):
        tracker.reweighted()
    with pytest.raises(TypeError, match="rbm is a str"):
        tracker.update("h10")
    with pytest.raises(ValueError, match="tracker is None: expected a LogZTracker"):
        rl.train(DATA, 5, method="tempered", n_updates=1)
    with pytest.raises(ValueError, match="start is BernoulliRBM"):
        rl.train(DATA, 4, start=random_rbm(0), n_updates=1)


def test_a_sweep_can_ask_for_the_looks_of_a_training(monkeypatch):
    """All rows of a run come from one training."""
    trained = []
    train = tasks.tracking.train
    monkeypatch.setattr(
        tasks.tracking, "train", lambda *a, **k: trained.append(1) or train(*a, **k)
    )
    task = {
        "model": "dna_cd1_500", "estimator": "tracked", "n_looks": 2, "n_updates": 2,
        "learning_rate": 1e-6, "final_learning_rate": 1e-6, "n_chains": 20, "n_apart": 8,
        "n_temperatures": 100, "n_annealed": 10, "n_reversed": 5, "seed": 1,
    }  # fmt: skip
    rows = [tasks.estimate(**task, look=look) for look in (0, 2)]
    assert len(trained) == 1
    assert rows[0]["tracked"] != rows[1]["tracked"]
    for row in rows:
        assert abs(row["tracked"] - row["log_z"]) < 2
        assert -110 < row["validation"] < row["train"] < -80
