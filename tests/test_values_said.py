"""What is printed, written and put into columns: values by name, not words that are there."""

import re

import numpy as np
import pytest
from helpers_models import quiet
from scipy import stats

import rbmlib as rl
from rbmbook.carlson2016.estimators import transition_rts
from rbmbook.experiments import carlson2016
from rbmbook.experiments.kiwaki2015 import two_way_ais
from rbmbook.experiments.reference import _both_directions
from rbmlib.__main__ import main
from rbmlib.automatic.problem import Problem
from rbmlib.automatic.three_runs import three_runs
from rbmlib.datasets import load_dna
from rbmlib.estimate import outward

STEPS, SEED, CHAINS = 6, 3, 40
BETAS = rl.schedules.linear(8)
pytestmark = pytest.mark.filterwarnings("ignore::rbmlib.ConvergenceWarning")


@pytest.fixture(scope="module")
def model():
    """Uneven enough that a lower bound is not the upper one, nor either the estimate."""
    return rl.testsystems.random_rbm(14, 9, coupling=9.0, rng=4)


@pytest.fixture(scope="module")
def path(model):
    return rl.GeometricPath(model, base=np.linspace(-0.4, 0.4, 14))


@pytest.fixture(scope="module")
def found(model):
    return quiet(rl.log_z, model, n_steps=STEPS, n_chains=CHAINS, rng=SEED, enumerate_small=False)


def test_log_z_says_which_run_is_which(model, found):
    run = three_runs(Problem(model, None, None, SEED), STEPS, CHAINS)
    s = found.details
    assert s["lower_bound"] == (run.forward.mean_log_z, run.forward.mean_std_error)
    assert s["upper_bound"] == (run.backward.mean_log_z, run.backward.mean_std_error)
    assert s["first_base"] == (run.forward.log_z, run.forward.std_error)
    assert s["second_base"] == (run.other.log_z, run.other.std_error)
    assert s["reverse"] == (run.backward.log_z, run.backward.std_error)
    assert s["both_directions"] == (run.joint.log_z, run.joint.std_error)
    assert s["best_lower_bound"] == run.bound
    numbers = [s[n] for n in ("lower_bound", "upper_bound", "first_base", "second_base", "reverse")]
    assert len({n for pair in numbers for n in pair}) == 10, "some could be exchanged unseen"
    assert found.bound == "lower"
    assert (found.mean_log_z, found.mean_std_error) == s["lower_bound"]


@pytest.mark.parametrize("shape", [(14, 9), (40, 35)])
def test_the_text_of_logz_has_the_values_under_their_names(capsys, tmp_path, model, shape):
    rbm = model if shape == (14, 9) else rl.testsystems.random_rbm(*shape, rng=0)
    rbm.save(saved := str(tmp_path / "model.npz"))
    found = quiet(rl.log_z, rbm, n_steps=STEPS, n_chains=CHAINS, rng=SEED, enumerate_small=False)
    options = f"--steps {STEPS} --chains {CHAINS} --seed {SEED}"
    code = quiet(main, ["logz", saved, "--estimate", *options.split()])
    assert code == (0 if found.converged else 1)
    text = capsys.readouterr().out
    lines = dict(line.split(None, 1) for line in text.splitlines() if not line.startswith("check"))
    s = found.details

    def numbers(beginning):
        line = next(x for x in text.splitlines() if x.startswith(beginning))
        return [float(x) for x in re.findall(r"-?\d+\.\d+", line)]

    assert (found.verdict == "exact") == (shape == (14, 9))
    if found.verdict == "exact":
        assert lines["log"] == f"Z        {found.log_z:.4f}  exact, by a sum over states"
    else:
        assert numbers("log Z")[:2] == pytest.approx([found.log_z, found.std_error], abs=6e-5)
    if found.converged and found.verdict != "exact":
        assert numbers("log Z")[-2:] == pytest.approx(outward(found.interval, 4), abs=1e-9)
    assert numbers("lower bound") == pytest.approx(s["lower_bound"], abs=6e-5)
    assert numbers("upper bound") == pytest.approx(s["upper_bound"], abs=6e-5)
    assert numbers("lower bound")[0] < numbers("upper bound")[0]
    assert lines["ESS"] == f"{found.ess:.0f} of {found.n_chains} chains (effective sample size)"
    assert f"{STEPS} steps, {CHAINS} chains" in lines["settings"]
    assert options in lines["settings"]
    assert lines["verdict"] == f"{found.verdict}: {found.reason}"
    assert lines["model"].startswith(f"{saved} ({shape[0]} x {shape[1]}, units 0/1)")


def test_columns_of_annealed_tasks_say_which_way(path):
    betas = rl.schedules.linear(12)
    run, columns = quiet(two_way_ais, path, betas, 5, n_chains=60, n_reversed=40)
    forward = quiet(rl.ais, path, betas, 60, 5, n_recorded=2)
    assert (run.log_z, run.ess) == (forward.log_z, forward.ess)
    assert columns["variance"] == pytest.approx(forward.log_weights.var(ddof=1))
    back = quiet(rl.reverse_ais, path, betas, 40, np.random.default_rng([5, 2]), start="exact")
    wanted = {
        "reverse_log_z": back.log_z, "reverse_std_error": back.std_error,
        "reverse_mean": back.mean_log_z, "reverse_mean_error": back.mean_std_error,
        "reverse_ess": back.ess,
    }  # fmt: skip
    assert len(set(wanted.values())) == 5
    assert {name: columns[name] for name in wanted} == wanted
    assert columns["ess_low"] < forward.ess < columns["ess_high"]
    assert columns["variance_low"] < columns["variance"] < columns["variance_high"]
    assert columns["largest_step"] == pytest.approx(1.0)
    _, columns = quiet(two_way_ais, path, betas, 5, n_chains=60, n_reversed=0)
    assert "reverse_mean" not in columns


def test_columns_of_both_directions(path):
    run, columns = quiet(
        _both_directions, path, rl.schedules.linear(12), 5, n_chains=50, n_burn_in=5
    )
    back = np.array(run.details["reverse_log_weights"])
    for side, values in (("lower", run.log_weights), ("upper", back)):
        assert columns[side] == pytest.approx(values.mean())
        assert columns[f"{side}_error"] == pytest.approx(stats.sem(values))
    assert columns["lower"] < run.log_z < columns["upper"]
    for side in ("forward", "reverse"):
        assert (columns[side], columns[f"{side}_error"]) == run.details[side]


def test_columns_of_priors_and_short_runs(path):
    run, columns = quiet(
        carlson2016._moves, path, BETAS, 5, n_runs=4, n_chains=8, n_sweeps=60, burn_in=5
    )
    guess, begun = carlson2016.short_start(path, BETAS, np.random.default_rng([5, 1]), 32)
    source = np.random.default_rng([5, 2])
    settled = rl.simulated_tempering(path, BETAS, guess, 32, 5, source, record_every=5, **begun)
    sample = rl.simulated_tempering(path, BETAS, guess, 32, 60, source, start=settled)
    assert run.log_z == quiet(rl.rts_of_sample, sample).log_z
    parts = [sample.of_chains(slice(8 * i, 8 * i + 8)) for i in range(4)]
    wanted = {
        "rts": [quiet(rl.rts_of_sample, p).log_z for p in parts],
        "sd": [quiet(transition_rts, p, kind="sd").log_z for p in parts],
        "rsd": [quiet(transition_rts, p, kind="rsd").log_z for p in parts],
    }
    for name, values in wanted.items():
        assert columns[f"{name}_mean"] == pytest.approx(np.mean(values))
        assert columns[f"{name}_variance"] == pytest.approx(np.var(values))


def test_the_test_column_of_tracking_is_of_the_test_set():
    carlson2016._tracked_training.cache_clear()
    rng = np.random.default_rng(0)
    rbm = rl.BernoulliRBM(0.05 * rng.normal(size=(180, 3)), np.full(180, -1.0), np.zeros(3))
    looks = carlson2016._tracked_training(rbm, 1, 2, 2, (1e-4, 1e-4, 0), 100, 0.2, 30, 2)
    data = load_dna()
    model, seen = looks[-1]
    sets = {"train": data.train[:1400], "validation": data.train[1400:], "test": data.test}
    wanted = {name: model.log_density(rows).mean() - seen["tracked"] for name, rows in sets.items()}
    assert len(set(wanted.values())) == 3
    assert {name: seen[name] for name in wanted} == pytest.approx(wanted)
    assert len(looks) == 3
