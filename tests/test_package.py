"""The package: types that reach users, what ``help`` says, imports in new processes."""

import inspect
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from helpers_interface import public

import rbmlib as rl

USER = """
import rbmlib as rl
path = rl.GeometricPath(rl.load_rbm("pcd_20"))
estimate = rl.ais(path, rl.schedules.linear(10), n_chains=10, rng=0)
name: str = estimate.log_z            # line 5: a float
rl.rts(path, estimate.betas, chains=10)  # line 6: no such argument
estimate.logz                         # line 7: no such attribute
rl.reverse_ais(path, estimate.betas, 10, start=estimate.states).log_weights.mean()
rl.ais(rl.BernoulliRBM([[0.0]], [0.0], [0.0]), estimate.betas)  # line 9: a model is no path
"""


@pytest.mark.nightly
def test_types_reach_those_who_import_the_library(repository, tmp_path):
    user, named = tmp_path / "user.py", tmp_path / "named.py"
    user.write_text(USER)
    names = [*public(rl), *(f"schedules.{name}" for name in public(rl.schedules))]
    wrong = ["tap_solvers", "annotations", "metropolis"]  # files of a room are no names
    named.write_text("\n".join(["import rbmlib as rl", *(f"rl.{n}" for n in [*names, *wrong])]))
    command = [sys.executable, "-m", "mypy", "--no-error-summary", "--no-implicit-reexport"]
    said = subprocess.run(
        [*command, user, named], cwd=repository, capture_output=True, text=True, check=False
    ).stdout
    assert re.findall(r"user\.py:(\d+): error", said) == ["5", "6", "7", "9"]
    lines = [int(line) for line in re.findall(r"named\.py:(\d+): error", said)]
    assert lines == [len(names) + 2 + i for i in range(len(wrong))], said
    assert (repository / "rbmlib" / "py.typed").is_file()


FUNCTIONS = [n for n in public(rl) if inspect.isfunction(getattr(rl, n))]


WITHOUT_A_CLOCK = {"sample", "solve_mbar"}  # functions that are not estimators
ESTIMATORS = {n for n in FUNCTIONS if getattr(rl, n).__module__.startswith("rbmlib.estimators.")}


@pytest.mark.parametrize("name", sorted(ESTIMATORS - WITHOUT_A_CLOCK))
def test_help_describes_every_argument_of_an_estimator_once(name):
    function = getattr(rl, name)
    sections = re.split(r"(?m)^(\w+)\n-+$", inspect.getdoc(function))
    assert [sections.count(title) for title in ("Parameters", "Returns")] == [1, 1]
    lines = re.findall(r"(?m)^(\w[\w, ]*) : ", sections[sections.index("Parameters") + 1])
    described = [word for line in lines for word in line.split(", ")]
    assert sorted(described) == sorted(inspect.signature(function).parameters)


WAITS = """
import os, sys

class Before:
    def find_spec(name, *_):
        if name == "numpy":
            print(os.environ["OPENBLAS_THREAD_TIMEOUT"])

sys.meta_path.insert(0, Before)
import rbmlib
"""


@pytest.mark.parametrize(("said", "there"), [(None, "18"), ("22", "22")])
def test_threads_of_blas_that_wait_soon_sleep(monkeypatch, said, there):
    """OpenBLAS reads it when NumPy is loaded; on busy cores spinning doubled the time of AIS."""
    monkeypatch.delenv("OPENBLAS_THREAD_TIMEOUT", raising=False)
    if said:
        monkeypatch.setenv("OPENBLAS_THREAD_TIMEOUT", said)
    done = subprocess.run([sys.executable, "-c", WAITS], capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == (there, "")


def test_import_where_nothing_can_be_written(tmp_path, repository):
    """Files stand where the folders would be: for root no folder is read-only."""
    package = tmp_path / "rbmlib"
    shutil.copytree(repository / "rbmlib", package, ignore=shutil.ignore_patterns("__pycache__"))
    for room in package.rglob("__init__.py"):
        (room.parent / "__pycache__").touch()
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"} | {
        "HOME": "/dev/null", "XDG_CACHE_HOME": "/dev/null/x", "PYTHONPATH": str(tmp_path),
        "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip
    code = "import rbmlib; print(rbmlib.__file__)"
    run = [sys.executable, "-c", code]
    done = subprocess.run(run, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert "set NUMBA_CACHE_DIR to one that can be written" in done.stderr
    environment["NUMBA_CACHE_DIR"] = str(tmp_path / "cache")
    done = subprocess.run(run, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert Path(done.stdout.strip()).is_relative_to(package)
