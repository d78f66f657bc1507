"""Compiled cores: arithmetic, random numbers, draws; the same bits by every route."""

import hashlib
import shutil
import signal
import subprocess
import sys
import time

import numba
import numpy as np
import pytest
from helpers_kernels import (
    MirroredStream,
    build_family,
    f32,
    generic,
    quantised_path,
    stream_at,
    uniforms,
)
from helpers_models import on_threads, quiet
from helpers_stats import assert_no_rejection, two_sided
from scipy import stats
from scipy.special import expit, log_ndtr, ndtri_exp

import rbmlib as rl
from rbmlib import BernoulliRBM, DoubleReLU, GeometricPath, Potts, _kernels
from rbmlib._kernels import elementwise, gibbs, groups, layers, learning, narrow, simd, threads
from rbmlib.numerics import ChainStream
from rbmlib.sampling.anneal import anneal, sweep
from rbmlib.sampling.compiled import compiled, loops_of_line


@numba.njit
def exp_negative_of_all(x, out):
    """Sixteen at a time, whole lanes."""
    for i in range(0, x.size, simd.LANES):
        simd.store(out, i, elementwise.exp_negative(simd.load(x, i)))


def test_exponential_is_accurate():
    """Below 1e-6 for probabilities above 1e-4, and to rounding of its argument beyond."""
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
    n, rng = 512, np.random.default_rng(0)
    field = rng.integers(-4000, 4000, n).astype(f32)
    bias, offset = rng.normal(size=n).astype(f32), rng.normal(size=n).astype(f32)
    terms, slopes = np.zeros(n, f32), field.astype(float) * 2**-10 + bias
    for step in steps:
        one = elementwise.Step(f32(0.5), f32(step), rule)
        for j in range(n):  # one unit at a time: the kernel returns the sum over its units
            x, *rest = (np.full(narrow.WIDTH, v[j], f32) for v in (field, bias, offset))
            unit = layers.Layer(1, f32(2**-10), *rest)
            _, terms[j] = narrow.draw_hidden(x, unit, one.beta, one, np.uint64(1))
        t, d = 0.5 * slopes + offset, f32(step) * slopes
        wanted = np.logaddexp(0, t) - np.logaddexp(0, t - d)
        assert (np.abs(terms - wanted) < remainder(np.abs(d)) + 3e-7 * np.abs(d)).all()


def test_rule_of_a_step():
    series, quadrature, exact = (getattr(elementwise, n) for n in ("SERIES", "QUADRATURE", "EXACT"))
    rules = elementwise.increment_rules(np.array([0.01, -0.01, 0.1, -0.2, 0.5]), 4.0)
    np.testing.assert_array_equal(rules, [series, series, quadrature, quadrature, exact])
    limits = np.array([elementwise.SERIES_LIMIT, elementwise.QUADRATURE_LIMIT])
    np.testing.assert_array_equal(elementwise.increment_rules(limits, 1.0), [quadrature, exact])


@pytest.mark.parametrize("shape", [(37, 13), (64, 65)])
def test_an_update_leaves_the_whole_numbers_of_its_weights(shape):
    weights = np.random.default_rng(0).normal(size=shape).astype(f32)
    parameters = learning.Parameters(weights, *(np.zeros(n, f32) for n in shape))
    velocities = learning.Parameters(*map(np.zeros_like, parameters))
    batch, fits = layers.read_rows(np.random.default_rng(1).random((9, shape[0])) < 0.3), []
    integers, fresh = learning.integers_of(weights), learning.integers_of(weights)
    assert learning.requantise(weights, integers)
    for rate in (0.01, 100):
        step = learning.Momentum(f32(rate), f32(0), f32(0))
        given = batch, batch.copy(), integers, parameters, velocities, step
        fits.append(learning.contrastive_divergence(*given, layers.Run(np.uint64(1), 0, 0, 0, 1)))
        assert learning.requantise(weights, fresh) == fits[-1]
        for found, wanted in zip(integers[:2], fresh[:2], strict=True):
            if fits[-1]:
                np.testing.assert_array_equal(found.rows, wanted.rows)
                np.testing.assert_array_equal(found.totals, wanted.totals)
    assert fits == [True, False]


@pytest.mark.parametrize("sign", [1, -1])
def test_largest_fields_stay_below_2_to_the_24(sign):
    """Equal one-signed weights: the sum of a whole column is the largest there is."""
    fixed = layers.quantise(np.full((784, 900), sign * 0.1), np.full(784, sign * 3.0))
    up, down = (np.abs(x.astype(np.int64).sum(axis=0)).max() for x in (fixed.up, fixed.down))
    assert max(up, down) < 2**24
    assert np.abs(fixed.up).max() < 2**15
    assert down >= 2**23  # the coarsest grid that this allows: a factor of two is given away


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
    """Sums of rows, and of patterns of four units, whether 16 bits hold their sums or not."""
    rng = np.random.default_rng(3)
    q = rng.integers(-largest, largest + 1, shape)
    q[:, 0] = 0
    q[:500, 0] = largest  # the largest sum is just below 2**24
    v = (rng.random((11, shape[0])) < density).astype(np.float32)
    v[0] = 1
    weights = groups.blocks(q.astype(np.float32))
    states = groups.states_of(layers.read_rows(v), shape[0])
    groups.list_rows(states, shape[0])
    wanted = v.astype(np.int64) @ q
    for sparse in (True, False):
        np.testing.assert_array_equal(fields_of(states, weights, sparse)[:, : shape[1]], wanted)


def test_sums_of_the_largest_batch_are_exact():
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
def test_uniforms_are_uniform_and_do_not_depend_on_each_other():
    """Mean, variance, and equal counts in 256 cells by their high and by their low bits; products
    of neighbouring chains, units, draws and seeds, whose sum of n has variance n / 144."""
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
    assert_no_rejection(p_values, "uniforms and their correlations")


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


LOG_2PI = np.log(2 * np.pi)


def sides(layer, x):
    """Of each side its spread, the place of its Gaussian in that unit, and the log of its mass."""
    both = (x - layer.theta_plus, layer.a_plus**-0.5), (-x - layer.theta_minus, layer.a_minus**-0.5)
    placed = [(sd, field * sd) for field, sd in both]
    return [(sd, z, np.log(sd) + log_ndtr(z) + (z**2 + LOG_2PI) / 2) for sd, z in placed]


def halves_by_scipy(layer, x, u):
    """The inverse of the distribution, by the inverse of log Phi."""
    (sd, z, above), (sd_, z_, below) = sides(layer, x)
    share = expit(above - below)
    up = u < share
    rest = np.where(up, u, 1 - u) / np.where(up, share, 1 - share)
    sd, z = np.where(up, sd, sd_), np.where(up, z, z_)
    return np.where(up, sd, -sd) * np.maximum(z - ndtri_exp(np.log(rest) + log_ndtr(z)), 0.0)


@pytest.mark.parametrize("scale", [0.3, 2.0, 10.0, 100.0])
def test_draws_cumulants_and_means_of_rectified_units_are_scipys(scale):
    rng = np.random.default_rng(4)
    thresholds = rng.normal(scale=scale / 3, size=(2, 41))
    layer = DoubleReLU(np.zeros(41), *rng.uniform(0.3, 3, (2, 41)), *thresholds)
    x, u = rng.normal(scale=scale, size=(300, 41)), rng.random((300, 41))
    drawn, wanted = layer.draw(x, Given(u)), halves_by_scipy(layer, x, u)
    np.testing.assert_allclose(drawn, wanted, rtol=3e-8, atol=1e-10)
    (*up, above), (*down, below) = sides(layer, x)
    share = expit(above - below)
    means = [sd * (z + np.exp(-(z**2 + LOG_2PI) / 2 - log_ndtr(z))) for sd, z in (up, down)]
    wanted = share * means[0] - (1 - share) * means[1]
    np.testing.assert_allclose(layer.mean(x), wanted, rtol=1e-6, atol=1e-6)
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


def weak(weight=None, **biases) -> rl.BernoulliRBM:
    """60 x 5, of which the first weight, or the first bias of a layer, is another."""
    rng = np.random.default_rng(0)
    visible, hidden = rng.normal(0, 0.5, 60), np.zeros(5)
    weights = rng.normal(0, 0.1, (60, 5))
    visible[0], hidden[0] = biases.get("visible", 0.0), biases.get("hidden", 0.0)
    weights[0, 0] = weights[0, 0] if weight is None else weight
    return rl.BernoulliRBM(weights, visible, hidden)


@pytest.mark.parametrize(
    ("changed", "fine", "faithful"),
    [({}, True, True), ({"visible": -50.0}, True, True), ({"hidden": -50.0}, True, True),
     ({"visible": 1e9}, False, False), ({"hidden": 1e9}, False, False),
     ({"weight": 200.0}, True, False), ({"weight": 1e4}, False, False)],
)  # fmt: skip
def test_routes_are_judged_by_nats(changed, fine, faithful):
    """Ordinary models stay compiled; a bias of 1e9, in float32 64 apart from the next, does not.
    Annealing puts right the rounding of weights that sweeps cannot."""
    path = rl.GeometricPath(weak(**changed))
    assert (compiled(path, corrected=True) is not None) == fine
    assert (compiled(path) is not None) == faithful


def test_what_rounding_is_said_to_change_is_what_it_changes():
    path = rl.GeometricPath(weak(visible=-300.0))
    loops = loops_of_line(path)
    weights, slopes, _ = loops.errors
    states = path.sample_base(2000, np.random.default_rng(0))
    found = np.sqrt((loops.correction(states, 1.0) ** 2).mean())
    assert found == pytest.approx(np.hypot(weights, slopes), rel=0.5)


WIDE = rl.testsystems.random_rbm(40, 50, coupling=3.0, rng=1)  # too many units for tables
NARROW = rl.testsystems.random_rbm(40, 12, coupling=3.0, rng=1)  # takes tables
STEPS = rl.schedules.linear(60)


def run(rbm, **options):
    """Log-weights and states; their quality does not matter here."""
    path = GeometricPath(rbm, base=np.zeros(rbm.n_visible))
    estimate = quiet(rl.ais, path, STEPS, n_chains=150, rng=4, **options)
    return estimate.log_weights, estimate.states


def assert_same_bits(one, two):
    np.testing.assert_array_equal(one[1], two[1])
    np.testing.assert_array_equal(one[0], two[0])


@pytest.mark.parametrize("rbm", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("size", [1, 7, 150])
def test_threads_chunks_blocks_of_steps_and_looks_change_nothing(rbm, size, monkeypatch):
    usual = run(rbm)
    assert_same_bits(on_threads(2, run, rbm), usual)
    chunks = threads.chunks
    seen = []
    monkeypatch.setattr(threads, "chunks", lambda n, _: seen.append(n) or chunks(n, size))
    assert_same_bits(run(rbm), usual)
    assert seen, "the kernels no longer cut chains with threads.chunks"
    monkeypatch.setattr(threads, "BLOCK_SECONDS", 0.0)  # one step a block
    for n_recorded in (2, 61):
        assert_same_bits(run(rbm, n_recorded=n_recorded), usual)


@pytest.mark.filterwarnings("ignore::rbmlib.ConvergenceWarning")
@pytest.mark.parametrize("rbm", [WIDE, NARROW], ids=["wide", "narrow"])
def test_what_loops_keep_on_the_way_is_what_a_stop_there_shows(rbm):
    path = GeometricPath(rbm, base=np.zeros(rbm.n_visible))
    kept, stopped = (
        rl.ais(path, STEPS, 300, 4, n_recorded=31, slopes=slopes) for slopes in (False, True)
    )
    assert np.ptp(kept.log_z_path) > 1
    np.testing.assert_array_equal(kept.log_z_path, stopped.log_z_path)
    np.testing.assert_array_equal(kept.trace["ess"], stopped.trace["ess"])


@pytest.mark.parametrize(
    "shape", [(1, 1), (3, 2), (16, 10), (33, 11), (47, 16), (60, 17), (32, 21), (784, 30)]
)
@pytest.mark.parametrize("rule", ["EXACT", "QUADRATURE", "SERIES"])
def test_narrow_equals_wide(shape, rule):
    d = {"EXACT": 3.0, "QUADRATURE": 0.5, "SERIES": 0.05}[rule]
    results = []
    for small in (None, False):
        made = build_family(*shape, spread=4 / shape[0] ** 0.5, small=small)
        assert made.small == (small is None)
        v = (uniforms(1, 0, (70, shape[0])) < 0.5).astype(f32)
        log_weights = np.zeros(70)
        betas = 1 - np.arange(31)[::-1] * d / made.largest
        rules = elementwise.increment_rules(np.diff(betas), made.largest)
        assert set(rules) == {getattr(elementwise, rule)}
        gibbs.anneal(made, v, log_weights, betas, stream_at(9, 0, 0))
        annealed = v.copy()
        betas, swept, slopes = np.linspace(0, 1, 70), v.copy(), np.empty(70)
        gibbs.sweep(made, swept, betas, np.empty(0), 5, stream_at(9, 0, 200))
        gibbs.sweep(made, v, betas, slopes, 5, stream_at(9, 0, 200))
        results.append((log_weights, annealed, v))
        np.testing.assert_array_equal(v, swept)
    for one, two in zip(*results, strict=True):
        np.testing.assert_array_equal(one, two)
    assert np.isfinite(slopes).all()
    assert log_weights.std() > 0


@pytest.mark.parametrize("shape", [(25, 9), (25, 27), (25, 40), (64, 95)], ids=str)
@pytest.mark.parametrize("rule", ["EXACT", "QUADRATURE", "SERIES"])
@pytest.mark.parametrize("falling", [False, True])
def test_fused_path_equals_the_generic_loop(shape, rule, falling):
    """The same draws give the same states, but for units within rounding of the threshold."""
    path = quantised_path(*shape, coupling=4.0)
    n_steps = {"EXACT": 6, "QUADRATURE": 100, "SERIES": 1000}[rule]
    largest = compiled(path).family.largest
    assert elementwise.increment_rules(1 / n_steps, largest) == getattr(elementwise, rule)
    betas = rl.schedules.linear(n_steps)[:40]
    if falling:
        betas = betas[::-1]
    start = (np.random.default_rng(0).random((200, shape[0])) < 0.5).astype(f32)
    before = start.copy()
    fused, fused_stream = ChainStream(8, 200), ChainStream(8, 200)
    state, log_weights = anneal(path, start, betas, fused)
    mirrored = MirroredStream(fused_stream)
    wanted, wanted_weights = anneal(generic(path), start, betas, mirrored)
    np.testing.assert_array_equal(start, before)
    assert fused.draw == fused_stream.draw == 2 * (len(betas) - 1)
    # A unit differs if u falls between two roundings of p, some 1e-7 apart; then its chain
    # goes its own way (and may come back): 0.1 chains expected of 200 x 39 sweeps x 159 units.
    same = (state == wanted).all(axis=1)
    assert (same & (np.abs(log_weights - wanted_weights) < 1e-4)).sum() >= 198
    assert wanted_weights.std() > 0.01, "the weights should have something to agree on"


DIGESTS = {
    "narrow": "19cf3c007731e68f",
    "wide": "05e947954118de26",
    "annealed": "669b3589855f38e3",
    "units": "3b0a79cacc17a6f3",
}


def bits_of(case):
    """Arrays that are the same on any processor; `make elsewhere` asks others."""
    if case == "annealed":
        rbm = rl.testsystems.random_rbm(n_visible=90, n_hidden=40, rng=1)
        run = quiet(rl.ais, GeometricPath(rbm), np.linspace(0, 1, 41) ** 2, n_chains=40, rng=0)
        return run.states, np.round(run.log_weights, 9)
    if case == "units":
        rng = np.random.default_rng(0)
        x = rng.normal(scale=5, size=(64, 42))
        one = DoubleReLU(np.zeros(42), *rng.uniform(0.3, 3, (2, 42)), *rng.normal(size=(2, 42)))
        return one.draw(x, rng), one.cumulant(x), Potts(np.zeros(42), 3).draw(x, rng)
    made = build_family(90, {"narrow": 12, "wide": 60}[case], spread=2 / 90**0.5)
    v, logs, slopes = (uniforms(1, 0, (70, 90)) < 0.3).astype(f32), np.zeros(70), np.empty(70)
    gibbs.anneal(made, v, logs, np.linspace(0, 1, 41), stream_at(9, 3, 0))
    annealed = v.copy()
    gibbs.sweep(made, v, np.linspace(0, 1, 70), slopes, 5, stream_at(9, 3, 10**6))
    return logs, annealed, v, slopes


@pytest.mark.parametrize("case", DIGESTS)
def test_loops_give_these_bits_on_any_processor(case):
    found = hashlib.sha256(b"".join(np.ascontiguousarray(x).tobytes() for x in bits_of(case)))
    assert found.hexdigest()[:16] == DIGESTS[case]


def test_cache_folder_changes_with_any_kernel_file(tmp_path, monkeypatch):
    room = tmp_path / "_kernels"
    shutil.copytree(_kernels._ROOM, room, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(_kernels, "_ROOM", room)
    monkeypatch.setattr(_kernels, "_OUTER_CACHE", str(tmp_path / "cache"))
    folders = [_kernels._cache_folder()]
    assert _kernels._cache_folder() == folders[0]
    for source in sorted(room.glob("*.py")):
        source.write_text(source.read_text(encoding="utf-8") + "# changed\n", encoding="utf-8")
        folders.append(_kernels._cache_folder())
    assert len(set(folders)) == len(folders) > 10


LONG_RUN = """
import rbmlib as rl
path = rl.GeometricPath(rl.testsystems.random_rbm(n_visible=300, n_hidden={n_hidden}, rng=0))
rl.ais(path, rl.schedules.linear(10), n_chains=64, rng=0)
print("running", flush=True)
rl.ais(path, rl.schedules.linear(10_000_000), n_chains=1024, rng=0)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to another process")
@pytest.mark.parametrize("n_hidden", [10, 100])
def test_interrupt_stops_a_long_run(n_hidden):
    run = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", LONG_RUN.format(n_hidden=n_hidden)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert run.stdout.readline() == "running\n"
        time.sleep(1.5)
        run.send_signal(signal.SIGINT)
        _, errors = run.communicate(timeout=120)  # seconds, where the machine has other work
    finally:
        run.kill()
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert run.returncode != 0
