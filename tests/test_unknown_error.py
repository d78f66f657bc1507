"""Values without an error bar: they promise nothing, but where a sum over all states is near."""

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
from helpers_check import FEW, ferromagnet, log_z_of, made

import rbmlib as rl
from rbmlib.estimate import Check
from rbmlib.search import opinion as opinions

NARROW, _ = ferromagnet(30, 10)
WIDE, _ = ferromagnet(120, 40)  # 2**40 hidden states
LOG_Z, PATH = rl.exact(NARROW).log_z, rl.GeometricPath(NARROW)


def verdict(estimate):
    return estimate.details["second_opinion"]["verdict"]


@pytest.mark.filterwarnings("ignore::rbmlib.ConvergenceWarning")
@pytest.mark.parametrize(
    ("off", "said"), [(0.1, "agrees"), (-0.1, "agrees"), (0.11, "refuted"), (-0.11, "refuted")]
)
def test_a_value_of_unknown_error_is_to_be_within_a_tenth_of_a_sum_over_all_states(
    off, said, monkeypatch
):
    """Its own checks count, too; of a sum of some states no such value is confirmed."""
    unknown = {"std_error": np.nan, "interval": (-np.inf, np.inf), "converged": False}
    one = replace(made(LOG_Z + off), **unknown)
    found = rl.check(PATH, one)
    assert (verdict(found), found.converged) == (said, said == "agrees")
    assert math.isnan(found.std_error) == (said == "agrees")
    failed = rl.check(PATH, replace(one, details={"checks": [Check("of its own", False)]}))
    assert (verdict(failed), failed.converged) == (said, False)
    with monkeypatch.context() as patch:
        patch.setattr(opinions, "ON_REQUEST", FEW)
        assert not rl.check(PATH, found).converged
    near = rl.check(rl.GeometricPath(WIDE), replace(made(log_z_of(WIDE) + off), **unknown))
    assert verdict(near) == ("refuted" if off < -0.105 else "cannot tell")
    assert not near.converged


@pytest.mark.parametrize(("order", "off"), [(1, -1.47), (2, 0.80), (3, 0.97)])
def test_a_value_that_all_orders_share_is_refuted_by_a_sum(order, off):
    """All own checks pass: within a nat of each other they may all be a nat off."""
    rbm = rl.testsystems.random_rbm(16, 8, coupling=6.0, rng=3)
    where = f"256 hidden states lies {abs(off):.2g} nats {'above' if off < 0 else 'below'} this"
    with pytest.warns(rl.ConvergenceWarning, match=f"{where} value. Use rl.log_z"):
        estimate = rl.tap(rbm, order)
    log_z = rl.exact(rbm).log_z
    *own, opinion = (check.passed for check in estimate.checks)
    assert (all(own), opinion, estimate.converged) == (True, False, False)
    assert estimate.log_z - log_z == pytest.approx(off, abs=0.01)
    assert estimate.std_error == pytest.approx(abs(off), abs=0.01)
    assert estimate.interval == (pytest.approx(log_z, abs=1e-5), math.inf)


def test_where_states_are_too_many_nothing_is_promised():
    """2^40: what is found of them is below the value, and so is what lies about its mode."""
    rbm = rl.testsystems.random_rbm(120, 40, coupling=1.0, rng=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimate = rl.tap(rbm, 2)
    *own, opinion = (check.passed for check in estimate.checks)
    assert (all(own), opinion, estimate.converged) == (True, False, False)
    assert estimate.details["second_opinion"]["verdict"] == "cannot tell"
    assert estimate.details["solved"]
    assert math.isnan(estimate.std_error)
