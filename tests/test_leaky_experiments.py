"""Tasks of chapter leaky_rbm: trainings that are scored."""

from types import SimpleNamespace

import numpy as np
import pytest

from rbmbook.experiments import li2016
from rbmbook.images import cifar10_scale, load_cifar10
from rbmbook.paths import bracket_log_z
from rbmbook.sweeps.words import ESTIMATORS, MODELS
from rbmbook.training import train_gaussian
from rbmlib.models import GaussianRBM, LeakyRBM

SHORT = {"n_updates": 3, "n_sweeps": 1, "n_temperatures": 20, "learning_rate": 1e-3}


@pytest.mark.filterwarnings("ignore::rbmlib.ConvergenceWarning")
@pytest.mark.parametrize("task", ["trained for epochs", "trained on all images"])
@pytest.mark.parametrize(("kind", "falling"), [("leaky", True), ("gaussian", False)])
def test_a_task_trains_on_its_images_and_scores_the_others(monkeypatch, task, kind, falling):
    """Of all images, stood for by those of the subset in another order."""
    parts = li2016.subset()
    if task == "trained on all images":
        parts = {"train": parts["train"][::-1], "tuning": parts["test"], "test": parts["tuning"]}
        monkeypatch.setattr(li2016, "all_images", lambda: parts)
    run, more = ESTIMATORS[task](MODELS[f"{kind} of 20 units"](), 2, falling=falling, **SHORT)
    again = train_gaussian(
        parts["train"], 20, hidden="leaky" if kind == "leaky" else "bernoulli", n_sweeps=1,
        n_updates=3, rng=2, monitor_every=3, learning_rate=[1e-3, 5e-4, 0.0] if falling else 1e-3,
    )  # fmt: skip
    below, above = bracket_log_z(
        again.rbm, parts["train"][:200], n_chains=50, n_temperatures=20, n_leapfrog=10, rng=2,
        single_precision=task != "trained for epochs",
    )  # fmt: skip
    for name in ("tuning", "test"):
        log_p = again.rbm.log_density(parts[name]).mean()
        assert more[f"{name}_high"] == pytest.approx(log_p - below.mean_log_z, rel=1e-12)
        assert more[f"{name}_low"] == pytest.approx(log_p - above.mean_log_z, rel=1e-12)
    assert run.mean_log_z == below.mean_log_z != above.mean_log_z
    assert more["reconstruction_error"] == again.history["reconstruction_error"][-1]
    assert 0 < more["training_seconds"] < run.seconds


def test_the_committed_images_are_split_into_2000_and_250_and_250():
    images, scale, there = li2016.subset(), cifar10_scale(), load_cifar10()
    np.testing.assert_array_equal(images["train"], scale(there.train))
    held_out = np.concatenate([images["tuning"], images["test"]])
    np.testing.assert_array_equal(held_out, scale(there.test))
    assert [len(part) for part in images.values()] == [2000, 250, 250]


def test_all_images_are_split_without_one_in_two_parts(monkeypatch):
    """No image for tuning is trained on, and the last 4,000 for training belong to no part."""
    number = np.arange(60_000, dtype=float)[:, None]
    whole = SimpleNamespace(train=number[:50_000], test=number[50_000:])
    monkeypatch.setattr(li2016, "load_cifar10", lambda full: whole)
    monkeypatch.setattr(li2016, "cifar10_scale", lambda: lambda rows: rows)
    images = li2016.all_images.__wrapped__()
    assert {name: (x[0, 0], x[-1, 0], len(x)) for name, x in images.items()} == {
        "train": (0, 44_999, 45_000), "tuning": (45_000, 45_999, 1_000),
        "test": (50_000, 59_999, 10_000),
    }  # fmt: skip


def test_the_bound_is_that_of_the_task_and_a_training_that_diverges_has_no_score():
    trained, model = ESTIMATORS["trained for epochs"], MODELS["leaky of 20 units"]()
    _, more = trained(model, 1, largest=0.5, **SHORT)
    assert more["largest_singular_value"] == pytest.approx(0.5, abs=1e-6)
    run, more = trained(model, 1, **SHORT | {"learning_rate": 1e30})
    assert np.isnan(run.log_z)
    assert not run.converged
    assert more == {}


def test_models_that_tasks_name_are_of_their_kind_and_size():
    for units in (20, 100, 500):
        for name, kind in (("leaky", LeakyRBM), ("gaussian", GaussianRBM)):
            model = MODELS[f"{name} of {units} units"]()
            assert isinstance(model, kind)
            assert model.weights.shape == (3072, units)
