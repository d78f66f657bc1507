"""Rounds of RTS from equal guesses, by hand values and by the update of the library."""

import numpy as np
import pandas as pd
import pytest
from helpers_tempering import BETAS, PATH

import rbmlib as rl
from rbmbook import rts_rounds as rounds_of
from rbmlib.estimators.rts import EMPTY, updated


def test_equal_guesses_know_the_base_only():
    np.testing.assert_allclose(rounds_of.equal_guesses(PATH, BETAS), (1 - BETAS) * PATH.log_z_base)
    as_it_is = rounds_of.equal_guesses(PATH, BETAS, normalised=False)
    assert as_it_is.tolist() == [PATH.log_z_base] * BETAS.size


@pytest.mark.parametrize("column", ["mixed", "visited"])
def test_a_round_is_fifty_sweeps_and_an_update(column):
    guesses = rounds_of.equal_guesses(PATH, BETAS)
    (one,) = rounds_of.rounds(PATH, BETAS, 20, 3, 1, column=column)
    sample = rl.simulated_tempering(PATH, BETAS, guesses, 20, 50, np.random.default_rng(3),
                                    n_blocks=1, record_every=50)  # fmt: skip
    c = getattr(sample, column)[0, :, 0].sum(axis=0)
    assert one.empty == np.mean(c == 0)
    c = c + (EMPTY if column == "visited" else 0)
    after = updated(guesses, sample.prior, c / c.sum())
    np.testing.assert_allclose(one.shares, c / c.sum())
    np.testing.assert_allclose(one.guesses, after)
    assert one.log_z == pytest.approx(after[-1] - after[0] + PATH.log_z_base)


def test_the_next_round_begins_with_the_guesses_of_the_last():
    first, second = rounds_of.rounds(PATH, BETAS, 20, 3, 2)
    np.testing.assert_array_equal(second.sample.log_z_path, first.guesses)
    alone, *_ = rounds_of.rounds(PATH, BETAS, 20, 3, 2, go_on="from the base")
    np.testing.assert_array_equal(alone.guesses, first.guesses)


def test_sweeps_that_are_left_out_are_not_in_the_shares():
    (used,) = rounds_of.rounds(PATH, BETAS, 20, 3, 1)
    (later,) = rounds_of.rounds(PATH, BETAS, 20, 3, 1, left_out=10)
    assert (used.sample.n_sweeps, later.sample.n_sweeps) == (50, 40)
    assert not np.allclose(used.shares, later.shares)


def test_rts_goes_on_from_the_first_round_that_is_close():
    """From its states with fresh betas, with all of its own sweeps used."""
    run, made = rounds_of.rts_from_rounds(PATH, BETAS, 60, 200, 3)
    far = [rounds_of.distance(one.shares) for one in made]
    assert far[-1] < 0.1 <= min(far[:-1])
    assert len(far) < 10
    source = np.random.default_rng(3)
    rounds_of.rounds(PATH, BETAS, 60, source, len(made))
    start = {"start": made[-1].sample.states, "n_blocks": 20, "record_every": 200}
    sample = rl.simulated_tempering(PATH, BETAS, made[-1].guesses, 60, 200, source, **start)
    assert run.log_z == rl.rts_of_sample(sample).log_z
    assert run.settings["start"] == "paper"


def test_sweeps_left_out_bring_far_guesses_nearer():
    """In the first round fresh betas at the bottom keep c_0 near 1 / N, and the rise near log N."""
    rate = rl.base_rate(rl.datasets.load_mnist().train)
    path = rl.GeometricPath(rl.load_rbm("pcd_10"), base=rate)
    betas, n_chains = rl.schedules.linear(99), 50
    off = {}
    for left_out in (0, 10):
        made = rounds_of.rounds(path, betas, n_chains, 1, 5, left_out=left_out)
        off[left_out] = 193.010618 - np.array([0.0, *(one.log_z for one in made)])
    rise = {left_out: errors[0] - errors[1] for left_out, errors in off.items()}
    assert rise[0] < np.log(50 * n_chains) + 3
    assert rise[10] > 3 * rise[0]
    assert abs(off[10][-1]) < off[0][-1] / 2


def test_a_run_that_ends_above_the_limit_never_stays_below():
    looks = np.array([50, 100, 150])
    assert rounds_of.stays_below(np.array([[0.1, 0.1, 2.0]]), looks) is None
    assert rounds_of.stays_below(np.array([[0.1, 0.2, 0.3]]), looks) == 50
    # the median of three runs counts, and what a run has not seen does not
    three = np.array([[5.0, 0.1, np.nan], [5.0, 9.0, np.nan], [0.1, -0.2, np.nan]])
    assert rounds_of.stays_below(three, looks) == 100
    assert rounds_of.stays_below(np.full((2, 3), np.nan), looks) is None


@pytest.fixture
def stored(monkeypatch):
    reference = type("Reference", (), {"log_z": 100.0})
    monkeypatch.setattr(rounds_of, "load_reference", lambda: dict.fromkeys("ab", reference))
    return pd.DataFrame({
        "model": ["a", "a", "b"], "n_chains": 100, "round_sweeps": 50,
        "round_burn_in": [0, 0, 10], "log_z_50": [90.0, 80.0, 100.0],
        "log_z_100": [100.5, 99.0, 100.0], "close_after": [50.0, np.nan, np.nan],
    })  # fmt: skip


def test_stored_rounds_are_read_by_their_settings(stored):
    assert rounds_of.looks_of(stored).tolist() == [50, 100]
    off = rounds_of.on_the_way("a", stored, round_burn_in=0)
    assert off.tolist() == [[-10.0, 0.5], [-20.0, -1.0]]
    assert rounds_of.on_the_way("a", stored, round_burn_in=10).shape == (0, 2)


def test_rows_say_when_runs_were_near_and_which_were_not_run(stored):
    near = rounds_of.by_way(stored, rounds_of.sweeps_needed, ("a", "b"))
    assert near.to_dict("records") == [
        {"sweeps a round": 50, "chains": 100, "left out": 0, "a": "100; 100", "b": "not run"},
        {"sweeps a round": 50, "chains": 100, "left out": 10, "a": "not run", "b": "50; 50"},
    ]
    assert rounds_of.came_close("a", stored[:2]) == "1 of 2, 50"
    assert rounds_of.came_close("b", stored[2:]) == "0 of 1"
