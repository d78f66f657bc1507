"""Models: densities and conditionals against sums over all (v, h), other units, files."""

import pickle
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from helpers_stats import all_states, log_sum, rbm_table, two_sided
from scipy.io import savemat

import rbmlib as rl
from rbmlib import RBM, BernoulliRBM, datasets

SHAPES = [(1, 1), (4, 3), (3, 6), (6, 2)]


def parameters(n_visible, n_hidden, seed=3, spread=1.5):
    rng = np.random.default_rng(seed)
    return (
        rng.normal(scale=spread, size=(n_visible, n_hidden)),
        rng.normal(scale=spread, size=n_visible),
        rng.normal(scale=spread, size=n_hidden),
    )


# densities --------------------------------------------------------------------------------


def test_a_layer_is_shown_with_its_constants():
    assert repr(rl.Potts(np.zeros(6), q=3)) == "Potts(6, q=3)"
    assert repr(rl.Binary([0.0, 1.0])) == "Binary(2)"


def test_densities_do_not_overflow():
    rbm = BernoulliRBM([[800.0], [-900.0]], [0.0, 0.0], [0.0])
    np.testing.assert_allclose(rbm.log_density([[1, 0], [0, 1], [0, 0]]), [800, 0, np.log(2)])


def test_samples_follow_the_conditionals():
    rbm = BernoulliRBM(*parameters(4, 3))
    joint = np.exp(rbm_table(rbm))
    row, column, n = 11, 5, 40_000
    v, h = all_states(4)[[row]], all_states(3)[[column]]
    rng = np.random.default_rng(0)
    drawn = [
        (rbm.sample_hidden(np.repeat(v, n, 0), rng), joint[row] @ all_states(3) / joint[row].sum()),
        (
            rbm.sample_visible(np.repeat(h, n, 0), rng),
            joint[:, column] @ all_states(4) / joint[:, column].sum(),
        ),
    ]
    for states, mean in drawn:
        assert set(np.unique(states)) <= {0.0, 1.0}
        z = (states.mean(axis=0) - mean) / np.sqrt(mean * (1 - mean) / n)
        assert np.abs(z).max() < 4


# other forms ------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES)
def test_spins_in_bits_keep_log_z(shape):
    w, b, a = parameters(*shape, spread=0.7)
    s, t = 2 * all_states(shape[0]) - 1, 2 * all_states(shape[1]) - 1
    energies = s @ w @ t.T + (s @ b)[:, None] + t @ a
    converted = RBM(rl.Spin(b), rl.Spin(a), w).to_bits()
    assert rl.exact(converted).log_z == pytest.approx(log_sum(energies), abs=1e-11)
    # and every state keeps its density, not only their sum
    np.testing.assert_allclose(rbm_table(converted), energies, atol=1e-11)


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


# files ------------------------------------------------------------------------------------


def equal(one: BernoulliRBM, two: BernoulliRBM) -> bool:
    names = ("weights", "visible_bias", "hidden_bias", "log_scale")
    return all(np.array_equal(getattr(one, name), getattr(two, name)) for name in names)


def test_npz_round_trip_is_exact_and_its_bytes_are_fixed(tmp_path):
    rbm = BernoulliRBM(*parameters(4, 3), log_scale=-0.1)
    rbm.save(tmp_path / "one.npz")
    rbm.save(str(tmp_path / "two.npz"))
    assert equal(BernoulliRBM.load(tmp_path / "one.npz"), rbm)
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
        assert equal(loaded, BernoulliRBM(w, b, a))
        assert equal(datasets.load_rbm(tmp_path / "rbm.mat"), loaded)


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


def test_damaged_and_foreign_files_are_named(tmp_path):
    rbm = BernoulliRBM(*parameters(4, 3))
    rbm.save(tmp_path / "short.npz")
    content = (tmp_path / "short.npz").read_bytes()
    (tmp_path / "short.npz").write_bytes(content[:-40])
    (tmp_path / "text.mat").write_text("not a MATLAB file")
    np.savez(tmp_path / "other.npz", x=np.zeros(3))
    savemat(tmp_path / "other.mat", {"x": np.zeros(3)})
    for name, message in [
        ("short.npz", "cannot read short.npz"),
        ("text.mat", "cannot read text.mat"),
        ("other.npz", "other.npz holds .x., names that do not tell"),
        ("other.mat", "other.mat holds .x., names that do not tell"),
        ("rbm.txt", r"expected one of \.npz, \.mat, \.h5"),
    ]:
        (tmp_path / "rbm.txt").write_text("1 2 3")
        with pytest.raises(ValueError, match=message):
            BernoulliRBM.load(tmp_path / name)
    with pytest.raises(FileNotFoundError, match=r"none\.npz"):
        BernoulliRBM.load(tmp_path / "none.npz")


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


# test systems -----------------------------------------------------------------------------


def test_test_systems_know_their_log_z():
    for tilt in (0.0, 3.0, -3.0):
        rbm, log_z = rl.testsystems.two_mode_rbm(8, strength=2.5, tilt=tilt)
        table = rbm_table(rbm)
        assert log_z == pytest.approx(log_sum(table), abs=1e-12)
        modes = log_sum(table, axis=0)
        assert modes[1] - modes[0] == pytest.approx(tilt, abs=1e-12)


def test_random_models_have_the_promised_spread():
    rbm = rl.testsystems.random_rbm(200, 100, coupling=3.0, rng=0)
    z = (np.mean(rbm.weights**2) / (9 / 200) - 1) / np.sqrt(2 / rbm.weights.size)
    assert two_sided(z) > 1e-4
    again = rl.testsystems.random_rbm(200, 100, coupling=3.0, rng=0)
    assert equal(rbm, again)


def test_a_mixture_is_as_narrow_as_its_densities_can_be():
    """A subnormal variance divided squares of means to infinity, with a warning of NumPy."""
    with pytest.raises(ValueError, match="variance is 1e-320: expected a positive number, 1e-100"):
        rl.testsystems.GaussianMixture(np.ones((2, 3), np.float16), 1e-320)
    narrow = rl.testsystems.GaussianMixture(np.full((2, 3), 1e12), 1e-100)
    assert np.isfinite(narrow.log_density(np.zeros((1, 3)))).all()
