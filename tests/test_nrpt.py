"""Non-reversible parallel tempering with a tuned ladder, and stepping stones."""

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

import rbmlib as rl
from rbmlib.estimators.nrpt import READ_OFF, carried, rates

STRONG = rl.testsystems.random_rbm(n_visible=12, n_hidden=6, coupling=3.0, rng=0)
FROM_UNIFORM = rl.GeometricPath(STRONG, base=np.zeros(12))
TRUTH = rl.exact(STRONG, progress=False).log_z
pytestmark = pytest.mark.filterwarnings("ignore::rbmlib.ConvergenceWarning")


@pytest.fixture(scope="module")
def run():
    return rl.nrpt(FROM_UNIFORM, n_sweeps=1600, record_every=2, rng=0, progress=False)


def test_log_z_is_read_off_the_same_states_three_ways(run):
    skip = len(run.states.delta) // 10
    found = {name: read(run.states, skip=skip) for name, read in READ_OFF.items()}
    assert found["bar"].log_z == run.log_z
    assert run.converged
    assert run.std_error < 0.1
    for other in found.values():
        assert abs(other.log_z - TRUTH) < 4 * other.std_error
        assert 0.5 < other.std_error / run.std_error < 2


def test_the_tuned_ladder_rejects_equally(run):
    even = rl.nrpt(FROM_UNIFORM, np.linspace(0, 1, run.betas.size), n_sweeps=1600, rng=0)
    spread, of_even = (np.std(r.settings["rejection"]) for r in (run, even))
    assert spread < 0.08
    assert spread < 0.5 * of_even
    assert run.settings["barrier"] == pytest.approx(sum(run.settings["rejection"]))


def test_round_trips_are_no_faster_than_the_theory(run):
    s = run.settings
    assert s["ladder_rate"] < s["best_rate"]
    assert 0.3 * s["ladder_rate"] < s["round_trip_rate"] < 1.1 * s["ladder_rate"]


def test_rates_of_a_ladder_that_never_rejects(run):
    """Replicas then march: one round trip of the ladder in two sweeps."""
    free = rates(replace(run.states, swap_rates=np.ones(run.betas.size - 1)))
    assert (free["barrier"], free["ladder_rate"], free["best_rate"]) == (0.0, 0.5, 0.5)


def test_states_are_carried_to_the_nearest_beta():
    sample = rl.parallel_tempering(FROM_UNIFORM, rl.schedules.linear(4), 3, 7, 0, progress=False)
    state = carried(sample, np.array([0.0, 0.3, 0.7, 1.0]))
    for ladder in range(3):
        for place, old in enumerate([0, 1, 3, 4]):
            where = 5 * ladder + np.flatnonzero(sample.index[5 * ladder : 5 * ladder + 5] == old)[0]
            assert np.array_equal(state[4 * ladder + place], sample.states[where])


def independent_sample(rng, n_ladders=8, n_kept=300):
    """A sample whose states are normal slopes: log Z(beta) = beta^2 / 2 known."""
    betas = np.linspace(0, 1, 4)
    path = rl.GeometricPath(STRONG, base=np.zeros(12))
    sample = rl.parallel_tempering(path, betas, n_ladders, 2, 0, progress=False)
    place = np.tile(np.tile(np.arange(4), n_ladders), (n_kept, 1))
    delta = betas[place] + rng.normal(size=place.shape)
    places, known = place.astype(np.int16), np.r_[0.0, np.full(3, np.nan)]
    return replace(sample, delta=delta, temperature=places, log_z_path=known)


def test_error_bar_of_stepping_stones_is_the_spread_of_runs():
    rng = np.random.default_rng(0)
    found = [rl.stepping_stone_of_sample(independent_sample(rng)) for _ in range(300)]
    plain = np.array([f.log_z for f in found]) - 0.5
    # flagged runs hold their disagreement: short ladders, which made no round trips
    spread = [np.std(f.log_weights, ddof=1) / np.sqrt(8) for f in found]
    assert abs(plain.mean()) < 4 * plain.std() / np.sqrt(300) + 1e-3
    assert 0.88 < plain.std(ddof=1) / np.sqrt(np.mean(np.square(spread))) < 1.12


def test_stepping_stones_are_the_mean_of_both_sides():
    sample = independent_sample(np.random.default_rng(2), n_ladders=4, n_kept=50)
    value, apart, states = 0.0, 0.0, []
    for k in range(3):
        works = [sample.delta[sample.temperature == end] / 3 for end in (k, k + 1)]
        up, down = np.log(np.exp(works[0]).mean()), -np.log(np.exp(-works[1]).mean())
        value, apart = value + (up + down) / 2, apart + down - up
        for weights in (np.exp(works[0]), np.exp(-works[1])):
            states.append(weights.sum() ** 2 / (weights**2).sum())
    found = rl.stepping_stone_of_sample(sample)
    assert found.log_z == pytest.approx(value)
    assert found.settings["two_sided"] == pytest.approx(apart)
    words = f"{min(states):.0f} effective states between neighbours, 10 or more"
    assert words in found.settings["checks"]


@pytest.mark.parametrize(("n_betas", "steps"), [(None, 30), (12, 11)])
def test_the_first_ladder_is_as_long_as_asked_for_or_has_thirty_steps(n_betas, steps, monkeypatch):
    module, asked = import_module("rbmlib.estimators.nrpt"), []

    def stop(pilot, n):
        asked.append(n)
        raise InterruptedError

    monkeypatch.setattr(module, "equal_rejection", stop)
    monkeypatch.setattr(module, "ais", lambda *_, **more: None)
    with pytest.raises(InterruptedError):
        module._tuned(None, 4, 100, n_betas, np.random.default_rng(0))
    assert asked == [steps]


def test_tuning_rounds_double_their_sweeps(monkeypatch):
    module, asked = import_module("rbmlib.estimators.nrpt"), []

    def temper(path, betas, n_chains, n_sweeps, *_, **more):
        asked.append((n_sweeps, more["start"]))

    for name, other in (("ais", None), ("equal_rejection", "ladder"), ("_cut_anew", "ladder"),
                        ("carried", "states")):  # fmt: skip
        monkeypatch.setattr(module, name, lambda *_, other=other, **more: other)
    monkeypatch.setattr(module, "parallel_tempering", temper)
    module._tuned(None, 4, 100, None, np.random.default_rng(0))
    assert asked == [(20, "annealed"), (25, "states"), (50, "states")]


def test_warnings_are_its_own_and_not_those_of_its_pilot_or_its_reading():
    for read_off in READ_OFF:
        with pytest.warns(rl.ConvergenceWarning) as caught:
            found = rl.nrpt(
                FROM_UNIFORM, n_betas=9, n_chains=2, n_sweeps=20, rng=0, read_off=read_off
            )
        assert [str(w.message)[:5] for w in caught] == ["nrpt:"]
        assert found.betas.size == 9
        assert not found.converged
