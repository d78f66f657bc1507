"""What the notebook on Carlson et al. needs: rounds, stored runs, small experiments, verdicts."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from helpers_tempering import BETAS, EXACT, PATH, run

import rbmlib as rl
from rbmbook import measured as ms
from rbmbook import stored
from rbmbook.carlson2016 import judged, runs
from rbmbook.carlson2016 import rounds as rounds_of
from rbmbook.carlson2016 import small as sm
from rbmbook.carlson2016.estimators import transition_rts, transition_sums
from rbmbook.verdicts import CONTRADICTED, DEPENDS, OPEN, REPRODUCED
from rbmlib.estimators.rts import EMPTY, updated


@pytest.mark.parametrize("column", ["mixed", "visited"])
def test_a_round_is_fifty_sweeps_and_an_update(column):
    guesses = (1 - BETAS) * PATH.log_z_base
    (one,) = rounds_of.rounds(PATH, BETAS, 20, 3, 1, column=column)
    sample = rl.simulated_tempering(PATH, BETAS, guesses, 20, 50, np.random.default_rng(3),
                                    n_blocks=1, record_every=50)  # fmt: skip
    c = getattr(sample, column)[0, :, 0].sum(axis=0)
    c = c + (EMPTY if column == "visited" else 0)
    after = updated(guesses, sample.prior, c / c.sum())
    np.testing.assert_allclose(one.shares, c / c.sum())
    np.testing.assert_allclose(one.guesses, after)
    assert one.log_z == pytest.approx(after[-1] - after[0] + PATH.log_z_base)


def test_sweeps_that_are_left_out_are_not_in_the_shares():
    (used,) = rounds_of.rounds(PATH, BETAS, 20, 3, 1)
    (later,) = rounds_of.rounds(PATH, BETAS, 20, 3, 1, left_out=10)
    assert (used.sample.n_sweeps, later.sample.n_sweeps) == (50, 40)
    assert not np.allclose(used.shares, later.shares)


def test_rts_goes_on_from_the_first_round_that_is_close():
    """From its states with fresh betas, with all of its own sweeps used."""
    run, made = rounds_of.rts_from_rounds(PATH, BETAS, 60, 200, 3)
    far = [rounds_of.distance(one.shares) for one in made]
    assert far[-1] < 0.1 <= min(far[:-1])
    assert len(far) < 10
    source = np.random.default_rng(3)
    rounds_of.rounds(PATH, BETAS, 60, source, len(made))
    start = {"start": made[-1].sample.states, "n_blocks": 20, "record_every": 200}
    sample = rl.simulated_tempering(PATH, BETAS, made[-1].guesses, 60, 200, source, **start)
    assert run.log_z == rl.rts_of_sample(sample).log_z
    assert run.settings["start"] == "paper"


def test_sweeps_left_out_bring_far_guesses_nearer():
    """In the first round fresh betas at the bottom keep c_0 near 1 / N, and the rise near log N."""
    rate = rl.base_rate(rl.datasets.load_mnist().train)
    path = rl.GeometricPath(rl.load_rbm("pcd_10"), base=rate)
    betas, n_chains = rl.schedules.linear(99), 50
    off = {}
    for left_out in (0, 10):
        made = rounds_of.rounds(path, betas, n_chains, 1, 5, left_out=left_out)
        off[left_out] = 193.010618 - np.array([0.0, *(one.log_z for one in made)])
    rise = {left_out: errors[0] - errors[1] for left_out, errors in off.items()}
    assert rise[0] < np.log(50 * n_chains) + 3
    assert rise[10] > 3 * rise[0]
    assert abs(off[10][-1]) < off[0][-1] / 2


# ---------------------------------------------------------------- tracking


def test_the_tracker_is_compared_where_ais_is_sound():
    row = runs.against_ais(pd.DataFrame({
        "update": [0, 100, 200], "log_z": [10.0, 10.0, 10.0], "ess": [80, 60, 4],
        "tracked": [10.5, 9.5, 7.0], "validation": [-5.0, -3.0, -2.0],
    }))  # fmt: skip
    assert (row["evaluations"], row["sound evaluations"], row["smallest ESS"]) == (3, 2, 4)
    assert (row["RMS difference"], row["largest difference"]) == (0.5, 0.5)
    # by AIS the likelihoods are -4.5, -3.5, -5
    assert (row["best tracked update"], row["best update by AIS"]) == (200, 100)
    assert (row["nats lost"], row["ESS at best by AIS"]) == (1.5, 60)


def test_trainings_are_those_of_chains_gain_rate_and_seed():
    rows = [
        {"n_chains": n, "n_apart": apart, "gain": 0.2, "learning_rate": rate,
         "n_annealed": annealed, "look": look, "n_updates": 2000, "n_looks": 20, "seed": seed}
        for n, apart, rate, annealed, seed in (
            (400, 0, 4e-5, 100, 8), (2000, 400, 3.5e-5, 100, 7), (400, 0, 4e-5, 100, 7),
            (400, 0, 4e-5, 1000, 7),
        )
        for look in (2, 1)
    ]  # fmt: skip
    found = runs.trainings(pd.DataFrame(rows))
    names = ["1,600 chains, α = 0.2, step 3.5e-05", "400 chains, α = 0.2, step 4e-05"]
    assert [*found] == [*names, f"{names[1]}, seed 8"]
    assert all(run["update"].tolist() == [100, 200] for run in found.values())


# ---------------------------------------------------------------- the small model


def test_exact_shares_are_those_of_chains_at_equilibrium():
    small = sm.small_model(0)
    sample = rl.simulated_tempering(*small.where, 2000, 200, 1, record_every=200)
    found = sample.occupation()[5:].mean(axis=(0, 1))
    np.testing.assert_allclose(found, small.shares(small.guesses), rtol=0.1)


def test_three_routes_meet_only_with_expected_counts():
    small = sm.small_model(0)
    sample = rl.simulated_tempering(*small.where, 40, 50, 1, n_blocks=1)
    with pytest.warns(rl.ConvergenceWarning):
        routes, derivative = sm.three_routes(small, sample)
    assert derivative < 1e-12
    assert judged.same_estimator(routes, derivative).outcome == REPRODUCED
    assert judged.same_estimator(routes | {"x": 0.0}, derivative).outcome == CONTRADICTED


def test_conductance_of_betas_with_a_bottleneck():
    moves = np.array([[40.0, 10.0, 0.0], [10.0, 39.0, 1.0], [0.0, 1.0, 99.0]])
    np.testing.assert_allclose(sm.conductance(moves), [10 / 50, 1 / 100])


# ---------------------------------------------------------------- stored runs and verdicts


def frame_of(**methods) -> pd.DataFrame:
    """Runs of the public model: ``method_steps=errors``, RTS from a pilot."""
    rows = pd.DataFrame(
        [(*key.split("_"), e, i) for key, errors in methods.items() for i, e in enumerate(errors)],
        columns=["method", "steps", "error", "seed"],
    ).astype({"steps": int})
    begun = np.where(rows["method"] == "RTS", runs.PILOT, "")
    return rows.assign(model=runs.PUBLIC, n_images=100, begun=begun)


NOISE = np.random.default_rng(0).normal(0, 0.1, 20)


def test_the_start_decides_where_readings_disagree():
    near, far = NOISE, NOISE - 100.0
    frame = frame_of(RTS_1000=near, AIS_1000=5 * NOISE, RAISE_1000=5 * NOISE)
    late = frame[frame["method"] == "RTS"].assign(begun="v and h, all sweeps", error=far)
    name = "carlson-fig3-500-dominates"

    def judge_it(of):
        return judged.of_start(name, of, [runs.PUBLIC], [judged.PARTS["dominates"]])

    alone = judge_it(frame)
    assert alone.outcome == OPEN
    assert alone.words.endswith("Of 8 cases with ten rounds, 8 are open.")
    both = judge_it(pd.concat([frame, late]))
    assert both.outcome == DEPENDS
    assert both.ours.startswith(
        "After 4,000 pilot steps that are not counted, the RMSE divided by that of RTS at equal "
        "sweeps is 5.00"
    )
    ratio = ms.rmse(5 * NOISE) / ms.rmse(far)
    assert both.words.endswith(f"1 are contradicted ({ratio:.3g} for AIS) and 7 are open.")


def test_ais_with_another_spacing_is_a_reading():
    frame = frame_of(RTS_1000=NOISE, AIS_10000=5 * NOISE)
    other = frame_of(AIS_10000=2 * NOISE).assign(method=runs.SPACED_AIS)
    where = "carlson-fig3-500-tenfold", pd.concat([frame, other]), runs.PUBLIC
    found = [judged.needs_tenfold(*where, x)["AIS"].effect for x in (runs.PILOT, judged.SPACED)]
    assert found == pytest.approx([5, 2])


def test_a_ratio_over_lengths_counts_each_seed_once():
    rng = np.random.default_rng(3)
    a, b = 2 * rng.normal(size=(30, 1)), rng.normal(size=(40, 1))
    one = judged.mean_ratio(a, b)
    alone = ms.rmse_ratio(a[:, 0], of=b[:, 0], paired=False)
    assert (one.value, one.std_error) == pytest.approx((alone.value, alone.std_error))
    same = judged.mean_ratio(np.hstack([a, a, a]), np.hstack([b, b, b]))
    assert (same.value, same.std_error) == pytest.approx((one.value, one.std_error))
    others = judged.mean_ratio(2 * rng.normal(size=(30, 3)), rng.normal(size=(40, 3)))
    assert others.std_error < 0.8 * one.std_error


def test_every_run_counts_where_some_lengths_have_more_seeds():
    """Two lengths, one with 20 of 60 seeds; the spread over repeats of the whole is the error."""
    rng = np.random.default_rng(8)

    def draw():
        errors = np.array([-2.0, 1.0]) + rng.normal(size=(60, 2)) * [0.5, 1.5]
        errors[20:, 1] = np.nan
        return errors

    few, many = draw(), draw()
    rms = [np.sqrt(np.nanmean(x**2, axis=0)) for x in (few, many)]
    assert np.exp(judged.mean_ratio(few, of=many).value) == pytest.approx(
        np.exp(np.log(rms[0] / rms[1]).mean())
    )
    assert judged.size_of_bias(few).value == pytest.approx(abs(np.nanmean(few, axis=0)).mean())
    for judge_it in (judged.size_of_bias, lambda x: judged.mean_ratio(x, of=draw())):
        found = [judge_it(draw()) for _ in range(400)]
        spread = np.std([m.value for m in found])
        assert np.mean([m.std_error for m in found]) == pytest.approx(spread, rel=0.15)


def test_ais_below_and_raise_above():
    steps = {
        f"{m}_{k}": s * (1 + NOISE) for m, s in (("AIS", -1), ("RAISE", 5)) for k in (100, 1000)
    }
    assert judged.sandwich(frame_of(**steps)).outcome == REPRODUCED
    steps["AIS_100"] = steps["AIS_1000"] = 1 + NOISE
    assert judged.sandwich(frame_of(**steps)).outcome == CONTRADICTED
    one = {name: errors for name, errors in steps.items() if name.endswith("_100")}
    three = one | {f"{m}_{k}": one[f"{m}_100"] for m in ("AIS", "RAISE") for k in (300, 1000)}
    assert judged.sandwich(frame_of(**three)).parts == judged.sandwich(frame_of(**one)).parts


def test_an_error_that_grows_with_temperatures_is_seen():
    k = np.array([10, 50, 100, 1000, 3001])
    level, rises = np.ones(5), (k / 100) ** 0.5

    def curve(rts):
        return pd.DataFrame({"rts": rts}, index=k)

    def chains(errors):
        rows = {"n_temperatures": [99, 3000], "n_sweeps": [100, 400]}
        return pd.DataFrame(rows | {"std_error": np.array(errors)[[2, 4]] / [10, 20]})

    assert runs.growth(curve(rises), 100) == pytest.approx(30.01**0.5)
    for rts, spread, outcomes in (
        (level, 0.02, (REPRODUCED, OPEN)), (rises, 0.02, (CONTRADICTED, REPRODUCED)),
        (level, 0.5, (OPEN, OPEN)), (1 / rises, 0.02, (CONTRADICTED, CONTRADICTED)),
    ):  # fmt: skip
        noise = np.exp(spread * np.array([-1, 1, -1, 1, 0]))[:, None] ** [1, -1, 1, -1, -1]
        errors = [rts * factor for factor in noise]
        found = judged.more_temperatures([*map(curve, errors)], pd.concat(map(chains, errors)))
        assert tuple(v.outcome for v in found) == outcomes
        level_chains = pd.concat(chains(factor) for factor in noise)
        found = judged.more_temperatures([*map(curve, errors)], level_chains)
        assert found[1].outcome == OPEN
        assert (runs.growth(curve(rts), 100) > 1) == ("3,001 temperatures is 5." in found[0].ours)


def test_the_reference_variance_is_judged_on_three_models(monkeypatch):
    columns = np.column_stack([np.ones(300), np.random.default_rng(0).normal(size=(300, 2))])
    unit = np.linalg.qr(columns)[0].T[1:] * 299**0.5  # of mean 0 and variance 1, uncorrelated

    def found(public, small):
        of = {runs.PUBLIC: public, "h100": small, "spectral_100": 2 * small}
        errors = {"RTS": unit[0], "AIS": unit[1]}
        monkeypatch.setattr(
            judged, "_errors", lambda _, m, method, *__: errors[method] * of[m] ** 0.5
        )
        return judged.truth_variance(None)

    cases = (0.1, 0.1), (0.006, 0.1), (0.1, 0.006), (0.006**2, 0.1)
    assert [found(*x).outcome for x in cases] == [CONTRADICTED, DEPENDS, DEPENDS, CONTRADICTED]
    assert "average are 0.003 to 0.006 (" in found(0.006, 0.1).ours
    assert "are 0.0060, 0.0060 and 0.0030 on h100, and 0.0120, " in found(0.1, 0.006).words


def test_adapted_steps_are_judged_on_each_ladder():
    def found(linear):
        rows = [
            {"kernel": "hmc", "ladder": ladder, "n_leapfrog": 1, "steps": steps, "n_chains": 200,
             "round_trips": trips, "round_trips_error": 0.1}
            for ladder, adaptive in (("square", 9.0), ("linear", linear))
            for steps, trips in (("adaptive", adaptive), ("fixed", 3.0))
        ]  # fmt: skip
        noise = np.random.default_rng(0).normal(size=40)
        return judged.adaptive(pd.DataFrame(rows), {"fixed": 3 * noise, "adapted": noise})

    assert [found(x).outcome for x in (9.0, 1.0)] == [REPRODUCED, DEPENDS]
    assert "by 3.000 [" in found(1.0).ours
    assert "(k/40)²) and by 0.3333 [" in found(1.0).ours


def test_estimates_of_a_point_are_pooled_by_their_number():
    rows = pd.DataFrame({"n_temperatures": 99, "n_estimates": [100, 300], "n_mbar": [20, 0],
                         "log_z": [5.0, 7.0]})  # fmt: skip
    for column in runs.ESTIMATES:
        rows[column], rows[f"{column}_error"] = rows["log_z"] + [0.3, 0.0], [0.4, 0.1]
    rows.loc[1, ["mbar", "mbar_error"]] = np.nan
    found = runs.rmse_by_temperatures(rows).loc[100]
    assert found["ti"] == pytest.approx(np.sqrt((0.25 + 3 * 0.01) / 4))
    assert (found["mbar"], found["n"], found["n_mbar"]) == (pytest.approx(0.5), 400, 20)


def test_ti_needs_a_larger_error_than_ti_rb():
    def curves(ti):
        rows = {"ti": ti, "ti_rb": [0.1, 0.1], "n": 1000}
        return {"a": pd.DataFrame(rows, index=[100, 3001])}

    assert judged.tirb(curves([0.3, 0.33])).outcome == REPRODUCED
    assert judged.tirb(curves([0.1, 0.07])).outcome == CONTRADICTED


def test_stopping_by_the_tracker_is_judged_by_what_it_loses():
    def of(*lost):
        found = {f"400 chains, seed {i}": {"nats lost": x} for i, x in enumerate(lost)}
        others = {key: {"nats lost": 9.0} for key in ("1,600 chains", "400 chains, step 1e-05")}
        return judged.early_stopping(found | others)

    assert of(0.1, 0.0, 0.2).outcome == REPRODUCED
    assert of(2.1, 2.0, 2.2).outcome == CONTRADICTED
    assert of(0.1, 1.0, 0.0).outcome == OPEN
    assert "6 h" in of(0.1, 1.0, 0.0).note
    assert "one nat, and 1 lose more" in of(0.1, 9.0, 0.2).words


def test_a_smaller_variance_of_the_gradient_is_seen():
    def of(*rising):
        rows = {"prior": ["uniform"] * 3 + ["rising"] * 3, "variance": [20.0, 21.0, 22.0, *rising]}
        return judged.prior_gradient(pd.DataFrame(rows))

    assert of(10.0, 10.5, 11.0).outcome == REPRODUCED
    assert "is 0.500 [" in of(10.0, 10.5, 11.0).ours
    assert of(40.0, 41.0, 42.0).outcome == CONTRADICTED


def test_gains_of_the_matrix_of_moves_are_judged_on_each_training():
    rng = np.random.default_rng(2)
    spread = np.exp(rng.normal(0, 0.03, 40))
    e = abs(rng.normal(1, 0.1, 40))

    def gains(*rsd, sd=1.08):
        of = {
            f"training {i}": {"rts": e, "rsd": gain * spread * e, "sd": sd * spread * e}
            for i, gain in enumerate(rsd)
        }
        return judged.gains_a_tenth(of, of).outcome

    assert gains(0.88, 0.88) == DEPENDS  # on which of the two
    assert gains(0.88, 1.0) == DEPENDS  # and on the training
    assert gains(0.88, 0.88, sd=0.88) == REPRODUCED
    assert gains(0.95, 0.95, sd=0.95) == OPEN  # surely a gain, but of a tenth?
    assert gains(1.08, 1.08) == CONTRADICTED
    noisy = {k: x * e * rng.normal(1, 0.02, 40) for k, x in (("rts", 1), ("sd", 1.08))}
    assert judged.gains_nothing(noisy | {"rsd": noisy["sd"]}).outcome == REPRODUCED
    assert judged.gains_nothing(noisy | {"rsd": 0.5 * noisy["sd"]}).outcome == CONTRADICTED


def test_tracking_is_judged_at_the_rate_of_the_paper():
    def of(many=0.5, **largest):
        found = {"1,600 chains, α = 0.2, step 3.5e-05": many}
        found |= {f"400 chains, α = 0.05, step {k[1:]}e-05": x for k, x in largest.items()}
        return judged.tracks({k: {"largest difference": x} for k, x in found.items()})

    assert of(r4=2.0, r1=0.6).outcome == REPRODUCED
    assert of(r4=2.0, r1=1.6).outcome == CONTRADICTED
    assert of(1.6, r4=2.0, r1=0.6).outcome == CONTRADICTED


def test_the_bias_of_rts_is_that_over_all_lengths():
    def found(**ais):
        columns, noise = {}, NOISE - NOISE.mean()
        for k, x in ais.items():
            columns |= {f"RTS{k}": 0.3 + noise, f"AIS{k}": noise - x, f"RAISE{k}": 5 + noise}
        name, frame = "carlson-fig3-500-bias", frame_of(**columns)
        return judged.less_biased(name, frame, runs.PUBLIC, runs.PILOT)

    larger = found(_100=2.0, _300=1.0, _1000=0.3)
    assert {v.outcome for v in larger.values()} == {REPRODUCED}
    assert larger["AIS"].effect == pytest.approx(-0.8)
    assert found(_100=0.3, _300=0.3, _1000=0.3)["AIS"].outcome != REPRODUCED


@pytest.mark.parametrize(
    "claim", ["eq15-eq16", "update-dominates", "uniform-prior", "bias-subtraction", "appendix-a",
              "tracking-cost"],
)  # fmt: skip
def test_what_frozen_programs_have_measured_is_judged_by_its_region(claim):
    found = judged.kept(f"carlson-{claim}")
    assert found.outcome == REPRODUCED
    assert found.parts[0][1] in found.ours
    assert not re.search(r"\[\d\]", found.ours)


def test_a_frozen_effect_outside_its_region_contradicts(tmp_path, monkeypatch):
    head = "claim,case,effect,low,high,level,scale,at_least,at_most,unit,said,setting\n"
    name, second = "carlson-autocorrelation", "b: x,%s,log,1,,,,"
    first = "a: x,2.0,1.5,2.67,0.999,log,1,,,It is {} and {}.,the cut"
    path = tmp_path / "t.csv"
    monkeypatch.setattr(stored.datasets, "committed", lambda _: path)
    for other, outcome in (
        ("0.5,0.4,0.625,0.999", DEPENDS), ("0.9,0.7,1.16,0.999", OPEN),
        ("2,1.9,2.1,0.999", REPRODUCED),
    ):  # fmt: skip
        path.write_text(head + "".join(f"{name},{row}\n" for row in (first, second % other)))
        found = stored.kept_verdict("t", name)
        assert (found.outcome, found.ours[:9]) == (outcome, "It is 2 a")
    assert stored.kept_verdicts("t", name)["a: x"].low == pytest.approx(1.5, abs=0.01)


# the transition matrix ----------------------------------------------------------------------


def test_sums_of_moves_by_hand():
    sample = run(7, 40, n_blocks=1)
    drawn, shared = np.zeros((2, 10, 10))
    offsets = np.log(sample.prior) - sample.log_z_path
    for t, chain in np.ndindex(39, 7):
        old, new = sample.temperature[t : t + 2, chain]
        drawn[old, new] += 1
        q = np.exp(offsets + sample.delta[t + 1, chain] * sample.betas)
        shared[old] += q / q.sum()
    np.testing.assert_array_equal(transition_sums(sample, np.arange(7), "sd"), drawn)
    np.testing.assert_allclose(transition_sums(sample, np.arange(7), "rsd"), shared, rtol=1e-10)


@pytest.mark.parametrize("kind", ["sd", "rsd"])
def test_transition_matrix_estimates_the_exact_value(kind):
    estimate = transition_rts(run(100, 1000, n_blocks=1), kind=kind)
    assert abs(estimate.log_z - EXACT[-1]) < 4 * estimate.std_error
    assert estimate.std_error < 0.1


def test_a_beta_that_no_chain_or_one_group_alone_has_visited_is_said():
    empty = run(4, 3, guess=EXACT + np.linspace(0, 500, 10))
    for sample, known in ((empty, False), (run(2, 20), True)):
        with pytest.warns(rl.ConvergenceWarning, match="some betas were never visited"):
            estimate = transition_rts(sample, n_groups=2)
        assert np.isfinite(estimate.log_z) == known
        assert not estimate.converged


@pytest.mark.parametrize("kind", ["sd", "rsd"])
def test_the_jackknife_of_moves_has_its_factor(kind):
    """10 groups of 4 chains, each left out: (n - 1) / n times the sum of squares."""
    sample, everyone = run(40, 200, guess=EXACT + np.linspace(0, 0.7, 10)), np.arange(40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rl.ConvergenceWarning)
        whole = transition_rts(sample, kind=kind, n_groups=10)
        left = [
            transition_rts(sample.of_chains(np.delete(everyone, group)), kind=kind).log_z
            for group in np.array_split(everyone, 10)
        ]
    assert whole.std_error == pytest.approx(np.sqrt(9 * np.var(left)), rel=1e-9)
