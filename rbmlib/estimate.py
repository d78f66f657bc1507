"""The result of an estimator: log Z, its error, the checks, and how to repeat the run."""

from __future__ import annotations

import html
import json
import math
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .files import replacing

VERDICTS = "contradicted", "inconclusive", "consistent", "verified", "exact"  # ascending
OTHERWISE = "Use another base, or more temperatures"  # if the run's own checks passed
UNITS = {  # formats of the value of a check
    "": "{:.3g}", "nats": "{:.2f} nats", "s.e.": "{:+.1f} standard errors",
    "times": "{:.1f} times that from chains",
    "of Z": "{:.1%} of Z", "of this value": "{:.1%} of this value",
}  # fmt: skip


class Check(NamedTuple):
    """One check of a run: its name, whether it passed, the value found, and the limit.

    If the value is NaN, the name states the finding. A failed check makes an estimate inconclusive,
    or contradicted if ``contradicts`` is True.
    """

    name: str
    passed: bool
    value: float = math.nan
    limit: float = math.nan
    unit: str = ""  # a key of `UNITS`; the limit is a minimum for "", else a maximum
    disagreement: float = 0.0  # nats by which parts of the run disagree
    contradicts: bool = False  # whether a failure shows that the value is wrong

    def __str__(self) -> str:
        if math.isnan(self.value):
            return self.name
        found = f"{self.name} {UNITS[self.unit].format(self.value)}"
        if math.isnan(self.limit):
            return found
        limit = f"{self.limit:.1%}" if self.unit == "of Z" else f"{self.limit:.3g}"
        return f"{found} (at most {limit})" if self.unit else f"{found} ({limit} needed)"


@dataclass(frozen=True, eq=False)
class Estimate:
    """An estimate of log Z (nats), with its error, its history and its settings.

    Attributes
    ----------
    method : str
        Name of the estimator.
    log_z, std_error : float
        The estimate and its standard error (0 for exact enumeration, NaN if unknown).
    interval : (float, float)
        95% interval for log Z. It is only as good as the error bar: see `converged`.
    bound : {"lower", "upper", None}
        Whether ``mean_log_z`` bounds log Z from below or from above in expectation.
    mean_log_z, mean_std_error : float or None
        Mean of the log-estimates of the chains, with its standard error. It is a looser bound than
        `log_z`, but its error bar is reliable even if the ESS is small.
    ess : float
        Effective sample size of the weights (Kiwaki 2015, eq. 5); NaN if there are no weights.
    n_chains, n_sweeps : int
        Number of independent chains, and of sweeps of each chain.
    seconds : float
        Wall-clock seconds.
    verdict : {"exact", "verified", "consistent", "inconclusive", "contradicted"}
        How far the value can be trusted; `reason` explains the verdict.

        - exact: all states were enumerated.
        - verified: a sum over distinct states, which cannot exceed Z, is at least 90% of the
          estimate of Z, and a run from a second, broader base agrees; or the sum is over all
          states. The value can still be wrong if the sum and both bases miss a mode.
        - consistent: every check passed, but nothing verifies the value. A run cannot detect a
          mode that none of its chains has entered.
        - inconclusive: a check of the run failed. A warning named the check and suggested a remedy.
        - contradicted: a sum over states, a mode, a second base or the reverse direction disagrees
          with the value.
    log_weights : ndarray (n_chains,) or None
        Log-estimates of Z by each chain, log Z of the base included.
    betas, log_z_path : ndarray (n_recorded,) or None
        Recorded inverse temperatures, and the estimates of log Z there.
    trace : dict of ndarray (n_recorded, ...)
        On-the-fly quantities at `betas`, such as "ess" and "slope_variance".
    settings : dict
        Everything needed to repeat the run, including the seed and the version.
    details : dict
        Further results, such as "checks" and "round_trips".
    states : ndarray (n_chains, n), TemperedSample or None
        States of the chains at beta = 1, with visible units ``path.visible_of(estimate.states)``,
        or a tempered sample, with the last states ``estimate.states.states``. Not saved.

    Examples
    --------
    >>> import rbmlib as rl
    >>> print(rl.exact(rl.load_rbm("pcd_20")))
    exact: log Z = 210.3679 nats (784 x 20, units 0/1)
    """

    method: str
    log_z: float
    std_error: float
    interval: tuple[float, float]
    bound: str | None = None
    # `| Any` instead of `| None`: callers know which estimators set the attribute.
    mean_log_z: float | Any = None
    mean_std_error: float | Any = None
    ess: float = math.nan
    n_chains: int = 0
    n_sweeps: int = 0
    seconds: float = 0.0
    verdict: str = "consistent"
    log_weights: np.ndarray | Any = None
    betas: np.ndarray | Any = None
    log_z_path: np.ndarray | Any = None
    trace: dict[str, np.ndarray] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)
    states: Any = field(default=None, repr=False)

    @property
    def checks(self) -> tuple[Check, ...]:
        """Checks of the run; ``str(check)`` states the finding."""
        return tuple(self.details.get("checks", ()))

    @property
    def converged(self) -> bool:
        """Whether the verdict is "exact", "verified" or "consistent"."""
        return VERDICTS.index(self.verdict) >= VERDICTS.index("consistent")

    @property
    def reason(self) -> str:
        """Reason for the verdict: the failed checks, or what supports the value."""
        contradicted, failed = self.verdict == "contradicted", not self.converged
        told = [c for c in self.checks if not c.passed and c.contradicts >= contradicted]
        if failed and told:
            return "; ".join(map(str, told))
        passed = "all checks passed; nothing verifies the value" if self.checks else "not checked"
        return self.details.get("reason", passed)

    def __str__(self) -> str:
        known = "" if self.std_error == 0 else f" ± {self.std_error:.4f}"
        error = " nats, no error bar" if math.isnan(self.std_error) else f"{known} nats"
        model = f" ({self.settings['model']})" if "model" in self.settings else ""
        ess = f", ESS {self.ess:.0f} of {self.n_chains}" if math.isfinite(self.ess) else ""
        verdict = "" if self.verdict == self.method else f", {self.verdict}"
        if self.verdict == "consistent":
            short = self.details.get("independent_check", {}).get("on_request") is False
            verdict += ", not verified" + " (see rl.check)" * short
        what = "difference" if " - " in self.method else "log Z"
        return f"{self.method}: {what} = {self.log_z:.4f}{error}{model}{ess}{verdict}"

    def __repr__(self) -> str:
        return f"<Estimate {self}>"

    def __float__(self) -> float:
        return self.log_z

    def __sub__(self, other: Estimate | float) -> Estimate:
        """Return the logarithm of the ratio of two partition functions, with its error.

        Raises a ValueError if both estimates used the same random numbers or states, because their
        errors are then not independent.

        >>> import rbmlib as rl
        >>> one, two = (rl.testsystems.random_rbm(12, 6, rng=seed) for seed in (1, 2))
        >>> gap = rl.exact(one) - rl.exact(two)
        >>> round(float(gap), 4) == round(rl.exact(one).log_z - rl.exact(two).log_z, 4)
        True
        """
        if not isinstance(other, (Estimate, int, float)):
            return NotImplemented
        if not math.isfinite(other):
            raise ValueError(f"an Estimate and {float(other)}: expected a finite number")
        if not isinstance(other, Estimate):
            other = Estimate(f"{other:g}", float(other), 0.0, (other, other), verdict="exact")
        return combined("-", (self, 1.0), (other, -1.0))

    def _repr_html_(self) -> str:
        """Return an HTML table for notebooks: value, interval, bound, verdict, remedy."""
        known, low_high = self.std_error, outward(self.interval, 4)
        error = "" if known == 0 else ", no error bar" if math.isnan(known) else f" ± {known:.4f}"
        rows = {"log Z": f"{self.log_z:.4f}{error} nats"}
        if known != 0 and any(map(math.isfinite, low_high)):
            name = "95% interval" if self.converged else "log Z may lie in"
            rows[name] = "{:.4f} to {:.4f}".format(*low_high)
        if self.bound:
            name = f"{self.bound} bound, in expectation"
            rows[name] = f"{self.mean_log_z:.4f} ± {self.mean_std_error:.4f}"
        if math.isfinite(self.ess):
            rows["effective sample size"] = f"{self.ess:.0f} of {self.n_chains} chains"
        rows["verdict"] = f"{self.verdict}: {self.reason}"
        if not self.converged:
            rows["what to do"] = self.details.get("remedy", OTHERWISE)
        left = "style='text-align:left'"
        row = f"<tr><th {left}>%s</th><td {left}>%s</td></tr>"
        body = "".join(row % (html.escape(name), html.escape(text)) for name, text in rows.items())
        return f"<table><caption>{html.escape(self.method)}</caption>{body}</table>"

    def plot(self):
        """Plot log Z, the effective sample size and the variance of slopes along beta.

        Only recorded quantities have a panel; see `rbmlib.plot.run`.
        """
        from .plot import run

        return run(self)

    def save(self, path) -> None:
        """Write JSON without `states`, completely or not at all; NaN and infinities are strings."""
        text = json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n"
        with replacing(path) as file:
            file.write(text)

    @classmethod
    def load(cls, path) -> Estimate:
        """Read an estimate that `save` wrote. Nothing in the file is executed.

        Raises
        ------
        OSError, ValueError
            If the file cannot be read, or does not hold an estimate.
        """
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            came = f"path is {str(path)!r}: {error.strerror}"
            raise type(error)(f"{came}: expected a file that Estimate.save has written") from None
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{path} is not a saved Estimate (JSON): {error}") from None
        return cls.from_dict(content)

    def to_dict(self) -> dict[str, Any]:
        """Return finite numbers, strings, lists and dicts, ready for JSON."""
        return {f.name: _plain(getattr(self, f.name)) for f in fields(self) if f.name != "states"}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Estimate:
        """Return the estimate from which `to_dict` made ``content``."""
        try:
            found = cls(**_with_floats(content))
            given = {n: getattr(found, n) for n in ("log_weights", "betas", "log_z_path")}
            arrays: Any = {n: np.array(x, float) for n, x in given.items() if x is not None}
            trace = {name: np.array(column) for name, column in found.trace.items()}
            low, high = map(float, found.interval)
            details = dict(found.details)
            if "checks" in details:
                details["checks"] = [Check(*row) for row in details["checks"]]
            if found.verdict not in VERDICTS:
                raise ValueError(f"verdict is {found.verdict!r}: expected one of {VERDICTS}")
            found = replace(found, trace=trace, interval=(low, high), details=details, **arrays)
            str(found), found._repr_html_()  # both fail if another field has a wrong type
        except (TypeError, ValueError, AttributeError, KeyError) as error:
            raise ValueError(f"not what Estimate.save has written: {error}") from None
        return found


# sums of estimates ----------------------------------------------------------------------------


def combined(sign: str, *terms: tuple[Estimate, float]) -> Estimate:
    """Return the sum of independent estimates, each multiplied by its factor.

    Standard errors and the distances to the ends of the intervals add in quadrature. The verdict is
    the weakest verdict of the terms. Raises a ValueError if two terms used the same random numbers.
    """
    seen: dict[int, str] = {}  # methods by the seeds of their random numbers
    for x, _ in terms:
        for seed in set(_streams(x.settings)):
            if seed in seen:
                raise ValueError(
                    f"{seen[seed]} and {x.method} were drawn with the same random numbers "
                    f"(stream_seed {seed}), so that their errors are not independent: expected "
                    "runs with different rng"
                )
            seen[seed] = x.method
    value = sum(factor * x.log_z for x, factor in terms)
    below, above = (
        math.hypot(*(f * abs(x.log_z - x.interval[end ^ (f < 0)]) for x, f in terms if f))
        for end in (0, 1)
    )
    every = [c._replace(name=f"{x.method}: {c.name}") for x, _ in terms for c in x.checks]
    reason = ", ".join(f"{x.method} is {x.verdict}" for x, _ in terms)
    return Estimate(
        f" {sign} ".join(x.method for x, _ in terms),
        value,
        math.hypot(*(factor * x.std_error for x, factor in terms)),
        (value - below, value + above),
        seconds=sum(x.seconds for x, _ in terms),
        verdict=min((x.verdict for x, factor in terms if factor), key=VERDICTS.index),
        settings={"terms": [x.settings for x, _ in terms]},
        details={"checks": every, "reason": reason},
    )


def _streams(settings: dict):
    """Yield the seeds of all random numbers of a run, or of the terms of a sum."""
    if "stream_seed" in settings:
        yield settings["stream_seed"]
    for term in settings.get("terms", ()):
        yield from _streams(term)


# how it is shown ------------------------------------------------------------------------------


def outward(interval: tuple[float, float], digits: int) -> tuple[float, float]:
    """Round an interval outwards to ``digits`` decimal places."""
    unit = 10.0**digits
    low, high = np.floor(interval[0] * unit) / unit, np.ceil(interval[1] * unit) / unit
    return float(low), float(high)


# files --------------------------------------------------------------------------------------

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
    """Undo `_plain`, except for arrays."""
    if isinstance(value, dict):
        return {key: _with_floats(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_floats(item) for item in value]
    return _NOT_FINITE.get(value, value) if isinstance(value, str) else value
