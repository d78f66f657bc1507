"""Bennett's acceptance ratio between forward and reverse annealing (Bennett 1976; Crooks 1999).

The log-weights w of forward AIS and R of reverse AIS are work values of opposite processes: their
densities obey ``p_F(x) exp(x - log Z) = p_R(x)`` (Crooks). Of all ways to join n_F of the first
with n_R of the second the one with the smallest variance is the root of

    sum_i s(w_i - log Z - M) = sum_j s(log Z + M - R_j),    M = log(n_F / n_R),

with s the logistic function (Bennett; the maximum-likelihood solution of Shirts et al. 2003). It
needs no weight to be typical: only work values that both processes reach.
"""

from typing import NamedTuple

import numpy as np

from .. import checks, results
from ..numerics import ChainStream, expit
from ..paths.path import Path
from ..results import NO_SPREAD, Check, Estimate
from ..sampling.anneal import anneal
from . import estimator
from .reverse_ais import begin, checked_start

MINIMUM_SHARE = 0.8  # of few particles, that resampled chains must descend from


class Bennett(NamedTuple):
    """The root of Bennett's equation, and what each work value adds to it."""

    log_z: float
    forward: np.ndarray  # (n_F,) s(w - log Z - M)
    reverse: np.ndarray  # (n_R,) s(log Z + M - R)

    @property
    def slope(self) -> float:
        """Minus the derivative of the equation: changes of its terms divided by this move log Z."""
        return float(sum((s * (1 - s)).sum() for s in (self.forward, self.reverse)))


def bennett(forward, reverse) -> Bennett:
    """Solve Bennett's equation for log Z, given forward w (n_F,) and reverse R (n_R,)."""
    from scipy.optimize import brentq  # a tenth of a second to import

    w = checks.array("forward", forward, (None,), "(n,) log-weights of forward chains")
    r = checks.array("reverse", reverse, (None,), "(n,) values of reverse chains")
    if not w.size or not r.size:
        came = f"{w.size} forward and {r.size} reverse"
        raise ValueError(f"values are {came}: expected some of both")
    m = np.log(w.size / r.size)

    def imbalance(log_z):
        return expit(w - log_z - m).sum() - expit(log_z + m - r).sum()

    low, high = min(w.min(), r.min()) - abs(m) - 1, max(w.max(), r.max()) + abs(m) + 1
    log_z = brentq(imbalance, low, high, xtol=1e-12, rtol=1e-14)
    return Bennett(float(log_z), expit(w - log_z - m), expit(log_z + m - r))


@estimator
def bar(
    path: Path, betas, n_chains: int = 1000, rng=None, *, n_burn_in: int = 100, start="auto"
) -> Estimate:
    """Estimate log Z from forward and reverse annealing, joined by Bennett's acceptance ratio.

    Parameters
    ----------
    path : Path
        From a base whose log Z is known to the target, such as ``rl.GeometricPath(rbm)``.
    betas : array (K,)
        Rising from 0 to 1, such as ``rl.schedules.linear(1000)``.
    n_chains : int
        Annealed in each direction.
    rng : int, Generator or None
        Seed; the same seed gives the same bits, on any number of threads.
    n_burn_in : int
        Sweeps of chains begun elsewhere that are not used.
    start : {"auto", "exact", "chains"} or array (n_chains, n_visible)
        Where the reverse chains begin, as in `rbmlib.reverse_ais`; "chains" are the forward
        chains, resampled and moved ``n_burn_in`` sweeps, and states of your own must be
        independent draws.

    Returns
    -------
    Estimate
        ``details["forward"]`` and ``details["reverse"]`` are (log Z, standard error) of each
        direction alone; `log_weights`, `ess` and `states` are of the forward chains,
        ``details["reverse_log_weights"]`` of the reverse ones, and ``details["overlap"]`` says
        how many of the work values lie where both directions reach (four times the slope
        below). Flagged when these are few, or when resampled chains descend from few particles
        (by `ess`).

    Notes
    -----
    A change d of the equation of Bennett moves log Z by d over its slope B. With independent
    starts the variance is ``[n_F var(s_F) + n_R var(s_R)] / B**2``. Resampled chains share
    ancestors: there the terms of forward chain i and of the reverse chains that descend from it are
    summed, ``t_i = s_i - mean(s_F) - sum_j (s_j - mean(s_R))`` over j from i, and the variance is
    ``n_F / (n_F - 1) * sum t_i**2 / B**2``: the bootstrap over forward chains with their
    descendants to first order. The interval is Student's for the effective number of families,
    ``(sum t_i**2)**2 / sum t_i**4``, in ``details["families"]``. Above log Z it is ``1 + 10 s``
    times as wide, with s the standard error of the forward estimate (the 10 was measured): both
    directions are low where a heavy mode is missing among the ancestors.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.testsystems.random_rbm(n_visible=12, n_hidden=6, rng=0)
    >>> estimate = rl.bar(rl.GeometricPath(rbm), rl.schedules.linear(50), n_chains=200, rng=0)
    >>> abs(estimate.log_z - rl.exact(rbm).log_z) < 4 * estimate.std_error
    True
    """
    betas, n_chains = checks.schedule(betas), checks.count("n_chains", n_chains, 2)
    n_burn_in = checks.count("n_burn_in", n_burn_in, 0)
    start = checked_start(path, start, n_chains)
    source = checks.generator(rng)
    stream = ChainStream(source, n_chains)  # as `ais` with the same seed
    source = source.spawn(1)[0]
    back = ChainStream(source, n_chains)
    v, gains = anneal(path, path.sample_base(n_chains, stream), betas, stream)
    forward = gains + path.log_z_base
    begun = begin(path, start, n_chains, source, n_burn_in, lambda: (v, forward, back))
    _, gains = anneal(path, begun.states, betas[::-1], back)
    reverse = path.log_z_base - gains
    root = bennett(forward, reverse)
    error, families = bennett_error(root, begun.ancestors)
    below, above = results.summarise_log_weights(forward), results.summarise_log_weights(-reverse)
    shared = begun.ancestors is not None
    skew, n_burn_in = (below.std_error, n_burn_in) if shared else (0.0, 0)
    same = np.ptp(np.concatenate([forward, reverse])) < NO_SPREAD  # base and target are one
    settings = {"n_temperatures": betas.size - 1, "stream_seed": stream.seed}
    settings["start"] = begun.words.replace("chains annealed forward", "forward chains")
    details = {
        "overlap": 4 * root.slope, "families": families, "reverse_ess": above.ess,
        "forward": (below.log_mean, below.std_error),
        "reverse": (-above.log_mean, above.std_error), "reverse_log_weights": reverse.tolist(),
    }  # fmt: skip
    found = [] if same else _checks(root, error, below.ess if shared else None)
    return results.finished(
        "bar", root.log_z, error, found, families, remedy="Use more betas, then more chains",
        interval=results.skewed_interval(root.log_z, error, families, skew), ess=below.ess,
        n_chains=n_chains, n_sweeps=2 * (betas.size - 1) + n_burn_in, log_weights=forward,
        states=v, settings=settings, details=details,
    )  # fmt: skip


def _checks(root, error, ancestors) -> list[Check]:
    """Whether enough work values lie where both directions reach, of enough ``ancestors``."""
    n, overlap = root.forward.size + root.reverse.size, 4 * root.slope
    found = [results.enough("work values where both directions reach", overlap, n)]
    if ancestors is not None:
        of = ancestors, root.forward.size, MINIMUM_SHARE
        found.append(results.enough("effective number of ancestors", *of))
    if not error > NO_SPREAD:
        found.append(Check("the standard error is 0, but work values differ", False))
    return found


def bennett_error(
    root: Bennett, ancestors: np.ndarray | None, n_ancestors: int | None = None
) -> tuple[float, float]:
    """The error, and how many independent values it rests on: see the notes of `bar`.

    Of ``n_ancestors`` the first are the forward chains of the equation, the others have
    descendants only.
    """
    forward, reverse = (s - s.mean() for s in (root.forward, root.reverse))
    if ancestors is None:
        variance = sum(s @ s * s.size / (s.size - 1) for s in (forward, reverse))
        return float(np.sqrt(variance) / root.slope), forward.size
    n = forward.size if n_ancestors is None else n_ancestors
    families = -np.bincount(ancestors, weights=reverse, minlength=n)
    families[: forward.size] += forward
    squares = families**2
    total = squares.sum()
    effective = total**2 / (squares @ squares) if total > 0 else squares.size
    variance = total * squares.size / (squares.size - 1)
    return float(np.sqrt(variance) / root.slope), float(max(effective, 2.0))
