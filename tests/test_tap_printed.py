"""The report's equations for TAP, iterated as they are printed."""

import itertools

import numpy as np
import pytest

import rbmlib as rl
from rbmbook.experiments import estimate
from rbmbook.experiments.wang import BEGINS, ENDS, cycle_length, iterate, iterates


def begin(rbm, seed: int = 0):
    return BEGINS["uniform"](rbm, np.random.default_rng(seed))


@pytest.fixture
def weak():
    return rl.testsystems.random_rbm(n_visible=20, n_hidden=10, coupling=1.5, rng=0)


@pytest.fixture
def strong():
    return rl.BernoulliRBM(np.full((3, 1), 8.0), np.full(3, -4.0), np.array([-11.0]))


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("update", ["alternating", "synchronous"])
def test_where_it_converges_it_ends_at_the_fixed_point_of_the_library(weak, order, update):
    found = iterate(iterates(weak, order, begin(weak), update), 500, 1e-10)
    assert found["cycle"] == 1
    assert ENDS[found["ended"]] != "0 log 0"
    expected = rl.tap(weak, order, n_starts=4, compare=False).log_z
    assert found["last"] == pytest.approx(expected, abs=1e-8)
    assert found["final"] == pytest.approx(expected, abs=1e-8)


def test_a_strongly_coupled_unit_runs_in_a_cycle_of_two(strong):
    # all visible units on and the hidden one off: with both updated at once they change places
    apart = np.array([0.01]), np.full(3, 0.99)
    values = [z for z, _ in itertools.islice(iterates(strong, 1, apart, "synchronous"), 400)]
    found = iterate(_pairs(values), 400, 1e-3)
    assert ENDS[found["ended"]] in ("all updates were done", "the change repeats")
    assert found["cycle"] == 2
    assert found["cycle_high"] - found["cycle_low"] > 0.1
    assert {round(z, 6) for z in values[-20:]} == {
        round(found["cycle_low"], 6), round(found["cycle_high"], 6)
    }  # fmt: skip
    for n in (399, 400):  # which of the two is known without going on
        assert iterate(_pairs(values), n, 1e-3)["final"] == pytest.approx(values[n - 1])
    fixed = rl.tap(strong, 1, n_starts=8, compare=False).trace["log_z"]
    assert np.abs(fixed - found["cycle_high"]).min() > 1e-3
    alternating = iterate(iterates(strong, 1, apart), 400, 1e-3)
    assert alternating["cycle"] == 1
    assert np.abs(fixed - alternating["final"]).min() < 1e-8


def _pairs(values):
    return [(z, False) for z in values]


def test_the_three_ways_in_which_a_call_ends():
    settles = [5.0, 4.0, 3.5, 3.49995, 3.49995]
    found = iterate(_pairs(settles), 5, 1e-3)
    assert (found["last"], found["n_done"], ENDS[found["ended"]]) == (3.49995, 4, "tolerance")
    repeats = [5.0, 4.0, 3.5, 4.0, 3.5]
    found = iterate(_pairs(repeats), 5, 1e-3)
    assert (found["last"], found["n_done"], ENDS[found["ended"]]) == (4.0, 4, "the change repeats")
    saturates = [(5.0, False), (4.0, False), (3.5, True), (3.2, True)]
    found = iterate(saturates, 4, 1e-3)
    assert (found["last"], found["n_done"], ENDS[found["ended"]]) == (4.0, 2, "0 log 0")
    found = iterate(_pairs([5.0, 4.0, 3.5]), 3, 1e-3)
    assert (found["last"], ENDS[found["ended"]]) == (3.5, "all updates were done")


@pytest.mark.parametrize("length", [1, 2, 5])
def test_the_length_of_a_cycle(length):
    ring = np.arange(length) * 0.1
    assert cycle_length(np.concatenate([[9.0, 7.0], np.tile(ring, 9)])) == length
    assert cycle_length(np.linspace(0, 1, 27)) == 0


def test_a_task_is_a_function_of_its_seed():
    task = {"model": "pcd_10", "estimator": "tap as printed", "order": 3, "n_updates": 30}
    first, again, other = (estimate(**task, seed=seed) for seed in (1, 1, 2))
    for row in (first, again, other):
        row.pop("seconds")
    assert first == again
    assert first["log_z"] != other["log_z"] or first["n_done"] != other["n_done"]
    assert {"cycle", "cycle_low", "cycle_high", "n_done", "ended", "final"} <= set(first)


@pytest.mark.parametrize(
    "wrong", [{"order": 4}, {"update": "random"}, {"begin": "middle"}, {"tolerance": -1.0}]
)
def test_wrong_settings_are_refused(wrong):
    task = {"model": "pcd_10", "estimator": "tap as printed", "order": 2, "seed": 0} | wrong
    with pytest.raises(ValueError, match=next(iter(wrong))):
        estimate(**task)
