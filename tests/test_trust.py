"""Counts of runs that are trusted and wrong, by values of a hand-made table."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from helpers_models import quiet
from scipy.stats import binom

import rbmlib as rl
from rbmbook.experiments.calibration import kinds, trusted
from rbmbook.trust import (
    at_most,
    cell_shares,
    cells,
    counts,
    coverage,
    errors,
    history,
    holm,
    judged,
    share_interval,
    signs,
    worth,
)

NAN = np.nan
COLUMNS = ["log_z", "exact", "own", "own_error", "own_low", "own_high",
           "converged", "std_error", "low", "high"]  # fmt: skip
ROWS = [
    (10.0, 10.01, 1, 0.10, 9.8, 10.2, True, 0.10, 9.8, 10.2),  # right, trusted
    (9.0, 10.0, 1, 0.10, 8.8, 9.2, False, 1.00, 10.0, NAN),  # a miss that was refuted
    (9.0, 10.0, 1, 0.10, 8.8, 9.2, True, 0.10, 8.8, 9.2),  # a miss that was not
    (9.98, 10.0, 1, 0.001, 9.97, 9.99, True, 0.001, 9.97, 9.99),  # many errors, few nats
    (9.0, 10.0, 1, 0.50, 8.0, 10.1, False, 0.50, 10.2, NAN),  # a false alarm
    (9.0, 10.0, 0, 0.10, 8.8, 9.2, False, 0.10, 8.8, 9.2),  # its own checks saw it
]


@pytest.fixture
def runs():
    return judged(pd.DataFrame(ROWS, columns=COLUMNS).assign(kind=list("aaabbb")))


def test_flags_of_each_run(runs):
    assert runs["silent"].tolist() == [False, True, True, False, False, False]
    assert runs["still"].tolist() == [False, False, True, False, False, False]
    assert runs["alarm"].tolist() == [False, False, False, False, True, False]


def test_worth_of_a_sign(runs):
    short = runs["std_error"] < 0.5
    assert worth("s.e. below 0.5", runs, short) == {
        "sign": "s.e. below 0.5", "runs": 6, "trusted": 4, "wrong": 2, "alarms": 0,
    }  # fmt: skip
    assert worth("none", runs, runs["log_z"] > 99)["alarms"] == 2  # off by 0.01 and by 0.02


def test_signs_of_runs_and_of_plain_annealing(runs):
    families = ["pockets", "pockets", "pockets", "two signs", "pockets", "pockets"]
    methods = ["log_z"] * 3 + ["ais"] * 3
    before = pd.DataFrame({
        "exact": [10.0, 10.0], "first_log_z": [9.0, 10.0], "first_error": [0.05, 0.2],
        "reverse_log_z": [9.1, 12.0], "reverse_error": [0.05, 0.2],
        "ess": [400.0, 3.0], "pareto_k": [0.9, np.nan],
    })  # fmt: skip
    found = signs(runs.assign(family=families, method=methods), before).set_index("sign")
    assert found["runs"].tolist() == [3, 2, 2, 2, 2, 2]
    assert found.loc["rl.log_z"].tolist() == [3, 2, 1, 0]
    assert found.loc["AIS: ESS of 100 or more"].tolist() == [2, 1, 1, 1]
    assert found.loc["AIS: Pareto k below 0.7"].tolist() == [2, 1, 0, 0]
    assert found.loc["AIS: standard error below 0.1"].tolist() == [2, 1, 1, 1]
    assert found.loc["AIS and reverse AIS within 4 s.e."].tolist() == [2, 1, 1, 1]


def test_history_of_counts(runs):
    one = runs.assign(seed=[40_000] * 5 + [40_001])
    second, fourth = one[:2].assign(seed=60_000), one[:1].assign(seed=90_000)
    found = history(one, second, one[5:].assign(seed=80_003), fourth)
    assert found["declared in"].is_unique
    assert found["seeds"].tolist() == [
        "40,000 to 40,001",
        "60,000 to 60,000",
        "80,003 to 80,003",
        "90,000 to 90,000",
    ]
    assert found.iloc[0, 3:].tolist() == [6, 5, 2, 3, 1, 1]
    assert found.iloc[1, 3:].tolist() == [2, 2, 1, 1, 0, 0]
    assert found.iloc[2, 3:].tolist() == [1, 0, 0, 0, 0, 0]
    assert found.iloc[3, 3:].tolist() == [1, 1, 0, 1, 0, 0]


def test_counts_by_kind(runs):
    found = counts(runs, "kind")
    assert found.loc["a"].tolist() == [3, 3, 2, 2, 1, 0]
    assert found.loc["b"].tolist() == [3, 2, 0, 1, 0, 1]


def test_errors_by_kind(runs):
    runs = runs.assign(processor_seconds=[0.1, 0.2, 0.6, 0.1, 0.2, 0.9])
    found = errors(runs, "kind")
    nats = [np.sqrt((0.01**2 + 2) / 3), np.sqrt((0.02**2 + 2) / 3)]
    own = [np.sqrt((0.1**2 + 1 + 10**2) / 3), np.sqrt((20**2 + 2**2 + 10**2) / 3)]
    assert found["error, nats"].tolist() == pytest.approx(nats)
    assert found["error, s.e."].tolist() == pytest.approx(own)
    assert found[["runs", "flagged", "trusted and wrong"]].to_numpy().tolist() == [
        [3, 1, 1],
        [3, 2, 0],
    ]
    assert found["ms"].tolist() == pytest.approx([200.0, 200.0])
    of_all = errors(runs.assign(log_z=10.0, exact=10.0, std_error=0.0), "kind")
    assert of_all["error, nats"].tolist() == [0.0, 0.0]
    assert of_all["error, s.e."].isna().all()


def test_shares_of_intervals_are_of_those_that_are_trusted(runs):
    found = coverage(runs, "kind").loc["a"]
    assert found["converged"] == 100
    assert found["hold"] == pytest.approx(100 / 3)
    assert found["converged, after"] == pytest.approx(200 / 3)
    assert found["hold, after"] == 50


def test_an_upper_limit_of_a_share():
    assert at_most(0, 100) == pytest.approx(1 - 0.05 ** (1 / 100))
    assert at_most(7, 7) == 1.0


def test_the_model_of_two_signs_has_its_odds_and_its_log_z():
    rbm, log_z, _ = trusted.two_signs()
    up, down = (trusted._log_z_of_sign(rbm, sign) for sign in (1, -1))
    assert up - down == pytest.approx(np.log(trusted.ODDS), abs=1e-9)
    v = rl.sample(rbm, 20_000, 0).states  # half of the hidden units on: neither sign
    p = rbm.hidden_mean(v)[:, 0]
    tie = np.mean(252 * p**5 * (1 - p) ** 5)
    assert tie == pytest.approx(1 - np.exp(up - log_z) - np.exp(down - log_z), abs=1e-3)


def test_a_run_that_misses_a_mode_is_kept_with_what_it_said_itself():
    run, columns = trusted._trusted(1, family="golf", method="ais")
    assert columns["own"] == 1
    assert columns["opinion"] == -1
    assert not run.converged
    assert run.log_z < columns["exact"] - 0.5
    assert columns["own_high"] < columns["exact"]
    assert columns["sum"] <= columns["exact"] + 1e-9


@pytest.mark.parametrize("method", ["ais", "log_z", "parallel tempering"])
def test_a_run_of_a_kind_is_what_a_user_gets_and_what_it_said_alone(method):
    found, columns = quiet(kinds._of_a_kind, 1, kind="planted spins, spins", method=method)
    path = rl.GeometricPath(kinds.planted_model_of("spins, spins", 1))
    users = quiet(kinds.METHODS[method], path, 1)
    with rl.using(independent_check=False):
        alone = quiet(kinds.METHODS[method], path, 1)
    assert (found.log_z, found.std_error) == (users.log_z, users.std_error)
    assert (found.interval, found.converged) == (users.interval, users.converged)
    assert (columns["own"], columns["own_error"]) == (alone.converged, alone.std_error)


@pytest.mark.parametrize("kind", list(kinds.PAIRS)[:6])
def test_a_planted_pattern_has_the_share_that_is_drawn(kind):
    shares = []
    for seed in range(12):
        rbm = kinds.planted_model_of(kind, seed)
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
    rbm = kinds.planted_model_of("spins, rectified", 135)
    v = np.array(list(product((-1.0, 1.0), repeat=12)))
    column, mean = rbm.weights[:, -1], np.tanh(rbm.visible.bias)
    near = v @ column > (np.sign(column) + mean) @ column / 2

    def odds(model):
        p = np.exp(model.log_density(v) - rbm.log_density(v).max())
        return p[near].sum() / p[~near].sum()

    without = rbm.hidden.with_(bias=np.append(rbm.hidden.bias[:-1], -100.0))
    assert odds(rbm) == pytest.approx(2 * odds(rbm.with_(hidden=without)), rel=1e-6)


@pytest.mark.parametrize("kind", kinds.PAIRS)
def test_a_wide_kind_has_more_states_than_an_opinion_adds_up(kind, monkeypatch):
    """Unless a sum lies above the value: it then has more time, which is taken from it here."""
    monkeypatch.setattr("rbmlib.search.opinion.DOUBTED", 0.0)
    path = rl.GeometricPath(kinds.model_of(kind, 0))
    run = quiet(rl.ais, path, kinds.FEW, 10, 0)
    assert run.details["second_opinion"]["complete"] != kind.startswith("wide")


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


def test_interval_of_a_share_by_its_tails():
    low, high = share_interval([3], [10])
    assert binom.sf(2, 10, low[0]) == pytest.approx(0.025)
    assert binom.cdf(3, 10, high[0]) == pytest.approx(0.025)
