"""Local masses: unbiased for Z, or for the part of it about the modes that they are given."""

import math

import numpy as np
from helpers_check import ferromagnet, made

import rbmlib as rl
from rbmlib.search import opinion
from rbmlib.search.local_masses import LocalMasses, local_masses

NARROW, _ = ferromagnet(30, 10)
LOG_Z = rl.exact(NARROW).log_z


def test_local_masses_are_unbiased():
    exact = rl.exact(NARROW).log_z
    runs = [local_masses(NARROW, rng=seed) for seed in range(100)]
    values = np.exp([run.log_z - exact for run in runs])
    error = values.std(ddof=1) / math.sqrt(len(values))
    assert abs(values.mean() - 1) < 4 * error
    assert error < 0.02
    inside = [run.log_lower < exact for run in runs]
    assert np.mean(inside) > 0.97


def test_what_local_masses_surely_exceed_is_without_the_largest_weight():
    """Where weights are all but equal the spread says nothing, and one of forty is left out."""
    found = local_masses(rl.testsystems.independent_rbm(np.linspace(-1, 1, 9), [0.3, -0.2])[0])
    assert found.n_modes == 1
    assert found.std_error < 0.005
    assert found.log_lower <= found.log_z + math.log(1 - 1 / 40)


def test_local_masses_agree_by_what_they_surely_exceed():
    """Which must be 90% of the value: the estimate itself is all of it in both cases."""
    for low, said in ((-0.2, "cannot tell"), (-0.05, "agrees")):
        masses = LocalMasses(log_z=0.0, std_error=0.05, log_lower=low, n_modes=2)
        found = opinion.Opinion("cannot tell", "a sum", log_sum=-1.0)
        assert opinion._of_masses(masses, found, made(0.0, n_chains=30)).verdict == said


def test_local_masses_of_a_mode_are_a_part_of_z():
    """Of the heavier of two modes: those states of which most units are on."""
    share = (NARROW.exact_samples(200_000, rng=0).mean(axis=1) > 0.5).mean()
    runs = [local_masses(NARROW, rng=seed, n_modes=1) for seed in range(100)]
    values = np.exp([run.log_z - LOG_Z for run in runs])
    assert {run.n_modes for run in runs} == {1}
    assert abs(values.mean() - share) < 0.005 + 4 * values.std(ddof=1) / 10
