"""The sum over distinct states: at or below log Z, and log Z where it holds every state."""

from dataclasses import replace

import numpy as np
import pytest
from helpers_check import ferromagnet, made
from helpers_models import hopfield_rbm

import rbmlib as rl
from rbmbook import rivals
from rbmbook.testsystems import of_spins
from rbmlib.search import opinion as opinions
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
    beam.add(descents(beam.small, rng=0)[:3])
    sums = [beam.log_sum]
    while len(sums) < 3 or beam.log_sum > sums[-2]:
        beam.grow(20 * beam.n_neighbours)
        sums.append(beam.log_sum)
    assert max(sums) <= log_z + rounding
    assert (np.diff(sums) >= 0).all()
    assert abs(sums[-1] - log_z) <= rounding
    states, logs = beam.states()
    assert len(np.unique(states, axis=0)) == beam.n_states
    assert beam.contains(states).all()
    if beam.turned:
        assert np.allclose(logs, rbm.log_density(states), atol=rounding)


@pytest.mark.parametrize("n", [5, 63, 64, 65, 130])
def test_states_of_any_number_of_words(n):
    """Two units of the other layer, whose sum over all states is known."""
    rng = np.random.default_rng(n)
    rbm = rl.BernoulliRBM(rng.normal(size=(n, n)), rng.normal(size=n), rng.normal(size=n))
    beam, other = Beam(rbm), Beam(rbm)
    states = (rng.random((300, n)) < 0.5).astype(float)
    beam.add(states[:200])
    beam.add(states[100:200])
    known = {bytes(s.astype(bool)) for s in states[:200]}
    assert beam.n_states == len(known)
    assert [bool(x) for x in beam.contains(states)] == [
        bytes(s.astype(bool)) in known for s in states
    ]
    beam.grow(60 * n)
    held, logs = beam.states()
    other.add(held)
    assert other.n_states == beam.n_states >= min(2**n, 2 * len(known))
    assert abs(other.log_sum - beam.log_sum) < 1e-10
    assert np.allclose(other.states()[1], logs, atol=1e-9)


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


@pytest.mark.filterwarnings("ignore::rbmlib.ConvergenceWarning")
def test_a_check_takes_a_tenth_of_a_long_run_at_most(monkeypatch):
    """In states: the sum still grows above the value, so that it is grown once more."""
    model, looked, grow = rl.testsystems.random_rbm(200, 100, coupling=3.0, rng=0), [], Beam.grow
    monkeypatch.setattr(Beam, "grow", lambda beam, n: looked.append(n) or grow(beam, n))
    run = rl.Estimate("made", 0.0, 0.01, (-0.02, 0.02), n_chains=1000, n_sweeps=2000)
    found = opinions.checked(rl.GeometricPath(model), run)
    assert found.details["second_opinion"]["verdict"] == "refuted"
    (sweep, unit), size = opinions.SWEEP, np.abs(model.weights)
    of_weight = opinions.OF_SWEEP * (1 + opinions.EVEN * size.mean() / size.max())
    work = 1000 * 2000 * (sweep + 300 * unit + 20_000 * of_weight)
    share = sum(looked) * (opinions.LOOK + 200 * opinions.OF_LOOK) / work
    assert 0.05 < share <= 0.1


def test_sweeps_of_many_active_units_are_worth_more():
    """Fields are sums over the active units or the others: of few that differ they are cheap."""
    rbm = rl.testsystems.random_rbm(400, 60, coupling=2.0, rng=0)
    rng = np.random.default_rng(0)
    few, many = ((rng.random((100, 400)) < p).astype(float) for p in (0.02, 0.5))
    work = [
        opinions._work(rbm, replace(made(0.0), states=states, n_chains=100, n_sweeps=10))
        for states in (few, few, many)
    ]
    assert work[0] == work[1] < 0.75 * work[2]
    even = rbm.with_(weights=np.sign(rbm.weights))
    estimate = replace(made(0.0), states=few, n_chains=100, n_sweeps=10)
    assert opinions._work(even, estimate) > 1.2 * work[0]
    assert opinions._work(rbm, replace(estimate, n_sweeps=20)) == 2 * work[0]


def test_what_masses_cannot_take_the_sum_does():
    """Too little work for a hunt: a sum that still grows is given all of it."""
    rbm = rl.testsystems.random_rbm(300, 60, coupling=4.0, rng=0)
    found = opinions._opinion(rl.GeometricPath(rbm), made(1e4), opinions.FLOOR)
    assert found.n_modes == 0
    looks = opinions.FLOOR / (opinions.LOOK + 300 * opinions.OF_LOOK)
    assert 0.4 * looks < found.n_states <= looks + 1000


@pytest.mark.parametrize(
    ("details", "sweeps"),
    [
        ({}, 0),
        ({"pilot_steps": 50}, 12 * 50),
        ({"planned": {"length": 5.0}}, 100 * 1000),
        ({"planned": {"length": 5.0, "pilot_sweeps": 400}}, 100 * (1000 + 2000 + 400)),
        ({"planned": {"pilot_sweeps": 600}, "pilot_steps": 7}, 100 * (2000 + 600) + 12 * 7),
    ],
)
def test_pilots_are_a_part_of_the_run(details, sweeps):
    """Of which a check may take a tenth: 12 chains of 30 sweeps, a hundred that planned them."""
    rbm = rl.testsystems.random_rbm(40, 6, rng=0)
    one = opinions._work(rbm, made(0.0, n_chains=1, n_sweeps=1))
    run = made(0.0, n_chains=12, n_sweeps=30, details=details)
    assert opinions._work(rbm, run) == pytest.approx(one * (360 + sweeps))


@pytest.mark.filterwarnings("ignore::rbmlib.ConvergenceWarning")
def test_estimators_leave_what_their_pilots_took():
    path = rl.GeometricPath(rl.testsystems.random_rbm(20, 6, rng=0))
    runs = rl.rts(path, n_chains=4, rng=0), rivals.nrpt(path, n_chains=2, n_sweeps=200, rng=0)
    betas = np.linspace(0, 1, 5)
    given = rl.rts(path, betas, 4, 50, rng=0), rivals.nrpt(path, betas, 2, 200, rng=0)
    steps = [run.details["pilot_steps"] for run in (*runs, *given)]
    assert steps == [4000, 25 + 50 + 100, 4000, 0]
    assert set(runs[0].details["planned"]) >= {"length", "pilot_sweeps"}
    assert "planned" not in given[0].details
    work = opinions._work(path.rbm, runs[0])
    bare = replace(runs[0], details={}, states=runs[0].states.states)
    planned = 100 * (3000 + runs[0].details["planned"]["pilot_sweeps"]) + 4 * 4000
    share = planned / (4 * runs[0].n_sweeps)
    assert work > (1 + share) * opinions._work(path.rbm, bare)


@pytest.mark.filterwarnings("ignore::rbmlib.ConvergenceWarning")
def test_masses_are_asked_of_tempered_runs_of_wide_models():
    """A sum of some states is nats below a value that is low by half a nat."""
    rbm, _ = ferromagnet(300, 230, 1.2)
    log_z = rl.log_z(rbm, rng=0).log_z
    states = np.random.default_rng(0).integers(0, 2, (100, 300))
    plan = {"planned": {"length": 10.0, "pilot_sweeps": 600}, "pilot_steps": 1000}
    run = made(log_z - 0.5, 0.05, n_chains=100, n_sweeps=2500, states=states, details=plan)
    opinion = opinions.checked(rl.GeometricPath(rbm), run).details["second_opinion"]
    assert opinion["log_sum"] < log_z - 2
    assert (opinion["verdict"], opinion["n_modes"]) == ("refuted", 2)
    assert opinion["log_local"] == pytest.approx(log_z, abs=0.15)
    short = replace(run, n_sweeps=250, details={})
    assert opinions.checked(rl.GeometricPath(rbm), short).details["second_opinion"]["n_modes"] == 0
