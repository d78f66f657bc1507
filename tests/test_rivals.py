"""Other tools beside ours: stored rows, and what made them."""

import sys

import pandas as pd
import pytest
from helpers_book import BOOK, REPOSITORY

import rbmlib as rl
from rbmbook import load_reference

sys.path.insert(0, str(BOOK / "_tools"))

import compare_rivals


def stored(name):
    return pd.read_csv(REPOSITORY / "data/results" / f"{name}.csv")


@pytest.fixture(scope="module")
def table():
    return stored("compare_rivals")


def test_errors_are_those_from_the_reference_set(table):
    reference = {name: known.log_z for name, known in load_reference().items()}
    rows = table[table["log_z"].notna()]
    assert (rows["error"] - rows["log_z"] + rows["model"].map(reference)).abs().max() < 1e-5
    assert set(table.loc[table["log_z"].isna(), "tool"]) == {"scikit-learn"}


def test_the_procedure_of_pydeep_is_unbiased_where_enumeration_knows():
    """Its path, weights and error bar, at a size at which log Z can be added up."""
    rbm = rl.testsystems.random_rbm(12, 6, coupling=2.0, rng=0)
    found = compare_rivals.pydeep(rbm, "its defaults", (500, 100), 0, None)
    exact = rl.exact(rbm).log_z
    assert abs(found["log_z"] - exact) < 4 * found["std_error"] < 0.2
