"""Stored tables: each with its provenance, one reader for all, a row computed again."""

import pandas as pd
import pytest

from rbmbook import experiments as tasks
from rbmbook import recomputed, stored_results
from rbmbook.sweeps import Sweep, declare
from rbmbook.sweeps.task import checked
from rbmlib import datasets

SMALL = {"model": "pcd_20", "n_temperatures": 20, "n_chains": 10}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Two rows of a sweep in a data folder of their own."""
    whole = [checked(SMALL | {"seed": seed}) for seed in (1, 2)]
    rows = [settings | tasks.estimate(**settings) for settings in whole]
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
        assert capsys.readouterr().out.startswith(f"{name}: {len(table)} tasks")


def test_reader_shows_provenance(folder, capsys):
    table = stored_results("mine")
    assert list(table["seed"]) == [1, 2]
    out = capsys.readouterr().out
    assert out == "mine: 2 tasks, seeds 1 to 2, 3 minutes on x86, rbmlib 0.1\n"


def test_a_table_that_is_not_there_is_missing(folder):
    with pytest.raises(datasets.DataCorrupt, match="missing"):
        stored_results("gone")


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
