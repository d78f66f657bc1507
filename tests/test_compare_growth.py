"""Time and memory as models grow: the stored rows, and how memory is measured."""

import sys

import numpy as np
import pandas as pd
import pytest
from helpers_book import BOOK, REPOSITORY

sys.path.insert(0, str(BOOK / "_tools"))

import compare_growth


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_memory_is_the_most_that_a_run_holds_and_not_what_was_there_before():
    before, freed = np.ones(5_000_000), np.ones(25_000_000)  # 40 and 200 megabytes
    del freed

    def run(path, n_chains, n_sweeps):
        for _ in range(n_sweeps):
            held = np.ones(n_chains * 125_000)  # a megabyte a chain, given back before the next
            held += 1
            del held

    _, megabytes = compare_growth.measured(run, None, 50, 3, 2)
    assert 45 < megabytes < 60
    assert before.size  # kept until here


def test_every_estimator_has_all_its_sizes():
    table = pd.read_csv(REPOSITORY / "data/results/compare_growth.csv")
    assert list(table.columns) == compare_growth.FIELDS
    names = ["method", "n_visible", "n_hidden", "n_chains", "n_sweeps"]
    found = list(table[names].itertuples(index=False, name=None))
    expected = [(method, *size, *work) for method, size, *work in compare_growth.cases()]
    assert sorted(found) == sorted(expected)
    assert (table[["seconds", "megabytes"]] > 0).all(axis=None)
    assert table["processor"].nunique() == 1
