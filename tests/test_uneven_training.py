"""Updates with momentum, decay, a leakiness and moving estimates: by hand."""

from itertools import pairwise

import numpy as np
import pytest
from helpers_tracking import BASE as TRACKED_BASE
from helpers_tracking import DATA as TRACKED_DATA
from helpers_tracking import exact as exact_of
from helpers_tracking import random_rbm

import rbmlib as rl
from rbmbook.gaussian_training import GaussianLearner
from rbmbook.jarzynski import ReweightedTracker, log_density_change
from rbmlib import LogZTracker, schedules


def test_tempered_updates_have_momentum_and_decay(monkeypatch):
    """Three updates by hand, from the negative phases that the tracker gave."""
    start, phases = random_rbm(8, 0.3), []
    tracker = LogZTracker(TRACKED_BASE, schedules.linear(9), n_chains=50, n_sweeps=3, rng=7)
    phase = tracker.negative_phase
    monkeypatch.setattr(tracker, "negative_phase", lambda: phases.append(phase()) or phases[-1])
    result = rl.train(
        TRACKED_DATA, 5, method="tempered", tracker=tracker, start=start, n_updates=3,
        batch_size=len(TRACKED_DATA), learning_rate=[0.2, 0.15, 0.1], momentum=0.6,
        weight_decay=0.05, rng=1,
    )  # fmt: skip
    assert len(phases) == 3
    x = TRACKED_DATA.astype(float)
    w, b, a = (np.array(p, float) for p in (start.weights, start.visible_bias, start.hidden_bias))
    speed = [0 * w, 0 * b, 0 * a]
    for rate, (vh, v, h) in zip((0.2, 0.15, 0.1), phases, strict=True):
        means = 1 / (1 + np.exp(-(x @ w + a)))
        gradients = (x.T @ means / len(x) - vh - 0.05 * w, x.mean(0) - v, means.mean(0) - h)
        speed = [0.6 * s + rate * g for s, g in zip(speed, gradients, strict=True)]
        w, b, a = w + speed[0], b + speed[1], a + speed[2]
    for found, wanted in zip(
        (result.rbm.weights, result.rbm.visible_bias, result.rbm.hidden_bias), (w, b, a),
        strict=True,
    ):  # fmt: skip
        np.testing.assert_allclose(found, wanted, atol=2e-5)


@pytest.mark.parametrize("c", [0.04, 0.5])
def test_leaky_hidden_units_of_training_spread_by_the_root_of_c(c):
    """h given v: N(eta, 1) where eta > 0, and N(c eta, c) elsewhere."""
    settings = {"hidden": "leaky", "method": "cd", "leakiness": c, "largest": None,
                "batch_size": 2, "momentum": 0.0, "weight_decay": 0.0, "n_hidden": 2,
                "n_sweeps": 1, "kernel": "gibbs"}  # fmt: skip
    learner = GaussianLearner(np.zeros((2, 3), np.float32), settings, np.zeros((3, 2)),
                       np.random.default_rng(0))  # fmt: skip
    eta = np.tile(np.float32([2.0, -3.0]), (200_000, 1))
    h = learner._draw_hidden(eta, c).astype(float)
    np.testing.assert_allclose(h.mean(axis=0), [2.0, -3.0 * c], atol=0.015)
    np.testing.assert_allclose(h.std(axis=0), [1.0, np.sqrt(c)], rtol=0.01)


def test_weights_of_a_tracker_follow_the_model_and_the_moving_estimates():
    """Jarzynski by hand over three updates in which Z^ moves; and unbiased in the mean."""
    tracker = ReweightedTracker(TRACKED_BASE, schedules.linear(6), n_chains=400, n_sweeps=2, rng=3,
                                gain=0.7, resample_below=0.0)  # fmt: skip
    models = [random_rbm(s, 0.4) for s in (1, 2, 3, 4)]
    tracker.update(models[0])
    weights, moved = tracker.weights.log_weights.copy(), 0.0
    for old, new in pairwise(models):
        sample, wanted = tracker.sample, tracker.log_z_path.copy()
        index = sample.index.copy()
        change = log_density_change(old, new, sample.states, tracker.betas[index])
        shift = wanted - sample.log_z_path
        moved = max(moved, float(np.abs(shift).max()))
        weights += change - shift[index]
        tracker.update(new)
        np.testing.assert_allclose(tracker.weights.log_weights, weights, atol=1e-9)
        np.testing.assert_allclose(tracker.sample.log_z_path - tracker.sample.log_z_path[0],
                                   wanted - wanted[0], atol=1e-9)  # fmt: skip
    assert moved > 0.2, "Z^ hardly moves: the shift would not be seen"
    found = tracker.reweighted()
    assert abs(found.log_z - exact_of(models[-1])) < 4 * found.std_error
