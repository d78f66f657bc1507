"""LeakyReLU and Gaussian-Bernoulli RBMs: densities, exact log Z and samples, reduction, errors."""

import numpy as np
import pandas as pd
import pytest
from helpers_stats import all_states, assert_no_rejection, log_sum, two_sided, z_score
from scipy import integrate, stats

import rbmlib as rl
from rbmbook.li2016.moves import MOVES, exact_draws
from rbmlib import GaussianRBM, LeakyRBM
from rbmlib.models import normal

RNG = np.random.default_rng(5)
W = RNG.normal(size=(4, 3)) * 0.3
B, A = RNG.normal(size=4) * 0.5, RNG.normal(size=3) * 0.5
LEAKY = LeakyRBM(W, B, A, leakiness=0.2)
GAUSSIAN = GaussianRBM(3 * W, B, A)
MODELS = [LEAKY, GAUSSIAN]
STATES = RNG.normal(size=(50, 4)) * 2


def orthogonal(n_visible, n_hidden, norms, **options):
    basis = np.linalg.qr(np.random.default_rng(0).normal(size=(n_visible, n_hidden)))[0]
    return LeakyRBM(basis * norms, **options)


@pytest.mark.parametrize("n_hidden", [5, 10, 20, 30])
def test_table_1_to_the_printed_digits(n_hidden):
    published = pd.read_csv(rl.datasets.committed("published/leaky_table1.csv"))
    printed = published.set_index("n_hidden").loc[n_hidden, "logz_exact"]
    assert f"{orthogonal(3072, n_hidden, 0.9).exact_log_z():.2f}" == f"{printed:.2f}"


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
    assert GAUSSIAN.log_density(v)[0] == pytest.approx(log_sum(joint), abs=1e-12)


@pytest.mark.parametrize("model", MODELS, ids=["leaky", "gaussian"])
def test_gradient(model):
    step = 1e-6 * np.eye(4)
    numeric = [
        (model.log_density(v + step) - model.log_density(v - step)) / 2e-6 for v in STATES[:20]
    ]
    assert np.allclose(model.gradient(STATES[:20]), numeric, atol=1e-7)


@pytest.mark.parametrize("model", MODELS, ids=["leaky", "gaussian"])
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


def test_log_z_of_orthogonal_columns_is_that_of_quadrature():
    rbm = LeakyRBM(np.diag([0.9, -0.5]), [0.4, -0.3], [0.3, -0.8], leakiness=0.05, log_scale=0.5)

    def density(y, x):
        return np.exp(rbm.log_density([[x, y]])[0])

    value, _ = integrate.dblquad(density, -30, 30, -30, 30, epsabs=1e-9)
    assert rbm.exact_log_z() == pytest.approx(np.log(value), abs=1e-5)
    wide = LeakyRBM(np.vstack([rbm.weights, np.zeros((1, 2))]), [0.4, -0.3, 0.6], [0.3, -0.8],
                    leakiness=0.05)  # fmt: skip
    expected = np.log(value) - 0.5 + np.log(2 * np.pi) / 2 + 0.18
    assert wide.exact_log_z() == pytest.approx(expected, abs=1e-5)


def test_gaussian_of_leakiness_one():
    rbm = LeakyRBM(W[:2], B[:2], A, leakiness=1.0)
    mean, precision, log_z = normal.gaussian(rbm)

    def density(y, x):
        return np.exp(rbm.log_density([[x, y]])[0])

    value, _ = integrate.dblquad(density, -20, 20, -20, 20)
    assert log_z == pytest.approx(np.log(value), abs=1e-7)
    assert np.allclose(rbm.gradient(mean), 0)
    assert np.allclose(np.eye(2) - W[:2] @ W[:2].T, precision)


def test_exact_samples_of_orthogonal_columns():
    rbm = orthogonal(5, 2, [0.9, 0.5], visible_bias=np.full(5, 0.2), hidden_bias=[0.5, -0.4],
                     leakiness=0.05)  # fmt: skip
    model, span = rbm.reduced()
    u = span.coordinates(rbm.exact_samples(20_000, 0))
    log_mass, mean, sd, end = normal.pieces(model)
    p = []
    for j in range(2):
        share = np.exp(log_mass[:, j] - log_sum(log_mass[:, j]))
        below, above = (stats.norm(mean[i, j], sd[i, j]) for i in (0, 1))
        x, cut = u[:, j], end[j]
        cdf = np.where(
            x <= cut,
            share[0] * below.cdf(x) / below.cdf(cut),
            share[0] + share[1] * (1 - above.sf(x) / above.sf(cut)),
        )
        p.append(stats.kstest(cdf, "uniform").pvalue)
    assert_no_rejection(p, "directions", level=1e-4)


def test_exact_samples_by_rejection_have_the_gradient_of_their_density():
    """E[d log p] = 0 and E[v d log p] = -1: Stein's identities hold for the model only."""
    v = exact_draws(LEAKY, 20_000, np.random.default_rng(1))
    slope = LEAKY.gradient(v)
    z = np.concatenate([z_score(slope, 0.0), z_score(v * slope, -1.0)])
    assert_no_rejection(two_sided(z), "Stein's identities", level=1e-4)
    wrong = LEAKY.with_leakiness(1.0).exact_samples(20_000, 1)
    assert np.abs(z_score(LEAKY.gradient(wrong), 0.0)).max() > 8


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
    path, start = rl.LeakinessPath(rbm), "exact" if weights is TURNED else "chains"
    run = rl.bar(path, rl.schedules.linear(50), 500, rng=0, start=start)
    assert abs(run.log_z - log_z) < 4 * run.std_error < 0.15


@pytest.mark.parametrize("kernel", ["gibbs", "blockwise"])
@pytest.mark.parametrize(("above", "below"), SLOPES)
def test_kernels_of_orthogonal_columns_take_any_slopes(kernel, above, below):
    rbm, log_z, _ = of_slopes(TURNED, above, below)
    run = rl.ais(rl.LeakinessPath(rbm, MOVES[kernel]), rl.schedules.linear(100), 500, rng=0)
    assert abs(run.log_z - log_z) < 4 * run.std_error + 0.02 * (kernel == "gibbs")
    assert abs(rl.exact(rbm).log_z - log_z) < 1e-4


def test_weights_that_are_not_positive_definite():
    with pytest.raises(ValueError, match=r"weights has a largest singular value of 2 \(1 of 2 are"):
        LeakyRBM(np.diag([2.0, 0.5]))
    with pytest.raises(ValueError, match=r"eigenvalue -3 .*project the weights"):
        LeakyRBM(np.diag([2.0, 0.5]))
    start = np.random.default_rng(0).uniform(0, 0.01, size=(3072, 500))  # the paper's
    with pytest.raises(ValueError, match=r"largest singular value of 6\.2"):
        LeakyRBM(start)
    LeakyRBM(np.diag([0.999999, 0.5]))


@pytest.mark.parametrize("leakiness", [0, -0.1, 1.01, np.nan, "some", None, True])
def test_leakiness_outside(leakiness):
    with pytest.raises(ValueError, match=r"leakiness is .*: expected a number in \(0, 1\]"):
        LeakyRBM(W, leakiness=leakiness)
    with pytest.raises(ValueError, match="leakiness is"):
        LEAKY.with_leakiness(leakiness)


@pytest.mark.parametrize("kind", [LeakyRBM, GaussianRBM])
def test_bad_parameters(kind):
    for arguments, message in [
        ((None,), "weights is not an array"), ((W[0],), "weights has shape"),
        ((W * np.nan,), "weights holds 12 NaN"), ((W, B[:2]), "visible_bias has shape"),
        ((W, B, B), "hidden_bias has shape"), ((np.zeros((0, 3)),), "weights has shape"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=message):
            kind(*arguments)
    with pytest.raises(ValueError, match="visible has shape"):
        kind(W).log_density(np.zeros((2, 3)))


def test_exact_log_z_needs_orthogonal_columns():
    with pytest.raises(ValueError, match="weights has columns that are not orthogonal"):
        LEAKY.exact_log_z()


# files --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rbm",
    [
        rl.LeakyRBM(np.eye(4, 2) * 0.7, [0.1, 0, 0, -1], [0.5, 2.0], leakiness=0.2, log_scale=3.0),
        rl.GaussianRBM(np.ones((4, 2)), [0.1, 0, 0, -1], [0.5, 2.0]),
    ],
    ids=["leaky", "gaussian"],
)
def test_models_are_saved_in_single_precision_and_read_back(rbm, tmp_path):
    rbm.save(tmp_path / "rbm.npz")
    again = rl.RBM.load(tmp_path / "rbm.npz")
    assert type(again) is type(rbm)
    v = np.random.default_rng(0).normal(size=(5, 4))
    np.testing.assert_allclose(again.log_density(v), rbm.log_density(v), rtol=1e-6)
    assert [path.name for path in tmp_path.iterdir()] == ["rbm.npz"]
    for read in (type(rbm).load, rl.load_rbm):
        assert type(read(tmp_path / "rbm.npz")) is type(rbm)


def test_a_model_of_another_kind_is_not_read_as_one(tmp_path):
    """A file of a Gaussian model has the arrays of a Bernoulli RBM, and another log Z."""
    rl.LeakyRBM(0.5 * np.eye(4)).save(tmp_path / "leaky.npz")
    rl.GaussianRBM(0.5 * np.eye(4)).save(tmp_path / "gaussian.npz")
    for name in ("leaky", "gaussian"):
        with pytest.raises(
            ValueError, match=f"{name}.npz holds a {name.title()}RBM: expected a Be"
        ):
            rl.BernoulliRBM.load(tmp_path / f"{name}.npz")
    with pytest.raises(ValueError, match="holds a GaussianRBM: expected a LeakyRBM"):
        rl.LeakyRBM.load(tmp_path / "gaussian.npz")


def test_other_files_hold_no_such_model(tmp_path):
    np.savez(tmp_path / "other.npz", weights=np.ones((2, 2)))
    (tmp_path / "text.npz").write_text("no archive")
    for name, words in (
        ("other", "holds 'weights', names that do not tell visible_bias"),
        ("text", "is damaged"),
    ):
        with pytest.raises(ValueError, match=rf"{name}\.npz.* {words}"):
            rl.GaussianRBM.load(tmp_path / f"{name}.npz")
    with pytest.raises(ValueError, match=r"models are saved as \.npz"):
        rl.GaussianRBM(np.ones((2, 2))).save(tmp_path / "rbm.mat")
