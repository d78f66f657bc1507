"""Metropolis-Hastings with the two mistakes: its law by quadrature, and the report's runs of it."""

import numpy as np
import pytest

from rbmbook import metropolis_laws as laws
from rbmbook import metropolis_runs as experiment
from rbmbook.claims import claims
from rbmbook.measured import measured
from rbmbook.metropolis import Independent, metropolis_hastings, normal_log_density
from rbmbook.verdicts import CONTRADICTED, REPRODUCED


def test_the_correct_sampler_has_the_target_at_every_width():
    for k in (1.0, 4.0):
        law = laws.long_run("correct", k)
        assert law.correlation == pytest.approx(0.5, abs=1e-6)
        assert law.variance == pytest.approx(1.0, abs=1e-4)


def test_flat_proposals_hide_both_mistakes_from_the_correlation():
    law = laws.long_run("both mistakes", 60.0, n=1801)
    assert law.correlation == pytest.approx(0.5, abs=1e-3)
    assert law.variance == pytest.approx(1.5, abs=0.01)


@pytest.mark.parametrize("sampler", list(laws.SAMPLERS))
def test_chains_have_the_law_of_the_quadrature(sampler):
    ratio, repeat = laws.SAMPLERS[sampler]
    covariance = np.array([[1.0, 0.5], [0.5, 1.0]])
    proposal = Independent.normal(np.zeros(2), np.eye(2))
    if not ratio:
        proposal = Independent(proposal.sample, lambda y: np.zeros(len(y)))
    target = normal_log_density(np.zeros(2), covariance)
    chains = metropolis_hastings(target, proposal, np.zeros((40, 2)), 5000, 3)
    runs = [x[a | repeat][100:] for x, a in zip(chains.states, chains.accepted, strict=True)]
    found = np.array([np.corrcoef(x.T)[0, 1] for x in runs])
    law = laws.long_run(sampler)
    error = found.std(ddof=1) / np.sqrt(len(found))
    assert abs(found.mean() - law.correlation) < 4 * error
    assert chains.acceptance_rate == pytest.approx(law.accepted, abs=0.01)


def test_every_claim_about_the_sampler_is_judged_once():
    verdicts = [
        *laws.mean_verdicts().values(),
        *laws.variance_verdicts(2e-5).values(),
        *laws.sentence_verdicts(measured(1.0, 0.01, scale="log")),
    ]
    names = [v.name for v in verdicts]
    assert len(set(names)) == len(names)
    assert set(names) == {n for n in claims() if n.startswith("wang-mh-")}


@pytest.mark.parametrize(("ratio", "outcome"), [(1.0, REPRODUCED), (0.32, CONTRADICTED)])
def test_more_points_help_or_do_not(ratio, outcome):
    verdicts = laws.sentence_verdicts(measured(ratio, 0.01, scale="log"))
    assert [v.outcome for v in verdicts if v.name == "wang-mh-points"] == [outcome]


def test_verdicts_follow_the_numbers(monkeypatch):
    assert laws.mean_verdicts()[100].outcome == CONTRADICTED
    near = laws.Law(0.4923, 1.0, 0.5)
    monkeypatch.setattr(laws, "long_run", lambda sampler, k=1.0, n=301: near)
    assert laws.mean_verdicts()[100].outcome == REPRODUCED


def test_without_the_ratio_all_proposals_weigh_the_same():
    points = experiment.MEAN + np.array([[0.0, 0.0], [3.0, 1.0]])
    with_it, without = (
        experiment.proposal(2.0, ratio).log_density(points) for ratio in (True, False)
    )
    assert without.tolist() == [0, 0]
    assert with_it[0] - with_it[1] == pytest.approx((9 / 1 + 1 / 4) / 4 / 2)


@pytest.mark.parametrize("sampler", list(laws.SAMPLERS))
def test_each_sampler_has_its_own_correlation(sampler):
    runs = experiment.counted_runs(sampler, 1.0, 2000, 20, np.random.default_rng(1))
    assert [run.shape for run in runs] == [(2000, 2)] * 20
    found = np.array([np.corrcoef(run.T)[0, 1] for run in runs])
    error = found.std(ddof=1) / np.sqrt(20)
    assert abs(found.mean() - laws.long_run(sampler).correlation) < 4 * error


def test_repeats_are_counted_only_where_they_should_be():
    counts = {
        name: experiment.counted_runs(name, 3.0, 400, 1, np.random.default_rng(2))[0]
        for name in laws.SAMPLERS
    }
    distinct = {name: len(np.unique(run, axis=0)) for name, run in counts.items()}
    assert distinct["no repeat"] == distinct["both mistakes"] == 400
    assert max(distinct["correct"], distinct["no ratio"]) < 250


def test_pieces_do_not_change_the_number_of_points(monkeypatch):
    monkeypatch.setattr(experiment, "PIECE", 30)
    runs = experiment.counted_runs("both mistakes", 2.0, 100, 3, np.random.default_rng(3))
    assert [len(run) for run in runs] == [100] * 3
