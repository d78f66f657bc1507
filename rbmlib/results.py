"""What every estimator returns: `Estimate`.

Never a bare float, never a tuple whose order must be remembered. Log-weights are kept, so
that error bars can be recomputed, runs joined and bounds read off afterwards.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from ._numerics import logmeanexp
from .files import replacing

MINIMUM_ESS = 100  # below it a standard error from the same weights means little
MINIMUM_FRACTION = 0.5  # ... unless the weights are so even that few chains are enough
FEWEST_EFFECTIVE = 10  # ... but never fewer


class ConvergenceWarning(UserWarning):
    """An estimate's own diagnosis failed; the message says what to change."""


class WeightSummary(NamedTuple):
    """Summary of N log-weights: see `summarise_log_weights`."""

    log_mean: float
    std_error: float
    ess: float


def summarise_log_weights(log_weights) -> WeightSummary:
    """log-mean-exp of log-weights (n,), its standard error, and the effective sample size.

    With normalised weights ``w* = w / mean(w)`` and their sample variance s^2, the effective
    sample size is ``N / (1 + s^2)`` (Kiwaki 2015, eq. 5) and the standard error of the logarithm
    of the mean is ``s / sqrt(N)`` (delta method). Both come from the same weights: a mode that
    no chain has found is seen by neither.
    """
    log_weights = np.asarray(log_weights, dtype=float)
    n = log_weights.size
    log_mean = float(logmeanexp(log_weights))
    if n == 1:
        return WeightSummary(log_mean, math.nan, 1.0)
    relative = np.exp(log_weights - log_mean)
    variance = float(np.var(relative, ddof=1))
    return WeightSummary(log_mean, math.sqrt(variance / n), n / (1.0 + variance))


def bootstrap_log_weights(log_weights, n_resamples: int = 1000, rng=0) -> dict:
    """95% percentile intervals over independent chains: ``{"ess": (low, high), "variance": ...}``.

    Of the effective sample size, and of the variance of the log-weights (n,). Resampling cannot
    show a weight larger than any seen, so the interval of the ESS gets too narrow as the ESS falls:
    for 1,000 normal log-weights it covers 94% of the time at an ESS of 780, 85% at 380. That of the
    variance covers 94% at both.
    """
    log_weights = np.asarray(log_weights, dtype=float)
    rng, n = np.random.default_rng(rng), log_weights.size
    if log_weights.ndim != 1 or n < 2:
        raise ValueError(
            f"log_weights has shape {log_weights.shape}: expected (n_chains,) of two chains or more"
        )
    found = np.empty((n_resamples, 2))
    for row in found:
        chosen = log_weights[rng.integers(n, size=n)]
        row[:] = summarise_log_weights(chosen).ess, np.var(chosen, ddof=1)
    low, high = np.quantile(found, (0.025, 0.975), axis=0).tolist()
    return {"ess": (low[0], high[0]), "variance": (low[1], high[1])}


def student_interval(value: float, std_error: float, n: float) -> tuple[float, float]:
    """95% interval from n independent values (Student's t)."""
    if n < 2 or not math.isfinite(std_error):
        return (-math.inf, math.inf)
    half = float(stdtrit(n - 1, 0.975)) * std_error
    return (value - half, value + half)


def log_mean_interval(summary: WeightSummary, n: int) -> tuple[float, float]:
    """95% interval of the logarithm of the mean of n weights, wider above than below.

    Of `ais`, and mirrored of `reverse_ais`.

    Weights are skewed: runs without a rare large weight lie low and look precise, and a rule that
    asks for a large ESS picks just these. So Student's half-width h = t s is taken as h (1 + 10 s)
    above, with the standard error s in nats; where s is small the interval is Student's. The
    number is measured: on Hopfield-like models of unequal modes the intervals of runs that
    `rbmlib.ais` calls converged cover 95% to 99%, for 30 to 500 chains, where one run in ten or
    more is called so (Student's: 31% to 95%), and those of all runs 97% to 99%. Few chains of
    trained models can fall short (h10, 30 chains: 88% instead of 61%). A mode that no chain has
    found is in no interval.
    """
    s = summary.std_error
    low, high = student_interval(summary.log_mean, s, n)
    if not math.isfinite(low):
        return (low, high)
    half = high - summary.log_mean
    return (low, summary.log_mean + half * (1 + 10 * s))


@dataclass(frozen=True, eq=False)
class Estimate:
    """An estimate of log Z (nats) with its error, its history and how it was made.

    Attributes
    ----------
    method : str
        Name of the estimator.
    log_z, std_error : float
        The estimate and its standard error (0 for exact enumeration, NaN if unknown).
    interval : (float, float)
        95% interval for log Z. Only as good as the error bar: see `converged`.
    bound : {"lower", "upper", None}
        Whether ``mean_log_z`` bounds log Z from below or from above in expectation.
    mean_log_z, mean_std_error : float or None
        The single-chain bound: the plain mean over chains of their log-estimates, with its
        standard error. Wider than `log_z`, but its error bar needs no large ESS.
    ess : float
        Effective sample size of the weights (Kiwaki 2015, eq. 5); NaN where there are none.
    n_chains, n_sweeps : int
        Independent chains; sweeps of each.
    seconds : float
        Wall-clock seconds.
    converged : bool
        False if a diagnosis of the estimator failed; a warning then says what to change.
    log_weights : ndarray (n_chains,) or None
        Per-chain log-estimates of log Z (base included).
    betas, log_z_path : ndarray (n_recorded,) or None
        Inverse temperatures at which the run was looked at, and log Z there.
    trace : dict of ndarray (n_recorded, ...)
        On-the-fly quantities at `betas`, such as "ess" and "slope_variance".
    settings : dict
        Everything needed to repeat the run, seed and version included.
    states : State, TemperedSample or None
        Final chains, whose visible units are ``path.visible_of(estimate.states)``, or all of a
        tempered sample (its final chains are ``estimate.states.states``); in memory only (not
        saved).
    """

    method: str
    log_z: float
    std_error: float
    interval: tuple[float, float]
    bound: str | None = None
    # `| Any` where an estimator may have nothing (None): who called it knows.
    mean_log_z: float | Any = None
    mean_std_error: float | Any = None
    ess: float = math.nan
    n_chains: int = 0
    n_sweeps: int = 0
    seconds: float = 0.0
    converged: bool = True
    log_weights: np.ndarray | Any = None
    betas: np.ndarray | Any = None
    log_z_path: np.ndarray | Any = None
    trace: dict[str, np.ndarray] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    states: Any = field(default=None, repr=False)

    def __str__(self) -> str:
        error = f" ± {self.std_error:.4f} nats" if self.std_error else " nats"
        if math.isnan(self.std_error):
            error = " nats, no error bar"
        ess = f", ESS {self.ess:.0f} of {self.n_chains}" if math.isfinite(self.ess) else ""
        flag = "" if self.converged else ", NOT CONVERGED"
        return f"{self.method}: log Z = {self.log_z:.4f}{error}{ess}{flag}"

    def __repr__(self) -> str:
        return f"<Estimate {self}>"

    def save(self, path) -> None:
        """Write as JSON (without `states`), whole or not at all.

        JSON has no NaN and no infinities: they are written as the texts "NaN", "Infinity" and
        "-Infinity".
        """
        text = json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n"
        with replacing(path) as file:
            file.write(text)

    @classmethod
    def load(cls, path) -> Estimate:
        """Read what `save` wrote; nothing in the file is executed."""
        try:
            content = json.loads(Path(path).read_text())
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{path} is not a saved Estimate (JSON): {error}") from None
        return cls.from_dict(content)

    def to_dict(self) -> dict[str, Any]:
        """Plain finite numbers, strings, lists and dicts: ready for JSON."""
        return {f.name: _plain(getattr(self, f.name)) for f in fields(self) if f.name != "states"}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Estimate:
        names = {f.name for f in fields(cls)} - {"states"}
        wrong = set(content) ^ names if isinstance(content, dict) else {"(not a mapping)"}
        if wrong:
            raise ValueError(f"not a saved Estimate: unknown or missing fields {sorted(wrong)}")
        arrays = {"log_weights", "betas", "log_z_path"}
        content = _with_floats(content)
        values: dict[str, Any] = {
            name: np.array(value) if name in arrays and value is not None else value
            for name, value in content.items()
        }
        values["interval"] = tuple(values["interval"])
        values["trace"] = {name: np.array(value) for name, value in content["trace"].items()}
        return cls(**values)


_NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def _plain(value):
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def _with_floats(value):
    """What `_plain` was given, but for arrays."""
    if isinstance(value, dict):
        return {key: _with_floats(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_floats(item) for item in value]
    return _NOT_FINITE.get(value, value) if isinstance(value, str) else value
