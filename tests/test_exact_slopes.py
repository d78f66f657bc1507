"""Tasks on Kiwaki: g from exact draws, J of schedules, looks on the way, trained models."""

import numpy as np
import pandas as pd
import pytest
from helpers_stats import all_states, probabilities
from helpers_tempering import EXACT, PATH
from test_exact import make

import rbmlib as rl
from rbmbook.experiments import book_sweep
from rbmbook.experiments import kiwaki2015 as trainings
from rbmbook.kiwaki2015 import theory
from rbmbook.sweeps.words import ESTIMATORS, load_model
from rbmlib import schedules
from rbmlib.models.named import BernoulliRBM


@pytest.mark.parametrize("log_scale", [0.0, 1.5])
@pytest.mark.parametrize("beta", [0.0, 0.4, 1.0])
def test_g_is_the_variance_over_all_visible_states(beta, log_scale):
    rbm = make(10, 4, 4, 1.0, log_scale)
    path = rl.GeometricPath(rbm, base=BernoulliRBM(0 * rbm.weights, rbm.visible_bias, np.ones(4)))
    v = all_states(10).astype(np.float32)
    log_p, x = path.log_density(v, beta), path.log_density_slope(v, beta)
    p = probabilities(log_p)
    mean = p @ x
    g = p @ (x - mean) ** 2
    found = trainings.slope_variance(path, beta, 12_000, 0)
    assert abs(found["g"] - g) < 4 * found["g_error"]
    assert abs(found["mean_slope"] - mean) < 4 * np.sqrt(g / 12_000)
    fourth = p @ (x - mean) ** 4
    assert found["g_error"] == pytest.approx(np.sqrt((fourth - g**2) / 12_000), rel=0.2)


def test_models_that_cannot_be_enumerated_are_refused():
    with pytest.raises(ValueError, match="22 units of two values"):
        trainings.slope_variance(rl.GeometricPath(make(40, 30)), 0.5, 10, 0)


BETAS = np.sin(np.pi * np.arange(21) / 40) ** 2
CURVES = {
    "flat": lambda b: 300 + 0 * b,
    "towards the target": lambda b: 100 * np.exp(2 * b),
    "at both ends": lambda b: 50 + 900 * (b - 0.4) ** 2,
}


@pytest.mark.parametrize("g", CURVES.values(), ids=CURVES)
def test_the_functional_of_varopt_is_the_length_squared(g):
    grid, fine = theory.curve(BETAS, g(BETAS))
    assert np.trapezoid(np.sqrt(fine / g(grid)), grid) == pytest.approx(1, abs=2e-3)
    linear = theory.functional(schedules.linear(2000), grid, fine)
    assert linear == pytest.approx(np.trapezoid(fine, grid), rel=1e-4)
    varopt = theory.varopt(2000, grid, fine)
    j = theory.functional(varopt, grid, fine)
    assert j == pytest.approx(np.trapezoid(np.sqrt(fine), grid) ** 2, rel=1e-4)


def test_gms13_of_means_is_its_rule():
    """Steps between knots in proportion to the root of (difference of betas x of means)."""
    means = 500 * BETAS**2
    betas = theory.gms13(9000, BETAS, means)
    knots = np.linspace(0, 1, 10)
    n_steps = np.diff(np.searchsorted(betas, knots * (1 + 1e-9)))
    wanted = np.sqrt(np.diff(knots) * np.diff(500 * knots**2))
    np.testing.assert_allclose(n_steps / 9000, wanted / wanted.sum(), atol=2e-3)


def test_between_is_the_area_between_two_curves():
    one, two = schedules.linear(1000), schedules.linear(1000) ** 2
    assert theory.between(one, two) == pytest.approx(1 / 6, abs=1e-4)
    assert theory.between(one, one) == 0


def test_schedules_have_the_error_of_their_g():
    """Of g = exp(beta), VAROPT is at 2 log(1 + share (exp(1/2) - 1)), whatever its scale."""
    g, means = 300 * np.exp(BETAS), 500 * BETAS
    found = theory.schedules_of(BETAS, g, means)
    wanted = 2 * np.log1p(np.linspace(0, 1, 2001) * (np.exp(0.5) - 1))
    np.testing.assert_allclose(found["VAROPT"], wanted, atol=1e-4)
    assert found["linear"].tolist() == schedules.linear(2000).tolist()
    value, error = effect_of(lambda p: p["VAROPT"][1000], BETAS, g, 0.02 * g, means)
    assert value == found["VAROPT"][1000]
    assert 1e-4 < error < 0.02
    assert effect_of(lambda p: p["VAROPT"][1000], BETAS, g, 0 * g, means)[1] < 1e-9


def effect_of(effect, betas, g, errors, means):
    columns = {"beta": betas, "g": g, "g_error": errors, "mean_slope": means}
    table = pd.DataFrame(columns | {"model": "m", "base": "b"})
    return theory.ExactPaths(table, ["b"]).effect(("m", "b"), effect)[:2]


def test_errors_of_effects_are_the_spread_of_draws(monkeypatch):
    """An effect that is the logarithm of g itself: its error is that of the normals drawn."""
    monkeypatch.setattr(theory, "schedules_of", lambda betas, g, means: g)
    value, error = effect_of(lambda g: np.log(g[0]), [0, 1], np.array([2.0, 5.0]), [0.4, 0.1], 0.0)
    normals = np.random.default_rng(0).normal(size=(50, 2))[:, 0]
    assert value == np.log(2)
    assert error == pytest.approx(0.2 * normals.std(ddof=1))


def test_looks_on_the_way_end_at_the_whole_run():
    run, more = ESTIMATORS["looked_at"](
        PATH, rl.schedules.linear(100), np.random.default_rng(1), n_chains=200, n_looks=4
    )
    assert abs(run.log_z - EXACT[-1]) < 4 * run.std_error
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
    found = trainings.trained(5, 30, 0.04, 1e-3, 3)
    images = rl.datasets.load_mnist().train
    same = rl.train(
        images, n_hidden=5, method="pcd", n_updates=30, learning_rate=0.04, weight_decay=1e-3,
        rng=3,
    )  # fmt: skip
    np.testing.assert_array_equal(found.weights, same.rbm.weights)


def test_drawn_settings_stay_what_stored_rows_were_computed_with():
    drawn = [tuple(trainings.drawn_settings(k).values()) for k in (1, 2, 3)]
    assert drawn == [(2400, 0.041, 3.6e-5), (9000, 0.005, 4.2e-5), (6600, 0.0075, 8.9e-5)]


def test_a_sweep_is_declared_without_training(monkeypatch):
    def never(*_, **__):
        raise AssertionError("a model was trained")

    monkeypatch.setattr(trainings, "train", never)
    assert book_sweep("varopt_trainings").tasks
    with pytest.raises(AssertionError, match="was trained"):
        load_model("pcd_500, training 1")
