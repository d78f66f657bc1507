"""The report's SAMS and RTS as printed: its path and guesses, and what they do where they work."""

import itertools

import numpy as np
import pytest
from scipy.special import softmax

import rbmlib as rl
from rbmbook.experiments import wang as printed
from rbmbook.experiments.wang import BEGINS, ENDS, cycle_length, iterate, iterates
from rbmbook.sweeps.task import estimate
from rbmbook.sweeps.words import ESTIMATORS, PATHS
from rbmlib import datasets

SMALL = rl.testsystems.random_rbm(n_visible=12, n_hidden=6, coupling=3.0, rng=0)
BETAS = rl.schedules.linear(9)
EXACT = rl.exact(SMALL).log_z
OF_SMALL = ("own visible", "own both", "zero")  # "counts + 5" is of 784 pixels


def path_of(rbm_a):
    return PATHS["printed"](SMALL, rbm_a=rbm_a)


def log_of_equation_8(v, beta, visible_a, hidden_a):
    """As the report prints it: two RBMs, each with hidden units of its own, A without weights."""
    b = beta * v @ SMALL.visible_bias + (1 - beta) * v @ visible_a
    of_b = np.log(1 + np.exp(beta * (v @ SMALL.weights + SMALL.hidden_bias))).sum(axis=1)
    of_a = np.log(1 + np.exp((1 - beta) * hidden_a)).sum()
    return b + of_b + of_a


@pytest.mark.parametrize("constant", printed.CONSTANTS)
@pytest.mark.parametrize("rbm_a", OF_SMALL)
def test_equal_guesses_give_the_reports_conditional(rbm_a, constant):
    """q(beta | v) of eq. (8) and (21) with all ln Z_k = 0 is ours with the guesses made of it."""
    zeros = np.zeros(6), np.zeros(12)
    visible = zeros[1] if rbm_a == "zero" else SMALL.visible_bias
    hidden = SMALL.hidden_bias if rbm_a == "own both" else zeros[0]
    v = np.random.default_rng(1).integers(0, 2, (5, 12)).astype(np.float32)
    theirs = np.stack([log_of_equation_8(v, b, visible, hidden) for b in BETAS], axis=1)
    if constant == "dropped":
        log_z_a = np.log(1 + np.exp(visible)).sum() + np.log(1 + np.exp(hidden)).sum()
        theirs = theirs - (1 - BETAS) * log_z_a
    path = path_of(rbm_a)
    ours = path.log_density(v, BETAS) - printed.equal_guesses(path, BETAS, constant)
    np.testing.assert_allclose(softmax(theirs, axis=1), softmax(ours, axis=1), rtol=1e-5)


@pytest.mark.parametrize("jump", ["global", "local"])
@pytest.mark.parametrize("rbm_a", ["own visible", "zero"])
def test_printed_sams_is_rl_sams_where_a_has_no_hidden_biases(rbm_a, jump):
    visible = np.zeros(12) if rbm_a == "zero" else SMALL.visible_bias
    plain = rl.sams(
        rl.GeometricPath(SMALL, base=visible), BETAS, 8, 300, 5, n_groups=8, start="plain",
        jump=jump,
    )  # fmt: skip
    run, more = ESTIMATORS["sams printed"](
        path_of(rbm_a), BETAS, 5, n_runs=8, n_sweeps=300, jump=jump
    )
    np.testing.assert_array_equal(run.log_weights, plain.log_weights)
    assert run.std_error == plain.std_error
    assert more["variance"] == plain.log_weights.var(ddof=1)
    assert more["lowest"] < run.log_z < more["highest"]


@pytest.mark.parametrize("constant", printed.CONSTANTS)
@pytest.mark.parametrize("rbm_a", OF_SMALL)
def test_long_runs_find_log_z(rbm_a, constant):
    path = path_of(rbm_a)
    sams, _ = ESTIMATORS["sams printed"](path, BETAS, 2, n_sweeps=8000, constant=constant)
    rts, more = ESTIMATORS["rts printed"](
        path, BETAS, 2, n_sweeps=8000, round_sweeps=2000, threshold=0.0, constant=constant
    )
    for run in (sams, rts):
        own = run.log_weights.std(ddof=1) / np.sqrt(20)
        assert abs(run.log_z - EXACT) < 4.5 * own < 0.3
    assert (more["stopped"], more["mean_sweeps"]) == (0, 8000)
    assert not rts.converged


def test_rounds_stop_at_the_threshold():
    """No c_k - 1/K is above 0.9 with ten betas; above 0.05 some are until guesses are near."""
    settings = {"n_sweeps": 20_000, "round_sweeps": 200}
    runs = {
        t: ESTIMATORS["rts printed"](path_of("zero"), BETAS, 3, threshold=t, **settings)
        for t in (0.9, 0.05)
    }
    at_once, later = runs[0.9][1], runs[0.05][1]
    assert (at_once["stopped"], at_once["mean_sweeps"]) == (20, 200)
    assert later["stopped"] == 20
    assert 200 < later["mean_sweeps"] < 20_000
    assert runs[0.05][0].converged


@pytest.mark.parametrize(("name", "afresh"), [("rts printed", 0), ("rts printed, rounds anew", 5)])
def test_rounds_go_on_or_start_afresh(name, afresh, monkeypatch):
    """From v = 0 at a random temperature; the report's loop goes on from the last state."""
    begun = []

    def seen(path, betas, log_z, n, n_sweeps, rng, *, start, index, **more):
        begun.append((start.any(), index[0]))
        return tempering(path, betas, log_z, n, n_sweeps, rng, start=start, index=index, **more)

    tempering = printed.simulated_tempering
    monkeypatch.setattr(printed, "simulated_tempering", seen)
    settings = {"n_runs": 1, "n_sweeps": 100, "round_sweeps": 20, "constant": "kept"}
    ESTIMATORS[name](path_of("zero"), BETAS, 3, threshold=1e-9, **settings)
    assert sum(not some for some, _ in begun) == afresh
    assert len({index for _, index in begun}) > 1


def test_five_are_added_to_each_count():
    counts = datasets.load_mnist().train.sum(axis=0, dtype=float)
    means = 1 / (1 + np.exp(-printed.counts_plus_five()))
    np.testing.assert_allclose(60_000 * means - counts, 5, rtol=1e-9)


def test_the_error_of_printed_rts_is_that_of_the_mean_of_runs():
    run, more = ESTIMATORS["rts printed"](
        path_of("zero"), BETAS, 3, n_runs=5, n_sweeps=60, round_sweeps=20
    )
    assert run.std_error == pytest.approx(np.sqrt(np.cov(run.log_weights) / 5))
    assert more["variance"] == pytest.approx(np.cov(run.log_weights))


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("update", ["alternating", "synchronous"])
def test_where_it_converges_it_ends_at_the_fixed_point_of_the_library(order, update):
    weak = rl.testsystems.random_rbm(n_visible=20, n_hidden=10, coupling=1.5, rng=0)
    begun = BEGINS["uniform"](weak, np.random.default_rng(0))
    found = iterate(iterates(weak, order, begun, update), 500, 1e-10)
    assert found["cycle"] == 1
    assert ENDS[found["ended"]] != "0 log 0"
    expected = rl.tap(weak, order, n_starts=4, compare=False).log_z
    assert found["last"] == pytest.approx(expected, abs=1e-8)
    assert found["final"] == pytest.approx(expected, abs=1e-8)


def test_a_strongly_coupled_unit_runs_in_a_cycle_of_two():
    strong = rl.BernoulliRBM(np.full((3, 1), 8.0), np.full(3, -4.0), np.array([-11.0]))
    # all visible units on and the hidden one off: with both updated at once they change places
    apart = np.array([0.01]), np.full(3, 0.99)
    values = [z for z, _ in itertools.islice(iterates(strong, 1, apart, "synchronous"), 400)]
    found = iterate(_pairs(values), 400, 1e-3)
    assert ENDS[found["ended"]] in ("all updates were done", "the change repeats")
    assert found["cycle"] == 2
    assert found["cycle_high"] - found["cycle_low"] > 0.1
    assert {round(z, 6) for z in values[-20:]} == {
        round(found["cycle_low"], 6), round(found["cycle_high"], 6)
    }  # fmt: skip
    for n in (399, 400):  # which of the two is known without going on
        assert iterate(_pairs(values), n, 1e-3)["final"] == pytest.approx(values[n - 1])
    fixed = rl.tap(strong, 1, n_starts=8, compare=False).trace["log_z"]
    assert np.abs(fixed - found["cycle_high"]).min() > 1e-3
    alternating = iterate(iterates(strong, 1, apart), 400, 1e-3)
    assert alternating["cycle"] == 1
    assert np.abs(fixed - alternating["final"]).min() < 1e-8


def _pairs(values):
    return [(z, False) for z in values]


def test_the_three_ways_in_which_a_call_ends():
    settles = [5.0, 4.0, 3.5, 3.49995, 3.49995]
    found = iterate(_pairs(settles), 5, 1e-3)
    assert (found["last"], found["n_done"], ENDS[found["ended"]]) == (3.49995, 4, "tolerance")
    repeats = [5.0, 4.0, 3.5, 4.0, 3.5]
    found = iterate(_pairs(repeats), 5, 1e-3)
    assert (found["last"], found["n_done"], ENDS[found["ended"]]) == (4.0, 4, "the change repeats")
    saturates = [(5.0, False), (4.0, False), (3.5, True), (3.2, True)]
    found = iterate(saturates, 4, 1e-3)
    assert (found["last"], found["n_done"], ENDS[found["ended"]]) == (4.0, 2, "0 log 0")
    found = iterate(_pairs([5.0, 4.0, 3.5]), 3, 1e-3)
    assert (found["last"], ENDS[found["ended"]]) == (3.5, "all updates were done")


@pytest.mark.parametrize("length", [1, 2, 5])
def test_the_length_of_a_cycle(length):
    ring = np.arange(length) * 0.1
    assert cycle_length(np.concatenate([[9.0, 7.0], np.tile(ring, 9)])) == length
    assert cycle_length(np.linspace(0, 1, 27)) == 0


def test_a_task_is_a_function_of_its_seed():
    task = {"model": "pcd_10", "estimator": "tap as printed", "order": 3, "n_updates": 30}
    first, again, other = (estimate(**task, seed=seed) for seed in (1, 1, 2))
    for row in (first, again, other):
        row.pop("seconds")
    assert first == again
    assert first["log_z"] != other["log_z"] or first["n_done"] != other["n_done"]
    assert {"cycle", "cycle_low", "cycle_high", "n_done", "ended", "final"} <= set(first)


@pytest.mark.parametrize(
    "wrong", [{"order": 4}, {"update": "random"}, {"begin": "middle"}, {"tolerance": -1.0}]
)
def test_wrong_settings_are_refused(wrong):
    task = {"model": "pcd_10", "estimator": "tap as printed", "order": 2, "seed": 0} | wrong
    with pytest.raises(ValueError, match=next(iter(wrong))):
        estimate(**task)
