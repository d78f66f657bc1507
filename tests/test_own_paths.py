"""Paths of other kinds: written by a user, or of any two layers, they run under every estimator."""

import numpy as np
import pytest
from helpers_stats import all_states, log_sum

import rbmlib as rl
from rbmlib.numerics import ChainStream
from rbmlib.results import finished
from rbmlib.sampling.compiled import compiled

RNG = np.random.default_rng(0)
RBM = rl.BernoulliRBM(RNG.normal(size=(6, 4)), RNG.normal(size=6), RNG.normal(size=4))


class QPath(rl.Path):
    """The q-path of Masrani et al. (2021), whose points are no RBMs; moved by flips of units."""

    def __init__(self, rbm, base, q=0.9):
        self.line, self.q = rl.GeometricPath(rbm, base), q
        self.log_z_base, self.at = self.line.log_z_base, self.line.at
        self.sample_base = self.line.sample_base

    def log_density(self, v, beta):
        low, high = (1 - self.q) * self.line.log_density(v, [0.0, 1.0]).T[:, :, None]
        b = np.atleast_1d(beta)
        with np.errstate(divide="ignore"):
            mixed = np.logaddexp(np.log(1 - b) + low, np.log(b) + high) / (1 - self.q)
        return mixed if np.ndim(beta) else mixed[:, 0]

    def log_density_slope(self, v, beta):
        ends = np.clip(np.stack([np.atleast_1d(beta) - 1e-5, np.atleast_1d(beta) + 1e-5]), 0, 1)
        below, above = (self.log_density(v, b) for b in ends)
        slope = (above - below) / (ends[1] - ends[0])
        return slope if np.ndim(beta) else slope[:, 0]

    def transition(self, v, beta, rng):
        chains = np.arange(len(v))

        def own(v):
            return self.log_density(v, beta) if np.ndim(beta) == 0 else each(v)

        def each(v):
            betas, column = np.unique(beta, return_inverse=True)
            return self.log_density(v, betas)[chains, column]

        for i in range(v.shape[1]):
            other = v.copy()
            other[:, i] = 1 - other[:, i]
            accepted = np.log(rng.random((len(v), 1))[:, 0]) < own(other) - own(v)
            v = np.where(accepted[:, None], other, v)
        return v


@pytest.mark.statistical
def test_a_path_that_a_user_writes_runs_under_estimators_that_never_heard_of_it():
    path, truth = QPath(RBM, np.zeros(6)), rl.exact(RBM).log_z
    runs = [
        rl.ais(path, rl.schedules.linear(60), 200, rng=1),
        rl.reverse_ais(path, rl.schedules.linear(60), 200, rng=1, n_burn_in=20),
        rl.rts(path, rl.schedules.linear(6), 20, 200, rng=1),
    ]
    for run in runs:
        assert abs(run.log_z - truth) < 4 * run.std_error < 1.0, run.method
    with pytest.raises(TypeError, match="QPath has no joint log-density"):
        path.joint_transition(path.sample_base(3, RNG), 0.5, RNG)


W = 0.7 * RNG.normal(size=(4, 6))
LAYERS = {
    "bits": rl.Binary,
    "spins": rl.Spin,
    "categories": lambda bias: rl.Potts(bias, q=2),
    "normal": rl.Gaussian,
}
PAIRS = [(one, two) for one in LAYERS for two in LAYERS if (one, two) != ("normal", "normal")]


def model_of(visible, hidden) -> rl.RBM:
    b, a = np.linspace(-0.5, 0.5, 4), np.linspace(0.4, -0.4, 6)
    return rl.RBM(LAYERS[visible](b), LAYERS[hidden](a), W, log_scale=0.5)


@pytest.mark.statistical
@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_the_geometric_path_serves_every_pair_of_layers(pair):
    rbm = model_of(*pair)
    path, truth = rl.GeometricPath(rbm), rl.exact(rbm).log_z
    v = path.sample_base(30, np.random.default_rng(1))
    for beta in (0.0, 0.4, 1.0):
        np.testing.assert_allclose(path.log_density(v, beta), path.at(beta).log_density(v))
    np.testing.assert_allclose(path.at(0.0).log_z, path.log_z_base)
    ends = path.log_density(v, np.array([0.4 - 1e-5, 0.4 + 1e-5]))
    np.testing.assert_allclose(
        path.log_density_slope(v, 0.4), np.diff(ends)[:, 0] / 2e-5, rtol=1e-6
    )
    assert path.visible_of(v, 0).shape == (30, 4)
    for run in (
        rl.ais(path, rl.schedules.linear(40), 400, rng=0),
        rl.rts(path, rl.schedules.linear(6), 20, 300, rng=0),
    ):
        assert abs(run.log_z - truth) < 4.5 * run.std_error < 1.0


def test_the_mean_field_base_of_spins_is_that_of_the_bits_that_they_are():
    """A model without weights: each kind of unit finds its own rate."""
    rates = np.array([0.2, 0.5, 0.8])
    spins = rl.RBM(rl.Spin(np.log(rates / (1 - rates)) / 2), rl.Binary([0.0]), np.zeros((3, 1)))
    wanted = (rates + 0.05) / 1.1
    np.testing.assert_allclose(1 / (1 + np.exp(-2 * rl.mean_field_bias(spins))), wanted, rtol=1e-6)
    three = rl.RBM(rl.Potts(np.log([0.1, 0.3, 0.6]), q=3), rl.Binary([0.0]), np.zeros((3, 1)))
    share = np.exp(rl.mean_field_bias(three))
    np.testing.assert_allclose(share / share.sum(), np.array([0.15, 0.35, 0.65]) / 1.15, rtol=1e-6)


def test_a_polyline_goes_through_its_models_at_their_knots():
    models = [rl.BernoulliRBM(t * W, t * np.ones(4), t * np.ones(6)) for t in (0.0, 0.2, 1.0)]
    path, states = rl.Polyline(models, [0.0, 0.6, 1.0]), all_states(4)
    for knot, model in zip(path.knots, models, strict=True):
        np.testing.assert_array_equal(path.at(knot).weights, model.weights)
        np.testing.assert_allclose(path.log_density(states, knot), model.log_density(states))
    assert compiled(path) is None
    step = 1e-5
    for beta in (0.3, 0.8):
        up, down = (log_sum(path.log_density(states, beta + s)) for s in (step, -step))
        p = np.exp(path.log_density(states, beta) - log_sum(path.log_density(states, beta)))
        slope = p @ path.log_density_slope(states, beta)
        assert slope == pytest.approx((up - down) / (2 * step), rel=1e-6)


WRONG = {
    "models holds 1": lambda: rl.Polyline([RBM]),
    "models[0] is a str": lambda: rl.Polyline(["h20", RBM]),
    "models[0] is BernoulliRBM": lambda: rl.Polyline([RBM, RBM]),
    "models hold": lambda: rl.Polyline([rl.BernoulliRBM([[0.0]], [0.0], [0.0]), RBM]),
    "knots has shape": lambda: rl.Polyline([flat(), RBM], [0.0, 0.5, 1.0]),
    "base has weights": lambda: rl.GeometricPath(RBM, RBM),
}


def flat() -> rl.RBM:
    return rl.BernoulliRBM(np.zeros((6, 4)), np.zeros(6), np.zeros(4))


@pytest.mark.parametrize("message", WRONG)
def test_wrong_input_is_named(message):
    with pytest.raises((ValueError, TypeError)) as caught:
        WRONG[message]()
    assert str(caught.value).startswith(message)


def test_layers_of_another_number_of_states_are_no_base():
    """Three colours are not two: as a base they would shift log Z, and nothing would show it."""
    weights = np.random.default_rng(0).normal(size=(4, 6)) / 2
    three, two = (rl.RBM(rl.Binary(np.zeros(4)), rl.Potts(np.zeros(6), q=q), w)
                  for q, w in ((3, weights), (2, 0 * weights)))  # fmt: skip
    with pytest.raises(ValueError, match=r"base is .*: expected the layers of the target"):
        rl.GeometricPath(three, base=two)
    with pytest.raises(ValueError, match="expected layers of one kind"):
        rl.Polyline([two, three])


def test_units_without_a_conditional_need_a_move_of_their_own():
    """Hamiltonian moves would lead bits to real numbers."""
    hidden = rl.LeakyReLU(np.ones(2), above=0.5, below=0.1)
    base, target = (rl.RBM(rl.Binary(np.zeros(3)), hidden, w)
                    for w in (np.zeros((3, 2)), np.full((3, 2), 0.2)))  # fmt: skip
    with pytest.raises(ValueError, match="have no conditional: expected Gaussian visible units"):
        rl.Polyline([base, target])


def test_draws_are_of_models_whose_log_z_is_known():
    gaussian = rl.GaussianRBM(np.eye(4)[:, :2] * 0.9, np.zeros(4), np.ones(2))
    with pytest.raises(ValueError, match="its draws are not known in closed form"):
        gaussian.draw(10, 0)
    with pytest.raises(TypeError, match=r"\['visible_bias'\] are no parts of a model"):
        gaussian.with_(visible_bias=np.zeros(4))


def test_a_log_z_that_is_not_finite_is_refused_or_flagged():
    huge = rl.RBM(rl.Binary(np.zeros(3)), rl.Gaussian(np.zeros(2)), np.full((3, 2), 1e200))
    with (
        np.errstate(over="ignore", invalid="ignore"),
        pytest.raises(ValueError, match=r"log Z of .* is (inf|nan)"),
    ):
        rl.exact(huge)
    with pytest.warns(rl.ConvergenceWarning, match="log Z is not finite"):
        assert not finished("some", np.nan, 0.1, [], 10).converged


def test_a_subclass_that_moves_in_its_own_way_is_asked():
    """Compiled loops are entered by exact class."""

    class Still(rl.GeometricPath):
        def transition(self, v, beta, rng):
            return v

    rbm = rl.testsystems.random_rbm(8, 4, rng=0)
    run = rl.ais(Still(rbm, np.zeros(8)), rl.schedules.linear(20), 50, rng=0)
    begun = Still(rbm, np.zeros(8)).sample_base(50, ChainStream(0, 50))
    assert np.array_equal(run.states, begun)
