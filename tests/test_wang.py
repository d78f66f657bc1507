"""The course report: its sampler, how stored runs become readings, and what a reading decides."""

import ast
import re
from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from helpers_book import REPOSITORY, read, source
from helpers_models import published, quiet, quiet_path

import rbmlib as rl
from rbmbook import judge, wang
from rbmbook.experiments.wang import counts_plus_five
from rbmbook.verdicts import CONTRADICTED, DEPENDS, OPEN, REPRODUCED, card
from rbmbook.wang import judged, programs

# ------------------------------------------------------------------ Metropolis-Hastings


def sampler(shift=0.0):
    """Correlations of a hundred runs by each rule, of all points and of a tenth of them."""
    rng = np.random.default_rng(0)
    return pd.concat(
        pd.DataFrame({"rule": rule, "points": n, "correlation": rng.normal(mean + shift, sd, 100)})
        for rule, mean in judged.LONG_RUN.items()
        for n, sd in ((50_000, 0.004), (5000, 0.012))
    )


def test_the_sampler_is_judged_by_error_range_and_means():
    found = judged.mh_table(sampler())
    parts = {part[0]: part[2] for part in found.parts}
    assert found.outcome == CONTRADICTED
    assert parts["drawn again, no closer with more points"] == REPRODUCED
    assert parts["drawn again, mean in the printed range"] == CONTRADICTED
    assert parts["counted again, mean, ours minus printed"] == CONTRADICTED
    right = judged.mh_table(sampler(0.23))
    assert {p[0]: p[2] for p in right.parts}["drawn again, mean in the printed range"] == REPRODUCED


# ------------------------------------------------------------------ readings of the programs

LOOP = {"model": "h10", "rbm_a": "counts + 5", "n_temperatures": 99, "round_sweeps": 2000,
        "threshold": 0.02, "constant": "kept", "estimator": "rts printed", "n_runs": 1,
        "stopped": 1.0, "variance": np.nan}  # fmt: skip


def loops(log_z, **changed):
    return pd.DataFrame({"log_z": log_z}).assign(**LOOP | changed)


def test_runs_of_several_rows_are_pooled():
    rng = np.random.default_rng(0)
    groups = [rng.normal(5, 2, n) for n in (3, 7, 20)]
    rows = [{"n_runs": len(g), "log_z": g.mean(), "variance": g.var(ddof=1)} for g in groups]
    every = np.concatenate(groups)
    found = programs.pooled(pd.DataFrame(rows))
    assert found == {"n": 30, "log_z": pytest.approx(every.mean()),
                     "variance": pytest.approx(every.var(ddof=1))}  # fmt: skip


def test_a_variance_on_random_ladders_is_that_of_one_run_on_its_own_ladder():
    rng = np.random.default_rng(0)
    ladder, runs = rng.normal(500, 6, 20_000), rng.normal(0, 2, (20_000, 2))
    setting = {"model": "h500", "rbm_a": "zero", "schedule": "random", "n_temperatures": 99,
               "jump": "global", "constant": "kept", "exponent": 0.7, "n_sweeps": 5000,
               "n_runs": 2}  # fmt: skip
    rows = {"log_z": ladder + runs.mean(axis=1), "variance": runs.var(axis=1, ddof=1)}
    found = programs.of_sams(pd.DataFrame(rows).assign(**setting)).iloc[0]
    assert found["n"] == 20_000
    assert found["variance"] == pytest.approx(6**2 + 2**2, rel=0.05)
    assert found["reading"] == "zero, random ladders, 5,000 sweeps"


@pytest.mark.parametrize(("place", "name"), list(enumerate(["h10", "h20", "h100", "h500"])))
def test_the_step_sums_in_the_lesson_on_sams_are_those_of_its_paths(place, name):
    """The mean of log Z over the temperatures minus the smallest, within 0.3 nats."""
    cells = read(REPOSITORY / "book/learn/07_sams.ipynb")["cells"]
    shown = next(source(cell) for cell in cells if cell["id"] == "sams-03s")
    needed = ast.literal_eval(re.search(r"\"needed\": (\[.*?\])", shown)[1])
    path = quiet_path(published(name), counts_plus_five())
    log_z = quiet(rl.ais, path, rl.schedules.linear(990), 100, 0, n_recorded=100).log_z_path
    assert log_z.mean() - log_z.min() == pytest.approx(needed[place], abs=0.3)


def test_the_loop_is_judged_by_the_runs_that_stopped():
    stored = pd.concat([loops([226.0, 227.0]), loops([500.0], stopped=0.0),
                        loops([300.0], stopped=0.0, threshold=0.05)])  # fmt: skip
    found = programs.of_rts(stored).set_index("threshold")
    assert found.loc[0.02, ["n", "tried", "log_z", "variance"]].tolist() == [2, 3, 226.5, 0.5]
    assert found.loc[0.05, ["n", "tried"]].tolist() == [0, 1]
    assert found.loc[0.02, "reading"] == "N = 2,000, Tlimit 0.02, kept"


def test_rows_that_mix_stopped_runs_with_others_are_refused():
    with pytest.raises(ValueError, match="1 rows mix"):
        programs.of_rts(loops([226.0], n_runs=20, stopped=19.0, variance=0.3))


def reading(log_z, variance, n=200, model="h10"):
    return {"model": model, "reading": "r", "n": n, "log_z": log_z, "variance": variance}


@pytest.mark.parametrize(
    ("log_z", "variance", "n", "outcome"),
    [
        (226.1, 0.35, 200, REPRODUCED),
        (228.0, 0.35, 200, CONTRADICTED),
        (226.1, 0.02, 200, CONTRADICTED),
        (226.1, 40.0, 200, CONTRADICTED),
        (226.45, 0.35, 200, REPRODUCED),
        (226.52, 0.35, 200, OPEN),
        (226.2, 0.35, 20, REPRODUCED),  # twenty runs can agree with twenty
        (226.1, 0.35, 10, OPEN),
    ],
)
def test_a_reading_is_judged_by_mean_and_variance(log_z, variance, n, outcome):
    """Printed of RTS on h10: 226.1005, variance 0.2963."""
    found = programs.judged("wang-rts-h10", "RTS", reading(log_z, variance, n))
    assert found["mean of 20 runs"].outcome == outcome


def test_a_printed_log_z_may_be_that_of_one_run():
    """Printed of AIS on h20: 218.23, variance 19.4639; 8 nats are two standard deviations."""
    row = reading(210.6, 21.0, model="h20")
    found = programs.judged("wang-ais-h20", "AIS", row)
    assert {x: v.outcome for x, v in found.items()} == {
        "mean of 20 runs": CONTRADICTED, "one run": REPRODUCED
    }  # fmt: skip


def test_a_row_depends_if_one_reading_gives_it_and_another_does_not():
    every = {"tried": 200}
    rows = [reading(226.1, 0.35) | every | {"reading": "fits"}, reading(240.0, 90.0) | every]
    found = programs.over_readings("wang-rts-h10", "RTS", pd.DataFrame(rows))
    assert found.outcome == DEPENDS
    assert found.note == "on N and Tlimit: agreement in 2 of 4 cases, contradiction in 2"
    assert found.ours.startswith(f"The nearest reading (fits) gives {programs.said(rows[0])}.")
    assert "margin for the mean is ±0.838 nats" in found.ours
    alone = programs.over_readings("wang-rts-h10", "RTS", pd.DataFrame(rows[1:]))
    assert alone.outcome == CONTRADICTED
    never = reading(np.nan, np.nan, n=0) | {"tried": 20, "reading": "never stops"}
    some = rows[1] | {"threshold": 0.5}
    unknown = pd.DataFrame([some, never | {"threshold": 0.1}])
    unknown = programs.over_readings("wang-rts-h10", "RTS", unknown)
    assert unknown.outcome == OPEN
    assert unknown.note == "agreement in 0 of 3 cases, contradiction in 2"
    assert "Tlimit up to 0.1, none of 20 runs stops. With 0.5, the means are" in unknown.ours
    assert "14 ± 1 to 14 ± 1 nats above log Z" in unknown.ours
    few = pd.DataFrame([*rows, reading(230.0, 1.0, n=9) | {"tried": 9}])
    assert "2 of 4 cases" in programs.over_readings("wang-rts-h10", "RTS", few).note


def test_an_error_counts_mean_and_spread():
    rng = np.random.default_rng(4)
    row = reading(wang.truth("h10") + 1.5, 4.0, n=50)
    found = programs.rmse(row)
    assert np.exp(found.value) == pytest.approx(2.5)
    off = rng.normal(1.5, 2.0, (20_000, 50))
    logs = np.log(np.sqrt(off.mean(axis=1) ** 2 + off.var(axis=1, ddof=1)))
    assert found.std_error == pytest.approx(logs.std(), rel=0.05)


@pytest.mark.parametrize(
    ("local", "jumps", "far", "outcome"),
    [(6.0, 2.0, 40.0, REPRODUCED), (2.0, 6.0, 40.0, CONTRADICTED), (6.0, 2.0, 4.0, OPEN)],
)
def test_jumps_are_compared_where_one_kind_ends_near_log_z(local, jumps, far, outcome):
    rows = []
    for base, model in ((b, m) for b in judged.RBM_A for m in ("h10", "h20", "h100")):
        off = (far, far) if (base, model) == ("own both", "h100") else (local, jumps)
        off = (40.0, 40.0) if base == "zero" or (base, model) == ("counts + 5", "h20") else off
        how = {"rbm_a": base, "schedule": "linear", "n_temperatures": 99, "constant": "kept"}
        for n, (jump, x) in product((30_000, 200_000), zip(("local", "global"), off, strict=True)):
            row = reading(wang.truth(model) - x, x, 50, model) | how
            rows.append(row | {"jump": jump, "n_sweeps": n})
    assert judged.sams_local(SimpleNamespace(sams=pd.DataFrame(rows))).outcome == outcome


# ------------------------------------------------------------------ TAP


def calls(values, model="h100", order=3, **more):
    settings = {"model": model, "order": order, "n_updates": 1000, "ended": 2, "n_done": 9,
                "cycle": 1, "cycle_low": 335.7382, "cycle_high": 335.8569}  # fmt: skip
    seeds = {"seed": 2014 + np.arange(len(values)), "log_z": np.asarray(values, float)}
    return pd.DataFrame(seeds | settings | programs.FIRST | more)


CYCLE = [335.7382] * 15 + [335.8569] * 5


def test_calls_in_a_cycle_of_two_may_split_as_is_printed():
    assert programs.in_cycle(calls(CYCLE))
    assert not programs.in_cycle(calls([335.7382] * 20))
    assert not programs.in_cycle(calls([*CYCLE[:-1], 335.8]))
    upper, mean, variance = programs.split_nearest(calls(CYCLE), 335.7857)
    assert (upper, round(mean, 4), round(variance, 4)) == (8, 335.7857, 0.0036)
    assert programs.split_nearest(calls(CYCLE), 400.0)[0] == 20


def outcome_of(values, text="1.04e-4"):
    found = calls(values, "h500", 2, cycle_low=np.nan, cycle_high=np.nan)
    return programs.variance_judged("wang-tap-h500", found, text, 432.6).outcome


def test_variances_of_sets_of_twenty_calls():
    x = np.cos(np.pi * np.arange(20))
    sd = np.sqrt(1.04e-4 * 19 / 20)

    def sets(*times):
        return np.concatenate([sd * t * x for t in times])

    assert outcome_of(sets(0.5, 2.0)) == REPRODUCED
    assert outcome_of(sets(1.5, 2.0)) == OPEN
    assert outcome_of(sets(4.0, 9.0)) == CONTRADICTED
    assert outcome_of(sets(0.01, 0.1)) == CONTRADICTED
    assert outcome_of(np.zeros(20)) == CONTRADICTED
    assert outcome_of(np.zeros(20), "0.0") == REPRODUCED
    assert outcome_of(9 * sd * np.cos(np.arange(20.0))) == CONTRADICTED


def test_a_row_of_tap_is_judged_over_orders_and_numbers_of_calls():
    two = calls(341.3 + 1e-5 * np.cos(np.arange(20.0)), order=2, cycle_low=np.nan)
    found = programs.row_judged("wang-tap-h100", pd.concat([calls(CYCLE), two]))
    assert {part[0].rsplit(", ", 1)[1] for part in found.parts if part[2] != CONTRADICTED} == {
        "mean of 20 calls of TAP3"
    }
    far = pd.concat([calls(np.array(CYCLE) - 3, cycle_low=np.nan), two])
    assert programs.row_judged("wang-tap-h100", far).outcome == CONTRADICTED


def test_quick_calls_come_below_the_tolerance_soon():
    def outcomes(ended, n_done):
        runs = pd.concat([calls([1.0] * 20, m, ended=ended, n_done=n_done, tolerance=t)
                          for m in wang.MODELS for t in (0.001, 0.1, 2.0)])  # fmt: skip
        one_call = calls([1.0] * 3, "h500", n_updates=[1, 2, 3], seed=2014, final=[5.0, 1.0, 1.0])
        runs = pd.concat([runs, one_call])
        return {part[2] for part in judged.tap_quick(SimpleNamespace(tap=runs)).parts}

    assert outcomes(1, 50) == {REPRODUCED}
    assert outcomes(1, 51) == {CONTRADICTED}
    assert outcomes(2, 50) == {CONTRADICTED}  # in a cycle


def test_a_sentence_over_readings_and_models():
    name = "wang-rts-accuracy"
    yes, no = (judge.left_open(name, "r")._replace(outcome=o) for o in (REPRODUCED, CONTRADICTED))
    turn = wang.over({"a": {"h10": yes}, "b": {"h10": no}}, "ours", "N")
    assert turn.outcome == DEPENDS
    assert turn.note == "on N: agreement in 1 of 2 cases, contradiction in 1"
    many = wang.over({f"x{i}": yes if i < 9 else no for i in range(20)}, "ours")
    assert [part[0] for part in many.parts] == [f"x{i}" for i in range(11)]
    assert "11 of 20 cases are listed. All cases: 9 reproduced, 11 contradicted." in card(many)


# ------------------------------------------------------------------ seconds


SHORT, LONG = "SAMS, 5,000 sweeps", "SAMS, 30,000 sweeps"


def seconds(**of):
    """Three runs of each program on each model; ``of`` changes the seconds of a program."""
    base = {"AIS": 1.0, "TAP3, a": 0.01, "TAP3, b": 0.02, "RTS_a": 0.5, "RTS_b": 0.6}
    base |= {SHORT: 0.05, LONG: 0.06} | of
    spread = np.array([0.99, 1.0, 1.01])
    rows = [
        pd.DataFrame({"units": n, "program": k, "seconds": x * n * spread})
        for n in (10, 20) for k, x in base.items()
    ]  # fmt: skip
    return pd.concat(rows)


def test_the_order_of_the_seconds():
    assert judged.speed_order(seconds()).outcome == REPRODUCED
    found = judged.speed_order(seconds(**{LONG: 2.0}))
    parts = {part[0]: part[2] for part in found.parts}
    assert parts["SAMS within 30 s on h500"] == CONTRADICTED  # 40 s with 30,000 sweeps
    assert parts["SAMS faster than AIS"] == DEPENDS
    assert "0.05 times as long with 5,000 sweeps and 2.00 times as long with 30,000" in found.ours
    for factor, outcome in ((0.4, REPRODUCED), (0.25, CONTRADICTED)):  # 0.6 of the temperatures
        changed = seconds()
        changed.loc[(changed["units"] == 20) & (changed["program"] == "AIS"), "seconds"] *= factor
        grows = judged.speed_order(changed).parts[0]
        assert grows[2] == outcome
    slow = {"TAP3, a": 3.0}
    assert judged.speed_order(seconds(**slow)).outcome == CONTRADICTED
    found = judged.speed_order(seconds(**{"TAP3, a": 0.045, SHORT: 0.04}))
    assert found.outcome == DEPENDS
    twice = "h10 with a (1.1 times as long) and h20 with a (1.1 times as long)."
    assert f"faster than SAMS with 5,000 sweeps, except on {twice}" in found.words


def test_the_error_of_a_mean_counts_that_of_the_reference(monkeypatch):
    reference = {"h10": SimpleNamespace(log_z=2.0, std_error=0.4)}
    monkeypatch.setattr(programs, "reference", lambda: reference)
    off = programs.mean_error({"model": "h10", "log_z": 2.5, "variance": 0.9, "n": 10})
    assert (off.value, off.freedom) == (0.5, 9)
    assert off.std_error == pytest.approx(0.5)
