"""The first iterations of RTS: short rounds from equal Z^, with and without their first sweeps."""

from itertools import islice

import numpy as np
import pytest
from scipy.special import logsumexp

import rbmlib as rl
from rbmlib.estimators.rts import Round, rounds, rts, updated

RBM = rl.testsystems.random_rbm(12, 6, coupling=4.0, rng=0)
PATH = rl.GeometricPath(RBM, base=np.zeros(12))
BETAS = rl.schedules.linear(9)
EXACT = rl.exact(RBM).log_z
pytestmark = pytest.mark.filterwarnings("ignore::rbmlib.ConvergenceWarning")
OPTIONS = {"prior": np.full(10, 0.1), "conditional": "joint", "n_threads": 1}


def by_hand(n_rounds, burn_in, n_sweeps=50, seed=5):
    """Ĉ and Z^ of each round by calls of `rl.simulated_tempering` alone."""
    rng, log_z, state = np.random.default_rng(seed), (1 - BETAS) * PATH.log_z_base, "base"
    found = []
    for _ in range(n_rounds):
        if burn_in:
            state = rl.simulated_tempering(PATH, BETAS, log_z, 20, burn_in, rng, start=state)
        part = rl.simulated_tempering(
            PATH, BETAS, log_z, 20, n_sweeps - burn_in, rng, start=state, n_blocks=1
        )
        c = part.occupation()[0].mean(axis=0)
        log_z, state = updated(part.log_z_path, part.prior, c), part.states
        found.append((c, log_z))
    return found


@pytest.mark.parametrize("burn_in", [0, 7])
def test_rounds_are_those_of_simulated_tempering(burn_in):
    """And with 0, bit for bit, what `rts` did before it could leave sweeps out."""
    found = list(islice(rounds(PATH, BETAS, 20, np.random.default_rng(5), OPTIONS,
                               burn_in=burn_in), 3))  # fmt: skip
    for one, (c, log_z) in zip(found, by_hand(3, burn_in), strict=True):
        np.testing.assert_array_equal(one.occupation, c)
        np.testing.assert_array_equal(one.log_z_path, log_z)
    assert found[0].before[0] == pytest.approx(PATH.log_z_base)


def test_rts_without_burn_in_has_the_bits_it_had():
    plain, zero = (rts(PATH, BETAS, 20, 100, 3, start="paper", **more).log_weights
                   for more in ({}, {"round_burn_in": 0}))  # fmt: skip
    np.testing.assert_array_equal(plain, zero)
    assert (plain != rts(PATH, BETAS, 20, 100, 3, start="paper", round_burn_in=5).log_weights).any()


def test_the_start_of_rts_is_these_rounds():
    run = rts(PATH, BETAS, 20, 100, 5, start="paper", round_burn_in=7)
    first = by_hand(1, 7)[0][0]
    assert run.settings["round_burn_in"] == 7
    np.testing.assert_array_equal(run.settings["initial"][0][1], first)


def test_sweeps_left_out_bring_far_guesses_nearer():
    """In the first round fresh betas at the bottom keep c_0 near 1 / N, and the rise near log N."""
    rate = rl.base_rate(rl.datasets.load_mnist().train)
    path = rl.GeometricPath(rl.load_rbm("pcd_10"), base=rate)
    options = OPTIONS | {"prior": np.full(100, 0.01)}
    betas, n_chains = rl.schedules.linear(99), 50
    off = {}
    for burn_in in (0, 10):
        every = rounds(path, betas, n_chains, np.random.default_rng(1), options, burn_in=burn_in)
        log_z = [one.log_z_path[-1] for one in islice(every, 5)]
        off[burn_in] = 193.010618 - np.array([0.0, *log_z])
    rise = {burn_in: errors[0] - errors[1] for burn_in, errors in off.items()}
    assert rise[0] < np.log(50 * n_chains) + 3
    assert rise[10] > 3 * rise[0]
    assert abs(off[10][-1]) < off[0][-1] / 2


def test_distance_is_that_of_the_stopping_rule():
    one = Round(np.zeros(4), np.array([0.2, 0.3, 0.25, 0.25]), np.full(4, 0.25), None, None)
    assert one.distance == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"start": "paper", "round_burn_in": 50}, "round_burn_in is 50: expected fewer than"),
        ({"start": "paper", "round_burn_in": -1}, "round_burn_in is -1"),
        ({"start": "paper", "round_burn_in": 2.5}, "round_burn_in is 2.5"),
        ({"round_burn_in": 5}, "round_burn_in is 5, but a pilot has no rounds"),
    ],
)
def test_wrong_burn_ins_are_refused(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        rts(PATH, BETAS, 20, 100, 3, **options)


def test_slopes_at_many_betas_are_those_at_each():
    state = PATH.sample_base(7, np.random.default_rng(0))
    each = np.stack([PATH.log_density_slope(state, b) for b in BETAS], axis=1)
    np.testing.assert_array_equal(PATH.log_density_slope(state, BETAS), each)


def test_base_states_stay_at_the_bottom_only_if_beta_is_drawn_given_the_hidden_units():
    """With equal Z^: hidden units drawn at beta = 0 hold q(0 | v, h) up, q(0 | v) is tiny."""
    rate = rl.base_rate(rl.datasets.load_mnist().train)
    path = rl.GeometricPath(rl.load_rbm("pcd_10"), base=rate)
    betas, rng = rl.schedules.linear(99), np.random.default_rng(0)
    state, delta = path.joint_transition(path.sample_base(100, rng), 0.0, rng)
    equal = (1 - betas) * path.log_z_base
    at_bottom = [
        np.exp(logits[:, 0] - logsumexp(logits, axis=1))
        for logits in (delta[:, None] * betas - equal, path.log_density(state, betas) - equal)
    ]
    assert np.median(at_bottom[0]) > 0.1
    assert at_bottom[1].max() < 1e-4
