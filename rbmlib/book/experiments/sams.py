"""Chapter sams: a mistake of the report on purpose."""

from __future__ import annotations

from ..._validation import one_of
from ...paths.base import State
from ...paths.geometric import GeometricPath
from ...sweeps.models import BASES
from ...sweeps.registry import PATHS, register


class _BaseDropped(GeometricPath):
    """Wrong on purpose: beta is drawn as if p_A(x)**(1 - beta) were not there."""

    compiled = False  # what is compiled draws rightly

    def joint_transition(self, state: State, beta, rng):
        state, slope = super().joint_transition(state, beta, rng)
        return state, slope + state.coordinates @ self.base_visible_bias


@register(PATHS, "base dropped")
def _base_dropped(rbm, *, base: str = "base rate"):
    return _BaseDropped(rbm, base=BASES[one_of("base", base, BASES)](rbm))
