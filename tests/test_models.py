"""Models: layouts and files, test systems, the same model written otherwise, projections."""

import pickle
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from helpers_models import same_model
from helpers_stats import log_sum, rbm_table
from scipy.io import savemat

import rbmlib as rl
from rbmlib import RBM, BernoulliRBM, Binary, DoubleReLU, Gaussian, LeakyReLU, Potts, Spin, datasets
from rbmlib.models.enumeration import states


def parameters(n_visible, n_hidden, seed=3, spread=1.5):
    rng = np.random.default_rng(seed)
    return (
        rng.normal(scale=spread, size=(n_visible, n_hidden)),
        rng.normal(scale=spread, size=n_visible),
        rng.normal(scale=spread, size=n_hidden),
    )


def test_densities_do_not_overflow():
    rbm = BernoulliRBM([[800.0], [-900.0]], [0.0, 0.0], [0.0])
    np.testing.assert_allclose(rbm.log_density([[1, 0], [0, 1], [0, 0]]), [800, 0, np.log(2)])


def test_square_weights_lie_as_they_are_said_to():
    """No bias tells them apart, and transposed they are another model, of another log Z."""
    w, b, a = parameters(3, 3)
    log_z, state = {}, {"W": w, "v_bias": b, "h_bias": a}
    for layout, expected in (("visible_hidden", w), ("hidden_visible", w.T)):
        rbm = rl.from_state_dict(state, layout=layout)
        np.testing.assert_array_equal(rbm.weights, expected)
        log_z[layout] = rl.exact(rbm).log_z
    assert abs(log_z["visible_hidden"] - log_z["hidden_visible"]) > 1e-3
    with pytest.raises(ValueError, match=r"layout='visible_hidden'.*or layout='hidden_visible'"):
        rl.from_state_dict(state)


def test_parameters_cannot_change_behind_the_models_back():
    w, b, a = parameters(4, 3)
    rbm = BernoulliRBM(w, b, a)
    before = w[0, 0]
    w[0, 0] += 1
    assert rbm.weights[0, 0] == before
    with pytest.raises(ValueError, match="read-only"):
        rbm.weights[0, 0] = 0


def test_from_sklearn_agrees_with_its_own_score():
    """scikit-learn scores v by n_visible * log sigmoid(F(v') - F(v)), v' with one bit flipped."""
    network = pytest.importorskip("sklearn.neural_network", reason="needs scikit-learn")
    rng = np.random.default_rng(0)
    data = (rng.random((60, 6)) < [0.9, 0.1, 0.5, 0.7, 0.2, 0.5]).astype(float)
    model = network.BernoulliRBM(n_components=4, learning_rate=0.5, n_iter=20, random_state=0)
    model.fit(data)
    rbm = BernoulliRBM.from_sklearn(model)
    assert (rbm.n_visible, rbm.n_hidden) == (6, 4)
    assert np.abs(rbm.weights).max() > 0.3, "the fit should have learned something"
    flipped = np.stack([np.abs(data - unit) for unit in np.eye(6)])
    energies = np.stack([rbm.free_energy(other) for other in flipped])
    candidates = -6 * np.log1p(np.exp(rbm.free_energy(data) - energies))
    distance = np.abs(candidates - model.score_samples(data)).min(axis=0)
    assert distance.max() < 1e-9
    with pytest.raises(ValueError, match=r"model\.fit"):
        BernoulliRBM.from_sklearn(network.BernoulliRBM())


def test_npz_round_trip_is_exact_and_its_bytes_are_fixed(tmp_path):
    rbm = BernoulliRBM(*parameters(4, 3), log_scale=-0.1)
    rbm.save(tmp_path / "one.npz")
    rbm.save(str(tmp_path / "two.npz"))
    assert same_model(BernoulliRBM.load(tmp_path / "one.npz"), rbm)
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    with zipfile.ZipFile(tmp_path / "one.npz") as archive:
        assert {info.date_time[0] for info in archive.infolist()} == {1980}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.npz", "two.npz"]


def test_saved_in_single_precision(tmp_path):
    rbm = BernoulliRBM(*parameters(4, 3))
    rbm.save(tmp_path / "rbm.npz", dtype=np.float32)
    loaded = BernoulliRBM.load(tmp_path / "rbm.npz")
    np.testing.assert_array_equal(loaded.weights, rbm.weights.astype(np.float32))


@pytest.mark.parametrize(
    "keys", [("parameter_W", "parameter_b", "parameter_a"), ("vishid", "visbiases", "hidbiases")]
)
def test_mat_files_of_published_models(tmp_path, keys):
    w, b, a = parameters(4, 3)
    for orient in (lambda x: x[None, :], lambda x: x[:, None]):
        arrays = (w, orient(b), orient(a))
        savemat(tmp_path / "rbm.mat", dict(zip(keys, arrays, strict=True)))
        loaded = BernoulliRBM.load(tmp_path / "rbm.mat")
        assert same_model(loaded, BernoulliRBM(w, b, a))
        assert same_model(datasets.load_rbm(tmp_path / "rbm.mat"), loaded)


class Bomb:
    """Unpickling this raises the alarm."""

    def __reduce__(self):
        return (pytest.fail, ("a pickle in a model file was executed",))


def test_pickles_are_refused(tmp_path):
    _, b, a = parameters(4, 3)
    objects = np.array([Bomb()], dtype=object)
    np.savez(tmp_path / "objects.npz", weights=objects, visible_bias=b, hidden_bias=a)
    (tmp_path / "plain.npz").write_bytes(pickle.dumps(Bomb()))
    for name in ("objects.npz", "plain.npz"):
        with pytest.raises(ValueError, match=f"cannot read {name}"):
            BernoulliRBM.load(tmp_path / name)


CHILD = """
import numpy as np, rbmlib as rl
class Thirds(rl.Binary):
    constants = ("share",)
    def __init__(self, bias, share):
        super().__init__(bias)
        self.share = share
rbm = rl.RBM(rl.Binary(np.zeros(3)), Thirds(np.ones(2), 0.3), np.ones((3, 2)))
rbm.save("m.npz")
assert rl.load_rbm("m.npz").hidden.share == 0.3
"""
OTHER = """
import rbmlib as rl
for load in (rl.load_rbm, rl.RBM.load, rl.BernoulliRBM.load):
    try:
        load("m.npz")
    except ValueError as error:
        print(error)
"""


def test_a_kind_that_no_class_here_is_is_refused_by_name_in_a_fresh_process(tmp_path):
    """The file has the arrays of a Bernoulli RBM, as which it would have another log Z."""
    subprocess.run([sys.executable, "-c", CHILD], cwd=tmp_path, check=True)
    done = subprocess.run(
        [sys.executable, "-c", OTHER], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    said = done.stdout.splitlines()
    assert len(said) == 3
    for line in said:
        assert "m.npz: hidden_layer is 'Thirds': expected one of Binary" in line
        assert "import the module that defines your kind" in line


def test_files_of_earlier_versions_are_read(tmp_path):
    w, b, a = np.diag([0.5, 0.25, 0.0])[:, :2], np.ones(3), np.zeros(2)
    arrays = {"weights": w, "visible_bias": b, "hidden_bias": a, "log_scale": 1.5}
    path = tmp_path / "m.npz"
    for mark, kind in (
        ({}, "BernoulliRBM"),
        ({"leakiness": 0.25}, "LeakyRBM"),
    ):
        np.savez(path, **arrays, **mark)
        rbm = RBM.load(path)
        assert type(rbm).__name__ == kind
        np.testing.assert_array_equal(rbm.weights, w)
        assert rbm.log_scale == 1.5
    assert rbm.leakiness == 0.25
    np.savez(path, **arrays, spread=2.0)
    with pytest.raises(ValueError, match=r"m\.npz holds .*'log_scale', 'spread': expected weights"):
        RBM.load(path)


def test_test_systems_know_their_log_z():
    for tilt in (0.0, 3.0, -3.0):
        rbm, log_z = rl.testsystems.two_mode_rbm(8, strength=2.5, tilt=tilt)
        table = rbm_table(rbm)
        assert log_z == pytest.approx(log_sum(table), abs=1e-12)
        modes = log_sum(table, axis=0)
        assert modes[1] - modes[0] == pytest.approx(tilt, abs=1e-12)


DRAWN = np.random.default_rng(5)


def model(visible, hidden) -> RBM:
    return RBM(visible, hidden, DRAWN.normal(size=(len(visible), len(hidden))) / 2, log_scale=0.75)


def b(n):
    return DRAWN.normal(size=n)


MODELS = {
    "bits, bits": model(Binary(b(4)), Binary(b(3))),
    "spins, bits": model(Spin(b(4)), Binary(b(3))),
    "bits, spins": model(Binary(b(4)), Spin(b(3))),
    "spins, spins": model(Spin(b(4)), Spin(b(3))),
    "categories, categories": model(Potts(b(6), 3), Potts(b(8), 4)),
    "categories, spins": model(Potts(b(6), 3), Spin(b(3))),
    "bits, categories": model(Binary(b(4)), Potts(b(6), 3)),
    "spins, rectified": model(Spin(b(4)), DoubleReLU(b(3), 1.5, 0.7, 0.4, -0.3)),
    "categories, rectified": model(Potts(b(6), 3), DoubleReLU(b(3), 1.5, 0.7, 0.4, -0.3)),
    "spins, leaky": model(Spin(b(4)), LeakyReLU(b(3), 1.0, 0.2)),
    "normal, spins": model(Gaussian(b(4)), Spin(b(3))),
    "normal, categories": model(Gaussian(b(4)), Potts(b(6), 3)),
}


def every_state(layer):
    if layer.values is None:
        return DRAWN.normal(size=(50, len(layer)))
    n_values, width = layer.values.shape
    return states(layer, np.arange(n_values ** (len(layer) // width)))


@pytest.mark.parametrize("rbm", MODELS.values(), ids=MODELS)
def test_bits_for_spins_change_no_probability(rbm):
    other, v = rbm.to_bits(), every_state(rbm.visible)
    assert other.exact_log_z() == pytest.approx(rbm.exact_log_z(), abs=1e-11)
    recoded = (v + 1) / 2 if isinstance(rbm.visible, Spin) else v
    np.testing.assert_allclose(other.log_density(recoded), rbm.log_density(v), atol=1e-11)


def test_the_rates_of_data_are_those_of_the_layer():
    """The base that fits data: units of each kind have their means, but for the smoothing."""
    uneven = DoubleReLU(b(4), [2.0, 0.5, 3.0, 1.0], [1.0, 3.0, 0.7, 2.0], 0.5, -0.4)
    for visible in (Binary(b(4)), Spin(b(4)), Potts(b(6), 3), Gaussian(b(4)), uneven):
        free = RBM(visible, Binary([0.0]), np.zeros((len(visible), 1)))
        data = free.draw(400, np.random.default_rng(1))
        bias = rl.base_rate(data, 1e-9, visible)
        found = visible.mean(bias[None])[0]
        np.testing.assert_allclose(found, data.mean(axis=0), atol=1e-7)
    bits = rl.base_rate((data > 0), 0.05, Binary(b(4)))
    np.testing.assert_array_equal(bits, rl.base_rate(data > 0))
    spins = rl.base_rate(2.0 * (data > 0) - 1, 0.05, Spin(b(4)))
    np.testing.assert_allclose(2 * spins, bits, atol=1e-12)


def clipped(w, bound):
    left, scales, right = np.linalg.svd(w, full_matrices=False)
    return left * np.minimum(scales, bound) @ right


@pytest.mark.parametrize(("shape", "bound"), [((7, 4), 0.9999), ((4, 7), 0.5), ((6, 1), 0.5)])
def test_projection_clips_singular_values(shape, bound):
    w = DRAWN.normal(size=shape)
    found = rl.project_weights(w, bound)
    np.testing.assert_allclose(found, clipped(w, bound), atol=1e-12)
    assert np.linalg.norm(found, 2) <= bound * (1 + 1e-12)
    np.testing.assert_allclose(rl.project_weights(found, bound), found, atol=1e-12)


def test_nothing_to_clip_changes_nothing():
    w = DRAWN.normal(size=(6, 3))
    w *= 0.999 / np.linalg.norm(w, 2)
    np.testing.assert_array_equal(rl.project_weights(w), w)


def test_projection_is_the_nearest_point():
    """Of a convex set: <W - P, X - P> <= 0 for every X in it, and only for the nearest P."""
    w = DRAWN.normal(size=(6, 4))
    nearest = rl.project_weights(w, 0.9)
    for _ in range(500):
        x = rl.project_weights(DRAWN.normal(size=w.shape) * 10 ** DRAWN.uniform(-2, 1), 0.9)
        assert ((w - nearest) * (x - nearest)).sum() <= 1e-12
        assert np.linalg.norm(w - x) >= np.linalg.norm(w - nearest)
    scaled = w * 0.9 / np.linalg.norm(w, 2)  # proper too, but farther
    assert np.linalg.norm(w - scaled) > 1.05 * np.linalg.norm(w - nearest)
