"""The same model written otherwise: log Z and every probability stay, by exact sums."""

import numpy as np
import pytest
from helpers_models import same_model

import rbmlib as rl
from rbmlib import RBM, Binary, DoubleReLU, Gaussian, LeakyReLU, Potts, Spin
from rbmlib.models.enumeration import states

RNG = np.random.default_rng(5)


def model(visible, hidden) -> RBM:
    return RBM(visible, hidden, RNG.normal(size=(len(visible), len(hidden))) / 2, log_scale=0.75)


def b(n):
    return RNG.normal(size=n)


MODELS = {
    "bits, bits": model(Binary(b(4)), Binary(b(3))),
    "spins, bits": model(Spin(b(4)), Binary(b(3))),
    "bits, spins": model(Binary(b(4)), Spin(b(3))),
    "spins, spins": model(Spin(b(4)), Spin(b(3))),
    "categories, categories": model(Potts(b(6), 3), Potts(b(8), 4)),
    "categories, spins": model(Potts(b(6), 3), Spin(b(3))),
    "bits, categories": model(Binary(b(4)), Potts(b(6), 3)),
    "spins, rectified": model(Spin(b(4)), DoubleReLU(b(3), 1.5, 0.7, 0.4, -0.3)),
    "categories, rectified": model(Potts(b(6), 3), DoubleReLU(b(3), 1.5, 0.7, 0.4, -0.3)),
    "spins, leaky": model(Spin(b(4)), LeakyReLU(b(3), 1.0, 0.2)),
    "normal, spins": model(Gaussian(b(4)), Spin(b(3))),
    "normal, categories": model(Gaussian(b(4)), Potts(b(6), 3)),
}


def every_state(layer):
    if layer.values is None:
        return RNG.normal(size=(50, len(layer)))
    n_values, width = layer.values.shape
    return states(layer, np.arange(n_values ** (len(layer) // width)))


@pytest.mark.parametrize("rbm", MODELS.values(), ids=MODELS)
def test_bits_for_spins_change_no_probability(rbm):
    other, v = rbm.to_bits(), every_state(rbm.visible)
    assert other.exact_log_z() == pytest.approx(rbm.exact_log_z(), abs=1e-11)
    recoded = (v + 1) / 2 if isinstance(rbm.visible, Spin) else v
    np.testing.assert_allclose(other.log_density(recoded), rbm.log_density(v), atol=1e-11)


def test_kinds_after_it():
    assert repr(MODELS["spins, spins"].to_bits()) == "BernoulliRBM(n_visible=4, n_hidden=3)"
    assert same_model(MODELS["bits, categories"].to_bits(), MODELS["bits, categories"])


def test_the_rates_of_data_are_those_of_the_layer():
    """The base that fits data: units of each kind have their means, but for the smoothing."""
    for visible in (Binary(b(4)), Spin(b(4)), Potts(b(6), 3), Gaussian(b(4)), DoubleReLU(b(4))):
        free = RBM(visible, Binary([0.0]), np.zeros((len(visible), 1)))
        data = free.draw(400, np.random.default_rng(1))
        bias = rl.base_rate(data, 1e-9, visible)
        found = visible.mean(bias[None])[0]
        np.testing.assert_allclose(found, data.mean(axis=0), atol=1e-7)
    bits = rl.base_rate((data > 0), 0.05, Binary(b(4)))
    np.testing.assert_array_equal(bits, rl.base_rate(data > 0))
    spins = rl.base_rate(2.0 * (data > 0) - 1, 0.05, Spin(b(4)))
    np.testing.assert_allclose(2 * spins, bits, atol=1e-12)
    with pytest.raises(ValueError, match=r"data holds .*a single 1 in the columns of each unit"):
        rl.base_rate(np.ones((2, 6)), layer=Potts(b(6), 3))
