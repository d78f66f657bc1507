"""Figures of estimates. They need matplotlib: ``pip install matplotlib``.

Each function draws into the given axes, or into a new figure, and returns the axes.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from .checks import instance
from .estimate import Estimate

BAND = 1.96  # standard errors
PANELS = {"ess": "effective sample size", "slope_variance": "variance of the slope (nats²)"}
BOUNDS = {"lower": ">", "upper": "<"}


def run(estimate: Estimate, axes=None):
    """Plot the recorded quantities of a run along beta, from the base (0) to the target (1).

    Parameters
    ----------
    estimate : Estimate
        With `betas` and `log_z_path`, as returned by annealing, SMC and tempering.
    axes : array of Axes, optional
        One for each panel: log Z (nats) and, for annealed runs, the effective sample size and the
        variance of d/dbeta log p* over chains. More betas help where this variance is large.

    Returns
    -------
    array of Axes

    Examples
    --------
    >>> import rbmlib as rl
    >>> path = rl.GeometricPath(rl.testsystems.random_rbm(12, 6, rng=0))
    >>> axes = rl.ais(path, rl.schedules.linear(200), 100, rng=0).plot()
    >>> [str(ax.get_ylabel()) for ax in axes][0]
    'log Z (nats)'
    """
    instance("estimate", estimate, Estimate, "what an estimator returned")
    if estimate.log_z_path is None or estimate.betas is None:
        came = f"{estimate}, which recorded nothing along beta"
        raise ValueError(f"estimate is {came}: expected a result of rl.ais or rl.rts, for example")
    columns = {"log_z": np.asarray(estimate.log_z_path)}
    columns |= {name: estimate.trace[name] for name in PANELS if name in estimate.trace}
    labels = {"log_z": "log Z (nats)"} | PANELS
    if axes is None:
        size = (3.4 * len(columns), 3.0)
        import matplotlib.pyplot as plt

        _, axes = plt.subplots(1, len(columns), figsize=size, squeeze=False, layout="tight")
    axes = np.ravel(axes)
    for ax, (name, column) in zip(axes, columns.items(), strict=True):
        ax.plot(estimate.betas, column, marker=".")
        ax.set(xlabel="beta", ylabel=labels[name])
        if name in PANELS:
            ax.set_ylim(0, 1.05 * estimate.n_chains if name == "ess" else None)
    if (errors := estimate.trace.get("std_error")) is not None:
        ends = columns["log_z"] + BAND * np.outer([-1, 1], errors)
        axes[0].fill_between(estimate.betas, *ends, alpha=0.3)
    axes[0].set_title(str(estimate.method))
    return axes


def bracket(estimates: Sequence[Estimate] | Mapping[str, Estimate], log_z=None, ax=None):
    """Plot estimates of the same log Z in rows, with intervals and bounds from either side.

    Parameters
    ----------
    estimates : sequence, or dict by name, of Estimate
        A hollow circle marks an estimate that failed a check, and a triangle the mean of the
        log-weights, which in expectation is below log Z (▷) or above it (◁).
    log_z : float, optional
        A reference value, drawn as a vertical line.
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.testsystems.random_rbm(12, 6, rng=0)
    >>> path, betas = rl.GeometricPath(rbm), rl.schedules.linear(200)
    >>> below = rl.ais(path, betas, 100, rng=0)
    >>> ax = rl.plot.bracket([below, rl.exact(rbm)], log_z=rl.exact(rbm).log_z)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['ais', 'exact']
    """
    if isinstance(estimates, Estimate):
        estimates = [estimates]
    rows = [*(estimates.values() if isinstance(estimates, Mapping) else estimates)]
    for estimate in rows:
        instance("estimates", estimate, Estimate, "what estimators returned")
    if not rows:
        raise ValueError("estimates is empty: expected one Estimate or more")
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=(6, 1 + 0.4 * len(rows)), layout="tight")
    for row, x in enumerate(rows):
        color = f"C{row % 10}"
        ends = [end if np.isfinite(end) else x.log_z for end in x.interval]
        ax.plot(ends, [row, row], color=color)
        ax.plot(x.log_z, row, "o", color=color, mfc=None if x.converged else "none")
        if x.bound:
            ax.plot(x.mean_log_z, row, BOUNDS[x.bound], color=color, mfc="none")
    if log_z is not None:
        ax.axvline(float(log_z), color="grey", ls="--", lw=1)
    names = [*estimates] if isinstance(estimates, Mapping) else [x.method for x in rows]
    ax.set(yticks=range(len(rows)), yticklabels=names, xlabel="log Z (nats)")
    ax.invert_yaxis()
    return ax
