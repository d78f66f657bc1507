"""One parameter far larger than the others: what fixed-point or float32 slopes would lose."""

import warnings

import numpy as np
import pytest

import rbmlib as rl
from rbmlib import ConvergenceWarning
from rbmlib.sampling.compiled import compiled, loops_of_line

BETAS = rl.schedules.linear(12)


def masked(bias: float, n_visible: int = 60, n_hidden: int = 5) -> rl.BernoulliRBM:
    rng = np.random.default_rng(0)
    visible_bias = rng.normal(0, 0.5, n_visible)
    visible_bias[0] = bias
    weights = rng.normal(0, 0.1, (n_visible, n_hidden))
    return rl.BernoulliRBM(weights, visible_bias, np.zeros(n_hidden))


def run(name: str, path, **options) -> rl.Estimate:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return getattr(rl, name)(path, BETAS, 60, 600, rng=0, **options)


@pytest.mark.statistical
@pytest.mark.parametrize("bias", [-50.0, -1e4, -1e5, 1e5, 1e9])
@pytest.mark.parametrize("name", ["rts", "mbar", "sams", "wang_landau"])
def test_tempering_with_one_large_bias(name, bias):
    rbm = masked(bias)
    estimate = run(name, rl.GeometricPath(rbm))
    assert estimate.std_error < 0.15, "otherwise the test sees nothing"
    assert abs(estimate.log_z - rl.exact(rbm).log_z) < 4 * estimate.std_error


@pytest.mark.statistical
def test_integration_with_one_large_bias():
    """A base that masks the pixel too, so that the slope is no spike at beta = 0."""
    rbm = masked(-1e4)
    path = rl.GeometricPath(rbm, np.where(rbm.visible_bias < -1e3, -30.0, 0.0))
    estimate = run("ti", path)
    assert estimate.std_error < 0.2
    assert abs(estimate.log_z - rl.exact(rbm).log_z) < 4 * estimate.std_error


@pytest.mark.statistical
@pytest.mark.parametrize("bias", [-1e4, 1e9])
def test_annealing_with_one_large_bias_loses_no_chains(bias):
    """The importance step back to float64 took most of them."""
    rbm = masked(bias, n_visible=300)
    run = rl.ais(rl.GeometricPath(rbm), rl.schedules.linear(200), n_chains=300, rng=0)
    assert run.ess > 200
    assert abs(run.log_z - rl.exact(rbm).log_z) < 4 * run.std_error


@pytest.mark.parametrize("layer", ["visible", "hidden"])
def test_routes_are_judged_by_nats(layer):
    """Ordinary models stay compiled; a bias of 1e9, in float32 64 apart from the next, does not."""
    rbm = masked(0.0)
    assert compiled(rl.GeometricPath(rbm))
    biases = {"visible": rbm.visible_bias.copy(), "hidden": rbm.hidden_bias.copy()}
    for bias, fine, faithful in [(-50.0, True, True), (1e9, False, False)]:
        biases[layer][0] = bias
        path = rl.GeometricPath(rl.BernoulliRBM(rbm.weights, biases["visible"], biases["hidden"]))
        assert routes(path) == (fine, faithful)
    weights = rbm.weights.copy()
    weights[0, 0] = 200.0  # anneal puts right what sweeps cannot
    path = rl.GeometricPath(rl.BernoulliRBM(weights, rbm.visible_bias, rbm.hidden_bias))
    assert routes(path) == (True, False)


def routes(path):
    """Whether annealing, which mends rounding, and tempering, which does not, are compiled."""
    return compiled(path, corrected=True) is not None, compiled(path) is not None


def test_what_rounding_is_said_to_change_is_what_it_changes():
    """Typical nats, against differences of log-densities of the two models over random states."""
    rbm = masked(-300.0)
    path = rl.GeometricPath(rbm)
    loops = loops_of_line(path)
    weights, slopes, _ = loops.errors
    states = path.sample_base(2000, np.random.default_rng(0))
    found = np.sqrt((loops.correction(states, 1.0) ** 2).mean())
    assert found == pytest.approx(np.hypot(weights, slopes), rel=0.5)
