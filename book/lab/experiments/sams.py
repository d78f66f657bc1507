"""Chapter sams: the report's tempered programs as printed, and a mistake of it on purpose.

The report tells of SAMS and of RTS in one section; both are here, since both run on its path.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from rbmbook.sweeps.words import BASES, ESTIMATORS, PATHS, register
from rbmlib import datasets
from rbmlib.checks import one_of
from rbmlib.estimators.rts import updated
from rbmlib.estimators.sams import Groups, gain_sequence
from rbmlib.numerics import logit, softplus
from rbmlib.paths import GeometricPath
from rbmlib.results import Check, finished
from rbmlib.sampling import simulated_tempering
from rbmlib.sampling.compiled import LOOPS

ADDED = 5  # "a small value such as 5", added to the count of each pixel (report, section IV.D)


class _BaseDropped(GeometricPath):
    """Wrong on purpose: beta is drawn as if p_A(x)**(1 - beta) were not there."""

    def joint_transition(self, v, beta, rng):
        v, slope = super().joint_transition(v, beta, rng)
        return v, slope + v @ self.base_visible_bias


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


LOOPS[PrintedPath] = LOOPS[GeometricPath]


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
        log_z_a = softplus(path.base_visible_bias).sum() + path.hidden_factor(np.zeros(1))
        ours = ours + (1 - betas) * log_z_a
    return ours - ours[0]


@register(ESTIMATORS, "sams printed")
def _sams_printed(
    path, betas, seed, *, n_runs: int = 20, n_sweeps: int, first_stage: float = 0.3,
    exponent: float = 0.7, jump: str = "global", conditional: str = "joint",
    constant: str = "kept",
):  # fmt: skip
    """Runs of one chain each, which start at the base from equal guesses of log Z."""
    started, t_0 = time.perf_counter(), round(first_stage * n_sweeps)
    groups = Groups(
        path, betas, n_runs, np.random.default_rng(seed), n_groups=n_runs, conditional=conditional,
        start="plain", jump=jump,
    )  # fmt: skip
    groups.log_z += equal_guesses(path, betas, constant)
    gains = np.tile(gain_sequence(n_sweeps, t_0, exponent), (n_runs, 1))
    middle = n_sweeps // 2
    for part, sweeps in ((gains[:, :middle], middle), (gains[:, middle:], n_sweeps)):
        groups.advance(np.ascontiguousarray(part))
        groups.note(sweeps, middle)
    run = groups.estimate("sams", None, {"t_0": t_0, "exponent": exponent, "jump": jump})
    run = replace(run, seconds=time.perf_counter() - started)
    return run, {"round_trips": run.details["round_trips"]} | _spread(run.log_weights)


def _spread(values) -> dict[str, float]:
    """Of log Z over independent runs."""
    return {
        "variance": float(values.var(ddof=1)),
        "lowest": float(values.min()),
        "highest": float(values.max()),
    }


@register(ESTIMATORS, "rts printed")
def _rts_printed(
    path, betas, seed, *, n_runs: int = 20, n_sweeps: int, round_sweeps: int,
    threshold: float = 0.05, constant: str = "kept",
):  # fmt: skip
    """Runs of one chain, in rounds from equal guesses, each until its own stop or ``n_sweeps``."""
    started, source = time.perf_counter(), np.random.default_rng(seed)
    begin = equal_guesses(path, betas, constant)
    runs = [
        rounds(path, betas, begin, source, n_sweeps // round_sweeps, round_sweeps, threshold)
        for _ in range(n_runs)
    ]
    log_z, n_rounds, stopped = (np.array(column) for column in zip(*runs, strict=True))
    values, sweeps = log_z + path.log_z_base, n_rounds * round_sweeps
    result = finished(
        "rts", float(values.mean()), float(values.std(ddof=1) / np.sqrt(n_runs)),
        [Check("runs that stopped", bool(stopped.all()), int(stopped.sum()), n_runs)], n_runs,
        seconds=time.perf_counter() - started, n_chains=n_runs, n_sweeps=int(sweeps.max()),
        log_weights=values, betas=betas,
    )  # fmt: skip
    return result, _spread(values) | {
        "stopped": int(stopped.sum()), "mean_sweeps": float(sweeps.mean())
    }  # fmt: skip


def rounds(path, betas, log_z, source, most: int, n_sweeps: int, threshold: float):
    """log Z - log Z_0 of one chain, the rounds that it took, and whether it stopped by itself.

    The report's table III. Its c_k are begun anew in each round, without which they would add up
    to the number of rounds; and the first round is run, though c_k = 0 is below any threshold. A
    c_k that no double can hold is taken as the smallest that there is.
    """
    prior = np.full(betas.size, 1 / betas.size)
    v, index = path.sample_base(1, source), np.zeros(1, int)
    for done in range(1, most + 1):
        sample = simulated_tempering(
            path, betas, log_z, 1, n_sweeps, source, prior=prior, conditional="joint",
            start=v, index=index, record_every=n_sweeps, n_blocks=1,
        )  # fmt: skip
        c = np.maximum(sample.occupation()[0].mean(axis=0), np.finfo(float).tiny)
        log_z, v, index = updated(log_z, prior, c), sample.states, sample.index
        if (c - prior).max() <= threshold:
            return log_z[-1], done, True
    return log_z[-1], most, False
