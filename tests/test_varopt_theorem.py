"""`rbmbook.varopt_theorem`, and `equal_cost`: numbers with errors, by hand."""

import math

import numpy as np
import pandas as pd
import pytest

import rbmlib as rl
from rbmbook import equal_cost, varopt_theorem
from rbmbook.measured import measured
from rbmlib import schedules


def small_path(kind=rl.GeometricPath):
    return kind(rl.testsystems.random_rbm(6, 3, coupling=2.0, rng=0), base=np.zeros(6))


def test_perfect_transitions_forget():
    """After one transition to beta = 1 the states are the model's, whatever they were before."""
    path = small_path(varopt_theorem.PerfectPath)
    far = np.ones((4000, 6))
    seen = path.transition(far, 1.0, np.random.default_rng(0)).mean(axis=0)
    states = np.array([[int(b) for b in f"{i:06b}"] for i in range(64)], float)
    p = np.exp(path.rbm.log_density(states) - rl.exact(path.rbm).log_z)
    assert seen == pytest.approx(p @ states, abs=0.04)


def test_foretold_is_k_times_the_variance_of_pilots():
    path, betas = small_path(), schedules.linear(10)
    pilots = [
        rl.ais(path, schedules.linear(50), 50, s, n_recorded=51, slopes=True) for s in range(3)
    ]
    each = [10 * schedules.predicted_variance(p, betas) for p in pilots]
    found = varopt_theorem.foretold(pilots, betas)
    assert found.value == pytest.approx(np.mean(each))
    assert found.std_error == pytest.approx(np.std(each, ddof=1) / math.sqrt(3))
    one = varopt_theorem.foretold_by_one(pilots[0], pilots[1:], betas, work=4)
    assert one.value == pytest.approx(each[0])
    assert one.std_error == pytest.approx(np.std(each[1:], ddof=1) / 2)


def test_variance_of_scales_value_and_error():
    run = rl.ais(small_path(), schedules.linear(20), 60, 1)
    one, ten = (varopt_theorem.variance_of(run, times=k) for k in (1, 10))
    assert one.value == pytest.approx(np.var(run.log_weights, ddof=1))
    assert ten[:2] == pytest.approx((10 * one.value, 10 * one.std_error))


def test_pooled_errors():
    values = [measured(2.0, 0.3), measured(4.0, 0.4)]
    apart, tied = varopt_theorem.pooled(values), varopt_theorem.pooled(values, dependent=True)
    assert apart[:2] == pytest.approx((math.log(3), 0.5 / 6))
    assert tied[:2] == pytest.approx((math.log(3), 0.7 / 6))
    assert varopt_theorem.in_errors(values, values[::-1]) == pytest.approx([-4, 4])


def test_skewness_takes_each_group_from_its_own_mean():
    found = varopt_theorem.skewness([[0, 0, 3], [100, 100, 400]])
    z = np.array([-1, -1, 2]) / math.sqrt(3)
    assert found[:2] == pytest.approx(((z**3).mean(), 1.0))


def test_errors_at_equal_cost():
    runs = pd.DataFrame({
        "variance": [1.0, 3.0], "variance_low": [0.9, 2.9], "variance_high": [1.1, 3.1],
        "reverse_mean": [5.0, 7.0], "mean_log_z": [4.0, 4.0],
        "reverse_mean_error": [0.3, 0.3], "mean_std_error": [0.4, 0.4],
    })  # fmt: skip
    assert equal_cost.mean_variance(runs)[:2] == pytest.approx((2.0, 1.0))  # their spread
    assert equal_cost.mean_variance(runs[:1])[:2] == pytest.approx((1.0, 0.2 / 3.92))
    assert equal_cost.mean_gap(runs)[:2] == pytest.approx((2.0, 0.5 / math.sqrt(2)))
