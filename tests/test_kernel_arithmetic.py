"""Compiled cores: the exponential, increments of log-weights, and fields that are exact."""

import numba
import numpy as np
import pytest
from helpers_kernels import f32

from rbmlib._kernels import elementwise, gibbs, groups, layers, learning, narrow, simd


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


@pytest.mark.parametrize(("n_chains", "listed", "sparse"), [(64, 9, True), (64, 40, False),
                                                            (1, 40, True)])  # fmt: skip
def test_lists_of_few_units_or_for_few_chains(n_chains, listed, sparse):
    """Tables of patterns are made for many chains of dense states only."""
    v = np.zeros((n_chains, 100), f32)
    v[:, :listed] = 1
    assert groups.prepare(states_of(v), 100) == sparse
    assert groups.prepare(states_of(1 - v), 100) == sparse


@pytest.mark.parametrize(("largest", "by_two", "whole"), [(2**15 - 1, False, False),
                                                          (2**14 - 1, True, False),
                                                          (2**11 - 1, True, True)])  # fmt: skip
def test_sums_are_taken_in_16_bits_where_they_fit(largest, by_two, whole):
    weights = groups.blocks(np.full((64, 32), -largest))
    assert weights.by_two.tolist() == [by_two]
    assert weights.parts.whole.all() == whole
    parts = weights.parts.rows.astype(np.int64)
    assert parts.sum(axis=(0, 1, 2)).tolist() == [-64 * largest] * 32
    assert np.abs(parts.reshape(-1, 8, 32).sum(axis=1)).max() < 2**15


def test_blocks_of_a_matrix_hold_it_and_zeros():
    q = np.arange(-7, 8).reshape(3, 5)
    made = groups.blocks(q)
    rows = made.rows[:, :3].swapaxes(0, 1).reshape(3, -1)
    assert np.array_equal(rows[:, :5], q)
    assert not rows[:, 5:].any()
    assert np.array_equal(made.totals.ravel()[:5], q.sum(axis=0))
    assert not made.totals.ravel()[5:].any()


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
