"""The sum over distinct states: at or below log Z, and log Z where it holds every state."""

import numpy as np
import pytest
from helpers_models import hopfield_rbm

import rbmlib as rl
from rbmbook.testsystems import of_spins
from rbmlib.search.beam import Beam, descents

LAYERS = {
    "bits": lambda rng, n: rl.Binary(rng.normal(size=n)),
    "spins": lambda rng, n: rl.Spin(rng.normal(scale=0.5, size=n)),
    "categories": lambda rng, n: rl.Potts(rng.normal(size=3 * (n // 2)), 3),
    "normal": lambda rng, n: rl.Gaussian(rng.normal(size=n)),
}
KINDS = [
    ("bits", 12, "bits", 6), ("bits", 6, "bits", 12), ("spins", 9, "spins", 7),
    ("bits", 9, "spins", 7), ("spins", 7, "bits", 9), ("categories", 8, "bits", 9),
    ("bits", 9, "categories", 8), ("categories", 8, "categories", 10), ("normal", 7, "bits", 8),
    ("normal", 6, "spins", 7), ("normal", 6, "categories", 10),
]  # fmt: skip


def model(visible, n_visible, hidden, n_hidden, scale, rng):
    layers = LAYERS[visible](rng, n_visible), LAYERS[hidden](rng, n_hidden)
    return rl.RBM(*layers, rng.normal(scale=scale, size=[*map(len, layers)])).with_()


@pytest.mark.parametrize("scale", [0.3, 2.0, 400.0])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind[0]}-{kind[2]}")
def test_a_sum_grows_to_log_z(kind, scale):
    rbm = model(*kind, scale, np.random.default_rng(7))
    log_z, beam = rl.exact(rbm).log_z, Beam(rbm)
    rounding = 1e-11 * (1 + abs(log_z))
    begun = descents(beam.small, rng=0)[:3]
    beam.add(begun)
    sums = [beam.log_sum]
    while len(sums) < 3 or beam.log_sum > sums[-2]:
        beam.grow(20 * beam.n_neighbours)
        sums.append(beam.log_sum)
    assert max(sums) <= log_z + rounding
    assert (np.diff(sums) >= 0).all()
    assert abs(sums[-1] - log_z) <= rounding
    assert beam.contains(begun).all()


@pytest.mark.parametrize("n", [5, 63, 64, 65, 130])
def test_states_of_any_number_of_words(n):
    rng = np.random.default_rng(n)
    rbm = rl.BernoulliRBM(rng.normal(size=(n, n)), rng.normal(size=n), rng.normal(size=n))
    beam = Beam(rbm)
    states = (rng.random((300, n)) < 0.5).astype(float)
    beam.add(states[:200])
    beam.add(states[100:200])
    known = {bytes(s.astype(bool)) for s in states[:200]}
    assert beam.n_states == len(known)
    assert [bool(x) for x in beam.contains(states)] == [
        bytes(s.astype(bool)) in known for s in states
    ]
    beam.grow(60 * n)
    assert beam.n_states >= min(2**n, 2 * len(known))
    assert beam.contains(states[:200]).all()


def test_heaviest_states_come_first():
    """Of a model of independent units the heaviest states are known."""
    rbm = rl.BernoulliRBM(np.zeros((40, 30)), np.zeros(40), np.linspace(4, 7, 30))
    beam = Beam(rbm)
    beam.add(np.ones((1, 30)))
    beam.grow(400 * 30)
    log_z = 40 * np.log(2) + np.logaddexp(0, np.linspace(4, 7, 30)).sum()
    assert log_z - 1e-3 < beam.log_sum <= log_z + 1e-10


def test_wide_layers_and_scale():
    """512 units; what `log_scale` adds is in the sum."""
    rng = np.random.default_rng(0)
    rbm = of_spins(rng.normal(scale=2 / 23, size=(520, 512)), np.full(520, 3.0), np.full(512, 3.0))
    beam = Beam(rbm)
    seeds = descents(beam.small, rng=0)
    beam.add(seeds)
    before = beam.log_sum
    beam.grow(20 * 512)
    mean_field = rl.find_modes(rbm).lower_bound[0]
    assert before <= beam.log_sum
    assert abs(beam.log_sum - mean_field) < 30
    spins = rl.RBM(rl.Spin(np.full(520, 3.0)), rl.Spin(np.full(512, 3.0)),
                   np.random.default_rng(0).normal(scale=2 / 23, size=(520, 512)))  # fmt: skip
    same = Beam(spins)
    same.add(2 * seeds - 1)
    assert abs(same.log_sum - before) < 1e-8


def test_the_same_seed_gives_the_same_bits():
    rbm = hopfield_rbm(40, 20, rng=1)

    def run(n_threads):
        with rl.using(n_threads=n_threads):
            beam = Beam(rbm)
            beam.add(descents(beam.small, rng=3))
            beam.grow(5000)
            return beam.log_sum, beam.n_states

    assert run(1) == run(2) == run(None)


def test_layers_that_cannot_be_counted():
    with pytest.raises(ValueError, match="expected a layer whose states can be counted"):
        Beam(rl.testsystems.orthogonal_leaky_rbm(6, 3))
