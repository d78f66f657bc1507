"""Looks at the training of pcd_500: the experiment, on a model that can be enumerated, and rows."""

import json

import numpy as np
import pandas as pd
import pytest

import rbmlib as rl
from rbmbook.experiments import estimate, tracking_audit
from rbmlib import datasets

SHORT = {"model": "pcd_10", "seed": 3, "n_updates": 200, "every": 100}


@pytest.mark.parametrize("look", [0, 2])
@pytest.mark.parametrize(
    "settings",
    [
        {"estimator": "trajectory_of_pcd", "n_sweeps": 400, "exchange_every": 2},
        {"estimator": "annealed_to_pcd", "n_temperatures": 500, "n_annealed": 100},
    ],
    ids=lambda settings: settings["estimator"],
)
def test_a_look_is_of_its_own_model(look, settings):
    row = estimate(**SHORT, look=look, **settings)
    truth = rl.exact(tracking_audit.first_updates(200, 100, 10)[look], progress=False).log_z
    assert abs(row["log_z"] - truth) < 4 * row["std_error"] < 1.0


def test_the_training_is_the_one_of_the_committed_model():
    """Rates, batches and draws: the first look is its first, and so is the rate at the last."""
    kept = tracking_audit.first_updates(200, 100, 10)
    record = json.loads(datasets.committed("models/pcd_500.json").read_text())
    settings, n_updates = record["settings"], record["settings"]["n_updates"]
    rates = np.linspace(settings["learning_rate"], settings["final_learning_rate"], n_updates)[:200]
    result = rl.train(
        datasets.load_mnist().train, 10, method=settings["method"], n_updates=200,
        learning_rate=rates[0], final_learning_rate=rates[-1], rng=settings["rng"],
        weight_decay=settings["weight_decay"], batch_size=settings["batch_size"], progress=False,
    )  # fmt: skip
    assert (kept[-1].weights == result.rbm.weights).all()


def test_stored_looks_have_both_estimates():
    table = pd.read_csv(datasets.committed("results/tracking_pcd.csv"))
    looks = table.pivot(index="look", columns="estimator", values="log_z")
    assert looks.shape == (5, 2)
    assert looks.notna().all(axis=None)
