"""Chapter sams: the report's program as printed, and a mistake of the report on purpose."""

from __future__ import annotations

import time

import numpy as np

from ... import datasets
from ..._numerics import logit, softplus
from ..._validation import one_of
from ...estimators.sams import gain_sequence
from ...paths.base import State
from ...paths.geometric import GeometricPath
from ...sweeps.models import BASES
from ...sweeps.registry import ESTIMATORS, PATHS, register
from ...tempering.self_adjusted import Groups, checked, estimate

ADDED = 5  # "a small value such as 5", added to the count of each pixel (report, section IV.D)


class _BaseDropped(GeometricPath):
    """Wrong on purpose: beta is drawn as if p_A(x)**(1 - beta) were not there."""

    compiled = False  # what is compiled draws rightly

    def joint_transition(self, state: State, beta, rng):
        state, slope = super().joint_transition(state, beta, rng)
        return state, slope + state.coordinates @ self.base_visible_bias


@register(PATHS, "base dropped")
def _base_dropped(rbm, *, base: str = "base rate"):
    return _BaseDropped(rbm, base=BASES[one_of("base", base, BASES)](rbm))


def counts_plus_five() -> np.ndarray:
    """Visible biases of the training pixels, 5 added to the count of each."""
    train = datasets.load_mnist().train
    return logit((train.sum(axis=0, dtype=float) + ADDED) / len(train))


RBM_A = {
    "counts + 5": lambda rbm: counts_plus_five(),
    "own visible": lambda rbm: rbm.visible_bias,
    "own both": lambda rbm: rbm.visible_bias,
    "zero": lambda rbm: np.zeros(rbm.n_visible),
}  # visible biases; all have weights 0, and hidden biases 0 but for "own both"


class PrintedPath(GeometricPath):
    """The report's path (eq. 8): RBM A has hidden units of its own, beside those of the target.

    As A has no weights, its hidden units multiply the density by a number that depends on beta
    alone. So they change neither the moves of v nor log Z of the target, only what equal guesses
    of log Z mean: `hidden_factor` says by how much.
    """

    def __init__(self, rbm, visible_bias, hidden_bias):
        super().__init__(rbm, base=visible_bias)
        self.bias_of_hidden_a = hidden_bias

    def hidden_factor(self, betas) -> np.ndarray:
        """Log of what A's hidden units multiply the density by, at each beta: (K,)."""
        return softplus((1 - betas)[:, None] * self.bias_of_hidden_a).sum(axis=1)


@register(PATHS, "printed")
def _printed(rbm, *, rbm_a: str):
    visible = RBM_A[one_of("rbm_a", rbm_a, RBM_A)](rbm)
    hidden = rbm.hidden_bias if rbm_a == "own both" else np.zeros(rbm.n_hidden)
    return PrintedPath(rbm, visible, hidden)


CONSTANTS = ("kept", "dropped")


def equal_guesses(path: PrintedPath, betas, constant: str) -> np.ndarray:
    """Guesses of log Z_k / Z_0 of our densities that stand for the report's, which are all 0.

    Its densities have the factor of A's hidden units; with ``constant`` "dropped" they are divided
    by ``Z_A**(1 - beta)`` too (section III.B).
    """
    ours = -path.hidden_factor(betas)
    if one_of("constant", constant, CONSTANTS) == "dropped":
        ours = ours + (1 - betas) * (path.log_z_base + path.hidden_factor(betas[:1]))
    return ours - ours[0]


@register(ESTIMATORS, "sams printed")
def _sams_printed(
    path, betas, seed, *, n_runs: int = 20, n_sweeps: int, first_stage: float = 0.3,
    exponent: float = 0.7, jump: str = "global", conditional: str = "joint",
    constant: str = "kept",
):  # fmt: skip
    """Runs of one chain each, which start at the base from equal guesses of log Z."""
    started, t_0 = time.perf_counter(), round(first_stage * n_sweeps)
    settings = checked(path, betas, n_runs, n_runs, None, conditional, "plain", None)
    groups = Groups(settings, np.random.default_rng(seed), jump=jump)
    groups.log_z += equal_guesses(path, betas, constant)
    gains = np.tile(gain_sequence(n_sweeps, t_0, exponent), (n_runs, 1))
    middle, history = n_sweeps // 2, []
    for part in (gains[:, :middle], gains[:, middle:]):
        groups.forget()
        groups.advance(np.ascontiguousarray(part))
        history.append(groups.log_z[:, -1].copy())
    run = estimate(
        "sams", groups, history, [middle, n_sweeps], history[0], started,
        {"t_0": t_0, "exponent": exponent, "jump": jump},
    )  # fmt: skip
    return run, {
        "round_trips": run.settings["round_trips"],
        "variance": float(run.log_weights.var(ddof=1)),
        "lowest": float(run.log_weights.min()),
        "highest": float(run.log_weights.max()),
    }
