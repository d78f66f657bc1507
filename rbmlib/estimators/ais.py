"""Annealed importance sampling (Neal 2001; Kiwaki 2015, Algorithm 1)."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping

import numpy as np

from .._kernels import threads
from .._numerics import logsumexp
from .._progress import progress_bar
from .._streams import ChainStream
from .._validation import annealing_betas, count, instance
from ..paths.base import AnnealingPath, State
from ..results import Estimate, summarise_log_weights
from ..tempering.checks import PATH_MEANING
from ._weights import of_weights, run_settings

# What every run records, and what it keeps of every chain if it is told to.
RECORDED = {"beta", "step", "log_z", "ess", "slope_mean", "slope_variance"}
MOST_RECORDED = 10_000_000
OF_CHAINS = ("chain_log_weights", "chain_slopes")


def ais(
    path: AnnealingPath,
    betas,
    n_chains: int = 1000,
    rng=None,
    *,
    n_threads: int | None = None,
    n_recorded: int = 100,
    expectations: Mapping[str, Callable[[np.ndarray], np.ndarray]] | None = None,
    keep_chains: bool = False,
    add_to: Estimate | None = None,
    progress: bool | None = None,
) -> Estimate:
    """Estimate log Z of a path's target by annealed importance sampling.

    Each chain starts from the base and collects
    ``log w = log Z_0 + sum_k log p*_k(v_{k-1}) - log p*_{k-1}(v_{k-1})`` while it is moved along
    the path. The mean of w is an *unbiased* estimate of Z for any number of steps; its logarithm
    (`Estimate.log_z`) and the mean of log w (`Estimate.mean_log_z`) are at or below log Z in
    expectation (Jensen).

    Parameters
    ----------
    path : AnnealingPath
    betas : array (K + 1,)
        Schedule from 0 to 1, for example ``rl.schedules.linear(10_000)``.
    n_chains : int
    rng : int, Generator or None
        Seed; the same seed gives the same bits, whatever ``n_threads``.
    n_threads : int or None
        Threads of the compiled path; None: all (or ``RBMLIB_NUM_THREADS``).
    n_recorded : int
        At how many of the betas (evenly by step, ends included) the run is looked at:
        `Estimate.betas`, `log_z_path`, and in `trace` "step" (the index k of the beta), "ess",
        "slope_mean" and "slope_variance" (mean and variance of d/dbeta log p*, Kiwaki's g).
        Memory does not grow with K.
    expectations : dict of functions, optional
        ``f(visible)`` -> (n_chains,) or (n_chains, m), of visible units of the whole model
        (`AnnealingPath.visible_of`; what it draws leaves the chains as they are); their weighted
        means under p_beta go into `trace` under the same names.
    keep_chains : bool
        Keep every chain's log-weight (base not included) and slope at the recorded betas too, as
        "chain_log_weights" and "chain_slopes" (n_recorded, n_chains) in `trace`: what
        `rbmlib.schedules.friction` and `equal_rejection` are computed from.
    add_to : Estimate, optional
        A run of `ais` on the same path and betas, perhaps loaded from a file, to which
        ``n_chains`` further chains are added: the log-weights, and what follows from them, are
        those of one run of all the chains. ``rng``, ``n_recorded`` and ``keep_chains`` are then
        that run's.
    progress : bool or None
        None: what takes more than two seconds says how far it is, by a bar on a terminal, by lines
        on stderr elsewhere, not in a notebook. True: there too. False: nowhere.

    Returns
    -------
    Estimate
        ``converged`` is False, with a `ConvergenceWarning`, when the effective sample size is
        below 100 and below half the chains, or below 10: the standard error then means little.
        The interval is wider above, where weights not yet seen would move the estimate
        (`rbmlib.results.log_mean_interval`): where nothing is missed, intervals shortened to 50
        and 80% hold log Z up to ten and seven points too often, those of 95% within three (the
        page on calibration). Weights without any spread are flagged too, unless base and target
        are the same model.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.testsystems.random_rbm(n_visible=12, n_hidden=6, rng=0)
    >>> estimate = rl.ais(rl.GeometricPath(rbm), rl.schedules.linear(500), n_chains=200, rng=0)
    >>> abs(estimate.log_z - rl.exact(rbm).log_z) < 5 * estimate.std_error
    True
    """
    started = time.perf_counter()
    instance("path", path, AnnealingPath, PATH_MEANING)
    instance("expectations", expectations or {}, Mapping, "a dict of functions of the states")
    reserved = (RECORDED | set(OF_CHAINS)) & set(expectations or {})
    if reserved:
        raise ValueError(f"expectations uses the reserved names {sorted(reserved)}: rename them")
    betas = annealing_betas(betas)
    n_chains = count("n_chains", n_chains)
    n_steps = betas.size - 1
    if isinstance(add_to, Estimate):
        keep_chains = set(OF_CHAINS) <= set(add_to.trace)
    recorder = _Recorder(path, betas, expectations or {}, keep_chains)
    stream = ChainStream(rng, n_chains)
    if add_to is not None:
        _check_same_run(add_to, path, betas, rng, recorder)
        n_recorded, rng = add_to.betas.size, add_to.settings["rng"]
        stream = ChainStream.of_seed(add_to.settings["stream_seed"], n_chains, add_to.n_chains)
    recorder.stream = ChainStream(np.random.default_rng([stream.seed, 1]), n_chains,
                                  stream.first_chain)  # fmt: skip
    state = path.sample_base(n_chains, stream)
    recorder(0, state, np.zeros(n_chains))
    with threads.blas_threads(n_threads), progress_bar(n_steps, "ais", progress) as bar:
        state, log_weights = path.anneal(
            state, betas, stream, n_threads=n_threads, on_progress=bar.update,
            record_at=recorded_steps(n_steps, count("n_recorded", n_recorded, 2, MOST_RECORDED)),
            on_record=recorder,
        )  # fmt: skip
    log_weights, records, final = log_weights + path.log_z_base, recorder.result(), state
    if add_to is not None:
        records = _joined(add_to, records, n_chains)
        log_weights = np.concatenate([add_to.log_weights, log_weights])
        state = None if add_to.states is None else _concatenated(add_to.states, state)
        started -= add_to.seconds
    settings = run_settings(path, betas, rng, stream, **_identity(path, betas))
    return of_weights("ais", log_weights, path, final, started, settings, states=state, **records)


def _check_same_run(run: Estimate, path, betas, rng, recorder) -> None:
    """Refuse to join chains of different paths, schedules or expectations."""
    instance("add_to", run, Estimate, "an Estimate of rl.ais")
    expected = "expected a run of rl.ais on the same path, betas and expectations"
    if run.method != "ais" or "stream_seed" not in run.settings:
        raise ValueError(f"add_to is an estimate by {run.method!r}: {expected}")
    kept = np.size(run.log_weights)
    if kept != run.n_chains or not np.all(np.isfinite(run.log_weights)):
        raise ValueError(
            f"add_to holds {kept} log_weights of {run.n_chains} chains, or some that are not "
            "finite: expected the run as rl.ais returned it, with one finite number a chain"
        )
    if rng is not None:
        raise ValueError(f"rng is {rng!r}: expected None with add_to, whose seed goes on")
    steps = sorted({0, *recorded_steps(betas.size - 1, run.betas.size)})
    names = set(run.trace) == recorder.names() - {"beta", "log_z"}
    if run.n_sweeps != betas.size - 1 or not names or not np.array_equal(run.betas, betas[steps]):
        raise ValueError(
            f"add_to was annealed along other betas, or looked at otherwise: {expected}"
        )
    here, there = _identity(path, betas), run.settings
    if here["betas_sha256"] != there.get("betas_sha256"):
        raise ValueError(f"add_to was annealed along other betas: {expected}")
    if not np.allclose(here["log_densities"], there.get("log_densities", np.nan), rtol=1e-9):
        raise ValueError(f"add_to was annealed along another path: {expected}")


def _identity(path, betas) -> dict:
    """What tells a path and a schedule from others: log-densities of a few states, and a hash."""
    states = path.sample_base(4, ChainStream.of_seed(0, 4, 0))
    densities = path.log_density(states, np.array([0.0, 0.5, 1.0]))
    return {
        "betas_sha256": hashlib.sha256(np.ascontiguousarray(betas, float).tobytes()).hexdigest(),
        "log_densities": densities.ravel().tolist(),
    }


def _joined(run: Estimate, records: dict, n_chains: int) -> dict:
    """Records of two sets of chains as those of their union (weighted means and variances).

    The sum of squared weights follows from the ESS, N / (1 + s^2).
    """
    counts = (run.n_chains, n_chains)
    ours, theirs = run.trace, records["trace"]
    total = np.array([np.log(n) + r for n, r in zip(counts, (run.log_z_path, records["log_z_path"]),
                                                    strict=True)])  # fmt: skip
    log_z_path = logsumexp(total, axis=0) - np.log(sum(counts))
    share = np.exp(total - logsumexp(total, axis=0))  # of each set in the sum of the weights

    def mean(a, b):
        s = share.reshape(2, -1, *[1] * (np.ndim(a) - 1))
        return s[0] * a + s[1] * b

    trace = {name: np.concatenate([ours[name], theirs[name]], axis=1) if name in OF_CHAINS
             else mean(ours[name], theirs[name]) for name in ours}  # fmt: skip
    trace["step"] = theirs["step"]
    squares = [((n - 1) * (n / t["ess"] - 1) + n) / n**2 for n, t in zip(counts, (ours, theirs),
                                                                         strict=True)]  # fmt: skip
    n = sum(counts)
    relative = n**2 * (share[0] ** 2 * squares[0] + share[1] ** 2 * squares[1])
    trace["ess"] = n / (1 + (relative - n) / (n - 1))
    spread = [t["slope_variance"] + (t["slope_mean"] - trace["slope_mean"]) ** 2
              for t in (ours, theirs)]  # fmt: skip
    trace["slope_variance"] = mean(*spread)
    return {"betas": run.betas, "log_z_path": log_z_path, "trace": trace}


def _concatenated(first: State, second: State) -> State:
    return type(first)(*(np.concatenate(pair) for pair in zip(first, second, strict=True)))


def recorded_steps(n_steps: int, n_recorded: int) -> set[int]:
    """Steps 1..K at which a run is looked at, evenly spread, the last included."""
    return set(np.unique(np.rint(np.linspace(0, n_steps, n_recorded)).astype(int))[1:].tolist())


class _Recorder:
    """On-the-fly quantities (Algorithm 1): weighted means over chains at some betas.

    After the transition at beta_k the chains, with their weights so far, are properly weighted
    for p_beta_k (Neal 2001).
    """

    stream: ChainStream  # for what coordinates leave open: not the chains' own

    def __init__(self, path, betas: np.ndarray, expectations: Mapping, keep_chains: bool):
        self.path, self.betas, self.expectations = path, betas, expectations
        self.keep_chains = keep_chains
        self.rows: list[dict] = []

    def names(self) -> set:
        kept = set(OF_CHAINS) if self.keep_chains else set()
        return RECORDED | kept | set(self.expectations)

    def __call__(self, k: int, state: State, log_weights: np.ndarray) -> None:
        summary = summarise_log_weights(log_weights)
        weights = np.exp(log_weights - log_weights.max())
        weights /= weights.sum()
        slopes = self.path.log_density_slope(state, self.betas[k])
        mean = weights @ slopes
        row = {
            "beta": self.betas[k],
            "step": k,
            "log_z": summary.log_mean + self.path.log_z_base,
            "ess": summary.ess,
            "slope_mean": mean,
            "slope_variance": weights @ (slopes - mean) ** 2,
        }
        if self.keep_chains:
            row |= dict(zip(OF_CHAINS, (log_weights.copy(), slopes), strict=True))
        visible = self.path.visible_of(state, self.stream) if self.expectations else None
        for name, function in self.expectations.items():
            row[name] = weights @ np.asarray(function(visible), dtype=float)
        self.rows.append(row)

    def result(self) -> dict:
        columns = {name: np.array([row[name] for row in self.rows]) for name in self.rows[0]}
        return {
            "betas": columns.pop("beta"),
            "log_z_path": columns.pop("log_z"),
            "trace": columns,
        }
