"""Live readings of leaky RBMs: likelihood of held-out images, and chains that are followed."""

import numpy as np
import pytest

from rbmbook import leaky_live
from rbmlib.models.testsystems import orthogonal_leaky_rbm


@pytest.mark.statistical
def test_likelihood_of_a_model_whose_log_z_is_known():
    rbm = orthogonal_leaky_rbm(12, 3, norm=0.8, leakiness=0.1, rng=0)
    images = np.random.default_rng(0).normal(size=(240, 12))
    held_out = images[200:]
    found = leaky_live.held_out_log_likelihood(rbm, images, held_out, 1)
    exact = rbm.log_density(held_out).mean() - rbm.exact_log_z()
    assert abs(found["log_likelihood"] - exact) < 4 * found["std_error"]
    assert 0 < found["ess"] <= 50


class Doubling:
    """Chains that double at each sweep, and two hidden units that copy the first pixel."""

    gibbs = staticmethod(lambda v, stream: 2 * v)
    sample_hidden = staticmethod(lambda v, stream: v[:, :1].repeat(2, axis=1))


def test_chains_are_followed():
    sizes, phase = leaky_live.follow(Doubling, np.array([[1, -3]]), 0, n_sweeps=4, between=(1, 3))
    assert sizes == [2, 4, 8, 16, 32]
    assert phase == 16  # v'h is of degree 2


def test_sweeps_that_are_not_made_are_refused():
    with pytest.raises(ValueError, match="between"):
        leaky_live.follow(Doubling, np.ones((1, 2)), 0, n_sweeps=4, between=(1, 5))


PAGE = {
    "n_visible": 40, "n_hidden": 3, "norm": 0.9, "leakiness": 0.1, "transition": "hmc",
    "n_chains": 200, "n_temperatures": 50, "seed": 1,
}  # fmt: skip


def page(**changed) -> dict:
    """Globals of a page after its parameters."""
    return {**PAGE, "__annotations__": {name: type(x) for name, x in PAGE.items()}, **changed}


def test_a_page_begins_with_its_model():
    rbm = leaky_live.begin(page())
    assert rbm.weights.shape == (40, 3)
    assert rbm.weights.T @ rbm.weights == pytest.approx(0.81 * np.eye(3))
    exact = orthogonal_leaky_rbm(40, 3, norm=0.9, leakiness=0.1).exact_log_z()
    assert rbm.exact_log_z() == pytest.approx(exact)


@pytest.mark.parametrize(
    ("name", "value"),
    [("norm", 1.0), ("leakiness", 2.0), ("n_hidden", 41), ("transition", "jump"), ("n_chains", 9)],
)
def test_a_wrong_parameter_is_named(name, value):
    with pytest.raises(ValueError, match=f"{name} is"):
        leaky_live.begin(page(**{name: value}))
