"""`rbmbook.hills`: the model of the opening figures, and what moves on it."""

import numpy as np
import pytest

from rbmbook.hills import GAP, GRID, LOG_Z, Hills

PLACES = pytest.mark.parametrize(("base", "at"), [(-3.0, 3.0), (-2.0, 2.0), (0.0, 1.5)])


@PLACES
def test_log_z_is_the_same_wherever_the_hills_stand(base, at):
    hills = Hills(base, at)
    assert hills.log_z(0.0) == pytest.approx(0.0, abs=1e-6)
    assert hills.log_z(1.0) == pytest.approx(LOG_Z, abs=1e-6)
    law, mean = hills.law(1.0), hills.at * (1 - np.exp(-GAP)) / (1 + np.exp(-GAP))
    assert law @ GRID == pytest.approx(mean, abs=1e-6)


@PLACES
def test_the_slope_is_that_of_log_z(base, at):
    hills = Hills(base, at)
    rise = (hills.log_z(0.601) - hills.log_z(0.599)) / 0.002
    assert hills.law(0.6) @ hills.slope(GRID) == pytest.approx(rise, rel=1e-4)


def test_a_move_leaves_each_law_as_it_is():
    hills, rng = Hills(0.0, 1.0), np.random.default_rng(1)
    betas = np.repeat([0.3, 1.0], 100_000)
    x = np.concatenate([hills.draw(100_000, beta, rng) for beta in (0.3, 1.0)])
    moved = hills.move(x, betas, rng)
    assert 0.3 < np.mean(moved != x) < 0.9
    for beta in (0.3, 1.0):
        law, here = hills.law(beta), moved[betas == beta]
        for power in (1, 2):
            mean = law @ GRID**power
            error = np.sqrt((law @ GRID ** (2 * power) - mean**2) / here.size)
            assert abs((here**power).mean() - mean) < 4.5 * error
