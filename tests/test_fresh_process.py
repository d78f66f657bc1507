"""Models read in a process that has used none: each kind is known, and none taken for another."""

import subprocess
import sys

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


@pytest.mark.parametrize("kind", OF_KINDS)
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
        assert error.startswith("ValueError: model.npz holds "), error


@pytest.mark.parametrize("name", ["gaussian_cifar10", "leaky_cifar10"])
def test_a_fresh_process_reads_committed_models_with_gaussian_units(name):
    kind = "GaussianRBM" if name.startswith("gaussian") else "LeakyRBM"
    assert fresh(OPENED.format("rl.load_rbm"), name) == (kind, "")


def test_the_command_line_takes_no_model_for_another(tmp_path):
    path = tmp_path / "gaussian.npz"
    OF_KINDS["GaussianRBM"]().save(path)
    done = subprocess.run(
        [sys.executable, "-m", "rbmlib", "logz", path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "GaussianRBM" in done.stderr
    assert "Traceback" not in done.stderr
