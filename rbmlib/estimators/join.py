"""Join independent estimates, weighted by the inverse squares of their errors."""

import itertools
import math
from dataclasses import replace

import numpy as np

from ..checks import instance
from ..estimate import Estimate, combined
from ..results import agreement, finished

REMEDY = "Join converged runs of the same target"


def join(*estimates: Estimate) -> Estimate:
    """Join independent estimates of the same log Z, by any methods, into one.

    The weights are the inverse squares of the standard errors; an exact estimate has all the
    weight. Join only converged runs, because a run with a small ESS can be low and seem precise.

    Parameters
    ----------
    estimates : Estimate
        Two or more, each with an error bar and with its own random numbers. The caller must ensure
        that they have the same target; whether they agree is checked.

    Returns
    -------
    Estimate
        It has the weakest of the verdicts. If two estimates differ by more than three standard
        errors, it is inconclusive, and error and interval include the largest difference.

    Raises
    ------
    ValueError
        If an estimate has no error bar, or two estimates used the same random numbers.

    Examples
    --------
    >>> import rbmlib as rl
    >>> path = rl.GeometricPath(rl.testsystems.random_rbm(12, 6, rng=0))
    >>> down = rl.ais(path, rl.schedules.linear(200), 100, rng=0)
    >>> both = rl.join(down, rl.rts(path, rl.schedules.linear(8), 20, 400, rng=1))
    >>> both.std_error < down.std_error
    True
    """
    for estimate in estimates:
        instance("estimates", estimate, Estimate, "what estimators returned, as rl.join(one, two)")
    of = {x.settings["fingerprint"]: str(x) for x in estimates if "fingerprint" in x.settings}
    if len(of) > 1:
        came = f"of {len(of)} models ({'; '.join(of.values())})"
        raise ValueError(f"estimates are {came}: expected one model")
    errors = np.array([estimate.std_error for estimate in estimates])
    if errors.size < 2 or not np.isfinite(errors).all():
        came = "; ".join(map(str, estimates)) or "none"
        raise ValueError(f"estimates are {came}: expected two or more, each with an error bar")
    exact = errors == 0
    precisions = exact.astype(float) if exact.any() else errors**-2
    shares = precisions / precisions.sum()
    both = combined("and", *zip(estimates, map(float, shares), strict=True))
    agree = []
    for one, two in itertools.combinations(estimates, 2):
        values = (one.log_z, one.std_error), (two.log_z, two.std_error)
        agree.append(agreement(f"{one.method} and {two.method} differ by", *values))
    gap = max((c.disagreement for c in agree if not c.passed), default=0.0)
    low, high = (math.hypot(end - both.log_z, 2 * gap) for end in both.interval)
    made = finished(
        both.method, both.log_z, both.std_error, [*both.checks, *agree], len(estimates),
        interval=(both.log_z - low, both.log_z + high), seconds=both.seconds,
        settings=both.settings, remedy=REMEDY, details={"reason": both.reason},
    )  # fmt: skip
    return replace(made, verdict=both.verdict) if made.converged else made
