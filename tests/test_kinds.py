"""Kinds of units: densities, means, draws, files; every estimator, `log_z`, checks, training."""

import dataclasses
import re

import numpy as np
import pytest
from helpers_models import log_joint, quiet, same_model
from helpers_stats import assert_no_rejection, chi_square_p, log_sum, probabilities
from scipy.integrate import quad
from scipy.special import softmax

import rbmlib as rl
from rbmlib import RBM, Binary, DoubleReLU, Gaussian, LeakyReLU, Potts, Spin
from rbmlib.models.enumeration import states
from rbmlib.paths.bases import layers_lower_bound
from rbmlib.sampling.compiled import Loops, SpinLoops, compiled

RNG = np.random.default_rng(8)


def b(n):
    return RNG.normal(scale=0.7, size=n)


def model(visible, hidden, scale=0.5) -> RBM:
    weights = RNG.normal(scale=scale, size=(len(visible), len(hidden)))
    return RBM(visible, hidden, weights, log_scale=0.75)


COUNTABLE = {
    "bits": model(Binary(b(5)), Binary(b(4))),
    "a bit and a bit": model(Binary(b(1)), Binary(b(1)), 1.5),
    "few hidden bits": model(Binary(b(6)), Binary(b(2)), 1.5),
    "few visible bits": model(Binary(b(3)), Binary(b(6)), 1.5),
    "spins": model(Spin(b(5)), Spin(b(4))),
    "spins, bits": model(Spin(b(6)), Binary(b(3))),
    "categories, bits": model(Potts(b(9), 3), Binary(b(4))),
    "spins, categories": model(Spin(b(4)), Potts(b(12), 4)),
    "two kinds of categories": model(Potts(b(6), 3), Potts(b(4), 2)),
}
REAL = {
    "normal, bits": model(Gaussian(b(5)), Binary(b(4))),
    "normal, spins": model(Gaussian(b(5)), Spin(b(4)), 0.3),
    "normal, categories": model(Gaussian(b(4)), Potts(b(6), 3)),
    "bits, normal": model(Binary(b(5)), Gaussian(b(3)), 0.3),
    "bits, leaky": model(Binary(b(5)), LeakyReLU(b(3), 1.0, 0.2)),
    "normal, normal": model(Gaussian(b(4)), Gaussian(b(3)), 0.2),
    "normal, leaky": model(Gaussian(b(4)), LeakyReLU(b(3), 1.0, 0.2), 0.2),
    "categories, rectified": model(Potts(b(6), 3), DoubleReLU(b(3), 2.0, 0.7, 1, -1)),
    "rectified, spins": model(DoubleReLU(b(3), [2.0, 1.0, 3.0], 0.7, 1, -1), Spin(b(4))),
}
ALL = COUNTABLE | REAL


def every_state(layer):
    n_values, width = layer.values.shape
    return states(layer, np.arange(n_values ** (len(layer) // width)))


def table(rbm):
    """log p*(v, h) of all pairs, straight from the parameters."""
    v, h = every_state(rbm.visible), every_state(rbm.hidden)
    fields = (v @ rbm.visible_bias)[:, None] + h @ rbm.hidden_bias
    return v @ rbm.weights @ h.T + fields + rbm.log_scale


def each(models):
    return pytest.mark.parametrize("rbm", models.values(), ids=models)


@each(COUNTABLE)
def test_densities_and_log_z_are_sums_over_states(rbm):
    v, h, joint = every_state(rbm.visible), every_state(rbm.hidden), table(rbm)
    assert len(np.unique(v, axis=0)) == len(v) == joint.shape[0]
    np.testing.assert_allclose(rbm.log_density(v), log_sum(joint, axis=1), atol=1e-12)
    rows, columns = np.divmod(np.arange(joint.size), joint.shape[1])
    np.testing.assert_array_equal(rbm.free_energy(v), -rbm.log_density(v))
    pairs = log_joint(rbm, v[rows], h[columns])
    np.testing.assert_allclose(pairs, joint.ravel(), atol=1e-12)
    np.testing.assert_allclose(table(rbm.transposed()), joint.T, atol=1e-12)
    np.testing.assert_array_equal(rbm.transposed().transposed().weights, rbm.weights)
    for one in (rbm, rbm.transposed()):
        assert one.exact_log_z() == pytest.approx(log_sum(joint), abs=1e-12)


@pytest.mark.parametrize("name", ["bits, normal", "bits, leaky", "normal, bits", "normal, spins",
                                  "categories, rectified", "rectified, spins"])  # fmt: skip
def test_a_layer_that_is_integrated_out_is_enumerated_on_the_other_side(name):
    rbm = REAL[name]
    countable = rbm if rbm.visible.values is not None else rbm.transposed()
    s = every_state(countable.visible)
    terms = countable.visible.own(s) + countable.hidden.cumulant(
        s @ countable.weights + countable.hidden.bias
    )
    assert rbm.exact_log_z() == pytest.approx(log_sum(terms) + rbm.log_scale, abs=1e-12)


@each({**COUNTABLE, "bits, normal": REAL["bits, normal"], "bits, leaky": REAL["bits, leaky"]})
def test_exact_draws_and_gibbs_sweeps_have_the_law_of_the_model(rbm):
    v = every_state(rbm.visible)
    p = probabilities(rbm.log_density(v))
    draws = [rbm.exact_samples(20_000, 3)]
    if rbm.hidden.conditional:
        draws.append(rbm.gibbs(draws[0], 4))
    number = {tuple(row): i for i, row in enumerate(v)}
    found = [np.array([number[tuple(row)] for row in rows]) for rows in draws]
    pairs = found[0][::2] * len(p) + found[0][1::2]  # of draws that follow each other
    p_values = [chi_square_p(one, p) for one in found]
    p_values.append(chi_square_p(pairs, np.outer(p, p).ravel()))
    assert_no_rejection(p_values, "draws", level=1e-4)


@pytest.mark.parametrize("name", ["normal, bits", "normal, spins", "normal, categories"])
def test_means_of_exact_draws_of_real_units(name):
    rbm = REAL[name]
    h = every_state(rbm.hidden)
    p = probabilities(rbm.hidden.own(h) + rbm.visible.cumulant(rbm.visible_field(h)))
    v = rbm.gibbs(rbm.exact_samples(40_000, 1), 2)
    error = v.std(axis=0) / np.sqrt(len(v))
    assert np.abs((v.mean(axis=0) - p @ rbm.visible_field(h)) / error).max() < 4


def test_two_normal_layers_are_one_gaussian():
    rbm = REAL["normal, normal"]
    precision = np.block([[np.eye(4), -rbm.weights], [-rbm.weights.T, np.eye(3)]])
    b = np.r_[rbm.visible_bias, rbm.hidden_bias]
    wanted = (7 * np.log(2 * np.pi) - np.linalg.slogdet(precision)[1]) / 2
    wanted += b @ np.linalg.solve(precision, b) / 2 + rbm.log_scale
    assert rbm.log_z == pytest.approx(wanted, abs=1e-12) == rl.exact(rbm).log_z
    draws = rbm.exact_samples(40_000, 0)
    covariance = np.linalg.inv(precision)[:4, :4]
    np.testing.assert_allclose(np.cov(draws.T), covariance, atol=0.05)
    np.testing.assert_allclose(draws.mean(axis=0), np.linalg.solve(precision, b)[:4], atol=0.03)


@pytest.mark.parametrize("kind", [Binary, Spin, Gaussian, lambda b: Potts(b, 3)])
def test_models_without_weights_know_their_log_z_and_draw(kind):
    rbm = RBM(kind(b(6)), Binary(b(4)), np.zeros((6, 4)))
    assert rbm.log_z == pytest.approx(rbm.exact_log_z(), abs=1e-12)
    draws = rbm.draw(40_000, np.random.default_rng(0))
    mean = rbm.visible.mean(rbm.visible_bias[None])[0]
    spread = draws.std(axis=0) / np.sqrt(len(draws))
    assert np.abs((draws.mean(axis=0) - mean) / spread).max() < 4
    rbm = RBM(kind(b(120)), Binary(b(90)), np.zeros((120, 90)))
    assert rl.exact(rbm).log_z == rbm.log_z


@each(ALL)
def test_derivatives_are_means(rbm):
    for layer in (rbm.visible, rbm.hidden):
        x, step = RNG.normal(size=(1, len(layer))), 1e-6 * np.eye(len(layer))
        slope = (layer.cumulant(x + step) - layer.cumulant(x - step)) / 2e-6
        np.testing.assert_allclose(layer.mean(x)[0], slope, atol=1e-7)


@each(ALL)
def test_every_kind_comes_back_from_its_file(rbm, tmp_path):
    rbm.save(tmp_path / "m.npz", dtype=np.float64)
    for again in (RBM.load(tmp_path / "m.npz"), rl.load_rbm(tmp_path / "m.npz")):
        assert same_model(again, rbm)
    kinds = type(rbm.visible), type(rbm.hidden)
    named = {(Binary, Binary): "BernoulliRBM", (Gaussian, Binary): "GaussianRBM",
             (Gaussian, LeakyReLU): "LeakyRBM"}  # fmt: skip
    assert type(again).__name__ == named.get(kinds, "RBM")


@each(ALL)
def test_bits_for_spins_change_no_probability(rbm):
    for one in (rbm, rbm.transposed()):
        if isinstance(one.visible, LeakyReLU):
            continue
        v = every_state(one.visible) if one.visible.values is not None else RNG.normal(
            size=(50, len(one.visible))
        )  # fmt: skip
        bits = (v + 1) / 2 if isinstance(one.visible, Spin) else v
        np.testing.assert_allclose(one.to_bits().log_density(bits), one.log_density(v), atol=1e-11)


def test_a_kind_of_unit_is_one_class():
    class Levels(rl.Layer):
        """Units in {0, 1, 2}."""

        values = np.array([[0.0], [1.0], [2.0]])

        def _weights(self, x):
            return softmax(np.stack([0 * x, x, 2 * x], axis=-1), axis=-1)

        def cumulant(self, x):
            return np.log1p(np.exp(x) + np.exp(2 * x)).sum(axis=1)

        def mean(self, x):
            return self._weights(x) @ self.values[:, 0]

        def draw(self, x, rng, n=None):
            below = np.cumsum(self._weights(x), axis=-1)
            u = rng.random(x.shape if n is None else (n, x.shape[1]))[..., None]
            return (below[..., :2] <= u).sum(axis=-1).astype(float)

    rbm = model(Levels(b(7)), Binary(b(4)))
    joint = table(rbm)
    assert rl.exact(rbm).log_z == pytest.approx(log_sum(joint), abs=1e-12)
    found = rl.log_z(rbm, n_steps=200, enumerate_small=False, rng=0)
    assert found.log_z == pytest.approx(log_sum(joint), abs=0.02)
    rows = rl.sample(rbm, 500, rng=0).states
    base = rl.base_rate(rows, layer=rbm.visible)
    shrunk = (rows.mean(axis=0) + 0.1 * 1.0) / 1.1  # towards the mean without a field
    assert rbm.visible.mean(base[None])[0] == pytest.approx(shrunk, abs=1e-6)
    with pytest.raises(ValueError, match="expected one of 0, 1, 2"):
        rbm.log_density(rows + 0.5)


@pytest.mark.parametrize("visible", [Gaussian([0.6]), DoubleReLU([0.1], 0.8, 2.0, 0.3, -0.2)])
def test_real_units_on_both_sides_have_the_log_z_of_an_integral(visible):
    rbm = RBM(visible, DoubleReLU([0.2], 1.5, 0.9, -0.5, 0.4), [[0.7]], log_scale=0.25)
    for one in (rbm, rbm.transposed()):
        z = quad(lambda v, one=one: np.exp(one.log_density([[v]])[0]), -30, 30, limit=200)[0]
        run = rl.ais(rl.GeometricPath(one), rl.schedules.linear(60), 2000, rng=1)
        assert abs(run.log_z - np.log(z)) < 4.5 * run.std_error < 0.2


def test_far_fields_lose_no_digits():
    """One side alone: an exponential where its Gaussian lies far off, a whole one where it is."""
    far = DoubleReLU([0.0], theta_plus=1e4, theta_minus=1e4)
    assert far.cumulant(np.zeros((1, 1)))[0] == pytest.approx(np.log(2e-4), abs=2e-8)
    # at 5,000 from one side and 15,000 from the other: 1 / 5,000 three times in four, - 1 / 15,000
    wanted = 0.75 / 5000 - 0.25 / 15000
    assert far.mean(np.array([[5e3]]))[0, 0] == pytest.approx(wanted, rel=1e-7)
    sides = np.array([[0.5, 2.0, 30.0], [1.5, 0.4, 20.0], [1.0, -27.0, 40.0], [-2.0, 0.1, -3.0]])
    for x, (a, theta) in ((1e4, sides[::2]), (-1e6, sides[1::2])):
        cumulant = DoubleReLU(np.zeros(3), *sides).cumulant(np.full((1, 3), x))
        wanted = ((abs(x) - theta) ** 2 / a + np.log(2 * np.pi / a)).sum() / 2
        assert cumulant[0] == pytest.approx(wanted, rel=1e-14)


TWO = DoubleReLU([0.2, -0.3], [1.5, 0.8], [0.9, 1.2], [-0.5, 0.6], [0.4, 0.1])
OTHER = DoubleReLU([0.1, 0.4], [0.8, 1.9], [2.0, 0.9], [0.3, -0.7], [-0.2, 0.5])
W = np.array([[0.45, -0.2], [0.15, 0.4]])


PROPER = RBM(Gaussian([0.0, 0.0]), Gaussian([0.0, 0.0]), np.eye(2) / 2)
IMPROPER = PROPER.with_(weights=np.diag([1.2, 0.5]))  # which nobody has looked at
UNSEEN = {
    "annealed": lambda: rl.GeometricPath(IMPROPER),
    "exact": lambda: rl.exact(IMPROPER),
    "chosen": lambda: rl.log_z(IMPROPER),
    "on the way": lambda: rl.Polyline([IMPROPER.with_(weights=np.zeros((2, 2))), IMPROPER, PROPER]),
}


@pytest.mark.parametrize("call", UNSEEN.values(), ids=UNSEEN)
def test_improper_models_are_found_before_they_are_used(call):
    with pytest.raises(ValueError, match=r"value of 1\.2 .*not positive def"):
        call()


@pytest.mark.parametrize("visible", [Gaussian([0.6, -0.3]), TWO])
@pytest.mark.parametrize("hidden", [Gaussian([0.1, 0.2]), OTHER, LeakyReLU([0.1, 0.2], 1.5, 0.3)])
def test_the_eigenvalue_that_fails_is_that_of_the_quadratic_form(visible, hidden):
    """Of log p* of both layers, each unit at the wider of its sides; just below it is a model."""

    def growth(layer):  # of the cumulant of each unit, at far fields of either sign
        far = 1e6 * np.eye(2)
        return 2e-12 * np.maximum(layer.cumulant(far), layer.cumulant(-far))

    root = np.sqrt(np.multiply.outer(growth(visible), growth(hidden)))
    improper = 1.3 * W / np.linalg.norm(W * root, 2)
    form = np.block([[np.eye(2), -improper * root], [-(improper * root).T, np.eye(2)]])
    lowest = np.linalg.eigvalsh(form).min()  # 1 - 1.3, of I - M M' 1 - 1.3**2
    with pytest.raises(ValueError, match="not positive definite") as error:
        RBM(visible, hidden, improper)
    said = float(re.search(r"has the eigenvalue (\S+)", str(error.value))[1])
    assert said == pytest.approx(1 - (1 - lowest) ** 2, abs=1e-3)
    RBM(visible, hidden, 0.99 / 1.3 * improper)


def rectified(n):
    return DoubleReLU(b(n), RNG.uniform(0.6, 2, n), RNG.uniform(0.6, 2, n), b(n), b(n))


MODELS = {
    "spins, rectified": model(Spin(b(7)), rectified(3)),
    "categories, bits": model(Potts(b(18), 3), Binary(b(4))),
    "categories, rectified": model(Potts(b(18), 3), rectified(3)),
    "categories, categories": model(Potts(b(12), 3), Potts(b(8), 4)),
    "rectified, categories": model(rectified(4), Potts(b(6), 3), 0.4),
    "normal, categories": model(Gaussian(b(4)), Potts(b(6), 3), 0.4),
}
BETAS, FEW = rl.schedules.linear(60), rl.schedules.linear(6)


ESTIMATORS = {
    "ais": lambda path, rng: rl.ais(path, BETAS, 400, rng),
    "reverse_ais": lambda path, rng: rl.reverse_ais(path, BETAS, 400, rng),
    "bar": lambda path, rng: rl.bar(path, BETAS, 200, rng),
    "rts": lambda path, rng: rl.rts(path, FEW, 100, 60, rng),
    "ti": lambda path, rng: rl.ti(path, FEW, 100, 60, rng),
    "mbar": lambda path, rng: rl.mbar(path, FEW, 100, 60, rng),
    "sams": lambda path, rng: rl.sams(path, FEW, 100, 100, rng),
    "wang_landau": lambda path, rng: rl.wang_landau(path, FEW, 50, 400, rng),
    "parallel tempering": lambda path, rng: rl.mbar_of_sample(
        rl.parallel_tempering(path, FEW, 20, 100, rng)
    ),
}


@pytest.mark.statistical
@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(
    "kind", [pytest.param("categories, rectified", marks=pytest.mark.always), "normal, categories"]
)
def test_every_estimator_finds_log_z_of_every_kind(kind, estimator):
    rbm = MODELS[kind]
    run = quiet(ESTIMATORS[estimator], rl.GeometricPath(rbm), 3)
    assert abs(run.log_z - rl.exact(rbm).log_z) < 4.5 * run.std_error < 1.5


# log_z ---------------------------------------------------------------------------------------


@each(MODELS)
def test_small_models_are_enumerated_and_a_sum_over_states_holds_their_z(rbm):
    found = rl.log_z(rbm)
    assert (found.method, found.log_z) == ("exact", rl.exact(rbm).log_z)
    estimated = rl.log_z(rbm, n_steps=100, n_chains=100, rng=0, enumerate_small=False)
    assert estimated.log_z == pytest.approx(found.log_z, abs=1e-9)
    assert (estimated.verdict, estimated.method) == ("exact", "log_z")


@pytest.mark.statistical
@each(MODELS)
def test_without_such_a_sum_two_bases_and_directions_agree(rbm, without_sum):
    found = rl.log_z(rbm, n_steps=400, n_chains=200, rng=0, enumerate_small=False)
    assert abs(found.log_z - rl.exact(rbm).log_z) < 4 * found.std_error < 0.5
    assert found.converged
    assert "there was no search for modes" in found.reason
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
    with pytest.raises(TypeError, match=r"rbm is LeakyRBM.*expected a BernoulliRBM, an RBM of o"):
        rl.log_z(rl.LeakyRBM([[0.5]]))


@each(MODELS)
def test_a_mean_field_bound_is_below_log_z_and_near_where_weights_are_small(rbm):
    bound, truth = layers_lower_bound(rbm), rl.exact(rbm).log_z
    assert bound < truth + 1e-9
    weak = rbm.with_(weights=0.1 * rbm.weights)
    assert 0 <= rl.exact(weak).log_z - layers_lower_bound(weak) + 1e-9 < 0.1


@each({name: rbm for name, rbm in MODELS.items() if "normal" not in name})
def test_a_wrong_value_is_contradicted_and_a_right_one_is_not(rbm):
    path, truth = rl.GeometricPath(rbm), rl.exact(rbm).log_z
    run = rl.ais(path, BETAS, 200, rng=0)
    assert rl.check(path, run).verdict == "verified"
    ends = truth - 1.1, truth - 0.9
    low = dataclasses.replace(run, log_z=truth - 1, interval=ends, settings={}, states=None)
    checked = quiet(rl.check, path, low)
    assert checked.verdict == "contradicted"
    assert not checked.converged
    assert checked.interval[0] == pytest.approx(truth, abs=1e-5)


# compiled loops ------------------------------------------------------------------------------


@pytest.mark.parametrize("kinds", [(Spin, Spin), (Spin, Binary), (Binary, Spin)])
def test_spins_run_on_the_loops_of_bits(kinds):
    rbm = model(kinds[0](b(20)), kinds[1](b(6)))
    spins = rl.GeometricPath(rbm)
    bits = rl.GeometricPath(rbm.to_bits(), spins.models[0].to_bits().with_(log_scale=0.0))
    for run in (
        lambda path: rl.ais(path, BETAS, 50, 1, n_recorded=3, keep_chains=True),
        lambda path: rl.reverse_ais(path, BETAS, 50, 1),
        lambda path: rl.rts(path, FEW, 20, 50, 2, record_every=5),
        lambda path: rl.sams(path, FEW, 20, 50, 3),
    ):
        one, two = quiet(run, spins), quiet(run, bits)
        assert one.log_z == pytest.approx(two.log_z, abs=1e-10)
        if isinstance(one.states, np.ndarray):
            assert rbm.visible.holds(one.states)
            scale, shift = (2, -1) if kinds[0] is Spin else (1, 0)
            np.testing.assert_array_equal(one.states, scale * two.states + shift)
    assert isinstance(compiled(spins), SpinLoops if kinds[0] is Spin else Loops)


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
    alone = mean_log_likelihood(start.with_(weights=0 * start.weights))
    best = mean_log_likelihood(TRUTH)
    assert rl.log_likelihood(TRUTH, ROWS[:0], 0.0).shape == (0,)
    assert best - alone > 0.15
    rate = 0.2 if hidden is Binary else 0.05
    result = rl.train(
        ROWS, 4, method=method, start=start, n_updates=1500, rng=1,
        learning_rate=np.linspace(rate, 0.005, 1500), batch_size=100,
    )  # fmt: skip
    assert alone + 0.65 * (best - alone) < mean_log_likelihood(result.rbm) < best + 0.01
    assert type(result.rbm.hidden) is hidden
