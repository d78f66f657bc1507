"""Annealing paths: WHAT is annealed.

A path is a curve of models p_beta, beta in [0, 1], from a tractable base (0) to the target (1).
A new path is a subclass of `AnnealingPath`: ``at``, ``log_z_base``, ``sample_base``,
``log_density_slope`` and ``transition`` define it; the rest follows, and may be overridden where
it can be faster. The loops that samplers and estimators run (``sweep``, ``anneal``,
``joint_sweeps``, ``temper``, ``adapt``) go sweep by sweep here; a path that has compiled ones
hands them out under the same names, and nobody else knows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from .._outermost import check_methods
from .._validation import (
    binary_states,
    finite_array,
    instance,
)
from ..models.bernoulli import BernoulliRBM
from . import arguments
from .steps import draw_betas, moved, sweep_of_groups

STATE_MEANING = "a State, such as path.sample_base(n_chains, rng) or rl.State(visible)"


class State(NamedTuple):
    """States of many chains: arrays with the chains first."""

    coordinates: np.ndarray  # (n_chains, n): visible units, or what stands for them on the path

    @property
    def n_chains(self) -> int:
        return self.coordinates.shape[0]


class AnnealingPath(ABC):
    """A curve of models from a tractable base (beta = 0) to the target (beta = 1)."""

    log_z_base: float

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        _check(cls)

    @abstractmethod
    def at(self, beta: float):
        """The density at ``beta``, from 0 to 1: every point of the path is a model again.

        Its ``log_density(x)`` takes what `State.coordinates` holds, (n_states, n_visible), and
        gives (n_states,): that of `log_density`. What these coordinates are, visible units or
        numbers that stand for them, the path says; `visible_of` leads back.
        """

    @abstractmethod
    def sample_base(self, n_chains: int, rng) -> State:
        """Independent draws from the base model."""

    def log_density(self, state: State, beta) -> np.ndarray:
        """log p*_beta of each state: (n_chains,), or (n_chains, K) for K betas."""
        if np.ndim(beta) == 0:
            return self.at(beta).log_density(state.coordinates)
        return np.stack([self.at(b).log_density(state.coordinates) for b in beta], axis=1)

    @abstractmethod
    def log_density_slope(self, state: State, beta) -> np.ndarray:
        """d/dbeta log p*_beta of each state (n_chains,): VAROPT's g is its variance."""

    def log_density_slopes(self, state: State, betas) -> np.ndarray:
        """`log_density_slope` at each of K betas: (n_chains, K)."""
        return np.stack([self.log_density_slope(state, b) for b in betas], axis=1)

    def visible_of(self, state: State, rng=None) -> np.ndarray:
        """Visible units (n_chains, n_visible) of the whole model.

        On some paths coordinates stand for them. What these leave open is then drawn from the
        model, with ``rng``: a seed, a generator, or a stream of as many chains.
        """
        return state.coordinates

    def checked_state(self, state: State, name: str = "state") -> State:
        """The state, if its width and values are those of the path's models.

        Wherever states enter: the compiled loops trust what they are given.
        """
        instance(name, state, State, STATE_MEANING)
        model = self.at(1.0)
        check_visible(name, state.coordinates, model.n_visible, isinstance(model, BernoulliRBM))
        return state

    @abstractmethod
    def transition(self, state: State, beta, rng) -> State:
        """One step that leaves p_beta invariant; ``beta`` a number, or one a chain."""

    def joint_transition(self, state: State, beta, rng) -> tuple[State, np.ndarray]:
        """A `transition`, and the slope of the joint log-density at its end (n_chains,).

        For paths whose log-density with the hidden units in it is linear in beta:
        ``log p*_beta(v, h) = log p*_0(v, h) + beta slope(v, h)``.
        """
        raise TypeError(
            f"{type(self).__name__} has no joint log-density that is linear in beta: expected a "
            'GeometricPath, or conditional="marginal"'
        )

    @property
    def has_joint_slope(self) -> bool:
        """Whether one slope a state serves all betas: whether there is a `joint_transition`."""
        return type(self).joint_transition is not AnnealingPath.joint_transition

    def sweep(
        self, state: State, beta, n_sweeps: int, stream, n_threads=None, on_progress=None
    ) -> State:
        """``n_sweeps`` transitions at ``beta`` (a number, or one a chain)."""
        self.checked_state(state)
        for _ in range(n_sweeps):
            state = self.transition(state, beta, stream)
            if on_progress is not None:
                on_progress(1)
        return state

    def anneal(
        self, state: State, betas, stream, *, record_at=(), on_record=None, n_threads=None,
        on_progress=None,
    ) -> tuple[State, np.ndarray]:  # fmt: skip
        """Annealed importance sampling along ``betas``, rising or falling (Kiwaki, Algorithm 1).

        Step k weighs the states between betas[k] and betas[k + 1], then moves them by the
        transition of betas[k + 1]. States drawn from p_betas[0] leave with weights that are
        proper for p_betas[-1]: E[w f(x)] = Z_last / Z_first * E_last[f].

        Parameters
        ----------
        state : State
        betas : ndarray (K + 1,)
        stream : ChainStream
        record_at : collection of int
            Indices k of `betas` after whose transition ``on_record(k, state, log_weights)``
            is called.

        Returns
        -------
        state : State
        log_weights : ndarray (n_chains,)
        """
        self.checked_state(state)
        log_weights = np.zeros(state.n_chains)
        wanted = set(record_at)
        for k in range(1, len(betas)):
            pair = self.log_density(state, betas[k - 1 : k + 1])
            log_weights += pair[:, 1] - pair[:, 0]
            state = self.transition(state, betas[k], stream)
            if k in wanted:
                on_record(k, state, log_weights)
            if on_progress is not None:
                on_progress(1)
        return state, log_weights

    def joint_sweeps(
        self, state: State, beta, n_sweeps: int, stream, n_threads=None
    ) -> tuple[State, np.ndarray]:
        """`sweep` by `joint_transition`, and the slopes after each (n_sweeps, n_chains)."""
        self.checked_state(state)
        slopes = np.zeros((n_sweeps, state.n_chains))
        for row in slopes:
            state, row[:] = self.joint_transition(state, beta, stream)
        return state, slopes

    def temper(
        self, state: State, index, betas, offsets, tally, kept, n_sweeps: int, stream, *,
        conditional="joint", record_every=1, phase=0, n_threads=None, on_progress=None,
    ) -> State:  # fmt: skip
        """Sweeps, each followed by a draw of every chain's beta: `rbmlib.tempering`.

        Parameters
        ----------
        index : int64 ndarray (n_chains,)
            Chain c is at ``betas[index[c]]``; changed in place.
        offsets : ndarray (K,)
            Beta_k is drawn with probability ~ p*_k(x) exp(offsets[k]).
        tally : Tally
            Sums over the sweeps, added to in place.
        kept : tuple of ndarray (n_kept, n_chains)
            Filled with the slope and the index after every ``record_every``-th sweep, ``phase``
            sweeps having passed since the last that was kept.
        conditional : {"joint", "marginal"}
            What beta is drawn given: v and h, or v alone.
        """
        self.checked_state(state)
        chains = np.arange(index.size)
        for sweep in range(phase + 1, phase + n_sweeps + 1):
            state, logs, slopes = moved(self, conditional, state, betas[index], betas, stream)
            draw_betas(index, logs + offsets, slopes, stream.random((index.size, 1)), tally)
            if sweep % record_every == 0:
                own = slopes[chains, np.minimum(index, slopes.shape[1] - 1)]
                for rows, values in zip(kept, (own, index), strict=True):
                    rows[sweep // record_every - 1] = values
            if on_progress is not None:
                on_progress(1)
        return state

    def adapt(
        self, state: State, index, betas, gains, rule, adjusted, stream, *, conditional="joint",
        n_threads=None, on_progress=None,
    ) -> State:  # fmt: skip
        """As `temper`, with log Z that groups of chains adjust after every sweep: `self_adjusted`.

        A row of ``gains`` (n_groups, n_sweeps) is a group, of equally many chains; ``rule``
        (Rule) says how betas are drawn, ``adjusted`` (Adjusted) is changed in place.
        """
        self.checked_state(state)
        for gain in gains.T:
            state, logs, _ = moved(self, conditional, state, betas[index], betas, stream)
            sweep_of_groups(index, logs, stream.random((index.size, 2)), gain, rule, adjusted)
            if on_progress is not None:
                on_progress(1)
        return state


def _check(cls: type) -> None:
    """Arguments of public methods are checked where a caller comes in."""
    check_methods(cls, ("log_density_slope",), arguments.SLOPE)
    check_methods(cls, arguments.METHODS, arguments.CHECKS)


_check(AnnealingPath)


def check_visible(name: str, visible, n_visible: int, binary: bool) -> None:
    """Raise ValueError unless ``visible`` is (n_chains, n_visible), of bits or finite numbers."""
    if np.ndim(visible) != 2 or np.shape(visible)[1] != n_visible:
        raise ValueError(
            f"{name} has states of shape {np.shape(visible)}: expected (n_chains, {n_visible}), "
            "one column a visible unit of the path's models"
        )
    if binary:
        binary_states(name, visible, n_visible)
    else:
        finite_array(name, visible, (None, n_visible), "(n_chains, n_visible)")
