"""Models of other programs: scikit-learn's objects, state dicts of PyTorch, their files."""

import dataclasses
import itertools
import re
import sys
import types

import numpy as np
import pytest
from scipy.io import savemat

import rbmlib as rl
from rbmlib import BernoulliRBM

RNG = np.random.default_rng(5)
W, B, A = RNG.normal(size=(5, 3)), RNG.normal(size=5), RNG.normal(size=3)
SQUARE, C = RNG.normal(size=(4, 4)), RNG.normal(size=4)
MINE = BernoulliRBM(W, B, A)


class Fitted:
    """The parts of a fitted BernoulliRBM of scikit-learn; rows are hidden units."""

    components_, intercept_visible_, intercept_hidden_ = W.T, B, A


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


def same(one, two) -> bool:
    names = ("weights", "visible_bias", "hidden_bias", "log_scale")
    return all(np.array_equal(getattr(one, name), getattr(two, name)) for name in names)


# where an RBM is expected -------------------------------------------------------------------

EXPECTED = {
    "log_z": lambda rbm: rl.log_z(rbm, rng=0).log_z,
    "estimated": lambda rbm: rl.log_z(rbm, n_steps=50, rng=0, enumerate_small=False).log_z,
    "exact": lambda rbm: rl.exact(rbm).log_z,
    "samples": lambda rbm: rl.exact_samples(rbm, 3, rng=0).tolist(),
    "path": lambda rbm: rl.GeometricPath(rbm).rbm.weights.tolist(),
    "moments": lambda rbm: rl.MomentAveragingPath(rbm, n_knots=3, rng=0).rbm.weights.tolist(),
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


class Module:
    def state_dict(self):
        return {}


@pytest.mark.parametrize("call", EXPECTED.values(), ids=EXPECTED.keys())
def test_what_stands_for_an_rbm_is_refused_with_the_way_to_one(call):
    trained = rl.train(np.eye(5), 3, n_updates=1, batch_size=5, rng=0)
    for value, kind, words in (
        (trained, TypeError, r"is a TrainingResult.*pass its model, \.rbm"),
        ({"W": W}, TypeError, r"from_state_dict\(state\)"),
        (Module(), TypeError, r"from_state_dict\(module\.state_dict\(\)\)"),
        ("pcd_20", TypeError, "rl.load_rbm reads one"),
        (Unfitted(), ValueError, r"call model\.fit\(data\)"),
        (3, TypeError, "is a int: expected a BernoulliRBM"),
    ):
        with pytest.raises(kind, match=words):
            call(value)


def test_likelihoods_of_other_models():
    states = np.eye(5)
    expected = rl.log_likelihood(MINE, states, rl.exact(MINE))
    np.testing.assert_array_equal(rl.log_likelihood(Fitted(), states, rl.exact(MINE)), expected)
    doubtful = dataclasses.replace(rl.exact(MINE), converged=False)
    with pytest.warns(rl.ConvergenceWarning, match="log_z comes from an estimate whose checks"):
        np.testing.assert_array_equal(rl.log_likelihood(MINE, states, doubtful), expected)
    with pytest.raises(TypeError, match=r"pass its model, \.rbm"):
        rl.log_likelihood(rl.train(states, 3, n_updates=1, batch_size=5, rng=0), states, 0.0)


def test_scikit_learn_itself():
    network = pytest.importorskip("sklearn.neural_network", reason="needs scikit-learn")
    model = network.BernoulliRBM(n_components=3, n_iter=5, random_state=0)
    with pytest.raises(ValueError, match=r"call model\.fit"):
        rl.log_z(model)
    model.fit((RNG.random((30, 6)) < 0.4).astype(float))
    assert rl.log_z(model).log_z == rl.exact(BernoulliRBM.from_sklearn(model)).log_z


# state dicts --------------------------------------------------------------------------------

VISIBLE = ["v_bias", "vbias", "visible_bias", "bv", "bias_v", "visbias", "visible.bias", "vb"]
HIDDEN = ["h_bias", "hbias", "hidden_bias", "bh", "bias_h", "hidbias", "hidden.bias", "hb"]


@pytest.mark.parametrize(
    ("weights", "visible", "hidden"),
    [
        *itertools.product(["W"], VISIBLE[:2], HIDDEN),
        *zip(["weight", "weights", "w", "W", "W", "W", "W", "W"], VISIBLE, HIDDEN, strict=True),
        ("W", "b", "c"),
        ("fc.weight", "v_bias", "fc.bias"),
        ("weight", "bias", "h_bias"),
        ("W", "a", "h_bias"),
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
        assert same(BernoulliRBM.from_state_dict(state, layout=layout), MINE)
        if weights in ("vishid", "components_", "parameter_W"):
            continue  # whose layout is known
        assert same(BernoulliRBM.from_state_dict(state), MINE)


def test_square_weights_are_not_guessed():
    state = {"W": SQUARE, "v_bias": C, "h_bias": -C}
    with pytest.raises(ValueError, match=r"square.*layout='visible_hidden'.*'hidden_visible'"):
        BernoulliRBM.from_state_dict(state)
    for layout, expected in (("visible_hidden", SQUARE), ("hidden_visible", SQUARE.T)):
        rbm = BernoulliRBM.from_state_dict(state, layout=layout)
        np.testing.assert_array_equal(rbm.weights, expected)
    known = {"components_": SQUARE, "intercept_visible_": C, "intercept_hidden_": C}
    np.testing.assert_array_equal(BernoulliRBM.from_state_dict(known).weights, SQUARE.T)


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({"W": W, "a": B, "b": A}, "'a' and 'b' could be either bias.*names="),
        ({"W": W, "v_bias": B}, "'W', 'v_bias': no hidden_bias"),
        ({"W": W, "v_bias": B, "h_bias": A, "sigma": B}, "'sigma' unknown"),
        ({"W": W, "weight": W, "v_bias": B, "h_bias": A}, "'W' and 'weight' could be weights"),
        ({"0.W": W, "1.W": W, "0.v_bias": B, "0.h_bias": A}, "'0.W' and '1.W' could be"),
        ({"J": W, "alpha": B, "beta": A}, "state holds no RBM, but 'J', 'alpha', 'beta'"),
        ({}, "state holds no RBM, but nothing"),
        ({"model": {"W": W}}, r"a dict under 'model'.*state\['model'\]"),
        ({"W": W, "v_bias": A, "h_bias": A}, "visible_bias has shape"),
        ({"W": "x", "v_bias": B, "h_bias": A}, "W is not an array"),
        ({"W": W * np.nan, "v_bias": B, "h_bias": A}, "weights holds 15 NaN"),
    ],
)
def test_states_that_leave_something_open_are_refused(state, words):
    with pytest.raises(ValueError, match=words):
        BernoulliRBM.from_state_dict(state)


def test_names_say_which_is_which():
    state = {"J": W, "alpha": B, "beta": A, "sigma": None}
    names = {"weights": "J", "visible_bias": "alpha", "hidden_bias": "beta"}
    assert same(BernoulliRBM.from_state_dict(state, names=names), MINE)
    for wrong, words in (
        (
            names | {"weights": "K"},
            "names is .*'K'.* different keys of state, which holds 'J'",
        ),
        ({"weights": "J"}, "names is .*: expected a dict of weights, visible_bias"),
        (names | {"visible_bias": "beta"}, "three different keys"),
        ("J", "names is 'J'"),
    ):
        with pytest.raises(ValueError, match=words):
            BernoulliRBM.from_state_dict(state, names=wrong)
    with pytest.raises(ValueError, match="layout is 'rows'"):
        BernoulliRBM.from_state_dict(state, names=names, layout="rows")
    with pytest.raises(TypeError, match="state is a list"):
        BernoulliRBM.from_state_dict([W, B, A])


def test_the_remedy_of_an_error_works():
    """What the message proposes, with two names put right, is taken."""
    state = {"W": W, "a": B, "b": A}
    with pytest.raises(ValueError, match="names=") as caught:
        BernoulliRBM.from_state_dict(state)
    names = eval(re.search(r"names=(\{.*?\})", str(caught.value))[1])
    assert same(BernoulliRBM.from_state_dict(state, names=names), MINE)


# files --------------------------------------------------------------------------------------


def write(path, **arrays):
    savemat(path, arrays) if path.suffix == ".mat" else np.savez(path, **arrays)
    return path


@pytest.mark.parametrize("kind", [".npz", ".mat"])
def test_files_of_other_programs(tmp_path, kind):
    path = write(tmp_path / f"m{kind}", W=W.T, v_bias=B, h_bias=A)
    for load in (BernoulliRBM.load, rl.load_rbm):
        assert same(load(path), MINE)
        with pytest.raises(ValueError, match=rf"m\{kind}: .*transposed"):
            load(path, layout="visible_hidden")
    path = write(tmp_path / f"j{kind}", J=W, alpha=B, beta=A)
    names = {"weights": "J", "visible_bias": "alpha", "hidden_bias": "beta"}
    for load in (BernoulliRBM.load, rl.load_rbm):
        assert same(load(path, names=names), MINE)
        with pytest.raises(ValueError, match=rf"j\{kind} holds no RBM, but 'J', 'alpha', 'beta'"):
            load(path)


@pytest.mark.parametrize("kind", [".npz", ".mat"])
def test_a_square_matrix_in_a_file_is_not_guessed(tmp_path, kind):
    path = write(tmp_path / f"m{kind}", W=SQUARE, v_bias=C, h_bias=C)
    for load in (BernoulliRBM.load, rl.load_rbm):
        with pytest.raises(ValueError, match=rf"m\{kind}: .*square.*layout='visible_hidden'"):
            load(path)
        rbm = load(path, layout="hidden_visible")
        np.testing.assert_array_equal(rbm.weights, SQUARE.T)


def test_square_files_of_known_programs_still_load(tmp_path):
    square = BernoulliRBM(SQUARE, C, -C, log_scale=0.5)
    square.save(tmp_path / "ours.npz")
    assert same(BernoulliRBM.load(tmp_path / "ours.npz"), square)
    assert same(rl.load_rbm(tmp_path / "ours.npz", layout="visible_hidden"), square)
    with pytest.raises(ValueError, match=r"ours\.npz holds a BernoulliRBM, which says how its"):
        rl.load_rbm(tmp_path / "ours.npz", layout="hidden_visible")
    # the workspace of a program whose names are its own
    more = {"vishidinc": SQUARE, "numcases": 100.0}
    write(tmp_path / "w.mat", vishid=SQUARE, visbiases=C, hidbiases=C, **more)
    np.testing.assert_array_equal(rl.load_rbm(tmp_path / "w.mat").weights, SQUARE)


def test_a_gaussian_model_has_its_own_layout(tmp_path):
    rl.GaussianRBM(W).save(tmp_path / "g.npz")
    with pytest.raises(ValueError, match=r"g\.npz holds a GaussianRBM.*neither layout nor names"):
        rl.load_rbm(tmp_path / "g.npz", layout="hidden_visible")


@pytest.mark.parametrize(
    ("suffix", "call"),
    [
        (".pt", "from_state_dict(torch.load("),
        (".pth", "weights_only=True"),
        (".pkl", "from_sklearn(joblib.load("),
        (".joblib", "from_sklearn(joblib.load("),
    ],
)
def test_files_that_could_execute_code_are_refused_with_the_line_that_converts(
    tmp_path, suffix, call
):
    path = tmp_path / f"m{suffix}"
    path.write_bytes(b"anything")
    for load in (BernoulliRBM.load, rl.load_rbm):
        with pytest.raises(ValueError, match="convert it once") as caught:
            load(path)
        line = str(caught.value).partition("trust it: ")[2]
        assert call in line
        compile(line, "line", "exec")
        assert repr(str(tmp_path / "m.npz")) in line


def test_the_line_for_scikit_learn_converts(tmp_path):
    joblib = pytest.importorskip("joblib", reason="needs joblib")
    network = pytest.importorskip("sklearn.neural_network", reason="needs scikit-learn")
    model = network.BernoulliRBM(n_components=3, n_iter=2, random_state=0)
    model.fit((RNG.random((30, 6)) < 0.4).astype(float))
    path = tmp_path / "m.joblib"
    joblib.dump(model, path)
    with pytest.raises(ValueError, match="convert it once") as caught:
        rl.load_rbm(path)
    exec(str(caught.value).partition("trust it: ")[2], {})
    assert same(rl.load_rbm(tmp_path / "m.npz"), BernoulliRBM.from_sklearn(model))


@pytest.mark.parametrize(("suffix", "program"), [(".pt", "torch"), (".mat", "h5py")])
def test_the_lines_for_others_convert(tmp_path, monkeypatch, suffix, program):
    """With a stand-in for the program's reader: the line is run as it is printed."""
    weights, b, c = RNG.normal(size=(6, 3)), RNG.normal(size=6), RNG.normal(size=3)
    path, held = tmp_path / f"m{suffix}", {"W": weights, "vbias": b, "hbias": c}
    path.write_bytes(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + b"\x89HDF\r\n\x1a\n")

    def read(name, **_):
        assert name == str(path)
        return held if program == "torch" else {k: {(): x} for k, x in held.items()}

    reader = types.ModuleType(program)
    reader.load, reader.File = read, read
    monkeypatch.setitem(sys.modules, program, reader)
    with pytest.raises(
        ValueError, match=r"MATLAB 7.3 file \(HDF5\)" if suffix == ".mat" else suffix
    ) as caught:
        rl.load_rbm(path)
    exec(str(caught.value).partition(": import ")[2].join(["import ", ""]), {})
    assert same(rl.load_rbm(tmp_path / "m.npz"), BernoulliRBM(weights, b, c))


def test_structs_of_deeplearntoolbox(tmp_path):
    """W one row a hidden unit, b of the visible and c of the hidden ones, among other fields."""
    weights, b, c = RNG.normal(size=(3, 6)), RNG.normal(size=(6, 1)), RNG.normal(size=(3, 1))
    one = {"alpha": 1.0, "W": weights, "vW": 0 * weights, "b": b, "c": c, "vb": b, "vc": c}
    ours = BernoulliRBM(weights.T, b.ravel(), c.ravel())
    square = one | {"W": np.ones((3, 3)), "b": c}
    savemat(tmp_path / "m.mat", {"rbm": square})
    with pytest.raises(ValueError, match="weights is square"):
        rl.load_rbm(tmp_path / "m.mat")
    for held in ({"rbm": one}, {"dbn": {"sizes": [6.0], "rbm": one}}):
        savemat(tmp_path / "m.mat", held)
        assert rl.load_rbm(tmp_path / "m.mat") == ours
    savemat(tmp_path / "m.mat", {"net": {"w": weights, "vb": b, "hb": c}})  # vb is no step here
    assert rl.load_rbm(tmp_path / "m.mat") == ours
    cells = np.array([one, one | {"W": 2 * weights}], dtype=object)
    savemat(tmp_path / "m.mat", {"dbn": {"rbm": cells}})
    with pytest.raises(ValueError, match=r"'dbn.rbm.2.W'.* say which is which"):
        rl.load_rbm(tmp_path / "m.mat")
    names = {"weights": "dbn.rbm.2.W", "visible_bias": "dbn.rbm.2.b", "hidden_bias": "dbn.rbm.2.c"}
    second = BernoulliRBM.load(tmp_path / "m.mat", names=names)
    assert second == BernoulliRBM(2 * weights.T, b.ravel(), c.ravel())
