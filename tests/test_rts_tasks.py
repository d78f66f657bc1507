"""What the sweeps of chapter rts compute, on a model that can be enumerated."""

import numpy as np
import pytest

import rbmlib as rl
from rbmbook.experiments import carlson2016 as rts  # registers its words
from rbmbook.sweeps.words import ESTIMATORS

BETAS = rl.schedules.linear(9)
SMALL = rl.testsystems.random_rbm(n_visible=10, n_hidden=5, coupling=2.0, rng=0)
PATH = rl.GeometricPath(SMALL, base=np.zeros(10))
EXACT = rl.exact(SMALL).log_z


def run(estimator, **settings):
    return ESTIMATORS[estimator](PATH, BETAS, 3, **settings)


@pytest.mark.parametrize("prior", rts.PRIORS)
def test_every_prior_gives_the_same_log_z(prior):
    estimate, more = run("settled", n_sweeps=300, burn_in=50, prior=prior)
    assert abs(estimate.log_z - EXACT) < 4.5 * estimate.std_error
    assert more["round_trips"] > 2
    weights = rts.PRIORS[prior](BETAS)
    visits = estimate.states.mixed[:, :, 0].sum(axis=(0, 1))
    shares = visits / visits.sum()
    np.testing.assert_allclose(shares, weights / weights.sum(), rtol=0.3)


def test_chains_under_a_prior_have_moved_before_they_are_used():
    options = {"n_chains": 20, "n_sweeps": 40, "prior": "rising"}
    a, b = (run("settled", burn_in=burn_in, **options)[0].log_z for burn_in in (1, 60))
    assert a != b
    assert run("settled", burn_in=60, **options)[0].log_z == b


def test_short_runs_are_counted_one_by_one():
    estimate, more = run("moves", n_runs=12, n_chains=20, n_sweeps=60, burn_in=20)
    assert estimate.n_chains == 12 * 20
    for kind in ("rts", "sd", "rsd"):
        error = np.sqrt(more[f"{kind}_variance"] / 11)
        assert abs(more[f"{kind}_mean"] - EXACT) < 5 * error
    assert 0.3 < more["rsd_variance"] / more["rts_variance"] < 3
    assert more["sd_variance"] > 2 * more["rsd_variance"]  # counted, not averaged


def test_a_prior_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="prior is 'steep': expected one of 'uniform'"):
        run("settled", n_sweeps=10, burn_in=1, prior="steep")
