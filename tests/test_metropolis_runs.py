"""Runs of the report's experiment: what is counted, and that each sampler has its own law."""

import numpy as np
import pytest

from rbmbook import metropolis_runs
from rbmbook.metropolis_laws import SAMPLERS, long_run
from rbmbook.metropolis_runs import MEAN, counted_runs, proposal


def test_without_the_ratio_all_proposals_weigh_the_same():
    points = MEAN + np.array([[0.0, 0.0], [3.0, 1.0]])
    with_it, without = (proposal(2.0, ratio).log_density(points) for ratio in (True, False))
    assert without.tolist() == [0, 0]
    assert with_it[0] - with_it[1] == pytest.approx((9 / 1 + 1 / 4) / 4 / 2)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_each_sampler_has_its_own_correlation(sampler):
    runs = counted_runs(sampler, 1.0, 2000, 20, np.random.default_rng(1))
    assert [run.shape for run in runs] == [(2000, 2)] * 20
    found = np.array([np.corrcoef(run.T)[0, 1] for run in runs])
    error = found.std(ddof=1) / np.sqrt(20)
    assert abs(found.mean() - long_run(sampler).correlation) < 4 * error


def test_repeats_are_counted_only_where_they_should_be():
    counts = {
        name: counted_runs(name, 3.0, 400, 1, np.random.default_rng(2))[0] for name in SAMPLERS
    }
    distinct = {name: len(np.unique(run, axis=0)) for name, run in counts.items()}
    assert distinct["no repeat"] == distinct["both mistakes"] == 400
    assert max(distinct["correct"], distinct["no ratio"]) < 250


def test_pieces_do_not_change_the_number_of_points(monkeypatch):
    monkeypatch.setattr(metropolis_runs, "PIECE", 30)
    runs = counted_runs("both mistakes", 2.0, 100, 3, np.random.default_rng(3))
    assert [len(run) for run in runs] == [100] * 3
