"""Hundreds of calls with bad and extreme arguments: a right answer, or an error of rbmlib's own.

Of each call one or two arguments are replaced by what a user may hand over by mistake. Whatever is
answered is finite; what is not is refused by a line of rbmlib that names the argument and says
what is expected. Nothing is answered in silence, by NumPy, or from inside a kernel.
"""

import warnings
from collections import Counter

import numpy as np
import pandas as pd
from helpers_book import NIGHTLY
from helpers_refusals import assert_own
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rbmlib as rl
from rbmlib import schedules, testsystems

RBM = testsystems.random_rbm(4, 3, rng=0)
GAUSSIAN = rl.GaussianRBM(RBM.weights)
LEAKY = rl.LeakyRBM(0.3 * RBM.weights / np.linalg.norm(RBM.weights))
MIXTURE = testsystems.two_gaussians(2, 3.0)
BITS = np.array([[0.0, 1.0, 1.0, 0.0], [1.0, 0.0, 1.0, 1.0]])
HIDDEN = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0]])
REAL = np.array([[0.3, -0.2, 1.0, 0.4], [0.1, 2.0, -0.5, 0.0]])
PLANE = REAL[:, :2]
BETAS = np.array([0.0, 0.4, 1.0])
DATA = np.tile(BITS, (5, 1))
PATHS = {
    "geometric": (rl.GeometricPath(RBM), BITS),
    "leakiness": (rl.LeakinessPath(LEAKY), None),
    "energy": (rl.EnergyPath(LEAKY), None),
    "gaussian": (rl.GeometricPath(GAUSSIAN), None),
    "density": (rl.DensityPath(MIXTURE, 4.0, step_sizes=0.5), PLANE),
}
SAMPLE = rl.simulated_tempering(PATHS["geometric"][0], BETAS, np.zeros(3), 4, 8, 0)
PILOT = rl.ais(PATHS["geometric"][0], schedules.linear(30), 10, 0, n_recorded=31, keep_chains=True)


CALLS = {
    "BernoulliRBM": (rl.BernoulliRBM, {
        "weights": RBM.weights, "visible_bias": RBM.visible_bias, "hidden_bias": RBM.hidden_bias,
        "log_scale": 0.5}),
    "GaussianRBM": (rl.GaussianRBM, {"weights": RBM.weights, "visible_bias": RBM.visible_bias}),
    "LeakyRBM": (rl.LeakyRBM, {"weights": LEAKY.weights, "leakiness": 0.1}),
    "log_density": (RBM.log_density, {"visible": BITS}),
    "free energy": (RBM.free_energy, {"visible": BITS}),
    "hidden_mean": (RBM.hidden_mean, {"visible": BITS}),
    "visible_mean": (RBM.visible_mean, {"hidden": HIDDEN}),
    "sample_hidden": (RBM.sample_hidden, {"visible": BITS, "rng": 0}),
    "sample_visible": (RBM.sample_visible, {"hidden": HIDDEN, "rng": 0}),
    "gaussian log_density": (GAUSSIAN.log_density, {"visible": REAL}),
    "gaussian sample_hidden": (GAUSSIAN.sample_hidden, {"visible": REAL, "rng": 0}),
    "gaussian hidden_mean": (GAUSSIAN.hidden_mean, {"visible": REAL}),
    "leaky log_density": (LEAKY.log_density, {"visible": REAL}),
    "leaky gradient": (LEAKY.gradient, {"visible": REAL}),
    "leaky sample_hidden": (LEAKY.sample_hidden, {"visible": REAL, "rng": 0}),
    "with_leakiness": (LEAKY.with_leakiness, {"leakiness": 0.5}),
    "project_weights": (rl.project_weights, {"weights": RBM.weights}),
    "exact": (rl.exact, {"rbm": RBM}),
    "sample": (rl.sample, {"rbm": RBM, "n_samples": 2, "rng": 0}),
    "base_rate": (rl.base_rate, {"data": DATA, "smoothing": 0.05}),
    "GeometricPath": (rl.GeometricPath, {"rbm": RBM, "base": np.zeros(4)}),
    "DensityPath": (rl.DensityPath, {"target": MIXTURE, "base_variance": 3.0, "step_sizes": 0.4,
                                     "n_leapfrog": 2, "jitter": 0.1}),
    "linear": (schedules.linear, {"n_temperatures": 4}),
    "sm08": (schedules.sm08, {"n_temperatures": 4}),
    "decelerate": (schedules.decelerate, {"betas": BETAS, "max_step": 0.55}),
    "varopt": (schedules.varopt, {"pilot": PILOT, "n_temperatures": 5, "smoothing": 1.0}),
    "friction": (schedules.friction, {"pilot": PILOT, "n_temperatures": 5, "smoothing": 1.0}),
    "ais": (rl.ais, {"path": PATHS["geometric"][0], "betas": BETAS, "n_chains": 3, "rng": 0,
                     "n_recorded": 3}),
    "reverse_ais": (rl.reverse_ais, {"path": PATHS["geometric"][0], "betas": BETAS, "n_chains": 3,
                                     "rng": 0, "start": "exact"}),
    "bar": (rl.bar, {"path": PATHS["geometric"][0], "betas": BETAS, "n_chains": 4, "rng": 0,
                     "n_burn_in": 2}),
    "rts": (rl.rts, {"path": PATHS["geometric"][0], "betas": BETAS, "n_chains": 4, "n_sweeps": 5,
                     "rng": 0, "prior": [1, 2, 1]}),
    "simulated": (rl.simulated_tempering, {
        "path": PATHS["geometric"][0], "betas": BETAS, "log_z_path": np.zeros(3), "n_chains": 2,
        "n_sweeps": 3, "rng": 0, "index": [0, 2]}),
    "parallel": (rl.parallel_tempering, {
        "path": PATHS["geometric"][0], "betas": BETAS, "n_chains": 2, "n_sweeps": 3, "rng": 0}),
    "rts_of_sample": (rl.rts_of_sample, {"sample": SAMPLE, "skip": 1}),
    "mbar_of_sample": (rl.mbar_of_sample, {"sample": SAMPLE, "skip": 1}),
    "solve_mbar": (rl.solve_mbar, {"delta": [0.1, 0.5, 0.9, 1.2], "counts": [2, 1, 1],
                                   "betas": BETAS}),
    "tap": (rl.tap, {"rbm": RBM, "order": 2, "rng": 0, "n_starts": 2}),
    "train": (rl.train, {"data": DATA, "n_hidden": 2, "n_updates": 2, "batch_size": 5,
                         "learning_rate": 0.1, "rng": 0}),
    "random_rbm": (testsystems.random_rbm, {"n_visible": 3, "n_hidden": 2, "coupling": 1.0,
                                            "rng": 0}),
}  # fmt: skip
for _name, (_path, _states) in PATHS.items():
    CALLS |= {
        f"{_name}: at": (_path.at, {"beta": 0.5}),
        f"{_name}: ais": (rl.ais, {
            "path": _path, "betas": BETAS, "n_chains": 3, "rng": 0}),
    }  # fmt: skip

UNSEEDED = object()
PLAIN = [
    None, True, False, 3.7, "", "text", "0", b"1", object(), 0, 1, -1, 2, 3, 10**30, -(10**30),
    0.5, -0.5, 1e-320, 1e30, 1e308, float("nan"), float("inf"), float("-inf"), 1j, [], {}, set(),
    (), [[]], [[0, 1], [1]], [None], ["a"], np.nan, np.array(1.0), np.array([]), np.zeros((0, 4)),
    np.zeros((1, 4)), np.zeros((2, 3, 4)), np.array(["a", "b"]), np.array([1, "x"], object),
    np.array([1j, 2]), np.full(3, np.nan), np.full(4, np.inf), np.full((2, 4), np.nan),
    np.full((2, 4), 1e300), np.full((4, 3), 1e13), np.full((4, 3), 1e-300), np.ones((4, 3)) * 1e4,
    np.ma.masked_array(np.ones((2, 4)), mask=np.eye(2, 4)), np.ma.masked_array(np.ones(3)),
    np.datetime64("2026-01-01"), np.array([0.0, 1.0]), np.array([1.0, 0.0]), np.zeros(3),
    np.array([0.0, 0.5, 0.5, 1.0]), range(3), iter([1, 2]), lambda x: x, np.float16(0.5),
    BETAS, RBM, GAUSSIAN, MIXTURE, PILOT, SAMPLE, BITS, np.zeros((2, 9)),
    "ab", [[0, 1, 0, 1]],
    np.random.default_rng(0), pd.DataFrame({"a": [1, 2]}), pd.Series(["x", "y", "z"]), UNSEEDED,
]  # fmt: skip


def other_forms(value):
    """The same numbers in another dress, or numbers that are nearly right."""
    array = np.asarray(value, float)
    forms = [
        array.astype(np.float16), array.astype(np.float32), np.asfortranarray(array),
        array.astype(object), array.tolist(), -array, array * 1e6, array[..., None], array.T,
        array[:0], np.concatenate([array, array], axis=-1), array + 1e-9, array.astype(str),
        np.ma.masked_array(array, mask=False), np.ma.masked_array(array, mask=array > 0),
        array.astype(complex), np.where(array > 0, np.nan, array), array.astype(bool),
    ]  # fmt: skip
    frozen = array.copy()
    frozen.flags.writeable = False
    forms.append(frozen)
    return [*forms, pd.DataFrame(array) if array.ndim == 2 else pd.Series(array)]


@st.composite
def bad_calls(draw):
    name = draw(st.sampled_from(sorted(CALLS)))
    function, good = CALLS[name]
    chosen = draw(st.lists(st.sampled_from(sorted(good)), min_size=1, max_size=2, unique=True))
    arguments = dict(good)
    for argument in chosen:
        is_array = isinstance(good[argument], (np.ndarray, list))
        if is_array and draw(st.booleans()):
            arguments[argument] = draw(st.sampled_from(other_forms(good[argument])))
        else:
            arguments[argument] = draw(st.sampled_from(PLAIN) | st.floats() | st.integers())
    if arguments.get("rng") is UNSEEDED:
        arguments["rng"] = np.random.RandomState(0)
    return name, function, arguments, chosen


CLASSES = Counter()
TOO_LONG = {"n_samples", "n_chains", "n_sweeps", "n_updates", "n_temperatures", "n_starts",
            "n_leapfrog", "n_states", "n_hidden", "n_visible", "n_groups", "n_burn_in",
            "n_recorded", "batch_size", "n_betas", "n_knots", "n_iterations"}  # fmt: skip


def large(arguments) -> bool:
    """Right, but more than a test can wait for or hold."""
    return any(
        isinstance(v, (int, float)) and not isinstance(v, bool) and 200 < v <= 1e9
        for name, v in arguments.items() if name in TOO_LONG
    )  # fmt: skip


def numbers_of(answer):
    if isinstance(answer, rl.Estimate):
        return [answer.log_z]
    if isinstance(answer, (np.ndarray, float, int, np.floating)):
        return [np.asarray(answer, float)]
    return []


def one_call(name, function, arguments, chosen):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", rl.ConvergenceWarning)
        warnings.filterwarnings("ignore", message="the uniform base")
        try:
            answer = function(**arguments)
        except FloatingPointError as caught:
            assert_own(caught)  # a training that diverged
            return "diverged"
        except (ValueError, TypeError, OSError) as caught:
            error = caught
        else:
            for values in numbers_of(answer):
                assert not np.isnan(values).any(), f"NaN in silence: {arguments}"
            return "answered"
    assert_own(error)
    message = str(error)
    known = {*arguments, "state", "start", "visible", "betas", "beta", "rng", "x"}
    assert any(word in message for word in known), f"names no argument: {message}"
    remedies = ("expected", "needs", "saved as", "binarise", "use ", "pass ", "give", "cannot")
    assert any(word in message for word in remedies), f"says no remedy: {message}"
    return "refused"


@settings(max_examples=5000 if NIGHTLY else 400, derandomize=not NIGHTLY, deadline=None,
          database=None, suppress_health_check=list(HealthCheck))  # fmt: skip
@given(bad_calls())
def test_bad_calls(call):
    name, function, arguments, chosen = call
    if large(arguments):
        return
    CLASSES[one_call(name, function, arguments, chosen)] += 1


def test_good_calls_are_answered():
    for name, (function, good) in CALLS.items():
        assert one_call(name, function, good, []) == "answered", name
