"""Compiled draws of colours and of halves of Gaussians: as NumPy and SciPy have them, bit for bit
on any processor and any number of threads."""

import os
import subprocess
import sys

import numpy as np
import pytest
from helpers_models import on_threads
from helpers_stats import assert_no_rejection, chi_square_p
from scipy.special import erfcx, expit, log_ndtr, ndtri_exp

import rbmlib as rl
from rbmlib import DoubleReLU, Potts
from rbmlib._kernels import units
from rbmlib.models.enumeration import states
from rbmlib.numerics import log_half_gaussian


class Given:
    """Uniform numbers that are known."""

    def __init__(self, u):
        self.u = u

    def random(self, shape):
        assert shape == self.u.shape
        return self.u.copy()


def sides(layer, x):
    both = (x - layer.theta_plus, layer.a_plus**-0.5), (-x - layer.theta_minus, layer.a_minus**-0.5)
    return [(sd, field * sd, np.log(sd) + log_half_gaussian(field * sd)) for field, sd in both]


def halves_by_scipy(layer, x, u):
    """The inverse of the distribution, by the inverse of log Phi."""
    (sd, z, above), (sd_, z_, below) = sides(layer, x)
    share = expit(above - below)
    up = u < share
    rest = np.where(up, u, 1 - u) / np.where(up, share, 1 - share)
    sd, z = np.where(up, sd, sd_), np.where(up, z, z_)
    return np.where(up, sd, -sd) * np.maximum(z - ndtri_exp(np.log(rest) + log_ndtr(z)), 0.0)


@pytest.mark.parametrize("scale", [0.3, 2.0, 10.0, 100.0])
def test_draws_and_cumulants_of_rectified_units_are_scipys(scale):
    rng = np.random.default_rng(4)
    thresholds = rng.normal(scale=scale / 3, size=(2, 41))
    layer = DoubleReLU(np.zeros(41), *rng.uniform(0.3, 3, (2, 41)), *thresholds)
    x, u = rng.normal(scale=scale, size=(300, 41)), rng.random((300, 41))
    drawn, wanted = layer.draw(x, Given(u)), halves_by_scipy(layer, x, u)
    np.testing.assert_allclose(drawn, wanted, rtol=3e-8, atol=1e-10)
    (*_, above), (*_, below) = sides(layer, x)
    np.testing.assert_allclose(
        layer.cumulant(x), np.logaddexp(above, below).sum(axis=1), rtol=1e-13
    )
    one_field = layer.draw(x[:1], Given(u), 300)
    np.testing.assert_array_equal(one_field, layer.draw(np.tile(x[0], (300, 1)), Given(u)))


def test_functions_that_draws_are_made_of():
    x = np.concatenate([np.linspace(0, 12, 3001), 10.0 ** np.arange(2, 9)])
    for ours, theirs, at, most in (
        (units._half, erfcx(x / 2**0.5) * (np.pi / 2) ** 0.5, x, 5e-14),
        (units._exp, np.exp(-x[x < 700]), -x[x < 700], 1e-15),
        (units._log, np.log(x[1:]), x[1:], 1e-15),
    ):
        np.testing.assert_allclose([ours.py_func(a) for a in at], theirs, rtol=most, atol=1e-15)
    goals = -np.geomspace(1e-9, 1e5, 300) + units.LOG_HALF
    places = [units._place.py_func(goal) for goal in goals]
    back = np.log(erfcx(np.array(places) / 2**0.5)) - np.square(places) / 2 + units.LOG_HALF
    np.testing.assert_allclose(back, goals, rtol=1e-11, atol=1e-11)


def test_colours_are_those_of_the_sum_of_probabilities():
    rng = np.random.default_rng(5)
    layer = Potts(np.zeros(7 * 21), 21)
    x, u = rng.normal(scale=4, size=(500, 7 * 21)), rng.random((500, 7))
    below = np.cumsum(layer.mean(x).reshape(500, 7, 21), axis=2)
    wanted = np.eye(21)[(below <= (u * below[..., -1])[..., None]).sum(axis=2)].reshape(500, -1)
    np.testing.assert_array_equal(layer.draw(x, Given(u)), wanted)
    far = np.where(np.arange(7 * 21) % 21 == 5, 3000.0, -3000.0)[None]  # nothing overflows
    np.testing.assert_array_equal(layer.draw(far, Given(u), 500), np.tile(far > 0, (500, 1)))
    ends = layer.draw(0 * far, Given(np.full((2, 7), [[0.0], [1.0]])), 2)
    np.testing.assert_array_equal(ends.nonzero()[1] % 21, [0] * 7 + [20] * 7)


@pytest.mark.parametrize("q", [2, 3, 5])
def test_draws_of_colours_have_their_probabilities(q):
    rng, n = np.random.default_rng(q), 3
    layer = Potts(rng.normal(size=n * q), q)
    s = states(layer, np.arange(q**n))
    p = np.exp(layer.own(s) - layer.cumulant(layer.bias[None]))
    drawn = layer.draw(layer.bias[None], rng, 40_000)
    assert layer.holds(drawn)
    index = (drawn.reshape(-1, n, q) @ np.arange(q) @ q ** np.arange(n)).astype(int)
    order = (s.reshape(-1, n, q) @ np.arange(q) @ q ** np.arange(n)).astype(int)
    assert_no_rejection([chi_square_p(index, p[np.argsort(order)])], "colours", level=1e-4)


RUN = """
import hashlib, numpy as np, rbmlib as rl
rng = np.random.default_rng(0)
x = rng.normal(scale=5, size=(64, 42))
one = rl.DoubleReLU(np.zeros(42), *rng.uniform(0.3, 3, (2, 42)), *rng.normal(size=(2, 42)))
two = rl.Potts(np.zeros(42), 3)
parts = one.draw(x, rng), one.cumulant(x), two.draw(x, rng)
print(hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest())
"""


@pytest.mark.nightly
def test_a_processor_without_wide_registers_gives_the_same_bits(tmp_path):
    """What LLVM makes for the oldest processor of this kind, and for the one at hand."""
    plain = {
        "NUMBA_CPU_NAME": "generic",
        "NUMBA_CPU_FEATURES": "",
        "NUMBA_CACHE_DIR": str(tmp_path),
    }
    found = {
        subprocess.run(
            [sys.executable, "-c", RUN], env=os.environ | extra, capture_output=True, text=True,
            check=True,
        ).stdout
        for extra in ({}, plain)
    }  # fmt: skip
    assert len(found) == 1, found
    assert len(found.pop().strip()) == 64


def test_one_thread_equals_two():
    rng = np.random.default_rng(1)
    rbm = rl.RBM(
        Potts(rng.normal(size=40), 4), DoubleReLU(np.zeros(6), 1.5, 0.8, 0.3, -0.4),
        rng.normal(scale=0.4, size=(40, 6)),
    )  # fmt: skip
    path = rl.GeometricPath(rbm)
    one, two = (on_threads(n, rl.ais, path, rl.schedules.linear(30), 300, 2) for n in (1, 2))
    np.testing.assert_array_equal(one.log_weights, two.log_weights)
    np.testing.assert_array_equal(one.states, two.states)
