"""What every estimator returns: log Z, its error, what was checked, and how to repeat the run."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from .files import replacing

OTHERWISE = "another base, or more temperatures"  # where a run's own checks passed


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
    converged : bool
        Whether all `checks` passed: these things were looked for and not found. A warning said
        what to change if not. False of a value without an error bar that nothing has confirmed.
    log_weights : ndarray (n_chains,) or None
        Per-chain log-estimates of log Z (base included).
    betas, log_z_path : ndarray (n_recorded,) or None
        Inverse temperatures at which the run was looked at, and log Z there.
    trace : dict of ndarray (n_recorded, ...)
        On-the-fly quantities at `betas`, such as "ess" and "slope_variance".
    settings : dict
        Everything needed to repeat the run, seed and version included.
    states : ndarray (n_chains, n), TemperedSample or None
        Chains at beta = 1, whose visible units are ``path.visible_of(estimate.states)``, or a
        tempered sample, whose final chains are ``estimate.states.states``. Not saved.
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

    @property
    def checks(self) -> dict[str, bool]:
        """What was checked, in words with the numbers found, and whether it passed."""
        return self.settings.get("checks", {})

    def __str__(self) -> str:
        known = "" if self.std_error == 0 else f" ± {self.std_error:.4f}"
        error = " nats, no error bar" if math.isnan(self.std_error) else f"{known} nats"
        model = f" ({self.settings['model']})" if "model" in self.settings else ""
        ess = f", ESS {self.ess:.0f} of {self.n_chains}" if math.isfinite(self.ess) else ""
        failed = "NOT VERIFIED" if self.settings.get("solved") else "NOT CONVERGED"
        flag = "" if self.converged else f", {failed}"
        verdict = self.settings.get("second_opinion", {}).get("verdict", "not checked")
        opinion = "" if verdict == "not checked" else f", second opinion: {verdict}"
        return f"{self.method}: log Z = {self.log_z:.4f}{error}{model}{ess}{flag}{opinion}"

    def __repr__(self) -> str:
        return f"<Estimate {self}>"

    def __float__(self) -> float:
        return self.log_z

    def __add__(self, other: Estimate | float) -> Estimate:
        """log Z of two models that know nothing of each other: errors in quadrature."""
        return combined("+", (self, 1.0), (other, 1.0))

    def __radd__(self, other: float) -> Estimate:
        return self if other == 0 else self + other  # sum() begins with 0

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
        return combined("-", (self, 1.0), (other, -1.0))

    def _repr_html_(self) -> str:
        return card(self)

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
            If it cannot be read, or is something else: a field that is not of its type is named.
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
        """The estimate of which `to_dict` made ``content``; each field must be of its type."""
        names = {f.name for f in fields(cls)} - {"states"}
        if wrong := set(content) ^ names if isinstance(content, dict) else {"(not a mapping)"}:
            raise ValueError(f"not a saved Estimate: unknown or missing fields {sorted(wrong)}")
        content = _with_floats(content)
        for expected, fits, of in _FIELDS:
            for name in of:
                if not fits(content[name]):
                    came = f"{name} is {content[name]!r:.60}"
                    raise ValueError(f"not a saved Estimate: {came}: expected {expected}")
        rows = {n: None if content[n] is None else np.array(content[n]) for n in _ROWS}
        trace = {key: np.array(column) for key, column in content["trace"].items()}
        return cls(**content | rows | {"trace": trace, "interval": tuple(content["interval"])})


# sums of estimates ----------------------------------------------------------------------------


def combined(sign: str, *terms: tuple[Estimate | float, float]) -> Estimate:
    """The sum of independent estimates or numbers, each times its factor.

    Errors add in quadrature, and the distances to the ends of the intervals likewise. It has
    converged if all have.
    """
    parts = [(_known(x) if isinstance(x, (int, float)) else x, factor) for x, factor in terms]
    if not all(isinstance(x, Estimate) for x, _ in parts):
        return NotImplemented
    estimates = [x for x, _ in parts]
    _refuse_dependent(estimates)
    value = sum(factor * x.log_z for x, factor in parts)
    below, above = (
        math.hypot(*(f * abs(x.log_z - x.interval[end ^ (f < 0)]) for x, f in parts if f))
        for end in (0, 1)
    )
    own: dict[str, bool] = {}
    for x in estimates:
        for text, passed in x.checks.items():
            own[f"{x.method}: {text}"] = own.get(f"{x.method}: {text}", True) and passed
    return Estimate(
        f" {sign} ".join(x.method for x in estimates),
        value,
        math.hypot(*(factor * x.std_error for x, factor in parts)),
        (value - below, value + above),
        seconds=sum(x.seconds for x in estimates),
        converged=all(x.converged for x in estimates),
        settings={"terms": [x.settings for x in estimates], "checks": own},
    )


def _known(number: float) -> Estimate:
    """A number that is known as an estimate without error."""
    number = float(number)
    if not math.isfinite(number):
        raise ValueError(f"an Estimate and {number}: expected a finite number")
    return Estimate(f"{number:g}", number, 0.0, (number, number))


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
    """The seeds of all random numbers of a run, or of the terms of a sum."""
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


def card(estimate: Estimate) -> str:
    """HTML of what a notebook shows: value, interval, bound, checks, what to do."""
    failed = [text for text, passed in estimate.checks.items() if not passed]
    error = "" if estimate.std_error == 0 else f" ± {estimate.std_error:.4f}"
    low, high = outward(estimate.interval, 4)
    rows = {"log Z": f"{estimate.log_z:.4f}{error} nats"}
    if estimate.std_error != 0:
        rows["95% interval"] = f"{low:.4f} to {high:.4f}"
    if estimate.bound:
        name = f"{estimate.bound} bound, in expectation"
        rows[name] = f"{estimate.mean_log_z:.4f} ± {estimate.mean_std_error:.4f}"
    if math.isfinite(estimate.ess):
        rows["effective sample size"] = f"{estimate.ess:.0f} of {estimate.n_chains} chains"
    passed = f"{len(estimate.checks) - len(failed)} of {len(estimate.checks)} checks passed"
    rows["converged"] = f"{'yes' if estimate.converged else 'no'}: {passed}"
    if failed:
        rows["failed"] = "; ".join(failed)
        rows["what to do"] = f"give it {estimate.settings.get('remedy', OTHERWISE)}"
    if opinion := estimate.settings.get("second_opinion"):
        rows["second opinion"] = str(opinion.get("text", ""))
    left = "style='text-align:left'"
    body = "".join(
        f"<tr><th {left}>{html.escape(name)}</th><td {left}>{html.escape(text)}</td></tr>"
        for name, text in rows.items()
    )
    return f"<table><caption>{html.escape(estimate.method)}</caption>{body}</table>"


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


def _shape(value) -> tuple[int, ...] | None:
    """That of real numbers, None of anything else."""
    try:
        found = np.array(value)
    except ValueError:  # rows of different lengths
        return None
    return found.shape if found.dtype.kind in "biuf" else None


def _real(value):
    return _shape(value) == () and not isinstance(value, bool)


def _trace(value):
    return isinstance(value, dict) and all(map(_shape, value.values()))  # () is one number


def _settings(value):
    parts = [value, *(value.get(n, {}) for n in _READ)] if isinstance(value, dict) else [value]
    return all(isinstance(part, dict) for part in parts)


_READ = ("checks", "second_opinion")  # what `Estimate` itself reads of its settings
_ROWS = ("log_weights", "betas", "log_z_path")
_FIELDS: list[tuple[str, Callable[[Any], bool], tuple[str, ...]]] = [
    ("a text", lambda x: isinstance(x, str), ("method",)),
    ("a number", _real, ("log_z", "ess")),
    ("a number, 0 or more, or NaN", lambda x: _real(x) and not x < 0, ("std_error",)),
    ("a number, or null", lambda x: x is None or _real(x), ("mean_log_z", "mean_std_error")),
    ("a number, 0 or more", lambda x: _real(x) and x >= 0, ("seconds",)),
    ("a whole number, 0 or more", lambda x: type(x) is int and x >= 0, ("n_chains", "n_sweeps")),
    ("true or false", lambda x: isinstance(x, bool), ("converged",)),
    ("'lower', 'upper' or null", lambda x: x in ("lower", "upper", None), ("bound",)),
    ("two numbers that rise", lambda x: _shape(x) == (2,) and x == sorted(x), ("interval",)),
    ("a row of numbers, or null", lambda x: x is None or len(_shape(x) or ()) == 1, _ROWS),
    ("a mapping of arrays of numbers", _trace, ("trace",)),
    ("a mapping, with mappings for checks and second_opinion", _settings, ("settings",)),
]
