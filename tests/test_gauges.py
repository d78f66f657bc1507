"""The same model written otherwise: log Z and every probability stay, by exact sums."""

import numpy as np
import pytest

import rbmlib as rl
from rbmlib import RBM, Bits, Categories, Leaky, Normal, Rectified, Spins
from rbmlib.models.enumeration import states

RNG = np.random.default_rng(5)


def model(visible, hidden) -> RBM:
    return RBM(visible, hidden, RNG.normal(size=(len(visible), len(hidden))) / 2, log_scale=0.75)


def b(n):
    return RNG.normal(size=n)


MODELS = {
    "bits, bits": model(Bits(b(4)), Bits(b(3))),
    "spins, bits": model(Spins(b(4)), Bits(b(3))),
    "bits, spins": model(Bits(b(4)), Spins(b(3))),
    "spins, spins": model(Spins(b(4)), Spins(b(3))),
    "categories, categories": model(Categories(b(6), 3), Categories(b(8), 4)),
    "categories, spins": model(Categories(b(6), 3), Spins(b(3))),
    "bits, categories": model(Bits(b(4)), Categories(b(6), 3)),
    "spins, rectified": model(Spins(b(4)), Rectified(b(3), 1.5, 0.7, 0.4, -0.3)),
    "categories, rectified": model(Categories(b(6), 3), Rectified(b(3), 1.5, 0.7, 0.4, -0.3)),
    "spins, leaky": model(Spins(b(4)), Leaky(b(3), 1.0, 0.2)),
    "normal, spins": model(Normal(b(4)), Spins(b(3))),
    "normal, categories": model(Normal(b(4)), Categories(b(6), 3)),
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
    recoded = (v + 1) / 2 if isinstance(rbm.visible, Spins) else v
    np.testing.assert_allclose(other.log_density(recoded), rbm.log_density(v), atol=1e-11)


def test_kinds_after_it():
    assert repr(MODELS["spins, spins"].to_bits()) == "BernoulliRBM(n_visible=4, n_hidden=3)"
    assert MODELS["bits, categories"].to_bits() == MODELS["bits, categories"]


def test_the_rates_of_data_are_those_of_the_layer():
    """The base that fits data: units of each kind have their means, but for the smoothing."""
    for visible in (Bits(b(4)), Spins(b(4)), Categories(b(6), 3), Normal(b(4)), Rectified(b(4))):
        free = RBM(visible, Bits([0.0]), np.zeros((len(visible), 1)))
        data = free.draw(400, np.random.default_rng(1))
        bias = rl.base_rate(data, 1e-9, visible)
        found = visible.mean(bias[None])[0]
        np.testing.assert_allclose(found, data.mean(axis=0), atol=1e-7)
    bits = rl.base_rate((data > 0), 0.05, Bits(b(4)))
    np.testing.assert_array_equal(bits, rl.base_rate(data > 0))
    spins = rl.base_rate(2.0 * (data > 0) - 1, 0.05, Spins(b(4)))
    np.testing.assert_allclose(2 * spins, bits, atol=1e-12)
    with pytest.raises(ValueError, match=r"data holds .*a single 1 in the columns of each unit"):
        rl.base_rate(np.ones((2, 6)), layer=Categories(b(6), 3))
