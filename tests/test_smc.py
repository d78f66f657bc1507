"""Annealed sequential Monte Carlo: unbiased, with an error bar that counts families."""

from importlib import import_module

import numpy as np
import pytest

import rbmlib as rl
from rbmbook.rivals.smc import family_shares

smc_module = import_module("rbmbook.rivals.smc")
STRONG = rl.testsystems.random_rbm(n_visible=12, n_hidden=6, coupling=3.0, rng=0)
FROM_UNIFORM = rl.GeometricPath(STRONG, base=np.zeros(12))
TRUTH = rl.exact(STRONG).log_z
pytestmark = pytest.mark.filterwarnings("ignore::rbmlib.ConvergenceWarning")


@pytest.fixture
def run(monkeypatch):
    def made(seed, n_steps=12, n_chains=60, threshold=0.8, look_every=1):
        monkeypatch.setattr(smc_module, "THRESHOLD", threshold)
        monkeypatch.setattr(smc_module, "LOOK_EVERY", look_every)
        return smc_module.smc(FROM_UNIFORM, rl.schedules.linear(n_steps), n_chains, seed)

    return made


def test_mean_of_z_is_z_and_the_error_bar_is_the_spread_of_runs(run):
    with rl.using(independent_check=False):  # their own error bars are what is tested
        runs = [run(seed) for seed in range(600)]
    assert np.mean([len(r.details["resampled"]) for r in runs]) > 1
    error = np.array([r.log_z - TRUTH for r in runs])
    z = np.exp(error)
    assert abs(z.mean() - 1) < 4 * z.std(ddof=1) / np.sqrt(z.size)
    said = np.sqrt(np.mean([r.std_error**2 for r in runs]))
    assert 0.85 < error.std(ddof=1) / said < 1.15
    assert np.mean([r.interval[0] <= TRUTH <= r.interval[1] for r in runs]) > 0.93


def test_without_resampling_it_is_ais(run):
    ours, ais = run(3, threshold=0.0), rl.ais(FROM_UNIFORM, rl.schedules.linear(12), 60, 3)
    assert ours.log_z == pytest.approx(ais.log_z, abs=1e-12)
    assert ours.std_error == pytest.approx(ais.std_error, rel=1e-9)
    assert ours.ess == pytest.approx(ais.ess, rel=1e-9)


def test_states_are_draws_of_the_target(run):
    """Drawn once, at the end, by the uneven weights of a short run."""
    found = run(1, n_steps=2, n_chains=20_000, threshold=0.0)
    assert 500 < found.ess < 10_000  # as they are, they would be draws of something else
    exact = rl.sample(STRONG, 20_000, np.random.default_rng(0)).states
    off = found.states.mean(axis=0) - exact.mean(axis=0)
    assert np.abs(off).max() < 5 * np.sqrt(0.25 / found.ess + 0.25 / 20_000)


def test_a_schedule_from_a_pilot_of_its_own():
    found = smc_module.smc(FROM_UNIFORM, n_chains=300, rng=0)
    assert found.n_sweeps == 1000
    assert np.ptp(np.diff(smc_module._by_pilot(FROM_UNIFORM, 0))) > 1e-4
    assert abs(found.log_z - TRUTH) < 4 * found.std_error
    assert found.converged


def test_shares_of_families():
    log_weights = np.log([1.0, 2.0, 3.0, 4.0])
    assert family_shares(log_weights, np.array([2, 0, 2, 0])) == pytest.approx([0.6, 0, 0.4, 0])


def test_families_descend_from_the_first_chains(run, monkeypatch):
    """Four chains drawn anew twice: all descend from the first, by two of its copies."""
    drawn = iter([[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 2, 3]])
    monkeypatch.setattr(smc_module, "resampled", lambda *_: np.array(next(drawn)))
    found = run(0, n_steps=3, n_chains=4, threshold=1.0)
    assert found.details["resampled"] == [1, 2]
    assert found.details["n_families"] == 1


def test_few_families_are_flagged(run):
    found = run(0, n_steps=3, n_chains=40)
    assert found.ess < 20
    assert not found.converged


def test_the_steps_of_resampling_are_those_after_which_it_was(run):
    """Looked at each third step of eleven, and always below the threshold: not at the end."""
    estimate = run(0, n_steps=11, look_every=3, threshold=1.0)
    assert estimate.details["resampled"] == [3, 6, 9]


def test_an_error_of_fewer_than_two_families_is_flagged():
    """Twelve chains, of which one has it all its own way: no interval, so no trust."""
    shares = np.full(12, 0.8 / 11)
    shares[0] = 0.2
    found = smc_module._of_families(FROM_UNIFORM, None, 1.0, shares)
    assert found.ess > 10
    assert found.interval == (-np.inf, np.inf)
    assert not found.converged


def test_warnings_are_its_own_and_not_those_of_its_pilot():
    with pytest.warns(rl.ConvergenceWarning) as caught:
        smc_module.smc(FROM_UNIFORM, n_chains=5, rng=0)
    assert [str(w.message)[:4] for w in caught] == ["smc:"]


def test_a_path_with_a_flat_stretch_takes_even_steps():
    """All chains of the pilot have one log-weight there: no friction is known."""
    rbm = rl.BernoulliRBM(np.zeros((20, 8)), np.zeros(20), np.zeros(8))
    flat = smc_module.smc(rl.GeometricPath(rbm, np.zeros(20)), n_chains=100, rng=0)
    assert abs(flat.log_z - 28 * np.log(2)) < 1e-9
