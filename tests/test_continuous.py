"""Continuous targets: the mixture, its path, adapted step sizes, and every estimator on them."""

import numpy as np
import pytest
from helpers_stats import assert_no_rejection, log_sum, two_sided

import rbmlib as rl
from rbmbook.carlson2016.continuous import first_blocks
from rbmbook.step_sizes import ShapedWalk, Walk, adapt_covariances, adapt_step_sizes
from rbmbook.testsystems import tempered_log_z
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


def test_path_is_linear_in_beta_and_made_of_models():
    path = DensityPath(UNEVEN, 6.0)
    state = np.random.default_rng(2).normal(size=(20, 2))
    normal = -(state**2).sum(axis=1) / 12 - np.log(12 * np.pi)
    np.testing.assert_allclose(path.log_density(state, 0.0), normal)
    np.testing.assert_allclose(path.log_density(state, 1.0), UNEVEN.log_density(state))
    three = path.log_density(state, np.array([0.0, 0.4, 1.0]))
    np.testing.assert_allclose(three[:, 1], path.at(0.4).log_density(state))
    np.testing.assert_allclose(three[:, 2] - three[:, 0], path.log_density_slope(state, 0.3))
    np.testing.assert_allclose(three[:, 1], 0.6 * three[:, 0] + 0.4 * three[:, 2])


SHAPES = np.array([[[6.0, 0.0], [0.0, 6.0]], [[1.5, -0.7], [-0.7, 0.6]], [[1.2, 0.5], [0.5, 0.4]]])


def test_proposals_have_the_covariance_of_the_nearest_beta():
    """Where nearly all is accepted, a move is the proposal: 2.38^2 / d times the covariance."""
    flat = GaussianMixture(np.zeros((1, 2)), 1e12)
    path = ShapedWalk(flat, 1e12, SHAPES, jitter=0.0, step_sizes=[1.0, 1.0, 2.0],
                      step_betas=[0.0, 0.4, 1.0])  # fmt: skip
    n = 40_000
    beta = np.repeat([0.1, 0.6, 1.0], n)
    steps = np.interp(beta, path.step_betas, path.step_sizes)
    moved = path.move(
        np.zeros((3 * n, 2)), beta, np.where(beta == 0.6, 1.0, steps), np.random.default_rng(5)
    )
    assert moved.accepted.mean() > 0.999
    for j, scale in enumerate((1.0, 1.0, 2.0)):
        found = np.cov(moved.x[j * n : (j + 1) * n].T)
        wanted = scale**2 * 2.38**2 / 2 * SHAPES[j]
        error = np.sqrt((wanted**2 + np.outer(*2 * (np.diag(wanted),))) / n)
        assert (np.abs(found - wanted) < 4 * error).all()


def test_covariances_of_one_step_are_those_of_its_states():
    """The first half of the steps is left out, and no more than that."""
    path = Walk(MIXTURE, 30.0, jitter=0.0)
    found = adapt_covariances(path, BETAS[::15], n_chains=21, n_steps=1, n_rounds=1, rng=0)
    assert np.isfinite(found.path.covariances).all()
    assert (np.linalg.matrix_rank(found.path.covariances) == 10).all()


@pytest.mark.statistical
def test_adapted_covariances_are_those_of_the_densities():
    """Against the exact variances at every beta; and they mix better than one for all betas."""
    path = Walk(MIXTURE, 30.0, jitter=0.0)
    found = adapt_covariances(path, BETAS, rng=0)
    assert (found.path.step_betas == BETAS).all()
    gaussian = 1 / (BETAS / MIXTURE.variance + (1 - BETAS) / 30.0)
    own = np.diagonal(found.path.covariances, axis1=1, axis2=2)
    np.testing.assert_allclose(own[:, 1:].mean(axis=1), gaussian, rtol=0.15)
    mean = found.path.covariances.mean(axis=0)
    np.testing.assert_allclose(found.fixed.covariances, np.broadcast_to(mean, (31, 10, 10)))
    assert own[-1, 0] == pytest.approx(0.5 + 2.5**2, rel=0.25)  # within and between the modes
    truth = tempered_log_z(MIXTURE, 30.0, BETAS)
    trips = [
        rl.simulated_tempering(p, BETAS, truth, 200, 500, rng=2, n_blocks=1).round_trips
        for p in (found.path, found.fixed)
    ]
    means, errors = np.mean(trips, axis=1), np.std(trips, axis=1) / np.sqrt(200)
    assert np.log(means[0] / means[1]) - 3.1 * np.hypot(*(errors / means)) > 0


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


@pytest.mark.statistical
def test_adapted_steps_make_more_round_trips_than_their_mean(adapted):
    """A lower bound of 99.9% on the ratio is above 1."""
    truth = tempered_log_z(MIXTURE, 30.0, BETAS)
    trips = [
        rl.simulated_tempering(path, BETAS, truth, 100, 400, rng=2, n_blocks=1).round_trips
        for path in (adapted.path, adapted.fixed)
    ]
    means, errors = np.mean(trips, axis=1), np.std(trips, axis=1) / 10
    log_ratio, error = np.log(means[0] / means[1]), np.hypot(*(errors / means))
    assert log_ratio - 3.1 * error > 0


@pytest.mark.statistical
def test_every_estimator_finds_log_z(adapted):
    """RTS, MBAR and TI from the same states, and AIS: within 4 standard errors."""
    run = rl.rts(adapted.path, BETAS, 40, 1000, rng=3)
    assert run.converged
    estimates = {
        "rts": run,
        "mbar": rl.mbar_of_sample(run.states, skip=100),
        "ti": rl.ti(run.states, rule="corrected", skip=2),
        "ais": rl.ais(adapted.path, rl.schedules.linear(800) ** 2, 200, rng=3),
    }
    for name, e in estimates.items():
        assert abs(e.log_z - LOG_Z) < 4 * e.std_error < 0.8, name
    z = (run.log_z_path - tempered_log_z(MIXTURE, 30.0, BETAS))[1:]
    assert_no_rejection(two_sided(z / run.trace["std_error"][1:]), "betas")


def test_same_seed_same_bits_and_first_chains_do_not_depend_on_others(adapted):
    runs = [rl.simulated_tempering(adapted.path, BETAS, 0 * BETAS, n, 20, rng=4) for n in (6, 6, 3)]
    np.testing.assert_array_equal(runs[0].delta, runs[1].delta)
    np.testing.assert_allclose(runs[0].delta[:, :3], runs[2].delta, rtol=1e-9)


def test_part_of_a_sample_is_the_sample_of_fewer_chains_and_sweeps():
    """Chains do not see each other, so a shorter run of the first ones is the same."""
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


BAD = {
    "means has shape": lambda: GaussianMixture([1.0, 2.0], 0.5),
    "variance is": lambda: GaussianMixture([[1.0]], 0.0),
    "variance is 1e-320": lambda: GaussianMixture(np.float16([[0.3, -0.2]]), 1e-320),
    "target is a": lambda: DensityPath("h20", 30.0),
    "base_variance is": lambda: DensityPath(MIXTURE, -1.0),
    "covariances has shape": lambda: ShapedWalk(UNEVEN, 30.0, SHAPES),
    "covariances has one": lambda: ShapedWalk(UNEVEN, 30.0, -SHAPES[:2]),
    "n_chains times n_steps": lambda: adapt_covariances(
        Walk(MIXTURE, 30.0), BETAS, n_chains=2, n_steps=10
    ),
    "jitter is 1.0": lambda: DensityPath(MIXTURE, 30.0, jitter=1.0),
    "step_sizes has shape": lambda: DensityPath(MIXTURE, 30.0, step_sizes=[1.0, 2.0, 3.0]),
    "step_sizes go down": lambda: DensityPath(MIXTURE, 30.0, step_sizes=0.0),
    "step_betas": lambda: DensityPath(MIXTURE, 30.0, step_betas=[0.0, 0.5]),
    "path is a": lambda: adapt_step_sizes(MIXTURE, BETAS),
    "mixture has means": lambda: tempered_log_z(
        GaussianMixture([[0.0, 0.0], [1.0, 1.0]], 1.0), 2.0, [0.0, 1.0]
    ),
    "distance is": lambda: rl.testsystems.two_gaussians(distance=-1),
}


@pytest.mark.parametrize("message", BAD)
def test_bad_input_is_named(message):
    with pytest.raises((ValueError, TypeError), match="expected") as caught:
        BAD[message]()
    assert str(caught.value).startswith(message)


def test_the_two_gaussians_lie_on_the_first_axis():
    wanted = np.zeros((2, 4))
    wanted[:, 0] = -3, 3
    np.testing.assert_array_equal(rl.testsystems.two_gaussians(4, distance=6.0).means, wanted)
