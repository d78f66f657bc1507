"""Wrong arguments of estimators, paths, bases and schedules: an error that names the argument.

Messages begin with the keys, of which spaces at the end only tell one case from another.
"""

import numpy as np
import pytest
from helpers_models import on_threads, two_modes
from helpers_refusals import BETAS, DATA, PATH, RAGGED, RBM, assert_refused

import rbmlib as rl
from rbmbook.jarzynski import ReweightedTracker
from rbmbook.testsystems import first_order_rbm
from rbmlib import BernoulliRBM, GeometricPath, checks
from rbmlib.sampling import planning

LARGE = BernoulliRBM(np.ones((31, 31)), np.zeros(31), np.zeros(31))
LARGE_LOG_Z = two_modes()[0]
SPINS = rl.RBM(rl.Spin(np.zeros(3)), rl.Spin(np.zeros(2)), np.ones((3, 2)))
MARGINAL = {"conditional": "marginal"}
GUESS = np.zeros(BETAS.size)
SAMPLE = rl.simulated_tempering(PATH, BETAS, GUESS, 4, 20, 0, record_every=2)
ONE_ROW = rl.simulated_tempering(PATH, BETAS, GUESS, 4, 20, 0, record_every=20)
OF_V = rl.simulated_tempering(PATH, BETAS, GUESS, 4, 10, 0, **MARGINAL)
LADDERS = rl.parallel_tempering(PATH, BETAS, 2, 5, 0)
ESTIMATE = rl.Estimate("made", 1.0, 0.01, (0.9, 1.1))


class OwnPath(GeometricPath):
    """A path whose slope depends on beta, as users may write them."""

    def __init__(self, rbm, base):
        super().__init__(rbm, base)
        self.joint = False


def simulated(*given, **options):
    return lambda: rl.simulated_tempering(PATH, *given or (BETAS, GUESS), **options)


def temper(estimator, *given, path=PATH, **options):
    return lambda: estimator(path, *given or (BETAS, 10, 10), **options)


RUNS = {
    # betas, seeds, models and paths
    "betas runs from 0.1": lambda: rl.ais(PATH, [0.1, 1], 9),
    "betas runs from 0.0 to 0.9": lambda: rl.ais(PATH, [0, 0.9], 9),
    "betas runs from 1.0 to 0.0": lambda: rl.ais(PATH, BETAS[::-1], 9),
    "betas do not rise at step 2": lambda: rl.ais(PATH, [0, 0.6, 0.5, 1], 9),
    "betas do not rise": lambda: rl.reverse_ais(PATH, [0, 0.5, 0.5, 1], 9),
    "betas holds 1 NaN value": lambda: rl.ais(PATH, [0, np.nan, 1], 9),
    "betas has shape ()": lambda: rl.ais(PATH, 1000, 9),
    "betas is not an array of numbers": lambda: rl.ais(PATH, "linear", 9),
    "betas is not an array of numbers ": lambda: rl.ais(PATH, RAGGED, 9),
    "betas has shape (1, 2)": lambda: rl.reverse_ais(PATH, [[0, 1]], 9),
    "betas has shape (1,)": lambda: rl.ais(PATH, [0.0], 9),
    "rng is -1": lambda: rl.ais(PATH, BETAS, 9, -1),
    "rng is 'one'": lambda: rl.reverse_ais(PATH, BETAS, 9, "one"),
    "rng is -1 ": lambda: rl.sample(RBM, 3, -1).states,
    "path is a BernoulliRBM": lambda: rl.ais(RBM, BETAS, 9),
    "path is a NoneType": lambda: rl.reverse_ais(None, BETAS, 9),
    "path is a str": lambda: rl.bar("h10", BETAS),
    "rbm is a GeometricPath": lambda: rl.exact(PATH),
    "rbm is a str": lambda: rl.exact("h10"),
    "rbm is a str ": lambda: rl.sample("h10", 3).states,
    "rbm has 31 visible and 31 hidden": lambda: rl.exact(LARGE),
    "name_or_path is 'h11'": lambda: rl.load_rbm("h11"),
    "n_temperatures is 0": lambda: rl.schedules.linear(0),
    "n_temperatures is 1.5": lambda: rl.schedules.sm08(1.5),
    # annealing
    "n_recorded is 1": lambda: rl.ais(PATH, BETAS, 9, n_recorded=1),
    "start is 'exactly'": lambda: rl.reverse_ais(PATH, BETAS, 9, start="exactly"),
    "start holds 8": lambda: rl.reverse_ais(PATH, BETAS, 9, start=DATA[:8]),
    "start has shape (9, 3)": lambda: rl.reverse_ais(PATH, BETAS, 9, start=np.zeros((9, 3))),
    "start holds values": lambda: rl.reverse_ais(PATH, BETAS, 9, start=np.full((9, 4), 0.5)),
    "n_burn_in is -1": lambda: rl.reverse_ais(PATH, BETAS, 9, start="chains", n_burn_in=-1),
    "start is 'warm'": lambda: rl.bar(PATH, BETAS, start="warm"),
    "n_chains is 1: expected a whole number, 2 or more": lambda: rl.bar(PATH, BETAS, n_chains=1),
    # tempering
    "path is a int": lambda: rl.simulated_tempering(3, BETAS, GUESS),
    "betas runs": simulated([0, 0.5], GUESS[:2]),
    "log_z_path": simulated(BETAS, GUESS[:2]),
    "n_chains is 0": simulated(n_chains=0),
    "n_sweeps is 2.5": simulated(n_sweeps=2.5),
    "prior": simulated(prior=[0, 1, 1, 1, 1, 1]),
    "conditional is 'v'": simulated(conditional="v"),
    "start is 'target'": simulated(start="target"),
    "start": lambda: rl.parallel_tempering(PATH, BETAS, 2, start=np.zeros((3, 4))),
    "index": simulated(n_chains=2, index=[0, 9]),
    "record_every is 0": lambda: rl.parallel_tempering(PATH, BETAS, 2, 5, record_every=0),
    "n_blocks is 0": simulated(n_blocks=0),
    "path is a RBM": temper(rl.rts, path=SPINS),
    "betas runs ": temper(rl.rts, [0, 0.5]),
    "n_chains is 1 ": temper(rl.rts, BETAS, 1),
    "n_sweeps is 0": temper(rl.rts, BETAS, 5, 0),
    "prior ": temper(rl.rts, prior=np.zeros(BETAS.size)),
    "sample is a int": lambda: rl.rts_of_sample(3),
    "sample": lambda: rl.rts_of_sample(LADDERS),
    "skip is 10": lambda: rl.rts_of_sample(SAMPLE, skip=10),
    "sample is a ndarray: expected a TemperedSample": lambda: rl.mbar_of_sample(np.zeros((3, 3))),
    "sample was drawn with conditional='marginal'": lambda: rl.mbar_of_sample(OF_V),
    "skip is 9": lambda: rl.mbar_of_sample(SAMPLE, skip=9),
    "sample holds 1 chain": lambda: rl.mbar_of_sample(SAMPLE.of_chains([0])),
    "source": lambda: rl.ti(3),
    "betas, n_chains, n_sweeps or rng is given": lambda: rl.ti(SAMPLE, BETAS),
    "betas, n_chains, n_sweeps or rng is given ": lambda: rl.ti(SAMPLE, None, 4),
    "betas, n_chains, n_sweeps or rng is given  ": lambda: rl.ti(SAMPLE, n_sweeps=9),
    "betas, n_chains, n_sweeps or rng is given   ": lambda: rl.ti(SAMPLE, rng=0),
    "rule is 'romberg'": lambda: rl.ti(SAMPLE, rule="romberg"),
    "rule is 'random'": lambda: rl.ti(PATH, BETAS, rule="random"),
    "rule is 'corrected'": lambda: rl.ti(OF_V, rule="corrected"),
    "skip is 99": lambda: rl.ti(SAMPLE, skip=99),
    "betas do": temper(rl.ti, [0, 0.7, 0.5, 1]),
    "path is a BernoulliRBM ": temper(rl.sams, path=RBM),
    "n_chains is 4: expected a multiple of n_groups, 10, such as 10": temper(rl.sams, BETAS, 4),
    "n_chains is 25: expected a multiple of n_groups, 10, such as 30": temper(
        rl.wang_landau, BETAS, 25
    ),
    "n_groups is 1": temper(rl.sams, n_groups=1),
    "n_sweeps is 0 ": temper(rl.sams, BETAS, 10, 0),
    "prior  ": temper(rl.wang_landau, prior=np.zeros(BETAS.size)),
    "jump is None": temper(rl.wang_landau, jump=None),
    "sample keeps 1 state a chain": lambda: rl.mbar_of_sample(ONE_ROW),
    "strength is -1.0": lambda: first_order_rbm(strength=-1.0),
    # from values, and opinions
    "counts run from 1.0 to 2.0 and sum to 3.0": lambda: rl.solve_mbar([1.0, 2.0], [1, 2], [0, 1]),
    "counts run from -1.0": lambda: rl.solve_mbar([1.0, 2.0], [-1, 3], [0, 1]),
    "delta holds 1 NaN": lambda: rl.solve_mbar([1.0, np.nan], [1, 1], [0, 1]),
    "counts has shape (1,)": lambda: rl.solve_mbar([1.0, 2.0], [2], [0, 1]),
    "counts run from 0.0 to 0.0 and sum to 0.0": lambda: rl.solve_mbar([], [0, 0], [0, 1]),
    "betas runs from 1.0 to 0.0 ": lambda: rl.solve_mbar([1.0], [1, 0], [1, 0]),
    "delta is not an array of numbers": lambda: rl.solve_mbar(["a"], [1, 0], [0, 1]),
    "path is a BernoulliRBM: expected an annealing path": lambda: rl.check(RBM, ESTIMATE),
    "estimate is a float: expected what an estimator": lambda: rl.check(PATH, 3.0),
    # TAP
    "order is 4": lambda: rl.tap(RBM, order=4),
    "solver is 'newton'": lambda: rl.tap(RBM, solver="newton"),
    "damping is 1.0": lambda: rl.tap(RBM, damping=1.0),
    "damping is -0.1": lambda: rl.tap(RBM, damping=-0.1),
    "n_starts is 0": lambda: rl.tap(RBM, n_starts=0),
    "max_sweeps is 0.5": lambda: rl.tap(RBM, max_sweeps=0.5),
    "starts has shape": lambda: rl.tap(RBM, starts=[[0.5]]),
    "starts": lambda: rl.tap(RBM, starts=np.full((1, 4), 2.0)),
    "starts ": lambda: rl.tap(RBM, starts=np.zeros((0, 4))),
    "rbm is a ndarray": lambda: rl.tap(np.zeros((3, 2))),
    "rbm is RBM": lambda: rl.tap(SPINS),
    # log Z in one call
    "budget_seconds is -1": lambda: rl.log_z(LARGE_LOG_Z, budget_seconds=-1),
    "budget_seconds is 1000000000.0": lambda: rl.log_z(LARGE_LOG_Z, budget_seconds=1e9),
    "n_steps is 0": lambda: rl.log_z(LARGE_LOG_Z, n_steps=0),
    "n_steps is 1000000000.0: expected a whole number, 10,000,000 at most": lambda: rl.log_z(
        LARGE_LOG_Z, n_steps=1e9
    ),
    "n_steps is 'many'": lambda: rl.log_z(LARGE_LOG_Z, n_steps="many"),
    "budget_seconds is 5 and n_steps": lambda: rl.log_z(LARGE_LOG_Z, n_steps=9, budget_seconds=5),
    "n_chains is 100 without n_steps": lambda: rl.log_z(LARGE_LOG_Z, n_chains=100),
    "n_chains is 3": lambda: rl.log_z(LARGE_LOG_Z, n_chains=3, n_steps=100),
    "rng is 'x'": lambda: rl.log_z(LARGE_LOG_Z, n_steps=100, rng="x"),
    "data has shape (3, 7)": lambda: rl.log_z(LARGE_LOG_Z, n_steps=100, data=np.zeros((3, 7))),
    "data is given with a path": lambda: rl.log_z(PATH, data=np.zeros((3, 4))),
    "rbm is a ndarray ": lambda: rl.log_z(RBM.weights),
    # tracking
    "gain is 0": lambda: ReweightedTracker(np.zeros(4), gain=0),
    "gain is 1.5": lambda: ReweightedTracker(np.zeros(4), gain=1.5),
    "n_chains is 1    ": lambda: ReweightedTracker(np.zeros(4), n_chains=1),
    "betas runs from": lambda: ReweightedTracker(np.zeros(4), betas=[0, 0.5]),
    "n_apart is 9": lambda: ReweightedTracker(np.zeros(4), n_apart=9, n_chains=10),
    "resample_below is -1": lambda: ReweightedTracker(np.zeros(4), resample_below=-1),
    # bases
    "rbm is a str  ": lambda: GeometricPath("h10"),
    "base is 'base_rate'": lambda: GeometricPath(RBM, base="base_rate"),
    "base has shape (3,)": lambda: GeometricPath(RBM, base=np.zeros(3)),
    "base has shape (120, 4)": lambda: GeometricPath(RBM, base=DATA),
    "base has shape ()": lambda: GeometricPath(RBM, base=0.0),
    "base holds 4 NaN": lambda: GeometricPath(RBM, base=[np.nan] * 4),
    "base is not an array": lambda: GeometricPath(RBM, base=["a"] * 4),
    "base reaches": lambda: GeometricPath(RBM, base=[0.0, 1e39, 0.0, 0.0]),
    "base reaches ": lambda: GeometricPath(RBM, base=[0.0, -1.7e308, 0.0, 0.0]),
    "data runs from 0 to 255": lambda: rl.base_rate(DATA * 255),
    "data holds -1 and +1 alone": lambda: rl.base_rate(2 * DATA - 1),
    "data runs from -1 to 2": lambda: rl.base_rate(3 * DATA - 1),
    "data has shape (4,)": lambda: rl.base_rate(DATA[0]),
    "data has shape (1, 120, 4)": lambda: rl.base_rate(DATA[None]),
    "data has shape (0, 4)": lambda: rl.base_rate(DATA[:0]),
    "data holds 480 NaN values": lambda: rl.base_rate(DATA * np.nan),
    "data is not an array": lambda: rl.base_rate("mnist"),
    "smoothing is 0": lambda: rl.base_rate(DATA, smoothing=0),
    "smoothing is 'some'": lambda: rl.base_rate(DATA, smoothing="some"),
    "smoothing is inf": lambda: rl.base_rate(DATA, smoothing=np.inf),
    "smoothing is np": lambda: rl.base_rate(DATA, smoothing=np.timedelta64(1, "h")),
}


@pytest.mark.parametrize("message", RUNS)
def test_wrong_argument_is_named(message):
    assert_refused(RUNS[message], message.rstrip())


BEFORE_A_PILOT = {
    "n_sweeps is 3": lambda: rl.rts(PATH, n_sweeps=3),
    "n_sweeps is 'many'": lambda: rl.ti(PATH, n_sweeps="many"),
    "prior is given, but betas is None": lambda: rl.rts(PATH, prior=np.ones(10)),
    "prior is given, but betas is None ": lambda: rl.sams(PATH, prior=np.ones(10)),
    "n_chains is 15": lambda: rl.sams(PATH, n_chains=15),
    "n_chains is 1": lambda: rl.mbar(PATH, n_chains=1),
    "start is 'cold'": lambda: rl.wang_landau(PATH, start="cold"),
    "start is 'paper'": lambda: rl.sams(PATH, start="paper"),
    "jump is 'up'": lambda: rl.sams(PATH, jump="up"),
    "jump is 'up' ": lambda: rl.wang_landau(PATH, jump="up"),
    "t_0 is -1": lambda: rl.sams(PATH, t_0=-1),
    "exponent is 2": lambda: rl.sams(PATH, exponent=2),
    "record_every is 0": lambda: rl.rts(PATH, record_every=0),
    "betas has shape": lambda: rl.mbar(PATH, 99),
}


@pytest.mark.parametrize("message", BEFORE_A_PILOT)
def test_wrong_arguments_are_refused_before_a_pilot(monkeypatch, message):
    for name in ("own_ladder", "trip_time"):
        monkeypatch.setattr(planning, name, lambda *_: pytest.fail("a pilot ran"))
    assert_refused(BEFORE_A_PILOT[message], message.rstrip())


COUNTS = [0, -1, True, 1.5, "ten", None, np.nan, np.inf, [3], np.bool_(True), 1j,
          np.timedelta64(5, "s")]  # fmt: skip


@pytest.mark.parametrize("value", COUNTS, ids=repr)
@pytest.mark.parametrize("function", [rl.ais, rl.reverse_ais])
def test_numbers_of_chains_are_counts(function, value):
    assert_refused(lambda: function(PATH, BETAS, n_chains=value), f"n_chains is {value!r}")


@pytest.mark.parametrize("value", [0, -1, 1.5, "two", True], ids=repr)
def test_numbers_of_threads_are_counts_or_none(value):
    name = f"n_threads is {value!r}"
    assert_refused(lambda: on_threads(value, rl.ais, PATH, BETAS, 9), name)


@pytest.mark.parametrize("value", ["0", "two", "-1", "1.5"])
def test_number_of_threads_of_the_environment(value, monkeypatch):
    monkeypatch.setenv("RBMLIB_NUM_THREADS", value)
    assert_refused(lambda: rl.ais(PATH, BETAS, 9), "RBMLIB_NUM_THREADS is")


MANY = 1000
HOLD_CHAINS = {
    "ais": lambda: rl.ais(PATH, BETAS, MANY),
    "reverse_ais": lambda: rl.reverse_ais(PATH, BETAS, n_chains=MANY),
    "log_z": lambda: rl.log_z(RBM, n_chains=MANY),
    "rts": lambda: rl.rts(PATH, BETAS, MANY, 10),
    "simulated": lambda: rl.simulated_tempering(PATH, BETAS, GUESS, MANY, 10),
    "kept slopes": lambda: rl.simulated_tempering(PATH, BETAS, GUESS, 10, 100_000),
    "parallel": lambda: rl.parallel_tempering(PATH, BETAS, MANY, 10),
    "pilot": lambda: rl.pilot(PATH, BETAS, MANY),
    "tracker": lambda: rl.LogZTracker(np.zeros(4), n_chains=MANY),
}


@pytest.mark.parametrize("name", HOLD_CHAINS)
def test_chains_that_no_memory_holds_are_refused_before_a_run(name, monkeypatch):
    monkeypatch.setattr(checks, "memory_of_machine", lambda: 50e3)
    n = 10 if name == "kept slopes" else MANY
    with pytest.raises(
        ValueError, match=rf"n_chains is {n:,}: expected \d+ at most, .* kB"
    ) as said:
        HOLD_CHAINS[name]()
    assert "rl.join" in str(said.value)


def test_the_memory_is_known():
    assert 1e8 < checks.memory_of_machine() < 1e14
    rl.ais(PATH, BETAS, MANY, rng=0)
