"""Self-adjusted mixture sampling (Tan 2017): simulated tempering that adjusts its own log Z.

Simulated tempering (`sampling.sample`) draws beta_k given a state x with probability
``w_k(x) ~ p*_k(x) pi_k / exp(zeta_k)``. If zeta equals log Z up to a constant, beta_k is drawn with
probability pi_k. Stochastic approximation with decreasing gains finds this zeta, because each visit
to beta_k raises zeta_k (Tan 2017, eq. 9, 12):

    zeta_k <- zeta_k + min(gain, pi_k) / pi_k * share_k,     then subtract zeta_0,

where ``share_k`` is the share of the chains at beta_k, or the mean of w_k(x) over the chains. If
successive sweeps are independent, a gain that finally falls as 1/t gives the least variance of any
stochastic approximation. Chains that adjust the same zeta are not independent, so they run in
groups, each with its own zeta and pilot. The spread of the groups is the error bar.
"""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import stdtrit

from .. import checks, results
from .._kernels.adaptive import Adjusted, Rule
from ..context import bar
from ..numerics import ChainStream, logmeanexp
from ..paths.path import Path
from ..results import Check, Estimate, round_trips, value
from ..sampling.anneal import pilot
from ..sampling.planning import Plan, planned
from ..sampling.sample import drawn_given
from ..sampling.temper import adapt
from . import estimator

STARTS, JUMPS = ("pilot", "plain"), ("global", "local")
PILOT_STEPS, N_RECORDED = 4000, 50
TRIPS = 8.0  # planned round trips of a chain; the check requires 2 in the second half
OF_GAINS = 0.7  # share of the sweeps whose gain is 1/t
LEAST_VISITED = 0.5  # least visits of a beta in the second half, relative to its prior share
FALSE_ALARM = 0.0027  # probability beyond three standard errors of a normal distribution


@estimator
def sams(
    path: Path,
    betas=None,
    n_chains: int = 100,
    n_sweeps: int | None = None,
    rng=None,
    *,
    n_groups: int = 10,
    start: str = "pilot",
    t_0: int | None = None,
    exponent: float = 0.7,
    jump: str = "global",
    rao_blackwell: bool = True,
    prior=None,
) -> Estimate:
    """Estimate log Z by self-adjusted mixture sampling (Tan 2017, algorithm 4).

    The estimate is consistent. Its bias can have either sign, so it is not a bound.

    Parameters
    ----------
    path : Path
        Path from a base with known log Z to the target, such as ``rl.GeometricPath(rbm)``.
    betas : array (K,)
        Increasing from 0 to 1; by default, planned as in `rbmlib.rts`.
    n_chains, n_groups : int
        Numbers of chains in all, and of independent groups (2 or more) that adjust their own log Z.
    n_sweeps : int, optional
        Number of sweeps, each followed by an update of log Z. By default, planned as in
        `rbmlib.rts`, but for 8 round trips.
    rng : int, Generator or None
        The same seed gives the same bits on any number of threads.
    start : {"pilot", "plain"}
        "pilot" takes log Z of each group from its own annealing run of 4,000 steps, and every
        second group starts at beta = 1 from the annealed states. "plain" starts all chains at
        beta = 0 with equal log Z at all betas, as Tan does.
    t_0, exponent : int, float
        Number of sweeps of the first stage (default: 30% of all), and the exponent of its gain
        (see `gain_sequence`). A large gain drives chains through the temperatures.
    jump : {"global", "local"}
        Whether beta is drawn from all K values, or moves to a neighbour or stays.
    rao_blackwell : bool
        Whether to update with probabilities (eq. 12; for local jumps, those of staying and of the
        neighbours) or with the sampled beta (eq. 9).
    prior : array (K,), optional
        Target frequencies r_k > 0 of the betas; uniform by default.

    Returns
    -------
    Estimate
        `log_weights` (n_groups,) holds log Z of the groups, and ``trace["log_z"]`` (n_recorded,
        n_groups) its history at ``trace["sweeps"]``. The checks use the second half of the run. If
        sweeps are planned, the standard error includes ``details["memory"]`` (see `with_memory`).

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.testsystems.random_rbm(n_visible=12, n_hidden=6, rng=0)
    >>> estimate = rl.sams(rl.GeometricPath(rbm), rng=0)
    >>> estimate.converged and abs(estimate.log_z - rl.exact(rbm).log_z) < 5 * estimate.std_error
    True
    >>> again = rl.sams(rl.GeometricPath(rbm), estimate.betas, n_sweeps=estimate.n_sweeps, rng=0)
    >>> again.log_z == estimate.log_z
    True
    """
    gain_sequence(1, 0 if t_0 is None else t_0, exponent)  # may raise, before a pilot runs
    options = {"prior": prior, "start": start, "jump": jump}
    options |= {"n_groups": n_groups, "mixed": rao_blackwell}
    groups, plan = planned_groups("sams", path, betas, n_chains, n_sweeps, rng, **options)
    n_sweeps, half = plan.n_sweeps, plan.n_sweeps // 2
    t_0 = 3 * n_sweeps // 10 if t_0 is None else checks.count("t_0", t_0, 0)
    gains = gain_sequence(n_sweeps, t_0, exponent)
    stops = np.union1d(np.rint(np.linspace(0, n_sweeps, N_RECORDED + 1)).astype(int), half)
    with bar(n_sweeps, "SAMS"):
        for first, last in pairwise(stops):
            groups.advance(np.tile(gains[first:last], (groups.n_groups, 1)))
            groups.note(last, half)
    settings = {"t_0": t_0, "exponent": exponent, "jump": jump}
    return groups.estimate("sams", plan, settings | {"rao_blackwell": bool(rao_blackwell)})


def gain_sequence(n_sweeps: int, t_0: int = 0, exponent: float = 0.7) -> np.ndarray:
    """Return Tan's two-stage gain for t = 1 to ``n_sweeps``.

    The gain is ``t**-exponent`` up to t_0, then ``1 / (t - t_0 + t_0**exponent)``. With
    ``t_0 = 0`` it is 1/t. The update uses the smaller of the gain and pi_k (eq. 15).

    Examples
    --------
    >>> from rbmlib.estimators.sams import gain_sequence
    >>> gain_sequence(4)
    array([1.        , 0.5       , 0.33333333, 0.25      ])
    >>> gain_sequence(6, t_0=4, exponent=0.5).round(3)
    array([1.   , 0.707, 0.577, 0.5  , 0.333, 0.25 ])
    """
    n_sweeps, t_0 = checks.count("n_sweeps", n_sweeps), checks.count("t_0", t_0, 0)
    meaning = "an exponent above 0 and up to 1, such as 0.7"
    exponent = checks.number("exponent", exponent, meaning, above=0, most=1)
    t = np.arange(1, n_sweeps + 1, dtype=float)
    return np.where(t <= t_0, t**-exponent, 1 / np.maximum(t - t_0 + t_0**exponent, 1))


# groups -------------------------------------------------------------------------------------


def planned_groups(method: str, path, betas, n_chains, n_sweeps, rng, *, prior, **options):
    """Return groups of chains, and the `Plan` of betas and sweeps (from pilots if None)."""
    source, n_groups = checks.generator(rng), checks.count("n_groups", options["n_groups"], 2)
    n_chains = checks.count("n_chains", n_chains)
    if n_chains % n_groups:
        next_one = n_groups * -(-n_chains // n_groups)
        meaning = f"a multiple of n_groups, {n_groups}, such as {next_one}"
        raise ValueError(f"n_chains is {n_chains}: expected {meaning}, for equal groups")
    checks.one_of("start", options["start"], STARTS)
    checks.one_of("jump", options["jump"], JUMPS)
    plan = planned(method, path, betas, n_sweeps, source, trips=TRIPS, prior=prior)
    return Groups(path, plan.betas, n_chains, source, prior=prior, **options), plan


class Groups:
    """Groups of chains, each with its own estimates of log Z.

    ``log_z`` (n_groups, K) holds these estimates, without log Z of the base. ``visits`` (n_groups,
    K) of each beta and ``round_trips`` (n_chains,) are counted since `forget`. ``at_top``
    (n_groups,) says which groups started at beta = 1. `note` fills ``history`` and ``sweeps``.
    """

    def __init__(
        self, path: Path, betas, n_chains: int, rng, *, n_groups: int, prior=None,
        conditional: str | None = None, start: str = "pilot", jump: str = "global",
        mixed: bool = True,
    ):  # fmt: skip
        self.path, self.betas, self.start = path, checks.ladder(betas), start
        self.n_chains, self.n_groups = int(n_chains), int(n_groups)
        self.conditional = conditional or drawn_given(path)
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
        self.forget()

    def forget(self) -> None:
        """Restart the counts of visits and round trips, and store log Z as that of halfway."""
        self.half = self.log_z[:, -1].copy()
        self.visits = np.zeros(self.log_z.shape, np.int64)
        self._passages = np.zeros(self.n_chains, np.int64)
        self._last_end = np.full(self.n_chains, -1)

    @property
    def round_trips(self) -> np.ndarray:
        return self._passages / 2

    def advance(self, gains) -> None:
        """Run sweeps, each followed by draws of beta and an update; ``gains`` (n_groups, n)."""
        state = Adjusted(self.log_z, self.visits, self._passages, self._last_end)
        way = self.path, self.v, self.index, self.betas, gains, self.rule
        self.v = adapt(*way, state, self.stream, self.conditional)

    def note(self, sweep: int, halfway: int) -> None:
        """Record log Z after this sweep, and restart the counts halfway."""
        self.history.append(self.log_z[:, -1].copy())
        self.sweeps.append(int(sweep))
        if sweep == halfway:
            self.forget()

    def estimate(self, method: str, plan: Plan | None, settings: dict, details=None) -> Estimate:
        """Return the mean log Z of the groups; their spread is the error bar."""
        base, n = self.path.log_z_base, self.n_groups
        values, errors = self.log_z[:, -1] + base, self.log_z.std(axis=0, ddof=1) / np.sqrt(n)
        error = float(values.std(ddof=1) / np.sqrt(n))
        # log Z is linear in beta if nothing is random
        straight = np.allclose(self.log_z, self.log_z[:, -1:] * self.betas, atol=1e-12)
        trace = {"std_error": errors, "occupation": self.visits.sum(axis=0) / self.visits.sum()}
        trace |= {"sweeps": np.array(self.sweeps), "log_z": np.array(self.history) + base}
        about: dict[str, Any] = {"n_groups": n, "n_temperatures": self.betas.size - 1}
        about |= {"conditional": self.conditional, "start": self.start}
        settings = about | {"stream_seed": self.stream.seed} | settings
        seen: dict[str, Any] = {"round_trips": float(self.round_trips.mean())}
        seen |= {"pilot_steps": PILOT_STEPS if self.start == "pilot" else 0}
        seen |= (details or {}) | (plan.details if plan else {})
        spread = results.some_spread(error, straight, "log Z is not linear in beta")
        run = results.finished(
            method, values.mean(), error, self.checks() + spread, n, n_chains=self.n_chains,
            n_sweeps=self.sweeps[-1], log_weights=values, betas=self.betas,
            log_z_path=self.log_z.mean(axis=0) + base, trace=trace, settings=settings,
            details=seen, states=self.v,
        )  # fmt: skip
        return with_memory(run, plan) if plan else run

    def checks(self) -> list[Check]:
        """Check round trips, the least visited beta, drift, and agreement of the two starts."""
        occupation, values = self.visits.sum(axis=0) / self.visits.sum(), self.log_z[:, -1]
        least, drift = (occupation / self.rule.prior).min(), value(values - self.half)
        freedom = np.array([self.n_groups - 1, self.n_groups - 2])
        of_halves, of_ends = map(float, stdtrit(freedom, 1 - FALSE_ALARM / 2))
        rarest = "visits of the least visited beta, relative to its share,"
        found = [
            round_trips(self.round_trips.mean()),
            Check(rarest, bool(least >= LEAST_VISITED), float(least), LEAST_VISITED),
            results.agreement("halves of the run differ by", drift, limit=of_halves),
        ]
        low, high = values[~self.at_top], values[self.at_top]
        if min(low.size, high.size) >= 2:
            name = "groups started at either end differ by"
            found.append(results.agreement(name, value(high), value(low), limit=of_ends))
        return found


def with_memory(run: Estimate, plan: Plan) -> Estimate:
    """Add the error due to memory: sweeps of a round trip, relative to those with gain 1/t.

    While gains are large, log Z follows slow chains, and all groups share the resulting bias.
    """
    each = plan.details.get("planned", {}).get("sweeps_a_trip", 0.0)
    if not (run.converged and each and run.std_error > 0):
        return run
    memory = float(each / (OF_GAINS * run.n_sweeps))
    error = float(np.hypot(run.std_error, memory))
    interval = results.student_interval(run.log_z, error, run.log_weights.size)
    details = run.details | {"memory": memory}
    return replace(run, std_error=error, interval=interval, details=details)
