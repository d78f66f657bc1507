"""Other tools and ways beside ours, and growth with size: stored rows, and what made them."""

import sys

import numpy as np
import pandas as pd
import pytest
from helpers_book import BOOK, REPOSITORY

import rbmlib as rl
from rbmbook import load_reference
from rbmbook.testsystems import of_spins
from rbmlib.results import summarise_log_weights

sys.path.insert(0, str(BOOK / "_tools"))

import compare_growth
import compare_rivals
import trust_rivals


def stored(name):
    return pd.read_csv(REPOSITORY / "data/results" / f"{name}.csv")


@pytest.fixture(scope="module")
def table():
    return stored("compare_rivals")


def test_every_tool_has_a_run_on_every_model(table):
    keys = table[["tool", "setting", "model"]]
    expected = {(*key, model) for key, work in compare_rivals.WORK.items() for model in work}
    assert set(keys.itertuples(index=False, name=None)) == expected
    assert not table.duplicated(["tool", "setting", "model", "seed"]).any()
    assert list(table.columns) == compare_rivals.FIELDS
    assert (table["seconds"] > 0).all()


def test_errors_are_those_from_the_reference_set(table):
    reference = {name: known.log_z for name, known in load_reference().items()}
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
    exact = rl.exact(rbm).log_z
    assert abs(found["log_z"] - exact) < 4 * found["std_error"] < 0.2


@pytest.fixture(scope="module")
def rivals():
    return stored("log_z_rivals")


def test_every_model_has_a_row_of_every_method(rivals):
    seeds = range(rivals["seed"].max() + 1)
    expected = pd.MultiIndex.from_product(
        [trust_rivals.KINDS, seeds, trust_rivals.METHODS], names=["kind", "seed", "method"]
    )
    found = pd.MultiIndex.from_frame(rivals[expected.names])
    assert not found.has_duplicates
    assert set(found) == set(expected)
    assert list(rivals.columns) == trust_rivals.FIELDS
    needed = rivals[["exact", "log_z", "believed", "chain_steps", "seconds", "version"]]
    assert needed.notna().all(axis=None)


def test_all_methods_had_the_steps_of_log_z(rivals):
    assert (rivals.groupby(["kind", "seed"])["chain_steps"].nunique() == 1).all()
    one_base = rivals["n_parts"] == 1
    runs = 3 * trust_rivals.N_CHAINS * trust_rivals.N_STEPS
    assert (rivals.loc[one_base, "chain_steps"] > runs).all()
    assert (rivals.loc[one_base, "chain_steps"] < 2 * runs).all()


@pytest.mark.parametrize("method", ["plain AIS", "population annealing"])
def test_a_row_computed_again_has_the_same_digits(method):
    rows = {(r["kind"], r["seed"], r["method"]): r for r in trust_rivals.rows(trust_rivals.TARGET)}
    stored = rows["random", "0", method]
    again = trust_rivals.row("random", 0, method, int(stored["chain_steps"]))
    compared = [name for name in again if name not in ("seconds", "version")]
    assert {name: str(again[name]) for name in compared} == {n: stored[n] for n in compared}


def test_weights_from_a_mixture_have_the_mean_z():
    """Also where components weigh much else than their modes."""
    couplings = np.full((7, 5), 0.4)
    rbm = of_spins(couplings, np.full(7, 0.02), np.full(5, 0.02))
    modes = rl.find_modes(rbm)
    assert len(modes.log_z) == 2
    for shift in ([0.0, 0.0], [-0.5, 0.5]):
        off = modes._replace(log_z=modes.log_z + shift)
        rng = np.random.default_rng(0)
        weights = trust_rivals.mixture_weights(rbm, off, 60, rng, n_chains=4000)
        found = summarise_log_weights(weights)
        assert found.ess > 400
        assert abs(found.log_mean - rl.exact(rbm).log_z) < 4 * found.std_error < 0.2


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
    table = stored("compare_growth")
    assert list(table.columns) == compare_growth.FIELDS
    names = ["method", "n_visible", "n_hidden", "n_chains", "n_sweeps"]
    found = list(table[names].itertuples(index=False, name=None))
    expected = [(method, *size, *work) for method, size, *work in compare_growth.cases()]
    assert sorted(found) == sorted(expected)
    assert (table[["seconds", "megabytes"]] > 0).all(axis=None)
    assert table["processor"].nunique() == 1
