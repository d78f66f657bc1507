"""Metropolis-Hastings: exact transition matrices, stationarity, and what goes wrong without it."""

import numpy as np
import pytest
from helpers_stats import assert_no_rejection, chi_square_p, two_sided, z_score
from scipy import stats

from rbmbook.metropolis import Independent, RandomWalk, metropolis_hastings, normal_log_density

MEAN, COVARIANCE = np.array([5.0, 10.0]), np.array([[1.0, 1.0], [1.0, 4.0]])
MARGINALS = np.diag(np.diag(COVARIANCE))
TARGET = normal_log_density(MEAN, COVARIANCE)
PROPOSALS = {
    "independent": Independent.normal(MEAN, MARGINALS),
    "off centre": Independent.normal(MEAN + 0.5, 2 * COVARIANCE),
    "random walk": RandomWalk(1.5),
}


def exact_draws(n, seed=0):
    return np.random.default_rng(seed).multivariate_normal(MEAN, COVARIANCE, size=n)


def test_log_density_is_that_of_scipy():
    x = exact_draws(5)
    ours = TARGET(x) - TARGET(MEAN[None])
    law = stats.multivariate_normal(MEAN, COVARIANCE)
    assert np.allclose(ours, law.logpdf(x) - law.logpdf(MEAN))


@pytest.mark.parametrize("name", PROPOSALS)
def test_exact_draws_stay_exact(name):
    """Moments, and the radius that no linear statistic sees, after 1, 4 and 16 steps."""
    chains = metropolis_hastings(TARGET, PROPOSALS[name], exact_draws(20_000), 16, rng=1)
    p = []
    for step in (1, 4, 16):
        z = (chains.states[:, step - 1] - MEAN) @ np.linalg.inv(np.linalg.cholesky(COVARIANCE)).T
        moments = np.stack(
            [z[:, 0], z[:, 1], z[:, 0] ** 2 - 1, z[:, 1] ** 2 - 1, z[:, 0] * z[:, 1]]
        )
        p += list(two_sided(z_score(moments.T, 0.0)))
        p.append(stats.kstest((z**2).sum(axis=1), stats.chi2(2).cdf).pvalue)
    assert_no_rejection(p, name)


def test_transition_matrix_of_three_states():
    """Where a chain goes from each state, against the matrix, and detailed balance of that."""
    log_p, q = np.log([0.6, 0.3, 0.1]), np.array([0.2, 0.3, 0.5])

    def index(x):
        return x[:, 0].astype(int)

    proposal = Independent(
        lambda rng, n: rng.choice(3, size=(n, 1), p=q).astype(float), lambda y: np.log(q)[index(y)]
    )
    p = np.exp(log_p)
    ratio = (p[None, :] * q[:, None]) / (p[:, None] * q[None, :])
    matrix = q[None, :] * np.minimum(1, ratio)
    matrix[np.diag_indices(3)] = 0
    matrix[np.diag_indices(3)] = 1 - matrix.sum(axis=1)
    assert np.allclose(p[:, None] * matrix, (p[:, None] * matrix).T)
    start = np.repeat(np.arange(3.0), 20_000)[:, None]
    moved = metropolis_hastings(lambda x: log_p[index(x)], proposal, start, 1, rng=3)
    ends = moved.states[:, 0, 0].astype(int).reshape(3, -1)
    assert_no_rejection([chi_square_p(ends[i], matrix[i]) for i in range(3)], "rows")


def test_a_chain_stays_where_it_was_refused():
    chains = metropolis_hastings(TARGET, RandomWalk(3.0), exact_draws(4), 500, rng=2)
    same = (chains.states[:, 1:] == chains.states[:, :-1]).all(axis=2)
    assert np.array_equal(same, ~chains.accepted[:, 1:])
    assert 0.1 < chains.acceptance_rate < 0.9
    for proposal in PROPOSALS.values():
        run = metropolis_hastings(TARGET, proposal, exact_draws(3), 5000, rng=2)
        assert np.array_equal((np.diff(run.states, axis=1) == 0).all(axis=2), ~run.accepted[:, 1:])


@pytest.mark.parametrize("k", [1.0, 3.0])
def test_without_the_ratio_it_samples_the_product(k):
    """A proposal that says it is flat: the chain samples p q, whose correlation is known."""
    wide = Independent.normal(MEAN, k**2 * MARGINALS)
    flat = Independent(wide.sample, lambda y: np.zeros(len(y)))
    chains = metropolis_hastings(TARGET, flat, exact_draws(40), 20_000, rng=5)
    found = [np.corrcoef(x[100:].T)[0, 1] for x in chains.states]
    assert abs(z_score(np.array(found), 1 / (2 + 1.5 / k**2))) < 4


def test_density_zero_is_never_entered():
    def positive(x):
        return np.where(x[:, 0] > 0, -x[:, 0], -np.inf)

    chains = metropolis_hastings(positive, RandomWalk(1.0), np.ones((20, 1)), 3000, rng=0)
    assert chains.states.min() > 0
    assert abs(z_score(chains.states.mean(axis=(1, 2)), 1.0)) < 4

    def root(x):
        return -np.sqrt(np.where(x[:, 0] > 0, x[:, 0], np.nan))

    assert metropolis_hastings(root, RandomWalk(1.0), np.ones((2, 1)), 300).states.min() > 0


@pytest.mark.parametrize("name", PROPOSALS)
def test_same_seed_same_chains(name):
    one, two, other = (
        metropolis_hastings(TARGET, PROPOSALS[name], exact_draws(3), 5000, rng=seed).states
        for seed in (7, 7, 8)
    )
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: RandomWalk(0.0), "step_size is 0.0"),
        (lambda: Independent.normal([0, 0], [[1, 2], [2, 1]]), "covariance is not positive"),
        (lambda: Independent.normal([0, 0], [[1, 2], [0, 1]]), "covariance is not symmetric"),
        (lambda: normal_log_density([0, 0], [[1]]), "covariance has shape"),
        (lambda: metropolis_hastings(TARGET, RandomWalk(1), [0, 0], 5), "start has shape"),
        (lambda: metropolis_hastings(TARGET, RandomWalk(1), [[0, 0]], 0), "n_samples is 0"),
        (lambda: metropolis_hastings(lambda x: 0.0, RandomWalk(1), [[0, 0]], 5), "log_density"),
        (
            lambda: metropolis_hastings(
                lambda x: np.full(len(x), -np.inf), RandomWalk(1), [[0, 0]], 5
            ),
            "start has a state of density 0",
        ),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_other_proposals_are_refused():
    with pytest.raises(TypeError, match="proposal is a float"):
        metropolis_hastings(TARGET, 1.0, [[0, 0]], 5)
