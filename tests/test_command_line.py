"""The command line: `logz` and what it prints, refuses and saves, and `data`."""

import contextlib
import dataclasses
import io
import json
import re
import subprocess
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

import numba
import numpy as np
import pytest
from helpers_models import coupled_rbm

import rbmlib as rl
from rbmlib import __main__ as commands
from rbmlib.__main__ import main
from rbmlib.context import settings
from rbmlib.estimate import VERDICTS


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


def test_the_command_line_is_a_program(saved, model):
    done = subprocess.run(
        [sys.executable, "-m", "rbmlib", "logz", saved], capture_output=True, text=True
    )
    # a slow machine is told that it still runs, and how far it is
    of_progress = ("running for", "% done", "compiling its loops")
    said = [s for s in done.stderr.splitlines() if not any(p in s for p in of_progress)]
    assert (done.returncode, said) == (0, [])
    assert f"log Z        {rl.exact(model).log_z:.6f}  exact, by enumeration" in done.stdout


def test_the_exit_code_says_whether_every_check_passed(saved, model, monkeypatch):
    for verdict in VERDICTS:
        found = dataclasses.replace(rl.exact(model), verdict=verdict)
        monkeypatch.setattr(commands, "log_z", lambda *_, found=found, **__: found)
        assert run("logz", saved).returncode == (verdict in ("contradicted", "inconclusive"))


def test_the_settings_that_are_printed_give_the_same_digits_again(saved):
    done = run("logz", saved, "--budget", "1", "--estimate")
    assert done.returncode == (1 if "FAIL" in done.stdout else 0)
    options = re.search(r"for the same digits: (--steps \d+ --chains \d+ --seed 0)", done.stdout)
    again = run("logz", saved, "--estimate", *options[1].split())
    first, second = (x.stdout.partition("seconds ")[0] for x in (done, again))
    assert first == second


def test_data_and_their_threshold(saved, tmp_path):
    grey = np.random.default_rng(0).integers(0, 17, (50, 40)) / 1.0
    path = tmp_path / "rows.csv"
    np.savetxt(path, grey, delimiter=",")
    command = ("logz", saved, "--estimate", "--steps", "200", "--json", "--data", str(path))
    assert "a threshold makes bits" in run(*command).stderr
    done = json.loads(run(*command, "--threshold", "8").stdout)
    model = rl.load_rbm(saved)
    bits = (grey > 8).astype(float)
    direct = rl.log_z(model, data=bits, n_steps=200, rng=0, enumerate_small=False)
    assert done["log_z"] == direct.log_z
    assert done["settings"]["base"] == direct.settings["base"]


def test_data_of_real_units(tmp_path):
    rng = np.random.default_rng(0)
    rbm = rl.GaussianRBM(rng.normal(size=(6, 4)), rng.normal(size=6), rng.normal(size=4))
    rbm.save(model := str(tmp_path / "real.npz"))
    np.save(file := str(tmp_path / "rows.npy"), rows := 5 * rng.normal(size=(50, 6)))
    command = ("logz", model, "--data", file, "--estimate", "--steps", "100", "--json")
    direct = rl.log_z(rbm, data=rows, n_steps=100, rng=0, enumerate_small=False)
    assert json.loads(run(*command).stdout)["log_z"] == direct.log_z
    assert "units are real" in run(*command, "--threshold", "0.5").stderr


def test_data_of_spins(tmp_path):
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2, (50, 20))
    spins = rl.RBM(rl.Spin(np.zeros(20)), rl.Spin(np.zeros(8)), rng.normal(0, 0.3, (20, 8)))
    spins.save(model := str(tmp_path / "spins.npz"))
    direct = rl.log_z(spins, data=2.0 * bits - 1, n_steps=100, rng=0, enumerate_small=False)
    for name, rows in (("zeros", bits), ("signs", 2 * bits - 1)):
        np.save(file := str(tmp_path / f"{name}.npy"), rows)
        said = run("logz", model, "--estimate", "--steps", "100", "--json", "--data", file)
        assert json.loads(said.stdout)["log_z"] == direct.log_z
    with pytest.raises(ValueError, match=r"runs from 0 to 1: expected -1 and 1 \(Spin\)"):
        rl.log_z(spins, data=bits, rng=0)
    spins = rl.RBM(rl.Spin(np.zeros(784)), rl.Spin([0.1]), rng.normal(0, 0.1, (784, 1)))
    spins.save(model)
    done = run("logz", model, "--data", "mnist", "--json")
    assert json.loads(done.stdout)["log_z"] == pytest.approx(rl.exact(spins).log_z, abs=1e-9)


def test_names_layout_and_units_are_options(tmp_path):
    """Of a file of another program: 30 x 8, of names and units that it does not tell."""
    rng, path = np.random.default_rng(4), str(tmp_path / "m.npz")
    w, u, v = rng.normal(0, 0.5, (30, 8)), rng.normal(size=30), rng.normal(size=8)
    np.savez(path, J=w.T, u=u, v=v, epochs=3)
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


def test_json_is_one_object_and_equals_the_saved_estimate(saved, model, tmp_path):
    target, before = tmp_path / "estimate.json", Path(saved).read_bytes()
    for more in ((), ("--estimate", "--steps", "20")):  # an earlier estimate may be replaced
        done = run("logz", saved, "--json", "--save", str(target), *more)
        content = json.loads(done.stdout, parse_constant=pytest.fail)
        saved_one = rl.Estimate.load(target).to_dict()
        assert content["reason"] == rl.Estimate.load(target).reason
        assert all(saved_one[k] == x for k, x in content.items() if k not in ("model", "reason"))
        assert {"log_z", "std_error", "interval", "ess", "verdict", "details"} <= content.keys()
        assert content["log_z"] == pytest.approx(rl.exact(model).log_z, abs=0.1)
    (tmp_path / "folder.json").mkdir()
    for name, words in (("model.npz", "ends in .json"), ("folder.json", "no regular file")):
        done = run("logz", saved, "--save", str(tmp_path / name))
        assert (done.returncode, words in done.stderr) == (2, True)
    assert Path(saved).read_bytes() == before


def test_files_that_would_take_all_memory_are_refused(saved, tmp_path, monkeypatch):
    buffer = io.BytesIO()
    lies = {"descr": "<f8", "fortran_order": False, "shape": (10**12, 40)}
    np.lib.format.write_array_header_1_0(buffer, lies)
    (tmp_path / "lies.npy").write_bytes(buffer.getvalue() + bytes(96))
    done = run("logz", saved, "--data", str(tmp_path / "lies.npy"))
    assert (done.returncode, done.stdout, "not enough memory" in done.stderr) == (2, "", True)
    (tmp_path / "zero.npz").symlink_to("/dev/zero")
    assert "zero.npz" in run("logz", str(tmp_path / "zero.npz")).stderr


def test_a_closed_pipe_is_no_error_and_a_full_output_is_named():
    command = f"{sys.executable} -m rbmlib data; echo status $? >&2"
    done = subprocess.run(["sh", "-c", f"({command}) | true"], capture_output=True, text=True)
    assert done.stderr.splitlines() in (["status 141"], ["status 0"])
    if Path("/dev/full").exists():
        done = subprocess.run(
            ["sh", "-c", f"({command}) > /dev/full"], capture_output=True, text=True
        )
        full = "error: [Errno 28] No space left on device: 'standard output'"
        assert done.stderr.splitlines() == [full, "status 2"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["no-such-model"], ["no-such-model", "expected one of"]),
        (["MODEL", "--budget", "0"], ["--budget is 0.0"]),
        (["MODEL", "--threshold", "0.5"], ["--threshold is 0.5", "--data"]),
        (["MODEL", "--data", "rows.txt"], ["--data", "rows.txt", ".csv"]),
        (["pcd_20", "--layout", "hidden_visible"], ["pcd_20", "registered"]),
        (["MODEL", "--data", "absent.npy"], ["--data", "absent.npy"]),
        (["absent.npz"], ["no model file 'absent.npz': expected"]),
        (["MODEL", "--save", "absent/x.json"], ["--save", "absent/x.json"]),
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


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [(KeyboardInterrupt(), 130, "stopped: nothing was written"),
     (MemoryError("Unable to allocate 8 GiB"), 2, "error: not enough memory: Unable to allo")],
)  # fmt: skip
def test_an_interrupt_and_too_little_memory_are_one_line(saved, monkeypatch, error, code, words):
    def fails(*_, **__):
        raise error

    monkeypatch.setattr(commands, "log_z", fails)
    done = run("logz", saved)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith(words)
    assert len(done.stderr.splitlines()) == 1


def test_the_number_of_threads_is_handed_on(saved, monkeypatch):
    seen = []
    monkeypatch.setattr(
        commands,
        "log_z",
        lambda *a, **k: seen.append(settings.get().n_threads) or rl.log_z(*a, **k),
    )
    run("logz", saved, "--threads", "2")
    assert seen == [2]


def test_compiling_is_told_once(saved, monkeypatch):
    def compiling(*arguments, **options):
        for value in (1, 1.0):
            numba.njit(lambda x: x + 1)(value)
        return rl.log_z(*arguments, **options)

    run("logz", saved)  # compiles what it needs
    assert run("logz", saved).stderr == ""
    monkeypatch.setattr(commands, "log_z", compiling)
    assert run("logz", saved).stderr == commands.COMPILING + "\n"
