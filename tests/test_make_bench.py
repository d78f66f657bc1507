"""The tools of `make bench`: programs in turns, ratios of a round, as many updates as are said."""

import sys
import time
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from helpers_book import BOOK
from sklearn.neural_network import BernoulliRBM

sys.path.insert(0, str(BOOK / "_tools"))

import baselines
import bench


def test_programs_take_turns_after_a_round_that_does_not_count():
    """What a program runs in is not timed."""
    order = []

    @contextmanager
    def slow():
        time.sleep(0.05)
        order.append("in")
        yield
        time.sleep(0.05)

    programs = {name: lambda name=name: order.append(name) for name in ("one", "other")}
    seconds = bench.in_turns(programs, 3, {"other": slow})
    assert order == ["one", "in", "other"] * 4
    assert [len(s) for s in seconds.values()] == [3, 3]
    assert max(wall for wall, _ in seconds["other"]) < 0.04


def test_ratios_are_medians_of_ratios_of_a_round():
    seconds = {"ours": [(3.0, 1.0), (6.0, 2.0), (9.0, 10.0)],
               "theirs": [(1.0, 8.0), (1.0, 2.0), (1.0, 20.0)]}  # fmt: skip
    table = bench.rows("task", seconds, {"theirs": 0.5}).set_index("program")
    names = ["wall seconds", "processor seconds", "times rbmlib"]
    assert table.loc["ours", names].tolist() == [6.0, 2.0, 1.0]
    assert table.loc["theirs", names].tolist() == [2.0, 16.0, np.median([16.0, 2.0, 4.0])]


def test_ratios_to_numpy_are_of_the_same_round_and_threads():
    times = {
        (1, "NumPy float64"): (10.0, 20.0, 30.0), (1, "ours"): (1.0, 10.0, 6.0),
        (2, "NumPy float64"): (8.0, 8.0, 8.0), (2, "ours"): (4.0, 4.0, 4.0),
    }  # fmt: skip
    rounds = pd.DataFrame(
        [("m", *key, k, t) for key, of_rounds in times.items() for k, t in enumerate(of_rounds)],
        columns=["model", "threads", "loop", "round", "microseconds"],
    )
    table = bench.wide(bench.summary(rounds))
    assert table.columns.tolist() == ["loop", "m, 1 thread", "m, 2 threads"]
    assert table.to_numpy().tolist() == [
        ["NumPy float64", "20 (1×)", "8 (1×)"], ["ours", "6 (5×)", "4 (2×)"],
    ]  # fmt: skip


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
