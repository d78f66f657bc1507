"""Counts of verdicts by values of a hand-made table, and of intervals by cell."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from helpers_models import quiet

import rbmlib as rl
from rbmbook.experiments import calibration
from rbmbook.trust import cell_shares, cells, cost, holm, judged, verdicts
from rbmlib.estimate import VERDICTS

NAN = np.nan
COLUMNS = ["verdict", "log_z", "exact", "own_error", "std_error"]
ROWS = [
    ("verified", 10.0, 10.01, 0.10, 0.10),
    ("consistent", 9.0, 10.0, 0.10, 0.10),  # wrong
    ("consistent", 9.98, 10.0, 0.001, 0.001),  # many errors, few nats
    ("contradicted", 9.0, 10.0, 0.10, 1.0),
    ("contradicted", 9.0, 10.0, 0.50, 1.1),  # right by its own error
    ("inconclusive", 9.0, 10.0, NAN, NAN),
]


def test_verdicts_are_counted_with_what_is_wrong():
    runs = pd.DataFrame(ROWS, columns=COLUMNS)
    runs["verdict"] = runs["verdict"].map(VERDICTS.index)
    found = verdicts(judged(runs), ["verdict"]).set_index("verdict")
    assert list(found.index) == ["verified", "consistent", "inconclusive", "contradicted"]
    assert found["runs"].tolist() == [1, 2, 1, 2]
    assert found["wrong"].tolist() == [0, 1, 1, 0]
    assert found["false"].tolist() == [0, 0, 0, 1]
    assert found.loc["consistent", "percent"] == "50.0 (1.3 to 98.7)"


def test_the_cost_of_a_check_is_of_runs_of_a_second():
    runs = pd.DataFrame({
        "method": ["ais", "ais", "ais", "log_z"], "run_seconds": [1.0, 2.0, 0.1, 9.0],
        "check_seconds": [0.02, 0.1, 0.05, 0.0],
    })  # fmt: skip
    assert cost(runs).to_numpy().tolist() == [["ais", 2, pytest.approx(3.5), pytest.approx(5.0)]]


def test_a_task_is_what_a_user_gets():
    found, columns = quiet(calibration._verdict, 1, of="planted", family="bits, bits", method="ais")
    rbm = calibration.planted_model_of("bits, bits", 1)
    users = quiet(calibration.CHECKED["ais"], rl.GeometricPath(rbm), 1)
    assert (found.log_z, found.verdict) == (users.log_z, users.verdict)
    assert VERDICTS[columns["verdict"]] == users.verdict
    assert columns["exact"] == rl.exact(rbm).log_z


def test_models_of_the_bench_are_those_of_its_files():
    rbm, log_z = calibration.model_of("bench", "spike in slab", 2)
    assert abs(rl.exact(rbm).log_z - log_z) < 1e-6


@pytest.mark.parametrize("kind", list(calibration.SIZES)[:6])
def test_a_planted_pattern_has_the_share_that_is_drawn(kind):
    shares = []
    for seed in range(12):
        rbm = calibration.planted_model_of(kind, seed)
        v, column = rbm.exact_samples(4000, 0), rbm.weights[:, -1]
        if rbm.hidden.values is None:
            shares.append(np.mean(v @ column > (v @ column).max() / 2))
        else:
            on = rbm.hidden_mean(v)[:, -1].mean()
            shares.append((on + 1) / 2 if isinstance(rbm.hidden, rl.Spin) else on)
    assert min(shares) > 0.2 - 0.03
    assert max(shares) < 0.95 + 0.03
    assert np.ptp(shares) > 0.3


def test_a_pattern_among_heavy_states_has_twice_their_odds():
    """Seed 135 draws a share below what lies near the pattern without its unit."""
    rbm = calibration.planted_model_of("spins, rectified", 135)
    v = np.array(list(product((-1.0, 1.0), repeat=12)))
    column, mean = rbm.weights[:, -1], np.tanh(rbm.visible.bias)
    near = v @ column > (np.sign(column) + mean) @ column / 2

    def odds(model):
        p = np.exp(model.log_density(v) - rbm.log_density(v).max())
        return p[near].sum() / p[~near].sum()

    without = rbm.hidden.with_(bias=np.append(rbm.hidden.bias[:-1], -100.0))
    assert odds(rbm) == pytest.approx(2 * odds(rbm.with_(hidden=without)), rel=1e-6)


def test_blocks_of_a_cell_are_added_up():
    blocks = pd.DataFrame({
        "path": ["p", "q", "p"], "model": "m", "method": ["ais", "ais", "ais"],
        "n_repeats": [1000, 100, 1000], "n_converged": [900, 0, 600], "hold_50": [500, 0, 250],
        "hold_80": [700, 0, 500], "hold_95": [840, 0, 585], "all_95": [900, 90, 900],
    })  # fmt: skip
    counted = cells(blocks)
    assert list(counted.index) == [("p", "m", "ais"), ("q", "m", "ais")]
    first, second = cell_shares(counted).to_dict("records")
    assert first == {"path": "p", "model": "m", "estimator": "ais", "runs": "2,000",
                     "converged": "1,500", "50%": 50.0, "80%": 80.0, "95%": 95.0,
                     "all, 95%": 90.0}  # fmt: skip
    assert (second["converged"], second["all, 95%"]) == ("0", 90.0)
    assert np.isnan(second["95%"])


def test_holm_stops_at_the_first_that_it_holds():
    # 0.01 / 3, 0.01 / 2 and 0.01: the second is too large, so that the third is held as well
    assert holm([[0.003, 0.006, 0.009]]).tolist() == [[True, False, False]]
    assert holm([0.003, 0.004, 0.011]).tolist() == [True, True, False]


class Chains(SimpleNamespace):
    """A sample that only knows how many chains it has; what is read off is which they are."""

    def of_chains(self, chosen):
        return np.arange(self.n_chains)[chosen].tolist()


def read(chains):
    return SimpleNamespace(method="rts", chains=chains)


@pytest.mark.parametrize(
    ("block", "sampler", "kind", "before"),
    [("_tempered", "_sample", "sample", ("joint",)), ("_ladders", "_replicas", "ladders", ())],
)
def test_runs_of_a_block_share_no_chain(monkeypatch, block, sampler, kind, before):
    each = calibration.CHAINS[kind]
    monkeypatch.setattr(calibration, sampler, lambda *_: Chains(n_chains=3 * each))
    runs = list(getattr(calibration, block)(read, *before, None, np.linspace(0, 1, 3), 0, 3))
    assert [run.estimate.chains for run in runs] == np.arange(3 * each).reshape(3, each).tolist()
    assert [run.n_values for run in runs] == [each] * 3


@pytest.mark.parametrize("method", calibration.METHODS)
def test_every_method_runs(method):
    rbm = rl.testsystems.random_rbm(6, 3, coupling=2.0, rng=0)
    runs = calibration.METHODS[method](rl.GeometricPath(rbm), rl.schedules.linear(5), 3, 2)
    off = quiet(lambda: next(iter(runs))).estimate.log_z - rl.exact(rbm).log_z
    assert abs(off) < 0.2
