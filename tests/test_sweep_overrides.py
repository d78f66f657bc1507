"""Sweeps tried small, looked at before they run, and with data of one's own."""

import numpy as np
import pytest
from helpers_sweep import read, square

import rbmlib as rl
from rbmbook.__main__ import main
from rbmbook.experiments import book_sweep
from rbmbook.sweeps import Sweep, task

GRIDS = """
grids:
  - {model: pcd_10, base: mean field, n_temperatures: [20, 30], n_chains: [50, 60],
     estimator: [ais, reverse_ais], seed: {first: 0, count: 5}}
  - {model: pcd_10, estimator: exact}
"""


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(GRIDS)
    return path


def overridden(source, **overrides):
    return book_sweep(source, overrides=overrides, folder=source.parent / "out")


def test_overrides_replace_a_setting_where_it_is_taken(source):
    small = overridden(source, n_chains=10, seed=[7, 8], n_burn_in=3)
    rows = list(small.tasks.values())
    assert len(rows) == 2 * 2 * 2 + 1  # each once, though n_chains had two values
    annealed = [row for row in rows if row["estimator"] != "exact"]
    assert {row["n_chains"] for row in annealed} == {10}
    assert {row["seed"] for row in annealed} == {7, 8}
    assert {row.get("n_burn_in") for row in annealed if row["estimator"] == "ais"} == {None}
    assert {r["n_burn_in"] for r in annealed if r["estimator"] == "reverse_ais"} == {3}
    assert {"n_chains", "seed"}.isdisjoint(rows[-1])
    whole = book_sweep(source)
    assert set(small.tasks) & set(whole.tasks) == {list(whole.tasks)[-1]}  # keys say the rest


def test_an_estimator_of_an_override_says_what_it_takes(source):
    grid = "{model: pcd_20, base: mean field, n_temperatures: 20, n_chains: 10, seed: 0}"
    source.write_text(f"grids: [{grid}]")
    made = overridden(source, n_burn_in=3, estimator="reverse_ais")
    assert [t["n_burn_in"] for t in made.tasks.values()] == [3]
    with pytest.raises(ValueError, match="no task takes the setting 'n_burn_in'"):
        overridden(source, n_burn_in=3)


def test_wrong_overrides_are_refused(source, capsys):
    folder = ["--folder", str(source.parent / "out")]
    for words, said in (
        (["--set", "n_chain=3", *folder], r"no task takes the setting 'n_chain', did you mean n_c"),
        (["--set", "n_sweeps=3", *folder], "no task takes the setting 'n_sweeps'"),
        (["--set", "n_chains=few", *folder], "n_chains is 'few': expected a whole number"),
        (["--set", "n_chains", *folder], "expected NAME=VALUE"),
        (["--set", "seed=1", "--set", "seed=2", *folder], "--set seed is given twice"),
        (["--set", "seed=[", *folder], "--set is 'seed=['"),
        (["--set", "seed=1"], "--set needs --folder"),
        (["--set", "seed=1", "--folder", str(source.parent)], "other than"),
    ):
        assert main(["run", str(source), *words]) == 2
        assert said in capsys.readouterr().err
    assert [path.name for path in source.parent.iterdir()] == ["mine.yaml"]
    with pytest.raises(ValueError, match="overrides without a folder of their own"):
        book_sweep(source, overrides={"seed": 1})
    with pytest.raises(TypeError, match="overrides is a list: expected settings by name"):
        book_sweep(source, overrides=["seed=1"], folder=source.parent / "out")


def test_overrides_of_a_plain_function(tmp_path):
    (tmp_path / "mine.yaml").write_text("grids: [{n: [1, 2]}]")
    made = Sweep.from_yaml(
        tmp_path / "mine.yaml", square, overrides={"n": 5}, folder=tmp_path / "out"
    )
    assert list(made.tasks.values()) == [{"n": 5}]


def test_a_sweep_is_tried_small_and_goes_on(source, capsys):
    out = source.parent / "out"
    words = ["run", str(source), "--set", "n_chains=10", "--set", "seed=0", "--folder", str(out)]
    assert main([*words, "--dry-run"]) == 0
    assert not out.exists()
    assert main([*words, "--workers", "0"]) == 0
    assert main([*words, "--workers", "0"]) == 0
    assert "5 were there" in capsys.readouterr().out
    assert sorted(path.name for path in source.parent.iterdir()) == ["mine.yaml", "out"]
    assert {row["n_chains"] for row in read(out / "mine.csv")} == {"10", ""}
    rows = read(out / "mine.csv")
    assert {row["overrides"] for row in rows} == {"n_chains=10; seed=0"}


# what would fail later ----------------------------------------------------------------------

FAILING = {
    "no such model": ("{model: gone.npz, n_temperatures: 20, seed: 0}", "no model file"),
    "size of the base": (
        "{model: dna_cd1_500, n_temperatures: 20, seed: 0}",
        "180 visible units, and the base 'base rate' is that of MNIST.*data: FILE",
    ),
    "enumeration": ("{model: pcd_500, estimator: exact}", "too many units"),
    "test set": (
        "{model: dna_cd1_500, base: mean field, n_temperatures: 20, seed: 0, test_set: mnist}",
        "the test set 'mnist' 784 pixels",
    ),
    "unknown setting": ("{model: pcd_20, n_temperatures: 20, n_chain: 3, seed: 0}", "n_chains"),
    "no such data": (
        "{model: pcd_20, n_temperatures: 20, seed: 0, data: gone.npy}", "no data file 'gone.npy'",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("grid", "words"), FAILING.values(), ids=FAILING)
def test_dry_run_lists_what_would_fail(tmp_path, capsys, grid, words):
    good = "{model: pcd_20, n_temperatures: 20, seed: [1, 2]}"
    source = tmp_path / "mine.yaml"
    source.write_text(f"grids:\n  - {good}\n  - {grid}")
    assert main(["run", str(source), "--dry-run"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: 1 of 3 tasks would fail\n")
    assert words.split(".*")[0] in said
    assert words.split(".*")[-1] in said
    assert main(["run", str(source), "--workers", "0"]) == 2  # nor does it begin
    assert [path.name for path in tmp_path.iterdir()] == ["mine.yaml"]


def test_dry_run_downloads_nothing(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("RBMLIB_DATA", str(tmp_path))
    monkeypatch.setattr(rl.datasets.files, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(rl.datasets.named, "fetch", None)  # which would
    (tmp_path / "mine.yaml").write_text("grids: [{model: h10, n_temperatures: 20, seed: 0}]")
    assert main(["run", str(tmp_path / "mine.yaml"), "--dry-run"]) == 0
    assert "h10 will be downloaded" in capsys.readouterr().out


# data of one's own --------------------------------------------------------------------------


@pytest.fixture
def own(tmp_path):
    """A model of 12 visible units and its data."""
    rl.testsystems.random_rbm(n_visible=12, n_hidden=4, rng=0).save(tmp_path / "own.npz")
    rows = np.random.default_rng(0).random((50, 12)) < 0.3
    np.save(tmp_path / "rows.npy", rows.astype(np.uint8))
    given = {"model": str(tmp_path / "own.npz"), "n_temperatures": 20, "n_chains": 10, "seed": 1}
    return given, {"data": str(tmp_path / "rows.npy")}


@pytest.mark.filterwarnings("ignore::rbmlib.ConvergenceWarning")
def test_base_rate_of_data_of_ones_own(own, tmp_path):
    given, data = own
    path = rl.GeometricPath(rl.load_rbm(given["model"]), rl.base_rate(np.load(data["data"])))
    run = rl.ais(path, rl.schedules.linear(20), 10, 1, n_recorded=2)
    assert task.estimate(**given, **data)["log_z"] == pytest.approx(run.log_z, abs=1e-6)
    before = task.digest(task.checked(given | data))
    np.save(data["data"], np.eye(12, dtype=np.uint8))
    assert task.digest(task.checked(given | data)) != before


def test_data_are_no_part_of_tasks_without_them(own):
    """So that what was stored before there were any keeps its key."""
    given, data = own
    assert "data" not in task.checked(given)
    assert task.checked(given | data)["data"] == data["data"]
    other = given | {"base": "mean field"}
    assert task.checked(other | data) == task.checked(other)
