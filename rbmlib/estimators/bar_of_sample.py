"""Bennett's acceptance ratio between neighbouring betas of tempered states (Bennett 1976).

    log Z_K - log Z_1 = sum_k log (Z_{k+1} / Z_k),

each term from the states at beta_k and beta_{k+1} alone: the root of Bennett's equation for the
work values (beta_{k+1} - beta_k) Delta. Krause, Fischer & Igel (2020) found it the best of the ways
to read log Z of an RBM off parallel tempering. MBAR uses all states for all ratios, and so has the
smaller variance if states are independent.
"""

from __future__ import annotations

from ..results import Estimate
from ..tempering import TemperedSample
from ._neighbours import Ratio, joined_neighbours
from .bar import bennett

OVERLAP = 10  # states between neighbours (four times the slope of Bennett's equation)


def bar_of_sample(sample: TemperedSample, *, skip: int = 0) -> Estimate:
    """Estimate log Z by BAR between neighbouring betas of simulated or parallel tempering.

    Parameters
    ----------
    sample : TemperedSample
        With ``conditional="joint"``.
    skip : int
        Kept states of each chain that are not used.

    Returns
    -------
    Estimate
        Error bar and checks as of `rbmlib.mbar_of_sample`: the spread over independent chains or
        ladders. Betas without states are left out: their neighbours are joined.

    Raises
    ------
    ValueError
        If no state was kept at beta = 0 or at beta = 1.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rbm = rl.testsystems.random_rbm(n_visible=12, n_hidden=6, rng=0)
    >>> path, betas = rl.GeometricPath(rbm), rl.schedules.linear(9)
    >>> estimate = rl.bar_of_sample(rl.parallel_tempering(path, betas, 10, 1000, rng=0), skip=100)
    >>> abs(estimate.log_z - rl.exact(rbm).log_z) < 4 * estimate.std_error
    True
    """
    return joined_neighbours(
        "bar (neighbours)", sample, skip, _ratio, "states where neighbours overlap", OVERLAP
    )


def _ratio(low, high) -> Ratio:
    """What leaving a state out would change: its term, and the counts in Bennett's M."""
    root = bennett(low, high)
    return Ratio(
        root.log_z,
        root.forward / root.slope - 1 / low.size,
        1 / high.size - root.reverse / root.slope,
        4 * root.slope,
    )
