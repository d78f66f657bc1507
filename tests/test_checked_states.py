"""States of the wrong width or with values that are no bits never reach a kernel.

What an unchecked kernel does to memory would end the process of these tests.
"""

from dataclasses import replace

import numpy as np
import pytest
from helpers_models import quiet

import rbmlib as rl

BETAS = np.array([0.0, 0.5, 1.0])
PATHS = {
    "narrow weights": rl.GeometricPath(rl.testsystems.random_rbm(6, 4, rng=0)),
    "wide weights": rl.GeometricPath(rl.testsystems.random_rbm(6, 40, rng=0)),
    "spins": rl.GeometricPath(rl.RBM(rl.Spin(np.zeros(6)), rl.Binary([1.0]), np.ones((6, 1)))),
    "leaky": rl.LeakinessPath(rl.LeakyRBM(np.eye(6)[:, :2] * 0.5)),
    "density": rl.DensityPath(rl.testsystems.GaussianMixture(np.zeros((2, 6)), 1.0), 1.0),
}
REAL = ("leaky", "density")


def with_value(value):
    states = np.ones((6, 6), np.float32)
    states[3, 1] = value
    return states


BAD = {
    "wide": np.ones((6, 500_000), np.float32), "narrow": np.ones((6, 1), np.float32),
    "nan": with_value(np.nan), "half": with_value(0.5),
}  # fmt: skip


def sample_with(path, states):
    """Of a model with other units, or one whose states were changed."""
    if states.shape[1] > 6:
        path, states = rl.GeometricPath(rl.testsystems.random_rbm(50, 4, rng=0)), None
    sample = rl.simulated_tempering(path, BETAS, np.zeros(3), 6, 4, 0)
    return sample if states is None else replace(sample, states=states)


CALLS = {
    "simulated": lambda p, s: rl.simulated_tempering(p, BETAS, 0 * BETAS, 6, 9, 0, start=s),
    "sample": lambda p, s: rl.simulated_tempering(
        p, BETAS, 0 * BETAS, 6, 9, 0, start=sample_with(p, s)
    ),
    "parallel": lambda p, s: rl.parallel_tempering(p, BETAS, 2, 10, 0, start=s),
    "reverse_ais": lambda p, s: rl.reverse_ais(p, BETAS, 6, 0, start=s),
    "bar": lambda p, s: rl.bar(p, BETAS, 6, 0, start=s),
    "log_density": lambda p, s: p.at(1.0).log_density(s),
}


CASES = [
    (call, name, kind)
    for call in CALLS
    for name in PATHS
    for kind in BAD
    if name not in REAL or (kind != "half" and (call, name) != ("log_density", "density"))
]


@pytest.mark.parametrize(("call", "name", "kind"), CASES)
def test_every_way_in_refuses(call, name, kind):
    with pytest.raises((TypeError, ValueError), match=r"^(start|visible|x) "):
        quiet(CALLS[call], PATHS[name], BAD[kind])
