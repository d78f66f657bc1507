"""Tasks of chapter leaky_rbm: trainings that are scored, and Algorithm 2 as a sampler."""

import time
from types import SimpleNamespace

import numpy as np
import pytest

from rbmbook.experiments.leaky_rbm import divergence, mixing, training
from rbmbook.gaussian_likelihood import bracket_log_z
from rbmbook.gaussian_training import train_gaussian
from rbmbook.images import cifar10_scale, load_cifar10
from rbmbook.li2016 import quadrature
from rbmbook.sweeps.words import ESTIMATORS, MODELS
from rbmlib import project_weights
from rbmlib.models import GaussianRBM, LeakyRBM
from rbmlib.models.normal import has_orthogonal_columns

trained = ESTIMATORS["trained for epochs"]
SHORT = {"n_updates": 2, "n_sweeps": 1, "n_chains": 20, "n_temperatures": 10, "n_leapfrog": 2}


@pytest.mark.parametrize(("kind", "falling"), [("leaky", True), ("gaussian", False)])
def test_a_training_is_scored_on_both_halves_of_the_held_out_images(kind, falling):
    rate = 1e-3
    task = {"learning_rate": rate, "falling": falling, **SHORT}
    run, more = trained(MODELS[f"{kind} of 20 units"](), 1, **task)
    images = training.subset()
    again = train_gaussian(
        images["train"], 20, hidden="leaky" if kind == "leaky" else "bernoulli", n_sweeps=1,
        n_updates=2, learning_rate=[rate, 0.0 if falling else rate], rng=1, monitor_every=2,
    ).rbm  # fmt: skip
    tuning, test = (again.log_density(images[part]).mean() for part in ("tuning", "test"))
    for end in ("low", "high"):  # log Z is the same in both
        apart = more[f"tuning_{end}"] - more[f"test_{end}"]
        assert apart == pytest.approx(tuning - test, abs=1e-6)
    assert test - more["test_high"] == pytest.approx(run.mean_log_z)
    assert more["test_low"] != more["test_high"]
    assert 0 < more["training_seconds"] < run.seconds


def test_the_committed_images_are_split_into_2000_and_250_and_250():
    images, scale = training.subset(), cifar10_scale()
    there = load_cifar10()
    np.testing.assert_array_equal(images["train"], scale(there.train))
    held_out = np.concatenate([images["tuning"], images["test"]])
    np.testing.assert_array_equal(held_out, scale(there.test))
    assert [len(part) for part in images.values()] == [2000, 250, 250]


def test_all_images_are_split_without_one_in_two_parts(monkeypatch):
    """No image for tuning is trained on, and the last 4,000 for training belong to no part."""
    number = np.arange(60_000, dtype=float)[:, None]
    whole = SimpleNamespace(train=number[:50_000], test=number[50_000:])
    monkeypatch.setattr(training, "load_cifar10", lambda full: whole)
    monkeypatch.setattr(training, "cifar10_scale", lambda: lambda rows: rows)
    images = training.all_images.__wrapped__()
    assert {name: (x[0, 0], x[-1, 0], len(x)) for name, x in images.items()} == {
        "train": (0, 44_999, 45_000), "tuning": (45_000, 45_999, 1_000),
        "test": (50_000, 59_999, 10_000),
    }  # fmt: skip


@pytest.mark.parametrize("falling", [False, True])
def test_on_all_images_a_task_trains_and_scores_those_parts(monkeypatch, falling):
    parts = training.subset()
    swapped = {"train": parts["train"][::-1], "tuning": parts["test"], "test": parts["tuning"]}
    monkeypatch.setattr(training, "all_images", lambda: swapped)
    short = {"learning_rate": 1e-3, "n_updates": 3, "n_sweeps": 1, "falling": falling}
    run, more = ESTIMATORS["trained on all images"](
        MODELS["leaky of 20 units"](), 2, n_temperatures=20, **short
    )
    again = train_gaussian(
        swapped["train"], 20, n_sweeps=1, n_updates=3, rng=2, monitor_every=3,
        learning_rate=[1e-3, 5e-4, 0.0] if falling else 1e-3,
    )  # fmt: skip
    below, above = bracket_log_z(
        again.rbm, swapped["train"][:200], n_chains=50, n_temperatures=20, n_leapfrog=10,
        single_precision=True, rng=2,
    )  # fmt: skip
    for name, part in (("tuning", "test"), ("test", "tuning")):
        log_p = again.rbm.log_density(parts[part]).mean()
        assert more[f"{name}_high"] == pytest.approx(log_p - below.mean_log_z, rel=1e-12)
        assert more[f"{name}_low"] == pytest.approx(log_p - above.mean_log_z, rel=1e-12)
    assert run.mean_log_z == below.mean_log_z
    assert more["reconstruction_error"] == again.history["reconstruction_error"][-1]


def test_the_bound_is_that_of_the_task_and_a_training_that_diverges_has_no_score():
    model = MODELS["leaky of 20 units"]()
    _, more = trained(model, 1, learning_rate=1e-3, largest=0.5, **SHORT)
    assert more["largest_singular_value"] == pytest.approx(0.5, abs=1e-6)
    run, more = trained(model, 1, learning_rate=1e30, **SHORT)
    assert np.isnan(run.log_z)
    assert not run.converged
    assert more == {}


def test_models_that_tasks_name_are_of_their_kind_and_size():
    for units in training.UNITS:
        for name, kind in (("leaky", LeakyRBM), ("gaussian", GaussianRBM)):
            model = MODELS[f"{name} of {units} units"]()
            assert isinstance(model, kind)
            assert model.weights.shape == (3072, units)


def test_distances_are_stored_under_their_names():
    by_law = ESTIMATORS["distance by quadrature"]
    _, more = by_law(MODELS["one column"](), norm=0.9, leakiness=0.01, n_sweeps=4)
    found = quadrature.distances(0.9, 0.01, 4)
    for label, key in {
        "cd_normal": ("cd", "normal"), "mix_region": ("mix", "region"),
        "cd_model": ("cd", "model"), "plain": ("plain", "gaussian"),
        "leaky": ("leaky", "gaussian"),
    }.items():  # fmt: skip
        assert more[f"tv_{label}"] == found[key].total_variation
        assert more[f"kl_{label}"] == found[key].divergence


def test_distances_from_exact_draws_tell_moves_starts_and_annealing_apart():
    """Exact draws stay; after a sweep chains are not there yet; annealed ones lag behind."""
    from_draws = ESTIMATORS["distance from exact draws"]
    model = MODELS["one column"]()
    settings = {"norm": 0.9, "leakiness": 0.01, "n_sweeps": 10, "n_draws": 20_000}
    began = time.thread_time()
    run, exact = from_draws(model, 3, kernel="hmc", **settings)
    assert 0 < run.seconds <= time.thread_time() - began
    assert run.interval == (-np.inf, np.inf)
    _, published = from_draws(model, 3, kernel="gibbs", **settings)
    assert exact["ks_cd_model"] < 1.5 * exact["ks_exact"]
    assert abs(exact["slope_cd_model"]) < 0.02
    assert published["ks_leaky"] > 1.8 * published["ks_plain"]
    _, early = from_draws(model, 3, kernel="hmc", **settings | {"n_sweeps": 1})
    assert early["ks_cd_normal"] > 3 * early["ks_exact"] > early["ks_cd_model"]
    assert early["ks_plain"] > 2 * early["ks_cd_normal"]
    assert exact["ks_cd_normal"] < 2 * exact["ks_exact"]


def test_models_of_slanted_columns_differ_by_seed():
    one, other = (mixing.slanted(0.9, 0.01, seed) for seed in (0, 1))
    assert np.abs(one.weights - other.weights).max() > 0.1
    assert np.abs(one.visible_bias).max() > 0
    assert np.abs(one.hidden_bias).max() > 0


def test_slanted_columns_are_no_orthogonal_ones():
    model = mixing.slanted(0.9, 0.01, 0)
    assert not has_orthogonal_columns(model.weights)
    assert np.linalg.norm(model.weights, 2) == pytest.approx(0.9)


@pytest.mark.parametrize("kind", [LeakyRBM, GaussianRBM])
def test_at_size_the_same_model_is_trained_as_for_epochs(kind):
    """Only the transitions of log Z differ, so both ends differ by little."""
    model = training._of_units(kind, 8)
    short = {"n_updates": 4, "n_sweeps": 2, "n_temperatures": 100, "learning_rate": 1e-3}
    both = [
        ESTIMATORS[name](model, 1, **short, **{"falling": True})
        for name in ("trained at size", "trained for epochs")
    ]
    (one, more), (other, more_double) = both
    assert more["reconstruction_error"] == more_double["reconstruction_error"]
    assert one.log_z != other.log_z
    error = np.hypot(one.std_error, other.std_error)
    assert abs(one.log_z - other.log_z) < 5 * error + 1e-3
    apart = more["tuning_low"] - more["test_low"]
    assert apart == pytest.approx(more_double["tuning_low"] - more_double["test_low"], abs=1e-6)


def test_chains_grow_without_the_projection_and_stay_with_it():
    model = MODELS["leaky of 20 units"]()
    task = {"learning_rate": 1e-3, "n_updates": 40, "n_chains": 50}
    found = {
        projected: ESTIMATORS["chains of a trained model"](
            model, 0, projected=projected, weight_decay=0.0, **task
        )
        for projected in (False, True)
    }
    (run, free), (_, held) = found[False], found[True]
    assert not run.converged
    assert free["largest_singular_value"] > 1 > held["largest_singular_value"]
    assert free["size_60"] > 10 * free["size_0"] > held["size_60"]
    assert free["gradient_20"] > 10 * free["gradient_1"]
    assert abs(free["mean_60"]) <= free["size_60"]
    images = training.subset()["train"]
    assert free["size_0"] == pytest.approx(np.abs(images[:50]).mean(), rel=1e-5)


def test_chains_are_of_the_model_that_the_task_trains():
    task = {"learning_rate": 1e-3, "weight_decay": 0.01, "n_updates": 3, "n_sweeps": 2}
    _, more = ESTIMATORS["chains of a trained model"](
        MODELS["leaky of 20 units"](), 4, projected=True, n_chains=400, **task
    )
    images = training.subset()["train"]
    start = np.random.default_rng([4, 1]).uniform(0, 0.01, (3072, 20))
    run = train_gaussian(
        images, 20, rng=4, start_weights=project_weights(start), monitor_every=3,
        **task,
    )  # fmt: skip
    assert more["reconstruction_error"] == run.history["reconstruction_error"][-1]
    rng, v = np.random.default_rng(0), images[:400].astype(float)
    for _ in range(divergence.LOOKS[1]):
        v = run.rbm.gibbs(v, rng)
    assert more["size_5"] == pytest.approx(np.abs(v).mean(), rel=0.02)
    span = run.rbm.reduced()[1].coordinates(v).T @ run.rbm.hidden_mean(v) / len(v)
    assert more["gradient_5"] == pytest.approx(np.linalg.norm(span), rel=0.2)
