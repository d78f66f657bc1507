"""Blocks of runs of the calibration: each run has chains of its own, and no chain is in two."""

from types import SimpleNamespace

import numpy as np
import pytest

from rbmbook.experiments import calibration

BETAS = np.linspace(0, 1, 3)


class Chains(SimpleNamespace):
    """A sample that only knows how many chains it has; what is read off is which they are."""

    def of_chains(self, chosen):
        return np.arange(self.n)[chosen].tolist()


def read(chains):
    return SimpleNamespace(method="rts", chains=chains)


@pytest.mark.parametrize(
    ("block", "sampler", "kind", "before"),
    [("_tempered", "_sample", "sample", ("joint",)), ("_ladders", "_replicas", "ladders", ())],
)
def test_runs_of_a_block_share_no_chain(monkeypatch, block, sampler, kind, before):
    each = calibration.CHAINS[kind]
    monkeypatch.setattr(calibration, sampler, lambda *_: Chains(n=3 * each))
    runs = list(getattr(calibration, block)(read, *before, None, BETAS, 0, 3))
    assert [run.estimate.chains for run in runs] == np.arange(3 * each).reshape(3, each).tolist()
    assert [run.n_values for run in runs] == [each] * 3
