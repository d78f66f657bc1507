"""`log_z`: chooses, runs, checks, says whether to trust it; and the command line around it."""

import importlib
import json
import subprocess
import sys
import warnings

import numpy as np
import pytest
from test_mean_field import with_idle_units

import rbmlib as rl

trusted = importlib.import_module("rbmlib.estimators.log_z")  # the room has the function


@pytest.fixture(scope="module")
def model():
    return rl.testsystems.random_rbm(n_visible=40, n_hidden=12, coupling=4.0, rng=3)


def two_modes(n_hidden=25, n_visible=120):
    """Two equal modes that no base of this model covers; too many units to be enumerated here."""
    mode, log_z = rl.testsystems.two_mode_rbm(n_visible, strength=3.0)
    weights = np.zeros((n_visible, n_hidden))
    weights[:, 0] = mode.weights[:, 0]
    bias = np.r_[mode.hidden_bias, np.zeros(n_hidden - 1)]
    rbm = rl.BernoulliRBM(weights, mode.visible_bias, bias)
    return rbm, log_z + (n_hidden - 1) * np.log(2)


def test_small_models_are_enumerated(model):
    estimate = rl.log_z(model)
    assert estimate.method == "exact"
    assert estimate.settings["lower_bound"] == estimate.settings["upper_bound"]


def test_estimate_brackets_the_exact_value(model):
    exact = rl.exact(model).log_z
    estimate = rl.log_z(model, budget_seconds=2, rng=0, enumerate_small=False)
    assert estimate.converged
    assert abs(estimate.log_z - exact) < 4 * estimate.std_error
    (low, low_error), (high, high_error) = (
        estimate.settings["lower_bound"],
        estimate.settings["upper_bound"],
    )
    assert low - 4 * low_error < exact < high + 4 * high_error
    assert all(estimate.settings["checks"].values())


def test_a_missed_mode_is_found_by_the_runs_together(monkeypatch):
    """Forward AIS finds one of two modes, with a perfect ESS; the runs together disagree."""
    rbm, exact = two_modes()
    on, off = np.full(120, 3.0), np.zeros(120)
    monkeypatch.setattr(trusted, "_affordable_steps", lambda *_: 1000)  # whatever the machine
    monkeypatch.setattr(
        trusted, "mean_field_bias", lambda rbm, smoothing=0.05: on if smoothing < 0.1 else off
    )
    with pytest.warns(rl.ConvergenceWarning, match="do not trust"):
        estimate = rl.log_z(rbm, budget_seconds=2, rng=0)
    assert estimate.ess > 0.9 * estimate.n_chains  # the forward run alone looks perfect
    assert abs(estimate.log_z - exact) > 100 * estimate.std_error
    assert not estimate.converged


def test_a_mode_that_all_runs_miss_is_found_by_its_mean_field_bound(monkeypatch):
    """Forward, second base and reverse agree 12 nats below log Z; a mean-field bound does not."""
    rbm, exact = with_idle_units(3.0, 12.0)
    monkeypatch.setattr(trusted, "_affordable_steps", lambda *_: 700)
    monkeypatch.setattr(trusted, "mean_field_bias", lambda rbm, **_: np.full(300, 0.6))
    with pytest.warns(rl.ConvergenceWarning, match="no mean-field solution bounds"):
        estimate = rl.log_z(rbm, rng=0)
    assert estimate.log_z - exact < -10
    *others, guard = estimate.settings["checks"].values()
    assert all(others)
    assert not guard
    assert estimate.settings["mean_field_bound"] == pytest.approx(exact, abs=0.01)


def test_a_model_without_couplings_is_exact_and_trusted(monkeypatch):
    rbm, log_z = rl.testsystems.independent_rbm(np.zeros(40), np.zeros(25))
    monkeypatch.setattr(trusted, "_affordable_steps", lambda *_: 300)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimate = rl.log_z(rbm, rng=0)
    assert estimate.converged
    assert estimate.log_z == pytest.approx(log_z, rel=1e-12)


def test_budget_is_checked():
    with pytest.raises(ValueError, match="budget_seconds is -1"):
        rl.log_z(two_modes()[0], budget_seconds=-1)


# command line -------------------------------------------------------------------------------


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "rbmlib", *arguments], capture_output=True, text=True, check=False
    )


@pytest.fixture
def saved(model, tmp_path):
    path = tmp_path / "model.npz"
    model.save(path)
    return str(path)


def test_logz_prints_value_bounds_and_settings(saved):
    done = run("logz", saved, "--budget", "1", "--estimate")
    for word in ("log Z", "±", "lower bound", "upper bound", "ESS", "settings", "seconds"):
        assert word in done.stdout
    assert done.returncode == (1 if "FAIL" in done.stdout else 0)


def test_json_is_one_object_and_equals_the_saved_estimate(saved, model, tmp_path):
    target = tmp_path / "estimate.json"
    done = run("logz", saved, "--json", "--save", str(target))
    content = json.loads(done.stdout)
    assert content["log_z"] == rl.Estimate.load(target).log_z
    assert content["log_z"] == pytest.approx(rl.exact(model).log_z, abs=1e-9)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["no-such-model"], ["no-such-model", "expected one of"]),
        (["missing.npz"], ["missing.npz"]),
        (["MODEL", "--budget", "0"], ["budget_seconds"]),
        (["MODEL", "--data", "absent.npy"], ["--data", "absent.npy"]),
        (["MODEL", "--save", "absent/x.json"], ["--save", "absent/x.json"]),
        (["MODEL", "--threads", "0", "--estimate"], ["n_threads"]),
        (["MODEL", "--seed", "-3", "--estimate"], ["rng"]),
    ],
)
def test_wrong_input_is_one_clear_line(saved, arguments, words):
    done = run("logz", *[saved if a == "MODEL" else a for a in arguments])
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.strip().splitlines()) == 1
    assert all(word in done.stderr for word in words)


def test_data_lists_the_models():
    done = run("data")
    assert done.returncode == 0
    assert "h500" in done.stdout
    assert "pcd_20" in done.stdout


def test_no_warning_where_all_is_well(model):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rl.log_z(model, budget_seconds=2, rng=1, enumerate_small=False)
