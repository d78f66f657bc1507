"""Wrong arguments: an error of rbmlib's own that names the argument and says a remedy.

A line a case, of each check at each place where a user comes in; then every argument of every call
with what cannot be meant.
"""

import traceback
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pytest
from helpers_models import on_threads, quiet, two_modes
from scipy.sparse import csr_array

import rbmlib as rl
from rbmbook import images
from rbmlib import BernoulliRBM, GeometricPath, checks, datasets, schedules, testsystems
from rbmlib.sampling import planning

OWN = [Path(rl.__file__).parent, Path(images.__file__).parent]
W, B, A = np.ones((4, 3)), np.zeros(4), np.zeros(3)
ONES, LARGE, OF_MODES = BernoulliRBM(W, B, A), np.ones((31, 31)), two_modes()[0]
PATH, BETAS = GeometricPath(ONES), rl.schedules.linear(5)
DATA = np.tile([[1, 0, 1, 0], [0, 1, 1, 0]], (60, 1))
RAGGED = [[1.0, 2.0], [3.0]]
MASKED = np.ma.masked_equal(W * [1, 2, 3], 2)
SPINS = rl.RBM(rl.Spin(np.zeros(3)), rl.Spin(np.zeros(2)), np.ones((3, 2)))
LEAKY_4 = rl.LeakyRBM(W / 9)
GUESS = np.zeros(BETAS.size)
RUN = rl.simulated_tempering(PATH, BETAS, GUESS, 4, 20, 0, record_every=2)
ONE_ROW = rl.simulated_tempering(PATH, BETAS, GUESS, 4, 20, 0, record_every=20)
OF_V = rl.simulated_tempering(PATH, BETAS, GUESS, 4, 10, 0, conditional="marginal")
STATE = {"W": W, "v_bias": B, "h_bias": A}


class Density:
    """A standard Gaussian, with one method replaced."""

    n_visible = 2

    def __init__(self, **methods):
        self.__dict__.update(methods)

    def log_density(self, x):
        return -(x**2).sum(axis=1) / 2

    def gradient(self, x):
        return -x


def train(*arguments, **options):
    return rl.train(*arguments, **{"n_updates": 2, "rng": 0} | options)


def tempered(*given, **options):
    return rl.simulated_tempering(PATH, *given or (BETAS, GUESS), **options)


def along(**methods):
    return rl.DensityPath(Density(**methods), 4.0)


REFUSED = [
    # models
    ("weights holds 1 NaN", lambda: BernoulliRBM(np.diag([np.nan, 0, 0, 0])[:, :3], B, A)),
    ("weights is not an array of numbers but a", lambda: BernoulliRBM(W * 1j, B, A)),
    ("weights holds masked values", lambda: BernoulliRBM(list(MASKED), B, A)),
    ("weights has shape (0, 3)", lambda: BernoulliRBM(W[:0], [], A)),
    ("visible_bias has shape", lambda: BernoulliRBM(W.T, B, A)),
    ("weights has shape (3, 4): expected (4, 3), one row per visible unit; is it transposed?",
     lambda: rl.RBM(rl.Spin(B), rl.Spin(A), W.T)),
    ("bias of Spin holds 1 NaN", lambda: rl.Spin([np.nan, 0.0])),
    ("visible_bias holds 4 NaN or infinite values: expected finite numbers; did the training "
     "diverge? A bias of -1e4 freezes a unit", lambda: BernoulliRBM(W, B - np.inf, A)),
    ("layout is 'hv': expected one of 'visible_hidden'",
     lambda: rl.from_state_dict(STATE, layout="hv")),
    ("units is 'spin': expected one of 'bits', 'spins'",
     lambda: rl.from_state_dict(STATE, units="spin")),
    ("model has no components_", lambda: BernoulliRBM.from_sklearn(3)),
    ("path is 'rbm.txt'", lambda: ONES.save("rbm.txt")),
    ("file is a int", lambda: datasets.committed(3)),
    # states and data
    ("visible holds values", lambda: ONES.log_density(np.full((2, 4), 0.5))),
    ("visible holds 1 NaN value, the first at [0, 1]: expected one of 0, 1",
     lambda: ONES.log_density([[0, np.nan, 0, 0]])),
    ("visible has shape (2, 2, 4)", lambda: ONES.log_density(np.zeros((2, 2, 4)))),
    ("hidden reaches inf", lambda: ONES.sample_visible(np.full(3, np.inf), 0)),
    ("rng is -1", lambda: rl.GaussianRBM(W).gibbs(DATA, -1)),
    ("data has shape (2, 5)", lambda: rl.log_likelihood(LEAKY_4, np.zeros((2, 5)), 1.0)),
    ("data holds values from 0.0 to 0.5: expected one of 0, 1; binarise",
     lambda: rl.log_likelihood(ONES, DATA / 2, 1.0)),
    ("log_z holds 1 NaN", lambda: rl.log_likelihood(ONES, DATA, np.nan)),
    ("log_z is not an array", lambda: rl.log_likelihood(ONES, DATA, PATH)),
    # bases
    ("data is a sparse csr_array: expected (n_samples, n_visible); data.toarray() makes",
     lambda: rl.base_rate(csr_array(DATA))),
    ("data runs from 0 to 255", lambda: rl.base_rate(DATA * 255)),
    ("data has shape (0, 4)", lambda: rl.base_rate(DATA[:0])),
    ("smoothing is 0", lambda: rl.base_rate(DATA, smoothing=0)),
    ("rbm is a LeakyRBM", lambda: GeometricPath(LEAKY_4)),
    ("base reaches", lambda: GeometricPath(ONES, base=[0.0, 1e39, 0.0, 0.0])),
    ("target.log_density gave shape ()", lambda: along(log_density=lambda x: -1.0)),
    ("target.gradient gave shape (10, 2), 20 NaN", lambda: along(gradient=lambda x: x * np.nan)),
    ("target.n_visible is '2'", lambda: rl.DensityPath(Density(n_visible="2"), 1.0)),
    # schedules, annealing
    ("betas runs from 0.1", lambda: rl.ais(PATH, [0.1, 1], 9)),
    ("betas do not rise at step 2", lambda: rl.ais(PATH, [0, 0.6, 0.5, 1], 9)),
    ("betas do not rise", lambda: rl.reverse_ais(PATH, [0, 0.5, 0.5, 1], 9)),
    ("betas has shape (1,)", lambda: rl.ais(PATH, [0.0], 9)),
    ("n_temperatures is 0", lambda: schedules.linear(0)),
    ("beta is 1.5: expected a point of the path", lambda: PATH.at(1.5)),
    ("beta is [0.5, 0.6]: expected a point of the path", lambda: along().at([0.5, 0.6])),
    ("mixing is array", lambda: schedules.predicted_variance(PILOT, BETAS, A)),
    ("n_recorded is 1", lambda: rl.ais(PATH, BETAS, 9, n_recorded=1)),
    *[(f"n_chains is {n!r}", lambda n=n: rl.ais(PATH, BETAS, n_chains=n)) for n in (
        0, True, 1.5, "ten", np.nan, np.inf, [3], np.timedelta64(5, "s"))],
    *[(f"n_threads is {n!r}", lambda n=n: on_threads(n, rl.ais, PATH, BETAS, 9))
      for n in (0, "two")],
    ("start holds 8", lambda: rl.reverse_ais(PATH, BETAS, 9, start=DATA[:8])),
    ("start holds values", lambda: rl.reverse_ais(PATH, BETAS, 9, start=np.full((9, 4), 0.5))),
    ("n_burn_in is -1",
     lambda: rl.reverse_ais(PATH, BETAS, 9, start="chains", n_burn_in=-1)),
    ("n_chains is 1: expected a whole number, 2 or more", lambda: rl.bar(PATH, BETAS, 1)),
    # tempering; where betas are left out, a pilot would have run
    ("log_z_path", lambda: tempered(BETAS, GUESS[:2])),
    ("prior", lambda: tempered(prior=[0, 1, 1, 1, 1, 1])),
    ("conditional is 'v'", lambda: tempered(conditional="v")),
    ("start is 'target'", lambda: tempered(start="target")),
    ("index", lambda: tempered(n_chains=2, index=[0, 9])),
    ("n_blocks is 0", lambda: tempered(n_blocks=0)),
    ("record_every is 0", lambda: rl.parallel_tempering(PATH, BETAS, 2, 5, record_every=0)),
    ("prior is given, but betas is None", lambda: rl.rts(PATH, prior=np.ones(10))),
    ("n_sweeps is 3", lambda: rl.rts(PATH, n_sweeps=3)),
    ("sample", lambda: rl.rts_of_sample(rl.parallel_tempering(PATH, BETAS, 2, 5, 0))),
    ("skip is 10", lambda: rl.rts_of_sample(RUN, skip=10)),
    ("sample was drawn with conditional='marginal'", lambda: rl.mbar_of_sample(OF_V)),
    ("sample holds 1 chain", lambda: rl.mbar_of_sample(RUN.of_chains([0]))),
    ("sample keeps 1 state per chain", lambda: rl.mbar_of_sample(ONE_ROW)),
    ("source", lambda: rl.ti(3)),
    ("betas, n_chains, n_sweeps or rng is given", lambda: rl.ti(RUN, BETAS)),
    ("rule is 'romberg'", lambda: rl.ti(RUN, rule="romberg")),
    ("rule is 'corrected'", lambda: rl.ti(OF_V, rule="corrected")),
    ("n_chains is 25: expected a multiple of n_groups, 10, such as 30",
     lambda: rl.wang_landau(PATH, BETAS, 25, 10)),
    ("n_groups is 1", lambda: rl.sams(PATH, BETAS, 10, 10, n_groups=1)),
    ("jump is 'up'", lambda: rl.sams(PATH, jump="up")),
    ("start is 'paper'", lambda: rl.sams(PATH, start="paper")),
    ("t_0 is -1", lambda: rl.sams(PATH, t_0=-1)),
    ("exponent is 2", lambda: rl.sams(PATH, exponent=2)),
    ("counts run from 1.0 to 2.0 and sum to 3.0", lambda: rl.solve_mbar(A[:2], [1, 2], [0, 1])),
    ("counts run from -1.0", lambda: rl.solve_mbar(A[:2], [-1, 3], [0, 1])),
    # checks, sums, TAP, log Z in one call
    ("path is a BernoulliRBM: expected an annealing path", lambda: rl.check(ONES, RUN)),
    ("estimate is a float: expected what an estimator", lambda: rl.check(PATH, 3.0)),
    ("rbm is BernoulliRBM(n_visible=31, n_hidden=31): exact enumeration needs a layer",
     lambda: rl.exact(BernoulliRBM(LARGE, LARGE[0], LARGE[0]))),
    ("weights has columns that are not orthogonal", lambda: LEAKY_4.exact_log_z()),
    ("solver is 'newton'", lambda: rl.tap(ONES, solver="newton")),
    ("damping is 1.0", lambda: rl.tap(ONES, damping=1.0)),
    ("max_sweeps is 0.5", lambda: rl.tap(ONES, max_sweeps=0.5)),
    ("starts", lambda: rl.tap(ONES, starts=np.full((1, 4), 2.0))),
    ("rbm is RBM", lambda: rl.tap(SPINS)),
    ("budget_seconds is 1000000000.0", lambda: rl.log_z(OF_MODES, budget_seconds=1e9)),
    ("n_steps is 1000000000.0: expected a whole number, 10,000,000 at most",
     lambda: rl.log_z(OF_MODES, n_steps=1e9)),
    ("budget_seconds is 5 and n_steps", lambda: rl.log_z(OF_MODES, n_steps=9, budget_seconds=5)),
    ("n_chains is 100 without n_steps", lambda: rl.log_z(OF_MODES, n_chains=100)),
    ("n_chains is 3", lambda: rl.log_z(OF_MODES, n_chains=3, n_steps=100)),
    ("data is given with a path", lambda: rl.log_z(PATH, data=DATA)),
    ("progress is a str: expected True, False, or None",
     lambda: rl.using(progress="no").__enter__()),
    # training and tracking
    ("tracker is 5: expected a LogZTracker with", lambda: train(DATA, 3, tracker=5)),
    ("data holds values", lambda: train(DATA * 0.5, 3)),
    ("data has 5 rows", lambda: train(DATA[:5], 3)),
    ("n_hidden is 0", lambda: train(DATA, 0)),
    ("method is 'sgd'", lambda: train(DATA, 3, method="sgd")),
    ("batch_size is 256", lambda: train(DATA, 3, batch_size=256)),
    ("n_updates is 0", lambda: train(DATA, 3, n_updates=0)),
    ("learning_rate is -1", lambda: train(DATA, 3, learning_rate=-1)),
    ("momentum is 1", lambda: train(DATA, 3, momentum=1)),
    ("monitor_every is 0", lambda: train(DATA, 3, monitor_every=0)),
    ("monitor is 3", lambda: train(DATA, 3, monitor=3)),
    ("monitor gave 5", lambda: train(DATA, 3, monitor=lambda _: 5)),
    ("monitor gave {'a': 'x'}: expected", lambda: train(DATA, 3, monitor=lambda _: {"a": "x"})),
    ("monitor gives validation = nan",
     lambda: train(DATA, 3, monitor=lambda _: {"validation": np.nan}, patience=1)),
    ("patience is 1, but 'validation' is not among update, reconstruction_error, "
     "log_likelihood: expected a monitor that gives it, such as tracker.monitor(",
     lambda: train(DATA, 3, n_updates=1, patience=1)),
    ("train has shape (120, 3)", lambda: rl.LogZTracker(B, rng=0).monitor(train=DATA[:, :3])),
    ("rbm has 4 visible units", lambda: rl.LogZTracker(A, rng=0).update(ONES)),
    # rbmbook
    ("gain is 0", lambda: rl.LogZTracker(B, gain=0)),
    ("coupling is -1", lambda: testsystems.random_rbm(4, 3, coupling=-1)),
    ("norm is 'long'", lambda: testsystems.orthogonal_leaky_rbm(5, 3, norm="long")),
]  # fmt: skip


@pytest.mark.parametrize(("message", "call"), REFUSED)
def test_a_wrong_argument_is_named(monkeypatch, message, call):
    """At the beginning of one line; before any pilot; nothing below rbmlib is in the traceback."""
    for name in ("own_ladder", "trip_time"):
        monkeypatch.setattr(planning, name, lambda *_: pytest.fail("a pilot ran"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nor is a warning let through on the way
        with pytest.raises((ValueError, TypeError)) as caught:
            call()
    said = str(caught.value)
    assert_own(caught.value)
    assert said.startswith(message)
    assert any(word in said for word in ("expected", "needs", "saved as", "binarise", "use rl."))
    assert "\n" not in said
    assert caught.value.__cause__ is None


def assert_own(error):
    """Raised by a line of rbmlib or its book, not by one of NumPy or Python's library below."""
    innermost = Path(traceback.extract_tb(error.__traceback__)[-1].filename)
    assert any(map(innermost.is_relative_to, OWN)), f"raised in {innermost}: {error}"


def test_number_of_threads_of_the_environment(monkeypatch):
    for value in ("0", "two", "-1", "1.5"):
        monkeypatch.setenv("RBMLIB_NUM_THREADS", value)
        with pytest.raises(ValueError, match=r"RBMLIB_NUM_THREADS is .*expected"):
            rl.ais(PATH, BETAS, 9)


MANY = 1000
HOLD_CHAINS = [
    (MANY, lambda: rl.ais(PATH, BETAS, MANY)),
    (MANY, lambda: tempered(n_chains=MANY, n_sweeps=10)),
    (10, lambda: tempered(n_chains=10, n_sweeps=100_000)),  # its slopes are kept
    (MANY, lambda: rl.parallel_tempering(PATH, BETAS, MANY, 10)),
    (MANY, lambda: rl.pilot(PATH, BETAS, MANY)),
    (MANY, lambda: rl.LogZTracker(B, n_chains=MANY)),
]


@pytest.mark.parametrize(("n", "call"), HOLD_CHAINS)
def test_chains_that_no_memory_holds_are_refused_before_a_run(n, call, monkeypatch):
    assert 1e8 < checks.memory_of_machine() < 1e14
    monkeypatch.setattr(checks, "memory_of_machine", lambda: 50e3)
    with pytest.raises(ValueError, match=rf"n_chains is {n:,}: expected at most \d+, .* kB.*join"):
        call()


@pytest.mark.parametrize("name", ["weights", "visible_bias", "hidden_bias", "log_scale"])
def test_models_refuse_parameters_beyond_what_kernels_hold(name):
    fine = {"weights": W, "visible_bias": B, "hidden_bias": A, "log_scale": 0.0}
    for value in (1e13, -1.7e308):
        with pytest.raises(ValueError, match=f"{name} reaches .* expected at most 1e"):
            BernoulliRBM(**fine | {name: fine[name] + value})


@pytest.mark.parametrize("outlier", [-5e9, 1e12])
def test_memory_of_mbar_does_not_grow_with_the_spread_of_slopes(outlier):
    rng = np.random.default_rng(0)
    delta = rng.normal([[0.0], [1.0]], size=(2, 5000)).ravel()
    delta[0] = outlier
    tracemalloc.start()
    try:
        found = rl.solve_mbar(delta, counts=[5000, 5000], betas=[0, 1])
        assert tracemalloc.get_traced_memory()[1] < 50e6
    finally:
        tracemalloc.stop()
    # the equation at the root, sample by sample
    w = 1 / (1 + np.exp(np.clip(found.log_z[1] - delta, -700, 700)))
    assert abs(w.sum() - 5000) < 1e-3


# any call -----------------------------------------------------------------------------------

RBM = testsystems.random_rbm(4, 3, rng=0)
GAUSSIAN = rl.GaussianRBM(RBM.weights)
LEAKY = rl.LeakyRBM(0.3 * RBM.weights / np.linalg.norm(RBM.weights))
MIXTURE = testsystems.two_gaussians(2, 3.0)
BITS = np.array([[0.0, 1.0, 1.0, 0.0], [1.0, 0.0, 1.0, 1.0]])
HIDDEN = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0]])
REAL = np.array([[0.3, -0.2, 1.0, 0.4], [0.1, 2.0, -0.5, 0.0]])
THREE = np.array([0.0, 0.4, 1.0])
FEW = np.tile(BITS, (5, 1))
PATHS = {
    "geometric": rl.GeometricPath(RBM),
    "leakiness": rl.LeakinessPath(LEAKY),
    "energy": rl.EnergyPath(LEAKY),
    "gaussian": rl.GeometricPath(GAUSSIAN),
    "density": rl.DensityPath(MIXTURE, 4.0, step_sizes=0.5),
}
GIVEN = {"path": PATHS["geometric"], "betas": THREE, "rng": 0}
SAMPLE = rl.simulated_tempering(PATHS["geometric"], THREE, np.zeros(3), 4, 8, 0)
PILOT = rl.ais(PATHS["geometric"], schedules.linear(30), 10, 0, n_recorded=31, keep_chains=True)


CALLS = {
    "BernoulliRBM": (rl.BernoulliRBM, {
        "weights": RBM.weights, "visible_bias": RBM.visible_bias, "hidden_bias": RBM.hidden_bias,
        "log_scale": 0.5}),
    "GaussianRBM": (rl.GaussianRBM, {"weights": RBM.weights, "visible_bias": RBM.visible_bias}),
    "LeakyRBM": (rl.LeakyRBM, {"weights": LEAKY.weights, "leakiness": 0.1}),
    "log_density": (RBM.log_density, {"visible": BITS}),
    "hidden_mean": (RBM.hidden_mean, {"visible": BITS}),
    "visible_mean": (RBM.visible_mean, {"hidden": HIDDEN}),
    "sample_hidden": (RBM.sample_hidden, {"visible": BITS, "rng": 0}),
    "sample_visible": (RBM.sample_visible, {"hidden": HIDDEN, "rng": 0}),
    "gaussian log_density": (GAUSSIAN.log_density, {"visible": REAL}),
    "leaky log_density": (LEAKY.log_density, {"visible": REAL}),
    "leaky gradient": (LEAKY.gradient, {"visible": REAL}),
    "project_weights": (rl.project_weights, {"weights": RBM.weights}),
    "exact": (rl.exact, {"rbm": RBM}),
    "sample": (rl.sample, {"rbm": RBM, "n_samples": 2, "rng": 0}),
    "base_rate": (rl.base_rate, {"data": FEW, "smoothing": 0.05}),
    "GeometricPath": (rl.GeometricPath, {"rbm": RBM, "base": np.zeros(4)}),
    "DensityPath": (rl.DensityPath, {"target": MIXTURE, "base_variance": 3.0, "step_sizes": 0.4,
                                     "n_leapfrog": 2, "jitter": 0.1}),
    "linear": (schedules.linear, {"n_temperatures": 4}),
    "decelerate": (schedules.decelerate, {"betas": THREE, "max_step": 0.55}),
    "varopt": (schedules.varopt, {"pilot": PILOT, "n_temperatures": 5, "smoothing": 1.0}),
    "ais": (rl.ais, GIVEN | {"n_chains": 3, "n_recorded": 3}),
    "reverse_ais": (rl.reverse_ais, GIVEN | {"n_chains": 3, "start": "exact"}),
    "bar": (rl.bar, GIVEN | {"n_chains": 4, "n_burn_in": 2}),
    "rts": (rl.rts, GIVEN | {"n_chains": 4, "n_sweeps": 5, "prior": [1, 2, 1]}),
    "simulated": (rl.simulated_tempering, GIVEN | {
        "log_z_path": np.zeros(3), "n_chains": 2, "n_sweeps": 3, "index": [0, 2]}),
    "parallel": (rl.parallel_tempering, GIVEN | {"n_chains": 2, "n_sweeps": 3}),
    "rts_of_sample": (rl.rts_of_sample, {"sample": SAMPLE, "skip": 1}),
    "mbar_of_sample": (rl.mbar_of_sample, {"sample": SAMPLE, "skip": 1}),
    "solve_mbar": (rl.solve_mbar, {"delta": [0.1, 0.5, 0.9, 1.2], "counts": [2, 1, 1],
                                   "betas": THREE}),
    "tap": (rl.tap, {"rbm": RBM, "order": 2, "rng": 0, "n_starts": 2}),
    "train": (rl.train, {"data": FEW, "n_hidden": 2, "n_updates": 2, "batch_size": 5,
                         "learning_rate": 0.1, "rng": 0}),
    "random_rbm": (testsystems.random_rbm, {"n_visible": 3, "n_hidden": 2, "coupling": 1.0,
                                            "rng": 0}),
}  # fmt: skip
for _name, _path in PATHS.items():
    CALLS |= {
        f"{_name}: at": (_path.at, {"beta": 0.5}),
        f"{_name}: ais": (rl.ais, GIVEN | {"path": _path, "n_chains": 3}),
    }


@pytest.mark.parametrize("name", CALLS)
def test_every_argument_of_a_call_is_checked_by_its_name(name):
    function, good = CALLS[name]
    answer = quiet(function, **good)
    numbers = getattr(answer, "log_z", answer)
    assert not isinstance(numbers, (float, np.ndarray)) or not np.isnan(numbers).any()
    for argument in good:
        for value in (object(), 1j, RAGGED, {}, "no such", np.nan, np.full((2, 4), np.nan)):
            with pytest.raises((ValueError, TypeError), match=rf"^{argument} ") as caught:
                function(**good | {argument: value})
            assert_own(caught.value)
