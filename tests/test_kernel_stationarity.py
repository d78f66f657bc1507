"""Compiled cores: sweeps leave p_beta invariant, and draw with its conditionals."""

import numpy as np
import pytest
from helpers_kernels import f32, wide_family
from helpers_stats import (
    all_states,
    assert_no_rejection,
    chi_square_p,
    log_sum,
    probabilities,
    rbm_table,
    state_index,
    total_variation,
    total_variation_floor,
)
from scipy.special import expit

from rbmlib import BernoulliRBM, GeometricPath
from rbmlib.numerics import ChainStream
from rbmlib.sampling import sweep
from rbmlib.sampling.compiled import compiled


@pytest.mark.always
@pytest.mark.statistical
@pytest.mark.parametrize("route", ["narrow", "wide"])
def test_fused_sweep_leaves_p_beta_invariant(route):
    """Draw exactly from an enumerated RBM, apply 1, 4 and 16 sweeps: still exact draws."""
    rng = np.random.default_rng(0)
    rbm = BernoulliRBM(rng.normal(size=(6, 4)), rng.normal(size=6), rng.normal(size=4))
    path = GeometricPath(rbm, base=BernoulliRBM(np.zeros((6, 4)), [0.5] * 6, [-1, 0, 1, 2]))
    if route == "wide":
        loops = compiled(path)
        loops.family = wide_family(loops.line)
    n = 100_000
    stream = ChainStream(1, n)
    p_values = []
    for beta in (0.4, 1.0):
        p = probabilities(log_sum(rbm_table(path.at(beta)), axis=1))
        state = all_states(6)[rng.choice(64, size=n, p=p)].astype(f32)
        for sweeps in (1, 3, 12):  # 1, 4 and 16 in all
            state = sweep(path, state, beta, sweeps, stream)
            index = state_index(state)
            assert total_variation(index, p) < 4 * total_variation_floor(p, n), (beta, sweeps)
            p_values.append(chi_square_p(index, p))
    assert_no_rejection(p_values, "chi-square of states after sweeps")


@pytest.mark.statistical
def test_fused_sweep_draws_with_the_conditionals():
    """One sweep from one state, against enumeration: invariance alone allows standing still."""
    rng = np.random.default_rng(0)
    rbm = BernoulliRBM(rng.normal(size=(6, 4)), rng.normal(size=6), rng.normal(size=4))
    path, n, start = GeometricPath(rbm, base=np.zeros(6)), 100_000, 37
    for beta in (0.4, 1.0):
        joint = np.exp(rbm_table(path.at(beta)))
        wanted = (joint[start] / joint[start].sum()) @ (joint / joint.sum(axis=0)).T
        state = np.repeat(all_states(6)[[start]], n, axis=0).astype(f32)
        moved = sweep(path, state, beta, 1, ChainStream(3, n))
        assert chi_square_p(state_index(moved), wanted) > 1e-4


def test_rare_bits_are_drawn_at_their_rate():
    """At fields of -12 and 12 a bit is rare: 6e-6, which coarse uniforms would round away."""
    n_chains, n_units, field = 20_000, 200, 12.0
    rbm = BernoulliRBM(np.zeros((n_units, 1)), np.repeat([-field, field], 100), [0.0])
    path = GeometricPath(rbm, base=np.zeros(n_units))
    start = np.zeros((n_chains, n_units), f32)
    moved = sweep(path, start, 1.0, 1, ChainStream(6, n_chains))
    counts = np.array([moved[:, :100].sum(), (1 - moved[:, 100:]).sum()])
    mean = 100 * n_chains * expit(-field)
    assert mean > 10
    assert np.abs(counts - mean).max() < 4 * np.sqrt(mean)
