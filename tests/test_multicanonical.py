"""A walk that is flat in the energy: identities, its error bar, a first-order transition."""

import importlib

import numpy as np
import pytest
from helpers_stats import all_states, chi_square_p, log_sum, rbm_table, state_index

import rbmlib as rl
from rbmbook.testsystems import first_order_rbm

code = importlib.import_module("rbmbook.rivals.multicanonical")
STRONG = rl.testsystems.random_rbm(n_visible=6, n_hidden=4, coupling=3.0, rng=0)
STRONG_PATH = rl.GeometricPath(STRONG, base=np.linspace(-0.5, 0.5, 6))
LEVELS, WEIGHTS = np.array([-1.0, 0.5, 2.0]), np.array([0.0, 0.7, -0.4, 1.1])
pytestmark = pytest.mark.filterwarnings("ignore::rbmlib.ConvergenceWarning")


def energies(path, states):
    return np.diff(path.log_density(states, [0.0, 1.0]), axis=1)[:, 0]


def test_log_z_of_two_phases_is_that_of_enumeration():
    for tilt in (0.0, 2.5):
        rbm, log_z = first_order_rbm(9, 5, strength=3.0, tilt=tilt)
        assert log_z == pytest.approx(float(log_sum(rbm_table(rbm))), abs=1e-10)
    few = first_order_rbm(60, 12)
    assert few[1] == pytest.approx(rl.exact(few[0]).log_z, abs=1e-9)


def test_two_phases_weigh_the_same_and_nearly_nothing_lies_between():
    rbm, log_z = first_order_rbm()
    on = np.tril(np.ones((121, 120)), -1)  # n units on, of each n
    log_binomial = np.array([log_sum_of_ratios(n, 120) for n in range(121)])
    share = np.exp(rbm.log_density(on) + log_binomial - log_z)
    assert share.sum() == pytest.approx(1)
    assert 0.2 < share[:90].sum() < 0.8
    assert share[85:100].sum() < 1e-5


def log_sum_of_ratios(n, total):
    return np.log(np.arange(total - n + 1, total + 1)).sum() - np.log(np.arange(1, n + 1)).sum()


def test_a_sweep_leaves_the_flattened_law_as_it_is():
    """Of exact draws from p*_0(v) w(U(v)) a sweep makes draws of the same law."""
    rng, states = np.random.default_rng(1), all_states(6)
    u = energies(STRONG_PATH, states)
    logs = states @ STRONG_PATH.models[0].visible_bias + WEIGHTS[np.searchsorted(LEVELS, u)]
    p = np.exp(logs - log_sum(logs))
    n = 60_000
    walk = code.Walk(STRONG_PATH, states[rng.choice(64, n, p=p)].astype(float), rng)
    before = walk.v.copy()
    walk.sweep(LEVELS, WEIGHTS)
    assert 0.2 < (walk.v != before).mean() < 0.8
    assert chi_square_p(state_index(walk.v), p) > 1e-4
    np.testing.assert_allclose(walk.u, energies(STRONG_PATH, walk.v), atol=1e-9)


def test_estimate_is_an_identity_of_states_that_are_drawn_exactly():
    """All states, each as often as the flattened law says, give log Z without any error."""
    states = all_states(6)
    u = energies(STRONG_PATH, states)
    weights = -np.log(2.0) * np.arange(4)[::-1]
    where = np.searchsorted(LEVELS, u)
    base = np.exp(states @ STRONG_PATH.models[0].visible_bias)
    often = np.rint(2e4 * base * np.exp(weights[where])).astype(int)
    rows = np.repeat(u, often)
    rows = np.resize(rows, (rows.size // 2, 2))
    found = code._estimate(STRONG_PATH, rows, LEVELS, weights, None)
    assert found.log_z == pytest.approx(float(log_sum(rbm_table(STRONG))), abs=1e-3)
    share = [log_sum(np.log(base[where == k])) for k in range(4)]
    np.testing.assert_allclose(found.trace["log_share"], share - log_sum(np.log(base)), atol=1e-3)


def test_nested_levels_have_the_shares_they_say():
    states = all_states(6)
    u = energies(STRONG_PATH, states)
    base = states @ STRONG_PATH.models[0].visible_bias
    off = []
    for seed in range(20):
        levels, log_weights, _ = code.nested_levels(STRONG_PATH, np.random.default_rng(seed))
        assert (np.diff(levels) > 0).all()
        where = np.searchsorted(levels, u)
        truth = [log_sum(base[where == k]) - log_sum(base) for k in range(log_weights.size)]
        off.append((-log_weights - truth)[:3])
    off = np.array(off)
    assert (np.abs(off.mean(axis=0)) < 5 * off.std(axis=0) / np.sqrt(20) + 0.02).all()


def test_error_bar_is_the_spread_of_runs():
    truth = float(log_sum(rbm_table(STRONG)))
    found = [code.multicanonical(STRONG_PATH, 20, 100, seed) for seed in range(40)]
    plain = [np.std(run.log_weights, ddof=1) / np.sqrt(20) for run in found]
    z = np.array([run.log_z - truth for run in found]) / plain
    # t with 19 degrees of freedom: mean square 19 / 17, its own error about 0.27
    assert 0.45 < (z**2).mean() < 2


@pytest.mark.statistical
def test_it_crosses_where_annealing_does_not():
    rbm, log_z = first_order_rbm(80, 20)
    path = rl.GeometricPath(rbm, base=np.zeros(80))
    annealed = rl.ais(path, rl.schedules.linear(2000), 200, 0)
    assert annealed.converged
    assert annealed.log_z < log_z - 50 * annealed.std_error
    found = code.multicanonical(path, 100, 600, 0)
    assert found.details["round_trips"] > 1
    assert abs(found.log_z - log_z) < 4 * found.std_error
    assert found.std_error < 0.3


def test_a_round_trip_is_two_passages():
    levels = np.array([0, 3, 9, 8, 4, 0, 9, 1, 5, 1, 7, 9])
    assert code.trips_of(levels[:-1], 1, 8) == 2  # up, down, up, down
    assert code.trips_of(levels, 1, 8) == 2.5


def test_a_round_trip_leads_to_where_the_target_has_its_weight():
    """Eleven times between the two lowest levels, which hold the base, and once to the top."""
    energy = np.array([[0, 1] * 10 + [3] + [0, 1], [1, 0] * 10 + [3] + [0, 1]]).T * 20.0
    levels = np.array([10.0, 30.0, 50.0])
    found = code._estimate(STRONG_PATH, energy, levels, np.zeros(4), None)
    assert found.details["round_trips"] == 1


def test_too_short_a_run_is_flagged():
    rbm, _ = first_order_rbm(60, 15)
    with pytest.warns(rl.ConvergenceWarning, match="multicanonical: .*round trips of a chain"):
        found = code.multicanonical(rl.GeometricPath(rbm, np.zeros(60)), 6, 8, 0)
    assert not found.converged
