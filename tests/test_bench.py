"""The bench: its models against sums of NumPy alone, and how tables of answers are judged."""

import csv
import hashlib
import math
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest
from helpers_check import log_z_of
from helpers_models import exchanged
from helpers_stats import all_states, log_sum
from scipy.stats import binom

from rbmbook import __main__ as commands
from rbmbook import bench
from rbmlib import BernoulliRBM

HEAD = "name,log_z,std_error,trusted\n"
INDEX = "name,family,log_z\na,one,10.0\nb,one,20.0\nc,two,30.0\n"


@pytest.fixture(scope="module")
def rows(repository):
    with open(repository / "data" / "bench" / "index.csv", encoding="utf-8") as file:
        return [*csv.DictReader(file)]


def test_files_are_those_of_the_index(repository, rows):
    folder = repository / "data" / "bench"
    assert len(rows) == 200
    with ZipFile(folder / "models.zip") as models:
        assert models.namelist() == [f"{row['name']}.npz" for row in rows]
        for row in rows:
            held = models.read(f"{row['name']}.npz")
            assert hashlib.sha256(held).hexdigest() == row["sha256"], row["name"]
    with open(folder / "families.csv", encoding="utf-8") as file:
        assert [r["family"] for r in csv.DictReader(file)] == [
            *dict.fromkeys(row["family"] for row in rows)
        ]


def arrays(repository, row):
    with ZipFile(repository / "data" / "bench" / "models.zip") as models:
        held = np.load(models.open(f"{row['name']}.npz"))
        return held["weights"], held["visible_bias"], held["hidden_bias"]


def test_log_z_is_that_of_the_arrays(repository, rows):
    """Of every model of bits with at most 13 units in a layer: a sum over that layer's states."""
    n_checked = 0
    for row in rows:
        w, b, a = arrays(repository, row)
        if row["units"] != "bits" or min(w.shape) > 13:
            continue
        w, b, a = (w, b, a) if w.shape[1] <= w.shape[0] else (w.T, a, b)
        states = all_states(len(a))
        found = log_sum(states @ a + np.logaddexp(0, states @ w.T + b).sum(axis=1))
        assert found == pytest.approx(float(row["log_z"]), abs=1e-8, rel=1e-12), row["name"]
        n_checked += 1
    assert n_checked > 100


def test_large_equal_layers_by_another_sum(repository, rows):
    """Of mean-field models, whose units are the same but for flips: over counts of one layer."""
    row = max((r for r in rows if r["family"] == "mean field"), key=lambda r: int(r["n_visible"]))
    w, b, a = arrays(repository, row)
    against = w[0] * w[0, 0] < 0, w[:, 0] * w[0, 0] < 0  # the first unit
    plain = exchanged(BernoulliRBM(w, b, a), *map(np.flatnonzero, against))
    assert np.ptp(plain.weights) < 1e-9
    assert max(np.ptp(plain.visible_bias), np.ptp(plain.hidden_bias)) < 1e-6
    assert log_z_of(plain) == pytest.approx(float(row["log_z"]), rel=1e-9)


# answers ------------------------------------------------------------------------------------


def judged(tmp_path, text):
    (tmp_path / "index.csv").write_text(INDEX)
    (tmp_path / "answers.csv").write_text(HEAD + text)
    answers = bench.read_answers(tmp_path / "answers.csv")
    return bench.scores(answers, bench.read_index(tmp_path / "index.csv"))


def test_scores_by_hand(tmp_path):
    """a: 3 errors off, right; b: .5 off at .1, wrong; c: not trusted, so that it is not judged."""
    found = judged(tmp_path, "a,10.3,0.1,true\nb,19.5,.1,1\nc,99,,no\n")
    one = found["one"]
    assert (one.models, one.trusted, one.wrong, one.covered) == (2, 2, 1, 0)
    assert one.spread == pytest.approx(math.sqrt((9 + 25) / 2))
    assert one.median == pytest.approx(0.5)
    assert (found["two"].trusted, found["all"].wrong) == (0, 1)
    near = judged(tmp_path, "a,10.04,0.001,yes\nb,20.1,0.06,yes\nc,30,,yes\n")["all"]
    assert (near.wrong, near.covered) == (0, 1), "off by less than .05 nats is not wrong"
    exact = judged(tmp_path, "a,10.0,0,yes\nb,20.0,0,yes\nc,31.0,,yes\n")["all"]
    assert (exact.wrong, exact.covered, math.isnan(exact.spread)) == (1, 2, True)


def test_an_answer_that_is_no_number_and_trusted_is_wrong(tmp_path):
    assert judged(tmp_path, "a,nan,0.1,yes\nb,20,.1,no\nc,30,.1,no\n")["all"].wrong == 1


def test_intervals_of_shares():
    """By their tails; rule of three: after none of n, the upper end is about 3.7 / n."""
    assert bench.share_interval(0, 1000)[1] == pytest.approx(3.68e-3, rel=0.01)
    low, high = bench.share_interval([3, 5], [10, 5])
    assert binom.sf(2, 10, low[0]) == pytest.approx(0.025)
    assert binom.cdf(3, 10, high[0]) == pytest.approx(0.025)
    assert high[1] == 1.0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,10,.1,yes\n", "2 of 3 models have no answer"),
        ("a,10,.1,yes\nz,1,1,no\n", "'z' is no model of the bench"),
        ("a,10,.1,maybe\n", "line 2: .*expected trusted: true or false"),
        ("a,ten,.1,yes\n", "line 2: .*expected numbers"),
        ("a,10,-1,yes\n", "expected std_error: 0 or more"),
        ("a,10,inf,yes\n", "expected std_error: 0 or more"),
        ("a,10,.1,yes\na,10,.1,yes\n", "line 3: .*expected one row a model"),
    ],
)
def test_tables_that_cannot_be_judged_are_refused(tmp_path, text, words):
    with pytest.raises(ValueError, match=words):
        judged(tmp_path, text)


def test_the_command_prints_a_row_a_family(tmp_path, capsys):
    judged(tmp_path, "a,10.3,0.1,true\nb,19.5,.1,1\nc,99,,no\n")
    index, answers = str(tmp_path / "index.csv"), str(tmp_path / "answers.csv")
    assert commands.main(["bench", answers, "--index", index]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["family", "one", "two", "all"]
    assert lines[3].split()[1:5] == ["2", "of", "3", "1"]
    assert commands.main(["bench", answers]) == 2
    assert "'a' is no model of the bench" in capsys.readouterr().err
    assert commands.main(["bench", str(tmp_path / "none.csv")]) == 2
    assert "none.csv': expected a CSV of name,log_z,std_error,trusted" in capsys.readouterr().err


# what a page shows of answers ---------------------------------------------------------------


def test_what_is_committed_answers_every_model(repository):
    tables, models = bench.committed()
    held, of_held = bench.held_out()
    shown = [(table, models) for table in tables.values()]
    shown += [(table, of_held) for table in held.values()]
    committed = (repository / "data" / "bench").glob("answers_*.csv")
    assert {table for table, _ in shown} == set(committed), "a table that no page shows"
    for table, index in shown:
        rows = pd.read_csv(table)
        assert rows["name"].tolist() == [*index], table.name
        assert rows["seconds"].notna().all(), table.name
