"""What three runs of `log_z` say of each other, from values that are given."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from rbmlib.automatic.checks import Round
from rbmlib.automatic.log_z import _seed
from rbmlib.automatic.verdict import AIM


def run(log_z=10.0, std_error=0.01, converged=True):
    return SimpleNamespace(
        log_z=log_z, std_error=std_error, mean_log_z=log_z, mean_std_error=std_error,
        converged=converged, ess=500.0, n_chains=1000, interval=(log_z - 0.02, log_z + 0.02),
    )  # fmt: skip


def of_runs(other=None, backward=None, **more) -> Round:
    joint = SimpleNamespace(log_z=10.0, std_error=0.01)
    return Round(100, 1000, run(), other or run(), backward or run(), joint, bound=9.0, **more)


def agreement(other, n_parts=1) -> bool:
    made = of_runs(other, n_parts=n_parts)
    checks = made.checks()
    name = next(name for name in checks if name.startswith("two bases agree"))
    assert all(passed for other_name, passed in checks.items() if other_name != name)
    return checks[name]


@pytest.mark.parametrize(
    ("shift", "converged", "n_parts", "wanted"),
    [
        (0.0, True, 1, True),
        (-0.01, True, 1, True),
        (-0.2, True, 1, False),  # lower, though its ESS is high
        (-0.2, False, 1, True),  # a low ESS can only be too low
        (-0.2, True, 2, True),  # or the mode has a base of its own
        (0.2, True, 1, False),
        (0.2, False, 2, False),
    ],
)
def test_a_second_base_agrees_unless_it_is_too_low_with_a_high_ess(
    shift, converged, n_parts, wanted
):
    assert agreement(run(10.0 + shift, converged=converged), n_parts) == wanted


def test_bounds_that_cross_bound_nothing():
    """From above by less than from below: within five errors of nothing, or something is missed."""
    assert not of_runs().bounds_cross
    assert of_runs().upper_end() == pytest.approx(10 + np.log(80))
    lower = run()
    lower.mean_log_z = 9.0
    assert of_runs(backward=lower).bounds_cross
    assert of_runs(backward=lower).upper_end() == np.inf


def test_a_seed_is_given_or_drawn_from_what_was():
    assert _seed(5) == 5
    drawn = [_seed(np.random.default_rng(3)) for _ in range(2)]
    assert drawn[0] == drawn[1] > 2**31
    assert _seed(None) != _seed(None)


def test_the_aim_is_an_interval_of_a_twentieth_either_way():
    assert stats.norm.ppf(0.975) * AIM == pytest.approx(0.05, rel=1e-4)
