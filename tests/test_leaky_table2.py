"""Table 2 of Li et al. (2016): how stored runs are put together, and what the judge makes of it."""

import numpy as np
import pandas as pd
import pytest

from rbmbook import judge, leaky_table2, stored_results
from rbmbook.claims import claims
from rbmbook.verdicts import CONTRADICTED, REPRODUCED


@pytest.fixture(scope="module")
def table():
    return leaky_table2.table_2(stored_results("leaky_table2"))


def test_runs_are_joined_as_their_weights_are():
    rng = np.random.default_rng(0)
    parts = [rng.normal(3.0, 0.3, size=n) for n in (1000, 3000)]

    def run(log_w):
        w = np.exp(log_w)
        return {
            "n_chains": len(w),
            "log_z": np.log(w.mean()),
            "std_error": w.std() / w.mean() / np.sqrt(len(w)),
        }

    both, whole = leaky_table2.joined(pd.DataFrame(map(run, parts))), run(np.concatenate(parts))
    assert both["particles"] == 4000
    assert both["log_z"] == pytest.approx(whole["log_z"], abs=1e-12)
    assert both["s.e."] == pytest.approx(whole["std_error"], rel=0.01)


def test_exact_transitions_are_predicted_to_have_no_difference(table):
    exact = table[table["transition"] != "gibbs"]
    assert (exact["predicted"] == 0).all()
    assert (exact["difference"].abs() < 5 * exact["s.e."]).all()
    published = table[table["transition"] == "gibbs"]
    assert (published["difference"] > 5 * published["s.e."]).all()


def test_verdicts_follow_the_numbers(table):
    """Simulated differences that are the printed ones are reproduced, others are not."""
    energy = leaky_table2.differences(table)["AIS-Energy", 30]
    assert energy.outcome == CONTRADICTED
    moved = table.copy()
    moved.loc[moved["path"] == "energy", "difference"] = 9.60
    assert leaky_table2.differences(moved)["AIS-Energy", 30].outcome == REPRODUCED


def test_every_claim_of_table_2_is_judged_once(table):
    names = [
        v.name
        for v in (
            *leaky_table2.differences(table).values(),
            *leaky_table2.deviations(),
            *leaky_table2.comparisons(table),
        )
    ]
    wanted = {n for n in claims() if n.startswith(("li-t2", "li-s41-", "li-appD-bias"))}
    assert len(names) == len(set(names))
    assert set(names) == wanted - {"li-s41-formula"}


def test_a_deviation_is_judged_to_its_printed_digits():
    by_name = {v.name: v for v in leaky_table2.deviations()}
    assert by_name["li-t2-leaky-30-std"].outcome == REPRODUCED
    assert judge.digits("li-t2-leaky-30-std", 0.0046).outcome == CONTRADICTED
