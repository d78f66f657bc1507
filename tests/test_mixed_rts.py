"""The mixed likelihood of runs of RTS, and the transition-matrix estimators: the chapter's."""

import warnings

import numpy as np
import pytest
from helpers_tempering import BETAS, EXACT, run

import rbmlib as rl
from rbmbook.carlson2016.estimators import (
    mixed_rts,
    transition_rts,
    transition_sums,
)

# the mixed likelihood -----------------------------------------------------------------------


def test_mixed_likelihood_of_one_run_is_equation_12():
    sample = run(guess=EXACT + np.linspace(0, 2, 10))
    np.testing.assert_allclose(mixed_rts([sample]), rl.rts_of_sample(sample).log_z_path, atol=1e-8)


def test_runs_count_by_their_states():
    """A run cut in two of unequal size and put together again is that run."""
    sample = run(n_chains=50, n_sweeps=60, guess=EXACT + np.linspace(0, 1, BETAS.size))
    short = run(n_chains=50, n_sweeps=20, rng=1)
    parts = [sample.of_chains(slice(0, 10)), sample.of_chains(slice(10, 50))]
    np.testing.assert_allclose(mixed_rts(parts), mixed_rts([sample]), atol=1e-8)
    # and by its sweeps: the first-order equation of appendix A, with shares of all states
    shares, found = np.array([0.75, 0.25]), mixed_rts([sample, short])
    logits = np.array([np.log(s.prior) - s.log_z_path for s in (sample, short)]) + found
    model = np.exp(logits - np.logaddexp.reduce(logits, axis=1)[:, None])
    seen = np.array([s.mixed[:, :, 0].sum(axis=(0, 1)) for s in (sample, short)])
    np.testing.assert_allclose(shares @ model, seen.sum(axis=0) / (50 * 80), atol=1e-8)


def test_a_beta_that_one_group_alone_has_visited_is_said():
    """log Z of all groups is finite, its jackknife is not."""
    sample = run(n_chains=2, n_sweeps=20)
    with pytest.warns(rl.ConvergenceWarning, match="some betas were never visited"):
        estimate = transition_rts(sample, n_groups=2)
    assert np.isfinite(estimate.log_z)
    assert not estimate.converged


def test_mixed_likelihood_joins_runs_with_different_estimates():
    """Its gradient is zero: expected and observed occupations agree, summed over runs."""
    samples = [run(40, 500, s, EXACT + np.linspace(0, s, 10)) for s in range(3)]
    joined = mixed_rts(samples)
    assert abs(joined[-1] - EXACT[-1]) < 0.1
    total = np.zeros(10)
    for s in samples:
        q = s.prior * np.exp(joined - s.log_z_path - (joined - s.log_z_path).max())
        total += s.occupation().mean(axis=(0, 1)) - q / q.sum()
    assert np.abs(total).max() < 1e-8


# the transition matrix ----------------------------------------------------------------------


def test_sums_of_moves_by_hand():
    """Each move counted in a loop: to the beta drawn, or in shares of q(k | x)."""
    sample = run(7, 40, n_blocks=1)
    drawn, shared = np.zeros((2, 10, 10))
    offsets = np.log(sample.prior) - sample.log_z_path
    for t, chain in np.ndindex(39, 7):
        old, new = sample.temperature[t : t + 2, chain]
        drawn[old, new] += 1
        q = np.exp(offsets + sample.delta[t + 1, chain] * sample.betas)
        shared[old] += q / q.sum()
    np.testing.assert_array_equal(transition_sums(sample, np.arange(7), "sd"), drawn)
    np.testing.assert_allclose(transition_sums(sample, np.arange(7), "rsd"), shared, rtol=1e-10)


@pytest.mark.parametrize("kind", ["sd", "rsd"])
def test_transition_matrix_estimates_the_exact_value(kind):
    estimate = transition_rts(run(100, 1000, n_blocks=1), kind=kind)
    assert abs(estimate.log_z - EXACT[-1]) < 4 * estimate.std_error
    assert estimate.std_error < 0.1


def test_an_empty_beta_is_said():
    with pytest.warns(rl.ConvergenceWarning, match="never visited"):
        estimate = transition_rts(run(4, 3, guess=EXACT + np.linspace(0, 500, 10)))
    assert not estimate.converged
    assert np.isnan(estimate.log_z)


@pytest.mark.parametrize("kind", ["sd", "rsd"])
def test_the_jackknife_of_moves_has_its_factor(kind):
    """10 groups of 4 chains, each left out: (n - 1) / n times the sum of squares."""
    sample, everyone = run(40, 200, guess=EXACT + np.linspace(0, 0.7, 10)), np.arange(40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rl.ConvergenceWarning)
        whole = transition_rts(sample, kind=kind, n_groups=10)
        left = [
            transition_rts(sample.of_chains(np.delete(everyone, group)), kind=kind).log_z
            for group in np.array_split(everyone, 10)
        ]
    assert whole.std_error == pytest.approx(np.sqrt(9 * np.var(left)), rel=1e-9)
