"""Declarations of sweeps: those of the book, wrong and hostile ones, and overrides."""

import os
import time

import numpy as np
import pytest
from helpers_sweep import read, square

import rbmlib as rl
from rbmbook.__main__ import main
from rbmbook.experiments import book_sweep
from rbmbook.sweeps import Sweep, declare, engine, task


def test_committed_tables_are_those_of_their_sweeps(repository):
    assert len(declare.names()) > 60
    for name in declare.names():
        made = book_sweep(name)  # in which no task is declared twice
        assert made.folder == (repository / "data" / "results").resolve()
        rows = read(made.table) if made.table.exists() else []
        keys = {row["key"] for row in rows}
        assert len(keys) == len(rows), name
        assert keys <= set(made.tasks), name
        assert not rows or keys == set(made.tasks), name
        assert {row["results_version"] for row in rows} <= {str(engine.RESULTS_VERSION)}


def test_a_sweep_of_the_book_is_one_of_many_in_a_file(tmp_path, monkeypatch):
    monkeypatch.setattr(declare, "SCALES", tmp_path)
    grid = "{model: pcd_10, base: uniform, n_temperatures: 20, seed: [%s]}"
    (tmp_path / "chapter.yaml").write_text(
        f"one:\n  about: a sweep\n  grids:\n    - {grid % '1, 2'}\n    - {grid % '3'}\n\n"
        f"two:\n  grids:\n    - {grid % '4'}\n"
    )
    assert [*declare.names()] == ["one", "two"]
    assert [t["seed"] for t in book_sweep("one").tasks.values()] == [1, 2, 3]
    assert [t["seed"] for t in book_sweep("two").tasks.values()] == [4]


# wrong and hostile ones ---------------------------------------------------------------------

GRID = "{model: pcd_20, n_temperatures: 20, seed: 0%s}"
RANGE = "{first: 0, count: %d}"
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "\n".join(
    f"{new}: &{new} [{', '.join(['*' + old] * 9)}]"
    for old, new in zip("abcdefg", "bcdefgh", strict=True)
)
WRONG = {
    "negative count": (GRID % ", n_chains: {first: 1, count: -3}", "n_chains is"),
    "bad range": (GRID % ", n_chains: {from: 1, to: 3}", "n_chains is.*first"),
    "unknown setting": (GRID % ", n_chain: 5", "n_chain.*did you mean n_chains"),
    "useless setting": ("{model: pcd_20, estimator: exact, n_chains: 5}", "unknown.*n_chains"),
    "wrong type": (GRID % ", n_chains: ten", "n_chains is 'ten': expected a whole number"),
    "exponent": (GRID % ", n_chains: 1e2", "n_chains is '1e2'.*YAML"),
    "a long list": ("{model: pcd_20, seed: [[" + "1, " * 10**5 + "]]}", "n_temperatures is"),
    "infinity": ("{model: pcd_20, n_temperatures: .inf, seed: 0}", "n_temperatures is inf"),
    "a date": ("{model: 2026-01-01, n_temperatures: 20, seed: 0}", "model is datetime"),
    "missing": ("{model: pcd_20, seed: 0}", "n_temperatures is missing"),
    "empty": ("{model: [], n_temperatures: 20, seed: 0}", "model is empty"),
    "duplicate": (GRID % ", n_chains: [10, 20, 10]", "task 3 is the same as task 1"),
    "same by default": (GRID % ", n_chains: [10, 10.0]", "task 2 is the same as task 1"),
    "estimator": (GRID % ", estimator: reverse_aids", "did you mean reverse_ais"),
    "no such model": ("{model: h21, n_temperatures: 20, seed: 0}", "h21"),
    "a device": ("{model: /dev/zero, n_temperatures: 20, seed: 0}", "no regular file"),
    "not a mapping": ("pcd_20", "expected a list of mappings"),
    "no YAML": ("{model: [", "no YAML"),
    "a function": ("{model: !!python/object/apply:os.system [touch RAN]}", "no YAML"),
    "a new object": ("!!python/object/new:subprocess.Popen [[touch, RAN]]", "no YAML"),
    "a million tasks": (GRID.replace("0%s", RANGE % (10**6 + 1)), "seed is"),
    "a product of lists": ("{model: pcd_20, n_temperatures: 20, seed: " + RANGE % 2000
                           + ", n_chains: " + RANGE % 2000 + "}", "4,000,000 tasks"),
    "a long value": ("{model: pcd_20, seed: 0, n_temperatures: " + "x" * 10**6 + "}", "n_temp"),
}  # fmt: skip
WHOLE = {
    "unknown key": ("gird: []\n", "'gird'"),
    "several sweeps": (f"mine:\n  grids:\n    - {GRID % ''}\n", "the name of a sweep"),
    "an alias of aliases": (BOMB + "\ngrids: [{model: *h}]\n", "expected the name"),
    "grids that are aliases": (
        "about: &a [" + "x, " * 12 + "]\ngrids: [[" + "*a, " * 12 + "]]\n", "list of mappings",
    ),
    "bytes": (b"\xff\xfe\x00grids", "expected the name of a sweep"),
}  # fmt: skip
WHOLE |= {name: (f"grids:\n  - {grid}\n", words) for name, (grid, words) in WRONG.items()}


@pytest.mark.parametrize(("content", "words"), WHOLE.values(), ids=WHOLE)
def test_wrong_declarations_are_refused_at_once(tmp_path, monkeypatch, capsys, content, words):
    monkeypatch.chdir(tmp_path)
    source = tmp_path / "wrong.yaml"
    source.write_bytes(content if isinstance(content, bytes) else content.encode())
    began = time.process_time()
    with pytest.raises((ValueError, OSError), match=words) as caught:
        book_sweep(source)
    assert time.process_time() - began < 10
    assert str(caught.value).startswith("wrong.yaml")
    assert len(str(caught.value)) < 1500
    assert main(["run", str(source)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: wrong.yaml")
    assert error.count("\n") == 1
    assert os.listdir(tmp_path) == ["wrong.yaml"], "something was run, or written"


def test_a_misspelt_sweep_is_answered_by_the_nearest(capsys):
    for words in ([], ["--dry-run"]):
        assert main(["run", "varopt_tabel1", *words]) == 2
        said = capsys.readouterr().err
        assert said.startswith("error: no sweep 'varopt_tabel1', did you mean varopt_table1?")


def test_wrong_tasks_are_refused_from_python(tmp_path):
    for wrong in (["n"], [{}], [{"n": [1]}], [{"n": float("inf")}], [{"n": 1}, {"n": 1}]):
        with pytest.raises(ValueError, match="task"):
            Sweep(wrong, square, folder=tmp_path)
    with pytest.raises(TypeError, match="tasks is a int: expected mappings of settings"):
        Sweep(3, square)


# overrides ----------------------------------------------------------------------------------


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(
        "grids:\n"
        "  - {model: pcd_10, base: mean field, n_temperatures: [20, 30], n_chains: [50, 60],\n"
        "     estimator: [ais, reverse_ais], seed: {first: 0, count: 5}}\n"
        "  - {model: pcd_10, estimator: exact}\n"
    )
    return path


def test_overrides_replace_a_setting_where_it_is_named(source):
    small = book_sweep(
        source, overrides={"n_chains": 10, "seed": [7, 8]}, folder=source.parent / "out"
    )
    rows = list(small.tasks.values())
    assert len(rows) == 2 * 2 * 2 + 1  # each once, though n_chains had two values
    annealed = [row for row in rows if row["estimator"] != "exact"]
    assert {row["n_chains"] for row in annealed} == {10}
    assert {row["seed"] for row in annealed} == {7, 8}
    assert {"n_chains", "seed"}.isdisjoint(rows[-1])
    whole = book_sweep(source)
    assert set(small.tasks) & set(whole.tasks) == {list(whole.tasks)[-1]}  # keys say the rest


WRONG_OVERRIDES = {
    ("n_chain=3",): "no grid has the setting 'n_chain', did you mean n_chains?",
    ("n_sweeps=3",): "no grid has the setting 'n_sweeps'",
    ("n_chains=few",): "n_chains is 'few': expected a whole number",
    ("n_chains",): "expected NAME=VALUE",
    ("seed=1", "seed=2"): "--set seed is given twice",
    ("seed=[",): "--set is 'seed=['",
    ("seed={first: 0, count: 1000000}", "n_chains={first: 10, count: 10}"): "1 to 1,000,000",
}


@pytest.mark.parametrize(("given", "said"), WRONG_OVERRIDES.items())
def test_wrong_overrides_are_refused(source, capsys, given, said):
    words = [word for one in given for word in ("--set", one)]
    assert main(["run", str(source), *words, "--folder", str(source.parent / "out")]) == 2
    assert said in capsys.readouterr().err
    assert [path.name for path in source.parent.iterdir()] == ["mine.yaml"]


@pytest.mark.parametrize("folder", [[], ["--folder", "."]])
def test_overrides_need_a_folder_of_their_own(source, monkeypatch, capsys, folder):
    monkeypatch.chdir(source.parent)
    assert main(["run", "mine.yaml", "--set", "seed=1", *folder]) == 2
    assert "overrides without a folder of their own" in capsys.readouterr().err


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


# data of one's own --------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::rbmlib.ConvergenceWarning")
def test_base_rate_of_data_of_ones_own(tmp_path):
    rl.testsystems.random_rbm(n_visible=12, n_hidden=4, rng=0).save(tmp_path / "own.npz")
    rows = np.random.default_rng(0).random((50, 12)) < 0.3
    np.save(tmp_path / "rows.npy", rows.astype(np.uint8))
    given = {"model": str(tmp_path / "own.npz"), "n_temperatures": 20, "n_chains": 10, "seed": 1}
    data = {"data": str(tmp_path / "rows.npy")}
    path = rl.GeometricPath(rl.load_rbm(given["model"]), rl.base_rate(rows.astype(np.uint8)))
    run = rl.ais(path, rl.schedules.linear(20), 10, 1, n_recorded=2)
    assert task.estimate(**given, **data)["log_z"] == pytest.approx(run.log_z, abs=1e-6)
    before = task.digest(task.checked(given | data))
    np.save(data["data"], np.eye(12, dtype=np.uint8))
    assert task.digest(task.checked(given | data)) != before
    assert "data" not in task.checked(given)
    assert task.checked(given | data)["data"] == data["data"]
    other = given | {"base": "mean field"}
    assert task.checked(other | data) == task.checked(other)
