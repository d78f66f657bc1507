"""Kinds of units: densities, means and draws against sums over states or integrals; files."""

import re

import numpy as np
import pytest
from helpers_models import log_joint
from helpers_stats import assert_no_rejection, chi_square_p, log_sum, probabilities
from scipy.integrate import quad

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


def test_rectified_units_of_two_equal_sides_have_a_precision():
    """N(x / a, 1 / a): those of precision 1 with weights and bias by the root of a."""
    a, w, bias = 2.5, RNG.normal(size=(6, 3)), biases(3)
    colours = Potts(biases(6), 3)
    ours = RBM(colours, DoubleReLU(bias, a, a), w)
    theirs = RBM(colours, Gaussian(bias / a**0.5), w / a**0.5)
    assert rl.exact(ours).log_z == pytest.approx(rl.exact(theirs).log_z - 1.5 * np.log(a))


@each(ALL)
def test_derivatives_are_means(rbm):
    """d cumulant / dx = mean, by differences."""
    for layer in (rbm.visible, rbm.hidden):
        x, step = RNG.normal(size=(1, len(layer))), 1e-6 * np.eye(len(layer))
        slope = (layer.cumulant(x + step) - layer.cumulant(x - step)) / 2e-6
        np.testing.assert_allclose(layer.mean(x)[0], slope, atol=1e-7)


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


A = {
    "a_plus": [0.5, 2.0, 30.0],
    "a_minus": [1.5, 0.4, 20.0],
    "theta_plus": [1.0, -27.0, 40.0],
    "theta_minus": [-2.0, 0.1, -3.0],
}
UNITS = DoubleReLU([0.3, -0.2, 0.0], **A)
FIELDS = np.array([[0.0, 0.0, 0.0], [2.0, -5.0, 9.0], [-30.0, 25.0, 100.0], [300.0, -400.0, -90.0]])


def alone(layer, unit):
    """The layer of one of its units."""
    return layer._only(np.arange(len(layer)) == unit)


def moment(unit, x, f):
    """Integral of f(h) m(h) exp(h x), and what its logarithm was taken relative to."""

    def log_m(h):
        return float(unit.with_(bias=np.array([x])).own(np.array([[h]]))[0])

    peaks = [(x - unit.theta_plus[0]) / unit.a_plus[0], (x + unit.theta_minus[0]) / unit.a_minus[0]]
    peaks = [max(peaks[0], 0.0), min(peaks[1], 0.0)]
    top, total = max(map(log_m, peaks)), 0.0
    for side, peak, a in zip((1, -1), peaks, (unit.a_plus[0], unit.a_minus[0]), strict=True):
        slope = abs(x - unit.theta_plus[0] if side > 0 else x + unit.theta_minus[0])
        wide = 12 / np.sqrt(a) if peak else min(12 / np.sqrt(a), 45 / max(slope, 1e-9))
        low, high = sorted([0.0 if side * peak < wide else peak - side * wide, peak + side * wide])
        total += quad(lambda h: f(h) * np.exp(log_m(h) - top), low, high, epsabs=0, limit=400)[0]
    return total, top


@pytest.mark.parametrize("unit", range(3))
def test_cumulants_and_means_are_integrals(unit):
    one = alone(UNITS, unit)
    for x in FIELDS[:, unit]:
        mass, top = moment(one, x, lambda h: 1.0)
        mean = moment(one, x, lambda h: h)[0] / mass
        assert one.cumulant(np.array([[x]]))[0] == pytest.approx(np.log(mass) + top, abs=1e-9)
        assert one.mean(np.array([[x]]))[0, 0] == pytest.approx(mean, rel=1e-8, abs=1e-10)


def test_far_fields_lose_no_digits():
    """One side alone: an exponential where its Gaussian lies far off, a whole one where it is."""
    far = DoubleReLU([0.0], theta_plus=1e4, theta_minus=1e4)
    assert far.cumulant(np.zeros((1, 1)))[0] == pytest.approx(np.log(2e-4), abs=2e-8)
    # at 5,000 from one side and 15,000 from the other: 1 / 5,000 three times in four, - 1 / 15,000
    wanted = 0.75 / 5000 - 0.25 / 15000
    assert far.mean(np.array([[5e3]]))[0, 0] == pytest.approx(wanted, rel=1e-7)
    for x in (1e4, -1e6):
        cumulant = UNITS.with_(bias=np.zeros(3)).cumulant(np.full((1, 3), x))
        a, theta = (A["a_plus"], A["theta_plus"]) if x > 0 else (A["a_minus"], A["theta_minus"])
        field = abs(x) - np.array(theta)
        wanted = (field**2 / a + np.log(2 * np.pi / np.array(a))).sum() / 2
        assert cumulant[0] == pytest.approx(wanted, rel=1e-14)


def test_a_shift_of_the_thresholds_is_a_bias():
    shift = np.array([0.7, -1.0, 2.0])
    other = DoubleReLU(
        UNITS.bias + shift, A["a_plus"], A["a_minus"], A["theta_plus"] + shift,
        A["theta_minus"] - shift,
    )  # fmt: skip
    fields = np.concatenate([FIELDS, [[0.3, -0.2, 0.1]]])
    for x, y in ((fields + UNITS.bias, fields + other.bias),):
        np.testing.assert_allclose(UNITS.cumulant(x), other.cumulant(y), rtol=1e-13)
        np.testing.assert_allclose(UNITS.mean(x), other.mean(y), rtol=1e-9, atol=1e-13)


ONE = DoubleReLU([0.2], 1.5, 0.9, -0.5, 0.4)
PAIRS = {
    "bits": (Binary([0.3]), 1.4),
    "spins": (Spin([-0.4]), 1.1),
    "categories": (Potts([0.5, 0.0, -1.0], 3), [[1.2], [-0.3], [0.1]]),
    "normal": (Gaussian([0.6]), 0.7),
    "rectified": (DoubleReLU([0.1], 0.8, 2.0, 0.3, -0.2), -0.6),
}


def grid(n_units):
    """Points (n_points, n_units) and log weights of a sum that is an integral over all of them:
    Gauss and Legendre in panels, which have an end at 0."""
    x, w = np.polynomial.legendre.leggauss(12)
    middle = np.arange(-12.5, 15, 5)[:, None]
    points, weights = (
        np.stack(np.meshgrid(*n_units * [one.ravel()]), -1).reshape(-1, n_units)
        for one in (middle + 2.5 * x, np.tile(2.5 * w, (len(middle), 1)))
    )
    return points, np.log(weights).sum(axis=1)


def log_m(layer, s):
    """log of m(s) exp(bias s), from the parameters alone."""
    if isinstance(layer, Gaussian):
        return (layer.bias * s - s**2 / 2).sum(axis=1)
    a, theta = (np.where(s > 0, *sides) for sides in (
        (layer.a_plus, layer.a_minus), (layer.theta_plus, layer.theta_minus),
    ))  # fmt: skip
    return (layer.bias * s - a * s**2 / 2 - theta * np.abs(s)).sum(axis=1)


def by_quadrature(rbm) -> float:
    """log Z of real units on both sides: the joint density, summed over a grid of all of them."""
    (v, log_v), (h, log_h) = (grid(len(layer)) for layer in (rbm.visible, rbm.hidden))
    log_v, log_h = log_v + log_m(rbm.visible, v), log_h + log_m(rbm.hidden, h)
    v, log_v = v[log_v > -45], log_v[log_v > -45]
    h, log_h = h[log_h > -45], log_h[log_h > -45]
    rows = [log_sum(at @ rbm.weights @ h.T + log_h) for at in v]
    return float(log_sum(np.array(rows) + log_v)) + rbm.log_scale


def by_sums(rbm) -> float:
    """log Z of countable units and one `DoubleReLU` unit: an integral a state, by `quad`."""
    s = np.asarray(rbm.visible.values)
    parts = [moment(rbm.hidden, float(x), lambda h: 1.0) for x in rbm.field(s)[:, 0]]
    terms = [np.log(mass) + top for mass, top in parts] + rbm.visible.own(s)
    return float(log_sum(terms)) + rbm.log_scale


@pytest.mark.parametrize("name", PAIRS)
def test_log_z_of_every_pair_is_an_integral(name):
    visible, w = PAIRS[name]
    rbm = RBM(visible, ONE, np.reshape(w, (-1, 1)), log_scale=0.25)
    truth = by_quadrature(rbm) if visible.values is None else by_sums(rbm)
    for one in (rbm, rbm.transposed()):
        if visible.values is not None:
            assert rl.exact(one).log_z == pytest.approx(truth, abs=1e-9)
            continue
        run = rl.ais(rl.GeometricPath(one), rl.schedules.linear(60), 2000, rng=1)
        assert abs(run.log_z - truth) < 4.5 * run.std_error < 0.2, run.method


TWO = DoubleReLU([0.2, -0.3], [1.5, 0.8], [0.9, 1.2], [-0.5, 0.6], [0.4, 0.1])
OTHER = DoubleReLU([0.1, 0.4], [0.8, 1.9], [2.0, 0.9], [0.3, -0.7], [-0.2, 0.5])
W = np.array([[0.45, -0.2], [0.15, 0.4]])


def test_gradients_are_derivatives():
    rbm = RBM(Gaussian([0.1, -0.3]), UNITS, np.random.default_rng(0).normal(size=(2, 3)) / 3)
    v, step = np.array([[0.7, -1.2]]), 1e-5 * np.eye(2)
    wanted = (rbm.log_density(v + step) - rbm.log_density(v - step)) / 2e-5
    np.testing.assert_allclose(rbm.gradient(v)[0], wanted, rtol=1e-7)


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


def test_a_proper_model_is_not_refused_for_its_narrow_units():
    """Units of small variance bear large weights."""
    narrow = DoubleReLU([0.0, 0.0], [4.0, 1.0], 4.0)
    rbm = RBM(Gaussian([0, 0]), narrow, np.diag([1.9, 0.9]))
    assert repr(rbm) == "RBM(Gaussian(2), DoubleReLU(2))"
    assert rbm.hidden._only([True, False]).a_plus.tolist() == [4.0]
    v = 50 * np.array([[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]])
    assert (rbm.log_density(v) < -100).all()


def test_layers_of_other_thresholds_are_no_base():
    """A path changes biases: what else differs would shift log Z, and nothing would show it."""
    rbm = RBM(Binary([0.0]), ONE, [[1.0]])
    other = RBM(Binary([0.0]), DoubleReLU([0.2], 1.5, 0.9, -0.5, 0.5), [[0.0]])
    with pytest.raises(ValueError, match="expected the layers of the target"):
        rl.GeometricPath(rbm, base=other)


@pytest.mark.parametrize("visible", [Gaussian([0.6, -0.3]), TWO])
@pytest.mark.parametrize("hidden", [Gaussian([0.1, 0.2]), OTHER, LeakyReLU([0.1, 0.2], 1.5, 0.3)])
def test_the_eigenvalue_that_fails_is_that_of_the_quadratic_form(visible, hidden):
    """Of log p* of both layers, each unit at the wider of its sides; just below it is a model."""
    root = np.sqrt(np.multiply.outer(visible.growth * np.ones(2), hidden.growth * np.ones(2)))
    improper = 1.3 * W / np.linalg.norm(W * root, 2)
    form = np.block([[np.eye(2), -improper * root], [-(improper * root).T, np.eye(2)]])
    lowest = np.linalg.eigvalsh(form).min()  # 1 - 1.3, of I - M M' 1 - 1.3**2
    with pytest.raises(ValueError, match="not positive definite") as error:
        RBM(visible, hidden, improper)
    said = float(re.search(r"has the eigenvalue (\S+)", str(error.value))[1])
    assert said == pytest.approx(1 - (1 - lowest) ** 2, abs=1e-3)
    RBM(visible, hidden, 0.99 / 1.3 * improper)
