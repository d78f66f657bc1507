"""States of the wrong width or with values that are no bits never reach a kernel.

In a child process: what an unchecked kernel does to memory ends the process, not the test run.
"""

import json
import subprocess
import sys

import pytest

CHILD = """
import json
import sys
import warnings

import numpy as np

import rbmlib as rl
from rbmlib import _streams

warnings.simplefilter("ignore")
kind = sys.argv[1]
betas = np.array([0.0, 0.5, 1.0])
path = rl.GeometricPath(rl.testsystems.random_rbm(6, 4, rng=0))
wide = rl.GeometricPath(rl.testsystems.random_rbm(6, 40, rng=0))
leaky = rl.LeakinessPath(rl.LeakyRBM(np.eye(6)[:, :2] * 0.5), kernel="blockwise")
density = rl.DensityPath(rl.GaussianMixture(np.zeros((2, 6)), 1.0), 1.0)


def bad(n, width=6):
    if kind == "wide":
        return rl.State(np.ones((n, 3_000_000 // n), np.float32))
    if kind == "narrow":
        return rl.State(np.ones((n, 1), np.float32))
    if kind == "array":
        return np.ones((n, width), np.float32)
    states = np.ones((n, width), np.float32)
    states[n // 2, 1] = {"nan": np.nan, "half": 0.5}[kind]
    return rl.State(states)


def stream():
    return _streams.ChainStream(0, 6)


def other_sample():
    big = rl.GeometricPath(rl.testsystems.random_rbm(50, 4, rng=0))
    sample = rl.simulated_tempering(big, betas, np.zeros(3), 6, 4, 0)
    return sample if kind == "wide" else bad(6)


def tempered(p):
    index, kept = np.zeros(6, int), (np.zeros((1, 6)), np.zeros((1, 6), np.int16))
    return p.temper(bad(6), index, betas, 0 * betas, None, kept, 1, stream())


def adapted(p):
    return p.adapt(bad(6), np.zeros(6, int), betas, np.zeros((2, 3)), None, None, stream())


CALLS = {
    "parallel": lambda: rl.parallel_tempering(path, betas, 2, 10, 0, start=bad(6)),
    "parallel marginal": lambda: rl.parallel_tempering(
        path, betas, 2, 10, 0, start=bad(6), conditional="marginal"
    ),
    "simulated": lambda: rl.simulated_tempering(path, betas, 0 * betas, 6, 9, 0, start=bad(6)),
    "sample": lambda: rl.simulated_tempering(path, betas, 0 * betas, 6, 9, 0, start=other_sample()),
    "reverse_ais": lambda: rl.reverse_ais(path, betas, 6, 0, start=bad(6)),
    "bar": lambda: rl.bar(path, betas, 6, 0, start=bad(6)),
}
for name, p in {"narrow": path, "wide": wide}.items():
    CALLS |= {
        f"sweep {name}": lambda p=p: p.sweep(bad(6), 1.0, 3, stream()),
        f"anneal {name}": lambda p=p: p.anneal(bad(6), betas, stream()),
        f"anneal down {name}": lambda p=p: p.anneal(bad(6), betas[::-1], stream()),
        f"temper {name}": lambda p=p: tempered(p),
        f"adapt {name}": lambda p=p: adapted(p),
        f"transition {name}": lambda p=p: p.transition(bad(6), 1.0, stream()),
        f"log_density {name}": lambda p=p: p.log_density(bad(6), betas),
        f"slope {name}": lambda p=p: p.log_density_slope(bad(6), 0.5),
    }
if kind != "half":  # a state of real numbers
    for name, p, width in [("leaky", leaky, 2), ("density", density, 6)]:
        CALLS |= {
            f"anneal {name}": lambda p=p, w=width: p.anneal(bad(6, w), betas, stream()),
            f"sweep {name}": lambda p=p, w=width: p.sweep(bad(6, w), 1.0, 2, stream()),
            f"simulated {name}": lambda p=p, w=width: rl.simulated_tempering(
                p, betas, 0 * betas, 6, 9, 0, start=bad(6, w)
            ),
            f"reverse_ais {name}": lambda p=p, w=width: rl.reverse_ais(
                p, betas, 6, 0, start=bad(6, w)
            ),
        }
for name, call in CALLS.items():
    print(json.dumps([name, "began"]), flush=True)
    try:
        call()
    except (TypeError, ValueError) as error:
        print(json.dumps([name, str(error)]), flush=True)
    else:
        print(json.dumps([name, "nothing was said"]), flush=True)
"""


@pytest.mark.parametrize("kind", ["wide", "narrow", "nan", "half", "array"])
def test_every_way_in_refuses(kind):
    done = subprocess.run([sys.executable, "-c", CHILD, kind], capture_output=True, text=True)
    said = dict(json.loads(line) for line in done.stdout.splitlines())
    assert done.returncode == 0, (done.returncode, list(said)[-1:], done.stderr[-500:])
    assert len(said) >= 22
    for name, message in said.items():
        assert message.startswith(("state ", "start ")), (name, message)
