"""SAMS and Wang-Landau: updates, gains, compiled equals plain, error bars, flags."""

import numpy as np
import pytest
from helpers_kernels import MirroredStream, quantised_path
from helpers_tempering import BETAS, PATH

import rbmlib as rl
from rbmlib import GeometricPath
from rbmlib._kernels import adaptive as kernel
from rbmlib.estimators import sams as adaptive
from rbmlib.estimators.sams import Groups, gain_sequence
from rbmlib.estimators.wang_landau import Halving
from rbmlib.sampling.temper import neighbour_law

UNIFORM = np.full(10, 0.1)


def groups_of(path=PATH, betas=BETAS, n_chains=40, n_groups=4, rng=0, **options):
    return Groups(path, betas, n_chains, rng, n_groups=n_groups, **options)


@pytest.mark.parametrize("old", [0, 1, 4, 8, 9])
def test_neighbour_moves_keep_the_law_of_beta(old):
    """Compiled and plain probabilities agree, and are in detailed balance with exp(logits)."""
    rng = np.random.default_rng(old)
    offsets, delta = rng.normal(scale=2, size=10), 3.0
    logits = BETAS * delta + offsets
    law = neighbour_law(np.arange(10), np.tile(logits, (10, 1)))
    np.testing.assert_allclose(law.sum(axis=1), 1)
    flow = np.exp(logits)[:, None] * law
    np.testing.assert_allclose(flow, flow.T, rtol=1e-12)
    ladder = kernel.ladder_of(BETAS, np.full(1, old))._replace(offsets=offsets)
    kernel.jump_to_neighbour(old, delta, 0.5, 0.5, ladder, True)
    np.testing.assert_allclose(ladder.sums, law[old], atol=1e-9)
    ladder.sums[:] = 0
    for side in (0.2, 0.8):
        for u in (np.arange(2000) + 0.5) / 2000:
            kernel.jump_to_neighbour(old, delta, side, u, ladder, False)
    np.testing.assert_allclose(ladder.sums / 4000, law[old], atol=2e-3)


@pytest.mark.parametrize("mixed", [True, False])
def test_update_is_tans(mixed):
    """Eq. (9) and (12), capped at the prior, less the base's."""
    prior = np.arange(1, 11) / 55
    groups = groups_of(n_groups=2, start="plain", mixed=mixed, prior=prior, conditional="marginal")
    before, gain = groups.log_z.copy(), 0.05
    logs = PATH.log_density  # the states after the sweep, with the log Z before it
    groups.advance(np.full((2, 1), gain))
    logits = logs(groups.v, BETAS) + np.log(prior) - before.repeat(20, axis=0)
    law = np.exp(logits - logits.max(axis=1)[:, None])
    share = law / law.sum(axis=1)[:, None] if mixed else np.eye(10)[groups.index]
    step = np.minimum(gain, prior) / prior * share.reshape(2, 20, 10).mean(axis=1)
    np.testing.assert_allclose(groups.log_z, before + step - step[:, :1], atol=1e-12)
    assert groups.visits.sum() == 40


def test_gains_are_tans():
    """Both stages, continuous at t_0; 1/t without a first stage."""
    gains = gain_sequence(1000, 300, 0.7)
    t = np.arange(1, 1001)
    np.testing.assert_allclose(gains[:300], t[:300] ** -0.7)
    np.testing.assert_allclose(gains[300:], 1 / (t[300:] - 300 + 300**0.7))
    assert gains[300] / gains[299] == pytest.approx(1, abs=0.02)
    np.testing.assert_allclose(gain_sequence(50), 1 / np.arange(1, 51))


def test_gain_is_halved_at_flat_histograms_and_then_one_over_t():
    rule = Halving(2, UNIFORM, one_over_t=True)
    flat, uneven, missing = np.full(10, 100), np.full(10, 100), np.full(10, 100)
    uneven[3], missing[0] = 75, 0
    np.testing.assert_array_equal(rule.gains(0, 2), 0.1)
    rule.see(np.array([flat, uneven]), 30)
    np.testing.assert_array_equal(rule.gain, [0.05, 0.1])
    assert not rule.late.any()  # 0.05 > 1/30
    assert rule.histogram[0].sum() == 0 < rule.histogram[1].sum()
    rule.see(np.array([missing, 0 * flat]), 40)
    np.testing.assert_array_equal(rule.gain, [0.05, 0.1])
    rule.see(np.array([10 * flat, 10 * flat]), 35)
    np.testing.assert_array_equal(rule.late, [True, False])  # 0.025 < 1/35 < 0.05
    np.testing.assert_allclose(rule.gains(35, 37), [[1 / 36, 1 / 37], [0.05, 0.05]])
    never = Halving(2, UNIFORM, one_over_t=False)
    for _ in range(9):
        never.see(np.array([flat, uneven]), 30)
    np.testing.assert_allclose(never.gain, [0.1 / 2**9, 0.1])


@pytest.mark.parametrize("jump", ["global", "local"])
@pytest.mark.parametrize("shape", [(25, 9), (64, 95)], ids=["narrow", "wide"])
def test_compiled_equals_the_plain_loop(shape, jump, monkeypatch):
    """The same draws give the same betas and log Z, but for groups with a unit within rounding."""
    path = quantised_path(*shape, coupling=4.0)
    betas = rl.schedules.linear(19)
    gains = np.tile(gain_sequence(8), (50, 1))
    fused, loop = (groups_of(path, betas, 200, 50, jump=jump, mixed=True) for _ in range(2))
    fused.advance(gains)
    path._loops = None
    plain = GeometricPath.joint_transition
    monkeypatch.setattr(
        GeometricPath, "joint_transition", lambda p, s, b, r: plain(p, s, b, MirroredStream(r))
    )
    loop.advance(gains)
    same = (fused.visits == loop.visits).all(axis=1)
    assert same.sum() >= 48
    np.testing.assert_allclose(fused.log_z[same], loop.log_z[same], atol=2e-3)
    if same.all():
        np.testing.assert_array_equal(fused.index, loop.index)
        np.testing.assert_array_equal(fused.round_trips, loop.round_trips)
        np.testing.assert_array_equal(fused.v, loop.v)


def test_groups_share_nothing():
    """A group's run does not depend on the gains of the others."""
    gains = np.tile(gain_sequence(40), (4, 1))
    other = gains.copy()
    other[1] *= 0.1
    one, two = groups_of(), groups_of()
    one.advance(gains)
    two.advance(other)
    changed = (one.log_z != two.log_z).any(axis=1)
    np.testing.assert_array_equal(changed, [False, True, False, False])


def test_groups_begin_at_the_log_z_of_their_own_chains():
    groups = groups_of()
    weights = rl.pilot(PATH, BETAS, 40, adaptive.PILOT_STEPS, rng=0).log_weights_path
    for log_z, own in zip(groups.log_z, np.split(np.exp(weights), 4, axis=1), strict=True):
        np.testing.assert_allclose(log_z, np.log(own.mean(axis=1)), atol=1e-12)


@pytest.mark.parametrize(
    ("made", "failed"),
    [({}, None), ({"drift": 0.5}, "halves"), ({"apart": 0.5}, "either end"),
     ({"unseen": 3}, "least visited")],
    ids=["none", "drift", "apart", "unseen"],
)  # fmt: skip
def test_each_disagreement_is_found(made, failed):
    groups = groups_of(n_chains=20, n_groups=10)
    groups.visits[...] = 100
    groups._passages[:] = 10
    if "unseen" in made:
        groups.visits[:, made["unseen"]] = 10
    rng = np.random.default_rng(0)
    values = rng.normal(scale=0.1, size=10) + made.get("apart", 0) * groups.at_top
    drift = rng.normal(scale=0.1, size=10) + made.get("drift", 0)
    groups.log_z[:, -1], groups.half = values, values - drift
    checks = groups.checks()
    wrong = [check.name for check in checks if not check.passed]
    found = max(check.disagreement for check in checks)
    assert len(checks) == 4
    assert found >= max(made.get("apart", 0), made.get("drift", 0)) - 0.2
    assert [failed in text for text in wrong] == [True] if failed else not wrong
