"""Double rectified linear units: integrals, draws, log Z by quadrature; improper models."""

import re

import numpy as np
import pytest
from helpers_models import quiet
from helpers_stats import log_sum
from scipy.integrate import quad
from scipy.stats import kstest

import rbmlib as rl
from rbmlib import RBM, Binary, DoubleReLU, Gaussian, LeakyReLU, Potts, Spin

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
    draws = far.draw(np.zeros((1, 1)), np.random.default_rng(0), 20_000) * 1e4
    assert kstest(np.abs(draws[:, 0]), "expon").pvalue > 1e-3
    assert abs((draws > 0).mean() - 0.5) < 0.015


@pytest.mark.parametrize("unit", range(3))
def test_draws_have_their_distribution(unit):
    one, p_values = alone(UNITS, unit), []
    for x in FIELDS[:, unit]:
        draws = one.draw(np.array([[x]]), np.random.default_rng(3), 4000)[:, 0]
        mass = moment(one, x, lambda h: 1.0)[0]
        grid = np.quantile(draws, np.linspace(0.05, 0.95, 10))
        below = np.array([moment(one, x, lambda h, at=at: float(h < at))[0] for at in grid]) / mass
        found = np.searchsorted(np.sort(draws), grid, side="right") / draws.size
        p_values.append(np.abs(found - below).max() * np.sqrt(draws.size))
    assert max(p_values) < 2.0, p_values  # Kolmogorov's statistic: exceeded once in 1,500


def test_of_equal_sides_they_are_normal():
    x = np.linspace(-4, 4, 9)[:, None]
    ours, theirs = DoubleReLU([0.0]), Gaussian([0.0])
    np.testing.assert_allclose(ours.cumulant(x), theirs.cumulant(x), atol=1e-12)
    np.testing.assert_allclose(ours.mean(x), theirs.mean(x), atol=1e-12)
    np.testing.assert_allclose(ours.own(x), theirs.own(x), atol=1e-12)


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


# models --------------------------------------------------------------------------------------

ONE = DoubleReLU([0.2], 1.5, 0.9, -0.5, 0.4)
PAIRS = {
    "bits": (Binary([0.3]), 1.4),
    "spins": (Spin([-0.4]), 1.1),
    "categories": (Potts([0.5, 0.0, -1.0], 3), [[1.2], [-0.3], [0.1]]),
    "normal": (Gaussian([0.6]), 0.7),
    "leaky": (LeakyReLU([0.6], 1.0, 0.3), 0.7),
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
    if isinstance(rbm.hidden, LeakyReLU):  # which are summed over: max(c x, x) x / 2 of a field x
        x = v @ rbm.weights + rbm.hidden.bias
        slopes = np.where(x > 0, rbm.hidden.above, rbm.hidden.below)
        return float(log_sum(log_v + log_m(rbm.visible, v) + (slopes * x**2).sum(axis=1) / 2))
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


@pytest.mark.parametrize("name", [name for name in PAIRS if name != "leaky"])
def test_log_z_of_every_pair_is_an_integral(name):
    visible, w = PAIRS[name]
    rbm = RBM(visible, ONE, np.reshape(w, (-1, 1)), log_scale=0.25)
    truth = by_quadrature(rbm) if visible.values is None else by_sums(rbm)
    if visible.values is not None:
        assert rl.exact(rbm).log_z == pytest.approx(truth, abs=1e-9)
        assert rl.exact(rbm.transposed()).log_z == pytest.approx(truth, abs=1e-9)
    for one in (rbm, rbm.transposed()):
        path = rl.GeometricPath(one)
        for run in (
            rl.ais(path, rl.schedules.linear(60), 2000, rng=1),
            rl.rts(path, rl.schedules.linear(6), 40, 500, rng=2),
        ):
            assert abs(run.log_z - truth) < 4.5 * run.std_error < 0.2, run.method


TWO = DoubleReLU([0.2, -0.3], [1.5, 0.8], [0.9, 1.2], [-0.5, 0.6], [0.4, 0.1])
OTHER = DoubleReLU([0.1, 0.4], [0.8, 1.9], [2.0, 0.9], [0.3, -0.7], [-0.2, 0.5])
W = np.array([[0.45, -0.2], [0.15, 0.4]])
REAL = {
    "rectified, rectified": RBM(OTHER, TWO, W, log_scale=0.25),
    "normal, rectified": RBM(Gaussian([0.6, -0.3]), TWO, W, log_scale=0.25),
    "rectified, normal": RBM(OTHER, Gaussian([-0.4, 0.7]), W, log_scale=0.25),
    "two, one": RBM(OTHER, ONE, [[0.5], [-0.4]]),
    "one, two": RBM(Gaussian([0.6]), TWO, [[0.5, -0.4]]),
}


@pytest.mark.statistical
@pytest.mark.parametrize("rbm", REAL.values(), ids=REAL)
def test_two_real_layers_are_an_integral_over_all_units(rbm):
    truth = by_quadrature(rbm)
    assert truth == pytest.approx(by_quadrature(rbm.transposed()), abs=1e-6)
    path = rl.GeometricPath(rbm)
    for run in (
        rl.ais(path, rl.schedules.linear(60), 1000, rng=1),
        rl.reverse_ais(path, rl.schedules.linear(60), 1000, rng=2),
        quiet(rl.log_z, rbm, n_steps=100, n_chains=200, rng=3),
    ):
        assert abs(run.log_z - truth) < 4.5 * run.std_error < 0.1, run.method
    with pytest.raises(ValueError, match="exact enumeration needs a layer whose"):
        rl.exact(rbm)


@pytest.mark.statistical
@pytest.mark.parametrize("weights", [[[0.5], [0.4]], [[0.5, 0.2], [-0.1, 0.6]]])
def test_leaky_units_are_an_integral_over_the_visible_ones(weights):
    bias = [0.4, -0.7][: len(weights[0])]
    rbm = RBM(Gaussian([0.3, -0.6]), LeakyReLU(bias, 1.0, 0.2), weights).with_()
    truth, orthogonal = by_quadrature(rbm), len(bias) == 1
    if orthogonal:
        assert rl.exact(rbm).log_z == pytest.approx(truth, abs=1e-5)
    else:
        with pytest.raises(ValueError, match=r"not orthogonal: .*use rl\.ais"):
            rl.exact(rbm)
    run = rl.ais(rl.LeakinessPath(rbm), rl.schedules.linear(60), 1000, rng=1)
    assert abs(run.log_z - truth) < 4.5 * run.std_error < 0.1


def test_a_model_of_leaky_units_is_moved_by_hmc_alone():
    with pytest.raises(ValueError, match="hidden units have no conditional"):
        rl.Polyline([RBM(ONE, PAIRS["leaky"][0], [[0.0]]), RBM(ONE, PAIRS["leaky"][0], [[0.7]])])


def test_gradients_are_derivatives():
    rbm = RBM(Gaussian([0.1, -0.3]), UNITS, np.random.default_rng(0).normal(size=(2, 3)) / 3)
    v, step = np.array([[0.7, -1.2]]), 1e-5 * np.eye(2)
    wanted = (rbm.log_density(v + step) - rbm.log_density(v - step)) / 2e-5
    np.testing.assert_allclose(rbm.gradient(v)[0], wanted, rtol=1e-7)


# mistakes ------------------------------------------------------------------------------------

UNEVEN = DoubleReLU([0.0, 0.0], a_plus=[4.0, 1.0], a_minus=[1.0, 2.0])
PROPER = RBM(Gaussian([0.0, 0.0]), Gaussian([0.0, 0.0]), np.eye(2) / 2)
IMPROPER = PROPER.with_(weights=np.diag([1.2, 0.5]))  # which nobody has looked at
REFUSED = {
    "shape": (
        lambda: DoubleReLU([0.0], a_plus=[1.0, 2.0]),
        r"a_plus has shape \(2,\): expected a n",
    ),
    "precision": (
        lambda: DoubleReLU([0.0], a_minus=0),
        "a_minus goes down to 0.0: expected numbers",
    ),
    "NaN": (lambda: DoubleReLU([0.0], theta_plus=np.nan), "theta_plus holds 1 NaN"),
    "improper": (
        lambda: RBM(Gaussian([0, 0]), UNEVEN, np.diag([1.2, 0.5])),
        r"weights has a largest singular value of 1\.2 .*WW' has the eigenvalue -0\.44 and",
    ),
    "improper, uneven": (
        lambda: RBM(Gaussian([0, 0]), DoubleReLU([0.0, 0.0], [4.0, 1.0], 4.0), np.eye(2)),
        r"largest standard deviations has a largest singular value of 1 .*eigenvalue 0 and",
    ),
    "both rectified": (
        lambda: RBM(UNEVEN, DoubleReLU([0.0], 0.25, 0.25), [[0.6], [0.0]]),
        r"value of 0\.6 \(1 of 1 are 0\.5 or more\), so I - 4 WW' has the eigenvalue -0\.44 ",
    ),
    "no exact sum": (
        lambda: rl.exact(RBM(Gaussian([0.0]), ONE, [[0.5]])),
        r"rbm is RBM\(Gaussian\(1\), DoubleReLU\(1\)\): exact enumeration needs a layer whose",
    ),
    "improper, annealed": (lambda: rl.GeometricPath(IMPROPER), "value of 1.2 .*not positive def"),
    "improper, exact": (lambda: rl.exact(IMPROPER), "value of 1.2 .*not positive def"),
    "improper, chosen": (lambda: rl.log_z(IMPROPER), "value of 1.2 .*not positive def"),
    "improper on the way": (
        lambda: rl.Polyline([IMPROPER.with_(weights=np.zeros((2, 2))), IMPROPER, PROPER]),
        "value of 1.2 .*not positive def",
    ),
}


@pytest.mark.parametrize(("call", "words"), REFUSED.values(), ids=REFUSED)
def test_mistakes_are_named(call, words):
    with pytest.raises(ValueError, match=words):
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


def test_what_is_refused_has_no_z():
    """Along the direction of the eigenvalue -0.44 log p* rises without end."""
    sides = DoubleReLU([0.2, -0.3], 1.0, [1.0, 2.0], 0.5, -0.4)
    model = PROPER.with_(hidden=sides, weights=np.diag([1.2, 0.5]))
    log_p = model.log_density(np.array([[10.0, 0], [100.0, 0], [1000.0, 0]]))
    assert log_p[2] == pytest.approx(0.22 * 1000**2, rel=0.01)
    assert (np.diff(log_p) > 0).all()
