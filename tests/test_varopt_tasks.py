"""What the sweeps of chapter varopt compute, on a model that can be enumerated."""

import numpy as np
import pytest

import rbmlib as rl
from rbmbook.experiments import book_sweep
from rbmbook.experiments import kiwaki2015 as trainings
from rbmbook.sweeps.words import ESTIMATORS, load_model

SMALL = rl.testsystems.random_rbm(n_visible=10, n_hidden=5, coupling=4.0, rng=0)
PATH = rl.GeometricPath(SMALL, base=np.zeros(10))
EXACT = rl.exact(SMALL).log_z


def test_looks_on_the_way_end_at_the_whole_run():
    run, more = ESTIMATORS["looked_at"](
        PATH, rl.schedules.linear(100), np.random.default_rng(1), n_chains=200, n_looks=4
    )
    assert abs(run.log_z - EXACT) < 4 * run.std_error
    assert sorted(more) == sorted(f"{x}_{i}" for x in ("ess", "variance") for i in (1, 2, 3, 4))
    assert np.isclose(more["ess_4"], run.ess)
    single = 1e-4  # the trace is kept in single precision
    assert np.isclose(more["variance_4"], run.log_weights.var(ddof=1), rtol=single)
    halfway = rl.ais(PATH, rl.schedules.linear(100), 200, 1, n_recorded=3, keep_chains=True)
    assert np.isclose(
        more["variance_2"], halfway.trace["chain_log_weights"][1].var(ddof=1), rtol=single
    )
    assert more["variance_1"] < more["variance_2"] < more["variance_4"]


def test_a_model_that_a_task_trains_is_that_of_its_settings():
    training = trainings.Training(5, 30, 0.04, 1e-3, 3)
    images = rl.datasets.load_mnist().train
    same = rl.train(
        images, n_hidden=5, method="pcd", n_updates=30, learning_rate=0.04, weight_decay=1e-3,
        rng=3,
    )  # fmt: skip
    np.testing.assert_array_equal(training().weights, same.rbm.weights)


def test_drawn_settings_are_within_their_ranges_and_differ():
    drawn = [trainings.drawn_settings(k) for k in range(200)]
    epochs = {one["n_updates"] / 600 for one in drawn}
    assert epochs == set(range(4, 21))
    for name, low, high in (("learning_rate", 0.005, 0.05), ("weight_decay", 1e-5, 1e-3)):
        logs = np.log([one[name] / low for one in drawn]) / np.log(high / low)
        assert logs.min() > -0.01
        assert logs.max() < 1.01
        assert abs(logs.mean() - 0.5) < 4 * np.sqrt(1 / 12 / 200)


def test_drawn_settings_stay_what_stored_rows_were_computed_with():
    """Their keys hold the number of the training alone."""
    drawn = [tuple(trainings.drawn_settings(k).values()) for k in (1, 2, 3)]
    assert drawn == [(2400, 0.041, 3.6e-5), (9000, 0.005, 4.2e-5), (6600, 0.0075, 8.9e-5)]


def test_a_sweep_is_declared_without_training(monkeypatch):
    """It is known how large such a model is."""

    def never(training):
        raise AssertionError("a model was trained")

    monkeypatch.setattr(trainings, "_trained", never)
    assert book_sweep("varopt_trainings").tasks
    with pytest.raises(AssertionError, match="was trained"):
        load_model("pcd_500, training 1")
