"""HDF5 of other programs, in their documented layout: densities, updates, what is refused."""

import contextlib
import sys

import numpy as np
import pytest
from helpers_models import log_joint

import rbmlib as rl
from rbmlib import Binary, DoubleReLU, Gaussian, Potts, Spin

h5py = pytest.importorskip("h5py", reason="needs h5py")
RNG = np.random.default_rng(2)


def write(path, **held):
    """Names with dots are in groups."""
    with h5py.File(path, "w") as file:
        for name, value in held.items():
            file[name.replace(".", "/")] = value
    return path


# RestrictedBoltzmannMachines.jl: Julia's axes, the parameters of a unit first -------------------


def julia(path, visible, hidden, weights, **more):
    """``visible`` and ``hidden``: the kind, and parameters (n_parameters, *units), Julia's way;
    weights (*visible units, *hidden units)."""
    return write(
        path, rbm_hdf5_file_format_version="1.0.0", rbm_type=more.pop("rbm_type", "RBM"),
        weights=weights.T, visible_type=visible[0], visible_par=visible[1].T,
        hidden_type=hidden[0], hidden_par=hidden[1].T, **{k: v.T for k, v in more.items()},
    )  # fmt: skip


def gauss(theta, gamma, x):
    return abs(gamma) * x**2 / 2 - theta * x


def drelu(up, down, a, b, x):
    return np.where(x >= 0, gauss(up, a, x), gauss(down, b, x))


def prelu(theta, gamma, delta, eta, x):
    up, down = 1 + eta, 1 - eta
    return drelu(theta + delta / up, theta - delta / down, gamma / up, gamma / down, x)


ENERGIES = {  # of each unit, by its parameters, as that program has them
    "Binary": lambda theta, x: -theta * x,
    "Spin": lambda theta, x: -theta * x,
    "Potts": lambda theta, x: -theta * x,
    "Gaussian": gauss,
    "dReLU": drelu,
    "pReLU": prelu,
    "xReLU": lambda theta, gamma, delta, xi, x: prelu(theta, gamma, delta, xi / (1 + abs(xi)), x),
    "nsReLU": lambda theta, delta, xi, x: prelu(theta, 1.0, delta, xi / (1 + abs(xi)), x),
}
ENERGIES["PottsGumbel"] = ENERGIES["Potts"]
OF = {"Binary": 1, "Spin": 1, "Potts": 1, "PottsGumbel": 1, "Gaussian": 2, "dReLU": 4, "pReLU": 4}
OF |= {"xReLU": 4, "nsReLU": 3}
OURS = {"Binary": Binary, "Spin": Spin, "Potts": Potts, "Gaussian": DoubleReLU}
OURS["PottsGumbel"] = Potts


def parameters(kind, *units):
    """Of which precisions are above 0 and asymmetries below 1 in size."""
    values = RNG.normal(size=(OF[kind], *units))
    precisions = {"Gaussian": [1], "dReLU": [2, 3], "pReLU": [1], "xReLU": [1]}.get(kind, [])
    values[precisions] = RNG.uniform(0.5, 2, (len(precisions), *units))
    if kind == "pReLU":
        values[3] = np.tanh(values[3])
    return values


@pytest.mark.parametrize("hidden", OF)
@pytest.mark.parametrize("visible", ["Binary", "PottsGumbel", "Spin"])
def test_densities_are_those_of_the_julia_program(tmp_path, visible, hidden):
    v_units, h_units = (
        (q, n) if k.startswith("Potts") else (n,) for k, q, n in ((visible, 3, 4), (hidden, 2, 5))
    )
    theta, par = parameters(visible, *v_units), parameters(hidden, *h_units)
    w = RNG.normal(size=(*v_units, *h_units)) / 3
    rbm = rl.load_rbm(julia(tmp_path / "m.h5", (visible, theta), (hidden, par), w))
    assert isinstance(rbm.visible, OURS[visible])
    assert isinstance(rbm.hidden, OURS.get(hidden, DoubleReLU))
    zero = rbm.with_(weights=0 * rbm.weights)
    v = zero.visible.draw(np.zeros((1, len(rbm.visible))), RNG, 6)
    h = zero.hidden.draw(np.zeros((1, len(rbm.hidden))), RNG, 6)
    for one, two, found in zip(v, h, log_joint(rbm, v, h), strict=True):
        x, y = one.reshape(v_units[::-1]).T, two.reshape(h_units[::-1]).T  # as Julia has them
        energy = ENERGIES[visible](*theta, x).sum() + ENERGIES[hidden](*par, y).sum()
        energy -= np.tensordot(np.tensordot(x, w, x.ndim), y, y.ndim)
        assert found == pytest.approx(-energy, abs=1e-12)


def test_gaussian_units_of_precision_one_are_normal_and_images_keep_their_order(tmp_path):
    image, par = RNG.normal(size=(1, 4, 3)), np.stack([RNG.normal(size=2), [-1.0, 1.0]])
    w = RNG.normal(size=(4, 3, 2)) / 3
    rbm = rl.load_rbm(julia(tmp_path / "m.hdf5", ("Binary", image), ("Gaussian", par), w))
    assert repr(rbm) == "RBM(Binary(12), Gaussian(2))"
    v = (RNG.random((4, 3, 9)) < 0.5).astype(
        float
    )  # data of that program: the last axis is of rows
    x = np.einsum("ijn,ijk->nk", v, w) + par[0]
    wanted = np.einsum("ijn,ij->n", v, image[0]) + (x**2).sum(axis=1) / 2 + np.log(2 * np.pi)
    np.testing.assert_allclose(rbm.log_density(v.T.reshape(9, 12)), wanted, atol=1e-12)


def test_centred_and_standardised_models_are_plain_ones(tmp_path):
    theta, par, w = RNG.normal(size=(1, 4)), parameters("dReLU", 3), RNG.normal(size=(4, 3)) / 3
    more = {name: RNG.uniform(0.5, 2, n) for name, n in
            (("offset_v", 4), ("offset_h", 3), ("scale_v", 4), ("scale_h", 3))}  # fmt: skip
    for kind, names in (("CenteredRBM", list(more)[:2]), ("StandardizedRBM", list(more))):
        held = {name: more[name] for name in names}
        file = julia(
            tmp_path / f"{kind}.h5", ("Spin", theta), ("dReLU", par), w, rbm_type=kind, **held
        )
        rbm, one = rl.load_rbm(file), np.ones(1)
        v, h = np.array([[1.0, -1, 1, 1]]), np.array([[0.5, -0.3, 2.0]])
        x, y = (
            (s[0] - held[f"offset_{side}"]) / held.get(f"scale_{side}", one)
            for s, side in ((v, "v"), (h, "h"))
        )
        energy = -theta[0] @ v[0] + drelu(*par, h[0]).sum() - x @ w @ y
        assert log_joint(rbm, v, h)[0] == pytest.approx(-energy, abs=1e-12)


# rbms ----------------------------------------------------------------------------------------


def of_rbms(path, kind="PBRBM", updates=(10, 2), v_units=(4, 3), n_hidden=5):
    held = {"model_type": kind, "hyperparameters.seed": 1, "parallel_chains": np.zeros((2, 4))}
    made = {}
    for update in updates:
        b, a = RNG.normal(size=v_units), RNG.normal(size=n_hidden)
        w = RNG.normal(size=(*v_units, n_hidden)) / 3
        made[update] = w, b, a
        for name, value in zip(("weight_matrix", "vbias", "hbias"), made[update], strict=True):
            held[f"update_{update}.params.{name}"] = value
            held[f"update_{update}.{name}"] = value
        held |= {f"update_{update}.time": 0.5, f"update_{update}.numpy_rng_arg0": "MT19937"}
    return write(path, **held), made


def test_the_last_update_of_rbms_is_the_model(tmp_path):
    """By its number, 10 after 2, not by its name."""
    path, held = of_rbms(tmp_path / "run.h5")
    rbm, (w, b, a) = rl.load_rbm(path), held[10]
    v = rbm.exact_samples(6, 0)
    states = v.reshape(6, 4, 3)
    x = np.einsum("nsq,sqj->nj", states, w) + a
    wanted = (states * b).sum(axis=(1, 2)) + np.logaddexp(0, x).sum(axis=1)
    np.testing.assert_allclose(rbm.log_density(v), wanted, atol=1e-12)


@pytest.mark.parametrize(("kind", "layer"), [("BBRBM", Binary), ("IIRBM", Spin)])
def test_units_of_two_states_of_rbms(tmp_path, kind, layer):
    path, held = of_rbms(tmp_path / "run.h5", kind, [3], (6,))
    rbm = rl.load_rbm(path)
    assert type(rbm.visible) is type(rbm.hidden) is layer
    np.testing.assert_array_equal(rbm.weights, held[3][0])


@pytest.mark.parametrize(("kind", "layer"), [("BGRBM", Binary), ("IGRBM", Spin)])
def test_real_hidden_units_of_rbms(tmp_path, kind, layer):
    """log p*(v) = v b + sum (v W + a)^2 / (2 n_visible) + n_hidden / 2 log(2 pi / n_visible)."""
    path, held = of_rbms(tmp_path / "run.h5", kind, [3], (6,))
    rbm, (w, b, a) = rl.load_rbm(path), held[3]
    assert type(rbm.visible) is layer
    v = np.array([[1.0, 1, 0, 0, 1, 0], [0, 1, 1, 1, 0, 0]])
    v = v if layer is Binary else 2 * v - 1
    wanted = v @ b + ((v @ w + a) ** 2).sum(axis=1) / 12 + len(a) / 2 * np.log(2 * np.pi / 6)
    np.testing.assert_allclose(rbm.log_density(v), wanted, atol=1e-12)


# others --------------------------------------------------------------------------------------


def test_plain_arrays_are_told_by_their_names(tmp_path):
    w, b, a = RNG.normal(size=(4, 4)), RNG.normal(size=4), RNG.normal(size=4)
    path = write(tmp_path / "m.h5", W=w, vbias=b, hbias=a)
    with pytest.raises(ValueError, match=r"m\.h5: weights is square.*layout='visible_hidden'"):
        rl.load_rbm(path)
    rbm = rl.load_rbm(path, layout="hidden_visible")
    np.testing.assert_array_equal(rbm.weights, w.T)


THETA, W = ("Binary", np.zeros((1, 4))), np.zeros((4, 3))
REFUSED = {
    "layer": (
        {"hidden": ("ReLU", np.zeros((2, 3)))},
        r"m\.h5: hidden_type is 'ReLU', a kind that rbmlib does not have: expected one of Binary,",
    ),
    "parameters": (
        {"hidden": ("dReLU", np.zeros((2, 3)))},
        r"hidden_par has shape \(3, 2\): expected \(units, 4\) of dReLU",
    ),
    "weights": (
        {"hidden": ("Spin", np.zeros((1, 5)))},
        r"weights has shape \(4, 3\): expected \(4, 5\)",
    ),
    "model": (
        {"hidden": ("Spin", np.zeros((1, 3))), "rbm_type": "Other"},
        "rbm_type is 'Other', a kind that rbmlib does not have: expected one of RBM, CenteredRBM",
    ),
    "improper": (
        {"visible": ("Gaussian", np.ones((2, 4))), "hidden": ("Gaussian", np.ones((2, 3)))},
        r"weights has a largest singular value of",
    ),
}


@pytest.mark.parametrize(("change", "words"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_model_here_is_named(tmp_path, change, words):
    held = {"visible": THETA, "weights": W + 2 * ("improper" in str(change)) + 2.0, **change}
    rbm_type = held.pop("rbm_type", "RBM")
    path = tmp_path / "m.h5"
    with h5py.File(julia(path, **held), "a") as file:
        file["rbm_type"][()] = rbm_type
    with pytest.raises(ValueError, match=words):
        rl.load_rbm(path)


def test_damaged_and_foreign_files_are_named(tmp_path, monkeypatch):
    path, _ = of_rbms(tmp_path / "run.h5", "XXRBM", [1], (4,))
    with pytest.raises(ValueError, match=r"run\.h5: model_type is 'XXRBM', a kind .* of BBRBM"):
        rl.load_rbm(path)
    path, _ = of_rbms(path, "BBRBM", [1])
    with h5py.File(path, "a") as file:
        del file["update_1/params/hbias"]
    with pytest.raises(ValueError, match="it holds no 'hbias', but vbias, weight_matrix"):
        rl.load_rbm(path)
    path.write_bytes(path.read_bytes()[:600])
    with pytest.raises(ValueError, match=r"cannot read run\.h5: the file is damaged, or not HDF5"):
        rl.load_rbm(path)
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(ValueError, match=r"pip install h5py, or rbmlib\[hdf5\]"):
        rl.load_rbm(path)


UPDATE = "update_1/params/"
CHANGES = {  # of a file of rbms, after which it is none
    "a number for a group": {"update_1": 3.0}, "no group": {"update_3": 1.0},
    "a word for numbers": {f"{UPDATE}hbias": "x"},
    "a word for weights": {f"{UPDATE}weight_matrix": "x"},
    "numbers for a word": {"model_type": np.ones(2)}, "nothing": {"model_type": h5py.Empty("f")},
    "one axis less": {f"{UPDATE}vbias": np.zeros(12), f"{UPDATE}weight_matrix": np.zeros((12, 5))},
}  # fmt: skip


@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES)
def test_files_of_other_shapes_are_refused_by_name(tmp_path, changes):
    path, _ = of_rbms(tmp_path / "run.h5", updates=[1])
    with h5py.File(path, "a") as file:
        for name, value in changes.items():
            if name in file:
                del file[name]
            file[name] = value
    with pytest.raises(ValueError, match=r"run\.h5"):
        rl.load_rbm(path)


def test_damaged_bytes_are_a_value_error(tmp_path):
    """Whatever byte it is: HDF5 itself fails in many ways."""
    written = julia(tmp_path / "m.h5", THETA, ("Spin", np.zeros((1, 3))), W).read_bytes()
    rng = np.random.default_rng(0)
    for place in rng.integers(0, len(written), 150):
        content = bytearray(written)
        content[place] ^= int(rng.integers(1, 256))
        (tmp_path / "m.h5").write_bytes(content)
        with contextlib.suppress(ValueError):
            rl.load_rbm(tmp_path / "m.h5")


def test_normal_units_have_a_closed_form(tmp_path):
    par = np.stack([RNG.normal(size=4), np.ones(4)])
    path = julia(tmp_path / "m.h5", ("Gaussian", par), ("Binary", np.zeros((1, 3))), 0 * W)
    rbm = rl.load_rbm(path)
    assert type(rbm.visible) is Gaussian
    assert rbm.log_z == pytest.approx((par[0] @ par[0] + 4 * np.log(2 * np.pi)) / 2 + 3 * np.log(2))
