"""log Z along a training: against enumeration, its error by leaving ladders out, its exchanges."""

import numpy as np
import pytest
from helpers_stats import all_states, chi_square_p, log_sum, probabilities, rbm_table, state_index

import rbmlib as rl
from rbmbook.trajectory import (
    Exchanged,
    Rungs,
    _between,
    _estimate,
    _joined,
    acceptance_between,
    exchange,
    furthest,
    place_rungs,
    trajectory,
)
from rbmlib import BernoulliRBM
from rbmlib.estimators.bar import bennett
from rbmlib.numerics import ChainStream


def models(n=6, scale=3.0, n_visible=5, seed=0) -> list[BernoulliRBM]:
    """As of a training: weights that grow, in a direction that turns."""
    rng = np.random.default_rng(seed)
    one, two = rng.normal(size=(2, n_visible, 3))
    b, a = rng.normal(size=n_visible), rng.normal(size=3)
    at = np.linspace(0.1, 1, n)
    return [BernoulliRBM(scale * t * (one + t * two), t * b, t * a, log_scale=t) for t in at]


def truth(rbm) -> float:
    return float(log_sum(rbm_table(rbm)))


TRAINING = models()
PATH = rl.Polyline([BernoulliRBM(np.zeros((5, 3)), np.zeros(5), np.zeros(3)), *TRAINING])


def ladder(betas, n_chains, rng) -> Rungs:
    """A ladder whose states are exact draws of each rung."""
    states = all_states(5)
    starts = []
    for beta in betas:
        p = probabilities(PATH.at(beta).log_density(states))
        starts.append(states[rng.choice(len(p), n_chains, p=p)])
    return Rungs(np.asarray(betas), starts)


@pytest.mark.always
@pytest.mark.statistical
@pytest.mark.parametrize("acceptance", [0.3, 0.8])
def test_every_checkpoint_is_its_enumeration(acceptance):
    """With few rungs checkpoints are left out of the ladder; with many, models are put in."""
    found = trajectory(TRAINING, 40, 400, 1, base=np.zeros(5), acceptance=acceptance)
    exact = np.array([truth(model) for model in TRAINING])
    z = (found.log_z_path - exact) / found.trace["std_error"]
    assert np.abs(z).max() < 4
    assert found.trace["std_error"].max() < 0.05
    assert found.converged
    rungs = np.array(found.details["rungs"])
    on_rungs = np.isin(np.arange(1, 7), rungs)
    assert on_rungs.all() == (acceptance == 0.8)
    assert (rungs != np.rint(rungs)).any() or acceptance == 0.3
    assert found.log_z == found.log_z_path[-1]
    assert found.interval == (found.trace["low"][-1], found.trace["high"][-1])


@pytest.mark.statistical
def test_errors_hold_at_every_checkpoint():
    """Groups of ladders, each joined anew: mean squares of error over standard error are near 1."""
    exact = np.array([truth(model) for model in TRAINING])
    rungs = ladder(np.linspace(0, 1, 9), 1200, np.random.default_rng(4))
    run = exchange(PATH, rungs, 60, 0, 1, rng=3)
    z = []
    for group in np.split(np.arange(1200), 60):
        joined = _joined(PATH, rungs, _only(run, group))
        error = 20 * joined.blocks.sum(axis=1).std(axis=1, ddof=1) / np.sqrt(20)
        z.append((joined.log_z + PATH.log_z_base - exact) / error)
    # t with 19 degrees of freedom: 19 / 17, its own error over 60 groups about 0.22
    assert (np.abs(np.square(z).mean(axis=0) - 19 / 17) < 0.9).all()


@pytest.mark.filterwarnings("ignore::rbmlib.ConvergenceWarning")
def test_the_error_is_that_of_leaving_each_ladder_out():
    """The whole estimate again without one ladder after the other: the jackknife."""
    betas = np.array([0.0, 0.4, 0.9, 1.0])  # checkpoints 1 to 5 lie between rungs
    rungs = ladder(betas, 60, np.random.default_rng(0))
    run = exchange(PATH, rungs, 40, 0, 1, rng=5)
    whole, every = _joined(PATH, rungs, run), np.arange(60)
    without = np.array([_joined(PATH, rungs, _only(run, every != c)).log_z for c in every])
    jackknife = (60 - 1) * (without.mean(axis=0) - without)
    ours = 60 * whole.blocks.sum(axis=1).T
    np.testing.assert_allclose(ours.std(axis=0), jackknife.std(axis=0), rtol=0.03)
    for mine, theirs in zip(ours.T, jackknife.T, strict=True):
        assert np.corrcoef(mine, theirs)[0, 1] > 0.99


def _only(run: Exchanged, chains) -> Exchanged:
    """Of some of the ladders."""
    return run._replace(
        work=[work[:, chains] for work in run.work],
        between={i: values[:, chains] for i, values in run.between.items()},
        round_trips=run.round_trips[chains],
    )


@pytest.mark.always
@pytest.mark.statistical
def test_exchange_leaves_every_rung_invariant():
    betas = np.array([0.0, 0.3, 0.5, 0.8, 1.0])
    rungs = ladder(betas, 4000, np.random.default_rng(1))
    run = exchange(PATH, rungs, 6, 0, 1, rng=2)
    assert run.acceptance.min() > 0.1
    assert run.acceptance.max() < 0.99
    states = all_states(5)
    p = probabilities(PATH.at(1.0).log_density(states))
    assert chi_square_p(state_index(run.states), p) > 1e-4
    for k, work in enumerate(run.work):  # equality of Jarzynski for both sides
        step = truth(PATH.at(betas[k + 1])) - truth(PATH.at(betas[k]))
        for sign, values in ((1, work[..., 0]), (-1, work[..., 1])):
            w = np.exp(sign * (values - step)).mean(axis=0)
            assert abs(w.mean() - 1) < 4.5 * w.std() / np.sqrt(w.size)


def test_a_model_between_two_rungs_becomes_the_rung_that_it_equals():
    rng = np.random.default_rng(0)
    work = rng.normal(size=(30, 8, 2)) + np.array([-0.4, 0.6])
    step = bennett(work[..., 0].ravel(), work[..., 1].ravel()).log_z
    assert _between(work, work, step)[0] == pytest.approx(step, abs=1e-10)
    assert _between(0 * work, work, step)[0] == pytest.approx(0, abs=1e-10)
    ratios = 0.4 * work
    value, influences, slope = _between(ratios, work, step)
    moved = (_between(ratios, work, step + 1e-5)[0] - _between(ratios, work, step - 1e-5)[0]) / 2e-5
    assert slope == pytest.approx(moved, rel=1e-6)
    assert value < 0.4 * step  # log Z is convex
    assert influences.sum() == pytest.approx(0, abs=1e-12)


def test_expected_acceptance_is_that_of_all_pairs():
    w = np.random.default_rng(0).normal(size=50)
    least = np.minimum.outer(np.exp(w), np.exp(w))
    by_hand = (least.sum() - np.trace(least)) / (50 * 49) / np.exp(w).mean()
    assert acceptance_between(w) == pytest.approx(by_hand)
    assert acceptance_between(np.zeros(9)) == pytest.approx(1)


@pytest.mark.statistical
@pytest.mark.parametrize("wanted", [0.3, 0.7])
def test_rungs_are_placed_by_their_acceptance(wanted):
    stream = ChainStream(4, 400)
    rungs = place_rungs(PATH, wanted, 20, stream)
    run = exchange(PATH, rungs, 100, 20, 1, rng=0)
    assert rungs.betas[[0, -1]].tolist() == [0, 1]
    assert run.acceptance.min() > wanted - 0.1
    more = [place_rungs(PATH, a, 20, ChainStream(4, 100)) for a in (0.2, 0.85)]
    assert more[0].betas.size < rungs.betas.size < more[1].betas.size


def test_too_short_a_run_is_flagged_and_its_errors_grow():
    with pytest.warns(rl.ConvergenceWarning, match=r"trajectory: .*round trips of a ladder"):
        short = trajectory(models(6, 4.0), 10, 12, rng=0, acceptance=0.8)
    assert not short.converged
    spread = short.trace["chains"].std(axis=1, ddof=1) / np.sqrt(10)
    assert (short.trace["std_error"] >= spread - 1e-12).all()
    assert short.std_error == pytest.approx(short.trace["std_error"][-1])


def test_round_trips_of_the_burn_in_do_not_count():
    """Four exchanges are too few to cross a ladder of seven rungs; those before were enough."""
    rungs = ladder(np.linspace(0, 1, 7), 10, np.random.default_rng(0))
    assert exchange(PATH, rungs, 4, 60, 1, rng=5).round_trips.sum() == 0
    assert exchange(PATH, rungs, 64, 0, 1, rng=5).round_trips.sum() > 0


def test_neighbours_that_hardly_exchange_or_overlap_are_flagged():
    rungs = ladder(np.linspace(0, 1, 7), 20, np.random.default_rng(0))
    run = exchange(PATH, rungs, 400, 0, 1, rng=5)
    joined = _joined(PATH, rungs, run)
    assert _estimate(PATH, run, joined, {}, 400).converged
    rare = run._replace(acceptance=0.04 + 0 * run.acceptance)
    with pytest.warns(rl.ConvergenceWarning, match="least acceptance of neighbours 0.04"):
        _estimate(PATH, rare, joined, {}, 400)
    with pytest.warns(rl.ConvergenceWarning, match="states where neighbours overlap 9 "):
        _estimate(PATH, run, joined._replace(overlap=9.0), {}, 400)
    blocks = joined.blocks.copy()
    blocks[0] = blocks[0].mean(axis=0)
    with pytest.warns(rl.ConvergenceWarning):
        still = _estimate(PATH, rare, joined._replace(blocks=blocks), {}, 400).trace
    widened = still["std_error"] > still["chains"].std(axis=1, ddof=1) / np.sqrt(20) + 1e-12
    assert widened.tolist() == [False] + 5 * [True], "each bar by the drift of its own checkpoint"


@pytest.mark.parametrize("width", [0.3, 1e-6])
def test_a_rung_within_a_step_still_exchanges(width):
    """As far as the acceptance allows, and no farther; but always somewhat on."""
    place = furthest(2.0, 10, lambda p: 1 - (p - 2) / width, 0.5)
    assert 2.0 < place <= 2 + width / 2 + 1e-9
    assert place > 2 + 0.3 * width


def test_the_last_model_of_a_training_is_checked():
    found = trajectory(models(3), n_sweeps=100, rng=0).details["independent_check"]
    assert found["complete"]
    assert found["log_sum"] == pytest.approx(truth(models(3)[-1]))
