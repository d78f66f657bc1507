"""Other tools beside ours: the stored rows, and what can be computed again without them."""

import sys

import pandas as pd
import pytest
from helpers_book import BOOK, REPOSITORY

import rbmlib as rl

sys.path.insert(0, str(BOOK / "_tools"))

import compare_rivals


@pytest.fixture(scope="module")
def table():
    return pd.read_csv(REPOSITORY / "data/results/compare_rivals.csv")


def test_every_tool_has_a_run_on_every_model(table):
    keys = table[["tool", "setting", "model"]]
    expected = {(*key, model) for key, work in compare_rivals.WORK.items() for model in work}
    assert set(keys.itertuples(index=False, name=None)) == expected
    assert not table.duplicated(["tool", "setting", "model", "seed"]).any()
    assert list(table.columns) == compare_rivals.FIELDS
    assert (table["seconds"] > 0).all()


def test_errors_are_those_from_the_reference_set(table):
    reference = {name: known.log_z for name, known in rl.datasets.load_reference().items()}
    rows = table[table["log_z"].notna()]
    assert (rows["error"] - rows["log_z"] + rows["model"].map(reference)).abs().max() < 1e-5
    assert set(table.loc[table["log_z"].isna(), "tool"]) == {"scikit-learn"}


def test_versions_are_those_that_the_tool_asks_for(table):
    for tool, rows in table.groupby("tool"):
        (version,) = rows["version"].unique()
        ours = tool in compare_rivals.VERSIONS
        assert ours or f"{tool}=={version}" in compare_rivals.__doc__


def test_the_procedure_of_pydeep_is_unbiased_where_enumeration_knows():
    """Its path, weights and error bar, at a size at which log Z can be added up."""
    rbm = rl.testsystems.random_rbm(12, 6, coupling=2.0, rng=0)
    found = compare_rivals.pydeep(rbm, "its defaults", (500, 100), 0, None)
    exact = rl.exact(rbm, progress=False).log_z
    assert abs(found["log_z"] - exact) < 4 * found["std_error"] < 0.2
