"""log Z of the families of models, shrunken, against the library's enumeration."""

import numpy as np
import pytest

import rbmlib as rl
from rbmbook.experiments.calibration.families import FAMILIES


@pytest.mark.parametrize("name", FAMILIES)
def test_log_z_is_exact_and_a_seed_gives_one_model(name):
    for seed in range(7):
        rbm, log_z = FAMILIES[name](np.random.default_rng(seed), scale=0.05)
        assert log_z == pytest.approx(rl.exact(rbm).log_z, rel=0, abs=1e-8), seed
    again, same = FAMILIES[name](np.random.default_rng(seed), scale=0.05)
    assert log_z == same
    np.testing.assert_array_equal(rbm.weights, again.weights)
    np.testing.assert_array_equal(rbm.visible_bias, again.visible_bias)
    np.testing.assert_array_equal(rbm.hidden_bias, again.hidden_bias)
