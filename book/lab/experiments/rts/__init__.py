"""Chapter rts: experiments on Rao-Blackwellized tempered sampling, a file for each subject.

Importing them registers the words that sweeps may name.
"""

from . import beginnings, same_states

__all__ = ["beginnings", "same_states"]
