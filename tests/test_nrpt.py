"""Non-reversible parallel tempering with a tuned ladder."""

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

import rbmlib as rl
from rbmbook.rivals import bar_of_sample, nrpt
from rbmbook.rivals.nrpt import carried, rates

STRONG = rl.testsystems.random_rbm(n_visible=12, n_hidden=6, coupling=3.0, rng=0)
FROM_UNIFORM = rl.GeometricPath(STRONG, base=np.zeros(12))
TRUTH = rl.exact(STRONG).log_z
pytestmark = pytest.mark.filterwarnings("ignore::rbmlib.ConvergenceWarning")


@pytest.fixture(scope="module")
def run():
    return nrpt(FROM_UNIFORM, n_sweeps=1600, record_every=2, rng=0)


def test_log_z_is_read_off_the_states_that_count(run):
    skip = len(run.states.delta) // 10
    assert skip == 80
    assert rl.mbar_of_sample(run.states, skip=skip).log_z == pytest.approx(run.log_z, abs=0.02)
    assert bar_of_sample(run.states, skip=skip).log_z == run.log_z
    assert run.converged
    assert abs(run.log_z - TRUTH) < 4 * run.std_error < 0.4


def test_the_tuned_ladder_rejects_equally(run):
    even = nrpt(FROM_UNIFORM, np.linspace(0, 1, run.betas.size), n_sweeps=1600, rng=0)
    spread, of_even = (np.std(r.details["rejection"]) for r in (run, even))
    assert spread < 0.08
    assert spread < 0.5 * of_even
    assert run.details["barrier"] == pytest.approx(sum(run.details["rejection"]))


def test_round_trips_are_no_faster_than_the_theory(run):
    s = run.details
    assert s["ladder_rate"] < s["best_rate"]
    assert 0.3 * s["ladder_rate"] < s["round_trip_rate"] < 1.1 * s["ladder_rate"]


def test_rates_of_a_ladder_that_never_rejects(run):
    """Replicas then march: one round trip of the ladder in two sweeps."""
    free = rates(replace(run.states, swap_rates=np.ones(run.betas.size - 1)))
    assert (free["barrier"], free["ladder_rate"], free["best_rate"]) == (0.0, 0.5, 0.5)


def test_states_are_carried_to_the_nearest_beta():
    sample = rl.parallel_tempering(FROM_UNIFORM, rl.schedules.linear(4), 3, 7, 0)
    state = carried(sample, np.array([0.0, 0.3, 0.7, 1.0]))
    for ladder in range(3):
        for place, old in enumerate([0, 1, 3, 4]):
            where = 5 * ladder + np.flatnonzero(sample.index[5 * ladder : 5 * ladder + 5] == old)[0]
            assert np.array_equal(state[4 * ladder + place], sample.states[where])


def test_tuning_rounds_double_their_sweeps(monkeypatch):
    module, asked = import_module("rbmbook.rivals.nrpt"), []

    def temper(path, betas, n_chains, n_sweeps, *_, **more):
        asked.append((n_sweeps, more["start"]))

    cuts = []
    monkeypatch.setattr(rl, "ais", lambda *_, **more: None)
    monkeypatch.setattr(module, "equal_rejection", lambda pilot, n: cuts.append(n))
    monkeypatch.setattr(module, "_cut_anew", lambda sample: "ladder")
    monkeypatch.setattr(module, "carried", lambda sample, betas: "states")
    monkeypatch.setattr(module, "parallel_tempering", temper)
    module._tuned(None, 4, 100, np.random.default_rng(0))
    assert asked == [(20, "annealed"), (25, "states"), (50, "states")]
    assert cuts == [30]


def test_warnings_are_its_own_and_not_those_of_its_pilot_or_its_reading():
    with pytest.warns(rl.ConvergenceWarning) as caught:
        found = nrpt(FROM_UNIFORM, n_chains=2, n_sweeps=20, rng=0)
    assert [str(w.message)[:5] for w in caught] == ["nrpt:"]
    assert not found.converged
