"""Regions of leaky RBMs, by planes whose regions are counted by hand."""

import numpy as np
import pytest

from rbmbook.leaky_regions import census, has_states

SIGNS = [np.array(s) for s in ((-1, -1), (-1, 1), (1, -1), (1, 1))]


def found(weights, offsets) -> list[bool]:
    return [has_states(np.array(weights), np.array(offsets), s) for s in SIGNS]


def test_two_lines_cut_the_plane_into_four_and_parallel_ones_into_three():
    assert found([[1.0, 0.0], [0.0, 1.0]], [0.3, -0.2]) == [True] * 4
    assert found([[1.0, 1.0], [0.0, 0.0]], [0.0, 1.0]) == [True, True, False, True]


@pytest.mark.parametrize(
    ("n_visible", "n_hidden", "n_regions"), [(1, 1, 2), (1, 4, 5), (2, 2, 4), (2, 3, 7), (3, 3, 8)]
)
def test_census_finds_as_many_regions_as_the_formula(n_visible, n_hidden, n_regions):
    counted = census(n_visible, n_hidden, 0.9, 0.01, np.random.default_rng(1))
    assert counted.n_found == counted.n_expected == n_regions
    assert counted.smallest == pytest.approx(1 - 0.9**2)  # where all planes are open


def test_census_refuses_what_is_no_norm():
    with pytest.raises(ValueError, match="norm"):
        census(2, 2, 1.0, 0.1, np.random.default_rng(0))
