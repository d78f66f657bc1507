"""Other ways to log Z of hard models beside `log_z`: the stored rows, and their tool."""

import sys

import numpy as np
import pandas as pd
import pytest
from helpers_book import BOOK, REPOSITORY

import rbmlib as rl
from rbmlib.results import summarise_log_weights

sys.path.insert(0, str(BOOK / "_tools"))

import trust_rivals


@pytest.fixture(scope="module")
def table():
    return pd.read_csv(REPOSITORY / "data/results/log_z_rivals.csv")


def test_every_model_has_a_row_of_every_method(table):
    seeds = range(table["seed"].max() + 1)
    expected = pd.MultiIndex.from_product(
        [trust_rivals.KINDS, seeds, trust_rivals.METHODS], names=["kind", "seed", "method"]
    )
    found = pd.MultiIndex.from_frame(table[expected.names])
    assert not found.has_duplicates
    assert set(found) == set(expected)
    assert list(table.columns) == trust_rivals.FIELDS
    needed = table[["exact", "log_z", "believed", "chain_steps", "seconds", "version"]]
    assert needed.notna().all(axis=None)


def test_all_methods_had_the_steps_of_log_z(table):
    assert (table.groupby(["kind", "seed"])["chain_steps"].nunique() == 1).all()
    one_base = table["n_parts"] == 1
    runs = 3 * trust_rivals.N_CHAINS * trust_rivals.N_STEPS
    assert (table.loc[one_base, "chain_steps"] > runs).all()
    assert (table.loc[one_base, "chain_steps"] < 2 * runs).all()


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
    rbm = rl.BernoulliRBM.from_spins(couplings, np.full(7, 0.02), np.full(5, 0.02))
    modes = rl.find_modes(rbm)
    assert len(modes.log_z) == 2
    for shift in ([0.0, 0.0], [-0.5, 0.5]):
        off = modes._replace(log_z=modes.log_z + shift)
        rng = np.random.default_rng(0)
        weights = trust_rivals.mixture_weights(rbm, off, 60, rng, n_chains=4000)
        found = summarise_log_weights(weights)
        assert found.ess > 400
        assert abs(found.log_mean - rl.exact(rbm).log_z) < 4 * found.std_error < 0.2
