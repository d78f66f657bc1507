"""Trainings of both models with Gaussian visible units: which count, and what is said of them."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from rbmbook.experiments.leaky_rbm import divergence, training
from rbmbook.gaussian_training import train_gaussian
from rbmbook.leaky_trainings import CD, GB, Trainings, over_bounds, verdicts
from rbmbook.sweeps.words import ESTIMATORS, MODELS
from rbmlib import project_weights
from rbmlib.models import GaussianRBM, LeakyRBM

SPREAD = 3.0, -1.0, 0.5, -2.5, 0.0


def row(model="leaky", method="cd", rate=1e-3, seed=0, level=0.0, **other):
    spread = SPREAD[seed % len(SPREAD)]
    return {
        "model": f"{model} of 7 units", "method": method, "learning_rate": rate, "seed": seed,
        "n_sweeps": 20, "falling": False, "largest": 0.9999, "tuning_low": level - 1.0,
        "tuning_high": level + 1.0, "test_low": level + spread - 0.5,
        "test_high": level + spread + 0.5,
    } | other  # fmt: skip


ROWS = [row(rate=rate, level=level) for rate, level in ((1e-4, 50), (1e-3, 60), (1e-2, np.nan))]
ROWS += [row(seed=seed, level=60) for seed in range(1, 6)]
ROWS += [row(rate=1e-4, seed=1, level=-500)]  # of another rate: does not count
ROWS += [row(method="leaky", seed=seed, level=20) for seed in range(6)]
ROWS += [row("gaussian", seed=seed, level=40) for seed in range(6)]
ROWS += [
    row(model, falling=True, seed=seed, level=level)
    for (model, level), seed in product((("leaky", 90), ("gaussian", 45)), range(6))
]
TABLE = pd.DataFrame(ROWS)


def test_the_rate_is_of_the_first_seed_and_that_seed_does_not_count():
    runs = Trainings(TABLE)
    assert runs.rates[CD] == 1e-3
    assert runs.of(CD) == pytest.approx(60.5 + np.array([*SPREAD[1:], SPREAD[0]]))
    assert runs.of(CD, "low") == pytest.approx(runs.of(CD) - 1)
    assert list(runs.rates.index) == [CD, "leaky, Leaky", f"{CD}, falling", GB, f"{GB}, falling"]


def test_a_training_that_broke_down_is_counted_and_decides_nothing():
    broken = TABLE.copy()
    is_one = broken["model"].str.startswith("gaussian") & ~broken["falling"] & (broken["seed"] == 2)
    broken.loc[is_one, ["test_low", "test_high"]] = np.nan
    runs = Trainings(broken)
    assert runs.n_broke_down(GB) == 1
    assert runs.n_broke_down(CD) == 0
    assert runs.summary().loc[GB, "trainings"] == "5, 1 broke down"
    assert runs.summary().loc[CD, "trainings"] == 5
    assert runs.of(GB) == pytest.approx(40.5 + np.array([-1.0, -2.5, 0.0, 3.0]))
    assert runs.summary().loc[GB, "minus leaky, CD"] == ""
    assert verdicts({"": Trainings(TABLE)}).keys() - verdicts({"": runs}).keys() == {
        "li-s42-outperforms-cifar10", "li-s42-decay"
    }  # fmt: skip


def test_a_training_with_one_end_only_has_broken_down():
    broken = TABLE.copy()
    is_one = (broken["method"] == "leaky") & (broken["seed"] == 3)
    broken.loc[is_one, "test_low"] = -np.inf
    runs = Trainings(broken)
    assert runs.n_broke_down("leaky, Leaky") == 1
    assert len(runs.of("leaky, Leaky")) == len(runs.of("leaky, Leaky", "low")) == 4


def test_trainings_at_another_rate_than_the_best_are_refused():
    moved = TABLE.copy()
    is_first = (moved["method"] == "leaky") & (moved["seed"] == 0)
    moved.loc[is_first, "learning_rate"] = 1e-4
    with pytest.raises(ValueError, match=r"leaky, Leaky has .* at rates \[0.001\], but .* 0.0001"):
        Trainings(moved).of("leaky, Leaky")


def test_a_claim_must_hold_in_every_setting():
    other = TABLE.copy()
    is_gb = other["model"].str.startswith("gaussian")
    other.loc[is_gb, ["test_low", "test_high"]] += 200
    one, both = Trainings(TABLE), {"one": Trainings(TABLE), "other": Trainings(other)}
    claim = "li-s42-outperforms-cifar10"
    assert verdicts({"one": one})[claim].outcome == "reproduced"
    found = verdicts(both)[claim]
    assert found.outcome == "contradicted"
    assert found.intervals == 8


def test_a_claim_that_holds_with_one_kind_of_rate_depends_on_it():
    turned = TABLE.copy()
    is_gb = turned["model"].str.startswith("gaussian") & ~turned["falling"]
    turned.loc[is_gb, ["test_low", "test_high"]] += 200
    found = outperforming(turned)
    assert found.outcome == "depends on what is not stated"
    assert "constant rates: contradicted on " in found.note
    assert "falling rates: reproduced on " in found.note


def test_a_bound_of_the_singular_values_may_decide():
    narrow = TABLE.copy()
    narrow.loc[narrow["method"] == "leaky", ["test_low", "test_high"]] += 100
    one, other = {"100 units": Trainings(TABLE)}, {"100 units": Trainings(narrow)}
    claim = "li-f4-leaky-cifar10"
    assert over_bounds({"0.9": one, "0.99": one})[claim].outcome == "contradicted"
    turned = over_bounds({"0.9": other, "0.9999": one})[claim]
    assert turned.outcome == "depends on what is not stated"
    assert "0.9: reproduced on 100 units" in turned.note
    assert over_bounds({"0.9": other, "0.99": {"500 units": one["100 units"]}})[claim].outcome == (
        "not decided"
    )  # no one model shows it
    assert set(over_bounds({"0.9": one})) == {claim}  # Mix was not trained


def test_each_training_has_the_name_of_its_kind():
    kinds = {
        "leaky, Mix": row(method="mix"), "leaky, CD, below 0.9": row(largest=0.9),
        "leaky, CD, falling": row(falling=True), f"{GB}-1": row("gaussian", n_sweeps=1),
    }  # fmt: skip
    for name, one in kinds.items():
        assert list(Trainings(pd.DataFrame([one])).rates.index) == [name]


def test_verdicts_take_the_better_one_first_and_both_ends():
    found = verdicts({"": Trainings(TABLE)})
    assert found["li-f4-leaky-cifar10"].outcome == "contradicted"
    assert found["li-s42-outperforms-cifar10"].outcome == "reproduced"
    assert found["li-s42-outperforms-cifar10"].intervals == 4
    assert found["li-s42-decay"].outcome == "not decided"  # 5 nats, errors of 1.4
    crossed = TABLE.copy()
    is_gb = crossed["model"].str.startswith("gaussian") & ~crossed["falling"]
    crossed.loc[is_gb, "test_low"] += 30  # by one end alone the other one is ahead
    assert outperforming(crossed).outcome != "reproduced"


def outperforming(table):
    return verdicts({"": Trainings(table)})["li-s42-outperforms-cifar10"]


def test_claims_are_judged_by_the_pairs_that_were_trained_twice():
    assert set(verdicts({"": Trainings(TABLE)})) == {
        "li-f4-leaky-cifar10", "li-s42-outperforms-cifar10", "li-s42-decay"
    }  # fmt: skip
    once = TABLE[~TABLE["falling"] | (TABLE["seed"] < 2)]  # one falling one that counts
    assert outperforming(once).intervals == 2


def test_the_summary_has_distances_from_cd():
    summary = Trainings(TABLE).summary()
    assert summary.loc[CD, "minus leaky, CD"] == ""
    assert summary.loc["leaky, Leaky", "minus leaky, CD"].startswith("-40.00 ± 1.28")
    assert summary.loc[CD, "log-likelihood"].startswith("60.500 ± 0.908")
    one = TABLE[(TABLE["method"] == "leaky") | (TABLE["seed"] < 2)]  # one of CD that counts
    assert Trainings(one).summary().loc[CD, "log-likelihood"] == "59.5"
    assert Trainings(one).summary().loc["leaky, Leaky", "minus leaky, CD"] == ""


# tasks ---------------------------------------------------------------------------------------


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
