"""Simulated tempering that adjusts its own log Z: what SAMS and Wang-Landau share.

Simulated tempering (`sampling.sample`) draws beta_k given a state x with probability
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

import numpy as np
from scipy.special import stdtrit

from .. import checks
from .._kernels.adaptive import Adjusted, Rule
from ..numerics import ChainStream, logmeanexp
from ..paths.path import Path
from ..results import (
    Check,
    Estimate,
    agreement,
    finished,
    round_trips,
    some_spread,
    student_interval,
    value,
)
from ..sampling import adapt, pilot
from ..sampling.planning import Plan, planned
from ..sampling.sample import check_conditional

STARTS, JUMPS = ("pilot", "plain"), ("global", "local")
PILOT_STEPS = 4000
TRIPS = 8.0  # round trips of a chain for which sweeps are planned: 2 are asked of the second half
OF_GAINS = 0.7  # share of the sweeps whose gain is 1/t
LEAST_VISITED = 0.5  # of its share, in the second half
FALSE_ALARM = 0.0027  # of a comparison of groups: that of three standard errors


def planned_groups(
    method: str, path: Path, betas, n_chains, n_sweeps, rng, *, prior, **options
) -> tuple[Groups, Plan]:
    """Groups of chains, and the plan of betas and sweeps: from pilots where they are None."""
    source = checks.generator(rng)
    check_groups(path, n_chains, **options)  # all is checked before a pilot begins
    plan = planned(
        method, path, betas, n_sweeps, source, trips=TRIPS, conditional=options["conditional"],
        prior=prior,
    )  # fmt: skip
    return Groups(path, plan.betas, n_chains, source, prior=prior, **options), plan


def check_groups(path, n_chains, *, n_groups, conditional, start, jump, mixed) -> None:
    n_groups, n_chains = checks.count("n_groups", n_groups, 2), checks.count("n_chains", n_chains)
    if n_chains % n_groups:
        raise ValueError(
            f"n_chains is {n_chains}: expected a multiple of n_groups, {n_groups}, such as "
            f"{n_groups * -(-n_chains // n_groups)}, or another n_groups, 2 or more, that divides "
            f"{n_chains}: groups are of equal size"
        )
    check_conditional(path, conditional)
    checks.one_of("start", start, STARTS)
    checks.one_of("jump", jump, JUMPS)


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
    history, sweeps : list
        log Z of the target by each group, and after how many sweeps: see `note`.
    """

    def __init__(
        self,
        path: Path,
        betas,
        n_chains: int,
        rng,
        *,
        n_groups: int,
        prior=None,
        conditional: str = "joint",
        start: str = "pilot",
        jump: str = "global",
        mixed: bool = True,
    ):
        self.path, self.betas, self.start = path, checks.ladder(betas), start
        self.n_chains, self.n_groups, self.conditional = int(n_chains), int(n_groups), conditional
        prior, source = checks.prior(prior, self.betas.size), checks.generator(rng)
        self.rule = Rule(prior, np.log(prior), jump == "local", bool(mixed))
        self.at_top = (np.arange(self.n_groups) % 2 == 1) & (start == "pilot")
        top = np.repeat(self.at_top, self.n_chains // self.n_groups)
        if start == "pilot":
            first = pilot(path, self.betas, max(self.n_chains, 2), PILOT_STEPS, source)
            weights = first.log_weights_path.reshape(self.betas.size, self.n_groups, -1)
            self.log_z = np.ascontiguousarray(logmeanexp(weights, axis=2).T)
            self.v = np.where(top[:, None], first.top, first.bottom)
            self.stream = ChainStream(source, self.n_chains)
        else:
            self.log_z = np.zeros((self.n_groups, self.betas.size))
            self.stream = ChainStream(source, self.n_chains)
            self.v = path.sample_base(self.n_chains, self.stream)
        self.index = np.where(top, self.betas.size - 1, 0)
        self.history: list[np.ndarray] = []
        self.sweeps: list[int] = []
        self.half = np.zeros(self.n_groups)
        self.forget()

    def forget(self) -> None:
        """Count visits and round trips from here; the log Z of now are those of halfway."""
        self.half = self.log_z[:, -1].copy()
        self.visits = np.zeros(self.log_z.shape, np.int64)
        self._passages = np.zeros(self.n_chains, np.int64)
        self._last_end = np.full(self.n_chains, -1)

    @property
    def round_trips(self) -> np.ndarray:
        return self._passages / 2

    def advance(self, gains) -> None:
        """Sweeps, each followed by draws of beta and an update: ``gains`` (n_groups, n_sweeps)."""
        adjusted = Adjusted(self.log_z, self.visits, self._passages, self._last_end)
        self.v = adapt(
            self.path, self.v, self.index, self.betas, gains, self.rule, adjusted, self.stream,
            self.conditional,
        )  # fmt: skip

    def note(self, sweep: int, halfway: int) -> None:
        """Keep where log Z is after so many sweeps; what was counted is forgotten halfway."""
        self.history.append(self.log_z[:, -1].copy())
        self.sweeps.append(int(sweep))
        if sweep == halfway:
            self.forget()

    def estimate(self, method: str, plan: Plan | None, settings: dict) -> Estimate:
        """Mean of the groups' log Z, its standard error from their spread, and flags."""
        base, n = self.path.log_z_base, self.n_groups
        values, errors = self.log_z[:, -1] + base, self.log_z.std(axis=0, ddof=1) / np.sqrt(n)
        error = float(values.std(ddof=1) / np.sqrt(n))
        # log Z is linear in beta where nothing is random
        straight = np.allclose(self.log_z, self.log_z[:, -1:] * self.betas, atol=1e-12)
        found = self.checks() + some_spread(error, straight, "log Z is not linear in beta")
        occupation = self.visits.sum(axis=0) / self.visits.sum()
        run = finished(
            method,
            values.mean(),
            error,
            found,
            n,
            n_chains=self.n_chains,
            n_sweeps=self.sweeps[-1],
            log_weights=values,
            betas=self.betas,
            log_z_path=self.log_z.mean(axis=0) + base,
            trace={
                "std_error": errors,
                "occupation": occupation,
                "sweeps": np.array(self.sweeps),
                "log_z": np.array(self.history) + base,
            },
            settings={
                "n_groups": n,
                "n_temperatures": self.betas.size - 1,
                "conditional": self.conditional,
                "start": self.start,
                "pilot_steps": PILOT_STEPS if self.start == "pilot" else 0,
                "round_trips": float(self.round_trips.mean()),
                "stream_seed": self.stream.seed,
            }
            | settings
            | ({} if plan is None else plan.settings),
            states=self.v,
        )
        return run if plan is None else with_memory(run, plan)

    def checks(self) -> list[Check]:
        """Of an error bar.

        In the second half: round trips, the share of the beta least visited, the drift of log Z;
        and whether groups begun at either end agree.
        """
        occupation, values = self.visits.sum(axis=0) / self.visits.sum(), self.log_z[:, -1]
        least = (occupation / self.rule.prior).min()
        text = f"least visited beta {least:.2f} of its share, {LEAST_VISITED} or more"

        def limit(freedom):
            return float(stdtrit(freedom, 1 - FALSE_ALARM / 2))

        n, drift = self.n_groups, value(values - self.half)
        found = [
            round_trips(self.round_trips.mean()),
            Check(text, bool(least >= LEAST_VISITED)),
            agreement("halves of the run", drift, limit=limit(n - 1)),
        ]
        low, high = values[~self.at_top], values[self.at_top]
        if min(low.size, high.size) >= 2:
            ends = value(high), value(low)
            found.append(agreement("groups begun at either end", *ends, limit=limit(n - 2)))
        return found


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
    interval = student_interval(run.log_z, error, run.log_weights.size)
    settings = run.settings | {"memory": memory}
    return replace(run, std_error=error, interval=interval, settings=settings)
