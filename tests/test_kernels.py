"""Compiled cores: arithmetic, random numbers, draws of units, and when they are taken."""

import numba
import numpy as np
import pytest
from helpers_kernels import f32, uniforms
from helpers_stats import (
    assert_no_rejection,
    two_sided,
)
from scipy import stats
from scipy.special import expit, log_ndtr, ndtri_exp

import rbmlib as rl
from rbmlib import BernoulliRBM, DoubleReLU, GeometricPath, Potts
from rbmlib._kernels import elementwise, gibbs, groups, layers, learning, narrow, simd
from rbmlib.numerics import ChainStream, log_half_gaussian
from rbmlib.sampling import sweep
from rbmlib.sampling.compiled import compiled, loops_of_line


@numba.njit
def exp_negative_of_all(x, out):
    """Sixteen at a time, whole lanes."""
    for i in range(0, x.size, simd.LANES):
        simd.store(out, i, elementwise.exp_negative(simd.load(x, i)))


def states_of(v):
    return groups.states_of(layers.read_rows(v), v.shape[1])


def test_exponential_is_accurate():
    """Below 1e-6 for probabilities above 1e-4, and to rounding of its argument beyond.

    x log2(e) is rounded once (2**-24 of itself) and so is log2(e); the rest is the polynomial.
    """
    x = np.concatenate([np.linspace(0, 86.5, 500_000), np.logspace(-30, 0, 10_000)]).astype(f32)
    out = np.empty_like(x)
    exp_negative_of_all(x, out)
    relative = np.abs(out / np.exp(-x.astype(float)) - 1)
    of_argument = 2.0**-24 + abs(float(f32(np.log2(np.e))) / np.log2(np.e) - 1)
    assert (relative < 3e-7 + of_argument * x).all()
    assert relative[x < 10].max() < 1e-6
    assert out[0] == 1
    huge = np.resize(f32([87.0, 1e4, 3e38]), simd.LANES)
    exp_negative_of_all(huge, out[: huge.size])
    np.testing.assert_array_equal(out[: huge.size], f32(2.0**-125))


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
            unit = layers.Layer(1, f32(2**-10), slope_bias, constant)
            one = elementwise.Step(f32(0.5), f32(step), rule)
            _, terms[j] = narrow.draw_hidden(x, unit, one.beta, one, np.uint64(1))
        t, d = 0.5 * slopes + offset, f32(step) * slopes
        wanted = np.logaddexp(0, t) - np.logaddexp(0, t - d)
        assert (np.abs(terms - wanted) < remainder(np.abs(d)) + 3e-7 * np.abs(d)).all()


def test_rule_of_a_step():
    """Each rule within its limit, whatever the sign."""
    rules = elementwise.increment_rules(np.array([0.01, -0.01, 0.1, -0.2, 0.5]), 4.0)
    expected = [elementwise.SERIES] * 2 + [elementwise.QUADRATURE] * 2 + [elementwise.EXACT]
    np.testing.assert_array_equal(rules, expected)
    limits = np.array([elementwise.SERIES_LIMIT, elementwise.QUADRATURE_LIMIT])
    np.testing.assert_array_equal(
        elementwise.increment_rules(limits, 1.0), [elementwise.QUADRATURE, elementwise.EXACT]
    )


@pytest.mark.parametrize("shape", [(7, 3), (784, 30), (33, 64), (64, 33)])
def test_training_rounds_weights_as_a_family_does(shape):
    """Also over the integers of larger weights, whose scale they keep."""
    weights = np.random.default_rng(0).standard_t(2, size=shape).astype(f32)
    integers = learning.integers_of(weights)
    for part in (1, f32(0.4)):
        assert learning.requantise(weights * part, integers)
        q = np.rint(weights * part / integers.scale).astype(int)
        for found, wanted in ((integers.up, groups.blocks(q)), (integers.down, groups.blocks(q.T))):
            np.testing.assert_array_equal(found.rows, wanted.rows)
            np.testing.assert_array_equal(found.totals, wanted.totals)
            assert (found.by_two <= wanted.by_two).all(), "sums of two that do not fit 16 bits"
            assert part == 1 or found.by_two.all(), "and all of these fit"
    assert integers.scale == layers.quantise(weights, np.zeros(shape[0])).scale
    assert not learning.requantise(weights * 3, integers)


@pytest.mark.parametrize("shape", [(37, 13), (64, 65)])
def test_an_update_leaves_the_whole_numbers_of_its_weights(shape):
    """The next update takes them as they are; it is told where they no longer fit."""
    weights = np.random.default_rng(0).normal(size=shape).astype(f32)
    parameters = learning.Parameters(weights, *(np.zeros(n, f32) for n in shape))
    velocities = learning.Parameters(*map(np.zeros_like, parameters))
    batch, fits = layers.read_rows(np.random.default_rng(1).random((9, shape[0])) < 0.3), []
    integers, fresh = learning.integers_of(weights), learning.integers_of(weights)
    assert learning.requantise(weights, integers)
    for rate in (0.01, 100):
        step, run = (
            learning.Momentum(f32(rate), f32(0), f32(0)),
            layers.Run(np.uint64(1), 0, 0, 0, 1),
        )
        fits.append(
            learning.contrastive_divergence(
                batch, batch.copy(), integers, parameters, velocities, step, run
            )
        )
        assert learning.requantise(weights, fresh) == fits[-1]
        for found, wanted in zip(integers[:2], fresh[:2], strict=True):
            assert not fits[-1] or (
                np.array_equal(found.rows, wanted.rows)
                and np.array_equal(found.totals, wanted.totals)
            )
    assert fits == [True, False]


@pytest.mark.parametrize("sign", [1, -1])
def test_largest_fields_stay_below_2_to_the_24(sign):
    """Equal one-signed weights: the sum of a whole column is the largest there is."""
    fixed = layers.quantise(np.full((784, 900), sign * 0.1), np.full(784, sign * 3.0))
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
    assert np.abs(theirs - weights).max() <= made.fixed.scale / 2
    assert np.abs(their_slope - slope).max() <= made.fixed.slope_scale / 2
    assert made.fixed.scale <= np.abs(weights).max() / 2**14


def fields_of(states, weights, sparse):
    """Fields of all units, as integers: states are `groups.States`, whose form is given."""
    room, columns = groups.empty_room(len(states.words)), []
    for block in range(weights.n_words):
        fields = groups.fields_of_block(block, weights, states, sparse, room)
        columns.append(fields.reshape(-1, simd.LANES).copy())
    return np.hstack(columns)


@pytest.mark.parametrize("shape", [(784, 500), (33, 17), (16, 40)])
@pytest.mark.parametrize("density", [0.05, 0.5, 0.95])
@pytest.mark.parametrize("largest", [2**15 - 1, 2**14, 2**11, 2**9])
def test_both_ways_to_a_field_are_exact(shape, density, largest):
    """Sums of listed rows, and of patterns of four units, whether 16 bits hold their sums or not.

    Smaller weights are added in 16 bits, by two rows, eight units or sixteen.
    """
    rng = np.random.default_rng(3)
    q = rng.integers(-largest, largest + 1, shape)
    q[:, 0] = 0
    q[:500, 0] = largest  # the largest sum is just below 2**24
    v = (rng.random((11, shape[0])) < density).astype(np.float32)
    v[0] = 1
    weights, states = groups.blocks(q.astype(np.float32)), states_of(v)
    groups.list_rows(states.words, shape[0], *states[1:4])
    wanted = v.astype(np.int64) @ q
    for sparse in (True, False):
        np.testing.assert_array_equal(fields_of(states, weights, sparse)[:, : shape[1]], wanted)


def test_sums_of_the_largest_batch_are_exact():
    """Probabilities near one, and uneven ones, of as many rows as the sums have room for."""
    size, n_visible = learning.MAX_BATCH, 3
    weights = np.random.default_rng(4).normal(scale=0.2, size=(n_visible, 5)).astype(np.float32)
    biases = np.array([30, 30, 0.3, -1.7, 5], np.float32)
    parameters = learning.Parameters(weights, np.zeros(n_visible, np.float32), biases)
    batch, chains = np.ones((size, n_visible), np.uint8), np.zeros((size, n_visible), np.uint8)
    chains[:7] = 1
    integers = learning.integers_of(weights)
    assert learning.requantise(weights, integers)
    words = (layers.read_rows(rows) for rows in (batch, chains))
    run = layers.Run(np.uint64(1), 0, 0, 0, 0)
    phases = learning.both_phases(*words, integers, parameters, run)
    counts = phases.counts.astype(np.int64)
    expected = counts[:size].sum(axis=0) + counts[size : size + 7].sum(axis=0)
    assert expected[0] == (size - 7) * 65536
    sums = np.empty(phases.hidden.size, np.float32)
    for unit in range(n_visible):
        learning._gradient_row(phases, unit, sums)
        np.testing.assert_array_equal(sums[:5].astype(np.int64), expected[:5])
    assert size * float(learning.GRID) < 2**24  # whole numbers that float32 holds


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


def test_stream_of_a_chain_depends_on_its_number_only():
    whole = uniforms(5, draw=2, shape=(20, 30))
    np.testing.assert_array_equal(uniforms(5, draw=2, shape=(8, 30), first_chain=7), whole[7:15])
    np.testing.assert_array_equal(uniforms(5, draw=2, shape=(20, 9)), whole[:, :9])
    stream = ChainStream(3, 20)
    first, second = stream.random((20, 30)), stream.random((20, 30))
    assert stream.draw == 2
    np.testing.assert_array_equal(first, uniforms(stream.seed, 0, (20, 30)))
    np.testing.assert_array_equal(second, uniforms(stream.seed, 1, (20, 30)))


def test_rare_bits_are_drawn_at_their_rate():
    """At fields of -12 and 12 a bit is rare: 6e-6, which coarse uniforms would round away."""
    n_chains, n_units, field = 20_000, 200, 12.0
    rbm = BernoulliRBM(np.zeros((n_units, 1)), np.repeat([-field, field], 100), [0.0])
    path = GeometricPath(rbm, base=np.zeros(n_units))
    start = np.zeros((n_chains, n_units), f32)
    moved = sweep(path, start, 1.0, 1, ChainStream(6, n_chains))
    counts = np.array([moved[:, :100].sum(), (1 - moved[:, 100:]).sum()])
    mean = 100 * n_chains * expit(-field)
    assert mean > 10
    assert np.abs(counts - mean).max() < 4 * np.sqrt(mean)


class Given:
    """Uniform numbers that are known."""

    def __init__(self, u):
        self.u = u

    def random(self, shape):
        assert shape == self.u.shape
        return self.u.copy()


def sides(layer, x):
    both = (x - layer.theta_plus, layer.a_plus**-0.5), (-x - layer.theta_minus, layer.a_minus**-0.5)
    return [(sd, field * sd, np.log(sd) + log_half_gaussian(field * sd)) for field, sd in both]


def halves_by_scipy(layer, x, u):
    """The inverse of the distribution, by the inverse of log Phi."""
    (sd, z, above), (sd_, z_, below) = sides(layer, x)
    share = expit(above - below)
    up = u < share
    rest = np.where(up, u, 1 - u) / np.where(up, share, 1 - share)
    sd, z = np.where(up, sd, sd_), np.where(up, z, z_)
    return np.where(up, sd, -sd) * np.maximum(z - ndtri_exp(np.log(rest) + log_ndtr(z)), 0.0)


@pytest.mark.parametrize("scale", [0.3, 2.0, 10.0, 100.0])
def test_draws_and_cumulants_of_rectified_units_are_scipys(scale):
    rng = np.random.default_rng(4)
    thresholds = rng.normal(scale=scale / 3, size=(2, 41))
    layer = DoubleReLU(np.zeros(41), *rng.uniform(0.3, 3, (2, 41)), *thresholds)
    x, u = rng.normal(scale=scale, size=(300, 41)), rng.random((300, 41))
    drawn, wanted = layer.draw(x, Given(u)), halves_by_scipy(layer, x, u)
    np.testing.assert_allclose(drawn, wanted, rtol=3e-8, atol=1e-10)
    (*_, above), (*_, below) = sides(layer, x)
    np.testing.assert_allclose(
        layer.cumulant(x), np.logaddexp(above, below).sum(axis=1), rtol=1e-13
    )
    one_field = layer.draw(x[:1], Given(u), 300)
    np.testing.assert_array_equal(one_field, layer.draw(np.tile(x[0], (300, 1)), Given(u)))


def test_colours_are_those_of_the_sum_of_probabilities():
    rng = np.random.default_rng(5)
    layer = Potts(np.zeros(7 * 21), 21)
    x, u = rng.normal(scale=4, size=(500, 7 * 21)), rng.random((500, 7))
    below = np.cumsum(layer.mean(x).reshape(500, 7, 21), axis=2)
    wanted = np.eye(21)[(below <= (u * below[..., -1])[..., None]).sum(axis=2)].reshape(500, -1)
    np.testing.assert_array_equal(layer.draw(x, Given(u)), wanted)
    far = np.where(np.arange(7 * 21) % 21 == 5, 3000.0, -3000.0)[None]  # nothing overflows
    np.testing.assert_array_equal(layer.draw(far, Given(u), 500), np.tile(far > 0, (500, 1)))
    ends = layer.draw(0 * far, Given(np.full((2, 7), [[0.0], [1.0]])), 2)
    np.testing.assert_array_equal(ends.nonzero()[1] % 21, [0] * 7 + [20] * 7)


def masked(bias: float, n_visible: int = 60, n_hidden: int = 5) -> rl.BernoulliRBM:
    rng = np.random.default_rng(0)
    visible_bias = rng.normal(0, 0.5, n_visible)
    visible_bias[0] = bias
    weights = rng.normal(0, 0.1, (n_visible, n_hidden))
    return rl.BernoulliRBM(weights, visible_bias, np.zeros(n_hidden))


@pytest.mark.parametrize("layer", ["visible", "hidden"])
def test_routes_are_judged_by_nats(layer):
    """Ordinary models stay compiled; a bias of 1e9, in float32 64 apart from the next, does not."""
    rbm = masked(0.0)
    assert compiled(rl.GeometricPath(rbm))
    biases = {"visible": rbm.visible_bias.copy(), "hidden": rbm.hidden_bias.copy()}
    for bias, fine, faithful in [(-50.0, True, True), (1e9, False, False)]:
        biases[layer][0] = bias
        path = rl.GeometricPath(rl.BernoulliRBM(rbm.weights, biases["visible"], biases["hidden"]))
        assert routes(path) == (fine, faithful)
    for weight, fine in ((200.0, True), (1e4, False)):  # anneal puts right what sweeps cannot
        weights = rbm.weights.copy()
        weights[0, 0] = weight
        path = rl.GeometricPath(rl.BernoulliRBM(weights, rbm.visible_bias, rbm.hidden_bias))
        assert routes(path) == (fine, False)


def routes(path):
    """Whether annealing, which mends rounding, and tempering, which does not, are compiled."""
    return compiled(path, corrected=True) is not None, compiled(path) is not None


def test_what_rounding_is_said_to_change_is_what_it_changes():
    """Typical nats, against differences of log-densities of the two models over random states."""
    rbm = masked(-300.0)
    path = rl.GeometricPath(rbm)
    loops = loops_of_line(path)
    weights, slopes, _ = loops.errors
    states = path.sample_base(2000, np.random.default_rng(0))
    found = np.sqrt((loops.correction(states, 1.0) ** 2).mean())
    assert found == pytest.approx(np.hypot(weights, slopes), rel=0.5)
