"""Paths: geometric, through models, written by a user, of averaged moments."""

import warnings

import numpy as np
import pytest
from helpers_stats import (
    all_states,
    geometric_tables,
    joint_table,
    log_sum,
    probabilities,
    rbm_table,
)

import rbmlib as rl
from rbmbook import moments as code
from rbmlib import BernoulliRBM, GeometricPath
from rbmlib.numerics import ChainStream
from rbmlib.results import finished
from rbmlib.sampling.compiled import compiled
from rbmlib.sampling.temper import drawn

RNG = np.random.default_rng(5)
W, B, A = RNG.normal(size=(5, 3)), RNG.normal(size=5), RNG.normal(size=3)
TARGET = BernoulliRBM(W, B, A, log_scale=-1.75)
BASE_BITS = np.array([0.3, -0.8, 0.0, 1.1, -2.0])
BASE_HIDDEN = np.array([0.7, -0.4, 1.3])
BASE_RBM = BernoulliRBM(np.zeros((5, 3)), BASE_BITS, BASE_HIDDEN)
BETAS = [0.0, 0.1, 0.5, 0.93, 1.0]


def make_path(kind: str) -> GeometricPath:
    bases = {"bias": BASE_BITS, "rbm": BASE_RBM, "mean_field": "mean_field", "uniform": None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return GeometricPath(TARGET, base=bases[kind])


@pytest.fixture(params=["bias", "rbm", "mean_field", "uniform"])
def path(request) -> GeometricPath:
    return make_path(request.param)


def base_and_target(path):
    """Joint log-densities of the two ends, from parameters the test knows."""
    base = joint_table(np.zeros((5, 3)), path.models[0].visible_bias, path.models[0].hidden_bias)
    return base, joint_table(W, B, A) - 1.75


def test_ends_and_middle_are_the_geometric_path(path):
    """log p*_beta(v, h) is linear in beta between the ends, for every pair of states."""
    base, target = base_and_target(path)
    for beta in BETAS:
        model = path.at(beta)
        np.testing.assert_allclose(
            rbm_table(model), geometric_tables(base, target, beta), atol=1e-12
        )
    assert not path.at(0.0).weights.any()


def test_base_rate_of_bits_and_of_pixels():
    rng = np.random.default_rng(0)
    pixels = rng.random((50, 4)) * [1.0, 0.5, 0.1, 0.0]
    for data in (pixels, pixels > 0.3, (pixels > 0.3).astype(np.uint8)):
        rate = np.mean(np.asarray(data, float), axis=0)
        probability = 1 / (1 + np.exp(-rl.base_rate(data)))
        np.testing.assert_allclose(probability, (rate + 0.05) / 1.1, rtol=1e-12)
        wide = 1 / (1 + np.exp(-rl.base_rate(data, smoothing=1.0)))
        np.testing.assert_allclose(wide, (rate + 1) / 3, rtol=1e-12)


def test_base_rate_does_not_overflow_bytes():
    """The mean of 1,000 bytes of 1 is 1, not a sum modulo 256."""
    data = np.ones((1000, 1), np.uint8)
    assert 1 / (1 + np.exp(-rl.base_rate(data)[0])) == pytest.approx(1.05 / 1.1)


def test_mean_field_covers_both_modes():
    """Two equal modes, all units on or all off: a base that sits in one would miss the other."""
    w = np.full((12, 4), 2.0)
    rbm = BernoulliRBM(w, np.full(12, -4.0), np.full(4, -12.0))
    first, again = rl.mean_field_bias(rbm), rl.mean_field_bias(rbm)
    np.testing.assert_array_equal(first, again)
    rate = 1 / (1 + np.exp(-first))
    assert ((rate > 0.2) & (rate < 0.8)).all()


def test_uniform_base_warns_and_the_others_do_not():
    with pytest.warns(UserWarning, match="uniform base") as caught:
        path = GeometricPath(TARGET, base=None)
    assert caught[0].filename == __file__, "the warning should point at the caller"
    assert path.base_name == "uniform"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for base in (BASE_BITS, BASE_RBM, "mean_field"):
            GeometricPath(TARGET, base=base)


def test_a_uniform_beyond_the_sum_of_shares_draws_the_last_beta():
    """The shares may add up to less than the uniform, for rounding."""
    shares = np.full((2, 7), 1 / 7)
    assert drawn(shares, np.array([[1 + 1e-12], [0.0]])).tolist() == [6, 0]
    assert drawn(np.full((2, 4), 0.25), np.array([[1.5], [0.6]])).tolist() == [3, 2]


DRAWN = np.random.default_rng(0)
RBM = rl.BernoulliRBM(DRAWN.normal(size=(6, 4)), DRAWN.normal(size=6), DRAWN.normal(size=4))
PAIRED = 0.7 * DRAWN.normal(size=(4, 6))
LAYERS = {
    "bits": rl.Binary,
    "spins": rl.Spin,
    "categories": lambda bias: rl.Potts(bias, q=2),
    "normal": rl.Gaussian,
}
PAIRS = [(one, two) for one in LAYERS for two in LAYERS if (one, two) != ("normal", "normal")]


def model_of(visible, hidden) -> rl.RBM:
    b, a = np.linspace(-0.5, 0.5, 4), np.linspace(0.4, -0.4, 6)
    return rl.RBM(LAYERS[visible](b), LAYERS[hidden](a), PAIRED, log_scale=0.5)


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_the_geometric_path_serves_every_pair_of_layers(pair):
    rbm = model_of(*pair)
    path = rl.GeometricPath(rbm)
    v = path.sample_base(30, np.random.default_rng(1))
    for beta in (0.0, 0.4, 1.0):
        np.testing.assert_allclose(path.log_density(v, beta), path.at(beta).log_density(v))
    np.testing.assert_allclose(path.at(0.0).log_z, path.log_z_base)
    ends = path.log_density(v, np.array([0.4 - 1e-5, 0.4 + 1e-5]))
    np.testing.assert_allclose(
        path.log_density_slope(v, 0.4), np.diff(ends)[:, 0] / 2e-5, rtol=1e-6
    )
    assert path.visible_of(v, 0).shape == (30, 4)


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
    models = [rl.BernoulliRBM(t * PAIRED, t * np.ones(4), t * np.ones(6)) for t in (0.0, 0.2, 1.0)]
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


def test_layers_of_another_number_of_states_are_no_base():
    """Three colours are not two: as a base they would shift log Z, and nothing would show it."""
    weights = np.random.default_rng(0).normal(size=(4, 6)) / 2
    three, two = (rl.RBM(rl.Binary(np.zeros(4)), rl.Potts(np.zeros(6), q=q), w)
                  for q, w in ((3, weights), (2, 0 * weights)))  # fmt: skip
    with pytest.raises(ValueError, match=r"base is .*: expected the layers of the target"):
        rl.GeometricPath(three, base=two)
    with pytest.raises(ValueError, match="base has weights"):
        rl.GeometricPath(three, base=three)
    with pytest.raises(ValueError, match="expected layers of one kind"):
        rl.Polyline([two, three])


def test_units_without_a_conditional_need_a_move_of_their_own():
    """Hamiltonian moves would lead bits to real numbers."""
    hidden = rl.LeakyReLU(np.ones(2), above=0.5, below=0.1)
    base, target = (rl.RBM(rl.Binary(np.zeros(3)), hidden, w)
                    for w in (np.zeros((3, 2)), np.full((3, 2), 0.2)))  # fmt: skip
    with pytest.raises(ValueError, match="have no conditional: expected Gaussian visible units"):
        rl.Polyline([base, target])


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


@pytest.fixture(scope="module")
def coupled():
    return rl.testsystems.random_rbm(6, 4, coupling=3.0, rng=1)


@pytest.fixture(scope="module")
def fitted(coupled):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(code, "N_CHAINS", 500)
        base = np.linspace(-1, 1, 6)
        return code.moment_averaging_path(coupled, base, n_knots=3, n_updates=1000, rng=0)


@pytest.fixture
def averaged(fitted):
    return fitted[0]


def moments(rbm):
    """E[v], E[h], E[v h'] by summing over all states."""
    p = probabilities(rbm_table(rbm))
    v, h = all_states(rbm.n_visible), all_states(rbm.n_hidden)
    return p.sum(axis=1) @ v, p.sum(axis=0) @ h, v.T @ p @ h


def test_knots_have_averaged_moments(coupled, averaged, fitted):
    """And the geometric path, the other way to average, has not."""
    first, last = moments(averaged.at(0.0)), moments(coupled)
    geometric = rl.GeometricPath(coupled, np.linspace(-1, 1, 6))
    distance = {"fitted": [], "geometric": []}
    for beta, knot in zip(averaged.knots[1:-1], averaged.models[1:-1], strict=True):
        for name, model in (("fitted", knot), ("geometric", geometric.at(beta))):
            gaps = [
                np.abs(got - (1 - beta) * a - beta * b).max()
                for got, a, b in zip(moments(model), first, last, strict=True)
            ]
            distance[name].append(max(gaps))
    # 500 chains: an average moment is known to about 0.5 / sqrt(500 x 50 sweeps apart)
    assert max(distance["fitted"]) < 0.03
    assert min(distance["geometric"]) > max(distance["fitted"])
    assert fitted[1].shape == (3,)
    assert fitted[1].max() < 0.02


def test_fits_stand_at_their_knots_and_the_second_half_is_averaged(monkeypatch):
    """With steps of next to no length every fit stays at the target. What it misses is then
    1 - beta of the way to the base, and it moves by that times the sum of its rates: of four
    updates 1, r, r^2, r^3, r = 0.1^(1/4), where the last two are averaged."""
    rbm, rate = rl.testsystems.random_rbm(6, 4, coupling=3.0, rng=1), 1e-7
    monkeypatch.setattr(code, "N_CHAINS", 1000)
    monkeypatch.setattr(code, "RATE", rate)
    base = np.linspace(-1, 1, 6)
    path, fits = code.moment_averaging_path(rbm, base, n_knots=3, n_updates=4, rng=0)
    missed = fits / (1 - path.knots[1:-1])
    np.testing.assert_allclose(missed, missed.mean(), rtol=0.1)
    step = (path.models[1].weights - path.models[2].weights) / rate
    r = 0.1**0.25
    moved = np.sqrt(np.mean(step**2)) / fits[0]
    assert moved == pytest.approx(1 + r + r**2 + r**3 / 2, rel=0.08)
