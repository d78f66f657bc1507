"""Reverse annealed importance sampling: log Z from above.

From x_K ~ p_K the path is run backwards, x_{k-1} from x_k by the transition of beta_{k-1}, and

    R = log Z_0 + sum_k [log p*_{beta_k}(x_k) - log p*_{beta_{k-1}}(x_k)].

exp(-R) is an AIS weight of the reversed path, from the target to the base, so that
E[exp(-R)] = 1 / Z. By Jensen E[R] >= log Z, and -log mean exp(-R) >= log Z in expectation; both
hold for exact samples of the model only. (Taking log mean exp(+R) instead bounds nothing.)
"""

from __future__ import annotations

import time

import numpy as np

from .._streams import ChainStream, progress_bar
from .._validation import annealing_betas, count, generator, instance
from ..models.bernoulli import BernoulliRBM
from ..paths.base import AnnealingPath, State
from ..results import Estimate
from .ais import PATH_MEANING, mean_bound, of_weights, run_settings
from .exact import can_enumerate, check_exact_start, exact_samples

STARTS = ("auto", "exact", "chains")


def reverse_ais(
    path: AnnealingPath,
    betas,
    n_chains: int = 1000,
    rng=None,
    *,
    start="auto",
    n_burn_in: int = 1000,
    n_threads: int | None = None,
    progress: bool | None = None,
) -> Estimate:
    """Estimate log Z from above by annealing from the target back to the base.

    Parameters
    ----------
    path, betas, n_chains, rng, n_threads, progress
        As in `rbmlib.ais` (``betas`` rise from 0 to 1 here too).
    start : {"auto", "exact", "chains"} or State
        Where the chains begin: exact draws of the target (models with at most 22 units in one
        layer); long chains elsewhere: chains annealed forward along ``betas``, resampled by
        their weights, then moved ``n_burn_in`` sweeps at beta = 1; or states of your own.
        "auto" takes exact draws where it can. ``settings["start"]`` says which it was.

    Returns
    -------
    Estimate
        ``bound = "upper"``. `mean_log_z` is the mean of R; `log_z` the tighter
        ``-log mean exp(-R)``, whose error bar needs a large ESS. From anything but exact
        samples the bound is only as good as they are.
    """
    started = time.perf_counter()
    instance("path", path, AnnealingPath, PATH_MEANING)
    betas = annealing_betas(betas)
    n_chains = count("n_chains", n_chains)
    source = generator(rng).spawn(1)[0]  # independent of `ais` with the same seed
    stream = ChainStream(source, n_chains)
    n_burn_in = count("n_burn_in", n_burn_in, 0)
    states, kind = _start(path, betas, n_chains, source, start, n_burn_in, n_threads, progress)
    with progress_bar(betas.size - 1, "reverse ais", progress) as bar:
        final, log_weights = path.anneal(
            states, betas[::-1], stream, n_threads=n_threads, on_progress=bar.update
        )
    r = path.log_z_base - log_weights
    return Estimate(
        method="reverse_ais",
        **of_weights("reverse_ais", -r, path, final, sign=-1),
        bound="upper",
        **mean_bound(r),
        n_chains=n_chains,
        n_sweeps=betas.size - 1,
        seconds=time.perf_counter() - started,
        log_weights=r,
        settings=run_settings(path, betas, rng, stream, start=kind),
        states=final,
    )


def kind_of_start(path, start, n_chains: int) -> str:
    """What an argument ``start`` asks for: "given", "exact" or "chains"."""
    target = path.at(1.0)
    if isinstance(start, State):
        if start.n_chains != n_chains:
            raise ValueError(f"start holds {start.n_chains} chains, but n_chains is {n_chains}")
        path.checked_state(start, "start")
        return "given"
    if not (isinstance(start, str) and start in STARTS):
        came = repr(start) if isinstance(start, str) else f"a {type(start).__name__}"
        raise ValueError(f"start is {came}: expected one of {STARTS}, or a State")
    if start == "auto":
        enumerable = isinstance(target, BernoulliRBM) and can_enumerate(target)
        return "exact" if enumerable else "chains"
    if start == "exact":
        check_exact_start(path)
    return start


def _start(path, betas, n_chains, rng, start, n_burn_in, n_threads, progress):
    """States to begin from, and in words where they come from."""
    kind = kind_of_start(path, start, n_chains)
    if kind == "given":
        return start, "given"
    if kind == "exact":
        return State(exact_samples(path.at(1.0), n_chains, rng)), "exact samples"
    return (
        _long_chains(path, betas, n_chains, rng, n_burn_in, n_threads, progress),
        f"chains annealed forward, resampled, {n_burn_in} sweeps at beta = 1",
    )


def _long_chains(path, betas, n_chains, rng, n_burn_in, n_threads, progress) -> State:
    stream = ChainStream(rng, n_chains)
    state = path.sample_base(n_chains, stream)
    total = betas.size - 1 + n_burn_in
    with progress_bar(total, "start of reverse ais", progress) as bar:
        options = {"n_threads": n_threads, "on_progress": bar.update}
        state, log_weights = path.anneal(state, betas, stream, **options)
        state = State(state.coordinates[resample(log_weights, rng)])
        return path.sweep(state, 1.0, n_burn_in, stream, **options)


def resample(log_weights: np.ndarray, rng: np.random.Generator, n: int | None = None):
    """Indices of ``n`` chains (default: all) drawn in proportion to their weights, systematic."""
    weights = np.exp(log_weights - log_weights.max())
    n = weights.size if n is None else n
    positions = (np.arange(n) + rng.random()) / n
    indices = np.searchsorted(np.cumsum(weights) / weights.sum(), positions)
    return np.minimum(indices, weights.size - 1)
