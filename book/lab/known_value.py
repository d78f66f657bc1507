"""What is known of log Z of the model of a page, and what runs of AIS say beside it, in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import rbmlib as rl
from rbmlib.models.enumeration import can_enumerate

from .live import LiveModel
from .tables import with_error

EXACT, REFERENCE, NOTHING = "exact", "reference", "not known"
MOST_STATES = 2**20  # of the smaller layer: as many are added up in seconds


class Known(NamedTuple):
    """log Z as far as it is known; false if nothing is."""

    log_z: float  # nan: nothing is known
    std_error: float
    kind: str  # EXACT, REFERENCE or NOTHING

    def __bool__(self) -> bool:
        return self.kind != NOTHING

    def sentence(self) -> str:
        """For the first output of a page."""
        if self.kind == EXACT:
            return f"The exact value is log Z = {self.log_z:.4f} nats."
        if self.kind == NOTHING:
            return "Too many units to add up, and no reference value: log Z is not known."
        value = with_error(self.log_z, self.std_error)
        return f"Too many units to add up; the reference value of log Z is {value} nats."

    def beside(self, log_z: float, std_error: float) -> dict[str, str]:
        """A column of a table with the distance of an estimate; no column if nothing is known.

        Examples
        --------
        >>> Known(210.0, 0.03, "reference").beside(210.5, 0.04)
        {'minus reference': '0.5000 ± 0.0500'}
        """
        if not self:
            return {}
        error = math.hypot(std_error, self.std_error)
        return {f"minus {self.kind}": with_error(log_z - self.log_z, error)}


def known_value(live: LiveModel) -> Known:
    """Enumerated if that takes seconds, else from the reference set, else nothing."""
    if can_enumerate(live.rbm, MOST_STATES):
        return Known(rl.exact(live.rbm).log_z, 0.0, EXACT)
    if live.reference:
        return Known(live.reference.log_z, live.reference.std_error, REFERENCE)
    return Known(math.nan, 0.0, NOTHING)


def value_and_sentence(live: LiveModel) -> tuple[float, str]:
    """log Z (nan if it is not known), and a sentence: the book's reference, or enumerated now."""
    if live.reference:
        value = live.reference.log_z
        return value, f"Its log Z is {value:.4f} (the book's reference)."
    if can_enumerate(live.rbm):
        value = rl.exact(live.rbm).log_z
        return value, f"Its log Z is {value:.4f} (exact)."
    return math.nan, "Its log Z is not known."


def rule_in_words(runs: Mapping[str, rl.Estimate]) -> str:
    """Which runs the library calls converged, by their names."""
    failed = [name for name, run in runs.items() if not run.converged]
    passed = [name for name, run in runs.items() if run.converged]
    words = [f"{', '.join(passed)} passed"] * bool(passed)
    words += [f"{', '.join(failed)} failed, and rbmlib warns"] * bool(failed)
    return "By the rule for the ESS: " + "; ".join(words) + "."


def bracket_in_words(up: rl.Estimate, down: rl.Estimate, known: Known) -> str:
    """Where the bracket lies, two errors beyond each mean; whether log Z is inside."""
    low = up.mean_log_z - 2 * up.mean_std_error
    high = down.mean_log_z + 2 * down.mean_std_error
    gap = down.mean_log_z - up.mean_log_z
    says = f"The bracket runs from {low:.2f} to {high:.2f}; the gap is {gap:.2f} nats. "
    if known:
        inside = "inside" if low <= known.log_z <= high else "outside"
        says += f"The {known.kind} value, {known.log_z:.2f}, lies {inside}. "
    if known.kind != EXACT and down.settings["start"] != "exact samples":
        says += "The way down begins at resampled chains, so that its side may be too low. "
    return says


def bases_in_words(runs: Mapping[str, rl.Estimate], known: Known) -> str:
    """Which base has the largest ESS, which the highest log Z, which are a nat off."""
    most = max(runs, key=lambda name: runs[name].ess)
    highest = max(runs, key=lambda name: runs[name].log_z)
    says = f"*{most}* has the largest ESS, {runs[most].ess:.0f} of {runs[most].n_chains}, and "
    says += "also" if most == highest else f"*{highest}*"
    says += " the highest log Z. "
    if known:
        off = {name: run.log_z - known.log_z for name, run in runs.items()}
        far = [f"*{name}* ({d:+.1f})" for name, d in off.items() if abs(d) > 1]
        says += f"More than a nat from the {known.kind} value: {', '.join(far) or 'none'}. "
    return says
