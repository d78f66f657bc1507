"""Schedules: where the path is cut."""

import numpy as np
import pytest

from rbmlib import schedules
from rbmlib.numerics import cut


@pytest.mark.parametrize("n", [1, 2, 7, 1000])
@pytest.mark.parametrize("schedule", [schedules.linear, schedules.sm08])
def test_schedules_rise_from_exactly_0_to_exactly_1(schedule, n):
    betas = schedule(n)
    assert betas.shape == (n + 1,)
    assert (betas[0], betas[-1]) == (0.0, 1.0)
    assert (np.diff(betas) > 0).all()


def test_linear_steps_are_equal():
    np.testing.assert_allclose(np.diff(schedules.linear(250)), 1 / 250, rtol=1e-12)


def test_sm08_is_the_published_one():
    """0:0.001:0.5, 0.5:0.0001:0.9, 0.9:0.00001:1, each end once."""
    parts = [np.arange(500) * 0.001, 0.5 + np.arange(4000) * 0.0001, 0.9 + np.arange(10_001) * 1e-5]
    np.testing.assert_allclose(schedules.sm08(), np.concatenate(parts), atol=1e-12)


def test_sm08_of_another_length_has_the_same_shape():
    np.testing.assert_allclose(schedules.sm08(145), schedules.sm08()[::100], atol=1e-12)


def test_whole_floats_count_as_whole_numbers():
    np.testing.assert_array_equal(schedules.linear(1e2), schedules.linear(100))


def test_a_path_without_length_is_cut_into_equal_steps():
    grid = np.array([0.0, 0.1, 1.0])
    np.testing.assert_allclose(cut(grid, np.zeros(2), 4), np.linspace(0, 1, 5))
