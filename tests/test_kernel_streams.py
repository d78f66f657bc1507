"""Compiled cores: random numbers, one stream a chain."""

import numpy as np
import pytest
from helpers_kernels import uniforms
from helpers_stats import assert_no_rejection, two_sided
from scipy import stats

from rbmlib.numerics import ChainStream


@pytest.mark.statistical
def test_uniforms_are_uniform():
    """Mean, variance, and equal counts in 256 cells by their high and by their low bits."""
    p_values = []
    for seed in (0, 1, 2**63 + 5):
        u = uniforms(seed, draw=3).ravel()
        assert u.min() > 0
        assert u.max() < 1
        p_values.append(two_sided((u.mean() - 0.5) * np.sqrt(12 * u.size)))
        # Var[(u - 1/2)**2] = 1/180
        p_values.append(two_sided((np.mean((u - 0.5) ** 2) - 1 / 12) * np.sqrt(180 * u.size)))
        for cells in (u * 256, (u * 2**31) % 256):
            p_values.append(stats.chisquare(np.bincount(cells.astype(int), minlength=256)).pvalue)
    assert_no_rejection(p_values, "uniforms")


@pytest.mark.statistical
def test_uniforms_do_not_depend_on_each_other():
    """Neighbouring chains, units, draws and seeds; the sum of n products has variance n / 144."""
    p_values = []
    for seed, draw in [(0, 0), (7, 10_000), (2**40, 1)]:
        centred = uniforms(seed, draw) - 0.5
        pairs = {
            "chains": (centred[1:], centred[:-1]),
            "distant chains": (centred[512:], centred[:-512]),
            "units": (centred[:, 1:], centred[:, :-1]),
            "distant units": (centred[:, 512:], centred[:, :-512]),
            "chain and unit": (centred[1:, 1:], centred[:-1, :-1]),
            "draws": (uniforms(seed, draw + 1) - 0.5, centred),
            "two draws": (uniforms(seed, draw + 2) - 0.5, centred),
            "seeds": (uniforms(seed + 1, draw) - 0.5, centred),
            "squares": (6**0.5 * (centred[1:] ** 2 - 1 / 12), 60**0.5 * centred[:-1]),
        }
        for one, two in pairs.values():
            spread = one.std() * two.std() * np.sqrt(one.size)
            p_values.append(two_sided((one * two).sum() / spread))
    assert_no_rejection(p_values, "correlations of uniforms")


def test_column_and_row_means_have_binomial_spread():
    """A stream that repeated itself over chains, or over units, would spread far more."""
    centred = uniforms(11, draw=0) - 0.5
    for axis in (0, 1):
        z = centred.sum(axis=axis) / np.sqrt(centred.shape[axis] / 12)
        assert stats.kstest(z, "norm").pvalue > 1e-4


def test_stream_of_a_chain_depends_on_its_number_only():
    whole = uniforms(5, draw=2, shape=(20, 30))
    np.testing.assert_array_equal(uniforms(5, draw=2, shape=(8, 30), first_chain=7), whole[7:15])
    np.testing.assert_array_equal(uniforms(5, draw=2, shape=(20, 9)), whole[:, :9])
    stream = ChainStream(3, 20)
    first, second = stream.random((20, 30)), stream.random((20, 30))
    assert stream.draw == 2
    np.testing.assert_array_equal(first, uniforms(stream.seed, 0, (20, 30)))
    np.testing.assert_array_equal(second, uniforms(stream.seed, 1, (20, 30)))
