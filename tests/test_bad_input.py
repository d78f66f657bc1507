"""Wrong arguments: one clear ValueError or TypeError that names the argument and a remedy."""

import traceback
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

import rbmlib as rl
from rbmlib import BernoulliRBM, GeometricPath, State

PACKAGE = Path(rl.__file__).parent
W, B, A = np.ones((4, 3)), np.zeros(4), np.zeros(3)
RBM = BernoulliRBM(W, B, A)
PATH = GeometricPath(RBM)
BETAS = rl.schedules.linear(5)
DATA = np.tile([[1, 0, 1, 0], [0, 1, 1, 0]], (60, 1))
RAGGED = [[1.0, 2.0], [3.0]]
SQUARE = np.arange(9.0).reshape(3, 3)
MASKED = np.ma.masked_equal(W * [1, 2, 3], 2)
LARGE = BernoulliRBM(np.zeros((31, 31)), np.zeros(31), np.zeros(31))


def changed(array, value):
    array = np.array(array, float)
    array.flat[0] = value
    return array


def assert_own(error):
    """Raised by a line of rbmlib, not by one of NumPy or Python's library below it."""
    innermost = traceback.extract_tb(error.__traceback__)[-1].filename
    assert Path(innermost).is_relative_to(PACKAGE), f"raised in {innermost}: {error}"


def assert_refused(call, name: str):
    """The message begins with the argument; nothing below rbmlib is in the traceback."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nor is a warning let through on the way
        with pytest.raises((ValueError, TypeError)) as caught:
            call()
    message = str(caught.value)
    assert_own(caught.value)
    assert message.startswith(name), message
    remedies = ("expected", "needs", "saved as", "binarise")
    assert any(word in message for word in remedies), message
    assert "\n" not in message
    assert caught.value.__cause__ is None


MODELS = {
    "NaN weights": (lambda: BernoulliRBM(changed(W, np.nan), B, A), "weights holds 1 NaN"),
    "infinite weights": (lambda: BernoulliRBM(W * np.inf, B, A), "weights holds 12 NaN or inf"),
    "NaN bias": (lambda: BernoulliRBM(W, changed(B, np.nan), A), "visible_bias"),
    "infinite bias": (lambda: BernoulliRBM(W, B, changed(A, -np.inf)), "hidden_bias"),
    "transposed": (lambda: BernoulliRBM(W.T, B, A), "visible_bias has shape"),
    "vector of weights": (lambda: BernoulliRBM(W[0], B, A), "weights has shape (3,)"),
    "stack of weights": (lambda: BernoulliRBM(W[None], B, A), "weights has shape (1, 4, 3)"),
    "words": (lambda: BernoulliRBM("h10", B, A), "weights is not an array"),
    "none": (lambda: BernoulliRBM(None, B, A), "weights"),
    "ragged weights": (lambda: BernoulliRBM(RAGGED, B, A), "weights is not an array"),
    "ragged bias": (lambda: BernoulliRBM(W, RAGGED, A), "visible_bias is not an array"),
    "complex weights": (lambda: BernoulliRBM(W * 1j, B, A), "weights is not an array of numbers"),
    "no units": (lambda: BernoulliRBM(np.zeros((0, 3)), [], A), "weights has shape (0, 3)"),
    "no bias": (lambda: BernoulliRBM(W, None, A), "visible_bias"),
    "log_scale": (lambda: BernoulliRBM(W, B, A, log_scale=np.nan), "log_scale"),
    "from_arrays": (lambda: BernoulliRBM.from_arrays(W, B[:2], A), "visible_bias has shape (2,)"),
    "from_arrays ragged": (lambda: BernoulliRBM.from_arrays(RAGGED, B, A), "weights"),
    "from_arrays square": (
        lambda: BernoulliRBM.from_arrays(SQUARE, A, A),
        "weights is square, 3 x 3, so that the biases cannot tell its layout: expected "
        "layout='visible_hidden' (one row a visible unit) or layout='hidden_visible' (one row a "
        "hidden unit, as PyTorch's)",
    ),
    "from_arrays layout": (
        lambda: BernoulliRBM.from_arrays(W, B, A, layout="hv"),
        "layout is 'hv': expected one of 'visible_hidden', 'hidden_visible'",
    ),
    "from_arrays other layout": (
        lambda: BernoulliRBM.from_arrays(W, B, A, layout="hidden_visible"),
        "visible_bias has shape (4,): expected (3,)",
    ),
    "masked weights": (lambda: BernoulliRBM(MASKED, B, A), "weights holds 4 masked values"),
    "masked rows": (lambda: BernoulliRBM(list(MASKED), B, A), "weights holds 4 masked values"),
    "masked states": (
        lambda: RBM.log_density(np.ma.masked_equal(DATA, 1)),
        "visible holds 240 masked values: expected",
    ),
    "masked bias": (
        lambda: rl.LeakyRBM(W / 9, np.ma.masked_invalid(changed(B, np.nan))),
        "visible_bias holds 1 masked value: expected",
    ),
    "from_spins": (lambda: BernoulliRBM.from_spins(changed(W, np.nan), B, A), "weights"),
    "from_sklearn": (lambda: BernoulliRBM.from_sklearn(3), "model has no components_"),
    "grey states": (lambda: RBM.log_density(np.full((2, 4), 0.5)), "visible holds values"),
    "spins": (lambda: RBM.log_density([[-1, 1, 1, 1]]), "visible holds values"),
    "NaN states": (
        lambda: RBM.log_density([[0, np.nan, 0, 0]]),
        "visible holds 1 NaN value, the first at [0, 1]: expected zeros",
    ),
    "3-d states": (lambda: RBM.log_density(np.zeros((2, 2, 4))), "visible has shape (2, 2, 4)"),
    "narrow states": (lambda: RBM.free_energy(np.zeros((2, 3))), "visible has shape (2, 3)"),
    "ragged states": (lambda: RBM.log_density(RAGGED), "visible is not an array"),
    "words as states": (lambda: RBM.log_density(["1010"]), "visible is not an array"),
    "unpaired": (lambda: RBM.log_joint_density(DATA[:2], np.zeros((3, 3))), "hidden has 3 states"),
    "wide data": (lambda: rl.log_likelihood(RBM, np.zeros((2, 5)), 1.0), "data has shape (2, 5)"),
    "NaN data": (lambda: rl.log_likelihood(RBM, DATA * np.nan, 1.0), "data holds 480 NaN"),
    "grey data": (lambda: rl.log_likelihood(RBM, DATA / 2, 1.0), "data holds values other than"),
    "wide real data": (
        lambda: rl.log_likelihood(rl.LeakyRBM(W / 9), np.zeros((2, 5)), 1.0),
        "data has shape (2, 5)",
    ),
    "NaN real data": (
        lambda: rl.log_likelihood(rl.LeakyRBM(W / 9), DATA * np.nan, 1.0),
        "data holds 480 NaN",
    ),
    "wide points": (
        lambda: rl.log_likelihood(rl.testsystems.two_gaussians(4), np.zeros((2, 5)), 1.0),
        "data has shape (2, 5)",
    ),
    "no model": (lambda: rl.log_likelihood(5, DATA, 1.0), "model is 5: expected a model"),
    "NaN log Z": (lambda: rl.log_likelihood(RBM, DATA, np.nan), "log_z holds 1 NaN"),
    "infinite log Z": (lambda: rl.log_likelihood(RBM, DATA, -np.inf), "log_z holds 1 NaN or inf"),
    "path for log Z": (lambda: rl.log_likelihood(RBM, DATA, PATH), "log_z is not an array"),
    "two log Z": (lambda: rl.log_likelihood(RBM, DATA, [1.0, 2.0]), "log_z has shape (2,)"),
    "save as text": (lambda: RBM.save("rbm.txt"), "path is 'rbm.txt'"),
}

RUNS = {
    "betas from 0.1": (lambda: rl.ais(PATH, [0.1, 1], 9), "betas runs from 0.1"),
    "betas to 0.9": (lambda: rl.ais(PATH, [0, 0.9], 9), "betas runs from 0.0 to 0.9"),
    "falling betas": (lambda: rl.ais(PATH, BETAS[::-1], 9), "betas runs from 1.0 to 0.0"),
    "falling between": (lambda: rl.ais(PATH, [0, 0.6, 0.5, 1], 9), "betas do not rise at step 2"),
    "equal betas": (lambda: rl.reverse_ais(PATH, [0, 0.5, 0.5, 1], 9), "betas do not rise"),
    "NaN betas": (lambda: rl.ais(PATH, [0, np.nan, 1], 9), "betas holds 1 NaN value"),
    "number as betas": (lambda: rl.ais(PATH, 1000, 9), "betas has shape ()"),
    "word as betas": (lambda: rl.ais(PATH, "linear", 9), "betas is not an array of numbers"),
    "ragged betas": (lambda: rl.ais(PATH, RAGGED, 9), "betas is not an array of numbers"),
    "2-d betas": (lambda: rl.reverse_ais(PATH, [[0, 1]], 9), "betas has shape (1, 2)"),
    "one beta": (lambda: rl.ais(PATH, [0.0], 9), "betas has shape (1,)"),
    "negative seed": (lambda: rl.ais(PATH, BETAS, 9, -1), "rng is -1"),
    "word as seed": (lambda: rl.reverse_ais(PATH, BETAS, 9, "one"), "rng is 'one'"),
    "seed of samples": (lambda: rl.exact_samples(RBM, 3, -1), "rng is -1"),
    "model as path": (lambda: rl.ais(RBM, BETAS, 9), "path is a BernoulliRBM"),
    "no path": (lambda: rl.reverse_ais(None, BETAS, 9), "path is a NoneType"),
    "path as model": (lambda: rl.exact(PATH), "rbm is a GeometricPath"),
    "name as model": (lambda: rl.exact("h10"), "rbm is a str"),
    "name for samples": (lambda: rl.exact_samples("h10", 3), "rbm is a str"),
    "too large": (lambda: rl.exact(LARGE), "rbm has 31 visible and 31 hidden"),
    "looks": (lambda: rl.ais(PATH, BETAS, 9, n_recorded=1), "n_recorded is 1"),
    "expectations": (lambda: rl.ais(PATH, BETAS, 9, expectations=[np.sum]), "expectations is a"),
    "start": (lambda: rl.reverse_ais(PATH, BETAS, 9, start="exactly"), "start is 'exactly'"),
    "array as start": (lambda: rl.reverse_ais(PATH, BETAS, 9, start=DATA[:9]), "start is"),
    "narrow start": (
        lambda: rl.reverse_ais(PATH, BETAS, 9, start=State(np.zeros((9, 3)))),
        "start has states of shape (9, 3)",
    ),
    "grey start": (
        lambda: rl.reverse_ais(PATH, BETAS, 9, start=State(np.full((9, 4), 0.5))),
        "start holds values",
    ),
    "burn-in": (
        lambda: rl.reverse_ais(PATH, BETAS, 9, start="chains", n_burn_in=-1),
        "n_burn_in is -1",
    ),
    "few chains for groups": (
        lambda: rl.sams(PATH, BETAS, 4, n_groups=10),
        "n_chains is 4: expected a multiple of n_groups, 10, such as 10, or another n_groups",
    ),
    "unequal groups": (
        lambda: rl.wang_landau(PATH, BETAS, 25),
        "n_chains is 25: expected a multiple of n_groups, 10, such as 30, or another n_groups",
    ),
    "one group": (lambda: rl.sams(PATH, BETAS, 4, n_groups=1), "n_groups is 1"),
    "steps": (lambda: rl.schedules.linear(0), "n_temperatures is 0"),
    "half steps": (lambda: rl.schedules.sm08(1.5), "n_temperatures is 1.5"),
    "unknown model": (lambda: rl.load_rbm("h11"), "unknown RBM 'h11'"),
}

BASES = {
    "name as model": (lambda: GeometricPath("h10"), "rbm is a str"),
    "unknown word": (lambda: GeometricPath(RBM, base="base_rate"), "base is 'base_rate'"),
    "short": (lambda: GeometricPath(RBM, base=np.zeros(3)), "base has shape (3,)"),
    "data": (lambda: GeometricPath(RBM, base=DATA), "base has shape (120, 4)"),
    "number": (lambda: GeometricPath(RBM, base=0.0), "base has shape ()"),
    "NaN": (lambda: GeometricPath(RBM, base=[np.nan] * 4), "base holds 4 NaN"),
    "words": (lambda: GeometricPath(RBM, base=["a"] * 4), "base is not an array"),
    "bytes": (lambda: rl.base_rate(DATA * 255), "data runs from 0 to 255"),
    "spins": (lambda: rl.base_rate(2 * DATA - 1), "data runs from -1 to 1"),
    "one row": (lambda: rl.base_rate(DATA[0]), "data has shape (4,)"),
    "3-d": (lambda: rl.base_rate(DATA[None]), "data has shape (1, 120, 4)"),
    "no rows": (lambda: rl.base_rate(DATA[:0]), "data has shape (0, 4)"),
    "NaN data": (lambda: rl.base_rate(DATA * np.nan), "data holds 480 NaN values"),
    "name of data": (lambda: rl.base_rate("mnist"), "data is not an array"),
    "no smoothing": (lambda: rl.base_rate(DATA, smoothing=0), "smoothing is 0"),
    "smoothing": (lambda: rl.base_rate(DATA, smoothing="some"), "smoothing is 'some'"),
    "infinite smoothing": (lambda: rl.base_rate(DATA, smoothing=np.inf), "smoothing is inf"),
}


def train(*arguments, **options):
    return lambda: rl.train(*arguments, **{"n_updates": 2, "rng": 0} | options)


TRAINING = {
    "no tracker": (train(DATA, 3, tracker=5), "tracker is 5: expected a LogZTracker with"),
    "counts": (train(DATA * 2, 3), "data holds values"),
    "grey": (train(DATA * 0.5, 3), "data holds values"),
    "3-d": (train(DATA[None], 3), "data has shape (1, 120, 4)"),
    "one row": (train(DATA[0], 3), "data has shape (4,)"),
    "name of data": (train("mnist", 3), "data is not an array"),
    "number": (train(3, 3), "data has shape ()"),
    "few rows": (train(DATA[:5], 3), "data has 5 rows"),
    "no hidden": (train(DATA, 0), "n_hidden is 0"),
    "word": (train(DATA, "ten"), "n_hidden is 'ten'"),
    "method": (train(DATA, 3, method="sgd"), "method is 'sgd'"),
    "batch": (train(DATA, 3, batch_size=256), "batch_size is 256"),
    "sweeps": (train(DATA, 3, n_sweeps=0), "n_sweeps is 0"),
    "updates": (train(DATA, 3, n_updates=0), "n_updates is 0"),
    "rate": (train(DATA, 3, learning_rate=-1), "learning_rate is -1"),
    "NaN rate": (train(DATA, 3, learning_rate=np.nan), "learning_rate is nan"),
    "word as rate": (train(DATA, 3, final_learning_rate="low"), "final_learning_rate is 'low'"),
    "no momentum": (train(DATA, 3, momentum=None), "momentum is None"),
    "decay": (train(DATA, 3, weight_decay=1j), "weight_decay is 1j"),
    "seed": (train(DATA, 3, rng=-1), "rng is -1"),
    "looks": (train(DATA, 3, monitor_every=-1), "monitor_every is -1"),
    "no looks": (train(DATA, 3, monitor_every=0), "monitor_every is 0"),
    "no descent": (train(DATA, 3, momentum=1), "momentum is 1"),
    "no function": (train(DATA, 3, monitor=3), "monitor is 3"),
    "no dict": (train(DATA, 3, monitor=lambda _: 5), "monitor gave 5"),
    "word seen": (train(DATA, 3, monitor=lambda _: {"a": "x"}), "monitor gave a = 'x'"),
    "NaN to stop by": (
        train(DATA, 3, monitor=lambda _: {"validation": np.nan}, patience=1),
        "monitor gives validation = nan",
    ),
    "nothing to stop by": (
        train(DATA, 3, n_updates=1, patience=1),
        "watch is 'validation': expected one of update, reconstruction_error, log_likelihood; "
        "give monitor=",
    ),
}


def gaussian(**settings):
    data = np.random.default_rng(0).normal(size=(100, 3))
    data = rl.Standardisation(data)(data)
    return lambda: rl.train_gaussian(data, 2, n_updates=1, rng=0, **settings)


class Density:
    """A standard Gaussian, with one method replaced."""

    n_visible = 2

    def __init__(self, **methods):
        self.__dict__.update(methods)

    def log_density(self, x):
        return -(x**2).sum(axis=1) / 2

    def gradient(self, x):
        return -x


def annealed(**methods):
    path = rl.DensityPath(Density(**methods), 4.0)
    return lambda: rl.ais(path, BETAS, 10, rng=0)


CONTINUOUS = {
    "no descent": (gaussian(momentum=1.0), "momentum is 1"),
    "no function": (gaussian(monitor=3), "monitor is 3"),
    "no path": (gaussian(checkpoint=3), "checkpoint is 3"),
    "NaN pixels": (lambda: rl.Standardisation([[np.nan], [1.0]]), "images holds 1 NaN"),
    "one number": (annealed(log_density=lambda x: -1.0), "target.log_density gave shape ()"),
    "column": (
        annealed(log_density=lambda x: np.zeros((len(x), 1))),
        "target.log_density gave shape (10, 1)",
    ),
    "NaN density": (
        annealed(log_density=lambda x: x[:, 0] * np.nan),
        "target.log_density gave 10 NaN or infinite",
    ),
    "flat gradient": (annealed(gradient=lambda x: x[:, 0]), "target.gradient gave shape (10,)"),
    "NaN gradient": (annealed(gradient=lambda x: x * np.nan), "target.gradient gave 20 NaN"),
    "no spread": (
        lambda: rl.Standardisation.of_moments([0.0, 1.0], [1.0, 0.0]),
        "std goes down to 0.0: expected numbers above 0",
    ),
    "negative spread": (
        lambda: rl.Standardisation.of_moments([0.0], [-1.0]),
        "std goes down to -1.0: expected",
    ),
    "NaN spread": (lambda: rl.Standardisation.of_moments([0.0], [np.nan]), "std holds 1 NaN"),
    "NaN mean": (lambda: rl.Standardisation.of_moments([np.nan], [1.0]), "mean holds 1 NaN"),
    "other spread": (lambda: rl.Standardisation.of_moments([0.0], [1.0, 2.0]), "std has shape"),
    "sure": (
        lambda: rl.hmc.tune_step_size(lambda x, step: None, np.zeros((5, 1)), target=2),
        "target is 2: expected a probability above 0 and below 1",
    ),
    "never": (
        lambda: rl.hmc.tune_step_size(lambda x, step: None, np.zeros((5, 1)), target=0),
        "target is 0: expected a probability",
    ),
    "no size": (lambda: rl.DensityPath(Density(n_visible="2"), 1.0), "target.n_visible is '2'"),
    "leaky": (lambda: GeometricPath(rl.LeakyRBM(W / 9)), "rbm is a LeakyRBM"),
}


def tracker(**settings):
    return lambda: rl.LogZTracker(**{"base": B, "n_chains": 10, "rng": 0} | settings)


TRACKER = {
    "NaN base": (tracker(base=changed(B, np.nan)), "base holds 1 NaN"),
    "data as base": (tracker(base=DATA), "base has shape (120, 4)"),
    "more than all": (tracker(resample_below=2), "resample_below is 2"),
    "yes": (tracker(reweight="yes"), "reweight is a str"),
    "columns": (lambda: tracker()().monitor(train=DATA[:, :3]), "train has shape (120, 3)"),
    "bytes": (lambda: tracker()().monitor(validation=DATA * 255), "validation holds values"),
    "size": (lambda: tracker(base=A)().update(RBM), "rbm has 4 visible units"),
}

LEAKY = {
    "name of moves": (
        lambda: rl.leaky_bias.annealed_bias(0.9, 0.1, BETAS, "leakines"),
        "moves is 'leakines': expected 'leakiness', 'energy' or a function",
    ),
    "number as moves": (
        lambda: rl.leaky_bias.annealed_bias(0.9, 0.1, BETAS, 3),
        "moves is 3: expected 'leakiness', 'energy' or a function",
    ),
    "moves of a line": (lambda: rl.leaky_bias.linear_bias(0.9, 0.1, 9, "energi"), "moves is"),
    "falling betas": (lambda: rl.leaky_bias.annealed_bias(0.9, 0.1, [1, 0]), "betas runs from"),
    "steps": (lambda: rl.leaky_bias.linear_bias(0.9, 0.1, -5), "n_steps is -5"),
}

CASES = {
    f"{group}: {case}": content
    for group, cases in {
        "model": MODELS, "run": RUNS, "base": BASES, "training": TRAINING,
        "continuous": CONTINUOUS, "tracker": TRACKER, "leaky": LEAKY,
    }.items()
    for case, content in cases.items()
}  # fmt: skip


@pytest.mark.parametrize(("call", "name"), CASES.values(), ids=CASES.keys())
def test_wrong_argument_is_named(call, name):
    if "unknown RBM" in name:
        with pytest.raises(ValueError, match=r"unknown RBM 'h11'.*did you mean 'h10'"):
            call()
        return
    assert_refused(call, name)


COUNTS = [0, -1, True, 1.5, "ten", None, np.nan, np.inf, [3], np.bool_(True), 1j]


@pytest.mark.parametrize("value", COUNTS, ids=repr)
@pytest.mark.parametrize("function", [rl.ais, rl.reverse_ais])
def test_numbers_of_chains_are_counts(function, value):
    assert_refused(lambda: function(PATH, BETAS, n_chains=value), f"n_chains is {value!r}")


@pytest.mark.parametrize("value", [0, -1, 1.5, "two", True], ids=repr)
def test_numbers_of_threads_are_counts_or_none(value):
    name = f"n_threads is {value!r}"
    assert_refused(lambda: rl.ais(PATH, BETAS, 9, n_threads=value), name)
    assert_refused(lambda: rl.reverse_ais(PATH, BETAS, 9, n_threads=value), name)
    assert_refused(lambda: rl.exact(RBM, n_threads=value), name)
    assert_refused(train(DATA, 3, n_threads=value), name)


@pytest.mark.parametrize("value", ["0", "two", "-1", "1.5"])
def test_number_of_threads_of_the_environment(value, monkeypatch):
    monkeypatch.setenv("RBMLIB_NUM_THREADS", value)
    assert_refused(lambda: rl.ais(PATH, BETAS, 9), "RBMLIB_NUM_THREADS is")


def test_refused_files_leave_nothing_behind(tmp_path):
    with pytest.raises(ValueError, match="path is"):
        RBM.save(tmp_path / "rbm.mat")
    assert list(tmp_path.iterdir()) == []


# whatever comes: a result, or an error of rbmlib's own ------------------------------------

FLOATS = st.floats(-5, 5) | st.sampled_from([np.nan, np.inf, -np.inf])
SHAPES = array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
ARRAYS = arrays(float, SHAPES, elements=FLOATS)


def result_or_own_error(call):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", rl.ConvergenceWarning)
        try:
            return call()
        except (ValueError, TypeError) as caught:
            error = caught
    assert_own(error)
    return None


@settings(max_examples=60, deadline=None, derandomize=True)
@given(ARRAYS, ARRAYS, ARRAYS)
def test_any_arrays_make_a_model_or_an_error(weights, visible_bias, hidden_bias):
    rbm = result_or_own_error(lambda: BernoulliRBM(weights, visible_bias, hidden_bias))
    if rbm is not None:
        assert rbm.weights.shape == (visible_bias.size, hidden_bias.size)
        assert np.isfinite(rl.exact(rbm).log_z)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(arrays(float, st.integers(0, 6), elements=st.sampled_from([0, 0.2, 0.5, 0.8, 1, np.nan])))
def test_any_betas_make_a_run_or_an_error(betas):
    rises = betas.size >= 2 and betas[0] == 0 and betas[-1] == 1 and np.all(np.diff(betas) > 0)
    run = result_or_own_error(lambda: rl.ais(PATH, betas, n_chains=3, rng=0))
    assert (run is not None) == rises


@settings(max_examples=60, deadline=None, derandomize=True)
@given(arrays(float, SHAPES, elements=st.sampled_from([0.0, 1.0, 0.0, 1.0, 0.5, -1.0, np.nan])))
def test_any_states_have_a_density_or_an_error(states):
    binary = np.isin(states, [0, 1]).all()
    fits = states.shape[-1:] == (4,) and states.ndim in (1, 2)
    density = result_or_own_error(lambda: RBM.log_density(states))
    assert (density is not None) == (binary and fits)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.one_of(
        st.integers(-3, 3), st.floats(), st.text(max_size=3), st.none(), st.booleans(),
        st.lists(st.integers(), max_size=2), st.complex_numbers(),
    )
)  # fmt: skip
def test_any_count_makes_a_schedule_or_an_error(value):
    plain = isinstance(value, (int, float)) and not isinstance(value, bool)
    if plain and value > 1e6:
        return  # right, but large
    betas = result_or_own_error(lambda: rl.schedules.linear(value))
    assert (betas is not None) == (plain and value >= 1 and value == int(value))
