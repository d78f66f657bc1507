"""What a sweep can name: tasks that are the calls they name; results that are held and stored."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from helpers_sweep import SMALL

import rbmlib as rl
from rbmbook import recomputed, stored_results
from rbmbook.sweeps import Sweep, declare, engine, words
from rbmbook.sweeps.task import checked, estimate
from rbmbook.sweeps.words import biases, load_model
from rbmlib import datasets


def test_a_task_is_the_call_it_names():
    row = estimate(**SMALL, test_set="mnist")
    rbm = rl.load_rbm("pcd_20")
    path = rl.GeometricPath(rbm, rl.base_rate(rl.datasets.load_mnist().train))
    with pytest.warns(rl.ConvergenceWarning), rl.using(independent_check=False):
        run = rl.ais(path, rl.schedules.linear(20), n_chains=10, rng=1)
    for name in ("log_z", "std_error", "mean_log_z", "mean_std_error", "ess"):
        assert row[name] == round(getattr(run, name), 6)
    assert row["converged"] is False
    total = rl.log_likelihood(rbm, rl.datasets.load_mnist().test, run.log_z).sum()
    assert row["log_likelihood"] == pytest.approx(total, abs=1e-5)
    assert row["log_likelihood_error"] == pytest.approx(10_000 * run.std_error, abs=1e-5)


# Results of RESULTS_VERSION 1. If one of these changes, so did the meaning of every store:
# raise RESULTS_VERSION, and write the new values beside it.
HELD = {
    1: {
        ("linear", "ais"): 185.316775,
        ("sm08", "ais"): 145.830253,
        ("random", "ais"): 181.836169,
        ("linear", "reverse_ais"): 227.147618,
    }
}


@pytest.mark.parametrize(("schedule", "estimator"), HELD[engine.RESULTS_VERSION])
def test_results_of_this_version_are_held(schedule, estimator):
    row = estimate(**SMALL | {"schedule": schedule, "estimator": estimator})
    expected = HELD[engine.RESULTS_VERSION][schedule, estimator]
    assert row["mean_log_z"] == pytest.approx(expected, abs=2e-6)


def test_a_model_file_that_changes_is_read_again(tmp_path):
    task = {"model": str(tmp_path / "m.npz"), "estimator": "exact"}
    found = []
    for seed in (1, 2):
        rbm = rl.testsystems.random_rbm(n_visible=6, n_hidden=3, rng=seed)
        rbm.save(task["model"])
        found.append((estimate(**task)["log_z"], rl.exact(rbm).log_z))
    assert [a for a, _ in found] == pytest.approx([b for _, b in found], abs=1e-6)
    assert found[0][0] != found[1][0]


@pytest.mark.parametrize("schedule", ["varopt", "friction", "gms13"])
def test_schedules_from_pilots_are_tasks(schedule, monkeypatch):
    pilots = {"pilot_chains": 20} | (
        {"pilot_steps": 60} if schedule in ("varopt", "friction") else {}
    )
    monkeypatch.setattr(words, "gms13", partial(words.gms13, n_sweeps=20, n_burn_in=5))
    settings = SMALL | pilots | {"schedule": schedule, "estimator": "two_way_ais"}
    row = estimate(**settings)
    assert row["largest_step"] > 1.001
    assert row == estimate(**settings)


def test_own_biases_of_both_layers_are_the_target_without_weights():
    rbm = load_model("pcd_10")
    one, both = (biases(rbm, f"own biases{x}") for x in ("", ", both layers"))
    assert not both.weights.any()
    for base in (one, both.visible_bias):
        np.testing.assert_array_equal(base, rbm.visible_bias)
    np.testing.assert_array_equal(both.hidden_bias, rbm.hidden_bias)


def test_g_of_a_task_is_that_of_its_path_and_its_own_draws():
    settings = {"model": "pcd_10", "estimator": "exact_slopes", "n_draws": 2000, "seed": 3}
    far, near, end = (estimate(**settings, base="own biases", beta=b) for b in (0.5, 0.500001, 1.0))
    path = rl.GeometricPath(load_model("pcd_10"), base=load_model("pcd_10").visible_bias)
    assert far["log_z"] == pytest.approx(rl.exact(path.at(0.5)).log_z, abs=1e-6)
    assert far["mean_slope"] != near["mean_slope"]  # other draws at each beta
    assert abs(far["g"] - near["g"]) < 4 * np.hypot(far["g_error"], near["g_error"])
    other = estimate(**settings, base="uniform", beta=1.0)
    assert other["log_z"] == end["log_z"]  # the target is the same from any base
    assert other["mean_slope"] != end["mean_slope"]


# stored tables --------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Two rows of a sweep in a data folder of their own."""
    whole = [checked(SMALL | {"seed": seed}) for seed in (1, 2)]
    rows = [settings | estimate(**settings) for settings in whole]
    for row in rows:
        del row["seconds"]  # of this machine
    rows = [row | {"seconds": 90.0, "host": "x86", "rbmlib": "0.1"} for row in rows]
    (tmp_path / "results").mkdir()
    pd.DataFrame(rows).to_csv(tmp_path / "results" / "mine.csv", index=False)
    monkeypatch.setattr(datasets.files, "_data_folder", lambda: tmp_path)
    return tmp_path / "results"


def test_every_stored_table_can_be_read(repository, capsys):
    tables = {path.stem for path in (repository / "data/results").glob("*.csv")}
    for name in {*declare.names()} & tables:
        table = stored_results(name)
        assert len(table) == len(table.attrs["provenance"]["seconds"]) > 0
        assert capsys.readouterr().out.startswith(f"{name}: {len(table)} task")


def test_reader_shows_provenance(folder, capsys):
    table = stored_results("mine")
    assert list(table["seed"]) == [1, 2]
    out = capsys.readouterr().out
    assert out == "mine: 2 tasks, seeds 1 to 2, 3 minutes on x86, rbmlib 0.1\n"
    last = pd.read_csv(folder / "mine.csv")[1:].assign(seconds=60.0)
    last.to_csv(folder / "mine.csv", index=False)
    stored_results("mine")
    assert capsys.readouterr().out == "mine: 1 task, seed 2, 1 minute on x86, rbmlib 0.1\n"


def test_a_row_computed_again_is_the_same(folder, capsys):
    table = stored_results("mine")
    again = recomputed(table, seed=2)
    assert set(again["result"]) >= {"log_z", "mean_log_z", "ess"}
    assert (again["stored"] - again["live"]).abs().max() < 2e-6
    table.loc[1, "log_z"] += 0.01
    changed = recomputed(table, seed=2).set_index("result")
    assert changed.loc["log_z", "live"] != pytest.approx(changed.loc["log_z", "stored"], abs=1e-3)
    with pytest.raises(ValueError, match="2 rows have"):
        recomputed(table, model="pcd_20")


def test_with_a_scheduler_the_sweep_is_run_instead(tmp_path, monkeypatch):
    (tmp_path / "chapter.yaml").write_text(
        "mine:\n  grids:\n    - {model: pcd_20, n_temperatures: 20, n_chains: 10, seed: [5, 6]}\n"
    )
    monkeypatch.setattr(declare, "SCALES", tmp_path)
    asked, run = [], Sweep.run

    def here(self, scheduler):
        asked.append(scheduler)
        return run(self, n_workers=0)

    monkeypatch.setattr(Sweep, "run", here)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    table = stored_results("mine", "tcp://10.0.0.5:8786")
    assert asked == ["tcp://10.0.0.5:8786"]
    assert list(table["seed"]) == [5, 6]
    written = {path.name for path in (tmp_path / "here").iterdir()}
    assert written == {"mine.csv", "mine.sqlite"}
