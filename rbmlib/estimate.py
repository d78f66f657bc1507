"""What every estimator returns: log Z, its error, what was checked, and how to repeat the run."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .files import replacing

VERDICTS = "contradicted", "inconclusive", "consistent", "verified", "exact"  # the weakest first
OTHERWISE = "Use another base, or more temperatures"  # where a run's own checks passed
UNITS = {  # of what is found by a check; of a number without one there is to be enough
    "": "{:.3g}", "nats": "{:.2f} nats", "s.e.": "{:+.1f} standard errors",
    "times": "{:.1f} times that from chains",
    "of Z": "{:.1%} of Z", "of this value": "{:.1%} of this value",
}  # fmt: skip


class Check(NamedTuple):
    """One check of a run: what was checked, what was found, the limit, and whether it passed.

    Without a value (NaN) the name alone is the finding. A check that fails makes an estimate
    inconclusive, and one that ``contradicts`` the value makes it contradicted.
    """

    name: str
    passed: bool
    value: float = math.nan
    limit: float = math.nan
    unit: str = ""  # one of `UNITS`; of all but "" the limit is the most
    disagreement: float = 0.0  # nats by which parts of the run disagree
    contradicts: bool = False  # whether log Z cannot be the value, if this failed

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
        The plain mean over chains of their log-estimates, with its standard error. Wider than
        `log_z`, but its error bar needs no large ESS.
    ess : float
        Effective sample size of the weights (Kiwaki 2015, eq. 5); NaN where there are none.
    n_chains, n_sweeps : int
        Independent chains; sweeps of each.
    seconds : float
        Wall-clock seconds.
    verdict : {"exact", "verified", "consistent", "inconclusive", "contradicted"}
        What is known of the value; `reason` says from what.

        - exact: all states were enumerated.
        - verified: a sum over distinct states, which cannot exceed Z, holds 90% of this value or
          more, and a run from a second, broader base agrees; or the sum is over all states. A mode
          that the sum and both bases lack can still make it wrong.
        - consistent: every check passed. Nothing that was looked for contradicts the value, and
          nothing verifies it: no run can show a mode that none of its chains has entered.
        - inconclusive: a check of the run failed. A warning said which, and what to change.
        - contradicted: a sum, a mode, another base or the other direction lies too far off.
    log_weights : ndarray (n_chains,) or None
        Per-chain log-estimates of log Z (base included).
    betas, log_z_path : ndarray (n_recorded,) or None
        Inverse temperatures at which the run was looked at, and log Z there.
    trace : dict of ndarray (n_recorded, ...)
        On-the-fly quantities at `betas`, such as "ess" and "slope_variance".
    settings : dict
        What was asked: everything needed to repeat the run, seed and version included.
    details : dict
        What was found besides, such as "checks" and "round_trips".
    states : ndarray (n_chains, n), TemperedSample or None
        Chains at beta = 1, whose visible units are ``path.visible_of(estimate.states)``, or a
        tempered sample, whose final chains are ``estimate.states.states``. Not saved.

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
    # `| Any` where an estimator may have nothing (None): who called it knows.
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
        """What was checked; ``str`` of each says what was found."""
        return tuple(self.details.get("checks", ()))

    @property
    def converged(self) -> bool:
        """Whether the verdict is "exact", "verified" or "consistent"."""
        return VERDICTS.index(self.verdict) >= VERDICTS.index("consistent")

    @property
    def reason(self) -> str:
        """What the verdict rests on: what failed, or else what was found."""
        contradicted, failed = self.verdict == "contradicted", not self.converged
        told = [c for c in self.checks if not c.passed and c.contradicts >= contradicted]
        if failed and told:
            return "; ".join(map(str, told))
        n = len(self.checks)
        passed = "all checks passed; nothing verifies the value" if n else "not checked"
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
        """The logarithm of the ratio of two Z, with the error of both.

        ValueError if both were drawn with the same random numbers, or from the same states: then
        their errors are not independent.

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
        """What a notebook shows: value, interval, bound, checks, what to do."""
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
        body = "".join(
            f"<tr><th {left}>{html.escape(name)}</th><td {left}>{html.escape(text)}</td></tr>"
            for name, text in rows.items()
        )
        return f"<table><caption>{html.escape(self.method)}</caption>{body}</table>"

    def plot(self):
        """A figure of the run along beta: log Z, effective sample size, variance of slopes.

        What was not recorded has no panel; see `rbmlib.plot.run`.
        """
        from .plot import run

        return run(self)

    def save(self, path) -> None:
        """Write as JSON (without `states`), whole or not at all; NaN and infinities as texts."""
        text = json.dumps(self.to_dict(), indent=1, allow_nan=False) + "\n"
        with replacing(path) as file:
            file.write(text)

    @classmethod
    def load(cls, path) -> Estimate:
        """Read what `save` wrote; nothing in the file is executed.

        Raises
        ------
        OSError, ValueError
            If it cannot be read, or is something else.
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
        """Plain finite numbers, strings, lists and dicts: ready for JSON."""
        return {f.name: _plain(getattr(self, f.name)) for f in fields(self) if f.name != "states"}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Estimate:
        """The estimate of which `to_dict` made ``content``."""
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
            str(found), found._repr_html_()  # what else is read of it is of its type
        except (TypeError, ValueError, AttributeError, KeyError) as error:
            raise ValueError(f"not what Estimate.save has written: {error}") from None
        return found


# sums of estimates ----------------------------------------------------------------------------


def combined(sign: str, *terms: tuple[Estimate, float]) -> Estimate:
    """The sum of independent estimates, each times its factor.

    Errors add in quadrature, and the distances to the ends of the intervals likewise. The verdict
    is the weakest of theirs.
    """
    _refuse_dependent([x for x, _ in terms])
    value = sum(factor * x.log_z for x, factor in terms)
    below, above = (
        math.hypot(*(f * abs(x.log_z - x.interval[end ^ (f < 0)]) for x, f in terms if f))
        for end in (0, 1)
    )
    every = [c._replace(name=f"{x.method}: {c.name}") for x, _ in terms for c in x.checks]
    return Estimate(
        f" {sign} ".join(x.method for x, _ in terms),
        value,
        math.hypot(*(factor * x.std_error for x, factor in terms)),
        (value - below, value + above),
        seconds=sum(x.seconds for x, _ in terms),
        verdict=min((x.verdict for x, factor in terms if factor), key=VERDICTS.index),
        settings={"terms": [x.settings for x, _ in terms]},
        details={
            "checks": every,
            "reason": ", ".join(f"{x.method} is {x.verdict}" for x, _ in terms),
        },
    )


def _refuse_dependent(estimates: Sequence[Estimate]) -> None:
    """ValueError if two were drawn with the same random numbers."""
    seen: dict[int, str] = {}
    for estimate in estimates:
        for seed in set(_streams(estimate.settings)):
            if seed in seen:
                raise ValueError(
                    f"{seen[seed]} and {estimate.method} were drawn with the same random numbers "
                    f"(stream_seed {seed}), so that their errors are not independent: expected "
                    "runs with different rng"
                )
            seen[seed] = estimate.method


def _streams(settings: dict):
    """The seeds of all random numbers of a run, or of the terms of a difference."""
    if "stream_seed" in settings:
        yield settings["stream_seed"]
    for term in settings.get("terms", ()):
        yield from _streams(term)


# how it is shown ------------------------------------------------------------------------------


def outward(interval: tuple[float, float], digits: int) -> tuple[float, float]:
    """An interval to so many digits, which holds all that it held."""
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
    """What `_plain` was given, but for arrays."""
    if isinstance(value, dict):
        return {key: _with_floats(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_floats(item) for item in value]
    return _NOT_FINITE.get(value, value) if isinstance(value, str) else value
