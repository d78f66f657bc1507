"""Whatever comes: a result, or an error of rbmlib's own."""

import warnings

import numpy as np
from helpers_refusals import PATH, RBM, assert_own
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

import rbmlib as rl
from rbmlib import BernoulliRBM

FLOATS = st.floats(-5, 5) | st.sampled_from([np.nan, np.inf, -np.inf])
SHAPES = array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
ARRAYS = arrays(float, SHAPES, elements=FLOATS)


def result_or_own_error(call):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", rl.ConvergenceWarning)
        try:
            return call()
        except (ValueError, TypeError) as caught:
            error = caught
    assert_own(error)
    return None


@settings(max_examples=60, deadline=None, derandomize=True)
@given(ARRAYS, ARRAYS, ARRAYS)
def test_any_arrays_make_a_model_or_an_error(weights, visible_bias, hidden_bias):
    rbm = result_or_own_error(lambda: BernoulliRBM(weights, visible_bias, hidden_bias))
    if rbm is not None:
        assert rbm.weights.shape == (visible_bias.size, hidden_bias.size)
        assert np.isfinite(rl.exact(rbm).log_z)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(arrays(float, st.integers(0, 6), elements=st.sampled_from([0, 0.2, 0.5, 0.8, 1, np.nan])))
def test_any_betas_make_a_run_or_an_error(betas):
    rises = betas.size >= 2 and betas[0] == 0 and betas[-1] == 1 and np.all(np.diff(betas) > 0)
    run = result_or_own_error(lambda: rl.ais(PATH, betas, n_chains=3, rng=0))
    assert (run is not None) == rises


@settings(max_examples=60, deadline=None, derandomize=True)
@given(arrays(float, SHAPES, elements=st.sampled_from([0.0, 1.0, 0.0, 1.0, 0.5, -1.0, np.nan])))
def test_any_states_have_a_density_or_an_error(states):
    binary = np.isin(states, [0, 1]).all()
    fits = states.shape[-1:] == (4,) and states.ndim in (1, 2)
    density = result_or_own_error(lambda: RBM.log_density(states))
    assert (density is not None) == (binary and fits)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.one_of(
        st.integers(-3, 3), st.floats(), st.text(max_size=3), st.none(), st.booleans(),
        st.lists(st.integers(), max_size=2), st.complex_numbers(),
    )
)  # fmt: skip
def test_any_count_makes_a_schedule_or_an_error(value):
    plain = isinstance(value, (int, float)) and not isinstance(value, bool)
    if plain and value > 1e6:
        return  # right, but large
    betas = result_or_own_error(lambda: rl.schedules.linear(value))
    assert (betas is not None) == (plain and value >= 1 and value == int(value))
