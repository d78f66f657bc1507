"""States of the wrong width or with values that are no bits never reach a kernel.

In a child process: what an unchecked kernel does to memory ends the process, not the test run.
"""

import json
import subprocess
import sys

import pytest

CHILD = """
import dataclasses
import json
import sys
import warnings

import numpy as np

import rbmlib as rl

warnings.simplefilter("ignore")
kind = sys.argv[1]
betas = np.array([0.0, 0.5, 1.0])
PATHS = {
    "narrow weights": rl.GeometricPath(rl.testsystems.random_rbm(6, 4, rng=0)),
    "wide weights": rl.GeometricPath(rl.testsystems.random_rbm(6, 40, rng=0)),
    "spins": rl.GeometricPath(rl.RBM(rl.Spins(np.zeros(6)), rl.Bits([1.0]), np.ones((6, 1)))),
    "leaky": rl.LeakinessPath(rl.LeakyRBM(np.eye(6)[:, :2] * 0.5)),
    "density": rl.DensityPath(rl.GaussianMixture(np.zeros((2, 6)), 1.0), 1.0),
}
REAL = ("leaky", "density")


def bad(n, width=6):
    if kind == "wide":
        return np.ones((n, 3_000_000 // n), np.float32)
    if kind == "narrow":
        return np.ones((n, 1), np.float32)
    states = np.ones((n, width), np.float32)
    states[n // 2, 1] = {"nan": np.nan, "half": 0.5}[kind]
    return states


def other_sample(path):
    # of a model with other units, or one whose states were changed
    if kind == "wide":
        big = rl.GeometricPath(rl.testsystems.random_rbm(50, 4, rng=0))
        return rl.simulated_tempering(big, betas, np.zeros(3), 6, 4, 0)
    sample = rl.simulated_tempering(path, betas, np.zeros(3), 6, 4, 0)
    return dataclasses.replace(sample, states=bad(6, sample.states.shape[1]))


CALLS = {}
for name, path in PATHS.items():
    if kind == "half" and name in REAL:  # a state of real numbers
        continue
    width = path.at(1.0).n_visible

    def start(n, path=path, width=width):
        return bad(n, width)

    CALLS |= {
        f"simulated {name}": lambda p=path, s=start: rl.simulated_tempering(
            p, betas, 0 * betas, 6, 9, 0, start=s(6)
        ),
        f"sample {name}": lambda p=path: rl.simulated_tempering(
            p, betas, 0 * betas, 6, 9, 0, start=other_sample(p)
        ),
        f"parallel {name}": lambda p=path, s=start: rl.parallel_tempering(
            p, betas, 2, 10, 0, start=s(6), conditional="marginal"
        ),
        f"reverse_ais {name}": lambda p=path, s=start: rl.reverse_ais(p, betas, 6, 0, start=s(6)),
        f"bar {name}": lambda p=path, s=start: rl.bar(p, betas, 6, 0, start=s(6)),
        f"log_density {name}": lambda p=path, s=start: p.at(1.0).log_density(s(6)),
    }
    if name not in REAL:
        CALLS[f"joint {name}"] = lambda p=path, s=start: rl.parallel_tempering(
            p, betas, 2, 10, 0, start=s(6)
        )
for name, call in CALLS.items():
    print(json.dumps([name, "began"]), flush=True)
    try:
        call()
    except (TypeError, ValueError) as error:
        print(json.dumps([name, str(error)]), flush=True)
    else:
        print(json.dumps([name, "nothing was said"]), flush=True)
"""


@pytest.mark.parametrize("kind", ["wide", "narrow", "nan", "half"])
def test_every_way_in_refuses(kind):
    done = subprocess.run([sys.executable, "-c", CHILD, kind], capture_output=True, text=True)
    said = dict(json.loads(line) for line in done.stdout.splitlines())
    assert done.returncode == 0, (done.returncode, list(said)[-1:], done.stderr[-500:])
    assert len(said) >= 21
    for name, message in said.items():
        assert message.startswith(("start ", "visible ", "x ")), (name, message)
