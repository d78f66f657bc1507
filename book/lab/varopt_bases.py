"""Which base a paper had: exact slopes of paths from several bases, and runs seen on the way."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from . import exact_slopes
from .exact_slopes import OnPath
from .measured import Measured, measured

ESS_SO_FAR = [f"ess_{i}" for i in range(1, 21)]  # of a run that was looked at twenty times
CAPS = {"linear": np.nan, "VAROPT": 1.0, "capped VAROPT": 0.003}


class ExactPaths:
    """Paths by (model, base), in the order of ``bases``, from a table of exact slopes.

    The table has columns ``model``, ``base``, ``beta``, ``g``, ``g_error`` and ``mean_slope``, as
    `exact_slopes.slope_variance` gives them.
    """

    def __init__(self, table, bases):
        self.slopes = {
            (str(model), base): rows.sort_values("beta")
            for base in bases
            for model, rows in table[table["base"] == base].groupby("model")
        }
        columns = ["beta", "g", "mean_slope"]
        self.paths = {
            case: exact_slopes.on_path(*rows[columns].to_numpy().T)
            for case, rows in self.slopes.items()
        }

    def effect(
        self, case: tuple[str, str], effect: Callable[[OnPath], float], scale: str = "linear"
    ) -> Measured:
        """A number of a path with its standard error from those of g; a logarithm for "log"."""
        columns = ["beta", "g", "g_error", "mean_slope"]
        found = exact_slopes.with_error(effect, *self.slopes[case][columns].to_numpy().T)
        return measured(*found)._replace(scale=scale)


def largest_step(found: OnPath) -> str:
    """The largest step of VAROPT on a path, in mean steps, and where it is."""
    betas = found.betas["VAROPT"]
    steps = np.diff(betas) * (len(betas) - 1)
    return f"{steps.max():.1f} at β = {betas[steps.argmax()]:.2f}"


def along_the_steps(betas, shares) -> dict[str, float]:
    """β after each share of the steps of a schedule.

    Examples
    --------
    >>> {t: float(b) for t, b in along_the_steps([0.0, 0.25, 1.0], (0.5, 1)).items()}
    {'0.5': 0.25, '1': 1.0}
    """
    return {f"{t:g}": betas[round(t * (len(betas) - 1))] for t in shares}


def looked_at(table, base: str, name: str, k: int):
    """The stored run along a schedule of `CAPS` that was looked at twenty times, or None."""
    here = table[(table["base"] == base) & (table["n_temperatures"] == k)]
    here = here[here["max_step"].fillna(0) == np.nan_to_num(CAPS[name])]
    return here.iloc[0] if len(here) else None
