"""Thermodynamic integration: log Z_1 - log Z_0 is the integral of the mean slope over beta.

From tempered samples the mean slope at beta_k is that of the states drawn there, or, with all
states, ``sum_i q(k | x_i) Delta_i / sum_i q(k | x_i)`` (Carlson et al. 2016, eq. 21). The integral
is then a rule of quadrature, whose error no number of samples removes: two rules on the same slopes
tell how large it is.
"""

from __future__ import annotations

import time
import warnings

import numpy as np

from .._diagnosis import Check, agreement, report, some_spread
from .._progress import one_run
from .._streams import ChainStream
from .._validation import count, generator, instance, one_of
from ..paths.base import AnnealingPath
from ..results import ConvergenceWarning, Estimate
from ..tempering import TemperedSample
from ..tempering.checks import PATH_MEANING
from ..tempering.planning import BY_PILOT, planned
from ._report import checked_skip, diagnose, of_sample, one_slope, trips
from .rts import TRIPS, rts

RULES = ("trapezoid", "riemann", "corrected", "simpson")
MINIMUM_CHAINS = 2
PER_LENGTH = 8  # betas of a planned ladder to one standard deviation of the slope
RULE_SHARE = 0.75  # of the error of chains: with more than that of the rule, intervals cover 98%


@one_run
def ti(
    source,
    betas=None,
    n_chains: int = 100,
    n_sweeps: int = BY_PILOT,
    rng=None,
    *,
    rule: str = "trapezoid",
    rao_blackwell: bool = True,
    skip: int = 0,
    n_threads: int | None = None,
    progress: bool | None = None,
) -> Estimate:
    """Estimate log Z by thermodynamic integration.

    Parameters
    ----------
    source : TemperedSample or AnnealingPath
        Tempered states; or a path, on which `rbmlib.rts` then draws them (with ``betas``,
        ``n_chains``, ``n_sweeps``, ``rng``), given v alone if the path has no joint slope. By
        default betas are twice as close as those of `rbmlib.rts`, for the sake of the rule, and
        sweeps as many as there.
    rule : {"trapezoid", "riemann", "corrected", "simpson", "random"}
        "riemann": right end of each interval. "corrected": the trapezoid rule less
        ``h^2 / 12`` times the change of the variance of the slope, which is the slope's derivative
        (Friel, Hurn & Wyse 2014); joint states only. "random" (a path with a joint slope only):
        each chain stays at a beta of its own, drawn uniformly, and the mean over chains is
        unbiased if they mix. Half of the chains come from beta = 0, half from beta = 1.
    rao_blackwell : bool
        Mean slopes by eq. (21); False: of the states drawn at each beta, empty ones
        interpolated. Parallel tempering has the latter only.
    skip : int
        Blocks of time not used.

    Returns
    -------
    Estimate
        The variance is that over chains plus the square of the error of the rule, which is how
        far it lies from the corrected rule and from Simpson's, whichever is farther
        (``settings["rule_error"]``). Where that exceeds three quarters of the error of the
        chains the estimate is flagged. ``settings["empty"]`` counts interpolated betas.
        Of runs given the visible units alone, on two strongly coupled models, the 95% intervals
        of 99 and 95 that raised no flag held log Z in 89% (the page on calibration).

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.testsystems.random_rbm(n_visible=12, n_hidden=6, rng=0)
    >>> estimate = rl.ti(rl.GeometricPath(rbm), rng=0)
    >>> estimate.converged and abs(estimate.log_z - rl.exact(rbm).log_z) < 5 * estimate.std_error
    True
    """
    started, seen = time.perf_counter(), {}
    one_of("rule", rule, (*RULES, "random"))
    skip = count("skip", skip, 0)
    if rule == "random":
        return _random(source, n_chains, n_sweeps, rng, n_threads, started)
    if isinstance(source, AnnealingPath):
        joint = source.has_joint_slope
        if rule == "corrected" and not joint:
            raise ValueError(
                f"rule is 'corrected', but the slope of a {type(source).__name__} depends on beta, "
                "so that its variance is not its derivative: expected 'simpson' or 'trapezoid'"
            )
        n_chains, rng = count("n_chains", n_chains, 2), generator(rng)
        conditional = "joint" if joint else "marginal"
        betas, n_sweeps, seen = planned(
            "ti", source, betas, n_sweeps, rng, trips=TRIPS, conditional=conditional,
            per_length=PER_LENGTH, n_threads=n_threads,
        )  # fmt: skip
        options = {"record_every": max(1, n_sweeps // 1000), "n_threads": n_threads,
                   "conditional": conditional}  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # said below
            run = rts(source, betas, n_chains, n_sweeps, rng, progress=progress, **options)
        source, skip = run.states, max(skip, 2)
        started += source.seconds  # which `of_sample` adds
    instance("source", source, TemperedSample, "a TemperedSample, or an annealing path")
    if rule == "corrected" and source.conditional != "joint":
        raise ValueError("rule is 'corrected', but beta was drawn given v alone: expected a "
                         "sample with conditional='joint'")  # fmt: skip
    if source.n_chains < MINIMUM_CHAINS:
        raise ValueError(f"source holds {source.n_chains} chain: expected 2 or more")
    skip = checked_skip(skip, len(source.visited))
    rao_blackwell = rao_blackwell and source.mixed is not None
    sums = (source.mixed if rao_blackwell else source.visited)[skip:].sum(axis=0)
    mean, of_means, n_empty = _mean_slopes(sums)
    weights = quadrature(source.betas, "trapezoid" if rule == "corrected" else rule)
    value, influences = weights @ mean, of_means @ weights
    derivative = None
    if source.conditional == "joint":
        derivative, of_variances = _variances(sums, mean, of_means)
        if rule == "corrected":
            w = correction(source.betas)
            value, influences = value + w @ derivative, influences + of_variances @ w
    log_z = float(source.log_z_base + value)
    spread = float(influences.std(ddof=1) / np.sqrt(influences.size))
    error = rule_error(source.betas, mean, derivative, value)
    text = f"error of the rule {error:.3f}, of the chains {spread:.3f} (closer betas mend it"
    text += ")" if rule == "corrected" else ", or rule='corrected')"
    mixing = diagnose(source, skip) if source.mixed is not None else [trips(source)]
    fine = bool(error <= max(RULE_SHARE * spread, 1e-9))
    checks = [*mixing, Check(text, fine), *some_spread(spread, one_slope(sums))]
    steps = np.diff(source.betas)
    path_rule = np.concatenate([[0.0], np.cumsum(steps * (mean[1:] + mean[:-1]) / 2)])
    return of_sample(
        "ti" + ("" if rao_blackwell else " (states drawn at each beta)"), source, log_z,
        float(np.hypot(spread, error)), checks, started, caller="ti",
        log_weights=log_z + influences,
        log_z_path=source.log_z_base + path_rule,
        trace={"slope_mean": mean},
        settings={"rule": rule, "rao_blackwell": rao_blackwell, "empty": n_empty,
                  "rule_error": error} | seen,
    )  # fmt: skip


def _mean_slopes(sums):
    """Mean slope at each beta, the influence of each chain on it, and how many betas are empty.

    ``sums`` (n_chains, 3, K). Of a ratio of sums it is ``(s_1 - mean s_0) / mean of s_0``.
    """
    total = sums.sum(axis=0)
    full = total[0] > 0
    if not full.any():
        raise ValueError("source holds no state: expected at least one sweep")
    k = np.arange(full.size)
    mean = np.interp(k, k[full], total[1, full] / total[0, full])
    size = np.where(full, total[0], 1.0) / len(sums)
    influences = np.where(full, sums[:, 1] - mean * sums[:, 0], 0.0) / size
    return mean, influences, int((~full).sum())


def _variances(sums, mean, of_means):
    """Variance of the slope at each beta, and the influence of each chain on it."""
    total = sums.sum(axis=0)
    full = total[0] > 0
    k, size = np.arange(full.size), np.where(full, total[0], 1.0)
    square = np.interp(k, k[full], total[2, full] / total[0, full])
    of_squares = np.where(full, sums[:, 2] - square * sums[:, 0], 0.0) / size * len(sums)
    return square - mean**2, of_squares - 2 * mean * of_means


def quadrature(betas, rule: str) -> np.ndarray:
    """Weights of a rule at the betas."""
    from scipy.integrate import simpson

    steps = np.diff(betas)
    if rule == "riemann":
        return np.concatenate([[0.0], steps])
    if rule == "trapezoid":
        return (np.append(steps, 0.0) + np.append(0.0, steps)) / 2
    return simpson(np.eye(betas.size), x=betas, axis=1)


def correction(betas) -> np.ndarray:
    """Weights of the variances in the corrected rule: -h^2 / 12 (V_{k+1} - V_k), summed."""
    square = np.diff(betas) ** 2 / 12
    return np.append(square, 0.0) - np.append(0.0, square)


def rule_error(betas, mean, derivative, value: float) -> float:
    """How far ``value`` is from the corrected rule and from Simpson's, whichever is farther.

    ``derivative`` (K,) of the mean slope is its variance where states are joint; None: differences
    of the mean slopes serve. Two betas leave Simpson's rule nothing: there the ends of the slope,
    between which a monotone one stays, bound the integral.
    """
    others = [quadrature(betas, "simpson") @ mean]
    if derivative is None and betas.size > 2:
        derivative = np.gradient(mean, betas, edge_order=2)
    if derivative is not None:
        others.append(quadrature(betas, "trapezoid") @ mean + correction(betas) @ derivative)
    if betas.size == 2:
        others += [mean[0], mean[1]]
    return float(np.abs(np.array(others) - value).max())


def _random(path, n_chains, n_sweeps, rng, n_threads, started) -> Estimate:
    """Mean slope of chains that each stay at a beta drawn uniformly; half of the run is used."""
    instance("source", path, AnnealingPath, f"for the rule 'random' {PATH_MEANING}")
    if not path.has_joint_slope:
        raise TypeError(
            f"source is a {type(path).__name__}, whose slope depends on beta: expected for the "
            "rule 'random' a path such as rl.GeometricPath(rbm); use rule='simpson' here"
        )
    n_sweeps = 2000 if n_sweeps is None else n_sweeps
    n_chains, n_sweeps = count("n_chains", n_chains, 4), count("n_sweeps", n_sweeps, 4)
    stream = ChainStream(rng, n_chains)
    betas = np.sort(stream.random((n_chains, 1))[:, 0])
    # neighbours come from either end; which of the two has the larger beta alternates
    from_above = (np.arange(n_chains) + 1) // 2 % 2 == 1
    state, half = path.sample_base(n_chains, stream), n_sweeps // 2
    for rise in np.linspace(0, 1, half + 1)[1:]:
        above = np.where(rise <= 0.5, 2 * rise, np.maximum(betas, 2 - 2 * rise))
        at = np.where(from_above, above, np.minimum(betas, rise))
        state = path.sweep(state, at, 1, stream, n_threads)
    _, slopes = path.joint_sweeps(state, betas, n_sweeps - half, stream, n_threads)
    each = slopes.mean(axis=0) + path.log_z_base
    std_error = float(each.std(ddof=1) / np.sqrt(n_chains))
    middle = len(slopes) // 2
    drift = slopes[middle:].mean(axis=0) - slopes[:middle].mean(axis=0)
    pairs = np.arange(n_chains // 2 * 2).reshape(-1, 2)
    pairs = np.where(from_above[pairs[:, :1]], pairs[:, ::-1], pairs)
    ends = each[pairs[:, 1]] - each[pairs[:, 0]]
    checks = some_spread(std_error, np.ptp(slopes) == 0)
    for name, gaps in (("halves of the run", drift), ("chains begun at either end", ends)):
        checks.append(agreement(name, gaps.mean(), gaps.std(ddof=1) / np.sqrt(gaps.size)))
    return report(
        "ti (random betas)", float(each.mean()), std_error, checks, n_values=n_chains,
        started=started, caller="ti", n_chains=n_chains, n_sweeps=n_sweeps, log_weights=each,
        settings={"path": repr(path), "rule": "random", "stream_seed": stream.seed},
    )  # fmt: skip
