"""Bennett's acceptance ratio between forward and reverse annealing (Bennett 1976; Crooks 1999).

The log-weights w of forward AIS and R of reverse AIS are work values of opposite processes, and
their densities satisfy ``p_F(x) exp(x - log Z) = p_R(x)`` (Crooks). The estimate from n_F values w
and n_R values R that has the smallest variance is the root of

    sum_i s(w_i - log Z - M) = sum_j s(log Z + M - R_j),    M = log(n_F / n_R),

where s is the logistic function (Bennett; Shirts et al. 2003 derive it by maximum likelihood). It
needs work values that both processes reach, but not even weights.
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

MINIMUM_SHARE = 0.8  # of a few particles, from which resampled chains must descend


class Bennett(NamedTuple):
    """The root of Bennett's equation, and the term of each work value."""

    log_z: float
    forward: np.ndarray  # (n_F,) s(w - log Z - M)
    reverse: np.ndarray  # (n_R,) s(log Z + M - R)

    @property
    def slope(self) -> float:
        """Minus the derivative; a change d of the equation moves log Z by d / slope."""
        return float(sum((s * (1 - s)).sum() for s in (self.forward, self.reverse)))


def bennett(forward, reverse) -> Bennett:
    """Solve Bennett's equation for log Z, given forward w (n_F,) and reverse R (n_R,)."""
    from scipy.optimize import brentq  # the import takes a tenth of a second

    w = checks.array("forward", forward, (None,), "(n,) log-weights of forward chains")
    r = checks.array("reverse", reverse, (None,), "(n,) values of reverse chains")
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
        Path from a base with known log Z to the target, such as ``rl.GeometricPath(rbm)``.
    betas : array (K,)
        Increasing from 0 to 1, such as ``rl.schedules.linear(1000)``.
    n_chains : int
        Number of chains in each direction.
    rng : int, Generator or None
        The same seed gives the same bits on any number of threads.
    n_burn_in : int
        Number of sweeps at beta = 1 for the start "chains".
    start : {"auto", "exact", "chains"} or array (n_chains, n_visible)
        Initial states of the reverse chains, as in `rbmlib.reverse_ais`. "chains" are the forward
        chains, resampled and then moved for ``n_burn_in`` sweeps. States of your own must be
        independent draws of the target.

    Returns
    -------
    Estimate
        ``details["forward"]`` and ``details["reverse"]`` hold (log Z, standard error) of each
        direction alone. `log_weights`, `ess` and `states` describe the forward chains, and
        ``details["reverse_log_weights"]`` the reverse chains. ``details["overlap"]`` is the
        effective number of work values that both directions reach (4 B, see the notes). The
        estimate is inconclusive if this number is small, or if resampled chains descend from few
        particles (by `ess`).

    Notes
    -----
    A change d of Bennett's equation, whose slope is B, moves log Z by d / B. With independent
    starts the variance is ``[n_F var(s_F) + n_R var(s_R)] / B**2``. Resampled chains share
    ancestors, so the terms of forward chain i and of the reverse chains j that descend from it are
    summed, ``t_i = s_i - mean(s_F) - sum_j (s_j - mean(s_R))``, and the variance is
    ``n_F / (n_F - 1) * sum t_i**2 / B**2``. To first order, this is the bootstrap over forward
    chains with their descendants. The interval is Student's for the effective number of families,
    ``(sum t_i**2)**2 / sum t_i**4``, in ``details["families"]``. For resampled chains its upper
    half is multiplied by ``1 + 10 s``, where s is the standard error of the forward estimate (the
    10 was measured), because both directions are too low if the ancestors miss a heavy mode.

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
    stream = ChainStream(source, n_chains)  # the same as in `ais` with this seed
    source = source.spawn(1)[0]
    back = ChainStream(source, n_chains)
    v, gains = anneal(path, path.sample_base(n_chains, stream), betas, stream)
    forward = gains + path.log_z_base
    begun = begin(path, start, n_chains, source, n_burn_in, lambda: (v, forward, back))
    states, words, ancestors, _ = begun
    _, gains = anneal(path, states, betas[::-1], back)
    reverse = path.log_z_base - gains
    root = bennett(forward, reverse)
    error, families = bennett_error(root, ancestors)
    below, above = results.summarise_log_weights(forward), results.summarise_log_weights(-reverse)
    shared = ancestors is not None
    skew, n_burn_in = (below.std_error, n_burn_in) if shared else (0.0, 0)
    same = np.ptp(np.concatenate([forward, reverse])) < NO_SPREAD  # base equals target
    settings = {"n_temperatures": betas.size - 1, "stream_seed": stream.seed}
    settings["start"] = words.replace("chains annealed forward", "forward chains")
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
    """Check that enough work values overlap, and that there are enough ``ancestors``."""
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
    """Return the standard error and its number of independent values (see the notes of `bar`).

    The first of the ``n_ancestors`` are the forward chains of the equation; only descendants of the
    others enter the equation.
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
