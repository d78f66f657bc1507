"""The search for modes, and the bounds on log Z that they give."""

import numpy as np
import pytest
from helpers_models import exchanged, independent_rbm, with_idle_units
from helpers_stats import log_sum, rbm_table

import rbmlib as rl
from rbmbook import bench
from rbmbook.testsystems import of_spins
from rbmlib.models.mean_field import best_lower_bound, lower_bounds
from rbmlib.search import modes
from rbmlib.search.modes import find_modes, hunting_starts, in_single


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


@pytest.mark.parametrize("kind", ["pocket", "ferromagnet"])
def test_every_heavy_mode_is_found(kind):
    """Of exact samples few lie far from all modes, whichever way units are counted."""
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


def test_modes_differ_and_most_is_kept():
    rbm, _ = hard("hopfield", 1)
    modes = find_modes(rbm)
    apart = np.abs(modes.visible[:, None] - modes.visible).max(axis=2)
    assert apart[~np.eye(len(apart), dtype=bool)].min() > 0.05
    assert len(find_modes(rbm, most=3).log_z) == 3


def test_what_a_mode_holds_is_at_most_three_nats_above_its_bound():
    """The next term of the expansion is tens of nats where a mode is wide, and means nothing."""
    weights = 0.045 * np.random.default_rng(0).normal(size=(100, 100))  # of spins, all of mean 0
    found = find_modes(of_spins(weights, np.zeros(100), np.zeros(100)))
    assert found.log_z - found.lower_bound == pytest.approx([3.0])


def test_modes_are_solutions():
    """Of mean field: sweeps without end change neither how many there are nor what they hold."""
    rbm, _ = hard("pocket", 0)
    modes = find_modes(rbm)
    visible = modes.visible
    for _ in range(500):
        visible = rbm.visible_mean(rbm.hidden_mean(visible))
    heavy = modes.lower_bound > modes.lower_bound.max() - 5
    assert np.abs(lower_bounds(rbm, visible) - modes.lower_bound)[heavy].max() < 0.01


def test_rows_of_the_data_are_starts_so_many_and_no_more():
    """Sixty, spread over all of them, and the same with every unit the other way."""
    rbm = rl.testsystems.random_rbm(9, 5, rng=0)
    data = np.random.default_rng(0).integers(0, 2, (119, 9))
    n = [len(hunting_starts(rbm, rows, 0)) for rows in (None, data[:60], data)]
    assert n[1] - n[0] == n[2] - n[0] == 2 * 60 + 60


def test_bounds_in_single_precision_are_those_in_double():
    rbm = rl.testsystems.random_rbm(20, 9, coupling=4.0, rng=0)
    means = np.random.default_rng(0).uniform(size=(6, 20))
    single = lower_bounds(in_single(rbm), means.astype(np.float32))
    np.testing.assert_allclose(single, lower_bounds(rbm, means), atol=1e-4)


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


def test_bound_is_log_z_where_units_are_independent():
    rng = np.random.default_rng(0)
    rbm, log_z = independent_rbm(rng.normal(size=30), rng.normal(size=25))
    assert best_lower_bound(rbm) == pytest.approx(log_z, abs=1e-9)


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
    """One way the base once lost 95% of Z with a fair error bar, the other way it did not."""
    rbm, log_z = with_idle_units(2.0, 2.87)
    betas = rl.schedules.linear(1000)
    for model in (rbm, exchanged(rbm, range(0, 25, 2))):
        run = rl.ais(rl.GeometricPath(model), betas, n_chains=100, rng=0, n_recorded=2)
        assert abs(run.log_z - log_z) < 4 * run.std_error < 0.4


def test_exchange_of_visible_units_exchanges_the_base():
    rbm = rl.testsystems.random_rbm(30, 12, coupling=6.0, rng=0)
    visible = np.arange(0, 30, 3)
    sign = np.ones(30)
    sign[visible] = -1
    ours, theirs = rl.mean_field_bias(rbm), rl.mean_field_bias(exchanged(rbm, visible=visible))
    np.testing.assert_allclose(theirs, sign * ours, atol=1e-5)


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
