"""What the sweeps of chapter varopt compute, on a model that can be enumerated."""

import numpy as np

import rbmlib as rl
from rbmlib.book.experiments import varopt  # noqa: F401  registers its words
from rbmlib.sweeps.registry import ESTIMATORS

SMALL = rl.testsystems.random_rbm(n_visible=10, n_hidden=5, coupling=4.0, rng=0)
PATH = rl.GeometricPath(SMALL, base=np.zeros(10))
EXACT = rl.exact(SMALL).log_z


def test_looks_on_the_way_end_at_the_whole_run():
    run, more = ESTIMATORS["looked_at"](
        PATH, rl.schedules.linear(100), np.random.default_rng(1), n_chains=200, n_looks=4
    )
    assert abs(run.log_z - EXACT) < 4 * run.std_error
    assert sorted(more) == sorted(f"{x}_{i}" for x in ("ess", "variance") for i in (1, 2, 3, 4))
    assert np.isclose(more["ess_4"], run.ess)
    single = 1e-4  # the trace is kept in single precision
    assert np.isclose(more["variance_4"], run.log_weights.var(ddof=1), rtol=single)
    halfway = rl.ais(PATH, rl.schedules.linear(100), 200, 1, n_recorded=3, keep_chains=True)
    assert np.isclose(
        more["variance_2"], halfway.trace["chain_log_weights"][1].var(ddof=1), rtol=single
    )
    assert more["variance_1"] < more["variance_2"] < more["variance_4"]
