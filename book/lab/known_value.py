"""What is known of log Z of the model of a page."""

from __future__ import annotations

import math

import rbmlib as rl
from rbmlib.models.enumeration import can_enumerate

from .live import LiveModel


def value_and_sentence(live: LiveModel) -> tuple[float, str]:
    """log Z (nan if it is not known), and a sentence: the book's reference, or enumerated now."""
    if live.reference:
        value = live.reference.log_z
        return value, f"Its log Z is {value:.4f} (the book's reference)."
    if can_enumerate(live.rbm):
        value = rl.exact(live.rbm).log_z
        return value, f"Its log Z is {value:.4f} (exact)."
    return math.nan, "Its log Z is not known."
