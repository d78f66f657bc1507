"""What `log_z` says of its own value, in plain words, and how many steps would settle it."""

from __future__ import annotations

import math

from ..results import MINIMUM_ESS
from .checks import Round

WIDE = 0.001  # of Z: what may be missing before the error bar is said to hold it
AIM = 0.05 / 1.96  # standard error of a 95% interval of +- 0.05
MOST = 1e9  # steps that are still worth being named


def verdict(last: Round, has_data: bool) -> str:
    """One sentence that begins with "trust", "wider than it looks" or "do not trust"."""
    more = needed(last)
    if not last.passed:
        failed = "; ".join(text for text, passed in last.checks().items() if not passed)
        missed = last.second_found_more or last.bound_is_above
        more = "a mode was missed, and more steps alone may not find it" if missed else more
        advice = more if has_data or last.one_base else f"{more}; give it training data"
        return f"do not trust: failed: {failed}; {advice}"
    if last.unseen > WIDE:
        return (
            f"wider than it looks: modes that were sought may hold {last.unseen:.1%} of Z more "
            f"than these runs found there, which the error bar holds; {more}"
        )
    if last.one_base:
        return (
            "wider than it looks: every check passed, but all chains began at one base and no "
            f"modes were sought, so that a mode which the path loses shows nowhere; {more}"
        )
    if not last.other.converged:
        return (
            "wider than it looks: every check passed, but the second base had too low an effective "
            f"sample size ({last.other.ess:.0f}) to see a mode that the first lost; {more}"
        )
    return f"trust: every check passed; {more}"


def needed(last: Round) -> str:
    """Steps of as many chains for +- 0.05, by the spread V of the log-weights.

    V falls as 1 / steps. Were log-weights normal it would be log(n / ESS), and the variance of
    both directions together V / 2 n.
    """
    run = last.forward
    if last.passed:
        factor = (last.std_error() / AIM) ** 2
    else:
        factor = math.log(run.n_chains / max(run.ess, 1.0)) / (2 * run.n_chains * AIM**2)
    if last.passed and factor <= 1:
        return f"{last.n_steps:,} steps are enough for ± 0.05"
    steps = last.n_steps * max(factor, 1.0)
    if not steps < MOST:
        return "no number of steps is in sight for ± 0.05"
    unit = 10 ** max(0, int(math.log10(steps)) - 1)
    least = "at least " if run.ess < MINIMUM_ESS else ""
    return (
        f"± 0.05 takes {least}{math.ceil(steps / unit) * unit:,.0f} steps, "
        f"{steps / last.n_steps:,.1f} times as many"
    )
