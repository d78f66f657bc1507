"""The reference set: joined as it says, equal to its runs, and right where it can be checked."""

import math
import time
from contextlib import contextmanager

import baselines
import bench
import make_reference as reference
import numpy as np
import pandas as pd
import pytest
from sklearn.neural_network import BernoulliRBM

import rbmlib as rl
from rbmbook import load_reference
from rbmlib.datasets.register import RBMS

ROW = {
    "model": "pcd_200", "estimator": reference.BOTH, "base": "base rate",
    "log_z": 10.0, "std_error": 0.01, "converged": True,
    "lower": 9.9, "lower_error": 0.02, "upper": 10.1, "upper_error": 0.03,
}  # fmt: skip


def joined(*rows):
    """The row of one model of runs of a seed each, unless they have one."""
    runs = pd.DataFrame([ROW | {"seed": seed} | row for seed, row in enumerate(rows)])
    ((_, row),) = reference.joined(runs).iterrows()
    return row


def test_runs_that_agree_are_averaged_by_their_variances():
    other = {"log_z": 10.01, "std_error": 0.02, "base": "mean field"}
    found = joined({}, other)
    assert found["log_z"] == pytest.approx((10.0 * 4 + 10.01) / 5)
    assert found["std_error"] == pytest.approx(0.01 * math.sqrt(4 / 5), abs=1e-6)
    assert found["chi_squared"] == pytest.approx(0.002**2 / 1e-4 + 0.008**2 / 4e-4)
    assert found["n_runs"] == 2
    assert found["settled"]
    assert not found["exact"]


def test_errors_of_runs_with_one_seed_add_up():
    """Weights 0.8 and 0.2, errors 0.01 and 0.02: 0.012 if they move together."""
    pair = {"seed": 7}, {"seed": 7, "std_error": 0.02, "base": "mean field"}
    assert joined(*pair)["std_error"] == pytest.approx(0.012, abs=1e-6)
    third = {"seed": 8, "std_error": 0.02, "base": "uniform"}
    found = joined(*pair, third)  # weights 2/3, 1/6, 1/6
    together = 0.01 * 2 / 3 + 0.02 / 6
    assert found["std_error"] == pytest.approx(math.hypot(together, 0.02 / 6), abs=1e-6)


def test_runs_that_differ_widen_the_error():
    found = joined({}, {"log_z": 10.1}, {"log_z": 10.2})
    assert found["chi_squared"] == pytest.approx(2 * 100)
    # the error of the mean of three, from their own spread
    assert found["std_error"] == pytest.approx(np.std([10, 10.1, 10.2], ddof=1) / math.sqrt(3))
    assert not found["settled"]


def test_runs_that_differ_beyond_chance_settle_nothing_however_small_their_error():
    other = {"estimator": reference.TEMPERING, "std_error": 0.004}
    far = joined({"std_error": 0.004}, other | {"log_z": 10.03})
    assert far["std_error"] <= reference.MAXIMUM_ERROR
    assert not far["settled"]
    near = joined({"std_error": 0.004}, other | {"log_z": 10.01})
    assert near["settled"]


def test_two_seeds_of_one_method_settle_nothing():
    assert not joined({}, {"log_z": 10.001})["settled"]
    assert joined({}, {"base": "mean field"})["settled"]


def test_the_bracket_is_not_chosen_by_its_ends():
    crossed = {"lower": 10.05, "upper": 10.04, "base": "mean field", "upper_error": 0.05}
    assert joined({}, crossed)["lower"] == 9.9
    flagged = {"lower": 9.99, "lower_error": 0.001, "upper_error": 0.001, "converged": False}
    assert joined({}, flagged)["lower"] == 9.9


def test_flagged_runs_are_left_out_and_one_run_settles_nothing():
    found = joined({}, {"log_z": 12.0, "converged": False})
    assert (found["log_z"], found["n_runs"], found["settled"]) == (10.0, 1, False)
    flagged = joined(*({"converged": False},) * 2)
    assert flagged["n_runs"] == 2
    assert not flagged["settled"]


def test_an_exact_value_stands_alone():
    none = {name: np.nan for name in ("lower", "lower_error", "upper", "upper_error", "std_error")}
    found = joined({}, none | {"estimator": "exact", "log_z": 9.95})
    assert (found["log_z"], found["std_error"], found["upper"]) == (9.95, 0, 9.95)
    assert found["exact"]
    assert found["settled"]


@pytest.mark.filterwarnings("error")
def test_the_committed_table_is_that_of_its_runs():
    computed = reference.joined(reference.runs())
    stored = pd.read_csv(rl.datasets.committed("reference.csv"))
    pd.testing.assert_frame_equal(computed, stored, check_exact=False, rtol=0, atol=2e-6)


def test_every_registered_model_has_a_row_in_the_order_of_size():
    found = load_reference()
    assert set(found) == set(RBMS)
    assert [r.n_hidden for r in found.values()] == sorted(r.n_hidden for r in found.values())


@pytest.mark.parametrize("name", ["pcd_10", "pcd_20", "cd1_20", "cd25_20"])
def test_exact_rows_are_exact(name):
    rbm = rl.load_rbm(name)
    row = load_reference()[name]
    assert row.exact
    assert row.std_error == 0
    assert row.log_z == pytest.approx(rl.exact(rbm).log_z, abs=2e-6)
    assert (row.n_visible, row.n_hidden) == (rbm.n_visible, rbm.n_hidden)


@pytest.mark.parametrize(
    ("name", "widest"), [("h100", 0.1), ("h500", 0.3), ("salakhutdinov_cd25_500", 0.3)]
)
def test_the_models_of_the_papers_are_settled_within_a_narrow_bracket(name, widest):
    row = load_reference()[name]
    assert row.settled
    assert row.std_error <= 0.02
    assert row.n_runs >= 3
    error = math.hypot(row.lower_error, row.upper_error)
    assert -3 * error <= row.upper - row.lower <= widest
    assert row.lower - 3 * error < row.log_z < row.upper + 3 * error
    assert type(row.exact) is bool
    assert not row.exact


def test_programs_take_turns_after_a_round_that_does_not_count():
    order = []

    @contextmanager
    def slow():
        time.sleep(0.05)
        order.append("in")
        yield
        time.sleep(0.05)

    programs = {name: lambda name=name: order.append(name) for name in ("one", "other")}
    seconds = bench.in_turns(programs, 3, {"other": slow})
    assert order == ["one", "in", "other"] * 4
    assert [len(s) for s in seconds.values()] == [3, 3]
    assert max(wall for wall, _ in seconds["other"]) < 0.04


def test_ratios_are_medians_of_ratios_of_a_round():
    seconds = {"ours": [(3.0, 1.0), (6.0, 2.0), (9.0, 10.0)],
               "theirs": [(1.0, 8.0), (1.0, 2.0), (1.0, 20.0)]}  # fmt: skip
    table = bench.rows("task", seconds, {"theirs": 0.5}).set_index("program")
    names = ["wall seconds", "processor seconds", "times rbmlib"]
    assert table.loc["ours", names].tolist() == [6.0, 2.0, 1.0]
    assert table.loc["theirs", names].tolist() == [2.0, 16.0, np.median([16.0, 2.0, 4.0])]


def test_ratios_to_numpy_are_of_the_same_round_and_threads():
    times = {
        (1, "NumPy float64"): (10.0, 20.0, 30.0), (1, "ours"): (1.0, 10.0, 6.0),
        (2, "NumPy float64"): (8.0, 8.0, 8.0), (2, "ours"): (4.0, 4.0, 4.0),
    }  # fmt: skip
    rounds = pd.DataFrame(
        [("m", *key, k, t) for key, of_rounds in times.items() for k, t in enumerate(of_rounds)],
        columns=["model", "threads", "loop", "round", "microseconds"],
    )
    table = bench.wide(bench.summary(rounds))
    assert table.columns.tolist() == ["loop", "m, 1 thread", "m, 2 threads"]
    assert table.to_numpy().tolist() == [
        ["NumPy float64", "20 (1×)", "8 (1×)"], ["ours", "6 (5×)", "4 (2×)"],
    ]  # fmt: skip


@pytest.mark.parametrize("method", ["cd", "pcd"])
def test_each_training_makes_as_many_updates_as_it_says(method, monkeypatch):
    data = (np.random.default_rng(0).random((300, 12)) < 0.5).astype(float)
    made, fit = [], BernoulliRBM._fit
    monkeypatch.setattr(
        BernoulliRBM, "_fit", lambda self, *args: (made.append(1), fit(self, *args))[1]
    )
    per_update = 3 if method == "cd" else 4  # evaluations of the sigmoid: one more for the chains
    monkeypatch.setattr(baselines, "expit", lambda x: (made.append(1 / per_update), 0 * x + 0.5)[1])
    found = baselines.trainings(method)
    for name in ["NumPy float32", "scikit-learn"][: 1 + (method == "pcd")]:
        made.clear()
        found[name](data, 5, 6)
        assert sum(made) == pytest.approx(6), name
