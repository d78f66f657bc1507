"""Schedules that need no run: linear, hand-made, and a cap on the steps of any."""

import numpy as np

from ..checks import count, number, schedule

MOST_STEPS = 100_000_000  # of a schedule, which is held in memory


def linear(n_temperatures: int) -> np.ndarray:
    """K = ``n_temperatures`` equal steps, ``beta_k = k / K``: an array of K + 1 betas.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rl.schedules.linear(4).tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    return np.linspace(0.0, 1.0, count("n_temperatures", n_temperatures, most=MOST_STEPS) + 1)


def sm08(n_temperatures: int = 14_500) -> np.ndarray:
    """The hand-made schedule of Salakhutdinov & Murray (2008), 14,500 steps.

    500 steps to 0.5, 4,000 to 0.9 and 10,000 to 1, each part uniform. With ``n_temperatures``
    the same piecewise linear curve is cut into that many steps.
    """
    n = count("n_temperatures", n_temperatures, most=MOST_STEPS)
    at = np.array([0, 500, 4_500, 14_500]) / 14_500
    return np.interp(np.arange(n + 1) / n, at, [0.0, 0.5, 0.9, 1.0])


def decelerate(betas, max_step: float, n_steps: int | None = None) -> np.ndarray:
    """Cap the K steps of a schedule (K + 1,) at ``max_step`` (Kiwaki 2015, Algorithm 3).

    The fixed point of the algorithm: ``min(s * step, max_step)`` with the one s for which the
    steps sum to 1. (As printed it cannot stop rightly: its flag is inverted.) A cap that was meant
    for ``n_steps`` steps, not K, is ``max_step * n_steps / K`` here: as many mean steps.
    ValueError if steps of that size do not reach 1.

    Examples
    --------
    >>> import rbmlib as rl
    >>> rl.schedules.decelerate([0.0, 0.1, 0.4, 1.0], 0.5).round(3).tolist()
    [0.0, 0.125, 0.5, 1.0]
    """
    betas = schedule(betas)
    steps = np.diff(betas)
    cap = number("max_step", max_step, "a step of beta above 0, such as 0.003", above=0)
    least = 1 / (steps.size if n_steps is None else count("n_steps", n_steps))
    if cap < least * (1 - 1e-12):
        end = f"so small steps end at {cap / least:.3g}"
        raise ValueError(f"max_step is {max_step}: {end}; expected at least {least:.3g}")
    cap *= 1 / (least * steps.size)
    if steps.max() <= cap:
        return betas
    rising, capped = np.sort(steps), np.arange(steps.size)[::-1]
    scales = (1 - capped * cap) / np.cumsum(rising)  # if all but so many are below the cap
    fits = (scales > 0) & (scales * rising <= cap * (1 + 1e-12))  # and these really are below
    capped_steps = np.full(steps.size, cap)
    if fits.any():
        capped_steps = np.minimum(scales[fits][-1] * steps, cap)
    betas = np.concatenate([[0.0], np.cumsum(capped_steps)])
    return betas / betas[-1]
