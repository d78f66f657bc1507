"""The bench: rows and figures of tables of answers, by hand."""

import math

import pandas as pd
import pytest

from rbmbook import bench, benched

INDEX = "name,family,log_z\na,one,10.0\nb,one,20.0\nc,two,30.0\nd,two,40.0\n"
ANSWERS = (
    "name,log_z,std_error,trusted,seconds\n"
    "a,10.1,0.1,true,1\nb,19.0,0.1,true,3\nc,30.0,0.1,false,8\nd,,,false,0\n"
)


@pytest.fixture
def files(tmp_path):
    (tmp_path / "index.csv").write_text(INDEX)
    (tmp_path / "answers.csv").write_text(ANSWERS)
    return {"yours": tmp_path / "answers.csv"}, bench.read_index(tmp_path / "index.csv")


def test_a_row_by_hand(files):
    """a is one error off, b ten; c is not trusted, d not taken: 1 of 2 is wrong, 1 of 2 covered."""
    (found,) = benched.programs(*files).to_dict("records")
    assert found == {
        "program": "yours",
        "trusted": "2 of 4",
        "wrong (95% interval)": "1 (1.3–99%)",  # 1 - sqrt(.975) and sqrt(.975)
        "covered": "50%",
        "spread": "7.11",  # sqrt((1 + 100) / 2)
        "median error": "1.00",
        "seconds": "3.00",  # of 1, 3 and 8: d has no answer
    }


def test_a_program_that_trusts_nothing(tmp_path):
    found = benched.row("none", bench.Score(4, 4, 0, 0, 0, math.nan, math.nan))
    assert found["trusted"] == "0 of 4"
    assert {found[k] for k in found if k not in ("program", "trusted")} == {"–"}


def test_answers_without_error_bars_cover_nothing():
    """But exact ones, whose bars are 0, do."""
    without, exact = (bench.Score(4, 4, 2, 0, k, math.nan, 0.0) for k in (0, 2))
    assert [benched.row("p", s)["covered"] for s in (without, exact)] == ["–", "100%"]


def test_seconds_may_be_missing(tmp_path):
    (tmp_path / "a.csv").write_text("name,log_z,std_error,trusted\na,1,1,true\n")
    assert math.isnan(benched.median_seconds(tmp_path / "a.csv"))


def test_the_grid_has_what_is_wrong_on_top(files):
    tables, models = files
    models = {name: ("z" + family, log_z) for name, (family, log_z) in models.items()}
    models = dict(sorted(models.items(), reverse=True))  # two before one
    ax = benched.by_family(benched.scores(tables, models))
    assert [t.get_text() for t in ax.get_yticklabels()] == ["zone", "ztwo"]
    assert [t.get_text() for t in ax.texts] == ["1/2", "·"]
    assert len(ax.lines) == 1


def test_what_is_committed_answers_every_model(repository):
    """And has the seconds of each; the held-out part is judged by its own index."""
    tables, models = benched.committed()
    held, of_held = benched.held_out()
    shown = [(table, models) for table in tables.values()]
    shown += [(table, of_held) for table in held.values()]
    committed = (repository / "data" / "bench").glob("answers_*.csv")
    assert {table for table, _ in shown} == set(committed), "a table that no page shows"
    for table, index in shown:
        rows = pd.read_csv(table)
        assert rows["name"].tolist() == [*index], table.name
        assert rows["seconds"].notna().all(), table.name
