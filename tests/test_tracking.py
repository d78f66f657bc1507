"""Tracking: eq. (24) by hand, the lag, its noise, the negative phase, and any training followed."""

from types import SimpleNamespace

import numpy as np
import pytest
from helpers_stats import all_states, assert_no_rejection, log_sum, rbm_table, two_sided
from helpers_tracking import BASE, BETAS, DATA, exact, random_rbm

import rbmlib as rl
from rbmbook import experiments as tasks
from rbmbook.jarzynski import ReweightedTracker
from rbmlib import BernoulliRBM, LogZTracker
from rbmlib.training import tracking


def moved(rbm, step) -> BernoulliRBM:
    return BernoulliRBM(rbm.weights + step, rbm.visible_bias, rbm.hidden_bias + step)


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


@pytest.mark.statistical
def test_the_bar_holds_where_log_z_goes_up_and_down():
    """The lag crosses zero all the time, and on average there is none: its squares stay."""
    low = random_rbm(2)
    high = moved(low, 0.02)
    truths = [exact(rbm) for rbm in (low, high)]
    tracker = LogZTracker(BASE, BETAS, n_chains=500, n_sweeps=10, gain=0.1, rng=1)
    errors, bars, mean_lags = [], [], []
    for i in range(160):
        tracker.update((low, high)[i // 2 % 2])
        if i >= 80:
            errors.append(tracker.log_z - truths[i // 2 % 2])
            bars.append(tracker.std_error)
            mean_lags.append(np.hypot(tracker.noise, tracker.lag))
    rms_error, rms_bar, rms_mean_lag = (
        np.sqrt(np.mean(np.square(x))) for x in (errors, bars, mean_lags)
    )
    assert rms_error > 5 * tracker.noise
    assert rms_bar == pytest.approx(rms_error, rel=0.15)
    assert rms_mean_lag < 0.6 * rms_error


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
    tracker = ReweightedTracker(
        BASE, BETAS, n_chains=40, n_sweeps=2, n_apart=20, resample_below=1, rng=0
    )
    tracker.update(random_rbm(0))
    held = tracker.sample
    states, index = held.states.copy(), held.index.copy()
    tracker.update(random_rbm(1))
    assert tracker.weights.n_resampled == 1
    assert 1 <= tracker.reweighted().n_ancestors < 20
    np.testing.assert_array_equal(held.states, states)
    np.testing.assert_array_equal(held.index, index)


def test_a_chain_that_is_drawn_again_brings_its_round_trips_along():
    tracker = ReweightedTracker(BASE, BETAS, n_chains=40, n_sweeps=20, resample_below=0)
    for _ in range(6):
        tracker.update(random_rbm(0, 0.3))
    before, tracker.resample_below = tracker.round_trips.copy(), 1.0
    tracker.update(random_rbm(1))
    chosen = tracker.weights.ancestor
    assert np.ptp(before) > 0
    assert (chosen != np.arange(40)).any()
    np.testing.assert_array_equal(tracker.round_trips - tracker.sample.round_trips, before[chosen])


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


@pytest.mark.parametrize("part", ["weights", "visible_bias", "hidden_bias", "log_scale"])
def test_a_look_at_another_model_is_an_update(part):
    """And at the same one it is none."""
    tracker, rbm = LogZTracker(BASE, BETAS, n_chains=20, n_sweeps=1, rng=0), random_rbm(0)
    names = ("weights", "visible_bias", "hidden_bias", "log_scale")
    parts = {name: getattr(rbm, name) for name in names}
    same, other = (BernoulliRBM(**parts | {part: parts[part] + d}) for d in (0.0, 0.1))
    look = tracker.monitor()
    for model, n in ((rbm, 1), (same, 1), (other, 2)):
        look(model)
        assert tracker.n_updates == n


def test_order_of_calls_is_explained():
    tracker = LogZTracker(BASE, n_chains=10)
    for look in (tracker.negative_phase, lambda: tracker.log_z, lambda: tracker.std_error):
        with pytest.raises(ValueError, match="call update"):
            look()
    with pytest.raises(ValueError, match="call update"):
        ReweightedTracker(BASE, n_chains=10).reweighted()
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
