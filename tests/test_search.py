"""Sums over distinct states, at or below log Z; what `log_z` makes of them; modes and bounds."""

import numpy as np
import pytest
from helpers_check import frozen_or_liquid
from helpers_models import exchanged, quiet, with_idle_units
from helpers_stats import all_states, log_sum, rbm_table
from scipy.linalg import block_diag

import rbmlib as rl
from rbmbook import bench
from rbmbook.models import of_spins
from rbmlib.automatic import log_z as doors
from rbmlib.models.mean_field import best_lower_bound, lower_bounds
from rbmlib.search import modes
from rbmlib.search.beam import Beam, descents
from rbmlib.search.modes import find_modes, hunting_starts, in_single
from rbmlib.search.summed import FEW, SURE, Z95, StateSum, Summed

LAYERS = {
    "bits": lambda rng, n: rl.Binary(rng.normal(size=n)),
    "spins": lambda rng, n: rl.Spin(rng.normal(scale=0.5, size=n)),
    "categories": lambda rng, n: rl.Potts(rng.normal(size=3 * (n // 2)), 3),
    "normal": lambda rng, n: rl.Gaussian(rng.normal(size=n)),
}
KINDS = [
    ("bits", 12, "bits", 6), ("bits", 6, "bits", 12), ("spins", 9, "spins", 7),
    ("bits", 9, "spins", 7), ("spins", 7, "bits", 9), ("categories", 8, "bits", 9),
    ("bits", 9, "categories", 8), ("categories", 8, "categories", 10), ("normal", 7, "bits", 8),
    ("normal", 6, "spins", 7), ("normal", 6, "categories", 10),
]  # fmt: skip


def model(visible, n_visible, hidden, n_hidden, scale, rng):
    layers = LAYERS[visible](rng, n_visible), LAYERS[hidden](rng, n_hidden)
    return rl.RBM(*layers, rng.normal(scale=scale, size=[*map(len, layers)])).with_()


@pytest.mark.parametrize("scale", [0.3, 2.0, 400.0])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind[0]}-{kind[2]}")
def test_a_sum_grows_to_log_z(kind, scale):
    rbm = model(*kind, scale, np.random.default_rng(7))
    log_z, beam = rl.exact(rbm).log_z, Beam(rbm)
    rounding = 1e-11 * (1 + abs(log_z))
    begun = descents(beam.small, rng=0)[:3]
    beam.add(begun)
    sums = [beam.log_sum]
    while len(sums) < 3 or beam.log_sum > sums[-2]:
        beam.grow(20 * beam.n_neighbours)
        sums.append(beam.log_sum)
    assert max(sums) <= log_z + rounding
    assert (np.diff(sums) >= 0).all()
    assert abs(sums[-1] - log_z) <= rounding
    assert beam.contains(begun).all()


@pytest.mark.parametrize(("weight", "bias"), [(200.0, 0.0), (-200.0, 1000.0)])
def test_large_weights_of_one_sign(weight, bias):
    """All 16 visible states are about as probable, though seven factors leave every float."""
    rbm = rl.BernoulliRBM(np.full((4, 7), weight), [-7 * weight] * 4, [bias] * 7)
    beam = Beam(rbm)
    beam.add(np.zeros((1, 4)))
    beam.grow(1000 * beam.n_neighbours)
    assert beam.log_sum == pytest.approx(rl.exact(rbm).log_z, abs=1e-9)


@pytest.mark.parametrize("n", [5, 63, 64, 65, 130])
def test_states_of_any_number_of_words(n):
    rng = np.random.default_rng(n)
    rbm = rl.BernoulliRBM(rng.normal(size=(n, n)), rng.normal(size=n), rng.normal(size=n))
    states, sums = (rng.random((300, n)) < 0.5).astype(float), set()
    known = {bytes(s.astype(bool)) for s in states[:200]}
    for n_threads in (1, 2):
        with rl.using(n_threads=n_threads):
            beam = Beam(rbm)
            beam.add(states[:200])
            beam.add(states[100:200])
            assert beam.n_states == len(known)
            assert beam.contains(states).tolist() == [
                bytes(s.astype(bool)) in known for s in states
            ]
            beam.grow(60 * n)
            sums.add((beam.log_sum, beam.n_states))
    assert len(sums) == 1
    assert beam.n_states >= min(2**n, 2 * len(known))
    assert beam.contains(states[:200]).all()


MODEL = rl.testsystems.random_rbm(14, 8, coupling=3.0, rng=5)


def sum_of(rbm, hidden):
    """A sum of these hidden states, no more."""
    known = StateSum(rbm)
    known.add(np.zeros((len(hidden), rbm.n_visible)), hidden)
    return known


def test_of_n_chains_that_find_nothing_outside_the_interval_is_three_over_n():
    known = sum_of(MODEL, all_states(8)[:200])
    inside = np.zeros((50, 14), np.float32)
    known.holds = lambda _, v, rng: np.ones(len(v), bool)
    found = Summed.of(known, MODEL, [(np.full(50, known.log_sum), inside)], None)
    assert (found.outside, found.share) == (0.0, 1.0)
    assert found.error == pytest.approx(FEW / Z95 / 50)
    wanted = known.log_sum, known.log_sum + np.log1p(3 / 50)
    assert found.interval() == pytest.approx(wanted, rel=1e-12)
    half = Summed.of(known, MODEL, [(np.full(50, known.log_sum + np.log(0.5)), inside)], None)
    assert half.lost == pytest.approx(0.5 - SURE * 0.5 * FEW / Z95 / 50)  # surely not found


def test_a_glass_is_verified_and_right():
    """On glasses of +-1 runs were low by up to five errors; the sum holds all of Z."""
    rng = np.random.default_rng(1)
    weights = rng.choice([-1.0, 1.0], (40, 21))
    rbm = of_spins(weights, *(0.05 * rng.normal(size=n) for n in (40, 21)))
    estimate = quiet(rl.log_z, rbm, n_steps=250, n_chains=1000, rng=1, enumerate_small=False)
    assert estimate.verdict == "verified"
    assert estimate.reason.startswith("a sum over")
    assert abs(estimate.log_z - rl.exact(rbm).log_z) < 1e-3
    assert estimate.std_error < 0.2


def test_small_parts_that_do_not_touch_are_enumerated():
    """8 hidden units, 3 idle ones, and 20: together more than are enumerated."""
    large = rl.testsystems.random_rbm(30, 20, coupling=2.0, rng=3)
    weights = block_diag(MODEL.weights, np.zeros((0, 3)), large.weights)
    order = np.random.default_rng(0).permutation(44)
    b = np.r_[MODEL.visible_bias, large.visible_bias]
    a = np.r_[MODEL.hidden_bias, [1.0, 2.0, 3.0], large.hidden_bias]
    union = rl.BernoulliRBM(weights[order], b[order], a, log_scale=4.0)
    exact = sum(rl.exact(part).log_z for part in (MODEL, large))
    exact += np.logaddexp(0, [1, 2, 3]).sum() + 4
    found = rl.log_z(union)
    assert (found.method, found.verdict) == ("exact", "exact")
    wide = rl.testsystems.random_rbm(50, 40, rng=0)
    b, a = np.r_[MODEL.visible_bias, wide.visible_bias], np.r_[MODEL.hidden_bias, wide.hidden_bias]
    both = rl.BernoulliRBM(block_diag(MODEL.weights, wide.weights), b, a)
    assert not doors._is_small(both, 1e9), "one part is not"
    assert found.log_z == pytest.approx(exact, abs=1e-9)


def test_what_is_enumerated_follows_from_sizes_and_budget():
    def shaped(n, m):
        return rl.BernoulliRBM(np.ones((n, m)), np.zeros(n), np.zeros(m))

    assert doors._is_small(shaped(2000, 20), 1e-6)
    assert doors._is_small(shaped(64, 24), 10.0)
    assert doors._is_small(shaped(24, 64), 10.0)
    assert not doors._is_small(shaped(64, 24), 0.1)
    assert not doors._is_small(shaped(784, 26), 10.0)
    assert not doors._is_small(shaped(64, 27), 1e9)


def test_a_sum_of_a_model_in_parts_is_the_product_of_theirs():
    one, two = (rl.testsystems.random_rbm(*size, coupling=3.0, rng=1) for size in ((9, 7), (6, 8)))
    weights = block_diag(one.weights, two.weights)
    visible = np.concatenate([one.visible_bias, two.visible_bias])
    hidden = np.concatenate([one.hidden_bias, two.hidden_bias])
    rbm = rl.BernoulliRBM(weights, visible, hidden, log_scale=0.7)
    known, h = StateSum(rbm), np.hstack([all_states(7)[:60], all_states(8)[100:160]])
    visible_states = np.hstack([np.zeros((60, 9)), all_states(6)[:60]])
    known.add(visible_states, h)
    first = sum_of(one, h[:, :7]).log_sum
    second = StateSum(two)
    second.add(visible_states[:, 9:])
    assert known.log_sum == pytest.approx(first + second.log_sum + 0.7, abs=1e-12)
    assert known.n_states == 120
    v = rl.sample(rbm, 20_000, rng=1).states.astype(np.float32)
    runs = [(np.full(20_000, rl.exact(rbm).log_z), v)]
    found = Summed.of(known, rbm, runs, np.random.default_rng(0))
    assert 0.01 < found.share < 0.99
    assert abs(found.log_z - rl.exact(rbm).log_z) < 4 * found.std_error


def test_a_bar_of_a_sum_knows_how_few_chains_it_rests_on():
    """One chain has all of the weight, inside the sum; the others outside weigh nothing."""
    rbm = rl.testsystems.random_rbm(30, 14, rng=1).transposed()
    known = StateSum(rbm)
    known.add(np.zeros((1, 14)))
    states = np.ones((500, 14))
    states[0] = 0
    values = known.log_sum + np.r_[np.log(500.0), np.full(499, -12.0)]
    found = Summed.of(known, rbm, [(values, states)], np.random.default_rng(0))
    assert found.std_error == pytest.approx(3 / 1.96, rel=0.01)


def test_a_sum_is_z_only_if_a_second_base_converges_to_it():
    """From data of the one state no chain finds the rest: the broader base has too low an ESS."""
    rbm, log_z, frozen = frozen_or_liquid()
    found = quiet(rl.log_z, rbm, data=np.tile(frozen, (50, 1)), n_steps=400, rng=0)
    assert found.log_z < log_z - 1
    assert found.verdict == "inconclusive"
    assert "a second base cannot confirm the sum" in found.reason


@pytest.mark.parametrize("n_visible", [6, 14])
def test_coordinates_of_a_path_give_the_hidden_states_outside_a_sum(n_visible):
    """Exact draws of real units, as a path sees them: on the span of the weights, turned."""
    rng = np.random.default_rng(3)
    weights = rng.normal(0, 0.4, (n_visible, 9))
    hidden = rl.Binary(rng.normal(0, 1, 9) - (weights**2).sum(axis=0) / 2)
    rbm = rl.RBM(rl.Gaussian(rng.normal(0, 0.3, n_visible)), hidden, weights)
    exact, path = rl.exact(rbm).log_z, rl.GeometricPath(rbm)
    known = sum_of(rbm, all_states(9)[::2])
    u = rbm.reduced()[1].coordinates(rl.sample(rbm, 20_000, rng=1).states)
    run = np.full(20_000, exact), u
    found = Summed.of(known, path.at(1.0), [run], np.random.default_rng(0))
    assert 0.1 < found.share < 0.9
    assert abs(found.log_z - exact) < 4 * found.std_error


def hard(kind, seed):
    """A model of the bench, and its log Z."""
    name = f"{kind}_{seed}"
    return bench.model(name), bench.read_index()[name][1]


@pytest.mark.parametrize("kind", ["pocket", "ferromagnet", "hopfield", "degenerate", "masked"])
def test_bounds_of_modes_are_below_log_z(kind):
    for seed in range(4):
        rbm, log_z = hard(kind, seed)
        modes = find_modes(rbm)
        assert modes.lower_bound.max() <= log_z + 1e-5  # solutions are in single precision
        assert (np.diff(modes.log_z) <= 0).all()
        apart = np.abs(modes.visible[:, None] - modes.visible).max(axis=2)
        assert apart[~np.eye(len(apart), dtype=bool)].min(initial=1) > 0.05
        assert len(find_modes(rbm, most=1).log_z) == 1


@pytest.mark.parametrize("kind", ["pocket", "ferromagnet"])
def test_every_heavy_mode_is_found(kind):
    for seed in range(3):
        rbm, log_z = hard(kind, seed)
        rng = np.random.default_rng(seed)
        for model in (rbm, exchanged(rbm, np.flatnonzero(rng.random(rbm.n_hidden) < 0.5))):
            modes = find_modes(model)
            assert abs(np.exp(modes.log_z - log_z).sum() - 1) < 0.35


def test_patterns_of_weak_units_are_found_behind_stronger_ones():
    """Four patterns, each held by 16 units together, and 80 pairs of units with larger weights."""
    n, rng = 120, np.random.default_rng(0)
    patterns = rng.choice([-1.0, 1.0], (4, n))
    weights = np.zeros((n + 80, 64 + 80))
    weights[:n, :64] = np.repeat(patterns.T / 4, 16, axis=1)
    weights[n:, 64:] = np.diag(np.full(80, 12.0))
    gain = np.logaddexp(0, 4.0 * patterns).sum(axis=1) - n * np.log(2)
    visible, hidden = np.r_[np.zeros(n), np.full(80, -3.0)], np.repeat(-gain / 16, 16)
    rbm = rl.BernoulliRBM(weights, visible, np.r_[hidden, np.full(80, -3.0)])
    found = find_modes(rbm).visible[:, :n] > 0.5
    for pattern in patterns > 0:
        assert (found == pattern).all(axis=1).any()


def test_what_a_mode_holds_is_at_most_three_nats_above_its_bound():
    """The next term of the expansion is tens of nats where a mode is wide, and means nothing."""
    weights = 0.045 * np.random.default_rng(0).normal(size=(100, 100))  # of spins, all of mean 0
    found = find_modes(of_spins(weights, np.zeros(100), np.zeros(100)))
    assert found.log_z - found.lower_bound == pytest.approx([3.0])


def test_modes_are_solutions():
    rbm, _ = hard("pocket", 0)
    modes = find_modes(rbm)
    visible = modes.visible
    for _ in range(500):
        visible = rbm.visible_mean(rbm.hidden_mean(visible))
    heavy = modes.lower_bound > modes.lower_bound.max() - 5
    assert np.abs(lower_bounds(rbm, visible) - modes.lower_bound)[heavy].max() < 0.01


def test_rows_of_the_data_are_starts_so_many_and_no_more():
    rbm = rl.testsystems.random_rbm(9, 5, rng=0)
    data = np.random.default_rng(0).integers(0, 2, (119, 9))
    n = [len(hunting_starts(rbm, rows, 0)) for rows in (None, data[:60], data)]
    assert n[1] - n[0] == n[2] - n[0] == 2 * 60 + 60


def test_generations_of_modes_end_where_new_ones_hold_nothing(monkeypatch):
    """New modes with a third of the heaviest's weight are sought about, those of 1/20,000 not."""
    rows = {"old": [1, 0, 0, 0], "third": [0, 1, 0, 0], "little": [0, 0, 1, 0]}
    given = [np.array([rows[name]], np.float32) for name in rows]
    monkeypatch.setattr(modes, "hunting_starts", lambda *_: given[0])
    monkeypatch.setattr(modes, "_changed", lambda single, parents: parents)
    monkeypatch.setattr(modes, "_solutions", lambda *_: given.pop(0))
    weight = np.array([0.0, -1.0, -10.0, -99.0])
    monkeypatch.setattr(modes, "lower_bounds", lambda rbm, visible: visible @ weight)
    rbm = rl.BernoulliRBM(np.zeros((4, 2)), np.zeros(4), np.zeros(2))
    modes._found(rbm, None, None, 10)
    assert given == []


@pytest.mark.parametrize("coupling", [0.5, 3.0, 20.0])
def test_bound_is_never_above_log_z(coupling):
    rng = np.random.default_rng(0)
    for seed in range(20):
        rbm = rl.testsystems.random_rbm(7, 5, coupling=coupling, rng=seed)
        exact = log_sum(rbm_table(rbm))
        means = np.concatenate([rng.random((50, 7)), rng.integers(0, 2, (50, 7))])
        assert lower_bounds(rbm, means).max() <= exact
        assert best_lower_bound(rbm) <= exact + 1e-9
        assert best_lower_bound(rbm) >= lower_bounds(rbm, means).max() - 0.5
        single = lower_bounds(in_single(rbm), means.astype(np.float32))
        np.testing.assert_allclose(single, lower_bounds(rbm, means), atol=1e-3)


def test_bound_finds_the_heavy_mode_whichever_way_units_are_counted():
    rbm, log_z = with_idle_units(4.0, 40.0)
    rng = np.random.default_rng(0)
    for hidden, visible in [
        ([], []), (range(25), []), ([], range(300)),
        (np.flatnonzero(rng.random(25) < 0.5), np.flatnonzero(rng.random(300) < 0.5)),
    ]:  # fmt: skip
        other = exchanged(rbm, hidden, visible)
        assert best_lower_bound(other) == pytest.approx(log_z, abs=1e-6)


def test_mean_field_base_does_not_depend_on_how_hidden_units_are_counted():
    rbm, log_z = with_idle_units(2.0, 2.87)
    betas = rl.schedules.linear(1000)
    for model in (rbm, exchanged(rbm, range(0, 25, 2))):
        run = rl.ais(rl.GeometricPath(model), betas, n_chains=100, rng=0, n_recorded=2)
        assert abs(run.log_z - log_z) < 4 * run.std_error < 0.4


@pytest.mark.parametrize("of", [rl.Binary, rl.Spin])
def test_the_base_is_smoothed_as_asked(of):
    """Bits, or spins of means 2 p - 1: whatever the smoothing s, p (1 + 2 s) - s is the same p."""
    rng = np.random.default_rng(0)
    rbm = rl.RBM(of(rng.normal(size=8)), of(rng.normal(size=4)), rng.normal(size=(8, 4)))
    size, found = 2 if of is rl.Spin else 1, []
    for s in (0.01, 0.5):
        means = 1 / (1 + np.exp(-size * rl.mean_field_bias(rbm, smoothing=s)))
        found.append(means * (1 + 2 * s) - s)
    np.testing.assert_allclose(*found, atol=1e-5)
