"""What Metropolis-Hastings chains with the two mistakes sample, by quadrature."""

import numpy as np
import pytest

from rbmbook import metropolis_laws as laws
from rbmbook.claims import claims
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
        *laws.sentence_verdicts(),
    ]
    names = [v.name for v in verdicts]
    assert len(set(names)) == len(names)
    assert set(names) == {n for n in claims() if n.startswith("wang-mh-")}


def test_verdicts_follow_the_numbers(monkeypatch):
    assert laws.mean_verdicts()[100].outcome == CONTRADICTED
    near = laws.Law(0.4923, 1.0, 0.5)
    monkeypatch.setattr(laws, "long_run", lambda sampler, k=1.0, n=301: near)
    assert laws.mean_verdicts()[100].outcome == REPRODUCED
