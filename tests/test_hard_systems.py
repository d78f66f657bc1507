"""Hard models with known log Z: the value that comes with each is that of another enumeration."""

import numpy as np
import pytest
from scipy.sparse import bmat, csr_array
from scipy.sparse.csgraph import connected_components

import rbmlib as rl
from rbmbook import counted_models, hard_systems
from rbmbook.hard_systems import HARD_KINDS, disguised_rbm, hard_rbm, union_rbm

COUNTED = "mean field", "first order"  # too large to enumerate: summed over counts


@pytest.mark.parametrize("kind", [kind for kind in HARD_KINDS if kind not in COUNTED])
def test_log_z_is_that_of_enumeration(kind):
    """Parts of a union are told by their weights, and enumerated one by one."""
    for seed in range(3):
        rbm, log_z, name = hard_rbm(kind, rng=seed)
        assert name == kind
        links = csr_array(rbm.weights != 0)
        labels = connected_components(bmat([[None, links], [links.T, None]]))[1]
        total = rbm.log_scale
        for part in np.unique(labels):
            v, h = (labels == part)[: rbm.n_visible], (labels == part)[rbm.n_visible :]
            if v.any() and h.any():
                weights = rbm.weights[np.ix_(v, h)]
                total += rl.exact(rl.BernoulliRBM(weights, rbm.visible_bias[v],
                                                  rbm.hidden_bias[h])).log_z  # fmt: skip
            else:
                total += np.logaddexp(0, np.r_[rbm.visible_bias[v], rbm.hidden_bias[h]]).sum()
        assert total == pytest.approx(log_z, abs=1e-7)


@pytest.mark.parametrize("kind", COUNTED)
def test_a_sum_over_counts_is_that_of_all_states(kind):
    """Each model is one of equal weights, disguised; such a sum is right where both are known."""
    n, m, coupling, b, a = 11, 7, 0.3, -1.2, -0.4
    small = rl.BernoulliRBM(np.full((n, m), coupling), np.full(n, b), np.full(m, a))
    known = counted_models.counted(n, m, coupling, b, a)
    assert rl.exact(small).log_z == pytest.approx(known, abs=1e-10)
    for seed in range(4):
        rbm, log_z, _ = hard_rbm(kind, rng=seed)
        assert np.ptp(np.abs(rbm.weights)) < 1e-9 * np.abs(rbm.weights).max()
        smaller = min(rbm.weights.shape)
        if smaller <= 16:
            assert rl.exact(rbm).log_z == pytest.approx(log_z, abs=1e-8)
        else:  # a sum over some of all states is below
            v = (np.random.default_rng(seed).random((50, rbm.n_visible)) < 0.5).astype(float)
            assert np.logaddexp.reduce(rbm.log_density(v)) < log_z


@pytest.mark.parametrize("seed", range(3))
def test_two_phases_hold_their_shares(seed):
    """Of a first-order point: exact draws of the number of units that are on lie in two lumps."""
    rng = np.random.default_rng(seed)
    rbm, log_z = counted_models.first_order(rng)
    n, weight, b, a = rbm.n_visible, rbm.weights[0, 0], rbm.visible_bias[0], rbm.hidden_bias[0]
    on = np.arange(n + 1)
    logs = counted_models.log_choose(n) + b * on + rbm.n_hidden * np.logaddexp(0, a + weight * on)
    p = np.exp(logs - log_z)
    assert p.sum() == pytest.approx(1, abs=1e-9)
    above = p[on > -a / weight].sum()
    assert 0.09 < above < 0.91
    assert p[np.argmin(np.abs(on + a / weight))] < 0.5 * p.max()


def rank_modulo_2(rows):
    rank, left = 0, rows.copy()
    for column in range(left.shape[1]):
        pivot = np.flatnonzero(left[rank:, column])[:1] + rank
        if pivot.size:
            left[[rank, pivot[0]]] = left[[pivot[0], rank]]
            others = np.flatnonzero(left[:, column])
            left[others[others != rank]] ^= left[rank]
            rank += 1
    return rank


@pytest.mark.parametrize("seed", range(3))
def test_parities_count_checks_that_are_satisfied_and_all_can_be(seed):
    """log p* of visible states, without the decoy, is linear in their number, which is all."""
    rbm, _ = counted_models.parities(np.random.default_rng(seed))
    checks = rbm.weights[:, :-1].reshape(rbm.n_visible, -1, 16)
    rows = (checks != 0).all(axis=2).T.astype(int)
    assert (rows.sum(axis=1) == 5).all()
    parity = (checks[:, :, 0] > 0).sum(axis=0) % 2  # of the units that are on in a pattern
    assert rank_modulo_2(rows) == rank_modulo_2(np.column_stack([rows, parity]))
    bare = rl.BernoulliRBM(rbm.weights[:, :-1], rbm.visible_bias, rbm.hidden_bias[:-1])
    v = np.random.default_rng(seed).integers(0, 2, (500, rbm.n_visible))
    satisfied = (v @ rows.T % 2 == parity).sum(axis=1)
    slope, start = np.polyfit(satisfied, bare.log_density(v.astype(float)), 1)
    assert slope > 2
    assert np.ptp(bare.log_density(v.astype(float)) - slope * satisfied - start) < 1e-9


def test_a_seed_is_a_model():
    one, same, other = (hard_rbm("hopfield", rng=seed) for seed in (5, 5, 6))
    np.testing.assert_array_equal(one.rbm.weights, same.rbm.weights)
    assert one.rbm.weights.shape != other.rbm.weights.shape or one.log_z != other.log_z


@pytest.mark.filterwarnings("ignore::rbmlib.ConvergenceWarning")
def test_a_pocket_holds_its_share_and_no_base_leads_there():
    """A quarter of Z or more lies in a pocket that plain annealing loses in some of few models."""
    lost = 0
    for seed in range(6):
        rbm, log_z, _ = hard_rbm("pocket", rng=seed)
        with rl.using(independent_check=False):  # which sees it
            run = rl.ais(rl.GeometricPath(rbm), rl.schedules.linear(300), 100, rng=0)
        lost += run.converged and abs(run.log_z - log_z) > 8 * run.std_error
    assert lost > 0


def test_disguise_keeps_log_z_and_hides_the_parts():
    rbm = rl.testsystems.random_rbm(20, 6, coupling=5.0, rng=0)
    seen = set()
    for seed in range(6):
        other = disguised_rbm(rbm, rng=seed)
        seen.add(other.weights.shape)
        assert rl.exact(other).log_z == pytest.approx(rl.exact(rbm).log_z, abs=1e-9)
        assert not np.isin(other.weights.ravel()[:20], rbm.weights.ravel()[:20]).all()
    assert seen == {(20, 6), (6, 20)}


def test_log_z_of_a_union_is_a_sum():
    parts = [rl.testsystems.random_rbm(9, 5, coupling=4.0, rng=seed) for seed in range(2)]
    total = sum(rl.exact(part).log_z for part in parts)
    assert rl.exact(union_rbm(*parts)).log_z == pytest.approx(total, abs=1e-9)


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="kind is 'hard'"):
        hard_rbm("hard")


def test_a_training_moves_visible_biases_by_means_over_chains():
    """By shares of the rate: whole numbers of one chain's, and not of all chains' together."""
    rbm, _ = hard_systems._trained(np.random.default_rng(0))
    moves = rbm.visible_bias / (hard_systems.PCD_RATE / hard_systems.PCD_CHAINS)
    np.testing.assert_allclose(moves, np.rint(moves), atol=1e-6)
    assert np.any(np.rint(moves) % hard_systems.PCD_CHAINS != 0)
