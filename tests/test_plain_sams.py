"""SAMS in plain NumPy: it learns log Z of a small model, and a wrong conditional does not."""

import numpy as np
import pytest

import rbmlib as rl
from rbmbook.plain_sams import plain_sams
from rbmlib.estimators.sams import gain_sequence


@pytest.fixture
def small():
    rbm = rl.testsystems.random_rbm(n_visible=8, n_hidden=4, coupling=3.0, rng=1)
    return rbm, np.full(8, 0.5), np.linspace(0, 1, 6)


def found(small, **options):
    rbm, base, betas = small
    path = rl.GeometricPath(rbm, base=base)
    gains = gain_sequence(1200, 800)
    ends = plain_sams(rbm, base, betas, gains, 60, np.random.default_rng(2), **options)
    off = ends[:, -1] + path.log_z_base - rl.exact(rbm).log_z
    return off.mean() / (off.std(ddof=1) / np.sqrt(60))


def test_it_learns_log_z(small):
    assert abs(found(small)) < 4
    assert abs(found(small, start=-3 * small[2])) < 4


def test_without_the_base_it_learns_something_else(small):
    assert abs(found(small, drop_base=True)) > 10


def test_one_sweep_by_hand(small):
    """Without weights delta is known: one update of equal guesses adds min(gain n, 1) q."""
    betas = np.array([0.0, 1.0])
    flat = rl.BernoulliRBM(np.zeros((1, 1)), [50.0], [0.0])  # the unit is on at beta = 1
    rng = np.random.default_rng(0)
    ends = plain_sams(flat, np.array([50.0]), betas, [0.25], 5, rng, start=[0.0, np.log(3)])
    assert ends[:, 1] == pytest.approx(np.log(3) + 0.5 * (0.25 - 0.75))
