"""The tools of `make bench`: programs in turns, ratios of a round, tables by kind of machine."""

import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "book" / "_tools"))

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
    assert table.loc["theirs", "processor seconds"] == 16.0
    assert table.loc["theirs", "times rbmlib"] == np.median([16.0, 2.0, 4.0])


def test_rows_of_this_kind_of_machine_give_way_and_the_newest_come_first(tmp_path, monkeypatch):
    monkeypatch.setattr(turns, "RESULTS", tmp_path)
    for machine, values in (("a", [1, 2]), ("b", [3]), ("a", [4]), ("b", [5, 6])):
        monkeypatch.setattr(turns.machine, "description", lambda machine=machine: machine)
        kept = turns.keep(pd.DataFrame({"x": values}), "table")
    assert kept["machine"].tolist() == ["b", "b", "a"]
    assert pd.read_csv(tmp_path / "table.csv")["x"].tolist() == [5, 6, 4]
    assert turns.newest("table")["x"].tolist() == [5, 6]


@pytest.mark.parametrize("name", ["bench", "bench_users", "paper_scale"])
def test_the_tools_say_what_they_do(name, capsys, monkeypatch):
    tool = __import__(name)
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    with pytest.raises(SystemExit):
        tool.main()
    assert tool.__doc__.split("\n")[0].split(",")[0] in capsys.readouterr().out
