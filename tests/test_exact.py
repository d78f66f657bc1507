"""Enumeration: log Z and exact samples against sums over all (v, h); draws of tempered chains."""

from types import SimpleNamespace

import numpy as np
import pytest
from helpers_models import PUBLISHED, independent_rbm, on_threads, published
from helpers_stats import all_states, log_sum, rbm_table
from scipy.linalg import block_diag

import rbmlib as rl
from rbmlib import BernoulliRBM
from rbmlib.estimators.reverse_ais import checked_start
from rbmlib.estimators.sample import tempered
from rbmlib.models.enumeration import states

SHAPES = [(1, 1), (1, 4), (3, 5), (5, 3), (9, 2), (2, 9), (11, 11)]


def make(n_visible, n_hidden, seed=1, spread=1.5, log_scale=0.0):
    rng = np.random.default_rng(seed)
    return BernoulliRBM(
        rng.normal(scale=spread, size=(n_visible, n_hidden)),
        rng.normal(scale=spread, size=n_visible),
        rng.normal(scale=spread, size=n_hidden),
        log_scale=log_scale,
    )


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("log_scale", [0.0, 3.25])
def test_log_z_is_the_sum_over_all_pairs(shape, log_scale):
    rbm = make(*shape, log_scale=log_scale)
    estimate = rl.exact(rbm)
    assert estimate.log_z == pytest.approx(log_sum(rbm_table(rbm)), abs=1e-11)
    assert (estimate.std_error, estimate.interval) == (0, (estimate.log_z, estimate.log_z))
    assert estimate.converged
    assert estimate.details["n_states"] == 2 ** min(shape)
    assert on_threads(2, rl.exact, rbm).log_z == estimate.log_z


@pytest.mark.parametrize(
    ("shape", "spread"),
    [((700, 13), 0.4), ((13, 700), 0.4), ((30, 12), 10.0), ((30, 12), 60.0), ((90, 17), 1.5)],
)
def test_many_blocks_many_factors_and_large_weights(shape, spread):
    """Products of factors are cut before they overflow; above 600 nats of a unit none is made."""
    rbm = make(*shape, spread=spread)
    w, b, a = rbm.weights, rbm.visible_bias, rbm.hidden_bias
    if shape[0] < shape[1]:
        w, b, a = w.T, a, b
    h = all_states(min(shape))
    wanted = log_sum(h @ a + np.logaddexp(0, b + h @ w.T).sum(axis=1))
    assert rl.exact(rbm).log_z == pytest.approx(wanted, rel=1e-13)


FAR = BernoulliRBM(make(20, 12).weights, np.full(20, -900.0), np.linspace(-1, 1, 12))


# two hidden units that no weight joins to anything: each of them sees its bias
SILENT = rl.LeakyRBM([[0.6, 0, 0], [0, 0, 0]], [0.3, -0.5], [0.4, 0.7, -0.9], leakiness=0.2)
SIGHTED = rl.LeakyRBM([[0.6], [0]], [0.3, -0.5], [0.4], leakiness=0.2)
CLOSED = {
    "leaky units without weights": (SILENT, SIGHTED.exact_log_z() + (0.7**2 + 0.2 * 0.9**2) / 2),
    "independent": independent_rbm(np.linspace(-2, 2, 784), np.linspace(-1, 2, 12)),
    "a factor of 2 for each of 5,000 units": (BernoulliRBM(np.zeros((5000, 2)), np.zeros(5000),
                                                           np.zeros(2)), 5002 * np.log(2)),
    "strong weights below": (BernoulliRBM(np.full((50, 1), -100.0), np.zeros(50), [0.0]),
                             np.log(2.0**50 + 1)),
    "exp(bias) underflows": (FAR, np.logaddexp(0, FAR.hidden_bias).sum()),
}  # fmt: skip


@pytest.mark.parametrize(("rbm", "log_z"), CLOSED.values(), ids=CLOSED)
def test_log_z_in_closed_form(rbm, log_z):
    assert rl.exact(rbm).log_z == pytest.approx(log_z, abs=1e-9)


def test_log_z_of_a_union_is_the_sum_over_its_connected_parts():
    """40 parts of 3 x 2 units, 50 x 12, 4 x 60, and units without weights, in random order."""
    models = [make(3, 2, seed=seed) for seed in range(40)]
    models += [
        make(50, 12, seed=50),
        make(4, 60, seed=51),
        make(7, 5).with_(weights=np.zeros((7, 5))),
    ]
    weights = block_diag(*(model.weights for model in models))
    b = np.concatenate([model.visible_bias for model in models])
    a = np.concatenate([model.hidden_bias for model in models])
    v, h = (np.random.default_rng(0).permutation(n) for n in weights.shape)
    estimate = rl.exact(BernoulliRBM(weights[v][:, h], b[v], a[h], log_scale=2.0))
    wanted = 2 + sum(rl.exact(model).log_z for model in models)
    assert estimate.log_z == pytest.approx(wanted, abs=1e-10)
    assert estimate.details["n_states"] == 40 * 2**2 + 2**12 + 2**4


def test_potts_units_are_connected_by_any_of_their_columns():
    weights = np.zeros((4, 6))
    weights[0, 0], weights[3, 2], weights[1, 4] = 1.0, -2.0, 0.5  # units 0; 1 of the hidden layer
    rng = np.random.default_rng(3)
    rbm = rl.RBM(rl.Spin(rng.normal(size=4)), rl.Potts(rng.normal(size=6), q=3), weights)
    h = states(rbm.hidden, np.arange(9))
    terms = rbm.hidden.own(h) + rbm.visible.cumulant(h @ weights.T + rbm.visible_bias)
    assert rl.exact(rbm).log_z == pytest.approx(log_sum(terms), abs=1e-12)
    assert rl.exact(rbm).details["n_states"] == 3 + 2


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", PUBLISHED)
def test_published_models(name):
    assert round(rl.exact(published(name)).log_z, 6) == PUBLISHED[name]


class Known:
    """A model that no other file knows: log Z and draws by their usual names."""

    n_visible = 2

    def exact_log_z(self):
        return 1.5

    def exact_samples(self, n_samples, rng=None):
        return np.full((n_samples, 2), 0.5)


def test_a_model_says_itself_what_is_known_of_it():
    assert rl.exact(Known()).log_z == 1.5
    assert rl.sample(Known(), 3).states.shape == (3, 2)
    assert checked_start(SimpleNamespace(at=lambda beta: Known()), "exact", 3) == "exact"
    with pytest.raises(TypeError, match="rbm is a GaussianMixture: expected a BernoulliRBM"):
        rl.exact(rl.testsystems.two_gaussians())


COUNTED = {
    "bits": rl.testsystems.random_rbm(14, 8, coupling=2.5, rng=3),
    "spins": rl.RBM(rl.Spin(np.linspace(-0.4, 0.6, 9)), rl.Spin(np.linspace(-1, 1, 6)),
                    np.random.default_rng(1).normal(0, 0.5, (9, 6))),
}  # fmt: skip


@pytest.mark.parametrize("name", COUNTED)
def test_tempered_draws_have_the_means_and_covariances_of_the_model(name):
    rbm = COUNTED[name]
    draws, exact = tempered(rbm, 20_000, np.random.default_rng(0)), rl.sample(rbm, 200_000, 1)
    assert exact.exact
    assert not draws.exact
    assert draws.run.converged
    assert np.isin(draws.states, rbm.visible.values).all()
    # chains are looked at four times a round trip: a tenth of the draws count, or more
    error = exact.states.std(axis=0) / np.sqrt(len(draws.states) / 10)
    assert (np.abs(draws.states.mean(axis=0) - exact.states.mean(axis=0)) < 4 * error).all()
    one, two = (np.corrcoef(x.T) for x in (draws.states, exact.states))
    assert np.abs(one - two).max() < 4 / np.sqrt(len(draws.states) / 10)


def test_what_cannot_be_counted_is_tempered_and_says_so():
    rbm = rl.testsystems.random_rbm(60, 40, coupling=0.5, rng=0)
    draws = rl.sample(rbm, 150, rng=0)
    assert draws.states.shape == (150, 60)
    assert repr(draws).startswith("<150 states of 60 units, from tempered chains, ")
    np.testing.assert_array_equal(draws.states, rl.sample(rbm, 150, rng=0).states)


def test_exact_samples_of_a_density_beyond_exp():
    """Five units that are on add 2,000 nats to each log-density, and change nothing else."""
    weights = np.zeros((6, 2))
    weights[0] = 3.0
    rbm = BernoulliRBM(weights, [-3.0, *[400.0] * 5], [-1.0, -1.0])
    on, off = np.exp(-3) * (1 + np.exp(2)) ** 2, (1 + np.exp(-1)) ** 2
    mean = rbm.exact_samples(4000, 1)[:, 0].mean()
    assert abs(mean - on / (on + off)) < 0.04
