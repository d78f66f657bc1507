"""Beta drawn given v alone, quickly: the densities and slopes of the path, and chains by them."""

import numpy as np

import rbmlib as rl
from rbmbook.paths import GivenVisible

SMALL = rl.testsystems.random_rbm(n_visible=10, n_hidden=5, coupling=6.0, rng=0)
PATH = rl.GeometricPath(SMALL, base=np.linspace(-1, 1, 10))
BETAS = rl.schedules.linear(9)


def test_densities_and_slopes_are_those_of_the_path():
    quick = GivenVisible(PATH)
    for seed in (0, 1):  # other states: what is kept of the first is not given for the second
        v = np.random.default_rng(seed).integers(0, 2, (7, 10))
        np.testing.assert_allclose(quick.log_density(v, BETAS), PATH.log_density(v, BETAS))
        slopes = PATH.log_density_slope(v, BETAS)
        np.testing.assert_allclose(quick.log_density_slope(v, BETAS), slopes)
    at_half = PATH.log_density(v, 0.5)
    np.testing.assert_allclose(quick.log_density(v, 0.5), at_half)


def test_chains_find_the_exact_value():
    exact = np.array([rl.exact(SMALL if b == 1 else PATH.at(b)).log_z for b in BETAS])
    walks = rl.simulated_tempering(
        GivenVisible(PATH), BETAS, exact, 400, 600, 3, conditional="marginal"
    )
    found = rl.rts_of_sample(walks, skip=1)
    assert abs(found.log_z - exact[-1]) < 4 * found.std_error < 0.1
