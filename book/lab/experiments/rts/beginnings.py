"""Chapter rts: how RTS may begin, from rounds in each of their readings."""

from __future__ import annotations

from rbmbook.carlson2016.rounds import rts_from_rounds
from rbmbook.given_visible import GivenVisible
from rbmbook.sweeps.words import ESTIMATORS, register


def given(path, conditional: str):
    """The path, as it is quick for what beta is drawn given."""
    return GivenVisible(path) if conditional == "marginal" else path


@register(ESTIMATORS, "rts_from_rounds")
def _rts_from_rounds(
    path, betas, seed, *, n_chains: int = 100, n_sweeps: int, round_burn_in: int = 0,
    conditional: str = "joint",
):  # fmt: skip
    """RTS from the paper's rounds, the first sweeps of each left out."""
    how = {"left_out": round_burn_in, "conditional": conditional}
    run, made = rts_from_rounds(given(path, conditional), betas, n_chains, n_sweeps, seed, **how)
    more = {"round_trips": run.details["round_trips"], "bias": run.details["bias"]}
    return run, more | {"n_rounds": float(len(made)), "start_log_z": float(made[-1].guesses[-1])}
