"""Thermodynamic integration: log Z_1 - log Z_0 is the integral of the mean slope over beta.

The mean slope at beta_k is the average over the tempered states drawn there, or over all states,
``sum_i q(k | x_i) Delta_i / sum_i q(k | x_i)`` (Carlson et al. 2016, eq. 21). A quadrature rule
gives the integral. More samples do not reduce the error of the rule; comparing rules on the same
slopes shows its size.
"""

import numpy as np

from .. import checks
from ..paths.path import Path
from ..results import Check, Estimate, of_chains
from . import estimator
from .rts import UNUSED, checked_sample, checked_skip, tempered

RULES = ("trapezoid", "riemann", "corrected", "simpson")
PER_LENGTH = 8  # betas of a planned ladder per unit of path length
RULE_SHARE = 0.75  # largest error of the rule / error of chains; above it, intervals cover 98%


@estimator
def ti(
    source,
    betas=None,
    n_chains: int = 100,
    n_sweeps: int | None = None,
    rng=None,
    *,
    rule: str = "trapezoid",
    rao_blackwell: bool = True,
    skip: int = 0,
) -> Estimate:
    """Estimate log Z by thermodynamic integration.

    Parameters
    ----------
    source : TemperedSample or Path
        Tempered states, or a path on which to draw them as in `rbmlib.rts` (given v alone if the
        path has no joint slope).
    betas : array (K,)
        Increasing from 0 to 1; by default, planned as in `rbmlib.rts`, but twice as dense.
    n_chains : int
        Number of independent chains.
    n_sweeps : int
        Number of sweeps of each chain; by default, planned as in `rbmlib.rts`.
    rng : int, Generator or None
        The same seed gives the same bits on any number of threads.
    rule : {"trapezoid", "riemann", "corrected", "simpson"}
        "riemann" uses the right end of each interval. "corrected" is the trapezoid rule minus
        ``h^2 / 12`` times the change of the variance of the slope, which is the derivative of the
        mean slope (Friel, Hurn & Wyse 2014); this rule needs joint states.
    rao_blackwell : bool
        Whether to compute mean slopes by eq. (21). If False, or for parallel tempering, they are
        averages over the states drawn at each beta, interpolated at the ``details["empty"]`` betas
        without states.
    skip : int
        Number of discarded initial blocks of time (a sample has ``n_blocks``).

    Returns
    -------
    Estimate
        ``details["rule_error"]``, the error of the rule, is the larger of its differences from the
        corrected rule and from Simpson's rule. Its square is added to the variance over chains. If
        it exceeds three quarters of the error from chains, the estimate is inconclusive.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.testsystems.random_rbm(n_visible=12, n_hidden=6, rng=0)
    >>> estimate = rl.ti(rl.GeometricPath(rbm), rng=0)
    >>> estimate.converged and abs(estimate.log_z - rl.exact(rbm).log_z) < 5 * estimate.std_error
    True
    """
    checks.one_of("rule", rule, RULES)
    skip = checks.count("skip", skip, 0)
    about: dict = {}
    if isinstance(source, Path):
        if rule == "corrected" and not source.joint:
            held = f"but the slope of a {type(source).__name__} depends on beta"
            raise ValueError(f"rule is 'corrected', {held}: expected 'simpson' or 'trapezoid'")
        source, about = tempered(
            "ti", source, betas, n_chains, n_sweeps, rng, lambda n: max(1, n // 1000),
            per_length=PER_LENGTH,
        )  # fmt: skip
        skip = max(skip, UNUSED)
    elif n_chains != 100 or any(x is not None for x in (betas, n_sweeps, rng)):
        came = f"is given with source, a {type(source).__name__}"
        raise ValueError(f"betas, n_chains, n_sweeps or rng {came}: expected them with a path")
    checked_sample(source, f"a TemperedSample, or {checks.PATH_MEANING}", "source")
    if rule == "corrected" and source.conditional != "joint":
        held = "rule is 'corrected', but beta was drawn given v alone"
        raise ValueError(f"{held}: expected a sample with conditional='joint'")
    skip = checked_skip(skip, len(source.visited))
    return _integrated(source, rule, rao_blackwell and source.mixed is not None, skip, about)


def _integrated(sample, rule: str, rao_blackwell: bool, skip: int, about: dict) -> Estimate:
    """Return the integral of the mean slopes, with the errors from chains and of the rule."""
    betas, sums = sample.betas, (sample.mixed if rao_blackwell else sample.visited)[skip:]
    slopes = Slopes(sums.sum(axis=0), betas)
    weights = quadrature(betas, "trapezoid" if rule == "corrected" else rule)
    value, chains = weights @ slopes.mean, slopes.of_means @ weights
    variance, of_variances = slopes.variances() if sample.conditional == "joint" else (None, None)
    if rule == "corrected":
        w = correction(betas)
        value, chains = value + w @ variance, chains + of_variances @ w
    error = rule_error(betas, slopes.mean, variance, value)
    spread = float(chains.std(ddof=1) / np.sqrt(chains.size))
    remedy = "add betas" if rule == "corrected" else "add betas, or use rule='corrected'"
    limit = max(RULE_SHARE * spread, 1e-9)
    name = f"error of the quadrature rule ({remedy})"
    found = Check(name, bool(error <= limit), error, limit, "nats")
    along = np.r_[0.0, np.cumsum(np.diff(betas) * (slopes.mean[1:] + slopes.mean[:-1]) / 2)]
    method = "ti" + ("" if rao_blackwell else " (states drawn at each beta)")
    return of_chains(
        method, sample, sample.log_z_base + along, chains[None], [found],
        log_z=sample.log_z_base + value, error_of_rule=error, trace={"slope_mean": slopes.mean},
        ends=None if sample.mixed is None else sample.occupation()[skip:][..., [0, -1]],
        settings={"rule": rule, "rao_blackwell": rao_blackwell},
        details=about | {"empty": slopes.n_empty, "rule_error": error},
    )  # fmt: skip


class Slopes:
    """Mean slope at each beta (K,), and the influence of each chain on it (n_chains, K).

    Both come from ``sums`` (n_chains, 3, K), and are interpolated at betas without states. The
    influence on a ratio of sums is ``(s_1 - mean s_0) / mean of s_0``.
    """

    def __init__(self, sums, betas):
        full = sums[:, 0].sum(axis=0) > 0
        if not full.any():
            raise ValueError("source holds no state: expected at least one sweep")
        self.sums, self.n_empty = sums[..., full], int((~full).sum())
        rows = np.eye(betas.size - self.n_empty)
        self.between = np.array([np.interp(betas, betas[full], row) for row in rows])
        self.mean, self.of_means = self._moment(1)

    def _moment(self, power):
        sums, total = self.sums, self.sums.sum(axis=0)
        mean, size = total[power] / total[0], total[0] / len(sums)
        return mean @ self.between, (sums[:, power] - mean * sums[:, 0]) / size @ self.between

    def variances(self):
        """Return the variance of the slope at each beta, and the influence of each chain."""
        square, of_squares = self._moment(2)
        return square - self.mean**2, of_squares - 2 * self.mean * self.of_means


def quadrature(betas, rule: str) -> np.ndarray:
    """Return the weights of a quadrature rule at the betas."""
    steps = np.diff(betas)
    if rule == "riemann":
        return np.concatenate([[0.0], steps])
    if rule == "trapezoid":
        return (np.append(steps, 0.0) + np.append(0.0, steps)) / 2
    from scipy.integrate import simpson  # the import takes a tenth of a second

    return simpson(np.eye(betas.size), x=betas, axis=1)


def correction(betas) -> np.ndarray:
    """Return the weights of the variances in the corrected rule, -sum h^2 / 12 (V_{k+1} - V_k)."""
    square = np.diff(betas) ** 2 / 12
    return np.append(square, 0.0) - np.append(0.0, square)


def rule_error(betas, mean, derivative, value: float) -> float:
    """Return the larger difference of ``value`` from the corrected rule and Simpson's rule.

    ``derivative`` (K,) of the mean slope is the variance of the slope of joint states, or None for
    finite differences. With two betas, Simpson's rule equals the trapezoid rule, so ``value`` is
    compared with the two mean slopes, which bound the integral of a monotone slope.
    """
    others = [quadrature(betas, "simpson") @ mean]
    if derivative is None and betas.size > 2:
        derivative = np.gradient(mean, betas, edge_order=2)
    if derivative is not None:
        others.append(quadrature(betas, "trapezoid") @ mean + correction(betas) @ derivative)
    if betas.size == 2:
        others += [mean[0], mean[1]]
    return float(np.abs(np.array(others) - value).max())
