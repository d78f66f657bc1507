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
        ess = f", ESS {self.ess:.0f} of {self.n_chains}" if math.isfinite(self.ess) else ""
        flag = "" if self.converged else ", NOT CONVERGED"
        verdict = self.settings.get("second_opinion", {}).get("verdict", "not checked")
        opinion = "" if verdict == "not checked" else f", second opinion: {verdict}"
        return f"{self.method}: log Z = {self.log_z:.4f}{error}{ess}{flag}{opinion}"

    def __repr__(self) -> str:
        return f"<Estimate {self}>"

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
