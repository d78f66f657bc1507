"""Compiled cores: exact fields, random numbers, stationarity, and the same bits everywhere."""

import warnings

import numba
import numpy as np
import pytest
from helpers_stats import (
    all_states,
    assert_no_rejection,
    chi_square_p,
    log_sum,
    probabilities,
    rbm_table,
    state_index,
    total_variation,
    total_variation_floor,
    two_sided,
)
from scipy import stats
from scipy.special import expit

import rbmlib as rl
from rbmlib import BernoulliRBM, GeometricPath, State
from rbmlib._kernels import elementwise, fixed_point, gibbs, narrow, random, threads, wide
from rbmlib._streams import ChainStream
from rbmlib.paths import AnnealingPath

f32 = np.float32


# one row at a time ------------------------------------------------------------------------


@numba.njit
def exp_negative_of_all(x, out):
    for i in range(x.size):
        out[i] = elementwise.exp_negative(x[i])


def test_exponential_is_accurate():
    """Below 1e-6 for probabilities above 1e-4, and to rounding of its argument beyond.

    x log2(e) is rounded once (2**-24 of itself) and so is log2(e); the rest is the polynomial.
    """
    x = np.concatenate([np.linspace(0, 86.5, 500_001), np.logspace(-30, 0, 10_001)]).astype(f32)
    out = np.empty_like(x)
    exp_negative_of_all(x, out)
    relative = np.abs(out / np.exp(-x.astype(float)) - 1)
    of_argument = 2.0**-24 + abs(float(f32(np.log2(np.e))) / np.log2(np.e) - 1)
    assert (relative < 3e-7 + of_argument * x).all()
    assert relative[x < 10].max() < 1e-6
    assert out[0] == 1
    huge = np.array([87.0, 1e4, 3e38], f32)
    exp_negative_of_all(huge, out[:3])
    np.testing.assert_array_equal(out[:3], f32(2.0**-125))


@pytest.mark.parametrize(
    ("rule", "steps", "remainder"),
    [
        (elementwise.SERIES, (1e-4, 1e-2, 0.1, -0.1), lambda d: d**5 / 900),
        (elementwise.QUADRATURE, (1e-4, 0.1, 0.3, -0.3), lambda d: d**7 / 4.9e6),
    ],
    ids=["series", "quadrature"],
)
def test_increments_stay_within_their_remainder(rule, steps, remainder):
    """terms = softplus(t) - softplus(t - d), to the remainder and single-precision rounding."""
    n = 512
    rng = np.random.default_rng(0)
    field = rng.integers(-4000, 4000, n).astype(f32)
    bias, offset = rng.normal(size=n).astype(f32), rng.normal(size=n).astype(f32)
    terms = np.zeros(n, f32)
    slopes = field.astype(float) * 2**-10 + bias
    for step in steps:
        for j in range(n):  # one unit at a time: the kernel returns the sum over its units
            x, slope_bias, constant = (
                np.full(narrow.WIDTH, values[j], f32) for values in (field, bias, offset)
            )
            _, terms[j] = narrow.draw_hidden_with_increments(
                x, 1, f32(2**-10), slope_bias, constant, f32(0.5), f32(step), rule, np.uint64(1)
            )
        t, d = 0.5 * slopes + offset, f32(step) * slopes
        wanted = np.logaddexp(0, t) - np.logaddexp(0, t - d)
        assert (np.abs(terms - wanted) < remainder(np.abs(d)) + 3e-7 * np.abs(d)).all()


def test_rule_of_a_step():
    """Each rule within its limit, whatever the sign."""
    rules = elementwise.increment_rules(np.array([0.01, -0.01, 0.1, -0.2, 0.5]), 4.0)
    expected = [elementwise.SERIES] * 2 + [elementwise.QUADRATURE] * 2 + [elementwise.EXACT]
    np.testing.assert_array_equal(rules, expected)


# fields -----------------------------------------------------------------------------------


def build_family(n_visible, n_hidden, seed=0, spread=1.0, small=None) -> gibbs.Family:
    """A family of random parameters; ``small=False`` asks for the wide kernel at any size."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(scale=spread, size=(n_visible, n_hidden))
    vectors = [rng.normal(size=n) for n in (n_hidden, n_hidden, n_visible, n_visible)]
    made = gibbs.family(weights, *vectors)
    if small is False and made.small:
        fixed = fixed_point.quantise(weights, vectors[2])
        made = made._replace(up=fixed.up, tables=np.zeros((0, 0, 0), f32), small=False)
    return made


@pytest.mark.parametrize(
    ("n_visible", "n_hidden", "spread"), [(7, 3, 1.0), (784, 30, 9.0), (784, 31, 9.0), (50, 70, 0)]
)
@pytest.mark.parametrize("small", [None, False])
def test_fields_are_exact_integers(n_visible, n_hidden, spread, small):
    """Against int64; all-ones and one-signed weights come nearest to float32's 2**24."""
    made = build_family(n_visible, n_hidden, spread=spread, small=small)
    assert made.small == (n_hidden <= 30 and small is None)
    rng = np.random.default_rng(1)
    v = (rng.random((40, n_visible)) < 0.5).astype(f32)
    v[0], v[1] = 1, 0
    x = np.full((40, made.up.shape[1]), np.nan, f32)
    gibbs.fields_up(v, made.up, made.small, x)
    up, down = made.up.astype(np.int64), made.down.astype(np.int64)
    assert (up == made.up).all(), "weights are whole numbers"
    np.testing.assert_array_equal(x, v.astype(np.int64) @ up)

    h = (rng.random((40, n_hidden)) < 0.5).astype(f32)
    h[0], h[1] = 1, 0
    y = np.full((40, n_visible), np.nan, f32)
    gibbs.fields_down(h, made.down, made.tables, made.small, y)
    np.testing.assert_array_equal(y, h.astype(np.int64) @ down)
    np.testing.assert_array_equal(down.T, up[:, :n_hidden])


@pytest.mark.parametrize("sign", [1, -1])
def test_largest_fields_stay_below_2_to_the_24(sign):
    """Equal one-signed weights: the sum of a whole column is the largest there is."""
    fixed = fixed_point.quantise(np.full((784, 900), sign * 0.1), np.full(784, sign * 3.0))
    assert np.abs(fixed.up.astype(np.int64).sum(axis=0)).max() < 2**24
    assert np.abs(fixed.down.astype(np.int64).sum(axis=0)).max() < 2**24
    assert np.abs(fixed.up).max() < 2**15
    # the coarsest grid that this allows: at most a factor of two is given away
    assert np.abs(fixed.down.astype(np.int64).sum(axis=0)).max() >= 2**23


def test_quantised_weights_are_the_nearest():
    rng = np.random.default_rng(0)
    weights, slope = rng.normal(size=(20, 8)), rng.normal(size=20)
    made = gibbs.family(weights, np.zeros(8), np.zeros(8), slope, np.zeros(20))
    theirs, their_slope = gibbs.quantised_weights(made)
    assert np.abs(theirs - weights).max() <= float(made.scale) / 2
    assert np.abs(their_slope - slope).max() <= made.slope_scale / 2
    assert float(made.scale) <= np.abs(weights).max() / 2**14


# random numbers ---------------------------------------------------------------------------


def uniforms(seed, draw, shape=(1000, 784), first_chain=0):
    out = np.empty(shape)
    random.fill_uniforms(np.uint64(seed), first_chain, draw, out)
    return out


@pytest.mark.statistical
def test_uniforms_are_uniform():
    """Mean, variance, and equal counts in 256 cells by their high and by their low bits."""
    p_values = []
    for seed in (0, 1, 2**63 + 5):
        u = uniforms(seed, draw=3).ravel()
        assert u.min() > 0
        assert u.max() < 1
        p_values.append(two_sided((u.mean() - 0.5) * np.sqrt(12 * u.size)))
        # Var[(u - 1/2)**2] = 1/180
        p_values.append(two_sided((np.mean((u - 0.5) ** 2) - 1 / 12) * np.sqrt(180 * u.size)))
        for cells in (u * 256, (u * 2**31) % 256):
            p_values.append(stats.chisquare(np.bincount(cells.astype(int), minlength=256)).pvalue)
    assert_no_rejection(p_values, "uniforms")


@pytest.mark.statistical
def test_uniforms_do_not_depend_on_each_other():
    """Neighbouring chains, units, draws and seeds; the sum of n products has variance n / 144."""
    p_values = []
    for seed, draw in [(0, 0), (7, 10_000), (2**40, 1)]:
        centred = uniforms(seed, draw) - 0.5
        pairs = {
            "chains": (centred[1:], centred[:-1]),
            "distant chains": (centred[512:], centred[:-512]),
            "units": (centred[:, 1:], centred[:, :-1]),
            "distant units": (centred[:, 512:], centred[:, :-512]),
            "chain and unit": (centred[1:, 1:], centred[:-1, :-1]),
            "draws": (uniforms(seed, draw + 1) - 0.5, centred),
            "two draws": (uniforms(seed, draw + 2) - 0.5, centred),
            "seeds": (uniforms(seed + 1, draw) - 0.5, centred),
            "squares": (6**0.5 * (centred[1:] ** 2 - 1 / 12), 60**0.5 * centred[:-1]),
        }
        for one, two in pairs.values():
            spread = one.std() * two.std() * np.sqrt(one.size)
            p_values.append(two_sided((one * two).sum() / spread))
    assert_no_rejection(p_values, "correlations of uniforms")


def test_column_and_row_means_have_binomial_spread():
    """A stream that repeated itself over chains, or over units, would spread far more."""
    centred = uniforms(11, draw=0) - 0.5
    for axis in (0, 1):
        z = centred.sum(axis=axis) / np.sqrt(centred.shape[axis] / 12)
        assert stats.kstest(z, "norm").pvalue > 1e-4


def test_stream_of_a_chain_depends_on_its_number_only():
    whole = uniforms(5, draw=2, shape=(20, 30))
    np.testing.assert_array_equal(uniforms(5, draw=2, shape=(8, 30), first_chain=7), whole[7:15])
    np.testing.assert_array_equal(uniforms(5, draw=2, shape=(20, 9)), whole[:, :9])
    stream = ChainStream(3, 20)
    first, second = stream.random((20, 30)), stream.random((20, 30))
    assert stream.draw == 2
    np.testing.assert_array_equal(first, uniforms(stream.seed, 0, (20, 30)))
    np.testing.assert_array_equal(second, uniforms(stream.seed, 1, (20, 30)))


# the same bits everywhere -----------------------------------------------------------------

WIDE = rl.testsystems.random_rbm(40, 50, coupling=3.0, rng=1)  # too many units for tables
NARROW = rl.testsystems.random_rbm(40, 12, coupling=3.0, rng=1)  # takes tables
STEPS = rl.schedules.linear(60)


def run(rbm, **options):
    """Log-weights and states; their quality does not matter here."""
    path = GeometricPath(rbm, base=np.zeros(rbm.n_visible))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rl.ConvergenceWarning)
        estimate = rl.ais(path, STEPS, n_chains=150, rng=4, **options)
    return estimate.log_weights, estimate.states.visible


def assert_same_bits(one, two):
    np.testing.assert_array_equal(one[1], two[1])
    np.testing.assert_array_equal(one[0], two[0])


@pytest.mark.parametrize("rbm", [WIDE, NARROW], ids=["wide", "narrow"])
def test_one_thread_equals_two(rbm):
    assert_same_bits(run(rbm, n_threads=1), run(rbm, n_threads=2))


@pytest.mark.parametrize("rbm", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("size", [1, 7, 150])
def test_size_of_chunks_changes_nothing(rbm, size, monkeypatch):
    usual = run(rbm)
    chunks = threads.chunks
    seen = []
    monkeypatch.setattr(threads, "chunks", lambda n, _: seen.append(n) or chunks(n, size))
    assert_same_bits(run(rbm), usual)
    assert seen, "the kernels no longer cut chains with threads.chunks"


def test_blocks_of_steps_change_nothing(monkeypatch):
    usual = run(WIDE)
    monkeypatch.setattr(threads, "BLOCK_SECONDS", 0.0)  # one step a block
    assert_same_bits(run(WIDE), usual)


@pytest.mark.parametrize("rbm", [WIDE, NARROW], ids=["wide", "narrow"])
def test_looking_at_a_run_changes_nothing(rbm):
    usual = run(rbm, n_recorded=2)
    for n_recorded in (3, 61):
        assert_same_bits(run(rbm, n_recorded=n_recorded), usual)


@pytest.mark.parametrize(
    "shape", [(1, 1), (3, 2), (16, 10), (33, 11), (47, 16), (60, 17), (32, 21), (784, 30)]
)
@pytest.mark.parametrize("rule", ["EXACT", "QUADRATURE", "SERIES"])
def test_narrow_equals_wide(shape, rule, monkeypatch):
    """The two routes for few hidden units are the same sampler, on either side of full lanes."""
    monkeypatch.setenv("RBMLIB_AMX", "0")
    d = {"EXACT": 3.0, "QUADRATURE": 0.5, "SERIES": 0.05}[rule]
    results = []
    for small in (None, False):
        made = build_family(*shape, spread=4 / shape[0] ** 0.5, small=small)
        assert made.small == (small is None)
        v = (uniforms(1, 0, (70, shape[0])) < 0.5).astype(f32)
        log_weights = np.zeros(70)
        betas = 1 - np.arange(31)[::-1] * d / gibbs.largest_slopes(made)
        rules = elementwise.increment_rules(np.diff(betas), gibbs.largest_slopes(made))
        assert set(rules) == {getattr(elementwise, rule)}
        gibbs.anneal(made, v, log_weights, betas, 9, 0, 0)
        annealed = v.copy()
        h = gibbs.sweep(made, v, np.linspace(0, 1, 70), 5, 9, 0, 200)
        results.append((log_weights, annealed, v, h))
    for one, two in zip(*results, strict=True):
        np.testing.assert_array_equal(one, two)
    assert set(np.unique(h)) <= {0.0, 1.0}
    assert log_weights.std() > 0


# fused equals generic ---------------------------------------------------------------------


class Mirrored:
    """Uniforms that are compared as the kernels do: from the end at which the rarer bit lies.

    A unit of probability p is 1 if u < p for p <= 1/2, and if 1 - u <= p above.
    """

    def __init__(self, u):
        self.u = u

    def __lt__(self, p):
        return np.where(p > 0.5, 1 - self.u <= p, self.u < p)


class MirroredStream:
    def __init__(self, stream):
        self.stream = stream

    def random(self, shape):
        return Mirrored(self.stream.random(shape))


def quantised_path(n_visible, n_hidden, coupling) -> GeometricPath:
    """A path whose parameters the kernels hold exactly: float64 and fixed point agree."""
    rng = np.random.default_rng(2)
    made = build_family(n_visible, n_hidden, spread=coupling / n_visible**0.5)
    weights, slope = gibbs.quantised_weights(made)
    slope = np.round(slope * 64) / 64
    visible, hidden, base = (
        np.round(rng.normal(size=n) * 64) / 64 for n in (n_visible, n_hidden, n_hidden)
    )
    target = BernoulliRBM(weights, visible + slope, hidden, log_scale=0.5)
    return GeometricPath(target, base=BernoulliRBM(0 * weights, visible, base))


@pytest.mark.parametrize("shape", [(25, 9), (25, 27), (25, 40), (64, 95)], ids=str)
@pytest.mark.parametrize("rule", ["EXACT", "QUADRATURE", "SERIES"])
@pytest.mark.parametrize("falling", [False, True])
def test_fused_path_equals_the_generic_loop(shape, rule, falling):
    """The same draws give the same states, but for units within rounding of the threshold."""
    path = quantised_path(*shape, coupling=4.0)
    n_steps = {"EXACT": 6, "QUADRATURE": 100, "SERIES": 1000}[rule]
    largest = gibbs.largest_slopes(path._kernel())
    assert elementwise.increment_rules(1 / n_steps, largest) == getattr(elementwise, rule)
    betas = rl.schedules.linear(n_steps)[:40]
    if falling:
        betas = betas[::-1]
    start = State((np.random.default_rng(0).random((200, shape[0])) < 0.5).astype(f32))
    before = start.visible.copy()
    fused, fused_stream = ChainStream(8, 200), ChainStream(8, 200)
    state, log_weights = path.anneal(start, betas, fused)
    wanted, wanted_weights = AnnealingPath.anneal(path, start, betas, MirroredStream(fused_stream))
    np.testing.assert_array_equal(start.visible, before)
    assert fused.draw == fused_stream.draw == 2 * (len(betas) - 1)
    # A unit differs if u falls between two roundings of p, some 1e-7 apart; then its chain
    # goes its own way (and may come back): 0.1 chains expected of 200 x 39 sweeps x 159 units.
    same = (state.visible == wanted.visible).all(axis=1)
    assert (same & (np.abs(log_weights - wanted_weights) < 1e-4)).sum() >= 198
    assert wanted_weights.std() > 0.01, "the weights should have something to agree on"


@pytest.mark.parametrize("shape", [(25, 9), (25, 27), (25, 40), (64, 95)], ids=str)
def test_fused_sweep_equals_the_generic_transition(shape):
    """Also with one beta a chain."""
    path = quantised_path(*shape, coupling=4.0)
    state = start = State((np.random.default_rng(0).random((200, shape[0])) < 0.5).astype(f32))
    betas = np.linspace(0, 1, 200)
    stream = MirroredStream(ChainStream(8, 200))
    for _ in range(10):
        state = path.transition(state, betas, stream)
    swept = path.sweep(start, betas, 10, ChainStream(8, 200))
    assert (swept.visible == state.visible).all(axis=1).sum() >= 198


def test_sweep_takes_one_beta_a_chain():
    path = GeometricPath(NARROW, base=np.zeros(40))
    start = path.sample_base(90, ChainStream(1, 90))
    betas = np.repeat([0.0, 0.4, 1.0], 30)
    mixed = path.sweep(start, betas, 7, ChainStream(2, 90)).visible
    for k, beta in enumerate((0.0, 0.4, 1.0)):
        alone = path.sweep(start, beta, 7, ChainStream(2, 90)).visible
        rows = slice(30 * k, 30 * k + 30)
        np.testing.assert_array_equal(mixed[rows], alone[rows])


# stationarity -----------------------------------------------------------------------------


@pytest.mark.statistical
@pytest.mark.parametrize("route", ["narrow", "wide"])
def test_fused_sweep_leaves_p_beta_invariant(route):
    """Draw exactly from an enumerated RBM, apply 1, 4 and 16 sweeps: still exact draws."""
    rng = np.random.default_rng(0)
    rbm = BernoulliRBM(rng.normal(size=(6, 4)), rng.normal(size=6), rng.normal(size=4))
    path = GeometricPath(rbm, base=BernoulliRBM(np.zeros((6, 4)), [0.5] * 6, [-1, 0, 1, 2]))
    if route == "wide":
        fixed = fixed_point.quantise(rbm.weights, path._visible_slope)
        path._kernel_family = path._kernel()._replace(
            up=fixed.up, tables=np.zeros((0, 0, 0), f32), small=False
        )
    n = 100_000
    stream = ChainStream(1, n)
    p_values = []
    for beta in (0.4, 1.0):
        p = probabilities(log_sum(rbm_table(path.at(beta)), axis=1))
        state = State(all_states(6)[rng.choice(64, size=n, p=p)].astype(f32))
        for sweeps in (1, 3, 12):  # 1, 4 and 16 in all
            state = path.sweep(state, beta, sweeps, stream)
            index = state_index(state.visible)
            assert total_variation(index, p) < 4 * total_variation_floor(p, n), (beta, sweeps)
            p_values.append(chi_square_p(index, p))
    assert_no_rejection(p_values, "chi-square of states after sweeps")


@pytest.mark.statistical
def test_fused_sweep_draws_with_the_conditionals():
    """One sweep from one state, against enumeration: invariance alone allows standing still."""
    rng = np.random.default_rng(0)
    rbm = BernoulliRBM(rng.normal(size=(6, 4)), rng.normal(size=6), rng.normal(size=4))
    path, n, start = GeometricPath(rbm, base=np.zeros(6)), 100_000, 37
    for beta in (0.4, 1.0):
        joint = np.exp(rbm_table(path.at(beta)))
        wanted = (joint[start] / joint[start].sum()) @ (joint / joint.sum(axis=0)).T
        state = State(np.repeat(all_states(6)[[start]], n, axis=0).astype(f32))
        moved = path.sweep(state, beta, 1, ChainStream(3, n))
        assert chi_square_p(state_index(moved.visible), wanted) > 1e-4


def test_rare_bits_are_drawn_at_their_rate():
    """At fields of -12 and 12 a bit is rare: 6e-6, which coarse uniforms would round away."""
    n_chains, n_units, field = 20_000, 200, 12.0
    rbm = BernoulliRBM(np.zeros((n_units, 1)), np.repeat([-field, field], 100), [0.0])
    path = GeometricPath(rbm, base=np.zeros(n_units))
    start = State(np.zeros((n_chains, n_units), f32))
    moved = path.sweep(start, 1.0, 1, ChainStream(6, n_chains)).visible
    counts = np.array([moved[:, :100].sum(), (1 - moved[:, 100:]).sum()])
    mean = 100 * n_chains * expit(-field)
    assert mean > 10
    assert np.abs(counts - mean).max() < 4 * np.sqrt(mean)


@pytest.mark.parametrize("shape", [(784, 500), (33, 17), (16, 40)])
@pytest.mark.parametrize("density", [0.05, 0.5, 0.95])
def test_both_ways_to_a_field_are_exact(shape, density):
    """Sums of listed rows, and products of pairs, of chains that do not fill their tiles."""
    rng = np.random.default_rng(3)
    q = rng.integers(-(2**15) + 1, 2**15, shape)
    q[:, 0] = 0
    q[:500, 0] = 2**15 - 1  # the largest entries, whose sum is just below 2**24
    v = (rng.random((11, shape[0])) < density).astype(np.float32)
    weights, states = wide.blocks(q.astype(np.float32)), wide.read_states(v)
    chosen = wide.prepare(states, shape[0])
    assert chosen == (min(density, 1 - density) < 1 / wide.SPARSE)
    forms = []
    for sparse in (True, False):
        states = wide.read_states(v)
        prepare_as(states, shape[0], sparse)
        room = wide.room_for_fields(len(v))
        columns = []
        for block in range(len(weights.rows)):
            fields = wide.fields_of_block(block, weights, states, sparse, room)
            columns.append(fields[: len(v)].copy())
        forms.append(np.hstack(columns)[:, : shape[1]])
    np.testing.assert_array_equal(forms[0], v @ q)
    np.testing.assert_array_equal(forms[1], forms[0])


def prepare_as(states, n_units, sparse):
    """One form of states, whatever their density."""
    if sparse:
        wide.list_rows(states.words, n_units, *states[1:4])
    else:
        wide.pair_up(states)
