"""The command line: `logz` and what it prints, refuses and saves, and `data`."""

import contextlib
import io
import json
import re
import subprocess
import sys
import warnings
from types import SimpleNamespace

import numba
import numpy as np
import pytest
from helpers_models import coupled_rbm

import rbmlib as rl
from rbmlib import __main__ as commands
from rbmlib.__main__ import _interval, main


@pytest.fixture(scope="module")
def model():
    return coupled_rbm()


@pytest.fixture
def saved(model, tmp_path):
    path = tmp_path / "model.npz"
    model.save(path)
    return str(path)


def run(*arguments):
    """What the command line prints and returns, in this process."""
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("always", rl.ConvergenceWarning)
        code = main(arguments)
    return SimpleNamespace(returncode=code, stdout=out.getvalue(), stderr=err.getvalue())


def test_the_command_line_is_a_program(saved):
    done = subprocess.run(
        [sys.executable, "-m", "rbmlib", "logz", saved], capture_output=True, text=True
    )
    # a slow machine is told that it still runs, and how far it is
    of_progress = ("running for", "% done", "compiling its loops")
    said = [s for s in done.stderr.splitlines() if not any(p in s for p in of_progress)]
    assert (done.returncode, said) == (0, [])
    assert "exact, by enumeration" in done.stdout


def test_the_settings_that_are_printed_give_the_same_digits_again(saved):
    done = run("logz", saved, "--budget", "1", "--estimate")
    assert done.returncode == (1 if "FAIL" in done.stdout else 0)
    options = re.search(r"the same digits again: (--steps \d+ --chains \d+ --seed 0)", done.stdout)
    again = run("logz", saved, "--estimate", *options[1].split())
    first, second = (x.stdout.partition("seconds ")[0] for x in (done, again))
    assert first == second


def test_no_interval_is_said_in_words():
    missed = rl.Estimate("log_z", 1.0, 9.0, (7.0, np.inf), verdict="inconclusive")
    assert _interval(missed).startswith("no interval: ")
    assert "above 7.0" in _interval(missed)
    bracket = rl.Estimate("log_z", 1.0, 9.0, (0.0, 7.0), verdict="inconclusive")
    assert _interval(bracket) == "a check failed: log Z is from 0.0 to 7.0"


@pytest.mark.parametrize("kind", ["npy", "npz", "csv"])
def test_data_of_each_kind(saved, tmp_path, kind):
    grey = np.random.default_rng(0).integers(0, 17, (50, 40)) / 1.0
    path = tmp_path / f"rows.{kind}"
    write = {"npy": np.save, "npz": np.savez, "csv": lambda p, x: np.savetxt(p, x, delimiter=",")}
    write[kind](path, grey)
    command = ("logz", saved, "--estimate", "--steps", "200", "--json", "--data", str(path))
    assert "a threshold makes bits" in run(*command).stderr
    done = json.loads(run(*command, "--threshold", "8").stdout)
    model = rl.load_rbm(saved)
    bits = (grey > 8).astype(float)
    direct = rl.log_z(model, data=bits, n_steps=200, rng=0, enumerate_small=False)
    assert done["log_z"] == direct.log_z
    assert done["settings"]["base"] == direct.settings["base"]


def test_data_of_spins(tmp_path):
    """Of -1 and 1 or of 0 and 1, which the call refuses: it cannot tell them from intensities."""
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2, (50, 20))
    spins = rl.RBM(rl.Spin(np.zeros(20)), rl.Spin(np.zeros(8)), rng.normal(0, 0.3, (20, 8)))
    spins.save(model := str(tmp_path / "spins.npz"))
    direct = rl.log_z(spins, data=2.0 * bits - 1, n_steps=100, rng=0, enumerate_small=False)
    for name, rows in (("zeros", bits), ("signs", 2 * bits - 1)):
        np.save(file := str(tmp_path / f"{name}.npy"), rows)
        said = run("logz", model, "--estimate", "--steps", "100", "--json", "--data", file)
        assert json.loads(said.stdout)["log_z"] == direct.log_z
    with pytest.raises(ValueError, match="runs from 0 to 1: expected -1 and 1, the states of Spi"):
        rl.log_z(spins, data=bits, rng=0)
    spins = rl.RBM(rl.Spin(np.zeros(784)), rl.Spin([0.1]), rng.normal(0, 0.1, (784, 1)))
    spins.save(model)
    done = run("logz", model, "--data", "mnist", "--json")
    assert json.loads(done.stdout)["log_z"] == pytest.approx(rl.exact(spins).log_z, abs=1e-9)


@pytest.fixture
def arrays(tmp_path):
    """A file of another program: 30 x 8, of names and units that it does not tell."""
    rng = np.random.default_rng(4)
    w, u, v = rng.normal(0, 0.5, (30, 8)), rng.normal(size=30), rng.normal(size=8)
    np.savez(tmp_path / "m.npz", J=w.T, u=u, v=v, epochs=3)
    return str(tmp_path / "m.npz"), (w, u, v)


def test_names_layout_and_units_are_options(arrays):
    path, (w, u, v) = arrays
    said = run("logz", path).stderr
    assert "--names weights=...," in said
    names = ("--names", "weights=J,visible_bias=u,hidden_bias=v")
    for units, model in (
        ("bits", rl.BernoulliRBM(w, u, v)),
        ("spins", rl.RBM(rl.Spin(u), rl.Spin(v), w)),
    ):
        done = run("logz", path, *names, "--units", units, "--layout", "hidden_visible", "--json")
        assert json.loads(done.stdout)["log_z"] == pytest.approx(rl.exact(model).log_z, abs=1e-9)
    assert "names is {'weights': 'J'}: expected" in run("logz", path, "--names", "weights=J").stderr
    done = run("logz", "pcd_20", "--units", "spins")
    assert (done.returncode, "units are known" in done.stderr) == (2, True)


def test_every_answer_names_the_units(arrays, saved):
    """With a hint at the option that says them, but not where it would be refused."""
    path, _ = arrays
    command = ("logz", path, "--names", "weights=J,visible_bias=u,hidden_bias=v")
    for estimate in ((), ("--estimate", "--steps", "20")):
        first, *_ = run(*command, *estimate).stdout.splitlines()
        assert first.endswith("m.npz (30 x 8, units 0/1); if its units are -1/+1: --units spins")
        first, *_ = run(*command, *estimate, "--units", "spins").stdout.splitlines()
        assert first.endswith("m.npz (30 x 8, units -1/+1)")
        content = json.loads(run(*command, *estimate, "--units", "spins", "--json").stdout)
        assert content["settings"]["model"] == "30 x 8, units -1/+1"
    for model, size in ((saved, "40 x 12"), ("pcd_10", "784 x 10")):
        first, *_ = run("logz", model).stdout.splitlines()
        assert first == f"model        {model} ({size}, units 0/1)"


def test_rows_of_spins_are_refused_beside_bits(saved, tmp_path):
    """With and without a threshold, which would make other data of them."""
    np.save(file := str(tmp_path / "x.npy"), np.sign(np.random.default_rng(0).normal(size=(9, 40))))
    for more in ((), ("--threshold", "0"), ("--threshold", "0.5", "--estimate", "--steps", "20")):
        done = run("logz", saved, "--data", file, *more)
        assert (done.returncode, done.stdout) == (2, "")
        assert "holds -1 and +1 alone" in done.stderr
        assert "--units spins" in done.stderr
        assert "T makes bits" not in done.stderr


def test_json_is_one_object_and_equals_the_saved_estimate(saved, model, tmp_path):
    target = tmp_path / "estimate.json"
    done = run("logz", saved, "--json", "--save", str(target))
    content = json.loads(done.stdout)
    assert content["log_z"] == rl.Estimate.load(target).log_z
    assert content["log_z"] == pytest.approx(rl.exact(model).log_z, abs=1e-9)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["no-such-model"], ["no-such-model", "expected one of"]),
        (["MODEL", "--budget", "0"], ["budget_seconds is 0.0"]),
        (["MODEL", "--threshold", "0.5"], ["--threshold is 0.5", "--data"]),
        (["MODEL", "--data", "mnist", "--threshold", "0.5"], ["--threshold is 0.5"]),
        (["MODEL", "--data", "rows.txt"], ["--data", "rows.txt", ".csv"]),
        (["pcd_20", "--layout", "hidden_visible"], ["pcd_20", "registered"]),
        (["MODEL", "--data", "absent.npy"], ["--data", "absent.npy"]),
        (["MODEL", "--save", "absent/x.json"], ["--save", "absent/x.json"]),
        (["MODEL", "--threads", "0", "--estimate"], ["n_threads is 0"]),
        (["MODEL", "--seed", "-3", "--estimate"], ["rng is -3"]),
    ],
)
def test_wrong_input_is_one_clear_line(saved, arguments, words):
    done = run("logz", *[saved if a == "MODEL" else a for a in arguments])
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.strip().splitlines()) == 1
    assert all(word in done.stderr for word in words)


def test_data_lists_the_models():
    done = run("data")
    assert (done.returncode, "h500" in done.stdout, "pcd_20" in done.stdout) == (0, True, True)


def test_an_interrupt_is_one_line(saved, monkeypatch):
    """Exit code 130, as a shell has it."""

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "log_z", interrupted)
    done = run("logz", saved)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "stopped: nothing was written\n"


def test_compiling_is_told_once(saved, monkeypatch):
    """By loops that no cache knows; without any, nothing is said."""

    def compiling(*arguments, **options):
        for value in (1, 1.0):
            numba.njit(lambda x: x + 1)(value)
        return rl.log_z(*arguments, **options)

    run("logz", saved)  # compiles what it needs
    assert run("logz", saved).stderr == ""
    monkeypatch.setattr(commands, "log_z", compiling)
    assert run("logz", saved).stderr == commands.COMPILING + "\n"
