"""What three runs of `log_z` say of each other, from values that are given."""

from types import SimpleNamespace

import pytest

from rbmlib.automatic.checks import Round


def run(log_z=10.0, std_error=0.01, converged=True):
    return SimpleNamespace(
        log_z=log_z, std_error=std_error, mean_log_z=log_z, mean_std_error=std_error,
        converged=converged, ess=500.0, n_chains=1000, interval=(log_z - 0.02, log_z + 0.02),
    )  # fmt: skip


def agreement(other, n_parts=1) -> bool:
    joint = SimpleNamespace(log_z=10.0, std_error=0.01)
    made = Round(100, 1000, run(), other, run(), joint, bound=9.0, n_parts=n_parts)
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
