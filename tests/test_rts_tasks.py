"""What the sweeps on Carlson et al. compute, on models that can be enumerated."""

import numpy as np
import pytest
from helpers_stats import all_states

import rbmlib as rl
from rbmbook.carlson2016.rounds import rts_from_rounds
from rbmbook.experiments import carlson2016 as rts  # registers its words
from rbmbook.paths import GivenVisible
from rbmbook.sweeps.words import ESTIMATORS

BETAS = rl.schedules.linear(9)
SMALL = rl.testsystems.random_rbm(n_visible=10, n_hidden=5, coupling=2.0, rng=0)
PATH = rl.GeometricPath(SMALL, base=np.zeros(10))
EXACT = rl.exact(SMALL).log_z
pytestmark = pytest.mark.filterwarnings("ignore::rbmlib.ConvergenceWarning")


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


def test_a_prior_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="prior is 'steep': expected one of 'uniform'"):
        run("settled", n_sweeps=10, burn_in=1, prior="steep")


def test_rts_goes_on_from_rounds():
    estimate, more = run("rts_from_rounds", n_chains=20, n_sweeps=400, round_burn_in=10)
    again, made = rts_from_rounds(PATH, BETAS, 20, 400, 3, left_out=10)
    assert estimate.log_z == again.log_z
    assert more["n_rounds"] == len(made) <= 10
    assert abs(more["start_log_z"] - EXACT) < 2


def test_rounds_end_when_they_are_close():
    how = {"n_chains": 20, "round_burn_in": 10, "conditional": "joint", "n_rounds": 5}
    assert run("rounds", until=0.0, **how)[1]["rounds"] == 5
    assert run("rounds", until=2.0, **how)[1]["rounds"] < 5


def test_a_bottleneck_is_where_the_conductance_is_smallest():
    found = run("bottleneck", n_sweeps=300)[1]
    assert 0 < found["conductance"] < 1
    assert found["bottleneck"] in BETAS[1:]


def test_the_variance_of_a_gradient_falls_with_the_number_of_chains():
    rbm, how = rl.testsystems.random_rbm(180, 3, rng=0), {"prior": "rising", "n_updates": 4}
    found = [ESTIMATORS["gradient"](rbm, 1, n_chains=n, **how)[1]["variance"] for n in (50, 800)]
    assert found[0] / found[1] == pytest.approx(16, rel=0.4)


# beta drawn given v alone, quickly
COUPLED = rl.testsystems.random_rbm(n_visible=10, n_hidden=5, coupling=6.0, rng=0)
STRONG = rl.GeometricPath(COUPLED, base=np.linspace(-1, 1, 10))


def test_densities_and_slopes_are_those_of_the_path():
    quick = GivenVisible(STRONG)
    for seed in (0, 1):  # other states: what is kept of the first is not given for the second
        v = np.random.default_rng(seed).integers(0, 2, (7, 10))
        np.testing.assert_allclose(quick.log_density(v, BETAS), STRONG.log_density(v, BETAS))
        slopes = STRONG.log_density_slope(v, BETAS)
        np.testing.assert_allclose(quick.log_density_slope(v, BETAS), slopes)
    at_half = STRONG.log_density(v, 0.5)
    np.testing.assert_allclose(quick.log_density(v, 0.5), at_half)


def test_chains_find_the_exact_value():
    exact = np.array([rl.exact(COUPLED if b == 1 else STRONG.at(b)).log_z for b in BETAS])
    walks = rl.simulated_tempering(
        GivenVisible(STRONG), BETAS, exact, 400, 600, 3, conditional="marginal"
    )
    found = rl.rts_of_sample(walks, skip=1)
    assert abs(found.log_z - exact[-1]) < 4 * found.std_error < 0.1


# RAISE from images
FEW = rl.testsystems.random_rbm(6, 3, coupling=6.0, rng=0)
OF_FEW = rl.GeometricPath(FEW, base=np.linspace(-1, 1, 6))
THREE = rl.schedules.linear(3)


def law_of(probability, states):
    """Probability of each state (columns) by independent bits with these means (rows)."""
    log_p = np.log(probability) @ states.T + np.log1p(-probability) @ (1 - states.T)
    return np.exp(log_p)


def test_weights_of_chains_from_an_image_are_right_on_average_for_the_annealed_law():
    """p_ann of all states, where annealing ends, by matrices of Gibbs sweeps."""
    visible, hidden = map(all_states, FEW.weights.shape)
    law = np.exp(OF_FEW.at(0.0).log_density(visible) - OF_FEW.log_z_base)
    for beta in THREE[1:-1]:
        model = OF_FEW.at(beta)
        up = law_of(model.hidden_mean(visible), hidden)
        down = law_of(model.visible_mean(hidden), visible)
        law = law @ up @ down
    assert abs(law.sum() - 1) < 1e-12
    model = np.exp(FEW.log_density(visible) - rl.exact(FEW).log_z)
    assert np.abs(np.log(law / model)).max() > 0.5  # three steps are far from the model
    chosen = [0, 13, 40, 63]
    back, _ = rts.raised(OF_FEW, THREE, visible[chosen], 20_000, 0)
    found = np.exp(FEW.log_density(visible[chosen])[:, None] - back)
    error = found.std(axis=1) / np.sqrt(found.shape[1])
    assert np.all(np.abs(found.mean(axis=1) - law[chosen]) < 4.5 * error)
    assert np.all(error < 0.02 * law[chosen])


def test_the_task_is_the_mean_over_test_images():
    """Ten images with ten chains each; more chains an image bound log p_ann more closely."""
    rbm = rl.load_rbm("pcd_10")
    path = rl.GeometricPath(rbm, base=rl.base_rate(rl.datasets.load_mnist().train))
    betas, task = rl.schedules.linear(30), ESTIMATORS["raise"]
    many, more = task(path, betas, 4, n_chains=100, n_images=10)
    images = np.random.default_rng([4, 3]).choice(rl.datasets.load_mnist().test, 10, replace=False)
    back, _ = rts.raised(path, betas, images, 10, 4)
    log_p_ann = rbm.log_density(images) + np.log(np.exp(-back).mean(axis=1))
    each = rbm.log_density(images) - log_p_ann
    assert many.log_z == pytest.approx(np.mean(each), abs=1e-6)
    assert many.std_error == pytest.approx(np.std(each, ddof=1) / np.sqrt(10), rel=1e-6)
    assert more["log_p_ann"] == pytest.approx(log_p_ann.mean(), abs=1e-6)
    assert many.log_z < many.mean_log_z  # of one chain an image: Jensen
    assert many.n_chains == 100
