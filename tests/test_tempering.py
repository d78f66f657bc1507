"""Simulated and parallel tempering: stationarity, fused equals generic, bookkeeping."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from helpers_kernels import MirroredStream, generic, quantised_path
from helpers_models import quiet
from helpers_stats import (
    all_states,
    assert_no_rejection,
    chi_square_p,
    geometric_tables,
    log_sum,
    probabilities,
    rbm_table,
    state_index,
)
from scipy.special import softmax

import rbmlib as rl
from rbmlib import BernoulliRBM, GeometricPath, checks
from rbmlib._kernels import adaptive
from rbmlib.results import halves, trips

f32 = np.float32
BETAS = np.array([0.0, 0.3, 0.7, 1.0])
PRIOR = np.array([0.4, 0.1, 0.2, 0.3])


def small_path() -> GeometricPath:
    rng = np.random.default_rng(0)
    rbm = BernoulliRBM(
        rng.normal(size=(5, 3)), rng.normal(size=5), rng.normal(size=3), log_scale=0.7
    )
    return GeometricPath(rbm, base=BernoulliRBM(np.zeros((5, 3)), [0.5] * 5, [-1, 0, 1]))


def tables_of(path) -> np.ndarray:
    """log p*_beta(v, h) at BETAS: (K, 32, 8)."""
    base, target = rbm_table(path.models[0]), rbm_table(path.rbm)
    return np.array([geometric_tables(base, target, b) for b in BETAS])


def exact_joint(path, log_z_path, prior=PRIOR):
    """q(k, v) of simulated tempering by enumeration, and log Z at BETAS."""
    tables = tables_of(path)
    log_z = np.array([log_sum(t) for t in tables])
    marginal = log_sum(tables, axis=2) + (np.log(prior) - log_z_path)[:, None]
    return probabilities(marginal), log_z


def test_weights_of_betas_and_their_search():
    """`weigh` against NumPy in the range of float64; `search` inverts the cumulative sum."""
    assert np.iinfo(np.int16).max == checks.MOST_BETAS
    rng = np.random.default_rng(0)
    for n in (2, 15, 16, 17, 100):
        betas, offsets = np.linspace(0, 1, n), -np.linspace(0, 300, n)
        memory = adaptive.memory_of(n)
        for delta in (-50.0, 0.0, 290.0, 900.0):
            total = adaptive.weigh(delta, betas, offsets, memory)
            x = betas * delta + offsets
            wanted = np.exp(np.maximum(x - x.max(), -1000 * np.log(2)))
            np.testing.assert_allclose(memory.p, wanted, rtol=1e-11)
            np.testing.assert_allclose(total, wanted.sum(), rtol=1e-12)
            for u in rng.random(20):
                found = adaptive.search(memory.p, memory.parts, u * total)
                cumulative = np.cumsum(memory.p)
                assert cumulative[found] > u * total * (1 - 1e-12)
                assert found == 0 or cumulative[found - 1] <= u * total * (1 + 1e-12)


@pytest.mark.always
@pytest.mark.statistical
@pytest.mark.parametrize("conditional", ["joint", "marginal"])
def test_tempering_leaves_the_joint_law_invariant(conditional):
    """Exact draws of (k, v) with wrong Z^ and uneven r; 1, 4 and 16 sweeps: still exact draws.

    By the generic loop, which compiled ones equal."""
    path = generic(small_path())
    guess = np.array([0.0, 0.5, -0.4, 1.0]) + path.log_z_base
    law, _ = exact_joint(path, guess)
    rng, n, states = np.random.default_rng(1), 40_000, all_states(5)
    drawn = rng.choice(law.size, n, p=law.ravel())
    index, visible = np.unravel_index(drawn, law.shape)
    sample = states[visible].astype(f32)
    p_values, done = [], 0
    for sweeps in (1, 4, 16):
        run = rl.simulated_tempering(
            path, BETAS, guess, n, sweeps - done, rng, prior=PRIOR, start=sample, index=index,
            conditional=conditional, n_blocks=1,
        )  # fmt: skip
        sample, index, done = run.states, run.index, sweeps
        cells = index * len(states) + state_index(sample)
        p_values.append(chi_square_p(cells, law.ravel()))
    assert_no_rejection(p_values, conditional)


@pytest.mark.always
@pytest.mark.statistical
@pytest.mark.parametrize("joint", [True, False])
def test_parallel_tempering_leaves_the_product_invariant(joint):
    """One replica a beta, drawn exactly; after swaps each beta still holds exact draws."""
    path = small_path()
    path.joint = joint
    law = np.array([probabilities(log_sum(t, axis=1)) for t in tables_of(path)])
    rng, n, states = np.random.default_rng(2), 4000, all_states(5)
    visible = np.stack([rng.choice(32, n, p=p) for p in law], axis=1)
    start = states[visible.ravel()].astype(f32)
    p_values = []
    for sweeps in (1, 5):
        run = rl.parallel_tempering(path, BETAS, n, sweeps, rng, start=start)
        found = state_index(run.states)
        p_values += [chi_square_p(found[run.index == k], law[k]) for k in range(4)]
        assert (np.sort(run.index.reshape(n, 4)) == np.arange(4)).all()
    assert (run.swap_rates > 0.2).all()
    assert_no_rejection(p_values, f"parallel, {joint}")


@pytest.mark.parametrize("shape", [(25, 9), (25, 27), (25, 40), (64, 95)], ids=str)
def test_fused_tempering_equals_the_generic_loop(shape, monkeypatch):
    """The same draws give the same states and betas, but for units within rounding."""
    path = quantised_path(*shape, coupling=4.0)
    betas = rl.schedules.linear(19)
    first = rl.pilot(path, betas, n_chains=50, n_steps=200, rng=0)
    options = {"n_chains": 200, "n_sweeps": 12, "rng": 3, "record_every": 5, "n_blocks": 4}
    fused = rl.simulated_tempering(path, betas, first.log_z_path, **options)
    path._loops = None
    plain = GeometricPath.joint_transition
    monkeypatch.setattr(
        GeometricPath, "joint_transition", lambda p, s, b, r: plain(p, s, b, MirroredStream(r))
    )
    loop = rl.simulated_tempering(path, betas, first.log_z_path, **options)
    same = (fused.temperature == loop.temperature).all(axis=0)
    assert same.sum() >= 198
    np.testing.assert_allclose(fused.delta[:, same], loop.delta[:, same], atol=2e-3)
    for one, two in ((fused.mixed, loop.mixed), (fused.visited, loop.visited)):
        np.testing.assert_allclose(one[:, same], two[:, same], rtol=2e-3, atol=0.05)
    if same.all():
        np.testing.assert_array_equal(fused.round_trips, loop.round_trips)


def round_trips(temperature):
    """Of each chain, counted by hand."""
    ends = [[k for k in column if k in (0, 3)] for column in temperature.T]
    return [sum(a != b for a, b in pairwise(e)) / 2 for e in ends]


def test_sums_agree_with_the_states_kept():
    path = small_path()
    guess = exact_joint(path, np.zeros(4))[1]
    run = rl.simulated_tempering(path, BETAS, guess, 30, 200, 0, prior=PRIOR, n_blocks=4)
    logits = run.delta[..., None] * BETAS + np.log(run.prior) - run.log_z_path
    q = softmax(logits, axis=-1)
    for power in range(3):
        wanted = (q * run.delta[..., None] ** power).reshape(4, 50, 30, 4).sum(axis=1)
        np.testing.assert_allclose(run.mixed[:, :, power], wanted, rtol=1e-6, atol=1e-6)
    counts = np.stack([(run.temperature == k).reshape(4, 50, 30).sum(axis=1) for k in range(4)], 2)
    np.testing.assert_array_equal(run.visited[:, :, 0], counts)
    np.testing.assert_array_equal(run.round_trips, round_trips(run.temperature))


def test_a_sample_goes_on_from_its_end():
    path = small_path()
    guess = exact_joint(path, np.zeros(4))[1]
    first = rl.simulated_tempering(path, BETAS, guess, 10, 20, 0)
    again = rl.simulated_tempering(path, BETAS, guess, 10, 20, 1, start=first)
    np.testing.assert_array_equal(again.origin, first.index)
    trips = first.round_trips + again.round_trips
    both = np.concatenate([first.temperature, again.temperature])
    np.testing.assert_array_equal(trips, round_trips(both))
    fresh = rl.simulated_tempering(path, BETAS, guess, 10, 20, 1, start=first.states)
    assert (fresh.origin != first.index).any()


def test_some_ladders_keep_all_that_is_theirs():
    sample = rl.parallel_tempering(small_path(), BETAS, 4, 60, 0)
    part = sample.of_chains([1, 3])
    assert (part.n_chains, part.index.size) == (2, 8)
    for name in ("round_trips", "index", "last_end", "states"):
        every = getattr(sample, name)
        theirs = every.reshape(4, 4, *every.shape[1:])[[1, 3]].reshape(8, *every.shape[1:])
        np.testing.assert_array_equal(getattr(part, name), theirs)
    own = [sample.of_chains([chain]).round_trips.sum() for chain in range(4)]
    assert sum(own) == sample.round_trips.sum() > 0
    assert trips(sample).value == np.mean(own), "of all replicas of a ladder"
    assert part.round_trips.sum() == own[1] + own[3] != sum(own) / 2


@pytest.mark.parametrize("chains", [4, [-5], [0.5], [], slice(3, 1), [True] * 3], ids=repr)
def test_chains_that_a_sample_has_not_are_refused(chains):
    sample = rl.parallel_tempering(small_path(), BETAS, 4, 2, 0)
    with pytest.raises(ValueError, match=r"^chains is .*: expected .* some of the 4 chains"):
        sample.of_chains(chains)


def test_halves_of_a_run_are_compared_without_its_middle():
    ends = np.random.default_rng(0).uniform(0.1, 0.9, (5, 30, 2))
    first, last = (np.log(e[..., 1].mean() / e[..., 0].mean()) for e in (ends[:2], ends[3:]))
    assert halves(ends)[0].disagreement == pytest.approx(abs(last - first))
    # what a chain has in all blocks hides no drift
    rng, drift = np.random.default_rng(1), 0.01 * np.arange(5)[:, None]
    parts = rng.normal(size=30) + drift + 0.001 * rng.normal(size=(5, 30))
    assert not halves(parts)[0].passed


LADDER, SIX = np.array([0.0, 0.5, 1.0]), rl.testsystems.random_rbm(6, 4, rng=0)
PATHS = [
    rl.GeometricPath(SIX),
    rl.GeometricPath(rl.testsystems.random_rbm(6, 40, rng=0)),  # by the wide kernel
    rl.LeakinessPath(rl.LeakyRBM(np.eye(6)[:, :2] * 0.5)),
    rl.DensityPath(rl.testsystems.GaussianMixture(np.zeros((2, 6)), 1.0), 1.0),
]
TEMPERED = rl.simulated_tempering(PATHS[0], LADDER, 0 * LADDER, 6, 4, 0)
CALLS = {
    "simulated": lambda p, s: rl.simulated_tempering(p, LADDER, 0 * LADDER, 6, 9, 0, start=s),
    "sample": lambda p, s: rl.simulated_tempering(
        p, LADDER, 0 * LADDER, 6, 9, 0, start=replace(TEMPERED, states=s)
    ),
    "parallel": lambda p, s: rl.parallel_tempering(p, LADDER, 2, 10, 0, start=s),
    "reverse_ais": lambda p, s: rl.reverse_ais(p, LADDER, 6, 0, start=s),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("path", PATHS)
def test_states_of_another_width_or_value_never_reach_a_kernel(call, path):
    """What an unchecked kernel does to memory would end the process of these tests."""
    bad = [np.ones((6, 500_000), np.float32), np.ones((6, 1)), np.where(np.eye(6) > 0, np.nan, 1)]
    if path in PATHS[:2]:  # whose states are bits
        bad.append(1 - np.eye(6) / 2)
    for states in bad:
        with pytest.raises((TypeError, ValueError), match=r"^start "):
            quiet(CALLS[call], path, states)
