"""New processes: a kind of model that none has used yet is known, and none taken for another; the
package is imported where nothing can be written."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rbmlib as rl

OF_KINDS = {
    "BernoulliRBM": lambda: rl.BernoulliRBM(np.eye(3) / 2, [0.1, 0.2, 0.3], np.ones(3)),
    "LeakyRBM": lambda: rl.LeakyRBM(np.eye(3) / 2, leakiness=0.3),
    "GaussianRBM": lambda: rl.GaussianRBM(np.eye(3) / 2, [0.1, 0.2, 0.3], np.ones(3)),
}
OPENED = "import sys, rbmlib as rl; print(type({}(sys.argv[1])).__name__)"


def fresh(program: str, *arguments) -> tuple[str, str]:
    """What a new interpreter prints, and the last line that it ends with."""
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False
    )
    return done.stdout.strip(), (done.stderr.strip().splitlines() or [""])[-1]


BY_NIGHT = [pytest.param(kind, marks=pytest.mark.nightly) for kind in list(OF_KINDS)[::2]]


@pytest.mark.parametrize("kind", ["LeakyRBM", *BY_NIGHT])
def test_a_fresh_process_reads_the_kind_that_was_saved(kind, tmp_path):
    """A model must not be taken for another because the module of its kind is not loaded yet."""
    path = tmp_path / "model.npz"
    OF_KINDS[kind]().save(path)
    for loader in ("rl.load_rbm", f"rl.{kind}.load"):
        assert fresh(OPENED.format(loader), path) == (kind, "")
    if kind == "BernoulliRBM":
        return  # its files have no mark: whoever says that one is a GaussianRBM is believed
    for other in OF_KINDS.keys() - {kind}:
        printed, error = fresh(OPENED.format(f"rl.{other}.load"), path)
        assert not printed, other
        assert "model.npz holds " in error.partition(":")[2], error


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
    assert fresh(WAITS) == (there, "")


def test_the_command_line_takes_no_model_for_another(tmp_path):
    path = tmp_path / "gaussian.npz"
    OF_KINDS["GaussianRBM"]().save(path)
    done = subprocess.run(
        [sys.executable, "-m", "rbmlib", "logz", path], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{rl.exact(OF_KINDS['GaussianRBM']()).log_z:.6f}  exact" in done.stdout


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
