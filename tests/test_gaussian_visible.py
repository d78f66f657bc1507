"""Gaussian visible units: densities, gradients, log Z and samples, reduction; paths and moves."""

import numpy as np
import pytest
from helpers_models import leaky_draws
from helpers_stats import all_states, assert_no_rejection, log_sum, two_sided, z_score
from scipy import integrate, stats

import rbmlib as rl
from rbmlib import EnergyPath, GaussianRBM, LeakinessPath, LeakyRBM
from rbmlib.models import normal
from rbmlib.numerics import ChainStream
from rbmlib.paths.moves import LEAKY as MOVES
from rbmlib.sampling.anneal import sweep

RNG = np.random.default_rng(5)
W = RNG.normal(size=(4, 3)) * 0.3
B, A = RNG.normal(size=4) * 0.5, RNG.normal(size=3) * 0.5
LEAKY = LeakyRBM(W, B, A, leakiness=0.2)
SMALL_GAUSSIAN = GaussianRBM(3 * W, B, A)
BOTH = [LEAKY, SMALL_GAUSSIAN]
STATES = RNG.normal(size=(50, 4)) * 2


def orthogonal(n_visible, n_hidden, norms, **options):
    basis = np.linalg.qr(np.random.default_rng(0).normal(size=(n_visible, n_hidden)))[0]
    return LeakyRBM(basis * norms, **options)


def test_log_density_is_the_joint_summed_over_hidden_units():
    """Each hidden unit integrates to its piece: exp(h eta) g(h; alpha), or 1 + exp(eta)."""
    v = STATES[0]
    for j, eta in enumerate(v @ W + A):
        alpha = 1.0 if eta > 0 else 0.2
        value, _ = integrate.quad(
            lambda h, e=eta, al=alpha: np.exp(h * e - h**2 / (2 * al)) / np.sqrt(2 * np.pi * al),
            -40, 40,
        )  # fmt: skip
        one = LeakyRBM(W[:, [j]], None, A[[j]], leakiness=0.2)
        assert one.log_density(v)[0] == pytest.approx(np.log(value) - v @ v / 2, abs=1e-7)
    h = all_states(3)
    joint = v @ B - v @ v / 2 + h @ (v @ (3 * W) + A)
    assert SMALL_GAUSSIAN.log_density(v)[0] == pytest.approx(log_sum(joint), abs=1e-12)


@pytest.mark.parametrize("model", BOTH, ids=["leaky", "gaussian"])
def test_gradient(model):
    step = 1e-6 * np.eye(4)
    numeric = [
        (model.log_density(v + step) - model.log_density(v - step)) / 2e-6 for v in STATES[:20]
    ]
    assert np.allclose(model.gradient(STATES[:20]), numeric, atol=1e-7)


@pytest.mark.parametrize("model", BOTH, ids=["leaky", "gaussian"])
def test_reduction_splits_the_density(model):
    weights = np.vstack([model.weights, np.zeros((2, 3))])
    bias = np.append(model.visible_bias, [0.7, -0.2])
    turn = stats.ortho_group.rvs(6, random_state=1)
    wide = model.with_(weights=turn @ weights, visible=model.visible.with_(bias=turn @ bias))
    small, span = wide.reduced()
    basis, b = span.basis, span.visible_bias
    assert small.n_visible == 3
    v = np.random.default_rng(2).normal(size=(20, 6))
    u = span.coordinates(v)
    rest = v - u @ basis.T
    constant = small.log_scale - (3 * np.log(2 * np.pi) + b @ b - (basis.T @ b) @ (basis.T @ b)) / 2
    assert constant == pytest.approx(0, abs=1e-12)
    outside = rest @ b - (rest**2).sum(axis=1) / 2
    inside = small.log_density(u) - small.log_scale
    assert np.allclose(wide.log_density(v), inside + outside, atol=1e-12)
    back = span(u, 0)
    assert np.allclose(span.coordinates(back), u)
    rows = small.weights @ small.weights.T
    assert np.allclose(rows, np.diag(np.diag(rows)))


def test_gibbs_moves_a_reduced_model_as_it_moves_the_whole():
    whole = orthogonal(20, 2, [0.9, 0.6], visible_bias=np.full(20, 0.1), leakiness=0.1)
    model, span = whole.reduced()
    start = np.tile(np.linspace(-1, 1, 20), (40_000, 1))
    one = whole.gibbs(start, np.random.default_rng(0))
    two = model.gibbs(span.coordinates(start), np.random.default_rng(1))
    a, b = span.coordinates(one), two
    p = [stats.ks_2samp(a[:, j], b[:, j]).pvalue for j in range(2)]
    p.append(stats.ks_2samp(one.sum(axis=1), span(two, 2).sum(axis=1)).pvalue)
    assert_no_rejection(p, "laws of a step", level=1e-4)


SLOPES = [(0.1, 0.9), (0.9, 0.1), (0.0, 0.9), (0.9, 0.0), (1.3, 0.4)]
SLANTED = np.array([[0.6, -0.4], [-0.1, 0.5]])
TURNED = np.array([[0.6, -0.3], [0.3, 0.6]])  # orthogonal columns


def of_slopes(weights, above, below):
    """A leaky model of two visible units; log Z and the mean of v by a sum over a fine grid."""
    rbm = rl.RBM(rl.Gaussian([0.3, -0.2]), rl.LeakyReLU([0.2, -0.4], above, below), weights)
    axis, step = np.linspace(-14, 14, 401, retstep=True)
    v = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    log_p = rbm.log_density(v)
    return rbm, log_sum(log_p) + 2 * np.log(step), np.exp(log_p - log_sum(log_p)) @ v


@pytest.mark.parametrize(("above", "below"), SLOPES)
@pytest.mark.parametrize("weights", [SLANTED, TURNED], ids=["slanted", "orthogonal"])
def test_draws_of_either_slope_have_the_mean_and_log_z_of_quadrature(weights, above, below):
    rbm, log_z, mean = of_slopes(weights, above, below)
    if weights is TURNED:
        z = z_score(rl.sample(rbm, 50_000, rng=0).states, mean)
        assert_no_rejection(two_sided(z), "means", level=1e-4)
        assert rbm.exact_log_z() == pytest.approx(log_z, abs=1e-3)
        more = np.vstack([weights, [0, 0]])
        wide = rbm.with_(visible=rl.Gaussian([0.3, -0.2, 0.6]), weights=more)
        beside = np.log(2 * np.pi) / 2 + 0.18
        assert wide.exact_log_z() == pytest.approx(log_z + beside, abs=1e-3)
    path, start = rl.LeakinessPath(rbm), "exact" if weights is TURNED else "chains"
    run = rl.bar(path, rl.schedules.linear(50), 500, rng=0, start=start)
    assert abs(run.log_z - log_z) < 4 * run.std_error < 0.15


EXACT = sorted(set(MOVES) - {"gibbs"})
DRAWN = np.random.default_rng(5)
BASIS = np.linalg.qr(DRAWN.normal(size=(12, 4)))[0]
PLAIN = LeakyRBM(0.9 * BASIS)  # the paper's Table 1, smaller
BIASED = LeakyRBM(BASIS * [0.9, 0.8, 0.7, 0.6], DRAWN.normal(size=12) * 0.3, [0.3, -0.5, 0.2, -0.1],
                  leakiness=0.1)  # fmt: skip
TILTED = LeakyRBM(0.25 * DRAWN.normal(size=(6, 3)), DRAWN.normal(size=6) * 0.3, [0.3, -0.5, 0.2],
                   leakiness=0.05)  # fmt: skip


def draws_of(rbm, small, n, seed):
    """Exact ones of the model on the span of the weights: by rejection if these are slanted."""
    if rbm is TILTED:
        return leaky_draws(small, n, np.random.default_rng(seed))
    return small.exact_samples(n, seed)


def after_sweeps(rbm, kernel, n_chains=60_000):
    """Of exact draws on the span of the weights after 16 sweeps: how E[eta^2 / 2; eta <= 0], the
    slope that AIS adds up, has changed, in standard errors; and p-values of the laws of the hidden
    fields against other exact draws."""
    small = rbm.reduced()[0]
    before = u = draws_of(rbm, small, n_chains, 0)
    stream = ChainStream(1, n_chains)
    for _ in range(16):
        u = MOVES[kernel](small, u, stream)
    old, new, fresh = (small.field(x) for x in (before, u, draws_of(rbm, small, 4 * n_chains, 2)))
    squares = ((np.minimum(eta, 0) ** 2).sum(axis=1) / 2 for eta in (new, old))
    change = z_score(np.subtract(*squares), 0.0)
    if rbm is PLAIN:  # all fields have one law, and are independent
        return change, [stats.ks_2samp(new.ravel(), fresh.ravel()).pvalue]
    return change, [stats.ks_2samp(*columns).pvalue for columns in zip(new.T, fresh.T, strict=True)]


@pytest.mark.parametrize("kernel", EXACT)
@pytest.mark.parametrize("rbm", [PLAIN, BIASED, TILTED], ids=["plain", "biased", "slanted"])
def test_exact_kernels_leave_the_model_invariant(rbm, kernel):
    change, p_values = after_sweeps(rbm, kernel)
    assert abs(change) < 4.5
    assert_no_rejection(p_values, "laws of fields", level=1e-5)


@pytest.mark.parametrize("rbm", [BIASED, TILTED], ids=["biased", "slanted"])
def test_base_draws_have_the_moments_of_the_gaussian(rbm):
    path, n = LeakinessPath(rbm), 40_000
    v = path.sample_base(n, ChainStream(1, n))
    mean, precision, _ = normal.gaussian(path.models[0])
    covariance = np.linalg.inv(precision)
    z = (v.mean(axis=0) - mean) / np.sqrt(np.diag(covariance) / n)
    assert np.abs(z).max() < 4.5
    np.testing.assert_allclose(np.cov(v.T), covariance, atol=0.05 * covariance.max())


def test_published_kernel_does_not():
    change, p_values = after_sweeps(PLAIN, "gibbs")
    assert change > 6
    assert min(p_values) < 1e-20
    assert abs(after_sweeps(PLAIN.with_leakiness(1.0), "gibbs")[0]) < 4.5  # at c = 1 it is exact


@pytest.mark.parametrize("kind", [LeakinessPath, EnergyPath])
def test_a_kernel_may_be_a_function_of_the_model(kind):
    def still(model, v, rng):
        seen.append(model.hidden.below)
        return v

    seen, path, betas = [], kind(TILTED, still), np.linspace(0, 1, 30)
    assert repr(path).endswith("kernel=still)")
    path.transition(path.sample_base(30, np.random.default_rng(0)), betas, ChainStream(1, 30))
    wanted = [path.at(b).hidden.below for b in betas]
    np.testing.assert_allclose(np.ravel(seen[0]), wanted)


@pytest.mark.parametrize("kernel", MOVES)
def test_a_beta_that_rounds_below_zero_is_the_base(kernel):
    """The fields go as the root of beta; differences may be taken a little beyond the ends."""
    path = EnergyPath(BIASED, MOVES[kernel])
    moved = [sweep(path, path.sample_base(20, ChainStream(1, 20)), beta, 2, ChainStream(2, 20))
             for beta in (0.0, -5e-248)]  # fmt: skip
    np.testing.assert_array_equal(moved[1], moved[0])
    assert np.isfinite(moved[0]).all()
