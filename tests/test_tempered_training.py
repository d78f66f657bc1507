"""Training by the tracker's own chains: an update by hand, threads, early stopping."""

import numpy as np
import pytest
from helpers_models import on_threads
from helpers_tracking import BASE, BETAS, DATA, random_rbm

import rbmbook.spectral  # noqa: F401  (which registers a method)
import rbmlib as rl
from rbmlib import LogZTracker


def train_tempered(seed=7, **options):
    tracker = LogZTracker(BASE, BETAS, n_chains=100, n_sweeps=5, rng=seed)
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


def test_same_seed_same_training_on_any_number_of_threads():
    one, two = train_tempered()[1].rbm, on_threads(2, train_tempered)[1].rbm
    np.testing.assert_array_equal(one.weights, two.weights)


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


def test_early_stopping_returns_the_best_model():
    values = iter([1.0, 3.0, 5.0, 4.0, 2.0, 9.0])
    seen = []

    def monitor(rbm):
        seen.append(rbm)
        return {"validation": next(values)}

    _, result = train_tempered(monitor=monitor, patience=2, n_updates=400)
    assert result.history["update"].tolist() == [0, 4, 8, 12, 16]
    np.testing.assert_array_equal(result.rbm.weights, seen[2].weights)
    with pytest.raises(ValueError, match="patience is 1, but 'validation' is not among update"):
        rl.train(DATA, 5, n_updates=1, monitor=lambda _: {"other": 1.0}, patience=1)


def test_an_equal_value_is_no_new_maximum():
    """A plateau ends a training, and its first model is returned."""
    values, seen = iter([1.0, 3.0, 3.0, 3.0, 9.0, 9.0]), []

    def monitor(rbm):
        seen.append(rbm)
        return {"validation": next(values)}

    _, result = train_tempered(monitor=monitor, patience=2, n_updates=400)
    assert result.history["validation"].tolist() == [1, 3, 3, 3]
    np.testing.assert_array_equal(result.rbm.weights, seen[1].weights)
