"""Paths: `at(beta)` is the definition; everything else is checked by asking it, term by term."""

import warnings

import numpy as np
import pytest
from helpers_models import independent_rbm
from helpers_stats import (
    all_states,
    chi_square_p,
    geometric_tables,
    joint_table,
    rbm_table,
    state_index,
)

import rbmlib as rl
from rbmlib import BernoulliRBM, GeometricPath
from rbmlib.sampling.temper import drawn

RNG = np.random.default_rng(5)
W, B, A = RNG.normal(size=(5, 3)), RNG.normal(size=5), RNG.normal(size=3)
TARGET = BernoulliRBM(W, B, A, log_scale=-1.75)
BASE_BITS = np.array([0.3, -0.8, 0.0, 1.1, -2.0])
BASE_HIDDEN = np.array([0.7, -0.4, 1.3])
BASE_RBM = BernoulliRBM(np.zeros((5, 3)), BASE_BITS, BASE_HIDDEN)
BETAS = [0.0, 0.1, 0.5, 0.93, 1.0]
STATES = all_states(5).astype(np.float32)


def make_path(kind: str) -> GeometricPath:
    bases = {"bias": BASE_BITS, "rbm": BASE_RBM, "mean_field": "mean_field", "uniform": None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return GeometricPath(TARGET, base=bases[kind])


@pytest.fixture(params=["bias", "rbm", "mean_field", "uniform"])
def path(request) -> GeometricPath:
    return make_path(request.param)


def base_and_target(path):
    """Joint log-densities of the two ends, from parameters the test knows."""
    base = joint_table(np.zeros((5, 3)), path.models[0].visible_bias, path.models[0].hidden_bias)
    return base, joint_table(W, B, A) - 1.75


def test_ends_and_middle_are_the_geometric_path(path):
    """log p*_beta(v, h) is linear in beta between the ends, for every pair of states."""
    base, target = base_and_target(path)
    for beta in BETAS:
        model = path.at(beta)
        np.testing.assert_allclose(
            rbm_table(model), geometric_tables(base, target, beta), atol=1e-12
        )
    assert not path.at(0.0).weights.any()


@pytest.mark.statistical
def test_generic_transition_moves_with_the_conditionals():
    """One step from one state: p(v') = sum_h p(h | v) p(v' | h), by enumeration.

    Invariance alone would hold for a step that does nothing.
    """
    path, n, beta, start = make_path("rbm"), 60_000, 0.7, 19
    joint = np.exp(rbm_table(path.at(beta)))
    wanted = (joint[start] / joint[start].sum()) @ (joint / joint.sum(axis=0)).T
    state = np.repeat(all_states(5)[[start]], n, axis=0)
    moved = path.transition(state, beta, np.random.default_rng(3))
    assert chi_square_p(state_index(moved), wanted) > 1e-4


# bases ------------------------------------------------------------------------------------


def test_base_rate_of_bits_and_of_pixels():
    rng = np.random.default_rng(0)
    pixels = rng.random((50, 4)) * [1.0, 0.5, 0.1, 0.0]
    for data in (pixels, pixels > 0.3, (pixels > 0.3).astype(np.uint8)):
        rate = np.mean(np.asarray(data, float), axis=0)
        probability = 1 / (1 + np.exp(-rl.base_rate(data)))
        np.testing.assert_allclose(probability, (rate + 0.05) / 1.1, rtol=1e-12)
        wide = 1 / (1 + np.exp(-rl.base_rate(data, smoothing=1.0)))
        np.testing.assert_allclose(wide, (rate + 1) / 3, rtol=1e-12)


def test_base_rate_does_not_overflow_bytes():
    """The mean of 1,000 bytes of 1 is 1, not a sum modulo 256."""
    data = np.ones((1000, 1), np.uint8)
    assert 1 / (1 + np.exp(-rl.base_rate(data)[0])) == pytest.approx(1.05 / 1.1)


def test_mean_field_of_an_independent_model_is_its_own_rate():
    rbm, _ = independent_rbm(BASE_BITS, np.zeros(2))
    rate = 1 / (1 + np.exp(-BASE_BITS))
    probability = 1 / (1 + np.exp(-rl.mean_field_bias(rbm)))
    np.testing.assert_allclose(probability, (rate + 0.05) / 1.1, rtol=1e-7)  # single precision


def test_mean_field_covers_both_modes():
    """Two equal modes, all units on or all off: a base that sits in one would miss the other."""
    w = np.full((12, 4), 2.0)
    rbm = BernoulliRBM(w, np.full(12, -4.0), np.full(4, -12.0))
    first, again = rl.mean_field_bias(rbm), rl.mean_field_bias(rbm)
    np.testing.assert_array_equal(first, again)
    rate = 1 / (1 + np.exp(-first))
    assert ((rate > 0.2) & (rate < 0.8)).all()


def test_uniform_base_warns_and_the_others_do_not():
    with pytest.warns(UserWarning, match="uniform base") as caught:
        path = GeometricPath(TARGET, base=None)
    assert caught[0].filename == __file__, "the warning should point at the caller"
    assert path.base_name == "uniform"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for base in (BASE_BITS, BASE_RBM, "mean_field"):
            GeometricPath(TARGET, base=base)


def test_base_with_weights_is_refused():
    with pytest.raises(ValueError, match="base has weights"):
        GeometricPath(TARGET, base=TARGET)
    with pytest.raises(ValueError, match="base is"):
        GeometricPath(TARGET, base=BernoulliRBM(np.zeros((5, 2)), BASE_BITS, np.zeros(2)))


def test_a_uniform_beyond_the_sum_of_shares_draws_the_last_beta():
    """The shares may add up to less than the uniform, for rounding."""
    shares = np.full((2, 7), 1 / 7)
    assert drawn(shares, np.array([[1 + 1e-12], [0.0]])).tolist() == [6, 0]
    assert drawn(np.full((2, 4), 0.25), np.array([[1.5], [0.6]])).tolist() == [3, 2]
