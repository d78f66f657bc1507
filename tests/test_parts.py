"""Parts of Z by overlapping shares, their sum, its error, and the steps of a pilot."""

from types import SimpleNamespace

import numpy as np
import pytest
from helpers_models import quiet

import rbmlib as rl
from rbmlib.automatic import parts
from rbmlib.automatic.cover import Cover, Part
from rbmlib.automatic.parts import Joint, Weighted, joined, run_part

SMALL = rl.testsystems.random_rbm(12, 6, coupling=3.0, rng=1)


def overlapping(n_chains: int) -> Cover:
    """Two components that both have something of every state, each a part of its own."""
    made = Cover(np.array([[0.4] * 12, [-0.4] * 12]), np.zeros(2))
    path = rl.GeometricPath(SMALL)
    made.parts = [Part((path, path), n_chains, np.arange(2) == m) for m in range(2)]
    return made


def test_overlapping_parts_are_their_shares_in_both_directions():
    """Where shares are neither 0 nor 1 a value without its share would show."""
    made, log_z = overlapping(2000), rl.exact(SMALL).log_z
    source, states = np.random.default_rng(0), rl.sample(SMALL, 50_000, 0).states
    runs = [quiet(run_part, made, part, 100, source) for part in made.parts]
    for part, run in zip(made.parts, runs, strict=True):
        shares = np.exp(made.log_share(part, states))
        assert shares.std() > 0.1, "the shares would hide nothing"
        truth = log_z + np.log(shares.mean())
        assert abs(run.joint.log_z - truth) < 4 * run.joint.std_error + 0.01
    total = Joint.of([run.joint for run in runs])
    assert abs(total.log_z - log_z) < 4 * total.std_error


def test_bounds_from_above_of_parts_keep_the_order_of_their_ends():
    """Weights of exp(-R): the sum's value lies inside its interval, as that of one part does."""
    made = overlapping(400)
    runs = [quiet(run_part, made, part, 50, np.random.default_rng(0)) for part in made.parts]
    backward = [run.backward for run in runs]
    assert backward[0].estimate.bound == "upper"
    total = joined(backward)
    low, high = total.interval
    assert low < total.log_z < high
    assert high - low < 10 * total.std_error


def test_a_chain_that_is_repeated_is_no_new_one():
    """Of a part with a fourth of the chains: the error of the mean is that of so many."""
    values = np.random.default_rng(0).normal(size=10)
    runs = [
        Weighted(rl.Estimate("ais", 0.0, 0.1, (-1, 1), bound="lower", log_weights=x), 0 * x)
        for x in (values, np.full(40, -99.0))
    ]
    wanted = np.tile(values, 4).std(ddof=1) / np.sqrt(10)
    assert joined(runs).mean_std_error == pytest.approx(wanted)


def test_sum_of_parts_carries_the_errors_of_all():
    """By hand: variances of independent parts add up, and so do the freedoms of equal ones."""
    assert Joint.of([(2.0, 0.1, 7.0)]) == pytest.approx((2.0, 0.1, 7.0))
    twice = Joint.of([(0.0, 0.1, 7.0), (0.0, 0.1, 7.0)])
    assert twice == pytest.approx((np.log(2), 0.1 / np.sqrt(2), 13.0))
    exact = Joint.of([(0.0, 0.0, 5.0), (0.0, 0.0, 6.0)])
    assert exact == pytest.approx((np.log(2), 0.0, 11.0))
    unequal = Joint.of([(np.log(3), 0.2, 5.0), (0.0, 0.4, 9.0)])
    error = np.hypot(3 * 0.2, 0.4)  # of 4
    freedom = error**4 / ((3 * 0.2) ** 4 / 4 + 0.4**4 / 8)
    assert unequal == pytest.approx((np.log(4), error / 4, freedom + 1))


def test_a_pilot_leaves_a_share_of_the_steps_even(monkeypatch):
    """All friction in one place: no step is longer than four even ones."""

    def spike(run, smoothing):
        zeta = np.full(run.betas.size - 1, 1e-12)
        zeta[zeta.size // 2] = 1.0
        return None, zeta

    monkeypatch.setattr(parts, "friction_coefficient", spike)
    betas = parts.schedule(rl.GeometricPath(SMALL), 400, np.random.default_rng(0))
    assert np.diff(betas).max() < 4.1 / 400
    assert np.diff(betas).min() < 0.1 / 400, "the spike takes most of the steps"


@pytest.mark.parametrize("n_paths", [1, 2])
def test_a_second_path_has_a_schedule_of_its_own(n_paths, monkeypatch):
    """Of one path the second run has equal steps; a schedule is made for each other path."""
    first, asked, annealed = rl.GeometricPath(SMALL), [], []
    second = first if n_paths == 1 else rl.GeometricPath(SMALL, base=np.zeros(12))

    def schedule(path, n_steps, *_):
        asked.append(path)
        return np.linspace(0, 1, n_steps + 1) ** 2

    def ais(path, betas, *_, **more):
        annealed.append(betas)
        return rl.ais(path, betas, *_, **more)

    monkeypatch.setattr(parts, "schedule", schedule)
    monkeypatch.setattr(parts, "ais", ais)
    made = Cover.whole(first, second, 50)
    quiet(run_part, made, made.parts[0], 40, np.random.default_rng(0))
    assert asked == [first, second][:n_paths]
    bent, straight = np.linspace(0, 1, 41) ** 2, np.linspace(0, 1, 41)
    assert np.array_equal(annealed[0], bent)
    assert np.array_equal(annealed[1], straight if n_paths == 1 else bent)


def test_equal_friction_gives_equal_steps_on_any_grid(monkeypatch):
    looks = np.array([0.0, 0.1, 0.3, 1.0])
    weights = np.random.default_rng(0).normal(size=(4, 5))
    run = SimpleNamespace(betas=looks, trace={"chain_log_weights": weights})
    monkeypatch.setattr(parts, "ais", lambda *_, **more: run)
    monkeypatch.setattr(parts, "friction_coefficient", lambda *_, **more: (looks, np.ones(3)))
    betas = parts.schedule(rl.GeometricPath(SMALL), 10, None)
    np.testing.assert_allclose(betas, np.linspace(0, 1, 11), atol=1e-12)
