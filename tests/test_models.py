"""Models: files, those of other programs, test systems, the same model written otherwise."""

import contextlib
import dataclasses
import functools
import itertools
import pickle
import re
import sys
import types
import zipfile

import numpy as np
import pytest
from helpers_models import log_joint, same_model
from helpers_stats import log_sum, rbm_table
from scipy.io import savemat

import rbmlib as rl
from rbmlib import RBM, BernoulliRBM, Binary, DoubleReLU, Gaussian, Potts, Spin
from rbmlib.models.layers import KINDS

h5py = pytest.importorskip("h5py", reason="needs h5py")

RNG = np.random.default_rng(5)
W, B, A = RNG.normal(size=(5, 3)), RNG.normal(size=5), RNG.normal(size=3)
SQUARE, C = RNG.normal(size=(4, 4)), RNG.normal(size=4)
MINE = BernoulliRBM(W, B, A)
LOADS = (BernoulliRBM.load, rl.load_rbm)


def write(path, **arrays):
    savemat(path, arrays) if path.suffix == ".mat" else np.savez(path, **arrays)
    return path


class Fitted:
    """The parts of a fitted BernoulliRBM of scikit-learn; rows are hidden units."""

    components_, intercept_visible_, intercept_hidden_ = W.T, B, A


Fitted.__name__, Fitted.__module__ = "BernoulliRBM", "sklearn.neural_network._rbm"


class Tensor:
    """What a tensor that is on a device and has a gradient lets others do."""

    def __init__(self, array, ready=()):
        self.array, self.ready = np.asarray(array), ready

    def __array__(self, *_, **__):
        raise RuntimeError("detach it first")

    def detach(self):
        return Tensor(self.array, {"detached"})

    def cpu(self):
        return Tensor(self.array, {*self.ready, "here"})

    def numpy(self):
        assert {"detached", "here"} <= set(self.ready)
        return self.array


# where an RBM is expected -------------------------------------------------------------------

EXPECTED = {
    "log_z": lambda rbm: rl.log_z(rbm, rng=0).log_z,
    "exact": lambda rbm: rl.exact(rbm).log_z,
    "path": lambda rbm: rl.GeometricPath(rbm).rbm.weights.tolist(),
    "tap": lambda rbm: rl.tap(rbm, n_starts=3).log_z,
    "base": lambda rbm: rl.mean_field_bias(rbm).tolist(),
    "start": lambda rbm: rl.train(
        np.eye(5), 3, start=rbm, n_updates=1, batch_size=5, rng=0
    ).rbm.weights.tolist(),
}  # fmt: skip


@pytest.mark.parametrize("call", EXPECTED.values(), ids=EXPECTED.keys())
@pytest.mark.filterwarnings("ignore::rbmlib.ConvergenceWarning")
def test_a_model_of_scikit_learn_is_taken_where_an_rbm_is_expected(call):
    assert call(Fitted()) == call(MINE)


class Unfitted:
    n_components = 3


Unfitted.__name__ = "BernoulliRBM"


class Softmax(Fitted):
    """What a subclass calls its units, no attribute says."""


@pytest.mark.parametrize("call", EXPECTED.values(), ids=EXPECTED.keys())
def test_what_stands_for_an_rbm_is_refused_with_the_way_to_one(call):
    trained = rl.train(np.eye(5), 3, n_updates=1, batch_size=5, rng=0)
    ways = r"rl\.load_rbm reads one.*rl\.from_state_dict\(state\).*has one as \.rbm"
    for value, kind, words in (
        (trained, TypeError, f"is a TrainingResult.*{ways}"),
        ({"W": W}, TypeError, ways),
        ("pcd_20", TypeError, ways),
        (Unfitted(), ValueError, r"call model\.fit\(data\)"),
        (Softmax(), ValueError, r"is a test_models\.Softmax, whose units may not be 0 and 1"),
    ):
        with pytest.raises(kind, match=words):
            call(value)


def test_likelihoods_of_other_models():
    states = np.eye(5)
    expected = rl.log_likelihood(MINE, states, rl.exact(MINE))
    np.testing.assert_array_equal(rl.log_likelihood(Fitted(), states, rl.exact(MINE)), expected)
    doubtful = dataclasses.replace(rl.exact(MINE), verdict="inconclusive")
    with pytest.warns(rl.ConvergenceWarning, match="log_z comes from an estimate whose checks"):
        np.testing.assert_array_equal(rl.log_likelihood(MINE, states, doubtful), expected)


def test_estimates_of_another_model_are_refused():
    found = rl.log_likelihood(SPINS, SIGNS, rl.log_z(SPINS, rng=0))
    for log_z in (rl.exact(SPINS.to_bits()), rl.Estimate.from_dict(rl.exact(SPINS).to_dict())):
        np.testing.assert_array_equal(rl.log_likelihood(SPINS, SIGNS, log_z), found)
    run = rl.ais(rl.GeometricPath(MINE), rl.schedules.linear(50), 200, rng=0)
    assert rl.log_likelihood(MINE, np.eye(5), run).shape == (5,)
    others = [BernoulliRBM(W, B, A + 1e-9), BernoulliRBM(W, B, A, log_scale=1.0)]
    for other in (*others, rl.RBM(rl.Spin(B), rl.Binary(A), W)):
        for log_z in (rl.exact(other), rl.log_z(other, n_steps=20, rng=0, enumerate_small=False)):
            with pytest.raises(ValueError, match=r"log_z is of another model \(5 x 3, units"):
                rl.log_likelihood(MINE, np.eye(5), log_z)


@pytest.mark.filterwarnings("error::rbmlib.ConvergenceWarning")
def test_rows_that_have_more_than_all_of_the_probability_are_told():
    every = (np.arange(32)[:, None] >> np.arange(5)) & 1
    few, z = every[:8].repeat(40, axis=0), rl.exact(MINE).log_z
    of_few = np.logaddexp.reduce(rl.log_likelihood(MINE, every[:8], z))
    for log_z in (z, z + of_few + 1e-3, dataclasses.replace(rl.exact(MINE), std_error=0.1)):
        assert rl.log_likelihood(MINE, few, log_z).max() < 0
    rl.log_likelihood(MINE, every, rl.exact(MINE))
    doubtful = dataclasses.replace(rl.exact(MINE), log_z=z + of_few - 0.2, std_error=0.1)
    rl.log_likelihood(MINE, few, doubtful)
    for low in (z + of_few - 1e-3, dataclasses.replace(doubtful, log_z=z + of_few - 0.6)):
        with pytest.warns(rl.ConvergenceWarning, match="these rows alone have .* too high, by"):
            rl.log_likelihood(MINE, few, low)


# state dicts --------------------------------------------------------------------------------

VISIBLE = ["v_bias", "vbias", "visible_bias", "bv", "bias_v", "visbias", "visible.bias", "vb"]
HIDDEN = ["h_bias", "hbias", "hidden_bias", "bh", "bias_h", "hidbias", "hidden.bias", "hb"]


@pytest.mark.parametrize(
    ("weights", "visible", "hidden"),
    [
        *itertools.product(["W"], VISIBLE[:2], HIDDEN),
        *zip(["weight", "weights", "w", "W", "W", "W", "W", "W"], VISIBLE, HIDDEN, strict=True),
        ("weights:0", "visible_bias:0", "hidden_bias:0"),
        ("vishid", "visbiases", "hidbiases"),
        ("components_", "intercept_visible_", "intercept_hidden_"),
        ("parameter_W", "parameter_b", "parameter_a"),
    ],
)
@pytest.mark.parametrize("prefix", ["", "rbm.", "module.rbm."])
def test_parts_are_told_by_their_names(weights, visible, hidden, prefix):
    for w, order in itertools.product((W, W.T), ((0, 1, 2), (2, 1, 0))):
        parts = [(weights, w), (visible, B[None, :]), (hidden, A[:, None])]
        state = {f"{prefix}{parts[i][0]}": Tensor(parts[i][1]) for i in order}
        layout = "visible_hidden" if w is W else "hidden_visible"
        assert same_model(rl.from_state_dict(state, layout=layout), MINE)
        if weights in ("vishid", "components_", "parameter_W"):
            continue  # whose layout is known
        assert same_model(rl.from_state_dict(state), MINE)


SPINS = RBM(Spin(B), Spin(A), W)
SIGNS = np.where(RNG.random((20, 5)) < 0.5, -1.0, 1.0)
STATE, SQUARES = {"W": W, "v_bias": B, "h_bias": A}, {"W": SQUARE, "v_bias": C, "h_bias": -C}
OTHER = {"J": W, "alpha": B, "beta": A}
NAMES = {"weights": "J", "visible_bias": "alpha", "hidden_bias": "beta"}
MAT = {"vishid": W, "visbiases": B, "hidbiases": A}
READ = [  # arrays, what the caller says, the model or the error
    (STATE | {"W": W.T}, {}, MINE),
    (STATE | {"W": W.T}, {"layout": "visible_hidden"}, "visible_bias has shape.*transposed"),
    (STATE | {"v_bias": A}, {}, "visible_bias has shape"),
    (SQUARES, {}, r"square.*layout='visible_hidden'.*layout='hidden_visible'"),
    (SQUARES, {"layout": "visible_hidden"}, BernoulliRBM(SQUARE, C, -C)),
    (SQUARES, {"layout": "hidden_visible"}, BernoulliRBM(SQUARE.T, C, -C)),
    ({"components_": SQUARE, "intercept_visible_": C, "intercept_hidden_": -C}, {},
     BernoulliRBM(SQUARE.T, C, -C)),
    ({"vishid": SQUARE, "visbiases": C, "hidbiases": -C}, {}, BernoulliRBM(SQUARE, C, -C)),
    ({"vishid": SQUARE, "visbiases": C, "hidbiases": -C}, {"layout": "hidden_visible"},
     BernoulliRBM(SQUARE.T, C, -C)),
    # units
    (STATE, {"units": "spins"}, SPINS),
    (STATE | {"units": "spins"}, {}, SPINS),
    (STATE | {"units": "spins"}, {"units": "bits"}, MINE),
    # names
    (OTHER | {"sigma": 1.0}, {"names": NAMES}, MINE),
    (OTHER, {}, "holds 'J', 'alpha', 'beta' .not identified by name: weights, visible_bias"),
    (OTHER, {"names": NAMES | {"weights": "K"}}, "names is .*'K'.* different key.* holds 'J'"),
    (OTHER, {"names": {"weights": "J"}}, "names is .*: expected weights, visible_bias"),
    (OTHER, {"names": NAMES | {"visible_bias": "beta"}}, "a different key"),
    (OTHER, {"names": "J"}, "names is .'J': "),
    ({"W": W, "a": B, "b": A}, {}, "not identified by name: visible_bias, hidden_bias.: expected"),
    ({"W": W, "b": B, "c": A}, {}, "--names weights=W,visible_bias=b,hidden_bias=c"),
    ({"W": W, "v_bias": B, "sigma": B}, {}, "by name: hidden_bias.*'hidden_bias': '...'"),
    ({"0.W": W, "1.W": W, "0.v_bias": B, "0.h_bias": A}, {}, "by name: weights.: expected"),
    # what files of known programs hold of another model, whose log Z is another
    (MAT | {"labhid": W[:3], "labbiases": A}, {}, "'labhid'.*belong to another model"),
    (MAT | {"hidpen": W[:3], "penbiases": A}, {}, "'hidpen'.*belong to another model"),
    (MAT | {"type": "gb"}, {}, "'type'.*belong to another model"),
]  # fmt: skip


@pytest.mark.parametrize(("arrays", "said", "found"), READ)
def test_a_state_dict_and_files_of_other_programs_are_read_alike(tmp_path, arrays, said, found):
    doors = [functools.partial(rl.from_state_dict, arrays)]
    for name in ("m.npz", "m.mat")[: 1 if any("." in key for key in arrays) else 2]:
        doors.append(functools.partial(rl.load_rbm, write(tmp_path / name, **arrays)))
    for door in doors:
        if isinstance(found, RBM):
            assert same_model(door(**said), found)
        else:
            with pytest.raises(ValueError, match=found):
                door(**said)


def test_a_class_reads_its_own_kind_alone(tmp_path):
    path = write(tmp_path / "m.npz", **STATE)
    assert same_model(RBM.load(path, units="spins"), SPINS)
    assert same_model(BernoulliRBM.load(path), MINE)
    with pytest.raises(ValueError, match=r"holds a RBM: expected a BernoulliRBM"):
        BernoulliRBM.load(path, units="spins")
    with pytest.raises(TypeError, match="state is a list"):
        rl.from_state_dict([W, B, A])
    with pytest.raises(ValueError, match=r"state\['model'\] is a dict: expected"):
        rl.from_state_dict({"model": STATE})


@pytest.mark.parametrize("n_hidden", [3, 5])
def test_the_remedy_of_an_error_works(tmp_path, n_hidden):
    """What the message proposes is what the names tell, not the order in the file; copied into
    Python or the command line it loads the right model, square or not."""
    w = RNG.normal(size=(5, n_hidden))
    a = RNG.normal(size=n_hidden)
    path = write(tmp_path / "mnistvh.mat", vishid=w, hidrecbiases=a[None], visbiases=B[None])
    with pytest.raises(ValueError, match="names=") as caught:
        rl.load_rbm(path)
    names = eval(re.search(r"names=(\{.*?\})", str(caught.value))[1])
    layout = {"layout": "visible_hidden"} if n_hidden == 5 else {}
    assert same_model(rl.load_rbm(path, names=names, **layout), BernoulliRBM(w, B, a))
    words = re.search(r"--names (\S+)", str(caught.value))[1]
    assert same_model(rl.load_rbm(path, names=words, **layout), BernoulliRBM(w, B, a))


# files --------------------------------------------------------------------------------------


def test_our_own_files_say_their_layout(tmp_path):
    square, path = BernoulliRBM(SQUARE, C, -C, log_scale=0.5), tmp_path / "ours.npz"
    square.save(path)
    assert same_model(BernoulliRBM.load(path), square)
    assert same_model(rl.load_rbm(path, layout="visible_hidden"), square)
    for other in ({"layout": "hidden_visible"}, {"units": "spins"}):
        with pytest.raises(ValueError, match=r"ours\.npz holds BernoulliRBM.*specifies its layout"):
            rl.load_rbm(path, **other)
    path = path.rename(tmp_path / "OURS.NPZ")  # suffixes are read in any case
    assert same_model(rl.load_rbm(path), square)
    rl.GaussianRBM(W).save(tmp_path / "g.npz")
    with pytest.raises(ValueError, match=r"g\.npz holds GaussianRBM.*no layout, names or units"):
        rl.load_rbm(tmp_path / "g.npz", layout="hidden_visible")


def test_structs_and_files_of_matlab_7_3_are_named(tmp_path):
    path = tmp_path / "m.mat"
    savemat(path, {"rbm": {"W": W.T, "b": B, "c": A, "type": "gb"}})
    with pytest.raises(ValueError, match=r"m\.mat holds 'rbm'.*plain arrays"):
        rl.load_rbm(path)
    path.write_bytes(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + b"\x89HDF\r\n\x1a\n")
    with pytest.raises(ValueError, match=r"m\.mat: matlab v7\.3 files are HDF5; save with '-v7'"):
        rl.load_rbm(path)


# units ------------------------------------------------------------------------------------------


OF_SPINS = {  # data of -1 and +1 beside a model of bits
    "log_z": lambda rows: rl.log_z(MINE, data=rows),
    "base_rate": rl.base_rate,
    "log_likelihood": lambda rows: rl.log_likelihood(MINE, rows, 3.0),
    "log_density": MINE.log_density,
    "hidden_mean": MINE.hidden_mean,
    "train": lambda rows: rl.train(rows, 3, batch_size=5),
}  # fmt: skip


@pytest.mark.parametrize("call", OF_SPINS.values(), ids=OF_SPINS)
def test_data_of_spins_are_refused_beside_bits(call):
    with pytest.raises(ValueError, match=" holds -1 and \\+1 alone, the states of Spin") as caught:
        call(SIGNS)
    said = str(caught.value)
    for line in ("rl.RBM(rl.Spin(visible_bias), rl.Spin(hidden_bias), weights)",
                 "rl.from_state_dict(state, units='spins')", "--units spins"):  # fmt: skip
        assert line in said
    assert "binarise" not in said
    assert "threshold" not in said


@pytest.mark.parametrize(("suffix", "program"), [(".pt", "torch"), (".pkl", "joblib")])
def test_files_that_could_execute_code_are_refused_with_the_line_that_converts(
    tmp_path, monkeypatch, suffix, program
):
    path = tmp_path / f"m{suffix}"
    path.write_bytes(b"anything")
    state = {"W": W, "vbias": B, "hbias": A} if program == "torch" else Fitted()
    reader = types.SimpleNamespace(load=lambda name, **_: state if name == str(path) else None)
    monkeypatch.setitem(sys.modules, program, reader)
    units = {"units": "spins"} if program == "torch" else {}
    for load in LOADS:
        with pytest.raises(ValueError, match="convert it once") as caught:
            load(path, **units)
    line = str(caught.value).partition("such as ")[2]
    assert ("weights_only=True" in line) == (program == "torch")
    exec(line, {})
    assert same_model(rl.load_rbm(tmp_path / "m.npz"), SPINS if units else MINE)


# HDF5 of RestrictedBoltzmannMachines.jl: Julia's axes, the parameters of a unit first ----------


def write_hdf5(path, **held):
    """Names with dots are in groups."""
    with h5py.File(path, "w") as file:
        for name, value in held.items():
            file[name.replace(".", "/")] = value
    return path


def julia(path, visible, hidden, weights, **more):
    """``visible`` and ``hidden``: the kind, and parameters (n_parameters, *units), Julia's way;
    weights (*visible units, *hidden units)."""
    return write_hdf5(
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
    v = (RNG.random((4, 3, 9)) < 0.5).astype(float)  # of that program: the last axis is of rows
    x = np.einsum("ijn,ijk->nk", v, w) + par[0]
    wanted = np.einsum("ijn,ij->n", v, image[0]) + (x**2).sum(axis=1) / 2 + np.log(2 * np.pi)
    np.testing.assert_allclose(rbm.log_density(v.T.reshape(9, 12)), wanted, atol=1e-12)
    flat = julia(tmp_path / "n.h5", ("Gaussian", par), ("Binary", np.zeros((1, 3))), FLAT[:2])
    closed = (par[0] @ par[0] + 2 * np.log(2 * np.pi)) / 2 + 3 * np.log(2)
    assert type(rl.load_rbm(flat).visible) is Gaussian
    assert rl.load_rbm(flat).log_z == pytest.approx(closed)


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
    return write_hdf5(path, **held), made


def test_the_last_update_of_rbms_is_the_model(tmp_path):
    path, held = of_rbms(tmp_path / "run.h5")
    rbm, (w, b, a) = rl.load_rbm(path), held[10]
    v = rbm.exact_samples(6, 0)
    states = v.reshape(6, 4, 3)
    x = np.einsum("nsq,sqj->nj", states, w) + a
    wanted = (states * b).sum(axis=(1, 2)) + np.logaddexp(0, x).sum(axis=1)
    np.testing.assert_allclose(rbm.log_density(v), wanted, atol=1e-12)


@pytest.mark.parametrize(
    ("kind", "layer"), [("BBRBM", Binary), ("IIRBM", Spin), ("BGRBM", Binary), ("IGRBM", Spin)]
)
def test_kinds_of_rbms(tmp_path, kind, layer):
    """Real hidden units: v b + sum (v W + a)^2 / (2 n_visible) + n_hidden / 2 log(2 pi / n)."""
    path, held = of_rbms(tmp_path / "run.h5", kind, [3], (6,))
    rbm, (w, b, a) = rl.load_rbm(path), held[3]
    assert type(rbm.visible) is layer
    if "G" not in kind:
        assert type(rbm.hidden) is layer
        np.testing.assert_array_equal(rbm.weights, w)
        return
    v = np.array([[1.0, 1, 0, 0, 1, 0], [0, 1, 1, 1, 0, 0]])
    v = v if layer is Binary else 2 * v - 1
    wanted = v @ b + ((v @ w + a) ** 2).sum(axis=1) / 12 + len(a) / 2 * np.log(2 * np.pi / 6)
    np.testing.assert_allclose(rbm.log_density(v), wanted, atol=1e-12)


# HDF5 that is no model -------------------------------------------------------------------------


THETA, FLAT = ("Binary", np.zeros((1, 4))), np.zeros((4, 3))
UPDATE = "update_1/params/"
NO_MODEL = [  # hidden units or the kind of a Julia file; then changes of a file of rbms
    (("ReLU", np.zeros((2, 3))), r"m\.h5: hidden_type is 'ReLU', a kind .* expected one of B"),
    (("dReLU", np.zeros((2, 3))), r"hidden_par has shape \(3, 2\): expected \(units, 4\) of dReLU"),
    (("Spin", np.zeros((1, 5))), r"weights has shape \(4, 3\): expected \(4, 5\)"),
    ("Other", "rbm_type is 'Other', a kind .* not have: expected one of RBM, CenteredRBM"),
    ({"model_type": "XXRBM"}, r"run\.h5: model_type is 'XXRBM', a kind .* of BBRBM"),
    ({f"{UPDATE}hbias": None}, "it holds no 'hbias', but vbias, weight_matrix"),
    ({"update_1": 3.0}, r"run\.h5"),
    ({f"{UPDATE}vbias": np.zeros(12), f"{UPDATE}weight_matrix": np.zeros((12, 5))}, r"run\.h5"),
]


@pytest.mark.parametrize(("change", "words"), NO_MODEL)
def test_what_is_no_model_here_is_named(tmp_path, change, words):
    if isinstance(change, dict):
        path, _ = of_rbms(tmp_path / "run.h5", updates=[1])
    else:
        hidden = ("Spin", np.zeros((1, 3))) if change == "Other" else change
        path = julia(tmp_path / "m.h5", THETA, hidden, FLAT)
        change = {"rbm_type": "Other"} if change == "Other" else {}
    with h5py.File(path, "a") as file:
        for name, value in change.items():
            if name in file:
                del file[name]
            if value is not None:
                file[name] = value
    with pytest.raises(ValueError, match=words):
        rl.load_rbm(path)


def test_damaged_files_are_a_value_error(tmp_path, monkeypatch):
    path = julia(tmp_path / "m.h5", THETA, ("Spin", np.zeros((1, 3))), FLAT)
    written, rng = path.read_bytes(), np.random.default_rng(0)
    for place in rng.integers(0, len(written), 150):
        content = bytearray(written)
        content[place] ^= int(rng.integers(1, 256))
        path.write_bytes(content)
        with contextlib.suppress(ValueError):
            rl.load_rbm(path)
    path.write_bytes(written[:600])
    with pytest.raises(ValueError, match=r"cannot read m\.h5: the file is damaged, or not HDF5"):
        rl.load_rbm(path)
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(ValueError, match=r"pip install h5py, or rbmlib\[hdf5\]"):
        rl.load_rbm(path)


def test_densities_do_not_overflow():
    rbm = BernoulliRBM([[800.0], [-900.0]], [0.0, 0.0], [0.0])
    np.testing.assert_allclose(rbm.log_density([[1, 0], [0, 1], [0, 0]]), [800, 0, np.log(2)])


def test_parameters_cannot_change_behind_the_models_back():
    w = W.copy()
    rbm = BernoulliRBM(w, B, A)
    w[0, 0] += 1
    assert rbm.weights[0, 0] == W[0, 0]
    with pytest.raises(ValueError, match="read-only"):
        rbm.weights[0, 0] = 0


def test_from_sklearn_agrees_with_its_own_means():
    network = pytest.importorskip("sklearn.neural_network", reason="needs scikit-learn")
    rng = np.random.default_rng(0)
    data = (rng.random((60, 6)) < [0.9, 0.1, 0.5, 0.7, 0.2, 0.5]).astype(float)
    model = network.BernoulliRBM(n_components=4, learning_rate=0.5, n_iter=20, random_state=0)
    model.fit(data)
    rbm = BernoulliRBM.from_sklearn(model)
    assert (rbm.n_visible, rbm.n_hidden) == (6, 4)
    assert np.abs(rbm.weights).max() > 0.3, "the fit should have learned something"
    np.testing.assert_allclose(rbm.hidden_mean(data), model.transform(data), rtol=1e-12)
    np.testing.assert_array_equal(rbm.visible_bias, model.intercept_visible_)
    assert rl.log_z(model).log_z == rl.exact(rbm).log_z


def test_npz_round_trip_is_exact_and_its_bytes_are_fixed(tmp_path):
    rbm = BernoulliRBM(W, B, A, log_scale=-0.1)
    rbm.save(tmp_path / "one.npz")
    rbm.save(str(tmp_path / "two.npz"))
    assert same_model(BernoulliRBM.load(tmp_path / "one.npz"), rbm)
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    with zipfile.ZipFile(tmp_path / "one.npz") as archive:
        assert {info.date_time[0] for info in archive.infolist()} == {1980}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.npz", "two.npz"]
    rbm.save(tmp_path / "one.npz", dtype=np.float32)
    loaded = BernoulliRBM.load(tmp_path / "one.npz")
    np.testing.assert_array_equal(loaded.weights, W.astype(np.float32))


class Bomb:
    """Unpickling this raises the alarm."""

    def __reduce__(self):
        return (pytest.fail, ("a pickle in a model file was executed",))


def test_pickles_are_refused(tmp_path):
    objects = np.array([Bomb()], dtype=object)
    np.savez(tmp_path / "objects.npz", weights=objects, visible_bias=B, hidden_bias=A)
    (tmp_path / "plain.npz").write_bytes(pickle.dumps(Bomb()))
    for name in ("objects.npz", "plain.npz"):
        with pytest.raises(ValueError, match=f"cannot read {name}: .* more than arrays") as caught:
            BernoulliRBM.load(tmp_path / name)
        assert "pickle" not in str(caught.value)


def test_a_kind_that_no_class_here_is_is_refused_by_name(tmp_path):
    class Thirds(rl.Binary):
        """Of a user."""

    path = tmp_path / "m.npz"
    rl.RBM(Binary(np.zeros(3)), Thirds(np.ones(2)), np.ones((3, 2))).save(path)
    assert type(rl.load_rbm(path).hidden) is Thirds
    del KINDS["Thirds"]  # as in another process
    for load in (*LOADS, RBM.load):
        with pytest.raises(ValueError, match=r"m\.npz: hidden_layer is 'Thirds'.*import the mod"):
            load(path)


def test_files_of_earlier_versions_are_read(tmp_path):
    w, b, a = np.diag([0.5, 0.25, 0.0])[:, :2], np.ones(3), np.zeros(2)
    arrays = {"weights": w, "visible_bias": b, "hidden_bias": a, "log_scale": 1.5}
    path = tmp_path / "m.npz"
    for mark, kind in (({}, "BernoulliRBM"), ({"leakiness": 0.25}, "LeakyRBM")):
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


def b(n):
    return DRAWN.normal(size=n)


def test_the_rates_of_data_are_those_of_the_layer():
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


@pytest.mark.parametrize(("shape", "bound"), [((7, 4), 0.9999), ((4, 7), 0.5), ((6, 1), 0.5)])
def test_projection_is_the_nearest_point(shape, bound):
    """Of a convex set: <W - P, X - P> <= 0 for every X in it, and only for the nearest P."""
    w = 3 * DRAWN.normal(size=shape)
    nearest = rl.project_weights(w, bound)
    assert np.linalg.norm(nearest, 2) <= bound * (1 + 1e-12)
    for _ in range(200):
        x = DRAWN.normal(size=shape)
        x *= bound * DRAWN.random() / np.linalg.norm(x, 2)
        np.testing.assert_array_equal(rl.project_weights(x, bound), x)
        assert ((w - nearest) * (x - nearest)).sum() <= 1e-12
