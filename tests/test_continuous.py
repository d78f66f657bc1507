"""Continuous targets: the mixture, its path, adapted step sizes, and every estimator on them."""

import numpy as np
import pytest
from helpers_stats import log_sum

import rbmlib as rl
from rbmbook.carlson2016.small import first_blocks
from rbmbook.models import tempered_log_z
from rbmbook.step_sizes import adapt_step_sizes
from rbmlib import DensityPath
from rbmlib.models.testsystems import GaussianMixture
from rbmlib.numerics import ChainStream

MIXTURE = rl.testsystems.two_gaussians()
LOG_Z = MIXTURE.log_z
BETAS = rl.schedules.linear(30) ** 2
UNEVEN = GaussianMixture([[-1.0, 0.5], *[[2.0, 0.5]] * 3], 0.3)


@pytest.fixture(scope="module")
def adapted():
    path = DensityPath(MIXTURE, 30.0, n_leapfrog=1, jitter=0.0)
    return adapt_step_sizes(path, BETAS, rng=0)


def plane(reach=30.0, n=601):
    """A grid of the plane, and the logarithm of the area of a cell."""
    x = np.linspace(-reach, reach, n)
    return np.stack(np.meshgrid(x, x, indexing="ij"), axis=-1).reshape(-1, 2), 2 * np.log(
        x[1] - x[0]
    )


def test_mixture_against_sums_of_gaussians():
    assert pytest.approx(np.log(2) + 5 * np.log(np.pi)) == LOG_Z
    points, cell = plane(9.0)
    assert log_sum(UNEVEN.log_density(points)) + cell == pytest.approx(UNEVEN.log_z, abs=1e-9)
    x = np.random.default_rng(0).normal(size=(50, 2)) * 2
    terms = [np.exp(-((x - m) ** 2).sum(axis=1) / 0.6) for m in UNEVEN.means]
    np.testing.assert_allclose(UNEVEN.log_density(x), np.log(sum(terms)), rtol=1e-12)
    shift = 1e-5 * np.eye(2)
    slopes = [(UNEVEN.log_density(x + s) - UNEVEN.log_density(x - s)) / 2e-5 for s in shift]
    np.testing.assert_allclose(UNEVEN.gradient(x), np.transpose(slopes), atol=1e-7)


@pytest.mark.always
@pytest.mark.statistical
def test_mixture_draws_have_its_moments():
    x = UNEVEN.sample(40_000, rng=1)
    mean = [0.25 * -1 + 0.75 * 2, 0.5]
    error = x.std(axis=0) / np.sqrt(len(x))
    assert (np.abs(x.mean(axis=0) - mean) < 4 * error).all()
    variance = [0.3 + 0.25 * 0.75 * 9, 0.3]
    np.testing.assert_allclose(x.var(axis=0), variance, rtol=0.03)


def test_tempered_log_z_against_sums_over_the_plane():
    points, cell = plane()
    path, betas = DensityPath(UNEVEN, 6.0), np.array([-1e-3, 0.0, 0.01, 0.3, 1.0, 1.001])
    wanted = log_sum(path.log_density(points, betas), axis=0) + cell
    found = tempered_log_z(UNEVEN, 6.0, betas)
    np.testing.assert_allclose(found, wanted, atol=1e-9)
    assert tempered_log_z(MIXTURE, 30.0, [0.0, 1.0]) == pytest.approx([0, LOG_Z], abs=1e-9)


def test_small_steps_keep_the_energy_at_every_beta():
    path, rng = DensityPath(UNEVEN, 2.0, n_leapfrog=10), np.random.default_rng(0)
    x = rng.normal(size=(50, 2))
    errors = [path.move(x, beta, 1e-3, rng).energy_error for beta in (0.2, 0.9)]
    assert np.abs(errors).max() < 1e-4


def test_adapted_steps_meet_their_target_at_every_beta(adapted):
    steps = adapted.path.step_sizes
    assert (np.diff(steps) <= 1e-9).all()
    assert steps[0] > 5 * steps[-1]
    assert (adapted.fixed.step_sizes == steps.mean()).all()
    n = 200
    stream = ChainStream(5, n * BETAS.size)
    state, own = adapted.path.sample_base(n * BETAS.size, stream), np.tile(BETAS, n)
    for beta in BETAS:
        state = adapted.path.transition(state, np.minimum(own, beta), stream)
    shares = []
    for _ in range(20):
        moved = adapted.path.move(state, own, np.tile(steps, n), stream)
        state = moved.x
        shares.append(moved.probability.reshape(n, -1).mean(axis=0))
    np.testing.assert_allclose(np.mean(shares, axis=0), 0.651, atol=0.1)


def test_part_of_a_sample_is_the_sample_of_fewer_chains_and_sweeps():
    path = DensityPath(UNEVEN, 6.0)
    long, short = (
        rl.simulated_tempering(path, [0, 0.5, 1], np.zeros(3), n_chains, n_sweeps, rng=6,
                               index=np.arange(n_chains) % 3, n_blocks=n_blocks)
        for n_chains, n_sweeps, n_blocks in ((6, 40, 4), (3, 20, 2))
    )  # fmt: skip
    part = first_blocks(long, 2).of_chains(slice(0, 3))
    assert part.n_chains == 3
    assert part.n_sweeps == 20
    np.testing.assert_array_equal(part.temperature, short.temperature)
    for name in ("delta", "mixed", "visited", "block_sweeps"):
        np.testing.assert_allclose(getattr(part, name), getattr(short, name), rtol=1e-9)
    with np.errstate(all="ignore"), pytest.warns(rl.ConvergenceWarning):
        assert rl.rts_of_sample(part).n_chains == 3


def test_the_two_gaussians_lie_on_the_first_axis():
    wanted = np.zeros((2, 4))
    wanted[:, 0] = -3, 3
    np.testing.assert_array_equal(rl.testsystems.two_gaussians(4, distance=6.0).means, wanted)
