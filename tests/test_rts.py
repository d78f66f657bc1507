"""RTS, its error bar and flags."""

from dataclasses import replace

import numpy as np
import pytest
from helpers_models import quiet
from helpers_tempering import BETAS, EXACT, PATH, run

import rbmlib as rl
from rbmlib.estimators.rts import updated
from rbmlib.results import mixing


def test_estimate_is_equation_12_and_its_error_that_of_appendix_b():
    """Eq. (16), with the variances and covariance of c over chains; and the bias of eq. (15)."""
    guess, prior = EXACT + np.linspace(0, 1, 10), np.arange(1, 11) / 55
    sample = run(guess=guess, prior=prior)
    estimate = quiet(rl.rts_of_sample, sample)
    c = sample.occupation().mean(axis=0)
    m, s = c.mean(axis=0), np.cov(c[:, [0, -1]].T) / 50
    wanted = guess[-1] - guess[0] + PATH.log_z_base + np.log(prior[0] * m[-1] / (prior[-1] * m[0]))
    assert estimate.log_z == pytest.approx(wanted, abs=1e-12)
    assert estimate.log_weights.mean() == pytest.approx(estimate.log_z, abs=1e-12)
    assert estimate.log_z_path[0] == pytest.approx(PATH.log_z_base)
    variance = s[0, 0] / m[0] ** 2 + s[1, 1] / m[-1] ** 2 - 2 * s[0, 1] / (m[0] * m[-1])
    assert estimate.trace["std_error"][-1] == pytest.approx(np.sqrt(variance))
    bias = (s[0, 0] / m[0] ** 2 - s[1, 1] / m[-1] ** 2) / 2
    assert estimate.details["bias"] == pytest.approx(bias)


@pytest.mark.statistical
def test_intervals_cover():
    """1,200 estimates of 16 chains: 95% intervals hold the exact value in 91% to 99%."""
    n, each, covered, z = 1200, 16, [], []
    sample = run(n * each, 500, rng=1, record_every=500)
    for i in range(n):
        estimate = quiet(
            rl.rts_of_sample, sample.of_chains(slice(i * each, i * each + each)), skip=1
        )
        covered.append(estimate.interval[0] <= EXACT[-1] <= estimate.interval[1])
        z.append((estimate.log_z - EXACT[-1]) / estimate.std_error)
    assert abs(np.mean(covered) - 0.95) < 0.04
    assert abs(np.mean(z)) < 0.25


@pytest.mark.parametrize(
    "options",
    [{}, {"rao_blackwell": False}],
    ids=str,
)
def test_probabilities_and_counts_find_the_exact_value(options):
    estimate = rl.rts(PATH, BETAS, 60, 1000, 3, **options)
    assert estimate.converged
    assert abs(estimate.log_z - EXACT[-1]) < 4 * estimate.std_error + 0.01


def test_rao_blackwellised_counts_vary_less():
    samples = [run(20, 60, seed) for seed in range(12)]
    rb, counted = (
        np.std([quiet(rl.rts_of_sample, sample, rao_blackwell=rb).log_z for sample in samples])
        for rb in (True, False)
    )
    assert rb < counted


@pytest.mark.parametrize("estimator", [rl.rts, rl.sams, rl.wang_landau])
def test_too_few_round_trips_are_flagged(estimator):
    """Two modes that Gibbs sampling cannot pass between but at the base; a short run."""
    rbm, _ = rl.testsystems.two_mode_rbm(200, strength=2.0)
    path = rl.GeometricPath(rbm, base=np.zeros(200))
    with pytest.warns(rl.ConvergenceWarning, match="round trips"):
        estimate = estimator(path, rl.schedules.linear(20), 50, 60, 0)
    assert not estimate.converged
    assert estimate.std_error >= estimate.trace["std_error"][-1]


def ends(chains=40, blocks=10, drift=0.0, apart=0.0, common=0.0, rng=0):
    """c at both ends of a ladder of two betas, made up."""
    rng = np.random.default_rng(rng)
    last = 0.5 + 0.02 * rng.normal(size=(blocks, chains))
    last += drift * np.linspace(-1, 1, blocks)[:, None]
    last += apart * np.where(np.arange(chains) < chains / 2, 1, -1)
    last += common * rng.choice([-1, 1], size=(blocks, 1))
    return np.stack([1 - last, last], axis=-1)


@pytest.mark.parametrize(
    ("made", "failed"),
    [({}, None), ({"drift": 0.02}, "halves"), ({"apart": 0.02}, "either end"),
     ({"common": 0.05}, "blocks of time")],
    ids=["none", "drift", "groups", "blocks"],
)  # fmt: skip
def test_each_disagreement_is_found(made, failed):
    origin, trips = np.where(np.arange(40) < 20, 0, 9), np.full(40, 5.0)
    sample = replace(run(40, 20, n_blocks=10), origin=origin, round_trips=trips)
    checks = mixing(sample, ends(**made))
    wrong = [check.name for check in checks if not check.passed]
    assert len(checks) == 4
    assert any(failed in text for text in wrong) if failed else not wrong


def test_blocks_that_are_not_used_are_not_checked():
    """The first of ten has its betas turned round, which a drift of the run would show."""
    sample = run(n_blocks=10)
    turned = sample.mixed.copy()
    turned[0] = turned[0, ..., ::-1]
    one, two = (rl.rts_of_sample(s, skip=1) for s in (sample, replace(sample, mixed=turned)))
    assert one.log_z == two.log_z
    assert one.checks == two.checks


def test_update_in_logarithms():
    prior = np.array([0.25, 0.25, 0.5])
    out = updated(np.array([1.0, 2.0, 3.0]), prior, np.array([0.25, 0.5, 0.25]))
    np.testing.assert_allclose(out, [1, 2 + np.log(2), 3 - np.log(2)])
