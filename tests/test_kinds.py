"""Every estimator, `log_z`, the check and training, on models of other units than bits."""

import dataclasses
import inspect

import numpy as np
import pytest
from helpers_models import quiet

import rbmlib as rl
from rbmbook import rivals
from rbmlib import RBM, Binary, DoubleReLU, Gaussian, Potts, Spin
from rbmlib.models.layers import KINDS
from rbmlib.paths.bases import layers_lower_bound
from rbmlib.sampling.compiled import Loops, SpinLoops, compiled

RNG = np.random.default_rng(11)


def b(n):
    return RNG.normal(scale=0.7, size=n)


def rectified(n):
    return DoubleReLU(b(n), RNG.uniform(0.6, 2, n), RNG.uniform(0.6, 2, n), b(n), b(n))


def model(visible, hidden, scale=0.5) -> RBM:
    weights = RNG.normal(scale=scale, size=(len(visible), len(hidden)))
    return RBM(visible, hidden, weights, log_scale=0.75)


MODELS = {
    "spins, rectified": model(Spin(b(7)), rectified(3)),
    "categories, bits": model(Potts(b(18), 3), Binary(b(4))),
    "categories, rectified": model(Potts(b(18), 3), rectified(3)),
    "categories, categories": model(Potts(b(12), 3), Potts(b(8), 4)),
    "rectified, categories": model(rectified(4), Potts(b(6), 3), 0.4),
    "normal, categories": model(Gaussian(b(4)), Potts(b(6), 3), 0.4),
}
BETAS, FEW = rl.schedules.linear(60), rl.schedules.linear(6)


def ladder(path, rng):
    return rl.parallel_tempering(path, FEW, 20, 100, rng)


ESTIMATORS = {
    "ais": lambda path, rng: rl.ais(path, BETAS, 400, rng),
    "reverse_ais": lambda path, rng: rl.reverse_ais(path, BETAS, 400, rng),
    "bar": lambda path, rng: rl.bar(path, BETAS, 200, rng),
    "rts": lambda path, rng: rl.rts(path, FEW, 100, 60, rng),
    "ti": lambda path, rng: rl.ti(path, FEW, 100, 60, rng),
    "mbar": lambda path, rng: rl.mbar(path, FEW, 100, 60, rng),
    "sams": lambda path, rng: rl.sams(path, FEW, 100, 100, rng),
    "wang_landau": lambda path, rng: rl.wang_landau(path, FEW, 50, 400, rng),
    "smc": lambda path, rng: rivals.smc(path, BETAS, 400, rng),
    "nrpt": lambda path, rng: rivals.nrpt(path, FEW, 20, 100, rng),
    "parallel tempering": lambda path, rng: rl.mbar_of_sample(ladder(path, rng)),
}


def each(models):
    return pytest.mark.parametrize("rbm", models.values(), ids=models)


@pytest.mark.statistical
@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(
    "kind", [pytest.param("categories, rectified", marks=pytest.mark.always), "normal, categories"]
)
def test_every_estimator_finds_log_z_of_every_kind(kind, estimator):
    rbm = MODELS[kind]
    run = quiet(ESTIMATORS[estimator], rl.GeometricPath(rbm), 3)
    assert abs(run.log_z - rl.exact(rbm).log_z) < 4.5 * run.std_error < 1.5


@pytest.mark.statistical
@each(MODELS)
def test_log_z_by_a_path_through_another_model(rbm):
    """Through a model of half the couplings."""
    half, none = (rbm.with_(weights=share * rbm.weights) for share in (0.5, 0.0))
    run = rl.ais(rl.Polyline([none, half, rbm]), BETAS, 400, rng=1)
    assert abs(run.log_z - rl.exact(rbm).log_z) < 4.5 * run.std_error < 1.0


# log_z ---------------------------------------------------------------------------------------


@each(MODELS)
def test_small_models_are_enumerated(rbm):
    found = rl.log_z(rbm)
    assert (found.method, found.log_z) == ("exact", rl.exact(rbm).log_z)


@each(MODELS)
def test_a_sum_over_states_holds_z_of_small_models(rbm):
    found = rl.log_z(rbm, n_steps=100, n_chains=100, rng=0, enumerate_small=False)
    assert found.log_z == pytest.approx(rl.exact(rbm).log_z, abs=1e-9)
    assert (found.verdict, found.method) == ("exact", "log_z")


@pytest.mark.statistical
@each(MODELS)
def test_without_such_a_sum_two_bases_and_directions_agree(rbm, without_sum):
    found = rl.log_z(rbm, n_steps=400, n_chains=200, rng=0, enumerate_small=False)
    assert abs(found.log_z - rl.exact(rbm).log_z) < 4 * found.std_error < 0.5
    assert found.converged
    assert "no modes were sought" in found.reason
    assert found.details["best_lower_bound"] <= rl.exact(rbm).log_z
    words = ["bases" if rbm.visible.values is not None else "schedules", "highest lower bound"]
    for word in words:
        assert any(word in check.name for check in found.checks)


def test_data_are_a_base_of_every_countable_kind():
    for name in ("spins, rectified", "categories, bits"):
        rbm = MODELS[name]
        data = rbm.exact_samples(300, 0)
        found = rl.log_z(rbm, data=data, n_steps=200, n_chains=100, rng=0, enumerate_small=False)
        assert found.settings["base"] == "base rate of data"
        assert found.states.shape == (100, rbm.n_visible)
        assert rbm.visible.holds(found.states)
    with pytest.raises(ValueError, match=r"data holds .*a single 1 in the columns of each unit"):
        rl.log_z(rbm, data=np.ones((3, 18)))
    with pytest.raises(
        TypeError, match=r"rbm is LeakyRBM.*expected a BernoulliRBM, an RBM of other"
    ):
        rl.log_z(rl.LeakyRBM([[0.5]]))


@each(MODELS)
def test_a_mean_field_bound_is_below_log_z_and_near_where_weights_are_small(rbm):
    bound, truth = layers_lower_bound(rbm), rl.exact(rbm).log_z
    assert bound < truth + 1e-9
    weak = rbm.with_(weights=0.1 * rbm.weights)
    assert 0 <= rl.exact(weak).log_z - layers_lower_bound(weak) + 1e-9 < 0.1


# the check, likelihoods -------------------------------------------------------------


@each({name: rbm for name, rbm in MODELS.items() if "normal" not in name})
def test_a_wrong_value_is_contradicted_and_a_right_one_is_not(rbm):
    path, truth = rl.GeometricPath(rbm), rl.exact(rbm).log_z
    run = rl.ais(path, BETAS, 200, rng=0)
    assert rl.check(path, run).verdict == "verified"
    low = dataclasses.replace(
        run, log_z=truth - 1, interval=(truth - 1.1, truth - 0.9), settings={}, states=None
    )
    checked = quiet(rl.check, path, low)
    assert checked.verdict == "contradicted"
    assert not checked.converged
    assert checked.interval[0] == pytest.approx(truth, abs=1e-5)


@each(MODELS)
def test_likelihoods_are_those_of_the_normalised_model(rbm):
    v = rbm.exact_samples(20, 0)
    found = rl.log_likelihood(rbm, v, rl.exact(rbm))
    np.testing.assert_allclose(found, rbm.log_density(v) - rl.exact(rbm).log_z)


# compiled loops ------------------------------------------------------------------------------


@pytest.mark.parametrize("kinds", [(Spin, Spin), (Spin, Binary), (Binary, Spin)])
def test_spins_run_on_the_loops_of_bits(kinds):
    """The same random numbers lead to the same states, and to the same log Z."""
    rbm = model(kinds[0](b(20)), kinds[1](b(6)))
    spins = rl.GeometricPath(rbm)
    bits = rl.GeometricPath(rbm.to_bits(), spins.models[0].to_bits().with_(log_scale=0.0))
    for run in (
        lambda path: rl.ais(path, BETAS, 50, 1, n_recorded=3, keep_chains=True),
        lambda path: rl.reverse_ais(path, BETAS, 50, 1),
        lambda path: rl.rts(path, FEW, 20, 50, 2, record_every=5),
        lambda path: rl.sams(path, FEW, 20, 50, 3),
        lambda path: rivals.nrpt(path, FEW, 4, 50, 4),
    ):
        one, two = quiet(run, spins), quiet(run, bits)
        assert one.log_z == pytest.approx(two.log_z, abs=1e-10)
        if isinstance(one.states, np.ndarray):
            assert rbm.visible.holds(one.states)
            scale, shift = (2, -1) if kinds[0] is Spin else (1, 0)
            np.testing.assert_array_equal(one.states, scale * two.states + shift)
    assert isinstance(compiled(spins), SpinLoops if kinds[0] is Spin else Loops)


def test_a_subclass_of_spins_runs_on_its_own_draws():
    class Own(Spin):
        """Which may draw as it likes."""

    assert compiled(rl.GeometricPath(model(Own(b(4)), Binary(b(3))))) is None
    del KINDS["Own"]


# training ------------------------------------------------------------------------------------

DRAWN = np.random.default_rng(3)
TRUTH = RBM(
    Potts(DRAWN.normal(scale=0.5, size=12), 3), Binary(DRAWN.normal(size=4)),
    2.5 * DRAWN.normal(size=(12, 4)),
)  # fmt: skip
ROWS = TRUTH.exact_samples(1500, 0)


def mean_log_likelihood(rbm) -> float:
    return float(rl.log_likelihood(rbm, ROWS, rl.exact(rbm)).mean())


@pytest.mark.parametrize("method", ["cd", "pcd"])
@pytest.mark.parametrize("hidden", [Binary, Spin, Gaussian, DoubleReLU])
def test_training_on_colours_finds_most_of_what_sites_alone_miss(hidden, method):
    """Draws of a Potts RBM: 0.16 nats lie between it and independent sites."""
    bias = rl.base_rate(ROWS, 1e-3, TRUTH.visible)
    start = RBM(Potts(bias, 3), hidden(np.zeros(4)), RNG.normal(size=(12, 4)) / 10)
    alone, best = (
        mean_log_likelihood(start.with_(weights=0 * start.weights)),
        mean_log_likelihood(TRUTH),
    )
    assert best - alone > 0.15
    rate = 0.2 if hidden is Binary else 0.05
    result = rl.train(
        ROWS, 4, method=method, start=start, n_updates=1500, rng=1,
        learning_rate=np.linspace(rate, 0.005, 1500), batch_size=100,
    )  # fmt: skip
    assert alone + 0.65 * (best - alone) < mean_log_likelihood(result.rbm) < best + 0.01
    assert type(result.rbm.hidden) is hidden


def test_two_bits_a_colour_and_colours_are_the_same_model():
    """DNA as bits (A 100, C 010, G 001, T 000) and as four colours: one likelihood."""
    rbm = model(Potts(b(16), 4), Binary(b(3)))
    w, c = rbm.weights.reshape(4, 4, 3), rbm.visible.bias.reshape(4, 4)
    bits = RBM(
        Binary((c - c[:, 3:])[:, :3].ravel()), Binary(rbm.hidden.bias + w[:, 3].sum(axis=0)),
        (w - w[:, 3:])[:, :3].reshape(12, 3), log_scale=rbm.log_scale + c[:, 3].sum(),
    )  # fmt: skip
    rows = rbm.exact_samples(30, 0)
    same = rows.reshape(-1, 4, 4)[:, :, :3].reshape(len(rows), 12)
    np.testing.assert_allclose(rbm.log_density(rows), bits.log_density(same), atol=1e-12)


def test_every_public_kind_is_here():
    kinds = {
        c.__name__ for c in vars(rl).values() if inspect.isclass(c) and issubclass(c, rl.Layer)
    }
    assert kinds == {"Layer", "Binary", "Spin", "Potts", "Gaussian", "LeakyReLU", "DoubleReLU"}


def test_no_rows_of_colours_are_no_error():
    rbm = MODELS["categories, bits"]
    assert rl.log_likelihood(rbm, np.empty((0, 18)), 0.0).shape == (0,)
