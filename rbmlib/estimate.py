"""What every estimator returns: log Z, its error, what was checked, and how to repeat the run."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from .files import replacing


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
        Whether all `checks` passed: these things were looked for and not found. A warning said
        what to change if not.
    log_weights : ndarray (n_chains,) or None
        Per-chain log-estimates of log Z (base included).
    betas, log_z_path : ndarray (n_recorded,) or None
        Inverse temperatures at which the run was looked at, and log Z there.
    trace : dict of ndarray (n_recorded, ...)
        On-the-fly quantities at `betas`, such as "ess" and "slope_variance".
    settings : dict
        Everything needed to repeat the run, seed and version included.
    states : ndarray (n_chains, n), TemperedSample or None
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

    @property
    def checks(self) -> dict[str, bool]:
        """What was checked, in words with the numbers found, and whether it passed."""
        return self.settings.get("checks", {})

    def __str__(self) -> str:
        error = f" ± {self.std_error:.4f} nats" if self.std_error else " nats"
        if math.isnan(self.std_error):
            error = " nats, no error bar"
        ess = f", ESS {self.ess:.0f} of {self.n_chains}" if math.isfinite(self.ess) else ""
        flag = "" if self.converged else ", NOT CONVERGED"
        verdict = self.settings.get("second_opinion", {}).get("verdict", "not checked")
        opinion = "" if verdict == "not checked" else f", second opinion: {verdict}"
        return f"{self.method}: log Z = {self.log_z:.4f}{error}{ess}{flag}{opinion}"

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
        """Read what `save` wrote; nothing in the file is executed.

        Raises
        ------
        ValueError
            If it is something else, or a field is not of its type: the field is named.
        """
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
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
        wrong = set(content) ^ names if isinstance(content, dict) else {"(not a mapping)"}
        if wrong:
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


def _real(value):
    return isinstance(value, float) or (type(value) is int and abs(value) < 1e300)


def _numbers(value):
    try:
        found = np.array(value)
    except ValueError:  # rows of different lengths
        return False
    return found.ndim > 0 and found.dtype.kind in "biuf"


def _row(value):
    return _numbers(value) and np.ndim(value) == 1


def _pair(value):
    return isinstance(value, list) and len(value) == 2 and all(map(_real, value))


def _arrays(value):
    return isinstance(value, dict) and all(map(_numbers, value.values()))


_ROWS = ("log_weights", "betas", "log_z_path")
_FIELDS: list[tuple[str, Callable[[Any], bool], tuple[str, ...]]] = [
    ("a text", lambda x: isinstance(x, str), ("method",)),
    ("a number", _real, ("log_z", "std_error", "ess")),
    ("a number, or null", lambda x: x is None or _real(x), ("mean_log_z", "mean_std_error")),
    ("a number, 0 or more", lambda x: _real(x) and x >= 0, ("seconds",)),
    ("a whole number, 0 or more", lambda x: type(x) is int and x >= 0, ("n_chains", "n_sweeps")),
    ("true or false", lambda x: isinstance(x, bool), ("converged",)),
    ("'lower', 'upper' or null", lambda x: x in ("lower", "upper", None), ("bound",)),
    ("two numbers", _pair, ("interval",)),
    ("a row of numbers, or null", lambda x: x is None or _row(x), _ROWS),
    ("a mapping of arrays of numbers", _arrays, ("trace",)),
    ("a mapping", lambda x: isinstance(x, dict), ("settings",)),
]
