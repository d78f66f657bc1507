"""Thermodynamic integration: log Z_1 - log Z_0 is the integral of the mean slope over beta.

From tempered samples the mean slope at beta_k is that of the states drawn there, or, with all
states, ``sum_i q(k | x_i) Delta_i / sum_i q(k | x_i)`` (Carlson et al. 2016, eq. 21). The integral
is then a rule of quadrature, whose error no number of samples removes: two rules on the same slopes
tell how large it is.
"""

import numpy as np

from .. import checks
from ..paths.path import Path
from ..results import Check, Estimate, of_chains
from . import estimator
from .rts import UNUSED, checked_sample, checked_skip, tempered

RULES = ("trapezoid", "riemann", "corrected", "simpson")
PER_LENGTH = 8  # betas of a planned ladder to one standard deviation of the slope
RULE_SHARE = 0.75  # of the error of chains: with more than that of the rule, intervals cover 98%


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
        Tempered states; or a path, on which they are drawn as by `rbmlib.rts`, given v alone if it
        has no joint slope, and with betas twice as close by default, for the sake of the rule.
    betas : array (K,)
        Rising from 0 to 1, such as ``rl.schedules.linear(1000)``.
    n_chains : int
        Independent chains.
    n_sweeps : int
        Sweeps of each chain.
    rng : int, Generator or None
        Seed; the same seed gives the same bits, on any number of threads.
    rule : {"trapezoid", "riemann", "corrected", "simpson"}
        "riemann": right end of each interval. "corrected": the trapezoid rule less
        ``h^2 / 12`` times the change of the variance of the slope, which is the slope's derivative
        (Friel, Hurn & Wyse 2014); joint states only.
    rao_blackwell : bool
        Mean slopes by eq. (21); False: of the states drawn at each beta, empty ones
        interpolated (``details["empty"]``), which is all that parallel tempering has.
    skip : int
        The first blocks of time, which are not used (`simulated_tempering` keeps ``n_blocks``).

    Returns
    -------
    Estimate
        The variance is that over chains plus the square of the error of the rule, which is how
        far it lies from the corrected rule and from Simpson's, whichever is farther
        (``details["rule_error"]``). Flagged where that exceeds three quarters of the error of the
        chains.

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
            "ti", source, betas, n_chains, n_sweeps, rng, per_length=PER_LENGTH,
            record_every=lambda n: max(1, n // 1000),
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
    """The quadrature of the mean slopes, what each chain moves it by, and the rule's own error."""
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
    name = f"error of the rule of quadrature ({remedy})"
    found = Check(name, bool(error <= limit), error, limit, "nats")
    steps = np.diff(betas)
    along = np.r_[0.0, np.cumsum(steps * (slopes.mean[1:] + slopes.mean[:-1]) / 2)]
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

    From ``sums`` (n_chains, 3, K). Of a ratio of sums the influence is
    ``(s_1 - mean s_0) / mean of s_0``. At betas without states both are interpolated.
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
        """Variance of the slope at each beta, and the influence of each chain on it."""
        square, of_squares = self._moment(2)
        return square - self.mean**2, of_squares - 2 * self.mean * self.of_means


def quadrature(betas, rule: str) -> np.ndarray:
    """Weights of a rule at the betas."""
    steps = np.diff(betas)
    if rule == "riemann":
        return np.concatenate([[0.0], steps])
    if rule == "trapezoid":
        return (np.append(steps, 0.0) + np.append(0.0, steps)) / 2
    from scipy.integrate import simpson  # a tenth of a second to import

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
