"""Kinds of units: densities, means and draws against sums over states; log Z, files, mistakes."""

import numpy as np
import pytest
from helpers_models import log_joint
from helpers_stats import assert_no_rejection, chi_square_p, log_sum, probabilities

import rbmlib as rl
from rbmlib import RBM, Binary, DoubleReLU, Gaussian, LeakyReLU, Potts, Spin
from rbmlib.models.enumeration import states

RNG = np.random.default_rng(8)


def biases(n):
    return RNG.normal(scale=0.7, size=n)


def model(visible, hidden, scale=0.5) -> RBM:
    weights = RNG.normal(scale=scale, size=(len(visible), len(hidden)))
    return RBM(visible, hidden, weights, log_scale=0.75)


COUNTABLE = {
    "bits": model(Binary(biases(5)), Binary(biases(4))),
    "a bit and a bit": model(Binary(biases(1)), Binary(biases(1)), 1.5),
    "few hidden bits": model(Binary(biases(6)), Binary(biases(2)), 1.5),
    "few visible bits": model(Binary(biases(3)), Binary(biases(6)), 1.5),
    "spins": model(Spin(biases(5)), Spin(biases(4))),
    "spins, bits": model(Spin(biases(6)), Binary(biases(3))),
    "categories, bits": model(Potts(biases(9), 3), Binary(biases(4))),
    "spins, categories": model(Spin(biases(4)), Potts(biases(12), 4)),
    "two kinds of categories": model(Potts(biases(6), 3), Potts(biases(4), 2)),
}
REAL = {
    "normal, bits": model(Gaussian(biases(5)), Binary(biases(4))),
    "normal, spins": model(Gaussian(biases(5)), Spin(biases(4)), 0.3),
    "normal, categories": model(Gaussian(biases(4)), Potts(biases(6), 3)),
    "bits, normal": model(Binary(biases(5)), Gaussian(biases(3)), 0.3),
    "bits, leaky": model(Binary(biases(5)), LeakyReLU(biases(3), 1.0, 0.2)),
    "normal, normal": model(Gaussian(biases(4)), Gaussian(biases(3)), 0.2),
    "normal, leaky": model(Gaussian(biases(4)), LeakyReLU(biases(3), 1.0, 0.2), 0.2),
    "categories, rectified": model(Potts(biases(6), 3), DoubleReLU(biases(3), 2.0, 0.7, 1, -1)),
    "rectified, spins": model(DoubleReLU(biases(3), [2.0, 1.0, 3.0], 0.7, 1, -1), Spin(biases(4))),
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


@each(COUNTABLE)
def test_means_are_those_of_the_joint_density(rbm):
    joint = np.exp(table(rbm))
    v, h = every_state(rbm.visible), every_state(rbm.hidden)
    hidden = joint @ h / joint.sum(axis=1, keepdims=True)
    visible = joint.T @ v / joint.sum(axis=0)[:, None]
    np.testing.assert_allclose(rbm.hidden_mean(v), hidden, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(rbm.visible_mean(h), visible, rtol=1e-10, atol=1e-14)


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
    """A sweep from exact draws leaves their law; the sampler of leaky units leaves another."""
    v = every_state(rbm.visible)
    p = probabilities(rbm.log_density(v))
    draws = rbm.exact_samples(20_000, 3)
    found = {"exact": draws}
    if rbm.hidden.conditional:
        found["gibbs"] = rbm.gibbs(draws, 4)
    index = {tuple(row): i for i, row in enumerate(v)}
    p_values = [
        chi_square_p(np.array([index[tuple(row)] for row in drawn]), p) for drawn in found.values()
    ]
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
    rbm = RBM(kind(biases(6)), Binary(biases(4)), np.zeros((6, 4)))
    assert rbm.log_z == pytest.approx(rbm.exact_log_z(), abs=1e-12)
    draws = rbm.draw(40_000, np.random.default_rng(0))
    mean = rbm.visible.mean(rbm.visible_bias[None])[0]
    spread = draws.std(axis=0) / np.sqrt(len(draws))
    assert np.abs((draws.mean(axis=0) - mean) / spread).max() < 4
    rbm = RBM(kind(biases(120)), Binary(biases(90)), np.zeros((120, 90)))
    assert rl.exact(rbm).log_z == rbm.log_z


def test_fields_of_units_x_states_are_those_of_one_axis():
    table = biases(12).reshape(4, 3)
    assert Potts(table, 3).bias.tolist() == Potts(table.ravel(), 3).bias.tolist()
    for one_row in (table.reshape(1, 12), table.reshape(12, 1)):  # as MATLAB stores vectors
        assert len(Potts(one_row, 3)) == 12


def test_rectified_units_of_two_equal_sides_have_a_precision():
    """N(x / a, 1 / a): those of precision 1 with weights and bias by the root of a."""
    a, w, bias = 2.5, RNG.normal(size=(6, 3)), biases(3)
    colours = Potts(biases(6), 3)
    ours = RBM(colours, DoubleReLU(bias, a, a), w)
    theirs = RBM(colours, Gaussian(bias / a**0.5), w / a**0.5)
    assert rl.exact(ours).log_z == pytest.approx(rl.exact(theirs).log_z - 1.5 * np.log(a))


def test_two_categories_are_bits():
    """Of q = 2 only the difference of the two fields counts."""
    potts = COUNTABLE["two kinds of categories"]
    v = every_state(potts.visible)
    w, a = potts.weights, potts.hidden_bias
    bits = RBM(
        potts.visible,
        Binary(a[1::2] - a[::2]),
        w[:, 1::2] - w[:, ::2],
        log_scale=potts.log_scale + a[::2].sum(),
    )
    ours = bits.log_density(v) + v @ w[:, ::2].sum(axis=1)
    np.testing.assert_allclose(potts.log_density(v), ours, atol=1e-12)


@each(ALL)
def test_derivatives_are_means(rbm):
    """d cumulant / dx = mean, by differences."""
    for layer in (rbm.visible, rbm.hidden):
        x, step = RNG.normal(size=(1, len(layer))), 1e-6 * np.eye(len(layer))
        slope = (layer.cumulant(x + step) - layer.cumulant(x - step)) / 2e-6
        np.testing.assert_allclose(layer.mean(x)[0], slope, atol=1e-7)


# files --------------------------------------------------------------------------------------


@each(ALL)
def test_every_kind_comes_back_from_its_file(rbm, tmp_path):
    rbm.save(tmp_path / "m.npz", dtype=np.float64)
    for again in (RBM.load(tmp_path / "m.npz"), rl.load_rbm(tmp_path / "m.npz")):
        for side in ("visible", "hidden"):
            one, two = getattr(rbm, side), getattr(again, side)
            assert type(one) is type(two)
            for name in one.parameters + one.constants:
                np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
        np.testing.assert_array_equal(again.weights, rbm.weights)
        assert again.log_scale == rbm.log_scale
    kinds = type(rbm.visible), type(rbm.hidden)
    named = {
        (Binary, Binary): "BernoulliRBM",
        (Gaussian, Binary): "GaussianRBM",
        (Gaussian, LeakyReLU): "LeakyRBM",
    }
    assert type(again).__name__ == named.get(kinds, "RBM")


# mistakes -----------------------------------------------------------------------------------

W = np.ones((3, 2))
REFUSED = {
    "no layer": (lambda: RBM([0, 0, 0], Binary([0, 0]), W), TypeError, "visible is a list: "),
    "shape": (
        lambda: RBM(Binary([0, 0]), Spin([0, 0, 0]), W),
        ValueError,
        r"weights has shape \(3, 2\): expected \(2, 3\), one row a visible unit",
    ),
    "empty": (lambda: RBM(Binary([]), Binary([0]), W), ValueError, r"visible is Binary\(0\): exp"),
    "NaN": (lambda: Binary([0, np.nan]), ValueError, "bias holds 1 NaN"),
    "table": (lambda: Binary("two"), ValueError, "bias is not an array"),
    "no vector": (lambda: Gaussian(3), ValueError, r"bias has shape \(\): expected \(n_units,\)"),
    "q": (lambda: Potts([0, 0], 1), ValueError, "q is 1: expected a whole number, 2 or more"),
    "units": (
        lambda: Potts([0, 0, 0], 2), ValueError, r"shape \(3,\): expected q = 2 entries",
    ),
    "fields of states x units": (
        lambda: Potts(np.zeros((3, 4)), 3), ValueError, r"shape \(3, 4\): expected q = 3",
    ),
    "weights of three axes": (
        lambda: RBM(Potts(np.zeros(6), 3), Gaussian([0.0]), np.zeros((2, 3, 1))),
        ValueError,
        r"expected \(6, 1\), one row a visible unit, one a state of it: \(n_units, q\) flattened",
    ),
    "numbers for one-hot": (
        lambda: COUNTABLE["categories, bits"].log_density([[0, 2, 1]]),
        ValueError,
        r"shape \(1, 3\): expected \(n_states, 9\).* numbers by np\.eye\(q\)\[numbers\]",
    ),
    "numbers as data": (
        lambda: rl.log_z(COUNTABLE["categories, bits"], data=[[0, 2, 1]]),
        ValueError,
        r"data has shape \(1, 3\): .* numbers by np\.eye\(q\)\[numbers\]",
    ),
    "above": (lambda: LeakyReLU([0], -1), ValueError, "above is -1: expected a slope"),
    "leaky is visible": (
        lambda: RBM(LeakyReLU([0, 0]), Binary([0]), np.ones((2, 1))),
        ValueError,
        "visible is LeakyReLU, units that are summed over",
    ),
    "improper": (
        lambda: RBM(Gaussian([0, 0]), Gaussian([0, 0]), np.diag([2.0, 0.5])),
        ValueError,
        r"weights has a largest singular value of 2 .*eigenvalue -3 .*project_weights",
    ),
    "steep": (
        lambda: RBM(Gaussian([0, 0]), LeakyReLU([0, 0], 4.0, 1.0), 0.6 * np.eye(2)),
        ValueError,
        r"value of 0\.6 \(2 of 2 are 0\.5 or more\), so I - 4 WW' has the eigenvalue -0\.44 ",
    ),
    "large": (lambda: RBM(Spin([1e13]), Binary([0]), [[1]]), ValueError, "visible_bias reaches 1e"),
    "spins": (
        lambda: COUNTABLE["spins"].log_density(np.zeros((1, 5))),
        ValueError,
        r"visible holds values from 0\.0 to 0\.0: expected one of -1, 1",
    ),
    "categories": (
        lambda: COUNTABLE["categories, bits"].log_density(np.zeros((1, 9))),
        ValueError,
        "visible holds .*expected zeros and ones, a single 1 in the columns of each unit",
    ),
    "infinite": (
        lambda: REAL["normal, bits"].log_density(np.full((1, 5), np.inf)),
        ValueError,
        "visible holds values from .* to inf: expected finite numbers",
    ),
    "no gradient": (
        lambda: COUNTABLE["spins"].gradient(np.ones((1, 5))),
        TypeError,
        "has no gradient",
    ),
    "leaky states": (
        lambda: REAL["normal, leaky"].hidden.own(np.zeros((1, 3))),
        TypeError,
        "LeakyReLU units are summed over",
    ),
    "leaky, not normal": (
        lambda: rl.GeometricPath(RBM(Binary(np.zeros(2)), rl.LeakyReLU([0.0]), [[0.1], [0.2]])),
        TypeError,
        r"rbm is RBM\(Binary\(2\), LeakyReLU\(1\)\): expected .*or rl\.exact",
    ),
    "too many": (
        lambda: rl.exact(RBM(Spin(np.zeros(40)), Potts(np.zeros(60), 3), np.ones((40, 60)))),
        ValueError,
        "rbm has 40 visible and 60 hidden units: exact enumeration needs",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "words"), REFUSED.values(), ids=REFUSED)
def test_mistakes_are_named(call, kind, words):
    with pytest.raises(kind, match=words):
        call()


def test_a_kind_of_unit_is_one_class(tmp_path):
    """Written here, and at once enumerated, drawn, saved, loaded and annealed."""

    class Levels(rl.Layer):
        """Units in {0, 1, 2}."""

        values = np.array([[0.0], [1.0], [2.0]])

        def _weights(self, x):
            weights = np.exp(np.stack([0 * x, x, 2 * x], axis=-1))
            return weights / weights.sum(axis=-1, keepdims=True)

        def cumulant(self, x):
            return np.log1p(np.exp(x) + np.exp(2 * x)).sum(axis=1)

        def mean(self, x):
            return self._weights(x) @ self.values[:, 0]

        def draw(self, x, rng, n=None):
            below = np.cumsum(self._weights(x), axis=-1)
            u = rng.random(x.shape if n is None else (n, x.shape[1]))[..., None]
            return (below[..., :2] <= u).sum(axis=-1).astype(float)

    rbm = model(Levels(biases(7)), Binary(biases(4)))
    joint = table(rbm)
    assert rl.exact(rbm).log_z == pytest.approx(log_sum(joint), abs=1e-12)
    rbm.save(tmp_path / "m.npz")
    assert type(rl.load_rbm(tmp_path / "m.npz").visible) is Levels
    run = rl.ais(rl.GeometricPath(rbm), rl.schedules.linear(200), 300, rng=0)
    assert abs(run.log_z - log_sum(joint)) < 4 * run.std_error < 0.1
    found = rl.log_z(rbm, n_steps=200, enumerate_small=False, rng=0)
    assert found.log_z == pytest.approx(log_sum(joint), abs=0.02)
    rows = rl.sample(rbm, 500, rng=0).states
    base = rl.base_rate(rows, layer=rbm.visible)
    shrunk = (rows.mean(axis=0) + 0.1 * 1.0) / 1.1  # towards the mean without a field
    assert rbm.visible.mean(base[None])[0] == pytest.approx(shrunk, abs=1e-6)
    with pytest.raises(ValueError, match="expected one of 0, 1, 2"):
        rbm.log_density(rows + 0.5)


def test_base_rates_of_real_units_have_the_means_of_the_data():
    units = rl.DoubleReLU([0.1, -0.5, 0.3], [2.0, 0.5, 3.0], [1.0, 3.0, 0.7], 0.5, -0.4)
    rows = np.random.default_rng(0).normal([2.0, -3.0, 0.1], size=(200, 3))
    base = rl.base_rate(rows, layer=units)
    assert units.mean(base[None])[0] == pytest.approx(rows.mean(axis=0), abs=1e-6)
