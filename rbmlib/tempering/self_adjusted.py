"""Simulated tempering that adjusts its own log Z: what SAMS and Wang-Landau share.

Simulated tempering (`rbmlib.tempering`) draws beta_k given a state x with probability
``w_k(x) ~ p*_k(x) pi_k / exp(zeta_k)``. Where zeta is right, log Z up to a constant, beta_k is
drawn with probability pi_k; so whenever beta_k is seen zeta_k is raised, and stochastic
approximation with gains that fall finds log Z (Tan 2017, eq. 9, 12):

    zeta_k <- zeta_k + min(gain, pi_k) / pi_k * share_k,     then less zeta_0,

``share_k`` being how many of the chains are at beta_k, or the mean of w_k(x) over them. Chains that
adjust the same zeta are not independent. So they run in groups, each with a zeta of its own from a
pilot of its own; error bars come from the spread of the groups.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from .._diagnosis import Check, agreement, report, round_trips, some_spread
from .._kernels.adaptive import Adjusted, Rule
from .._numerics import logmeanexp
from .._streams import ChainStream
from .._validation import count, generator, instance, one_of
from ..paths.base import AnnealingPath, State
from ..results import Estimate, student_interval
from ..schedules import linear
from .checks import PATH_MEANING, check_conditional, checked_prior, ladder
from .pilot import pilot_of
from .planning import Plan, planned

STARTS, JUMPS = ("pilot", "plain"), ("global", "local")
PILOT_STEPS = 4000
TRIPS = 8.0  # round trips of a chain for which sweeps are planned: 2 are asked of the second half
OF_GAINS = 0.7  # share of the sweeps whose gain is 1/t
LEAST_VISITED = 0.5  # of its share, in the second half
FALSE_ALARM = 0.0027  # of a comparison of groups: that of three standard errors


class Settings(NamedTuple):
    """Checked arguments that SAMS and Wang-Landau have in common."""

    path: AnnealingPath
    betas: np.ndarray
    n_chains: int
    n_groups: int
    prior: np.ndarray
    conditional: str
    start: str
    n_threads: int | None


def checked(path, betas, n_chains, n_groups, prior, conditional, start, n_threads) -> Settings:
    instance("path", path, AnnealingPath, PATH_MEANING)
    betas = ladder(betas)
    n_groups = count("n_groups", n_groups, 2)
    n_chains = count("n_chains", n_chains)
    if n_chains % n_groups:
        raise ValueError(
            f"n_chains is {n_chains}: expected a multiple of n_groups, {n_groups}, such as "
            f"{n_groups * -(-n_chains // n_groups)}, or another n_groups, 2 or more, that divides "
            f"{n_chains}: groups are of equal size"
        )
    check_conditional(path, conditional)
    one_of("start", start, STARTS)
    prior = checked_prior(prior, betas.size)
    return Settings(path, betas, n_chains, n_groups, prior, conditional, start, n_threads)


def planned_groups(
    method: str, path, betas, n_chains, n_sweeps, rng, *, n_groups, prior, conditional, start,
    n_threads,
) -> tuple[Settings, Plan]:  # fmt: skip
    """The checked arguments, and the plan of betas and sweeps: from pilots where they are None."""
    at = linear(1) if betas is None else betas  # all is checked before a pilot begins
    given = None if betas is None else prior
    settings = checked(path, at, n_chains, n_groups, given, conditional, start, n_threads)
    plan = planned(
        method, path, betas, n_sweeps, rng, trips=TRIPS, conditional=conditional, prior=prior,
        n_threads=n_threads,
    )  # fmt: skip
    return settings._replace(betas=plan.betas, prior=checked_prior(prior, plan.betas.size)), plan


class Groups:
    """Groups of chains on their way, each with its own estimates of log Z.

    Attributes
    ----------
    log_z : ndarray (n_groups, K)
        Estimates, log Z of the base taken off.
    visits : int64 ndarray (n_groups, K)
        Draws of each beta since `forget`.
    round_trips : ndarray (n_chains,)
        From one end of the ladder to the other and back since `forget`.
    at_top : bool ndarray (n_groups,)
        Which groups began at beta = 1; the others at 0.
    """

    def __init__(self, settings: Settings, rng, *, jump: str = "global", mixed: bool = True):
        one_of("jump", jump, JUMPS)
        self.settings, source = settings, generator(rng)
        n, k = settings.n_chains, settings.betas.size
        self.rule = Rule(settings.prior, np.log(settings.prior), jump == "local", bool(mixed))
        self.at_top = np.arange(settings.n_groups) % 2 == 1
        begin = self._from_pilot if settings.start == "pilot" else self._from_base
        self.state, self.log_z, self.stream = begin(source)
        self.index = np.where(np.repeat(self.at_top, n // settings.n_groups), k - 1, 0)
        self.forget()

    def _from_pilot(self, source):
        """Even groups at the base, odd groups at annealed states; log Z of each group's weights."""
        s = self.settings
        first = pilot_of(s.path, s.betas, max(s.n_chains, 2), PILOT_STEPS, source, s.n_threads)
        weights = first.log_weights_path.reshape(s.betas.size, s.n_groups, -1)
        top = np.repeat(self.at_top, s.n_chains // s.n_groups)[:, None]
        visible = np.where(top, first.top.coordinates, first.bottom.coordinates)
        stream = ChainStream(source, s.n_chains)
        return State(visible), np.ascontiguousarray(logmeanexp(weights, axis=2).T), stream

    def _from_base(self, source):
        """Equal estimates, all chains at the base."""
        s, self.at_top = self.settings, np.zeros(self.settings.n_groups, bool)
        stream = ChainStream(source, s.n_chains)
        start = s.path.sample_base(s.n_chains, stream)
        return start, np.zeros((s.n_groups, s.betas.size)), stream

    def forget(self) -> None:
        """Count visits and round trips from here."""
        n = self.settings.n_chains
        self.visits = np.zeros(self.log_z.shape, np.int64)
        self._passages, self._last_end = np.zeros(n, np.int64), np.full(n, -1)

    @property
    def round_trips(self) -> np.ndarray:
        return self._passages / 2

    def advance(self, gains, on_progress=None) -> None:
        """Sweeps, each followed by draws of beta and an update: ``gains`` (n_groups, n_sweeps)."""
        s = self.settings
        adjusted = Adjusted(self.log_z, self.visits, self._passages, self._last_end)
        self.state = s.path.adapt(
            self.state, self.index, s.betas, gains, self.rule, adjusted, self.stream,
            conditional=s.conditional, n_threads=s.n_threads, on_progress=on_progress,
        )  # fmt: skip


# from groups to an estimate -----------------------------------------------------------------


def estimate(
    method: str, groups: Groups, history, sweeps, half, started: float, settings: dict
) -> Estimate:
    """Mean of the groups' log Z, its standard error from their spread, and flags.

    ``history`` (n_recorded, n_groups) is log Z of the target, the base's taken off, after
    ``sweeps``; ``half`` (n_groups,) the same halfway, where `Groups.forget` was called.
    """
    s = groups.settings
    base, n = s.path.log_z_base, s.n_groups
    values = groups.log_z[:, -1] + base
    errors = groups.log_z.std(axis=0, ddof=1) / np.sqrt(n)
    error = float(values.std(ddof=1) / np.sqrt(n))
    # log Z is linear in beta where nothing is random
    straight = np.allclose(groups.log_z, groups.log_z[:, -1:] * s.betas, atol=1e-12)
    checks = diagnose(groups, values, values - half - base)
    checks += some_spread(error, straight, "log Z is not linear in beta")
    return report(
        method, float(values.mean()), error, checks, n_values=n, started=started,
        n_chains=s.n_chains,
        n_sweeps=int(sweeps[-1]),
        log_weights=values,
        betas=s.betas,
        log_z_path=groups.log_z.mean(axis=0) + base,
        trace={
            "std_error": errors,
            "occupation": groups.visits.sum(axis=0) / groups.visits.sum(),
            "sweeps": np.asarray(sweeps),
            "log_z": np.asarray(history) + base,
        },
        settings={
            "n_groups": n, "n_temperatures": s.betas.size - 1, "conditional": s.conditional,
            "start": s.start, "pilot_steps": PILOT_STEPS if s.start == "pilot" else 0,
            "round_trips": float(groups.round_trips.mean()), "path": repr(s.path),
            "stream_seed": groups.stream.seed,
        } | settings,
        states=groups.state,
    )  # fmt: skip


def with_memory(run: Estimate, plan: Plan) -> Estimate:
    """With the error of what a planned run still remembers: a round trip over the sweeps of 1/t.

    While gains are large log Z follows the chains, by more the slower they are, and groups share
    the bias that this leaves: -0.14 (0.03) at 0.18 on cd1_20, where the spread of groups gave 0.09.
    """
    each = plan.settings.get("planned", {}).get("sweeps_a_trip", 0.0)
    if not (run.converged and each and run.std_error > 0):
        return run
    memory = float(each / (OF_GAINS * run.n_sweeps))
    error = float(np.hypot(run.std_error, memory))
    return replace(
        run, std_error=error, interval=student_interval(run.log_z, error, run.log_weights.size),
        settings=run.settings | {"memory": memory},
    )  # fmt: skip


def diagnose(groups: Groups, values, drift) -> list[Check]:
    """Checks of an error bar.

    Of the second half: round trips, the share of the beta least visited, the drift of log Z; and
    whether groups begun at either end agree.
    """
    n, occupation = values.size, groups.visits.sum(axis=0) / groups.visits.sum()
    least = (occupation / groups.settings.prior).min()
    text = f"least visited beta {least:.2f} of its share, {LEAST_VISITED} or more"
    checks = [round_trips(groups.round_trips.mean()), Check(text, bool(least >= LEAST_VISITED))]
    pairs = {"halves of the run": (drift.mean(), drift.std(ddof=1) / np.sqrt(n), n - 1)}
    low, high = values[~groups.at_top], values[groups.at_top]
    if min(low.size, high.size) >= 2:
        spread = np.sqrt(low.var(ddof=1) / low.size + high.var(ddof=1) / high.size)
        pairs["groups begun at either end"] = high.mean() - low.mean(), spread, n - 2
    for name, (difference, error, freedom) in pairs.items():
        limit = stdtrit(freedom, 1 - FALSE_ALARM / 2)
        checks.append(agreement(name, difference, error, float(limit)))
    return checks
