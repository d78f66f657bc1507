"""BAR between neighbouring betas: against Bennett's equation, exact values, and its own error."""

from itertools import pairwise

import numpy as np
import pytest
from helpers_models import SMALL, SMALL_LOG_Z, quiet

import rbmlib as rl
from rbmbook.rivals import bar_of_sample
from rbmlib.estimators.bar import bennett
from rbmlib.estimators.mbar import Problem

PATH = rl.GeometricPath(SMALL)
BETAS = rl.schedules.linear(5)


@pytest.fixture(scope="module")
def ladders():
    """2,000 short ladders, from one run: as many small independent estimates as one likes."""
    return rl.parallel_tempering(PATH, BETAS, 2000, 120, rng=5)


def test_is_mbar_of_each_pair_of_neighbours(ladders):
    """With two betas MBAR is BAR: another equation, another solver, the same influences."""
    delta, at = ladders.delta[20:].ravel(), ladders.temperature[20:].ravel().astype(int)
    wanted, influences = 0.0, np.zeros(delta.size)
    for k in range(5):
        pair = (at == k) | (at == k + 1)
        counts = np.bincount(at[pair] - k).astype(float)
        problem = Problem(delta[pair], counts, BETAS[k : k + 2])
        wanted += problem.log_z()[1]
        influences[pair] += problem.influences(at[pair] - k)
    found = bar_of_sample(ladders, skip=20)
    assert found.log_z - PATH.log_z_base == pytest.approx(wanted, abs=1e-8)
    of_ladders = influences.reshape(-1, 2000, 6).sum(axis=(0, 2))
    np.testing.assert_allclose(found.log_weights - found.log_z, 2000 * of_ladders, atol=1e-6)
    assert abs(found.log_z - SMALL_LOG_Z) < 4 * found.std_error
    variance = np.var(found.log_weights, ddof=1) / 2000
    inefficiency = variance / (influences.var() * influences.size)
    assert found.details["inefficiency"] == pytest.approx(inefficiency, rel=1e-4)


def test_few_states_between_neighbours_are_flagged():
    sample = rl.parallel_tempering(PATH, BETAS, 2, 3, rng=1)
    works = [sample.delta[sample.temperature == k] / 5 for k in range(6)]
    overlap = min(4 * bennett(low, high).slope for low, high in pairwise(works))
    found = quiet(bar_of_sample, sample)
    (states,) = [check for check in found.checks if "neighbours overlap" in check.name]
    assert not states.passed
    assert (states.value, states.limit) == pytest.approx((overlap, 10))


@pytest.mark.parametrize("estimator", [bar_of_sample, rl.mbar_of_sample])
def test_error_bar_is_the_spread_of_repeats(ladders, estimator):
    """Groups of 20 ladders: the root mean square of error over standard error is near 1."""
    groups = [ladders.of_chains(slice(i, i + 20)) for i in range(0, 2000, 20)]
    found = [quiet(estimator, group, skip=20) for group in groups]
    error = [np.std(e.log_weights, ddof=1) / np.sqrt(20) for e in found]
    z = np.array([(e.log_z - SMALL_LOG_Z) / s for e, s in zip(found, error, strict=True)])
    # t with 19 degrees of freedom: mean square 19/17, its own error over 100 repeats about 0.2
    assert 0.6 < (z**2).mean() < 1.9


def test_a_beta_without_states_is_left_out_and_an_end_is_not():
    sample = rl.parallel_tempering(PATH, BETAS, 50, 300, rng=1)
    gap = sample.temperature == 2
    sample.temperature[gap], sample.delta[gap] = 1, sample.delta[sample.temperature == 1].mean()
    inner = bar_of_sample(sample).log_z_path
    assert inner[2] == pytest.approx((inner[1] + inner[3]) / 2)
    for end, other in ((5, 4), (0, 1)):
        sample = rl.parallel_tempering(PATH, BETAS, 4, 50, rng=1)
        sample.temperature[sample.temperature == end] = other
        with pytest.raises(ValueError, match="no state at beta = 0, or none at 1"):
            bar_of_sample(sample)


def test_an_annealed_start_may_be_short():
    options = {"rng": 1, "start": "annealed"}
    short, long = (
        rl.parallel_tempering(PATH, BETAS, 2, 10, anneal_sweeps=n, **options) for n in (1, None)
    )
    assert short.n_sweeps == long.n_sweeps
    with pytest.raises(ValueError, match="anneal_sweeps is 0"):
        rl.parallel_tempering(PATH, BETAS, 2, 10, anneal_sweeps=0, **options)
