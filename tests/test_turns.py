"""The tools of `make bench`: programs in turns, ratios of a round, tables by kind of machine."""

import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.neural_network import BernoulliRBM

sys.path.insert(0, str(Path(__file__).parents[1] / "book" / "_tools"))

import baselines
import bench_loops
import turns


def test_programs_take_turns_after_a_round_that_does_not_count():
    order = []
    programs = {name: lambda name=name: order.append(name) for name in ("one", "other")}
    seconds = turns.in_turns(programs, 3)
    assert order == ["one", "other"] * 4
    assert [len(s) for s in seconds.values()] == [3, 3]


def test_what_a_program_runs_in_is_not_timed():
    entered = []

    @contextmanager
    def slow():
        time.sleep(0.05)
        entered.append(True)
        yield
        time.sleep(0.05)

    programs = {"inside": lambda: entered.append(False), "plain": lambda: None}
    seconds = turns.in_turns(programs, 2, {"inside": slow})
    assert entered == [True, False] * 3
    assert max(wall for wall, _ in seconds["inside"]) < 0.04


def test_ratios_are_medians_of_ratios_of_a_round():
    seconds = {"ours": [(3.0, 1.0), (6.0, 2.0), (9.0, 10.0)],
               "theirs": [(1.0, 8.0), (1.0, 2.0), (1.0, 20.0)]}  # fmt: skip
    table = turns.rows("task", seconds, {"theirs": 0.5}).set_index("program")
    assert table.loc["ours"].to_dict() == {
        "task": "task", "rounds": 3, "wall seconds": 6.0, "processor seconds": 2.0,
        "times rbmlib": 1.0,
    }  # fmt: skip
    assert table.loc["theirs", ["wall seconds", "processor seconds"]].tolist() == [2.0, 16.0]
    assert table.loc["theirs", "times rbmlib"] == np.median([16.0, 2.0, 4.0])


def test_rows_of_this_kind_of_machine_give_way_and_the_newest_come_first(tmp_path, monkeypatch):
    monkeypatch.setattr(turns, "RESULTS", tmp_path)
    for machine, values in (("a", [1, 2]), ("b", [3]), ("a", [4]), ("b", [5, 6])):
        monkeypatch.setattr(turns, "machine", lambda machine=machine: machine)
        kept = turns.keep(pd.DataFrame({"x": values}), "table")
    assert kept["machine"].tolist() == ["b", "b", "a"]
    assert pd.read_csv(tmp_path / "table.csv")["x"].tolist() == [5, 6, 4]
    assert turns.newest("table")["x"].tolist() == [5, 6]


def test_a_row_a_machine_and_loop():
    kept = pd.DataFrame(
        [("new", "pcd_500", 1, "NumPy", 50.0, 1.0), ("new", "pcd_500", 2, "NumPy", 30.0, 1.0),
         ("new", "pcd_500", 1, "ours", 5.04, 9.96), ("old", "pcd_500", 1, "ours", 12.34, 4.0)],
        columns=["machine", "model", "threads", "loop", "microseconds", "times_numpy"],
    )  # fmt: skip
    table = bench_loops.wide(kept)
    assert table.columns.tolist() == ["machine", "loop", "pcd_500, 1 thread", "pcd_500, 2 threads"]
    assert table["machine"].tolist() == ["new", "new", "old"]
    assert table["pcd_500, 1 thread"].tolist() == ["50 (1×)", "5.04 (9.96×)", "12.3 (4×)"]
    assert table["pcd_500, 2 threads"].fillna("").tolist() == ["30 (1×)", "", ""]


def test_ratios_to_numpy_are_of_the_same_round_and_threads():
    times = {
        (1, "NumPy float64"): (10.0, 20.0, 30.0), (1, "ours"): (1.0, 10.0, 6.0),
        (2, "NumPy float64"): (8.0, 8.0, 8.0), (2, "ours"): (4.0, 4.0, 4.0),
    }  # fmt: skip
    rounds = pd.DataFrame(
        [("m", *key, k, t) for key, of_rounds in times.items() for k, t in enumerate(of_rounds)],
        columns=["model", "threads", "loop", "round", "microseconds"],
    )
    table = bench_loops.summary(rounds).set_index(["threads", "loop"])
    assert table.loc[(1, "ours"), ["microseconds", "times_numpy", "least"]].tolist() == [6, 5, 1]
    assert table.loc[(2, "ours"), "times_numpy"] == 2


@pytest.mark.parametrize("method", ["cd", "pcd"])
def test_each_training_makes_as_many_updates_as_it_says(method, monkeypatch):
    data = (np.random.default_rng(0).random((300, 12)) < 0.5).astype(float)
    made, fit = [], BernoulliRBM._fit
    monkeypatch.setattr(
        BernoulliRBM, "_fit", lambda self, *args: (made.append(1), fit(self, *args))[1]
    )
    per_update = 3 if method == "cd" else 4  # evaluations of the sigmoid: one more for the chains
    monkeypatch.setattr(baselines, "expit", lambda x: (made.append(1 / per_update), 0 * x + 0.5)[1])
    found = baselines.trainings(method)
    for name in ["NumPy float32", "scikit-learn"][: 1 + (method == "pcd")]:
        made.clear()
        found[name](data, 5, 6)
        assert sum(made) == pytest.approx(6), name


def test_no_part_of_an_epoch_is_asked_of_scikit_learn():
    with pytest.raises(ValueError, match="n_updates is 5: expected a multiple of 3"):
        baselines.sklearn_training(np.zeros((300, 4)), 2, 5)
