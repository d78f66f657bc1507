"""Adding chains to an AIS run: the same as one run of all the chains."""

from dataclasses import replace

import numpy as np
import pytest

import rbmlib as rl
from rbmlib import Estimate

BETAS = rl.schedules.linear(60)
pytestmark = pytest.mark.filterwarnings("ignore::rbmlib.ConvergenceWarning")
TRACE = {"n_recorded": 7, "expectations": {"rate": lambda visible: visible}}


def path_of(n_hidden, scale=1.0):
    rbm = rl.testsystems.random_rbm(23, n_hidden, coupling=4.0, rng=1)
    return rl.GeometricPath(
        rl.BernoulliRBM(scale * rbm.weights, rbm.visible_bias, rbm.hidden_bias), np.zeros(23)
    )


@pytest.mark.parametrize("n_hidden", [9, 70])  # narrow and wide kernels
@pytest.mark.parametrize("counts", [(40, 60), (1, 99), (99, 1), (64, 36), (33, 1, 66)])
def test_added_chains_are_those_of_one_run(n_hidden, counts, tmp_path):
    path = path_of(n_hidden)
    whole = rl.ais(path, BETAS, n_chains=sum(counts), rng=5, **TRACE)
    joined = rl.ais(path, BETAS, n_chains=counts[0], rng=5, **TRACE)
    for n in counts[1:]:
        joined.save(tmp_path / "run.json")
        loaded = Estimate.load(tmp_path / "run.json")
        joined = rl.join(path, loaded, BETAS, n, expectations=TRACE["expectations"])
    np.testing.assert_array_equal(joined.log_weights, whole.log_weights)
    for name in ("log_z", "std_error", "interval", "ess", "mean_log_z", "mean_std_error",
                 "n_chains", "n_sweeps", "converged", "settings"):  # fmt: skip
        assert getattr(joined, name) == getattr(whole, name), name
    np.testing.assert_array_equal(joined.betas, whole.betas)
    np.testing.assert_allclose(joined.log_z_path, whole.log_z_path, rtol=1e-12)
    for name, column in whole.trace.items():
        np.testing.assert_allclose(joined.trace[name], column, rtol=1e-9, atol=1e-12)


def test_states_are_joined_where_both_are_there():
    path = path_of(9)
    first = rl.ais(path, BETAS, n_chains=10, rng=5, n_recorded=2)
    joined = rl.join(path, first, BETAS, 20)
    whole = rl.ais(path, BETAS, n_chains=30, rng=5, n_recorded=2)
    np.testing.assert_array_equal(joined.states, whole.states)
    assert joined.seconds > first.seconds


def with_rows_shuffled(path):
    """The same sums of the rows of W: base and first slopes cannot tell them apart."""
    rbm = path.rbm
    weights = rbm.weights[:, ::-1]
    made = rl.BernoulliRBM(weights, rbm.visible_bias, rbm.hidden_bias)
    return rl.GeometricPath(made, base=path.models[0].visible_bias)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda run, path: ((path_of(9, 1.01), BETAS), {}), "another path"),
        (lambda run, path: ((path, rl.schedules.linear(61)), {}), "other betas"),
        (lambda run, path: ((path, rl.schedules.sm08(60)), {}), "other betas"),
        (lambda run, path: ((path, np.sort(BETAS**1.0000001)), {}), "other betas"),
        (lambda run, path: ((with_rows_shuffled(path), BETAS), {}), "another path"),
        (lambda run, path: ((path, BETAS), {"run": rl.exact(path.rbm)}), "by 'exact'"),
        (lambda run, path: ((path, BETAS), {"run": "run.json"}), "run is a str"),
        (
            lambda run, path: (
                (path, BETAS),
                {"run": replace(run, log_weights=run.log_weights[:49])},
            ),
            "run holds 49 log_weights of 50 chains",
        ),
        (
            lambda run, path: ((path, BETAS), {"run": replace(run, log_weights=None)}),
            "run holds",
        ),
        (
            lambda run, path: (
                (path, BETAS),
                {"run": replace(run, log_weights=run.log_weights * np.nan)},
            ),
            "not finite",
        ),
        (
            lambda run, path: ((path, BETAS), {"expectations": {"x": lambda v: v[:, 0]}}),
            "looked at otherwise",
        ),
    ],
)
def test_other_runs_are_refused(change, words):
    path = path_of(9)
    run = rl.ais(path, BETAS, n_chains=50, rng=5)
    arguments, more = change(run, path)
    path, betas = arguments
    with pytest.raises((ValueError, TypeError), match=words):
        rl.join(path, more.pop("run", run), betas, 10, **more)
