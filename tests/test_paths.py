"""Annealing paths: what every one keeps, of which a new path is one more line of CASES; bases.

Truths are sums of ``path.log_density`` over a table of all states: bits, or a grid of the plane.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from helpers_stats import (
    all_states,
    assert_no_rejection,
    chi_square_p,
    geometric_tables,
    log_sum,
    probabilities,
    rbm_table,
    two_sided,
    z_score,
)
from scipy.special import expit

import rbmlib as rl
from rbmbook.paths import GaussianBasePath, SinglePrecisionBasePath
from rbmbook.step_sizes import Walk
from rbmlib import BernoulliRBM, GaussianRBM, GeometricPath, LeakyRBM
from rbmlib.models.testsystems import GaussianMixture
from rbmlib.numerics import ChainStream
from rbmlib.results import finished
from rbmlib.sampling.anneal import anneal as annealed
from rbmlib.sampling.anneal import sweep as swept
from rbmlib.sampling.compiled import compiled
from rbmlib.sampling.temper import drawn

RNG = np.random.default_rng(5)
BERNOULLI = BernoulliRBM(RNG.normal(size=(5, 3)), RNG.normal(size=5), RNG.normal(size=3),
                         log_scale=-1.75)  # fmt: skip
EARLY = 0.3 * BERNOULLI.weights[::-1], 0.5 * BERNOULLI.visible_bias, BERNOULLI.hidden_bias
BASE = BernoulliRBM(np.zeros((5, 3)), [0.3, -0.8, 0.0, 1.1, -2.0], [0.7, -0.4, 1.3])
SLANTED = LeakyRBM(0.35 * RNG.normal(size=(4, 2)), 0.3 * RNG.normal(size=4), [0.3, -0.5],
                   leakiness=0.05)  # fmt: skip
UPRIGHT = LeakyRBM(np.linalg.qr(RNG.normal(size=(4, 2)))[0] * [0.8, 0.6], 0.3 * RNG.normal(size=4),
                   [0.3, -0.5], leakiness=0.1, log_scale=0.4)  # fmt: skip
GAUSSIAN = GaussianRBM(0.6 * RNG.normal(size=(4, 2)), 0.3 * RNG.normal(size=4), [0.3, -0.5])
VISIBLE = RNG.normal(size=(200, 4)) * [1.5, 1.0, 1.2, 0.8] + [0.3, 0.0, -0.4, 0.1]
MIXTURE = GaussianMixture([[-1.0, 0.5], *[[2.0, 0.5]] * 3], 0.3)
KNOTS = [0, 0.4, 1]
CASES = {
    "geometric": lambda: rl.GeometricPath(BERNOULLI),
    "geometric from biases": lambda: rl.GeometricPath(BERNOULLI, BASE.visible_bias),
    "geometric from an RBM": lambda: rl.GeometricPath(BERNOULLI, BASE),
    "through a model": lambda: rl.Polyline([BASE, BernoulliRBM(*EARLY), BERNOULLI]),
    "leakiness, hmc": lambda: rl.LeakinessPath(SLANTED),
    "leakiness, upright": lambda: rl.LeakinessPath(UPRIGHT),
    "energy, hmc": lambda: rl.EnergyPath(SLANTED),
    "energy, upright": lambda: rl.EnergyPath(UPRIGHT),
    "gaussian geometric": lambda: rl.GeometricPath(GAUSSIAN),
    "fitted to leaky": lambda: GaussianBasePath(UPRIGHT, VISIBLE),
    "fitted to leaky, trajectories": lambda: GaussianBasePath(UPRIGHT, VISIBLE, n_leapfrog=5),
    "fitted to leaky, single": lambda: SinglePrecisionBasePath(UPRIGHT, VISIBLE, n_leapfrog=5),
    "fitted to gaussian": lambda: GaussianBasePath(GAUSSIAN, VISIBLE),
    "density, hmc": lambda: rl.DensityPath(MIXTURE, 6.0, step_sizes=0.8),
    "density, random walk": lambda: Walk(MIXTURE, 6.0, step_sizes=[3, 1.2, 0.8], step_betas=KNOTS),
}
BETAS = np.array([0.0, 0.37, 1.0])  # no knot but the ends


def stream_of(seed, n_chains, first=0) -> ChainStream:
    return ChainStream(None, n_chains, first, seed=seed)


class Generic:
    """A path of which the loops know the five methods alone: theirs are NumPy's."""

    def __init__(self, path):
        names = ("log_z_base", "log_density", "log_density_slope", "transition", "sample_base")
        for name in names:
            setattr(self, name, getattr(path, name))


class Table(NamedTuple):
    """All states of a path, at BETAS."""

    states: np.ndarray
    log_p: np.ndarray  # (n_states, 3), log of the volume of a cell included
    cells: np.ndarray  # what of two real numbers a state stands for: a square with this side
    edges: list  # of coarse bins of each coordinate

    def draws(self, k: int, n: int, rng) -> np.ndarray:
        """Exact draws at BETAS[k]."""
        p = probabilities(self.log_p[:, k])
        x = self.states[rng.choice(len(p), n, p=p)]
        return (x + self.cells * (rng.random(x.shape) - 0.5)).astype(x.dtype)

    def bins(self, x) -> np.ndarray:
        """Index of the coarse bin of each state."""
        index = np.zeros(len(x), int)
        for column, edges in zip(np.transpose(x), self.edges, strict=True):
            index = index * (len(edges) + 1) + np.searchsorted(edges, column)
        return index

    def p_value(self, x, k: int) -> float:
        """Of the bins of draws from p at BETAS[k]."""
        p = np.bincount(self.bins(self.states), probabilities(self.log_p[:, k]))
        return chi_square_p(self.bins(x), p)


path_of = cache(lambda name: CASES[name]())


@cache
def table_of(name) -> Table:
    path = path_of(name)
    start = path.sample_base(1, np.random.default_rng(0))
    if isinstance(path.at(1.0), BernoulliRBM):
        states = all_states(start.shape[1]).astype(start.dtype)
        edges = [[0.5]] * start.shape[1]
        return Table(states, path.log_density(states, BETAS), np.array(0.0), edges)
    side, line = 0.1, np.arange(-16, 16.01, 0.1)
    states = np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2)
    log_p = path.log_density(states, BETAS) + 2 * np.log(side)
    edges = [line[np.searchsorted(line, np.array([-2, -1, -0.5, 0, 0.5, 1, 2]))] + side / 2] * 2
    return Table(states, log_p, np.array(side), edges)


@pytest.fixture(params=CASES)
def case(request):
    return path_of(request.param), table_of(request.param)


@pytest.fixture
def path(case):
    return case[0]


@pytest.fixture
def table(case):
    return case[1]


@pytest.fixture
def some(path):
    return path.sample_base(20, np.random.default_rng(0))


# densities ----------------------------------------------------------------------------------


def holds_its_densities(path, states):
    found = path.log_density(states, BETAS)
    assert found.shape == (len(states), 3)
    for k, beta in enumerate(BETAS):
        point = path.at(beta)
        assert point.n_visible == states.shape[1]
        np.testing.assert_allclose(found[:, k], point.log_density(states), rtol=1e-10)
        np.testing.assert_allclose(path.log_density(states, beta), found[:, k], rtol=1e-12)
    for beta in (0.1, 0.55, 0.93):
        ends = path.log_density(states, np.array([beta - 1e-5, beta + 1e-5]))
        slope = path.log_density_slope(states, beta)
        np.testing.assert_allclose(slope, np.diff(ends)[:, 0] / 2e-5, rtol=1e-6, atol=1e-6)


def test_at_is_the_density_at_every_beta_and_the_slope_its_derivative(path, some):
    holds_its_densities(path, some)


def test_log_z_base_is_that_of_at_0(path, table):
    assert path.log_z_base == pytest.approx(log_sum(table.log_p[:, 0]), abs=1e-9)


# draws --------------------------------------------------------------------------------------


@pytest.mark.statistical
def test_base_draws_have_the_base_distribution(path, table):
    state = path.sample_base(20_000, ChainStream(1, 20_000))
    assert len(state) == 20_000
    assert table.p_value(state, 0) > 1e-4


@pytest.mark.always
@pytest.mark.statistical
def test_moves_leave_every_beta_invariant(path, table):
    """Exact draws, then 5 steps by each loop of the path: still exact draws, but others."""
    n, p, rng = 10_000, [], np.random.default_rng(2)
    for k, beta in enumerate(BETAS):
        start = table.draws(k, n, rng)
        for loops in (path, Generic(path)):  # compiled ones, where there are some, and NumPy's
            moved = swept(loops, start, beta, 5, stream_of(3, n, k * n))
            assert (moved != start).any(axis=1).mean() > 0.5
            p.append(table.p_value(moved, k))
    assert_no_rejection(p, "betas", 1e-3)


@pytest.mark.parametrize("by", ["transition", "sweep"])
def test_each_chain_may_have_its_own_beta(path, some, by):
    def moved(beta, chains):
        state = some[chains]
        stream = stream_of(9, len(state), chains.start)
        if by == "sweep":
            return swept(path, state, beta, 2, stream)
        return path.transition(state, beta, stream)

    together = moved(np.resize(BETAS, 20), slice(0, 20))
    alone = [moved(beta, slice(i, i + 1)) for i, beta in enumerate(np.resize(BETAS, 20))]
    rtol, atol = 1e-9, 1e-12
    if isinstance(path, SinglePrecisionBasePath):  # BLAS sums one row in another order than many
        rtol = atol = 64 * np.finfo(np.float32).eps
    np.testing.assert_allclose(together, np.concatenate(alone), rtol=rtol, atol=atol)


@pytest.mark.statistical
def test_joint_slope_has_the_mean_of_the_derivative_of_log_z(path, table):
    if not path.joint:
        stream = ChainStream(5, len(table.states))
        with pytest.raises(TypeError, match="no joint log-density"):
            path.joint_transition(table.states, 0.5, stream)
        return
    n, h, p, rng = 10_000, 1e-4, [], np.random.default_rng(4)
    for k, beta in enumerate(BETAS):
        start = table.draws(k, n, rng)
        state, slopes = path.joint_transition(start, beta, stream_of(5, n, k * n))
        same = path.transition(start, beta, stream_of(5, n, k * n))
        np.testing.assert_array_equal(state, same)
        ends = np.clip([beta - h, beta + h], 0, 1)
        log_z = log_sum(path.log_density(table.states, ends), axis=0)
        p.append(two_sided(z_score(slopes, np.diff(log_z)[0] / np.diff(ends)[0])))
    assert_no_rejection(p, "betas", 1e-3)


def test_annealed_chains_do_not_depend_on_their_neighbours(path):
    def run(first, last):
        stream = stream_of(4, last - first, first)
        state = path.sample_base(last - first, stream)
        return np.column_stack(annealed(path, state, rl.schedules.linear(8), stream))

    np.testing.assert_allclose(run(0, 10)[6:], run(6, 10), rtol=1e-9, atol=1e-12)


# annealing ----------------------------------------------------------------------------------


# states -------------------------------------------------------------------------------------


def test_visible_units_are_those_of_the_whole_model(path, some):
    model = path.target if isinstance(path, rl.DensityPath) else path.rbm
    visible = path.visible_of(some, 0)
    assert visible.shape == (20, model.n_visible)
    np.testing.assert_array_equal(visible, path.visible_of(some, 0))
    few = path.visible_of(some[6:], stream_of(8, 14, 6))
    np.testing.assert_allclose(few, path.visible_of(some, stream_of(8, 20, 0))[6:])


def test_every_path_is_in_the_list():
    public = {thing for thing in vars(rl).values() if isinstance(thing, type)}
    general = {rl.Path, rl.Polyline}
    paths = {thing for thing in public if issubclass(thing, rl.Path)} - general
    inner = {GaussianBasePath, SinglePrecisionBasePath, Walk}  # of the chapters
    assert {type(path_of(name)) for name in CASES} == paths | inner | {rl.Polyline}


SOME = ["geometric", "through a model", "leakiness, hmc", "gaussian geometric", "density, hmc"]


@pytest.mark.parametrize("case", SOME, indirect=True)
def test_log_z_takes_every_path(path, table):
    estimate = rl.log_z(path, n_steps=300, n_chains=200, rng=0)
    truth = log_sum(table.log_p[:, 2])
    assert abs(estimate.log_z - truth) < 4 * estimate.std_error + 0.002
    assert estimate.verdict == "consistent"
    assert "checks passed (one base, forward and reverse runs)" in estimate.reason
    assert estimate.details["first_base"] != estimate.details["second_base"]


@pytest.mark.parametrize("base", [BASE.visible_bias, BASE, "mean_field", None], ids=str)
@pytest.mark.filterwarnings("ignore:the uniform base")
def test_ends_and_middle_are_the_geometric_path(base):
    path = GeometricPath(BERNOULLI, base=base)
    start, target = rbm_table(path.models[0]), rbm_table(BERNOULLI)
    for beta in (0.0, 0.1, 0.5, 0.93, 1.0):
        wanted = geometric_tables(start, target, beta)
        np.testing.assert_allclose(rbm_table(path.at(beta)), wanted, atol=1e-12)
    assert not path.at(0.0).weights.any()


def test_base_rate_of_bits_and_of_pixels():
    pixels = np.random.default_rng(0).random((50, 4)) * [1.0, 0.5, 0.1, 0.0]
    bytes_of_1 = np.ones((1000, 4), np.uint8)  # whose sum is no sum modulo 256
    for data in (pixels, pixels > 0.3, bytes_of_1):
        rate = np.mean(np.asarray(data, float), axis=0)
        for s, given in ((0.05, {}), (1.0, {"smoothing": 1.0})):
            probability = expit(rl.base_rate(data, **given))
            np.testing.assert_allclose(probability, (rate + s) / (1 + 2 * s), rtol=1e-12)


def test_mean_field_covers_both_modes():
    """Two equal modes, all units on or all off: a base that sits in one would miss the other."""
    rbm = BernoulliRBM(np.full((12, 4), 2.0), np.full(12, -4.0), np.full(4, -12.0))
    rate = expit(rl.mean_field_bias(rbm))
    assert ((rate > 0.2) & (rate < 0.8)).all()


@pytest.mark.filterwarnings("error")
def test_uniform_base_warns_and_the_others_do_not():
    with pytest.warns(UserWarning, match="uniform base") as caught:
        path = GeometricPath(BERNOULLI, base=None)
    assert caught[0].filename == __file__, "the warning should point at the caller"
    assert path.base_name == "uniform"
    for base in (BASE.visible_bias, BASE, "mean_field"):
        GeometricPath(BERNOULLI, base=base)


def test_a_uniform_beyond_the_sum_of_shares_draws_the_last_beta():
    shares = np.full((2, 7), 1 / 7)
    assert drawn(shares, np.array([[1 + 1e-12], [0.0]])).tolist() == [6, 0]
    assert drawn(np.full((2, 4), 0.25), np.array([[1.5], [0.6]])).tolist() == [3, 2]


DRAWN = np.random.default_rng(0)
PAIRED = 0.7 * DRAWN.normal(size=(4, 6))
LAYERS = {
    "bits": rl.Binary,
    "spins": rl.Spin,
    "categories": lambda bias: rl.Potts(bias, q=2),
    "normal": rl.Gaussian,
}
PAIRS = [(one, two) for one in LAYERS for two in LAYERS if (one, two) != ("normal", "normal")]


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_the_geometric_path_serves_every_pair_of_layers(pair):
    bias = np.linspace(-0.5, 0.5, 4), np.linspace(0.4, -0.4, 6)
    layers = (LAYERS[name](b) for name, b in zip(pair, bias, strict=True))
    path = rl.GeometricPath(rl.RBM(*layers, PAIRED, log_scale=0.5))
    v = path.sample_base(30, np.random.default_rng(1))
    holds_its_densities(path, v)
    np.testing.assert_allclose(path.at(0.0).log_z, path.log_z_base)
    assert path.visible_of(v, 0).shape == (30, 4)


def test_the_mean_field_base_of_spins_is_that_of_the_bits_that_they_are():
    rates = np.array([0.2, 0.5, 0.8])
    spins = rl.RBM(rl.Spin(np.log(rates / (1 - rates)) / 2), rl.Binary([0.0]), np.zeros((3, 1)))
    wanted = (rates + 0.05) / 1.1
    np.testing.assert_allclose(expit(2 * rl.mean_field_bias(spins)), wanted, rtol=1e-6)
    three = rl.RBM(rl.Potts(np.log([0.1, 0.3, 0.6]), q=3), rl.Binary([0.0]), np.zeros((3, 1)))
    share = np.exp(rl.mean_field_bias(three))
    np.testing.assert_allclose(share / share.sum(), np.array([0.15, 0.35, 0.65]) / 1.15, rtol=1e-6)


def test_a_polyline_goes_through_its_models_at_their_knots():
    models = [rl.BernoulliRBM(t * PAIRED, t * np.ones(4), t * np.ones(6)) for t in (0.0, 0.2, 1.0)]
    path, states = rl.Polyline(models, [0.0, 0.6, 1.0]), all_states(4)
    holds_its_densities(path, states)
    for knot, model in zip(path.knots, models, strict=True):
        np.testing.assert_array_equal(path.at(knot).weights, model.weights)
        np.testing.assert_allclose(path.log_density(states, knot), model.log_density(states))
    assert compiled(path) is None


def test_layers_of_another_number_of_states_are_no_base():
    """Three colours are not two: as a base they would shift log Z, and nothing would show it."""
    weights = np.random.default_rng(0).normal(size=(4, 6)) / 2
    three, two = (rl.RBM(rl.Binary(np.zeros(4)), rl.Potts(np.zeros(6), q=q), w)
                  for q, w in ((3, weights), (2, 0 * weights)))  # fmt: skip
    with pytest.raises(ValueError, match=r"base is .*: expected the layers of the target"):
        rl.GeometricPath(three, base=two)
    with pytest.raises(ValueError, match="base has nonzero weights"):
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
    class Still(rl.GeometricPath):
        def transition(self, v, beta, rng):
            return v

    rbm = rl.testsystems.random_rbm(8, 4, rng=0)
    run = rl.ais(Still(rbm, np.zeros(8)), rl.schedules.linear(20), 50, rng=0)
    begun = Still(rbm, np.zeros(8)).sample_base(50, ChainStream(0, 50))
    assert np.array_equal(run.states, begun)
