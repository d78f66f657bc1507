"""Laws of chains by quadrature, and the experiments that measure Algorithm 2 as a sampler."""

import time

import numpy as np
import pytest

from rbmbook import leaky_bias, leaky_mixing
from rbmbook.experiments.leaky_rbm.mixing import _mean_distance, slanted
from rbmbook.experiments.leaky_rbm.single import SUMS, _single_precision
from rbmbook.leaky_kernels import MOVES
from rbmlib.models.normal import has_orthogonal_columns
from rbmlib.models.testsystems import orthogonal_leaky_rbm


@pytest.mark.parametrize("norm", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("leakiness", [0.01, 0.3])
def test_starts_are_densities_and_the_exact_move_keeps_the_model(norm, leakiness):
    u, w = leaky_mixing.grid(norm)
    for start in leaky_mixing.STARTS:
        assert w @ leaky_mixing.starting_law(start, norm, leakiness, u) == pytest.approx(1)
    model = leaky_mixing.starting_law("model", norm, leakiness, u)[:, None]
    exact = leaky_mixing.sweep_at(u, w, norm, leakiness, "blockwise")
    assert np.abs(exact(model, w) - model).max() < 1e-9
    published = leaky_mixing.sweep_at(u, w, norm, leakiness)
    assert np.abs(published(model, w) - model).max() > 1e-3


@pytest.mark.parametrize("kernel", leaky_mixing.KERNELS)
@pytest.mark.parametrize("start", ["normal", "gaussian"])
def test_laws_are_those_of_chains(kernel, start):
    """Four sweeps of falling leakiness: means of u and of its square on either side of 0."""
    n, norm, leakiness = 100_000, 0.9, 0.01
    model = orthogonal_leaky_rbm(8, 2, norm=norm, leakiness=leakiness).reduced()[0]
    u, w = leaky_mixing.grid(norm)
    law = leaky_mixing.starting_law(start, norm, leakiness, u)[:, None]
    rng = np.random.default_rng(1)
    x = rng.standard_normal((n, 2)) * (1 if start == "normal" else (1 - norm**2) ** -0.5)
    for c in leaky_mixing.annealed_leakiness(leakiness, 4):
        at = model.with_(hidden=model.hidden.with_(below=c))
        x = MOVES[kernel](at, x, rng)
        law = leaky_mixing.sweep_at(u, w, norm, c, kernel)(law, w)
    for of_x in (lambda z: z, lambda z: np.minimum(z, 0) ** 2, lambda z: np.maximum(z, 0) ** 2):
        seen, wanted = of_x(x).ravel(), (w * of_x(u)) @ law[:, 0]
        assert abs(seen.mean() - wanted) < 4.5 * seen.std() / np.sqrt(seen.size)


def test_the_published_chain_ends_at_its_own_law_from_any_start():
    norm, c = 0.9, 0.01
    _, w = leaky_mixing.grid(norm)
    law, model = leaky_bias.stationary_law(norm, c)
    floor = w @ np.abs(law - model) / 2
    found = leaky_mixing.distances(norm, c, 200)
    for (name, start), at in found.items():
        if name in ("cd", "plain"):
            assert at.total_variation == pytest.approx(floor, abs=1e-6), (name, start)
    exact = leaky_mixing.distances(norm, c, 200, "blockwise")
    assert max(at.total_variation for at in exact.values()) < 0.01
    assert exact["cd", "model"].divergence == pytest.approx(0, abs=1e-12)


def test_leakiness_falls_in_equal_steps_to_the_models():
    assert leaky_mixing.annealed_leakiness(0.1, 3) == pytest.approx([0.7, 0.4, 0.1])


@pytest.mark.parametrize("n_sweeps", [1, 3])
def test_distances_at_leakiness_1_are_those_of_gaussians(n_sweeps):
    """From N(0, 1) the law of u stays N(0, variance), and the model is N(0, 1 / (1 - norm^2))."""
    norm, variance = 0.9, 1.0
    for _ in range(n_sweeps):
        variance = norm**4 * variance + 1 + norm**2
    of_model = 1 / (1 - norm**2)
    ratio = variance / of_model
    for name in ("cd", "mix"):
        found = leaky_mixing.distances(norm, 1.0, n_sweeps)[name, "normal"]
        assert found.divergence == pytest.approx((ratio - 1 - np.log(ratio)) / 2, rel=1e-6)
        assert found.slope_excess == pytest.approx(norm**2 / 4 * (variance - of_model), rel=1e-6)


def test_distance_of_samples():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4000, 2))
    assert _mean_distance(x, x) == 0
    shifted = _mean_distance(x, rng.normal(size=(4000, 2)) + 1.0)
    assert shifted == pytest.approx(0.3829, abs=0.03)  # 2 Phi(1/2) - 1
    model = slanted(0.9, 0.01, 0)
    assert not has_orthogonal_columns(model.weights)
    assert np.linalg.norm(model.weights, 2) == pytest.approx(0.9)


def test_sums_in_single_precision():
    """All agree at few steps; on a large constant single precision loses small increments."""
    rbm = orthogonal_leaky_rbm(3072, 5)
    began = time.thread_time()
    run, sums = _single_precision(rbm, 0, n_temperatures=300, n_chains=10)
    assert 0 < run.seconds <= time.thread_time() - began
    assert run.interval == (-np.inf, np.inf)
    for name in SUMS:
        assert sums[name] == pytest.approx(sums["double"], abs=0.02), name
    assert abs(run.log_z - rbm.exact_log_z()) < 5 * max(run.std_error, 0.1)
    lost = np.float32(2823) + np.float32(1e-4)
    assert lost == np.float32(2823)
    _, many = _single_precision(rbm, 0, n_temperatures=6000, n_chains=4)
    assert many["increments_on"] < many["double"] - 0.02
    assert many["increments"] == pytest.approx(many["double"], abs=1e-3)
